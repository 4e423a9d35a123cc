//! One network without anything in it, for all shut-in children of a run.
//!
//! To make a network namespace costs the kernel more than to start a program, and to take it apart costs that again.
//! So a small process, `ngcc __no-network`, makes one at the start of a run and keeps it until the run is over; each
//! child enters it and has every other namespace to itself. What the children share is nothing: no interface is up,
//! and a name in it (an abstract socket) goes with the process that has it. Where it cannot be made or entered, each
//! child makes its own, as if this file did not exist.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use nix::sched::{CloneFlags, setns, unshare};

use super::process;

/// A network that is kept as long as somebody has this.
#[derive(Debug, Clone)]
pub(super) struct NoNetwork(Arc<Keeper>);

#[derive(Debug)]
struct Keeper {
    /// `/proc/<pid>/ns` of the keeping process.
    spaces: PathBuf,
    /// Its end is the keeper's end.
    control: Option<UnixStream>,
    handle: duct::Handle,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.control.take());
        process::wait_for(&self.handle);
    }
}

impl NoNetwork {
    /// Starts the keeper; `None` when the system does not allow it.
    pub(super) fn start(launcher: &Path) -> Option<Self> {
        let (control, theirs) = UnixStream::pair().ok()?;
        control.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let handle = process::start_keeper(launcher, theirs).ok()?;
        let pid = handle.pids().first().copied().unwrap_or_default();
        let mut keeper =
            Keeper { spaces: PathBuf::from(format!("/proc/{pid}/ns")), control: None, handle };
        let mut answer = String::new();
        let ready = BufReader::new(&control).read_line(&mut answer).is_ok() && answer == "ready\n";
        keeper.control = Some(control);
        ready.then(|| Self(Arc::new(keeper)))
    }

    /// Where the namespaces are to be entered.
    pub(super) fn spaces(&self) -> &Path {
        &self.0.spaces
    }
}

/// Runs `ngcc __no-network`: makes the namespaces, says so on the socket at standard input, and stays until that closes.
#[must_use]
pub fn main() -> ExitCode {
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::from(70) };
    let mut socket = UnixStream::from(socket);
    if unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).is_err() {
        return ExitCode::from(70);
    }
    if socket.write_all(b"ready\n").is_err() {
        return ExitCode::from(70);
    }
    // Nothing is ever sent; the end of the socket is the end of the run.
    let _ = socket.read(&mut [0; 1]);
    ExitCode::SUCCESS
}

/// Enters the network of a keeper, and its user namespace, in which this process has no user of its own.
pub(super) fn enter(spaces: &Path) -> Result<(), String> {
    let open = |name: &str| {
        File::open(spaces.join(name)).map_err(|e| format!("the empty network is gone: {e}"))
    };
    let (user, net) = (open("user")?, open("net")?);
    setns(&user, CloneFlags::CLONE_NEWUSER)
        .and_then(|()| setns(&net, CloneFlags::CLONE_NEWNET))
        .map_err(|e| format!("the empty network cannot be entered: {}", e.desc()))
}
