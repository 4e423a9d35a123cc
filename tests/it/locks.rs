//! Two programs at one store: who waits for whom, what a dead holder leaves, and a file system without locks.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::bench::{Run, Workspace, shell};
use crate::cc;

#[test]
fn the_second_of_two_runs_names_the_process_it_waits_for_and_reuses_its_result() {
    let workspace = Workspace::of_commands(&[], &shell("slow", "once", "sleep 1; echo done", ""));
    let first = workspace
        .command(&["--format", "json", "pipeline", "run", "p"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !workspace.path("store/lock").exists()
        || !std::fs::read_to_string(workspace.path("store/lock")).unwrap().contains("pipeline run")
    {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = first.id();
    let second = workspace.run(&[]);
    let first = first.wait_with_output().unwrap();
    assert_eq!((first.status.code(), second.code), (Some(0), Some(0)), "{}", second.err);
    assert!(second.err.contains(&format!("process {pid}")), "pid {pid}: {}", second.err);
    assert_eq!(second.ran(), Vec::<String>::new());
}

#[test]
fn a_lock_text_left_by_a_dead_process_or_a_living_stranger_stops_nobody() {
    let workspace = Workspace::of_commands(&[], &shell("quick", "once", "echo done", ""));
    assert_eq!(workspace.executed().len(), 1);
    for pid in [4_194_300, std::process::id(), 1] {
        let text =
            format!("{{\"pid\":{pid},\"since\":\"2026-01-01T00:00:00Z\",\"command\":\"ngcc\"}}");
        workspace.write("store/lock", &text);
        let begun = Instant::now();
        let run = workspace.run(&[]);
        assert_eq!((run.code, run.err.contains("waiting")), (Some(0), false), "{}", run.err);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

/// A library that lets every `flock` fail as a network file system without locks does.
const NO_LOCKS: &str = r"
#include <errno.h>
int flock(int fd, int operation) { (void)fd; (void)operation; errno = ENOLCK; return -1; }
";

#[test]
fn a_store_without_working_locks_is_refused_at_once_with_what_to_do() {
    let workspace = Workspace::of_commands(&[], &shell("quick", "once", "echo done", ""));
    workspace.write("nolocks.c", NO_LOCKS);
    let library = workspace.path("nolocks.so");
    cc::compile(&[workspace.path("nolocks.c")], &[], &["-shared", "-fPIC"], &library);
    for args in [vec!["pipeline", "run", "p"], vec!["store", "verify"]] {
        let begun = Instant::now();
        let output = workspace.command(&args).env("LD_PRELOAD", &library).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{err}");
        assert!(err.contains("without file locks") && err.contains("local disk"), "{err}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
    assert!(!workspace.path("store/records").is_dir() || workspace.executed().len() == 1);
}

/// Ten versions of a chain, while another process collects all the time.
#[test]
fn collecting_beside_runs_removes_nothing_that_a_run_needs() {
    let first = shell("first", "instance", "cat ${input:src}/*/one.c", "inputs: {src: sources}");
    let second =
        shell("second", "instance", "sleep 0.05; cat ${input:x}", "inputs: {x: first.out}");
    let third = shell("third", "instance", "cat ${input:x}", "inputs: {x: second.out}");
    let workspace = Workspace::of_commands(&["A", "B"], &format!("{first}{second}{third}"));
    // Also when a check fails, so that the test ends.
    struct Stop<'s>(&'s AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    let collected: Vec<Run> = std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let mut runs = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let args = ["--format", "json", "store", "gc", "--keep-runs", "1", "--yes"];
                runs.push(workspace.ngcc(&args));
            }
            runs
        });
        let stopper = Stop(&stop);
        for version in 0..10 {
            let text = format!("version {}\n", version % 7);
            workspace.write("kems/steps/src/A/one.c", &text);
            let run = workspace.run(&[]);
            assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
            assert_eq!(workspace.output("A/third", "out"), text);
        }
        drop(stopper);
        collector.join().unwrap()
    });
    let performed = collected.iter().filter(|run| run.code == Some(0)).count();
    assert!(performed > 0, "{}", collected[0].err);
    for run in collected.iter().filter(|run| run.code != Some(0)) {
        assert!(
            run.err.contains("in use by") || run.err.contains("has the store open"),
            "{}",
            run.err
        );
    }
    let verify = workspace.ngcc(&["store", "verify"]);
    assert_eq!(verify.code, Some(0), "{}", verify.out);
    assert_eq!(workspace.executed(), Vec::<String>::new(), "the last run's results stay");
}
