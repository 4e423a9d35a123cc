//! A directory as if it were an archive: what a person points at, or what a program has unpacked.
//!
//! Follows no link, neither on the way nor at a file, and takes nothing that is no file, directory or link. Hard links
//! are files like others.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use super::assembly::{Assembly, Place, Stated};
use super::names::RawName;
use super::refusal::{Refusal, UnpackError};

/// Takes everything below a directory, in the order of names.
pub(super) fn read(dir: &Path, at: &Place, into: &mut Assembly<'_>) -> Result<(), UnpackError> {
    below(dir, &[], at, into)
}

fn below(dir: &Path, above: &[u8], at: &Place, into: &mut Assembly<'_>) -> Result<(), UnpackError> {
    let unreadable = |source| UnpackError::Io { path: dir.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        names.push(entry.map_err(unreadable)?.file_name());
        // The rest of what could not be taken need not be held.
        if names.len() as u64 > into.limits.members {
            return Err(at.error(Refusal::Members(into.limits.members)));
        }
    }
    names.sort();
    for name in names {
        let path = dir.join(&name);
        let unreadable = |source| UnpackError::Io { path: path.clone(), source };
        let mut bytes = above.to_vec();
        bytes.extend_from_slice(name.as_bytes());
        let raw = RawName::plain(&bytes);
        let stat = fs::symlink_metadata(&path).map_err(unreadable)?;
        let kind = stat.file_type();
        if kind.is_dir() {
            if is_store(&stat, into) {
                return Err(at.error(Refusal::HoldsStore));
            }
            into.directory(at, raw)?;
            bytes.push(b'/');
            below(&path, &bytes, at, into)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).map_err(unreadable)?;
            into.link(at, raw, target.as_os_str().as_bytes())?;
        } else if kind.is_file() {
            let mut file = File::options()
                .read(true)
                .custom_flags(O_NOFOLLOW | O_NONBLOCK)
                .open(&path)
                .map_err(unreadable)?;
            let executable = stat.mode() & 0o111 != 0;
            into.file(at, raw, Stated { executable, ..Stated::default() }, &mut file)?;
        } else {
            let what = match () {
                () if kind.is_fifo() => "named pipe",
                () if kind.is_socket() => "socket",
                () => "device",
            };
            return Err(at.entry_error(raw, Refusal::Special(what)));
        }
    }
    Ok(())
}

fn is_store(stat: &fs::Metadata, into: &Assembly<'_>) -> bool {
    fs::metadata(into.store.root())
        .is_ok_and(|root| (root.dev(), root.ino()) == (stat.dev(), stat.ino()))
}
