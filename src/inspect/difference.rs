//! What a new package changes for the instances that an existing manifest describes.
//!
//! Whether an instance is touched is decided by the same rule that decides its key: the files its recipe takes, by
//! content (`source::expand`). So what is called unchanged here is reused by the next run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::kat_match::length;
use super::kat_text::{self, KatText};
use super::kinds::{self, Kind};
use super::package::Contents;
use crate::action;
use crate::digest::BlobId;
use crate::name::{Name, RelPath};
use crate::source::{Files, expand};
use crate::spec::{Implementation, ImplementationVersion, Recipe, Submission};

/// How a file or a text changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Only the new package has it.
    Added,
    /// Only the old package has it.
    Removed,
    /// Both have it, with different content.
    Changed,
}

/// What changes for one instance of one implementation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceChange {
    /// Files that its build may read.
    pub inputs: BTreeMap<RelPath, Change>,
    /// Its known-answer text, compared by canonical digest.
    pub kat: Option<(RelPath, Change)>,
    /// Sizes in record 0: before and after.
    pub sizes: BTreeMap<String, (u64, u64)>,
    /// Why its recipe does not fit the new package, if so.
    pub broken: Option<String>,
}

impl InstanceChange {
    /// Whether anything about it is new.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What changes between two packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Per implementation and instance; unchanged ones are there, too, and empty.
    pub instances: BTreeMap<(Name, Name), InstanceChange>,
    /// Documents for people.
    pub documents: BTreeMap<RelPath, Change>,
    /// Files that no instance reads and that are no documents.
    pub others: BTreeMap<RelPath, Change>,
}

impl Difference {
    /// Whether nothing that is measured changes.
    #[must_use]
    pub fn documents_only(&self) -> bool {
        self.instances.values().all(InstanceChange::is_empty)
    }
}

/// Compares two packages by what a manifest takes from them.
#[must_use]
pub fn difference(old: &dyn Contents, new: &dyn Contents, submission: &Submission) -> Difference {
    let (before, after) = (files(old), files(new));
    let mut found = Difference::default();
    let mut accounted: BTreeSet<RelPath> = BTreeSet::new();
    // Ours is not in the package.
    let of_package = |i: &&Implementation| i.version != ImplementationVersion::Independent;
    for implementation in submission.implementations.values().filter(of_package) {
        for (name, recipe) in &implementation.recipes {
            let mut change = inputs(recipe, &before, &after);
            accounted.extend(change.inputs.keys().cloned());
            let (a, b) = (kat(old, name, recipe), kat(new, name, recipe));
            for text in a.iter().chain(&b) {
                accounted.insert(text.path.clone());
            }
            texts(a.as_ref(), b.as_ref(), &mut change);
            found.instances.insert((implementation.name.clone(), name.clone()), change);
        }
    }
    for (path, change) in compare(&before, &after) {
        if accounted.contains(&path) {
            continue;
        }
        let side = if change == Change::Removed { old } else { new };
        match kinds::kind(side, &path) {
            Kind::Document | Kind::Licence => found.documents.insert(path, change),
            Kind::Code
            | Kind::Build
            | Kind::KnownAnswers
            | Kind::Archive
            | Kind::Junk
            | Kind::Other => found.others.insert(path, change),
        };
    }
    found
}

fn files(contents: &dyn Contents) -> Files {
    let of = Arc::new(action::Pin { name: String::new(), sha256: String::new() });
    let packed = |(path, listed): (&RelPath, &super::Listed)| {
        let (blob, of) = (listed.blob, Arc::clone(&of));
        (path.clone(), action::Source::Packed { blob, path: path.clone(), of })
    };
    contents.files().iter().map(packed).collect()
}

/// The content of a package's file; a patch of ours is the same on both sides.
const fn blob(source: &action::Source) -> Option<BlobId> {
    match source {
        action::Source::Packed { blob, .. } => Some(*blob),
        action::Source::File(_)
        | action::Source::Text(_)
        | action::Source::From(..)
        | action::Source::Outcome(_) => None,
    }
}

fn compare(before: &Files, after: &Files) -> BTreeMap<RelPath, Change> {
    let mut found = BTreeMap::new();
    for (path, content) in before {
        let change = match after.get(path) {
            None => Change::Removed,
            Some(other) if blob(other) != blob(content) => Change::Changed,
            Some(_) => continue,
        };
        found.insert(path.clone(), change);
    }
    let added = after.keys().filter(|path| !before.contains_key(*path));
    found.extend(added.map(|path| (path.clone(), Change::Added)));
    found
}

fn inputs(recipe: &Recipe, before: &Files, after: &Files) -> InstanceChange {
    let (a, b) = (expand(recipe, before), expand(recipe, after));
    let empty = Files::new();
    let broken = b.as_ref().err().map(ToString::to_string);
    let inputs = |files: &Result<crate::source::InstanceFiles, _>| {
        files
            .as_ref()
            .map_or_else(|_: &crate::source::NoFiles| empty.clone(), |files| files.inputs.clone())
    };
    InstanceChange {
        inputs: compare(&inputs(&a), &inputs(&b)),
        broken,
        ..InstanceChange::default()
    }
}

/// The known-answer text that a recipe means: by its file name, in its directory if one is stated.
fn kat(contents: &dyn Contents, name: &Name, recipe: &Recipe) -> Option<KatText> {
    let kat_name = recipe.kat_name.as_deref().unwrap_or(name.as_str());
    let file = recipe.kat.file.clone().unwrap_or_else(|| format!("KAT_KEM_{kat_name}.txt"));
    let fits = |path: &&RelPath| {
        let directory = path.parent().map(|parent| parent.to_string()).unwrap_or_default();
        path.file_name() == file
            && recipe.kat.directory.as_ref().is_none_or(|wanted| *wanted == directory)
    };
    let files = contents.files();
    let path = files.keys().filter(fits).min_by_key(|path| path.as_str().matches('/').count())?;
    kat_text::read(contents, path, files.get(path)?)
}

fn texts(before: Option<&KatText>, after: Option<&KatText>, change: &mut InstanceChange) {
    change.kat = match (before, after) {
        (None, None) => None,
        (Some(a), None) => Some((a.path.clone(), Change::Removed)),
        (None, Some(b)) => Some((b.path.clone(), Change::Added)),
        (Some(a), Some(b)) => (a.sha256 != b.sha256).then(|| (b.path.clone(), Change::Changed)),
    };
    let (Some(a), Some(b)) = (before, after) else { return };
    for size in ["pk", "sk", "ct", "ss", "sig"] {
        if let (Some(old), Some(new)) = (length(a, size), length(b, size))
            && old != new
        {
            change.sizes.insert(size.to_owned(), (old, new));
        }
    }
}

const fn sign(change: Change) -> char {
    match change {
        Change::Added => '+',
        Change::Removed => '-',
        Change::Changed => '~',
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (same, touched): (Vec<_>, Vec<_>) =
            self.instances.iter().partition(|(_, change)| change.is_empty());
        for ((implementation, instance), change) in touched {
            writeln!(f, "{implementation}/{instance}: to be measured again")?;
            if let Some(why) = &change.broken {
                writeln!(f, "  ! its recipe does not fit any more: {why}")?;
            }
            for (path, change) in &change.inputs {
                writeln!(f, "  {} {path}", sign(*change))?;
            }
            if let Some((path, change)) = &change.kat {
                writeln!(f, "  {} {path} (known answers)", sign(*change))?;
            }
            for (size, (old, new)) in &change.sizes {
                writeln!(f, "  ~ {size}: {old} -> {new} bytes")?;
            }
        }
        if !same.is_empty() {
            let names: Vec<String> =
                same.iter().map(|((i, name), _)| format!("{i}/{name}")).collect();
            writeln!(f, "unchanged: {}", names.join(", "))?;
        }
        for (what, changes) in
            [("documents", &self.documents), ("not used by any instance", &self.others)]
        {
            if changes.is_empty() {
                continue;
            }
            writeln!(f, "{what}:")?;
            for (path, change) in changes {
                writeln!(f, "  {} {path}", sign(*change))?;
            }
        }
        Ok(())
    }
}
