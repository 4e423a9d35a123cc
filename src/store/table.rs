//! A sorted table in one checksummed file, with this process's changes on top.
//!
//! Loading reads the file and hashes it; nothing is parsed and nothing allocated per entry, a lookup is a binary
//! search in the bytes. That is what lets a no-op over 100,000 actions start in milliseconds. A file that is missing,
//! cut or altered is an empty table: whoever uses one can make its content again.
//!
//! Layout: magic (32 bytes), BLAKE3 of the rest (32), length of the head, number of entries, the head, the offset of each
//! entry from the start of the file, the entries (key length, key, value length, value). Integers are little-endian;
//! lengths of keys and values have 4 bytes, all others 8.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::StoreError;
use super::session::Session;
use crate::digest::Digest;

const MAGIC: usize = 32;
const START: usize = MAGIC + 32;

/// The table. Entries of the file are sorted by key.
#[derive(Debug, Default)]
pub(super) struct Table {
    magic: [u8; MAGIC],
    file: Vec<u8>,
    head: (usize, usize),
    offsets: usize,
    count: usize,
    /// `None`: removed.
    changes: BTreeMap<Box<[u8]>, Option<Box<[u8]>>>,
}

impl Table {
    /// Loads a table of a kind, whose name carries its version.
    pub(super) fn load(path: &Path, kind: &str) -> Self {
        let mut magic = [0; MAGIC];
        let text = format!("ngcc table 1 {kind}\n");
        magic[..text.len()].copy_from_slice(text.as_bytes());
        let empty = Self { magic, ..Self::default() };
        fs::read(path).ok().and_then(|file| Self::open(magic, file)).unwrap_or(empty)
    }

    fn open(magic: [u8; MAGIC], file: Vec<u8>) -> Option<Self> {
        if file.get(..MAGIC)? != magic {
            return None;
        }
        if file.get(MAGIC..START)? != Digest::of(file.get(START..)?).as_bytes() {
            return None;
        }
        let head = usize::try_from(u64_at(&file, START)?).ok()?;
        let count = usize::try_from(u64_at(&file, START + 8)?).ok()?;
        let head = (START + 16, (START + 16).checked_add(head)?);
        let offsets = head.1;
        file.get(offsets..offsets.checked_add(count.checked_mul(8)?)?)?;
        Some(Self { magic, file, head, offsets, count, changes: BTreeMap::new() })
    }

    /// The head as it was last saved; empty when there was no file.
    pub(super) fn head(&self) -> &[u8] {
        self.file.get(self.head.0..self.head.1).unwrap_or_default()
    }

    /// Whether there is something to save.
    pub(super) fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The value under a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        if !self.changes.is_empty()
            && let Some(change) = self.changes.get(key)
        {
            return change.as_deref();
        }
        let at = self.lower_bound(key);
        self.entry(at).and_then(|(found, value)| (found == key).then_some(value))
    }

    /// Forgets everything; the file stays until the next save.
    pub(super) fn clear(&mut self) {
        *self = Self { magic: self.magic, ..Self::default() };
    }

    pub(super) fn set(&mut self, key: &[u8], value: &[u8]) {
        self.changes.insert(key.into(), Some(value.into()));
    }

    pub(super) fn remove(&mut self, key: &[u8]) {
        if self.get(key).is_some() {
            self.changes.insert(key.into(), None);
        }
    }

    /// Entries from a key on, in key order.
    pub(super) fn from<'t>(
        &'t self,
        first: &[u8],
    ) -> impl Iterator<Item = (&'t [u8], &'t [u8])> + use<'t> {
        let mut filed =
            (self.lower_bound(first)..self.count).map_while(|n| self.entry(n)).peekable();
        let bounds = (std::ops::Bound::Included(first), std::ops::Bound::Unbounded);
        let mut changed = self.changes.range::<[u8], _>(bounds).peekable();
        std::iter::from_fn(move || {
            loop {
                let Some((key, change)) = changed.peek() else { return filed.next() };
                match filed.peek() {
                    Some((other, _)) if *other < &***key => return filed.next(),
                    Some((other, _)) if *other == &***key => {
                        filed.next();
                    }
                    _ => {}
                }
                let found = change.as_deref().map(|value| (&***key, value));
                changed.next();
                if found.is_some() {
                    return found;
                }
            }
        })
    }

    /// Writes all entries with a new head, and goes on from the new file.
    ///
    /// The file is not synced: a torn one does not match its checksum and is made again.
    pub(super) fn save(
        &mut self,
        session: &Session,
        path: &Path,
        head: &[u8],
    ) -> Result<(), StoreError> {
        let mut offsets = Vec::new();
        let mut body = Vec::with_capacity(self.file.len());
        for (key, value) in self.from(&[]) {
            offsets.push(body.len() as u64);
            for part in [key, value] {
                let len = u32::try_from(part.len()).expect("a key or value is far below 4 GiB");
                body.extend(len.to_le_bytes());
                body.extend(part);
            }
        }
        let start = (START + 16 + head.len() + 8 * offsets.len()) as u64;
        let mut file = Vec::with_capacity(body.len() + 8 * offsets.len() + head.len() + START + 16);
        file.extend(self.magic);
        file.extend([0; 32]);
        file.extend((head.len() as u64).to_le_bytes());
        file.extend((offsets.len() as u64).to_le_bytes());
        file.extend(head);
        for offset in offsets {
            file.extend((start + offset).to_le_bytes());
        }
        file.append(&mut body);
        let checksum = Digest::of(&file[START..]);
        file[MAGIC..START].copy_from_slice(checksum.as_bytes());
        session.place(&file, path)?;
        *self = Self::open(self.magic, file).expect("what was just written is well formed");
        Ok(())
    }

    /// The number of the first entry of the file whose key is not below the given one.
    fn lower_bound(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle).is_some_and(|(found, _)| found < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn entry(&self, n: usize) -> Option<(&[u8], &[u8])> {
        if n >= self.count {
            return None;
        }
        let at = usize::try_from(u64_at(&self.file, self.offsets + 8 * n)?).ok()?;
        let (key, rest) = framed(self.file.get(at..)?)?;
        let (value, _) = framed(rest)?;
        Some((key, value))
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Splits off a byte string that is preceded by its length in 4 bytes.
pub(super) fn framed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::layout::Layout;

    fn space() -> (tempfile::TempDir, Session) {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::begin(&Layout::create(dir.path()).unwrap()).unwrap();
        (dir, session)
    }

    fn entries(table: &Table, from: &str) -> Vec<String> {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        table.from(from.as_bytes()).map(|(k, v)| format!("{}={}", text(k), text(v))).collect()
    }

    #[test]
    fn changes_lie_over_the_file_until_they_are_saved() {
        let (dir, session) = space();
        let path = dir.path().join("table");
        let mut table = Table::load(&path, "test");
        for key in ["d", "b"] {
            table.set(key.as_bytes(), b"1");
        }
        table.save(&session, &path, b"head").unwrap();
        let mut table = Table::load(&path, "test");
        assert_eq!((table.head(), table.is_changed()), (&b"head"[..], false));
        assert_eq!(entries(&table, ""), ["b=1", "d=1"]);
        table.set(b"a", b"2");
        table.set(b"d", b"2");
        table.set(b"e", b"2");
        table.remove(b"b");
        table.remove(b"never there");
        assert_eq!(entries(&table, ""), ["a=2", "d=2", "e=2"]);
        assert_eq!(entries(&table, "b"), ["d=2", "e=2"]);
        assert_eq!(
            (table.get(b"b"), table.get(b"d"), table.get(b"z")),
            (None, Some(&b"2"[..]), None)
        );
        table.save(&session, &path, b"").unwrap();
        assert_eq!(entries(&Table::load(&path, "test"), ""), ["a=2", "d=2", "e=2"]);
        assert!(entries(&Table::load(&path, "other"), "").is_empty());
    }

    #[test]
    fn a_file_that_is_cut_or_altered_anywhere_is_an_empty_table() {
        let (dir, session) = space();
        let path = dir.path().join("table");
        let mut table = Table::load(&path, "test");
        table.set(b"key", b"value");
        table.save(&session, &path, b"head").unwrap();
        let good = fs::read(&path).unwrap();
        let spoiled = dir.path().join("spoiled");
        for at in 0..good.len() {
            fs::write(&spoiled, &good[..at]).unwrap();
            assert!(entries(&Table::load(&spoiled, "test"), "").is_empty(), "cut at {at}");
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&spoiled, bad).unwrap();
            assert!(entries(&Table::load(&spoiled, "test"), "").is_empty(), "altered at {at}");
        }
    }
}
