//! What the tests of HARE and TriQ-KEM have in common: programs over one instance, and what to ask them.
//!
//! It knows no scheme and no published value.

use std::path::{Path, PathBuf};

use ngcc::kat;

use crate::cc;

/// One parameter set and what is published about it.
pub(crate) struct Set {
    pub(crate) kem: &'static str,
    pub(crate) label: &'static str,
    /// How many honest exchanges are tried: about the same time for each set.
    pub(crate) honest: usize,
    /// Calls of `get_random_number`, `pseudoXOF`, `sm3hash` and `pseudohash` by keygen, enc and dec, for
    /// the first key of the seed 00 .. 2f.
    pub(crate) calls: [[usize; 4]; 3],
    /// What decapsulation returns for a ciphertext that does not open.
    pub(crate) rejection: i32,
    /// How the secret starts that record 0 gives for a ciphertext with its first bit flipped.
    pub(crate) rejected: &'static str,
    /// What wrong lengths of pk, sk and ct return.
    pub(crate) refusals: [i32; 3],
}

/// Compiles `check` over one instance, exactly as a build would: the instance's directory comes first.
/// Where `check` includes a file of the core, that file is not compiled by itself.
pub(crate) fn program(
    dir: &Path,
    set: &Set,
    check: &str,
    included: Option<&str>,
    flags: &[&str],
) -> PathBuf {
    let core = format!("kems/{}/independent/core", set.kem);
    let instance = format!("kems/{}/independent/{}", set.kem, set.label);
    let dirs = [instance.as_str(), core.as_str(), "kems/shared/codes", "src/iccs"];
    let mut sources: Vec<PathBuf> = dirs.iter().flat_map(|dir| cc::c_files(dir)).collect();
    if let Some(name) = included {
        sources.retain(|path| !path.ends_with(name));
    }
    sources.push(cc::repo(&format!("tests/c/{check}.c")));
    let program = dir.join(format!("{check}-{}", set.label));
    cc::compile(&sources, &dirs.map(cc::repo), flags, &program);
    program
}

/// The program that asks what any KEM can be asked, with the helpers' calls under watch.
fn kem_check(dir: &Path, set: &Set) -> PathBuf {
    let wrap = "-Wl,--wrap=sm3hash,--wrap=pseudohash,--wrap=pseudoXOF,--wrap=get_random_number";
    program(dir, set, "kem_check", None, &[cc::GUIDE, &[wrap]].concat())
}

/// The manifest line of a set: digest, mode, label and file name.
fn manifest_line(set: &Set, digest: &str) -> String {
    format!("{digest} strict {0}/KAT_KEM_{0}.txt", set.label)
}

pub(crate) fn assert_kat_and_calls(sets: &[Set]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for set in sets {
        let program = kem_check(dir.path(), set);
        let text = cc::run(&program, &["kat"], "").stdout;
        let digested = kat::digest(text.as_bytes(), kat::Mode::Strict, None);
        let digest = digested.expect("text in memory can be read").sha256;
        let manifest = cc::repo(&format!("kems/{}/kat.sha256", set.kem));
        let manifest =
            std::fs::read_to_string(manifest).expect("the manifest is in the repository");
        let line = manifest_line(set, &digest);
        assert!(manifest.lines().any(|known| known == line), "not published: {line}");

        let calls = cc::run(&program, &["calls"], "").stdout;
        assert_eq!(count_calls(&calls), set.calls, "{}:\n{calls}", set.label);
    }
}

/// Counts the lines that name a helper, below the names of the three operations.
fn count_calls(text: &str) -> [[usize; 4]; 3] {
    let operations = ["keygen", "enc", "dec"];
    let helpers = ["get_random_number", "pseudoXOF", "sm3hash", "pseudohash"];
    let mut counts = [[0; 4]; 3];
    let mut operation = 0;
    for line in text.lines() {
        let word = line.split(' ').next().unwrap_or("");
        if let Some(at) = operations.iter().position(|name| *name == word) {
            operation = at;
        } else {
            let helper = helpers.iter().position(|name| *name == word);
            counts[operation][helper.expect("a helper's name")] += 1;
        }
    }
    counts
}

pub(crate) fn assert_honest(sets: &[Set]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for set in sets {
        let keys = set.honest.to_string();
        let written = cc::run(&kem_check(dir.path(), set), &["honest", &keys], "");
        assert_eq!(written.stdout, format!("{keys}\n"), "{}", set.label);
    }
}

/// With the sanitizers, since this is where foreign bytes come in.
pub(crate) fn assert_tampering(sets: &[Set]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for set in sets {
        let program = program(dir.path(), set, "hqc_check", None, cc::SANITIZED);
        let written = cc::run(&program, &[], "");
        let (Set { rejection, rejected, .. }, [pk, sk, ct]) = (set, set.refusals);
        let expected =
            format!("flipped {rejection} {rejected}\nenc pk {pk}\ndec sk {sk}\ndec ct {ct} {ct}\n");
        assert_eq!(written.stdout, expected, "{}", set.label);
    }
}
