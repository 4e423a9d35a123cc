//! Section 7: the evidence behind every figure. Item 7 of the guide's report.

use std::collections::BTreeMap;

use super::{Page, absent};
use crate::report::doc::{Block, Cell, Section, Table, words};
use crate::report::figures::instances;
use crate::report::input::{InstanceInput, Outcome};

pub(super) fn section(page: &Page<'_>) -> Section {
    let mut table = Table::new(page.label_columns());
    table.columns.extend([words("item"), words("file")]);
    for (implementation, instance) in instances(page.input) {
        for [item, file] in rows(instance) {
            let mut row = page.label(implementation, instance);
            row.extend([item, file]);
            table.rows.push(row);
        }
    }
    let lead = vec![
        Cell::text(
            "Each record names its command, inputs, tools, host and samples by content; paths are relative to this \
             page. KAT digests are those of the canonical text of the records, not of a log with wall times, so \
             anybody can compute them again. The chain behind a number: ",
        ),
        Cell::code("ngcc trace"),
        Cell::text("."),
    ];
    Section {
        id: "evidence",
        title: "7. Raw evidence index".to_owned(),
        short: "Evidence",
        blocks: vec![Block::Paragraph(lead), Block::Table(table)],
    }
}

/// KAT, build, timings, profiles, sizes; operations in plain order.
fn rows(instance: &InstanceInput) -> Vec<[Cell; 2]> {
    let digest = instance.kat.done().map(|k| k.canonical_sha256.chars().take(16).collect());
    let kat = match digest.filter(|d: &String| !d.is_empty()) {
        Some(digest) => format!("KAT text (canonical SHA-256 {digest}…)"),
        None => "KAT text".to_owned(),
    };
    let mut rows =
        vec![[Cell::text(kat), file(&instance.kat)], [Cell::text("build"), file(&instance.choice)]];
    rows.extend(by_operation("timing", &instance.timing));
    rows.extend(by_operation("hash profile", &instance.profile));
    rows.push([Cell::text("sizes"), file(&instance.sizes)]);
    rows
}

fn by_operation<'a, T>(
    item: &'a str,
    outcomes: &'a BTreeMap<String, Outcome<T>>,
) -> impl Iterator<Item = [Cell; 2]> + 'a {
    outcomes
        .iter()
        .map(move |(operation, outcome)| [Cell::text(format!("{item} {operation}")), file(outcome)])
}

/// The record's path, linked; or what happened instead.
fn file<T>(outcome: &Outcome<T>) -> Cell {
    match (absent(Some(outcome)), outcome.href()) {
        (Some(gap), _) => gap,
        (None, Some(path)) => Cell::code(path).to(Some(path)),
        (None, None) => Cell::missing("the record is not part of this page's evidence"),
    }
}
