//! Our own TriQ-KEM (kem-37): the published digests and calls, honest use, wrong input, its samplers.

use crate::cc;
use crate::hqc::{self, Set};

const fn set(
    label: &'static str,
    honest: usize,
    calls: [[usize; 4]; 3],
    rejected: &'static str,
) -> Set {
    let (rejection, refusals) = (0, [-31, -41, -42]);
    Set { kem: "kem-37", label, honest, calls, rejection, rejected, refusals }
}

/// The calls of keygen depend on how many chunks x and y took, those of the others on how often the
/// bounded sampler tried.
const SETS: [Set; 4] = [
    set("TriQ-KEM-128", 400, [[2, 8, 1, 0], [2, 6, 2, 0], [0, 6, 3, 0]], "e018acfbd578aa56"),
    set("TriQ-KEM-256", 150, [[2, 9, 0, 0], [2, 8, 1, 1], [0, 8, 2, 1]], "f01acc7407cbc0b4"),
    set("TriQ-KEM-384", 60, [[2, 11, 0, 0], [2, 9, 0, 1], [0, 10, 0, 1]], "a4c85cb49d2344b1"),
    set("TriQ-KEM-512", 40, [[2, 11, 0, 0], [2, 11, 0, 1], [0, 12, 0, 1]], "bdb27edcbeff3f11"),
];

#[test]
fn the_kat_texts_and_the_call_counts_of_triq_are_the_published_ones() {
    hqc::assert_kat_and_calls(&SETS);
}

#[test]
fn honest_decapsulations_of_triq_give_the_encapsulated_secret() {
    hqc::assert_honest(&SETS);
}

#[test]
fn triq_gives_another_secret_for_tampered_ciphertexts_and_the_sanitizers_find_nothing() {
    hqc::assert_tampering(&SETS);
}

#[test]
fn the_streams_and_samplers_of_triq_are_the_described_ones() {
    let dir = tempfile::tempdir().unwrap();
    let wrapped = ["0 0\n", "124246 50361\n", "38124 97649\n", "0 0\n"];
    for (set, wrapped) in SETS.iter().zip(wrapped) {
        let program = hqc::program(dir.path(), set, "triq_check", Some("sampling.c"), cc::GUIDE);
        assert_eq!(cc::run(&program, &["reduction"], "").stdout, wrapped, "{}", set.label);
        let secrets = cc::run(&program, &["stream", "201", "201", "201"], "").stdout;
        assert_eq!(secrets, "208 1024\n409 823\n610 622\n", "{}", set.label);
        let noise = cc::run(&program, &["stream", "1040", "1900", "1040"], "").stdout;
        assert_eq!(noise, "1040 1024\n2944 1024\n3984 1024\n", "{}", set.label);
        cc::run(&program, &["windows"], "");
    }
}
