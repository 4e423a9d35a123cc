//! Files of the store that were cut, altered or removed behind the program's back: content is never served, caches
//! are made again, and nothing panics.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use crate::bench::{Workspace, shell};

/// Three steps in a chain, for one instance.
fn chain() -> Workspace {
    let one =
        shell("one", "instance", "seq 1 1000; cat ${input:src}/*/one.c", "inputs: {src: sources}");
    let two =
        shell("two", "instance", "seq 2 1000; cat ${input:x} | wc -c", "inputs: {x: one.out}");
    let three =
        shell("three", "instance", "seq 3 1000; cat ${input:x} | wc -c", "inputs: {x: two.out}");
    let workspace = Workspace::of_commands(&["A"], &format!("{one}{two}{three}"));
    assert_eq!(workspace.executed().len(), 3);
    workspace
}

fn replace(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(path).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|e| e.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Where the blob behind a step's output lies.
fn blob(workspace: &Workspace, step: &str) -> (String, PathBuf) {
    let text = workspace.output(&format!("A/{step}"), "out");
    let digest = ngcc::digest::BlobId::of(text.as_bytes()).to_string();
    let path = workspace.blob(&digest);
    (digest, path)
}

#[test]
fn an_emptied_a_flipped_and_a_deleted_blob_are_listed_with_what_they_touch_and_made_again() {
    let workspace = chain();
    let digests: Vec<String> = ["one", "two", "three"]
        .into_iter()
        .map(|step| {
            let (digest, path) = blob(&workspace, step);
            let mut bytes = std::fs::read(&path).unwrap();
            match step {
                "one" => replace(&path, b""),
                "two" => {
                    bytes[100] ^= 1;
                    replace(&path, &bytes);
                }
                _ => std::fs::remove_file(&path).unwrap(),
            }
            digest
        })
        .collect();
    let verify = workspace.ngcc(&["store", "verify"]);
    assert_eq!(verify.code, Some(4));
    for (digest, what) in digests.iter().zip(["damaged", "damaged", "missing"]) {
        assert!(verify.out.contains(&format!("{what}  blob {digest}")), "{}", verify.out);
    }
    for step in ["one", "two", "three"] {
        let line = format!("affected steps/independent/A/{step} ");
        assert!(verify.out.contains(&line), "{}", verify.out);
    }
    let repair = workspace.ngcc(&["store", "verify", "--repair"]);
    assert_eq!(repair.code, Some(0), "{}{}", repair.out, repair.err);
    assert!(repair.out.contains("3 results rebuilt, nothing lost"), "{}", repair.out);
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
    assert_eq!(workspace.executed(), Vec::<String>::new());
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn a_spoilt_blob_is_never_served_to_the_step_that_needs_it() {
    for spoil in 0..3 {
        let workspace = chain();
        let before = workspace.output("A/two", "out");
        let (_, path) = blob(&workspace, "one");
        match spoil {
            0 => replace(&path, b""),
            1 => replace(&path, &[b'x'; 3000]),
            _ => std::fs::remove_file(&path).unwrap(),
        }
        workspace.edit("pipelines/p.yaml", "seq 2 1000", "seq 2 1000 | cat");
        let run = workspace.run(&[]);
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
        assert_eq!(run.summary()["repaired"], 1);
        assert_eq!(run.ran().len(), 2, "{:?}", run.ran());
        assert_eq!(workspace.output("A/two", "out"), before);
        assert!(!run.err.contains("cannot be reproduced"), "{}", run.err);
    }
}

/// Ways to spoil a file; `None` removes it.
fn spoilt(bytes: &[u8]) -> [Option<Vec<u8>>; 5] {
    let half = bytes[..bytes.len() / 2].to_vec();
    let mut flipped = bytes.to_vec();
    if let Some(byte) = flipped.get_mut(bytes.len() / 3) {
        *byte ^= 0x55;
    }
    [None, Some(Vec::new()), Some(half), Some(flipped), Some(b"garbage\0\xff".repeat(500))]
}

#[test]
fn a_cache_file_that_is_cut_altered_or_gone_is_made_again() {
    let workspace = chain();
    // What stands is only kept once the files have been left alone for a clock tick.
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(workspace.run(&[]).code, Some(0));
    let cache = std::fs::read_dir(workspace.path("store/cache")).unwrap();
    let stood = cache.map(|e| e.unwrap().file_name().into_string().unwrap());
    let stood = stood.into_iter().find(|name| name.starts_with("standing-")).unwrap();
    let stood = format!("cache/{stood}");
    for name in ["index", "stat-cache", "cache/tools.json", "lock", "tmp/lock", &stood] {
        let path = workspace.path(&format!("store/{name}"));
        let bytes = std::fs::read(&path).unwrap();
        for (way, bytes) in spoilt(&bytes).into_iter().enumerate() {
            std::fs::remove_file(&path).unwrap();
            if let Some(bytes) = bytes {
                std::fs::write(&path, bytes).unwrap();
            }
            let run = workspace.run(&[]);
            assert_eq!(run.code, Some(0), "{name}, way {way}: {}{}", run.out, run.err);
            assert_eq!(run.ran(), Vec::<String>::new(), "{name}, way {way}");
            // A run that finds nothing moved does not even load the digests of files.
            assert!(path.exists() || name == "stat-cache", "{name}, way {way}");
            if name == "stat-cache" {
                std::fs::write(&path, b"").unwrap();
            }
        }
    }
}

#[test]
fn a_record_or_a_run_file_that_is_cut_altered_or_gone_costs_no_more_than_its_action() {
    let workspace = chain();
    for place in ["records", "runs"] {
        let count = files_below(&workspace.path(&format!("store/{place}"))).len();
        assert!(count > 0, "{place}");
        for way in 0..5 {
            let files = files_below(&workspace.path(&format!("store/{place}")));
            let path = &files[way % files.len()];
            let bytes = std::fs::read(path).unwrap();
            // Moved over the old file: one written after removing it may get its inode, which is an edit in place, and
            // that is noticed only when the record is read.
            match &spoilt(&bytes)[way] {
                Some(bytes) => {
                    std::fs::write(workspace.path("spoilt"), bytes).unwrap();
                    std::fs::rename(workspace.path("spoilt"), path).unwrap();
                }
                None => std::fs::remove_file(path).unwrap(),
            }
            let run = workspace.run(&[]);
            assert_eq!(run.code, Some(0), "{place}, way {way}: {}{}", run.out, run.err);
            assert!(run.ran().len() <= 1, "{place}, way {way}: {:?}", run.ran());
            for args in [vec!["runs"], vec!["runs", "show", "latest"], vec!["store", "gc"]] {
                let said = workspace.ngcc(&args);
                assert!(matches!(said.code, Some(0..=4)), "{args:?}: {}{}", said.out, said.err);
                assert!(!said.err.contains("panicked"), "{}", said.err);
            }
        }
    }
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn a_store_of_another_version_or_a_broken_one_is_refused_in_words() {
    let workspace = chain();
    for text in ["ngcc store 2\n", "", "\0\0\0"] {
        replace(&workspace.path("store/format"), text.as_bytes());
        let run = workspace.run(&[]);
        assert_eq!(run.code, Some(4), "{text:?}: {}{}", run.out, run.err);
        assert!(run.err.contains("format"), "{}", run.err);
    }
    replace(&workspace.path("store/format"), b"ngcc store 1\n");
    assert_eq!(workspace.executed(), Vec::<String>::new());
}

#[test]
fn records_under_keys_of_another_encoding_stay_and_are_not_looked_at() {
    let workspace = chain();
    let records = files_below(&workspace.path("store/records"));
    // What an older version with another encoding of keys left: the same records under other names.
    for path in &records {
        let mut text = std::fs::read_to_string(path).unwrap();
        let key = path.file_stem().unwrap().to_str().unwrap();
        let old = ngcc::digest::Digest::of(key.as_bytes()).to_string();
        text = text.replace(key, &old);
        std::fs::remove_file(path).unwrap();
        workspace.write(&format!("store/records/{}/{old}.json", &old[..2]), &text);
    }
    let run = workspace.run(&[]);
    assert_eq!((run.code, run.ran().len()), (Some(0), 3), "{}{}", run.out, run.err);
    assert_eq!(files_below(&workspace.path("store/records")).len(), 2 * records.len());
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn a_step_that_changes_its_inputs_changes_nothing_in_the_store_or_the_workspace() {
    let one = shell("one", "instance", "echo precious", "");
    let script = "chmod u+w ${input:x} ${input:f} 2>/dev/null; \
                  (echo changed > ${input:x}; echo changed > ${input:f}) 2>/dev/null; echo done";
    let two = shell("two", "instance", script, "inputs: {x: one.out, f: ./f.txt}");
    let workspace = Workspace::of_commands(&["A"], &format!("{one}{two}"));
    workspace.write("f.txt", "mine\n");
    assert_eq!(workspace.executed().len(), 2);
    assert_eq!(std::fs::read_to_string(workspace.path("f.txt")).unwrap(), "mine\n");
    assert_eq!(workspace.output("A/one", "out"), "precious\n");
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}
