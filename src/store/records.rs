//! Records: what was produced under a key, looked up through the index and committed one by one.
//!
//! A commit is refused when the blobs and trees it names are not in the store, so a record never stands without them.
//! How a commit survives a power loss is argued in `pending`.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::record_file::{self, Summary};
use super::{Object, Store, StoreError};
use crate::artifact::{Artifact, Entry};
use crate::digest::{ActionKey, BlobId, Digest, TreeId};
use crate::record::{RECORD_FORMAT, Record};

/// What a lookup says: enough to go on with the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Outputs by name, sorted.
    pub outputs: Vec<(String, Artifact)>,
    /// Number of findings.
    pub findings: u32,
    /// Wall time when it ran, nanoseconds.
    pub wall_ns: u64,
}

impl Store {
    /// Whether a result is on record. Opens no file when it is, unless [`Store::set_paranoid`] is on: then the record
    /// and all bytes of its outputs are read and checked, and anything wrong makes it a miss.
    ///
    /// # Errors
    /// When the store cannot be read; damage is a miss, not an error.
    pub fn lookup(&self, key: ActionKey) -> Result<Option<Hit>, StoreError> {
        if self.is_paranoid() {
            let Some(record) = self.record(key)? else { return Ok(None) };
            return match self.check_outputs(&record) {
                Ok(()) => Ok(Some(hit(Summary::of(&record, 0, 0, &[])))),
                Err(e) if e.is_lost_content() => Ok(None),
                Err(e) => Err(e),
            };
        }
        if let Some(summary) = self.index().find(key) {
            return Ok(Some(hit(summary)));
        }
        Ok(self.read_record(key).map(|(_, summary)| hit(summary)))
    }

    /// Whether a result is on record, as far as the index says. When nothing is to be trusted: whether the record's file
    /// and all it names are, byte for byte, what they were when the record was committed.
    #[must_use]
    pub fn has_record(&self, key: ActionKey) -> bool {
        if !self.is_paranoid() {
            return self.index().has(key);
        }
        let Some(summary) = self.index().find(key) else { return false };
        let file = fs::read(self.layout.record(key));
        let artifact = |artifact: &Artifact| match artifact {
            Artifact::Blob(id) => self.check_blob(*id),
            Artifact::Tree(id) => self.check_tree(*id),
        };
        file.is_ok_and(|text| Digest::of(&text) == summary.digest)
            && summary.outputs.iter().all(|(_, a)| artifact(a).is_ok())
            || self.lookup(key).is_ok_and(|hit| hit.is_some())
    }

    /// The whole record, read from its file and checked; `None` when there is none that can be used.
    ///
    /// # Errors
    /// None at present; reading trouble other than absence may become one.
    pub fn record(&self, key: ActionKey) -> Result<Option<Record>, StoreError> {
        Ok(self.read_record(key).map(|(record, _)| record))
    }

    /// Reads a record file and makes the index agree with it.
    fn read_record(&self, key: ActionKey) -> Option<(Record, Summary)> {
        let pending = self.layout.pending_record(&self.boot, key);
        let place = self.layout.record(key);
        // Another process may move it from the first place to the second between the two looks, never back.
        let found = record_file::read(&pending, key)
            .map(|found| (found, true))
            .or_else(|| record_file::read(&place, key).map(|found| (found, false)));
        let known = self.index().get(key);
        match found {
            Some((found, waits)) => {
                if known.as_ref() != Some(&found.1) {
                    let mut index = self.index_mut();
                    if waits {
                        index.set_pending(key, &found.1);
                    } else {
                        index.set(key, &found.1);
                    }
                }
                Some(found)
            }
            None => {
                if known.is_some() {
                    self.index_mut().remove(key);
                }
                None
            }
        }
    }

    /// Whether everything that a hit names still stands in the store, without reading it.
    #[must_use]
    pub fn has_outputs(&self, hit: &Hit) -> bool {
        hit.outputs.iter().all(|(_, artifact)| self.has_artifact(artifact))
    }

    fn has_artifact(&self, artifact: &Artifact) -> bool {
        match artifact {
            Artifact::Blob(id) => self.has_blob(*id),
            Artifact::Tree(id) => self.has_tree(*id),
        }
    }

    /// Files a record, over an earlier one under its key. It is visible at once, and survives this process.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when an output or the log is not in the store; [`StoreError::Full`] when the disk is;
    /// then nothing changed.
    pub fn commit(&self, record: &Record) -> Result<(), StoreError> {
        if record.format != RECORD_FORMAT {
            return Err(StoreError::RecordFormat {
                key: record.key,
                found: record.format,
                expected: RECORD_FORMAT,
            });
        }
        for artifact in record.outputs.values() {
            if !self.has_artifact(artifact) {
                return Err(StoreError::Missing(object(artifact)));
            }
        }
        if let Some(log) = record.provenance.log
            && !self.has_blob(log)
        {
            return Err(StoreError::Missing(Object::Blob(log)));
        }
        let place = self.layout.pending_record(&self.boot, record.key);
        // The order of commits is decided, and the file moved, under one lock: flush moves files under it too.
        let mut index = self.index_mut();
        let committed = index.next_committed(self.session.now_ns());
        let mut temp = self.session.temp_file()?;
        let text = record_file::text(record, committed);
        temp.write_all(&text, &place)?;
        let inode = temp.inode()?;
        temp.place(&place)?;
        index.set_pending(record.key, &Summary::of(record, committed, inode, &text));
        self.unsynced.store(true, Ordering::Release);
        Ok(())
    }

    /// Takes a record out, because what it names is lost or wrong. The action runs again when it is next wanted.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn forget(&self, key: ActionKey) -> Result<(), StoreError> {
        let mut index = self.index_mut();
        for path in [self.layout.pending_record(&self.boot, key), self.layout.record(key)] {
            remove_file(&path)?;
        }
        index.remove(key);
        Ok(())
    }

    /// The record committed last with a label, whatever its key.
    ///
    /// # Errors
    /// None at present.
    pub fn latest(&self, label: &str) -> Result<Option<ActionKey>, StoreError> {
        Ok(self.index_mut().latest(label))
    }

    /// The keys on record, with their labels, in key order.
    #[must_use]
    pub fn records(&self) -> Vec<(ActionKey, String)> {
        self.index().entries().map(|(key, summary)| (key, summary.label)).collect()
    }

    /// Reads and checks every byte a record names: outputs, the files of its trees, the log.
    ///
    /// # Errors
    /// The first that is missing or damaged.
    pub fn check_outputs(&self, record: &Record) -> Result<(), StoreError> {
        for artifact in record.outputs.values() {
            match artifact {
                Artifact::Blob(id) => self.check_blob(*id)?,
                Artifact::Tree(id) => self.check_tree(*id)?,
            }
        }
        record.provenance.log.map_or(Ok(()), |log| self.check_blob(log))
    }

    fn check_tree(&self, id: TreeId) -> Result<(), StoreError> {
        for entry in self.read_tree(id)?.0.values() {
            if let Entry::File { blob, .. } = entry {
                self.check_blob(*blob)?;
            }
        }
        Ok(())
    }

    fn check_blob(&self, id: BlobId) -> Result<(), StoreError> {
        // Most are small, and read whole with half the system calls.
        if fs::metadata(self.layout.blob(id)).is_ok_and(|stat| stat.len() < 1 << 20) {
            return self.read_blob(id).map(drop);
        }
        let mut stream = self.open_blob(id)?;
        match std::io::copy(&mut stream, &mut std::io::sink()) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
                Err(StoreError::Damaged(Object::Blob(id)))
            }
            Err(e) => Err(StoreError::io("read", &self.layout.blob(id), e)),
        }
    }
}

fn hit(summary: Summary) -> Hit {
    Hit { outputs: summary.outputs, findings: summary.findings, wall_ns: summary.wall_ns }
}

pub(super) fn object(artifact: &Artifact) -> Object {
    match artifact {
        Artifact::Blob(id) => Object::Blob(*id),
        Artifact::Tree(id) => Object::Tree(*id),
    }
}

/// Removes a file that may not be there.
pub(super) fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|e| StoreError::io("remove", path, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record_file::tests::sample;

    fn open(root: &Path) -> Store {
        Store::open_in_boot(root, Some("boot".into())).unwrap()
    }

    fn blob(store: &Store, text: &str) -> Artifact {
        Artifact::Blob(store.put_bytes(text.as_bytes()).unwrap())
    }

    #[test]
    fn a_committed_record_is_found_at_once_by_others_and_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let (store, other) = (open(dir.path()), open(dir.path()));
        let record = sample("key", "kem-18", blob(&store, "out"));
        assert_eq!(store.lookup(record.key).unwrap(), None);
        store.commit(&record).unwrap();
        for _ in 0..2 {
            for store in [&store, &other, &open(dir.path())] {
                let hit = store.lookup(record.key).unwrap().unwrap();
                assert_eq!(hit.outputs, [("out".to_owned(), record.outputs["out"])]);
                assert_eq!((hit.findings, hit.wall_ns), (0, 17));
                assert!(store.has_outputs(&hit));
                assert_eq!(store.record(record.key).unwrap().as_ref(), Some(&record));
            }
            store.flush().unwrap();
        }
        assert!(store.layout.record(record.key).is_file());
        assert!(!store.layout.pending_record("boot", record.key).exists());
    }

    #[test]
    fn a_record_without_its_outputs_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let absent = Artifact::Blob(BlobId::of(b"absent"));
        let record = sample("key", "l", absent);
        assert!(matches!(store.commit(&record), Err(StoreError::Missing(_))));
        let mut record = sample("key", "l", blob(&store, "out"));
        record.provenance.log = Some(BlobId::of(b"absent"));
        assert!(matches!(store.commit(&record), Err(StoreError::Missing(_))));
        assert_eq!(store.lookup(record.key).unwrap(), None);
    }

    #[test]
    fn the_latest_record_of_a_label_is_known_also_without_the_index() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let out = blob(&store, "out");
        let names = ["b", "d", "a", "c"];
        let mut keys = Vec::new();
        for name in names {
            let record = sample(name, "kem-18", out);
            store.commit(&record).unwrap();
            assert_eq!(store.latest("kem-18").unwrap(), Some(record.key));
            keys.push(record.key);
        }
        store.commit(&sample("e", "kem-19", out)).unwrap();
        store.flush().unwrap();
        drop(store);
        for spoil in 0..4 {
            let index = dir.path().join("index");
            match spoil {
                0 => fs::remove_file(&index).unwrap(),
                1 => fs::File::create(&index).map(drop).unwrap_or_else(|_| {
                    fs::remove_file(&index).unwrap();
                }),
                2 => {
                    let bytes = fs::read(&index).unwrap();
                    fs::remove_file(&index).unwrap();
                    fs::write(&index, &bytes[..bytes.len() / 2]).unwrap();
                }
                _ => {
                    fs::remove_file(&index).unwrap();
                    fs::write(&index, "garbage\0".repeat(1000)).unwrap();
                }
            }
            let store = open(dir.path());
            assert_eq!(store.latest("kem-18").unwrap(), keys.last().copied(), "spoilt {spoil}");
            assert_eq!(store.records().len(), 5);
        }
        let store = open(dir.path());
        store.forget(*keys.last().unwrap()).unwrap();
        assert_eq!(store.latest("kem-18").unwrap(), Some(keys[2]));
        assert_eq!(store.latest("nobody").unwrap(), None);
    }

    #[test]
    fn records_added_replaced_or_removed_behind_the_index_are_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let (one, two) = (blob(&store, "one"), blob(&store, "two"));
        for name in ["kept", "removed", "replaced"] {
            store.commit(&sample(name, name, one)).unwrap();
        }
        store.flush().unwrap();
        let layout = store.layout.clone();
        drop(store);
        drop(open(dir.path()));
        let index = fs::read(layout.index()).unwrap();

        let store = open(dir.path());
        store.forget(sample("removed", "", one).key).unwrap();
        store.commit(&sample("added", "added", one)).unwrap();
        store.commit(&sample("replaced", "replaced", two)).unwrap();
        store.flush().unwrap();
        drop(store);
        fs::remove_file(layout.index()).unwrap();
        fs::write(layout.index(), index).unwrap();

        let store = open(dir.path());
        let out = |name: &str| {
            let hit = store.index().get(sample(name, "", one).key);
            hit.map(|summary| summary.outputs[0].1)
        };
        assert_eq!(out("kept"), Some(one));
        assert_eq!(out("removed"), None);
        assert_eq!(out("added"), Some(one));
        assert_eq!(out("replaced"), Some(two));
    }

    #[test]
    fn an_empty_or_garbage_record_file_is_a_miss() {
        for bad in ["", "{", "{\"format\":1}", "\0\0\0\0", "[1,2"] {
            let dir = tempfile::tempdir().unwrap();
            let store = open(dir.path());
            let record = sample("key", "l", blob(&store, "out"));
            store.commit(&record).unwrap();
            store.flush().unwrap();
            let path = store.layout.record(record.key);
            fs::remove_file(&path).unwrap();
            fs::write(&path, bad).unwrap();
            assert_eq!(store.record(record.key).unwrap(), None);
            assert_eq!(store.lookup(record.key).unwrap(), None);
            drop(store);
            let store = open(dir.path());
            assert_eq!(store.lookup(record.key).unwrap(), None);
            store.commit(&record).unwrap();
            store.flush().unwrap();
            assert!(open(dir.path()).lookup(record.key).unwrap().is_some());
        }
    }

    #[test]
    fn paranoid_lookup_reads_everything_a_record_names() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let source = dir.path().join("in");
        fs::create_dir(&source).unwrap();
        fs::write(source.join("f"), "deep").unwrap();
        let tree = Artifact::Tree(store.capture_tree(&source).unwrap());
        let record = sample("key", "l", tree);
        store.commit(&record).unwrap();
        store.set_paranoid(true);
        assert!(store.lookup(record.key).unwrap().is_some());
        let path = store.layout.blob(BlobId::of(b"deep"));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "dEEp").unwrap();
        assert_eq!(store.lookup(record.key).unwrap(), None);
        store.set_paranoid(false);
        assert!(store.lookup(record.key).unwrap().is_some());
    }

    #[test]
    fn threads_committing_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let other = open(dir.path());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let store = if thread % 2 == 0 { &store } else { &other };
                scope.spawn(move || {
                    for n in 0..30 {
                        let out = blob(store, &format!("{n}"));
                        store.commit(&sample(&format!("{n}"), &format!("{thread}"), out)).unwrap();
                        if n % 7 == thread {
                            store.flush().unwrap();
                        }
                    }
                });
            }
        });
        store.flush().unwrap();
        other.flush().unwrap();
        let fresh = open(dir.path());
        assert_eq!(fresh.records().len(), 30);
        for (key, _) in fresh.records() {
            assert!(fresh.layout.record(key).is_file());
            fresh.check_outputs(&fresh.record(key).unwrap().unwrap()).unwrap();
        }
    }
}
