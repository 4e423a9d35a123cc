//! Programs that misbehave in every way, as steps of one run: each ends within its limit and the grace time, each is
//! told apart, and the good steps of the same run have their results.
//!
//! The program below bounds itself (number of forks, an alarm in every process), so that a limit that does not hold
//! fails the test and not the machine.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed; a skipped one says why"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::bench::{Run, Workspace, shell};
use crate::cc;

const VILLAIN: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void bomb(void) {
    volatile int *forks = mmap(0, sizeof *forks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (;;) {
        alarm(20);
        if (__sync_add_and_fetch(forks, 1) > 2000) { pause(); _exit(9); }
        if (fork() < 0) { __sync_sub_and_fetch(forks, 1); usleep(1000); }
    }
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    static char block[1 << 16];
    if (!strcmp(way, "--version")) { puts("villain 1"); return 0; }
    alarm(20);
    if (!strcmp(way, "bomb")) bomb();
    if (!strcmp(way, "cpu")) for (;;) {}
    if (!strcmp(way, "log")) for (;;) if (write(2, block, sizeof block) < 0) return 3;
    if (!strcmp(way, "deaf")) { signal(SIGTERM, SIG_IGN); for (;;) pause(); }
    if (!strcmp(way, "stop")) { raise(SIGSTOP); return 0; }
    if (!strcmp(way, "crash")) { raise(SIGSEGV); return 0; }
    if (!strcmp(way, "status")) return 7;
    if (!strcmp(way, "write")) {
        int fd = open("out", O_CREAT | O_WRONLY, 0644);
        for (int i = 0; i < 4096; i++) if (write(fd, block, sizeof block) < 0) return 4;
        return 0;
    }
    if (!strcmp(way, "sparse")) {
        int fd = open("out", O_CREAT | O_WRONLY, 0644);
        return ftruncate(fd, 100LL << 30) ? 5 : 0;
    }
    if (!strcmp(way, "hog")) {
        for (int i = 0; i < 512; i++) {
            char *p = malloc(1 << 20);
            if (!p) return 6;
            memset(p, 1, 1 << 20);
        }
        return 0;
    }
    if (!strcmp(way, "session")) {
        if (fork() == 0) {
            setsid();
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            if (fork() == 0) for (;;) pause();
            for (;;) pause();
        }
        int fd = open("out", O_CREAT | O_WRONLY, 0644);
        return write(fd, "good\n", 5) == 5 ? 0 : 8;
    }
    return 2;
}
"#;

/// A workspace with the villain on its path, and a step for each way; `more` are further stages.
fn villains(ways: &[&str], more: &str) -> Workspace {
    let mut stages = more.to_owned();
    for way in ways {
        // Hundreds of processes need more than one that is greedy may have.
        let memory = if *way == "bomb" { "1 GiB" } else { "64 MiB" };
        let _ = writeln!(
            stages,
            "  {way}: {{kind: command, scope: once, argv: [villain, {way}], tools: [villain], outputs: {{file: out}}, \
             limits: {{wall: 1 s, memory: {memory}, file_size: 16 MiB, log: 64 KiB}}}}"
        );
    }
    let workspace = Workspace::of_commands(&[], &stages);
    workspace.write("villain.c", VILLAIN);
    std::fs::create_dir(workspace.path("bin")).unwrap();
    let program = workspace.path("bin/villain");
    cc::compile(&[workspace.path("villain.c")], &[], &["-O1"], &program);
    workspace
}

fn run(workspace: &Workspace, args: &[&str]) -> Run {
    let mut all = vec!["--format", "json", "pipeline", "run", "p"];
    all.extend(args);
    let path = format!("{}:/usr/bin:/bin", workspace.path("bin").display());
    let output = workspace.command(&all).env("PATH", path).output().unwrap();
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Step to the word for its end, and its seconds.
fn ends(run: &Run) -> BTreeMap<String, (String, f64)> {
    let events = run.err.lines().filter_map(|line| serde_json::from_str(line).ok());
    events
        .filter(|event: &serde_json::Value| event["event"] == "ended")
        .map(|event| {
            let label = event["action"].as_str().unwrap().trim_start_matches("once/").to_owned();
            let status = event["status"].as_str().unwrap().to_owned();
            (label, (status, event["wall_s"].as_f64().unwrap()))
        })
        .collect()
}

/// How many processes of the villain of this workspace live.
fn living(workspace: &Workspace) -> usize {
    let program = workspace.path("bin/villain");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|p| std::fs::read_link(p.path().join("exe")).is_ok_and(|e| e == program))
        .count()
}

#[test]
fn every_way_to_misbehave_ends_in_time_with_its_own_word_and_the_good_steps_succeed() {
    let ways =
        ["cpu", "log", "deaf", "stop", "crash", "status", "write", "sparse", "hog", "session"];
    let good = format!(
        "{}{}",
        shell("a-good", "once", "echo a", ""),
        shell("z-good", "once", "echo z", "")
    );
    let workspace = villains(&ways, &good);
    let begun = Instant::now();
    let run = run(&workspace, &["--jobs", "4"]);
    let took = begun.elapsed();
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let ends = ends(&run);
    let word = |step: &str| ends[step].0.as_str();
    for step in ["a-good", "z-good", "session"] {
        assert_eq!(word(step), "done", "{step}");
    }
    for step in ["cpu", "log", "deaf", "stop"] {
        assert_eq!(word(step), "timed out", "{step}");
    }
    for step in ["crash", "write", "sparse"] {
        assert_eq!(word(step), "crashed", "{step}");
    }
    assert_eq!(word("status"), "failed");
    // Where no control group can be made, its own malloc fails instead.
    if word("hog") != "out of memory" {
        eprintln!("no memory control group: the hog {}", word("hog"));
        assert_eq!(word("hog"), "failed");
    }
    for (step, (_, seconds)) in &ends {
        // Limit, grace, and what a busy machine adds.
        assert!(*seconds < 1.0 + 2.0 + 15.0, "{step} took {seconds} s");
    }
    assert!(took < Duration::from_secs(90), "{took:?}");
    assert_eq!(living(&workspace), 0, "something is left");

    let summary = run.summary();
    let failures = summary["failures"].as_array().unwrap();
    let of = |step: &str| {
        let action = format!("once/{step}");
        failures.iter().find(|f| f["action"] == action.as_str()).unwrap()
    };
    for step in ["write", "sparse"] {
        let what = of(step)["what"].as_str().unwrap();
        assert!(what.contains("file size limit of 16777216 bytes"), "{what}");
    }
    assert!(of("crash")["what"].as_str().unwrap().contains("signal 11"), "{}", of("crash"));
    let log = std::fs::metadata(of("log")["log"].as_str().unwrap()).unwrap();
    assert!(log.len() < 70 * 1024, "{}", log.len());

    // No failure is remembered; the good ones are.
    let plan = self::run(&workspace, &["--dry-run"]);
    let planned: serde_json::Value = serde_json::from_str(&plan.out).unwrap();
    let text = planned.to_string();
    assert!(text.contains("once/cpu") && text.contains("a-good"), "{text}");
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn a_fork_bomb_is_held_by_the_limit_on_processes_and_gone_after_its_time() {
    let workspace = villains(&[], &shell("limits", "once", "echo", ""));
    assert_eq!(run(&workspace, &[]).code, Some(0));
    let trace = workspace.ngcc(&["--format", "json", "trace", "once/limits", "--pipeline", "p"]);
    if !trace.out.contains("\"processes\": \"cgroup")
        && !trace.out.contains("\"processes\": \"rlimit")
    {
        eprintln!("fork bomb not tried: nothing limits processes here: {}", trace.out);
        return;
    }
    let workspace = villains(&["bomb"], &shell("good", "once", "sleep 1; echo good", ""));
    let (run, most) = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&workspace, &["--jobs", "2"]));
        let mut most = 0;
        while !running.is_finished() {
            most = most.max(living(&workspace));
            std::thread::sleep(Duration::from_millis(50));
        }
        (running.join().unwrap(), most)
    });
    let ends = ends(&run);
    assert_eq!(
        (ends["bomb"].0.as_str(), ends["good"].0.as_str()),
        ("timed out", "done"),
        "{}",
        run.err
    );
    assert!((100..=512).contains(&most), "{most} processes at once");
    assert!(ends["bomb"].1 < 18.0, "{} s", ends["bomb"].1);
    assert_eq!(living(&workspace), 0, "something is left");
}

#[test]
fn a_time_limit_is_no_part_of_the_key_and_what_it_cut_off_is_no_result() {
    let stage = shell("slow", "once", "sleep 1.2; echo done", "limits: {wall: 1 s}");
    let workspace = Workspace::of_commands(&[], &stage);
    let cut = workspace.run(&[]);
    assert_eq!((cut.code, ends(&cut)["slow"].0.as_str()), (Some(1), "timed out"), "{}", cut.err);
    workspace.edit("pipelines/p.yaml", "wall: 1 s", "wall: 20 s");
    assert_eq!(workspace.executed(), ["once/slow"]);
    // What ended by itself is true under any limit.
    workspace.edit("pipelines/p.yaml", "wall: 20 s", "wall: 1 s");
    assert_eq!(workspace.executed(), Vec::<String>::new());
}
