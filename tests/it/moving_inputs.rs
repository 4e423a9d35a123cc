//! A workspace file that changes while a run goes on: no record says what is not true of the content it names.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Run, Workspace, shell};

/// Starts a run and waits until it says that an action has started.
fn started(workspace: &Workspace, action: &str) -> Child {
    let child = workspace
        .command(&["--format", "json", "pipeline", "run", "p", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(workspace.path("events")).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let action_field = format!("\"action\":\"{action}\"");
    let has_started = |events: &str| {
        events.lines().any(|l| l.contains("\"event\":\"started\"") && l.contains(&action_field))
    };
    while !has_started(&std::fs::read_to_string(workspace.path("events")).unwrap()) {
        assert!(begun.elapsed() < Duration::from_secs(60), "`{action}` never started");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

fn ended(workspace: &Workspace, child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: std::fs::read_to_string(workspace.path("events")).unwrap(),
    }
}

#[test]
fn an_input_edited_while_its_action_reads_it_gives_a_result_of_the_old_content_only() {
    let script = "touch begun; sleep 1; cat ${input:f}; sleep 1; cat ${input:f}";
    let workspace =
        Workspace::of_commands(&[], &shell("slow", "once", script, "inputs: {f: ./f.txt}"));
    workspace.write("f.txt", "old\n");
    let child = started(&workspace, "once/slow");
    // The child reads a copy, so this comes too late to be seen, and no half of it is seen either.
    std::thread::sleep(Duration::from_millis(500));
    workspace.write("f.txt", "new\n");
    let run = ended(&workspace, child);
    assert_eq!(run.code, Some(0), "{}", run.err);
    // Under the key of the new content there is nothing: it runs.
    assert_eq!(workspace.executed(), ["once/slow"]);
    assert_eq!(workspace.output("once/slow", "out"), "new\nnew\n");
    workspace.write("f.txt", "old\n");
    assert_eq!(workspace.executed(), Vec::<String>::new());
    assert_eq!(workspace.output("once/slow", "out"), "old\nold\n");
}

#[test]
fn an_input_edited_or_removed_before_its_action_starts_counts_as_it_is_then() {
    // One job: the second waits for the first with its key already made.
    let first = shell("a-first", "once", "sleep 1; echo done", "");
    let second = shell("b-second", "once", "cat ${input:f}", "inputs: {f: ./f.txt}");
    let workspace = Workspace::of_commands(&[], &format!("{first}{second}"));
    workspace.write("f.txt", "old\n");
    let child = started(&workspace, "once/a-first");
    workspace.write("f.txt", "new\n");
    assert_eq!(ended(&workspace, child).code, Some(0));
    assert_eq!(workspace.output("once/b-second", "out"), "new\n");
    assert_eq!(workspace.executed(), Vec::<String>::new());
    workspace.write("f.txt", "old\n");
    assert_eq!(workspace.executed(), ["once/b-second"]);

    workspace.edit("pipelines/p.yaml", "sleep 1;", "sleep 1.0;");
    workspace.write("f.txt", "other\n");
    let child = started(&workspace, "once/a-first");
    std::fs::remove_file(workspace.path("f.txt")).unwrap();
    let run = ended(&workspace, child);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let failures = run.summary()["failures"].to_string();
    assert!(failures.contains("f.txt") && failures.contains("once/b-second"), "{failures}");
}

#[test]
fn while_a_file_is_rewritten_all_the_time_every_result_is_of_the_content_in_its_key() {
    let script = "cat ${input:all}/f.txt";
    let stage = shell("copy", "once", script, "inputs: {all: ./in/}");
    let workspace = Workspace::of_commands(&[], &stage);
    // Many files before it and after it in the order of reading make the moments between longer.
    for n in 0..300 {
        workspace.write(&format!("in/a{n}"), &format!("{n}"));
        workspace.write(&format!("in/z{n}"), &format!("{n}"));
    }
    let file = workspace.path("in/f.txt");
    std::fs::write(&file, "0").unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (mut good, mut told) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0_u64;
            // A time limit too, so that a failed check ends the test.
            let begun = Instant::now();
            while !stop.load(std::sync::atomic::Ordering::Relaxed)
                && begun.elapsed() < Duration::from_secs(60)
            {
                n += 1;
                std::fs::write(&file, n.to_string().repeat(2000)).unwrap();
                std::thread::sleep(Duration::from_micros(300));
            }
        });
        for _ in 0..12 {
            let run = workspace.run(&[]);
            if run.code == Some(0) {
                good += 1;
                continue;
            }
            assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
            let what = run.summary()["failures"][0]["what"].as_str().unwrap().to_owned();
            assert!(what.contains("in/f.txt") && what.contains("change"), "{what}");
            told += 1;
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(told > 0, "{good} runs and none noticed");
    for entry in walkdir::WalkDir::new(workspace.path("store/records")) {
        let entry = entry.unwrap();
        if !entry.file_type().is_file() {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        let ingredients = record["ingredients"].as_array().unwrap();
        let input = ingredients.iter().find(|pair| pair[0] == "input all/f.txt").unwrap();
        let output = record["outputs"]["out"]["blob"].as_str().unwrap();
        assert_eq!(input[1].as_str().unwrap(), format!("blob {output}"));
    }
    assert_eq!(workspace.executed(), ["once/copy"]);
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}
