//! Which files of a package one instance may take code from, and which of several it should.
//!
//! Its own directory and what is shared; not another instance, another version or a copy. Among candidates the shipped
//! build files decide, then the absence of machine-specific code, then nearness.

use std::collections::{BTreeMap, BTreeSet};

use super::build_text::{self, Group};
use super::kinds::{self, Kind};
use super::package::{Package, directory_of, is_below, resolve, shared_parts};
use super::places::{machine_of, version_of};
use crate::name::RelPath;
use crate::spec::{ImplementationVersion, Pattern};

/// What an instance may see.
pub(super) struct Scope<'s, 'c> {
    pub(super) package: &'s Package<'c>,
    pub(super) directory: String,
    pub(super) version: Option<ImplementationVersion>,
    /// Whether code for vector extensions is what this implementation is about.
    pub(super) machine: Option<String>,
    /// Directories of all other instances.
    pub(super) others: Vec<String>,
    /// Build files that speak of it, with what they say.
    pub(super) builds: Vec<(RelPath, Group)>,
    listed: BTreeSet<RelPath>,
    listed_includes: BTreeSet<String>,
}

/// How well a file fits; less is better.
pub(super) type Rank = (bool, bool, bool, bool, usize);

impl<'s, 'c> Scope<'s, 'c> {
    pub(super) fn new(
        package: &'s Package<'c>,
        directory: &str,
        version: Option<ImplementationVersion>,
        machine: Option<String>,
        all: &BTreeSet<String>,
        builds: &BTreeMap<RelPath, Vec<Group>>,
    ) -> Self {
        let directory = directory.to_owned();
        let others = all.iter().filter(|d| **d != directory).cloned().collect();
        let mut scope = Self {
            package,
            directory,
            version,
            machine,
            others,
            builds: Vec::new(),
            listed: BTreeSet::new(),
            listed_includes: BTreeSet::new(),
        };
        scope.take_builds(builds);
        scope
    }

    /// Build files in the directory, above it, or below it.
    fn take_builds(&mut self, builds: &BTreeMap<RelPath, Vec<Group>>) {
        for (file, groups) in builds {
            let at = directory_of(file);
            let near = is_below(&self.directory, &at)
                || is_below(&at, &self.directory) && !self.others.iter().any(|o| is_below(&at, o));
            if !near || kinds::is_copy(file.as_str()) {
                continue;
            }
            for group in groups {
                for pattern in group.sources.iter().filter_map(|text| resolve(&at, text)) {
                    if pattern.contains(['*', '?']) {
                        let pattern = Pattern::from(pattern.as_str());
                        let hits =
                            self.package.sources().filter(|path| pattern.matches(path.as_str()));
                        self.listed.extend(hits.cloned());
                    } else {
                        self.listed.extend(self.package.is_code(&pattern));
                    }
                }
                self.listed_includes
                    .extend(group.includes.iter().filter_map(|dir| resolve(&at, dir)));
                self.builds.push((file.clone(), group.clone()));
            }
        }
    }

    pub(super) fn lists(&self, path: &RelPath) -> bool {
        self.listed.contains(path)
    }

    pub(super) fn sees(&self, path: &str) -> bool {
        let foreign = |other: &String| is_below(path, other) && !is_below(&self.directory, other);
        !kinds::is_copy(path) && !self.others.iter().any(foreign)
    }

    pub(super) fn rank(&self, path: &RelPath) -> Rank {
        // Code below another version's folder is for that version, unless nothing else has what is needed.
        let foreign = self.version.is_some_and(|version| {
            version_of(path.as_str())
                .is_some_and(|(v, part)| v != version && !self.directory.contains(&part))
        });
        let text = path.as_str();
        let directory = directory_of(path);
        let aside = [
            "test",
            "tests",
            "kat_test",
            "bench",
            "benchmark",
            "kat",
            "example",
            "examples",
            "tools",
        ];
        let below = text.strip_prefix(self.directory.as_str()).unwrap_or(text);
        // The guide's flags for the performance version allow AVX2; the others allow no extensions.
        let fast = self.version == Some(ImplementationVersion::Performance);
        let machine = machine_of(below)
            .is_some_and(|m| self.machine.as_ref() != Some(&m) && !(fast && m.starts_with("avx")));
        let apart =
            below.split('/').any(|part| aside.contains(&part.to_ascii_lowercase().as_str()));
        let listed = self.listed.contains(path)
            || text.ends_with(".h") && self.listed_includes.contains(&directory);
        (
            machine,
            foreign,
            !listed,
            apart,
            usize::MAX - shared_parts(text, &format!("{}/", self.directory)),
        )
    }

    /// The file that an include from nowhere means, with further ones that fit as well but differ.
    pub(super) fn header(&self, text: &str) -> Option<(RelPath, Vec<RelPath>)> {
        let seen =
            self.package.ending_with(text).into_iter().filter(|path| self.sees(path.as_str()));
        best(
            seen.cloned().collect(),
            |path| self.rank(path),
            |path| self.package.blob(path).map(|blob| blob.to_string()),
        )
    }
}

/// The best of several, and those that are as good and differ from it.
pub(super) fn best<R: Ord>(
    mut all: Vec<RelPath>,
    rank: impl Fn(&RelPath) -> R,
    content: impl Fn(&RelPath) -> Option<String>,
) -> Option<(RelPath, Vec<RelPath>)> {
    all.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    let mut all = all.into_iter();
    let first = all.next()?;
    let equal = all.filter(|path| rank(path) == rank(&first) && content(path) != content(&first));
    let equal = equal.collect();
    Some((first, equal))
}

/// All build files of a package, read.
pub(super) fn builds(package: &Package<'_>) -> BTreeMap<RelPath, Vec<Group>> {
    let read =
        |path: &RelPath| (path.clone(), build_text::read(path.file_name(), &package.text(path)));
    package.of(Kind::Build).map(read).collect()
}
