//! Reads located values one by one and keeps every error: the vocabulary that the three file kinds are read with.
//!
//! Knows nothing of pipelines or submissions. A reader returns `None` when it has reported why, so a caller asks for
//! all its fields first and gives up afterwards: one run shows all that is wrong. Mappings are read in `fields.rs`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use super::quantity;
use super::tree::{Node, Value};
use super::yaml::Document;
use crate::diag::{Diagnostic, nearest};
use crate::disk::Disk;
use crate::name::{Name, RelPath};

/// A value in a document, with the key that holds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'d> {
    pub(super) doc: &'d Document,
    pub(super) node: &'d Node,
    pub(super) key: Option<&'d str>,
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

    /// Reports a value of another shape.
    pub(super) fn wrong_type(self, wanted: &str) {
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
    pub(super) fn must_exist(self, disk: &Disk, path: &RelPath, kind: Kind) -> Option<()> {
        let (word, fine) = match kind {
            Kind::File => ("file", disk.is_file(path.as_str())),
            Kind::Directory => ("directory", disk.is_dir(path.as_str())),
        };
        if fine {
            return Some(());
        }
        let near = siblings(disk, path, kind);
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

    /// A value with this place.
    pub(super) fn located<T>(self, value: Option<T>) -> Option<Located<'d, T>> {
        value.map(|value| Located { value, at: self })
    }

    /// Whether nothing is written here.
    pub(super) fn is_nothing(self) -> bool {
        matches!(self.node.value, Value::Null)
    }
}

/// What must be at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
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
fn siblings(disk: &Disk, missing: &RelPath, kind: Kind) -> Vec<String> {
    let directory = missing.as_str().rsplit_once('/').map_or("", |(directory, _)| directory);
    let fits = |t: std::fs::FileType| if kind == Kind::File { t.is_file() } else { t.is_dir() };
    disk.list(directory, fits).unwrap_or_default()
}
