//! Everything a page may know, as plain data.
//!
//! Whoever reads the store fills this in; the page follows from it and from nothing else, so that it can be rendered
//! again anywhere and compared byte by byte. Links are relative to the page's directory. Holds no judgement and no text
//! for people beyond what the manifest or a failure says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::result::{Choice, Kat, Profile, Sizes, Timing};

/// What one submission's page on one system is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageInput {
    /// What was measured.
    pub submission: SubmissionInput,
    /// Where.
    pub system: SystemInput,
    /// Host facts for the header, by name (`cpu_model`, `kernel`, ...). When empty, those of the first timing count.
    pub environment: BTreeMap<String, String>,
    /// When.
    pub campaign: CampaignInput,
    /// Whether the interval of the median is printed where a plan has at least 6 trials.
    pub intervals: bool,
    /// The implementations measured, with at least one instance each.
    pub implementations: Vec<ImplementationInput>,
    /// What somebody must look at, in the order to print.
    pub findings: Vec<FindingInput>,
    /// Pages of the same submission on other systems.
    pub other_systems: Vec<Link>,
    /// The page that lists all submissions of the run, if there is one.
    pub index_href: Option<String>,
}

/// A text with a place to go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What is shown.
    pub text: String,
    /// Where it leads.
    pub href: String,
}

/// The submission, as its manifest says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmissionInput {
    /// `kem-18`.
    pub id: String,
    /// `LoongKEM`.
    pub name: String,
    /// What it computes.
    pub function: Function,
    /// Its official page.
    pub page_url: Option<String>,
    /// Licence of its source.
    pub licence: Option<String>,
    /// What the survey of symmetric primitives found; none when it was not surveyed.
    pub survey: Option<SurveyInput>,
}

/// What a submission computes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// Key encapsulation mechanism.
    Kem,
    /// Digital signature.
    Signature,
    /// Key exchange.
    KeyExchange,
    /// Cryptographic hash.
    Hash,
}

/// The survey's entry for a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurveyInput {
    /// `ICCS-only`, `bypass`, `mixed`, ...
    pub verdict: String,
    /// Why; may be empty.
    pub notes: String,
}

/// The bench machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemInput {
    /// `x86_1`.
    pub id: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// One line about it; may be empty.
    pub description: String,
}

/// When the data set was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignInput {
    /// Start of the first record used, UTC, RFC 3339; may be empty.
    pub started_utc: String,
    /// End of the last record used.
    pub ended_utc: String,
}

/// One implementation with its instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImplementationInput {
    /// The manifest's word for it: `reference`, `independent`, `pqclean`.
    pub name: String,
    /// Its instances; the page sorts them.
    pub instances: Vec<InstanceInput>,
}

/// One parameter set with all that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceInput {
    /// `Loong128`.
    pub name: String,
    /// Which build is measured.
    pub choice: Outcome<Choice>,
    /// What the known-answer test gave.
    pub kat: Outcome<Kat>,
    /// What the manifest says about findings to expect here, one sentence each.
    pub expected: Vec<String>,
    /// Timing by operation.
    pub timing: BTreeMap<String, Outcome<Timing>>,
    /// Profile by operation.
    pub profile: BTreeMap<String, Outcome<Profile>>,
    /// Static sizes of the library, with the API's and the catalogue's sizes.
    pub sizes: Outcome<Sizes>,
    /// What the catalogue sizes mean (`encoded`, `maximum-variable`, `nominal-variable`); empty when not said.
    pub catalogue_basis: String,
}

/// A result with its evidence, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum Outcome<T> {
    /// There is a result.
    Done {
        /// It.
        result: T,
        /// The record it comes from, e.g. `records/reference/Loong128__timing_keygen.json`; may be empty.
        record: String,
    },
    /// The action ended without one.
    Failed {
        /// One or two words for a table cell: `failed`, `timed out`, `crashed`.
        word: String,
        /// One sentence.
        reason: String,
        /// The log, if there is one to link.
        log: Option<String>,
    },
    /// The action was not run; not a fault.
    Missing {
        /// One sentence: `archive not present`, `not part of this pipeline`.
        reason: String,
    },
}

impl<T> Outcome<T> {
    /// The result, if there is one.
    #[must_use]
    pub const fn done(&self) -> Option<&T> {
        match self {
            Self::Done { result, .. } => Some(result),
            Self::Failed { .. } | Self::Missing { .. } => None,
        }
    }

    /// The link to the evidence or to the log, if there is one.
    #[must_use]
    pub fn href(&self) -> Option<&str> {
        match self {
            Self::Done { record, .. } => Some(record.as_str()).filter(|r| !r.is_empty()),
            Self::Failed { log, .. } => log.as_deref(),
            Self::Missing { .. } => None,
        }
    }
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingInput {
    /// Where: `reference/Loong128/kat`.
    pub place: String,
    /// A short stable code: `kat-mismatch`.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// Whether the manifest announces it.
    pub expected: bool,
    /// The record or log.
    pub href: Option<String>,
}

/// What the page that lists all submissions of a run is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexInput {
    /// Name of the pipeline.
    pub pipeline: String,
    /// Where.
    pub system: SystemInput,
    /// When.
    pub campaign: CampaignInput,
    /// One row per submission; the page groups and sorts them.
    pub submissions: Vec<IndexRow>,
    /// What could not be planned.
    pub absent: Vec<AbsentInput>,
}

/// Implementations that are not there, and the command that obtains them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentInput {
    /// Which: `kem-01 … kem-15 (reference)`.
    pub what: String,
    /// Why, when that is the same for all.
    pub why: Option<String>,
    /// What to type.
    pub help: String,
}

/// One submission of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRow {
    /// `kem-18`.
    pub id: String,
    /// `LoongKEM`.
    pub name: String,
    /// What it computes.
    pub function: Function,
    /// Its page; none when there is none to show.
    pub href: Option<String>,
    /// Implementations measured.
    pub implementations: Vec<String>,
    /// Instances over all implementations.
    pub instances: u64,
    /// Known-answer verdicts: status (`PASS`, `MISMATCH`, `failed`, ...) to number of instances.
    pub kat: BTreeMap<String, u64>,
    /// Operations with a complete timing.
    pub timed: u64,
    /// Operations whose timing failed.
    pub timing_failed: u64,
    /// Findings the manifest does not announce.
    pub findings: u64,
    /// Findings it does.
    pub expected_findings: u64,
    /// Why there is nothing to show (`archive not in the store`); empty when there is.
    pub unavailable: String,
}
