//! Installed programs that unpack archives, run on hostile input: shut in, limited, and stopped when they write too
//! much.
//!
//! Implements what `package` asks for on the one starter of processes. No limit of the system bounds all files of a
//! directory together, so what a program has written is counted while it runs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::interrupt::{Interrupt, Level};
use super::process::{Child, Exit, Finished, Limits, Runner, Stdout};
use crate::package::{Call, CallError, External};
use crate::toolchain;

/// Memory of one program, bytes. 7z dictionaries may have 1.5 GiB.
const MEMORY: u64 = 4 << 30;

/// How often the files are counted.
const LOOK: Duration = Duration::from_millis(100);

/// Finds programs on a search path and runs them by a confined runner.
#[derive(Debug)]
pub struct ArchiveTools<'a> {
    /// Starts them; made by [`Runner::confined`].
    confined: Runner,
    interrupt: &'a Interrupt,
    path: &'a str,
    wall: Duration,
}

impl<'a> ArchiveTools<'a> {
    /// Programs on the search path `path`, each ended after `wall` or when the user wants to stop. The runner is used
    /// confined, whether it is already or not.
    #[must_use]
    pub fn new(runner: &Runner, interrupt: &'a Interrupt, path: &'a str, wall: Duration) -> Self {
        Self { confined: runner.confined(), interrupt, path, wall }
    }
}

impl External for ArchiveTools<'_> {
    fn run(&self, call: Call<'_>) -> Result<(), CallError> {
        let Call { program, args, dir, output, most_bytes } = call;
        let found = toolchain::find(self.path, program).ok_or(CallError::Missing)?;
        let failed = |why: String| CallError::Failed(format!("`{program}` {why}"));
        let log = dir.with_extension("log");
        let text = dir.to_string_lossy().into_owned();
        let env = [
            ("PATH", self.path),
            ("HOME", &text),
            ("TMPDIR", &text),
            // Names in archives are Unicode for programs that ask.
            ("LC_ALL", "C.UTF-8"),
        ];
        let mut argv = vec![found.into_os_string()];
        argv.extend(args);
        let child = Child {
            argv,
            dir: dir.to_owned(),
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            stdout: output.map_or(Stdout::Log, Stdout::Stream),
            log: log.clone(),
            limits: Limits {
                memory: Some(MEMORY),
                file_size: Some(most_bytes),
                open_files: Some(256),
                processes: Some(64),
                ..Limits::wall(self.wall)
            },
            cpu: None,
        };
        let (finished, too_much) = self.run_watched(child, dir, most_bytes);
        if too_much {
            return Err(failed(format!("unpacks more than {most_bytes} bytes")));
        }
        let last = last_line(&log);
        let with_log =
            |why: String| failed(if last.is_empty() { why } else { format!("{why}: {last}") });
        match finished.exit {
            Exit::Code(0) => finished.output_error.map_or(Ok(()), |e| Err(failed(e.to_string()))),
            Exit::Code(code) => Err(with_log(format!("ended with status {code}"))),
            Exit::Signal(signal) => Err(with_log(format!("was ended by signal {signal}"))),
            Exit::Timeout(limit) => {
                Err(failed(format!("took longer than its limit of {} s", limit.as_secs_f64())))
            }
            Exit::Memory => Err(failed("needed more memory than it may have".to_owned())),
            Exit::Interrupted => Err(failed("was interrupted".to_owned())),
            Exit::Spawn(why) => Err(failed(format!("did not start: {why}"))),
        }
    }
}

impl ArchiveTools<'_> {
    /// Runs a child and ends it when its directory holds too much; tells whether it did.
    fn run_watched(&self, child: Child<'_>, dir: &Path, most: u64) -> (Finished, bool) {
        let Ok(own) = Interrupt::new() else {
            return (self.confined.run(child, self.interrupt), false);
        };
        let (done, too_much) = (AtomicBool::new(false), AtomicBool::new(false));
        let finished = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    if self.interrupt.level() > own.level() {
                        own.raise();
                    }
                    if own.level() == Level::None && bytes_below(dir) > most {
                        too_much.store(true, Ordering::Release);
                        own.raise();
                        own.raise();
                    }
                    std::thread::park_timeout(LOOK);
                }
            });
            let finished = self.confined.run(child, &own);
            done.store(true, Ordering::Release);
            watch.thread().unpark();
            finished
        });
        let too_much = too_much.load(Ordering::Acquire) || bytes_below(dir) > most;
        (finished, too_much)
    }
}

/// Bytes of all files below a directory, as far as they can be seen while somebody writes there.
fn bytes_below(dir: &Path) -> u64 {
    let entries = walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok);
    entries.filter_map(|e| e.metadata().ok()).filter(fs::Metadata::is_file).map(|m| m.len()).sum()
}

fn last_line(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}
