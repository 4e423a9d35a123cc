//! The archive of one run: which entries it has, in which order, and what a header says.
//!
//! A plain tar. First `manifest.json`, which lists every other entry with digest and size; then `blobs/`, `trees/`,
//! `records/`, each sorted, and `run.jsonl` last: so whoever unpacks it has the content before anything names it. Owner,
//! mode and time are fixed, and equal runs give equal bytes. Knows nothing of where a store keeps things; names in an
//! archive are compared with names made here and never become paths.

use tar::{EntryType, Header};

use super::Object;
use crate::digest::Digest;
use crate::name::Name;

/// Version of the arrangement.
pub(super) const FORMAT: u32 = 1;
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const RUN: &str = "run.jsonl";

/// The first entry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the arrangement.
    pub format: u32,
    /// Id of the run.
    pub run: Name,
    /// The other entries, in order.
    pub objects: Vec<Item>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Its name.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// BLAKE3 of its bytes.
    pub digest: Digest,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Content, or what names it.
    Object(Object),
    /// The log of the run.
    Run,
}

impl Kind {
    pub(super) fn path(self) -> String {
        match self {
            Self::Object(Object::Blob(id)) => format!("blobs/{id}"),
            Self::Object(Object::Tree(id)) => format!("trees/{id}"),
            Self::Object(Object::Record(key)) => format!("records/{key}.json"),
            Self::Run => RUN.to_owned(),
        }
    }

    /// The entry of a name, if exactly this name is one.
    pub(super) fn of(path: &str) -> Option<Self> {
        let kind = match path.split_once('/') {
            Some(("blobs", hex)) => Self::Object(Object::Blob(hex.parse().ok()?)),
            Some(("trees", hex)) => Self::Object(Object::Tree(hex.parse().ok()?)),
            Some(("records", name)) => {
                Self::Object(Object::Record(name.strip_suffix(".json")?.parse().ok()?))
            }
            _ => Self::Run,
        };
        (kind.path() == path).then_some(kind)
    }
}

/// The header of an entry.
pub(super) fn header(path: &str, bytes: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_path(path).expect("names made here are short");
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes);
    header.set_cksum();
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_made_here_are_entries() {
        let hex = Digest::of(b"x").to_string();
        for good in [format!("blobs/{hex}"), format!("records/{hex}.json"), RUN.to_owned()] {
            assert_eq!(Kind::of(&good).unwrap().path(), good);
        }
        let upper = hex.to_uppercase();
        for bad in ["../x", "/etc/x", "blobs/../x", "", "blobs", "run.jsonl/", "manifest.json"] {
            assert_eq!(Kind::of(bad), None, "{bad}");
        }
        for bad in [format!("blobs/{upper}"), format!("blobs/{hex}/"), format!("./blobs/{hex}")] {
            assert_eq!(Kind::of(&bad), None, "{bad}");
        }
        let blob = Kind::of(&format!("blobs/{hex}")).unwrap();
        let record = Kind::of(&format!("records/{hex}.json")).unwrap();
        assert!(blob < record && record < Kind::Run, "content comes before what names it");
    }
}
