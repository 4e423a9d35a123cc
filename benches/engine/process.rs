//! Runs one program to its end and says what that took.
//!
//! Wall time is taken around start and wait. CPU time is what the system adds to "children that were waited for",
//! which includes a program's own children. Memory is another run, below GNU time: a child that was forked off this
//! process would be charged with this process' pages until it starts the program.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// GNU time; the one in a shell knows nothing of memory.
const TIME: &str = "/usr/bin/time";

/// What is to be run.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) dir: PathBuf,
}

/// What a run took.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
    pub(crate) fine: bool,
}

impl Invocation {
    /// A program with its arguments, in a directory.
    pub(crate) fn new(program: &Path, args: &[&str], dir: &Path) -> Self {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        Self { program: program.to_owned(), args, dir: dir.to_owned() }
    }

    /// Runs it. Output goes to files: nobody has to keep up with a pipe, and nothing is drawn.
    pub(crate) fn run(&self) -> Result<Sample, String> {
        let place = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (out, err) = (place.path().join("out"), place.path().join("err"));
        let create = |path: &Path| File::create(path).map_err(|e| e.to_string());
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir).stdin(Stdio::null());
        command.stdout(create(&out)?).stderr(create(&err)?);
        let before = cpu(UsageWho::RUSAGE_CHILDREN);
        let begun = Instant::now();
        let status = command
            .status()
            .map_err(|e| format!("cannot start {}: {e}", self.program.display()))?;
        let wall = begun.elapsed();
        let cpu = cpu(UsageWho::RUSAGE_CHILDREN).saturating_sub(before);
        let read = |path: &Path| std::fs::read(path).map_err(|e| e.to_string());
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (out, err) = (text(read(&out)?), text(read(&err)?));
        Ok(Sample { wall, cpu, out, err, fine: status.success() })
    }

    /// Peak memory in KiB of one more run; `None` without GNU time.
    pub(crate) fn peak_kib(&self) -> Option<u64> {
        if !Path::new(TIME).is_file() {
            return None;
        }
        let place = tempfile::tempdir().ok()?;
        let report = place.path().join("memory");
        let mut below = Self::new(Path::new(TIME), &["-f", "%M", "-o"], &self.dir);
        below.args.push(report.to_str()?.to_owned());
        below.args.push(self.program.to_str()?.to_owned());
        below.args.extend(self.args.iter().cloned());
        below.run().ok()?;
        // The last line: before it stands a complaint when the program did not end well.
        std::fs::read_to_string(report).ok()?.lines().last()?.trim().parse().ok()
    }
}

/// CPU time so far, user and system.
pub(crate) fn cpu(who: UsageWho) -> Duration {
    let time = |value: TimeVal| {
        let micros = value.tv_sec() * 1_000_000 + value.tv_usec();
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    };
    getrusage(who).map_or(Duration::ZERO, |used| time(used.user_time()) + time(used.system_time()))
}

/// Where a program is, by `PATH` and by where cargo installs.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo/bin"));
    std::env::split_paths(&path).chain(home).map(|dir| dir.join(program)).find(|p| p.is_file())
}

/// The load of the last minute, as the system writes it.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}
