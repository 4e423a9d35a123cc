//! Which instances one directory holds: what `ALGORITHM_INSTANCE` is, and which definitions lead to each value.

use std::collections::{BTreeMap, BTreeSet};

use super::c_text::{Line, Token};
use super::constants::expand;
use super::package::directory_of;
use super::preprocess::{IncludePath, Unit, unit};
use super::scope::Scope;
use crate::name::RelPath;

/// The macro that names an instance.
pub(super) const NAME: &str = "ALGORITHM_INSTANCE";

/// Definitions by name.
pub(super) type Defines = BTreeMap<String, Option<String>>;

/// One instance of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variant {
    /// Its `ALGORITHM_INSTANCE`, if there is any.
    pub(super) name: Option<String>,
    /// What must be defined for it, besides what all instances of the directory need.
    pub(super) defines: Defines,
    pub(super) why: String,
}

/// The instances of a directory.
pub(super) fn variants(scope: &Scope<'_, '_>, header: &RelPath, given: &Defines) -> Vec<Variant> {
    let headers = headers(scope, header, given);
    let mut found: Vec<Variant> = Vec::new();
    let mut add = |variant: Variant| {
        let same = |other: &&mut Variant| other.name == variant.name;
        match found.iter_mut().find(same) {
            Some(known) if known.defines.len() > variant.defines.len() => *known = variant,
            Some(_) => {}
            None => found.push(variant),
        }
    };
    for file in &headers {
        if let Some(name) = value(scope, file, header, given) {
            let why = format!("`{NAME}` in `{}`", file.file_name());
            add(Variant { name: Some(name), defines: Defines::new(), why });
            break;
        }
    }
    for file in &headers {
        for defines in branches(&scope.package.lines(file)) {
            let mut all = given.clone();
            all.extend(defines.clone());
            let Some(name) = value(scope, file, header, &all) else { continue };
            let why = format!("`{NAME}` in a branch of `{}`", file.file_name());
            let defines = with_group(scope, given, defines);
            add(Variant { name: Some(name), defines, why });
        }
    }
    if found.is_empty() {
        found = from_builds(scope, given);
    }
    if found.is_empty() {
        let why = format!("no `{NAME}` is defined");
        found.push(Variant { name: None, defines: Defines::new(), why });
    }
    found
}

/// The API header, what it includes, and the other headers of the directory.
fn headers(scope: &Scope<'_, '_>, header: &RelPath, given: &Defines) -> Vec<RelPath> {
    let mut all = vec![header.clone()];
    all.extend(read(scope, header, header, given).files);
    let beside = scope.package.of(super::kinds::Kind::Code).filter(|path| {
        path.as_str().ends_with(".h")
            && [directory_of(header), scope.directory.clone()].contains(&directory_of(path))
    });
    let beside: Vec<RelPath> = beside.filter(|path| !all.contains(path)).cloned().collect();
    all.extend(beside);
    all.retain(|file| {
        scope
            .package
            .lines(file)
            .iter()
            .any(|line| matches!(line, Line::Define(name, _) if name == NAME))
    });
    all
}

fn read(scope: &Scope<'_, '_>, file: &RelPath, header: &RelPath, defines: &Defines) -> Unit {
    let directories = vec![scope.directory.clone(), directory_of(header)];
    let mut path = IncludePath { directories, ..IncludePath::default() };
    let find = |_: &RelPath, text: &str| scope.header(text).map(|(found, _)| found);
    unit(scope.package, file, defines, &mut path, &find)
}

/// What the macro is at the end of a header.
fn value(
    scope: &Scope<'_, '_>,
    file: &RelPath,
    header: &RelPath,
    defines: &Defines,
) -> Option<String> {
    // Where the API header leads to the file, it sets what the file's conditions ask for.
    let unit = read(scope, header, header, defines);
    let unit =
        if unit.macros.contains_key(NAME) { unit } else { read(scope, file, header, defines) };
    let body = &unit.macros.get(NAME)?.body;
    let mut text = String::new();
    for token in expand(body, &unit.macros)? {
        match token {
            Token::Text(part) | Token::Word(part) | Token::Number(part) => text.push_str(&part),
            Token::Mark('(' | ')' | '#') => {}
            Token::Mark(mark) => text.push(mark),
        }
    }
    let text = text.trim().to_owned();
    (!text.is_empty() && text.len() <= 200).then_some(text)
}

/// Most places of a file that are tried; each costs the reading of the header.
const MOST_PLACES: usize = 64;

/// For each place that defines the name, what must be defined to reach it.
fn branches(lines: &[Line]) -> Vec<Defines> {
    let mut open: Vec<Option<Defines>> = Vec::new();
    let mut found = Vec::new();
    for line in lines {
        match line {
            Line::If(condition) => open.push(Some(solve(condition))),
            Line::Elif(condition) => {
                if let Some(last) = open.last_mut() {
                    *last = Some(solve(condition));
                }
            }
            Line::Else => {
                if let Some(last) = open.last_mut() {
                    *last = Some(Defines::new());
                }
            }
            Line::Endif => drop(open.pop()),
            Line::Define(name, _) if name == NAME && found.len() < MOST_PLACES => {
                found.push(open.iter().flatten().flat_map(Clone::clone).collect());
            }
            Line::Define(..)
            | Line::Include(_)
            | Line::Undef(_)
            | Line::Error(_)
            | Line::Text(_) => {}
        }
    }
    found
}

/// Definitions that make a condition true, for the plain forms: `defined(X)`, `X == 3`, `X`, and those with `&&`.
fn solve(condition: &[Token]) -> Defines {
    // Of alternatives the first will do.
    let end = condition.windows(2).position(|w| w[0].is('|') && w[1].is('|'));
    let first = &condition[..end.unwrap_or(condition.len())];
    let mut found = Defines::new();
    for part in first.split(|token| token.is('&')) {
        let plain: Vec<&Token> = part.iter().filter(|t| !t.is('(') && !t.is(')')).collect();
        let entry = match plain.as_slice() {
            [Token::Word(defined), Token::Word(name)] if **defined == *"defined" => (name, None),
            [
                Token::Word(name),
                Token::Mark('='),
                Token::Mark('='),
                Token::Number(value) | Token::Word(value),
            ] => (name, Some(value.to_string())),
            [Token::Word(name)] => (name, Some("1".to_owned())),
            _ => continue,
        };
        found.insert(entry.0.to_string(), entry.1);
    }
    found
}

/// What else the build file defines where it defines this.
fn with_group(scope: &Scope<'_, '_>, given: &Defines, mut defines: Defines) -> Defines {
    let fits = |group: &&super::build_text::Group| {
        !defines.is_empty()
            && defines.iter().all(|(name, value)| {
                group.defines.get(name).is_some_and(|v| v == value || value.is_none())
            })
    };
    if let Some(group) = scope.builds.iter().map(|(_, group)| group).find(fits) {
        let more = group.defines.iter().filter(|(name, value)| {
            !given.contains_key(*name) && !value.as_ref().is_some_and(|v| v.contains('$'))
        });
        defines.extend(more.map(|(name, value)| (name.clone(), value.clone())));
    }
    defines
}

/// Instances that only the build files name.
fn from_builds(scope: &Scope<'_, '_>, given: &Defines) -> Vec<Variant> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (file, group) in &scope.builds {
        let Some(Some(value)) = group.defines.get(NAME) else { continue };
        let name = value.trim_matches(['"', '\\', '\'']).to_owned();
        if name.is_empty() || name.contains('$') || !seen.insert(name.clone()) {
            continue;
        }
        let own = group.defines.iter().filter(|(name, _)| !given.contains_key(*name));
        let defines = own
            .map(|(key, value)| {
                let quoted = (key == NAME).then(|| format!("\"{name}\""));
                (key.clone(), quoted.or_else(|| value.clone()))
            })
            .collect();
        let why = format!("`-D{NAME}` in `{file}`");
        found.push(Variant { name: Some(name), defines, why });
    }
    found
}

/// Letters and digits in lower case: what names have in common that are spelled differently.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A text as a name of the manifest: what a name may not have becomes `-`.
pub(super) fn as_name(text: &str) -> Option<crate::name::Name> {
    let fine = |c: char| if c.is_ascii_alphanumeric() || "-_+.".contains(c) { c } else { '-' };
    let text: String = text.chars().map(fine).take(64).collect();
    text.trim_start_matches(['-', '.', '+']).trim_end_matches('-').parse().ok()
}

/// Numbers in a text, in order.
pub(super) fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::c_text::read;
    use super::*;

    #[test]
    fn every_branch_that_names_an_instance_says_what_it_needs() {
        let text = "#ifndef G_H\n#define G_H\n#if defined(A) && LEVEL == 3\n#define ALGORITHM_INSTANCE \"x\"\n\
            #elif (LEVEL == 5)\n#define ALGORITHM_INSTANCE \"y\"\n#else\n#define ALGORITHM_INSTANCE \"z\"\n#endif\n#endif";
        let found = branches(&read(text.as_bytes()));
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].len(), 2);
        assert_eq!(found[1]["LEVEL"].as_deref(), Some("5"));
        assert!(found[2].is_empty());
    }

    #[test]
    fn names_are_made_of_what_a_name_may_have() {
        assert_eq!(as_name("Loong 128").unwrap().as_str(), "Loong-128");
        assert_eq!(as_name("参考").map(|n| n.to_string()), None);
        assert_eq!(numbers("HARE-128/kr2"), ["128", "2"]);
    }
}
