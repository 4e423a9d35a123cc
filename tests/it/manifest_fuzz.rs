//! Damaged manifests: whatever the bytes are, loading ends, says the same twice, and what it says can be printed.

use std::path::Path;

use ngcc::diag::Colour;
use ngcc::spec::Workspace;
use proptest::prelude::*;

use crate::cc::repo;

/// Files of a good workspace: where they stand in it, and where the project has them. Read when a test runs, so that
/// the tests compile without them.
const GOOD: [(&str, &str); 4] = [
    ("pipelines/a.yaml", "pipelines/all.yaml"),
    ("pipelines/b.yaml", "pipelines/lines.yaml"),
    ("kems/kem-1/submission.yaml", "testdata/quirks/kems/kem-oddities/submission.yaml"),
    ("kems/kem-1/kat.sha256", "testdata/quirks/kems/kem-oddities/kat.sha256"),
];

fn good(index: usize) -> (&'static str, String) {
    let (path, of_project) = GOOD[index];
    (path, std::fs::read_to_string(repo(of_project)).expect("the project has it"))
}

/// What an editor, a disk or an enemy may do to a text at a place.
#[derive(Debug, Clone)]
enum Damage {
    Remove(usize),
    Insert(String),
    Repeat(usize),
    Byte(u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let tokens = prop::sample::select(vec![
        ":",
        "-",
        "\t",
        "\r\n",
        "\n",
        "{",
        "}",
        "[",
        "]",
        "&a ",
        "*a",
        "!x ",
        "|",
        ">",
        "\"",
        "'",
        "#",
        "? ",
        "<<: *a",
        "---\n",
        "...\n",
        "~",
        "null",
        "é",
        "😀",
        "\u{feff}",
        "${input:x}",
        "{instance}",
        "..",
        "%",
        "@",
        "\u{85}",
        "\u{2028}",
        "\\x00",
        "1e999",
        "0x",
        "kind: build",
    ]);
    prop_oneof![
        (1_usize..40).prop_map(Damage::Remove),
        tokens.prop_map(|t| Damage::Insert(t.to_owned())),
        (1_usize..200).prop_map(Damage::Repeat),
        any::<u8>().prop_map(Damage::Byte),
    ]
}

fn apply(text: &mut Vec<u8>, at: usize, damage: &Damage) {
    let at = at % (text.len() + 1);
    let reach = |n: &usize| (at + n).min(text.len());
    match damage {
        Damage::Remove(n) => drop(text.drain(at..reach(n))),
        Damage::Insert(token) => drop(text.splice(at..at, token.bytes())),
        Damage::Repeat(n) => {
            let piece = text[at..reach(n)].to_vec();
            drop(text.splice(at..at, piece));
        }
        Damage::Byte(byte) => {
            if let Some(old) = text.get_mut(at) {
                *old = *byte;
            }
        }
    }
}

fn load(root: &Path) -> (bool, String) {
    match Workspace::load(root) {
        Ok(_) => (true, String::new()),
        Err(errors) => {
            assert!(!errors.is_empty());
            let _ = errors.to_json().to_string();
            let _ = errors.render(Colour::On);
            (false, errors.render(Colour::Off))
        }
    }
}

fn write(root: &Path, name: &str, bytes: &[u8]) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().expect("it has one")).expect("a scratch directory");
    std::fs::write(path, bytes).expect("a scratch file");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic_and_say_the_same_twice(
        file in 0..GOOD.len(),
        damages in prop::collection::vec((any::<usize>(), damage()), 1..6),
    ) {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (name, text) = good(file);
        let mut text = text.as_bytes().to_vec();
        damages.iter().for_each(|(at, damage)| apply(&mut text, *at, damage));
        write(dir.path(), name, &text);
        if name.ends_with(".sha256") {
            let (manifest, text) = good(2);
            write(dir.path(), manifest, text.as_bytes());
        }
        let said = load(dir.path());
        prop_assert!(!said.1.chars().any(|c| c.is_control() && c != '\n'), "{:?}", said.1);
        prop_assert_eq!(said, load(dir.path()));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
        let dir = tempfile::tempdir().expect("a scratch directory");
        write(dir.path(), "pipelines/a.yaml", &bytes);
        write(dir.path(), "systems/a.yaml", text.as_bytes());
        load(dir.path());
    }
}
