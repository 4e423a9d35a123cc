//! A store with hostile files in it: records, run logs, listings of trees, the index, the stat cache.
//!
//! The first byte says which file the rest is. What is checked against a sum gets the right one, so that the reader
//! behind the check is met and not the check.

#![no_main]

#[path = "directory.rs"]
mod directory;

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ngcc::digest::{ActionKey, Digest, TreeId};
use ngcc::store::Store;

fuzz_target!(|input: &[u8]| {
    let Some((&what, bytes)) = input.split_first() else { return };
    let dir = directory::directory();
    let root = dir.path().join("store");
    drop(Store::open(&root).expect("a store"));
    let key = key_in(bytes);
    match what {
        b'r' => directory::write(&place(&root, "records", &key.0, ".json"), bytes),
        b'l' => directory::write(&root.join("runs/20261130T190205Z.jsonl"), bytes),
        b't' => directory::write(&place(&root, "trees", &Digest::of(bytes), ""), bytes),
        b'i' => directory::write(&root.join("index"), &table("index", bytes)),
        b's' => directory::write(&root.join("stat-cache"), &table("stat", bytes)),
        b'n' => directory::write(&root.join("references/ab/cdef.json"), bytes),
        _ => return,
    }
    let Ok(store) = Store::open(&root) else { return };
    if let Ok(Some(record)) = store.record(key) {
        assert_eq!(record.key, key);
        let _ = store.check_outputs(&record);
        assert_eq!(store.latest(&record.label).expect("readable"), Some(key));
        if let Ok(Some(hit)) = store.lookup(key) {
            let _ = store.has_outputs(&hit);
        }
        // What was read can be written and is read as the same.
        if store.commit(&record).is_ok() {
            assert_eq!(store.record(key).expect("readable").as_ref(), Some(&record));
        }
    }
    for (key, label) in store.records() {
        let _ = store.lookup(key);
        let _ = store.latest(&label);
    }
    let id = TreeId(Digest::of(bytes));
    if let Ok(tree) = store.read_tree(id) {
        for path in tree.0.keys() {
            assert!(
                path.as_str().split('/').all(|part| !matches!(part, "" | "." | "..")),
                "{path}"
            );
        }
        let _ = store.lay_out_tree(id, &dir.path().join("out"));
    }
    for id in store.run_ids().unwrap_or_default() {
        if let Ok(Some(run)) = store.run(&id) {
            let _ = store.run_keys(&run);
        }
    }
    let file = dir.path().join("file");
    directory::write(&file, b"content");
    let (blob, len) = store.digest_file(&file).expect("a file of ours");
    assert_eq!((blob.0, len), (Digest::of(b"content"), 7));
    let _ = store.flush();
});

/// The key that a record says it has, so that it is filed where it is looked for.
fn key_in(bytes: &[u8]) -> ActionKey {
    let text = String::from_utf8_lossy(bytes);
    let after = text.split("\"key\"").nth(1).unwrap_or_default();
    let hex: String = after.chars().filter(char::is_ascii_hexdigit).take(64).collect();
    ActionKey(hex.parse().unwrap_or_else(|_| Digest::of(b"key")))
}

fn place(root: &Path, kind: &str, digest: &Digest, ending: &str) -> std::path::PathBuf {
    let hex = digest.to_string();
    root.join(kind).join(&hex[..2]).join(format!("{hex}{ending}"))
}

/// A table file with the right magic and sum around these bytes.
fn table(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = format!("ngcc table 1 {kind}\n").into_bytes();
    file.resize(32, 0);
    file.extend(Digest::of(bytes).as_bytes());
    file.extend(bytes);
    file
}
