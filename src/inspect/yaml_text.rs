//! Values as YAML text, plain where that is safe and quoted where it is not, and comments that stay comments.
//!
//! Paths and names of a package are anybody's text: nothing in them may end a line, a quote or a comment.

use std::fmt::Write as _;

/// A text as a YAML scalar.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if unsafe_in_text(c) => drop(write!(out, "\\U{:08X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Characters that YAML takes for line breaks, marks or nothing at all.
fn unsafe_in_text(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        || ('\u{e000}'..='\u{f8ff}').contains(&c)
}

fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 13] =
        ["true", "false", "yes", "no", "on", "off", "null", "y", "n", ".inf", ".nan", "+.inf", "~"];
    let letter = |c: char| c.is_alphanumeric() || "-_./+ ".contains(c);
    let first = text.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_hexdigit() || "xXoO_.+-".contains(c));
    first
        && text.chars().all(letter)
        && !text.ends_with(' ')
        && !numeric
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
        // `---` and `...` mark documents.
        && text != "..."
}

/// A value that may be a number: whole ones need no quotes to come back as they were.
pub(super) fn value(text: &str) -> String {
    let digits = text.len() < 16 && text.bytes().all(|b| b.is_ascii_digit());
    let whole = digits && (text == "0" || !text.starts_with('0')) && !text.is_empty();
    if whole { text.to_owned() } else { scalar(text) }
}

/// A list, in one line if it fits.
pub(super) fn list(texts: &[String], indent: usize) -> String {
    let items: Vec<String> = texts.iter().map(|text| scalar(text)).collect();
    let line = format!(" [{}]", items.join(", "));
    if line.len() + indent < 100 {
        return line;
    }
    let pad = " ".repeat(indent + 2);
    items.iter().map(|item| format!("\n{pad}- {item}")).collect()
}

/// A comment, cut where it would be longer than anybody reads.
pub(super) fn comment(indent: usize, text: &str) -> String {
    let clean: String = text.chars().map(|c| if unsafe_in_text(c) { '?' } else { c }).collect();
    let mut clean = clean;
    // A sentence begins with a capital; code and names stay as they are.
    let is_word = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase());
    if clean.split(' ').next().is_some_and(is_word)
        && let Some(first) = clean.get_mut(..1)
    {
        first.make_ascii_uppercase();
    }
    let mut lines = String::new();
    let mut line = String::new();
    let pad = " ".repeat(indent);
    let mut push = |line: &str| {
        let _ = writeln!(lines, "{pad}# {line}");
    };
    for word in clean.split(' ') {
        if !line.is_empty() && line.len() + word.len() + indent > 115 {
            push(&line);
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    push(&line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_from_yaml_as_it_was() {
        let hostile = [
            "a b",
            "1.10",
            "0x1",
            "yes",
            "",
            " x",
            "x ",
            "a: b",
            "a #b",
            "中文 资料",
            "\u{85}",
            "{x}",
            "*.c",
            "..",
            ".",
            "../x",
            "'",
            "\"",
            "\\",
            "\u{1b}[1m",
            "- x",
            "---",
            "...",
            "~",
            "1e5",
            "é",
            "\u{feff}",
            "null",
            "12",
        ];
        for text in hostile {
            let yaml = format!("k: {}\nl:{}\n", scalar(text), list(&[text.to_owned()], 2));
            let back: std::collections::BTreeMap<String, serde_yaml::Value> =
                serde_yaml::from_str(&yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"));
            assert_eq!(back["k"], serde_yaml::Value::String(text.to_owned()), "{yaml}");
            assert_eq!(back["l"][0], serde_yaml::Value::String(text.to_owned()), "{yaml}");
        }
    }

    #[test]
    fn a_comment_is_one_whatever_it_says() {
        for line in comment(2, "x\ny\u{2028}z\r: w").lines() {
            assert!(line.starts_with("  # "), "{line:?}");
        }
    }
}
