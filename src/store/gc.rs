//! Collection: what nothing refers to any more is listed, shown, and then removed.
//!
//! Roots are the keys of runs worth keeping, and whatever else the caller names. From a kept record everything it names stays:
//! outputs, files of trees, its log, and inputs that its ingredients name as `blob <hex>` or `tree <hex>`, so that a number can
//! still be traced. Blobs with an outside name stay.
//!
//! *No needed blob vanishes.* Removing needs the run lock, so no run goes on; and the house lock, so no process can open
//! the store meanwhile; and no other process may have it open, since one might have put a blob that nothing names yet. Under
//! these the plan is made again, and only what both plans list is removed. Records go first and are synced away before
//! blobs go, so a kill or power loss on the way leaves content without a name, never a name without content.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::records::remove_file;
use super::{Object, Store, StoreError, pending, record_file, session};
use crate::artifact::{Artifact, Entry};
use crate::digest::{ActionKey, BlobId, TreeId};
use crate::name::Name;
use crate::record::Record;

/// What is kept, with all that it leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcRoots {
    /// Runs whose records stay; the files of other runs go.
    pub runs: BTreeSet<Name>,
    /// Further records, e.g. those that published pages cite.
    pub keys: BTreeSet<ActionKey>,
    /// Further blobs and trees.
    pub artifacts: BTreeSet<Artifact>,
}

/// What a collection would remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcPlan {
    /// What it was made from.
    pub roots: GcRoots,
    /// Records to remove, with their labels.
    pub records: BTreeMap<ActionKey, String>,
    /// Run files to remove.
    pub runs: BTreeSet<Name>,
    /// Trees to remove, with their sizes in bytes.
    pub trees: BTreeMap<TreeId, u64>,
    /// Blobs to remove, with their sizes in bytes.
    pub blobs: BTreeMap<BlobId, u64>,
    /// Records, trees and blobs that stay.
    pub kept: u64,
}

impl GcPlan {
    /// Bytes of content that removal frees.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.trees.values().chain(self.blobs.values()).sum()
    }

    /// Whether there is nothing to remove.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
            && self.runs.is_empty()
            && self.trees.is_empty()
            && self.blobs.is_empty()
    }
}

impl Store {
    /// Lists what nothing leads to from the roots. Changes nothing.
    ///
    /// # Errors
    /// When the store cannot be read. A root run whose list of keys is damaged is an error: guessing would remove results.
    pub fn gc_plan(&self, roots: GcRoots) -> Result<GcPlan, StoreError> {
        let mut keys = roots.keys.clone();
        for id in &roots.runs {
            if let Some(run) = self.run(id)? {
                keys.extend(self.run_keys(&run)?.into_values());
            }
        }
        let mut marks = Marks::default();
        for artifact in &roots.artifacts {
            marks.artifact(self, artifact);
        }
        for (blob, tree) in self.all_references()?.into_values() {
            marks.blobs.insert(blob);
            if let Some(tree) = tree {
                marks.artifact(self, &Artifact::Tree(tree));
            }
        }
        for id in &roots.runs {
            marks.blobs.extend(self.run(id)?.and_then(|run| run.keys));
        }
        for key in &keys {
            if let Some(record) = self.record(*key)? {
                marks.record(self, &record);
            }
        }

        let mut plan = GcPlan {
            records: BTreeMap::new(),
            runs: self.run_ids()?.into_iter().filter(|id| !roots.runs.contains(id)).collect(),
            trees: BTreeMap::new(),
            blobs: BTreeMap::new(),
            kept: 0,
            roots,
        };
        for (key, label) in self.records_on_disk()? {
            if keys.contains(&key) {
                plan.kept += 1;
            } else {
                plan.records.insert(key, label);
            }
        }
        self.unmarked("trees", &marks.trees, &mut plan.trees, &mut plan.kept)?;
        self.unmarked("blobs", &marks.blobs, &mut plan.blobs, &mut plan.kept)?;
        Ok(plan)
    }

    /// Sorts the files of a kind into those that stay, which are counted, and those that go. A file that is not named
    /// by an id is not ours to remove.
    fn unmarked<T: Ord + std::str::FromStr>(
        &self,
        kind: &str,
        marked: &BTreeSet<T>,
        go: &mut BTreeMap<T, u64>,
        kept: &mut u64,
    ) -> Result<(), StoreError> {
        // One shard at a time: of a million files only those that go are held in memory.
        for shard in 0..=255_u8 {
            let dir = self.layout.root().join(format!("{kind}/{shard:02x}"));
            let failed = |e| StoreError::io("list", &dir, e);
            let entries = match fs::read_dir(&dir) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let Some(Ok(id)) = entry.file_name().to_str().map(str::parse::<T>) else {
                    continue;
                };
                if marked.contains(&id) {
                    *kept += 1;
                } else {
                    go.insert(id, entry.metadata().map_or(0, |stat| stat.len()));
                }
            }
        }
        Ok(())
    }

    /// All record files, readable or not, with the label where the index knows it.
    fn records_on_disk(&self) -> Result<BTreeMap<ActionKey, String>, StoreError> {
        let mut found = BTreeMap::new();
        let shards = (0..=255_u8).map(|shard| self.layout.record_shard(shard));
        for dir in shards.chain([self.layout.pending(&self.boot)]) {
            let keys = record_file::list(&dir).map_err(|e| StoreError::io("list", &dir, e))?;
            for key in keys.into_keys() {
                let label = self.index().get(key).map(|summary| summary.label);
                found.insert(key, label.unwrap_or_default());
            }
        }
        Ok(found)
    }

    /// Removes what a plan lists and nothing needs since. Returns what was removed.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when a run goes on, [`StoreError::OpenElsewhere`] when another process has the store open; or
    /// when a file cannot be removed, which leaves the store whole and the rest of the plan undone.
    pub fn gc_perform(&self, plan: &GcPlan) -> Result<GcPlan, StoreError> {
        let _run = self.try_lock_run("store gc")?.map_err(StoreError::Busy)?;
        let _house = session::lock_house(&self.layout)?;
        if let Some(other) = session::other_alive(&self.layout, &self.session)? {
            return Err(StoreError::OpenElsewhere(other));
        }
        let mut now = self.gc_plan(plan.roots.clone())?;
        // A run that ended since the plan was shown is no root of it, and is not touched.
        let later: Vec<Name> = now.runs.difference(&plan.runs).cloned().collect();
        if !later.is_empty() {
            let mut roots = plan.roots.clone();
            roots.runs.extend(later);
            now = self.gc_plan(roots)?;
        }
        now.records.retain(|key, _| plan.records.contains_key(key));
        now.trees.retain(|id, _| plan.trees.contains_key(id));
        now.blobs.retain(|id, _| plan.blobs.contains_key(id));
        for id in &now.runs {
            remove_file(&self.run_path(id))?;
        }
        for key in now.records.keys() {
            self.remember(*key)?;
            self.forget(*key)?;
        }
        pending::sync(&self.layout)?;
        for id in now.trees.keys() {
            remove_file(&self.layout.object(Object::Tree(*id)))?;
        }
        for id in now.blobs.keys() {
            remove_file(&self.layout.object(Object::Blob(*id)))?;
        }
        self.save_caches()?;
        Ok(now)
    }
}

/// What stays.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) blobs: BTreeSet<BlobId>,
    pub(super) trees: BTreeSet<TreeId>,
}

impl Marks {
    /// A record and all that it leads to.
    pub(super) fn record(&mut self, store: &Store, record: &Record) {
        self.blobs.extend(record.provenance.log);
        self.blobs.extend(record.provenance.sources.values().map(|digest| BlobId(*digest)));
        for artifact in record.outputs.values() {
            self.artifact(store, artifact);
        }
        for (_, value) in &record.ingredients {
            let artifact = match value.split_once(' ') {
                Some(("blob", hex)) => hex.parse().ok().map(Artifact::Blob),
                Some(("tree", hex)) => hex.parse().ok().map(Artifact::Tree),
                _ => None,
            };
            if let Some(artifact) = artifact {
                self.artifact(store, &artifact);
            }
        }
    }

    fn artifact(&mut self, store: &Store, artifact: &Artifact) {
        match artifact {
            Artifact::Blob(id) => {
                self.blobs.insert(*id);
            }
            Artifact::Tree(id) => {
                // A tree that cannot be read keeps nothing alive; verify tells of it.
                if self.trees.insert(*id)
                    && let Ok(tree) = store.read_tree(*id)
                {
                    for entry in tree.0.values() {
                        if let Entry::File { blob, .. } = entry {
                            self.blobs.insert(*blob);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record_file::tests::sample;
    use crate::store::runs::tests::{start, summary};

    fn commit(store: &Store, name: &str, ingredient: Option<String>) -> (ActionKey, BlobId) {
        let out = store.put_bytes(name.as_bytes()).unwrap();
        let mut record = sample(name, name, Artifact::Blob(out));
        record.ingredients.extend(ingredient.map(|value| ("input".into(), value)));
        store.commit(&record).unwrap();
        (record.key, out)
    }

    fn run(store: &Store, second: u32, keys: &[ActionKey]) -> Name {
        let log = store.begin_run(&start(&format!("2026-11-30T19:02:0{second}Z"))).unwrap();
        let keys = keys.iter().map(|key| (key.to_string(), *key)).collect();
        store.end_run(&log, &summary(), &keys).unwrap();
        log.id().clone()
    }

    #[test]
    fn only_what_no_root_leads_to_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        let source = dir.path().join("in");
        fs::create_dir(&source).unwrap();
        fs::write(source.join("f"), "deep").unwrap();
        let tree = store.capture_tree(&source).unwrap();
        let (kept, kept_out) = commit(&store, "kept", Some(format!("tree {tree}")));
        let (old, old_out) = commit(&store, "old", None);
        let (published, _) = commit(&store, "published", None);
        let archive = store.put_bytes(b"archive").unwrap();
        store.set_reference("sha256:1", archive).unwrap();
        let (old_run, last_run) = (run(&store, 1, &[kept, old]), run(&store, 2, &[kept]));
        store.flush().unwrap();

        let roots = GcRoots {
            runs: store.runs_to_keep(1).unwrap().into_keys().collect(),
            keys: [published].into(),
            ..GcRoots::default()
        };
        let plan = store.gc_plan(roots.clone()).unwrap();
        assert_eq!(plan.records, [(old, "old".to_owned())].into());
        assert_eq!(plan.runs, [old_run.clone()].into());
        assert!(plan.blobs.contains_key(&old_out) && plan.trees.is_empty());
        assert!(store.has_blob(old_out), "planning removes nothing");
        assert_eq!(store.gc_perform(&plan).unwrap(), plan);

        for blob in [kept_out, archive, BlobId::of(b"deep"), BlobId::of(b"published")] {
            assert!(store.has_blob(blob));
        }
        assert!(!store.has_blob(old_out) && store.has_tree(tree));
        assert_eq!(store.lookup(old).unwrap(), None);
        assert!(store.lookup(kept).unwrap().is_some());
        assert_eq!(store.run_ids().unwrap(), [last_run]);
        assert!(store.gc_plan(roots).unwrap().is_empty());
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    }

    #[test]
    fn a_root_taken_after_the_plan_was_made_is_respected() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let (revived, revived_out) = commit(&store, "revived", None);
        let (old, _) = commit(&store, "old", None);
        let plan = store.gc_plan(GcRoots::default()).unwrap();
        assert_eq!(plan.records.len(), 2);
        run(&store, 1, &[revived]);
        let (new, _) = commit(&store, "new", None);
        let removed = store.gc_perform(&plan).unwrap();
        assert_eq!(removed.records.keys().collect::<Vec<_>>(), [&old]);
        assert!(store.lookup(revived).unwrap().is_some() && store.has_blob(revived_out));
        assert!(store.lookup(new).unwrap().is_some());
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    }

    #[test]
    fn nothing_is_removed_while_a_run_goes_on_or_another_process_looks() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        commit(&store, "old", None);
        let plan = store.gc_plan(GcRoots::default()).unwrap();
        let lock = store.try_lock_run("ngcc pipeline run all").unwrap().unwrap();
        assert!(matches!(store.gc_perform(&plan), Err(StoreError::Busy(_))));
        drop(lock);
        let other = Store::open(dir.path()).unwrap();
        assert!(matches!(store.gc_perform(&plan), Err(StoreError::OpenElsewhere(_))));
        drop(other);
        assert_eq!(store.gc_perform(&plan).unwrap().records.len(), 1);
    }
}
