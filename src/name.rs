//! Checked names and relative paths: the rules at the door.
//!
//! A value of these types is well formed by construction; serde goes through the same constructors, so YAML errors
//! carry their place. Knows nothing of what a name refers to.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Why a text is no name or path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// A name of letters, digits, `-`, `_`, `.`, `+` was expected.
    #[error(
        "`{0}` is not a name: letters, digits, `-`, `_`, `+` and `.` (not first), at most 64 characters"
    )]
    Name(String),
    /// A relative path was expected.
    #[error("`{path}` is not a path inside the tree: {why}")]
    Path {
        /// The text.
        path: String,
        /// The rule it breaks.
        why: &'static str,
    },
}

/// A name of a submission, implementation, instance, stage, system or pipeline.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Box<str>);

impl Name {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.');
        let first_fine = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if first_fine && text.len() <= 64 && text.chars().all(letter) {
            Ok(Self(text.into()))
        } else {
            Err(NameError::Name(text.chars().take(80).collect()))
        }
    }
}

/// A relative path below some root: UTF-8, `/` between parts, no empty, `.` or `..` parts, no NUL or newline.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Box<str>);

impl RelPath {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path below a root.
    #[must_use]
    pub fn under(&self, root: &Path) -> PathBuf {
        root.join(&*self.0)
    }

    /// This path with one more relative text, resolving `.` and `..` lexically inside the root.
    ///
    /// # Errors
    /// When the result leaves the root or is empty.
    pub fn join(&self, more: &str) -> Result<Self, NameError> {
        Self::resolve(&format!("{}/{more}", self.0))
    }

    /// Resolves `.` and `..` lexically.
    ///
    /// # Errors
    /// When the result leaves the root or is empty.
    pub fn resolve(text: &str) -> Result<Self, NameError> {
        let bad = |why| NameError::Path { path: text.to_owned(), why };
        if text.starts_with('/') {
            return Err(bad("it is absolute"));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(bad("it leaves the tree by `..`"));
                    }
                }
                part => parts.push(part),
            }
        }
        parts.join("/").parse()
    }

    /// The last part.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Everything before the last part, if there is anything.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(head, _)| Self(head.into()))
    }
}

impl FromStr for RelPath {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let bad = |why| Err(NameError::Path { path: text.chars().take(200).collect(), why });
        if text.is_empty() {
            return bad("it is empty");
        }
        if text.starts_with('/') {
            return bad("it is absolute");
        }
        if text.contains(['\0', '\n', '\r']) {
            return bad("it holds a control character");
        }
        for part in text.split('/') {
            match part {
                "" => return bad("it has an empty part"),
                "." | ".." => return bad("it has a `.` or `..` part"),
                part if part.len() > 255 => return bad("a part is longer than 255 bytes"),
                _ => {}
            }
        }
        Ok(Self(text.into()))
    }
}

/// Display, Debug and serde through the checked constructor.
macro_rules! text_type {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "`{}`", self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = String::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
}

text_type!(Name);
text_type!(RelPath);

/// Compares texts the way people sort them: runs of digits as numbers, the rest by bytes.
#[must_use]
pub fn natural_order(a: &str, b: &str) -> std::cmp::Ordering {
    fn split(text: &str) -> (&str, &str) {
        let digits = text.starts_with(|c: char| c.is_ascii_digit());
        let end = text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len());
        text.split_at(end)
    }
    let (mut a, mut b) = (a, b);
    while !a.is_empty() && !b.is_empty() {
        let ((x, rest_a), (y, rest_b)) = (split(a), split(b));
        let number = |t: &str| t.starts_with(|c: char| c.is_ascii_digit());
        let order = if number(x) && number(y) {
            let (p, q) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            p.len().cmp(&q.len()).then_with(|| p.cmp(q)).then_with(|| x.len().cmp(&y.len()))
        } else {
            x.cmp(y)
        };
        if order.is_ne() {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_tree_is_refused() {
        for bad in ["", "/x", "a//b", "a/../b", "..", "./a", "a/", "a\0b", "a\nb"] {
            assert!(bad.parse::<RelPath>().is_err(), "{bad:?} was accepted");
        }
        assert!("a b/中文资料/x.c".parse::<RelPath>().is_ok());
    }

    #[test]
    fn dots_are_resolved_inside_the_tree_only() {
        let base: RelPath = "a/b".parse().unwrap();
        assert_eq!(base.join("../c/./d").unwrap().as_str(), "a/c/d");
        assert!(base.join("../../../x").is_err());
    }

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        let mut names = ["L10", "L9", "L1", "A", "L1x"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["A", "L1", "L1x", "L9", "L10"]);
    }

    #[test]
    fn a_name_has_no_blanks_and_does_not_start_with_a_dash() {
        assert!("kem-18".parse::<Name>().is_ok());
        for bad in ["", "-x", "a b", "a/b", ".x"] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?} was accepted");
        }
    }
}
