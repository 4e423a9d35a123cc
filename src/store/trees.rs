//! Directories as trees: captured from disk, filed, laid out again.
//!
//! The walk never follows a link and opens files without following one either, so a directory that changes under it
//! cannot lead it away. Knows what a directory holds; what a tree may hold is in `tree_rules`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use super::{Object, Store, StoreError, tree_rules};
use crate::artifact::{Entry, Tree};
use crate::digest::{BlobId, TreeId};
use crate::name::RelPath;

/// What becomes of a regular file that the walk meets: its content's name and length.
type OnFile<'a> = &'a mut dyn FnMut(&Path, &fs::Metadata) -> Result<(BlobId, u64), StoreError>;

impl Store {
    /// Files everything below a directory. Execute bits, empty directories and relative links that end inside are kept.
    ///
    /// # Errors
    /// [`StoreError::Refused`] names a path that has no place in a tree: a link that is absolute, dangling, circular
    /// or leaves the directory; a device, pipe or socket; a name that is not UTF-8 or holds a line break.
    pub fn capture_tree(&self, dir: &Path) -> Result<TreeId, StoreError> {
        let tree = walk(dir, &mut |path, _| {
            let file = File::options()
                .read(true)
                .custom_flags(O_NOFOLLOW | O_NONBLOCK)
                .open(path)
                .map_err(|e| StoreError::io("read", path, e))?;
            self.put_open_file(file, path)
        })?;
        self.put_checked_tree(&tree)
    }

    /// What [`Store::capture_tree`] would file, without filing anything: unchanged files are not even opened.
    ///
    /// # Errors
    /// As for [`Store::capture_tree`] and [`Store::digest_file`].
    pub fn digest_tree(&self, dir: &Path) -> Result<Tree, StoreError> {
        walk(dir, &mut |path, stat| self.digest_known_file(path, stat))
    }

    /// Files a tree whose files are in the store already.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a tree that breaks the rules, [`StoreError::Missing`] for an absent blob.
    pub fn put_tree(&self, tree: &Tree) -> Result<TreeId, StoreError> {
        checked(tree, Path::new(""))?;
        for entry in tree.0.values() {
            if let Entry::File { blob, .. } = entry
                && !self.has_blob(*blob)
            {
                return Err(StoreError::Missing(Object::Blob(*blob)));
            }
        }
        self.put_checked_tree(tree)
    }

    fn put_checked_tree(&self, tree: &Tree) -> Result<TreeId, StoreError> {
        let id = tree.id();
        self.put_content(tree.listing().as_bytes(), &self.layout.tree(id))?;
        Ok(id)
    }

    /// Whether a file stands under that name.
    #[must_use]
    pub fn has_tree(&self, id: TreeId) -> bool {
        fs::metadata(self.layout.tree(id)).is_ok_and(|stat| stat.is_file() && stat.len() > 0)
    }

    /// The listing, checked against its name and the rules. The files' bytes are not looked at.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Damaged`]; [`StoreError::Refused`] when it was made to do harm.
    pub fn read_tree(&self, id: TreeId) -> Result<Tree, StoreError> {
        let object = Object::Tree(id);
        let bytes = self.read_content(object, id.digest())?;
        let text = String::from_utf8(bytes).ok();
        let tree = text.and_then(|text| tree_rules::parse(&text));
        let Some(tree) = tree else {
            return Err(StoreError::Refused {
                path: self.layout.tree(id),
                why: "it is no listing of a tree".into(),
            });
        };
        checked(&tree, Path::new(""))?;
        Ok(tree)
    }

    /// Writes a tree's files, empty directories and links below a directory, which is made when it is not there.
    /// Nothing that exists is overwritten. Every byte is checked on the way.
    ///
    /// # Errors
    /// As for [`Store::read_tree`] and [`Store::lay_out_blob`].
    pub fn lay_out_tree(&self, id: TreeId, to: &Path) -> Result<(), StoreError> {
        let tree = self.read_tree(id)?;
        let make =
            |dir: &Path| fs::create_dir_all(dir).map_err(|e| StoreError::io("create", dir, e));
        make(to)?;
        let mut made = BTreeSet::new();
        for (path, entry) in &tree.0 {
            let dir = if matches!(entry, Entry::Dir) { Some(path.clone()) } else { path.parent() };
            if let Some(dir) = dir
                && !made.contains(&dir)
            {
                make(&dir.under(to))?;
                made.insert(dir);
            }
            if let Entry::File { blob, executable, .. } = entry {
                self.copy_out(*blob, &path.under(to), *executable)?;
            }
        }
        // Links come last: until then there is none to write through.
        for (path, entry) in &tree.0 {
            if let Entry::Link { target } = entry {
                let link = path.under(to);
                std::os::unix::fs::symlink(target, &link)
                    .map_err(|e| StoreError::io("create", &link, e))?;
            }
        }
        Ok(())
    }
}

fn checked(tree: &Tree, dir: &Path) -> Result<(), StoreError> {
    tree_rules::check(tree)
        .map_err(|(path, why)| StoreError::Refused { path: path.under(dir), why })
}

/// Lists a directory, in name order, and checks the result.
fn walk(dir: &Path, on_file: OnFile<'_>) -> Result<Tree, StoreError> {
    let stat = fs::symlink_metadata(dir).map_err(|e| StoreError::io("read", dir, e))?;
    if !stat.is_dir() {
        return Err(refused(dir, "it is not a directory"));
    }
    let mut tree = Tree::default();
    walk_below(dir, None, &mut tree, on_file)?;
    checked(&tree, dir)?;
    Ok(tree)
}

fn walk_below(
    dir: &Path,
    at: Option<&RelPath>,
    tree: &mut Tree,
    on_file: OnFile<'_>,
) -> Result<(), StoreError> {
    let unreadable = |e| StoreError::io("list", dir, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        names.push(entry.map_err(unreadable)?.file_name());
    }
    if names.is_empty()
        && let Some(at) = at
    {
        tree.0.insert(at.clone(), Entry::Dir);
    }
    names.sort();
    for name in names {
        let path = dir.join(&name);
        let Some(name) = name.to_str() else {
            return Err(refused(&path, "its name is not UTF-8"));
        };
        let rel = at.map_or_else(|| name.to_owned(), |at| format!("{at}/{name}"));
        let rel: RelPath = rel.parse().map_err(|e| refused(&path, &format!("{e}")))?;
        let stat = fs::symlink_metadata(&path).map_err(|e| StoreError::io("read", &path, e))?;
        if stat.is_dir() {
            walk_below(&path, Some(&rel), tree, on_file)?;
        } else if stat.is_symlink() {
            let target = fs::read_link(&path).map_err(|e| StoreError::io("read", &path, e))?;
            let Some(target) = target.to_str() else {
                return Err(refused(&path, "its target is not UTF-8"));
            };
            tree.0.insert(rel, Entry::Link { target: target.to_owned() });
        } else if stat.is_file() {
            let (blob, len) = on_file(&path, &stat)?;
            let executable = stat.mode() & 0o100 != 0;
            tree.0.insert(rel, Entry::File { blob, len, executable });
        } else {
            return Err(refused(&path, "it is a device, pipe or socket"));
        }
    }
    Ok(())
}

fn refused(path: &Path, why: &str) -> StoreError {
    StoreError::Refused { path: path.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        (dir, store)
    }

    #[test]
    fn a_directory_comes_back_with_its_modes_empty_directories_and_links() {
        let (dir, store) = store();
        let source = dir.path().join("in");
        fs::create_dir_all(source.join("第一 目录/空/空")).unwrap();
        fs::write(source.join("第一 目录/run me.sh"), "#!").unwrap();
        fs::write(source.join("equal"), "same").unwrap();
        fs::write(source.join("第一 目录/equal too"), "same").unwrap();
        for (name, mode) in [("第一 目录/run me.sh", 0o755), ("equal", 0o444)] {
            fs::set_permissions(source.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("第一 目录/equal too", source.join("-link")).unwrap();
        let id = store.capture_tree(&source).unwrap();
        assert_eq!(store.digest_tree(&source).unwrap().id(), id);

        let out = dir.path().join("out");
        store.lay_out_tree(id, &out).unwrap();
        assert_eq!(store.capture_tree(&out).unwrap(), id);
        let mode = |name| fs::metadata(out.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("第一 目录/run me.sh"), mode("equal")), (0o755, 0o644));
        assert!(out.join("第一 目录/空/空").is_dir());
        assert_eq!(fs::read_to_string(out.join("-link")).unwrap(), "same");
        // Never over something that is there.
        assert!(store.lay_out_tree(id, &out).is_err());
    }

    #[test]
    fn what_has_no_place_in_a_tree_is_refused_with_its_path() {
        for target in ["/etc/passwd", "../../outside", "gone", "odd"] {
            let (dir, store) = store();
            let source = dir.path().join("in");
            fs::create_dir_all(source.join("sub")).unwrap();
            fs::write(dir.path().join("outside"), "secret").unwrap();
            symlink(target, source.join("sub/odd")).unwrap();
            let error = store.capture_tree(&source).unwrap_err().to_string();
            assert!(error.contains("in/sub/odd"), "{error}");
        }
        let (dir, store) = store();
        let pipe = dir.path().join("in/pipe");
        fs::create_dir_all(dir.path().join("in")).unwrap();
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = store.capture_tree(&dir.path().join("in")).unwrap_err().to_string();
        assert!(error.contains("pipe"), "{error}");
        let link = dir.path().join("link");
        symlink("in", &link).unwrap();
        assert!(store.capture_tree(&link).is_err(), "the directory itself must not be a link");
    }

    #[test]
    fn a_tree_made_to_write_outside_is_refused_and_nothing_is_written() {
        let (dir, store) = store();
        let blob = store.put_bytes(b"evil").unwrap();
        for listing in [
            format!("ngcc tree 1\nf {blob} 4 ../x\n"),
            format!("ngcc tree 1\nf {blob} 4 /tmp/x\n"),
            format!("ngcc tree 1\nl 2 .. a\nf {blob} 4 a/x\n"),
            format!("ngcc tree 1\nl 9 ../../out a\nf {blob} 4 b\n"),
            "not a listing".to_owned(),
        ] {
            let id = TreeId(crate::digest::Digest::of(listing.as_bytes()));
            store.put_content(listing.as_bytes(), &store.layout.tree(id)).unwrap();
            let to = dir.path().join("to");
            let error = store.lay_out_tree(id, &to).unwrap_err();
            assert!(matches!(error, StoreError::Refused { .. }), "{error}");
            assert!(!to.exists());
        }
    }

    #[test]
    fn a_tree_without_its_blobs_is_not_filed() {
        let (_dir, store) = store();
        let entry = Entry::File { blob: BlobId::of(b"absent"), len: 6, executable: false };
        let tree = Tree([("x".parse().unwrap(), entry)].into());
        assert!(matches!(store.put_tree(&tree), Err(StoreError::Missing(_))));
        store.put_bytes(b"absent").unwrap();
        let id = store.put_tree(&tree).unwrap();
        assert_eq!(store.read_tree(id).unwrap(), tree);
    }
}
