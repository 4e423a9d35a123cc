//! C text as directives and words, read tolerantly.
//!
//! Takes any bytes: GBK, broken strings, endless lines and unbalanced brackets give *some* lines, never an error.
//! Comments go, continued lines are joined, and the inside of `= { … }` keeps its words only, because tables of
//! constants are most of the bytes of a package and say nothing about what must be compiled.

/// One word, number, text or punctuation mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Box<str>),
    Number(Box<str>),
    /// A string literal, without its quotes.
    Text(Box<str>),
    Mark(char),
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Number(_) | Self::Text(_) | Self::Mark(_) => None,
        }
    }

    pub(super) fn is(&self, mark: char) -> bool {
        *self == Self::Mark(mark)
    }
}

/// A macro as defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Macro {
    /// Names of its parameters; `None` for one without brackets.
    pub(super) parameters: Option<Vec<Box<str>>>,
    pub(super) body: Vec<Token>,
}

/// What a directive includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Included {
    Quoted(String),
    Angled(String),
    /// Named by a macro.
    Named(String),
}

/// A directive, or the text between two directives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Include(Included),
    Define(String, Macro),
    Undef(String),
    If(Vec<Token>),
    Elif(Vec<Token>),
    Else,
    Endif,
    Error(String),
    Text(Vec<Token>),
}

impl Line {
    /// The words of a text line.
    pub(super) fn text(&self) -> Option<&[Token]> {
        let Self::Text(tokens) = self else { return None };
        Some(tokens)
    }
}

/// Reads a file's bytes.
pub(super) fn read(bytes: &[u8]) -> Vec<Line> {
    let clean = without_comments(bytes);
    let (mut lines, mut words) = (Vec::new(), Words::default());
    for line in clean.split(|b| *b == b'\n') {
        let line = line.trim_ascii();
        match line.strip_prefix(b"#") {
            // Inside a table a `#` line may choose entries; that is a directive, too.
            Some(rest) => {
                if !words.found.is_empty() {
                    lines.push(Line::Text(std::mem::take(&mut words.found)));
                }
                lines.extend(directive(rest));
            }
            None => words.push(line),
        }
    }
    if !words.found.is_empty() {
        lines.push(Line::Text(words.found));
    }
    lines
}

/// The words of a text that is no file, such as the value of a define.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut words = Words::default();
    words.push(text.as_bytes());
    words.found
}

/// Joins continued lines and puts a blank where a comment stood. Strings keep what looks like a comment.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let newline = |at: usize| match bytes.get(at..) {
        Some([b'\n', ..]) => 1,
        Some([b'\r', b'\n', ..]) => 2,
        _ => 0,
    };
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match (byte, next) {
            (b'\\', Some(_)) if newline(at + 1) > 0 => at += 1 + newline(at + 1),
            (b'/', Some(b'*')) => {
                let end = bytes[at + 2..].windows(2).position(|w| w == b"*/");
                at = end.map_or(bytes.len(), |end| at + 2 + end + 2);
                out.push(b' ');
            }
            (b'/', Some(b'/')) => {
                while let Some(&byte) = bytes.get(at).filter(|b| **b != b'\n') {
                    at += 1;
                    if byte == b'\\' {
                        at += newline(at);
                    }
                }
            }
            (b'"' | b'\'', _) => {
                out.push(byte);
                at += 1;
                while let Some(&inner) = bytes.get(at) {
                    if inner == b'\\' && newline(at + 1) > 0 {
                        at += 1 + newline(at + 1);
                        continue;
                    }
                    // An unclosed quote ends with its line: an apostrophe in `#error` text is one.
                    if inner == b'\n' {
                        break;
                    }
                    out.push(inner);
                    at += 1;
                    if inner == byte {
                        break;
                    }
                    if inner == b'\\'
                        && let Some(&escaped) = bytes.get(at).filter(|b| **b != b'\n')
                    {
                        out.push(escaped);
                        at += 1;
                    }
                }
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

const fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

const fn in_word(byte: u8) -> bool {
    starts_word(byte) || byte.is_ascii_digit()
}

/// Collects words over lines.
#[derive(Default)]
struct Words {
    found: Vec<Token>,
    /// Open braces of a table.
    table: u32,
}

impl Words {
    fn push(&mut self, line: &[u8]) {
        // Tables opened in both branches of a condition are closed once; this ends them for certain.
        if line == b"};" && self.table > 1 {
            self.table = 1;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
        let mut at = 0;
        while let Some(&byte) = line.get(at) {
            let rest = &line[at..];
            let end =
                |fine: fn(u8) -> bool| rest.iter().position(|b| !fine(*b)).unwrap_or(rest.len());
            if starts_word(byte) {
                let len = end(in_word);
                self.found.push(Token::Word(text(&rest[..len])));
                at += len;
            } else if byte.is_ascii_digit() {
                let len = end(|b| in_word(b) || b == b'.');
                if self.table == 0 {
                    self.found.push(Token::Number(text(&rest[..len])));
                }
                at += len;
            } else if matches!(byte, b'"' | b'\'') {
                let mut len = 1;
                while let Some(&inner) = rest.get(len) {
                    len += if inner == b'\\' { 2 } else { 1 };
                    if inner == byte {
                        break;
                    }
                }
                let len = len.min(rest.len());
                let inside = rest[1..len].strip_suffix(&[byte]).unwrap_or(&rest[1..len]);
                if self.table == 0 {
                    self.found.push(Token::Text(text(inside)));
                }
                at += len;
            } else {
                self.mark(byte);
                at += 1;
            }
        }
    }

    fn mark(&mut self, byte: u8) {
        if byte.is_ascii_whitespace() {
            return;
        }
        let opens =
            byte == b'{' && (self.table > 0 || self.found.last().is_some_and(|t| t.is('=')));
        if opens {
            self.table += 1;
            if self.table == 1 {
                self.found.push(Token::Mark('{'));
            }
        } else if self.table > 0 {
            if byte == b'}' {
                self.table -= 1;
                if self.table == 0 {
                    self.found.push(Token::Mark('}'));
                }
            }
        } else {
            self.found.push(Token::Mark(char::from(byte)));
        }
    }
}

/// A line after its `#`.
fn directive(rest: &[u8]) -> Option<Line> {
    let rest = rest.trim_ascii();
    let len = rest.iter().position(|b| !in_word(*b)).unwrap_or(rest.len());
    let (name, after) = rest.split_at(len);
    let text = String::from_utf8_lossy(after.trim_ascii()).into_owned();
    let first_word =
        || text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
    let defined = |negate: bool| {
        let mut condition = if negate { vec![Token::Mark('!')] } else { Vec::new() };
        condition.push(Token::Word("defined".into()));
        condition.push(Token::Word(first_word().unwrap_or_default().into()));
        condition
    };
    Some(match name {
        b"include" | b"include_next" | b"import" => Line::Include(included(&text)),
        b"define" => {
            let name = first_word()?;
            let body = &text[name.len()..];
            let (parameters, body) = match body.strip_prefix('(') {
                Some(rest) => {
                    let (inside, body) = rest.split_once(')').unwrap_or((rest, ""));
                    let names = inside.split(',').map(|n| n.trim().into()).collect();
                    (Some(names), body)
                }
                None => (None, body),
            };
            Line::Define(name, Macro { parameters, body: tokens(body) })
        }
        b"undef" => Line::Undef(first_word()?),
        b"if" => Line::If(tokens(&text)),
        b"ifdef" => Line::If(defined(false)),
        b"ifndef" => Line::If(defined(true)),
        b"elif" => Line::Elif(tokens(&text)),
        b"elifdef" => Line::Elif(defined(false)),
        b"elifndef" => Line::Elif(defined(true)),
        b"else" => Line::Else,
        b"endif" => Line::Endif,
        b"error" => Line::Error(text.trim_matches('"').chars().take(200).collect()),
        _ => return None,
    })
}

fn included(text: &str) -> Included {
    let between = |open: char, close: char| {
        let rest = text.strip_prefix(open)?;
        Some(rest.split(close).next().unwrap_or(rest).trim().replace('\\', "/"))
    };
    if let Some(path) = between('"', '"') {
        return Included::Quoted(path);
    }
    between('<', '>').map_or_else(|| Included::Named(text.to_owned()), Included::Angled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<String> {
        let lines = read(text);
        let tokens = lines.iter().filter_map(Line::text);
        tokens.flatten().filter_map(|t| t.word().map(str::to_owned)).collect()
    }

    #[test]
    fn comments_strings_and_continued_lines_hide_nothing_and_show_nothing() {
        let text =
            b"a /* b\n#include \"x.h\"\n*/ c \"/* d\" e // f \\\r\n g\nh\\\ni 'j' \"k\\\"l\" m";
        assert_eq!(words(text), ["a", "c", "e", "hi", "m"]);
        assert!(!read(text).iter().any(|line| matches!(line, Line::Include(_))));
    }

    #[test]
    fn a_table_keeps_its_words_only() {
        let text = b"int t[] = {1, {2, f}, 'x'}; enum { A = 3 };";
        assert_eq!(words(text), ["int", "t", "f", "enum", "A"]);
        let number = Token::Number("3".into());
        assert!(read(text).iter().filter_map(Line::text).any(|tokens| tokens.contains(&number)));
    }

    #[test]
    fn directives_are_read_with_blanks_and_continuations() {
        let lines = read(
            b" # define  A(x, y) \\\n (x + y)\n#ifndef B\n#include <gmp.h>\n# error it's\n#endif",
        );
        let Line::Define(name, defined) = &lines[0] else { panic!("{lines:?}") };
        assert_eq!((name.as_str(), defined.parameters.as_ref().unwrap().len()), ("A", 2));
        assert_eq!(lines[2], Line::Include(Included::Angled("gmp.h".to_owned())));
        assert_eq!(lines[3], Line::Error("it's".to_owned()));
        assert_eq!(lines[4], Line::Endif);
    }

    #[test]
    fn any_bytes_are_read() {
        for text in [&b"\xff\xfe\\"[..], b"\"", b"'\\", b"/*", b"#", b"#define", b"}}}}", b"= {{{"]
        {
            read(text);
        }
        read(&vec![b'{'; 1 << 20]);
    }
}
