//! Sources with the NIST API: the generators, the adapter and the layout of their known answers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::bench::Workspace;
use crate::cc::{self, repo};

/// SHA-256 of the toy's text with one record, as it is.
const TOY_ONE: &str = "37ed26889f8bf5572f00b16e970f3765b381a13b83382cb7cf6af6d8f3801718";

/// The same with three records.
const TOY_THREE: &str = "0cc2b2dc1b9d3136447b660f9add057cb35b08e9eaba51dd04ce51c2c09a13c2";

/// The seeds of the first two records of every NIST response file: the generator after the seed 00 01 .. 2f.
const NIST_SEEDS: [&str; 2] = [
    "061550234D158C5EC95595FE04EF7A25767F2E24CC2BC479D09D86DC9ABCFDE7056A8C266F9EF97ED08541DBD2E1FFA1",
    "D81C4D8D734FCBFBEADE3D3F8A039FAA2A2C9957E835AD55B22E75BF57BB556AC81ADDE6AEEB4A5A875C3BFCADFA958F",
];

fn counting(bytes: u8) -> String {
    (0..bytes).map(|byte| format!("{byte:02X}")).collect()
}

fn generator(dir: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let ours = [name, "nist_random"].map(|n| repo("src/driver").join(format!("{n}.c")));
    let mut sources = ours.to_vec();
    sources.push(repo("tests/c/nist_check.c"));
    let program = dir.join(name);
    cc::compile(&sources, &[repo("src/driver")], flags, &program);
    program
}

fn answers(program: &Path, commands: &[String]) -> Vec<String> {
    let written = cc::run(program, &[], &commands.join("\n"));
    written.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_drbg_gives_the_published_seeds_under_both_of_its_names() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [cc::GUIDE, cc::SANITIZED] {
        let program = generator(dir.path(), "nist_drbg", flags);
        let seed = format!("seed {}", counting(48));
        let given = answers(&program, &[seed.clone(), "draw 48".into(), "draw 48".into()]);
        assert_eq!(given, ["0", NIST_SEEDS[0], NIST_SEEDS[1]]);
        // A request is one unit: its length matters for what comes after it.
        let given = answers(&program, &[seed.clone(), "draw 20".into(), "draw 48".into()]);
        assert_eq!(given[1], NIST_SEEDS[0][..40]);
        assert_ne!(given[2], NIST_SEEDS[1]);
        let given = answers(&program, &[seed, "bits 13".into()]);
        assert_eq!(given[1], "0610", "0615 without its last three bits");
    }
}

#[test]
fn a_seed_of_another_length_is_entropy_and_personalisation() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [cc::GUIDE, cc::SANITIZED] {
        let program = generator(dir.path(), "nist_drbg", flags);
        let first = |seed: &str| answers(&program, &[format!("seed {seed}"), "draw 48".into()]);
        // 64 bytes, as the ICCS layout has them: the last 16 are exclusive-ored onto the first.
        let folded: String =
            (0..48_u8).map(|i| format!("{:02X}", if i < 16 { i ^ (i + 48) } else { i })).collect();
        assert_eq!(first(&counting(64)), first(&folded));
        assert_eq!(first("-"), first(&"00".repeat(48)));
        assert_eq!(first("0102"), first(&format!("0102{}", "00".repeat(46))));
        assert_eq!(first(&counting(96))[0], "0");
        assert_eq!(first(&counting(97))[0], "-2");
    }
}

#[test]
fn the_generator_of_hqc_is_one_stream_of_shake256() {
    // Made with Python's hashlib: the seed 00 01 02 ..., then the byte 1.
    let cases = [
        (0, "94DA6280B240EA6A2AB2CFDF0FB301FD"),
        (48, "42C667A186390F26C8F024D31D5FE3D2"),
        (64, "B549BEEE57FF5BC4CA2832AC429ED61A"),
        (134, "ABA8695BB14732C91C5069E297F347DE"),
        (135, "62DBB9AA632972437588A494776BBED6"),
        (136, "C6BCC13094612C4394D73083AC93CA53"),
        (200, "F16931E7E9C64EEF127D189B6D4D4AA2"),
    ];
    let dir = tempfile::tempdir().unwrap();
    for flags in [cc::GUIDE, cc::SANITIZED] {
        let program = generator(dir.path(), "nist_shake", flags);
        for (bytes, expected) in cases {
            let seed = if bytes == 0 { "-".to_owned() } else { counting(bytes) };
            let given = answers(&program, &[format!("seed {seed}"), "draw 16".into()]);
            assert_eq!(given, ["0", expected], "{bytes} bytes");
        }
        let seed = format!("seed {}", counting(48));
        let far = answers(&program, &[seed, "draw 300".into(), "draw 16".into()]);
        assert_eq!(far[2], "B7A47E812A4D334BCED640B061720985", "one stream, however it is cut");
    }
}

/// The toy as a library, the KAT driver, and the text it makes.
fn toy_text(dir: &Path, flags: &[&str], args: &[&str]) -> String {
    let library = dir.join("toy.so");
    let program = dir.join("kat");
    let own = |names: &[&str]| -> Vec<PathBuf> {
        names.iter().map(|name| repo("src").join(format!("{name}.c"))).collect()
    };
    let mut sources = vec![repo("testdata/toy-nist/kem.c")];
    let linked = ["driver/shim", "driver/nist", "driver/nist_random", "driver/nist_drbg"];
    sources.extend(own(&linked));
    let script = format!("-Wl,--version-script={}", repo("src/driver/exports.map").display());
    let api = [
        "-shared",
        "-DNGCC_BUILD_KEM",
        "-DNGCC_NIST",
        "-DNGCC_NIST_PREFIX=TOY_",
        "-DNGCC_ID=\"toy-2\"",
        "-DNGCC_INSTANCE=\"Toy\"",
        "-DNGCC_INSTANCE_HEADER_NONE",
        "-DNGCC_INSTANCE_HEADER=\"api.h\"",
        &script,
    ];
    let dirs = ["testdata/toy-nist", "src/nist", "src/driver"].map(repo);
    cc::compile(&sources, &dirs, &[flags, &api].concat(), &library);
    let parts = ["kat_main", "kem", "report", "crash"].map(|name| format!("driver/{name}"));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let mut sources = own(&parts);
    sources.extend(own(&["iccs/drng", "iccs/sm3"]));
    sources.push("-ldl".into());
    cc::compile(&sources, &["src/iccs", "src/driver"].map(repo), flags, &program);
    let all = [&[library.to_str().unwrap()], args].concat();
    cc::run(&program, &all, "").stdout
}

#[test]
fn the_layout_is_that_of_a_response_file_and_its_seeds_are_nists() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [cc::GUIDE, cc::SANITIZED] {
        let text = toy_text(dir.path(), flags, &["--layout", "nist", "--count", "3"]);
        let records: Vec<&str> = text.split("\n\n").collect();
        assert_eq!(records.len(), 3);
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "nothing after the last record");
        for (i, record) in records.iter().enumerate() {
            let fields: Vec<(&str, &str)> =
                record.lines().map(|line| line.split_once(" = ").unwrap()).collect();
            assert_eq!(fields[0], ("count", i.to_string().as_str()));
            if let Some(seed) = NIST_SEEDS.get(i) {
                assert_eq!(fields[1], ("seed", *seed));
            }
            let sizes: Vec<(&str, usize)> =
                fields[2..].iter().map(|(key, value)| (*key, value.len() / 2)).collect();
            assert_eq!(sizes, [("pk", 40), ("sk", 72), ("ct", 48), ("ss", 32)]);
        }
        assert_eq!(format!("{:x}", Sha256::digest(&text)), TOY_THREE);
        let one = toy_text(dir.path(), flags, &["--layout", "nist"]);
        assert_eq!(one.trim_end(), records[0]);
        assert_eq!(format!("{:x}", Sha256::digest(&one)), TOY_ONE);
        // The official layout stays possible: 64 bytes of seed from the official generator.
        let official = toy_text(dir.path(), flags, &["--count", "1"]);
        assert!(official.starts_with("Count = 0\nSeed_Len = 64\nSeed = 927F06B594798A4D"));
    }
}

const MANIFEST: &str = "\
name: Toy with another API
function: kem
licence: Ours <for tests>
instances:
  One:
    sizes: {pk: 40, sk: 72, ct: 48, ss: 32}
  Three:
    sizes: {pk: 40, sk: 72, ct: 48, ss: 32}
implementations:
  plain:
    version: baseline
    source: {directory: src}
    recipe: {api: nist, prefix: TOY_}
";

/// The toy as the submission `toy-2`; its digests as given.
fn workspace(one: &str, three: &str) -> Workspace {
    let workspace = Workspace::new();
    for file in ["api.h", "kem.c"] {
        let text = std::fs::read_to_string(repo("testdata/toy-nist").join(file)).unwrap();
        workspace.write(&format!("kems/toy-2/src/{file}"), &text);
    }
    workspace.write("kems/toy-2/submission.yaml", MANIFEST);
    let digests = format!("{one} nist:1 One/kat.txt\n{three} nist:3 Three/kat.txt\n");
    workspace.write("kems/toy-2/kat.sha256", &digests);
    workspace
}

#[test]
fn a_baseline_is_built_tested_timed_and_shown_without_a_share_of_helpers() {
    let workspace = workspace(TOY_ONE, TOY_THREE);
    workspace.edit("pipelines/p.yaml", "[md, json]", "[md, html, csv, json]");
    let run = workspace.run(&["toy-2"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let summary = run.summary();
    assert_eq!((&summary["failed"], &summary["findings"]), (&0.into(), &serde_json::json!([])));
    let pages = workspace.path("store/pages/this/p-selection/toy-2");
    let page = std::fs::read_to_string(pages.join("index.md")).unwrap();
    assert!(page.contains("Licence of the source: Ours"), "{page}");
    assert_eq!(page.matches("PASS").count(), 2, "{page}");
    assert!(page.contains("not applicable") && !page.contains("0.0%"), "{page}");
    assert!(page.contains("none of the helpers is in the library"), "{page}");
    let html = std::fs::read_to_string(pages.join("index.html")).unwrap();
    assert!(html.contains("Ours &lt;for tests&gt;"), "{html}");
    let figures = std::fs::read_to_string(pages.join("figures.csv")).unwrap();
    let rows: Vec<&str> = figures.lines().skip(1).collect();
    assert_eq!(rows.len(), 2 * 3);
    assert!(rows.iter().all(|r| r.contains("not applicable,not applicable")), "{figures}");
    assert_eq!(workspace.run(&["toy-2"]).summary()["executed"], 0);
}

#[test]
fn a_wrong_digest_and_a_changed_text_are_findings() {
    let workspace = workspace(TOY_ONE, &TOY_ONE.replace(&TOY_ONE[..1], "0"));
    workspace.without_measuring();
    let run = workspace.run(&["toy-2"]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let findings = run.summary()["findings"].as_array().unwrap().clone();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["action"], "toy-2/plain/Three/choice");
    let what = findings[0]["what"].as_str().unwrap();
    assert!(what.starts_with("KAT MISMATCH: the digest differs"), "{what}");

    // The text of `One` passed and is at hand, so the place of a difference to it is named.
    workspace.write("kems/toy-2/kat.sha256", &format!("{TOY_ONE} nist:1 One/kat.txt\n"));
    workspace.edit("kems/toy-2/src/kem.c", "secret(ss, hidden, pk);", "secret(ss, ct, pk);");
    workspace.edit(
        "kems/toy-2/src/kem.c",
        "secret(ss, hidden, sk + SEED);",
        "secret(ss, ct, sk + SEED);",
    );
    let run = workspace.run(&["toy-2"]);
    let findings = run.summary()["findings"].as_array().unwrap().clone();
    let what: Vec<&str> = findings.iter().map(|f| f["what"].as_str().unwrap()).collect();
    assert!(what[0].starts_with("KAT MISMATCH: record 0, field ss, byte 0: `"), "{what:?}");
    assert!(what[1].starts_with("KAT NOKAT"), "{what:?}");
}

#[test]
fn a_wrong_secret_and_a_wrong_generator_are_found() {
    let workspace = workspace(TOY_ONE, TOY_THREE);
    workspace.without_measuring();
    workspace.edit(
        "kems/toy-2/submission.yaml",
        "prefix: TOY_",
        "prefix: TOY_, defines: {TOY_WRONG_SS: }",
    );
    let findings = workspace.run(&["toy-2"]).summary()["findings"].as_array().unwrap().clone();
    let wrong = "KAT CRYPTOFAIL: kem_dec returned another secret than kem_enc at count 0";
    assert!(findings.iter().all(|f| f["what"] == wrong), "{findings:?}");
    assert_eq!(findings.len(), 2);
    workspace.edit("kems/toy-2/submission.yaml", "defines: {TOY_WRONG_SS: }", "generator: shake");
    let findings = workspace.run(&["toy-2"]).summary()["findings"].as_array().unwrap().clone();
    let mismatch = |f: &serde_json::Value| f["what"].as_str().unwrap().starts_with("KAT MISMATCH");
    assert!(findings.len() == 2 && findings.iter().all(mismatch), "{findings:?}");
}
