//! The official helpers and the generator of `src/iccs`, against vectors and a second SM3.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSymbol as _};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::cc;

const REFUSED: &str = "-4 -";

fn driver(dir: &Path, flags: &[&str]) -> PathBuf {
    let mut sources = cc::c_files("src/iccs");
    sources.push(cc::repo("tests/c/iccs_driver.c"));
    let program = dir.join("iccs_driver");
    cc::compile(&sources, &[cc::repo("src/iccs")], flags, &program);
    program
}

/// Gives the commands to a driver and checks every answer.
fn check(program: &Path, cases: &[(String, String)]) -> cc::Written {
    let mut commands = String::new();
    for (command, _) in cases {
        writeln!(commands, "{command}").expect("a string takes any text");
    }
    let written = cc::run(program, &[], &commands);
    assert_eq!(written.stdout.lines().count(), cases.len());
    for ((command, expected), answer) in cases.iter().zip(written.stdout.lines()) {
        assert_eq!(answer, expected, "{command}");
    }
    written
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    match case[key].as_str().expect("the vectors hold a text here") {
        "" => "-",
        text => text,
    }
}

fn vectors() -> Value {
    let json = std::fs::read(cc::repo("testdata/iccs-vectors.json")).expect("the vectors exist");
    serde_json::from_slice(&json).expect("the vectors are JSON")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().expect("the vectors hold a list here")
}

/// Commands and expected answers of the three helpers.
fn helper_cases(vectors: &Value) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for case in list(vectors, "sm3") {
        let command = format!("sm3hash 256 {} {}", case["msg_len_bits"], text(case, "msg"));
        cases.push((command, format!("0 {}", text(case, "digest"))));
    }
    for (name, length, result) in [
        ("sm3hash", "digest_len_bits", "digest"),
        ("pseudohash", "digest_len_bits", "digest"),
        ("pseudoXOF", "output_len_bits", "output"),
    ] {
        for case in list(vectors, name) {
            let command =
                format!("{name} {} {} {}", case[length], case["msg_len_bits"], text(case, "msg"));
            let expected =
                if case["rc"] == 0 { text(case, result).to_owned() } else { "-".to_owned() };
            cases.push((command, format!("{} {expected}", case["rc"])));
        }
    }
    cases
}

fn state(value: &Value) -> String {
    let parts = value.as_array().expect("a state is a list of V, C and the counter");
    let parts: Vec<&str> = parts.iter().map(|part| part.as_str().expect("hex")).collect();
    parts.join(" ")
}

/// Replays the generator's vectors. Long outputs are given as digests, so answers are compared here.
fn check_generator(program: &Path, vectors: &Value) {
    let mut commands = String::new();
    for case in list(vectors, "drng") {
        if case["seed"].is_null() {
            commands.push_str("unseeded\n");
        } else {
            writeln!(commands, "seed {}", text(case, "seed")).expect("a string takes any text");
        }
        for call in list(case, "calls") {
            writeln!(commands, "draw {}", call["bits"]).expect("a string takes any text");
        }
    }
    let written = cc::run(program, &[], &commands);
    let mut answers = written.stdout.lines();
    let mut next = || answers.next().expect("there is an answer to every command");
    for case in list(vectors, "drng") {
        let label = &case["label"];
        assert_eq!(next(), format!("0 {}", state(&case["state_after_init"])), "{label}");
        for call in list(case, "calls") {
            let answer = next();
            let (rc, rest) = answer.split_once(' ').expect("an answer has several words");
            let (output, after) = rest.split_once(' ').expect("an answer has several words");
            assert_eq!(rc, "0");
            assert_eq!(after, state(&call["state_after"]), "{label}: {}", call["bits"]);
            if call["output"].is_string() {
                assert_eq!(output, text(call, "output"), "{label}: {}", call["bits"]);
            } else {
                let digest = hex(&Sha256::digest(from_hex(output)));
                assert_eq!(digest, text(call, "output_sha256"), "{label}: {}", call["bits"]);
            }
        }
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("the driver writes hex"))
        .collect()
}

/// Reproducible bytes without structure (splitmix64).
struct Bytes(u64);

impl Bytes {
    fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bytes.extend_from_slice(&(z ^ (z >> 31)).to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

fn sm3_cases() -> Vec<(String, String)> {
    let mut bytes = Bytes(1);
    (0..1500)
        .map(|length| {
            let message = bytes.take(length);
            let command = format!("sm3hash 256 {} {}", 8 * length, hex(&message));
            (command, format!("0 {}", hex(&sm3::Sm3::digest(&message))))
        })
        .collect()
}

/// The first `bits` bits of `message` and directly behind them the 32-bit counter.
fn with_counter(message: &[u8], bits: usize, counter: u32) -> Vec<u8> {
    let mut joined = vec![0u8; (bits + 32).div_ceil(8)];
    let mut put = |at: usize, bit: u8| joined[at / 8] |= bit << (7 - at % 8);
    for at in 0..bits {
        put(at, message[at / 8] >> (7 - at % 8) & 1);
    }
    for at in 0..32 {
        put(bits + at, u8::from(counter >> (31 - at) & 1 == 1));
    }
    joined
}

#[test]
fn every_vector_of_the_helpers_and_the_generator_is_reproduced() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = vectors();
    for flags in [cc::GUIDE, cc::SANITIZED] {
        let program = driver(dir.path(), flags);
        check(&program, &helper_cases(&vectors));
        check_generator(&program, &vectors);
    }
}

#[test]
fn sm3hash_agrees_with_another_sm3_on_random_bytes_of_every_length() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [cc::GUIDE, cc::SANITIZED] {
        check(&driver(dir.path(), flags), &sm3_cases());
    }
}

#[test]
fn a_block_of_pseudo_xof_is_the_hash_of_message_and_counter_at_any_bit_length() {
    let dir = tempfile::tempdir().unwrap();
    let program = driver(dir.path(), cc::GUIDE);
    let mut bytes = Bytes(2);
    let messages: Vec<(usize, Vec<u8>)> =
        (0..1100).map(|bits: usize| (bits, bytes.take(bits.div_ceil(8)))).collect();

    let mut commands = String::new();
    for (bits, message) in &messages {
        for counter in 1..=3 {
            let joined = hex(&with_counter(message, *bits, counter));
            writeln!(commands, "sm3hash 256 {} {joined}", bits + 32).unwrap();
        }
    }
    let hashes = cc::run(&program, &[], &commands).stdout;
    let mut hashes = hashes.lines().map(|line| line.strip_prefix("0 ").unwrap());

    let cases: Vec<(String, String)> = messages
        .iter()
        .map(|(bits, message)| {
            let blocks: String = hashes.by_ref().take(3).collect();
            (format!("pseudoXOF 768 {bits} {}", hex(message)), format!("0 {blocks}"))
        })
        .collect();
    check(&program, &cases);
}

#[test]
fn a_digest_length_that_is_not_offered_is_refused_with_one_line_on_stderr() {
    let dir = tempfile::tempdir().unwrap();
    let program = driver(dir.path(), cc::GUIDE);
    let cases: Vec<(String, String)> = ["sm3hash 255 8 00", "pseudohash 256 8 00"]
        .map(|command| (command.to_owned(), REFUSED.to_owned()))
        .into();
    for case in cases {
        let written = check(&program, &[case]);
        assert_eq!(written.stderr.lines().count(), 1, "{}", written.stderr);
    }
    let offered = [("sm3hash 256 8 00", 32), ("pseudohash 768 8 00", 96)];
    for (command, bytes) in offered {
        let written = cc::run(&program, &[], &format!("{command}\n"));
        assert_eq!(written.stdout.trim_end().len(), "0 ".len() + 2 * bytes);
        assert_eq!(written.stderr, "");
    }
}

#[test]
fn from_2_to_the_32_bits_on_the_digest_is_that_of_the_official_helpers() {
    let dir = tempfile::tempdir().unwrap();
    let program = driver(dir.path(), cc::GUIDE);
    let below = sm3::Sm3::digest(vec![0u8; 1 << 17]);
    let cases = [
        ("zeros 20".to_owned(), format!("0 {}", hex(&below))),
        (
            "zeros 32".to_owned(),
            "0 6ef22e2e10ff4cbd4a1590b79f37b504da1a08c0026d7382ac477177040d99f6".to_owned(),
        ),
    ];
    check(&program, &cases);
}

#[test]
fn helpers_and_generator_link_without_each_other_and_define_no_other_names() {
    let dir = tempfile::tempdir().unwrap();
    let sm3 = ["ngcc_sm3_append", "ngcc_sm3_finish", "ngcc_sm3_init"];
    for (file, functions) in [
        ("auxfunc.c", &["pseudoXOF", "pseudohash", "sm3hash"][..]),
        ("drng.c", &["get_random_number", "init_random_number"][..]),
    ] {
        let library = dir.path().join("library.so");
        let sources = [cc::repo("src/iccs").join(file), cc::repo("src/iccs/sm3.c")];
        let flags = [cc::GUIDE, &["-shared", "-Wl,--no-undefined"]].concat();
        cc::compile(&sources, &[], &flags, &library);

        let image = std::fs::read(&library).unwrap();
        let image = object::read::File::parse(&*image).unwrap();
        let defined: BTreeSet<&str> = image
            .dynamic_symbols()
            .filter(|symbol| symbol.is_definition() && symbol.is_global())
            .map(|symbol| symbol.name().unwrap())
            .collect();
        let expected: BTreeSet<&str> = sm3.iter().chain(functions).copied().collect();
        assert_eq!(defined, expected);
    }
}
