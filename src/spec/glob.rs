//! File patterns (`*`, `?`, `**`) and selectors (`submission/implementation/instance`).
//!
//! Knows nothing of the file system: it matches texts. Small on purpose: no classes, no braces, no escapes, so that a
//! path with brackets in it is just a path. Matching is a table, never a backtracking search: a hostile pattern costs
//! pattern times text.

use std::fmt;
use std::str::FromStr;

/// A pattern over a path with `/`: `*` and `?` stay inside a part, `**` as a whole part stands for any parts or none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern(String);

impl Pattern {
    /// The text as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it holds a wildcard; without one it is a plain path.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Whether the whole path fits.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        // fits[i]: the pattern parts so far match the first i parts of the path.
        let mut fits = vec![false; parts.len() + 1];
        fits[0] = true;
        for pattern in self.0.split('/') {
            let before = fits.clone();
            if pattern == "**" {
                for i in 1..fits.len() {
                    fits[i] = fits[i] || fits[i - 1];
                }
                continue;
            }
            fits[0] = false;
            for i in 1..fits.len() {
                fits[i] = before[i - 1] && part_matches(pattern, parts[i - 1]);
            }
        }
        fits[parts.len()]
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn part_matches(pattern: &str, part: &str) -> bool {
    let text: Vec<char> = part.chars().collect();
    let mut fits = vec![false; text.len() + 1];
    fits[0] = true;
    for wanted in pattern.chars() {
        if wanted == '*' {
            for i in 1..fits.len() {
                fits[i] = fits[i] || fits[i - 1];
            }
            continue;
        }
        for i in (1..fits.len()).rev() {
            fits[i] = fits[i - 1] && (wanted == '?' || wanted == text[i - 1]);
        }
        fits[0] = false;
    }
    fits[text.len()]
}

/// Chooses instances: up to three patterns, for submission, implementation and instance; a missing one fits all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    parts: Vec<Pattern>,
}

/// Why a text is no selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a selector: `submission/implementation/instance`, `*` and `?` allowed, later parts may be left out"
)]
pub struct BadSelector(String);

impl Selector {
    /// Whether an instance is chosen.
    #[must_use]
    pub fn matches(&self, submission: &str, implementation: &str, instance: &str) -> bool {
        self.parts.iter().zip([submission, implementation, instance]).all(|(p, t)| p.matches(t))
    }

    /// The parts as patterns; at least one.
    #[must_use]
    pub fn parts(&self) -> &[Pattern] {
        &self.parts
    }
}

impl FromStr for Selector {
    type Err = BadSelector;

    fn from_str(text: &str) -> Result<Self, BadSelector> {
        let letter = |c: char| c.is_ascii_alphanumeric() || "-_.+*?".contains(c);
        let fine = |part: &str| !part.is_empty() && part.chars().all(letter);
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 3 || !parts.iter().all(|part| fine(part)) {
            return Err(BadSelector(text.chars().take(80).collect()));
        }
        Ok(Self { parts: parts.into_iter().map(Pattern::from).collect() })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> = self.parts.iter().map(Pattern::as_str).collect();
        f.write_str(&parts.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Pattern::from(pattern).matches(path)
    }

    #[test]
    fn stars_stay_inside_a_part_and_double_stars_do_not() {
        assert!(matches("*.c", "kem.c"));
        assert!(!matches("*.c", "src/kem.c"));
        assert!(matches("**/*.c", "kem.c"));
        assert!(matches("**/*.c", "a/b/kem.c"));
        assert!(matches("src/**", "src/a/b"));
        assert!(matches("a/**/b", "a/b"));
        assert!(!matches("a/**/b", "a/bb"));
        assert!(matches("../core/*.c", "../core/poly.c"));
        assert!(matches("Lo?ng*", "Loong128"));
        assert!(matches("算法 ?.c", "算法 文.c"));
        assert!(!matches("[ab].c", "a.c"));
        assert!(matches("", ""));
        assert!(!matches("*", "a/b"));
    }

    #[test]
    fn a_hostile_pattern_costs_no_time() {
        assert!(!matches(&"*a".repeat(500), &"a".repeat(400)));
        assert!(!matches(&"**/a/".repeat(200), &"a/".repeat(150)));
    }

    #[test]
    fn a_selector_with_fewer_parts_fits_everything_below() {
        let selector = |text: &str| text.parse::<Selector>().unwrap();
        assert!(selector("kem-18").matches("kem-18", "reference", "Loong128"));
        assert!(selector("kem-18/independent").matches("kem-18", "independent", "Loong128"));
        assert!(!selector("kem-18/independent").matches("kem-18", "reference", "Loong128"));
        assert!(selector("*/*/*128").matches("kem-18", "reference", "Loong128"));
        assert!(!selector("kem-1").matches("kem-18", "reference", "Loong128"));
        for bad in ["", "a//b", "a/b/c/d", "/a", "a/", "a b", "kem-18/../x y"] {
            assert!(bad.parse::<Selector>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_star_fits_what_it_replaces(a in "[a-z]{0,6}", b in "[a-z]{0,6}", c in "[a-z]{0,6}") {
            let (pattern, path) = (format!("{a}*{c}"), format!("{a}{b}{c}"));
            prop_assert!(matches(&pattern, &path));
        }
    }
}
