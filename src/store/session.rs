//! The temporary files of one live process: half-written blobs and the scratch directories of attempts.
//!
//! Each process has a directory `tmp/<pid>.<n>/` with a file `alive` that it keeps locked. The kernel drops the lock
//! when the process dies, however it dies; so whoever opens the store next can tell dead directories from living
//! ones without trusting process ids, which are reused and differ between containers. Nothing below `tmp/` is ever
//! looked at as a result: a late write of an orphaned child lands in a dead directory and goes with it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::stat::futimens;
use nix::sys::time::TimeSpec;

use super::StoreError;
use super::layout::Layout;
use super::lock;

/// This process's directory below `tmp/`.
#[derive(Debug)]
pub(super) struct Session {
    name: String,
    dir: PathBuf,
    /// Locked for as long as the process lives; touched to learn the time.
    alive: File,
    counter: AtomicU64,
}

/// Held while sessions begin or are cleaned up, and while content is collected.
#[derive(Debug)]
pub(super) struct House {
    _lock: File,
}

/// Waits for the house lock; it is only ever held for moments, or by a collection.
pub(super) fn lock_house(layout: &Layout) -> Result<House, StoreError> {
    let path = layout.tmp().join("lock");
    let file = lock::open(&path)?;
    lock::wait(&file, &path)?;
    Ok(House { _lock: file })
}

/// Removes the directories of dead processes. What resists (an orphan still writing) is left for the next time.
pub(super) fn remove_dead(layout: &Layout) -> Result<(), StoreError> {
    layout.remove_half_made();
    for dir in sessions(layout)? {
        if is_dead(&dir) {
            let _ = remove_all(&dir);
        }
    }
    Ok(())
}

/// Another process that has the store open, as `<pid>.<n>`. Without the house lock the answer is already old.
pub(super) fn other_alive(layout: &Layout, own: &Session) -> Result<Option<String>, StoreError> {
    let others = sessions(layout)?.into_iter().filter(|dir| *dir != own.dir);
    let alive = others.into_iter().find(|dir| !is_dead(dir));
    Ok(alive.and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned())))
}

fn sessions(layout: &Layout) -> Result<Vec<PathBuf>, StoreError> {
    let tmp = layout.tmp();
    let failed = |e| StoreError::io("list", &tmp, e);
    let mut dirs = Vec::new();
    for entry in fs::read_dir(&tmp).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            dirs.push(entry.path());
        }
    }
    dirs.sort();
    Ok(dirs)
}

fn is_dead(dir: &Path) -> bool {
    match File::open(dir.join("alive")) {
        Ok(file) => file.try_lock().is_ok(),
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}

impl Session {
    /// Makes and locks a directory. The house lock must be held.
    pub(super) fn begin(layout: &Layout) -> Result<Self, StoreError> {
        let tmp = layout.tmp();
        let pid = std::process::id();
        for n in 0_u32.. {
            let name = format!("{pid}.{n}");
            let dir = tmp.join(&name);
            match fs::create_dir(&dir) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(StoreError::io("create", &dir, e)),
            }
            let path = dir.join("alive");
            let alive = lock::open(&path)?;
            lock::wait(&alive, &path)?;
            return Ok(Self { name, dir, alive, counter: AtomicU64::new(0) });
        }
        unreachable!("some number below 2^32 is free")
    }

    /// `<pid>.<n>`.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The time on the clock of the store's file system, nanoseconds since 1970: what a file written now would carry.
    /// 0 when it cannot be had, which every reader takes for "too old to trust anything by".
    pub(super) fn now_ns(&self) -> i64 {
        let now = TimeSpec::UTIME_NOW;
        let stamp = || -> io::Result<i64> {
            // Touching needs no block, so a full disk does not stop this clock.
            futimens(&self.alive, &now, &now)?;
            let stat = self.alive.metadata()?;
            Ok(stat.ctime().saturating_mul(1_000_000_000).saturating_add(stat.ctime_nsec()))
        };
        stamp().unwrap_or(0)
    }

    fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// A path no one else uses, on the store's file system.
    pub(super) fn unused_path(&self) -> PathBuf {
        self.dir.join(format!("t{}", self.number()))
    }

    /// A new, empty, read-only-to-be file.
    pub(super) fn temp_file(&self) -> Result<TempFile, StoreError> {
        let path = self.unused_path();
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o444)
            .open(&path)
            .map_err(|e| StoreError::io("create", &path, e))?;
        Ok(TempFile { path, file, placed: false })
    }

    /// Writes a whole file aside and moves it to its place.
    pub(super) fn place(&self, bytes: &[u8], place: &Path) -> Result<(), StoreError> {
        let mut temp = self.temp_file()?;
        temp.write_all(bytes, place)?;
        temp.place(place)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = remove_all(&self.dir);
    }
}

/// A file being written aside; removed unless it is placed.
#[derive(Debug)]
pub(super) struct TempFile {
    path: PathBuf,
    file: File,
    placed: bool,
}

impl TempFile {
    /// Appends bytes; an error names the place the file is meant for.
    pub(super) fn write_all(&mut self, bytes: &[u8], place: &Path) -> Result<(), StoreError> {
        self.file.write_all(bytes).map_err(|e| StoreError::io("write", place, e))
    }

    /// The inode, by which a later reader recognises this very file.
    pub(super) fn inode(&self) -> Result<u64, StoreError> {
        let stat = self.file.metadata().map_err(|e| StoreError::io("read", &self.path, e))?;
        Ok(stat.ino())
    }

    /// Moves the file to its place, over whatever is there, making the directory when needed.
    pub(super) fn place(mut self, place: &Path) -> Result<(), StoreError> {
        rename(&self.path, place)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.placed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Renames, making the directory of the target when it is not there.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    let failed = |e| StoreError::io("write", to, e);
    match fs::rename(from, to) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let parent = to.parent().expect("a place in the store has a directory");
            fs::create_dir_all(parent).map_err(failed)?;
            fs::rename(from, to).map_err(failed)
        }
        other => other.map_err(failed),
    }
}

/// A directory for one attempt at an action.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Keeps the directory above it alive.
    _session: Arc<Session>,
}

impl Scratch {
    pub(super) fn begin(session: &Arc<Session>, hint: &str) -> Result<Self, StoreError> {
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let hint: String = hint.chars().take(40).map(letter).collect();
        let path = session.dir.join(format!("{hint}.{}", session.number()));
        fs::create_dir(&path).map_err(|e| StoreError::io("create", &path, e))?;
        Ok(Self { path, _session: Arc::clone(session) })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove_all(&self.path);
    }
}

/// Removes a directory and all below it, also where a program took away its own write permission.
fn remove_all(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            open_up(dir)?;
            fs::remove_dir_all(dir)
        }
        other => other,
    }
}

fn open_up(dir: &Path) -> io::Result<()> {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn the_directory_of_a_dead_process_goes_and_that_of_a_living_one_stays() {
        let dir = tempfile::tempdir().unwrap();
        let first = Store::open(dir.path()).unwrap();
        let scratch = first.scratch("kem-18/Loong128").unwrap();
        assert!(scratch.path().to_str().unwrap().contains(&std::process::id().to_string()));
        fs::write(scratch.path().join("x"), "x").unwrap();
        let dead = dir.path().join("tmp/999.0/build.0");
        fs::create_dir_all(&dead).unwrap();
        fs::write(dead.join("late.o"), "x").unwrap();
        fs::write(dir.path().join("tmp/999.0/alive"), "").unwrap();
        let second = Store::open(dir.path()).unwrap();
        assert!(!dir.path().join("tmp/999.0").exists());
        assert!(scratch.path().join("x").exists());
        drop(second);
        drop(scratch);
        drop(first);
        let left: Vec<_> =
            fs::read_dir(dir.path().join("tmp")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["lock"]);
    }

    #[test]
    fn what_a_process_killed_while_it_made_the_store_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        drop(Store::open(dir.path()).unwrap());
        let left = dir.path().join("tmp/format.new-1-ThreadId(1)");
        fs::write(&left, "ngcc").unwrap();
        drop(Store::open(dir.path()).unwrap());
        assert!(!left.exists());
    }

    #[test]
    fn a_scratch_directory_that_was_locked_up_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let scratch = store.scratch("x").unwrap();
        let inner = scratch.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("f"), "x").unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o0)).unwrap();
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }
}
