//! The files of a workspace as planning sees them: every look goes through here and is written down.
//!
//! What a plan depends on beside the contents of its inputs is which files there are and what the YAML says. A later
//! run may only skip planning when none of that moved, so nothing in `spec`, `source` and `stage` may ask the file
//! system by itself (`tests/it/tidy.rs` holds that). Looks are kept by owner: a submission, or everything together.
//! Knows nothing of what the files mean, and nothing of stamps; paths are relative to the root.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Paths looked at, by owner; the empty owner has what belongs to no submission.
pub type Looks = BTreeMap<String, BTreeSet<String>>;

/// A directory tree that notes what was looked at. Clones share their notes.
#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Debug, Default)]
struct Notes {
    owner: String,
    looks: Looks,
}

/// Two are the same when they are about the same directory, whatever was looked at.
impl PartialEq for Disk {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for Disk {}

impl Disk {
    /// A tree of which nothing was looked at yet.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), notes: Arc::default() }
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// From here on, looks belong to this owner.
    pub fn on_behalf_of(&self, owner: &str) {
        owner.clone_into(&mut self.notes().owner);
    }

    /// What was looked at so far.
    #[must_use]
    pub fn looks(&self) -> Looks {
        self.notes().looks.clone()
    }

    /// Whether there is anything of that name.
    #[must_use]
    pub fn exists(&self, path: &str) -> bool {
        self.look(path).exists()
    }

    /// Whether there is a regular file.
    #[must_use]
    pub fn is_file(&self, path: &str) -> bool {
        self.look(path).is_file()
    }

    /// Whether there is a directory.
    #[must_use]
    pub fn is_dir(&self, path: &str) -> bool {
        self.look(path).is_dir()
    }

    /// At most `most` bytes from the start of a file.
    ///
    /// # Errors
    /// When it is not a regular file (a FIFO or a device would be waited for) or cannot be read.
    pub fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let full = self.look(path);
        if full.metadata().is_ok_and(|m| !m.is_file()) {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(full)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Names in a directory, sorted; `wanted` chooses by the type of the entry, links not followed.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn list(
        &self,
        path: &str,
        wanted: impl Fn(std::fs::FileType) -> bool,
    ) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.look(path))? {
            let entry = entry?;
            if wanted(entry.file_type()?) {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Paths of the regular files below a directory, relative to it, in path order; links are not followed.
    ///
    /// # Errors
    /// One sentence that names what cannot be listed.
    pub fn files_below(&self, path: &str) -> Result<Vec<String>, String> {
        let top = self.look(path);
        let mut files = Vec::new();
        for entry in walkdir::WalkDir::new(&top).sort_by_file_name() {
            let entry = entry.map_err(|error| format!("`{path}` cannot be listed: {error}"))?;
            let below = entry.path().strip_prefix(&top).map_err(|e| e.to_string())?;
            let text =
                below.to_str().ok_or_else(|| format!("`{}` is not UTF-8", below.display()))?;
            if entry.file_type().is_dir() && !text.is_empty() {
                self.look(&format!("{path}/{text}"));
            } else if entry.file_type().is_file() {
                files.push(text.to_owned());
            }
        }
        Ok(files)
    }

    /// Notes a path, and gives it in full.
    fn look(&self, path: &str) -> PathBuf {
        let mut notes = self.notes();
        let Notes { owner, looks } = &mut *notes;
        match looks.get_mut(owner.as_str()) {
            Some(paths) => {
                if !paths.contains(path) {
                    paths.insert(path.to_owned());
                }
            }
            None => {
                looks.insert(owner.clone(), BTreeSet::from([path.to_owned()]));
            }
        }
        drop(notes);
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_is_noted_under_its_owner_also_when_nothing_is_there() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("kems/a/src/sub")).unwrap();
        std::fs::write(dir.path().join("kems/a/src/sub/x.c"), "x").unwrap();
        let disk = Disk::new(dir.path());
        assert_eq!(disk.list("kems", |t| t.is_dir()).unwrap(), ["a"]);
        disk.on_behalf_of("a");
        assert_eq!(disk.read("kems/a/src/sub/x.c", 9).unwrap(), b"x");
        assert!(disk.read("kems/a/src", 9).is_err());
        assert!(!disk.exists("kems/a/kat.sha256") && disk.is_dir("kems/a/src"));
        assert_eq!(disk.files_below("kems/a/src").unwrap(), ["sub/x.c"]);
        let looks = disk.clone().looks();
        let of = |owner: &str| looks[owner].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(of(""), ["kems"]);
        assert_eq!(
            of("a"),
            ["kems/a/kat.sha256", "kems/a/src", "kems/a/src/sub", "kems/a/src/sub/x.c"]
        );
    }
}
