//! Directories that are watched for changes, by inotify or, where that is not to be had, by looking once a second.
//!
//! Says only that something happened there, not what: whoever asks looks for himself. Knows nothing of plans. A queue that
//! overflowed counts as a change, like any other.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};

/// Silence that ends a burst.
const SETTLED: Duration = Duration::from_millis(250);
/// A burst that does not end is taken as it is after this time.
const LONGEST_BURST: Duration = Duration::from_secs(30);
/// Between two looks without inotify.
const LOOK: Duration = Duration::from_secs(1);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Something changed, and it is quiet again. `at_once` when it had changed before the wait began.
    Changed {
        /// Nobody waited for it.
        at_once: bool,
    },
    /// The user has had enough.
    Stopped,
}

/// The watched directories.
#[derive(Debug)]
pub struct Watcher {
    directories: BTreeSet<PathBuf>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Inotify { inotify: Inotify, watches: Vec<(WatchDescriptor, PathBuf)> },
    Looking { seen: Listing },
}

/// Directory to what `stat` says of its files.
type Listing = BTreeMap<PathBuf, BTreeMap<OsString, (u64, u64, i64, i64)>>;

impl Watcher {
    /// Watches nothing yet. `looking` asks for the way without inotify, which also sees changes on network file systems.
    /// The text says why it is not inotify, when it was to be.
    #[must_use]
    pub fn new(looking: bool) -> (Self, Option<String>) {
        let mut note = None;
        let mut way = Way::Looking { seen: Listing::new() };
        if !looking {
            match Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK) {
                Ok(inotify) => way = Way::Inotify { inotify, watches: Vec::new() },
                Err(errno) => note = Some(limit(errno)),
            }
        }
        (Self { directories: BTreeSet::new(), way }, note)
    }

    /// Watches these directories and no others; says whether one is new. The text tells that the system's limit was
    /// reached, and that they are looked at from now on.
    pub fn follow(&mut self, directories: BTreeSet<PathBuf>) -> (bool, Option<String>) {
        let new: Vec<PathBuf> = directories.difference(&self.directories).cloned().collect();
        self.directories = directories;
        let mut trouble = None;
        match &mut self.way {
            Way::Inotify { inotify, watches } => {
                watches.retain(|(watch, path)| {
                    let wanted = self.directories.contains(path);
                    if !wanted {
                        // Gone with its directory, most likely.
                        let _ = inotify.rm_watch(*watch);
                    }
                    wanted
                });
                for path in &new {
                    match inotify.add_watch(path, interest()) {
                        Ok(watch) => watches.push((watch, path.clone())),
                        Err(errno @ (Errno::ENOSPC | Errno::ENOMEM)) => {
                            trouble = Some(limit(errno));
                            break;
                        }
                        // It went away, or cannot be read; then the plan says so.
                        Err(_) => {}
                    }
                }
            }
            Way::Looking { seen } => {
                seen.retain(|path, _| self.directories.contains(path));
                for path in &new {
                    seen.insert(path.clone(), look(path));
                }
            }
        }
        if trouble.is_some() {
            let seen = self.directories.iter().map(|path| (path.clone(), look(path))).collect();
            self.way = Way::Looking { seen };
        }
        (!new.is_empty(), trouble)
    }

    /// Waits for a change, and for the end of a burst of them, or until `bell` hangs up.
    #[must_use]
    pub fn wait(&mut self, bell: BorrowedFd<'_>) -> Woken {
        let begun = Instant::now();
        let mut first: Option<Instant> = None;
        loop {
            let patience = match (&self.way, first) {
                (_, Some(_)) => Some(SETTLED),
                (Way::Inotify { .. }, None) => None,
                (Way::Looking { .. }, None) => Some(LOOK),
            };
            if self.sleep(bell, patience) {
                return Woken::Stopped;
            }
            let changed = self.take();
            match first {
                None if changed => first = Some(Instant::now()),
                Some(at) if !changed || at.elapsed() > LONGEST_BURST => {
                    return Woken::Changed { at_once: at - begun < SETTLED };
                }
                _ => {}
            }
        }
    }

    /// Forgets what has happened so far.
    pub fn forget(&mut self) {
        while self.take() {}
    }

    /// Sleeps until something happens or the time is over; says whether the bell rang.
    fn sleep(&self, bell: BorrowedFd<'_>, patience: Option<Duration>) -> bool {
        let timeout = patience.map_or(PollTimeout::NONE, |time| {
            PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX)
        });
        let mut fds = vec![PollFd::new(bell, PollFlags::POLLIN)];
        if let Way::Inotify { inotify, .. } = &self.way {
            fds.push(PollFd::new(inotify.as_fd(), PollFlags::POLLIN));
        }
        // An interrupted call is one that woke early.
        let _ = poll(&mut fds, timeout);
        fds[0].revents().is_some_and(|events| !events.is_empty())
    }

    /// Whether something has happened since it was asked last.
    fn take(&mut self) -> bool {
        match &mut self.way {
            Way::Inotify { inotify, watches } => {
                let mut any = false;
                while let Ok(events) = inotify.read_events() {
                    any |= !events.is_empty();
                    for event in events {
                        // The directory went; should it come back, it is watched anew.
                        if event.mask.contains(AddWatchFlags::IN_IGNORED) {
                            watches.retain(|(watch, path)| {
                                if *watch == event.wd {
                                    self.directories.remove(path);
                                }
                                *watch != event.wd
                            });
                        }
                    }
                }
                any
            }
            Way::Looking { seen } => {
                let mut any = false;
                for (path, before) in seen {
                    let now = look(path);
                    any |= now != *before;
                    *before = now;
                }
                any
            }
        }
    }
}

fn interest() -> AddWatchFlags {
    AddWatchFlags::IN_MODIFY
        | AddWatchFlags::IN_CLOSE_WRITE
        | AddWatchFlags::IN_CREATE
        | AddWatchFlags::IN_DELETE
        | AddWatchFlags::IN_MOVED_FROM
        | AddWatchFlags::IN_MOVED_TO
        | AddWatchFlags::IN_DELETE_SELF
        | AddWatchFlags::IN_MOVE_SELF
        | AddWatchFlags::IN_ONLYDIR
}

/// A directory that cannot be read has no files.
fn look(path: &Path) -> BTreeMap<OsString, (u64, u64, i64, i64)> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let stat = entry.metadata().ok()?;
            // Directories change with their files, which are looked at themselves.
            let (len, second, ns) = if stat.is_dir() {
                (0, 0, 0)
            } else {
                (stat.len(), stat.mtime(), stat.mtime_nsec())
            };
            Some((entry.file_name(), (stat.ino(), len, second, ns)))
        })
        .collect()
}

fn limit(errno: Errno) -> String {
    let (what, setting) = if errno == Errno::ENOSPC {
        ("watched directories", "fs.inotify.max_user_watches")
    } else if errno == Errno::EMFILE {
        ("watchers", "fs.inotify.max_user_instances")
    } else {
        return format!(
            "the system does not watch files ({errno}); they are looked at every second instead"
        );
    };
    format!(
        "the system's limit of {what} is reached; files are looked at every second instead (a higher {setting} \
         helps: `sysctl -w {setting}=…`)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bell that never rings, as long as its other end is kept.
    fn bell() -> (std::io::PipeReader, std::io::PipeWriter) {
        std::io::pipe().unwrap()
    }

    fn watched(looking: bool) -> (tempfile::TempDir, Watcher) {
        let dir = tempfile::tempdir().unwrap();
        let (mut watcher, note) = Watcher::new(looking);
        assert_eq!(note, None);
        assert_eq!(watcher.follow([dir.path().to_owned()].into()), (true, None));
        assert_eq!(watcher.follow([dir.path().to_owned()].into()), (false, None));
        (dir, watcher)
    }

    #[test]
    fn a_burst_of_files_wakes_once_either_way() {
        for looking in [false, true] {
            let (dir, mut watcher) = watched(looking);
            assert!(!watcher.take());
            for n in 0..500 {
                fs::write(dir.path().join(n.to_string()), "x").unwrap();
            }
            let (ear, _hand) = bell();
            assert!(matches!(watcher.wait(ear.as_fd()), Woken::Changed { .. }));
            assert!(!watcher.take(), "the burst is over");
        }
    }

    #[test]
    fn a_bell_ends_the_wait_either_way() {
        for looking in [false, true] {
            let (_dir, mut watcher) = watched(looking);
            let (ear, hand) = bell();
            drop(hand);
            assert_eq!(watcher.wait(ear.as_fd()), Woken::Stopped);
        }
    }

    #[test]
    fn a_directory_that_went_and_came_back_is_watched_again() {
        let (dir, mut watcher) = watched(false);
        let below = dir.path().join("below");
        let both: BTreeSet<PathBuf> = [dir.path().to_owned(), below.clone()].into();
        for _ in 0..2 {
            fs::create_dir(&below).unwrap();
            assert!(watcher.follow(both.clone()).0);
            watcher.forget();
            fs::write(below.join("f"), "x").unwrap();
            assert!(watcher.take());
            fs::remove_dir_all(&below).unwrap();
            assert!(watcher.take());
        }
    }

    #[test]
    fn the_limit_is_told_with_the_setting_that_raises_it() {
        assert!(limit(Errno::ENOSPC).contains("max_user_watches"));
        assert!(limit(Errno::EMFILE).contains("max_user_instances"));
        assert!(limit(Errno::ENOSYS).contains("every second"));
    }
}
