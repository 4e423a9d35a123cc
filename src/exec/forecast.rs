//! What a run would do, without doing it: the same binding and the same lookups, nothing else.
//!
//! A node whose inputs are known has a key, so it is a hit or would run; a node behind one that would run is `after`
//! it, because an equal result would stop the rerun there.

use std::path::Path;

use super::bind::{self, Bindable, Settled};
use crate::action::{NodeId, Source};
use crate::digest::ActionKey;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::store::{Store, StoreError};
use crate::toolchain::Tools;

/// What a run would do with one node.
#[derive(Debug, Clone, PartialEq)]
pub enum Forecast {
    /// Its result is in the store.
    Hit(ActionKey),
    /// It would run.
    Run(ActionKey),
    /// It waits for a node that would run; an equal result there makes this one a hit.
    After(NodeId),
    /// A fallback that is not needed.
    Skipped,
    /// Something it needs cannot be had.
    Blocked(String),
}

/// Forecasts every node of a plan; also gives what has settled, for explaining.
///
/// # Errors
/// A store that cannot be read.
pub fn forecast(
    plan: &Plan,
    store: &Store,
    workspace: &Path,
    tools: &Tools,
) -> Result<(Vec<Forecast>, Settled), StoreError> {
    let mut settled = Settled::new(plan);
    let mut all: Vec<Option<Forecast>> = vec![None; plan.len()];
    settled.stand(plan);
    for stand in &plan.standing {
        all[stand.node.index()] = Some(Forecast::Hit(stand.key));
    }
    for &node in plan.order() {
        if all[node.index()].is_some() {
            continue;
        }
        let spec = plan.node(node);
        let open = spec.waits_for().find(|n| settled.get(*n).is_none());
        let forecast = if let Some(open) = open {
            let root = match &all[open.index()] {
                Some(Forecast::After(root)) => *root,
                _ => open,
            };
            Forecast::After(root)
        } else {
            match bind::bindable(plan, node, &settled) {
                Bindable::Skipped => {
                    settled.set(node, Some(Outcome::Skipped));
                    Forecast::Skipped
                }
                Bindable::Blocked(by) => {
                    settled.set(node, Some(Outcome::Blocked { by: by.clone() }));
                    Forecast::Blocked(format!("`{by}` has no result"))
                }
                Bindable::Yes => match bind::bind(spec, &mut settled, store, workspace, tools) {
                    Err(failure) => {
                        let text = failure.message.clone();
                        settled.set(node, Some(Outcome::Failed(failure)));
                        Forecast::Blocked(text)
                    }
                    Ok(bound) => {
                        let key = bound.key();
                        match store.lookup(key)? {
                            None => Forecast::Run(key),
                            Some(hit) => {
                                let findings = if hit.findings == 0 {
                                    Vec::new()
                                } else {
                                    store.record(key)?.map(|r| r.findings).unwrap_or_default()
                                };
                                let outputs = hit.outputs.into_iter().collect();
                                let outcome = Outcome::Done { outputs, findings, reused: true };
                                settled.set(node, Some(outcome));
                                Forecast::Hit(key)
                            }
                        }
                    }
                },
            }
        };
        all[node.index()] = Some(forecast);
    }
    let all = all.into_iter().map(|f| f.unwrap_or(Forecast::Skipped)).collect();
    Ok((all, settled))
}

/// The node behind an input, for messages.
#[must_use]
pub fn producer(plan: &Plan, source: &Source) -> Option<String> {
    source.node().map(|node| plan.node(node).label.clone())
}
