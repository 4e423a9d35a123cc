//! The child side: `ngcc __exec SPEC -- ARGV...`. Sets limits, runs the program, stays until nothing of it is left.
//!
//! It exists because limits and affinity cannot be set between fork and exec without unsafe code, and because orphans
//! of a program must have a parent that ends them: it is a child subreaper. Its standard input is a socket to the
//! parent: orders come in, one report goes out, and end-of-file means that the parent is dead. It sleeps in `poll`
//! meanwhile, on no core in particular, so it does not disturb what is timed. It knows nothing of actions or stores.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeVal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::confine::confine;
use super::descendants;

/// What the launcher is to do; the first argument, as JSON.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Spec {
    /// Wall limit, milliseconds.
    pub(crate) wall_ms: u64,
    /// Time between SIGTERM and SIGKILL, milliseconds.
    pub(crate) grace_ms: u64,
    /// CPU time limit of each process, seconds.
    pub(crate) cpu_seconds: Option<u64>,
    /// Address space limit, bytes: only where no control group does it.
    pub(crate) address_space: Option<u64>,
    /// Largest file, bytes.
    pub(crate) file_size: Option<u64>,
    /// Stack, bytes.
    pub(crate) stack: Option<u64>,
    /// Open files.
    pub(crate) open_files: Option<u64>,
    /// Processes of this user: only where no control group does it.
    pub(crate) user_processes: Option<u64>,
    /// The one CPU to run on.
    pub(crate) cpu: Option<u32>,
    /// Control groups to start the program in.
    pub(crate) groups: Vec<Membership>,
    /// Whether to shut the program in; the working directory stays writable.
    pub(crate) confine: bool,
    /// Namespaces of a network without anything in it, when there is one.
    pub(crate) network: Option<PathBuf>,
}

/// A control group to join for the start of the program, and the one to go back to.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Membership {
    pub(crate) dir: PathBuf,
    pub(crate) home: PathBuf,
}

/// What the launcher sends back, as one JSON document.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Report {
    /// Which way it ended.
    pub(crate) end: End,
    /// Wall time from the start of the program to its end, nanoseconds.
    pub(crate) wall_ns: u64,
    /// CPU time of the program and its descendants, nanoseconds.
    pub(crate) cpu_ns: u64,
    /// Largest resident set among them, bytes.
    pub(crate) max_rss_bytes: u64,
    /// Processes that outlived the program and were ended.
    pub(crate) leftover: u64,
    /// Limits set here: name to means and value.
    pub(crate) in_force: BTreeMap<String, String>,
}

/// Which way the program ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
    WallLimit,
    CpuLimit,
    Interrupted,
    NotStarted(String),
}

/// Order to end gently: SIGTERM, grace, SIGKILL.
pub(crate) const ORDER_GENTLE: u8 = b'g';
/// Order to end at once: SIGKILL.
pub(crate) const ORDER_AT_ONCE: u8 = b'k';

/// Runs `ngcc __exec` with the arguments after it. Only this program calls it; see [`super::process`].
#[must_use]
pub fn main(args: Vec<OsString>) -> ExitCode {
    close_inherited();
    let mut args = args.into_iter();
    let spec = args.next().and_then(|s| serde_json::from_str::<Spec>(s.to_str()?).ok());
    let dashes = args.next();
    let argv: Vec<OsString> = args.collect();
    let (Some(spec), Some("--"), Ok(control)) =
        (spec, dashes.as_deref().and_then(|d| d.to_str()), control_socket())
    else {
        return ExitCode::from(70);
    };
    let report = Launcher::new(spec, control).run(&argv);
    if report { ExitCode::SUCCESS } else { ExitCode::from(70) }
}

/// From now on the signals that matter arrive through the returned descriptor. Only after the program was started,
/// because it would inherit the blocked signals; whatever came before is seen by reaping and by the socket.
fn listen() -> Result<SignalFd, String> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        signals.add(signal);
    }
    signals.thread_block().map_err(|e| cannot("block signals", e))?;
    // The socket's end-of-file says the same; whichever comes first.
    nix::sys::prctl::set_pdeathsig(Signal::SIGTERM).map_err(|e| cannot("follow its parent", e))?;
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    SignalFd::with_flags(&signals, flags).map_err(|e| cannot("receive signals", e))
}

fn cannot(what: &str, e: Errno) -> String {
    format!("the launcher cannot {what}: {}", e.desc())
}

/// Closes what whoever started our parent left open: it is none of the program's business.
fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<i32> =
        entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|&fd| fd > 2) {
        // The directory itself is among them and closed by now.
        let _ = nix::unistd::close(fd);
    }
}

/// The socket that stands where standard input is.
fn control_socket() -> io::Result<UnixStream> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.peer_addr()?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

struct Launcher {
    spec: Spec,
    control: UnixStream,
    in_force: BTreeMap<String, String>,
    /// `pids.max` of the groups that have one.
    fork_limits: Vec<File>,
}

/// Why and until when the program is being ended.
struct Ending {
    why: End,
    kill_at: Instant,
}

impl Launcher {
    fn new(spec: Spec, control: UnixStream) -> Self {
        Self { spec, control, in_force: BTreeMap::new(), fork_limits: Vec::new() }
    }

    /// Runs the program and sends the report; false when the report could not be sent.
    fn run(mut self, argv: &[OsString]) -> bool {
        let started = self.adopt_orphans().and_then(|()| self.start(argv));
        let report = match started.and_then(|program| Ok((program, listen()?))) {
            Ok((program, events)) => self.supervise(&program, &events),
            Err(message) => {
                descendants::signal_all(Pid::this(), Signal::SIGKILL);
                self.report(End::NotStarted(message), Duration::ZERO, 0)
            }
        };
        let text = serde_json::to_vec(&report).expect("a report is plain data");
        self.control.set_nonblocking(false).is_ok() && self.control.write_all(&text).is_ok()
    }

    fn adopt_orphans(&self) -> Result<(), String> {
        nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o022));
        nix::sys::prctl::set_child_subreaper(true).map_err(|e| cannot("become a subreaper", e))
    }

    /// Sets limits, groups and affinity, starts the program, and takes back what can be taken back.
    fn start(&mut self, argv: &[OsString]) -> Result<Program, String> {
        let (program, arguments) = argv.split_first().ok_or("no program was given")?;
        let mut homes = self.enter_groups()?;
        if self.spec.confine {
            let outcome = std::env::current_dir()
                .map_err(|e| e.to_string())
                .and_then(|dir| confine(&dir, self.spec.network.as_deref()))
                .map_or_else(|why| format!("incomplete: {why}"), str::to_owned);
            self.in_force.insert("sandbox".to_owned(), outcome);
        }
        let unpinned = self.pin()?;
        self.limit()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the launcher is the child side: it is what exec/process.rs starts"
        )]
        let mut command = std::process::Command::new(program);
        command.args(arguments).stdin(std::process::Stdio::null()).process_group(0);
        let started = Instant::now();
        let child = command.spawn().map_err(|e| not_started(program, &e))?;
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("process ids fit in an i32"));
        if let Some(mask) = unpinned {
            let _ = sched_setaffinity(Pid::from_raw(0), &mask);
        }
        for home in &mut homes {
            let _ = home.write_all(b"0");
        }
        Ok(Program { pid, started })
    }

    /// Enters the control groups; returns the way back, opened before confinement closes it.
    fn enter_groups(&mut self) -> Result<Vec<File>, String> {
        let open = |path: PathBuf| File::options().write(true).open(path);
        let mut homes = Vec::new();
        for group in &self.spec.groups {
            let entered = open(group.dir.join("cgroup.procs")).and_then(|mut procs| {
                homes.push(open(group.home.join("cgroup.procs"))?);
                procs.write_all(b"0")
            });
            entered.map_err(|e| format!("cannot enter group `{}`: {e}", group.dir.display()))?;
            self.fork_limits.extend(open(group.dir.join("pids.max")));
        }
        Ok(homes)
    }

    /// Pins to the wanted CPU; returns the mask from before.
    fn pin(&mut self) -> Result<Option<CpuSet>, String> {
        let Some(cpu) = self.spec.cpu else { return Ok(None) };
        let before = sched_getaffinity(Pid::from_raw(0)).ok();
        let mut set = CpuSet::new();
        set.set(cpu as usize).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set)).map_err(
            |e| format!("cannot run on CPU {cpu}: {} (not in the allowed set?)", e.desc()),
        )?;
        self.in_force.insert("cpu".into(), format!("affinity {cpu}"));
        Ok(before)
    }

    fn limit(&mut self) -> Result<(), String> {
        use Resource as R;
        let spec = &self.spec;
        let limits = [
            ("core", R::RLIMIT_CORE, "CORE", Some(0)),
            ("cpu_time", R::RLIMIT_CPU, "CPU", spec.cpu_seconds),
            ("memory", R::RLIMIT_AS, "AS", spec.address_space),
            ("file_size", R::RLIMIT_FSIZE, "FSIZE", spec.file_size),
            ("stack", R::RLIMIT_STACK, "STACK", spec.stack),
            ("open_files", R::RLIMIT_NOFILE, "NOFILE", spec.open_files),
            ("processes", R::RLIMIT_NPROC, "NPROC", spec.user_processes),
        ];
        for (name, resource, word, value) in limits {
            let Some(wanted) = value else { continue };
            let (_, hard_before) =
                getrlimit(resource).map_err(|e| format!("{word}: {}", e.desc()))?;
            let soft = wanted.min(hard_before);
            // One second between SIGXCPU and SIGKILL.
            let hard = if word == "CPU" { hard_before.min(soft + 1) } else { soft };
            setrlimit(resource, soft, hard)
                .map_err(|e| format!("cannot set the {name} limit to {soft}: {}", e.desc()))?;
            self.in_force.insert(name.into(), format!("rlimit {word} {soft}"));
        }
        Ok(())
    }

    /// Waits for the program, ends it when that is due, then ends whatever it left.
    fn supervise(&mut self, program: &Program, events: &SignalFd) -> Report {
        let deadline = program.started + Duration::from_millis(self.spec.wall_ms);
        let mut ending: Option<Ending> = None;
        let (status, more) = loop {
            if let Reaped::Program(status, more) = reap(program.pid) {
                break (status, more);
            }
            let next = ending.as_ref().map_or(deadline, |e| e.kill_at);
            self.sleep_until(next, events);
            match (self.order(events), &mut ending) {
                (Some(Order::AtOnce), Some(e)) => e.kill_at = Instant::now(),
                (Some(Order::AtOnce), None) => {
                    ending = Some(Ending { why: End::Interrupted, kill_at: Instant::now() });
                }
                (Some(Order::Gentle), None) => ending = Some(self.begin_ending(End::Interrupted)),
                (None, None) if Instant::now() >= deadline => {
                    ending = Some(self.begin_ending(End::WallLimit));
                }
                (Some(Order::Gentle) | None, _) => {}
            }
            if ending.as_ref().is_some_and(|e| Instant::now() >= e.kill_at) {
                self.forbid_forks();
                descendants::signal_all(Pid::this(), Signal::SIGKILL);
                // Again soon, for those born meanwhile.
                if let Some(e) = &mut ending {
                    e.kill_at = Instant::now() + Duration::from_millis(20);
                }
            }
        };
        let wall = program.started.elapsed();
        let leftover = if more { self.end_leftovers(events) } else { 0 };
        let end = match (ending, status) {
            (Some(Ending { why, .. }), _) => why,
            (None, WaitStatus::Exited(_, code)) => End::Code(code),
            (None, WaitStatus::Signaled(_, signal, _)) => self.signalled(signal),
            (None, other) => End::NotStarted(format!("unexpected state {other:?}")),
        };
        self.report(end, wall, leftover)
    }

    fn begin_ending(&self, why: End) -> Ending {
        descendants::signal_all(Pid::this(), Signal::SIGTERM);
        // A stopped process acts on SIGTERM only once it goes on.
        descendants::signal_all(Pid::this(), Signal::SIGCONT);
        Ending { why, kill_at: Instant::now() + Duration::from_millis(self.spec.grace_ms) }
    }

    /// A process that keeps forking cannot outrun the killing where a control group can refuse it.
    fn forbid_forks(&mut self) {
        for limit in &mut self.fork_limits {
            let _ = limit.write_all(b"0");
        }
    }

    /// Ends everything below this process; returns how many processes there were at first sight.
    fn end_leftovers(&mut self, events: &SignalFd) -> u64 {
        let mut first = None;
        self.forbid_forks();
        // Bounded: a process stuck in the kernel must not hold up everything.
        let give_up = Instant::now() + Duration::from_secs(10);
        loop {
            let found = descendants::signal_all(Pid::this(), Signal::SIGKILL);
            first.get_or_insert(found);
            if matches!(reap(Pid::from_raw(-1)), Reaped::Nobody) || Instant::now() >= give_up {
                return first.unwrap_or(0) as u64;
            }
            self.sleep_until(Instant::now() + Duration::from_millis(20), events);
            while let Ok(Some(_)) = events.read_signal() {}
        }
    }

    fn signalled(&self, signal: Signal) -> End {
        match self.spec.cpu_seconds {
            Some(_) if signal == Signal::SIGXCPU => End::CpuLimit,
            Some(limit)
                if signal == Signal::SIGKILL && children_cpu() >= Duration::from_secs(limit) =>
            {
                End::CpuLimit
            }
            _ => End::Signal(signal as i32),
        }
    }

    /// Sleeps until a signal, an order, or the given time.
    fn sleep_until(&self, when: Instant, events: &SignalFd) {
        let mut fds = [
            PollFd::new(events.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
        ];
        let _ = nix::poll::poll(&mut fds, timeout_until(when));
    }

    /// The strongest order that came in.
    fn order(&mut self, events: &SignalFd) -> Option<Order> {
        let mut order = None;
        while let Ok(Some(signal)) = events.read_signal() {
            if signal.ssi_signo != Signal::SIGCHLD as u32 {
                order = Some(Order::AtOnce);
            }
        }
        let mut bytes = [0_u8; 16];
        match self.control.read(&mut bytes) {
            Ok(0) => order = Some(Order::AtOnce),
            Ok(n) if bytes[..n].contains(&ORDER_AT_ONCE) => order = Some(Order::AtOnce),
            Ok(n) if bytes[..n].contains(&ORDER_GENTLE) => order = order.or(Some(Order::Gentle)),
            Ok(_) | Err(_) => {}
        }
        order
    }

    fn report(&self, end: End, wall: Duration, leftover: u64) -> Report {
        // Linux counts in KiB.
        let max_rss = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss());
        Report {
            end,
            wall_ns: nanoseconds(wall),
            cpu_ns: nanoseconds(children_cpu()),
            max_rss_bytes: u64::try_from(max_rss).unwrap_or(0) * 1024,
            leftover,
            in_force: self.in_force.clone(),
        }
    }
}

struct Program {
    pid: Pid,
    started: Instant,
}

enum Order {
    Gentle,
    AtOnce,
}

enum Reaped {
    /// The program ended; whether others are left.
    Program(WaitStatus, bool),
    /// Somebody is still alive.
    Waiting,
    /// There is nobody left.
    Nobody,
}

/// Reaps whoever has ended: the program, and orphans that became children of this process.
fn reap(program: Pid) -> Reaped {
    let mut status = None;
    let nobody = loop {
        match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => break false,
            Ok(s) if s.pid() == Some(program) => status = Some(s),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => break true,
        }
    };
    match status {
        Some(status) => Reaped::Program(status, !nobody),
        None if nobody => Reaped::Nobody,
        None => Reaped::Waiting,
    }
}

/// CPU time of all reaped descendants.
fn children_cpu() -> Duration {
    let time = |t: TimeVal| {
        let micros = u64::try_from(t.tv_usec()).unwrap_or(0);
        Duration::from_secs(u64::try_from(t.tv_sec()).unwrap_or(0)) + Duration::from_micros(micros)
    };
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_or(Duration::ZERO, |usage| time(usage.user_time()) + time(usage.system_time()))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A poll timeout that ends at `when`, rounded up so as not to wake just before; an hour at most.
pub(crate) fn timeout_until(when: Instant) -> PollTimeout {
    let left = when.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
    let millis = left.as_millis().min(3_600_000);
    PollTimeout::try_from(u32::try_from(millis).unwrap_or(3_600_000)).unwrap_or(PollTimeout::MAX)
}

/// Whether a descriptor is readable or hung up, without waiting.
pub(crate) fn is_ready(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    nix::poll::poll(&mut fds, PollTimeout::ZERO).is_ok_and(|n| n > 0)
}

/// Why a program could not be started, in words that say what to do.
fn not_started(program: &OsString, error: &io::Error) -> String {
    let name = PathBuf::from(program);
    let name = name.display();
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT) if std::path::Path::new(program).exists() => {
            format!("`{name}` is there, but the interpreter or loader it names is not")
        }
        Some(Errno::ENOENT) => format!("`{name}` is not there"),
        Some(Errno::EACCES) => format!("`{name}` may not be executed (permission denied)"),
        Some(Errno::ENOEXEC) => format!("`{name}` is not a program for this machine"),
        Some(Errno::E2BIG) => format!("the arguments of `{name}` are too long for this system"),
        Some(Errno::EAGAIN) => format!("`{name}` was not started: the process limit is reached"),
        Some(Errno::ENOMEM) => format!("`{name}` was not started: the memory limit is too small"),
        _ => format!("`{name}` was not started: {error}"),
    }
}
