//! Which sources one instance consists of: from its API through every call to where the callee is defined.
//!
//! The sources of the instance's directory are taken unless something speaks against one; sources elsewhere are taken
//! when something needed is defined there. Official helpers are never followed: a driver has its own.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::c_text::{Line, Token};
use super::found::{Decided, Field, Question};
use super::kinds::Kind;
use super::package::{Package, directory_of, relative};
use super::places::api_names;
use super::preprocess::{IncludePath, Unit, rough, unit};
use super::scope::{Scope, best};
use crate::name::RelPath;
use crate::source::is_driver;
use crate::spec::Function;

/// What the official helper files define.
pub(super) const HELPERS: [&str; 5] =
    ["sm3hash", "pseudohash", "pseudoXOF", "init_random_number", "get_random_number"];

/// The global that drivers define.
pub(super) const GLOBAL: &str = "drng_algorithm";

/// Who defines what in a package, by name; and what no other file may be linked with.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) definers: BTreeMap<String, Vec<RelPath>>,
    pub(super) mains: BTreeSet<RelPath>,
    pub(super) included: BTreeMap<RelPath, RelPath>,
}

impl Index {
    pub(super) fn new(package: &Package<'_>, included: BTreeMap<RelPath, RelPath>) -> Self {
        let mut index = Self { included, ..Self::default() };
        for path in package.sources().filter(|path| !index.included.contains_key(*path)) {
            let items = rough(package, path);
            if items.functions.contains("main") {
                index.mains.insert(path.clone());
                continue;
            }
            for name in items.defined() {
                index.definers.entry(name.clone()).or_default().push(path.clone());
            }
        }
        index
    }
}

/// The sources of an instance, and what was learnt on the way.
#[derive(Default)]
pub(super) struct Closure {
    /// What is compiled, with the unit that it makes.
    pub(super) units: BTreeMap<RelPath, Unit>,
    /// Why a source outside the directory is there.
    pub(super) because: BTreeMap<RelPath, String>,
    pub(super) excluded: BTreeMap<RelPath, String>,
    pub(super) include: IncludePath,
    pub(super) questions: Vec<Question>,
}

struct Search<'s, 'c> {
    scope: &'s Scope<'s, 'c>,
    index: &'s Index,
    defines: &'s BTreeMap<String, Option<String>>,
    doubts: RefCell<BTreeMap<String, Vec<RelPath>>>,
    out: Closure,
    /// Names by the chosen source that defines them.
    defined: BTreeMap<String, RelPath>,
}

/// Finds them.
pub(super) fn close(
    scope: &Scope<'_, '_>,
    index: &Index,
    function: Function,
    header: &RelPath,
    defines: &BTreeMap<String, Option<String>>,
) -> Closure {
    let mut directories = vec![scope.directory.clone()];
    let header_directory = directory_of(header);
    if header_directory != scope.directory {
        directories.push(header_directory);
    }
    let out = Closure {
        include: IncludePath { directories, ..IncludePath::default() },
        ..Closure::default()
    };
    let (doubts, defined) = (RefCell::default(), BTreeMap::new());
    let mut search = Search { scope, index, defines, doubts, out, defined };
    let base = search.base();
    search.follow(base, function);
    search.stops();
    search.missing_headers();
    search.doubtful_headers();
    search.out
}

impl Search<'_, '_> {
    fn read(&mut self, path: &RelPath) -> Unit {
        let (scope, doubts) = (self.scope, &self.doubts);
        let find = |_: &RelPath, text: &str| {
            let (found, equal) = scope.header(text)?;
            if !equal.is_empty() {
                let all = std::iter::once(found.clone()).chain(equal).collect();
                doubts.borrow_mut().insert(text.to_owned(), all);
            }
            Some(found)
        };
        unit(scope.package, path, self.defines, &mut self.out.include, &find)
    }

    /// The units of the directory's own sources, without those that cannot be part of a library.
    fn base(&mut self) -> BTreeMap<RelPath, Unit> {
        let here = |path: &&RelPath| directory_of(path) == self.scope.directory;
        let own: Vec<RelPath> = self.scope.package.sources().filter(here).cloned().collect();
        let mut units = BTreeMap::new();
        for path in own {
            if is_driver(path.file_name()) {
                continue;
            }
            if let Some(by) = self.index.included.get(&path) {
                let why = format!("`{}` includes it", by.file_name());
                self.out.excluded.insert(path, why);
                continue;
            }
            let unit = self.read(&path);
            if unit.items.functions.contains("main") || self.index.mains.contains(&path) {
                self.out.excluded.insert(path, "it has a `main`".to_owned());
                continue;
            }
            let others = unit.items.defined().any(|name| name != GLOBAL);
            if unit.items.defines(GLOBAL) && !others {
                let why = format!("it only defines the global `{GLOBAL}`, which a driver has");
                self.out.excluded.insert(path, why);
                continue;
            }
            units.insert(path, unit);
        }
        units
    }

    /// From the API to everything it needs.
    fn follow(&mut self, mut base: BTreeMap<RelPath, Unit>, function: Function) {
        let wanted =
            api_names(function).iter().map(|name| ((*name).to_owned(), "the API".to_owned()));
        let mut waiting: Vec<(String, String)> = wanted.collect();
        self.drain(&mut waiting, &mut base);
        // The rest of the directory is compiled, too, unless something speaks against it.
        let rest: Vec<RelPath> = base.keys().cloned().collect();
        for path in rest {
            let Some(unit) = base.remove(&path) else { continue };
            if let Some(why) = self.against(&path, &unit) {
                self.out.excluded.insert(path, why);
                continue;
            }
            let mut waiting = self.take(path, unit, None);
            self.drain(&mut waiting, &mut base);
        }
    }

    fn drain(&mut self, waiting: &mut Vec<(String, String)>, base: &mut BTreeMap<RelPath, Unit>) {
        let mut asked: BTreeSet<String> = BTreeSet::new();
        while let Some((name, by)) = waiting.pop() {
            if self.defined.contains_key(&name) || !asked.insert(name.clone()) {
                continue;
            }
            let own: Vec<RelPath> = base
                .iter()
                .filter(|(_, unit)| unit.items.defines(&name))
                .map(|(path, _)| path.clone())
                .collect();
            if !own.is_empty() {
                let Some(chosen) = self.choose(&name, own) else { continue };
                if let Some(unit) = base.remove(&chosen) {
                    waiting.extend(self.take(chosen, unit, None));
                }
                continue;
            }
            if HELPERS.contains(&name.as_str()) || name == GLOBAL {
                continue;
            }
            let all = self.index.definers.get(&name).map_or(&[][..], Vec::as_slice);
            let here = &self.scope.directory;
            let seen = all.iter().filter(|path| {
                self.scope.sees(path.as_str())
                    && directory_of(path) != *here
                    && !self.out.units.contains_key(*path)
                    && !is_driver(path.file_name())
            });
            let seen: Vec<RelPath> = seen.cloned().collect();
            let Some(chosen) = self.choose(&name, seen) else { continue };
            let unit = self.read(&chosen);
            let why = format!("`{name}`, needed by {by}");
            waiting.extend(self.take(chosen, unit, Some(why)));
        }
    }

    /// One of several definitions of a name; a question when nothing tells which.
    fn choose(&mut self, name: &str, all: Vec<RelPath>) -> Option<RelPath> {
        let system = |path: &RelPath| {
            let lower = path.file_name().to_ascii_lowercase();
            ["urandom", "system", "_os", "os_", "getrandom"].iter().any(|word| lower.contains(word))
        };
        let package = self.scope.package;
        let several = all.len() > 1;
        let rank = |path: &RelPath| {
            let (machine, foreign, unlisted, apart, far) = self.scope.rank(path);
            // What the build lists counts before nearness, and the generator before the system's randomness.
            (system(path), machine, foreign, unlisted, apart, far)
        };
        let (chosen, equal) =
            best(all, rank, |path| package.blob(path).map(|blob| blob.to_string()))?;
        if several && !equal.is_empty() {
            let candidates: Vec<String> = std::iter::once(&chosen)
                .chain(&equal)
                .map(|path| relative(&self.scope.directory, path.as_str()))
                .collect();
            let text = format!(
                "several sources define `{name}` and nothing tells which is meant; the first is taken"
            );
            let question = Question::new(Field::Sources, text, candidates);
            let known = self.out.questions.iter().any(|q| q.candidates == question.candidates);
            if !known {
                self.out.questions.push(question);
            }
        }
        Some(chosen)
    }

    /// Adds a source; returns what it needs.
    fn take(
        &mut self,
        path: RelPath,
        unit: Unit,
        because: Option<String>,
    ) -> Vec<(String, String)> {
        let by = format!("`{}`", path.file_name());
        let needed =
            unit.items.needed().into_iter().map(|name| (name.clone(), by.clone())).collect();
        for name in unit.items.defined() {
            self.defined.entry(name.clone()).or_insert_with(|| path.clone());
        }
        if let Some(why) = because {
            self.out.because.insert(path.clone(), why);
        }
        self.out.units.insert(path, unit);
        needed
    }

    /// Why a source that nothing needs is left out.
    fn against(&self, path: &RelPath, unit: &Unit) -> Option<String> {
        let again =
            unit.items.functions.iter().find_map(|name| Some((name, self.defined.get(name)?)));
        if let Some((name, other)) = again {
            return Some(format!("it defines `{name}`, as `{}` does", other.file_name()));
        }
        if let Some(missing) = unit.missing.iter().find(|name| !is_official(name)) {
            return Some(format!("nothing needs it, and its `{missing}` is not in the package"));
        }
        let helper = matches!(path.file_name(), "auxfunc.c" | "drng.c");
        let others_listed = self.out.units.keys().any(|other| self.scope.lists(other));
        if !helper && others_listed && !self.scope.lists(path) {
            return Some("nothing needs it, and the shipped build files do not list it".to_owned());
        }
        let lost = unit.items.needed().into_iter().find(|name| {
            unit.items.declared.contains(*name)
                && unit.items.called.contains(*name)
                && !self.defined.contains_key(*name)
                && !self.index.definers.contains_key(*name)
                && !HELPERS.contains(&name.as_str())
        });
        lost.map(|name| format!("nothing needs it, and no source defines its `{name}`"))
    }

    /// `#error`s that are reached, and functions that nobody defines, are questions.
    fn stops(&mut self) {
        let mut seen = BTreeSet::new();
        for unit in self.out.units.values() {
            for stop in &unit.errors {
                if !seen.insert(stop.text.clone()) {
                    continue;
                }
                let text = format!(
                    "`{}` stops with `#error {}`; a definition is missing",
                    stop.file, stop.text
                );
                let asked: BTreeSet<&String> =
                    stop.asked.iter().filter(|name| !is_guard(name)).collect();
                let candidates = asked.into_iter().map(|name| format!("{{{name}: }}")).collect();
                self.out.questions.push(Question::new(Field::Defines, text, candidates));
            }
        }
        let mut lost: BTreeMap<String, RelPath> = BTreeMap::new();
        for (path, unit) in &self.out.units {
            for name in unit.items.needed() {
                let wanted = unit.items.declared.contains(name) && unit.items.called.contains(name);
                if wanted && !self.defined.contains_key(name) && !HELPERS.contains(&name.as_str()) {
                    lost.entry(name.clone()).or_insert_with(|| path.clone());
                }
            }
        }
        if lost.is_empty() {
            return;
        }
        let assembler = self.assembler(&mut lost);
        self.out
            .because
            .extend(assembler.iter().map(|(path, name)| (path.clone(), format!("`{name}`"))));
        for path in assembler.into_keys() {
            self.out.units.insert(path, Unit::default());
        }
        if let Some((name, path)) = lost.first_key_value() {
            let more = if lost.len() > 1 {
                format!(" (and {} more)", lost.len() - 1)
            } else {
                String::new()
            };
            let text = format!(
                "`{name}`{more} is called in `{path}`, and no source that may be used defines it"
            );
            let all = self.index.definers.get(name).into_iter().flatten();
            let candidates =
                all.map(|path| relative(&self.scope.directory, path.as_str())).collect();
            self.out.questions.push(Question::new(Field::Sources, text, candidates));
        }
    }

    /// Assembler files that name what is missing.
    fn assembler(&self, lost: &mut BTreeMap<String, RelPath>) -> BTreeMap<RelPath, String> {
        let mut found = BTreeMap::new();
        let package = self.scope.package;
        let all = package.of(Kind::Code).filter(|path| {
            [".S", ".s"].iter().any(|ending| path.as_str().ends_with(ending))
                && self.scope.sees(path.as_str())
        });
        for path in all {
            let lines = package.lines(path);
            let tokens = lines.iter().filter_map(Line::text);
            let words: BTreeSet<&str> = tokens.flatten().filter_map(Token::word).collect();
            let hits: Vec<String> =
                lost.keys().filter(|name| words.contains(name.as_str())).cloned().collect();
            for name in hits {
                lost.remove(&name);
                found.insert(path.clone(), name);
            }
        }
        found
    }

    /// Headers that a chosen source includes and that are nowhere to be seen.
    fn missing_headers(&mut self) {
        let mut missing: BTreeMap<&String, &RelPath> = BTreeMap::new();
        for (path, unit) in &self.out.units {
            for name in unit.missing.iter().filter(|name| !is_official(name)) {
                missing.entry(name).or_insert(path);
            }
        }
        let package = self.scope.package;
        let ask = |(name, path): (&&String, &&RelPath)| {
            let text =
                format!("`{name}`, included by `{path}`, is in no directory that may be used");
            let found = package.ending_with(name).into_iter();
            let candidates = found.map(|path| relative(&self.scope.directory, &directory_of(path)));
            Question::new(Field::Include, text, candidates.collect())
        };
        let questions: Vec<Question> = missing.iter().map(ask).collect();
        self.out.questions.extend(questions);
    }

    /// Headers of one name and different content, of which nothing tells the right one.
    fn doubtful_headers(&mut self) {
        for (text, all) in std::mem::take(&mut *self.doubts.borrow_mut()) {
            let message =
                format!("several different `{text}` fit the includes; the first is taken");
            let candidates =
                all.iter().map(|path| relative(&self.scope.directory, &directory_of(path)));
            let candidates = candidates.collect();
            self.out.questions.push(Question::new(Field::Include, message, candidates));
        }
    }
}

/// Headers that a build provides.
fn is_official(name: &str) -> bool {
    matches!(name.rsplit('/').next(), Some("auxfunc.h" | "drng.h"))
}

fn is_guard(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    upper.ends_with("_H")
        || upper.ends_with("_H_")
        || upper.ends_with("_INCLUDED")
        || name.starts_with("__")
}

/// Sources as patterns relative to the directory, and what the patterns must leave out.
pub(super) fn patterns(
    scope: &Scope<'_, '_>,
    closure: &Closure,
) -> (Vec<String>, Vec<Decided<String>>) {
    let mut by_directory: BTreeMap<String, Vec<&RelPath>> = BTreeMap::new();
    for path in closure.units.keys() {
        by_directory.entry(directory_of(path)).or_default().push(path);
    }
    let (mut sources, mut exclude) = (Vec::new(), Vec::new());
    let mut directories: Vec<&String> = by_directory.keys().collect();
    directories.sort_by_key(|directory| (**directory != scope.directory, (*directory).clone()));
    for directory in directories {
        let chosen = &by_directory[directory];
        let here =
            |path: &&RelPath| directory_of(path) == *directory && !is_driver(path.file_name());
        let all: Vec<&RelPath> = scope.package.sources().filter(here).collect();
        let left: Vec<&&RelPath> = all.iter().filter(|path| !chosen.contains(*path)).collect();
        let covered = chosen.iter().filter(|path| all.contains(*path)).count();
        let own = *directory == scope.directory;
        let wild = covered > 0
            && (left.is_empty() && (own || covered > 1) || own && left.len() <= covered);
        if wild {
            sources.push(relative(&scope.directory, &format!("{directory}/*.c")));
            for path in left {
                let why = closure.excluded.get(*path).cloned();
                let why = why.unwrap_or_else(|| "nothing needs it".to_owned());
                exclude.push(Decided::new(relative(&scope.directory, path.as_str()), why));
            }
        }
        for path in chosen.iter().filter(|path| !wild || !all.contains(*path)) {
            sources.push(relative(&scope.directory, path.as_str()));
        }
    }
    (sources, exclude)
}
