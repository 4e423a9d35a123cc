//! A model of a power cut: whatever no `syncfs` had covered is whole, empty, cut, zeroed or gone, each file for itself, and a
//! file moved since may stand at its old place. No record may then lead to anything that is not whole, and nothing that
//! a flush had covered may be lost.
//!
//! The model is harsher than file systems are: they keep some order between such files. All that is asked here is that of
//! two moves that touch one name the second does not come without the first.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::record_file::tests::sample;
use super::{Store, record_file};
use crate::artifact::Artifact;
use crate::digest::{ActionKey, BlobId};

/// What a process does before the power goes.
#[derive(Debug, Clone)]
enum Step {
    /// Files a result: which action, which content, and whether as a tree.
    Commit(u8, u8, bool),
    Flush,
    /// The process is killed and another one goes on.
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..5_u8, 0..4_u8, any::<bool>()).prop_map(|(n, c, tree)| Step::Commit(n, c, tree)),
        2 => Just(Step::Flush),
        1 => Just(Step::Kill),
    ]
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Whole,
    Empty,
    Cut,
    Zeroed,
    Gone,
}

fn fate() -> impl Strategy<Value = Fate> {
    use Fate::{Cut, Empty, Gone, Whole, Zeroed};
    prop_oneof![4 => Just(Whole), 1 => Just(Empty), 1 => Just(Cut), 1 => Just(Zeroed), 1 => Just(Gone)]
}

/// All files, by inode.
fn files(root: &Path) -> BTreeMap<u64, PathBuf> {
    let entries = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| (fs::metadata(entry.path()).unwrap().ino(), entry.into_path()))
        .collect()
}

fn held(files: BTreeMap<u64, PathBuf>) -> BTreeMap<u64, (PathBuf, fs::File)> {
    let open = |(inode, path): (u64, PathBuf)| {
        let file = fs::File::open(&path).unwrap();
        (inode, (path, file))
    };
    files.into_iter().map(open).collect()
}

fn suffer(path: &Path, fate: Fate) {
    let bytes = fs::read(path).unwrap();
    if matches!(fate, Fate::Whole) {
        return;
    }
    fs::remove_file(path).unwrap();
    match fate {
        Fate::Empty => fs::write(path, b"").unwrap(),
        Fate::Cut => fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
        Fate::Zeroed => fs::write(path, vec![0; bytes.len()]).unwrap(),
        Fate::Whole | Fate::Gone => {}
    }
}

/// The store at work, and what it must not lose.
struct World {
    dir: tempfile::TempDir,
    store: Option<Store>,
    /// Files that a flush covered, with the place they had then. Held open, so that no later file gets the inode.
    synced: BTreeMap<u64, (PathBuf, fs::File)>,
    /// For each action the content that a flush covered last, and those filed since.
    results: BTreeMap<ActionKey, (Option<Artifact>, Vec<Artifact>)>,
}

impl World {
    fn new() -> Self {
        // In memory where that can be: hundreds of `syncfs` on a disk take minutes and mean nothing to a model.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let store = open(&dir.path().join("store"), "one");
        store.flush().unwrap();
        let synced = held(files(store.root()));
        Self { dir, store: Some(store), synced, results: BTreeMap::new() }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn take(&mut self, step: &Step) {
        let store = self.store.as_ref().unwrap();
        match *step {
            Step::Commit(name, content, tree) => {
                let artifact = put(store, self.dir.path(), content, tree);
                let record = sample(&name.to_string(), "label", artifact);
                store.commit(&record).unwrap();
                self.results.entry(record.key).or_default().1.push(artifact);
            }
            Step::Flush => {
                let before = held(files(store.root()));
                store.flush().unwrap();
                self.synced = before;
                for (durable, later) in self.results.values_mut() {
                    *durable = later.pop().or(*durable);
                    later.clear();
                }
            }
            Step::Kill => {
                std::mem::forget(self.store.take());
                self.store = Some(open(&self.root(), "one"));
            }
        }
    }

    /// The power goes.
    fn cut(&mut self, fates: &[Fate], moves: &[bool]) {
        std::mem::forget(self.store.take());
        let (mut fates, mut moves) = (fates.iter().cycle(), moves.iter().cycle());
        // A move that did not happen comes before a later one to the place that it left.
        for (inode, path) in files(&self.root()) {
            if let Some((earlier, _)) = self.synced.get(&inode).filter(|(at, _)| *at != path)
                && *moves.next().unwrap()
            {
                fs::create_dir_all(earlier.parent().unwrap()).unwrap();
                fs::rename(path, earlier).unwrap();
            }
        }
        for (inode, path) in files(&self.root()) {
            if !self.synced.contains_key(&inode) {
                suffer(&path, *fates.next().unwrap());
            }
        }
    }
}

fn open(root: &Path, boot: &str) -> Store {
    Store::open_in_boot(root, Some(boot.into())).unwrap()
}

fn put(store: &Store, dir: &Path, content: u8, tree: bool) -> Artifact {
    let text = format!("content {content}");
    if !tree {
        return Artifact::Blob(store.put_bytes(text.as_bytes()).unwrap());
    }
    let source = dir.join("in");
    let _ = fs::remove_dir_all(&source);
    fs::create_dir(&source).unwrap();
    fs::write(source.join("file"), text).unwrap();
    fs::write(source.join("other"), "in every tree").unwrap();
    Artifact::Tree(store.capture_tree(&source).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn after_a_power_cut_no_record_leads_to_a_torn_file_and_nothing_flushed_is_lost(
        steps in proptest::collection::vec(step(), 1..16),
        fates in proptest::collection::vec(fate(), 1..40),
        moves in proptest::collection::vec(any::<bool>(), 1..8),
    ) {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
        }
        world.cut(&fates, &moves);

        let store = open(&world.root(), "two");
        for (key, (durable, later)) in &world.results {
            let found = store.lookup(*key).unwrap().map(|hit| hit.outputs[0].1);
            if let Some(artifact) = found {
                prop_assert!(later.contains(&artifact) || *durable == Some(artifact));
                let record = store.record(*key).unwrap().unwrap();
                prop_assert!(store.check_outputs(&record).is_ok(), "{key} leads to something torn");
            }
            prop_assert!(found.is_some() || durable.is_none(), "{key} was flushed and is lost");
        }
        let report = store.verify(&mut |_, _| {}).unwrap();
        prop_assert!(report.missing.is_empty() && report.affected.is_empty(), "{report:?}");

        // Whatever is torn and has no name is healed by making it again.
        for content in 0..4 {
            put(&store, world.dir.path(), content, true);
        }
        store.flush().unwrap();
        let report = store.verify(&mut |_, _| {}).unwrap();
        prop_assert!(report.is_clean(), "{report:?}");
        let waiting = record_file::list(&world.root().join("pending/one"));
        prop_assert!(waiting.is_err() || waiting.unwrap().is_empty());
        prop_assert!(!store.has_blob(BlobId::of(b"")));
    }
}
