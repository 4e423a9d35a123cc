//! Kills, concurrent runs and damage: nothing finished is lost, nothing half-written is believed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::{Duration, Instant};

use crate::bench::Workspace;

fn executed(run: &crate::bench::Run) -> u64 {
    run.summary()["executed"].as_u64().unwrap()
}

#[test]
fn after_a_kill_only_unfinished_actions_run_and_the_store_is_clean() {
    let workspace = Workspace::new();
    let started = Instant::now();
    let mut child = workspace
        .command(&["--format", "json", "pipeline", "run", "p", "--jobs", "1"])
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(workspace.path("events")).unwrap())
        .spawn()
        .unwrap();
    let ended = || {
        let text = std::fs::read_to_string(workspace.path("events")).unwrap_or_default();
        text.lines().filter(|l| l.contains("\"event\":\"ended\"")).count() as u64
    };
    // Any instant will do; this one is between the first builds and the last page.
    while ended() < 6 && started.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let done = ended();
    let verify = workspace.ngcc(&["store", "verify"]);
    assert_eq!(verify.code, Some(0), "{}", verify.out);
    let rest = workspace.run(&[]);
    assert_eq!(rest.code, Some(0), "{}{}", rest.out, rest.err);
    // An action may have ended and its event not been written yet: that only makes fewer run.
    assert!(executed(&rest) <= 23 - done, "{} ran after {done} had ended", executed(&rest));
    assert_eq!(executed(&workspace.run(&[])), 0);
}

#[test]
fn two_runs_started_together_on_one_store_both_end_right_and_share_the_work() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    let runs: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..2).map(|_| scope.spawn(|| workspace.run(&[]))).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!((runs[0].code, runs[1].code), (Some(0), Some(0)), "{runs:?}");
    assert_eq!(executed(&runs[0]) + executed(&runs[1]), 2 * 4 + 3);
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn a_damaged_blob_is_named_by_verify_and_made_again_by_the_run_that_needs_it() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    let trace = workspace.ngcc(&["--format", "json", "trace", "A/build", "--pipeline", "p"]);
    let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
    let blob = links[0]["record"]["outputs"]["library"]["blob"].as_str().unwrap().to_owned();
    let path = workspace.path(&format!("store/blobs/{}/{blob}", &blob[..2]));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[2000] ^= 1;
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, bytes).unwrap();

    let verify = workspace.ngcc(&["store", "verify"]);
    assert_eq!(verify.code, Some(4));
    assert!(verify.out.contains(&format!("damaged  blob {blob}")), "{}", verify.out);
    assert!(verify.out.contains("toy-1/independent/A/build"), "{}", verify.out);

    // Another record limit makes the known-answer test need the library again.
    workspace.edit("pipelines/p.yaml", "kat: {kind: kat,", "kat: {kind: kat, keep_text: 1 MiB,");
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert_eq!(run.summary()["repaired"], 1);
    assert!(run.ran().contains(&"toy-1/independent/A/build".to_owned()), "{:?}", run.ran());
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn while_something_is_timed_nothing_else_of_ours_runs() {
    let workspace = Workspace::new();
    let run = workspace.run(&["--jobs", "4"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let mut spans = Vec::new();
    for entry in walkdir::WalkDir::new(workspace.path("store/records")) {
        let entry = entry.unwrap();
        if !entry.file_type().is_file() {
            continue;
        }
        let record: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(entry.path()).unwrap()).unwrap();
        let start = record["provenance"]["started_ns"].as_u64().unwrap();
        let end = start + record["provenance"]["wall_ns"].as_u64().unwrap();
        spans.push((record["label"].as_str().unwrap().to_owned(), start, end));
    }
    let timed: Vec<_> = spans
        .iter()
        .filter(|(l, _, _)| l.contains("/timing/") || l.contains("/profile/"))
        .collect();
    assert_eq!(timed.len(), 12);
    for (label, start, end) in &timed {
        for (other, s, e) in &spans {
            let apart = e <= start || s >= end || other == label;
            assert!(apart, "`{other}` ran beside `{label}`");
        }
    }
}

#[test]
fn a_timing_beside_somebody_elses_work_says_so_in_its_record() {
    let workspace = Workspace::new();
    let done = std::sync::atomic::AtomicBool::new(false);
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while !done.load(std::sync::atomic::Ordering::Relaxed)
                && begun.elapsed() < Duration::from_secs(300)
            {
                std::hint::spin_loop();
            }
        });
        let run = workspace.run(&["--only", "timing", "toy-1/independent/A"]);
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        run
    });
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let trace =
        workspace.ngcc(&["--format", "json", "trace", "A/timing/keygen", "--pipeline", "p"]);
    let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
    let record = &links[0]["record"];
    assert!(record["observed"]["other_cores"].as_f64().unwrap() > 0.25, "{record}");
    let log = record["provenance"]["log"].as_str().unwrap();
    let log = std::fs::read_to_string(workspace.blob(log)).unwrap();
    assert!(log.contains("other programs kept") && log.contains("--remeasure"), "{log}");
}

#[test]
fn a_failing_instance_is_a_row_with_its_log_and_the_others_are_measured() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    workspace.edit(
        "kems/toy-1/src/A/KEM_AlgorithmInstance.c",
        "enum { SEED",
        "this is not C\nenum { SEED",
    );
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let failure = run.summary()["failures"][0].clone();
    assert_eq!(failure["action"], "toy-1/independent/A/choice");
    assert!(failure["what"].as_str().unwrap().contains("error: unknown type name"), "{failure}");
    let log = std::fs::read_to_string(failure["log"].as_str().unwrap()).unwrap();
    assert!(log.contains("this is not C"), "{log}");
    let page =
        std::fs::read_to_string(workspace.path("store/pages/this/p/toy-1/index.md")).unwrap();
    assert!(page.contains("PASS"), "{page}");
    // Failures are never cached: the build is tried again.
    assert!(workspace.run(&[]).ran().contains(&"toy-1/independent/A/build".to_owned()));
}

#[test]
fn a_submission_that_hangs_is_ended_at_its_limit_and_the_rest_goes_on() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    workspace.edit(
        "kems/toy-1/src/B/KEM_AlgorithmInstance.c",
        "#include \"KEM",
        "#define TOY_HANG\n#include \"KEM",
    );
    workspace.edit("pipelines/p.yaml", "kat: {kind: kat,", "kat: {kind: kat, limits: {wall: 1 s},");
    let run = workspace.run(&[]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let what = run.summary()["findings"][0]["what"].as_str().unwrap().to_owned();
    assert!(what.starts_with("KAT TIMEOUT"), "{what}");
    let page =
        std::fs::read_to_string(workspace.path("store/pages/this/p/toy-1/index.md")).unwrap();
    assert!(page.contains("PASS"), "{page}");
}

/// Starts a run whose events go to a file, and waits until that file holds `text`.
fn started_until(workspace: &Workspace, text: &str) -> std::process::Child {
    let begun = Instant::now();
    let child = workspace
        .command(&["pipeline", "run", "p"])
        .stdout(std::fs::File::create(workspace.path("summary")).unwrap())
        .stderr(std::fs::File::create(workspace.path("events")).unwrap())
        .spawn()
        .unwrap();
    while !std::fs::read_to_string(workspace.path("events")).unwrap().contains(text) {
        assert!(begun.elapsed() < Duration::from_secs(300), "`{text}` never came");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn interrupt(child: &std::process::Child) {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
}

#[test]
fn a_run_that_waits_for_the_store_says_for_whom_and_ends_with_ctrl_c() {
    let workspace = Workspace::new();
    let store = ngcc::store::Store::open(&workspace.path("store")).unwrap();
    let lock = store.try_lock_run("a long campaign").unwrap().unwrap();
    let mut child = started_until(&workspace, "a long campaign");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(lock);
}

#[test]
fn ctrl_c_ends_a_run_gently_and_the_next_one_goes_on() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    let mut child = started_until(&workspace, "done ");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let summary = std::fs::read_to_string(workspace.path("summary")).unwrap();
    assert!(summary.contains("interrupted: "), "{summary}");
    let given_up = summary.matches("given up toy-1/").count();
    assert_eq!(given_up > 0, !summary.contains("nothing was lost"), "{summary}");
    let rest = workspace.run(&[]);
    assert_eq!(rest.code, Some(0), "{}{}", rest.out, rest.err);
    assert!(executed(&rest) < 11 && executed(&rest) > 0, "{}", rest.out);
}

/// A workspace with one step that says it has begun, and then ends at no signal but the last.
fn stubborn() -> Workspace {
    let workspace = Workspace::new();
    workspace.write(
        "pipelines/p.yaml",
        "about: Does not end\nstages:\n  quick:\n    kind: command\n    scope: once\n    argv: [sh, -c, \"echo x >out\"]\n    outputs: {out: out}\n    tools: [sh]\n  slow:\n    kind: command\n    scope: once\n    argv: [sh, -c, \"trap '' TERM INT; for i in 1 2 3 4 5 6 7 8 9; do sleep 100; done\"]\n    outputs: {out: out}\n    tools: [sh, sleep]\n",
    );
    workspace
}

#[test]
fn ctrl_c_twice_ends_at_once_and_says_what_was_given_up_and_how_much_time_that_was() {
    let workspace = stubborn();
    let mut child = started_until(&workspace, "once/quick");
    std::thread::sleep(Duration::from_millis(1200));
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "the child has its grace time");
    let second = Instant::now();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(second.elapsed() < Duration::from_secs(3), "{:?}", second.elapsed());
    let summary = std::fs::read_to_string(workspace.path("summary")).unwrap();
    let given_up = summary.lines().find(|l| l.starts_with("given up once/slow after ")).unwrap();
    assert!(given_up.ends_with(" s") && !given_up.ends_with(" ms"), "{summary}");
    assert!(summary.contains("interrupted: 1 action was given up, "), "{summary}");
    assert!(summary.contains("1 actions executed"), "{summary}");
}
