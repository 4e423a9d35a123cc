//! What a translation unit defines, declares and uses, from a stream of words.
//!
//! No grammar of C: brackets are counted, and what stands between them at file scope is a declaration or the head of
//! a function. Names that macros make up by pasting are taken as written, which is enough because definition and use
//! are written alike.

use std::collections::{BTreeMap, BTreeSet};

use super::c_text::Token;
use super::constants::Enumerators;

/// The names of one unit.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Functions that other units can call.
    pub(super) functions: BTreeSet<String>,
    /// Objects that other units can use, with a value.
    pub(super) objects: BTreeSet<String>,
    /// The same without a value (tentative definitions).
    pub(super) tentative: BTreeSet<String>,
    /// Tentative definitions that stand in a header.
    pub(super) tentative_in_headers: BTreeSet<String>,
    /// Names with internal linkage.
    pub(super) internal: BTreeSet<String>,
    /// Prototypes and `extern` objects.
    pub(super) declared: BTreeSet<String>,
    /// Words followed by `(` inside a body.
    pub(super) called: BTreeSet<String>,
    /// Words inside a body or a table.
    pub(super) used: BTreeSet<String>,
    /// Enumerators with their expressions.
    pub(super) enumerators: Enumerators,
    /// Bodies of the functions that tell sizes.
    pub(super) bodies: BTreeMap<String, Vec<Token>>,
}

impl Items {
    /// Everything that other units can see of it.
    pub(super) fn defined(&self) -> impl Iterator<Item = &String> {
        self.functions.iter().chain(&self.objects).chain(&self.tentative)
    }

    pub(super) fn defines(&self, name: &str) -> bool {
        [&self.functions, &self.objects, &self.tentative].iter().any(|set| set.contains(name))
    }

    /// What it needs of others: what it calls, and what it declares and uses.
    pub(super) fn needed(&self) -> BTreeSet<&String> {
        let declared = self.declared.intersection(&self.used);
        let all = self.called.iter().chain(declared);
        all.filter(|name| !self.defines(name) && !self.internal.contains(*name)).collect()
    }
}

/// Longest declaration that is kept.
const LONGEST: usize = 8192;

/// Reads words and fills [`Items`].
#[derive(Debug, Default)]
pub(super) struct Reader {
    items: Items,
    /// The declaration at file scope so far.
    head: Vec<Token>,
    /// Open braces; `extern "C"` opens none.
    depth: u32,
    /// What the outermost brace belongs to.
    inside: Inside,
    /// Closing braces that belong to `extern "C" {`.
    transparent: u32,
    body: Vec<Token>,
    before: Option<Token>,
    in_header: bool,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
enum Inside {
    #[default]
    Type,
    Enumeration,
    Table,
    Function(Option<String>),
}

impl Reader {
    /// The next words; `in_header` says where they stand.
    pub(super) fn push(&mut self, tokens: &[Token], in_header: bool) {
        self.in_header = in_header;
        for token in tokens {
            if self.depth == 0 { self.at_file_scope(token) } else { self.in_braces(token) }
        }
    }

    pub(super) fn finish(mut self) -> Items {
        self.end_declaration();
        self.items
    }

    fn at_file_scope(&mut self, token: &Token) {
        match token {
            Token::Mark('{') => {
                if is_language_block(&self.head) {
                    self.head.clear();
                    self.transparent += 1;
                    return;
                }
                self.depth = 1;
                self.body.clear();
                self.before = None;
                self.inside = self.what_opens();
            }
            Token::Mark('}') => self.transparent = self.transparent.saturating_sub(1),
            Token::Mark(';') => self.end_declaration(),
            Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Mark(_) => {
                if self.head.len() < LONGEST {
                    self.head.push(token.clone());
                }
            }
        }
    }

    fn what_opens(&mut self) -> Inside {
        if self.head.last().is_some_and(|token| token.is('=')) {
            return Inside::Table;
        }
        let has = |word: &str| self.head.iter().any(|token| token.word() == Some(word));
        let Some(name) = function_name(&self.head).filter(|_| !has("typedef")) else {
            let tail = self.head.iter().rev().take(2);
            let enumeration = tail.clone().any(|token| token.word() == Some("enum"));
            return if enumeration { Inside::Enumeration } else { Inside::Type };
        };
        let internal = has("static") || has("inline") && !has("extern");
        let set = if internal { &mut self.items.internal } else { &mut self.items.functions };
        set.insert(name.clone());
        self.head.clear();
        Inside::Function(name.ends_with("_len_bytes").then_some(name))
    }

    fn in_braces(&mut self, token: &Token) {
        match token {
            Token::Mark('{') => self.depth = self.depth.saturating_add(1),
            Token::Mark('}') => {
                self.depth -= 1;
                if self.depth == 0 {
                    return self.end_braces();
                }
            }
            Token::Mark(_) | Token::Word(_) | Token::Number(_) | Token::Text(_) => {}
        }
        let code = matches!(self.inside, Inside::Table | Inside::Function(_));
        if code {
            if let Some(word) = token.word() {
                self.items.used.insert(word.to_owned());
            }
            if token.is('(')
                && let Some(word) = self.before.as_ref().and_then(Token::word)
            {
                self.items.called.insert(word.to_owned());
            }
            self.before = Some(token.clone());
        }
        let kept = matches!(self.inside, Inside::Enumeration | Inside::Function(Some(_)));
        if kept && self.body.len() < LONGEST {
            self.body.push(token.clone());
        }
    }

    fn end_braces(&mut self) {
        match std::mem::take(&mut self.inside) {
            Inside::Function(name) => {
                if let Some(name) = name {
                    self.items.bodies.insert(name, std::mem::take(&mut self.body));
                }
                self.head.clear();
            }
            Inside::Enumeration => {
                let body = std::mem::take(&mut self.body);
                self.enumerators(&body);
            }
            Inside::Type | Inside::Table => {}
        }
    }

    fn enumerators(&mut self, body: &[Token]) {
        let mut before: Option<String> = None;
        for part in body.split(|token| token.is(',')) {
            let Some(name) = part.first().and_then(Token::word) else { continue };
            let value = match (part.get(1), &before) {
                (Some(equals), _) if equals.is('=') => part[2..].to_vec(),
                (_, None) => vec![Token::Number("0".into())],
                (_, Some(before)) => vec![
                    Token::Word(before.as_str().into()),
                    Token::Mark('+'),
                    Token::Number("1".into()),
                ],
            };
            self.items.enumerators.insert(name.to_owned(), value);
            before = Some(name.to_owned());
        }
    }

    fn end_declaration(&mut self) {
        let head = std::mem::take(&mut self.head);
        let has = |word: &str| head.iter().any(|token| token.word() == Some(word));
        if head.is_empty() || has("typedef") {
            return;
        }
        let assigned = head.iter().any(|token| token.is('='));
        if !assigned && let Some(name) = function_name(&head) {
            self.items.declared.insert(name);
            return;
        }
        for name in object_names(&head) {
            let items = &mut self.items;
            let set = if has("static") {
                &mut items.internal
            } else if has("extern") && !assigned {
                &mut items.declared
            } else if assigned {
                &mut items.objects
            } else {
                if self.in_header {
                    items.tentative_in_headers.insert(name.clone());
                }
                &mut items.tentative
            };
            set.insert(name);
        }
    }
}

fn is_language_block(head: &[Token]) -> bool {
    matches!(head, [.., Token::Word(word), Token::Text(_)] if **word == *"extern")
}

/// Words before a bracket that is no parameter list.
const ATTRIBUTES: [&str; 8] = [
    "__attribute__",
    "__declspec",
    "_Alignas",
    "alignas",
    "__asm__",
    "asm",
    "__align",
    "_Static_assert",
];

/// The function that a head defines or declares.
fn function_name(head: &[Token]) -> Option<String> {
    let mut at = 0;
    while let Some(token) = head.get(at) {
        if token.is('=') || token.is('[') {
            return None;
        }
        if !token.is('(') {
            at += 1;
            continue;
        }
        let end = close(head, at)?;
        let name = at.checked_sub(1).and_then(|before| head[before].word())?;
        if ATTRIBUTES.contains(&name) {
            at = end + 1;
            continue;
        }
        // `NAMESPACE(add)(int x)`: the name is inside.
        if head.get(end + 1).is_some_and(|token| token.is('(')) {
            let inside: Vec<&str> = head[at + 1..end].iter().filter_map(Token::word).collect();
            return inside.last().map(|name| (*name).to_owned());
        }
        return Some(name.to_owned());
    }
    None
}

/// Where the bracket that opens at a place closes.
fn close(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth -= 1,
            Token::Mark(_) | Token::Word(_) | Token::Number(_) | Token::Text(_) => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The objects that a declaration names: each the last word before `[`, `=`, `,` or the end.
fn object_names(head: &[Token]) -> Vec<String> {
    let (mut names, mut last, mut words, mut skipping, mut nested) =
        (Vec::new(), None, 0, false, 0_u32);
    for token in head {
        match token {
            Token::Mark('(' | '[') => {
                nested += 1;
                skipping = true;
            }
            Token::Mark(')' | ']') => nested = nested.saturating_sub(1),
            Token::Mark('=') => skipping = true,
            Token::Mark(',') if nested == 0 => {
                names.extend(last.take());
                skipping = false;
            }
            Token::Word(word) if !skipping => {
                words += 1;
                last = Some(word.to_string());
            }
            Token::Mark(_) | Token::Word(_) | Token::Number(_) | Token::Text(_) => {}
        }
    }
    names.extend(last);
    let tag_only = words <= 2
        && head
            .first()
            .and_then(Token::word)
            .is_some_and(|w| ["struct", "union", "enum"].contains(&w));
    // One word is no declaration but a macro that ends in `;`.
    if words < 2 || tag_only { Vec::new() } else { names }
}

#[cfg(test)]
mod tests {
    use super::super::c_text::{Line, read};
    use super::*;

    fn items(text: &str) -> Items {
        let mut reader = Reader::default();
        for line in read(text.as_bytes()) {
            if let Line::Text(tokens) = line {
                reader.push(&tokens, false);
            }
        }
        reader.finish()
    }

    fn names(set: &BTreeSet<String>) -> Vec<&str> {
        set.iter().map(String::as_str).collect()
    }

    #[test]
    fn definitions_declarations_and_uses_are_told_apart() {
        let items = items(
            r#"extern "C" {
            extern const int zetas[128]; int other(int); static int helper(void) { return 1; }
            typedef struct { int a; } T; struct s; enum { A = 2, B };
            DRNG_ctx drng_algorithm; const unsigned char table[4] = {1, 2}, *more;
            __attribute__((noinline)) int f(int x) { return other(x) + zetas[helper()] + lost(1); }
            void NS(add)(int a) { }
            int (*hooks[])(int) = { f, other };
            unsigned long long kem_get_pk_len_bytes(void) { return A * B; }
            }"#,
        );
        assert_eq!(names(&items.functions), ["add", "f", "kem_get_pk_len_bytes"]);
        assert_eq!(names(&items.tentative), ["drng_algorithm"]);
        assert!(items.objects.contains("table") && items.objects.contains("more"));
        assert_eq!(names(&items.internal), ["helper"]);
        assert_eq!(items.needed().into_iter().collect::<Vec<_>>(), ["lost", "other", "zetas"]);
        assert_eq!(items.enumerators.len(), 2);
        assert!(items.bodies.contains_key("kem_get_pk_len_bytes"));
    }

    #[test]
    fn unbalanced_brackets_end_somewhere() {
        for text in ["}}}};", "((((", "int f( {", "{{{{", ")]=,;", "enum {,,=}"] {
            items(text);
        }
    }
}
