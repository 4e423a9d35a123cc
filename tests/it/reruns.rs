//! What runs again after which change, and what is said about it: the promises of the main job, on the toy KEM.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::bench::Workspace;

fn count(value: &serde_json::Value, field: &str) -> u64 {
    value[field].as_u64().unwrap()
}

#[test]
fn the_second_run_of_an_unchanged_pipeline_executes_nothing_and_touching_files_changes_that_not() {
    let workspace = Workspace::new();
    let first = workspace.run(&[]);
    assert_eq!(first.code, Some(0), "{}{}", first.out, first.err);
    let first = first.summary();
    assert_eq!((count(&first, "failed"), count(&first, "reused")), (0, 0));
    // Per instance: build, kat, choice, 3 timings, 3 profiles, sizes; then drivers, page, index.
    assert_eq!(count(&first, "executed"), 2 * 10 + 3);
    let page =
        std::fs::read_to_string(workspace.path("store/pages/this/p/toy-1/index.md")).unwrap();
    assert!(page.contains("PASS") && page.contains("drng"), "{page}");

    let second = workspace.run(&[]);
    assert_eq!(second.code, Some(0));
    assert_eq!(count(&second.summary(), "executed"), 0);

    let now = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(2_000_000_000);
    for file in ["A/KEM_AlgorithmInstance.c", "B/KEM_AlgorithmInstance.h"] {
        let file = std::fs::File::open(workspace.path("kems/toy-1/src").join(file)).unwrap();
        file.set_modified(now).unwrap();
    }
    let touched = workspace.run(&[]);
    assert_eq!(count(&touched.summary(), "executed"), 0, "{:?}", touched.ran());
}

#[test]
fn a_comment_runs_its_build_alone_and_why_names_the_file() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    let source = "kems/toy-1/src/B/KEM_AlgorithmInstance.c";
    workspace.edit(source, "enum { SEED", "/* a comment */\nenum { SEED");
    let why = workspace.ngcc(&["why", "B/build", "--pipeline", "p"]);
    assert!(why.out.contains(&format!("file `{source}` changed")), "{}{}", why.out, why.err);
    let run = workspace.run(&[]);
    assert_eq!((run.code, run.ran()), (Some(0), vec!["toy-1/independent/B/build".to_owned()]));
}

#[test]
fn a_changed_constant_reruns_its_instance_alone_and_is_a_finding_with_its_place() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    // The secret is made of one byte less: keys and ciphertexts stay, secrets change.
    workspace.edit(
        "kems/toy-1/src/B/KEM_AlgorithmInstance.c",
        "sm3hash(256, text, 8 * sizeof text, ss)",
        "sm3hash(256, text, 8 * sizeof text - 8, ss)",
    );
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let others = run.ran().into_iter().filter(|l| !l.contains("/B/"));
    assert_eq!(others.collect::<Vec<_>>(), ["index/report", "toy-1/report"]);
    let finding = run.summary()["findings"][0]["what"].as_str().unwrap().to_owned();
    assert!(finding.starts_with("KAT MISMATCH: record 0, field SS, byte 0: `"), "{finding}");
    let page =
        std::fs::read_to_string(workspace.path("store/pages/this/p/toy-1/index.md")).unwrap();
    assert!(page.contains("MISMATCH") && page.contains("PASS"), "{page}");

    // The verdict is a result: it is reused, and it is still a finding.
    let again = workspace.run(&[]);
    assert_eq!((again.code, again.ran()), (Some(1), vec![]));
}

#[test]
fn another_flag_rebuilds_every_instance_and_why_names_the_flag() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    workspace.edit(
        "pipelines/p.yaml",
        "[-std=c99, -O1, -fPIC]",
        "[-std=c99, -O1, -fPIC, -fno-plt]",
    );
    let why = workspace.ngcc(&["why", "A/build", "--pipeline", "p"]);
    assert!(why.out.contains("flag set `plain`: +`-fno-plt`"), "{}{}", why.out, why.err);
    let builds = workspace.run(&[]).ran().into_iter().filter(|l| l.ends_with("/build"));
    assert_eq!(builds.count(), 2);
}

#[test]
fn the_same_workspace_elsewhere_hits_on_the_same_store_and_two_stores_build_the_same_bytes() {
    let (one, two) = (Workspace::new(), Workspace::new());
    one.without_measuring();
    two.without_measuring();
    assert_eq!(one.run(&[]).code, Some(0));
    let store = one.path("store");
    let shared = two.run(&["--store", store.to_str().unwrap()]);
    assert_eq!(shared.ran(), Vec::<String>::new());
    let own = two.run(&[]);
    assert_eq!(own.code, Some(0));
    let library = |workspace: &Workspace| {
        let trace = workspace.ngcc(&["--format", "json", "trace", "A/build", "--pipeline", "p"]);
        let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
        links[0]["record"]["outputs"]["library"]["blob"].as_str().unwrap().to_owned()
    };
    assert_eq!(library(&one), library(&two));
}

#[test]
fn flags_that_do_not_compile_give_way_to_the_next_set_with_the_reason_kept() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    // `asm` is a keyword in the GNU dialect only.
    let source = "kems/toy-1/src/A/KEM_AlgorithmInstance.c";
    workspace.edit(
        source,
        "enum { SEED",
        "void toy_fence(void);\nvoid toy_fence(void) { asm(\"\"); }\nenum { SEED",
    );
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let record = "store/pages/this/p/toy-1/records/independent/A__choice.json";
    let choice = std::fs::read_to_string(workspace.path(record)).unwrap();
    assert!(choice.contains("\"flags\": \"loose\"") && choice.contains("asm"), "{choice}");
    assert_eq!(workspace.run(&[]).ran(), Vec::<String>::new());
}

#[test]
fn nothing_of_the_callers_environment_reaches_a_child() {
    let workspace = Workspace::new();
    workspace.write(
        "pipelines/p.yaml",
        "about: Prints its environment\nstages:\n  env:\n    kind: command\n    scope: once\n    argv: [env]\n    outputs: {env: env.txt}\n    stdout: env\n    tools: [env]\n    env: {DECLARED: yes it is}\n",
    );
    let mut run = workspace.command(&["--format", "json", "pipeline", "run", "p"]);
    let output = run.env("UNDECLARED", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut again = workspace.command(&["--format", "json", "pipeline", "run", "p"]);
    let again = again.env("UNDECLARED", "2").output().unwrap();
    assert!(String::from_utf8(again.stdout).unwrap().contains("\"executed\": 0"));
    let trace = workspace.ngcc(&["--format", "json", "trace", "once/env", "--pipeline", "p"]);
    let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
    let blob = links[0]["record"]["outputs"]["env"]["blob"].as_str().unwrap();
    let path = workspace.path(&format!("store/blobs/{}/{blob}", &blob[..2]));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("DECLARED=yes it is") && !text.contains("UNDECLARED"), "{text}");
}

#[test]
fn every_mistake_in_the_yaml_files_is_told_at_once_and_nothing_runs() {
    let workspace = Workspace::new();
    workspace.edit("pipelines/p.yaml", "kind: sizes", "kind: size");
    workspace.edit("kems/toy-1/submission.yaml", "function: kem", "function: kam");
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(3), "{}{}", run.out, run.err);
    let human = workspace.ngcc(&["pipeline", "run", "p"]);
    assert!(human.err.contains("sizes") && human.err.contains("kem"), "{}", human.err);
    assert!(human.err.contains("pipelines/p.yaml:") && human.err.contains("submission.yaml:"));
    assert!(!workspace.path("store/blobs").exists());
}
