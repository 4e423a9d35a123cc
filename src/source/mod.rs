//! Where an implementation's files come from, and which of them one instance consists of.
//!
//! The files of a source are a listing from path to content (a workspace file, or a file of an unpacked package in the
//! store); what an instance is built from is chosen out of it by its recipe. Nothing here reads file contents, unpacks
//! or runs anything, or knows where packages are kept: whoever plans brings a way to look them up.

mod instance;
mod readiness;

use std::collections::BTreeMap;

use crate::action;
use crate::disk::Disk;
use crate::name::RelPath;
use crate::plan::Unavailable;
use crate::spec::{Implementation, Source, Submission};

pub use instance::{InstanceFiles, NoFiles, ReferenceText, expand, is_driver, reference_text};
pub use readiness::{State, ready, state};

/// The files of one source tree: path inside it, and where the content is.
pub type Files = BTreeMap<RelPath, action::Source>;

/// A way to look up the files of a pinned package.
pub trait Packages: std::fmt::Debug {
    /// The files of the package with this SHA-256, unpacked with these archives inside it; `None` when it is absent.
    fn files(&self, name: &str, sha256: &str, nested: &[String]) -> Option<Files>;
}

/// No package is there.
#[derive(Debug)]
pub struct NoPackages;

impl Packages for NoPackages {
    fn files(&self, _: &str, _: &str, _: &[String]) -> Option<Files> {
        None
    }
}

/// Lists the files of an implementation's source.
///
/// # Errors
/// A row that says what is missing and which command obtains it.
pub fn files(
    disk: &Disk,
    packages: &dyn Packages,
    submission: &Submission,
    implementation: &Implementation,
) -> Result<Files, Unavailable> {
    let label = format!("{}/{}", submission.id, implementation.name);
    let absent = |what: String| Unavailable {
        label: label.clone(),
        why: format!("{what} is not in the store"),
        help: format!("ngcc kem fetch {}", submission.id),
    };
    match &implementation.source {
        Source::Directory { path } => directory(disk, path).map_err(|why| Unavailable {
            label: label.clone(),
            why,
            help: format!("check `source:` in {}", submission.file),
        }),
        Source::Archive { file, sha256, nested, .. } => packages
            .files(file, sha256, nested)
            .ok_or_else(|| absent(format!("archive `{file}` (sha256 {}…)", &sha256[..12]))),
        Source::Crate { name, version, sha256 } => packages
            .files(&format!("{name}-{version}"), sha256, &[])
            .ok_or_else(|| absent(format!("crate `{name}` {version}"))),
    }
}

/// The files below a workspace directory, in path order, without following links.
///
/// # Errors
/// One sentence that names the directory.
pub fn directory(disk: &Disk, path: &RelPath) -> Result<Files, String> {
    let mut files = Files::new();
    for text in disk.files_below(path.as_str())? {
        let inside: RelPath = text.parse().map_err(|error| format!("`{path}`: {error}"))?;
        let file = path.join(&text).map_err(|error| format!("`{path}`: {error}"))?;
        files.insert(inside, action::Source::File(file));
    }
    Ok(files)
}
