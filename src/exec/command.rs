//! The children of a running action: how a procedure names them, what they get, and how their end counts.
//!
//! Command, usage, limits and log go to the action's record. Knows nothing of what a child does; starting one is
//! `process.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::job::{Job, Stop};
use super::process::{Child, Exit, Finished, Limits, Reader, Stdout};
use crate::record::{Failure, FailureClass};

/// What the kernel sends whoever writes beyond the file size limit.
const SIGXFSZ: i32 = nix::sys::signal::Signal::SIGXFSZ as i32;

/// One child to run.
#[derive(Debug, Default)]
pub struct Command {
    /// The program: `tool:NAME`, `self` (this program), or a path inside the scratch directory.
    pub program: String,
    /// Arguments; `{scratch}` stands for the scratch directory.
    pub args: Vec<String>,
    /// Directory below the scratch directory to run in.
    pub dir: Option<String>,
    /// Where stdout goes, if not to the log: a path below the scratch directory.
    pub stdout: Option<String>,
    /// More environment than the action's own.
    pub env: BTreeMap<String, String>,
    /// Pin to the benchmark core.
    pub pinned: bool,
    /// Our own code, which may write anywhere in the scratch directory.
    pub trusted: bool,
    /// Another wall limit than the action's.
    pub wall: Option<Duration>,
}

impl Job<'_> {
    /// Runs a child; its command, usage and log go to the record.
    ///
    /// # Errors
    /// When the program is unknown or the log cannot be read. How the child ended is in the result, not an error.
    pub fn run(&mut self, command: &Command) -> Result<Finished, Stop> {
        self.run_streaming(command, None)
    }

    /// As [`Job::run`], with stdout given to a reader as it comes.
    ///
    /// # Errors
    /// As [`Job::run`].
    pub fn run_streaming(
        &mut self,
        command: &Command,
        reader: Option<&mut Reader<'_>>,
    ) -> Result<Finished, Stop> {
        let scratch = self.scratch()?.to_path_buf();
        let program: PathBuf = if command.program == "self" {
            self.bench.launcher.to_path_buf()
        } else if let Some(tool) = command.program.strip_prefix("tool:") {
            let found = self.bench.tools.require(tool);
            found.map_err(|e| Stop::new(FailureClass::Refused, e.to_string()))?.path.clone()
        } else {
            scratch.join(&command.program)
        };
        let text = scratch.to_string_lossy().into_owned();
        let mut argv = vec![program.into_os_string()];
        argv.extend(command.args.iter().map(|a| OsString::from(a.replace("{scratch}", &text))));
        let mut shown = vec![command.program.clone()];
        shown.extend(command.args.iter().cloned());
        let mut env = self.spec().env.clone();
        env.insert("PATH".into(), self.search_path());
        env.insert("HOME".into(), text.clone());
        env.insert("TMPDIR".into(), text.clone());
        for (name, value) in &command.env {
            env.insert(name.clone(), value.replace("{scratch}", &text));
        }
        let limits = &self.spec().limits;
        let log = scratch.join(format!("log-{}", self.trace.commands.len()));
        let stdout = match (reader, &command.stdout) {
            (Some(reader), _) => Stdout::Stream(reader),
            (None, Some(path)) => Stdout::File(scratch.join(path)),
            (None, None) => Stdout::Log,
        };
        let child = Child {
            argv,
            dir: command.dir.as_ref().map_or_else(|| scratch.clone(), |d| scratch.join(d)),
            env,
            stdout,
            log: log.clone(),
            limits: Limits {
                wall: command.wall.unwrap_or(limits.wall),
                cpu: None,
                memory: limits.memory,
                file_size: limits.file_size,
                stack: limits.stack,
                open_files: Some(1024),
                processes: Some(512),
                log_bytes: limits.log,
            },
            cpu: command.pinned.then_some(self.bench.cpu),
        };
        let busy = self.bench.meter.child();
        let runner = if command.trusted { self.bench.runner } else { self.bench.confined };
        let finished = runner.run(child, self.bench.interrupt);
        drop(busy);
        self.trace.commands.push(shown);
        self.trace.cpu += finished.cpu;
        self.trace.max_rss_bytes = self.trace.max_rss_bytes.max(finished.max_rss_bytes);
        self.trace.limits.extend(finished.in_force.clone());
        if let Ok(bytes) = std::fs::read(&log) {
            // The scratch path is different every time and says nothing.
            let plain = String::from_utf8_lossy(&bytes).replace(&text, "{scratch}");
            self.trace.log.extend_from_slice(plain.as_bytes());
        }
        Ok(finished)
    }

    /// Runs a child that must end with status 0.
    ///
    /// # Errors
    /// A failure of the class in which it ended.
    pub fn run_ok(&mut self, command: &Command) -> Result<Finished, Stop> {
        let finished = self.run(command)?;
        match self.failure_of(&finished.exit, &command.program) {
            None => Ok(finished),
            Some(failure) => Err(Stop::Failure(failure)),
        }
    }

    /// How a child's end counts as a failure; `None` for status 0.
    #[must_use]
    pub fn failure_of(&self, exit: &Exit, program: &str) -> Option<Failure> {
        let program = program.strip_prefix("tool:").unwrap_or(program);
        let last = self.last_log_line();
        let with_log =
            |text: String| if last.is_empty() { text } else { format!("{text}: {last}") };
        Some(match exit {
            Exit::Code(0) => return None,
            Exit::Code(code) => Failure::new(
                FailureClass::Exit,
                with_log(format!("`{program}` ended with status {code}")),
            ),
            Exit::Signal(SIGXFSZ) => {
                let limit = self.spec().limits.file_size.unwrap_or(0);
                let text = format!("`{program}` went over its file size limit of {limit} bytes");
                Failure::new(FailureClass::Signal, text)
            }
            Exit::Signal(signal) => Failure::new(
                FailureClass::Signal,
                with_log(format!("`{program}` was ended by signal {signal}")),
            ),
            Exit::Timeout(limit) => Failure::new(
                FailureClass::Timeout,
                format!("`{program}` took longer than its limit of {} s", limit.as_secs_f64()),
            ),
            Exit::Memory => Failure::new(
                FailureClass::Memory,
                format!("`{program}` went over its memory limit"),
            ),
            Exit::Interrupted => Failure::new(FailureClass::Interrupted, "interrupted"),
            Exit::Spawn(why) => Failure::new(
                FailureClass::Spawn,
                format!("`{program}` could not be started: {why}"),
            ),
        })
    }

    /// The directories of the tools, as a `PATH`: enough for a compiler to find its parts, nothing of the caller's.
    #[must_use]
    pub fn search_path(&self) -> String {
        let tools = self.bench.tools.all().values();
        let directories: std::collections::BTreeSet<_> = tools
            .filter_map(|tool| tool.path.parent().and_then(Path::to_str).map(str::to_owned))
            .filter(|directory| directory.ends_with("bin"))
            .collect();
        directories.into_iter().collect::<Vec<_>>().join(":")
    }

    fn last_log_line(&self) -> String {
        let text = String::from_utf8_lossy(&self.trace.log);
        let telling = text.lines().rev().find(|line| line.contains("error"));
        let line = telling.or_else(|| text.lines().rev().find(|l| !l.trim().is_empty()));
        line.unwrap_or("").trim().chars().take(300).collect()
    }
}
