//! The columns of the figure files, CSV and JSON: name, unit, and where the value comes from.
//!
//! The first twenty are the columns of the published tables, as printed there; the others are unrounded, for programs.
//! To add a column, add a line. Knows no file format.

use serde::Serialize;

use super::figures::{Figure, unusable};
use super::input::{Outcome, PageInput};
use crate::profile_share::Share;
use crate::result::{Sizes, Timing};
use crate::stats::{Interval, Summary, sample_quantile};
use crate::units;

/// A value in a figure file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number as measured or computed; JSON has no form for one that is not finite, so it becomes `null` there.
    Real(f64),
    /// No value; the column `state` says why.
    None,
}

/// A column of the figure files.
pub(super) struct Column {
    /// Its name.
    pub(super) name: &'static str,
    /// Its unit; empty for words.
    pub(super) unit: &'static str,
    /// The value for one row.
    pub(super) value: fn(&PageInput, &Figure<'_>) -> Value,
}

const fn column(
    name: &'static str,
    unit: &'static str,
    value: fn(&PageInput, &Figure<'_>) -> Value,
) -> Column {
    Column { name, unit, value }
}

/// All columns, in order.
pub(super) const COLUMNS: [Column; 42] = [
    column("id", "", |page, _| text(&page.submission.id)),
    column("instance", "", |_, f| text(&f.instance.name)),
    column("operation", "", |_, f| text(f.operation)),
    column("mean_cycles_text", "cycles/op", |_, f| match (&f.summary, cycles(f)) {
        (Some(_), Some(cycles)) => text(units::cycles(cycles)),
        (Some(_), None) => text(units::NONE),
        (None, _) => Value::None,
    }),
    column("mean_time_text", "per op", |_, f| summary(f, |s| text(units::time(s.mean_seconds)))),
    column("ops_text", "op/s", |_, f| summary(f, |s| text(units::g3(s.operations_per_second)))),
    column("median_text", "per op", |_, f| {
        summary(f, |s| text(units::time(s.median_trial_seconds)))
    }),
    column("n", "calls", |_, f| summary(f, |s| Value::Whole(s.measurements))),
    column("trials", "", |_, f| summary(f, |s| Value::Whole(s.trials))),
    column("iters", "calls/trial", |_, f| timing(f, |t| Value::Whole(t.plan.iterations_per_trial))),
    column("elf_bytes", "B", |_, f| sizes(f, |s| Value::Whole(s.elf_load_bytes))),
    column("baseline_kib", "KiB", |_, f| timing(f, |t| Value::Whole(t.baseline_rss_bytes / 1024))),
    column("peak_kib", "KiB", |_, f| timing(f, |t| Value::Whole(t.peak_rss_bytes / 1024))),
    column("hash_share", "% of the op", |_, f| share(f.shares.as_ref().map(|s| &s.hash))),
    column("drng_share", "% of the op", |_, f| share(f.shares.as_ref().map(|s| &s.drng))),
    column("calls", "calls/op", |_, f| match &f.shares {
        Some(shares) => text(units::calls(&shares.calls_per_operation)),
        None => Value::None,
    }),
    column("pk", "B", |_, f| size(f, "pk")),
    column("sk", "B", |_, f| size(f, "sk")),
    column("ct", "B", |_, f| size(f, "ct")),
    column("ss", "B", |_, f| size(f, "ss")),
    column("implementation", "", |_, f| text(f.implementation)),
    column("system", "", |page, _| text(&page.system.id)),
    column("flags", "", |_, f| f.instance.choice.done().map_or(Value::None, |c| text(&c.flags))),
    column("kat", "", |_, f| match &f.instance.kat {
        Outcome::Done { result, .. } => text(&result.status),
        Outcome::Failed { word, .. } => text(word),
        Outcome::Missing { .. } => Value::None,
    }),
    column("counter", "", |_, f| timing(f, |t| text(&t.counter.source))),
    column("tick_hz", "Hz", |_, f| timing(f, |t| Value::Real(t.counter.tick_hz))),
    column("mean_cycles", "cycles/op", |_, f| cycles(f).map_or(Value::None, Value::Real)),
    column("mean_ticks", "ticks/op", |_, f| {
        summary(f, |s| s.mean_ticks.map_or(Value::None, Value::Real))
    }),
    column("mean_seconds", "s/op", |_, f| summary(f, |s| Value::Real(s.mean_seconds))),
    column("median_trial_seconds", "s/op", |_, f| {
        summary(f, |s| Value::Real(s.median_trial_seconds))
    }),
    column("median_low_seconds", "s/op", |_, f| interval(f, |i| i.low_seconds)),
    column("median_high_seconds", "s/op", |_, f| interval(f, |i| i.high_seconds)),
    column("min_trial_seconds", "s/op", |_, f| summary(f, |s| Value::Real(s.min_trial_seconds))),
    column("max_trial_seconds", "s/op", |_, f| summary(f, |s| Value::Real(s.max_trial_seconds))),
    column("sample_q10_ns", "ns", |_, f| sample(f, 100)),
    column("sample_q50_ns", "ns", |_, f| sample(f, 500)),
    column("sample_q90_ns", "ns", |_, f| sample(f, 900)),
    column("operations_per_second", "op/s", |_, f| {
        summary(f, |s| Value::Real(s.operations_per_second))
    }),
    column("round", "", |_, f| timing(f, |t| Value::Whole(t.round.into()))),
    column("state", "", |_, f| text(state(f))),
    column("timing_record", "", |_, f| record(f.timing)),
    column("profile_record", "", |_, f| record(f.profile)),
];

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Mean core cycles; none when something else was counted.
fn cycles(figure: &Figure<'_>) -> Option<f64> {
    let timing = figure.timing.and_then(Outcome::done)?;
    let cycles = figure.summary.as_ref()?.mean_cycles;
    cycles.filter(|_| timing.counter.source == crate::report::HARDWARE_CYCLES)
}

fn summary(figure: &Figure<'_>, read: fn(&Summary) -> Value) -> Value {
    figure.summary.as_ref().map_or(Value::None, read)
}

fn timing(figure: &Figure<'_>, read: fn(&Timing) -> Value) -> Value {
    figure.timing.and_then(Outcome::done).map_or(Value::None, read)
}

fn sizes(figure: &Figure<'_>, read: fn(&Sizes) -> Value) -> Value {
    figure.instance.sizes.done().map_or(Value::None, read)
}

fn interval(figure: &Figure<'_>, read: fn(&Interval) -> f64) -> Value {
    let interval = figure.summary.as_ref().and_then(|s| s.median_interval.as_ref());
    interval.map_or(Value::None, |i| Value::Real(read(i)))
}

/// A quantile of the single calls, where they were kept.
fn sample(figure: &Figure<'_>, per_mille: u64) -> Value {
    let timing = figure.timing.and_then(Outcome::done);
    let sample = timing.and_then(|t| sample_quantile(&t.trials, per_mille));
    sample.map_or(Value::None, Value::Whole)
}

/// The catalogue's size, else the API's.
fn size(figure: &Figure<'_>, name: &str) -> Value {
    let built = figure.instance.sizes.done();
    let timed = figure.timing.and_then(Outcome::done).map(|t| &t.sizes);
    let places = [built.map(|s| &s.catalogue), built.map(|s| &s.api), timed];
    let size = places.into_iter().flatten().find_map(|sizes| sizes.get(name));
    size.map_or(Value::None, |bytes| Value::Whole(*bytes))
}

fn share(share: Option<&Share>) -> Value {
    match share {
        Some(Share::Measured(value)) => text(units::percent(*value)),
        Some(Share::AtLeast(value)) => text(format!("≥ {}", units::percent(*value))),
        Some(Share::NotMeasurable(_)) => text("not measurable"),
        Some(Share::NotApplicable) => text("not applicable"),
        None => Value::None,
    }
}

/// `complete`, or what happened instead.
fn state(figure: &Figure<'_>) -> String {
    match figure.timing {
        Some(Outcome::Done { result, .. }) => {
            unusable(result).unwrap_or_else(|| "complete".to_owned())
        }
        Some(Outcome::Failed { word, reason, .. }) => format!("{word}: {reason}"),
        Some(Outcome::Missing { reason }) => reason.clone(),
        None => "not timed".to_owned(),
    }
}

fn record<T>(outcome: Option<&Outcome<T>>) -> Value {
    let done = outcome.filter(|o| o.done().is_some());
    done.and_then(Outcome::href).map_or(Value::None, text)
}
