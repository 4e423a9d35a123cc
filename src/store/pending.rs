//! Why a finished result survives `kill -9` and a power loss, and a half-written one is never believed.
//!
//! *The process dies.* Files are written aside and renamed, so a name in the store stands for a whole file. The kernel
//! keeps what was written, synced or not. A record is renamed into view after its blobs, so a record that is seen has them.
//!
//! *The power goes.* Then a rename may have reached the disk and the bytes of the file not. Syncing each file costs a
//! disk flush each, so a whole batch is made durable by one `syncfs`, and what is not covered yet is told apart **by
//! where it stands**: a commit puts its record into `pending/<boot id>/`, and only [`Store::flush`] moves it to
//! `records/`, after a `syncfs` that began when the record, and so its blobs, were already written. Hence:
//!
//! - A record in `records/` has durable blobs. Whether its own rename is durable does not matter: before it, the record
//!   stands in `pending/`, after it in `records/`, and both are right.
//! - A record in `pending/<this boot>/` was written since the machine came up, so the kernel still has its bytes. It is as
//!   good as any, and whoever opens the store next adopts it: a kill before the flush loses nothing.
//! - A record in `pending/<another boot>/` was there when the power went. Opening reads it and everything it names, by hash;
//!   what is whole moves to `records/`, what is not goes. Only these are read, not the store.
//!
//! No journal has to be synced before a commit, and no order between files is asked of the file system. Where the kernel
//! does not tell its boot id, each process counts as a boot of its own, which costs reading and is safe. Blobs torn by the
//! power loss that no record names stay until they are put again (which compares) or read (which hashes).
//!
//! Two processes may flush at once. A flush moves the very files it listed before its `syncfs`, by inode; one that was
//! replaced since, by a commit of the same key elsewhere, stays for the next flush.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::layout::Layout;
use super::record_file;
use super::{Store, StoreError, session};
use crate::artifact::{Artifact, Entry};
use crate::digest::{ActionKey, BlobId, Digest};
use crate::record::Record;

/// What became of records that were not synced when the machine last went down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Whole, and kept.
    pub kept: Vec<ActionKey>,
    /// Torn, or naming something torn; removed, so their actions run again.
    pub dropped: Vec<ActionKey>,
}

impl Store {
    /// Makes everything committed so far durable, with one `syncfs`, and writes the index and the stat cache. Costs
    /// nothing when nothing was written.
    ///
    /// # Errors
    /// When the disk refuses; then what was committed waits for the next flush and nothing is lost.
    pub fn flush(&self) -> Result<(), StoreError> {
        let _one = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.unsynced.swap(false, Ordering::AcqRel) {
            self.sync_and_move().inspect_err(|_| self.note_unsynced())?;
        }
        self.save_caches()
    }

    /// Writes what can be rebuilt.
    pub(super) fn save_caches(&self) -> Result<(), StoreError> {
        self.index_mut().save(&self.layout, &self.session)?;
        match self.stat_cache.get() {
            Some(_) => self.stat_cache_mut().save(&self.layout, &self.session),
            None => Ok(()),
        }
    }

    fn sync_and_move(&self) -> Result<(), StoreError> {
        let dir = self.layout.pending(&self.boot);
        let list = || record_file::list(&dir).map_err(|e| StoreError::io("list", &dir, e));
        let listed = list()?;
        sync(&self.layout)?;
        let mut index = self.index_mut();
        for (key, inode) in &listed {
            self.settle(*key, *inode)?;
        }
        let waiting: BTreeSet<ActionKey> = list()?.into_keys().collect();
        if !waiting.is_empty() {
            self.note_unsynced();
        }
        index.set_waiting(waiting);
        Ok(())
    }

    /// Moves one synced record to its place, if it still is the file that was synced.
    fn settle(&self, key: ActionKey, inode: u64) -> Result<(), StoreError> {
        let from = self.layout.pending_record(&self.boot, key);
        let to = self.layout.record(key);
        if inode_of(&from) != Some(inode) {
            return Ok(());
        }
        match session::rename(&from, &to) {
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                // Another process moved it in this moment.
                return Ok(());
            }
            other => other?,
        }
        let moved = inode_of(&to);
        if moved != Some(inode) && moved.is_some() {
            // A commit elsewhere slipped in between the look and the move: it is not synced, so back it goes.
            session::rename(&to, &from)?;
        }
        Ok(())
    }
}

fn inode_of(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|stat| stat.ino())
}

/// Everything written to the store's file system so far reaches the disk.
pub(super) fn sync(layout: &Layout) -> Result<(), StoreError> {
    let root = layout.root();
    let dir = File::open(root).map_err(|e| StoreError::io("sync", root, e))?;
    nix::unistd::syncfs(&dir).map_err(|e| StoreError::io("sync", root, e.into()))
}

/// Settles what other boots left unsynced. The house lock must be held.
pub(super) fn recover(layout: &Layout, boot: &str) -> Result<Recovery, StoreError> {
    let mut recovery = Recovery::default();
    let all = layout.root().join("pending");
    let mut whole = BTreeMap::new();
    for entry in fs::read_dir(&all).map_err(|e| StoreError::io("list", &all, e))? {
        let dir = entry.map_err(|e| StoreError::io("list", &all, e))?.path();
        if dir.file_name().is_some_and(|name| name == boot) || !dir.is_dir() {
            continue;
        }
        let keys = record_file::list(&dir).map_err(|e| StoreError::io("list", &dir, e))?;
        for key in keys.into_keys() {
            let from = dir.join(format!("{key}.json"));
            let to = layout.record(key);
            match record_file::read(&from, key) {
                Some((record, summary)) if is_whole(layout, &record, &mut whole) => {
                    let settled = record_file::read(&to, key);
                    if settled.is_none_or(|(_, other)| other.committed <= summary.committed) {
                        session::rename(&from, &to)?;
                    }
                    recovery.kept.push(key);
                }
                _ => recovery.dropped.push(key),
            }
        }
        fs::remove_dir_all(&dir).map_err(|e| StoreError::io("remove", &dir, e))?;
    }
    Ok(recovery)
}

/// Whether all that a record names is there and has its hash. Remembers blobs already read.
fn is_whole(layout: &Layout, record: &Record, known: &mut BTreeMap<BlobId, bool>) -> bool {
    let mut blob =
        |id: BlobId| *known.entry(id).or_insert_with(|| has_digest(&layout.blob(id), id.digest()));
    record.provenance.log.is_none_or(&mut blob)
        && record.outputs.values().all(|artifact| match artifact {
            Artifact::Blob(id) => blob(*id),
            Artifact::Tree(id) => {
                let text = fs::read_to_string(layout.tree(*id)).unwrap_or_default();
                let tree = super::tree_rules::parse(&text).filter(|tree| tree.id() == *id);
                tree.is_some_and(|tree| {
                    tree.0.values().all(|entry| match entry {
                        Entry::File { blob: id, .. } => blob(*id),
                        Entry::Dir | Entry::Link { .. } => true,
                    })
                })
            }
        })
}

fn has_digest(path: &Path, digest: &Digest) -> bool {
    Digest::of_file(path).is_ok_and(|(found, _)| found == *digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record_file::tests::sample;

    fn open(root: &Path, boot: &str) -> Store {
        Store::open_in_boot(root, Some(boot.into())).unwrap()
    }

    /// What a file system may leave of a file whose bytes were not written in time.
    fn tear(path: &Path) {
        fs::remove_file(path).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn after_a_power_loss_whole_records_stay_and_torn_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path(), "one");
        let commit = |name: &str| {
            let out = store.put_bytes(name.as_bytes()).unwrap();
            let record = sample(name, name, Artifact::Blob(out));
            store.commit(&record).unwrap();
            (record.key, store.layout.blob(out))
        };
        let settled = commit("settled");
        store.flush().unwrap();
        let (whole, torn_blob, torn_record) = (commit("whole"), commit("blob"), commit("record"));
        tear(&torn_blob.1);
        tear(&store.layout.pending_record("one", torn_record.0));
        drop(store);

        let store = open(dir.path(), "two");
        assert_eq!(store.recovery().kept, [whole.0]);
        let dropped: BTreeSet<_> = store.recovery().dropped.iter().copied().collect();
        assert_eq!(dropped, [torn_blob.0, torn_record.0].into());
        for (key, there) in
            [(settled.0, true), (whole.0, true), (torn_blob.0, false), (torn_record.0, false)]
        {
            assert_eq!(store.lookup(key).unwrap().is_some(), there);
        }
        assert_eq!(open(dir.path(), "two").recovery(), &Recovery::default());
    }

    #[test]
    fn a_record_whose_tree_lost_a_file_goes_too() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path(), "one");
        let source = dir.path().join("in");
        fs::create_dir(&source).unwrap();
        fs::write(source.join("f"), "deep").unwrap();
        let tree = store.capture_tree(&source).unwrap();
        let record = sample("key", "l", Artifact::Tree(tree));
        store.commit(&record).unwrap();
        tear(&store.layout.blob(BlobId::of(b"deep")));
        drop(store);
        assert_eq!(open(dir.path(), "two").recovery().dropped, [record.key]);
    }

    #[test]
    fn a_kill_before_the_flush_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path(), "one");
        let out = store.put_bytes(b"x").unwrap();
        let record = sample("key", "l", Artifact::Blob(out));
        store.commit(&record).unwrap();
        // No destructor runs: what the process had on disk stays as it was.
        std::mem::forget(store);
        let store = open(dir.path(), "one");
        assert!(store.lookup(record.key).unwrap().is_some());
        assert_eq!(store.latest("l").unwrap(), Some(record.key));
        store.flush().unwrap();
        drop(store);
        // Flushed, so another boot asks no questions.
        let store = open(dir.path(), "two");
        assert_eq!(store.recovery(), &Recovery::default());
        assert!(store.lookup(record.key).unwrap().is_some());
    }

    #[test]
    fn a_record_replaced_after_the_listing_waits_for_the_next_flush() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path(), "one");
        let record = sample("key", "l", Artifact::Blob(store.put_bytes(b"x").unwrap()));
        store.commit(&record).unwrap();
        let listed = inode_of(&store.layout.pending_record("one", record.key)).unwrap();
        store.commit(&record).unwrap();
        store.settle(record.key, listed).unwrap();
        assert!(!store.layout.record(record.key).exists());
        store.flush().unwrap();
        assert!(store.layout.record(record.key).exists());
    }

    #[test]
    fn an_unknown_boot_is_never_taken_for_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_in_boot(dir.path(), None).unwrap();
        let record = sample("key", "l", Artifact::Blob(store.put_bytes(b"x").unwrap()));
        store.commit(&record).unwrap();
        std::mem::forget(store);
        let store = Store::open_in_boot(dir.path(), None).unwrap();
        assert_eq!(store.recovery().kept, [record.key]);
    }
}
