//! Lays the pages of a run out for people: copies of artifacts, rewritten only when they differ.
//!
//! Below the store's `pages/<system>/<pipeline>/`; a run of a selection has its pages in `<pipeline>-selection/`, so
//! that it never replaces a whole page by a part of one. `provenance.json` beside them maps every figure's document to the
//! key of the record behind it; it is written here and not by an action, because keys are not content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::session::Session;
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

/// Copies the page trees of a run to where people look; gives the path of the index.
///
/// # Errors
/// [`PageError`] when the store or the directory cannot be read or written.
pub fn lay_out(session: &Session, report: &Report) -> Result<Option<String>, PageError> {
    let root =
        session.store.root().join("pages").join(&session.system.name).join(if session.partial {
            format!("{}-selection", session.pipeline)
        } else {
            session.pipeline.to_string()
        });
    let mut index = None;
    for slot in &session.plan.pages {
        let Some(Outcome::Done { outputs, .. }) = &report.outcomes[slot.node.index()] else {
            continue;
        };
        for artifact in outputs.values() {
            if let Artifact::Tree(id) = artifact {
                let directory = root.join(&slot.directory);
                lay_out_tree(&session.store, *id, &directory)?;
                let html = directory.join("index.html");
                let page = if html.is_file() { html } else { directory.join("index.md") };
                if index.is_none() || slot.directory.is_empty() {
                    index = Some(page);
                }
            }
        }
    }
    if index.is_some() {
        let mut keys = BTreeMap::new();
        for &node in session.plan.order() {
            if let Some(key) = report.keys[node.index()] {
                keys.insert(session.plan.node(node).label.clone(), key.to_string());
            }
        }
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
