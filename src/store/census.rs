//! What a store holds, counted.
//!
//! By `stat` only: no file is opened.

use std::fs;
use std::path::Path;

use super::{Store, StoreError, verify};

/// Files of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// How many.
    pub files: u64,
    /// Their lengths together, bytes.
    pub bytes: u64,
}

/// Counts by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Census {
    /// Byte strings.
    pub blobs: Count,
    /// Directory listings.
    pub trees: Count,
    /// Records in their place.
    pub records: Count,
    /// Records that wait for a flush.
    pub pending: Count,
    /// Outside names.
    pub references: Count,
    /// Run files.
    pub runs: Count,
    /// Content set aside because it did not match its name.
    pub damaged: Count,
    /// Index and stat cache.
    pub caches: Count,
    /// Files of live and dead processes.
    pub temporary: Count,
}

impl Store {
    /// Counts what is there.
    ///
    /// # Errors
    /// When a directory cannot be listed.
    pub fn stat(&self) -> Result<Census, StoreError> {
        let count = |name: &str| count_below(&self.layout.root().join(name));
        let mut caches = Count::default();
        for path in [self.layout.index(), self.layout.stat_cache()] {
            add(&mut caches, &path);
        }
        Ok(Census {
            blobs: count("blobs")?,
            trees: count("trees")?,
            records: count("records")?,
            pending: count("pending")?,
            references: count("references")?,
            runs: count("runs")?,
            damaged: count("damaged")?,
            caches,
            temporary: count("tmp")?,
        })
    }
}

fn count_below(dir: &Path) -> Result<Count, StoreError> {
    let mut count = Count::default();
    for path in verify::files_below(dir)? {
        add(&mut count, &path);
    }
    Ok(count)
}

/// A file that went away meanwhile does not count.
fn add(count: &mut Count, path: &Path) {
    if let Ok(stat) = fs::symlink_metadata(path) {
        count.files += 1;
        count.bytes += stat.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_bytes_are_counted_by_kind() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for bytes in [&b"one"[..], b"three"] {
            store.put_bytes(bytes).unwrap();
        }
        let census = store.stat().unwrap();
        assert_eq!(census.blobs, Count { files: 2, bytes: 8 });
        assert_eq!((census.records, census.damaged), (Count::default(), Count::default()));
    }
}
