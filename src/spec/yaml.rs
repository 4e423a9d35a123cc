//! Reads one YAML document into a tree whose nodes know where they stand. The only file that names `serde_yaml`.
//!
//! Knows nothing of what a document means; `reader.rs` builds on the tree. serde reports the first error only, so
//! the document is read into a generic tree first and checked by hand: all errors of a file come out at once.
//! The parser gives places only with errors, so a place is found by reading again and failing on purpose at the
//! node. Every scalar keeps its text as written: `1.10` and a digest of only digits stay what they are.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use crate::diag::{Diagnostic, Source};

/// Files above this size are refused.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// Documents that aliases blow up to more nodes are refused.
const MAX_NODES: usize = 100_000;
/// So are documents whose texts together are longer.
const MAX_TEXT: usize = 4 * MAX_BYTES;
/// So many errors of one file have their place looked up and are shown; each look-up reads the file again.
const MAX_ERRORS: usize = 100;
/// The parser's time grows with the square of open brackets.
const MAX_OPEN: usize = 1000;

/// Our own failures travel through serde's error type behind this mark.
const MARK: &str = "@ngcc ";

/// One document with its text, and the errors found in it so far.
#[derive(Debug)]
pub(super) struct Document {
    source: Source,
    root: Node,
    errors: RefCell<Vec<Diagnostic>>,
    unshown: Cell<usize>,
}

/// A value and the way to it: the entry numbers from the root down.
#[derive(Debug)]
pub(super) struct Node {
    path: Vec<usize>,
    pub(super) value: Value,
}

/// What a node holds.
#[derive(Debug)]
pub(super) enum Value {
    /// `~`, `null` or nothing at all.
    Null,
    /// Any other scalar, as written.
    Scalar(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in file order. Keys may repeat here: the reader refuses that with both places.
    Mapping(Vec<(String, Node)>),
}

impl Document {
    /// Reads a file's bytes; `name` is what diagnostics call it.
    pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let source = Source::new(name, readable_text(name, bytes)?);
        refuse_deep_brackets(&source)?;
        let tree = Tree { path: Vec::new(), budget: &Budget::default() };
        let mut root = read(&source, tree)?;
        read(&source, Texts(&mut root))?;
        Ok(Self { source, root, errors: RefCell::default(), unshown: Cell::new(0) })
    }

    /// The value of the whole document.
    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    /// The text and its name.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Keeps a diagnostic. `make` is not called (and no place looked up) when there are too many already.
    pub(super) fn report(&self, make: impl FnOnce() -> Diagnostic) {
        if self.errors.borrow().len() < MAX_ERRORS {
            let diagnostic = make();
            self.errors.borrow_mut().push(diagnostic);
        } else {
            self.unshown.set(self.unshown.get() + 1);
        }
    }

    /// Takes out all that was reported.
    pub(super) fn take_errors(&self) -> Vec<Diagnostic> {
        let mut errors = self.errors.take();
        if self.unshown.get() > 0 {
            let end = self.source.text().len();
            let message = format!("{} more errors are not shown", self.unshown.take());
            errors.push(Diagnostic::new("more-errors", message).at(&self.source, end..end, ""));
        }
        errors
    }

    /// The bytes of the text that a value takes (of a block mapping: its first key).
    pub(super) fn value_span(&self, node: &Node) -> Range<usize> {
        let known = if let Value::Scalar(text) = &node.value { Some(text.as_str()) } else { None };
        self.span(&node.path, Part::Value, known)
    }

    /// The bytes of the text that the key holding a value takes.
    pub(super) fn key_span(&self, node: &Node, key: &str) -> Range<usize> {
        self.span(&node.path, Part::Key, Some(key))
    }

    /// A place that cannot be found is the start of the file.
    fn span(&self, path: &[usize], part: Part, known: Option<&str>) -> Range<usize> {
        let text = self.source.text();
        let error = read_raw(text, Probe { path, part }).err();
        let place = error.and_then(|e| e.location());
        let Some(start) = place.map(|l| text.floor_char_boundary(l.index())) else { return 0..0 };
        start..start + token_length(&text[start..], known)
    }
}

/// Refuses what is no text; a byte order mark and the CR of CRLF do not count as text.
fn readable_text(name: &str, bytes: &[u8]) -> Result<String, Diagnostic> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} are read", bytes.len());
        return Err(Diagnostic::new("unreadable", message).in_file(name));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let refuse = |at: usize, message: &str, label: &str| {
        let source = Source::new(name, text.clone());
        Err(Diagnostic::new("unreadable", message).at(&source, at..at + 1, label))
    };
    if std::str::from_utf8(bytes).is_err() {
        let at = text.find('\u{fffd}').unwrap_or(0);
        return refuse(at, "the file is not UTF-8 text", "these bytes are no character");
    }
    if let Some(at) = text.find(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
        return refuse(at, "the file holds a control character", "here");
    }
    Ok(text)
}

/// Counts brackets without regard to quotes: a thousand unmatched ones are no manifest either way.
fn refuse_deep_brackets(source: &Source) -> Result<(), Diagnostic> {
    let mut open = 0_usize;
    for (at, byte) in source.text().bytes().enumerate() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_OPEN {
            return Err(Diagnostic::new("yaml-syntax", "the document is nested too deeply").at(
                source,
                at..at + 1,
                format!("{MAX_OPEN} brackets are open here"),
            ));
        }
    }
    Ok(())
}

fn read_raw<'a, S: DeserializeSeed<'a>>(
    text: &'a str,
    seed: S,
) -> Result<S::Value, serde_yaml::Error> {
    seed.deserialize(serde_yaml::Deserializer::from_str(text))
}

/// Reads the text with one visitor; what the parser itself refuses becomes a diagnostic.
fn read<'a, S: DeserializeSeed<'a>>(source: &'a Source, seed: S) -> Result<S::Value, Diagnostic> {
    read_raw(source.text(), seed).map_err(|error| {
        let full = error.to_string();
        let (message, help) = match full.split_once(MARK) {
            Some((_, ours)) => (ours, None),
            None if full.contains("more than one document") => {
                ("the file holds more than one document", Some("split it at the `---` lines"))
            }
            None if full.contains("recursion limit") => ("the document is nested too deeply", None),
            None => (full.as_str(), None),
        };
        let message = message.split(" at line ").next().unwrap_or(message);
        let place = error.location();
        let text = source.text();
        let at = place.map_or(0, |l| text.floor_char_boundary(l.index().min(text.len())));
        let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let indent: &str = text[line_start..].split(|c| c != ' ' && c != '\t').next().unwrap_or("");
        let diagnostic = Diagnostic::new("yaml-syntax", message).at(source, at..at + 1, "");
        match help {
            Some(help) => diagnostic.help(help),
            None if indent.contains('\t') => {
                diagnostic.help("YAML is indented with spaces; this line is indented with a tab")
            }
            None => diagnostic,
        }
    })
}

/// Bytes from the start of a node to the end of what is worth underlining, all on one line.
fn token_length(text: &str, known: Option<&str>) -> usize {
    let line = text.split('\n').next().unwrap_or("");
    let properties = line.len() - skip_properties(line).len();
    let rest = &line[properties..];
    let quoted = |quote: char| {
        let mut escaped = false;
        rest[1..]
            .find(|c: char| {
                let end = c == quote && !escaped;
                escaped = quote == '"' && c == '\\' && !escaped;
                end
            })
            .map(|i| i + 2)
    };
    let length = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted(quote),
        Some('[' | '{') => closing_bracket(rest),
        _ => known.filter(|k| rest.starts_with(k)).map(str::len),
    };
    let plain_end = rest.find(": ").or_else(|| rest.find(" #")).unwrap_or(rest.len());
    properties + length.unwrap_or(rest[..plain_end].trim_end_matches([' ', ':']).len())
}

/// The line without an anchor or tag before the value.
fn skip_properties(line: &str) -> &str {
    match line.strip_prefix(['&', '!']).and_then(|l| l.split_once(' ')) {
        Some((_, rest)) if !rest.trim_start().is_empty() => skip_properties(rest.trim_start()),
        _ => line,
    }
}

fn closing_bracket(line: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, byte) in line.bytes().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(i + 1);
        }
    }
    None
}

/// What one document may grow to.
#[derive(Default)]
struct Budget {
    nodes: Cell<usize>,
    text: Cell<usize>,
}

impl Budget {
    fn spend<E: Error>(&self, text: usize) -> Result<(), E> {
        self.nodes.set(self.nodes.get() + 1);
        self.text.set(self.text.get() + text);
        if self.nodes.get() > MAX_NODES || self.text.get() > MAX_TEXT {
            return Err(ours(&format!("the document grows to more than {MAX_NODES} values")));
        }
        Ok(())
    }
}

fn ours<E: Error>(message: &str) -> E {
    E::custom(format_args!("{MARK}{message}"))
}

/// First reading: the tree. Numbers and booleans are left as empty texts.
struct Tree<'b> {
    path: Vec<usize>,
    budget: &'b Budget,
}

impl Tree<'_> {
    fn node(self, value: Value) -> Node {
        Node { path: self.path, value }
    }

    fn child(&self, index: usize) -> Self {
        let path = self.path.iter().copied().chain([index]).collect();
        Self { path, budget: self.budget }
    }

    fn scalar<E: Error>(self, text: &str) -> Result<Node, E> {
        self.budget.spend(text.len())?;
        Ok(self.node(Value::Scalar(text.to_owned())))
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Node, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        self.budget.spend(0)?;
        Ok(self.node(Value::Null))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        self.scalar(text)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.budget.spend(0)?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.child(items.len()))? {
            items.push(item);
        }
        Ok(self.node(Value::Sequence(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.budget.spend(0)?;
        let mut entries = Vec::new();
        while let Some(key) = access.next_key_seed(Key { fail: false })? {
            self.budget.spend(key.len())?;
            let value = access.next_value_seed(self.child(entries.len()))?;
            entries.push((key, value));
        }
        Ok(self.node(Value::Mapping(entries)))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Node, A::Error> {
        Err(ours("tags (`!name`) are not used in these files"))
    }
}

/// Second reading: puts the text as written into every scalar of the tree.
struct Texts<'t>(&'t mut Node);

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        match &mut self.0.value {
            Value::Null => d.deserialize_ignored_any(IgnoredAny).map(drop),
            Value::Scalar(text) => d.deserialize_str(TextInto(text)),
            Value::Sequence(_) | Value::Mapping(_) => d.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the first reading found")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Value::Sequence(items) = &mut self.0.value {
            for item in items {
                access.next_element_seed(Texts(item))?;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Value::Mapping(entries) = &mut self.0.value {
            for (_, value) in entries {
                access.next_key::<IgnoredAny>()?;
                access.next_value_seed(Texts(value))?;
            }
        }
        Ok(())
    }
}

/// Takes a scalar's text.
struct TextInto<'t>(&'t mut String);

impl Visitor<'_> for TextInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        text.clone_into(self.0);
        Ok(())
    }
}

/// A key's text, or a failure at the key.
struct Key {
    fail: bool,
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<String, D::Error> {
        d.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text as key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        if self.fail { Err(ours("here")) } else { Ok(text.to_owned()) }
    }
}

/// Which part of an entry a place points at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Key,
    Value,
}

/// Fails on purpose at the node the path leads to; serde_yaml adds the place to the failure.
struct Probe<'p> {
    path: &'p [usize],
    part: Part,
}

impl Probe<'_> {
    fn scalar<E: Error>(&self) -> Result<(), E> {
        if self.path.is_empty() { Err(ours("here")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Probe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Probe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.scalar()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.scalar()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<(), E> {
        self.scalar()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<(), E> {
        self.scalar()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((&index, path)) = self.path.split_first() else { return Err(ours("here")) };
        for _ in 0..index {
            access.next_element::<IgnoredAny>()?;
        }
        access.next_element_seed(Probe { path, part: self.part }).map(drop)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((&index, path)) = self.path.split_first() else { return Err(ours("here")) };
        for _ in 0..index {
            access.next_entry::<IgnoredAny, IgnoredAny>()?;
        }
        let fail = path.is_empty() && self.part == Part::Key;
        access.next_key_seed(Key { fail })?;
        access.next_value_seed(Probe { path, part: self.part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::parse("x.yaml", text.as_bytes()).unwrap()
    }

    fn entry<'n>(node: &'n Node, key: &str) -> &'n Node {
        let Value::Mapping(entries) = &node.value else { panic!("no mapping") };
        &entries.iter().find(|(k, _)| k == key).unwrap().1
    }

    fn item(node: &Node, index: usize) -> &Node {
        let Value::Sequence(items) = &node.value else { panic!("no sequence") };
        &items[index]
    }

    const NESTED: &str = "name: kyber # é\nstages:\n  build: {kind: build, flags: [-O3, \"-march=ä\\\"\"]}\n  \
        kat:\n    kind: 'it''s'\n    needs: [build, bulid]\n    opt:\n      - a: 1\n      - &x a: 2\n  time:\n    \
        needs:\n      - kat\n      - nope: # why\n";

    #[test]
    fn every_node_is_found_again_in_the_text() {
        let doc = document(NESTED);
        let stages = entry(doc.root(), "stages");
        let (build, kat) = (entry(stages, "build"), entry(stages, "kat"));
        let text = |span: Range<usize>| &doc.source().text()[span];
        assert_eq!(text(doc.value_span(entry(doc.root(), "name"))), "kyber");
        assert_eq!(text(doc.value_span(item(entry(build, "flags"), 1))), "\"-march=ä\\\"\"");
        assert_eq!(text(doc.value_span(entry(build, "flags"))), "[-O3, \"-march=ä\\\"\"]");
        assert_eq!(text(doc.value_span(entry(kat, "kind"))), "'it'");
        assert_eq!(text(doc.value_span(item(entry(kat, "needs"), 1))), "bulid");
        assert_eq!(text(doc.key_span(kat, "kat")), "kat");
        let nope = item(entry(entry(stages, "time"), "needs"), 1);
        assert_eq!(text(doc.value_span(nope)), "nope");
        assert_eq!(text(doc.key_span(entry(nope, "nope"), "nope")), "nope");
        assert_eq!(doc.source().line_column(doc.value_span(nope).start), (13, 9));
    }

    #[test]
    fn numbers_and_booleans_keep_their_spelling() {
        let doc = document("a: 1.10\nb: 0x1F\nc: True\nd: 000012e45\ne: ~\nf: off\n");
        let text = |key| match &entry(doc.root(), key).value {
            Value::Scalar(text) => text.as_str(),
            other => panic!("{other:?}"),
        };
        assert_eq!([text("a"), text("b"), text("c")], ["1.10", "0x1F", "True"]);
        assert_eq!([text("d"), text("f")], ["000012e45", "off"]);
        assert!(matches!(entry(doc.root(), "e").value, Value::Null));
    }

    #[test]
    fn aliases_are_followed_and_their_places_are_at_the_anchor() {
        let doc = document("a: &list [x, 1.0]\nb: *list\n");
        let second = item(entry(doc.root(), "b"), 1);
        assert_eq!(&doc.source().text()[doc.value_span(second)], "1.0");
    }

    #[test]
    fn a_document_that_aliases_blow_up_is_refused_quickly() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for i in 1..30 {
            let alias = format!("*a{}, ", i - 1).repeat(9);
            bomb.push_str(&format!("a{i}: &a{i} [{alias}]\n"));
        }
        let error = Document::parse("bomb.yaml", bomb.as_bytes()).unwrap_err();
        assert!(error.message().contains("grows to more than"), "{error:?}");
        let long = "x".repeat(1 << 20);
        let flat = format!("a: &a {long}\nb: [{}]\n", "*a, ".repeat(1000));
        assert!(Document::parse("flat.yaml", flat.as_bytes()).is_err());
        assert!(Document::parse("self.yaml", b"a: &a [*a]\n").is_err());
    }

    #[test]
    fn big_deep_and_binary_files_are_refused() {
        let message = |bytes: &[u8]| Document::parse("x", bytes).unwrap_err().message().to_owned();
        assert!(message(&vec![b' '; MAX_BYTES + 1]).contains("at most 4194304 are read"));
        assert!(message("[".repeat(1 << 20).as_bytes()).contains("nested too deeply"));
        assert!(
            message(format!("{}{}", "[".repeat(500), "]".repeat(500)).as_bytes())
                .contains("deeply")
        );
        assert!(message(b"a: \xff\n").contains("not UTF-8"));
        assert!(message(b"a: \0\n").contains("control character"));
        assert!(message(b"a: 1\rb: 2\n").contains("control character"));
    }
}
