//! Unpacking as the verbs do it: with the archive's own name in messages, and the installed programs shut in.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::exec::process::{Child, Exit, Interrupt, Limits as ChildLimits, Runner, Stdout};
use crate::package::{self, Call, CallError, External, Limits, Package};
use crate::store::Store;

/// How long a program may take for one archive. A real package of 1.4 GB takes a minute.
const WALL: Duration = Duration::from_secs(30 * 60);

/// Unpacks an archive of the store under its outside name.
///
/// # Errors
/// One text that names archive and entry.
pub(super) fn unpack(
    store: &Store,
    (name, path): (&str, &Path),
    nested: &[String],
    external: &Installed<'_>,
) -> Result<Package, String> {
    let scratch = store.scratch("archive").map_err(|e| e.to_string())?;
    // The file in the store is called by its digest; messages are to call it by its name.
    let link = scratch.path().join(name);
    std::os::unix::fs::symlink(path, &link).map_err(|e| format!("`{}`: {e}", link.display()))?;
    package::unpack(store, &link, nested, &Limits::default(), external).map_err(|e| e.to_string())
}

/// The programs of this machine, each run without network and without writing anywhere but below its directory.
#[derive(Debug)]
pub(super) struct Installed<'a> {
    runner: Runner,
    interrupt: &'a Interrupt,
    path: &'a str,
    /// Numbers the logs.
    calls: Cell<u32>,
}

impl<'a> Installed<'a> {
    /// Those on a `PATH`.
    pub(super) fn new(runner: &Runner, interrupt: &'a Interrupt, path: &'a str) -> Self {
        Self { runner: runner.confined(), interrupt, path, calls: Cell::new(0) }
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        std::env::split_paths(self.path).map(|dir| dir.join(program)).find(|p| p.is_file())
    }
}

impl External for Installed<'_> {
    fn run(&self, call: Call<'_>) -> Result<(), CallError> {
        let Some(program) = self.find(call.program) else { return Err(CallError::Missing) };
        let mut argv = vec![OsString::from(program)];
        argv.extend(call.args);
        self.calls.set(self.calls.get() + 1);
        // Beside the directory, not in it: what is in there becomes the package.
        let log = call.dir.with_extension(format!("log-{}", self.calls.get()));
        let limits = ChildLimits {
            memory: Some(4 << 30),
            file_size: Some(call.most_bytes.max(1 << 20)),
            processes: Some(64),
            ..ChildLimits::wall(WALL)
        };
        let child = Child {
            argv,
            dir: call.dir.to_owned(),
            env: BTreeMap::from([
                ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
                ("PATH".to_owned(), self.path.to_owned()),
            ]),
            stdout: call.output.map_or(Stdout::Log, |output| Stdout::Stream(output)),
            log: log.clone(),
            limits,
            cpu: None,
        };
        let finished = self.runner.run(child, self.interrupt);
        if finished.exit == Exit::Code(0) {
            return Ok(());
        }
        let text = std::fs::read(&log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let how = match finished.exit {
            Exit::Code(code) => format!("ended with code {code}"),
            Exit::Signal(signal) => format!("was ended by signal {signal}"),
            Exit::Timeout(limit) => format!("took longer than {} s", limit.as_secs()),
            Exit::Memory => "used more than 4 GiB of memory".to_owned(),
            Exit::Interrupted => "was interrupted".to_owned(),
            Exit::Spawn(why) => format!("did not start: {why}"),
        };
        Err(CallError::Failed(format!("`{}` {how}: {last}", call.program)))
    }
}
