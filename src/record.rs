//! The record: what running an action produced, with its provenance. One JSON file per key in the store.
//!
//! Readers accept a newer minor version and refuse another major one. Failures have their own type here but never
//! become records: they live in the run log only.

use std::collections::BTreeMap;

use crate::artifact::Artifact;
use crate::digest::{ActionKey, BlobId, Digest};

/// Major version of the record format; another major version is not read.
pub const RECORD_FORMAT: u32 = 1;

/// What running an action produced.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// [`RECORD_FORMAT`] of the writer.
    pub format: u32,
    /// The key it is filed under.
    pub key: ActionKey,
    /// Where the action stood, e.g. `kem-18/independent/Loong128/timing/keygen`. Not part of the key.
    pub label: String,
    /// Named outputs.
    pub outputs: BTreeMap<String, Artifact>,
    /// What is wrong with the measured thing (not with the run); empty when all is well.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The key's fields in words, in encoding order: what `ngcc why` compares.
    pub ingredients: Vec<(String, String)>,
    /// How, where and when it ran.
    pub provenance: Provenance,
    /// Wall times and other figures that are no function of the inputs; never read by later actions.
    #[serde(default)]
    pub observed: serde_json::Value,
}

impl Record {
    /// Whether it is a sample, which nothing makes again, and not a function of its inputs.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.ingredients.iter().any(|(field, value)| field == "purity" && value == "measured")
    }
}

/// A fact about the measured thing that somebody must look at: a KAT that differs, a size that disagrees.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// A short stable code, e.g. `kat-mismatch`.
    pub code: String,
    /// One sentence with the place.
    pub message: String,
}

/// How, where and when an action ran. Nothing here is part of the key unless the key names it itself.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Provenance {
    /// Version of the program.
    pub ngcc: String,
    /// Host facts by name (`cpu_model`, `kernel`, ...).
    pub host: BTreeMap<String, String>,
    /// The tools used: name to identity.
    pub tools: BTreeMap<String, ToolIdentity>,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339.
    pub ended: String,
    /// Start on the monotonic clock of this boot, nanoseconds; with `wall_ns` shows what ran beside what.
    pub started_ns: u64,
    /// Wall time in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the children, nanoseconds.
    pub cpu_ns: u64,
    /// Largest resident set of a child in bytes, as the kernel reports it.
    pub max_rss_bytes: u64,
    /// The commands that ran, with symbolic paths.
    pub commands: Vec<Vec<String>>,
    /// The log, when there was output.
    pub log: Option<BlobId>,
    /// Limits in force, and by which means (`rlimit`, `cgroup v1`, ...).
    pub limits: BTreeMap<String, String>,
    /// Source files behind the inputs, with their digests: a path in the workspace, or `package:path`.
    #[serde(default)]
    pub sources: BTreeMap<String, Digest>,
    /// The packages that such files are from: name to the SHA-256 of the archive.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, String>,
}

/// What a tool was, by content. The path is not recorded: it differs between machines and says nothing.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolIdentity {
    /// First line of its version text.
    pub version: String,
    /// Digest over the program file.
    pub digest: Digest,
}

/// How an action came to no result. Never cached.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    /// Which way it ended.
    pub class: FailureClass,
    /// One sentence for people, with what to do.
    pub message: String,
    /// The log, when there is one.
    pub log: Option<BlobId>,
}

/// The ways an action ends without a result.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// Non-zero exit status.
    Exit,
    /// Ended by a signal of its own making (a crash).
    Signal,
    /// Ended by us at the time limit.
    Timeout,
    /// Ended at the memory limit.
    Memory,
    /// A declared output is not there, or an undeclared shape of one.
    Output,
    /// The program could not be started.
    Spawn,
    /// An input changed while the action ran.
    InputChanged,
    /// Interrupted by the user.
    Interrupted,
    /// The store could not take the result (disk full).
    Store,
    /// A precondition does not hold (missing tool, missing header).
    Refused,
}

impl FailureClass {
    /// The word used in tables and logs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exit => "failed",
            Self::Signal => "crashed",
            Self::Timeout => "timed out",
            Self::Memory => "out of memory",
            Self::Output => "no output",
            Self::Spawn => "not started",
            Self::InputChanged => "input changed",
            Self::Interrupted => "interrupted",
            Self::Store => "store failed",
            Self::Refused => "refused",
        }
    }
}

impl Failure {
    /// A failure without a log.
    #[must_use]
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), log: None }
    }
}
