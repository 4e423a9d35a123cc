//! The store: plain files that remember what every action produced.
//!
//! Blobs and trees are filed by BLAKE3 and checked whenever they are read; a record is one JSON file per key. Those
//! files are the truth. The index and the stat cache only make it fast to read and are rebuilt when they are not there.
//!
//! Knows nothing of pipelines, processes or reports. One file per concern: `layout` (paths and format version),
//! `session` (temporary files of a live process), `content` and `trees` (what is kept), `records` and `pending` (what
//! it means, and the argument for power loss), `index`, `stat_cache` and `table` (speed), `lock`, `runs`, `references`, `verify`, `gc`,
//! `remembered` (what `why` needs of a collected record), `export` and `import`, `census`.

mod bundle;
mod census;
mod content;
#[cfg(test)]
mod crash;
mod export;
mod gc;
mod import;
mod index;
mod layout;
mod lock;
mod pending;
#[cfg(test)]
mod power;
mod record_file;
mod records;
mod references;
mod remembered;
mod runs;
mod session;
mod standing;
mod stat_cache;
mod table;
mod tree_rules;
mod trees;
mod verify;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::digest::{ActionKey, BlobId, TreeId};

pub use bundle::{Item, Manifest};
pub use census::{Census, Count};
pub use content::PutError;
pub use export::Exported;
pub use gc::{GcPlan, GcRoots};
pub use import::{ImportError, Imported};
pub use lock::{LockHolder, RunLock};
pub use pending::Recovery;
pub use records::Hit;
pub use remembered::Remembered;
pub use runs::{Kept, Run, RunEnd, RunLine, RunLog, RunStart, RunSummary, RunWorkspace};
pub use session::Scratch;
pub use standing::{Seen, Standing};
pub use verify::VerifyReport;

use index::Index;
use layout::Layout;
use session::Session;
use stat_cache::StatCache;

/// A store root, opened by this process. Shared by reference between threads.
#[derive(Debug)]
pub struct Store {
    layout: Layout,
    session: Arc<Session>,
    boot: String,
    recovery: Recovery,
    index: RwLock<Index>,
    /// Loaded when first asked for: a run that finds nothing to do does without.
    stat_cache: OnceLock<RwLock<StatCache>>,
    /// Serialises flushes of this process.
    flushing: Mutex<()>,
    /// Something was written that no `syncfs` has covered yet.
    unsynced: AtomicBool,
    paranoid: AtomicBool,
}

impl Store {
    /// Opens a store root, creating it when there is none. Removes what dead processes left in `tmp/`, and settles
    /// records that a power loss may have torn (see [`Store::recovery`]).
    ///
    /// # Errors
    /// When the directory is no store, is of another format, cannot be written, or has no working file locks.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        Self::open_in_boot(root, layout::boot_id())
    }

    /// Whether there is a store, whatever its format.
    #[must_use]
    pub fn is_at(root: &Path) -> bool {
        Layout::is_at(root)
    }

    /// Opens as if the machine had the given boot id (`None`: not known, so nothing unsynced is trusted later).
    pub(crate) fn open_in_boot(root: &Path, boot: Option<String>) -> Result<Self, StoreError> {
        let layout = Layout::create(root)?;
        let house = session::lock_house(&layout)?;
        session::remove_dead(&layout)?;
        let session = Arc::new(Session::begin(&layout)?);
        let boot = boot.unwrap_or_else(|| format!("unknown-{}", session.name()));
        let recovery = pending::recover(&layout, &boot)?;
        drop(house);
        let mut index = Index::load(&layout);
        index.refresh(&layout, session.now_ns())?;
        let unsynced = index.adopt_pending(&layout, &boot)?;
        Ok(Self {
            layout,
            session,
            boot,
            recovery,
            index: RwLock::new(index),
            stat_cache: OnceLock::new(),
            flushing: Mutex::new(()),
            unsynced: AtomicBool::new(unsynced),
            paranoid: AtomicBool::new(false),
        })
    }

    /// The root directory, absolute.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.layout.root()
    }

    /// What opening found unsynced from before the last boot.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Whether to trust nothing that was not hashed by this call: the stat cache is passed over, and a lookup reads the
    /// record and every byte of its outputs.
    pub fn set_paranoid(&self, on: bool) {
        self.paranoid.store(on, Ordering::Relaxed);
    }

    /// A directory of its own on the store's file system, removed on drop and by the next process if this one dies.
    /// The process id and a running number are in its path; the hint is for people.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch(&self, hint: &str) -> Result<Scratch, StoreError> {
        Scratch::begin(&self.session, hint)
    }

    fn is_paranoid(&self) -> bool {
        self.paranoid.load(Ordering::Relaxed)
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn stat_cache(&self) -> RwLockReadGuard<'_, StatCache> {
        self.loaded_stat_cache().read().unwrap_or_else(PoisonError::into_inner)
    }

    fn stat_cache_mut(&self) -> RwLockWriteGuard<'_, StatCache> {
        self.loaded_stat_cache().write().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded_stat_cache(&self) -> &RwLock<StatCache> {
        self.stat_cache.get_or_init(|| RwLock::new(StatCache::load(&self.layout, &self.boot)))
    }

    fn note_unsynced(&self) {
        self.unsynced.store(true, Ordering::Release);
    }
}

impl Drop for Store {
    /// Keeps the caches, which are an economy only; what must be durable is the business of [`Store::flush`].
    fn drop(&mut self) {
        let _ = self.save_caches();
    }
}

/// Something the store keeps under a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// A byte string.
    Blob(BlobId),
    /// A directory listing.
    Tree(TreeId),
    /// What an action produced.
    Record(ActionKey),
}

impl std::fmt::Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Blob(id) => write!(f, "blob {id}"),
            Self::Tree(id) => write!(f, "tree {id}"),
            Self::Record(id) => write!(f, "record {id}"),
        }
    }
}

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The answer.
        source: io::Error,
    },
    /// No space left, or a quota is used up. Nothing half-written was registered.
    #[error("no space left for `{}`; free some (`ngcc store gc`) and run again", .0.display())]
    Full(PathBuf),
    /// The store does not hold it.
    #[error("{0} is not in the store")]
    Missing(Object),
    /// Its bytes no longer match its name. It was moved out of the way, into `damaged/`.
    #[error("{0} is damaged")]
    Damaged(Object),
    /// A tree holds something that has no place in a tree.
    #[error("`{}` cannot be kept in a tree: {why}", path.display())]
    Refused {
        /// The offending path.
        path: PathBuf,
        /// The rule it breaks.
        why: String,
    },
    /// The file was written to while it was being hashed.
    #[error("`{}` changed while it was read", .0.display())]
    Changed(PathBuf),
    /// Another process holds the lock.
    #[error("the store is in use by {0}")]
    Busy(LockHolder),
    /// Another process has the store open, named by its directory below `tmp/`, which begins with its process id.
    #[error(
        "another process has the store open (process id and number: {0}); try again when it has ended"
    )]
    OpenElsewhere(String),
    /// File locks do not work there.
    #[error("`{}` is on a file system without file locks; put the store on a local disk", path.display())]
    NoLocks {
        /// The lock file.
        path: PathBuf,
        /// The answer to the attempt.
        source: io::Error,
    },
    /// The store was written by a version with another layout.
    #[error("`{}` says `{found}`, this program reads `{expected}`", path.display())]
    Format {
        /// The format file.
        path: PathBuf,
        /// Its first line.
        found: String,
        /// The line expected.
        expected: &'static str,
    },
    /// A directory that holds other things.
    #[error("`{}` holds files and is not a store; name an empty directory", .0.display())]
    NotAStore(PathBuf),
    /// A record of a format this version does not write.
    #[error("record {key} has format {found}, this program writes {expected}")]
    RecordFormat {
        /// Its key.
        key: ActionKey,
        /// Its format.
        found: u32,
        /// The format written.
        expected: u32,
    },
}

impl StoreError {
    /// An I/O failure, or [`StoreError::Full`] when the reason is a full disk.
    fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Self::Full(path.to_owned());
        }
        Self::Io { action, path: path.to_owned(), source }
    }

    /// The digest of content that is absent or damaged.
    #[must_use]
    pub fn damaged(&self) -> Option<crate::digest::Digest> {
        let (Self::Missing(object) | Self::Damaged(object)) = self else { return None };
        match object {
            Object::Blob(id) => Some(id.0),
            Object::Tree(id) => Some(id.0),
            Object::Record(_) => None,
        }
    }

    /// Whether content is absent or damaged, so that forgetting the record and running the action again heals it.
    #[must_use]
    pub fn is_lost_content(&self) -> bool {
        matches!(self, Self::Missing(_) | Self::Damaged(_))
    }
}
