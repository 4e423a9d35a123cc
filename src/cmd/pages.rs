//! Lays the pages of a run out for people: copies of artifacts, rewritten only when they differ.
//!
//! Below the store's `pages/<system>/<pipeline>/`; a run of a selection has its pages in `<pipeline>-selection/`, so
//! that it never replaces a whole page by a part of one. `provenance.json` beside them maps every figure's document to the
//! key of the record behind it; it is written here and not by an action, because keys are not content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::session::Session;
use super::standing::Standing;
use crate::artifact::{Artifact, Entry};
use crate::exec::run::Report;
use crate::outcome::Outcome;
use crate::store::{Store, StoreError};

/// Why pages could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The store.
    #[error("pages: {0}")]
    Store(#[from] StoreError),
    /// The directory.
    #[error("pages: `{path}`: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
}

/// Where the pages of a pipeline are.
#[must_use]
pub fn root(store: &Store, system: &str, pipeline: &str, partial: bool) -> PathBuf {
    let name = if partial { format!("{pipeline}-selection") } else { pipeline.to_owned() };
    store.root().join("pages").join(system).join(name)
}

/// Copies the page trees of a run to where people look; gives the path of the index.
///
/// # Errors
/// [`PageError`] when the store or the directory cannot be read or written.
pub fn lay_out(session: &Session, report: &Report) -> Result<Option<String>, PageError> {
    let Session { store, plan, standing, .. } = session;
    let root = root(store, &session.system.name, session.pipeline.as_str(), session.partial);
    let mut slots: Vec<(String, Artifact)> = Vec::new();
    for page in standing.iter().flat_map(Standing::pages) {
        slots.extend(page.outputs.values().map(|a| (page.directory.clone(), *a)));
    }
    for slot in &plan.pages {
        if let Some(Outcome::Done { outputs, .. }) = &report.outcomes[slot.node.index()] {
            slots.extend(outputs.values().map(|a| (slot.directory.clone(), *a)));
        }
    }
    let planned = plan.order().iter().filter_map(|node| {
        Some((plan.node(*node).label.clone(), report.keys[node.index()]?.to_string()))
    });
    let keys = planned.chain(standing.iter().flat_map(keys_of));
    place(store, &root, &slots, keys)
}

/// The same when all stands as a former run left it.
///
/// # Errors
/// As [`lay_out`].
pub fn lay_out_standing(
    store: &Store,
    root: &Path,
    standing: &Standing,
) -> Result<Option<String>, PageError> {
    let mut slots: Vec<(String, Artifact)> = Vec::new();
    for page in standing.pages() {
        slots.extend(page.outputs.values().map(|a| (page.directory.clone(), *a)));
    }
    place(store, root, &slots, keys_of(standing))
}

fn keys_of(standing: &Standing) -> impl Iterator<Item = (String, String)> {
    standing.nodes().filter_map(|(_, label, key)| Some((label.to_owned(), key?.to_string())))
}

fn place(
    store: &Store,
    root: &Path,
    slots: &[(String, Artifact)],
    keys: impl Iterator<Item = (String, String)>,
) -> Result<Option<String>, PageError> {
    let mut index = None;
    for (slot, artifact) in slots {
        if let Artifact::Tree(id) = artifact {
            let directory = root.join(slot);
            lay_out_tree(store, *id, &directory)?;
            let html = directory.join("index.html");
            let page = if html.is_file() { html } else { directory.join("index.md") };
            if index.is_none() || slot.is_empty() {
                index = Some(page);
            }
        }
    }
    if index.is_some() {
        let keys: BTreeMap<String, String> = keys.collect();
        let mut text = serde_json::to_vec_pretty(&keys).unwrap_or_default();
        text.push(b'\n');
        write_if_different(&root.join("provenance.json"), &text)?;
    }
    Ok(index.map(|path| path.display().to_string()))
}

fn lay_out_tree(store: &Store, id: crate::digest::TreeId, to: &Path) -> Result<(), PageError> {
    for (path, entry) in store.read_tree(id)?.0 {
        if let Entry::File { blob, len, .. } = entry {
            let file = path.under(to);
            // An unchanged copy is recognised by its digest; the stat cache makes that one stat.
            let same = file.metadata().is_ok_and(|m| m.len() == len)
                && store.digest_file(&file).is_ok_and(|(id, _)| id == blob);
            if !same {
                write_if_different(&file, &store.read_blob(blob)?)?;
            }
        }
    }
    Ok(())
}

fn write_if_different(path: &Path, bytes: &[u8]) -> Result<(), PageError> {
    let io = |source| PageError::Io { path: path.to_owned(), source };
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(io)?;
    }
    let fresh = path.with_extension("new");
    std::fs::write(&fresh, bytes).map_err(io)?;
    std::fs::rename(&fresh, path).map_err(io)
}
