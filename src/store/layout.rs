//! Where things stand below a store root, and which version of that arrangement this program reads.
//!
//! Paths only; writes nothing but the skeleton. The scheme is pinned by a test: changing it means raising [`FORMAT`].

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{Object, StoreError};
use crate::digest::{ActionKey, BlobId, Digest, TreeId};

/// First line of the `format` file.
const FORMAT: &str = "ngcc store 1";

/// How the format file begins to be called while it is made, in `tmp/`.
const NEW_FORMAT: &str = "format.new-";

/// What may stand in a directory that is to become a store, beside hidden files.
const GUESTS: [&str; 2] = ["README.md", "published"];

/// The paths of one store.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout below a root; makes the skeleton when it is not there and checks the version when it is.
    pub(super) fn create(root: &Path) -> Result<Self, StoreError> {
        let root = std::path::absolute(root).map_err(|e| StoreError::io("find", root, e))?;
        let layout = Self { root };
        let format = layout.root.join("format");
        match fs::read_to_string(&format) {
            Ok(text) => {
                let found = text.lines().next().unwrap_or_default();
                if found != FORMAT {
                    let found = found.chars().take(80).collect();
                    return Err(StoreError::Format { path: format, found, expected: FORMAT });
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => layout.found()?,
            Err(e) => return Err(StoreError::io("read", &format, e)),
        }
        Ok(layout)
    }

    /// Whether a store was founded at a path, by its format file.
    pub(super) fn is_at(root: &Path) -> bool {
        root.join("format").exists()
    }

    /// Makes the skeleton; the format file comes last, synced, so that its presence means a complete skeleton.
    fn found(&self) -> Result<(), StoreError> {
        let make =
            |path: &Path| fs::create_dir_all(path).map_err(|e| StoreError::io("create", path, e));
        make(&self.root)?;
        // Asked in this order: another process that makes the same store makes `tmp` before anything else.
        if self.has_strangers()? && !self.tmp().is_dir() {
            return Err(StoreError::NotAStore(self.root.clone()));
        }
        for path in [
            self.tmp(),
            self.root.join("blobs"),
            self.root.join("trees"),
            self.root.join("records"),
            self.root.join("pending"),
            self.references(),
            self.runs(),
            self.damaged(),
        ] {
            make(&path)?;
        }
        // Two processes may find the same new store: each writes a file of its own, and either rename is right.
        let mine = format!("{NEW_FORMAT}{}-{:?}", std::process::id(), std::thread::current().id());
        let (path, new) = (self.root.join("format"), self.tmp().join(mine));
        let write = || {
            let mut file = fs::File::create(&new)?;
            file.write_all(format!("{FORMAT}\n").as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        match write() {
            // Another one was faster, and whoever opened its store has cleaned up.
            Err(e) if e.kind() == io::ErrorKind::NotFound && path.exists() => Ok(()),
            other => other.map_err(|e| StoreError::io("write", &path, e)),
        }
    }

    /// Removes what processes left that were killed while they made this store.
    pub(super) fn remove_half_made(&self) {
        for entry in fs::read_dir(self.tmp()).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(NEW_FORMAT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn has_strangers(&self) -> Result<bool, StoreError> {
        let failed = |e| StoreError::io("list", &self.root, e);
        for entry in fs::read_dir(&self.root).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !GUESTS.contains(&&*name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn object(&self, object: Object) -> PathBuf {
        match object {
            Object::Blob(id) => self.blob(id),
            Object::Tree(id) => self.tree(id),
            Object::Record(key) => self.record(key),
        }
    }

    pub(super) fn blob(&self, id: BlobId) -> PathBuf {
        self.sharded("blobs", id.digest(), "")
    }

    pub(super) fn tree(&self, id: TreeId) -> PathBuf {
        self.sharded("trees", id.digest(), "")
    }

    pub(super) fn record(&self, key: ActionKey) -> PathBuf {
        self.sharded("records", key.digest(), ".json")
    }

    /// A directory of up to 1/256 of all records.
    pub(super) fn record_shard(&self, shard: u8) -> PathBuf {
        self.root.join(format!("records/{shard:02x}"))
    }

    /// Where records committed in one boot wait for the next `syncfs`.
    pub(super) fn pending(&self, boot: &str) -> PathBuf {
        self.root.join("pending").join(boot)
    }

    pub(super) fn pending_record(&self, boot: &str, key: ActionKey) -> PathBuf {
        self.pending(boot).join(format!("{key}.json"))
    }

    /// Outside names are any text, so the file is named by the digest of the name.
    pub(super) fn reference(&self, name: &str) -> PathBuf {
        self.sharded("references", &Digest::of(name.as_bytes()), ".json")
    }

    /// Labels are any text, so the file is named by the digest of the label.
    pub(super) fn remembered(&self, label: &str) -> PathBuf {
        self.sharded("remembered", &Digest::of(label.as_bytes()), ".json")
    }

    pub(super) fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    pub(super) fn references(&self) -> PathBuf {
        self.root.join("references")
    }

    pub(super) fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub(super) fn damaged(&self) -> PathBuf {
        self.root.join("damaged")
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    pub(super) fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    pub(super) fn stat_cache(&self) -> PathBuf {
        self.root.join("stat-cache")
    }

    fn sharded(&self, kind: &str, digest: &Digest, suffix: &str) -> PathBuf {
        let hex = digest.to_string();
        let mut path = PathBuf::with_capacity(self.root.as_os_str().len() + 90);
        path.push(&self.root);
        path.push(kind);
        path.push(&hex[..2]);
        path.push(hex + suffix);
        path
    }
}

/// The key that a file name stands for: 64 hex digits and `.json`.
pub(super) fn key_of_file_name(name: &std::ffi::OsStr) -> Option<ActionKey> {
    name.to_str()?.strip_suffix(".json")?.parse().ok()
}

/// What tells one boot of this machine from another, where the kernel says.
pub(super) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let text = text.trim();
    let fine = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    fine.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_find_the_same_new_store_all_open_it() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let root = dir.path().join(round.to_string());
            std::thread::scope(|scope| {
                let opened: Vec<_> =
                    (0..4).map(|_| scope.spawn(|| Layout::create(&root).map(|_| ()))).collect();
                for thread in opened {
                    thread.join().unwrap().unwrap();
                }
            });
        }
    }

    #[test]
    fn the_path_scheme_is_pinned() {
        let layout = Layout { root: "/s".into() };
        let digest = Digest::of(b"x");
        let (hex, head) = (digest.to_string(), &digest.to_string()[..2]);
        assert_eq!(layout.blob(BlobId(digest)), PathBuf::from(format!("/s/blobs/{head}/{hex}")));
        assert_eq!(layout.tree(TreeId(digest)), PathBuf::from(format!("/s/trees/{head}/{hex}")));
        let record = PathBuf::from(format!("/s/records/{head}/{hex}.json"));
        assert_eq!(layout.record(ActionKey(digest)), record);
        assert_eq!(key_of_file_name(record.file_name().unwrap()), Some(ActionKey(digest)));
        let pending = PathBuf::from(format!("/s/pending/b/{hex}.json"));
        assert_eq!(layout.pending_record("b", ActionKey(digest)), pending);
    }

    #[test]
    fn a_directory_of_other_things_does_not_become_a_store() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        assert!(matches!(Layout::create(dir.path()), Err(StoreError::NotAStore(_))));
        fs::remove_file(dir.path().join("thesis.tex")).unwrap();
        fs::write(dir.path().join("README.md"), "x").unwrap();
        Layout::create(dir.path()).unwrap();
        Layout::create(dir.path()).unwrap();
    }

    #[test]
    fn a_store_of_another_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        Layout::create(dir.path()).unwrap();
        fs::write(dir.path().join("format"), "ngcc store 2\n").unwrap();
        let error = Layout::create(dir.path()).unwrap_err();
        assert!(error.to_string().contains("ngcc store 2"), "{error}");
    }
}
