//! The index: what every record says, in one file, so that a run that finds nothing to do opens no record file.
//!
//! The record files are the truth; the index only saves reading them. It carries the time stamps of the 256 record
//! directories. A directory whose stamps have not moved has had no record added, replaced or removed, whoever did
//! it; any other is listed again, and only records whose inode is new are read. A stamp is only kept when it was
//! already old by the store's clock, since a change within the same tick would leave it as it is. A record file edited in
//! place is not noticed here: reading the record, a paranoid lookup and `verify` do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::StoreError;
use super::layout::Layout;
use super::record_file::{self, Summary};
use super::session::Session;
use super::table::Table;
use crate::digest::{ActionKey, Digest};

/// Two changes closer together than this may carry the same time stamp (the kernel's tick is at most 10 ms).
pub(super) const TICK_NS: i64 = 20_000_000;

/// Modification and change time of a directory, nanoseconds since 1970; zero when there is none.
type Stamp = (i64, i64);

/// No directory has this stamp, so one remembered with it is always listed again.
const UNTRUSTED: Stamp = (i64::MIN, i64::MIN);

/// The index in memory.
#[derive(Debug)]
pub(super) struct Index {
    table: Table,
    shards: Vec<Stamp>,
    shards_changed: bool,
    /// Committed, but not yet moved to their place; see `pending`.
    pending: BTreeSet<ActionKey>,
    /// Order of the last commit known.
    last_committed: u64,
    /// Another number whenever a saved index has other entries than the one before; 0 when there is no file.
    generation: u64,
    /// Last record of each label, made when first asked for.
    labels: Option<BTreeMap<String, (u64, ActionKey)>>,
}

impl Index {
    /// Loads the file; an unusable one is an empty index, which [`Index::refresh`] fills.
    pub(super) fn load(layout: &Layout) -> Self {
        let table = Table::load(&layout.index(), "index 2");
        let mut shards: Vec<Stamp> = table
            .head()
            .chunks_exact(16)
            .map(|bytes| {
                let number = |at: usize| {
                    i64::from_le_bytes(bytes[at..at + 8].try_into().expect("16 bytes a shard"))
                };
                (number(0), number(8))
            })
            .collect();
        // The order of the last commit stands after the shards.
        let (last_committed, generation) = match shards.get(256) {
            Some(last) => (last.0.cast_unsigned(), last.1.cast_unsigned()),
            None => (0, 0),
        };
        shards.resize(256, UNTRUSTED);
        Self {
            table,
            shards,
            shards_changed: false,
            pending: BTreeSet::new(),
            last_committed,
            generation,
            labels: None,
        }
    }

    /// A number that stands for the set of records known, as long as it is the saved one: another process that loads
    /// the same number without finding anything new has the same records.
    pub(super) fn generation(&self) -> Option<u64> {
        let clean = self.generation != 0 && self.pending.is_empty() && !self.table.is_changed();
        clean.then_some(self.generation)
    }

    /// Whether a record is known.
    pub(super) fn has(&self, key: ActionKey) -> bool {
        self.table.get(key.digest().as_bytes()).is_some()
    }

    /// Brings the index up to what the record directories hold. `now_ns` is read before.
    pub(super) fn refresh(&mut self, layout: &Layout, now_ns: i64) -> Result<(), StoreError> {
        for shard in 0..=255_u8 {
            let dir = layout.record_shard(shard);
            let stamp = stamp_of(&dir)?;
            if stamp == self.shards[usize::from(shard)] {
                continue;
            }
            self.relist(layout, shard)?;
            let old = stamp.0.max(stamp.1).saturating_add(TICK_NS) < now_ns;
            let stamp = if old { stamp } else { UNTRUSTED };
            self.shards_changed |= stamp != self.shards[usize::from(shard)];
            self.shards[usize::from(shard)] = stamp;
        }
        Ok(())
    }

    fn relist(&mut self, layout: &Layout, shard: u8) -> Result<(), StoreError> {
        let dir = layout.record_shard(shard);
        let mut there = record_file::list(&dir).map_err(|e| StoreError::io("list", &dir, e))?;
        let mut gone = Vec::new();
        for (key, value) in self.table.from(&[shard]) {
            if key.first() != Some(&shard) {
                break;
            }
            let Some(key) = key_of(key) else { continue };
            let known = Summary::inode_in(value);
            let same = there.remove(&key) == known && known.is_some();
            if !same && !self.pending.contains(&key) {
                gone.push(key);
            }
        }
        for key in &gone {
            self.remove(*key);
        }
        // What is left is new; what was replaced was taken out of the list and is read as well.
        for key in there.into_keys().chain(gone) {
            if !self.pending.contains(&key)
                && let Some((_, summary)) = record_file::read(&layout.record(key), key)
            {
                self.set(key, &summary);
            }
        }
        Ok(())
    }

    /// Takes in the records of this boot that no flush has moved yet; says whether there are any.
    pub(super) fn adopt_pending(
        &mut self,
        layout: &Layout,
        boot: &str,
    ) -> Result<bool, StoreError> {
        let dir = layout.pending(boot);
        let there = record_file::list(&dir).map_err(|e| StoreError::io("list", &dir, e))?;
        for key in there.keys() {
            if let Some((_, summary)) = record_file::read(&layout.pending_record(boot, *key), *key)
            {
                self.set(*key, &summary);
                self.pending.insert(*key);
            }
        }
        Ok(!there.is_empty())
    }

    pub(super) fn get(&self, key: ActionKey) -> Option<Summary> {
        self.table.get(key.digest().as_bytes()).and_then(Summary::from_bytes)
    }

    /// The same without the label.
    pub(super) fn find(&self, key: ActionKey) -> Option<Summary> {
        self.table.get(key.digest().as_bytes()).and_then(Summary::without_label)
    }

    pub(super) fn set(&mut self, key: ActionKey, summary: &Summary) {
        self.last_committed = self.last_committed.max(summary.committed);
        self.table.set(key.digest().as_bytes(), &summary.to_bytes());
        if let Some(labels) = &mut self.labels {
            let last = labels.entry(summary.label.clone()).or_insert((0, key));
            *last = (*last).max((summary.committed, key));
        }
    }

    /// The same for a record that waits for a flush.
    pub(super) fn set_pending(&mut self, key: ActionKey, summary: &Summary) {
        self.set(key, summary);
        self.pending.insert(key);
    }

    pub(super) fn remove(&mut self, key: ActionKey) {
        self.table.remove(key.digest().as_bytes());
        self.pending.remove(&key);
        self.labels = None;
    }

    /// After a flush: what still waits.
    pub(super) fn set_waiting(&mut self, waiting: BTreeSet<ActionKey>) {
        self.pending = waiting;
    }

    /// The order of a commit made at this time.
    pub(super) fn next_committed(&self, now_ns: i64) -> u64 {
        u64::try_from(now_ns).unwrap_or(0).max(self.last_committed + 1)
    }

    /// The record last committed with a label.
    pub(super) fn latest(&mut self, label: &str) -> Option<ActionKey> {
        let table = &self.table;
        let labels = self.labels.get_or_insert_with(|| {
            let mut labels: BTreeMap<String, (u64, ActionKey)> = BTreeMap::new();
            for (key, value) in table.from(&[]) {
                if let (Some(key), Some((label, committed))) =
                    (key_of(key), Summary::label_in(value))
                {
                    let this = (committed, key);
                    match labels.get_mut(label) {
                        Some(last) => *last = (*last).max(this),
                        None => {
                            labels.insert(label.to_owned(), this);
                        }
                    }
                }
            }
            labels
        });
        labels.get(label).map(|(_, key)| *key)
    }

    /// All records known, in key order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (ActionKey, Summary)> {
        self.table
            .from(&[])
            .filter_map(|(key, value)| Some((key_of(key)?, Summary::from_bytes(value)?)))
    }

    /// Writes the file if there is anything new to say. Not while records wait: they may not survive a power loss,
    /// and the index must not say otherwise.
    pub(super) fn save(&mut self, layout: &Layout, session: &Session) -> Result<(), StoreError> {
        if !self.pending.is_empty() || !(self.table.is_changed() || self.shards_changed) {
            return Ok(());
        }
        // What other processes filed since is listed now; saved stamps never cover what was not seen.
        let now_ns = session.now_ns();
        self.refresh(layout, now_ns)?;
        if self.table.is_changed() || self.generation == 0 {
            self.generation = u64::try_from(now_ns).unwrap_or(0).max(self.generation + 1);
        }
        let mut head = Vec::with_capacity(257 * 16);
        for stamp in &self.shards {
            head.extend(stamp.0.to_le_bytes());
            head.extend(stamp.1.to_le_bytes());
        }
        head.extend(self.last_committed.to_le_bytes());
        head.extend(self.generation.to_le_bytes());
        self.table.save(session, &layout.index(), &head)?;
        self.shards_changed = false;
        Ok(())
    }
}

fn key_of(bytes: &[u8]) -> Option<ActionKey> {
    Some(ActionKey(Digest::from_bytes(bytes.try_into().ok()?)))
}

fn stamp_of(dir: &std::path::Path) -> Result<Stamp, StoreError> {
    let nanos =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    match fs::metadata(dir) {
        Ok(stat) => {
            Ok((nanos(stat.mtime(), stat.mtime_nsec()), nanos(stat.ctime(), stat.ctime_nsec())))
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((0, 0)),
        Err(e) => Err(StoreError::io("read", dir, e)),
    }
}
