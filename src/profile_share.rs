//! From a profile to shares: how much of an operation goes into the hash helpers and into the generator.
//!
//! A share is only a number when the wrappers could see the calls. A helper whose calls never leave its own object
//! file, or that link-time optimisation swallowed, has no measurable share, and 0 % would be a false statement.
//! Knows nothing of formats beyond the one sentence that says why there is no number.

use std::collections::BTreeMap;

use crate::result::{Binding, Profile};

/// The helper under which calls of the official generator are counted.
pub const DRNG: &str = "drng";

/// The helpers that hash, in the byte order of their names.
pub const HASH_HELPERS: [&str; 3] = ["pseudoXOF", "pseudohash", "sm3hash"];

/// A part of the time of an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Share {
    /// The fraction, from 0 to 1.
    Measured(f64),
    /// A lower bound: some calls happen where the wrapper cannot see them.
    AtLeast(f64),
    /// No number, and why.
    NotMeasurable(String),
    /// The library has none of the helpers at all, so that there is nothing to have a share.
    NotApplicable,
}

/// Why there is nothing to have a share, in words.
pub const NO_HELPER: &str = "none of the helpers is in the library";

/// What a profile says about one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// Ticks in the helper over all ticks, for every helper that was called.
    pub by_helper: BTreeMap<String, f64>,
    /// Sum over the hash helpers.
    pub hash: Share,
    /// Share of the generator.
    pub drng: Share,
    /// Outermost calls per operation, for every helper that was called.
    pub calls_per_operation: BTreeMap<String, f64>,
}

/// Computes the shares of one profile.
#[must_use]
pub fn shares(profile: &Profile) -> Shares {
    // Whole numbers are summed before the division, helpers in the order of their first call, as in the published data.
    let mut order: Vec<(&str, u64, u64)> = Vec::new();
    for row in &profile.calls {
        match order.iter_mut().find(|(name, ..)| *name == row.function) {
            Some((_, calls, ticks)) => {
                *calls = calls.saturating_add(row.calls);
                *ticks = ticks.saturating_add(row.ticks);
            }
            None => order.push((&row.function, row.calls, row.ticks)),
        }
    }
    let part = |ticks: u64| ticks as f64 / profile.ticks as f64;
    let hashing = order.iter().filter(|(name, ..)| *name != DRNG);
    let hash = hashing.fold(0.0, |sum, &(_, _, ticks)| sum + part(ticks));
    let drng = order.iter().find(|(name, ..)| *name == DRNG).map_or(0.0, |o| part(o.2));
    let judge = |value, helpers: &[&str]| {
        if without_helpers(profile) {
            Share::NotApplicable
        } else if profile.operations == 0 || profile.ticks == 0 {
            Share::NotMeasurable("no operation was profiled".to_owned())
        } else {
            judge(value, helpers, profile)
        }
    };
    Shares {
        hash: judge(hash, &HASH_HELPERS),
        drng: judge(drng, &[DRNG]),
        by_helper: order.iter().map(|&(name, _, ticks)| (name.to_owned(), part(ticks))).collect(),
        calls_per_operation: order
            .iter()
            .map(|&(name, calls, _)| (name.to_owned(), calls as f64 / profile.operations as f64))
            .collect(),
    }
}

/// Whether the build found no helper in any object, as in a library with the NIST API.
fn without_helpers(profile: &Profile) -> bool {
    let absent = |name: &&str| profile.binding.get(*name) == Some(&Binding::Absent);
    HASH_HELPERS.iter().chain([&DRNG]).all(absent) && profile.calls.is_empty()
}

/// A group of helpers has a share when the wrapper of at least one of them saw calls or could have seen them.
fn judge(value: f64, helpers: &[&str], profile: &Profile) -> Share {
    let called = |name: &str| profile.calls.iter().any(|c| c.function == name && c.calls > 0);
    let bound = |name: &str| {
        called(name) || matches!(profile.binding.get(name), Some(Binding::Bound | Binding::Partial))
    };
    if profile.overflow_calls > 0 {
        return Share::AtLeast(value);
    }
    if helpers.iter().any(|h| bound(h)) {
        let partial = |h: &&&str| profile.binding.get(**h) == Some(&Binding::Partial);
        return if helpers.iter().any(|h| partial(&h)) {
            Share::AtLeast(value)
        } else {
            Share::Measured(value)
        };
    }
    let mut reasons: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
    for helper in helpers {
        reasons.entry(reason(profile.binding.get(*helper))).or_default().push(helper);
    }
    let all: Vec<String> = match reasons.iter().next() {
        Some((why, _)) if reasons.len() == 1 => vec![(*why).to_owned()],
        _ => reasons.iter().map(|(why, who)| format!("{}: {why}", who.join(", "))).collect(),
    };
    Share::NotMeasurable(all.join("; "))
}

/// Why a helper's share is no number.
fn reason(binding: Option<&Binding>) -> &'static str {
    match binding {
        Some(Binding::Unbound) => "nothing outside its own object file calls it",
        Some(Binding::Absent) => "not in the library",
        Some(Binding::Lto) => "link-time optimisation hides the calls",
        Some(Binding::Bound | Binding::Partial) => "measurable",
        None => "not known whether the wrapper was linked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::HelperCalls;
    use crate::units;

    fn profile(operations: u64, ticks: u64, calls: &[(&str, u64, u64)]) -> Profile {
        let row = |(i, &(function, calls, ticks)): (usize, &(&str, u64, u64))| HelperCalls {
            function: function.to_owned(),
            in_bits: i as u64,
            out_bits: 256,
            calls,
            ticks,
        };
        Profile {
            schema: 1,
            operation: "keygen".to_owned(),
            tick_source: "cntvct".to_owned(),
            tick_hz: 19_199_980.0,
            operations,
            ticks,
            wrapper_ticks: 0.0,
            overflow_calls: 0,
            calls: calls.iter().enumerate().map(row).collect(),
            binding: bindings(Binding::Bound),
        }
    }

    fn bindings(binding: Binding) -> BTreeMap<String, Binding> {
        let names = HASH_HELPERS.iter().chain([&DRNG]);
        names.map(|n| ((*n).to_owned(), binding)).collect()
    }

    fn cell(share: &Share) -> String {
        match share {
            Share::Measured(value) => units::percent(*value),
            Share::AtLeast(value) => format!("at least {}", units::percent(*value)),
            Share::NotMeasurable(why) => format!("not measurable ({why})"),
            Share::NotApplicable => format!("not applicable ({NO_HELPER})"),
        }
    }

    #[test]
    fn the_saved_profiles_come_out_bit_for_bit() {
        for text in [
            include_str!("../testdata/records/Loong128__keygen__profile.json"),
            include_str!("../testdata/records/Loong128__enc__profile.json"),
            include_str!("../testdata/records/Loong128__dec__profile.json"),
        ] {
            let record: serde_json::Value = serde_json::from_str(text).unwrap();
            let mut p = profile(
                record["total"]["operations"].as_u64().unwrap(),
                record["total"]["ticks"].as_u64().unwrap(),
                &[],
            );
            p.calls = serde_json::from_value(record["calls"].clone()).unwrap();
            let s = shares(&p);
            let Share::Measured(hash) = s.hash else { panic!("measurable") };
            assert!(text.contains(&format!("\"hash_share\": {hash:?}\n")), "{hash:?}");
            for (name, share) in &s.by_helper {
                assert!(text.contains(&format!("\"{name}\": {share:?}")), "{name} {share:?}");
            }
        }
    }

    #[test]
    fn every_profile_fixture_gives_the_published_cells() {
        let fixtures: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../testdata/published/fixtures_arm_1.json"))
                .unwrap();
        let mut seen = 0;
        for fixture in fixtures.iter().filter(|f| f.get("profile_ops").is_some()) {
            let calls: Vec<(String, u64, u64)> =
                serde_json::from_value(fixture["profile_calls"].clone()).unwrap();
            let calls: Vec<_> = calls.iter().map(|(f, n, t)| (f.as_str(), *n, *t)).collect();
            let [operations, ticks] =
                ["profile_ops", "profile_ticks"].map(|f| fixture[f].as_u64().unwrap());
            let s = shares(&profile(operations, ticks, &calls));
            let want = &fixture["cells"];
            assert_eq!(want["hash_share"], cell(&s.hash), "{}", fixture["key"]);
            assert_eq!(want["drng_share"], cell(&s.drng), "{}", fixture["key"]);
            assert_eq!(want["calls"], units::calls(&s.calls_per_operation));
            seen += 1;
        }
        assert_eq!(seen, 8);
    }

    #[test]
    fn a_bound_helper_that_is_never_called_has_a_true_zero() {
        assert_eq!(cell(&shares(&profile(1000, 5000, &[])).hash), "0.0%");
    }

    #[test]
    fn a_share_that_cannot_be_measured_is_never_zero_per_cent() {
        for (binding, text) in [
            (Binding::Unbound, "not measurable (nothing outside its own object file calls it)"),
            (Binding::Lto, "not measurable (link-time optimisation hides the calls)"),
        ] {
            let mut p = profile(1000, 5000, &[]);
            p.binding = bindings(binding);
            let s = shares(&p);
            assert_eq!(cell(&s.hash), text);
            assert_eq!(cell(&s.drng), text);
        }
        let empty = shares(&profile(0, 0, &[]));
        assert_eq!(cell(&empty.drng), "not measurable (no operation was profiled)");
    }

    #[test]
    fn a_library_without_any_helper_has_no_share_to_measure() {
        let mut p = profile(1000, 5000, &[]);
        p.binding = bindings(Binding::Absent);
        let s = shares(&p);
        assert_eq!((&s.hash, &s.drng), (&Share::NotApplicable, &Share::NotApplicable));
        assert_eq!(cell(&s.hash), "not applicable (none of the helpers is in the library)");
        p.binding.insert(DRNG.to_owned(), Binding::Bound);
        let s = shares(&p);
        assert_eq!(cell(&s.hash), "not measurable (not in the library)");
        assert_eq!(s.drng, Share::Measured(0.0));
    }

    #[test]
    fn different_reasons_are_all_given() {
        let mut p = profile(10, 100, &[]);
        p.binding = bindings(Binding::Absent);
        p.binding.insert("sm3hash".to_owned(), Binding::Unbound);
        p.binding.remove("pseudohash");
        assert_eq!(
            cell(&shares(&p).hash),
            "not measurable (pseudoXOF: not in the library; \
             pseudohash: not known whether the wrapper was linked; \
             sm3hash: nothing outside its own object file calls it)"
        );
    }

    #[test]
    fn one_bound_helper_is_enough_and_a_partly_seen_one_gives_a_lower_bound() {
        let mut p = profile(10, 100, &[("pseudoXOF", 10, 50)]);
        p.binding = bindings(Binding::Unbound);
        p.binding.insert("pseudoXOF".to_owned(), Binding::Bound);
        assert_eq!(cell(&shares(&p).hash), "50%");
        p.binding.insert("sm3hash".to_owned(), Binding::Partial);
        assert_eq!(cell(&shares(&p).hash), "at least 50%");
        p.binding.insert("sm3hash".to_owned(), Binding::Bound);
        p.overflow_calls = 1;
        assert_eq!(cell(&shares(&p).hash), "at least 50%");
    }
}
