//! The documents that measuring actions leave as outputs, and that statistics, reports and verification read.
//!
//! Plain serde types with fixed field order; every quantity carries its unit in its name. They hold facts, not
//! judgements: formulas are in `stats.rs`, wording in `report/`. Field meanings: docs/FORMATS.md.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The three operations of a KEM, in page order.
pub const KEM_OPERATIONS: [&str; 3] = ["keygen", "enc", "dec"];

/// `timing.json`: all trials of one operation of one instance on one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Format of this document.
    pub schema: u32,
    /// `keygen`, `enc`, `dec`.
    pub operation: String,
    /// The plan in force.
    pub plan: TrialPlan,
    /// The calibration run: seconds of the single call, and seconds of the process around it.
    pub calibration: Calibration,
    /// What counted cycles.
    pub counter: Counter,
    /// One entry per trial, in order.
    pub trials: Vec<Trial>,
    /// Trials that were run again because they were disturbed.
    pub disturbed_retries: u32,
    /// Sizes from the library's metadata, bytes: `pk`, `sk`, `ct`, `ss`.
    pub sizes: BTreeMap<String, u64>,
    /// Largest resident set before the first call, over the trials, bytes.
    pub baseline_rss_bytes: u64,
    /// Largest peak resident set (VmHWM), over the trials, bytes.
    pub peak_rss_bytes: u64,
    /// `loop` or `per_call_step`.
    pub timing_scope: String,
    /// Host facts read when the run began, by name.
    pub environment: BTreeMap<String, String>,
    /// The core everything was pinned to.
    pub cpu: u32,
    /// Start and end, UTC, RFC 3339.
    pub started_utc: String,
    /// End, UTC, RFC 3339.
    pub ended_utc: String,
    /// Load averages (1, 5, 15 minutes) at start and end.
    pub load_average_start: [f64; 3],
    /// Load averages at the end.
    pub load_average_end: [f64; 3],
    /// Deliberate repetition number, from 0.
    pub round: u32,
}

/// How many calls in how many processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialPlan {
    /// Calls per trial.
    pub iterations_per_trial: u64,
    /// Untimed calls before each trial process' first trial.
    pub warmups: u64,
    /// Trials.
    pub trials: u64,
    /// One process per trial (else one process for all).
    pub separate_processes: bool,
    /// Predicted seconds for the whole operation.
    pub estimated_s: f64,
    /// Time limit of each process, seconds.
    pub timeout_per_process_s: f64,
}

/// The single cold call that the plan is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Seconds of the one call.
    pub t1_s: f64,
    /// Seconds of the process apart from that call.
    pub setup_s: f64,
}

/// What counted cycles, and why nothing better did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// `hw-cycles`, `tsc`, `cntvct` or `none`.
    pub source: String,
    /// Why hardware cycles were not available; empty when they were.
    pub note: String,
    /// Rate of the counter in Hz; 0 for hardware cycles.
    pub tick_hz: f64,
    /// Reading of an empty operation, in counter units; not subtracted anywhere.
    pub empty_op: u64,
}

/// One process (or one block) of samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Calls.
    pub measurements: u64,
    /// Wall seconds around all calls (CLOCK_MONOTONIC_RAW).
    pub seconds: f64,
    /// User-mode core cycles; 0 unless the counter is `hw-cycles`.
    pub cycles: u64,
    /// Ticks of `tsc` or `cntvct`; 0 when hardware cycles counted.
    #[serde(default)]
    pub ticks: u64,
    /// CPU seconds of the thread.
    #[serde(default)]
    pub cpu_seconds: f64,
    /// Involuntary context switches.
    #[serde(default)]
    pub involuntary_switches: u64,
    /// Nanoseconds of each single call, in order.
    #[serde(default)]
    pub samples_ns: Vec<u64>,
}

/// `profile.json`: where one operation spends its time, by wrapped helper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Format of this document.
    pub schema: u32,
    /// `keygen`, `enc`, `dec`.
    pub operation: String,
    /// `tsc`, `cntvct` or `ns` (clock_gettime).
    pub tick_source: String,
    /// Rate of the tick source, Hz.
    pub tick_hz: f64,
    /// Operations profiled.
    pub operations: u64,
    /// Ticks around all operations.
    pub ticks: u64,
    /// Ticks of one empty wrapped call; not subtracted.
    pub wrapper_ticks: f64,
    /// Calls that found the table full.
    pub overflow_calls: u64,
    /// One row per helper and shape.
    pub calls: Vec<HelperCalls>,
    /// Per helper (`pseudohash`, `pseudoXOF`, `sm3hash`, `drng`): whether its wrapper bound.
    pub binding: BTreeMap<String, Binding>,
}

/// Calls of one helper with one shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelperCalls {
    /// `pseudohash`, `pseudoXOF`, `sm3hash` or `drng`.
    #[serde(rename = "fn")]
    pub function: String,
    /// Input length, bits (0 for drng).
    pub in_bits: u64,
    /// Output length, bits.
    pub out_bits: u64,
    /// Outermost calls.
    pub calls: u64,
    /// Ticks inside them.
    pub ticks: u64,
}

/// Whether a helper's calls can be seen by the link-time wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// Calls from other objects go through the wrapper.
    Bound,
    /// Some calls go through it; calls inside the defining object do not.
    Partial,
    /// The helper is in the library and nothing outside its own object refers to it: not measurable.
    Unbound,
    /// The library does not contain the helper.
    Absent,
    /// The objects hold link-time-optimisation code: wrappers see nothing.
    Lto,
}

/// `kat.json`: what the known-answer test gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kat {
    /// Format of this document.
    pub schema: u32,
    /// `PASS`, `MISMATCH`, `NOKAT`, `CRYPTOFAIL`, `OVERFLOW`, `LOADFAIL`, `TIMEOUT`, `CRASH`.
    pub status: String,
    /// One sentence; for a mismatch the record, field, offset and both sides.
    pub detail: String,
    /// Records generated.
    pub records: u64,
    /// Bytes of the generated text.
    pub text_bytes: u64,
    /// SHA-256 of the canonical form.
    pub canonical_sha256: String,
    /// What the manifest expects: mode, with an optional record count.
    pub expected: Option<KatExpectation>,
    /// Sizes from the library's metadata, bytes: `pk`, `sk`, `ct`, `ss`.
    pub sizes: BTreeMap<String, u64>,
    /// Log lines without wall times.
    pub log: Vec<String>,
}

/// One line of `kat.sha256`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KatExpectation {
    /// 64 lower-case hex digits.
    pub sha256: String,
    /// `strict`, `nolen` or `nist`.
    pub mode: String,
    /// Only so many records are covered.
    pub records: Option<u64>,
    /// `label/file`.
    pub file: String,
}

/// `build.json`: which build was chosen for an instance and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Format of this document.
    pub schema: u32,
    /// Name of the flag set in use (`guide`, `harness-default`).
    pub flags: String,
    /// The flags themselves, as compiled.
    pub build_flags: String,
    /// KAT status with these flags.
    pub kat: String,
    /// What went wrong with each set tried before, by name.
    pub rejected: BTreeMap<String, String>,
}

/// `sizes.json`: static sizes of one library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Format of this document.
    pub schema: u32,
    /// Sum of the memory sizes of all loadable segments, bytes (the published figure).
    pub elf_load_bytes: u64,
    /// File size of the library, bytes.
    pub file_bytes: u64,
    /// Bytes per section family: `.text`, `.rodata`, `.data`, `.bss`, `other`.
    pub sections: BTreeMap<String, u64>,
    /// API sizes from the library's metadata, bytes.
    pub api: BTreeMap<String, u64>,
    /// Catalogue sizes from the manifest, bytes.
    pub catalogue: BTreeMap<String, u64>,
}
