//! What a command may leave behind as a result, and what is refused: links, missing files, undeclared files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::bench::{Run, Workspace, shell};

const MAKE: &str = "steps/independent/A/make";

/// A stage that makes the output directory `tree` by this script, and one that lists it.
fn made_and_listed(script: &str) -> Workspace {
    let make = shell("make", "instance", script, "outputs: {tree: tree}, inputs: {src: sources}");
    let list = shell(
        "list",
        "instance",
        "cd ${input:tree} && find . -mindepth 1 -printf '%P %y %m %l\\n' | sort",
        "inputs: {tree: make.tree}",
    );
    Workspace::of_commands(&["A"], &format!("{make}{list}"))
}

/// What went wrong, of a run in which one thing did.
fn failure(run: &Run) -> String {
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    run.summary()["failures"][0]["what"].as_str().unwrap().to_owned()
}

#[test]
fn modes_empty_directories_equal_files_and_inner_links_reach_the_next_step() {
    let workspace = made_and_listed(
        "mkdir -p tree/empty/nested; echo same > tree/one; cp tree/one tree/two; \
         printf '#!/bin/sh\\n' > tree/run; chmod 755 tree/run; chmod 444 tree/one; \
         ln -s ../run tree/empty/link; chmod 555 tree/empty",
    );
    assert_eq!(workspace.executed().len(), 2);
    let listed = workspace.output("A/list", "out");
    // Of a mode only the execute bit is kept: the rest differs between umasks and says nothing.
    let rights = |name: &str| {
        let line = listed.lines().find(|l| l.starts_with(&format!("{name} "))).unwrap();
        let mut fields = line.split(' ').skip(1).map(str::to_owned);
        (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap())
    };
    assert_eq!(rights("empty/nested").0, "d");
    assert_eq!((rights("empty/link").0.as_str(), rights("empty/link").2.as_str()), ("l", "../run"));
    assert_eq!(rights("run").1.chars().filter(|c| "1357".contains(*c)).count(), 3, "{listed}");
    assert_eq!((rights("one").0.as_str(), rights("one").1), ("f", rights("two").1), "{listed}");
    // All is restored for a step that runs anew, and the step before can be built again over read-only leftovers.
    workspace.edit("pipelines/p.yaml", "sort", "sort -u");
    assert_eq!(workspace.executed(), ["steps/independent/A/list"]);
    assert_eq!(workspace.output("A/list", "out"), listed);
    workspace.write("kems/steps/src/A/one.c", "changed\n");
    assert_eq!(workspace.executed(), [MAKE]);
}

#[test]
fn two_steps_with_equal_results_under_different_names_both_have_theirs() {
    let one = shell("one", "instance", "echo same", "");
    let other = shell("other", "instance", "echo same > x", "outputs: {file: x}");
    let both = shell(
        "both",
        "instance",
        "cat ${input:a} ${input:b}",
        "inputs: {a: one.out, b: other.file}",
    );
    let workspace = Workspace::of_commands(&["A"], &format!("{one}{other}{both}"));
    assert_eq!(workspace.executed().len(), 3);
    assert_eq!(workspace.output("A/both", "out"), "same\nsame\n");
}

#[test]
fn a_tree_with_a_link_that_leads_out_of_it_or_nowhere_is_refused_with_the_path() {
    for (script, path) in [
        ("mkdir tree; ln -s /etc/hostname tree/absolute", "absolute"),
        ("mkdir -p tree/a; ln -s ../../../x tree/a/out", "a/out"),
        ("mkdir tree; ln -s nowhere tree/dangling", "dangling"),
        ("mkdir tree; ln -s two tree/one; ln -s one tree/two", "one"),
        ("mkdir tree; mkfifo tree/fifo", "fifo"),
    ] {
        let workspace = made_and_listed(script);
        for _ in 0..2 {
            let run = workspace.run(&[]);
            let what = failure(&run);
            assert!(what.contains(path) && !run.err.contains("panicked"), "{script}: {what}");
            assert_eq!(run.ran().len(), 1, "{:?}", run.ran());
        }
        assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
    }
}

#[test]
fn an_output_that_is_itself_a_link_is_refused_and_never_followed() {
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("key"), "a secret of the machine").unwrap();
    let place = secret.path().display().to_string();
    for script in [
        format!("ln -s {place}/key tree"),
        format!("ln -s {place} tree"),
        "mkdir real; echo x > real/f; ln -s real tree".to_owned(),
    ] {
        let workspace = made_and_listed(&script);
        let what = failure(&workspace.run(&[]));
        assert!(what.contains("tree") && what.contains("link"), "{what}");
    }
    // Nor is a link on the way to it.
    let make = shell(
        "make",
        "instance",
        &format!("rmdir deep; ln -s {place} deep"),
        "outputs: {file: deep/key}",
    );
    let workspace = Workspace::of_commands(&["A"], &make);
    let what = failure(&workspace.run(&[]));
    assert!(what.contains("deep") && what.contains("link"), "{what}");
    for entry in walkdir::WalkDir::new(workspace.path("store/blobs")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let text = std::fs::read(entry.path()).unwrap();
            assert!(!String::from_utf8_lossy(&text).contains("a secret"), "{:?}", entry.path());
        }
    }
}

#[test]
fn a_failing_step_is_tried_again_and_its_files_are_no_result() {
    let make = shell("make", "instance", "echo half > out; exit 1", "outputs: {file: out}");
    let next = shell("next", "instance", "cat ${input:file}", "inputs: {file: make.file}");
    let workspace = Workspace::of_commands(&["A"], &format!("{make}{next}"));
    for _ in 0..2 {
        let run = workspace.run(&[]);
        assert!(failure(&run).starts_with("failed: `sh` ended with status 1"), "{}", run.out);
        assert_eq!(
            (run.ran(), run.summary()["blocked"].as_u64()),
            (vec![MAKE.to_owned()], Some(1))
        );
    }
    workspace.edit("pipelines/p.yaml", "echo half > out; exit 1", "echo whole > out");
    assert_eq!(workspace.executed().len(), 2);
    assert_eq!(workspace.output("A/next", "out"), "whole\n");
}

#[test]
fn a_step_that_ends_well_without_its_output_fails_and_names_it() {
    let make = shell("make", "instance", "echo > other", "outputs: {file: wanted.txt}");
    let workspace = Workspace::of_commands(&["A"], &make);
    for _ in 0..2 {
        let run = workspace.run(&[]);
        assert!(failure(&run).contains("`wanted.txt` was not made"), "{}", run.out);
        assert_eq!(run.ran(), [MAKE]);
    }
}

#[test]
fn a_file_that_no_output_declares_is_told_in_the_log_and_is_no_part_of_the_result() {
    let make = shell(
        "make",
        "instance",
        "echo x > wanted; mkdir -p d/e; echo y > d/e/stray; echo z > other",
        "outputs: {file: wanted}",
    );
    let workspace = Workspace::of_commands(&["A"], &make);
    assert_eq!(workspace.executed(), [MAKE]);
    let trace = workspace.ngcc(&["--format", "json", "trace", "A/make", "--pipeline", "p"]);
    let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
    let record = &links[0]["record"];
    assert_eq!(record["outputs"].as_object().unwrap().len(), 1);
    let log = record["provenance"]["log"].as_str().unwrap();
    let log = std::fs::read_to_string(workspace.blob(log)).unwrap();
    assert!(log.contains("not declared as outputs and not kept: d, other"), "{log}");
    assert_eq!(workspace.executed(), Vec::<String>::new());
}

#[test]
fn a_step_that_makes_something_else_each_time_is_consistent_and_told_when_it_is_made_again() {
    let make = shell("make", "instance", "date +%s%N", "");
    let next = shell("next", "instance", "cat ${input:x}; echo end", "inputs: {x: make.out}");
    let workspace = Workspace::of_commands(&["A"], &format!("{make}{next}"));
    assert_eq!(workspace.executed().len(), 2);
    let both = || (workspace.output("A/make", "out"), workspace.output("A/next", "out"));
    let (made, used) = both();
    assert_eq!(used, format!("{made}end\n"));
    assert_eq!(workspace.executed(), Vec::<String>::new());
    // Its result is lost, and a later step needs it: the step is run again and gives other bytes.
    let blob = ngcc::digest::BlobId::of(made.as_bytes()).to_string();
    std::fs::remove_file(workspace.blob(&blob)).unwrap();
    workspace.edit("pipelines/p.yaml", "echo end", "echo END");
    let run = workspace.run(&[]);
    assert_eq!((run.code, run.ran().len()), (Some(0), 2), "{}{}", run.out, run.err);
    let told = format!("`{MAKE}` gave another `out` than before");
    assert!(run.err.contains(&told), "{}", run.err);
    let (again, used) = both();
    assert_ne!(again, made);
    assert_eq!(used, format!("{again}END\n"));
    assert_eq!(workspace.executed(), Vec::<String>::new());
}

#[test]
fn a_step_that_runs_once_gets_results_of_every_scope_and_a_scope_without_any_is_refused() {
    let each = shell("each", "instance", "cat ${input:src}/*/one.c", "inputs: {src: sources}");
    let whole = shell("whole", "submission", "cat ${input:x}/*/*", "inputs: {x: each.out}");
    let first = shell("first", "once", "echo first", "");
    let inputs = "inputs: {e: each.out, w: whole.out, f: first.out}";
    let script = "cat ${input:e}/steps/independent/*; cat ${input:w}/steps ${input:f}";
    let last = shell("last", "once", script, inputs);
    let workspace = Workspace::of_commands(&["A", "B"], &format!("{last}{first}{whole}{each}"));
    assert_eq!(workspace.executed().len(), 5);
    assert_eq!(workspace.output("once/last", "out"), "A\nB\nA\nB\nfirst\n");
    let narrow = shell("narrow", "instance", "cat ${input:f}", "inputs: {f: first.out}");
    workspace.write("pipelines/p.yaml", &format!("about: x\nstages:\n{first}{narrow}"));
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(3), "{}{}", run.out, run.err);
    assert!(
        run.err.contains("`f` of stage `narrow`") && run.err.contains("`first`"),
        "{}",
        run.err
    );
}
