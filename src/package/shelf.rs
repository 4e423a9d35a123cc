//! Unpacked packages under the names that the outside world has for them: the SHA-256 of the archive.
//!
//! A package is two things in the store: the document that lists it and the tree of its files, both under one name,
//! so that collection keeps them. What is found is checked like everything that is read; a name that leads to
//! something damaged counts as absent, and fetching again heals it.

use super::Package;
use crate::digest::Digest;
use crate::store::{Store, StoreError};

/// Version of the unpacking rules. A package unpacked by other rules is unpacked again.
const RULES: u32 = 1;

/// The store's name for an archive's own bytes.
#[must_use]
pub fn archive_name(sha256: &str) -> String {
    format!("sha256:{sha256}")
}

/// The store's name for an archive as unpacked, with the archives inside it that are unpacked in place.
#[must_use]
pub fn package_name(sha256: &str, nested: &[String]) -> String {
    let mut name = format!("package:{RULES}:{sha256}");
    if !nested.is_empty() {
        let mut sorted = nested.to_vec();
        sorted.sort();
        let digest = Digest::of(sorted.join("\n").as_bytes());
        name.push(':');
        name.push_str(&digest.short());
    }
    name
}

/// Files an unpacked package under its name; `nested` as the manifest states it, patterns and all.
///
/// # Errors
/// When the store cannot be written, or lacks one of the files.
pub fn keep(store: &Store, package: &Package, nested: &[String]) -> Result<(), StoreError> {
    let tree = store.put_tree(&package.tree())?;
    let document = serde_json::to_vec(package).expect("plain data serialises");
    let blob = store.put_bytes(&document)?;
    store.set_tree_reference(&package_name(&package.sha256, nested), blob, tree)
}

/// The package of an archive, if it was unpacked here.
///
/// # Errors
/// When the store cannot be read.
pub fn find(store: &Store, sha256: &str, nested: &[String]) -> Result<Option<Package>, StoreError> {
    let Some(blob) = store.reference(&package_name(sha256, nested)) else { return Ok(None) };
    let bytes = match store.read_blob(blob) {
        Ok(bytes) => bytes,
        Err(error) if error.is_lost_content() => return Ok(None),
        Err(error) => return Err(error),
    };
    let package = serde_json::from_slice::<Package>(&bytes).ok();
    Ok(package.filter(|p| p.sha256 == sha256))
}

/// All packages that were unpacked here, as far as they can be read.
///
/// # Errors
/// When the store cannot be read.
pub fn all(store: &Store) -> Result<Vec<Package>, StoreError> {
    let mut found = Vec::new();
    for (name, blob) in store.references()? {
        if name.starts_with("package:")
            && let Ok(bytes) = store.read_blob(blob)
        {
            found.extend(serde_json::from_slice::<Package>(&bytes));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::package::Member;
    use crate::store::GcRoots;

    #[test]
    fn a_package_is_found_by_its_archive_and_stays_when_the_store_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let blob = store.put_bytes(b"int x;").unwrap();
        let member = Member { blob, len: 6, raw_name: None, was_executable: false };
        let package = Package {
            format: 1,
            archive: "A.zip".into(),
            sha256: "ab".repeat(32),
            bytes: 9,
            nested: vec!["in/b.zip".into()],
            files: BTreeMap::from([("中文 资料/x.c".parse().unwrap(), member)]),
        };
        keep(&store, &package, &package.nested).unwrap();
        let stray = store.put_bytes(b"stray").unwrap();
        let plan = store.gc_plan(GcRoots::default()).unwrap();
        store.gc_perform(&plan).unwrap();
        assert!(!store.has_blob(stray) && store.has_blob(blob));
        let found = |nested: &[String]| find(&store, &package.sha256, nested).unwrap();
        assert_eq!(found(&package.nested), Some(package.clone()));
        assert_eq!(found(&[]), None, "unpacked otherwise, it is another package");
    }
}
