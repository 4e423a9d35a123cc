//! The rows of a page before they are written: one per implementation, instance and operation, with their figures.
//!
//! All formats read these rows, so that a number on a page, in the CSV and in the JSON is one number. Holds the order
//! of instances (natural) and of operations. Knows nothing of number formats and links.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::input::{InstanceInput, Outcome, PageInput};
use crate::name::natural_order;
use crate::profile_share::{self, Shares};
use crate::result::{Profile, Timing};
use crate::stats::{self, Summary};

/// Operations in page order; those not listed follow in natural order (`pass2` before `pass10`, hashes by size).
const OPERATIONS: [&str; 8] =
    ["keygen", "enc", "dec", "sign", "verify", "exchange", "init_a", "init_b"];

/// The operations that close a key exchange, after its passes.
const LAST_OPERATIONS: [&str; 2] = ["derive_a", "derive_b"];

/// One operation of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure<'a> {
    /// Name of the implementation.
    pub implementation: &'a str,
    /// The instance, with what belongs to all its operations.
    pub instance: &'a InstanceInput,
    /// `keygen`.
    pub operation: &'a str,
    /// The timing, or why there is none; none when the pipeline has no timing stage.
    pub timing: Option<&'a Outcome<Timing>>,
    /// Figures of a complete timing.
    pub summary: Option<Summary>,
    /// The profile, or why there is none; none when the pipeline has no profile stage.
    pub profile: Option<&'a Outcome<Profile>>,
    /// Shares of a complete profile.
    pub shares: Option<Shares>,
}

/// All rows of a page, in page order.
#[must_use]
pub fn figures(input: &PageInput) -> Vec<Figure<'_>> {
    let mut rows = Vec::new();
    for (implementation, instance) in instances(input) {
        let names = instance.timing.keys().chain(instance.profile.keys());
        let mut operations: Vec<&str> =
            names.map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect();
        operations.sort_by(|a, b| operation_order(a, b));
        for operation in operations {
            let timing = instance.timing.get(operation);
            let profile = instance.profile.get(operation);
            rows.push(Figure {
                implementation,
                instance,
                operation,
                timing,
                // A timing without a countable trial is no result; `unusable` says why.
                summary: timing
                    .and_then(Outcome::done)
                    .and_then(|t| stats::summary(&t.trials).ok()),
                profile,
                shares: profile.and_then(Outcome::done).map(profile_share::shares),
            });
        }
    }
    rows
}

/// The host facts that hold for the page: those given, else those of the first timing.
#[must_use]
pub fn environment(input: &PageInput) -> &BTreeMap<String, String> {
    let all = instances(input).into_iter().flat_map(|(_, i)| i.timing.values());
    let first = all.filter_map(Outcome::done).map(|t| &t.environment).next();
    match first {
        Some(facts) if input.environment.is_empty() => facts,
        _ => &input.environment,
    }
}

/// The architecture: the system's, or what the host says when the system's file leaves it open (`any`).
#[must_use]
pub fn architecture(input: &PageInput) -> &str {
    let declared = input.system.arch.as_str();
    match declared {
        "any" | "" => environment(input).get("architecture").map_or(declared, String::as_str),
        _ => declared,
    }
}

/// Why a timing that is there has no figures.
#[must_use]
pub fn unusable(timing: &Timing) -> Option<String> {
    stats::summary(&timing.trials).err().map(|e| e.to_string())
}

/// All instances with the name of their implementation: implementations as given, instances in natural order.
#[must_use]
pub fn instances(input: &PageInput) -> Vec<(&str, &InstanceInput)> {
    let mut all = Vec::new();
    for implementation in &input.implementations {
        let mut some: Vec<_> =
            implementation.instances.iter().map(|i| (implementation.name.as_str(), i)).collect();
        some.sort_by(|a, b| natural_order(&a.1.name, &b.1.name));
        all.extend(some);
    }
    all
}

/// Page order of operations.
#[must_use]
pub fn operation_order(a: &str, b: &str) -> Ordering {
    let rank = |name: &str| {
        if let Some(i) = OPERATIONS.iter().position(|o| *o == name) {
            i
        } else {
            let last = LAST_OPERATIONS.iter().position(|o| *o == name);
            OPERATIONS.len() + last.map_or(0, |i| i + 1)
        }
    };
    rank(a).cmp(&rank(b)).then_with(|| natural_order(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_stand_in_the_order_of_the_published_pages() {
        let mut names = [
            "derive_b",
            "pass10",
            "hash_1024",
            "dec",
            "pass2",
            "derive_a",
            "hash_32",
            "keygen",
            "init_a",
            "enc",
            "exchange",
            "verify",
            "sign",
        ];
        names.sort_by(|a, b| operation_order(a, b));
        assert_eq!(names[..3], ["keygen", "enc", "dec"]);
        assert_eq!(names[3..7], ["sign", "verify", "exchange", "init_a"]);
        assert_eq!(names[7..11], ["hash_32", "hash_1024", "pass2", "pass10"]);
        assert_eq!(names[11..], ["derive_a", "derive_b"]);
    }
}
