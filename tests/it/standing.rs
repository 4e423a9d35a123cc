//! A run that stands on the one before: what counts as "nothing has moved", and that every kind of change is seen.
//!
//! The oracle is planning from scratch: whatever was changed, `pipeline plan` must say the same with and without what
//! the last run left behind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use crate::bench::Workspace;

const PIPELINE: &str = "\
about: Two steps without a compiler
select: [\"s-*\"]
stages:
  first:
    kind: command
    scope: instance
    argv: [cat, \"${input:src}/k.c\"]
    inputs: {src: sources, more: extra/more.txt}
    outputs: {out: out.txt}
    stdout: out
    tools: [cat]
  second:
    kind: command
    scope: instance
    argv: [sort, \"${input:in}\"]
    inputs: {in: first.out}
    outputs: {out: out.txt}
    stdout: out
    env: {LC_ALL: C}
    tools: [sort]
  report: {kind: report, needs: [second], formats: [md, json]}
";

fn manifest(name: &str) -> String {
    format!(
        "name: {name}\nfunction: kem\ninspected: true\ninstances:\n  A:\n    sizes: {{pk: 1, sk: 1, ct: 1, ss: 1}}\nimplementations:\n  reference:\n    version: reference\n    source: {{directory: src}}\n    recipe: {{sources: [k.c], header: k.h}}\n"
    )
}

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    std::fs::remove_dir_all(workspace.path("kems/toy-1")).unwrap();
    workspace.write("pipelines/p.yaml", PIPELINE);
    workspace.write("extra/more.txt", "more\n");
    for n in 0..4 {
        workspace.write(&format!("kems/s-{n}/submission.yaml"), &manifest(&format!("S{n}")));
        workspace.write(&format!("kems/s-{n}/src/k.c"), &format!("int k{n};\nint a;\n"));
        workspace.write(&format!("kems/s-{n}/src/k.h"), "\n");
    }
    workspace
}

/// Until stamps made so far are older than a tick of the clock.
fn settle() {
    std::thread::sleep(Duration::from_millis(60));
}

/// Runs until all of it stands.
fn stand(workspace: &Workspace) {
    settle();
    assert_eq!(workspace.run(&[]).code, Some(0));
    settle();
    let run = workspace.run(&[]);
    assert_eq!((run.code, planned(&run.summary())), (Some(0), 0), "{}{}", run.out, run.err);
}

fn planned(summary: &serde_json::Value) -> u64 {
    summary["planned"].as_u64().unwrap()
}

/// What `pipeline plan` says, by action.
fn plan(workspace: &Workspace, more: &[&str]) -> Vec<(String, String, String)> {
    let run = workspace.ngcc(&[&["--format", "json", "pipeline", "plan", "p"], more].concat());
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let all: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let text = |row: &serde_json::Value, field: &str| row[field].to_string();
    let rows = all["actions"].as_array().unwrap().iter();
    let mut rows: Vec<_> =
        rows.map(|r| (text(r, "action"), text(r, "status"), text(r, "why"))).collect();
    rows.sort();
    rows
}

fn forget_standing(workspace: &Workspace) {
    for entry in std::fs::read_dir(workspace.path("store/cache")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_str().unwrap().starts_with("standing-") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

fn rewrite_keeping_time(path: &Path, text: &str) {
    let modified = std::fs::metadata(path).unwrap().modified().unwrap();
    std::fs::write(path, text).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(modified).unwrap();
}

#[test]
fn a_run_of_which_nothing_moved_plans_nothing_and_one_changed_source_plans_its_submission_alone() {
    let workspace = workspace();
    stand(&workspace);
    workspace.edit("kems/s-2/src/k.c", "int a;", "int z;");
    let run = workspace.run(&[]);
    // Two steps and a page of its own; the index of all is looked up, and its inputs turn out to be as they were.
    assert_eq!(run.ran().len(), 3, "{:?}", run.ran());
    let summary = run.summary();
    assert_eq!((planned(&summary), summary["actions"].as_u64()), (4, Some(4 * 3 + 1)));
    assert_eq!(summary["reused"].as_u64(), Some(10));
    settle();
    assert_eq!(workspace.run(&[]).ran(), Vec::<String>::new());
    settle();
    assert_eq!(planned(&workspace.run(&[]).summary()), 0);
}

#[test]
fn whatever_changes_the_plan_is_that_of_planning_from_scratch() {
    type Change = (&'static str, fn(&Workspace));
    let changes: [Change; 17] = [
        ("nothing", |_| {}),
        ("a source, size and time kept", |w| {
            rewrite_keeping_time(&w.path("kems/s-1/src/k.c"), "int k1;\nint b;\n");
        }),
        ("touched files", |w| {
            let file = std::fs::File::open(w.path("kems/s-1/src/k.c")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
        }),
        ("a new header", |w| w.write("kems/s-1/src/new.h", "int n;\n")),
        ("a file in a new directory", |w| w.write("kems/s-1/src/deep/er/new.h", "int n;\n")),
        ("a header removed again", |w| {
            std::fs::remove_file(w.path("kems/s-1/src/new.h")).unwrap();
        }),
        ("a manifest with another instance", |w| {
            let text = manifest("S3")
                .replace("  A:", "  B:\n    sizes: {pk: 2, sk: 1, ct: 1, ss: 1}\n  A:");
            w.write("kems/s-3/submission.yaml", &text);
        }),
        ("known answers appear", |w| {
            w.write(
                "kems/s-0/kat.sha256",
                &format!("{} strict A/KAT_KEM_A.txt\n", "ab".repeat(32)),
            );
        }),
        ("a new submission", |w| {
            w.write("kems/s-9/src/k.c", "int k9;\n");
            w.write("kems/s-9/src/k.h", "\n");
            w.write("kems/s-9/submission.yaml", &manifest("S9"));
        }),
        ("a submission gone", |w| std::fs::remove_dir_all(w.path("kems/s-0")).unwrap()),
        ("the manifest alone gone", |w| {
            std::fs::remove_file(w.path("kems/s-2/submission.yaml")).unwrap();
        }),
        ("the manifest back", |w| w.write("kems/s-2/submission.yaml", &manifest("S2"))),
        ("a file that all read", |w| w.write("extra/more.txt", "another\n")),
        ("another pipeline", |w| w.edit("pipelines/p.yaml", "LC_ALL: C", "LC_ALL: POSIX")),
        ("another system", |w| w.edit("systems/this.yaml", "arch: any", "arch: any\ncpu: 0")),
        ("a record gone", |w| {
            let records = walkdir::WalkDir::new(w.path("store/records")).into_iter();
            let file = records.flatten().find(|e| e.file_type().is_file()).unwrap();
            std::fs::remove_file(file.path()).unwrap();
        }),
        ("sources behind another link", |w| {
            w.write("other/k.c", "int other;\n");
            w.write("other/k.h", "\n");
            std::fs::remove_dir_all(w.path("kems/s-1/src")).unwrap();
            symlink(w.path("other"), w.path("kems/s-1/src")).unwrap();
        }),
    ];
    let workspace = workspace();
    for (what, change) in changes {
        stand(&workspace);
        change(&workspace);
        let leaning = plan(&workspace, &[]);
        let paranoid = plan(&workspace, &["--paranoid"]);
        forget_standing(&workspace);
        assert_eq!(leaning, plan(&workspace, &[]), "{what}");
        assert_eq!(paranoid, leaning, "{what}, paranoid");
    }
}

#[test]
fn a_damaged_file_of_what_stood_means_planning_everything() {
    let workspace = workspace();
    stand(&workspace);
    let cache = std::fs::read_dir(workspace.path("store/cache")).unwrap();
    let path = cache
        .map(|e| e.unwrap().path())
        .find(|p| p.to_str().unwrap().contains("standing-"))
        .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let run = workspace.run(&[]);
    assert_eq!((run.ran(), planned(&run.summary())), (Vec::new(), 13));
}

#[test]
fn pages_that_were_deleted_come_back_though_nothing_else_moved() {
    let workspace = workspace();
    stand(&workspace);
    let page = workspace.path("store/pages/this/p/s-1/index.md");
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, "scribbled").unwrap();
    std::fs::remove_file(workspace.path("store/pages/this/p/provenance.json")).unwrap();
    let run = workspace.run(&[]);
    assert_eq!((planned(&run.summary()), run.code), (0, Some(0)));
    assert_eq!(std::fs::read_to_string(&page).unwrap(), text);
    assert!(workspace.path("store/pages/this/p/provenance.json").is_file());
}

/// Alters a stored output in place, as bit rot would, and gives its path.
fn overwrite(workspace: &Workspace, action: &str, output: &str, text: &str) -> std::path::PathBuf {
    let trace = workspace.ngcc(&["--format", "json", "trace", action, "--pipeline", "p"]);
    let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
    let blob = links[0]["record"]["outputs"][output]["blob"].as_str().unwrap();
    let path = workspace.path(&format!("store/blobs/{}/{blob}", &blob[..2]));
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    std::fs::set_permissions(&path, permissions).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn what_stands_and_turns_out_to_be_damaged_is_made_again_in_the_same_run() {
    let workspace = workspace();
    let two = "  A:\n    sizes: {pk: 1, sk: 1, ct: 1, ss: 1}\n  B:\n";
    let text = manifest("S1").replace("  A:\n", two);
    workspace.write("kems/s-1/submission.yaml", &text);
    stand(&workspace);
    // The index is made again, and reads what the page of a submission that stands has left.
    overwrite(&workspace, "s-1/report", "tally", "{}");
    workspace.write("kems/s-2/submission.yaml", &manifest("Renamed"));
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.ran().contains(&"s-1/report".to_owned()), "{:?}", run.ran());
    assert_eq!(run.summary()["repaired"].as_u64(), Some(1));
    let index = std::fs::read_to_string(workspace.path("store/pages/this/p/index.md")).unwrap();
    assert!(index.contains("Renamed"), "{index}");
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn a_paranoid_run_sees_a_stored_output_that_was_altered_in_place() {
    let workspace = workspace();
    stand(&workspace);
    let path = overwrite(&workspace, "s-1/reference/A/first", "out", "int k1;\nint b;\n");
    assert_eq!(workspace.run(&[]).ran(), Vec::<String>::new());
    let run = workspace.run(&["--paranoid"]);
    assert_eq!(run.ran(), ["s-1/reference/A/first"], "{}{}", run.out, run.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "int k1;\nint a;\n");
}

#[test]
fn why_answers_from_what_stands_and_from_what_moved() {
    let workspace = workspace();
    stand(&workspace);
    let why = |target: &str| workspace.ngcc(&["why", target, "--pipeline", "p"]).out;
    assert!(why("s-1/reference/A/second").contains("every ingredient is as it was"));
    workspace.edit("kems/s-1/src/k.c", "int a;", "int z;");
    assert!(why("s-1/reference/A/first").contains("file `kems/s-1/src/k.c` changed"));
    assert!(why("s-2/reference/A/first").contains("every ingredient is as it was"));
    let after = why("s-1/reference/A/second");
    assert!(after.contains("`s-1/reference/A/first` would run first"), "{after}");
}
