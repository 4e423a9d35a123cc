//! Tests with two real processes: one is killed at work, or holds the lock, and the other looks.
//!
//! The child is this test program running one ignored test; it learns the store from its working directory.

use std::fs;
use std::path::Path;

use super::record_file::tests::sample;
use super::{Recovery, Store, StoreError};
use crate::artifact::Artifact;
use crate::digest::{ActionKey, BlobId, Digest};

const COMMITTED: &str = "committed";

fn start_child(dir: &Path) -> duct::Handle {
    let test = "store::crash::commits_until_killed";
    let program = std::env::current_exe().unwrap();
    duct::cmd!(program, "--exact", test, "--ignored")
        .dir(dir)
        .stdout_null()
        .stderr_null()
        .unchecked()
        .start()
        .unwrap()
}

/// The other process. Notes a number after each commit, so that the first knows what must be there.
#[test]
#[ignore = "the child of the tests here; runs until it is killed"]
fn commits_until_killed() {
    let dir = std::env::current_dir().unwrap();
    if !dir.join("is-a-crash-test").exists() {
        return;
    }
    let store = Store::open(&dir.join("store")).unwrap();
    let _lock =
        (!dir.join("shares").exists()).then(|| store.try_lock_run("the child").unwrap().unwrap());
    let _scratch = store.scratch("attempt").unwrap();
    for n in 0_u32..1000 {
        let small = store.put_bytes(format!("small {n}").as_bytes()).unwrap();
        let big = store.put_bytes(format!("big {n}").repeat(20_000).as_bytes()).unwrap();
        let mut record = sample(&n.to_string(), "label", Artifact::Blob(small));
        record.outputs.insert("big".into(), Artifact::Blob(big));
        store.commit(&record).unwrap();
        fs::write(dir.join("note"), n.to_string()).unwrap();
        fs::rename(dir.join("note"), dir.join(COMMITTED)).unwrap();
        if n % 10 == 9 {
            store.flush().unwrap();
        }
    }
}

fn committed(dir: &Path) -> Option<u32> {
    fs::read_to_string(dir.join(COMMITTED)).ok()?.parse().ok()
}

#[test]
fn a_process_killed_at_work_leaves_every_finished_result_and_no_half_one() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("is-a-crash-test"), "").unwrap();
    for until in [3, 17] {
        let _ = fs::remove_file(dir.path().join(COMMITTED));
        let child = start_child(dir.path());
        while committed(dir.path()).is_none_or(|n| n < until) {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::yield_now();
        }
        let pid = child.pids()[0];
        let root = dir.path().join("store");
        {
            let store = Store::open(&root).unwrap();
            let holder = store.try_lock_run("the parent").unwrap().unwrap_err();
            assert_eq!((holder.pid, holder.command.as_str()), (pid, "the child"));
            let plan = store.gc_plan(super::GcRoots::default()).unwrap();
            assert!(matches!(store.gc_perform(&plan), Err(StoreError::Busy(_))));
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let store = Store::open(&root).unwrap();
        assert_eq!(store.recovery(), &Recovery::default());
        drop(store.try_lock_run("the parent").unwrap().unwrap());
        for n in 0..=committed(dir.path()).unwrap() {
            let key = ActionKey(Digest::of(n.to_string().as_bytes()));
            assert!(store.lookup(key).unwrap().is_some(), "result {n} is lost");
        }
        let report = store.verify(&mut |_, _| {}).unwrap();
        assert!(report.is_clean() && report.foreign.is_empty(), "{report:?}");
        assert!(!store.has_blob(BlobId::of(b"")));
        let live = fs::read_dir(root.join("tmp")).unwrap().count();
        assert_eq!(live, 2, "the lock and this process");
        store.flush().unwrap();
    }
}

#[test]
fn processes_killed_while_they_file_the_same_results_leave_all_that_one_had_finished() {
    let root = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..3)
        .map(|_| {
            let dir = tempfile::tempdir().unwrap();
            for mark in ["is-a-crash-test", "shares"] {
                fs::write(dir.path().join(mark), "").unwrap();
            }
            std::os::unix::fs::symlink(root.path(), dir.path().join("store")).unwrap();
            let child = start_child(dir.path());
            (dir, child)
        })
        .collect();
    for (dir, child) in children.iter().rev() {
        while committed(dir.path()).is_none_or(|n| n < 12) {
            assert!(child.try_wait().unwrap().is_none(), "a child ended by itself");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let store = Store::open(root.path()).unwrap();
    let most = children.iter().filter_map(|(dir, _)| committed(dir.path())).max().unwrap();
    for n in 0..=most {
        let key = ActionKey(Digest::of(n.to_string().as_bytes()));
        assert!(store.lookup(key).unwrap().is_some(), "result {n} is lost");
        let small = store.read_blob(BlobId::of(format!("small {n}").as_bytes())).unwrap();
        assert_eq!(small, format!("small {n}").into_bytes());
    }
    let report = store.verify(&mut |_, _| {}).unwrap();
    assert!(report.is_clean() && report.foreign.is_empty(), "{report:?}");
    assert_eq!(fs::read_dir(root.path().join("tmp")).unwrap().count(), 2);
}
