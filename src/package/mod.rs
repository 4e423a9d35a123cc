//! A submission's package, unpacked into the store: the only way in for files of other people.
//!
//! An archive is hostile until it is unpacked. Nothing in it chooses where bytes are written: every member is filed in
//! the store under its digest, and its name becomes a checked path in a document, [`Package`]. There is one set of
//! rules for all formats (`names` for single names, `assembly` for entries among each other, `links`, `limits`); the
//! readers (`zip`, `tar`, `external`, `directory`) only hand entries over. What breaks a rule makes an error that
//! names archive and entry, and no package: half of one would be measured as if it were the whole.
//!
//! What is junk, source or test vector is not known here; execute bits go, because nothing of a package is executed.

mod assembly;
mod bytes;
mod directory;
mod external;
mod format;
mod limits;
mod links;
mod names;
mod refusal;
mod shelf;
mod tar;
mod zip;
mod zip_directory;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::artifact::{Entry, Tree};
use crate::digest::BlobId;
use crate::name::RelPath;
use crate::store::Store;

pub use external::{Call, CallError, External, Output};
pub use limits::Limits;
pub use refusal::{Refusal, UnpackError};
pub use shelf::{all, archive_name, find, keep, package_name};

use assembly::{Assembly, Place};

/// Version of the document [`Package`].
pub const PACKAGE_FORMAT: u32 = 1;

/// One file of an unpacked package.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its content.
    pub blob: BlobId,
    /// Its length in bytes.
    pub len: u64,
    /// Raw bytes of the name as in the archive, hex, when they are not the UTF-8 of the path. Without the path of a
    /// nested archive in front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_name: Option<String>,
    /// It had an execute bit, which was dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_executable: bool,
}

/// What an unpacked package holds: a document of the store.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// [`PACKAGE_FORMAT`].
    pub format: u32,
    /// File name of the archive, or name of the directory.
    pub archive: String,
    /// SHA-256 of the archive in lower-case hex; empty for a directory.
    pub sha256: String,
    /// Length of the archive; for a directory, of all its files together.
    pub bytes: u64,
    /// Archives inside it that were unpacked in place, sorted.
    pub nested: Vec<String>,
    /// Its files.
    pub files: BTreeMap<RelPath, Member>,
}

impl Package {
    /// Its files as a tree, without execute bits and links.
    #[must_use]
    pub fn tree(&self) -> Tree {
        let entry =
            |member: &Member| Entry::File { blob: member.blob, len: member.len, executable: false };
        Tree(self.files.iter().map(|(path, member)| (path.clone(), entry(member))).collect())
    }
}

/// Unpacks an archive file into the store.
///
/// `nested` names archives inside it (paths in the archive) that are unpacked in place: the members of `a/b.zip` stand
/// below the directory `a/b.zip/`, and the archive itself is no longer a file of the tree. They may stand inside each
/// other (`a/b.zip/c.tar.gz`).
///
/// # Errors
/// When the archive cannot be read or breaks a rule ([`Refusal`]). Then nothing that was filed has a name, and the next
/// collection of the store removes it.
pub fn unpack(
    store: &Store,
    archive: &Path,
    nested: &[String],
    limits: &Limits,
    external: &dyn External,
) -> Result<Package, UnpackError> {
    let unreadable = |source| UnpackError::Io { path: archive.to_owned(), source };
    let file = File::open(archive).map_err(unreadable)?;
    let before = file.metadata().map_err(unreadable)?;
    let name = name_of(archive);
    let place = Place { archive: name.clone(), prefix: None, len: Some(before.len()) };
    if !before.is_file() {
        return Err(place.error(Refusal::UnknownFormat));
    }
    let inner: Result<BTreeSet<RelPath>, _> = nested.iter().map(|path| path.parse()).collect();
    let inner = inner.map_err(|e| place.error(Refusal::Name(e)))?;
    let (sha256, _) = sha256_of(&file).map_err(unreadable)?;
    let mut assembly = Assembly::new(store, limits);
    format::read(&file, archive, &place, &mut assembly, external)?;
    assembly.end_archive(&place)?;
    // In order, so that the outer of two comes first.
    for path in &inner {
        let missing = || place.error(Refusal::NoSuchNested(path.to_string()));
        let member = assembly.open_up(path).ok_or_else(missing)?;
        let at = Place {
            archive: format!("{name}/{path}"),
            prefix: Some(path.clone()),
            len: Some(member.len),
        };
        let depth = inner.iter().filter(|outer| is_above(outer, path)).count();
        if depth >= limits.nested_depth {
            return Err(at.error(Refusal::Nesting(depth + 1)));
        }
        let stored = store.blob_path(member.blob);
        let unreadable = |source| UnpackError::Io { path: stored.clone(), source };
        let file = File::open(&stored).map_err(unreadable)?;
        format::read(&file, &stored, &at, &mut assembly, external)?;
        assembly.end_archive(&at)?;
    }
    let files = assembly.finish(&place)?;
    let after = fs::metadata(archive).map_err(unreadable)?;
    let state = |stat: &fs::Metadata| (stat.ino(), stat.len(), stat.mtime(), stat.mtime_nsec());
    if state(&before) != state(&after) {
        return Err(UnpackError::Changed(archive.to_owned()));
    }
    let nested = inner.iter().map(RelPath::to_string).collect();
    let bytes = before.len();
    Ok(Package { format: PACKAGE_FORMAT, archive: name, sha256, bytes, nested, files })
}

/// Copies the files of a directory into the store, by the same rules.
///
/// # Errors
/// As for [`unpack`].
pub fn gather(store: &Store, dir: &Path, limits: &Limits) -> Result<Package, UnpackError> {
    let unreadable = |source| UnpackError::Io { path: dir.to_owned(), source };
    let whole = fs::canonicalize(dir).map_err(unreadable)?;
    let archive = name_of(&whole);
    let place = Place { archive: archive.clone(), prefix: None, len: None };
    let mut assembly = Assembly::new(store, limits);
    directory::read(&whole, &place, &mut assembly)?;
    assembly.end_archive(&place)?;
    let files = assembly.finish(&place)?;
    let bytes = files.values().map(|member| member.len).sum();
    let (sha256, nested) = (String::new(), Vec::new());
    Ok(Package { format: PACKAGE_FORMAT, archive, sha256, bytes, nested, files })
}

/// The last part of a path, as it can be shown.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    names::RawName::plain(name.as_bytes()).shown()
}

fn is_above(outer: &RelPath, inner: &RelPath) -> bool {
    inner.as_str().strip_prefix(outer.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

/// SHA-256 in lower-case hex, and the length, of everything that a reader gives.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(mut reader: impl Read) -> std::io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let bytes = std::io::copy(&mut reader, &mut hasher)?;
    Ok((format!("{:x}", hasher.finalize()), bytes))
}
