//! From a pin to the archive's bytes in the store: what is there already, else a folder of downloads, else the
//! network, else the reason in words.
//!
//! The order is by cost, and the pin is checked at every door. Unpacking is somebody else's business.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::download::{self, DownloadError, Patience, Pinned, Watch};
use super::release::{self, Cargo, Release, ReleaseError};
use crate::digest::BlobId;
use crate::exec::process::{Interrupt, Runner};
use crate::package::{archive_name, sha256_of};
use crate::store::{Store, StoreError};

/// A pinned archive and where it may come from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// File name of the archive; `name-version` of a crate.
    pub name: String,
    /// SHA-256, lower-case hex.
    pub sha256: String,
    /// Where it comes from.
    pub from: Place,
    /// Archives inside it that are unpacked in place.
    pub nested: Vec<String>,
}

/// Where an archive comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A file of a certain length, with an address or without.
    File {
        /// Where it can be downloaded.
        url: Option<String>,
        /// Its length in bytes.
        bytes: u64,
    },
    /// A release of a crate.
    Crate {
        /// Its name.
        name: String,
        /// Its version.
        version: String,
    },
}

/// What obtaining needs of its surroundings.
#[derive(Debug)]
pub struct Obtain<'a> {
    /// Where archives are kept.
    pub store: &'a Store,
    /// The user's cargo.
    pub cargo: &'a Cargo,
    /// Starts cargo.
    pub runner: &'a Runner,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// A folder of downloads, or the archive itself.
    pub from: Option<&'a Path>,
    /// The network is not to be used.
    pub offline: bool,
    /// How long to try.
    pub patience: Patience,
}

/// Where the bytes were in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// In the store already.
    Kept,
    /// In the folder of downloads.
    Folder,
    /// In the network, or in cargo's cache.
    Fetched,
}

/// Why an archive could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    /// No address is pinned and no folder has it.
    #[error("`{0}` has no address in the manifest; download it and name the folder with --from")]
    NoAddress(String),
    /// The folder does not have it.
    #[error("`{name}` (sha256 {sha256}) is not in `{}`{other}", folder.display())]
    NotInFolder {
        /// The archive.
        name: String,
        /// Its pin.
        sha256: String,
        /// The folder.
        folder: PathBuf,
        /// A file of that name with other bytes.
        other: String,
    },
    /// The network may not be used.
    #[error(
        "`{0}` is not here, and --offline keeps from downloading it; name a folder with --from"
    )]
    Offline(String),
    /// The download failed.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// Cargo failed.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The answer of the system.
        source: std::io::Error,
    },
}

impl Obtain<'_> {
    /// Brings the archive into the store. Returns its file there, and where it was found.
    ///
    /// # Errors
    /// [`ObtainError`]; what a broken download got stays for the next attempt.
    pub fn archive(
        &self,
        wanted: &Wanted,
        watch: Watch<'_>,
    ) -> Result<(PathBuf, Found), ObtainError> {
        if let Some(kept) = self.kept(wanted) {
            return Ok((kept, Found::Kept));
        }
        if let Some(from) = self.from {
            let path = in_folder(wanted, from)?;
            return Ok((self.keep(wanted, &path)?, Found::Folder));
        }
        let path = match &wanted.from {
            Place::File { url: None, .. } => {
                return Err(ObtainError::NoAddress(wanted.name.clone()));
            }
            Place::File { .. } if self.offline => {
                return Err(ObtainError::Offline(wanted.name.clone()));
            }
            Place::File { url: Some(url), bytes } => {
                let part = self.store.download_path(&wanted.sha256)?;
                let pinned = Pinned { url, sha256: &wanted.sha256, bytes: *bytes };
                download::download(pinned, &part, self.patience, watch)?;
                let kept = self.keep(wanted, &part)?;
                let _ = std::fs::remove_file(&part);
                return Ok((kept, Found::Fetched));
            }
            Place::Crate { name, version } => {
                let scratch = self.store.scratch("cargo-fetch")?;
                let release = Release { name, version, sha256: &wanted.sha256 };
                let (runner, interrupt) = (self.runner, self.interrupt);
                let project = scratch.path().join("project");
                release::obtain(release, self.cargo, &project, runner, interrupt, self.offline)?
            }
        };
        Ok((self.keep(wanted, &path)?, Found::Fetched))
    }

    /// The archive in the store, checked.
    fn kept(&self, wanted: &Wanted) -> Option<PathBuf> {
        let blob: BlobId = self.store.reference(&archive_name(&wanted.sha256))?;
        let path = self.store.blob_path(blob);
        let (found, _) = sha256_of(File::open(&path).ok()?).ok()?;
        (found == wanted.sha256).then_some(path)
    }

    fn keep(&self, wanted: &Wanted, path: &Path) -> Result<PathBuf, ObtainError> {
        let (blob, _) = self.store.put_file(path)?;
        self.store.set_reference(&archive_name(&wanted.sha256), blob)?;
        // What was copied is what counts: the file may have changed since it was looked at.
        self.kept(wanted).ok_or_else(|| ObtainError::NotInFolder {
            name: wanted.name.clone(),
            sha256: wanted.sha256.clone(),
            folder: path.to_owned(),
            other: "; it changed while it was copied".into(),
        })
    }
}

/// The pinned file in a folder, by name or by length, or the file that was named itself.
fn in_folder(wanted: &Wanted, from: &Path) -> Result<PathBuf, ObtainError> {
    let unreadable = |path: &Path, source| ObtainError::Io { path: path.to_owned(), source };
    let length = match &wanted.from {
        Place::File { bytes, .. } => Some(*bytes),
        Place::Crate { .. } => None,
    };
    let names = [wanted.name.clone(), format!("{}.crate", wanted.name)];
    let mut other = String::new();
    for entry in walkdir::WalkDir::new(from).max_depth(3).sort_by_file_name() {
        let entry = entry.map_err(|e| unreadable(from, e.into()))?;
        if !entry.file_type().is_file() {
            continue;
        }
        let named = entry.file_name().to_str().is_some_and(|n| names.iter().any(|w| w == n));
        let sized = length.is_some_and(|l| entry.metadata().is_ok_and(|m| m.len() == l));
        if !named && !sized {
            continue;
        }
        let file = File::open(entry.path()).map_err(|e| unreadable(entry.path(), e))?;
        let (found, bytes) = sha256_of(file).map_err(|e| unreadable(entry.path(), e))?;
        if found == wanted.sha256 {
            return Ok(entry.into_path());
        }
        if named {
            let path = entry.path().display();
            other = format!(
                "; `{path}` has {bytes} bytes and sha256 {found}: if it is a newer package, \
                 see `ngcc kem update --help`"
            );
        }
    }
    Err(ObtainError::NotInFolder {
        name: wanted.name.clone(),
        sha256: wanted.sha256.clone(),
        folder: from.to_owned(),
        other,
    })
}
