//! How one node of a run ended, and the document of it that later actions see.
//!
//! The document holds what is a function of the node's key (outputs by digest, findings, the class of a failure),
//! never times, logs or whether the result was reused: so a rebuilt but equal result leaves later keys alone.

use std::collections::BTreeMap;

use crate::artifact::Artifact;
use crate::digest::Digest;
use crate::record::{Failure, FailureClass, Finding};

/// How a node ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It has a result, new or reused.
    Done {
        /// Named outputs.
        outputs: BTreeMap<String, Artifact>,
        /// What somebody must look at.
        findings: Vec<Finding>,
        /// Taken from the store.
        reused: bool,
    },
    /// It ran (or could not start) and has no result.
    Failed(Failure),
    /// Something it needs has no result.
    Blocked {
        /// Label of the nearest node that failed.
        by: String,
    },
    /// A fallback that was not needed.
    Skipped,
}

/// The canonical document of an outcome.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OutcomeDocument {
    /// `done`, `failed`, `blocked` or `skipped`.
    pub status: String,
    /// Outputs of a node that is done.
    #[serde(default)]
    pub outputs: BTreeMap<String, Artifact>,
    /// Findings of a node that is done.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Class of a failure.
    #[serde(default)]
    pub class: Option<FailureClass>,
    /// Message of a failure, or the label that blocks.
    #[serde(default)]
    pub message: String,
}

impl Outcome {
    /// Done, and nothing to look at.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Done { findings, .. } if findings.is_empty())
    }

    /// The named output, if there is one.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<Artifact> {
        match self {
            Self::Done { outputs, .. } => outputs.get(name).copied(),
            Self::Failed(_) | Self::Blocked { .. } | Self::Skipped => None,
        }
    }

    /// The document later actions see.
    #[must_use]
    pub fn document(&self) -> OutcomeDocument {
        let empty = |status: &str| OutcomeDocument {
            status: status.to_owned(),
            outputs: BTreeMap::new(),
            findings: Vec::new(),
            class: None,
            message: String::new(),
        };
        match self {
            Self::Done { outputs, findings, .. } => OutcomeDocument {
                outputs: outputs.clone(),
                findings: findings.clone(),
                ..empty("done")
            },
            Self::Failed(failure) => OutcomeDocument {
                class: Some(failure.class),
                message: failure.message.clone(),
                ..empty("failed")
            },
            Self::Blocked { by } => OutcomeDocument { message: by.clone(), ..empty("blocked") },
            Self::Skipped => empty("skipped"),
        }
    }
}

impl OutcomeDocument {
    /// The digest that enters keys.
    ///
    /// # Panics
    /// Never: the document always serialises.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let text = serde_json::to_vec(self).expect("strings and digests always serialise");
        Digest::of(&text)
    }

    /// Whether the node has a result.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.status == "done"
    }

    /// Why there is no result, for people.
    #[must_use]
    pub fn reason(&self) -> String {
        match self.status.as_str() {
            "failed" => {
                let word = self.class.map_or("failed", FailureClass::word);
                format!("{word}: {}", self.message)
            }
            "blocked" => format!("not run: `{}` has no result", self.message),
            other => other.to_owned(),
        }
    }
}
