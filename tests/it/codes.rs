//! The codes, the ring and the samplers that HARE and TriQ-KEM share, against their definitions and the
//! values the descriptions name.

use std::path::PathBuf;

use crate::cc;

struct Codes {
    program: PathBuf,
    _dir: tempfile::TempDir,
}

impl Codes {
    fn compile() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let program = dir.path().join("codes_check");
        let dirs = ["kems/shared/codes", "src/iccs"];
        let mut sources: Vec<PathBuf> = dirs.iter().flat_map(|dir| cc::c_files(dir)).collect();
        sources.push(cc::repo("tests/c/codes_check.c"));
        cc::compile(&sources, &dirs.map(cc::repo), cc::SANITIZED, &program);
        Self { program, _dir: dir }
    }

    fn ask(&self, question: &str) -> String {
        let words: Vec<&str> = question.split(' ').collect();
        cc::run(&self.program, &words, "").stdout
    }
}

#[test]
fn field_ring_and_samplers_do_what_their_definitions_say() {
    let codes = Codes::compile();
    for question in ["bits", "field", "supports"] {
        codes.ask(question);
    }
    for n in [1, 2, 63, 64, 65, 127, 128, 1000, 16301, 20899] {
        codes.ask(&format!("ring {n}"));
    }
}

#[test]
fn both_codes_correct_whatever_lies_within_their_radius() {
    let codes = Codes::compile();
    for mult in [1, 3, 5, 6, 7, 9] {
        codes.ask(&format!("inner {mult}"));
    }
    for (n1, k) in [
        (32, 16),
        (81, 32),
        (91, 48),
        (151, 64),
        (42, 16),
        (64, 32),
        (108, 48),
        (136, 64),
        (255, 223),
    ] {
        codes.ask(&format!("outer {n1} {k}"));
    }
}

#[test]
fn the_code_words_are_the_described_ones() {
    let codes = Codes::compile();
    // The parity of the message 1 is the generator polynomial without its leading 1.
    let whole = "217 125 229 227 54 47 236 157 230 128 74 227 194 171 106 236 178 57 3 51 165 208 64 209 204 241\n";
    assert_eq!(codes.ask("parity 42 16 one"), whole);
    for (n1, k, begin, end) in [
        (32, 16, "79 44 81 100 ", " 118\n"),
        (81, 32, "167 202 61 210 ", " 246\n"),
        (91, 48, "49 251 191 160 ", " 175\n"),
        (151, 64, "8 105 198 6 ", " 84\n"),
        (64, 32, "45 216 239 24 253 ", " 189 29 232\n"),
        (108, 48, "193 91 190 154 101 ", "\n"),
        (136, 64, "120 227 198 174 170 ", "\n"),
    ] {
        let generator = codes.ask(&format!("parity {n1} {k} one"));
        assert!(generator.starts_with(begin) && generator.ends_with(end), "{n1} {k}: {generator}");
    }
    for (n1, k, mult, parity, digest) in [
        (42, 16, 3, "248 209 157 165 59 81 109 129 ", "5eda91d821720371"),
        (64, 32, 6, "216 228 218 182 83 75 36 28 ", "ea467e3e8ffdd305"),
        (108, 48, 7, "105 225 164 228 102 9 125 134 ", "b6d95feb0b3b0200"),
        (136, 64, 9, "43 141 95 26 23 21 192 235 ", "3258188c84780714"),
    ] {
        assert!(codes.ask(&format!("parity {n1} {k} count")).starts_with(parity), "{n1} {k}");
        assert!(codes.ask(&format!("code {n1} {k} {mult}")).starts_with(digest), "{n1} {k} {mult}");
    }
}
