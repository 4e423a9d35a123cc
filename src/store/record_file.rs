//! A record as a file: sorted keys, one space of indent, a newline at the end; and the sum of it that the index keeps.
//!
//! The file has one member more than [`Record`]: `committed`, the time of the commit on the store's clock, raised where needed
//! so that it grows from commit to commit. It orders the records of one label when the index is lost.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize as _;

use super::table::framed;
use crate::artifact::Artifact;
use crate::digest::{ActionKey, BlobId, Digest, TreeId};
use crate::record::{RECORD_FORMAT, Record};

/// What the index says of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    /// Order of commits; nanoseconds since 1970.
    pub(super) committed: u64,
    /// Inode of the record file, which changes when another takes its place.
    pub(super) inode: u64,
    pub(super) wall_ns: u64,
    /// Of the record file.
    pub(super) digest: Digest,
    pub(super) findings: u32,
    pub(super) label: String,
    /// Sorted by name.
    pub(super) outputs: Vec<(String, Artifact)>,
}

/// Where the label starts in the form that the index has.
const LABEL_AT: usize = 3 * 8 + 32 + 4;

#[derive(serde::Deserialize)]
struct WireCommitted {
    #[serde(default)]
    committed: u64,
}

/// The text of a record file.
pub(super) fn text(record: &Record, committed: u64) -> Vec<u8> {
    let mut value = serde_json::to_value(record).expect("a record is plain data with text keys");
    value["committed"] = committed.into();
    let mut text = Vec::with_capacity(4096);
    let format = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, format);
    value.serialize(&mut serializer).expect("writing to memory does not fail");
    text.push(b'\n');
    text
}

/// Reads a record file; `None` when it is absent, cut, garbage, filed under another key, or of another format.
pub(super) fn read(path: &Path, key: ActionKey) -> Option<(Record, Summary)> {
    let mut file = File::open(path).ok()?;
    let inode = file.metadata().ok()?.ino();
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    let (record, committed) = parse(&text, key)?;
    let summary = Summary::of(&record, committed, inode, &text);
    Some((record, summary))
}

/// A record and when it was committed, from the text of its file; `None` when it is not one of that key.
pub(super) fn parse(text: &[u8], key: ActionKey) -> Option<(Record, u64)> {
    let record: Record = serde_json::from_slice(text).ok()?;
    if record.key != key || record.format != RECORD_FORMAT {
        return None;
    }
    Some((record, committed_in(text)?))
}

/// The member `committed`; 0 when there is none. It comes first as we write it, which saves parsing the rest again.
fn committed_in(text: &[u8]) -> Option<u64> {
    let first = text.strip_prefix(b"{\n \"committed\": ").and_then(|rest| {
        let digits = rest.split(|byte| *byte == b',').next()?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    });
    first.or_else(|| Some(serde_json::from_slice::<WireCommitted>(text).ok()?.committed))
}

/// The record files in a directory, with their inodes, in key order. A directory that is not there holds none.
pub(super) fn list(dir: &Path) -> std::io::Result<BTreeMap<ActionKey, u64>> {
    use std::os::unix::fs::DirEntryExt as _;
    let mut found = BTreeMap::new();
    let entries = match fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        if let Some(key) = super::layout::key_of_file_name(&entry.file_name()) {
            found.insert(key, entry.ino());
        }
    }
    Ok(found)
}

impl Summary {
    pub(super) fn of(record: &Record, committed: u64, inode: u64, text: &[u8]) -> Self {
        Self {
            committed,
            inode,
            wall_ns: record.provenance.wall_ns,
            digest: Digest::of(text),
            findings: u32::try_from(record.findings.len()).unwrap_or(u32::MAX),
            label: record.label.clone(),
            outputs: record.outputs.iter().map(|(name, a)| (name.clone(), *a)).collect(),
        }
    }

    /// The form in the index.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64 + self.label.len() + 48 * self.outputs.len());
        for number in [self.committed, self.inode, self.wall_ns] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.digest.as_bytes());
        bytes.extend(self.findings.to_le_bytes());
        frame(&mut bytes, &self.label);
        for (name, artifact) in &self.outputs {
            frame(&mut bytes, name);
            bytes.push(match artifact {
                Artifact::Blob(_) => b'b',
                Artifact::Tree(_) => b't',
            });
            bytes.extend(artifact.digest().as_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (label, _) = framed(bytes.get(LABEL_AT..)?)?;
        let label = std::str::from_utf8(label).ok()?.to_owned();
        Self::without_label(bytes).map(|summary| Self { label, ..summary })
    }

    /// All but the label, which a lookup does not want: with it, each would cost one allocation more.
    pub(super) fn without_label(bytes: &[u8]) -> Option<Self> {
        let (committed, rest) = bytes.split_first_chunk::<8>()?;
        let (inode, rest) = rest.split_first_chunk::<8>()?;
        let (wall_ns, rest) = rest.split_first_chunk::<8>()?;
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        let (findings, rest) = rest.split_first_chunk::<4>()?;
        let (_, mut rest) = framed(rest)?;
        let mut outputs = Vec::with_capacity(rest.len() / 37);
        while !rest.is_empty() {
            let (name, tail) = framed(rest)?;
            let (kind, tail) = tail.split_first()?;
            let (digest, tail) = tail.split_first_chunk::<32>()?;
            let digest = Digest::from_bytes(*digest);
            let artifact = match kind {
                b'b' => Artifact::Blob(BlobId(digest)),
                b't' => Artifact::Tree(TreeId(digest)),
                _ => return None,
            };
            outputs.push((std::str::from_utf8(name).ok()?.to_owned(), artifact));
            rest = tail;
        }
        Some(Self {
            committed: u64::from_le_bytes(*committed),
            inode: u64::from_le_bytes(*inode),
            wall_ns: u64::from_le_bytes(*wall_ns),
            digest: Digest::from_bytes(*digest),
            findings: u32::from_le_bytes(*findings),
            label: String::new(),
            outputs,
        })
    }

    /// Only the inode.
    pub(super) fn inode_in(bytes: &[u8]) -> Option<u64> {
        Some(u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?))
    }

    /// Only the fields that order records by label, without the outputs.
    pub(super) fn label_in(bytes: &[u8]) -> Option<(&str, u64)> {
        let (committed, _) = bytes.split_first_chunk::<8>()?;
        let (label, _) = framed(bytes.get(LABEL_AT..)?)?;
        Some((std::str::from_utf8(label).ok()?, u64::from_le_bytes(*committed)))
    }
}

fn frame(bytes: &mut Vec<u8>, text: &str) {
    let len = u32::try_from(text.len()).expect("a label or name is far below 4 GiB");
    bytes.extend(len.to_le_bytes());
    bytes.extend(text.as_bytes());
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::record::{Finding, Provenance};

    /// A record with one output, for the tests of this directory.
    pub(in crate::store) fn sample(name: &str, label: &str, output: Artifact) -> Record {
        Record {
            format: RECORD_FORMAT,
            key: ActionKey(Digest::of(name.as_bytes())),
            label: label.to_owned(),
            outputs: [("out".to_owned(), output)].into(),
            findings: Vec::new(),
            ingredients: vec![("argv 0".into(), "cc".into())],
            provenance: Provenance { wall_ns: 17, ..Provenance::default() },
            observed: serde_json::Value::Null,
        }
    }

    #[test]
    fn a_record_file_is_sorted_pretty_json_and_comes_back_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        let mut record = sample("a", "kem-18", Artifact::Blob(BlobId::of(b"x")));
        record.findings = vec![Finding { code: "kat-mismatch".into(), message: "count 3".into() }];
        let bytes = text(&record, 99);
        fs::write(&path, &bytes).unwrap();
        let (read_back, summary) = read(&path, record.key).unwrap();
        assert_eq!(read_back, record);
        assert_eq!((summary.committed, summary.findings, summary.wall_ns), (99, 1, 17));
        assert_eq!(Summary::from_bytes(&summary.to_bytes()).as_ref(), Some(&summary));
        assert_eq!(Summary::label_in(&summary.to_bytes()), Some(("kem-18", 99)));
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("{\n \"committed\": 99,\n \"findings\": [\n  {\n"), "{text}");
        assert!(text.ends_with("}\n"));
        let top: Vec<&str> = text.lines().filter(|l| l.starts_with(" \"")).collect();
        assert!(top.is_sorted(), "{top:?}");
    }

    #[test]
    fn a_cut_or_foreign_record_file_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        let record = sample("a", "l", Artifact::Tree(TreeId(Digest::of(b"x"))));
        let good = text(&record, 1);
        for cut in 0..good.len() - 1 {
            fs::write(&path, &good[..cut]).unwrap();
            assert!(read(&path, record.key).is_none(), "cut at {cut}");
        }
        fs::write(&path, &good).unwrap();
        assert!(read(&path, ActionKey(Digest::of(b"other"))).is_none());
        let newer = Record { format: RECORD_FORMAT + 1, ..record.clone() };
        fs::write(&path, text(&newer, 1)).unwrap();
        assert!(read(&path, record.key).is_none());
        assert!(read(&dir.path().join("absent"), record.key).is_none());
        // As a person or another program may have formatted it.
        let mut value: serde_json::Value = serde_json::from_slice(&good).unwrap();
        fs::write(&path, value.to_string()).unwrap();
        assert_eq!(read(&path, record.key).unwrap().1.committed, 1);
        value.as_object_mut().unwrap().remove("committed");
        fs::write(&path, value.to_string()).unwrap();
        assert_eq!(read(&path, record.key).unwrap().1.committed, 0);
    }
}
