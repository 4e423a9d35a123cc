//! One translation unit as the compiler would see it: what is included, which branches are taken, what `#error` says.
//!
//! Macros are not expanded in text, only in conditions. The machine is taken to be x86-64 without vector extensions,
//! because that is what the reference flags ask for. Includes are bounded in depth and number, so cycles end.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::c_text::{Included, Line, Macro, Token, tokens};
use super::constants::{Macros, holds};
use super::items::{Items, Reader};
use super::package::{Package, directory_of, is_below, resolve};
use crate::name::RelPath;

/// Deepest nesting of includes and of conditions.
const DEEPEST: usize = 64;

/// Most files that one unit includes, repetitions counted.
const MOST_FILES: usize = 4000;

/// Most words that one unit has, tables aside; a condition counts as some of them.
const MOST_WORDS: usize = 20_000_000;

/// Most `#error`s that are kept.
const MOST_ERRORS: usize = 16;

/// Finds a file that the include directories do not have.
pub(super) type Find<'f> = dyn Fn(&RelPath, &str) -> Option<RelPath> + 'f;

/// Where quoted includes are looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct IncludePath {
    /// Directories of the package, in order.
    pub(super) directories: Vec<String>,
    /// Directories that had to be added, each with the include that needed it.
    pub(super) added: BTreeMap<String, String>,
}

impl IncludePath {
    fn find(
        &mut self,
        package: &Package<'_>,
        from: &RelPath,
        text: &str,
        find: &Find<'_>,
    ) -> Option<RelPath> {
        let beside = resolve(&directory_of(from), text);
        let listed = self.directories.iter().map(|dir| resolve(dir, text));
        for place in std::iter::once(beside).chain(listed).flatten() {
            if let Some(path) = package.is_code(&place) {
                return Some(path);
            }
        }
        let found = find(from, text)?;
        // The directory from which the text leads there; one written with `..` from nowhere is not such a text.
        let directory = found.as_str().strip_suffix(text)?.trim_end_matches('/').to_owned();
        self.added.insert(directory.clone(), format!("`{text}` in `{from}`"));
        self.directories.push(directory);
        Some(found)
    }
}

/// What a unit turned out to be.
#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) items: Items,
    /// Macros at its end.
    pub(super) macros: Macros,
    /// Files of the package that it includes.
    pub(super) files: BTreeSet<RelPath>,
    /// Headers that the package does not have.
    pub(super) foreign: BTreeSet<String>,
    /// Those of them that are included as the package's own.
    pub(super) missing: BTreeSet<String>,
    /// `#error`s that would stop it: the text, and the macros in the conditions around it.
    pub(super) errors: Vec<Stop>,
    /// Macros that its conditions ask for, and watched words of its text.
    pub(super) mentioned: BTreeSet<String>,
}

/// An `#error` that is reached.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    pub(super) file: RelPath,
    pub(super) text: String,
    pub(super) asked: Vec<String>,
}

/// What the compiler defines by itself.
fn predefined() -> Macros {
    let list = [
        ("__x86_64__", "1"),
        ("__amd64__", "1"),
        ("__GNUC__", "14"),
        ("__GNUC_MINOR__", "2"),
        ("__linux__", "1"),
        ("__unix__", "1"),
        ("__LP64__", "1"),
        ("__STDC__", "1"),
        ("__STDC_VERSION__", "199901"),
        ("__CHAR_BIT__", "8"),
        ("__SIZEOF_INT128__", "16"),
        ("__SIZEOF_POINTER__", "8"),
        ("__ORDER_LITTLE_ENDIAN__", "1234"),
        ("__ORDER_BIG_ENDIAN__", "4321"),
        ("__BYTE_ORDER__", "1234"),
        ("__OPTIMIZE__", "1"),
    ];
    let plain = |body: &str| Macro { parameters: None, body: tokens(body) };
    list.iter().map(|(name, body)| ((*name).to_owned(), plain(body))).collect()
}

/// Reads one source with the given definitions.
pub(super) fn unit(
    package: &Package<'_>,
    file: &RelPath,
    defines: &BTreeMap<String, Option<String>>,
    path: &mut IncludePath,
    find: &Find<'_>,
) -> Unit {
    let mut macros = predefined();
    for (name, value) in defines {
        let body = tokens(value.as_deref().unwrap_or("1"));
        macros.insert(name.clone(), Macro { parameters: None, body });
    }
    let mut run = Run {
        package,
        path,
        find,
        watched: defines.keys().cloned().collect(),
        unit: Unit { macros, ..Unit::default() },
        reader: Reader::default(),
        count: 0,
        words: 0,
    };
    run.file(file, 0, false);
    let Run { mut unit, reader, .. } = run;
    unit.items = reader.finish();
    through_macros(&mut unit);
    unit
}

/// What is used through macros is used.
fn through_macros(unit: &mut Unit) {
    let mut waiting: Vec<String> = unit.items.used.iter().cloned().collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while let Some(word) = waiting.pop() {
        let Some(found) = unit.macros.get(&word).filter(|_| seen.insert(word.clone())) else {
            continue;
        };
        for (at, token) in found.body.iter().enumerate() {
            let Some(inside) = token.word() else { continue };
            if found.body.get(at + 1).is_some_and(|next| next.is('(')) {
                unit.items.called.insert(inside.to_owned());
            }
            if unit.items.used.insert(inside.to_owned()) {
                waiting.push(inside.to_owned());
            }
        }
    }
    // A macro is no function that somebody must define.
    let macros = &unit.macros;
    unit.items.called.retain(|name| macros.get(name).is_none_or(|m| m.parameters.is_none()));
}

struct Run<'r, 'c> {
    package: &'r Package<'c>,
    path: &'r mut IncludePath,
    find: &'r Find<'r>,
    watched: BTreeSet<String>,
    unit: Unit,
    reader: Reader,
    count: usize,
    words: usize,
}

/// One open `#if`.
struct Branch {
    /// Whether this branch is read.
    taken: bool,
    /// Whether one of its branches was.
    done: bool,
    /// Whether what is around it is read.
    outer: bool,
    asked: Vec<String>,
}

impl Run<'_, '_> {
    fn file(&mut self, file: &RelPath, depth: usize, in_header: bool) {
        self.count += 1;
        if depth > DEEPEST || self.count > MOST_FILES {
            return;
        }
        let lines: Rc<Vec<Line>> = self.package.lines(file);
        let mut branches: Vec<Branch> = Vec::new();
        for line in lines.iter() {
            if self.words > MOST_WORDS {
                return;
            }
            let reading = branches.last().is_none_or(|branch| branch.taken);
            match line {
                Line::If(condition) => {
                    let asked = self.ask(condition);
                    let taken = reading && holds(condition, &self.unit.macros);
                    branches.push(Branch { taken, done: taken, outer: reading, asked });
                }
                Line::Elif(condition) => {
                    let asked = self.ask(condition);
                    if let Some(branch) = branches.last_mut() {
                        let taken =
                            branch.outer && !branch.done && holds(condition, &self.unit.macros);
                        branch.taken = taken;
                        branch.done |= taken;
                        branch.asked.extend(asked);
                    }
                }
                Line::Else => {
                    if let Some(branch) = branches.last_mut() {
                        branch.taken = branch.outer && !branch.done;
                        branch.done = true;
                    }
                }
                Line::Endif => drop(branches.pop()),
                _ if !reading => {}
                Line::Include(included) => self.include(file, included, depth, in_header),
                Line::Define(name, defined) => {
                    self.unit.macros.insert(name.clone(), defined.clone());
                }
                Line::Undef(name) => drop(self.unit.macros.remove(name)),
                Line::Error(_) if self.unit.errors.len() >= MOST_ERRORS => {}
                Line::Error(text) => {
                    let asked = branches.iter().flat_map(|b| b.asked.iter().cloned()).collect();
                    self.unit.errors.push(Stop { file: file.clone(), text: text.clone(), asked });
                }
                Line::Text(tokens) => {
                    let words = tokens.iter().filter_map(Token::word);
                    let hit: Vec<&str> = words.filter(|w| self.watched.contains(*w)).collect();
                    self.unit.mentioned.extend(hit.into_iter().map(str::to_owned));
                    self.words += tokens.len();
                    self.reader.push(tokens, in_header);
                }
            }
        }
    }

    fn ask(&mut self, condition: &[Token]) -> Vec<String> {
        self.words += 50 + condition.len();
        let words = condition.iter().filter_map(Token::word).filter(|word| *word != "defined");
        let asked: Vec<String> = words.map(str::to_owned).collect();
        self.unit.mentioned.extend(asked.iter().cloned());
        asked
    }

    fn include(&mut self, from: &RelPath, included: &Included, depth: usize, in_header: bool) {
        let named;
        let (text, quoted) = match included {
            Included::Quoted(text) => (text, true),
            Included::Angled(text) => (text, false),
            Included::Named(name) => {
                let body = self.unit.macros.get(name.trim()).map(|m| m.body.as_slice());
                let Some([Token::Text(text)]) = body else { return };
                named = text.to_string();
                (&named, true)
            }
        };
        let found = if quoted {
            self.path.find(self.package, from, text, self.find)
        } else {
            let places = self.path.directories.iter().filter_map(|dir| resolve(dir, text));
            places.filter_map(|place| self.package.is_code(&place)).next()
        };
        match found {
            Some(file) => {
                let header = in_header || !file.as_str().ends_with(".c");
                self.unit.files.insert(file.clone());
                self.file(&file, depth + 1, header);
            }
            None => {
                self.unit.foreign.insert(text.clone());
                if quoted && !is_system(text) {
                    self.unit.missing.insert(text.clone());
                }
            }
        }
    }
}

/// Headers of the C library and of libraries: they may stand in quotes and are not missing.
fn is_system(text: &str) -> bool {
    const NAMES: [&str; 24] = [
        "assert.h",
        "complex.h",
        "ctype.h",
        "errno.h",
        "fenv.h",
        "float.h",
        "inttypes.h",
        "limits.h",
        "locale.h",
        "malloc.h",
        "math.h",
        "memory.h",
        "setjmp.h",
        "signal.h",
        "stdarg.h",
        "stdbool.h",
        "stddef.h",
        "stdint.h",
        "stdio.h",
        "stdlib.h",
        "string.h",
        "time.h",
        "unistd.h",
        "wchar.h",
    ];
    NAMES.contains(&text)
        || text.starts_with("sys/")
        || text.ends_with("intrin.h")
        || super::libraries::of_header(text).is_some()
}

/// Words that all branches of a file use or define, for finding candidates; nothing is included.
pub(super) fn rough(package: &Package<'_>, file: &RelPath) -> Items {
    let mut reader = Reader::default();
    for line in package.lines(file).iter() {
        if let Line::Text(tokens) = line {
            reader.push(tokens, false);
        }
    }
    reader.finish()
}

/// Sources that another source of the package includes: they are part of that one.
pub(super) fn included_sources(package: &Package<'_>) -> BTreeMap<RelPath, RelPath> {
    let mut found = BTreeMap::new();
    for source in package.of(super::kinds::Kind::Code) {
        for line in package.lines(source).iter() {
            let Line::Include(Included::Quoted(text) | Included::Angled(text)) = line else {
                continue;
            };
            if !text.ends_with(".c") {
                continue;
            }
            let beside = resolve(&directory_of(source), text).and_then(|p| package.is_code(&p));
            let target = beside.or_else(|| {
                let all = package.ending_with(text);
                let near = all.iter().max_by_key(|path| {
                    let directory = directory_of(path);
                    (
                        super::package::shared_parts(&directory, source.as_str()),
                        is_below(source.as_str(), &directory),
                    )
                });
                near.map(|path| (*path).clone())
            });
            if let Some(target) = target.filter(|target| target != source) {
                found.insert(target, source.clone());
            }
        }
    }
    found
}
