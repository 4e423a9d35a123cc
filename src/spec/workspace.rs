//! The workspace: all pipelines, submissions and systems of a directory tree, read and checked together.
//!
//! The one entry to the files that people write. Reads every file even when the first is wrong, so that one run shows
//! all errors. Nothing outside the root is read, and nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::glob::Selector;
use super::pipeline::{self, Pipeline};
use super::reader::Located;
use super::submission::{self, Submission};
use super::system::{self, System};
use super::yaml::{Document, MAX_BYTES};
use crate::diag::{Diagnostic, Diagnostics, nearest};
use crate::disk::Disk;
use crate::name::{Name, RelPath};

/// Everything that people have declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The directory that holds `pipelines/` and `kems/`.
    pub root: PathBuf,
    /// The same, noting what planning looks at.
    pub disk: Disk,
    /// `kems/*/submission.yaml` by directory name.
    pub submissions: BTreeMap<Name, Submission>,
    /// `pipelines/*.yaml` by file name.
    pub pipelines: BTreeMap<Name, Pipeline>,
    /// `systems/*.yaml` by file name.
    pub systems: BTreeMap<Name, System>,
}

impl Workspace {
    /// Reads all files below a root.
    ///
    /// # Errors
    /// Everything that is wrong in any of them.
    pub fn load(root: &Path) -> Result<Self, Diagnostics> {
        let disk = Disk::new(root);
        let mut errors = Diagnostics::default();
        let manifests = manifests(&disk, &mut errors);
        let ids: Vec<&str> = manifests.iter().map(|(id, _)| id.as_str()).collect();
        Self::read(disk.clone(), &ids, &manifests, errors)
    }

    /// Reads pipelines, systems and the manifests of some submissions; the others are known to be there and in order,
    /// and stay out of the result.
    ///
    /// # Errors
    /// Everything that is wrong in what is read.
    pub fn load_part(root: &Path, all: &[&str], some: &[&str]) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut manifests = Vec::new();
        for id in some {
            manifests.extend(named(id, &format!("kems/{id}/submission.yaml"), &mut errors));
        }
        Self::read(Disk::new(root), all, &manifests, errors)
    }

    fn read(
        disk: Disk,
        ids: &[&str],
        manifests: &[(Name, RelPath)],
        mut errors: Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let mut pipelines = BTreeMap::new();
        for (name, file) in yaml_files(&disk, "pipelines", &mut errors) {
            let read = with_document(&disk, &file, &mut errors, |doc| {
                pipeline::read(doc, &disk, &name, &file, |s| known_submission(s, ids))
            });
            pipelines.extend(read.map(|pipeline| (name, pipeline)));
        }
        let flag_sets: BTreeSet<Name> =
            pipelines.values().flat_map(|p: &Pipeline| p.flag_sets.keys().cloned()).collect();
        // A pipeline that cannot be read may have the flag set that a recipe names.
        let flag_sets = Some(&flag_sets).filter(|_| errors.is_empty());
        let mut submissions = BTreeMap::new();
        for (id, file) in manifests {
            let Some(dir) = file.parent() else { continue };
            disk.on_behalf_of(id.as_str());
            let read = with_document(&disk, file, &mut errors, |doc| {
                submission::read(doc, &disk, id, &dir, flag_sets)
            });
            submissions.extend(read.map(|submission| (id.clone(), submission)));
        }
        disk.on_behalf_of("");
        let mut systems = BTreeMap::new();
        for (id, file) in yaml_files(&disk, "systems", &mut errors) {
            let read =
                with_document(&disk, &file, &mut errors, |doc| system::read(doc, &id, &file));
            systems.extend(read.map(|system| (id, system)));
        }
        let root = disk.root().to_owned();
        if errors.is_empty() {
            Ok(Self { root, disk, submissions, pipelines, systems })
        } else {
            Err(errors)
        }
    }

    /// The nearest directory, upwards from `from`, that holds `pipelines/` and `kems/`.
    #[must_use]
    pub fn find_root(from: &Path) -> Option<PathBuf> {
        let holds = |dir: &&Path| dir.join("pipelines").is_dir() && dir.join("kems").is_dir();
        from.ancestors().find(holds).map(Path::to_owned)
    }
}

/// A selector without wildcards must name a submission that is there.
fn known_submission(selector: &Located<'_, Selector>, known: &[&str]) {
    let Some(first) = selector.value.parts().first().filter(|p| p.is_literal()) else { return };
    let first = first.as_str();
    if known.contains(&first) {
        return;
    }
    let message = format!("there is no submission `{first}`");
    selector.at.error("unknown-submission", message, "", |d| {
        match nearest(first, known.iter().copied()) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d.help("submissions are the directories of `kems/` with a `submission.yaml`"),
        }
    });
}

/// Reads a file as YAML and hands it to a reader; all errors go to the collection.
fn with_document<T>(
    disk: &Disk,
    file: &RelPath,
    errors: &mut Diagnostics,
    read: impl FnOnce(&Document) -> Option<T>,
) -> Option<T> {
    let doc = read_file(disk, file).and_then(|bytes| Document::parse(file.as_str(), &bytes));
    match doc {
        Ok(doc) => {
            let value = read(&doc);
            errors.extend(doc.take_errors());
            value
        }
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

/// The bytes of a file, one more than the limit at most, so that what is too big is seen to be so.
pub(super) fn read_file(disk: &Disk, file: &RelPath) -> Result<Vec<u8>, Diagnostic> {
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX) + 1;
    disk.read(file.as_str(), limit).map_err(|why| {
        Diagnostic::new("unreadable", format!("cannot read the file: {why}")).in_file(file.as_str())
    })
}

/// `<directory>/*.yaml` with their names, sorted. A missing directory holds none.
fn yaml_files(disk: &Disk, directory: &str, errors: &mut Diagnostics) -> Vec<(Name, RelPath)> {
    let mut files = Vec::new();
    for entry in entries(disk, directory, errors) {
        let path = format!("{directory}/{entry}");
        if let Some(stem) = entry.strip_suffix(".yaml").filter(|s| !s.starts_with('.')) {
            files.extend(named(stem, &path, errors));
        } else if entry.ends_with(".yml") {
            let message = "files here end in `.yaml`; this one would be overlooked";
            errors.push(Diagnostic::new("bad-file-name", message).in_file(path));
        }
    }
    files
}

/// `kems/*/submission.yaml` with the names of their directories, sorted.
fn manifests(disk: &Disk, errors: &mut Diagnostics) -> Vec<(Name, RelPath)> {
    let mut files = Vec::new();
    for entry in entries(disk, "kems", errors) {
        let path = format!("kems/{entry}/submission.yaml");
        disk.on_behalf_of(&entry);
        if disk.exists(&path) {
            files.extend(named(&entry, &path, errors));
        }
    }
    disk.on_behalf_of("");
    files
}

fn named(name: &str, path: &str, errors: &mut Diagnostics) -> Option<(Name, RelPath)> {
    let checked = name.parse::<Name>().and_then(|name| Ok((name, path.parse::<RelPath>()?)));
    checked
        .map_err(|e| {
            errors.push(Diagnostic::new("bad-file-name", e.to_string()).in_file(path));
        })
        .ok()
}

fn entries(disk: &Disk, directory: &str, errors: &mut Diagnostics) -> Vec<String> {
    if !disk.exists(directory) {
        return Vec::new();
    }
    disk.list(directory, |_| true).unwrap_or_else(|e| {
        let message = format!("cannot list the directory: {e}");
        errors.push(Diagnostic::new("unreadable", message).in_file(directory));
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_this_repository_load() {
        let workspace = Workspace::load(Path::new(env!("CARGO_MANIFEST_DIR")))
            .unwrap_or_else(|errors| panic!("{errors}"));
        for name in ["all", "kat", "quick", "lines"] {
            assert!(workspace.pipelines.keys().any(|n| n.as_str() == name), "{name}");
        }
    }
}
