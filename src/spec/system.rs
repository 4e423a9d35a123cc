//! A bench machine (`systems/<id>.yaml`): what identifies it, and what must be so before it measures.
//!
//! Knows nothing of how facts are read. Their names are listed here, so that a slip is an error and not a fact that
//! never matches.

use std::collections::BTreeMap;

use super::reader::At;
use super::yaml::Document;
use crate::diag::nearest;
use crate::name::{Name, RelPath};

/// One bench machine, checked.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct System {
    /// Name of its file without `.yaml`.
    pub id: Name,
    /// `x86_64`, `aarch64` or `any`.
    pub arch: String,
    /// What it is, for people.
    pub description: String,
    /// Its host name, when it is one certain machine.
    pub hostname: Option<String>,
    /// Facts that enter the identity of measurements.
    pub identity: Vec<String>,
    /// Facts that must have a value.
    pub expect: BTreeMap<String, String>,
    /// The core to measure on.
    pub cpu: Option<u32>,
    /// Its file, from the workspace root.
    pub file: RelPath,
}

/// Facts of a host by name.
pub const FACTS: &[&str] = &[
    "architecture",
    "aslr",
    "clocksource",
    "cmake",
    "compiler",
    "core_clock_hz",
    "core_clock_iqr_hz",
    "core_clock_max_hz",
    "core_clock_mhz",
    "core_clock_min_hz",
    "cpu_model",
    "cpu_number",
    "cpufreq_avg_khz",
    "cpufreq_boost",
    "cpufreq_driver",
    "cpufreq_governor",
    "cpufreq_hardware_max_khz",
    "cpufreq_max_khz",
    "cpufreq_min_khz",
    "cpus_allowed",
    "cycle_source",
    "governor",
    "hostname",
    "intel_pstate_no_turbo",
    "isolated_cpus",
    "kernel",
    "load_average",
    "logical_cpus_online",
    "machine",
    "memory_total_kib",
    "microcode",
    "mitigations",
    "os",
    "perf_event_paranoid",
    "performance_cores",
    "python",
    "smt",
    "smt_control",
    "thread_siblings",
    "tick_hz",
    "tick_source",
    "transparent_hugepage",
    "turbo",
    "virtualized",
];

/// The architectures that a system may have; `any` is for trying things out.
pub(super) const ARCHITECTURES: [&str; 3] = ["x86_64", "aarch64", "any"];

/// The identity of a system that declares none.
pub const DEFAULT_IDENTITY: [&str; 6] =
    ["cpu_model", "microcode", "governor", "turbo", "smt", "cycle_source"];

/// Reads one system file. Everything wrong is reported to the document.
pub(super) fn read(doc: &Document, id: &Name, file: &RelPath) -> Option<System> {
    let map = At::root(doc).map()?;
    let description = map.required("description", At::text);
    let arches = ARCHITECTURES.map(|word| (word, word.to_owned()));
    let arch = map.required("arch", |at| at.one_of("architecture", &arches));
    let hostname = map.optional("hostname", At::text);
    let default = DEFAULT_IDENTITY.map(str::to_owned).to_vec();
    let identity = map.or("identity", default, |at| {
        at.set(|at| {
            let text = at.text()?;
            known_fact(&text, |message, help| {
                at.error("unknown-fact", message, "", |d| d.help(help));
            })
            .map(|()| text.clone())
        })
    });
    let expect = map.or("expect", BTreeMap::new(), |at| {
        let read = |at: At<'_>| {
            let known = known_fact(at.key(), |message, help| {
                at.key_error("unknown-fact", message, "", |d| d.help(help));
            });
            let value = at.text();
            known.and(value).map(|value| (at.key().to_owned(), value))
        };
        Some(at.entries()?.into_iter().filter_map(read).collect())
    });
    let cpu = map.optional("cpu", At::small_number);
    map.finish();
    Some(System {
        id: id.clone(),
        arch: arch?,
        description: description?,
        hostname: hostname?,
        identity: identity?,
        expect: expect?,
        cpu: cpu?,
        file: file.clone(),
    })
}

fn known_fact(name: &str, report: impl FnOnce(String, String)) -> Option<()> {
    if FACTS.contains(&name) {
        return Some(());
    }
    let help = match nearest(name, FACTS.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the facts are {}", FACTS.join(", ")),
    };
    report(format!("there is no fact `{name}`"), help);
    None
}
