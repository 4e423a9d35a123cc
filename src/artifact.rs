//! What an action leaves behind: a blob or a directory tree, named by content.
//!
//! A tree is a flat, sorted listing, unique and path-safe by construction. Knows nothing of where bytes are kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::digest::{BlobId, Digest, TreeId};
use crate::name::RelPath;

/// One named output of an action.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Artifact {
    /// A file's bytes.
    Blob(BlobId),
    /// A directory.
    Tree(TreeId),
}

impl Artifact {
    /// The digest, whichever kind it is.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        match self {
            Self::Blob(id) => id.digest(),
            Self::Tree(id) => id.digest(),
        }
    }

    /// `blob <hex>` or `tree <hex>`: the form that enters keys.
    #[must_use]
    pub fn key_text(&self) -> String {
        match self {
            Self::Blob(id) => format!("blob {id}"),
            Self::Tree(id) => format!("tree {id}"),
        }
    }
}

/// One entry of a tree. The name belongs to the tree, not to the entry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// A regular file.
    File {
        /// Its content.
        blob: BlobId,
        /// Its length in bytes.
        len: u64,
        /// Whether its execute bit is set.
        executable: bool,
    },
    /// An empty directory (others follow from their files).
    Dir,
    /// A symbolic link with a relative target that stays inside the tree.
    Link {
        /// The target as written.
        target: String,
    },
}

/// A directory tree as a sorted listing of everything below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Tree(pub BTreeMap<RelPath, Entry>);

impl Tree {
    /// The canonical listing: one framed line per entry, in path order. Its BLAKE3 digest is the [`TreeId`].
    #[must_use]
    pub fn listing(&self) -> String {
        let mut text = String::from("ngcc tree 1\n");
        for (path, entry) in &self.0 {
            // Paths hold no newline (RelPath), link targets are length-framed.
            let _ = match entry {
                Entry::File { blob, len, executable } => {
                    writeln!(text, "{} {blob} {len} {path}", if *executable { 'x' } else { 'f' })
                }
                Entry::Dir => writeln!(text, "d {path}"),
                Entry::Link { target } => writeln!(text, "l {} {target} {path}", target.len()),
            };
        }
        text
    }

    /// The id of this tree.
    #[must_use]
    pub fn id(&self) -> TreeId {
        TreeId(Digest::of(self.listing().as_bytes()))
    }

    /// Total bytes of its files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.values().map(|e| if let Entry::File { len, .. } = e { *len } else { 0 }).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, executable: bool) -> Entry {
        Entry::File { blob: BlobId::of(text.as_bytes()), len: text.len() as u64, executable }
    }

    #[test]
    fn the_execute_bit_a_name_and_an_empty_directory_each_change_the_tree_id() {
        let tree = |entries: &[(&str, Entry)]| {
            Tree(entries.iter().map(|(p, e)| (p.parse().unwrap(), e.clone())).collect()).id()
        };
        let base = tree(&[("a", file("x", false))]);
        assert_ne!(base, tree(&[("a", file("x", true))]));
        assert_ne!(base, tree(&[("b", file("x", false))]));
        assert_ne!(base, tree(&[("a", file("x", false)), ("d", Entry::Dir)]));
        assert_eq!(base, tree(&[("a", file("x", false))]));
    }
}
