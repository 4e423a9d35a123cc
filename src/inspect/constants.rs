//! The value of a constant expression, where macros and enumerators are enough to know it.
//!
//! Serves two questions: is a `#if` true, and what does `return PK_BYTES;` return. Everything else (`sizeof`, calls,
//! variables) has no value here. Work is bounded, whatever the text says.

use std::collections::BTreeMap;

use super::c_text::{Macro, Token};

/// Macros by name.
pub(super) type Macros = BTreeMap<String, Macro>;

/// Enumerators by name: their expression, or the one before plus one.
pub(super) type Enumerators = BTreeMap<String, Vec<Token>>;

/// Most tokens an expression may grow to.
const LONGEST: usize = 20_000;

/// Deepest nesting of macros, enumerators and brackets.
const DEEPEST: u32 = 48;

/// The value of an expression in which every name has one.
pub(super) fn value(tokens: &[Token], macros: &Macros, enumerators: &Enumerators) -> Option<i128> {
    // Every enumerator may cost as much as an expression; a chain of them must end, too.
    let mut budget = 2_000_u32;
    evaluate(tokens, macros, enumerators, DEEPEST, &mut budget)
}

fn evaluate(
    tokens: &[Token],
    macros: &Macros,
    enumerators: &Enumerators,
    depth: u32,
    budget: &mut u32,
) -> Option<i128> {
    *budget = budget.checked_sub(1)?;
    let depth = depth.checked_sub(1)?;
    let expanded = expand(tokens, macros)?;
    let mut numbers = Vec::with_capacity(expanded.len());
    for token in expanded {
        match token.word().and_then(|word| enumerators.get(word)) {
            Some(inside) => {
                let value = evaluate(inside, macros, enumerators, depth, budget)?;
                numbers.push(Token::Number(value.to_string().into()));
            }
            None => numbers.push(token),
        }
    }
    parse(&numbers, false)
}

/// Whether a condition of `#if` holds: names that mean nothing count as 0, as in C.
pub(super) fn holds(tokens: &[Token], macros: &Macros) -> bool {
    let mut asked = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if first.word() != Some("defined") {
            asked.push(first.clone());
            continue;
        }
        let (name, after) = match after {
            [open, name, close, after @ ..] if open.is('(') && close.is(')') => (name, after),
            [name, after @ ..] => (name, after),
            [] => break,
        };
        rest = after;
        let there = name.word().is_some_and(|name| macros.contains_key(name));
        asked.push(Token::Number(if there { "1" } else { "0" }.into()));
    }
    expand(&asked, macros).and_then(|tokens| parse(&tokens, true)).is_some_and(|value| value != 0)
}

/// Replaces macros, again and again, up to a limit.
pub(super) fn expand(tokens: &[Token], macros: &Macros) -> Option<Vec<Token>> {
    let mut now = tokens.to_vec();
    for _ in 0..DEEPEST {
        let (next, changed) = expand_once(&now, macros)?;
        if !changed {
            return Some(next);
        }
        now = next;
    }
    // Something that refers to itself: what is left is not a number and gives no value.
    Some(now)
}

fn expand_once(tokens: &[Token], macros: &Macros) -> Option<(Vec<Token>, bool)> {
    let (mut out, mut changed, mut at) = (Vec::new(), false, 0);
    while let Some(token) = tokens.get(at) {
        at += 1;
        if out.len() > LONGEST {
            return None;
        }
        let Some(found) = token.word().and_then(|word| macros.get(word)) else {
            out.push(token.clone());
            continue;
        };
        let Some(parameters) = &found.parameters else {
            changed = true;
            out.extend_from_slice(&found.body);
            continue;
        };
        let Some((arguments, end)) = arguments(tokens, at) else {
            out.push(token.clone());
            continue;
        };
        changed = true;
        at = end;
        for part in &found.body {
            let place = part.word().and_then(|w| parameters.iter().position(|p| **p == *w));
            match place.and_then(|place| arguments.get(place)) {
                Some(argument) => out.extend_from_slice(argument),
                None => out.push(part.clone()),
            }
        }
    }
    (out.len() <= LONGEST).then_some((out, changed))
}

/// The arguments behind a macro's name, and where they end.
fn arguments(tokens: &[Token], start: usize) -> Option<(Vec<Vec<Token>>, usize)> {
    if !tokens.get(start)?.is('(') {
        return None;
    }
    let (mut all, mut depth) = (vec![Vec::new()], 1_u32);
    for (at, token) in tokens.iter().enumerate().skip(start + 1) {
        match token {
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth -= 1,
            Token::Mark(',') if depth == 1 => {
                all.push(Vec::new());
                continue;
            }
            Token::Mark(_) | Token::Word(_) | Token::Number(_) | Token::Text(_) => {}
        }
        if depth == 0 {
            return Some((all, at + 1));
        }
        all.last_mut()?.push(token.clone());
    }
    None
}

/// Words of which a cast is made.
const TYPES: [&str; 17] = [
    "unsigned", "signed", "long", "short", "int", "char", "size_t", "ssize_t", "uint8_t",
    "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "int64_t", "const",
];

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: u32,
    /// Names without a meaning are 0.
    lenient: bool,
}

fn parse(tokens: &[Token], lenient: bool) -> Option<i128> {
    let mut parser = Parser { tokens, at: 0, depth: 0, lenient };
    let value = parser.choice()?;
    (parser.at == tokens.len()).then_some(value)
}

/// Binary operators, weakest first; longer ones before their beginnings.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser<'_> {
    fn takes(&mut self, marks: &str) -> bool {
        let fits = marks
            .chars()
            .enumerate()
            .all(|(i, mark)| self.tokens.get(self.at + i).is_some_and(|token| token.is(mark)));
        if fits {
            self.at += marks.len();
        }
        fits
    }

    fn choice(&mut self) -> Option<i128> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.takes("?") {
            let yes = self.choice()?;
            if !self.takes(":") {
                return None;
            }
            let no = self.choice()?;
            if condition != 0 { yes } else { no }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<i128> {
        let Some(operators) = LEVELS.get(level) else { return self.single() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        operators.iter().copied().find(|operator| {
            // `&` must not take half of `&&`, nor `<` half of `<<`.
            let mark = operator.chars().next().unwrap_or(' ');
            let doubled = operator.len() == 1
                && self.tokens.get(self.at + 1).is_some_and(|t| t.is(mark))
                && matches!(mark, '&' | '|' | '<' | '>');
            !doubled && self.takes(operator)
        })
    }

    fn single(&mut self) -> Option<i128> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = if self.takes("!") {
            i128::from(self.single()? == 0)
        } else if self.takes("-") {
            self.single()?.checked_neg()?
        } else if self.takes("+") {
            self.single()?
        } else if self.takes("~") {
            !self.single()?
        } else if self.takes("(") {
            let start = self.at;
            while self.word().is_some_and(|word| TYPES.contains(&word)) {
                self.at += 1;
            }
            if self.at > start {
                if !self.takes(")") {
                    return None;
                }
                self.single()?
            } else {
                let inside = self.choice()?;
                if !self.takes(")") {
                    return None;
                }
                inside
            }
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Some(value)
    }

    fn word(&self) -> Option<&str> {
        self.tokens.get(self.at)?.word()
    }

    fn atom(&mut self) -> Option<i128> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match token {
            Token::Number(text) => number(text),
            Token::Word(_) if self.lenient => {
                // A call of something unknown, such as `__has_include(…)`.
                if let Some((_, end)) = arguments(self.tokens, self.at) {
                    self.at = end;
                }
                Some(0)
            }
            Token::Word(_) | Token::Text(_) | Token::Mark(_) => None,
        }
    }
}

fn number(text: &str) -> Option<i128> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return i128::from_str_radix(hex, 16).ok();
    }
    if let Some(bits) = lower.strip_prefix("0b") {
        return i128::from_str_radix(bits, 2).ok();
    }
    if lower.len() > 1 && lower.starts_with('0') {
        return i128::from_str_radix(&lower, 8).ok();
    }
    lower.parse().ok()
}

fn apply(operator: &str, a: i128, b: i128) -> Option<i128> {
    match operator {
        "||" => Some(i128::from(a != 0 || b != 0)),
        "&&" => Some(i128::from(a != 0 && b != 0)),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "==" => Some(i128::from(a == b)),
        "!=" => Some(i128::from(a != b)),
        "<=" => Some(i128::from(a <= b)),
        ">=" => Some(i128::from(a >= b)),
        "<" => Some(i128::from(a < b)),
        ">" => Some(i128::from(a > b)),
        "<<" => a.checked_mul(1_i128.checked_shl(u32::try_from(b).ok().filter(|b| *b < 100)?)?),
        ">>" => a.checked_shr(u32::try_from(b).ok()?),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::c_text::{Line, read, tokens};
    use super::*;

    fn macros(text: &str) -> Macros {
        let lines = read(text.as_bytes()).into_iter();
        lines
            .filter_map(|line| {
                let Line::Define(name, defined) = line else { return None };
                Some((name, defined))
            })
            .collect()
    }

    #[test]
    fn sizes_follow_from_macros_and_enumerators() {
        let macros =
            macros("#define N 12\n#define BITS(x) (((x) + 7) / 8)\n#define PK (N * 2 + BITS(N))");
        let enumerators = [("S".to_owned(), tokens("N << 1"))].into_iter().collect();
        let value = |text| value(&tokens(text), &macros, &enumerators);
        assert_eq!(value("(unsigned long long)PK + S"), Some(26 + 24));
        assert_eq!(value("1 ? 0x10UL : 2"), Some(16));
        assert_eq!(value("sizeof(x)"), None);
        assert_eq!(value("1 / 0"), None);
    }

    #[test]
    fn conditions_hold_as_in_c() {
        let macros = macros("#define LEVEL 3\n#define X");
        let holds = |text| holds(&tokens(text), &macros);
        assert!(holds("defined(X) && LEVEL >= 3 && !defined Y"));
        assert!(holds("LEVEL == 3 || UNKNOWN"));
        assert!(!holds("UNKNOWN"));
        assert!(!holds("__has_include(<x.h>)"));
    }

    #[test]
    fn what_refers_to_itself_or_explodes_has_no_value() {
        let macros = macros(
            "#define A B\n#define B A\n#define C0 C1 + C1\n#define C1 C2 + C2\n#define C2 C3 + C3\n#define C3 C0 + C0",
        );
        assert_eq!(value(&tokens("A"), &macros, &Enumerators::new()), None);
        assert_eq!(value(&tokens("C0"), &macros, &Enumerators::new()), None);
        let deep = format!("{}1", "(".repeat(100_000));
        assert_eq!(value(&tokens(&deep), &macros, &Enumerators::new()), None);
        let chain: Enumerators = (0..5000)
            .map(|i| (format!("E{i}"), tokens(&format!("E{} + E{}", i + 1, i + 1))))
            .collect();
        assert_eq!(value(&tokens("E0"), &Macros::new(), &chain), None);
    }
}
