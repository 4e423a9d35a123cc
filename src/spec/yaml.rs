//! Reads one YAML document into a tree whose nodes know where they stand. The only file that names `serde_yaml`.
//!
//! Knows nothing of what a document means; `reader.rs` builds on the tree. serde reports the first error only, so
//! the document is read into a generic tree first and checked by hand: all errors of a file come out at once.
//! The parser gives places only with errors, so a place is found by reading again and failing on purpose at the
//! node. Every scalar keeps its text as written: `1.10` and a digest of only digits stay what they are.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use serde::de::DeserializeSeed;

use super::probe::{Part, Probe};
use super::tree::{Budget, MARK, Node, Texts, Tree, Value};
use crate::diag::{Diagnostic, Source};

/// Files above this size are refused.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// So many errors of one file have their place looked up and are shown; each look-up reads the file again.
const MAX_ERRORS: usize = 100;
/// The parser's time grows with the square of open brackets.
const MAX_OPEN: usize = 1000;

/// One document with its text, and the errors found in it so far.
#[derive(Debug)]
pub(super) struct Document {
    source: Source,
    root: Node,
    errors: RefCell<Vec<Diagnostic>>,
    unshown: Cell<usize>,
}

impl Document {
    /// Reads a file's bytes; `name` is what diagnostics call it.
    pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let source = Source::new(name, readable_text(name, bytes)?);
        refuse_deep_brackets(&source)?;
        let mut root = read(&source, Tree::root(&Budget::default()))?;
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

    /// Keeps a diagnostic, once. `make` is not called (and no place looked up) when there are too many already.
    pub(super) fn report(&self, make: impl FnOnce() -> Diagnostic) {
        if self.errors.borrow().len() < MAX_ERRORS {
            let diagnostic = make();
            let mut errors = self.errors.borrow_mut();
            if !errors.contains(&diagnostic) {
                errors.push(diagnostic);
            }
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
        self.span(node.path(), Part::Value, known)
    }

    /// The bytes of the text that the key holding a value takes.
    pub(super) fn key_span(&self, node: &Node, key: &str) -> Range<usize> {
        self.span(node.path(), Part::Key, Some(key))
    }

    /// A place that cannot be found is the start of the file.
    fn span(&self, path: &[usize], part: Part, known: Option<&str>) -> Range<usize> {
        let text = self.source.text();
        let error = read_raw(text, Probe { path, part }).err();
        let place = error.and_then(|e| e.location());
        let Some(start) = place.map(|l| self.source.boundary(l.index())) else { return 0..0 };
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
            None if full.contains("repetition limit") => {
                ("the document grows too far by its aliases", None)
            }
            None if full.contains("recursion limit") => ("the document is nested too deeply", None),
            None => (full.as_str(), None),
        };
        let message = message.split(" at line ").next().unwrap_or(message);
        let place = error.location();
        let text = source.text();
        let at = place.map_or(0, |l| source.boundary(l.index()));
        let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let indent: &str = text[line_start..].split(|c| c != ' ' && c != '\t').next().unwrap_or("");
        let diagnostic = Diagnostic::new("yaml-syntax", message).at(source, at..at + 1, "");
        let diagnostic = match context(source, &full) {
            Some((start, what)) if start < at => diagnostic.at(source, start..start + 1, what),
            _ => diagnostic,
        };
        match help {
            Some(help) => diagnostic.help(help),
            None if indent.contains('\t') => {
                diagnostic.help("YAML is indented with spaces; this line is indented with a tab")
            }
            // `[NGCC_{n}]`: the brace ends what the reader sees as one text.
            None if message.contains("expected ',' or") => diagnostic
                .help("inside `[ ]` and `{ }`, a text with brackets or braces stands in quotes"),
            None => diagnostic,
        }
    })
}

/// Where the parser says the broken thing began: `…, while scanning a quoted scalar at line 1 column 4`.
fn context<'e>(source: &Source, message: &'e str) -> Option<(usize, &'e str)> {
    let (what, place) = message[message.find("while ")?..].split_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
    let before: usize = source.text().split_inclusive('\n').take(line - 1).map(str::len).sum();
    let inside =
        source.text()[before..].chars().take(column - 1).map(char::len_utf8).sum::<usize>();
    Some((before + inside, what))
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
            other @ (Value::Null | Value::Sequence(_) | Value::Mapping(_)) => panic!("{other:?}"),
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
        let mut lines = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x]".to_owned()];
        for i in 1..30 {
            let alias = format!("*a{}, ", i - 1).repeat(9);
            lines.push(format!("a{i}: &a{i} [{alias}]"));
        }
        let bomb = lines.join("\n");
        let error = Document::parse("bomb.yaml", bomb.as_bytes()).unwrap_err();
        assert!(error.message().contains("the document grows"), "{error:?}");
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
