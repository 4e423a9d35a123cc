//! What keeps results from collection, gathered for `store gc` and shown by `store stat`.
//!
//! Runs of every workspace that shares the store count, each pipeline of each by itself; so do the pages that are laid out
//! and the bundles in `published/`, by the keys in their `provenance.json`, and every measurement: an earlier round cannot
//! be made again. What cannot be read is an error and not an empty list, because guessing would remove results.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::CommandError;
use crate::cli::Exit;
use crate::digest::ActionKey;
use crate::name::Name;
use crate::store::{GcRoots, Kept, Store};

/// The roots by kind.
#[derive(Debug, serde::Serialize)]
pub(super) struct Roots {
    /// Run to why it is kept.
    runs: BTreeMap<Name, Kept>,
    /// Names of runs.
    names: BTreeMap<Name, Name>,
    /// The last runs of each workspace and pipeline.
    last: Vec<Last>,
    /// Directory with pages to the number of results they cite.
    pages: BTreeMap<String, usize>,
    /// Measurements.
    measured: usize,
    /// Archives, packages and texts with an outside name.
    references: usize,
    #[serde(skip)]
    keys: BTreeSet<ActionKey>,
}

/// Runs of one workspace and pipeline that are kept because they are its last.
#[derive(Debug, serde::Serialize)]
struct Last {
    workspace: String,
    pipeline: String,
    runs: usize,
}

impl Roots {
    /// Gathers them; of each workspace and pipeline the last `keep_runs` runs count.
    ///
    /// # Errors
    /// A store or a `provenance.json` that cannot be read.
    pub(super) fn of(store: &Store, keep_runs: usize) -> Result<Self, CommandError> {
        let runs = store.runs_to_keep(keep_runs)?;
        let mut last: BTreeMap<(String, String), usize> = BTreeMap::new();
        for id in runs.iter().filter(|(_, why)| **why == Kept::Last).map(|(id, _)| id) {
            let Some(run) = store.run(id)? else { continue };
            let workspace = run.start.workspace.map(|w| w.path.unwrap_or(w.id));
            let workspace = workspace.unwrap_or_else(|| "of an earlier version".into());
            *last.entry((workspace, run.start.pipeline)).or_insert(0) += 1;
        }
        let mut keys = BTreeSet::new();
        for (key, _) in store.records() {
            if store.record(key)?.is_some_and(|record| record.is_measured()) {
                keys.insert(key);
            }
        }
        let measured = keys.len();
        let pages = pages(store)?;
        let counts = pages.iter().map(|(path, cited)| (path.clone(), cited.len())).collect();
        keys.extend(pages.into_values().flatten());
        let last = last
            .into_iter()
            .map(|((workspace, pipeline), runs)| Last { workspace, pipeline, runs })
            .collect();
        Ok(Self {
            names: store.named_runs()?,
            references: store.references()?.len(),
            runs,
            last,
            pages: counts,
            measured,
            keys,
        })
    }

    /// As the store takes them.
    pub(super) fn for_collection(&self) -> GcRoots {
        GcRoots {
            runs: self.runs.keys().cloned().collect(),
            keys: self.keys.clone(),
            ..GcRoots::default()
        }
    }

    /// A line each, for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::from("kept from collection:\n");
        for (name, id) in &self.names {
            let _ = writeln!(text, "  run {id}, named `{name}`");
        }
        for Last { workspace, pipeline, runs } in &self.last {
            let _ =
                writeln!(text, "  the last {runs} runs of `{pipeline}` in workspace {workspace}");
        }
        for (id, _) in self.runs.iter().filter(|(_, why)| **why == Kept::Open) {
            let _ = writeln!(text, "  run {id}, which has not ended");
        }
        for (path, count) in &self.pages {
            let _ = writeln!(text, "  {count} results behind {path}");
        }
        let _ = writeln!(
            text,
            "  {} measurements, {} archives and texts",
            self.measured, self.references
        );
        text
    }
}

/// Directories of the store with a `provenance.json`, pages and published bundles, and the keys in it.
///
/// # Errors
/// When a directory or such a file cannot be read.
pub(super) fn pages(store: &Store) -> Result<BTreeMap<String, BTreeSet<ActionKey>>, CommandError> {
    let mut found = BTreeMap::new();
    for part in ["pages", "published"] {
        let top = store.root().join(part);
        if !top.is_dir() {
            continue;
        }
        for entry in walkdir::WalkDir::new(&top).sort_by_file_name() {
            let entry = entry.map_err(std::io::Error::from)?;
            if entry.file_name() != "provenance.json" || !entry.file_type().is_file() {
                continue;
            }
            let path = entry.path();
            let bytes = std::fs::read(path)?;
            let keys: BTreeMap<String, ActionKey> =
                serde_json::from_slice(&bytes).map_err(|error| {
                    let text = format!("`{}` cannot be read: {error}", path.display());
                    CommandError::new(Exit::Store, text)
                        .help("run the pipeline again, or remove its pages")
                })?;
            let directory = path.parent().unwrap_or(path);
            let directory = directory.strip_prefix(store.root()).unwrap_or(directory);
            found.insert(directory.display().to_string(), keys.into_values().collect());
        }
    }
    Ok(found)
}
