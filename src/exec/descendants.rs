//! Every living process below one process, and the signals to all of them.
//!
//! Found by parent ids in `/proc`, so a process group left by `setsid` or `setpgid` hides nobody. Orphans count as
//! long as the root is a child subreaper, which the launcher is: they become its children, not init's.

use std::collections::{BTreeMap, BTreeSet};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The living (not zombie) processes below `root`, without `root`.
#[must_use]
pub fn of(root: Pid) -> BTreeSet<Pid> {
    let mut children = by_parent();
    let mut found = BTreeSet::new();
    let mut todo = vec![root.as_raw()];
    while let Some(parent) = todo.pop() {
        for (pid, alive) in children.remove(&parent).unwrap_or_default() {
            todo.push(pid);
            if alive {
                found.insert(Pid::from_raw(pid));
            }
        }
    }
    found
}

/// The children of `parent`, zombies included.
#[must_use]
pub fn children(parent: Pid) -> BTreeSet<Pid> {
    let found = by_parent().remove(&parent.as_raw()).unwrap_or_default();
    found.into_iter().map(|(pid, _)| Pid::from_raw(pid)).collect()
}

/// All processes by their parent, each with whether it is alive.
fn by_parent() -> BTreeMap<i32, Vec<(i32, bool)>> {
    let mut children: BTreeMap<i32, Vec<(i32, bool)>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else { continue };
        let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { continue };
        if let Some((state, parent)) = state_and_parent(&stat) {
            children.entry(parent).or_default().push((pid, state != b'Z' && state != b'X'));
        }
    }
    children
}

/// Sends one signal to every living process below `root`; returns how many there were.
pub fn signal_all(root: Pid, signal: Signal) -> usize {
    let all = of(root);
    for pid in &all {
        // One that ended meanwhile needs no signal.
        let _ = kill(*pid, signal);
    }
    all.len()
}

/// Processes and threads of this user, over the whole system.
#[must_use]
pub fn tasks_of_this_user() -> u64 {
    let me = nix::unistd::getuid().as_raw();
    let mut tasks = 0;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        use std::os::unix::fs::MetadataExt;
        if entry.metadata().is_ok_and(|m| m.uid() == me) {
            // Only processes have this directory.
            tasks += std::fs::read_dir(entry.path().join("task")).map_or(0, |d| d.count() as u64);
        }
    }
    tasks
}

/// The state letter and the parent's id from `/proc/PID/stat`. The command name before them may hold anything,
/// blanks and parentheses included, so the fields count from the last parenthesis.
fn state_and_parent(stat: &[u8]) -> Option<(u8, i32)> {
    let after = stat.iter().rposition(|&b| b == b')')? + 1;
    let rest = std::str::from_utf8(&stat[after..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((state, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_with_parentheses_does_not_shift_the_fields() {
        assert_eq!(state_and_parent(b"12 (a) S 9) x) R 7 12 12 0"), Some((b'R', 7)));
        assert_eq!(state_and_parent(b"garbage"), None);
    }

    #[test]
    fn a_process_is_below_its_parent() {
        let me = Pid::this();
        assert!(of(Pid::parent()).contains(&me));
        assert!(!of(me).contains(&me));
    }
}
