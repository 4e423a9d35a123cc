//! An unpacked package as the inspection reads it: its listing, with contents out of the store.

use std::collections::BTreeMap;
use std::io::Read;

use crate::digest::BlobId;
use crate::inspect::{Contents, Listed};
use crate::name::RelPath;
use crate::package::Package;
use crate::store::Store;

/// A package and the store that has its files.
#[derive(Debug)]
pub(super) struct Shelved<'s> {
    store: &'s Store,
    files: BTreeMap<RelPath, Listed>,
}

impl<'s> Shelved<'s> {
    pub(super) fn new(store: &'s Store, package: &Package) -> Self {
        let listed = |(path, member): (&RelPath, &crate::package::Member)| {
            (path.clone(), Listed { blob: member.blob, len: member.len })
        };
        Self { store, files: package.files.iter().map(listed).collect() }
    }
}

impl Contents for Shelved<'_> {
    fn files(&self) -> &BTreeMap<RelPath, Listed> {
        &self.files
    }

    fn open(&self, blob: BlobId) -> std::io::Result<Box<dyn Read + '_>> {
        let reader = self.store.open_blob(blob).map_err(std::io::Error::other)?;
        Ok(Box::new(reader))
    }
}
