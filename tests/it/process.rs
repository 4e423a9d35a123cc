//! Children that behave badly, run for real: whatever they do, they end, and nothing of them is left.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests; a skipped test says why on standard error"
)]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ngcc::exec::interrupt::Interrupt;
use ngcc::exec::process::{Child, Exit, Finished, Limits, Runner, Stdout};

/// A scratch directory, a runner, and a child made of a shell script.
struct Bench {
    dir: tempfile::TempDir,
    runner: Runner,
    limits: Limits,
    env: BTreeMap<String, String>,
    cpu: Option<u32>,
}

impl Bench {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            runner: Runner::new(PathBuf::from(env!("CARGO_BIN_EXE_ngcc"))),
            limits: Limits::wall(Duration::from_secs(20)),
            env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
            cpu: None,
        }
    }

    fn wall(millis: u64) -> Self {
        let mut bench = Self::new();
        bench.limits.wall = Duration::from_millis(millis);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn child<'a>(&self, argv: &[&str], stdout: Stdout<'a>) -> Child<'a> {
        Child {
            argv: argv.iter().map(Into::into).collect(),
            dir: self.dir.path().to_owned(),
            env: self.env.clone(),
            stdout,
            log: self.path("log"),
            limits: self.limits.clone(),
            cpu: self.cpu,
        }
    }

    fn run(&self, argv: &[&str]) -> Finished {
        self.runner.run(self.child(argv, Stdout::Log), &Interrupt::none())
    }

    fn sh(&self, script: &str) -> Finished {
        self.run(&["/bin/sh", "-c", script])
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path("log")).unwrap()).into_owned()
    }

    fn number_in(&self, name: &str) -> i32 {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        text.trim().parse().unwrap()
    }
}

fn alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Waits for what must come true, a second and a half at most.
fn soon(what: impl Fn() -> bool) -> bool {
    for _ in 0..150 {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Compiles a C program into the scratch directory.
fn compile(bench: &Bench, source: &str) -> String {
    std::fs::write(bench.path("p.c"), source).unwrap();
    let built = bench.run(&["/usr/bin/gcc", "-O1", "-o", "p", "p.c"]);
    assert_eq!(built.exit, Exit::Code(0), "{}", bench.log());
    bench.path("p").display().to_string()
}

#[test]
fn an_exit_code_and_both_outputs_come_back() {
    let bench = Bench::new();
    let finished = bench.sh("echo out; echo err >&2; exit 7");
    assert_eq!(finished.exit, Exit::Code(7));
    assert_eq!(bench.log(), "out\nerr\n");
    assert!(!finished.log_truncated && finished.output_error.is_none());
    assert_eq!(finished.leftover, 0);
    assert!(finished.max_rss_bytes > 100_000 && finished.wall > Duration::ZERO);
}

#[test]
fn a_crash_is_a_signal() {
    let bench = Bench::new();
    assert_eq!(bench.sh("kill -SEGV $$").exit, Exit::Signal(11));
    assert_eq!(bench.sh("kill -KILL $$").exit, Exit::Signal(9));
}

#[test]
fn standard_output_goes_to_a_file_or_a_reader_and_errors_still_to_the_log() {
    let bench = Bench::new();
    let argv = ["/bin/sh", "-c", "echo out; echo err >&2"];
    let file = bench.path("out");
    let finished =
        bench.runner.run(bench.child(&argv, Stdout::File(file.clone())), &Interrupt::none());
    assert_eq!(finished.exit, Exit::Code(0));
    assert_eq!(
        (std::fs::read_to_string(file).unwrap().as_str(), bench.log().as_str()),
        ("out\n", "err\n")
    );

    let mut text = String::new();
    let mut reader = |from: &mut dyn Read| from.read_to_string(&mut text).map(drop);
    let finished =
        bench.runner.run(bench.child(&argv, Stdout::Stream(&mut reader)), &Interrupt::none());
    assert_eq!((finished.exit, text.as_str()), (Exit::Code(0), "out\n"));
}

#[test]
fn a_reader_that_gives_up_ends_the_writer_and_is_reported() {
    let bench = Bench::new();
    let mut reader = |_: &mut dyn Read| Err(std::io::Error::other("enough"));
    let child = bench.child(&["/bin/sh", "-c", "yes"], Stdout::Stream(&mut reader));
    let finished = bench.runner.run(child, &Interrupt::none());
    assert!(matches!(finished.exit, Exit::Code(141) | Exit::Signal(13)), "{:?}", finished.exit);
    assert_eq!(finished.output_error.unwrap().to_string(), "enough");
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let mut bench = Bench::new();
    bench.env = BTreeMap::from([("ONLY".to_owned(), "this one".to_owned())]);
    assert_eq!(bench.run(&["/usr/bin/env"]).exit, Exit::Code(0));
    assert_eq!(bench.log(), "ONLY=this one\n");
}

#[test]
fn the_child_starts_clean() {
    let bench = Bench::new();
    let finished = bench
        .sh("pwd; umask; readlink /proc/self/fd/0; ls /proc/self/fd | tr '\\n' ' '; echo; \
         cut -d' ' -f5 /proc/$$/stat; echo $$");
    assert_eq!(finished.exit, Exit::Code(0));
    let log = bench.log();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(
        Path::new(lines[0]).canonicalize().unwrap(),
        bench.dir.path().canonicalize().unwrap()
    );
    assert_eq!(lines[1..3], ["0022", "/dev/null"]);
    // Its own three, and the directory that `ls` reads.
    assert_eq!(lines[3].trim(), "0 1 2 3");
    assert_eq!(lines[4], lines[5], "its own process group");
}

#[test]
fn no_signal_is_blocked_or_ignored_in_a_child() {
    let bench = Bench::new();
    bench.run(&["/bin/grep", "-E", "SigBlk|SigIgn", "/proc/self/status"]);
    for line in bench.log().lines() {
        // But for the two internal signals of the C library (32 and 33), inherited from whoever started this test.
        let mask = u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
        assert_eq!(mask & 0x7fff_ffff, 0, "{line}");
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let bench = Bench::new();
    let why = |argv: &str| {
        let exit = bench.run(&[argv]).exit;
        let Exit::Spawn(message) = exit else { panic!("{exit:?}") };
        message
    };
    assert!(why("/no/such/program").ends_with("`/no/such/program` is not there"));
    let plain = bench.path("plain");
    std::fs::write(&plain, "x").unwrap();
    assert!(why(&plain.display().to_string()).contains("may not be executed"));
    let script = bench.path("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).unwrap();
    assert!(why(&script.display().to_string()).contains("interpreter or loader"));
    let mut child = bench.child(&["/bin/true"], Stdout::Log);
    child.dir = bench.path("nowhere");
    let finished = bench.runner.run(child, &Interrupt::none());
    assert!(matches!(finished.exit, Exit::Spawn(m) if m.contains("working directory")));
    let runner = Runner::without_cgroups("/no/such/launcher".into());
    let finished = runner.run(bench.child(&["/bin/true"], Stdout::Log), &Interrupt::none());
    assert!(matches!(finished.exit, Exit::Spawn(m) if m.contains("launcher")));
}

#[test]
fn a_child_that_ignores_sigterm_ends_at_the_limit_all_the_same() {
    let bench = Bench::wall(300);
    let started = Instant::now();
    let finished = bench.sh("trap '' TERM; while :; do sleep 1; done");
    assert_eq!(finished.exit, Exit::Timeout(Duration::from_millis(300)));
    let took = started.elapsed();
    assert!(took > Duration::from_millis(2200) && took < Duration::from_secs(6), "{took:?}");
}

#[test]
fn a_child_that_listens_to_sigterm_ends_within_the_grace_time() {
    let bench = Bench::wall(300);
    let finished = bench.sh("trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done");
    assert_eq!(finished.exit, Exit::Timeout(Duration::from_millis(300)));
    assert!(bench.log().ends_with("bye\n"));
    assert!(finished.wall < Duration::from_millis(1800), "{:?}", finished.wall);
}

#[test]
fn a_stopped_child_ends_at_the_limit() {
    let bench = Bench::wall(300);
    assert_eq!(bench.sh("kill -STOP $$").exit, Exit::Timeout(Duration::from_millis(300)));
}

#[test]
fn a_child_that_stops_its_whole_group_does_not_stop_the_launcher() {
    let bench = Bench::wall(300);
    assert_eq!(bench.sh("kill -STOP 0").exit, Exit::Timeout(Duration::from_millis(300)));
}

#[test]
fn a_background_grandchild_does_not_outlive_the_child() {
    let bench = Bench::new();
    let started = Instant::now();
    let finished = bench.sh("sleep 30 & echo $! > pid; exit 0");
    assert_eq!((finished.exit, finished.leftover), (Exit::Code(0), 1));
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(!alive(bench.number_in("pid")));
}

#[test]
fn a_grandchild_in_a_session_of_its_own_ends_too() {
    let script = "setsid sh -c 'trap \"\" TERM HUP; echo $$ > pid; exec sleep 30' & \
                  while [ ! -s pid ]; do sleep 0.01; done";
    let bench = Bench::new();
    assert_eq!(bench.sh(&format!("{script}; exit 3")).exit, Exit::Code(3));
    assert!(!alive(bench.number_in("pid")));

    let bench = Bench::wall(500);
    let finished = bench.sh(&format!("{script}; sleep 30"));
    assert_eq!(finished.exit, Exit::Timeout(Duration::from_millis(500)));
    assert!(!alive(bench.number_in("pid")));
}

#[test]
fn an_endless_writer_fills_no_disk_and_its_log_says_what_is_missing() {
    let mut bench = Bench::wall(700);
    bench.limits.log_bytes = 100_000;
    let finished = bench.sh("echo first; yes");
    assert_eq!(finished.exit, Exit::Timeout(Duration::from_millis(700)));
    assert!(finished.log_truncated);
    let log = bench.log();
    assert!(log.starts_with("first\ny\n") && log.contains("[ngcc: log truncated, "));
    assert!(log.len() < 100_100, "{}", log.len());
}

#[test]
fn a_huge_sparse_file_is_stopped_by_the_file_size_limit() {
    let mut bench = Bench::new();
    bench.limits.file_size = Some(1 << 20);
    let finished = bench.sh("exec truncate -s 100G big");
    assert!(!matches!(finished.exit, Exit::Code(0)), "{:?}", finished.exit);
    assert_eq!(finished.in_force["file_size"], "rlimit FSIZE 1048576");
    assert!(std::fs::metadata(bench.path("big")).unwrap().len() <= 1 << 20);
}

#[test]
fn a_busy_loop_ends_at_the_cpu_limit() {
    let mut bench = Bench::new();
    bench.limits.cpu = Some(Duration::from_secs(1));
    let finished = bench.sh("while :; do :; done");
    assert_eq!(finished.exit, Exit::Timeout(Duration::from_secs(1)));
    assert!(finished.cpu >= Duration::from_millis(500), "{:?}", finished.cpu);
}

const MEMORY_HOG: &str = r#"
#include <stdlib.h>
#include <string.h>
int main(void) {
    for (int i = 0; i < 2048; i++) {
        char *p = malloc(1 << 20);
        if (!p) return 42;
        memset(p, 1, 1 << 20);
    }
    return 0;
}
"#;

#[test]
fn a_memory_hog_is_stopped_and_told_apart_where_control_groups_can() {
    let mut bench = Bench::new();
    let hog = compile(&bench, MEMORY_HOG);
    bench.limits.memory = Some(100 << 20);
    let finished = bench.run(&[&hog]);
    let means = &finished.in_force["memory"];
    if means.starts_with("cgroup") {
        assert_eq!(finished.exit, Exit::Memory);
    } else {
        eprintln!("no memory control group here ({means}): the hog sees its own malloc fail");
        assert_eq!(finished.exit, Exit::Code(42));
    }
    bench.runner = Runner::without_cgroups(PathBuf::from(env!("CARGO_BIN_EXE_ngcc")));
    let finished = bench.run(&[&hog]);
    assert_eq!(finished.exit, Exit::Code(42));
    assert_eq!(finished.in_force["memory"], "rlimit AS 104857600");
}

#[test]
fn a_killed_grandchild_of_a_failing_child_is_the_memory_limit_too() {
    let mut bench = Bench::new();
    let hog = compile(&bench, MEMORY_HOG);
    bench.limits.memory = Some(100 << 20);
    let finished = bench.sh(&format!("{hog} || exit 1"));
    if finished.in_force["memory"].starts_with("cgroup") {
        assert_eq!(finished.exit, Exit::Memory);
    }
}

#[test]
fn a_fork_bomb_stays_within_the_process_limit() {
    let mut bench = Bench::wall(1000);
    let bomb = compile(
        &bench,
        "#include <unistd.h>\nint main(void) { for (;;) if (fork() < 0) pause(); }\n",
    );
    bench.limits.processes = Some(40);
    // First a harmless child, so that the bomb goes off only where something holds it.
    let means = bench.run(&["/bin/true"]).in_force["processes"].clone();
    if means.starts_with("not limited") {
        eprintln!("fork bomb not tried: {means}");
        return;
    }
    let finished = bench.run(&[&bomb]);
    assert_eq!(finished.exit, Exit::Timeout(Duration::from_secs(1)));
}

#[test]
fn a_pinned_child_runs_on_its_cpu_only() {
    let mut bench = Bench::new();
    let cpu = ngcc::host::HostFacts::default_cpu(Path::new("/")).unwrap();
    bench.cpu = Some(cpu);
    let finished = bench.sh("grep Cpus_allowed_list /proc/self/status");
    assert_eq!(bench.log(), format!("Cpus_allowed_list:\t{cpu}\n"));
    assert_eq!(finished.in_force["cpu"], format!("affinity {cpu}"));
    bench.cpu = Some(1000);
    assert!(matches!(bench.sh("true").exit, Exit::Spawn(m) if m.contains("CPU 1000")));
}

#[test]
fn the_stack_limit_is_what_was_asked_for() {
    let mut bench = Bench::new();
    bench.limits.stack = Some(256 << 20);
    bench.limits.open_files = Some(32);
    bench.sh("ulimit -s; ulimit -n; ulimit -c");
    assert_eq!(bench.log(), "262144\n32\n0\n");
}

#[test]
fn an_interrupt_ends_a_child_and_a_second_one_ends_it_at_once() {
    let bench = Bench::new();
    let interrupt = Interrupt::none();
    let from_outside = interrupt.clone();
    let ready = bench.path("ready");
    let raiser = std::thread::spawn(move || {
        assert!(soon(|| ready.exists()));
        from_outside.raise();
        std::thread::sleep(Duration::from_millis(100));
        from_outside.raise();
    });
    let started = Instant::now();
    let script = "trap '' TERM; touch ready; while :; do sleep 1; done";
    let finished =
        bench.runner.run(bench.child(&["/bin/sh", "-c", script], Stdout::Log), &interrupt);
    raiser.join().unwrap();
    assert_eq!(finished.exit, Exit::Interrupted);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    let again = bench.runner.run(bench.child(&["/bin/true"], Stdout::Log), &interrupt);
    assert_eq!(again.exit, Exit::Interrupted, "nothing starts after an interrupt");
}

#[test]
fn when_the_launcher_is_killed_the_program_ends() {
    let bench = Bench::new();
    let finished = bench.sh("echo $$ > pid; kill -KILL $PPID; sleep 30");
    assert_eq!(finished.exit, Exit::Signal(9));
    assert!(soon(|| !alive(bench.number_in("pid"))));
}

/// Runs a child on behalf of the test below, in a process that the test can kill.
#[test]
#[ignore = "started by the next test only"]
fn inner_that_is_killed() {
    let bench = Bench::new();
    bench.sh("setsid sleep 30 & echo $! > /proc/self/fd/1; echo $$ > pids; echo $! >> pids; mv pids ready; sleep 30");
}

#[test]
fn killing_this_program_kills_its_children() {
    let bench = Bench::new();
    let me = std::env::current_exe().unwrap().display().to_string();
    let script = format!(
        "TMPDIR=$PWD {me} --exact process::inner_that_is_killed --ignored & \
         while ! cat .tmp*/ready > ids 2>/dev/null; do sleep 0.02; done; \
         kill -KILL $!; sleep 0.5; for p in $(cat ids); do [ -d /proc/$p ] && grep State /proc/$p/status; done; echo end",
    );
    let finished = bench.sh(&script);
    assert_eq!(finished.exit, Exit::Code(0));
    let log = bench.log();
    assert_eq!(log.lines().last(), Some("end"), "{log}");
    assert!(!log.contains("sleeping"), "{log}");
    assert_eq!(std::fs::read_to_string(bench.path("ids")).unwrap().lines().count(), 2);
}

#[test]
fn a_confined_child_writes_into_its_directory_only_and_has_no_network() {
    let mut bench = Bench::new();
    bench.runner = bench.runner.confined();
    bench.limits.memory = Some(1 << 30);
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("file").display().to_string();
    let finished = bench.sh(&format!(
        "echo in > inside && echo >/dev/null && pwd; echo out > {file} && echo written; \
         mount -o remount,rw,bind / && echo remounted; echo x > /etc/ngcc-test && echo written; \
         tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n'"
    ));
    let sandbox = &finished.in_force["sandbox"];
    assert_eq!(std::fs::read_to_string(bench.path("inside")).unwrap(), "in\n");
    if sandbox.starts_with("incomplete") {
        eprintln!("confinement not tried: {sandbox}");
        return;
    }
    let log = bench.log();
    assert!(!log.contains("written") && !log.contains("remounted"), "{log}");
    assert!(log.ends_with("lo"), "{log}");
    assert!(log.contains(&bench.dir.path().canonicalize().unwrap().display().to_string()), "{log}");
    assert!(std::fs::read_dir(outside.path()).unwrap().next().is_none());
}

#[test]
fn a_confined_compiler_works_and_its_limits_still_hold() {
    let mut bench = Bench::wall(10_000);
    bench.runner = bench.runner.confined();
    bench.env.insert("TMPDIR".to_owned(), bench.dir.path().display().to_string());
    let hog = compile(&bench, MEMORY_HOG);
    bench.limits.memory = Some(100 << 20);
    let finished = bench.run(&[&hog]);
    assert!(matches!(finished.exit, Exit::Memory | Exit::Code(42)), "{:?}", finished.exit);
    bench.limits.wall = Duration::from_millis(300);
    let finished = bench.sh("setsid sh -c 'trap \"\" TERM; sleep 30' & sleep 30");
    assert_eq!(finished.exit, Exit::Timeout(Duration::from_millis(300)));
}

/// What a child costs, for the record: `cargo test --test it cost_of_a_child -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a test"]
fn cost_of_a_child() {
    let median = |what: &str, run: &dyn Fn()| {
        let mut times: Vec<Duration> = (0..200)
            .map(|_| {
                let started = Instant::now();
                run();
                started.elapsed()
            })
            .collect();
        times.sort();
        eprintln!("{what}: median {:?}, least {:?}, 90 % {:?}", times[100], times[0], times[180]);
    };
    let mut bench = Bench::new();
    let empty = BTreeMap::new();
    median("asked", &|| {
        ngcc::exec::process::ask(Path::new("/bin/true"), &[], &empty, Duration::from_secs(9))
            .unwrap();
    });
    let run = |bench: &Bench| assert_eq!(bench.run(&["/bin/true"]).exit, Exit::Code(0));
    median("run", &|| run(&bench));
    bench.cpu = Some(0);
    median("run pinned", &|| run(&bench));
    bench.limits.memory = Some(1 << 30);
    median("run with a memory group", &|| run(&bench));
    median("run with a memory group, after 50 ms of nothing", &|| {
        std::thread::sleep(Duration::from_millis(50));
        run(&bench);
    });
    bench.limits.memory = None;
    bench.runner = bench.runner.confined();
    median("run confined", &|| run(&bench));
    let finished = bench.run(&["/bin/true"]);
    eprintln!("max rss of true: {} KiB", finished.max_rss_bytes / 1024);
}
