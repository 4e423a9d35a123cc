//! Points a manifest to another archive: the text is edited in place, so that comments and order stay.
//!
//! The edit is by lines around the old digest; whether it did what was meant is for the caller to see by reading the
//! result as a manifest and comparing it with what was wanted.

/// What pins an archive in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivePin {
    /// Its file name.
    pub file: String,
    /// Its SHA-256.
    pub sha256: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// How many lines before and after the digest belong to the same source.
const NEAR: usize = 5;

/// The text with every pin of `old` replaced; `None` when it holds none.
#[must_use]
pub fn repin(text: &str, old: &ArchivePin, new: &ArchivePin) -> Option<String> {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let places: Vec<usize> = (0..lines.len())
        .filter(|&i| value_at(&lines[i], "sha256", &old.sha256).is_some())
        .collect();
    for &place in &places {
        let near = place.saturating_sub(NEAR)..(place + NEAR + 1).min(lines.len());
        set(&mut lines[place], "sha256", &old.sha256, &new.sha256);
        // The nearest of each, so that the lines of another source are left alone.
        let edits = [
            ("bytes", old.bytes.to_string(), new.bytes.to_string()),
            ("archive", old.file.clone(), new.file.clone()),
        ];
        for (field, from, to) in &edits {
            let mut fitting: Vec<usize> =
                near.clone().filter(|&i| value_at(&lines[i], field, from).is_some()).collect();
            fitting.sort_by_key(|&i| i.abs_diff(place));
            if let Some(&line) = fitting.first() {
                set(&mut lines[line], field, from, to);
            }
        }
    }
    (!places.is_empty()).then(|| lines.concat())
}

/// Where the value of `field: value` stands in a line, with or without quotes.
fn value_at(line: &str, field: &str, value: &str) -> Option<std::ops::Range<usize>> {
    let key = format!("{field}:");
    let mut from = 0;
    while let Some(found) = line[from..].find(&key) {
        let at = from + found;
        let own = line[..at].chars().next_back().is_none_or(|c| matches!(c, ' ' | '{' | ','));
        let rest = &line[at + key.len()..];
        let start = at + key.len() + (rest.len() - rest.trim_start().len());
        for quote in ["", "\"", "'"] {
            let quoted = format!("{quote}{value}{quote}");
            let after = line.get(start..).and_then(|r| r.strip_prefix(quoted.as_str()));
            let ends =
                after.is_some_and(|a| a.is_empty() || a.starts_with([',', '}', '\n', ' ', '\r']));
            if own && ends {
                return Some(start + quote.len()..start + quote.len() + value.len());
            }
        }
        from = at + key.len();
    }
    None
}

fn set(line: &mut String, field: &str, from: &str, to: &str) {
    if let Some(range) = value_at(line, field, from) {
        let quoted = line[..range.start].ends_with(['"', '\'']);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if quoted || to.chars().all(plain) {
            line.replace_range(range, to);
        } else {
            line.replace_range(range, &format!("{to:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(file: &str, digit: &str, bytes: u64) -> ArchivePin {
        ArchivePin { file: file.into(), sha256: digit.repeat(64), bytes }
    }

    #[test]
    fn the_pins_of_one_archive_change_and_comments_and_other_sources_stay() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        let text = format!(
            "implementations:\n  reference:\n    source:\n      archive: \"A+.zip\" # as sent\n      \
             sha256: {a}\n      bytes: 7\n  performance:\n    source: {{archive: A+.zip, sha256: {a}, \
             bytes: 7}}\n  other:\n    source: {{archive: A+.zip, sha256: {b}, bytes: 7}}\n"
        );
        let old = pin("A+.zip", "a", 7);
        let new = pin("A 二.zip", "c", 123);
        let out = repin(&text, &old, &new).unwrap();
        let c = "c".repeat(64);
        let expected = format!(
            "implementations:\n  reference:\n    source:\n      archive: \"A 二.zip\" # as sent\n      \
             sha256: {c}\n      bytes: 123\n  performance:\n    source: {{archive: \"A 二.zip\", \
             sha256: {c}, bytes: 123}}\n  other:\n    source: {{archive: A+.zip, sha256: {b}, bytes: 7}}\n"
        );
        assert_eq!(out, expected);
        assert_eq!(repin(&text, &pin("A+.zip", "d", 7), &new), None);
    }

    #[test]
    fn a_number_that_only_begins_alike_is_another_number() {
        let text = format!("archive: A.zip\nbytes: 77\nsha256: {}\n", "a".repeat(64));
        let out = repin(&text, &pin("A.zip", "a", 7), &pin("A.zip", "b", 8)).unwrap();
        assert!(out.contains("bytes: 77\n"));
    }
}
