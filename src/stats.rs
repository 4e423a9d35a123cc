//! From trials to the figures of a page row: means, median trial, spread, interval of the median.
//!
//! Formulas are those of the published pages, down to the order of additions, so that the published figures come out
//! bit for bit: sums run left to right over the trial list. Knows nothing of formats, files or hosts. No trial is ever
//! left out here; what was disturbed is marked by the record, not removed by the statistics.

use crate::result::Trial;

/// Why trials give no figures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatsError {
    /// The list is empty.
    #[error("no trial was completed")]
    NoTrials,
    /// A trial without calls has no time per call.
    #[error("trial {0} holds no calls")]
    NoCalls(usize),
    /// A trial's time is negative, infinite or not a number.
    #[error("the time of trial {0} is no time")]
    NoTime(usize),
}

/// The figures of one operation.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Trials.
    pub trials: u64,
    /// Calls over all trials.
    pub measurements: u64,
    /// Whether the guide's 100 measurements are reached.
    pub guide_100_met: bool,
    /// Total seconds over total calls.
    pub mean_seconds: f64,
    /// Total calls over total seconds.
    pub operations_per_second: f64,
    /// Median of the trials' seconds per call.
    pub median_trial_seconds: f64,
    /// Fastest trial, seconds per call.
    pub min_trial_seconds: f64,
    /// Slowest trial, seconds per call.
    pub max_trial_seconds: f64,
    /// Total core cycles over total calls; none unless every trial counted them.
    pub mean_cycles: Option<f64>,
    /// Median of the trials' cycles per call; none unless every trial counted them.
    pub median_trial_cycles: Option<f64>,
    /// Total ticks of a constant-rate counter over total calls; none unless every trial counted them.
    pub mean_ticks: Option<f64>,
    /// Interval of the median trial; none below 6 trials.
    pub median_interval: Option<Interval>,
}

/// A distribution-free interval of the median, between two of the observed trials.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Interval {
    /// Lower end, seconds per call.
    pub low_seconds: f64,
    /// Upper end, seconds per call.
    pub high_seconds: f64,
    /// Probability that the interval covers the median of the trials' distribution.
    pub coverage: f64,
}

/// Computes all figures of one operation.
///
/// # Errors
/// When there is no trial, or one without calls or without a finite time.
pub fn summary(trials: &[Trial]) -> Result<Summary, StatsError> {
    if trials.is_empty() {
        return Err(StatsError::NoTrials);
    }
    for (i, trial) in trials.iter().enumerate() {
        if trial.measurements == 0 {
            return Err(StatsError::NoCalls(i + 1));
        }
        if !(trial.seconds.is_finite() && trial.seconds >= 0.0) {
            return Err(StatsError::NoTime(i + 1));
        }
    }
    let calls = trials.iter().fold(0_u64, |n, t| n.saturating_add(t.measurements));
    let seconds = trials.iter().fold(0.0, |sum, t| sum + t.seconds);
    let per_call = sorted(trials.iter().map(|t| t.seconds / t.measurements as f64));
    let cycles_per_call = sorted(trials.iter().map(|t| t.cycles as f64 / t.measurements as f64));
    let counted = |read: fn(&Trial) -> u64| {
        let every = trials.iter().all(|t| read(t) != 0);
        let total: u128 = trials.iter().map(|t| u128::from(read(t))).sum();
        every.then_some(total as f64 / calls as f64)
    };
    let mean_cycles = counted(|t| t.cycles);
    Ok(Summary {
        trials: trials.len() as u64,
        measurements: calls,
        guide_100_met: calls >= 100,
        mean_seconds: seconds / calls as f64,
        operations_per_second: calls as f64 / seconds,
        median_trial_seconds: median(&per_call),
        min_trial_seconds: per_call[0],
        max_trial_seconds: per_call[per_call.len() - 1],
        mean_cycles,
        median_trial_cycles: mean_cycles.map(|_| median(&cycles_per_call)),
        mean_ticks: counted(|t| t.ticks),
        median_interval: median_interval(&per_call),
    })
}

/// Finite values in ascending order.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle of an ascending, non-empty list; the mean of the two middle ones if their number is even.
fn median(ascending: &[f64]) -> f64 {
    let half = ascending.len() / 2;
    if ascending.len() % 2 == 1 {
        ascending[half]
    } else {
        f64::midpoint(ascending[half - 1], ascending[half])
    }
}

/// The order-statistic interval of the median at 95 %: needs no assumption on the distribution and no random numbers.
fn median_interval(ascending: &[f64]) -> Option<Interval> {
    let (rank, coverage) = median_ranks(ascending.len())?;
    Some(Interval {
        low_seconds: ascending[rank - 1],
        high_seconds: ascending[ascending.len() - rank],
        coverage,
    })
}

/// The largest rank k with P(x_(k) ≤ median ≤ x_(m+1-k)) ≥ 0.95 for m trials, and that probability.
///
/// The tail is the binomial 2·P(B(m,½) ≤ k-1). None below 6 trials: even the whole range covers too little. Above a
/// thousand trials 2^-m leaves the range of doubles; plans stay far below, and none is better than a wrong one.
#[must_use]
pub fn median_ranks(trials: usize) -> Option<(usize, f64)> {
    if !(6..=1000).contains(&trials) {
        return None;
    }
    let mut term = 0.5_f64.powi(i32::try_from(trials).ok()?);
    let mut tail = 0.0;
    let mut best = None;
    for rank in 1..=trials / 2 {
        tail += term;
        if 2.0 * tail > 0.05 {
            break;
        }
        best = Some((rank, 1.0 - 2.0 * tail));
        term *= (trials - rank + 1) as f64 / rank as f64;
    }
    best
}

/// The sample below which the given share (per mille) of all single calls lies, by nearest rank; nanoseconds.
///
/// None when no single calls were kept.
#[must_use]
pub fn sample_quantile(trials: &[Trial], per_mille: u64) -> Option<u64> {
    let mut samples: Vec<u64> = trials.iter().flat_map(|t| t.samples_ns.iter().copied()).collect();
    samples.sort_unstable();
    let rank = (samples.len() as u64 * per_mille.min(1000)).div_ceil(1000).max(1);
    samples.get(usize::try_from(rank - 1).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units;

    fn trial(measurements: u64, seconds: f64, cycles: u64) -> Trial {
        Trial {
            measurements,
            seconds,
            cycles,
            ticks: 0,
            cpu_seconds: 0.0,
            involuntary_switches: 0,
            samples_ns: Vec::new(),
        }
    }

    fn trials(record: &serde_json::Value) -> Vec<Trial> {
        let list = record["trials"].as_array().unwrap();
        list.iter().map(|t| serde_json::from_value(t.clone()).unwrap()).collect()
    }

    const RECORDS: [&str; 3] = [
        include_str!("../testdata/records/Loong128__keygen.json"),
        include_str!("../testdata/records/Loong128__enc.json"),
        include_str!("../testdata/records/Loong128__dec.json"),
    ];

    #[test]
    fn the_saved_records_come_out_bit_for_bit() {
        for text in RECORDS {
            let record: serde_json::Value = serde_json::from_str(text).unwrap();
            let s = summary(&trials(&record)).unwrap();
            // The text is compared: the shortest form that reads back is unique per bit pattern.
            let same = |value: f64, field: &str| {
                let line = format!("\n \"{field}\": {value:?},");
                assert!(text.contains(&line), "{field} is not {value:?}");
            };
            same(s.mean_seconds, "mean_seconds");
            same(s.median_trial_seconds, "median_trial_seconds");
            same(s.min_trial_seconds, "min_trial_seconds");
            same(s.max_trial_seconds, "max_trial_seconds");
            same(s.operations_per_second, "operations_per_second");
            same(s.mean_cycles.unwrap(), "mean_cycles");
            same(s.median_trial_cycles.unwrap(), "median_trial_cycles");
            assert_eq!(record["measurements"], s.measurements);
            assert_eq!(record["guide_100_measurements_met"], s.guide_100_met);
        }
    }

    #[test]
    fn every_timing_fixture_gives_the_published_cells() {
        let fixtures: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../testdata/published/fixtures_arm_1.json"))
                .unwrap();
        let mut cells = 0;
        for fixture in fixtures.iter().filter(|f| f.get("trials").is_some()) {
            let list: Vec<(u64, f64, u64)> =
                serde_json::from_value(fixture["trials"].clone()).unwrap();
            let list: Vec<Trial> = list.iter().map(|&(n, s, c)| trial(n, s, c)).collect();
            let s = summary(&list).unwrap();
            let want = &fixture["cells"];
            for (name, got) in [
                ("mean_cycles_text", units::cycles(s.mean_cycles.unwrap())),
                ("mean_time_text", units::time(s.mean_seconds)),
                ("ops_text", units::g3(s.operations_per_second)),
                ("median_text", units::time(s.median_trial_seconds)),
                ("n", s.measurements.to_string()),
                ("trials", s.trials.to_string()),
                ("iters", list[0].measurements.to_string()),
            ] {
                assert_eq!(want[name], got, "{name} of {}", fixture["key"]);
                cells += 1;
            }
            for name in ["baseline", "peak"] {
                let kib = units::kib(fixture[format!("{name}_rss_bytes")].as_u64().unwrap());
                let published = want[format!("{name}_kib")].as_str().unwrap();
                assert_eq!(kib, format!("{published} KiB"));
                cells += 1;
            }
        }
        assert_eq!(cells, 90);
    }

    #[test]
    fn the_interval_ranks_are_those_of_the_binomial_table() {
        let table = [
            (6, 1, 96.9),
            (9, 2, 96.1),
            (12, 3, 96.1),
            (15, 4, 96.5),
            (20, 6, 95.9),
            (25, 8, 95.7),
            (30, 10, 95.7),
            (40, 14, 96.2),
        ];
        for (trials, rank, percent) in table {
            let (k, coverage) = median_ranks(trials).unwrap();
            assert_eq!(k, rank, "{trials} trials");
            assert_eq!(format!("{:.1}", 100.0 * coverage), format!("{percent:.1}"));
        }
        assert_eq!(median_ranks(5), None);
        assert_eq!(median_ranks(1001), None);
    }

    #[test]
    fn the_interval_ranks_agree_with_whole_number_arithmetic() {
        for m in 6..=120_usize {
            let (mut binomial, mut tail, mut rank) = (1_u128, 0_u128, 0);
            for i in 0..m / 2 {
                tail += binomial;
                // 2 · tail / 2^m ≤ 1/20
                if tail * 40 > 1 << m {
                    break;
                }
                rank = i + 1;
                binomial = binomial * (m - i) as u128 / (i as u128 + 1);
            }
            assert_eq!(median_ranks(m).unwrap().0, rank, "{m} trials");
        }
    }

    #[test]
    fn an_even_number_of_trials_has_the_mean_of_the_middle_two() {
        let list: Vec<_> = [4.0, 1.0, 3.0, 2.0].map(|s| trial(1, s, 0)).into();
        assert_eq!(format!("{:?}", summary(&list).unwrap().median_trial_seconds), "2.5");
    }

    #[test]
    fn one_trial_without_cycles_leaves_the_row_without_cycles() {
        let s = summary(&[trial(10, 1.0, 5), trial(10, 1.0, 0)]).unwrap();
        assert_eq!(s.mean_cycles, None);
        assert_eq!(s.median_trial_cycles, None);
        assert!(!s.guide_100_met);
    }

    #[test]
    fn trials_without_calls_or_time_are_refused() {
        assert_eq!(summary(&[]), Err(StatsError::NoTrials));
        assert_eq!(summary(&[trial(0, 1.0, 1)]), Err(StatsError::NoCalls(1)));
        let bad = [trial(1, 1.0, 1), trial(1, f64::NAN, 1)];
        assert_eq!(summary(&bad), Err(StatsError::NoTime(2)));
    }

    #[test]
    fn quantiles_are_samples_that_occurred() {
        let mut one = trial(4, 1.0, 0);
        one.samples_ns = vec![40, 10];
        let mut two = trial(4, 1.0, 0);
        two.samples_ns = vec![30, 20];
        let list = [one, two];
        let at = |q| sample_quantile(&list, q).unwrap();
        assert_eq!([at(0), at(250), at(500), at(501), at(1000)], [10, 10, 20, 30, 40]);
        assert_eq!(sample_quantile(&[], 500), None);
    }

    proptest! {
        #[test]
        fn the_median_lies_in_its_interval_and_the_interval_in_the_range(
            seconds in proptest::collection::vec(1e-9_f64..1e3, 1..60),
        ) {
            let list: Vec<_> = seconds.iter().map(|&s| trial(3, s, 7)).collect();
            let s = summary(&list).unwrap();
            prop_assert!(s.min_trial_seconds <= s.median_trial_seconds);
            prop_assert!(s.median_trial_seconds <= s.max_trial_seconds);
            prop_assert_eq!(s.median_interval.is_some(), seconds.len() >= 6);
            if let Some(i) = s.median_interval {
                prop_assert!(s.min_trial_seconds <= i.low_seconds);
                prop_assert!(i.low_seconds <= s.median_trial_seconds);
                prop_assert!(s.median_trial_seconds <= i.high_seconds);
                prop_assert!(i.coverage >= 0.95);
            }
        }
    }
}
