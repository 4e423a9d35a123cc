//! Where an implementation's files come from, and which of them one instance consists of.
//!
//! The files of a source are a listing from path to content (a workspace file, or an artifact of the store); what an
//! instance is built from is chosen out of it by its recipe. Nothing here reads file contents or runs anything.

mod instance;

use std::collections::BTreeMap;
use std::path::Path;

use crate::action;
use crate::name::RelPath;
use crate::plan::Unavailable;
use crate::spec::{Implementation, Source, Submission};

pub use instance::{InstanceFiles, NoFiles, expand, is_driver};

/// The files of one source tree: path inside it, and where the content is.
pub type Files = BTreeMap<RelPath, action::Source>;

/// Lists the files of an implementation's source.
///
/// # Errors
/// A row that says what is missing and which command obtains it.
pub fn files(
    workspace: &Path,
    submission: &Submission,
    implementation: &Implementation,
) -> Result<Files, Unavailable> {
    let label = format!("{}/{}", submission.id, implementation.name);
    match &implementation.source {
        Source::Directory { path } => directory(workspace, path).map_err(|why| Unavailable {
            label,
            why,
            help: format!("check `source:` in {}", submission.file),
        }),
        Source::Archive { file, sha256, .. } => Err(Unavailable {
            label,
            why: format!("archive `{file}` (sha256 {}…) is not in the store", &sha256[..12]),
            help: "a version with `ngcc kem fetch`; this one measures what is in the workspace"
                .to_owned(),
        }),
        Source::Crate { name, version, .. } => Err(Unavailable {
            label,
            why: format!("crate `{name}` {version} is not in the store"),
            help: "a version with `ngcc kem fetch`; this one measures what is in the workspace"
                .to_owned(),
        }),
    }
}

/// The files below a workspace directory, in path order, without following links.
///
/// # Errors
/// One sentence that names the directory.
pub fn directory(workspace: &Path, path: &RelPath) -> Result<Files, String> {
    let root = path.under(workspace);
    let mut files = Files::new();
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.map_err(|error| format!("`{path}` cannot be listed: {error}"))?;
        if !entry.file_type().is_file() {
            continue;
        }
        let below = entry.path().strip_prefix(&root).map_err(|e| e.to_string())?;
        let text = below.to_str().ok_or_else(|| format!("`{}` is not UTF-8", below.display()))?;
        let inside: RelPath = text.parse().map_err(|error| format!("`{path}`: {error}"))?;
        let file = path.join(text).map_err(|error| format!("`{path}`: {error}"))?;
        files.insert(inside, action::Source::File(file));
    }
    Ok(files)
}
