//! The provenance chain of a record without a plan: from what its inputs were to the records that made them.
//!
//! Serves results of earlier sources, whose plan no longer exists. Reads every record of the store, so it is for one
//! question at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::CommandError;
use crate::cli::Exit;
use crate::digest::ActionKey;
use crate::outcome::Outcome;
use crate::record::Record;
use crate::store::Store;

/// The record of a key or of its beginning, if it is one: `None` for a text that cannot be a key.
///
/// # Errors
/// When several keys begin like this.
pub(super) fn by_key(store: &Store, text: &str) -> Result<Option<Record>, CommandError> {
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if text.len() < 8 || !text.chars().all(hex) {
        return Ok(None);
    }
    let fits: Vec<ActionKey> = store
        .records()
        .into_iter()
        .map(|(key, _)| key)
        .filter(|key| key.to_string().starts_with(text))
        .collect();
    match fits.as_slice() {
        [] => Ok(None),
        [one] => Ok(store.record(*one)?),
        many => {
            let text = format!("{} records have a key that begins with `{text}`", many.len());
            Err(CommandError::new(Exit::Usage, text).help("give more of it"))
        }
    }
}

/// All results that an action of this label ever had here, the latest start last.
///
/// # Errors
/// When a record cannot be read.
pub(super) fn results_of(store: &Store, label: &str) -> Result<Vec<Record>, CommandError> {
    let mut found = Vec::new();
    for (key, _) in store.records().into_iter().filter(|(_, l)| l == label) {
        found.extend(store.record(key)?);
    }
    found.sort_by(|a, b| a.provenance.started.cmp(&b.provenance.started));
    Ok(found)
}

/// The record and everything before it, each with its distance.
///
/// # Errors
/// When a record cannot be read.
pub(super) fn chain(store: &Store, from: Record) -> Result<Vec<(usize, Record)>, CommandError> {
    let mut made: BTreeMap<String, ActionKey> = BTreeMap::new();
    for (key, _) in store.records() {
        let Some(record) = store.record(key)? else { continue };
        for artifact in record.outputs.values() {
            made.insert(artifact.key_text(), key);
        }
        let (outputs, findings) = (record.outputs, record.findings);
        let document = Outcome::Done { outputs, findings, reused: true }.document();
        made.insert(format!("outcome {}", document.digest()), key);
    }
    let mut links = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(0, from)];
    while let Some((depth, record)) = open.pop() {
        if !seen.insert(record.key) {
            continue;
        }
        let inputs = record.ingredients.iter().filter(|(field, _)| field.starts_with("input "));
        let before: BTreeSet<ActionKey> =
            inputs.filter_map(|(_, value)| made.get(value)).copied().collect();
        for key in before.into_iter().rev() {
            open.extend(store.record(key)?.map(|record| (depth + 1, record)));
        }
        links.push((depth, record));
    }
    Ok(links)
}
