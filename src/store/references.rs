//! Outside names for content: `sha256:…` of a KAT text or an archive, to the blob that has it, and for an unpacked
//! package also to the tree of its files.
//!
//! A reference promises nothing about the blob: it may have been collected, and its bytes are checked when they are read.
//! Collection keeps what is referenced, a tree with all its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{Store, StoreError};
use crate::digest::{BlobId, TreeId};

#[derive(serde::Serialize, serde::Deserialize)]
struct WireReference {
    blob: BlobId,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<TreeId>,
}

impl Store {
    /// Gives a blob an outside name, in place of whatever had it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_reference(&self, name: &str, id: BlobId) -> Result<(), StoreError> {
        self.refer(WireReference { blob: id, name: name.to_owned(), tree: None })
    }

    /// Gives a blob and a tree that belongs to it an outside name together.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_tree_reference(
        &self,
        name: &str,
        id: BlobId,
        tree: TreeId,
    ) -> Result<(), StoreError> {
        self.refer(WireReference { blob: id, name: name.to_owned(), tree: Some(tree) })
    }

    fn refer(&self, wire: WireReference) -> Result<(), StoreError> {
        let name = &wire.name;
        let there = read(&self.layout.reference(name));
        if there.is_some_and(|r| r.name == *name && r.blob == wire.blob && r.tree == wire.tree) {
            return Ok(());
        }
        let mut text = serde_json::to_vec(&wire).expect("plain data");
        text.push(b'\n');
        self.session.place(&text, &self.layout.reference(name))?;
        self.note_unsynced();
        Ok(())
    }

    /// The file of a reference, whether there is one or not.
    #[must_use]
    pub fn reference_path(&self, name: &str) -> std::path::PathBuf {
        self.layout.reference(name)
    }

    /// The blob with an outside name.
    #[must_use]
    pub fn reference(&self, name: &str) -> Option<BlobId> {
        read(&self.layout.reference(name)).filter(|wire| wire.name == name).map(|wire| wire.blob)
    }

    /// All references to blobs.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn references(&self) -> Result<BTreeMap<String, BlobId>, StoreError> {
        Ok(self.all_references()?.into_iter().map(|(name, (blob, _))| (name, blob)).collect())
    }

    /// Takes an outside name away.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub(super) fn unset_reference(&self, name: &str) -> Result<(), StoreError> {
        super::records::remove_file(&self.layout.reference(name))
    }

    /// All references: name to blob, and the tree that belongs to it.
    pub(super) fn all_references(
        &self,
    ) -> Result<BTreeMap<String, (BlobId, Option<TreeId>)>, StoreError> {
        let mut found = BTreeMap::new();
        for entry in walkdir::WalkDir::new(self.layout.references()).sort_by_file_name() {
            let entry =
                entry.map_err(|e| StoreError::io("list", &self.layout.references(), e.into()))?;
            if let Some(wire) = read(entry.path()) {
                found.insert(wire.name, (wire.blob, wire.tree));
            }
        }
        Ok(found)
    }
}

fn read(path: &Path) -> Option<WireReference> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_its_blob_and_a_torn_file_to_none() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let (a, b) = (BlobId::of(b"a"), BlobId::of(b"b"));
        assert_eq!(store.reference("sha256:../odd"), None);
        store.set_reference("sha256:../odd", a).unwrap();
        store.set_reference("sha256:1", a).unwrap();
        store.set_reference("sha256:1", b).unwrap();
        assert_eq!(store.reference("sha256:1"), Some(b));
        let all = [("sha256:../odd".to_owned(), a), ("sha256:1".to_owned(), b)];
        assert_eq!(store.references().unwrap(), all.into());
        let path = store.layout.reference("sha256:1");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert_eq!(store.reference("sha256:1"), None);
        store.set_reference("sha256:1", a).unwrap();
        assert_eq!(store.reference("sha256:1"), Some(a));
    }
}
