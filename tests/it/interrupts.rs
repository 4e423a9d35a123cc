//! Ctrl-C, and `kill -9` of the program alone: children end, grandchildren in sessions of their own too, nothing
//! that was cut off is a result, and the next run needs no repair.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::bench::{Workspace, shell};

/// A mark for the command lines of one test's processes, so that they can be found wherever they are.
fn mark(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// The processes with the mark in their command line, but for the program itself and its launchers.
fn marked(mark: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        if line.contains(mark) && !line.contains("__exec") {
            found.push(pid);
        }
    }
    found
}

fn wait_for(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a run, and waits until so many marked processes live.
fn started(workspace: &Workspace, mark: &str, processes: usize) -> Child {
    let child = workspace
        .command(&["pipeline", "run", "p"])
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(workspace.path("events")).unwrap())
        .spawn()
        .unwrap();
    wait_for("the children", Duration::from_secs(60), || marked(mark).len() >= processes);
    child
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

/// A stage that leaves a child in a session of its own, deaf to gentle signals, and then sleeps.
fn stubborn(mark: &str) -> Workspace {
    let script = format!(
        "setsid sh -c \"trap '' TERM HUP INT; while :; do sleep 1; done; : {mark}\" & \
         trap '' TERM; echo begun; [ -e {mark} ] || while :; do sleep 1; done"
    );
    Workspace::of_commands(&[], &shell("slow", "once", &script, ""))
}

#[test]
fn ctrl_c_ends_even_a_deaf_grandchild_in_another_session_within_the_grace_time() {
    let mark = mark("deaf");
    let workspace = stubborn(&mark);
    let mut child = started(&workspace, &mark, 2);
    let begun = Instant::now();
    signal(&child, Signal::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(6), "{took:?}");
    assert_eq!(marked(&mark), Vec::<i32>::new());
}

#[test]
fn a_second_ctrl_c_waits_for_nothing_and_what_was_cut_off_is_no_result() {
    let mark = mark("twice");
    let workspace = stubborn(&mark);
    let mut child = started(&workspace, &mark, 2);
    signal(&child, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    signal(&child, Signal::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Much less than the grace time of two seconds.
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    assert_eq!(marked(&mark), Vec::<i32>::new());
    // The output had been begun; it is not believed, and the action runs again.
    let plan = workspace.ngcc(&["--format", "json", "pipeline", "plan", "p"]);
    assert!(!plan.out.contains("\"hit\""), "{}", plan.out);
    let mut again = started(&workspace, &mark, 2);
    signal(&again, Signal::SIGTERM);
    signal(&again, Signal::SIGTERM);
    assert_eq!(again.wait().unwrap().code(), Some(130));
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn when_only_the_program_is_killed_its_child_goes_and_a_run_at_once_is_right() {
    let mark = mark("orphan");
    let script = format!(": {mark}; echo first > file; sleep 1; echo last >> file");
    let stage = shell("write", "instance", &script, "outputs: {file: file}");
    let workspace = Workspace::of_commands(&["A"], &stage);
    let mut child = started(&workspace, &mark, 1);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let run = workspace.run(&[]);
    assert_eq!((run.code, run.ran().len()), (Some(0), 1), "{}{}", run.out, run.err);
    assert_eq!(workspace.output("A/write", "file"), "first\nlast\n");
    wait_for("the orphan's end", Duration::from_secs(3), || marked(&mark).is_empty());
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
    let left: Vec<_> = std::fs::read_dir(workspace.path("store/tmp")).unwrap().collect();
    assert_eq!(left.len(), 1, "only the lock: {left:?}");
}
