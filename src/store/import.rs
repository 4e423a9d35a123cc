//! An archive of a run, read back: nothing in it is believed before it was checked, and nothing it names is a path.
//!
//! Entries must be the ones its manifest lists, in that order, and the manifest must be sorted; so an entry that is
//! undeclared, missing, doubled or of another kind is noticed where it stands. Content is hashed aside and renamed when
//! it has its digest. Records come into view when the last byte of the archive was read, and the run when its records
//! are durable: an import that breaks off leaves content without a name, which a collection removes.
//!
//! Whether a key fits the fields of its record is asked of the caller, who knows how keys are made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write as _};

use super::bundle::{FORMAT, Item, Kind, MANIFEST, Manifest};
use super::record_file::{self, Summary};
use super::{Object, Run, Store, StoreError, export, runs, tree_rules};
use crate::digest::{ActionKey, BlobId, Digest};
use crate::name::Name;
use crate::record::Record;

/// Longest manifest, bytes: about a million objects.
const LONGEST_MANIFEST: u64 = 256 << 20;
/// Longest record, listing or log, bytes; these are held in memory.
const LONGEST_TEXT: u64 = 64 << 20;
/// All records together, bytes.
const ALL_RECORDS: u64 = 2 << 30;
/// How far the clock of the other machine may be ahead, nanoseconds.
const AHEAD: u64 = 24 * 3600 * 1_000_000_000;

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    /// The run, as it is called here.
    pub run: Name,
    /// What it was called there, if that name was taken by another run.
    pub was: Option<Name>,
    /// It was here already.
    pub known: bool,
    /// Records that are new here.
    pub records: usize,
    /// Records that were here, equal.
    pub same: usize,
    /// Records that were here with another result, which stays: label and key.
    pub differing: BTreeMap<ActionKey, String>,
}

/// Why an archive was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It breaks a rule.
    #[error("the archive is refused: {0}")]
    Refused(String),
    /// It cannot be read.
    #[error("the archive cannot be read: {0}")]
    Read(#[source] io::Error),
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn refused<T>(why: impl Into<String>) -> Result<T, ImportError> {
    Err(ImportError::Refused(why.into()))
}

/// A text from the archive as a message may show it.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(80).flat_map(char::escape_default).collect()
}

impl Store {
    /// Takes in an archive. `fits` says whether a record's key is the one of its fields.
    ///
    /// # Errors
    /// [`ImportError::Refused`] names the entry and the rule; then no record and no run came into view.
    pub fn import_run(
        &self,
        input: &mut dyn Read,
        fits: &dyn Fn(&Record) -> bool,
    ) -> Result<Imported, ImportError> {
        let mut archive = tar::Archive::new(input);
        let entries = archive.entries().map_err(ImportError::Read)?;
        // Raw: no long names, no attributes, nothing that changes what the next header says.
        let mut entries = entries.raw(true);
        let mut next = |path: &str, bytes: Option<u64>| match entries.next() {
            None => refused(format!("it ends before `{path}`")),
            Some(Err(e)) => Err(broken(e)),
            Some(Ok(entry)) => {
                let name = entry.path_bytes();
                if *name != *path.as_bytes() {
                    return refused(format!("`{}` where `{path}` belongs", shown(&name)));
                }
                if entry.header().entry_type() != tar::EntryType::Regular {
                    return refused(format!("`{path}` is no regular file"));
                }
                if bytes.is_some_and(|bytes| entry.size() != bytes) {
                    return refused(format!("`{path}` has not the length that was declared"));
                }
                drop(name);
                Ok(entry)
            }
        };
        let mut first = next(MANIFEST, None)?;
        let manifest = read_text(&mut first, MANIFEST, None, LONGEST_MANIFEST)?;
        let manifest: Manifest = match serde_json::from_slice(&manifest) {
            Ok(manifest) => manifest,
            Err(e) => return refused(format!("`{MANIFEST}`: {e}")),
        };
        let kinds = checked(&manifest)?;

        let mut records: BTreeMap<ActionKey, (Vec<u8>, Record, u64)> = BTreeMap::new();
        let mut held = 0_u64;
        let mut run = None;
        for (item, kind) in manifest.objects.iter().zip(kinds) {
            let mut entry = next(&item.path, Some(item.bytes))?;
            match kind {
                Kind::Object(Object::Blob(id)) => self.take_blob(&mut entry, id, item)?,
                Kind::Object(Object::Tree(id)) => {
                    let text = read_text(&mut entry, &item.path, Some(item), LONGEST_TEXT)?;
                    let tree = String::from_utf8(text).ok().and_then(|t| tree_rules::parse(&t));
                    match tree.filter(|tree| tree.id() == id) {
                        Some(tree) => self.put_tree(&tree).map_err(of_archive)?,
                        None => return refused(format!("`{}` is no listing", item.path)),
                    };
                }
                Kind::Object(Object::Record(key)) => {
                    held += item.bytes;
                    if held > ALL_RECORDS {
                        return refused("its records are longer than 2 GiB together");
                    }
                    let text = read_text(&mut entry, &item.path, Some(item), LONGEST_TEXT)?;
                    let (record, committed) = self.checked_record(&text, key, fits)?;
                    records.insert(key, (text, record, committed));
                }
                Kind::Run => {
                    let text = read_text(&mut entry, &item.path, Some(item), LONGEST_TEXT)?;
                    run = runs::parse(&manifest.run, &text).map(|run| (run, text));
                }
            }
        }
        match entries.next() {
            None => {}
            Some(Ok(entry)) => {
                let name = shown(&entry.path_bytes());
                return refused(format!("`{name}` is not in its manifest"));
            }
            Some(Err(e)) => return Err(broken(e)),
        }
        let Some((run, text)) = run.filter(|(run, text)| export::log_text(run) == *text) else {
            return refused("its log is not that of a run");
        };
        self.take_records(&run, &text, records)
    }

    /// Everything was read and checked: records come into view, then the run.
    fn take_records(
        &self,
        run: &Run,
        text: &[u8],
        records: BTreeMap<ActionKey, (Vec<u8>, Record, u64)>,
    ) -> Result<Imported, ImportError> {
        let failed: BTreeSet<ActionKey> = run.lines.iter().filter_map(|line| line.key).collect();
        for (label, key) in self.run_keys(run).map_err(of_archive)? {
            if !records.contains_key(&key) && !failed.contains(&key) && self.record(key)?.is_none()
            {
                let label = shown(label.as_bytes());
                return refused(format!("it lacks the record of `{label}`"));
            }
        }
        for (_, record, _) in records.values() {
            self.stands(record).map_err(of_archive)?;
        }
        let (mut new, mut same, mut differing) = (0, 0, BTreeMap::new());
        for (key, (text, record, committed)) in records {
            match self.record(key)? {
                Some(here)
                    if here.outputs == record.outputs && here.findings == record.findings =>
                {
                    same += 1;
                }
                Some(here) => {
                    differing.insert(key, here.label);
                }
                None => {
                    self.place_record(&text, &record, committed)?;
                    new += 1;
                }
            }
        }
        self.note_unsynced();
        self.flush()?;
        let (id, known) = self.place_run(run, text)?;
        self.note_unsynced();
        self.flush()?;
        let was = (id != run.id).then(|| run.id.clone());
        Ok(Imported { run: id, was, known, records: new, same, differing })
    }

    /// Hashes content aside and moves it to its place when it is what its name says.
    fn take_blob(&self, entry: &mut dyn Read, id: BlobId, item: &Item) -> Result<(), ImportError> {
        let place = self.layout.blob(id);
        let mut temp = self.session.temp_file()?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0_u8; 128 * 1024];
        let mut left = item.bytes;
        while left > 0 {
            let n = match entry.read(&mut buffer) {
                Ok(0) => return refused(format!("it ends within `{}`", item.path)),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(broken(e)),
            };
            hasher.update(&buffer[..n]);
            temp.write_all(&buffer[..n], &place)?;
            left = left.saturating_sub(n as u64);
        }
        if hasher.finalize().as_bytes() != id.digest().as_bytes() {
            return refused(format!("`{}` has other content than its name says", item.path));
        }
        if !Digest::of_file(&place).is_ok_and(|(there, _)| there == *id.digest()) {
            temp.place(&place)?;
            self.note_unsynced();
        }
        Ok(())
    }

    fn checked_record(
        &self,
        text: &[u8],
        key: ActionKey,
        fits: &dyn Fn(&Record) -> bool,
    ) -> Result<(Record, u64), ImportError> {
        let Some((record, committed)) = record_file::parse(text, key) else {
            return refused(format!("`records/{key}.json` is no record of that key"));
        };
        if !fits(&record) {
            return refused(format!("the fields of record {key} give another key"));
        }
        let now = u64::try_from(self.session.now_ns()).unwrap_or(0);
        if committed > now.saturating_add(AHEAD) {
            return refused(format!(
                "record {key} is from the future; one of the two machines has a wrong clock"
            ));
        }
        Ok((record, committed))
    }

    fn place_record(&self, text: &[u8], record: &Record, committed: u64) -> Result<(), StoreError> {
        let place = self.layout.pending_record(&self.boot, record.key);
        let mut index = self.index_mut();
        let mut temp = self.session.temp_file()?;
        temp.write_all(text, &place)?;
        let inode = temp.inode()?;
        temp.place(&place)?;
        index.set_pending(record.key, &Summary::of(record, committed, inode, text));
        Ok(())
    }

    /// Files the log under the run's id, or under the next free one when another run has it. Says whether it was there.
    fn place_run(&self, run: &Run, text: &[u8]) -> Result<(Name, bool), StoreError> {
        for n in 1_u32.. {
            let id = if n == 1 { run.id.to_string() } else { format!("{}-{n}", run.id) };
            let Ok(id) = id.parse::<Name>() else { break };
            let path = self.run_path(&id);
            match File::options().append(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(text).map_err(|e| StoreError::io("write", &path, e))?;
                    return Ok((id, false));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    if self.run(&id)?.is_some_and(|here| export::log_text(&here) == text) {
                        return Ok((id, true));
                    }
                }
                Err(e) => return Err(StoreError::io("create", &path, e)),
            }
        }
        Err(StoreError::io("name", &self.run_path(&run.id), io::ErrorKind::InvalidInput.into()))
    }
}

/// The kinds of the manifest's entries, if they are sorted and end with the run.
fn checked(manifest: &Manifest) -> Result<Vec<Kind>, ImportError> {
    if manifest.format != FORMAT {
        return refused(format!("its format is {}, this program reads {FORMAT}", manifest.format));
    }
    let mut kinds = Vec::with_capacity(manifest.objects.len());
    for item in &manifest.objects {
        let Some(kind) = Kind::of(&item.path) else {
            return refused(format!("`{}` is no name of an entry", shown(item.path.as_bytes())));
        };
        if kinds.last().is_some_and(|last| *last >= kind) {
            return refused(format!("`{}` is doubled or out of order", item.path));
        }
        let named = match kind {
            Kind::Object(Object::Blob(id)) => Some(id.0),
            Kind::Object(Object::Tree(id)) => Some(id.0),
            Kind::Object(Object::Record(_)) | Kind::Run => None,
        };
        if named.is_some_and(|digest| digest != item.digest) {
            return refused(format!("`{}` is declared with another digest", item.path));
        }
        kinds.push(kind);
    }
    if kinds.last() != Some(&Kind::Run) {
        return refused("its manifest has no run");
    }
    Ok(kinds)
}

/// A text of at most `most` bytes; with an item it must have that length and digest.
fn read_text(
    entry: &mut dyn Read,
    path: &str,
    item: Option<&Item>,
    most: u64,
) -> Result<Vec<u8>, ImportError> {
    let mut text = Vec::new();
    entry.take(most + 1).read_to_end(&mut text).map_err(broken)?;
    if text.len() as u64 > most {
        return refused(format!("`{path}` is longer than {most} bytes"));
    }
    let Some(item) = item else { return Ok(text) };
    if (text.len() as u64) < item.bytes {
        return refused(format!("it ends within `{path}`"));
    }
    if Digest::of(&text) != item.digest {
        return refused(format!("`{path}` has other content than was declared"));
    }
    Ok(text)
}

/// Trouble of the tar itself is the archive's fault; other trouble is the disk's.
fn broken(error: io::Error) -> ImportError {
    use io::ErrorKind::{InvalidData, Other, UnexpectedEof};
    if matches!(error.kind(), Other | InvalidData | UnexpectedEof) {
        ImportError::Refused(format!("it is cut or no tar: {error}"))
    } else {
        ImportError::Read(error)
    }
}

/// Content that an archive names and does not bring is the archive's fault.
fn of_archive(error: StoreError) -> ImportError {
    if let StoreError::Missing(object) = &error {
        return ImportError::Refused(format!("it names {object} and lacks it"));
    }
    if let StoreError::Refused { path, why } = &error {
        return ImportError::Refused(format!("a tree of it has `{}`: {why}", path.display()));
    }
    ImportError::Store(error)
}
