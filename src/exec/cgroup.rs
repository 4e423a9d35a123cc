//! Control groups for memory and process limits, where this process may make them.
//!
//! Version 2 first, then version 1 (each controller on its own), else nothing, and the launcher falls back to resource
//! limits. A group counts what really is resident, over all descendants; `RLIMIT_AS` counts address space of each
//! process alone, and `RLIMIT_NPROC` all processes of the user. Detection makes and removes one group and is done once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where groups can be made, by controller.
#[derive(Debug, Clone, Default)]
pub struct Cgroups {
    memory: Option<Base>,
    pids: Option<Base>,
}

/// A directory below which groups can be made, and the group to go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Base {
    version: u8,
    dir: PathBuf,
    home: PathBuf,
}

/// One controller's group of one child. Removed when dropped; by then it must be empty.
#[derive(Debug)]
pub struct Group {
    controller: &'static str,
    version: u8,
    dir: PathBuf,
    home: PathBuf,
}

static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Cgroups {
    /// No control groups: resource limits only.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Finds out what this process may use.
    #[must_use]
    pub fn detect() -> Self {
        Self::detect_under(Path::new("/"))
    }

    /// The same with `proc` and the mount points below another root, for tests.
    #[must_use]
    pub fn detect_under(root: &Path) -> Self {
        let own = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
        let find = |controller, limit| {
            candidates(root, controller, &own, &mounts)
                .into_iter()
                .find(|base| base.works(controller, limit))
        };
        Self { memory: find("memory", 1 << 30), pids: find("pids", 1000) }
    }

    /// A group for one child with at most `bytes` resident; none where that is not possible.
    #[must_use]
    pub fn memory(&self, bytes: u64) -> Option<Group> {
        self.memory.as_ref()?.group("memory", bytes)
    }

    /// A group for one child with at most `count` processes and threads; none where that is not possible.
    #[must_use]
    pub fn pids(&self, count: u64) -> Option<Group> {
        self.pids.as_ref()?.group("pids", count)
    }
}

impl Base {
    fn works(&self, controller: &'static str, limit: u64) -> bool {
        self.sweep();
        self.group(controller, limit).is_some()
    }

    /// Removes groups of runs that were killed. The kernel refuses while anybody is inside.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|n| n.strip_prefix("ngcc-")?.split('-').next());
            if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    fn group(&self, controller: &'static str, limit: u64) -> Option<Group> {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let dir = self.dir.join(format!("ngcc-{}-{number}", std::process::id()));
        fs::create_dir(&dir).ok()?;
        let group = Group { controller, version: self.version, dir, home: self.home.clone() };
        let set = |file: &str, value: &str| fs::write(group.dir.join(file), value);
        let limit = limit.to_string();
        match (controller, self.version) {
            ("memory", 1) => {
                set("memory.limit_in_bytes", &limit).ok()?;
                // Exists only where swap is accounted.
                let _ = set("memory.memsw.limit_in_bytes", &limit);
            }
            ("memory", _) => {
                set("memory.max", &limit).ok()?;
                let _ = set("memory.swap.max", "0");
            }
            _ => set("pids.max", &limit).ok()?,
        }
        Some(group)
    }
}

impl Group {
    /// `cgroup v1` or `cgroup v2`.
    #[must_use]
    pub fn means(&self) -> String {
        format!("cgroup v{}", self.version)
    }

    /// The group's directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory of the group that the launcher goes back to after starting the child.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// How many processes the kernel killed here because the memory limit was reached.
    #[must_use]
    pub fn memory_kills(&self) -> u64 {
        let file = if self.version == 1 { "memory.oom_control" } else { "memory.events" };
        if self.controller != "memory" {
            return 0;
        }
        let text = fs::read_to_string(self.dir.join(file)).unwrap_or_default();
        let count =
            text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok());
        count.unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel lets go of the last member a moment after it was reaped.
        for _ in 0..50 {
            match fs::remove_dir(&self.dir) {
                Err(e) if e.kind() == std::io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

/// The bases worth trying for one controller, best first.
fn candidates(root: &Path, controller: &str, own: &str, mounts: &str) -> Vec<Base> {
    let mut found = Vec::new();
    for mount in mounts.lines().filter_map(Mount::read) {
        let version = match mount.kind {
            "cgroup2" => 2,
            "cgroup" if mount.options.split(',').any(|o| o == controller) => 1,
            _ => continue,
        };
        let Some(path) = own.lines().find_map(|line| own_path(line, controller, version)) else {
            continue;
        };
        // What is mounted may be a part of the hierarchy only.
        let Ok(below) = Path::new(path).strip_prefix(mount.root) else { continue };
        let home = root.join(mount.point.trim_start_matches('/')).join(below);
        if version == 1 {
            found.push(Base { version, dir: home.clone(), home });
            continue;
        }
        // In version 2 a group with processes cannot hand out memory to groups below it, so the parent is the usual
        // place; the root group is the exception.
        for dir in [Some(home.as_path()), home.parent()].into_iter().flatten() {
            let handed_out = fs::read_to_string(dir.join("cgroup.subtree_control"));
            if handed_out.is_ok_and(|list| list.split_whitespace().any(|c| c == controller)) {
                found.push(Base { version, dir: dir.to_owned(), home: home.clone() });
            }
        }
    }
    found.sort_by_key(|base| std::cmp::Reverse(base.version));
    found
}

/// The own group from one line of `/proc/self/cgroup` (`4:memory:/path`, `0::/path`).
fn own_path<'t>(line: &'t str, controller: &str, version: u8) -> Option<&'t str> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let ours = match version {
        2 => number == "0" && controllers.is_empty(),
        _ => controllers.split(',').any(|c| c == controller),
    };
    ours.then_some(path)
}

/// The fields of a line of `/proc/self/mountinfo` that matter here.
struct Mount<'t> {
    root: &'t str,
    point: &'t str,
    kind: &'t str,
    options: &'t str,
}

impl<'t> Mount<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        Some(Self {
            root: before.next()?,
            point: before.next()?,
            kind: after.next()?,
            options: after.nth(1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn version_one_finds_the_own_group_below_its_mount() {
        let own = "9:name=systemd:/\n4:memory:/a/b\n0::/\n";
        let mounts = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let home = PathBuf::from("/r/sys/fs/cgroup/memory/a/b");
        assert_eq!(
            candidates(Path::new("/r"), "memory", own, mounts),
            [Base { version: 1, dir: home.clone(), home }]
        );
        assert!(candidates(Path::new("/r"), "pids", own, mounts).is_empty());
    }

    #[test]
    fn version_two_uses_the_parent_that_hands_out_the_controller() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(root, "cg/slice/cgroup.subtree_control", "memory pids\n");
        write(root, "cg/slice/scope/cgroup.subtree_control", "\n");
        let mounts = "30 1 0:26 / /cg rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        assert_eq!(
            candidates(root, "memory", "0::/slice/scope\n", mounts),
            [Base { version: 2, dir: root.join("cg/slice"), home: root.join("cg/slice/scope") }]
        );
        assert!(candidates(root, "cpu", "0::/slice/scope\n", mounts).is_empty());
    }

    #[test]
    fn a_machine_without_control_groups_has_none() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Cgroups::detect_under(dir.path()).memory(1 << 20).is_none());
    }
}
