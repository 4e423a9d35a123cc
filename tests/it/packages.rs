//! Packages from the archive to the result: fetched from a folder, built, traced, and replaced by a later one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::Write as _;
use std::path::Path;

use sha2::Digest as _;

use crate::bench::{Run, Workspace};
use crate::cc::repo;

/// A ZIP of these files.
pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    sha2::Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Where instances stand in the package: blanks and Chinese on the way.
const PLACE: &str = "Implementations and Test_Vectors/参考 实现";

/// The toy KEM as a package with two instances.
fn package(remark: &str, document: &str) -> Vec<u8> {
    let read = |file: &str| std::fs::read(repo("testdata/toy-kem").join(file)).unwrap();
    let (code, header) = (read("KEM_AlgorithmInstance.c"), read("KEM_AlgorithmInstance.h"));
    let mut changed = code.clone();
    changed.extend_from_slice(remark.as_bytes());
    zip(&[
        ("中文资料/说明.pdf", document.as_bytes()),
        (&format!("{PLACE}/A/KEM_AlgorithmInstance.c"), &changed),
        (&format!("{PLACE}/A/KEM_AlgorithmInstance.h"), &header),
        (&format!("{PLACE}/B/KEM_AlgorithmInstance.c"), &code),
        (&format!("{PLACE}/B/KEM_AlgorithmInstance.h"), &header),
        (&format!("{PLACE}/B/.DS_Store"), b"junk"),
    ])
}

/// Pins a package in the manifest, and lays it in the folder `downloads/`.
fn pin(workspace: &Workspace, package: &[u8]) {
    std::fs::create_dir_all(workspace.path("downloads")).unwrap();
    std::fs::write(workspace.path("downloads/Toy (1).zip"), package).unwrap();
    let manifest = format!(
        "name: Toy\nfunction: kem\ninspected: true\ninstances: {{A: , B: }}\nimplementations:\n  reference:\n    \
         version: reference\n    source: {{archive: Toy.zip, sha256: {}, bytes: {}}}\n    recipe:\n      \
         directory: \"{PLACE}/{{instance}}\"\n",
        sha256(package),
        package.len()
    );
    workspace.write("kems/toy-1/submission.yaml", &manifest);
}

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.without_measuring();
    std::fs::remove_dir_all(workspace.path("kems/toy-1/src")).unwrap();
    workspace
}

fn fetch(workspace: &Workspace) -> Run {
    workspace.ngcc(&["kem", "fetch", "toy-1", "--from", "downloads"])
}

#[test]
fn an_absent_archive_is_a_row_with_the_command_that_fetches_it_and_no_error() {
    let workspace = workspace();
    let bytes = package("", "v1");
    pin(&workspace, &bytes);
    let run = workspace.ngcc(&["pipeline", "run", "p", "--offline"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("Toy.zip") && run.out.contains("ngcc kem fetch toy-1"), "{}", run.out);
    let plan = workspace.ngcc(&["pipeline", "plan", "p"]);
    assert!(plan.out.contains("unavailable"), "{}", plan.out);
    // No address and no folder: a line that says what to do.
    let fetch = workspace.ngcc(&["kem", "fetch", "toy-1"]);
    assert_eq!(fetch.code, Some(1));
    assert!(fetch.out.contains("--from"), "{}", fetch.out);
    // A folder that has another version.
    std::fs::write(workspace.path("downloads/Toy.zip"), b"PK other").unwrap();
    std::fs::remove_file(workspace.path("downloads/Toy (1).zip")).unwrap();
    let fetch = self::fetch(&workspace);
    assert_eq!(fetch.code, Some(1));
    assert!(fetch.out.contains("has 8 bytes and sha256"), "{}", fetch.out);
}

#[test]
fn a_package_is_measured_and_only_what_its_update_touches_is_measured_again() {
    let workspace = workspace();
    let first = package("", "v1");
    pin(&workspace, &first);
    let fetched = fetch(&workspace);
    assert_eq!(fetched.code, Some(0), "{}{}", fetched.out, fetched.err);
    assert!(fetched.out.contains("copied   Toy.zip (toy-1): 6 files"), "{}", fetched.out);
    assert!(fetch(&workspace).out.contains("present  Toy.zip"));
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let ran = run.ran();
    assert!(ran.contains(&"toy-1/reference/A/kat".to_owned()), "{ran:?}");
    let page =
        std::fs::read_to_string(workspace.path("store/pages/this/p/toy-1/index.md")).unwrap();
    assert!(page.contains("PASS"), "{page}");
    let trace = workspace.ngcc(&["trace", "A/build", "--pipeline", "p"]);
    let source = format!("Toy.zip:{PLACE}/A/KEM_AlgorithmInstance.c");
    assert!(trace.out.contains(&source), "{}", trace.out);
    assert!(trace.out.contains(&format!("Toy.zip sha256 {}", sha256(&first))), "{}", trace.out);
    let old = trace.out.lines().find_map(|l| l.trim().strip_prefix("record     ")).unwrap();

    // Another document: nothing runs.
    pin(&workspace, &package("", "v2"));
    assert_eq!(fetch(&workspace).code, Some(0));
    let run = workspace.run(&[]);
    assert_eq!(run.summary()["executed"], 0, "{:?}", run.ran());

    // Another source of A: its nodes run, B's do not.
    let third =
        package("int another_symbol(void);\nint another_symbol(void) { return 1; }\n", "v2");
    pin(&workspace, &third);
    assert_eq!(fetch(&workspace).code, Some(0));
    let why = workspace.ngcc(&["why", "A/build", "--pipeline", "p"]);
    let cause = format!("`{PLACE}/A/KEM_AlgorithmInstance.c` of the package `Toy.zip` changed");
    assert!(why.out.contains(&cause), "{}", why.out);
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.ran().iter().all(|label| !label.contains("/B/")), "{:?}", run.ran());
    assert!(run.ran().contains(&"toy-1/reference/A/build".to_owned()), "{:?}", run.ran());

    // The old record is still traced, to the package that it was made from.
    let trace = workspace.ngcc(&["trace", &old[..16]]);
    assert_eq!(trace.code, Some(0), "{}", trace.err);
    assert!(trace.out.contains(&format!("Toy.zip sha256 {}", sha256(&first))), "{}", trace.out);
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

/// Every file below a directory.
fn listing(dir: &Path) -> Vec<std::path::PathBuf> {
    let found = walkdir::WalkDir::new(dir).into_iter().map(|e| e.unwrap().into_path());
    found.collect()
}

#[test]
fn a_refused_archive_leaves_the_message_and_nothing_outside_the_store() {
    let workspace = workspace();
    let bytes = zip(&[("../outside.c", b"int x;"), ("A/k.c", b"int y;")]);
    pin(&workspace, &bytes);
    let outside = || -> Vec<_> {
        let all = listing(workspace.root()).into_iter();
        all.filter(|path| !path.starts_with(workspace.path("store"))).collect()
    };
    let before = outside();
    let fetched = fetch(&workspace);
    assert_eq!(fetched.code, Some(1));
    assert!(
        fetched.out.contains("Toy.zip") && fetched.out.contains("../outside.c"),
        "{}",
        fetched.out
    );
    assert_eq!(outside(), before);
    // What could not be unpacked stays unavailable.
    let run = workspace.ngcc(&["pipeline", "run", "p"]);
    assert!(run.out.contains("ngcc kem fetch toy-1"), "{}", run.out);
}

/// The known-answer text of the toy KEM, as a run made it.
fn toy_text() -> Vec<u8> {
    let workspace = Workspace::new();
    workspace.without_measuring();
    workspace.edit("pipelines/p.yaml", "kat: {kind: kat,", "kat: {kind: kat, keep_text: 1 MiB,");
    assert_eq!(workspace.run(&[]).code, Some(0));
    let named = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("kat-sha256-"))
    };
    let reference = listing(&workspace.path("store/references")).into_iter().find(named).unwrap();
    let reference: serde_json::Value =
        serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    let blob = reference["blob"].as_str().unwrap();
    std::fs::read(workspace.path(&format!("store/blobs/{}/{blob}", &blob[..2]))).unwrap()
}

/// A package in LoongKEM's shape: CRLF, another header name, blanks and Chinese in paths, known answers, a driver with
/// `main`, junk.
fn shaped(text: &[u8], remark: &str, document: &str) -> Vec<u8> {
    let crlf = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).unwrap().replace('\n', "\r\n").into_bytes()
    };
    let read = |file: &str| std::fs::read_to_string(repo("testdata/toy-kem").join(file)).unwrap();
    let code = read("KEM_AlgorithmInstance.c").replace("KEM_AlgorithmInstance.h", "KEM_Toy.h");
    let header = read("KEM_AlgorithmInstance.h");
    let base = "Implementations and Test_Vectors/Implementations/Reference_Implementation";
    let mut files: Vec<(String, Vec<u8>)> =
        vec![("中文资料/算法 说明.pdf".to_owned(), document.as_bytes().to_vec())];
    for instance in ["Toy128", "Toy256"] {
        let remark = if instance == "Toy128" { remark } else { "" };
        let name =
            format!("#undef ALGORITHM_INSTANCE\n#define ALGORITHM_INSTANCE \"{instance}\"\n");
        let end = header.rfind("#endif").unwrap();
        let header = format!("{}{name}{}", &header[..end], &header[end..]);
        let mut add = |file: &str, text: &str| {
            files.push((format!("{base}/{instance}/{file}"), crlf(text.as_bytes())));
        };
        add("KEM_Toy.c", &format!("{code}{remark}"));
        add("KEM_Toy.h", &header);
        add("KAT_KEM.c", "#include \"KEM_Toy.h\"\nint main(void) { return 0; }\n");
        add(".DS_Store", "junk");
        let vectors =
            format!("Implementations and Test_Vectors/Test_Vectors/KAT_KEM_{instance}.txt");
        files.push((vectors, crlf(text)));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    zip(&files)
}

#[test]
fn a_package_goes_from_add_to_a_page_without_editing_and_an_update_runs_what_it_touches() {
    let text = toy_text();
    let workspace = Workspace::new();
    workspace.without_measuring();
    std::fs::remove_dir_all(workspace.path("kems/toy-1")).unwrap();
    let lay = |name: &str, bytes: Vec<u8>| std::fs::write(workspace.path(name), bytes).unwrap();
    lay("Toy KEM.zip", shaped(&text, "", "v1"));
    let added = workspace.ngcc(&["kem", "add", "Toy KEM.zip"]);
    assert_eq!(added.code, Some(0), "{}{}", added.out, added.err);
    let manifest = std::fs::read_to_string(workspace.path("kems/toy-kem/submission.yaml")).unwrap();
    assert!(manifest.contains("inspected: true") && !manifest.contains("ASK"), "{manifest}");
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let page =
        std::fs::read_to_string(workspace.path("store/pages/this/p/toy-kem/index.md")).unwrap();
    assert!(page.matches("PASS").count() >= 2 && page.contains("Toy256"), "{page}");

    // The same archive again, and another of that name, are told apart from a new submission.
    let again = workspace.ngcc(&["kem", "add", "Toy KEM.zip", "--id", "other"]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("already the package of `toy-kem`"), "{}", again.err);

    lay("Toy KEM v2.zip", shaped(&text, "", "v2"));
    let update = |file: &str, more: &[&str]| {
        let mut args = vec!["kem", "update", "toy-kem", file, "--pipeline", "p"];
        args.extend(more);
        workspace.ngcc(&args)
    };
    let documents = update("Toy KEM v2.zip", &[]);
    assert_eq!(documents.code, Some(0), "{}{}", documents.out, documents.err);
    assert!(documents.out.contains("no action of pipeline `p` runs"), "{}", documents.out);
    assert_eq!(workspace.run(&[]).summary()["executed"], 0);

    let remark = "int other_symbol(void);\nint other_symbol(void) { return 1; }\n";
    lay("Toy KEM v3.zip", shaped(&text, remark, "v2"));
    let before = std::fs::read_to_string(workspace.path("kems/toy-kem/submission.yaml")).unwrap();
    let dry = update("Toy KEM v3.zip", &["--dry-run"]);
    assert!(dry.out.contains("reference/Toy128: to be measured again"), "{}", dry.out);
    assert!(dry.out.contains("unchanged: reference/Toy256"), "{}", dry.out);
    let after = std::fs::read_to_string(workspace.path("kems/toy-kem/submission.yaml")).unwrap();
    assert_eq!(after, before, "a dry run writes nothing");
    let third = update("Toy KEM v3.zip", &[]);
    assert!(!third.out.contains("Toy256/build"), "{}", third.out);
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.ran().contains(&"toy-kem/reference/Toy128/build".to_owned()), "{:?}", run.ran());
    assert!(run.ran().iter().all(|label| !label.contains("Toy256")), "{:?}", run.ran());

    // Other known answers: a dry run shows it and writes nothing, the update takes the digests over.
    let other = String::from_utf8(text.clone()).unwrap().replacen("SS = ", "SS = 00", 1);
    lay("Toy KEM v4.zip", shaped(other.as_bytes(), remark, "v2"));
    let kat = || std::fs::read_to_string(workspace.path("kems/toy-kem/kat.sha256")).unwrap();
    let before = kat();
    let dry = update("Toy KEM v4.zip", &["--dry-run"]);
    assert!(dry.out.contains("toy-kem/reference/Toy256/kat"), "{}{}", dry.out, dry.err);
    assert_eq!(kat(), before);
    let fourth = update("Toy KEM v4.zip", &[]);
    assert_eq!(fourth.code, Some(0), "{}{}", fourth.out, fourth.err);
    let after = kat();
    assert_eq!(after.lines().count(), 2);
    assert!(before.lines().zip(after.lines()).all(|(a, b)| a[..64] != b[..64]), "{after}");
}

#[test]
fn a_manifest_from_the_catalogue_is_completed_by_inspecting_the_fetched_package() {
    let text = toy_text();
    let workspace = Workspace::new();
    workspace.without_measuring();
    std::fs::remove_dir_all(workspace.path("kems/toy-1/src")).unwrap();
    std::fs::remove_file(workspace.path("kems/toy-1/kat.sha256")).unwrap();
    let package = shaped(&text, "", "v1");
    std::fs::create_dir_all(workspace.path("downloads")).unwrap();
    std::fs::write(workspace.path("downloads/Toy.zip"), &package).unwrap();
    let manifest = format!(
        "name: The Toy\nfunction: kem\nsurvey: {{verdict: mixed}}\nnotes: Known from the catalogue\ninspected: false\n\
         instances: {{Toy128: {{target_bits: 128}}, Toy256: }}\nimplementations:\n  reference:\n    version: reference\n    \
         source: {{archive: Toy.zip, sha256: {}, bytes: {}}}\n",
        sha256(&package),
        package.len()
    );
    workspace.write("kems/toy-1/submission.yaml", &manifest);
    let early = workspace.ngcc(&["kem", "inspect", "toy-1"]);
    assert_eq!(early.code, Some(2));
    assert!(early.err.contains("ngcc kem fetch toy-1"), "{}", early.err);
    let fetched = fetch(&workspace);
    assert!(fetched.out.contains("next: ngcc kem inspect toy-1"), "{}", fetched.out);
    let run = workspace.ngcc(&["pipeline", "run", "p"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("ngcc kem inspect toy-1"), "{}", run.out);

    let inspected = workspace.ngcc(&["kem", "inspect", "toy-1"]);
    assert_eq!(inspected.code, Some(0), "{}{}", inspected.out, inspected.err);
    let now = std::fs::read_to_string(workspace.path("kems/toy-1/submission.yaml")).unwrap();
    for kept in ["name: The Toy", "verdict: mixed", "Known from the catalogue", "target_bits: 128"]
    {
        assert!(now.contains(kept), "{kept}: {now}");
    }
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.ran().contains(&"toy-1/reference/Toy256/kat".to_owned()), "{:?}", run.ran());
    // What somebody has checked stays as it is.
    let again = workspace.ngcc(&["kem", "inspect", "toy-1"]);
    assert!(again.out.contains("stays as it is"), "{}", again.out);
    let after = std::fs::read_to_string(workspace.path("kems/toy-1/submission.yaml")).unwrap();
    assert_eq!(after, now);
}
