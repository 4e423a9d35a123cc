//! The parent side: starts a child, waits for it, keeps its log, and leaves nothing of it behind.
//!
//! The only file of the parent that starts processes. Every child runs below `ngcc __exec` ([`super::launcher`]), which
//! has its own process group and holds the limits; what is here is the wire to it: orders out, a report back, output
//! into a bounded log or to a reader. The caller's environment never gets through. Knows nothing of actions.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getpgid, getpgrp};

use super::cgroup::{Cgroups, Group};
pub use super::interrupt::Interrupt;
use super::interrupt::Level;
use super::launcher::{
    End, Membership, ORDER_AT_ONCE, ORDER_GENTLE, Report, Spec, is_ready, timeout_until,
};
use super::no_network::NoNetwork;
use super::{descendants, log};

/// Time between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long the launcher may take beyond limit and grace before it counts as stuck.
const LAUNCHER_SLACK: Duration = Duration::from_secs(15);

/// Address space below which this program itself cannot start another, bytes.
const LEAST_ADDRESS_SPACE: u64 = 64 << 20;

/// What to run.
#[derive(Debug)]
pub struct Child<'a> {
    /// Program (an absolute path) and arguments.
    pub argv: Vec<OsString>,
    /// Working directory.
    pub dir: PathBuf,
    /// The complete environment.
    pub env: BTreeMap<String, String>,
    /// Where standard output goes.
    pub stdout: Stdout<'a>,
    /// File for standard error, and for standard output if [`Stdout::Log`].
    pub log: PathBuf,
    /// Limits.
    pub limits: Limits,
    /// The one CPU to run on.
    pub cpu: Option<u32>,
}

/// Reads a child's standard output while it runs.
pub type Reader<'a> = dyn FnMut(&mut dyn Read) -> io::Result<()> + Send + 'a;

/// Where standard output goes.
pub enum Stdout<'a> {
    /// Into the log, in order with standard error.
    Log,
    /// Into a new file, unbounded but for the file size limit.
    File(PathBuf),
    /// To a reader, as it comes. When the reader returns early the child gets SIGPIPE on its next write.
    Stream(&'a mut Reader<'a>),
}

impl std::fmt::Debug for Stdout<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log => f.write_str("Log"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

/// What a child may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall time.
    pub wall: Duration,
    /// CPU time of each process; whole seconds, rounded up.
    pub cpu: Option<Duration>,
    /// Memory, bytes: resident over all descendants in a control group, else address space of each process.
    pub memory: Option<u64>,
    /// Largest file, bytes.
    pub file_size: Option<u64>,
    /// Stack, bytes.
    pub stack: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Processes and threads over all descendants.
    pub processes: Option<u64>,
    /// Largest log, bytes.
    pub log_bytes: u64,
}

impl Limits {
    /// A wall limit and a log of 1 MiB; nothing else is limited.
    #[must_use]
    pub const fn wall(wall: Duration) -> Self {
        Self {
            wall,
            cpu: None,
            memory: None,
            file_size: None,
            stack: None,
            open_files: None,
            processes: None,
            log_bytes: 1 << 20,
        }
    }
}

/// How a child ended and what it used.
#[derive(Debug)]
pub struct Finished {
    /// Which way it ended.
    pub exit: Exit,
    /// From the start of the program to its end, without the launcher.
    pub wall: Duration,
    /// CPU time of the program and its descendants.
    pub cpu: Duration,
    /// Largest resident set of one of them, bytes. Never below the launcher's own (a few MiB): the kernel counts the
    /// process from before `exec`. A driver that wants its own figure reads VmHWM.
    pub max_rss_bytes: u64,
    /// Limits in force, and by which means.
    pub in_force: BTreeMap<String, String>,
    /// Whether the log was too long.
    pub log_truncated: bool,
    /// Processes that outlived the program and were ended.
    pub leftover: u64,
    /// What went wrong on our side of the output: the log's file, or the reader of [`Stdout::Stream`].
    pub output_error: Option<io::Error>,
}

/// Which way a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with a status.
    Code(i32),
    /// By a signal we did not send.
    Signal(i32),
    /// By us at the wall or CPU limit, which is given.
    Timeout(Duration),
    /// At the memory limit.
    Memory,
    /// By us because the user wanted it.
    Interrupted,
    /// It never started, because.
    Spawn(String),
}

/// Starts children. Made once per run.
#[derive(Debug, Clone)]
pub struct Runner {
    launcher: PathBuf,
    cgroups: Cgroups,
    confine: bool,
    network: Option<NoNetwork>,
}

impl Runner {
    /// A runner that starts children through the program at `launcher` (this one's own path), using control groups
    /// where this process may.
    #[must_use]
    pub fn new(launcher: PathBuf) -> Self {
        Self { cgroups: Cgroups::detect(), ..Self::without_cgroups(launcher) }
    }

    /// A runner that uses resource limits only.
    #[must_use]
    pub fn without_cgroups(launcher: PathBuf) -> Self {
        // For the orphans of a launcher that is killed. Where it cannot be, they go to init as anywhere.
        let _ = nix::sys::prctl::set_child_subreaper(true);
        Self { launcher, cgroups: Cgroups::none(), confine: false, network: None }
    }

    /// The same runner for programs that are not trusted: no network, and no writing but below the working directory,
    /// as far as the system allows; [`Finished::in_force`] says under `sandbox`. Such a child is not root in any sense
    /// that matters, so what needs privileges (real-time scheduling) is not for it.
    #[must_use]
    pub fn confined(&self) -> Self {
        let network = NoNetwork::start(&self.launcher);
        Self { confine: true, network, ..self.clone() }
    }

    /// Runs a child to its end. Returns only when none of its descendants is left.
    #[must_use]
    pub fn run(&self, child: Child<'_>, interrupt: &Interrupt) -> Finished {
        if interrupt.level() > Level::None {
            return Finished::without_report(Exit::Interrupted);
        }
        if !child.dir.is_dir() {
            let message = format!("the working directory `{}` is not there", child.dir.display());
            return Finished::without_report(Exit::Spawn(message));
        }
        let (spec, groups, mut in_force) = self.spec(&child.limits, child.cpu);
        let limits = child.limits.clone();
        let mut finished = match self.start(child, &spec) {
            Ok(running) => running.finish(&limits, interrupt),
            Err(message) => Finished::without_report(Exit::Spawn(message)),
        };
        if groups.iter().any(|group| group.memory_kills() > 0)
            && matches!(finished.exit, Exit::Code(1..) | Exit::Signal(_))
        {
            finished.exit = Exit::Memory;
        }
        in_force.append(&mut finished.in_force);
        finished.in_force = in_force;
        finished
    }

    /// What the launcher is told, the control groups it is told of, and the limits they hold.
    fn spec(
        &self,
        limits: &Limits,
        cpu: Option<u32>,
    ) -> (Spec, Vec<Group>, BTreeMap<String, String>) {
        let mut in_force = BTreeMap::new();
        in_force.insert("wall".to_owned(), format!("timer {:?}", limits.wall));
        let mut groups = Vec::new();
        let (mut address_space, mut user_processes) = (None, None);
        if let Some(bytes) = limits.memory {
            if let Some(group) = self.cgroups.memory(bytes) {
                in_force.insert("memory".to_owned(), format!("{} {bytes}", group.means()));
                groups.push(group);
            } else {
                address_space = Some(bytes.max(LEAST_ADDRESS_SPACE));
            }
        }
        if let Some(count) = limits.processes {
            if let Some(group) = self.cgroups.pids(count) {
                in_force.insert("processes".to_owned(), format!("{} {count}", group.means()));
                groups.push(group);
            } else if nix::unistd::geteuid().is_root() {
                let why = "not limited: no pids control group, and root has no process limit";
                in_force.insert("processes".to_owned(), why.to_owned());
            } else {
                // The kernel counts all processes of the user, so ours come on top of what is there.
                user_processes = Some(count + descendants::tasks_of_this_user());
            }
        }
        let spec = Spec {
            wall_ms: millis(limits.wall),
            grace_ms: millis(GRACE),
            cpu_seconds: limits.cpu.map(|d| d.as_millis().div_ceil(1000).try_into().unwrap_or(1)),
            address_space,
            file_size: limits.file_size,
            stack: limits.stack,
            open_files: limits.open_files,
            user_processes,
            cpu,
            confine: self.confine,
            network: self.network.as_ref().map(|n| n.spaces().to_owned()),
            groups: groups
                .iter()
                .map(|g| Membership { dir: g.dir().to_owned(), home: g.home().to_owned() })
                .collect(),
        };
        (spec, groups, in_force)
    }

    fn start<'a>(&self, child: Child<'a>, spec: &Spec) -> Result<Running<'a>, String> {
        let told = |what: &str, path: &Path, e: &io::Error| {
            format!("cannot {what} `{}`: {e}", path.display())
        };
        let (control, theirs) = UnixStream::pair().map_err(|e| format!("no socket: {e}"))?;
        let (log_reader, log_writer) = io::pipe().map_err(|e| format!("no pipe: {e}"))?;
        let (stdout, stream): (OwnedFd, _) = match child.stdout {
            Stdout::Log => {
                let same = log_writer.try_clone().map_err(|e| format!("no pipe: {e}"))?;
                (same.into(), None)
            }
            Stdout::File(path) => {
                let file = File::create(&path).map_err(|e| told("create", &path, &e))?;
                (file.into(), None)
            }
            Stdout::Stream(reader) => {
                let (ours, theirs) = io::pipe().map_err(|e| format!("no pipe: {e}"))?;
                (theirs.into(), Some((ours, reader)))
            }
        };
        let mut args = vec![
            OsString::from("__exec"),
            serde_json::to_string(spec).expect("a specification is plain data").into(),
            OsString::from("--"),
        ];
        args.extend(child.argv);
        // The expression holds the child's ends of the pipes; it must be gone before anybody waits for end-of-file.
        let launcher = duct::cmd(&self.launcher, args)
            .dir(&child.dir)
            .full_env(&child.env)
            .stdin_file(theirs)
            .stdout_file(stdout)
            .stderr_file(log_writer)
            .before_spawn(in_its_own_group)
            .unchecked();
        let handle =
            start(&launcher).map_err(|e| told("start the launcher", &self.launcher, &e))?;
        Ok(Running { handle, control, log_reader, log: child.log, stream })
    }
}

/// A started launcher.
struct Running<'a> {
    handle: duct::Handle,
    control: UnixStream,
    log_reader: PipeReader,
    log: PathBuf,
    stream: Option<(PipeReader, &'a mut Reader<'a>)>,
}

impl Running<'_> {
    fn finish(self, limits: &Limits, interrupt: &Interrupt) -> Finished {
        let Running { handle, mut control, log_reader, log, stream } = self;
        std::thread::scope(|scope| {
            let logging = scope.spawn(|| log::copy(log_reader, &log, limits.log_bytes));
            let streaming = stream.map(|(mut pipe, reader)| scope.spawn(move || reader(&mut pipe)));
            let answer = converse(&mut control, &handle, limits, interrupt);
            let _ = handle.wait();
            ended(&handle);
            if report_in(&answer).is_none() {
                end_orphans();
            }
            let mut finished = Finished::from_answer(&answer, limits);
            let joined = logging.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match joined {
                Ok(truncated) => finished.log_truncated = truncated,
                Err(e) => finished.output_error = Some(e),
            }
            if let Some(streaming) = streaming {
                let joined =
                    streaming.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                finished.output_error = finished.output_error.or(joined.err());
            }
            finished
        })
    }
}

/// Passes orders on and reads what the launcher says, to the end.
fn converse(
    control: &mut UnixStream,
    handle: &duct::Handle,
    limits: &Limits,
    interrupt: &Interrupt,
) -> Vec<u8> {
    let mut answer = Vec::new();
    let mut passed_on = Level::None;
    let mut stuck_at = Instant::now() + limits.wall + GRACE + LAUNCHER_SLACK;
    loop {
        let now = interrupt.level();
        if now > passed_on {
            let order = if now == Level::AtOnce { ORDER_AT_ONCE } else { ORDER_GENTLE };
            let _ = control.write_all(&[order]);
            passed_on = now;
            stuck_at = stuck_at.min(Instant::now() + GRACE + LAUNCHER_SLACK);
        }
        let mut fds = vec![PollFd::new(control.as_fd(), PollFlags::POLLIN)];
        fds.extend(interrupt.bell_after(passed_on).map(|b| PollFd::new(b, PollFlags::POLLIN)));
        let _ = nix::poll::poll(&mut fds, timeout_until(stuck_at));
        if Instant::now() >= stuck_at {
            end_by_force(handle);
            stuck_at = Instant::now() + Duration::from_millis(20);
        }
        if is_ready(control.as_fd()) {
            let mut buffer = [0_u8; 4096];
            match control.read(&mut buffer) {
                Ok(n) if n > 0 => answer.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => break,
            }
        }
    }
    answer
}

/// The children that this process started and has not waited for. Whoever starts one holds the lock meanwhile, so any
/// other child found with the lock held is an orphan.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Starts an expression of one process and remembers it.
fn start(expression: &duct::Expression) -> io::Result<duct::Handle> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = expression.start()?;
    started.extend(pids(&handle).map(Pid::as_raw));
    Ok(handle)
}

/// Starts the process that keeps an empty network, with a socket as its standard input.
pub(super) fn start_keeper(launcher: &Path, socket: UnixStream) -> io::Result<duct::Handle> {
    let keeper = duct::cmd(launcher, ["__no-network"])
        .full_env(BTreeMap::<String, String>::new())
        .stdin_file(socket)
        .stdout_null()
        .stderr_null()
        .before_spawn(in_its_own_group)
        .unchecked();
    start(&keeper)
}

/// Waits for a process that was started here.
pub(super) fn wait_for(handle: &duct::Handle) {
    let _ = handle.wait();
    ended(handle);
}

/// Forgets a child that has been waited for.
fn ended(handle: &duct::Handle) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    for pid in pids(handle) {
        started.remove(&pid.as_raw());
    }
}

fn pids(handle: &duct::Handle) -> impl Iterator<Item = Pid> {
    handle.pids().into_iter().filter_map(|pid| i32::try_from(pid).ok()).map(Pid::from_raw)
}

/// A launcher that was killed leaves its descendants to the next subreaper, which is this process.
fn end_orphans() {
    let give_up = Instant::now() + Duration::from_secs(10);
    while Instant::now() < give_up {
        let started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut orphans = descendants::children(Pid::this());
        // Programs below a launcher have groups of their own; what shares ours was started by other code here.
        let ours = getpgrp();
        orphans.retain(|&pid| {
            !started.contains(&pid.as_raw()) && getpgid(Some(pid)).is_ok_and(|group| group != ours)
        });
        if orphans.is_empty() {
            return;
        }
        for orphan in orphans {
            descendants::signal_all(orphan, Signal::SIGKILL);
            let _ = kill(orphan, Signal::SIGKILL);
            let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
        }
        drop(started);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// For a launcher that does not react (somebody stopped it): ends everything below it, then itself.
fn end_by_force(handle: &duct::Handle) {
    for launcher in pids(handle) {
        if descendants::signal_all(launcher, Signal::SIGKILL) == 0 {
            let _ = kill(launcher, Signal::SIGKILL);
        }
    }
}

/// The report: all that a launcher says. None from one that was killed.
fn report_in(answer: &[u8]) -> Option<Report> {
    serde_json::from_slice(answer).ok()
}

impl Finished {
    fn without_report(exit: Exit) -> Self {
        Self {
            exit,
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            max_rss_bytes: 0,
            in_force: BTreeMap::new(),
            log_truncated: false,
            leftover: 0,
            output_error: None,
        }
    }

    fn from_answer(answer: &[u8], limits: &Limits) -> Self {
        let Some(report) = report_in(answer) else {
            // Somebody killed the launcher: the program itself, or the kernel out of memory.
            return Self::without_report(Exit::Signal(Signal::SIGKILL as i32));
        };
        Self {
            exit: match report.end {
                End::Code(code) => Exit::Code(code),
                End::Signal(signal) => Exit::Signal(signal),
                End::WallLimit => Exit::Timeout(limits.wall),
                End::CpuLimit => Exit::Timeout(limits.cpu.unwrap_or(limits.wall)),
                End::Interrupted => Exit::Interrupted,
                End::NotStarted(message) => Exit::Spawn(message),
            },
            wall: Duration::from_nanos(report.wall_ns),
            cpu: Duration::from_nanos(report.cpu_ns),
            max_rss_bytes: report.max_rss_bytes,
            in_force: report.in_force,
            leftover: report.leftover,
            ..Self::without_report(Exit::Interrupted)
        }
    }
}

/// So that Ctrl-C at the terminal reaches this process only, which passes it on.
fn in_its_own_group(command: &mut Command) -> io::Result<()> {
    command.process_group(0);
    Ok(())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Runs a short question (`gcc --version`) and returns its standard output: no launcher, no limits but the time.
///
/// # Errors
/// When the program cannot be started, does not end in time, or ends with a failure.
pub fn ask(
    program: &Path,
    args: &[&str],
    env: &BTreeMap<String, String>,
    limit: Duration,
) -> io::Result<Vec<u8>> {
    let question = duct::cmd(program, args)
        .full_env(env)
        .stdin_null()
        .stdout_capture()
        .stderr_null()
        .before_spawn(in_its_own_group)
        .unchecked();
    let handle = start(&question)?;
    let Some(output) = handle.wait_timeout(limit)? else {
        for pid in pids(&handle) {
            let _ = killpg(pid, Signal::SIGKILL);
        }
        let waited = handle.wait().map(drop);
        ended(&handle);
        waited?;
        return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {limit:?}")));
    };
    ended(&handle);
    if output.status.success() {
        Ok(output.stdout.clone())
    } else {
        Err(io::Error::other(format!("it ended with {}", output.status)))
    }
}
