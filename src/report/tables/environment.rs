//! Section 2: where and when it was measured, and what was not the same for all rows. Item 2 of the guide's report.

use std::collections::{BTreeMap, BTreeSet};

use super::Page;
use crate::report::doc::{Block, Cell, Section, Table, words};
use crate::report::figures::{architecture, environment};
use crate::report::input::Outcome;
use crate::report::wording;
use crate::result::Timing;

/// Facts that belong to the machine and must not change within a page. Readings such as the momentary clock may.
const STEADY: [&str; 19] = [
    "architecture",
    "cmake",
    "compiler",
    "cpu_model",
    "cpu_number",
    "cpufreq_boost",
    "cpufreq_governor",
    "cpufreq_max_khz",
    "cpufreq_min_khz",
    "hostname",
    "intel_pstate_no_turbo",
    "kernel",
    "machine",
    "memory_total_kib",
    "microcode",
    "os",
    "smt",
    "smt_control",
    "turbo",
];

pub(super) fn section(page: &Page<'_>) -> Section {
    let timings: Vec<&Timing> =
        page.figures.iter().filter_map(|f| f.timing.and_then(Outcome::done)).collect();
    let facts = environment(page.input);
    let mut table = Table::new(vec![words("item"), words("value")]);
    let mut row = |item: &str, value: String| {
        table.rows.push(vec![Cell::text(item), Cell::text(value)]);
    };
    row("processor", wording::processor(facts));
    if let Some(machine) = wording::fact(facts, "machine") {
        row("machine", machine.to_owned());
    }
    row("clock", wording::clock(facts, architecture(page.input)));
    row("memory", wording::memory(facts));
    row("OS / kernel", wording::pair(facts, "os", "kernel"));
    row("compiler / build tool", wording::pair(facts, "compiler", "cmake"));
    let campaign = &page.input.campaign;
    row(
        "campaign start / end (UTC)",
        format!(
            "{} / {}",
            wording::moment(&campaign.started_utc),
            wording::moment(&campaign.ended_utc)
        ),
    );
    let rounds: BTreeSet<String> = timings.iter().map(|t| t.round.to_string()).collect();
    if !rounds.is_empty() {
        row("rounds used", rounds.into_iter().collect::<Vec<_>>().join(", "));
    }
    let mut blocks = vec![Block::Table(table)];
    for (name, values) in differing(&timings) {
        let values: Vec<_> = values.into_iter().collect();
        blocks.push(Block::Paragraph(vec![
            Cell::text("Not the same for all rows: "),
            Cell::code(name),
            Cell::text(format!(" was {}.", values.join("; "))),
        ]));
    }
    Section {
        id: "environment",
        title: "2. Assessment environment".to_owned(),
        short: "Environment",
        blocks,
    }
}

/// Steady facts that have more than one value over the timings of the page.
fn differing<'a>(timings: &[&'a Timing]) -> BTreeMap<&'static str, BTreeSet<&'a str>> {
    let mut seen: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
    for timing in timings {
        for name in STEADY {
            let value = timing.environment.get(name).map_or("unknown", String::as_str);
            seen.entry(name).or_default().insert(value);
        }
    }
    seen.retain(|_, values| values.len() > 1);
    seen
}
