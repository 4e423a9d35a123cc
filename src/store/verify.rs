//! Everything re-read and re-hashed: what is damaged, missing or foreign, and which results that touches.
//!
//! Looking changes nothing. [`Store::repair`] acts on a report: it moves damaged content aside and takes out the records
//! that name lost content, so that their actions run again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::record_file;
use super::records::{object, remove_file};
use super::{Object, RunLock, Store, StoreError, tree_rules};
use crate::artifact::{Artifact, Entry, Tree};
use crate::digest::{ActionKey, BlobId, Digest, TreeId};

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blobs read.
    pub blobs: u64,
    /// Trees read.
    pub trees: u64,
    /// Records read.
    pub records: u64,
    /// Bytes hashed.
    pub bytes: u64,
    /// Does not match its name, or cannot be read as what it is.
    pub damaged: BTreeSet<Object>,
    /// Named by a record or tree, and absent.
    pub missing: BTreeSet<Object>,
    /// Files that have no place in a store.
    pub foreign: Vec<PathBuf>,
    /// Results that name something damaged or missing, with their labels.
    pub affected: BTreeMap<ActionKey, String>,
    /// Outside names that lead to something damaged or missing, themselves or a file of their tree.
    pub dangling_references: BTreeMap<String, BlobId>,
}

impl VerifyReport {
    /// Whether all content is whole. Foreign files and references to nothing are no damage.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.damaged.is_empty() && self.missing.is_empty()
    }
}

impl Store {
    /// Re-hashes everything. `progress` is told how many files of how many are done.
    ///
    /// # Errors
    /// When a directory cannot be listed. A file that cannot be read counts as damaged.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<VerifyReport, StoreError> {
        let mut report = VerifyReport::default();
        let root = self.layout.root();
        let mut files = Vec::new();
        for (name, kind) in
            [("blobs", Kind::Blob), ("trees", Kind::Tree), ("records", Kind::Record)]
        {
            for path in files_below(&root.join(name))? {
                files.push((path, kind));
            }
        }
        for path in files_below(&self.layout.pending(&self.boot))? {
            files.push((path, Kind::Pending));
        }
        let total = files.len() as u64;
        let mut trees: BTreeMap<TreeId, Tree> = BTreeMap::new();
        let mut records: BTreeMap<ActionKey, Names> = BTreeMap::new();
        for (done, (path, kind)) in (0_u64..).zip(files) {
            progress(done, total);
            let known = match kind {
                Kind::Blob => self.verify_blob(&path, &mut report),
                Kind::Tree => self.verify_tree(&path, &mut report, &mut trees),
                Kind::Record | Kind::Pending => {
                    self.verify_record(&path, kind, &mut report, &mut records)
                }
            };
            if !known {
                report.foreign.push(path);
            }
        }
        progress(total, total);
        self.follow_names(&mut report, &trees, &records);
        for (name, (blob, tree)) in self.all_references()? {
            let gone =
                |id: BlobId| !self.has_blob(id) || report.damaged.contains(&Object::Blob(id));
            let gone_below = |tree: &Tree| {
                let mut files = tree.0.values();
                files.any(|entry| matches!(entry, Entry::File { blob, .. } if gone(*blob)))
            };
            if gone(blob) || tree.is_some_and(|id| trees.get(&id).is_none_or(gone_below)) {
                report.dangling_references.insert(name, blob);
            }
        }
        self.list_strangers(&mut report)?;
        Ok(report)
    }

    /// Whether the file is a blob by its name; notes what its content says.
    fn verify_blob(&self, path: &Path, report: &mut VerifyReport) -> bool {
        let Some(id) = named::<BlobId>(path).filter(|id| self.layout.blob(*id) == path) else {
            return false;
        };
        report.blobs += 1;
        match Digest::of_file(path) {
            Ok((digest, len)) if digest == *id.digest() => report.bytes += len,
            _ => {
                report.damaged.insert(Object::Blob(id));
            }
        }
        true
    }

    fn verify_tree(
        &self,
        path: &Path,
        report: &mut VerifyReport,
        trees: &mut BTreeMap<TreeId, Tree>,
    ) -> bool {
        let Some(id) = named::<TreeId>(path).filter(|id| self.layout.tree(*id) == path) else {
            return false;
        };
        report.trees += 1;
        let text = fs::read_to_string(path).unwrap_or_default();
        report.bytes += text.len() as u64;
        let tree = tree_rules::parse(&text).filter(|tree| tree.id() == id);
        match tree.filter(|tree| tree_rules::check(tree).is_ok()) {
            Some(tree) => {
                trees.insert(id, tree);
            }
            None => {
                report.damaged.insert(Object::Tree(id));
            }
        }
        true
    }

    fn verify_record(
        &self,
        path: &Path,
        kind: Kind,
        report: &mut VerifyReport,
        records: &mut BTreeMap<ActionKey, Names>,
    ) -> bool {
        let key = path.file_name().and_then(super::layout::key_of_file_name);
        let in_place =
            |key: &ActionKey| matches!(kind, Kind::Pending) || self.layout.record(*key) == path;
        let Some(key) = key.filter(in_place) else { return false };
        report.records += 1;
        match record_file::read(path, key) {
            Some((record, _)) => {
                // What waits was committed after what is settled, and comes later.
                let outputs = record.outputs.into_values().collect();
                let (label, log) = (record.label, record.provenance.log);
                records.insert(key, Names { label, log, outputs });
            }
            None => {
                report.damaged.insert(Object::Record(key));
            }
        }
        true
    }

    /// From every record to all that it names.
    fn follow_names(
        &self,
        report: &mut VerifyReport,
        trees: &BTreeMap<TreeId, Tree>,
        records: &BTreeMap<ActionKey, Names>,
    ) {
        let mut lost_below: BTreeMap<TreeId, bool> = BTreeMap::new();
        for (key, names) in records {
            let mut lost = names.log.is_some_and(|log| self.is_lost(log, report));
            for artifact in &names.outputs {
                lost |= match artifact {
                    Artifact::Blob(id) => self.is_lost(*id, report),
                    Artifact::Tree(id) => match (lost_below.get(id), trees.get(id)) {
                        (Some(lost), _) => *lost,
                        (None, Some(tree)) => {
                            let mut lost = false;
                            for entry in tree.0.values() {
                                if let Entry::File { blob, .. } = entry {
                                    lost |= self.is_lost(*blob, report);
                                }
                            }
                            lost_below.insert(*id, lost);
                            lost
                        }
                        (None, None) => {
                            if !report.damaged.contains(&object(artifact)) {
                                report.missing.insert(object(artifact));
                            }
                            true
                        }
                    },
                };
            }
            if lost {
                report.affected.insert(*key, names.label.clone());
            }
        }
    }

    fn is_lost(&self, id: BlobId, report: &mut VerifyReport) -> bool {
        let blob = Object::Blob(id);
        if report.damaged.contains(&blob) {
            return true;
        }
        let missing = !self.layout.blob(id).is_file();
        if missing {
            report.missing.insert(blob);
        }
        missing
    }

    fn list_strangers(&self, report: &mut VerifyReport) -> Result<(), StoreError> {
        const OURS: [&str; 18] = [
            "README.md",
            "blobs",
            // What the verbs keep beside the store's own: tool probes, pages for people.
            "cache",
            "pages",
            "damaged",
            // Files that are being downloaded.
            "downloads",
            "format",
            "index",
            "lock",
            "pending",
            "published",
            "records",
            "references",
            "remembered",
            "runs",
            "stat-cache",
            "tmp",
            "trees",
        ];
        let root = self.layout.root();
        for entry in fs::read_dir(root).map_err(|e| StoreError::io("list", root, e))? {
            let entry = entry.map_err(|e| StoreError::io("list", root, e))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !name.starts_with("rounds-") && !OURS.contains(&&*name) {
                report.foreign.push(entry.path());
            }
        }
        report.foreign.sort();
        Ok(())
    }

    /// Acts on a report: damaged content goes to `damaged/`; unreadable records, those that name lost content, and outside
    /// names of lost content go. Foreign files stay. The run lock is proof that no run reads meanwhile.
    ///
    /// # Errors
    /// When a file cannot be moved or removed.
    pub fn repair(&self, report: &VerifyReport, _lock: &RunLock) -> Result<(), StoreError> {
        for object in &report.damaged {
            match object {
                Object::Blob(id) => self.set_aside(*object, id.digest()),
                Object::Tree(id) => self.set_aside(*object, id.digest()),
                Object::Record(key) => {
                    // A good one may wait behind a bad one, or the other way round.
                    let waiting = self.layout.pending_record(&self.boot, *key);
                    for path in [waiting, self.layout.record(*key)] {
                        if record_file::read(&path, *key).is_none() {
                            remove_file(&path)?;
                        }
                    }
                    self.record(*key)?;
                }
            }
        }
        for key in report.affected.keys() {
            self.remember(*key)?;
            self.forget(*key)?;
        }
        for name in report.dangling_references.keys() {
            self.unset_reference(name)?;
        }
        self.note_unsynced();
        self.flush()
    }
}

/// What a record leads to.
struct Names {
    label: String,
    log: Option<BlobId>,
    outputs: Vec<Artifact>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Blob,
    Tree,
    Record,
    Pending,
}

/// The id that a file name is.
pub(super) fn named<T: std::str::FromStr>(path: &Path) -> Option<T> {
    path.file_name()?.to_str()?.parse().ok()
}

/// All that is no directory, in name order. A directory that is not there has none.
pub(super) fn files_below(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = Vec::new();
    if !dir.is_dir() {
        return Ok(files);
    }
    for entry in walkdir::WalkDir::new(dir).sort_by_file_name() {
        let entry = entry.map_err(|e| StoreError::io("list", dir, e.into()))?;
        if !entry.file_type().is_dir() {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record_file::tests::sample;

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

        fn commit(&self, name: &str) -> (ActionKey, BlobId) {
            let blob = self.store.put_bytes(name.as_bytes()).unwrap();
            let record = sample(name, name, Artifact::Blob(blob));
            self.store.commit(&record).unwrap();
            (record.key, blob)
        }

        fn commit_tree(&self, name: &str) -> (ActionKey, TreeId) {
            let dir = self.dir.path().join(name);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("f"), format!("file of {name}")).unwrap();
            let tree = self.store.capture_tree(&dir).unwrap();
            let record = sample(name, name, Artifact::Tree(tree));
            self.store.commit(&record).unwrap();
            (record.key, tree)
        }

        fn verify(&self) -> VerifyReport {
            self.store.verify(&mut |_, _| {}).unwrap()
        }

        fn spoil(&self, object: Object, text: &str) {
            let path = self.store.layout.object(object);
            fs::remove_file(&path).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn a_whole_store_is_clean() {
        let space = Space::new();
        space.commit("a");
        space.store.flush().unwrap();
        space.commit_tree("waiting");
        let mut last = (0, 0);
        let report = space.store.verify(&mut |done, total| last = (done, total)).unwrap();
        assert_eq!((report.blobs, report.trees, report.records), (2, 1, 2));
        assert_eq!(last, (5, 5));
        assert!(report.is_clean() && report.foreign.is_empty() && report.affected.is_empty());
    }

    #[test]
    fn damage_is_listed_with_the_results_it_touches_and_repaired_by_running_again() {
        let space = Space::new();
        let (good, _) = space.commit("good");
        let (emptied, emptied_blob) = space.commit("emptied");
        let (flipped, flipped_blob) = space.commit("flipped");
        let (deleted, deleted_blob) = space.commit("deleted");
        let (deep, deep_tree) = space.commit_tree("deep");
        let (cut, cut_tree) = space.commit_tree("cut");
        let (garbled, _) = space.commit("garbled");
        space.store.flush().unwrap();
        let deep_blob = BlobId::of(b"file of deep");
        space.spoil(Object::Blob(emptied_blob), "");
        space.spoil(Object::Blob(flipped_blob), "flippee");
        fs::remove_file(space.store.layout.blob(deleted_blob)).unwrap();
        space.spoil(Object::Blob(deep_blob), "x");
        space.spoil(Object::Tree(cut_tree), "ngcc tree 1\nf");
        space.spoil(Object::Record(garbled), "{}");
        fs::write(space.store.root().join("notes.txt"), "mine").unwrap();
        fs::write(space.store.layout.blob(deleted_blob).with_extension("old"), "x").unwrap();

        let report = space.verify();
        let damaged = [
            Object::Blob(emptied_blob),
            Object::Blob(flipped_blob),
            Object::Blob(deep_blob),
            Object::Tree(cut_tree),
            Object::Record(garbled),
        ];
        assert_eq!(report.damaged, damaged.into());
        assert_eq!(report.missing, [Object::Blob(deleted_blob)].into());
        let affected: BTreeSet<_> = report.affected.keys().copied().collect();
        assert_eq!(affected, [emptied, flipped, deleted, deep, cut].into());
        assert_eq!(report.foreign.len(), 2);
        assert_eq!(space.verify(), report, "looking changes nothing");

        let lock = space.store.try_lock_run("repair").unwrap().unwrap();
        space.store.repair(&report, &lock).unwrap();
        let report = space.verify();
        assert!(report.is_clean(), "{report:?}");
        assert!(space.store.lookup(good).unwrap().is_some());
        for key in [emptied, flipped, deleted, deep, cut, garbled] {
            assert_eq!(space.store.lookup(key).unwrap(), None);
        }
        space.commit("flipped");
        assert!(space.store.lay_out_tree(deep_tree, &space.dir.path().join("o")).is_err());
        assert!(space.verify().is_clean());
    }

    #[test]
    fn a_reference_to_nothing_is_told_and_is_no_damage() {
        let space = Space::new();
        let blob = BlobId::of(b"archive");
        space.store.set_reference("sha256:1", blob).unwrap();
        let report = space.verify();
        assert!(report.is_clean());
        assert_eq!(report.dangling_references, [("sha256:1".to_owned(), blob)].into());
    }
}
