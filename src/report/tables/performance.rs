//! Section 4: cycles and times. Item 4 of the guide's report.
//!
//! Ticks of a constant-rate counter never stand under `mean cycles`: they get a column that names counter and rate, and
//! a sentence says why there are no cycles.

use std::collections::{BTreeMap, BTreeSet};

use super::{Page, absent, paragraph};
use crate::report::HARDWARE_CYCLES;
use crate::report::doc::{Block, Cell, Class, Section, Table, numbers, words};
use crate::report::figures::{Figure, unusable};
use crate::report::input::Outcome;
use crate::report::wording;
use crate::result::Timing;
use crate::stats::Summary;
use crate::units;

pub(super) fn section(page: &Page<'_>) -> Section {
    let rows: Vec<&Figure<'_>> = page.figures.iter().filter(|f| f.timing.is_some()).collect();
    let counters = counters(&rows);
    let intervals = page.input.intervals
        && rows.iter().any(|f| f.summary.as_ref().is_some_and(|s| s.median_interval.is_some()));
    let mut table = Table::new(page.label_columns());
    table.columns.extend([words("operation"), numbers("mean cycles")]);
    table.columns.extend(counters.values().map(|heading| numbers(heading)));
    table.columns.extend([numbers("mean time"), numbers("ops/s"), numbers("median trial")]);
    if intervals {
        table.columns.push(numbers("interval of the median"));
    }
    table.columns.push(numbers("n (trials × iters)"));
    for figure in &rows {
        let mut row = page.label(figure.implementation, figure.instance);
        row.push(Cell::text(figure.operation));
        row.extend(cells(figure, &counters, intervals));
        table.rows.push(row);
    }
    let mut blocks = Vec::new();
    if rows.is_empty() {
        blocks.push(paragraph("No operation was timed."));
    } else {
        blocks.push(Block::Table(table));
        blocks.extend(no_cycles(&rows));
        if intervals {
            blocks.push(paragraph(INTERVAL));
        }
        blocks.extend(remarks(page, &rows));
    }
    Section { id: "performance", title: "4. Performance".to_owned(), short: "Performance", blocks }
}

/// What the interval means.
const INTERVAL: &str = "The interval runs between two observed trials and covers the median trial with a probability \
of at least 95 %, whatever the distribution (order statistics, exact binomial). It needs at least 6 trials.";

/// The tick counters used on this page: source to column heading, with the range of rates if they differ.
fn counters(rows: &[&Figure<'_>]) -> BTreeMap<String, String> {
    let mut rates: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for timing in rows.iter().filter_map(|f| f.timing?.done()) {
        let counter = &timing.counter;
        if counter.source != HARDWARE_CYCLES && counter.source != "none" {
            let (low, high) =
                rates.entry(&counter.source).or_insert((counter.tick_hz, counter.tick_hz));
            *low = low.min(counter.tick_hz);
            *high = high.max(counter.tick_hz);
        }
    }
    let heading = |source: &str, (low, high): (f64, f64)| {
        let word = if source == "tsc" { "ticks" } else { "timer" };
        let (low, high) = (units::rate(low), units::rate(high));
        let rate = if low == high { low } else { format!("{low} to {high}") };
        format!("{word} @{rate} ({source})")
    };
    rates.into_iter().map(|(source, hz)| (source.to_owned(), heading(source, hz))).collect()
}

/// The figures of a row, or the failure in their place.
fn cells(figure: &Figure<'_>, counters: &BTreeMap<String, String>, intervals: bool) -> Vec<Cell> {
    let width = 5 + counters.len() + usize::from(intervals);
    let (Some(Outcome::Done { result, .. }), Some(summary)) = (figure.timing, &figure.summary)
    else {
        let unusable = figure.timing.and_then(Outcome::done).and_then(unusable);
        let first = unusable
            .map(|why| Cell::missing(why).class(Class::Bad))
            .or_else(|| absent(figure.timing))
            .expect("a timing without a summary is absent or unusable");
        let reason = first.missing.clone().unwrap_or_default();
        let mut cells = vec![first];
        cells.resize_with(width, || Cell::missing(&reason));
        return cells;
    };
    let href = figure.timing.and_then(Outcome::href);
    let number = |text: String| Cell::text(text).to(href);
    let hardware = result.counter.source == HARDWARE_CYCLES;
    let mut cells = vec![match summary.mean_cycles {
        Some(cycles) if hardware => number(units::cycles(cycles)),
        _ => Cell::missing("no core cycles were counted"),
    }];
    for source in counters.keys() {
        cells.push(match summary.mean_ticks {
            Some(ticks) if *source == result.counter.source => number(units::cycles(ticks)),
            _ => Cell::missing("not counted by this counter"),
        });
    }
    cells.push(number(units::time(summary.mean_seconds)));
    cells.push(number(units::g3(summary.operations_per_second)));
    cells.push(number(units::time(summary.median_trial_seconds)));
    if intervals {
        cells.push(interval(summary).to(href));
    }
    let n = number(units::measurements(
        summary.measurements,
        summary.trials,
        result.plan.iterations_per_trial,
    ));
    cells.push(if summary.guide_100_met { n } else { n.class(Class::Warn) });
    cells
}

/// `[2.05 ms, 2.07 ms]`.
fn interval(summary: &Summary) -> Cell {
    match summary.median_interval {
        Some(i) => {
            Cell::text(format!("[{}, {}]", units::time(i.low_seconds), units::time(i.high_seconds)))
        }
        None => Cell::missing("fewer than 6 trials"),
    }
}

/// Sentences on why there are no cycles, one per counter and reason.
fn no_cycles(rows: &[&Figure<'_>]) -> Vec<Block> {
    let timings = rows.iter().filter_map(|f| f.timing?.done());
    let others = timings.filter(|t| t.counter.source != HARDWARE_CYCLES);
    let reasons: BTreeSet<(&str, &str)> =
        others.map(|t| (t.counter.source.as_str(), t.counter.note.as_str())).collect();
    let sentence = |(source, note): (&str, &str)| {
        let why = if note.is_empty() { "no reason was recorded" } else { note };
        let instead = match source {
            "none" => "Nothing else was counted in their place.".to_owned(),
            "tsc" => "The time-stamp counter runs at a constant rate, whatever the core's clock: \
                      its ticks are no cycles and cannot be compared with them."
                .to_owned(),
            other => format!(
                "The counter `{other}` runs at a constant rate: its ticks are no cycles and cannot be compared \
                 with them."
            ),
        };
        paragraph(format!("Core cycles are not available: {why}. {instead}"))
    };
    reasons.into_iter().map(sentence).collect()
}

/// What a reader of the table must know: short rows, repeated trials, failures.
fn remarks(page: &Page<'_>, rows: &[&Figure<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let short: Vec<String> = rows
        .iter()
        .filter(|f| f.summary.as_ref().is_some_and(|s| !s.guide_100_met))
        .map(|f| page.name(f))
        .collect();
    if !short.is_empty() {
        blocks.push(paragraph(format!(
            "Fewer than the guide's 100 measurements: {}.",
            short.join(", ")
        )));
    }
    let retries = |t: &Timing| usize::try_from(t.disturbed_retries).unwrap_or(usize::MAX);
    let again: Vec<String> = rows
        .iter()
        .filter_map(|f| Some((f, f.timing?.done().filter(|t| t.disturbed_retries > 0)?)))
        .map(|(f, t)| format!("{} ({})", page.name(f), wording::count(retries(t), "trial")))
        .collect();
    if !again.is_empty() {
        blocks.push(paragraph(format!(
            "Run again because the processor was taken away meanwhile: {}.",
            again.join(", ")
        )));
    }
    for figure in rows {
        let reason = match figure.timing {
            Some(Outcome::Failed { reason, .. }) => Some(reason.clone()),
            Some(Outcome::Done { result, .. }) => unusable(result),
            Some(Outcome::Missing { .. }) | None => None,
        };
        if let Some(reason) = reason {
            blocks.push(paragraph(format!("{}: {reason}", page.name(figure))));
        }
    }
    blocks
}
