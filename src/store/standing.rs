//! What stood at the end of a run, and what was seen of the file system then: so that the next run can tell, by asking
//! for nothing but file stamps, that nothing it depends on has moved.
//!
//! One file in `cache/` per plan (which plan is the caller's business). An entry is a list of looks, each a path with
//! its stamp and the digest of what was there, and a payload of the caller's. The rule for stamps is that of the stat
//! cache: one is only kept when the file had already been left alone for more than a clock tick before anything was
//! read, so a later change gets a later stamp. A path that is not there is kept as the stamp of the directory it would
//! be in. A paranoid look compares digests instead. Like every cache it may be deleted, and one from before the last
//! boot counts as empty.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::AtFlags;
use nix::sys::stat::fstatat;

use super::stat_cache::Stamp;
use super::table::{Table, framed};
use super::{Store, StoreError};
use crate::digest::Digest;

/// Files kept, so that selections typed once do not pile up.
const MOST: usize = 24;

/// A path and what was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Relative to the root of the workspace, or absolute.
    path: String,
    stamp: Stamp,
    digest: Digest,
}

impl Seen {
    /// The path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// One plan's entries, by name.
#[derive(Debug)]
pub struct Standing {
    table: Table,
    place: PathBuf,
    generation: u64,
}

impl Standing {
    /// The payload of an entry.
    #[must_use]
    pub fn payload(&self, name: &str) -> Option<&[u8]> {
        self.table.get(name.as_bytes()).and_then(split).map(|(_, payload)| payload)
    }

    /// The looks of an entry.
    #[must_use]
    pub fn seen(&self, name: &str) -> Option<Vec<Seen>> {
        let (looks, _) = split(self.table.get(name.as_bytes())?)?;
        let seen = looks.map(|(path, stamp, digest)| {
            let path = std::str::from_utf8(path).ok()?.to_owned();
            Some(Seen {
                path,
                stamp: Stamp::from_bytes(stamp),
                digest: Digest::from_bytes(*digest),
            })
        });
        seen.collect()
    }

    /// All entries in byte order of their names, with their payloads.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.table
            .from(&[])
            .filter_map(|(name, value)| Some((std::str::from_utf8(name).ok()?, split(value)?.1)))
    }

    /// Whether an entry's looks are these already, so that keeping it again changes nothing.
    fn is(&self, name: &str, value: &[u8]) -> bool {
        self.table.get(name.as_bytes()) == Some(value)
    }

    /// Puts an entry in.
    pub fn set(&mut self, name: &str, seen: &[Seen], payload: &[u8]) {
        let mut value = Vec::with_capacity(64 + 128 * seen.len() + payload.len());
        value.extend(u32::try_from(seen.len()).unwrap_or(u32::MAX).to_le_bytes());
        for one in seen {
            value.extend(u32::try_from(one.path.len()).unwrap_or(u32::MAX).to_le_bytes());
            value.extend(one.path.as_bytes());
            value.extend(one.stamp.to_bytes());
            value.extend(one.digest.as_bytes());
        }
        value.extend(payload);
        if !self.is(name, &value) {
            self.table.set(name.as_bytes(), &value);
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, name: &str) {
        self.table.remove(name.as_bytes());
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Whether the records known to a store are those known when this was kept.
    #[must_use]
    pub fn knows_records_of(&self, store: &Store) -> bool {
        self.generation != 0 && store.index().generation() == Some(self.generation)
    }

    /// Names of the entries of which something has moved, in byte order. Uses all processors.
    #[must_use]
    pub fn moved(&self, store: &Store, root: &Path) -> Vec<String> {
        let Ok(root_handle) = File::open(root) else {
            return self.entries().map(|(name, _)| name.to_owned()).collect();
        };
        let all: Vec<(&[u8], &[u8])> = self.table.from(&[]).collect();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let share = all.len().div_ceil(threads).max(64);
        let looker = Looker { store, root, handle: &root_handle };
        let moved = |part: &[(&[u8], &[u8])]| -> Vec<String> {
            let moved = part.iter().filter(|(_, value)| !looker.all_same(value));
            moved.map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect()
        };
        std::thread::scope(|scope| {
            let mut parts = all.chunks(share);
            let own = parts.next().unwrap_or_default();
            let others: Vec<_> = parts.map(|part| scope.spawn(|| moved(part))).collect();
            let mut found = moved(own);
            for other in others {
                found.extend(other.join().expect("looking does not panic"));
            }
            found
        })
    }
}

/// Splits an entry's value into its looks, still encoded, and the payload.
fn split(value: &[u8]) -> Option<(Looks<'_>, &[u8])> {
    let (count, rest) = value.split_first_chunk::<4>()?;
    let looks = Looks { left: u32::from_le_bytes(*count), rest };
    let mut end = looks;
    while end.left > 0 {
        end.next()?;
    }
    Some((looks, end.rest))
}

#[derive(Clone, Copy)]
struct Looks<'t> {
    left: u32,
    rest: &'t [u8],
}

impl<'t> Iterator for Looks<'t> {
    type Item = (&'t [u8], &'t [u8; 40], &'t [u8; 32]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let (path, rest) = framed(self.rest)?;
        let (stamp, rest) = rest.split_first_chunk::<40>()?;
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        self.rest = rest;
        Some((path, stamp, digest))
    }
}

struct Looker<'s> {
    store: &'s Store,
    root: &'s Path,
    handle: &'s File,
}

impl Looker<'_> {
    fn all_same(&self, value: &[u8]) -> bool {
        let Some((looks, _)) = split(value) else { return false };
        looks.into_iter().all(|(path, stamp, digest)| {
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            if self.store.is_paranoid() {
                let found = self.store.content(&self.root.join(path));
                return found.is_some_and(|found| found.as_bytes() == digest);
            }
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            fstatat(self.handle.as_fd(), path, AtFlags::empty())
                .is_ok_and(|stat| Stamp::of_raw(&stat).to_bytes() == *stamp)
        })
    }
}

impl Store {
    /// The entries kept under a name; none when there is no file or it is from before the last boot.
    #[must_use]
    pub fn standing(&self, name: &Digest) -> Standing {
        let place = self.standing_directory().join(format!("standing-{}", name.short()));
        let mut table = Table::load(&place, "standing");
        let generation = table.head().split_first_chunk::<8>().and_then(|(number, boot)| {
            (boot == self.boot.as_bytes()).then_some(u64::from_le_bytes(*number))
        });
        if generation.is_none() {
            table.clear();
        }
        Standing { table, place, generation: generation.unwrap_or(0) }
    }

    /// Keeps entries for the next run. The records they speak of must be flushed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_standing(&self, standing: &mut Standing) -> Result<(), StoreError> {
        self.save_caches()?;
        let generation = self.index().generation().unwrap_or(0);
        if !standing.table.is_changed() && generation == standing.generation {
            return Ok(());
        }
        let mut head = generation.to_le_bytes().to_vec();
        head.extend(self.boot.as_bytes());
        standing.table.save(&self.session, &standing.place, &head)?;
        standing.generation = generation;
        self.forget_old_standings();
        Ok(())
    }

    /// What is at a path, if it was left alone since `floor_ns` (on the clock of [`Store::now_ns`]), that is: since
    /// before it was read. For a path that is not there, what is seen is the directory it would be in. `None` when that cannot
    /// be said, and then nothing may be kept that depends on it.
    #[must_use]
    pub fn see(&self, root: &Path, path: &str, floor_ns: i64) -> Option<Seen> {
        let full = root.join(path);
        let stat = match fs::metadata(&full) {
            Ok(stat) => stat,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                // A link that leads nowhere may lead somewhere without anything here moving.
                if full.symlink_metadata().is_ok() {
                    return None;
                }
                let above = match path.rsplit_once('/') {
                    Some(("", _)) => "/",
                    Some((above, _)) => above,
                    None => "",
                };
                return if path.is_empty() { None } else { self.see(root, above, floor_ns) };
            }
            Err(_) => return None,
        };
        let stamp = Stamp::of(&stat);
        if !stamp.is_settled_at(floor_ns) {
            return None;
        }
        let digest = self.content(&full)?;
        Some(Seen { path: path.to_owned(), stamp, digest })
    }

    /// Digest of a file's bytes or of a directory's names.
    fn content(&self, path: &Path) -> Option<Digest> {
        let stat = fs::metadata(path).ok()?;
        if stat.is_file() && self.is_paranoid() {
            return Digest::of_file(path).ok().map(|(digest, _)| digest);
        }
        if stat.is_file() {
            return self.digest_known_file(path, &stat).ok().map(|(id, _)| id.0);
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(path).ok()? {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            names.push((entry.file_name(), [kind.is_dir(), kind.is_file(), kind.is_symlink()]));
        }
        names.sort();
        let mut text = Vec::new();
        for (name, kind) in names {
            text.extend(u32::try_from(name.len()).ok()?.to_le_bytes());
            text.extend(name.as_bytes());
            text.extend(kind.map(u8::from));
        }
        Some(Digest::of(&text))
    }

    /// The time on the clock that stamps files here, nanoseconds since 1970.
    #[must_use]
    pub fn now_ns(&self) -> i64 {
        self.session.now_ns()
    }

    fn standing_directory(&self) -> PathBuf {
        self.root().join("cache")
    }

    fn forget_old_standings(&self) {
        let Ok(entries) = fs::read_dir(self.standing_directory()) else { return };
        let mut files: Vec<(std::time::SystemTime, PathBuf)> = entries
            .filter_map(Result::ok)
            .filter(|e| e.file_name().to_string_lossy().starts_with("standing-"))
            .filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path())))
            .collect();
        files.sort();
        let surplus = files.len().saturating_sub(MOST);
        for (_, path) in files.drain(..surplus) {
            // It is a cache, and another process may have been quicker.
            let _ = fs::remove_file(path);
        }
    }
}
