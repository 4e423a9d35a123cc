//! Reads the tab-separated lines of the measuring programs.
//!
//! `META key value`, `TRIAL k n seconds cycles`, `TICKS k ticks`, `USAGE ...`, `TOTAL ...`, `CALL ...`, `STATUS word`.
//! A line of another shape is an error with its number, never skipped: a misread figure is worse than none.

use std::collections::BTreeMap;

/// The lines of one process.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Lines {
    /// `META` lines.
    pub(super) meta: BTreeMap<String, String>,
    /// All other lines: word and fields, in order.
    pub(super) rows: Vec<(String, Vec<String>)>,
}

impl Lines {
    /// Parses a program's whole output.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = Self::default();
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split('\t').collect();
            let wrong = || format!("line {} of the program's output: `{line}`", index + 1);
            match fields.as_slice() {
                ["META", key, value] => {
                    lines.meta.insert((*key).to_owned(), (*value).to_owned());
                }
                [word @ ("TRIAL" | "USAGE"), rest @ ..] if rest.len() == 4 => {
                    lines.push(word, rest);
                }
                ["TICKS", rest @ ..] if rest.len() == 2 => lines.push("TICKS", rest),
                ["TOTAL", rest @ ..] if rest.len() == 2 => lines.push("TOTAL", rest),
                ["CALL", rest @ ..] if rest.len() == 5 => lines.push("CALL", rest),
                ["STATUS", status] => lines.push("STATUS", &[status]),
                _ => return Err(wrong()),
            }
        }
        Ok(lines)
    }

    fn push(&mut self, word: &str, fields: &[&str]) {
        self.rows.push((word.to_owned(), fields.iter().map(|f| (*f).to_owned()).collect()));
    }

    /// Rows with one word.
    pub(super) fn rows<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a [String]> + 'a {
        self.rows.iter().filter(move |(w, _)| w == word).map(|(_, f)| f.as_slice())
    }

    /// Whether the program said it was complete.
    pub(super) fn complete(&self) -> bool {
        self.rows("STATUS").last().is_some_and(|f| f[0] == "complete")
    }

    /// A `META` value.
    pub(super) fn text(&self, key: &str) -> Result<&str, String> {
        self.meta.get(key).map(String::as_str).ok_or_else(|| format!("no `META {key}` line"))
    }

    /// A `META` value as a number.
    pub(super) fn number<T: std::str::FromStr>(&self, key: &str) -> Result<T, String> {
        let text = self.text(key)?;
        text.parse().map_err(|_| format!("`META {key}` is `{text}`: not a number"))
    }
}

/// One field of a row as a number.
pub(super) fn field<T: std::str::FromStr>(fields: &[String], index: usize) -> Result<T, String> {
    let text = fields.get(index).map_or("", String::as_str);
    text.parse().map_err(|_| format!("`{text}` in a line of {}: not a number", fields.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_another_shape_is_an_error_with_its_number() {
        assert!(Lines::parse("META\ta\tb\nTRIAL\t1\t2\n").unwrap_err().contains("line 2"));
    }

    #[test]
    fn values_are_found_by_key() {
        let lines = Lines::parse("META\tn\t7\nSTATUS\tcomplete\n").unwrap();
        assert_eq!(lines.number::<u64>("n"), Ok(7));
        assert!(lines.complete());
        assert!(lines.number::<u64>("m").is_err());
    }
}
