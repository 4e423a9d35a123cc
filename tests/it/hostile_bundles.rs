//! Archives of runs that lie: each is refused with the entry named, no record comes into view, and nothing is written
//! outside the store. And those that do not: what goes in comes out, byte for byte.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;

use ngcc::action::key_of_ingredients;
use ngcc::artifact::{Artifact, Entry, Tree};
use ngcc::digest::{ActionKey, Digest};
use ngcc::record::{Finding, Provenance, RECORD_FORMAT, Record};
use ngcc::store::{
    ImportError, Imported, RunEnd, RunLine, RunStart, RunSummary, RunWorkspace, Store,
};
use proptest::prelude::*;

fn fits(record: &Record) -> bool {
    key_of_ingredients(&record.ingredients) == record.key
}

/// A record that the fields of its key fit.
fn commit(store: &Store, label: &str, text: &[u8], tree: bool, input: &[u8]) -> ActionKey {
    let blob = store.put_bytes(text).unwrap();
    let output = if tree {
        let file =
            Entry::File { blob, len: text.len() as u64, executable: label.len().is_multiple_of(2) };
        let entries = [("f".parse().unwrap(), file), ("g".parse().unwrap(), Entry::Dir)];
        Artifact::Tree(store.put_tree(&Tree(entries.into())).unwrap())
    } else {
        Artifact::Blob(blob)
    };
    let source = store.put_bytes(input).unwrap();
    let ingredients = vec![
        ("procedure".to_owned(), label.to_owned()),
        ("procedure version".to_owned(), "1".to_owned()),
        ("input a.c".to_owned(), format!("blob {source}")),
        ("purity".to_owned(), "pure".to_owned()),
    ];
    let record = Record {
        format: RECORD_FORMAT,
        key: key_of_ingredients(&ingredients),
        label: label.to_owned(),
        outputs: [("out".to_owned(), output)].into(),
        findings: vec![Finding { code: "c".into(), message: "m".into() }],
        ingredients,
        provenance: Provenance {
            log: Some(store.put_bytes(label.as_bytes()).unwrap()),
            ..Provenance::default()
        },
        observed: serde_json::Value::Null,
    };
    store.commit(&record).unwrap();
    record.key
}

fn run(store: &Store, keys: &BTreeMap<String, ActionKey>) -> ngcc::store::Run {
    let start = RunStart {
        pipeline: "p".into(),
        command: vec!["ngcc".into()],
        started: "2026-11-30T19:02:05Z".into(),
        ngcc: "0.1.0".into(),
        workspace: Some(RunWorkspace { id: "0123".into(), path: Some("somewhere".into()) }),
    };
    let log = store.begin_run(&start).unwrap();
    for (label, key) in keys {
        let line =
            RunLine { label: label.clone(), key: Some(*key), end: RunEnd::Ran(1), wall_ns: 3 };
        log.append(&line).unwrap();
    }
    let summary = RunSummary {
        ended: "2026-11-30T19:02:06Z".into(),
        ran: 1,
        reused: 0,
        failed: 0,
        blocked: 0,
        unavailable: 0,
        findings: 1,
        interrupted: false,
    };
    store.end_run(&log, &summary, keys).unwrap();
    store.run(log.id()).unwrap().unwrap()
}

fn sample(root: &Path) -> (Vec<u8>, BTreeMap<String, ActionKey>) {
    let store = Store::open(root).unwrap();
    let keys = [("a", &b"library"[..], false), ("b", b"page", true)];
    let keys: BTreeMap<String, ActionKey> = keys
        .into_iter()
        .map(|(l, text, tree)| (l.to_owned(), commit(&store, l, text, tree, b"int x;")))
        .collect();
    let run = run(&store, &keys);
    let mut archive = Vec::new();
    store.export_run(&run, &mut archive).unwrap();
    (archive, keys)
}

/// Name, kind, bytes.
type Member = (String, u8, Vec<u8>);

fn members(archive: &[u8]) -> Vec<Member> {
    use std::io::Read as _;
    let mut archive = tar::Archive::new(archive);
    archive
        .entries()
        .unwrap()
        .map(|entry| {
            let mut entry = entry.unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (entry.path().unwrap().to_str().unwrap().to_owned(), b'0', bytes)
        })
        .collect()
}

fn packed(members: &[Member]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (name, kind, bytes) in members {
        let mut header = tar::Header::new_ustar();
        // Written past the checks of the crate.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(tar::EntryType::new(*kind));
        header.set_mode(0o777);
        header.set_size(bytes.len() as u64);
        if *kind != b'0' {
            header.set_link_name("target").unwrap();
        }
        header.set_cksum();
        out.append(&header, bytes.as_slice()).unwrap();
    }
    out.into_inner().unwrap()
}

/// Changes the manifest as JSON.
fn declared(members: &mut [Member], change: impl FnOnce(&mut serde_json::Value)) {
    let mut manifest: serde_json::Value = serde_json::from_slice(&members[0].2).unwrap();
    change(&mut manifest);
    members[0].2 = serde_json::to_vec(&manifest).unwrap();
}

/// Gives a member other bytes, and declares them.
fn replaced(members: &mut [Member], at: usize, bytes: Vec<u8>) {
    declared(members, |manifest| {
        manifest["objects"][at - 1]["bytes"] = bytes.len().into();
        manifest["objects"][at - 1]["digest"] = Digest::of(&bytes).to_string().into();
    });
    members[at].2 = bytes;
}

/// What is said; nothing may have come into view, inside or outside.
fn refusal(archive: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store")).unwrap();
    let result = store.import_run(&mut &*archive, &fits);
    let Err(ImportError::Refused(why)) = result else { panic!("taken: {result:?}") };
    assert_eq!(store.run_ids().unwrap(), []);
    assert_eq!(store.records(), []);
    assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "something outside the store");
    why
}

#[test]
fn every_lie_is_refused_with_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, _) = sample(dir.path());
    let good = members(&archive);
    assert_eq!(good[0].0, "manifest.json");
    let at = |start: &str| good.iter().position(|(name, _, _)| name.starts_with(start)).unwrap();
    let (blob, tree, record) = (at("blobs/"), at("trees/"), at("records/"));
    type Lie = Box<dyn Fn(&mut Vec<Member>)>;
    let rename = |to: &'static str| -> Lie { Box::new(move |m| m[blob].0 = to.to_owned()) };
    let kind = |kind: u8| -> Lie {
        Box::new(move |m| {
            m[blob].1 = kind;
        })
    };
    let lies: Vec<(Lie, &str)> = vec![
        (rename("../x"), "`../x` where `blobs/"),
        (rename("/etc/x"), "`/etc/x` where `blobs/"),
        (
            Box::new(move |m| {
                m[blob].0 = "../x".into();
                declared(m, |v| v["objects"][blob - 1]["path"] = "../x".into());
            }),
            "`../x` is no name of an entry",
        ),
        (kind(b'1'), "is no regular file"),
        (kind(b'2'), "is no regular file"),
        (kind(b'3'), "is no regular file"),
        (kind(b'L'), "is no regular file"),
        (kind(b'x'), "is no regular file"),
        (Box::new(move |m| m.insert(blob, m[blob].clone())), "where `"),
        (
            Box::new(move |m| {
                declared(m, |v| {
                    let objects = v["objects"].as_array_mut().unwrap();
                    let doubled = objects[blob - 1].clone();
                    objects.insert(blob, doubled);
                });
                m.insert(blob, m[blob].clone());
            }),
            "is doubled or out of order",
        ),
        (
            Box::new(|m| m.push(("more".into(), b'0', b"x".to_vec()))),
            "`more` is not in its manifest",
        ),
        (Box::new(move |m| drop(m.remove(blob))), "where `blobs/"),
        (Box::new(move |m| m.swap(blob, tree)), "where `blobs/"),
        (Box::new(move |m| m[blob].2[0] ^= 1), "has other content than its name says"),
        (Box::new(move |m| m[blob].2.push(1)), "has not the length that was declared"),
        (
            Box::new(move |m| declared(m, |v| v["objects"][blob - 1]["bytes"] = u64::MAX.into())),
            "has not the length that was declared",
        ),
        (
            Box::new(move |m| {
                let digest = Digest::of(b"y").to_string();
                declared(m, |v| v["objects"][blob - 1]["digest"] = digest.into());
            }),
            "is declared with another digest",
        ),
        (Box::new(move |m| m[record].2[20] ^= 1), "has other content than was declared"),
        (
            // Another result under the same key cannot be told, but other fields can.
            Box::new(move |m| {
                let text = String::from_utf8(m[record].2.clone()).unwrap();
                replaced(m, record, text.replace("\"pure\"", "\"fake\"").into_bytes());
            }),
            "give another key",
        ),
        (Box::new(move |m| replaced(m, record, b"{}".to_vec())), "is no record of that key"),
        (
            Box::new(move |m| {
                let mut value: serde_json::Value = serde_json::from_slice(&m[record].2).unwrap();
                value["committed"] = u64::MAX.into();
                replaced(m, record, value.to_string().into_bytes());
            }),
            "from the future",
        ),
        (
            Box::new(move |m| {
                let mut value: serde_json::Value = serde_json::from_slice(&m[record].2).unwrap();
                let absent = Digest::of(b"absent").to_string();
                value["outputs"]["out"] = serde_json::json!({ "blob": absent });
                replaced(m, record, value.to_string().into_bytes());
            }),
            "and lacks it",
        ),
        (
            Box::new(|m| {
                let last = m.len() - 1;
                replaced(m, last, b"{}\n".to_vec());
            }),
            "its log is not that of a run",
        ),
        (Box::new(|m| declared(m, |v| v["format"] = 2.into())), "its format is 2"),
        (Box::new(|m| declared(m, |v| v["run"] = "../../x".into())), "`manifest.json`: "),
        (Box::new(|m| m[0].2 = b"[".to_vec()), "`manifest.json`: "),
        (Box::new(|m| m.truncate(1)), "it ends before"),
        (Box::new(Vec::clear), "it ends before `manifest.json`"),
    ];
    for (number, (lie, expected)) in lies.into_iter().enumerate() {
        let mut members = good.clone();
        lie(&mut members);
        let why = refusal(&packed(&members));
        assert!(why.contains(expected), "lie {number}: `{why}` and not `{expected}`");
    }
}

#[test]
fn an_archive_cut_anywhere_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, _) = sample(dir.path());
    let end = archive.len() - 1024;
    for cut in (0..end).step_by(97).chain([end - 1]) {
        refusal(&archive[..cut]);
    }
}

#[test]
fn a_result_that_was_here_first_stays_and_the_difference_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, keys) = sample(&dir.path().join("one"));
    let store = Store::open(&dir.path().join("two")).unwrap();
    let ours = commit(&store, "a", b"another library", false, b"int x;");
    assert_eq!(ours, keys["a"]);
    let before = store.record(ours).unwrap();
    let Imported { records, same, differing, was, .. } =
        store.import_run(&mut &*archive, &fits).unwrap();
    assert_eq!((records, same, was), (1, 0, None));
    assert_eq!(differing, [(ours, "a".to_owned())].into());
    assert_eq!(store.record(ours).unwrap(), before);
    assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
}

#[test]
fn two_runs_of_one_name_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, _) = sample(&dir.path().join("one"));
    let store = Store::open(&dir.path().join("two")).unwrap();
    run(&store, &BTreeMap::new());
    for known in [false, true] {
        let done = store.import_run(&mut &*archive, &fits).unwrap();
        assert_eq!(done.run.as_str(), "20261130T190205Z-2");
        assert_eq!((done.was.unwrap().as_str(), done.known), ("20261130T190205Z", known));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_was_imported_goes_out_as_it_came(
        actions in proptest::collection::btree_map(
            "[a-z]{1,8}(/[a-z0-9 ]{1,6}){0,2}",
            (proptest::collection::vec(any::<u8>(), 0..3000), any::<bool>(), "[ -~]{0,20}"),
            0..12,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("one")).unwrap();
        let keys: BTreeMap<String, ActionKey> = actions
            .iter()
            .map(|(label, (text, tree, input))| {
                (label.clone(), commit(&store, label, text, *tree, input.as_bytes()))
            })
            .collect();
        let exported = run(&store, &keys);
        let mut first = Vec::new();
        store.export_run(&exported, &mut first).unwrap();
        // Durable or not, and whatever else the store holds, the archive is the same.
        store.flush().unwrap();
        commit(&store, "unrelated", b"x", true, b"y");
        let mut second = Vec::new();
        store.export_run(&exported, &mut second).unwrap();
        prop_assert_eq!(&first, &second);

        let other = Store::open(&dir.path().join("two")).unwrap();
        let done = other.import_run(&mut first.as_slice(), &fits).unwrap();
        prop_assert_eq!(done.records, keys.len());
        let imported = other.run(&done.run).unwrap().unwrap();
        prop_assert_eq!(&other.run_keys(&imported).unwrap(), &keys);
        let mut third = Vec::new();
        other.export_run(&imported, &mut third).unwrap();
        prop_assert!(first == third);
        let verified = other.verify(&mut |_, _| {}).unwrap();
        prop_assert!(verified.is_clean());
    }
}
