//! The page that lists all submissions of a run with their known-answer verdicts.

use std::collections::BTreeMap;

use super::doc::{Block, Cell, Class, Doc, Section, Table, numbers, words};
use super::input::{AbsentInput, Function, IndexInput, IndexRow};
use super::tables::status;
use super::wording;
use crate::name::natural_order;
use crate::units;

/// Builds the page.
#[must_use]
pub fn page(input: &IndexInput) -> Doc {
    let system = &input.system;
    let title = match system.arch.as_str() {
        "any" | "" => format!("Performance — system {}", system.id),
        arch => format!("Performance — {}, system {}", wording::architecture(arch), system.id),
    };
    let mut groups: BTreeMap<Function, Vec<&IndexRow>> = BTreeMap::new();
    // A submission without instances has nothing to show in a row; the section of absent packages names it.
    for row in sorted(input).into_iter().filter(|row| row.instances > 0) {
        groups.entry(row.function).or_default().push(row);
    }
    let mut sections: Vec<Section> =
        groups.into_iter().map(|(function, rows)| section(function, rows)).collect();
    if !input.absent.is_empty() {
        sections.push(absent(&input.absent));
    }
    Doc {
        title,
        trail: vec![Cell::text("Pipeline: "), Cell::code(&input.pipeline)],
        lead: lead(input),
        sections,
        footer: vec![Cell::text(concat!("Rendered by ngcc ", env!("CARGO_PKG_VERSION"), "."))],
    }
}

/// The submissions by function, in natural order of their ids.
pub(super) fn sorted(input: &IndexInput) -> Vec<&IndexRow> {
    let mut rows: Vec<_> = input.submissions.iter().collect();
    rows.sort_by(|a, b| a.function.cmp(&b.function).then_with(|| natural_order(&a.id, &b.id)));
    rows
}

fn lead(input: &IndexInput) -> Vec<Vec<Cell>> {
    let mut lead = Vec::new();
    if !input.system.description.is_empty() {
        lead.push(vec![Cell::text(&input.system.description)]);
    }
    lead.push(vec![Cell::text(format!(
        "Campaign (UTC): {} to {}.",
        wording::moment(&input.campaign.started_utc),
        wording::moment(&input.campaign.ended_utc)
    ))]);
    let total = |count: fn(&IndexRow) -> u64| input.submissions.iter().map(count).sum::<u64>();
    let instances = usize::try_from(total(|r| r.instances)).unwrap_or(usize::MAX);
    let measured = input.submissions.iter().filter(|r| r.instances > 0).count();
    let surprises = usize::try_from(total(|r| r.findings)).unwrap_or(usize::MAX);
    let mut line = vec![Cell::text(format!(
        "{}, {}; known-answer tests: ",
        wording::count(measured, "submission"),
        wording::count(instances, "instance"),
    ))];
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for (status, n) in input.submissions.iter().flat_map(|r| &r.kat) {
        *all.entry(status.clone()).or_default() += n;
    }
    for (i, (status, n)) in all.into_iter().enumerate() {
        line.extend((i > 0).then(|| Cell::text(", ")));
        line.push(verdicts(&BTreeMap::from([(status, n)])));
    }
    line.push(Cell::text(format!("; {}.", wording::count(surprises, "unexpected finding"))));
    lead.push(line);
    lead
}

fn section(function: Function, rows: Vec<&IndexRow>) -> Section {
    let mut table = Table::new(vec![
        words("id"),
        words("algorithm"),
        words("implementations"),
        numbers("instances"),
        words("KAT"),
        numbers("operations timed"),
        words("findings"),
    ]);
    table.rows = rows.into_iter().map(row).collect();
    let id = match function {
        Function::Kem => "kem",
        Function::Signature => "signature",
        Function::KeyExchange => "key-exchange",
        Function::Hash => "hash",
    };
    let title = function.plural();
    Section { id, title: title.to_owned(), short: title, blocks: vec![Block::Table(table)] }
}

/// What is not here, a row for all that the same commands obtain.
fn absent(groups: &[AbsentInput]) -> Section {
    let mut table = Table::new(vec![words("absent"), words("why"), words("to have it")]);
    table.rows = groups
        .iter()
        .map(|AbsentInput { what, why, help }| {
            let why = why.as_deref().unwrap_or("the package is not in the store");
            vec![Cell::text(what), Cell::text(why).class(Class::Muted), Cell::text(help)]
        })
        .collect();
    let title = "Not available".to_owned();
    Section { id: "absent", title, short: "Not available", blocks: vec![Block::Table(table)] }
}

fn row(row: &IndexRow) -> Vec<Cell> {
    let mut cells = vec![
        Cell::code(&row.id).to(row.href.as_deref()),
        Cell::text(&row.name),
        Cell::text(row.implementations.join(", ")),
        Cell::text(row.instances.to_string()),
    ];
    if row.unavailable.is_empty() {
        let timed = match row.timing_failed {
            0 => Cell::text(row.timed.to_string()),
            failed => Cell::text(format!("{}, {failed} failed", row.timed)).class(Class::Bad),
        };
        cells.extend([verdicts(&row.kat), timed, findings(row)]);
    } else {
        cells.extend([
            Cell::missing(&row.unavailable),
            Cell::missing(&row.unavailable),
            Cell::text(&row.unavailable).class(Class::Muted),
        ]);
    }
    cells
}

/// `4 PASS`, `4 MISMATCH, 1 NOKAT`: weighed by the worst of them.
fn verdicts(kat: &BTreeMap<String, u64>) -> Cell {
    let each: Vec<(&str, u64)> =
        kat.iter().filter(|(_, n)| **n > 0).map(|(s, n)| (s.as_str(), *n)).collect();
    if each.is_empty() {
        return Cell::missing("no known-answer test was run");
    }
    let classes: Vec<Class> = each.iter().map(|(s, _)| status(s)).collect();
    let worst = [Class::Bad, Class::Warn, Class::Ok].into_iter().find(|c| classes.contains(c));
    let text: Vec<String> =
        each.iter().map(|(status, n)| format!("{n} {}", named(status))).collect();
    Cell::text(text.join(", ")).class(worst.unwrap_or(Class::Muted))
}

/// A verdict in words; `–` is the lack of one.
fn named(status: &str) -> &str {
    if status == units::NONE { "without a verdict" } else { status }
}

fn findings(row: &IndexRow) -> Cell {
    let expected = format!("{} expected", row.expected_findings);
    match (row.findings, row.expected_findings) {
        (0, 0) => Cell::text("0").class(Class::Muted),
        (0, _) => Cell::text(expected).class(Class::Muted),
        (n, 0) => Cell::text(format!("{n} unexpected")).class(Class::Bad),
        (n, _) => Cell::text(format!("{n} unexpected, {expected}")).class(Class::Bad),
    }
}
