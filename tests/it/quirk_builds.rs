//! The quirks of real packages, built and tested: every package of `testdata/quirks/builds` in one run of the program.
//!
//! One test on purpose: the outcome of each package must not depend on its neighbours, and one run shows that.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use ngcc::kat::{Mode, digest};
use serde_json::Value;

use crate::bench::{Run, Workspace};
use crate::cc::repo;

/// The packages in a workspace of their own, with the reference texts that each is said to bring.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    std::fs::remove_dir_all(workspace.path("kems")).unwrap();
    let from = repo("testdata/quirks/builds");
    for entry in walkdir::WalkDir::new(&from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(&from).unwrap().to_str().unwrap();
            workspace.write(below, &std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    let text = std::fs::read_to_string(from.join("KAT_KEM_Tiny.txt")).unwrap();
    let write = |below: &str, text: &str| workspace.write(&format!("kems/{below}"), text);
    let crlf = |text: &str| text.replace('\n', "\r\n");
    // Git keeps line ends of one kind, so the other kind is made here.
    for file in ["KEM_AlgorithmInstance.h", "kem.c"] {
        let file = format!("kems/q-crlf/src/{file}");
        let lf = std::fs::read_to_string(workspace.path(&file)).unwrap();
        workspace.write(&file, &crlf(&lf));
    }
    write("q-crlf/Test_Vectors/KAT_KEM_Crlf.txt", &crlf(&text));
    let sha256 = |text: &str, mode| digest(text.as_bytes(), mode, None).unwrap().sha256;
    let digest = sha256(&text, Mode::NoLen);
    write("q-nolen/kat.sha256", &format!("{digest} nolen Digest/KAT_KEM_Digest.txt\n"));
    let blank = text.lines().map(|line| match line.split_once("_Len =") {
        Some((field, _)) => format!("{field}_Len = \n"),
        None => format!("{line}\n"),
    });
    write("q-nolen/Test_Vectors/lengths left out.txt", &blank.collect::<String>());
    // Two records, then those of a set with longer keys, twelve in all.
    let third = text.find("Count = 2\n").unwrap();
    let others = text[third..].replace("SK = ", "SK = 00");
    let more = text[third..].lines().take(24).map(|line| format!("{line}\n")).collect::<String>();
    write("q-splice/Test_Vectors/spliced.txt", &format!("{}{others}{more}", &text[..third]));
    write("q-paths/测试 向量/Path/KAT_KEM_Path.txt", &text);
    write("q-package-text/Test_Vectors/KAT_KEM_Same.txt", &text);
    write("q-package-text/Test_Vectors/KAT_KEM_Short.txt", &text);
    // One digit of the fourth ciphertext.
    let fourth = text.find("Count = 3\n").unwrap();
    let at = fourth + text[fourth..].find("\nCT = ").unwrap() + "\nCT = ".len() + 4;
    let digit = if &text[at..=at] == "0" { "1" } else { "0" };
    let changed = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
    write("q-package-text/Test_Vectors/KAT_KEM_Other.txt", &changed);
    write("q-package-text/Test_Vectors/KAT_KEM_Published.txt", &changed);
    let line = |text: &str, instance: &str| {
        format!("{} strict {instance}/KAT_KEM_{instance}.txt\n", sha256(text, Mode::Strict))
    };
    let lines = [line(&text, "Part"), line(&changed, "Published"), line(&text, "Short")];
    write("q-package-text/kat.sha256", &lines.concat());
    workspace
}

/// A document of the pages: `choice` or `kat`.
fn document(workspace: &Workspace, instance: &str, role: &str) -> Value {
    let (submission, name) = instance.split_once('/').unwrap();
    let below = format!("store/pages/this/p/{submission}/records/reference/{name}__{role}.json");
    let text = std::fs::read_to_string(workspace.path(&below));
    serde_json::from_str(&text.unwrap_or_else(|e| panic!("{below}: {e}"))).unwrap()
}

/// What is said of an instance among the findings or failures.
fn said(run: &Run, list: &str, instance: &str) -> String {
    let label = format!("{}/choice", instance.replacen('/', "/reference/", 1));
    let summary = run.summary();
    let rows = summary[list].as_array().unwrap();
    let row = rows.iter().find(|row| row["action"] == label);
    row.map_or_else(String::new, |row| row["what"].as_str().unwrap().to_owned())
}

#[test]
fn every_quirk_of_a_package_is_built_and_tested_as_its_manifest_says() {
    let workspace = workspace();
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);

    // What passes, and with which flags: the first ones, but for the one instance that needs the others.
    let passing = [
        "q-clash/Left",
        "q-clash/Right",
        "q-common/Common",
        "q-crlf/Crlf",
        "q-define/One",
        "q-define/Two",
        "q-flags/Gnu",
        "q-flags/Standard",
        "q-header/Header",
        "q-include-c/Included",
        "q-mains/Excluded",
        "q-mains/Listed",
        "q-no-helpers/Bare",
        "q-nolen/Digest",
        "q-nolen/Text",
        "q-outside/Elsewhere",
        "q-own-drng/Own",
        "q-package-text/Same",
        "q-package-text/Short",
        "q-paths/Path",
        "q-slow/Three",
        "q-splice/First",
        "q-stack/Deep",
    ];
    for instance in passing {
        let choice = document(&workspace, instance, "choice");
        let kat = document(&workspace, instance, "kat");
        assert_eq!(kat["status"], "PASS", "{instance}: {kat}");
        let flags = if instance == "q-flags/Gnu" { "loose" } else { "strict" };
        assert_eq!(choice["flags"], flags, "{instance}: {choice}");
        assert_eq!(said(&run, "findings", instance), "", "{instance}");
    }
    let choice = document(&workspace, "q-flags/Gnu", "choice");
    let reason = choice["rejected"]["strict"].as_str().unwrap();
    assert!(reason.contains("kem.c") && reason.contains("asm"), "{reason}");
    assert_eq!(
        document(&workspace, "q-flags/Standard", "choice")["rejected"],
        serde_json::json!({})
    );
    let flags = &document(&workspace, "q-common/Common", "choice")["build_flags"];
    assert!(flags.as_str().unwrap().ends_with(" -fcommon"), "{flags}");

    // Which text was compared, and how much of it.
    let detail = |instance: &str| {
        document(&workspace, instance, "kat")["detail"].as_str().unwrap().to_owned()
    };
    assert_eq!(detail("q-slow/Three"), "(first 3 records only)");
    assert_eq!(document(&workspace, "q-slow/Three", "kat")["records"], 3);
    assert_eq!(
        detail("q-crlf/Crlf"),
        "(compared with `q-crlf/Test_Vectors/KAT_KEM_Crlf.txt` of the package)"
    );
    assert_eq!(
        detail("q-splice/First"),
        "(first 2 records only) (compared with `q-splice/Test_Vectors/spliced.txt` of the package)"
    );
    assert!(detail("q-paths/Path").contains("`q-paths/测试 向量/Path/KAT_KEM_Path.txt`"));
    assert_eq!(document(&workspace, "q-nolen/Text", "kat")["expected"]["mode"], "nolen");
    assert_eq!(detail("q-package-text/Short"), "(first 2 records only)");

    // What differs, and where.
    let mismatch = |instance: &str, place: &str| {
        let found = said(&run, "findings", instance);
        assert!(found.starts_with(&format!("KAT MISMATCH: {place}")), "{instance}: {found}");
    };
    mismatch("q-splice/Whole", "record 2, field SK, byte 0: ");
    mismatch("q-package-text/Other", "record 3, field CT, byte 2: ");
    mismatch("q-package-text/Published", "record 3, field CT, byte 2: ");
    let gone = said(&run, "findings", "q-package-text/Gone");
    assert!(gone.contains("no `q-package-text/Test_Vectors/KAT_KEM_Gone.txt`"), "{gone}");
    let part = said(&run, "findings", "q-package-text/Part");
    assert!(part.starts_with("KAT PARTIAL: 2 records were made"), "{part}");
    let endless = said(&run, "findings", "q-slow/Endless");
    assert!(endless.starts_with("KAT TIMEOUT: ") && endless.contains("1 s"), "{endless}");

    // What cannot be measured, with what to do.
    let missing = said(&run, "failures", "q-library/Missing");
    assert!(missing.contains("`ngcc-no-such/header.h` is not installed"), "{missing}");
    assert!(missing.contains("apt-get install libngccnosuch-dev"), "{missing}");
    let without = said(&run, "failures", "q-common/Without");
    assert!(without.contains("multiple definition of `tiny_state'"), "{without}");
    let shallow = said(&run, "failures", "q-stack/Shallow");
    assert!(shallow.contains("out of stack, limit 8192 KiB; `stack:` in the recipe"), "{shallow}");
    let summary = run.summary();
    let count = |list: &str| summary[list].as_array().unwrap().len();
    assert_eq!((count("findings"), count("failures")), (6, 3), "{}", run.out);

    // Names with blanks and other letters come through to the log of the build and the page.
    let log = log_of(&workspace, "q-paths/reference/Path/build");
    // CMake writes the names of objects with `_` for blanks.
    assert!(log.contains("实现_-_x86/reference_code/kem_主.c.o"), "{log}");
    let page = std::fs::read_to_string(workspace.path("store/pages/this/p/q-paths/index.md"));
    let page = page.unwrap();
    assert!(page.contains("PASS") && page.contains("测试 向量/Path/"), "{page}");
    let index = std::fs::read_to_string(workspace.path("store/pages/this/p/index.md")).unwrap();
    assert!(index.contains("1 PASS, 1 TIMEOUT"), "{index}");

    // Nothing of one library is seen by another: only the program's own names leave it.
    let names = exported(&workspace, "q-clash/reference/Left/build");
    assert!(names.iter().any(|name| name == "kem_keygen"), "{names:?}");
    assert!(!names.iter().any(|name| name == "tiny_secret"), "{names:?}");

    let again = workspace.run(&[]);
    let repeated: Vec<String> = again.ran();
    // Failures are tried again, results are not.
    assert!(
        repeated.iter().all(|l| ["q-library", "q-common", "q-stack", "q-slow"]
            .iter()
            .any(|s| l.starts_with(s))),
        "{repeated:?}"
    );
}

/// The record behind an action.
fn record(workspace: &Workspace, action: &str) -> Value {
    let trace = workspace.ngcc(&["--format", "json", "trace", action, "--pipeline", "p"]);
    let links: Value =
        serde_json::from_str(&trace.out).unwrap_or_else(|e| panic!("{e}: {trace:?}"));
    links[0]["record"].clone()
}

fn blob(workspace: &Workspace, id: &Value) -> Vec<u8> {
    let id = id.as_str().unwrap_or_else(|| panic!("`{id}` is no blob"));
    std::fs::read(workspace.path(&format!("store/blobs/{}/{id}", &id[..2]))).unwrap()
}

fn log_of(workspace: &Workspace, action: &str) -> String {
    let record = record(workspace, action);
    String::from_utf8(blob(workspace, &record["provenance"]["log"])).unwrap()
}

/// The names that a built library exports.
fn exported(workspace: &Workspace, action: &str) -> Vec<String> {
    use object::{Object as _, ObjectSymbol as _};
    let record = record(workspace, action);
    let bytes = blob(workspace, &record["outputs"]["library"]["blob"]);
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

#[test]
fn packages_that_are_not_here_are_one_section_and_no_error() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    for n in 1..=4 {
        let manifest = format!(
            "name: Away {n}\nfunction: kem\ninspected: false\ninstances: {{X: {{target_bits: 128}}, Y: }}\n\
             implementations:\n  reference:\n    version: reference\n    source: {{archive: a{n}.zip, bytes: 1, \
             sha256: {}}}\n",
            "0a".repeat(32)
        );
        workspace.write(&format!("kems/kem-0{n}/submission.yaml"), &manifest);
    }
    let run = workspace.ngcc(&["pipeline", "run", "p"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let help = "`ngcc kem fetch ID`, then `ngcc kem inspect ID`";
    assert!(run.out.contains("absent   kem-01 … kem-04 (reference)"), "{}", run.out);
    assert_eq!(run.out.matches(help).count(), 1, "{}", run.out);
    let plan = workspace.ngcc(&["pipeline", "plan", "p"]);
    assert!(plan.out.contains(&format!("unavailable; to have it: {help}\n")), "{}", plan.out);
    assert_eq!(plan.out.matches("not yet inspected; ").count(), 4, "{}", plan.out);
    let pages = workspace.path("store/pages/this/p");
    let index = std::fs::read_to_string(pages.join("index.md")).unwrap();
    assert!(index.contains("## Not available") && index.contains("kem-01 … kem-04"), "{index}");
    assert!(!pages.join("kem-01").exists() && pages.join("toy-1").exists());

    let list = workspace.ngcc(&["kem", "list"]);
    assert!(list.out.contains("kem-01  Away 1  2          128"), "{}", list.out);
    let list = workspace.ngcc(&["--format", "json", "kem", "list"]);
    let rows: Value = serde_json::from_str(&list.out).unwrap();
    assert_eq!(rows[0]["implementations"][0]["state"], "absent", "{}", list.out);
}

#[test]
fn the_packages_are_the_ones_the_readme_lists() {
    let text = std::fs::read_to_string(repo("testdata/quirks/builds/README.md")).unwrap();
    for entry in std::fs::read_dir(repo("testdata/quirks/builds/kems")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("| `{name}` |")), "{name} is not in the README");
    }
    assert!(Path::new(&repo("testdata/quirks/builds/KAT_KEM_Tiny.txt")).is_file());
}
