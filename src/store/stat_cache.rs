//! Digests of files outside the store, remembered by what `stat` says of them.
//!
//! An unchanged file costs one `stat`. Unchanged means: same size, modification time, change time, inode and device.
//! The change time is the one that counts, since a program can set the others back and the kernel alone sets this one.
//!
//! *Racy files.* Two changes within one tick of the clock leave the same change time. So a digest is only remembered when the
//! file's change time was older than the moment before it was hashed, by more than a tick, by the clock of a file system (a
//! file touched in the store), since that is what stamps files: any later change then gets a later stamp. Other files
//! are hashed again next time.
//!
//! The cache is dropped when the machine was restarted: a file that was not synced may have lost its content and kept its
//! stamps. It is also blind to writes through a memory map that was made before the hash; a paranoid run reads all.

use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::sys::stat::FileStat;

use super::index::TICK_NS;
use super::layout::Layout;
use super::session::Session;
use super::table::Table;
use super::{Store, StoreError};
use crate::digest::{BlobId, Digest};

/// What `stat` says of a file, as far as it tells versions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    len: u64,
    modified_ns: i64,
    changed_ns: i64,
    inode: u64,
    device: u64,
}

impl Stamp {
    pub(super) fn of(stat: &Metadata) -> Self {
        let nanos =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            len: stat.len(),
            modified_ns: nanos(stat.mtime(), stat.mtime_nsec()),
            changed_ns: nanos(stat.ctime(), stat.ctime_nsec()),
            inode: stat.ino(),
            device: stat.dev(),
        }
    }

    /// The same from the system call's own answer.
    pub(super) fn of_raw(stat: &FileStat) -> Self {
        let nanos =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            len: stat.st_size.cast_unsigned(),
            modified_ns: nanos(stat.st_mtime, stat.st_mtime_nsec),
            changed_ns: nanos(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            device: stat.st_dev,
        }
    }

    /// Whether a change made at this time or later would show.
    pub(super) fn is_settled_at(&self, now_ns: i64) -> bool {
        // A file system that keeps whole seconds, or pairs of them, gives itself away.
        let tick = if self.changed_ns % 1_000_000_000 == 0 { 2_000_000_000 } else { TICK_NS };
        self.changed_ns.saturating_add(tick) < now_ns
    }

    /// What [`Stamp::to_bytes`] wrote.
    pub(super) fn from_bytes(bytes: &[u8; 40]) -> Self {
        let number =
            |n: usize| u64::from_le_bytes(bytes[8 * n..8 * n + 8].try_into().expect("eight bytes"));
        Self {
            len: number(0),
            modified_ns: number(1).cast_signed(),
            changed_ns: number(2).cast_signed(),
            inode: number(3),
            device: number(4),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        let numbers = [
            self.len,
            self.modified_ns.cast_unsigned(),
            self.changed_ns.cast_unsigned(),
            self.inode,
            self.device,
        ];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

/// Path to stamp and digest.
#[derive(Debug)]
pub(super) struct StatCache {
    table: Table,
    boot: String,
}

impl StatCache {
    pub(super) fn load(layout: &Layout, boot: &str) -> Self {
        let mut table = Table::load(&layout.stat_cache(), "stat");
        if table.head() != boot.as_bytes() {
            table.clear();
        }
        Self { table, boot: boot.to_owned() }
    }

    fn get(&self, path: &Path, stamp: &Stamp) -> Option<BlobId> {
        let value = self.table.get(path.as_os_str().as_bytes())?;
        let (filed, digest) = value.split_first_chunk::<40>()?;
        let digest = BlobId(Digest::from_bytes(digest.try_into().ok()?));
        (*filed == stamp.to_bytes()).then_some(digest)
    }

    fn set(&mut self, path: &Path, stamp: &Stamp, id: BlobId) {
        let mut value = stamp.to_bytes().to_vec();
        value.extend(id.digest().as_bytes());
        self.table.set(path.as_os_str().as_bytes(), &value);
    }

    pub(super) fn save(&mut self, layout: &Layout, session: &Session) -> Result<(), StoreError> {
        if self.table.is_changed() {
            self.table.save(session, &layout.stat_cache(), self.boot.as_bytes())?;
        }
        Ok(())
    }
}

impl Store {
    /// The digest and length of a file, without reading it when `stat` says that it is the one read before. Give
    /// absolute paths: a relative one costs asking for the working directory.
    ///
    /// # Errors
    /// When it cannot be read or is not a regular file; [`StoreError::Changed`] when it changed meanwhile.
    pub fn digest_file(&self, path: &Path) -> Result<(BlobId, u64), StoreError> {
        let stat = fs::metadata(path).map_err(|e| StoreError::io("read", path, e))?;
        self.digest_known_file(path, &stat)
    }

    /// The same when the caller has asked for the metadata just now.
    pub(super) fn digest_known_file(
        &self,
        path: &Path,
        stat: &Metadata,
    ) -> Result<(BlobId, u64), StoreError> {
        if !stat.is_file() {
            let why = "it is not a regular file".to_owned();
            return Err(StoreError::Refused { path: path.to_owned(), why });
        }
        let unreadable = |e| StoreError::io("read", path, e);
        let absolute = if path.is_absolute() {
            std::borrow::Cow::Borrowed(path)
        } else {
            std::borrow::Cow::Owned(std::path::absolute(path).map_err(unreadable)?)
        };
        let known = self.stat_cache().get(&absolute, &Stamp::of(stat));
        if let Some(id) = known
            && !self.is_paranoid()
        {
            return Ok((id, stat.len()));
        }
        let now_ns = self.session.now_ns();
        let file = File::open(path).map_err(unreadable)?;
        let before = Stamp::of(&file.metadata().map_err(unreadable)?);
        let (digest, len) = Digest::of_open_file(&file).map_err(unreadable)?;
        let after = Stamp::of(&fs::metadata(path).map_err(unreadable)?);
        if before != after || len != after.len {
            return Err(StoreError::Changed(path.to_owned()));
        }
        let id = BlobId(digest);
        if after.is_settled_at(now_ns) && known != Some(id) {
            self.stat_cache_mut().set(&absolute, &after, id);
        }
        Ok((id, len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    struct Space {
        dir: tempfile::TempDir,
        store: Store,
    }

    impl Space {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::open(&dir.path().join("store")).unwrap();
            Self { dir, store }
        }

        fn file(&self, text: &str) -> std::path::PathBuf {
            let path = self.dir.path().join("source.c");
            fs::write(&path, text).unwrap();
            path
        }

        /// Until a change made now would carry a later stamp.
        fn settle(&self, path: &Path) {
            while !Stamp::of(&fs::metadata(path).unwrap())
                .is_settled_at(self.store.session.now_ns())
            {
                std::thread::sleep(Duration::from_millis(2));
            }
        }

        fn is_known(&self, path: &Path) -> bool {
            let stamp = Stamp::of(&fs::metadata(path).unwrap());
            self.store.stat_cache().get(path, &stamp).is_some()
        }
    }

    /// Edits in place keeping size and modification time, as a careless copy tool would.
    fn edit_secretly(path: &Path, text: &str) {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        let file = File::options().write(true).open(path).unwrap();
        std::io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
        file.set_modified(modified).unwrap();
        assert_eq!(fs::metadata(path).unwrap().modified().unwrap(), modified);
    }

    #[test]
    fn an_edit_that_keeps_size_and_modification_time_is_noticed() {
        let space = Space::new();
        let path = space.file("old text");
        space.settle(&path);
        assert_eq!(space.store.digest_file(&path).unwrap(), (BlobId::of(b"old text"), 8));
        assert!(space.is_known(&path));
        edit_secretly(&path, "new text");
        assert_eq!(space.store.digest_file(&path).unwrap(), (BlobId::of(b"new text"), 8));
    }

    #[test]
    fn a_file_hashed_right_after_it_was_written_is_not_trusted() {
        let space = Space::new();
        for n in 0..200 {
            let text = format!("text {n:03}");
            let path = space.file(&text);
            assert_eq!(space.store.digest_file(&path).unwrap().0, BlobId::of(text.as_bytes()));
            let other = format!("TEXT {n:03}");
            edit_secretly(&path, &other);
            assert_eq!(space.store.digest_file(&path).unwrap().0, BlobId::of(other.as_bytes()));
        }
    }

    #[test]
    fn touching_a_file_to_the_past_or_the_future_changes_nothing_but_the_cost() {
        let space = Space::new();
        let path = space.file("text");
        let days = Duration::from_secs(10_000 * 86_400);
        for time in [SystemTime::UNIX_EPOCH + days, SystemTime::UNIX_EPOCH + 4 * days] {
            File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            space.settle(&path);
            assert_eq!(space.store.digest_file(&path).unwrap().0, BlobId::of(b"text"));
            assert!(space.is_known(&path));
        }
    }

    #[test]
    fn the_cache_outlives_the_process_but_not_the_boot_and_paranoia_passes_it_over() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("store");
        let path = dir.path().join("file");
        fs::write(&path, "text").unwrap();
        let open = |boot: &str| Store::open_in_boot(&root, Some(boot.into())).unwrap();
        let wrong = BlobId::of(b"a wrong digest shows where an answer comes from");
        let store = open("one");
        let stamp = Stamp::of(&fs::metadata(&path).unwrap());
        store.stat_cache_mut().set(&path, &stamp, wrong);
        drop(store);
        let store = open("one");
        assert_eq!(store.digest_file(&path).unwrap().0, wrong);
        store.set_paranoid(true);
        assert_eq!(store.digest_file(&path).unwrap().0, BlobId::of(b"text"));
        drop(store);
        assert_eq!(open("two").digest_file(&path).unwrap().0, BlobId::of(b"text"));
    }

    #[test]
    fn a_big_file_has_the_same_digest_as_its_bytes() {
        let space = Space::new();
        for len in [(1 << 20) - 1, 1 << 20, (4 << 20) + 1] {
            let text = "0123456789abcdef".repeat(len / 16 + 1)[..len].to_owned();
            let path = space.file(&text);
            let found = space.store.digest_file(&path).unwrap();
            assert_eq!(found, (BlobId::of(text.as_bytes()), len as u64));
        }
    }

    #[test]
    fn only_regular_files_have_a_digest() {
        let space = Space::new();
        let refused = space.store.digest_file(space.dir.path());
        assert!(matches!(refused, Err(StoreError::Refused { .. })));
        assert!(space.store.digest_file(&space.dir.path().join("absent")).is_err());
    }
}
