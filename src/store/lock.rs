//! Locks that the kernel holds, with a note of who holds them.
//!
//! The lock is the kernel's (`flock`), so it ends with its process and there is no stale lock to remove. The text in
//! the lock file is for the message only and is never believed about whether the lock is held.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Store, StoreError};

/// How long to sleep between two looks at a held lock.
const POLL: Duration = Duration::from_millis(20);

/// Who holds a lock, as far as the lock file tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// Process id; 0 when the holder has not written it yet.
    pub pid: u32,
    /// What it is doing, e.g. `ngcc pipeline run all`.
    pub command: String,
    /// Since when, UTC, RFC 3339.
    pub since: String,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} (`{}`, since {})", self.pid, self.command, self.since)
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct WireHolder {
    pid: u32,
    command: String,
}

/// The exclusive right to run pipelines on a store, or to collect it. Ends on drop.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

impl Store {
    /// Takes the run lock if it is free, else says who has it. `what` is what others are told, e.g. the command line.
    ///
    /// # Errors
    /// When the lock file cannot be opened or locks do not work there.
    pub fn try_lock_run(&self, what: &str) -> Result<Result<RunLock, LockHolder>, StoreError> {
        let path = self.layout.lock();
        let mut file = open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Err(read_holder(&mut file))),
            Err(TryLockError::Error(source)) => return Err(StoreError::NoLocks { path, source }),
        }
        write_holder(&mut file, what).map_err(|e| StoreError::io("write", &path, e))?;
        Ok(Ok(RunLock { file }))
    }

    /// Waits for the run lock. `waiting` is told whom it waits for, and told again when that changes.
    ///
    /// # Errors
    /// As for [`Store::try_lock_run`].
    pub fn lock_run(
        &self,
        what: &str,
        waiting: &mut dyn FnMut(&LockHolder),
    ) -> Result<RunLock, StoreError> {
        let mut told: Option<LockHolder> = None;
        self.lock_run_while(what, &mut |holder| {
            if told.as_ref() != Some(holder) {
                waiting(holder);
                told = Some(holder.clone());
            }
            ControlFlow::Continue(())
        })
    }

    /// Waits for the run lock for as long as `patient`, asked every few milliseconds, says so.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when patience ended; else as for [`Store::try_lock_run`].
    pub fn lock_run_while(
        &self,
        what: &str,
        patient: &mut dyn FnMut(&LockHolder) -> ControlFlow<()>,
    ) -> Result<RunLock, StoreError> {
        loop {
            match self.try_lock_run(what)? {
                Ok(lock) => return Ok(lock),
                Err(holder) if patient(&holder).is_break() => {
                    return Err(StoreError::Busy(holder));
                }
                Err(_) => std::thread::sleep(POLL),
            }
        }
    }
}

/// Opens or creates a lock file.
pub(super) fn open(path: &Path) -> Result<File, StoreError> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| StoreError::io("open", path, e))
}

/// Waits for an exclusive lock that is held for moments only.
pub(super) fn wait(file: &File, path: &Path) -> Result<(), StoreError> {
    loop {
        match file.lock() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => {
                let path: PathBuf = path.into();
                return other.map_err(|source| StoreError::NoLocks { path, source });
            }
        }
    }
}

fn write_holder(file: &mut File, what: &str) -> io::Result<()> {
    let holder = WireHolder { pid: std::process::id(), command: what.to_owned() };
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&serde_json::to_vec(&holder)?)
}

/// The file's own time says since when: it was written when the lock was taken.
fn read_holder(file: &mut File) -> LockHolder {
    let mut text = String::new();
    let read =
        file.seek(SeekFrom::Start(0)).and_then(|_| file.take(1 << 16).read_to_string(&mut text));
    let wire = read.ok().and_then(|_| serde_json::from_str::<WireHolder>(&text).ok());
    let wire = wire.unwrap_or(WireHolder { pid: 0, command: "not said yet".into() });
    let since = file.metadata().and_then(|stat| stat.modified()).ok();
    let since = since.and_then(|time| jiff::Timestamp::try_from(time).ok());
    let since = since.map(|time| format!("{time:.0}")).unwrap_or_default();
    LockHolder { pid: wire.pid, command: wire.command, since }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_to_ask_is_told_who_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (Store::open(dir.path()).unwrap(), Store::open(dir.path()).unwrap());
        let lock = first.try_lock_run("ngcc pipeline run all").unwrap().unwrap();
        let holder = second.try_lock_run("ngcc store gc").unwrap().unwrap_err();
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(holder.command, "ngcc pipeline run all");
        assert!(holder.since.ends_with('Z') && holder.since.len() == 20, "{holder}");
        drop(lock);
        drop(second.try_lock_run("ngcc store gc").unwrap().unwrap());
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_released_and_may_lose_patience() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (Store::open(dir.path()).unwrap(), Store::open(dir.path()).unwrap());
        let mut lock = Some(first.try_lock_run("one").unwrap().unwrap());
        let gone = second.lock_run_while("two", &mut |_| ControlFlow::Break(()));
        assert!(matches!(gone, Err(StoreError::Busy(holder)) if holder.command == "one"));
        let mut seen = Vec::new();
        let got = second.lock_run("two", &mut |holder| {
            seen.push(holder.command.clone());
            lock.take();
        });
        drop(got.unwrap());
        assert_eq!(seen, ["one"]);
    }

    #[test]
    fn what_a_dead_holder_left_in_the_file_means_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("lock"), "{\"pid\":1,\"command\":\"init\"}").unwrap();
        drop(store.try_lock_run("one").unwrap().unwrap());
        std::fs::write(dir.path().join("lock"), "\0garbage").unwrap();
        drop(store.try_lock_run("one").unwrap().unwrap());
    }
}
