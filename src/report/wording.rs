//! Words for facts: functions, architectures, clocks, memory.
//!
//! Reads host facts by the names `host.rs` gives them; what is not known is said to be so. Knows nothing of tables.

use std::collections::BTreeMap;

use super::input::Function;

impl Function {
    /// `key encapsulation`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Kem => "key encapsulation",
            Self::Signature => "digital signature",
            Self::KeyExchange => "key exchange",
            Self::Hash => "hash",
        }
    }

    /// The guide's category.
    #[must_use]
    pub const fn category(self) -> &'static str {
        match self {
            Self::Kem | Self::Signature | Self::KeyExchange => "public-key algorithm",
            Self::Hash => "cryptographic hash algorithm",
        }
    }

    /// The heading over several of them.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Kem => "Key encapsulation",
            Self::Signature => "Digital signatures",
            Self::KeyExchange => "Key exchange",
            Self::Hash => "Hash functions",
        }
    }
}

/// The architecture as people write it.
pub(super) fn architecture(arch: &str) -> &str {
    match arch {
        "x86_64" => "x86-64",
        "aarch64" => "AArch64",
        "any" | "" => "an unnamed architecture",
        other => other,
    }
}

/// Which of the two guides applies.
pub(super) fn guide(arch: &str) -> &'static str {
    if arch == "aarch64" { "ARM" } else { "x86" }
}

/// Host facts by name.
pub(super) type Facts = BTreeMap<String, String>;

/// A fact that is there and says something.
pub(super) fn fact<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    facts.get(name).map(String::as_str).filter(|v| !v.is_empty() && *v != "null")
}

/// A fact that is a number.
fn number(facts: &Facts, name: &str) -> Option<f64> {
    fact(facts, name).and_then(|v| v.parse().ok()).filter(|v: &f64| v.is_finite() && *v > 0.0)
}

/// `12th Gen … i7-12700 (CPU 2, one core)`.
pub(super) fn processor(facts: &Facts) -> String {
    let model = fact(facts, "cpu_model").unwrap_or("unknown");
    let virtual_machine = match fact(facts, "virtualized") {
        Some("true" | "yes" | "1") => ", in a virtual machine",
        _ => "",
    };
    match fact(facts, "cpu_number") {
        Some(cpu) => format!("{model} (CPU {cpu}, one core{virtual_machine})"),
        None => format!("{model} (one core{virtual_machine})"),
    }
}

/// The state of the clock, in one of the three forms of the published pages, or that it is not known.
pub(super) fn clock(facts: &Facts, arch: &str) -> String {
    let khz = |name| number(facts, name).map(|k| format!("{:.2} GHz", k / 1e6));
    let governor = fact(facts, "cpufreq_governor").unwrap_or("unknown");
    let smt = fact(facts, "smt_control").or_else(|| fact(facts, "smt")).unwrap_or("unknown");
    let smt_form = match smt {
        "notsupported" | "notimplemented" => "none",
        other => other,
    };
    let measured = number(facts, "core_clock_hz");
    let (min, max) = (khz("cpufreq_min_khz"), khz("cpufreq_max_khz"));
    match (max, measured) {
        (Some(max), _) if arch == "aarch64" && min.as_ref() == Some(&max) => format!(
            "fixed {max} (governor {governor}, minimum = maximum), boost {}, SMT {smt_form}",
            boost(facts)
        ),
        (Some(max), _) => {
            format!("max {max}, governor {governor}, turbo {}, SMT {smt}", turbo(facts))
        }
        (None, Some(hz)) => format!(
            "measured {:.2} GHz, set by firmware (no frequency interface), SMT {smt_form}",
            hz / 1e9
        ),
        (None, None) => {
            format!("not known (no frequency interface, no cycle counter), SMT {smt_form}")
        }
    }
}

/// `on`, `off` or `unknown` by the frequency driver.
fn boost(facts: &Facts) -> &'static str {
    match fact(facts, "cpufreq_boost") {
        Some("0") => "off",
        Some("1") => "on",
        _ => "unknown",
    }
}

/// `on`, `off` or `unknown`, first by the Intel driver, whose switch is inverted.
fn turbo(facts: &Facts) -> &'static str {
    match fact(facts, "intel_pstate_no_turbo") {
        Some("1") => "off",
        Some("0") => "on",
        _ => boost(facts),
    }
}

/// `31788 MiB`, rounded down.
pub(super) fn memory(facts: &Facts) -> String {
    fact(facts, "memory_total_kib")
        .and_then(|v| v.parse::<u64>().ok())
        .map_or_else(|| "unknown".to_owned(), |kib| format!("{} MiB", kib / 1024))
}

/// Two facts with ` / ` between.
pub(super) fn pair(facts: &Facts, first: &str, second: &str) -> String {
    let of = |name| fact(facts, name).unwrap_or("unknown");
    format!("{} / {}", of(first), of(second))
}

/// The first 19 characters of a time: to the second, without the zone.
pub(super) fn moment(utc: &str) -> &str {
    let end = utc.char_indices().nth(19).map_or(utc.len(), |(i, _)| i);
    if utc.is_empty() { "unknown" } else { &utc[..end] }
}

/// `1 trial`, `2 trials`.
pub(super) fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> Facts {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn clocks_are_worded_as_on_the_published_pages() {
        let intel = facts(&[
            ("cpufreq_max_khz", "2100000"),
            ("cpufreq_governor", "performance"),
            ("intel_pstate_no_turbo", "1"),
            ("smt_control", "off"),
        ]);
        let text = "max 2.10 GHz, governor performance, turbo off, SMT off";
        assert_eq!(clock(&intel, "x86_64"), text);
        let arm = facts(&[
            ("cpufreq_min_khz", "2707200"),
            ("cpufreq_max_khz", "2707200"),
            ("cpufreq_governor", "performance"),
            ("cpufreq_boost", "0"),
            ("smt_control", "notsupported"),
        ]);
        let text = "fixed 2.71 GHz (governor performance, minimum = maximum), boost off, SMT none";
        assert_eq!(clock(&arm, "aarch64"), text);
        let firmware = facts(&[("core_clock_hz", "2695077195")]);
        assert!(clock(&firmware, "aarch64").starts_with("measured 2.70 GHz, set by firmware"));
        assert!(clock(&facts(&[]), "x86_64").starts_with("not known"));
    }

    #[test]
    fn what_is_not_known_is_said_to_be_unknown() {
        let none = facts(&[]);
        assert_eq!(memory(&none), "unknown");
        assert_eq!(processor(&none), "unknown (one core)");
        assert_eq!(pair(&none, "os", "kernel"), "unknown / unknown");
        assert_eq!(moment(""), "unknown");
        assert_eq!(moment("2026-09-28T19:53:24.001695+00:00"), "2026-09-28T19:53:24");
        assert_eq!(moment("ééééééééééééééééééééé").chars().count(), 19);
    }
}
