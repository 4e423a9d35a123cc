//! What is kept of a record that goes: the fields of its key, so that `ngcc why` can still say what changed since.
//!
//! One small file per label, for the record that was its last. It names content and promises none: nothing is reused
//! by it, collection does not follow it, and a torn file counts as none.

use std::fs;

use super::{Store, StoreError};
use crate::digest::ActionKey;
use crate::record::Record;

/// The key of a result in words, and when and how long it was made.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Remembered {
    /// The label of its action.
    pub label: String,
    /// Its key.
    pub key: ActionKey,
    /// When it was made, UTC, RFC 3339.
    pub ended: String,
    /// Wall time, nanoseconds.
    pub wall_ns: u64,
    /// The key's fields, in encoding order.
    pub ingredients: Vec<(String, String)>,
}

impl Remembered {
    /// Of a record.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        Self {
            label: record.label.clone(),
            key: record.key,
            ended: record.provenance.ended.clone(),
            wall_ns: record.provenance.wall_ns,
            ingredients: record.ingredients.clone(),
        }
    }
}

impl Store {
    /// The last result of a label whose record went.
    #[must_use]
    pub fn remembered(&self, label: &str) -> Option<Remembered> {
        let bytes = fs::read(self.layout.remembered(label)).ok()?;
        serde_json::from_slice::<Remembered>(&bytes).ok().filter(|r| r.label == label)
    }

    /// Keeps what `why` needs of a record that is about to go, if it is the last of its label.
    pub(super) fn remember(&self, key: ActionKey) -> Result<(), StoreError> {
        let Some(record) = self.record(key)? else { return Ok(()) };
        if self.latest(&record.label)? != Some(key) {
            return Ok(());
        }
        let text = serde_json::to_vec(&Remembered::of(&record)).expect("plain data");
        self.session.place(&text, &self.layout.remembered(&record.label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Artifact;
    use crate::store::record_file::tests::sample;

    #[test]
    fn the_last_record_of_a_label_is_remembered_and_an_earlier_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let out = Artifact::Blob(store.put_bytes(b"x").unwrap());
        let (first, last) = (sample("1", "l", out), sample("2", "l", out));
        for record in [&first, &last] {
            store.commit(record).unwrap();
        }
        store.remember(first.key).unwrap();
        assert_eq!(store.remembered("l"), None);
        store.remember(last.key).unwrap();
        assert_eq!(store.remembered("l"), Some(Remembered::of(&last)));
        fs::write(dir.path().join("torn"), "").unwrap();
        fs::rename(dir.path().join("torn"), store.layout.remembered("l")).unwrap();
        assert_eq!(store.remembered("l"), None);
    }
}
