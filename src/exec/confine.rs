//! Shuts a process in: no network, and nothing to write to but one directory.
//!
//! Namespaces, set up by the launcher in itself before it starts the program. All mounts become read-only in a mount
//! namespace under a user namespace that maps no user: files are owned as before, but whoever is executed in it is
//! nobody there, so `exec` takes all powers away, root's too, and neither a remount nor a further namespace is allowed.
//! Devices (`/dev/null`) stay writable, open files too: the log and a stdout file are the parent's. Where the system
//! refuses any step the reason goes into the report, and the program runs with less or no confinement.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, statvfs};

use super::no_network;

/// Shuts this process (one thread) in; only below `writable` can files be written. `network` is one without anything
/// in it, to be entered. Tells what is in force.
///
/// # Errors
/// The step that was refused, in words. What was done before it stays done.
pub(crate) fn confine(writable: &Path, network: Option<&Path>) -> Result<&'static str, String> {
    let mut spaces = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    // The shared network is an economy; whoever cannot enter it makes one.
    if network.is_none_or(|network| no_network::enter(network).is_err()) {
        spaces |= CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET;
    }
    unshare(spaces).map_err(|e| format!("new namespaces: {}", e.desc()))?;
    // Changes from here on stay here.
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
        .map_err(|e| format!("private mounts: {}", e.desc()))?;
    mount(Some(writable), writable, None::<&str>, MsFlags::MS_BIND, None::<&str>)
        .map_err(|e| format!("bind `{}`: {}", writable.display(), e.desc()))?;
    make_read_only(writable)?;
    // The working directory still names the mount below the new one.
    std::env::set_current_dir(writable).map_err(|e| format!("change directory: {e}"))?;
    Ok("namespaces: no network, writes below the working directory only")
}

/// Makes every mount read-only but the one at `writable`. What is mounted over something else is reached by its own
/// path; a mount that cannot be reached cannot be written to either.
fn make_read_only(writable: &Path) -> Result<(), String> {
    let table = fs::read_to_string("/proc/self/mountinfo").map_err(|e| format!("mounts: {e}"))?;
    let mounts: BTreeSet<(PathBuf, &str)> = table.lines().filter_map(point_and_options).collect();
    for (point, options) in mounts {
        if point == writable || options.split(',').any(|option| option == "ro") {
            continue;
        }
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | kept(options);
        let refused = mount(None::<&str>, &point, None::<&str>, flags, None::<&str>).err();
        // A mount that is hidden below another one cannot be changed, nor written to; one that can be looked at and
        // is still writable is a hole.
        let still_open = || statvfs(&point).is_ok_and(|s| !s.flags().contains(FsFlags::ST_RDONLY));
        if let Some(e) = refused.filter(|_| still_open()) {
            return Err(format!("`{}` read-only: {}", point.display(), e.desc()));
        }
    }
    Ok(())
}

/// The options that a user namespace may not take away, so they are given again.
fn kept(options: &str) -> MsFlags {
    options.split(',').fold(MsFlags::empty(), |flags, option| {
        flags
            | match option {
                "nosuid" => MsFlags::MS_NOSUID,
                "nodev" => MsFlags::MS_NODEV,
                "noexec" => MsFlags::MS_NOEXEC,
                "noatime" => MsFlags::MS_NOATIME,
                "nodiratime" => MsFlags::MS_NODIRATIME,
                "relatime" => MsFlags::MS_RELATIME,
                _ => MsFlags::empty(),
            }
    })
}

/// Mount point and options from a line of `/proc/self/mountinfo`.
fn point_and_options(line: &str) -> Option<(PathBuf, &str)> {
    let mut fields = line.split(' ').skip(4);
    Some((unescaped(fields.next()?).into(), fields.next()?))
}

/// The kernel writes blanks, tabs, newlines and backslashes in octal.
fn unescaped(point: &str) -> String {
    point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_line_gives_its_point_and_options() {
        let line = "36 35 98:0 /mnt1 /my\\040disk rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(point_and_options(line), Some((PathBuf::from("/my disk"), "rw,noatime")));
        assert_eq!(kept("rw,nosuid,relatime"), MsFlags::MS_NOSUID | MsFlags::MS_RELATIME);
    }
}
