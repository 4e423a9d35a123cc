//! Reads located values one by one and keeps every error: the vocabulary that the three file kinds are read with.
//!
//! Knows nothing of pipelines or submissions. A reader returns `None` when it has reported why, so a caller asks for
//! all its fields first and gives up afterwards: one run shows all that is wrong. The fields asked for are the fields
//! that exist: [`Map::finish`] refuses the others and names the nearest.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use super::quantity;
use super::tree::{Node, Value};
use super::yaml::Document;
use crate::diag::{Diagnostic, nearest};
use crate::name::{Name, RelPath};

/// A value in a document, with the key that holds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'d> {
    doc: &'d Document,
    node: &'d Node,
    key: Option<&'d str>,
}

/// A checked value that still knows where it came from, for the checks that need the whole file.
#[derive(Debug, Clone)]
pub(super) struct Located<'d, T> {
    pub(super) value: T,
    pub(super) at: At<'d>,
}

impl<'d> At<'d> {
    /// The whole document.
    pub(super) fn root(doc: &'d Document) -> Self {
        Self { doc, node: doc.root(), key: None }
    }

    /// The key that holds this value; empty for list items and the document.
    pub(super) fn key(self) -> &'d str {
        self.key.unwrap_or("")
    }

    /// A diagnostic at the value; `adorn` may add help and further places.
    pub(super) fn error(
        self,
        code: &'static str,
        message: impl Display,
        label: impl Display,
        adorn: impl FnOnce(Diagnostic) -> Diagnostic,
    ) {
        self.doc.report(|| adorn(self.point(Diagnostic::new(code, message.to_string()), label)));
    }

    /// A diagnostic at the key that holds the value.
    pub(super) fn key_error(
        self,
        code: &'static str,
        message: impl Display,
        label: impl Display,
        adorn: impl FnOnce(Diagnostic) -> Diagnostic,
    ) {
        self.doc
            .report(|| adorn(self.point_key(Diagnostic::new(code, message.to_string()), label)));
    }

    /// Adds this value as a place. A value written as nothing is shown by its key.
    pub(super) fn point(self, diagnostic: Diagnostic, label: impl Display) -> Diagnostic {
        let block = matches!(self.node.value, Value::Null | Value::Mapping(_));
        if block && self.key.is_some() {
            return self.point_key(diagnostic, label);
        }
        diagnostic.at(self.doc.source(), self.doc.value_span(self.node), label.to_string())
    }

    /// Adds the key that holds this value as a place.
    pub(super) fn point_key(self, diagnostic: Diagnostic, label: impl Display) -> Diagnostic {
        let span = match self.key {
            Some(key) => self.doc.key_span(self.node, key),
            None => self.doc.value_span(self.node),
        };
        diagnostic.at(self.doc.source(), span, label.to_string())
    }

    fn wrong_type(self, wanted: &str) {
        let found = match &self.node.value {
            Value::Null => "nothing".to_owned(),
            Value::Scalar(text) => format!("`{text}`"),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
        };
        let message = format!("{}expected {wanted}, found {found}", self.owner());
        self.error("wrong-type", message, format!("expected {wanted}"), |d| d);
    }

    /// The key as the beginning of a message.
    fn owner(self) -> String {
        self.key.map_or(String::new(), |k| format!("`{k}`: "))
    }

    fn scalar(self, wanted: &str) -> Option<&'d str> {
        if let Value::Scalar(text) = &self.node.value {
            return Some(text);
        }
        self.wrong_type(wanted);
        None
    }

    /// A text that is not empty. Numbers and the like count, as written.
    pub(super) fn text(self) -> Option<String> {
        let text = self.scalar("a text")?;
        if text.trim().is_empty() {
            self.error("empty-text", "a text is needed here", "empty", |d| d);
            return None;
        }
        Some(text.to_owned())
    }

    /// A text that may be empty.
    pub(super) fn any_text(self) -> Option<String> {
        self.scalar("a text").map(str::to_owned)
    }

    /// A text that a type's own rules check.
    pub(super) fn parse<T>(self, wanted: &str) -> Option<T>
    where
        T: FromStr<Err: Display>,
    {
        let text = self.scalar(wanted)?;
        self.take(text.parse::<T>())
    }

    /// Reports the error of a check made elsewhere.
    pub(super) fn take<T>(self, result: Result<T, impl Display>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error("bad-value", error, "", |d| d);
                None
            }
        }
    }

    /// A name.
    pub(super) fn name(self) -> Option<Name> {
        self.parse("a name")
    }

    /// A whole number of at least 1.
    pub(super) fn count(self) -> Option<u64> {
        let wanted = "a whole number of at least 1";
        match self.scalar(wanted)?.parse::<u64>() {
            Ok(number) if number > 0 => Some(number),
            _ => {
                self.wrong_type(wanted);
                None
            }
        }
    }

    /// A whole number that fits 32 bits, 0 included.
    pub(super) fn small_number(self) -> Option<u32> {
        let wanted = "a whole number";
        let number = self.scalar(wanted)?.parse();
        if number.is_err() {
            self.wrong_type(wanted);
        }
        number.ok()
    }

    /// `true` or `false`.
    pub(super) fn truth(self) -> Option<bool> {
        let wanted = "`true` or `false`";
        let truth = self.scalar(wanted)?.parse();
        if truth.is_err() {
            self.wrong_type(wanted);
        }
        truth.ok()
    }

    /// A time with its unit.
    pub(super) fn duration(self) -> Option<std::time::Duration> {
        let text = self.scalar("a time with its unit")?;
        self.take(quantity::duration(text))
    }

    /// A number of bytes with its unit.
    pub(super) fn bytes(self) -> Option<u64> {
        let text = self.scalar("a number of bytes with its unit")?;
        self.take(quantity::bytes(text))
    }

    /// A SHA-256 digest.
    pub(super) fn sha256(self) -> Option<String> {
        let text = self.scalar("a SHA-256 digest")?;
        self.take(quantity::sha256(text).map(str::to_owned))
    }

    /// One of a few words.
    pub(super) fn one_of<T: Clone>(self, what: &str, words: &[(&str, T)]) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let text = self.scalar(&format!("one of {}", names.join(", ")))?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone());
        if found.is_none() {
            self.error(
                unknown_code(what),
                format!("there is no {what} `{text}`"),
                format!("one of {}", names.join(", ")),
                |d| d.suggest(text, names.iter().copied()),
            );
        }
        found
    }

    /// A path relative to a directory of the workspace; the result is relative to the workspace.
    pub(super) fn path_from(self, directory: Option<&RelPath>) -> Option<RelPath> {
        let text = self.scalar("a path")?;
        self.take(match directory {
            Some(directory) => directory.join(text),
            None => RelPath::resolve(text),
        })
    }

    /// Checks that a file or directory of the workspace is there.
    pub(super) fn must_exist(self, root: &Path, path: &RelPath, kind: Kind) -> Option<()> {
        let full = path.under(root);
        let (word, fine) = match kind {
            Kind::File => ("file", full.is_file()),
            Kind::Directory => ("directory", full.is_dir()),
        };
        if fine {
            return Some(());
        }
        let near = siblings(&full, kind);
        self.error(
            "missing-file",
            format!("there is no {word} `{path}`"),
            format!("no such {word}"),
            |d| match nearest(path.file_name(), near.iter().map(String::as_str)) {
                Some(near) => d.help(format!("there is `{near}` in the same directory")),
                None => d,
            },
        );
        None
    }

    /// The items of a list.
    pub(super) fn items(self) -> Option<Vec<Self>> {
        match &self.node.value {
            Value::Sequence(nodes) => {
                Some(nodes.iter().map(|node| Self { doc: self.doc, node, key: None }).collect())
            }
            Value::Scalar(text) => {
                let message = format!("{}expected a list, found `{text}`", self.owner());
                self.error("wrong-type", message, "expected a list", |d| {
                    d.help(format!("write `[{text}]`"))
                });
                None
            }
            Value::Null | Value::Mapping(_) => {
                self.wrong_type("a list");
                None
            }
        }
    }

    /// A list, each item read alike. What cannot be read is reported and left out.
    pub(super) fn list<T>(self, read: impl Fn(Self) -> Option<T>) -> Option<Vec<T>> {
        Some(self.items()?.into_iter().filter_map(read).collect())
    }

    /// A list without repeats.
    pub(super) fn set<T: Ord + Clone + Display>(
        self,
        read: impl Fn(Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.list(|at| at.located(read(at)))?;
        let mut seen: BTreeMap<&T, Self> = BTreeMap::new();
        for item in &items {
            if let Some(first) = seen.insert(&item.value, item.at) {
                item.at.error(
                    "duplicate-item",
                    format!("`{}` is listed twice", item.value),
                    "again here",
                    |d| first.point(d, "first here"),
                );
            }
        }
        Some(items.into_iter().map(|item| item.value).collect())
    }

    /// The fields of a mapping; each key may stand once.
    pub(super) fn map(self) -> Option<Map<'d>> {
        let Value::Mapping(entries) = &self.node.value else {
            if self.is_nothing() && self.key.is_none() {
                self.error("empty-file", "the file holds nothing", "", |d| d);
            } else {
                self.wrong_type("a mapping");
            }
            return None;
        };
        let mut fields: BTreeMap<&'d str, Self> = BTreeMap::new();
        let mut order = Vec::new();
        for (key, node) in entries {
            let at = Self { doc: self.doc, node, key: Some(key) };
            match fields.get(key.as_str()) {
                None => {
                    fields.insert(key, at);
                    order.push(at);
                }
                Some(first) => at.key_error(
                    "duplicate-key",
                    format!("the key `{key}` is given twice"),
                    "again here",
                    |d| first.point_key(d, "first here"),
                ),
            }
        }
        Some(Map {
            at: self,
            fields,
            order,
            known: RefCell::default(),
            missing: RefCell::default(),
        })
    }

    /// A value with this place.
    pub(super) fn located<T>(self, value: Option<T>) -> Option<Located<'d, T>> {
        value.map(|value| Located { value, at: self })
    }

    /// Whether nothing is written here.
    pub(super) fn is_nothing(self) -> bool {
        matches!(self.node.value, Value::Null)
    }

    /// The entries of a mapping in file order, each key once.
    pub(super) fn entries(self) -> Option<Vec<Self>> {
        Some(self.map()?.order)
    }

    /// The keys of a mapping, whatever their values are: for later checks that must not mistake a broken entry for a
    /// missing one.
    pub(super) fn keys(self) -> Vec<&'d str> {
        match &self.node.value {
            Value::Mapping(entries) => entries.iter().map(|(key, _)| key.as_str()).collect(),
            Value::Null | Value::Scalar(_) | Value::Sequence(_) => Vec::new(),
        }
    }

    /// A mapping from names to values read alike, in file order. Nothing at all is an empty mapping. What cannot be
    /// read is reported and left out.
    pub(super) fn named<T>(self, read: impl Fn(Self) -> Option<T>) -> Option<Vec<Named<'d, T>>> {
        if self.is_nothing() {
            return Some(Vec::new());
        }
        let read = |at: Self| {
            let name = at.key().parse::<Name>();
            if let Err(error) = &name {
                at.key_error("bad-value", error, "", |d| d);
            }
            let value = read(at);
            Some(Named { name: name.ok()?, value: value?, at })
        };
        Some(self.entries()?.into_iter().filter_map(read).collect())
    }
}

/// One entry of a mapping from names.
#[derive(Debug)]
pub(super) struct Named<'d, T> {
    pub(super) name: Name,
    pub(super) value: T,
    pub(super) at: At<'d>,
}

/// What must be at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// The fields of one mapping.
#[derive(Debug)]
pub(super) struct Map<'d> {
    at: At<'d>,
    fields: BTreeMap<&'d str, At<'d>>,
    order: Vec<At<'d>>,
    known: RefCell<Vec<&'static str>>,
    missing: RefCell<Vec<&'static str>>,
}

impl<'d> Map<'d> {
    /// The mapping itself.
    pub(super) fn at(&self) -> At<'d> {
        self.at
    }

    /// A field, if it is there.
    pub(super) fn get(&self, key: &'static str) -> Option<At<'d>> {
        self.known.borrow_mut().push(key);
        self.fields.get(key).copied()
    }

    /// A field that must be there.
    pub(super) fn required<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(At<'d>) -> Option<T>,
    ) -> Option<T> {
        match self.get(key) {
            Some(at) => read(at),
            None => {
                self.missing.borrow_mut().push(key);
                None
            }
        }
    }

    /// A field that may be missing. The outer `None` means that it is there and wrong.
    #[expect(clippy::option_option, reason = "wrong and absent are different answers")]
    pub(super) fn optional<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(At<'d>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            None => Some(None),
            Some(at) => read(at).map(Some),
        }
    }

    /// A field with a default.
    pub(super) fn or<T>(
        &self,
        key: &'static str,
        default: T,
        read: impl FnOnce(At<'d>) -> Option<T>,
    ) -> Option<T> {
        self.optional(key, read).map(|found| found.unwrap_or(default))
    }

    /// Refuses every field that was not asked for, and reports the required ones that are missing. A missing field
    /// with an unknown one near it is one error, not two. Tells whether all fields were in order.
    pub(super) fn finish(self) -> Fields {
        let known = self.known.borrow().clone();
        let mut all = Fields::InOrder;
        for at in self.order.iter().filter(|at| !known.contains(&at.key())) {
            all = Fields::Wrong;
            let key = at.key();
            let near = nearest(key, known.iter().copied());
            self.missing.borrow_mut().retain(|missing| Some(*missing) != near);
            at.key_error("unknown-field", format!("there is no field `{key}` here"), "", |d| {
                match near {
                    Some(near) => d.help(format!("did you mean `{near}`?")),
                    None => d.help(format!("the fields are {}", known.join(", "))),
                }
            });
        }
        if !self.missing.borrow().is_empty() {
            all = Fields::Wrong;
        }
        self.finish_unjudged();
        all
    }

    /// Reports missing fields only: which others there may be is not known.
    pub(super) fn finish_unjudged(self) {
        for key in self.missing.take() {
            let owner = self.at.key.map_or_else(String::new, |k| format!(" in `{k}`"));
            self.at.error(
                "missing-field",
                format!("the field `{key}` is missing{owner}"),
                format!("`{key}` is missing here"),
                |d| d,
            );
        }
    }
}

/// What [`Map::finish`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    /// All fields are known and all required ones there.
    InOrder,
    /// Something was reported.
    Wrong,
}

/// The code for an unknown word of a kind.
fn unknown_code(what: &str) -> &'static str {
    match what {
        "stage kind" => "unknown-kind",
        "fact" => "unknown-fact",
        _ => "unknown-word",
    }
}

/// Names beside a missing path, for a suggestion.
fn siblings(missing: &Path, kind: Kind) -> Vec<String> {
    let entries = missing.parent().and_then(|d| std::fs::read_dir(d).ok());
    let fits = |e: &std::fs::DirEntry| {
        e.file_type().is_ok_and(|t| if kind == Kind::File { t.is_file() } else { t.is_dir() })
    };
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(fits)
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
