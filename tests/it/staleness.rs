//! What counts as a change and what does not, through the real program on command stages.
//!
//! The probes of the comparison with other engines: times of files, contents, commands, tools, environments.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use crate::bench::{Workspace, shell};

const NOTHING: [&str; 0] = [];

/// Two inputs and an echo of both.
fn two_inputs() -> Workspace {
    let stage =
        shell("join", "once", "cat ${input:a} ${input:b}", "inputs: {a: ./a.txt, b: ./b.txt}");
    let workspace = Workspace::of_commands(&[], &stage);
    workspace.write("a.txt", "one\n");
    workspace.write("b.txt", "two\n");
    assert_eq!(workspace.executed(), ["once/join"]);
    workspace
}

fn set_time(workspace: &Workspace, file: &str, time: SystemTime) {
    let file = std::fs::File::options().append(true).open(workspace.path(file)).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn an_edit_of_the_same_size_with_the_time_put_back_runs_again() {
    let workspace = two_inputs();
    // Older than a tick of the clock, so that the digest was remembered.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(workspace.executed(), NOTHING);
    let time = std::fs::metadata(workspace.path("a.txt")).unwrap().modified().unwrap();
    workspace.write("a.txt", "ONE\n");
    set_time(&workspace, "a.txt", time);
    assert_eq!(workspace.executed(), ["once/join"]);
    assert_eq!(workspace.output("once/join", "out"), "ONE\ntwo\n");
}

#[test]
fn an_edit_that_makes_a_file_older_runs_again() {
    let workspace = two_inputs();
    workspace.write("a.txt", "another\n");
    set_time(&workspace, "a.txt", SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    assert_eq!(workspace.executed(), ["once/join"]);
}

#[test]
fn times_of_files_in_the_past_or_the_future_run_nothing_and_say_nothing() {
    let workspace = two_inputs();
    let day = Duration::from_secs(86_400);
    for time in [SystemTime::UNIX_EPOCH + 11_323 * day, SystemTime::UNIX_EPOCH + 40_000 * day] {
        set_time(&workspace, "a.txt", time);
        set_time(&workspace, "b.txt", time);
        for _ in 0..2 {
            let run = workspace.run(&[]);
            assert_eq!((run.code, run.ran().len()), (Some(0), 0), "{}", run.err);
            assert!(!run.err.contains("warning") && !run.err.contains("note"), "{}", run.err);
        }
    }
}

#[test]
fn swapping_two_inputs_and_swapping_them_back_is_noticed_and_then_remembered() {
    let workspace = two_inputs();
    workspace.write("a.txt", "two\n");
    workspace.write("b.txt", "one\n");
    assert_eq!(workspace.executed(), ["once/join"]);
    assert_eq!(workspace.output("once/join", "out"), "two\none\n");
    workspace.write("a.txt", "one\n");
    workspace.write("b.txt", "two\n");
    assert_eq!(workspace.executed(), NOTHING);
    assert_eq!(workspace.output("once/join", "out"), "one\ntwo\n");
}

#[test]
fn a_byte_moved_from_one_argument_to_the_next_is_another_command() {
    let stage = "  echo: {kind: command, scope: once, argv: [echo, ab, c], tools: [echo], outputs: {out: out}, stdout: out}\n";
    let workspace = Workspace::of_commands(&[], stage);
    assert_eq!(workspace.executed(), ["once/echo"]);
    workspace.edit("pipelines/p.yaml", "ab, c", "a, bc");
    assert_eq!(workspace.executed(), ["once/echo"]);
    assert_eq!(workspace.output("once/echo", "out"), "a bc\n");
}

#[test]
fn a_declared_variable_counts_by_its_value_and_not_by_its_place() {
    let list = |order: &mut dyn Iterator<Item = u32>| {
        order.fold(String::new(), |mut text, n| {
            let _ = write!(text, "V{n}: value {n}, ");
            text
        })
    };
    let stage = |variables: &str| {
        let env = shell("env", "once", "env | sort", &format!("env: {{{variables} FOO: 1}}"));
        format!("about: Variables\nstages:\n{env}")
    };
    let workspace = Workspace::of_commands(&[], "");
    workspace.write("pipelines/p.yaml", &stage(&list(&mut (0..40))));
    assert_eq!(workspace.executed(), ["once/env"]);
    workspace.write("pipelines/p.yaml", &stage(&list(&mut (0..40).rev())));
    assert_eq!(workspace.executed(), NOTHING);
    workspace.edit("pipelines/p.yaml", "FOO: 1", "FOO: 2");
    assert_eq!(workspace.executed(), ["once/env"]);
    let text = workspace.output("once/env", "out");
    assert!(text.contains("FOO=2\n") && text.contains("V39=value 39\n"), "{text}");
}

#[test]
fn a_tool_replaced_at_its_path_with_its_version_text_runs_what_uses_it_again() {
    let stage = "  ask: {kind: command, scope: once, argv: [oracle], tools: [oracle], outputs: {out: out}, stdout: out}\n";
    let workspace = Workspace::of_commands(&[], stage);
    let install = |answer: &str| {
        let text =
            format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 'oracle 1.0' || echo {answer}\n");
        workspace.write("bin/new", &text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(workspace.path("bin/new"), mode).unwrap();
        std::fs::rename(workspace.path("bin/new"), workspace.path("bin/oracle")).unwrap();
    };
    let ngcc = |args: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", workspace.path("bin").display());
        let output = workspace.command(args).env("PATH", path).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let run = ["--format", "json", "pipeline", "run", "p"];
    install("yes");
    assert!(ngcc(&run).contains("\"executed\": 1"));
    assert!(ngcc(&run).contains("\"executed\": 0"));
    install("no");
    let why = ngcc(&["why", "once/ask", "--pipeline", "p"]);
    assert!(why.contains("oracle"), "{why}");
    assert!(ngcc(&run).contains("\"executed\": 1"));
    install("yes");
    assert!(ngcc(&run).contains("\"executed\": 0"), "the old tool's result was still there");
}

#[test]
fn a_workspace_reached_through_a_link_or_moved_elsewhere_hits() {
    let workspace = two_inputs();
    let store = workspace.path("store");
    let elsewhere = tempfile::tempdir().unwrap();
    let (link, moved) = (elsewhere.path().join("link"), elsewhere.path().join("moved"));
    std::os::unix::fs::symlink(workspace.root(), &link).unwrap();
    workspace.copy_to(&moved, &["a.txt", "b.txt"]);
    for place in [&link, &moved] {
        let store = store.to_str().unwrap();
        let mut command =
            workspace.command(&["--format", "json", "--store", store, "pipeline", "run", "p"]);
        // A shell that followed the link says so in this variable.
        let output = command.current_dir(place).env("PWD", place).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains("\"executed\": 0") && out.contains("\"reused\": 1"), "{out}");
    }
}

#[test]
fn a_step_that_makes_the_same_again_stops_the_rerun_there() {
    let strip =
        shell("strip", "instance", "sed 's/#.*//' ${input:src}/*/one.c", "inputs: {src: sources}");
    let count = shell("count", "instance", "wc -c < ${input:text}", "inputs: {text: strip.out}");
    let workspace = Workspace::of_commands(&["A"], &format!("{strip}{count}"));
    assert_eq!(workspace.executed().len(), 2);
    workspace.write("kems/steps/src/A/one.c", "A# a comment\n");
    assert_eq!(workspace.executed(), ["steps/independent/A/strip"]);
    workspace.write("kems/steps/src/A/one.c", "AB\n");
    assert_eq!(workspace.executed().len(), 2);
}
