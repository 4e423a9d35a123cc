//! Binds planned actions to content and looks their keys up: shared by running, forecasting and explaining.
//!
//! Knows nothing of scheduling; reads files only through the store's stat cache.

use std::path::Path;
use std::sync::Arc;

use crate::action::{ActionSpec, Bound, BoundInput, NodeId, Source, text_id};
use crate::artifact::Artifact;
use crate::digest::Digest;
use crate::name::RelPath;
use crate::outcome::{Outcome, OutcomeDocument};
use crate::plan::Plan;
use crate::record::{Failure, FailureClass};
use crate::store::Store;
use crate::toolchain::Tools;

/// How the nodes of a plan ended so far.
#[derive(Debug)]
pub struct Settled {
    outcomes: Vec<Option<Outcome>>,
    documents: Vec<Option<(Arc<OutcomeDocument>, Digest)>>,
}

impl Settled {
    /// Nothing has ended yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { outcomes: vec![None; plan.len()], documents: vec![None; plan.len()] }
    }

    /// Takes over the results of an earlier run that the plan stands on.
    pub fn stand(&mut self, plan: &Plan) {
        for stand in &plan.standing {
            let (outputs, findings) = (stand.outputs.clone(), stand.findings.clone());
            self.set(stand.node, Some(Outcome::Done { outputs, findings, reused: true }));
        }
    }

    /// The outcome of a node that has ended.
    #[must_use]
    pub fn get(&self, node: NodeId) -> Option<&Outcome> {
        self.outcomes[node.index()].as_ref()
    }

    /// A node has ended (or, with `None`, must run again).
    pub fn set(&mut self, node: NodeId, outcome: Option<Outcome>) {
        self.documents[node.index()] = None;
        self.outcomes[node.index()] = outcome;
    }

    /// The document of a node that has ended, with its digest.
    pub fn document(&mut self, node: NodeId) -> Option<(Arc<OutcomeDocument>, Digest)> {
        let outcome = self.outcomes[node.index()].as_ref()?;
        let slot = &mut self.documents[node.index()];
        if slot.is_none() {
            let document = outcome.document();
            let digest = document.digest();
            *slot = Some((Arc::new(document), digest));
        }
        slot.clone()
    }

    /// All outcomes, by node.
    #[must_use]
    pub fn into_outcomes(self) -> Vec<Option<Outcome>> {
        self.outcomes
    }
}

/// Whether a node whose dependencies have ended can be bound.
#[derive(Debug)]
pub enum Bindable {
    /// A fallback that is not needed.
    Skipped,
    /// Something it requires has no result; the label of the nearest culprit.
    Blocked(String),
    /// Every source has content.
    Yes,
}

/// Decides from the ends of its dependencies whether a node can be bound.
#[must_use]
pub fn bindable(plan: &Plan, node: NodeId, settled: &Settled) -> Bindable {
    let spec = plan.node(node);
    let good = |id: &NodeId| {
        settled.get(*id).is_some_and(|o| o.is_good() || matches!(o, Outcome::Skipped))
    };
    if !spec.unless_good.is_empty() && spec.unless_good.iter().all(good) {
        return Bindable::Skipped;
    }
    for source in spec.inputs.values() {
        let Source::From(from, output) = source else { continue };
        match settled.get(*from) {
            Some(outcome) if outcome.output(output).is_some() => {}
            Some(Outcome::Blocked { by }) => return Bindable::Blocked(by.clone()),
            _ => return Bindable::Blocked(plan.node(*from).label.clone()),
        }
    }
    Bindable::Yes
}

/// Binds a node whose dependencies have ended.
///
/// # Errors
/// A failure that names the file, tool or output without content.
pub fn bind<'p>(
    spec: &'p ActionSpec,
    settled: &mut Settled,
    store: &Store,
    workspace: &Path,
    tools: &Tools,
) -> Result<Bound<'p>, Failure> {
    for tool in &spec.tools {
        if let Err(error) = tools.require(tool) {
            return Err(Failure::new(FailureClass::Refused, error.to_string()));
        }
    }
    let mut unreadable = None;
    let mut content = |path: &RelPath, source: &Source| match source {
        Source::File(file) => match store.digest_file(&file.under(workspace)) {
            Ok((id, _)) => Some(BoundInput::Artifact(Artifact::Blob(id))),
            Err(error) => {
                unreadable = Some(format!("`{file}` (input `{path}`): {error}"));
                None
            }
        },
        Source::Text(text) => Some(BoundInput::Artifact(Artifact::Blob(text_id(text)))),
        Source::Packed { blob, .. } => Some(BoundInput::Artifact(Artifact::Blob(*blob))),
        Source::From(node, output) => {
            settled.get(*node).and_then(|o| o.output(output)).map(BoundInput::Artifact)
        }
        Source::Outcome(node) => {
            settled.document(*node).map(|(_, digest)| BoundInput::Outcome(digest))
        }
    };
    let bound = Bound::bind(spec, &mut content, |tool| tools.get(tool).map(|t| t.identity.digest));
    bound.map_err(|error| {
        Failure::new(FailureClass::Refused, unreadable.unwrap_or_else(|| error.to_string()))
    })
}
