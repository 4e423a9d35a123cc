//! Our own LoongKEM (kem-18): the published digests, honest use, tampering and the calls it makes.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::cc;

/// One row of the description's table, and the published digest of the KAT text.
struct Set {
    label: &'static str,
    n: usize,
    k1: usize,
    k2: usize,
    eta: usize,
    seed: usize,
    secret: usize,
    pk: usize,
    ct: usize,
    kat: &'static str,
    /// How many honest exchanges are tried: about the same time for each set.
    honest: usize,
    /// What a flipped bit 7 of byte 5 makes of the secret.
    top_bit: &'static str,
}

const SETS: [Set; 4] = [
    Set {
        label: "Loong128",
        n: 12,
        k1: 48,
        k2: 4,
        eta: 5,
        seed: 32,
        secret: 16,
        pk: 1472,
        ct: 1512,
        kat: "75672c8d94a18620e00a5cefe3ef77a4569b9fdcaf0fd3ee7277ac69336e941c",
        honest: 2000,
        top_bit: "other",
    },
    Set {
        label: "Loong256",
        n: 16,
        k1: 64,
        k2: 6,
        eta: 4,
        seed: 48,
        secret: 32,
        pk: 3248,
        ct: 3520,
        kat: "a4b671a86130db1bfe25354cac2a9363262ae7894b46ffc9a57bbe349c536f01",
        honest: 200,
        top_bit: "other",
    },
    Set {
        label: "Loong384",
        n: 20,
        k1: 72,
        k2: 8,
        eta: 3,
        seed: 64,
        secret: 48,
        pk: 6444,
        ct: 6680,
        kat: "b388d40e5405a452cee006bff937ea9140d703161283b1e168a6e33b010f53c7",
        honest: 100,
        top_bit: "top bits of Kbar",
    },
    Set {
        label: "Loong512",
        n: 24,
        k1: 80,
        k2: 10,
        eta: 2,
        seed: 80,
        secret: 64,
        pk: 10640,
        ct: 10848,
        kat: "58c21ffa91729ad4d74b0d5ea006a37ea8e9cfa61a02f5da2d871894df5558a4",
        honest: 60,
        top_bit: "top bits of Kbar",
    },
];

/// Compiles a check program over one instance, exactly as a build would: its directory comes first.
fn program(dir: &Path, set: &Set, check: &str, flags: &[&str]) -> PathBuf {
    let instance = format!("kems/kem-18/independent/{}", set.label);
    let core = "kems/kem-18/independent/core";
    let mut sources = cc::c_files(&instance);
    sources.extend(cc::c_files(core));
    sources.extend(cc::c_files("src/iccs"));
    sources.push(cc::repo(&format!("tests/c/{check}.c")));
    let include_dirs = [cc::repo(&instance), cc::repo(core), cc::repo("src/iccs")];
    let header = r#"-DKEM_HEADER="KEM_Loong.h""#;
    let program = dir.join(format!("{check}-{}", set.label));
    cc::compile(&sources, &include_dirs, &[flags, &[header]].concat(), &program);
    program
}

/// The program that asks what any KEM can be asked, with the helpers' calls under watch.
fn kem_check(dir: &Path, set: &Set, flags: &[&str]) -> PathBuf {
    let wrap = "-Wl,--wrap=sm3hash,--wrap=pseudohash,--wrap=pseudoXOF,--wrap=get_random_number";
    program(dir, set, "kem_check", &[flags, &[wrap]].concat())
}

/// The program that offers wrong input.
fn loong_check(dir: &Path, set: &Set, flags: &[&str]) -> PathBuf {
    program(dir, set, "loong_check", flags)
}

/// SHA-256 of the canonical form: line ends and trailing blanks stripped, empty lines dropped.
fn canonical_digest(text: &str) -> String {
    let mut hash = Sha256::new();
    for line in text.split('\n').map(|line| line.trim_end_matches(['\r', ' ', '\t'])) {
        if !line.is_empty() {
            hash.update(line);
            hash.update("\n");
        }
    }
    format!("{:x}", hash.finalize())
}

fn assert_kat(program: &Path, set: &Set) {
    let text = cc::run(program, &["kat"], "").stdout;
    assert_eq!(canonical_digest(&text), set.kat, "{}", set.label);
}

fn assert_honest(program: &Path, set: &Set, keys: usize) {
    let written = cc::run(program, &["honest", &keys.to_string()], "");
    assert_eq!(written.stdout, format!("{keys}\n"), "{}", set.label);
}

fn assert_tampering(program: &Path, set: &Set) {
    let written = cc::run(program, &[], "");
    let expected = format!("byte 5 bit 0: Kbar\nbyte 5 bit 7: {}\n", set.top_bit);
    assert_eq!(written.stdout, expected, "{}", set.label);
}

/// The calls of the official helpers, with input and output in bits, in the order they are made.
fn expected_calls(set: &Set) -> String {
    let Set { n, k1, k2, eta, seed, secret, pk, ct, .. } = *set;
    let matrices = 3 * (k1 * k1 * n + 2 * k1 * k2 * n + k2 * k2 * n * n);
    let secrets = 2 * eta * (k1 + k2) * n;
    let errors = 2 * eta * (k1 * n + k2 * n * n);
    let seed = 8 * seed;
    let three = format!(
        "pseudoXOF {seed} {}\npseudoXOF {seed} {secrets}\npseudoXOF {seed} {errors}\n",
        8 * matrices
    );
    let hash = format!("sm3hash {} 256\n", 8 * pk);
    let encrypt = format!(
        "pseudoXOF {} {}\n{three}pseudoXOF {seed} {}\n",
        n * n + 256,
        8 * secret + 3 * seed,
        2 * eta * n * n
    );
    format!(
        "keygen\nget_random_number {}\n{three}{hash}get_random_number {seed}\n\
         enc\nget_random_number {}\n{hash}{encrypt}\
         dec\n{encrypt}pseudoXOF {} {}\n",
        3 * seed,
        n * n,
        seed + 8 * ct,
        8 * secret
    )
}

#[test]
fn the_kat_texts_of_all_four_sets_have_the_published_digests() {
    let dir = tempfile::tempdir().unwrap();
    for set in &SETS {
        assert_kat(&kem_check(dir.path(), set, cc::GUIDE), set);
    }
}

#[test]
fn thousands_of_honest_decapsulations_give_the_encapsulated_secret() {
    let dir = tempfile::tempdir().unwrap();
    for set in &SETS {
        assert_honest(&kem_check(dir.path(), set, cc::GUIDE), set, set.honest);
    }
}

#[test]
fn a_tampered_ciphertext_gives_another_secret_with_the_documented_mask() {
    let dir = tempfile::tempdir().unwrap();
    for set in &SETS {
        assert_tampering(&loong_check(dir.path(), set, cc::GUIDE), set);
    }
}

#[test]
fn the_helpers_are_called_as_often_and_as_long_as_published() {
    let dir = tempfile::tempdir().unwrap();
    for set in &SETS {
        let program = kem_check(dir.path(), set, cc::GUIDE);
        let calls = cc::run(&program, &["calls"], "").stdout;
        assert_eq!(calls, expected_calls(set), "{}", set.label);
    }
}

#[test]
fn the_sanitizers_find_nothing_in_any_set() {
    let dir = tempfile::tempdir().unwrap();
    for set in &SETS {
        let program = kem_check(dir.path(), set, cc::SANITIZED);
        assert_kat(&program, set);
        assert_honest(&program, set, set.honest / 40);
        assert_tampering(&loong_check(dir.path(), set, cc::SANITIZED), set);
    }
}
