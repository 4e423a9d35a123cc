//! Our own HARE (kem-16): the published digests and calls, honest use, wrong input, its covering code.

use crate::cc;
use crate::hqc::{self, Set};

const fn set(label: &'static str, honest: usize, xof: [usize; 3], rejected: &'static str) -> Set {
    let [keygen, enc, dec] = xof;
    let calls = [[1, keygen, 0, 0], [2, enc, 0, 0], [0, dec, 0, 0]];
    let (rejection, refusals) = (-1, [-2, -2, -2]);
    Set { kem: "kem-16", label, honest, calls, rejection, rejected, refusals }
}

/// Keygen's calls depend on how many chunks x and y took; those of the others are published.
const SETS: [Set; 4] = [
    set("HARE-128-kr", 400, [7, 6, 8], "20234e22d22c806e"),
    set("HARE-256-kr", 150, [6, 6, 8], "57f976167e7f577a"),
    set("HARE-384-kr", 60, [7, 6, 9], "50989057dfc7f4bc"),
    set("HARE-512-kr", 40, [8, 6, 9], "adade37810e3a4a4"),
];

#[test]
fn the_kat_texts_and_the_call_counts_of_hare_are_the_published_ones() {
    hqc::assert_kat_and_calls(&SETS);
}

#[test]
fn honest_decapsulations_of_hare_give_the_encapsulated_secret() {
    hqc::assert_honest(&SETS);
}

#[test]
fn hare_refuses_tampered_ciphertexts_and_the_sanitizers_find_nothing() {
    hqc::assert_tampering(&SETS);
}

#[test]
fn the_covering_code_of_hare_is_the_described_one() {
    let dir = tempfile::tempdir().unwrap();
    for set in &SETS {
        let program = hqc::program(dir.path(), set, "hare_check", None, cc::GUIDE);
        let code = cc::run(&program, &["code"], "").stdout;
        assert_eq!(code, "5B6 993 C25 40000000000D4\n", "{}", set.label);
        let leaders = "3: 0 1\n7: 3 30\n341: 47\n682: 18 19\n1000: 2 42\n1023: 24 43\n1 51 972\n";
        assert_eq!(cc::run(&program, &["leaders"], "").stdout, leaders, "{}", set.label);
        cc::run(&program, &["radius"], "");
    }
}
