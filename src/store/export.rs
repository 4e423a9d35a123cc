//! One run as an archive: its log, its records, and everything they lead to.
//!
//! What a record cannot stand without (outputs, files of trees, its log) must be there; inputs that an earlier collection
//! took or that were never kept are left out. Every byte is checked while it is written. The path of the workspace is
//! left out: it means nothing elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};

use super::bundle::{FORMAT, Item, Kind, MANIFEST, Manifest, header};
use super::gc::Marks;
use super::{Object, Run, RunEnd, RunStart, RunWorkspace, Store, StoreError, record_file, runs};
use crate::artifact::{Artifact, Entry};
use crate::digest::{ActionKey, Digest};
use crate::record::Record;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Exported {
    /// Records.
    pub records: usize,
    /// Blobs and trees.
    pub objects: usize,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Store {
    /// Writes the archive of a run. The same run gives the same bytes.
    ///
    /// # Errors
    /// When a record of the run or what it names is missing or damaged; when the archive cannot be written.
    pub fn export_run(&self, run: &Run, out: &mut dyn Write) -> Result<Exported, StoreError> {
        let mut records: BTreeMap<ActionKey, Vec<u8>> = BTreeMap::new();
        let mut marks = Marks::default();
        marks.blobs.extend(run.keys);
        let failures = run.lines.iter().filter_map(|line| match &line.end {
            RunEnd::Failed(failure) => failure.log,
            RunEnd::Ran(_) | RunEnd::Blocked(_) | RunEnd::Unavailable(_) => None,
        });
        marks.blobs.extend(failures.filter(|log| self.has_blob(*log)));
        let failed: Vec<ActionKey> = run
            .lines
            .iter()
            .filter(|line| !matches!(line.end, RunEnd::Ran(_)))
            .filter_map(|line| line.key)
            .collect();
        for key in self.run_keys(run)?.into_values() {
            let Some((bytes, record)) = self.record_bytes(key) else {
                // What failed has a key and no record.
                if failed.contains(&key) {
                    continue;
                }
                return Err(StoreError::Missing(Object::Record(key)));
            };
            self.stands(&record)?;
            marks.record(self, &record);
            records.insert(key, bytes);
        }
        let mut items = Vec::new();
        let mut exported = Exported { records: records.len(), objects: 0, bytes: 0 };
        for id in marks.blobs.iter().filter(|id| self.has_blob(**id)) {
            let path = self.layout.blob(*id);
            let stat = fs::metadata(&path).map_err(|e| StoreError::io("read", &path, e))?;
            items.push((Kind::Object(Object::Blob(*id)), stat.len(), *id.digest()));
        }
        for id in &marks.trees {
            // A tree that was an input only, and is not whole, is left out like any other input that went.
            let Ok(tree) = self.read_tree(*id) else { continue };
            let listing = tree.listing();
            items.push((Kind::Object(Object::Tree(*id)), listing.len() as u64, *id.digest()));
        }
        exported.objects = items.len();
        for (key, bytes) in &records {
            let kind = Kind::Object(Object::Record(*key));
            items.push((kind, bytes.len() as u64, Digest::of(bytes)));
        }
        let log = log_text(run);
        items.push((Kind::Run, log.len() as u64, Digest::of(&log)));
        exported.bytes = items.iter().map(|(_, bytes, _)| bytes).sum();

        let objects = items
            .iter()
            .map(|(kind, bytes, digest)| Item { path: kind.path(), bytes: *bytes, digest: *digest })
            .collect();
        let manifest = Manifest { format: FORMAT, run: run.id.clone(), objects };
        let mut text = serde_json::to_vec_pretty(&manifest).expect("plain data");
        text.push(b'\n');
        let mut archive = tar::Builder::new(out);
        let failed = |e| StoreError::io("write the archive of", &self.run_path(&run.id), e);
        let mut append = |path: &str, bytes: u64, from: &mut dyn Read| {
            archive.append(&header(path, bytes), from)
        };
        append(MANIFEST, text.len() as u64, &mut text.as_slice()).map_err(failed)?;
        for (kind, bytes, _) in &items {
            let path = kind.path();
            match kind {
                Kind::Object(Object::Blob(id)) => {
                    let mut stream = self.open_blob(*id)?;
                    append(&path, *bytes, &mut stream).map_err(|e| {
                        if e.kind() == std::io::ErrorKind::InvalidData {
                            StoreError::Damaged(Object::Blob(*id))
                        } else {
                            failed(e)
                        }
                    })?;
                }
                Kind::Object(Object::Tree(id)) => {
                    let listing = self.read_tree(*id)?.listing();
                    append(&path, *bytes, &mut listing.as_bytes()).map_err(failed)?;
                }
                Kind::Object(Object::Record(key)) => {
                    append(&path, *bytes, &mut records[key].as_slice()).map_err(failed)?;
                }
                Kind::Run => append(&path, *bytes, &mut log.as_slice()).map_err(failed)?,
            }
        }
        archive.into_inner().and_then(|out| out.flush()).map_err(failed)?;
        Ok(exported)
    }

    /// The very bytes of a record's file.
    fn record_bytes(&self, key: ActionKey) -> Option<(Vec<u8>, Record)> {
        for path in [self.layout.pending_record(&self.boot, key), self.layout.record(key)] {
            if let (Some((record, _)), Ok(bytes)) = (record_file::read(&path, key), fs::read(&path))
            {
                return Some((bytes, record));
            }
        }
        None
    }

    /// Whether what a record names is there, without reading it.
    pub(super) fn stands(&self, record: &Record) -> Result<(), StoreError> {
        let blob = |id| match self.has_blob(id) {
            true => Ok(()),
            false => Err(StoreError::Missing(Object::Blob(id))),
        };
        for artifact in record.outputs.values() {
            match artifact {
                Artifact::Blob(id) => blob(*id)?,
                Artifact::Tree(id) => {
                    for entry in self.read_tree(*id)?.0.values() {
                        if let Entry::File { blob: id, .. } = entry {
                            blob(*id)?;
                        }
                    }
                }
            }
        }
        record.provenance.log.map_or(Ok(()), blob)
    }
}

/// The log of a run as it travels: whole lines only, without the path of the workspace.
pub(super) fn log_text(run: &Run) -> Vec<u8> {
    let workspace = run.start.workspace.as_ref();
    let workspace = workspace.map(|w| RunWorkspace { id: w.id.clone(), path: None });
    let start = RunStart { workspace, ..run.start.clone() };
    runs::text(&Run { start, ..run.clone() })
}
