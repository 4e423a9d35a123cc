//! Section 3: what the known-answer test gave, with which flags. Item 3 of the guide's report.

use super::{Notes, Page, absent};
use crate::report::doc::{Block, Cell, Class, Section, Table, words};
use crate::report::figures::instances;
use crate::report::input::{InstanceInput, Outcome};
use crate::units;

pub(super) fn section(page: &Page<'_>) -> Section {
    let mut table = Table::new(page.label_columns());
    table.columns.extend([words("build flags"), words("KAT")]);
    let mut notes = Notes::default();
    for (implementation, instance) in instances(page.input) {
        let mut row = page.label(implementation, instance);
        row.push(flags(instance, &mut notes));
        row.push(verdict(instance, &mut notes));
        table.rows.push(row);
    }
    let mut blocks = vec![
        Block::Paragraph(vec![
            Cell::text(
                "Before anything was timed, each library generated the known-answer records, and their canonical text \
                 was compared with the SHA-256 digests in ",
            ),
            Cell::code(format!("{}/kat.sha256", page.input.submission.id)),
            Cell::text(", which are those of the published vectors."),
        ]),
        Block::Table(table),
    ];
    blocks.extend(notes.blocks());
    Section { id: "kat", title: "3. Functional testing (KAT)".to_owned(), short: "KAT", blocks }
}

/// The flag set in use; a remark says why an earlier one was not taken.
fn flags(instance: &InstanceInput, notes: &mut Notes) -> Cell {
    let Some(choice) = instance.choice.done() else {
        return with_reason(absent(Some(&instance.choice)), notes);
    };
    let mut text = choice.flags.clone();
    for (set, why) in &choice.rejected {
        text += &notes.mark(format!("Flag set {set} was not used: {why}"));
    }
    Cell::text(text).to(instance.choice.href())
}

/// The verdict; remarks say what differs and what the manifest expects.
fn verdict(instance: &InstanceInput, notes: &mut Notes) -> Cell {
    let mut cell = match &instance.kat {
        Outcome::Done { result, .. } => {
            let mut text = result.status.clone();
            if !result.detail.is_empty() {
                text += &notes.mark(result.detail.clone());
            }
            Cell::text(text).class(status(&result.status)).to(instance.kat.href())
        }
        Outcome::Failed { .. } | Outcome::Missing { .. } => {
            with_reason(absent(Some(&instance.kat)), notes)
        }
    };
    for note in &instance.expected {
        cell.text += &notes.mark(format!("Expected by the manifest: {note}"));
    }
    cell
}

/// A cell whose reason is printed as a remark.
fn with_reason(cell: Option<Cell>, notes: &mut Notes) -> Cell {
    let mut cell = cell.expect("only for a result that is not there");
    if let Some(reason) = &cell.missing {
        cell.text += &notes.mark(reason.clone());
    }
    cell
}

/// The weight of a verdict.
pub(in crate::report) fn status(status: &str) -> Class {
    match status {
        "PASS" => Class::Ok,
        "NOKAT" | "TIMEOUT" | "PARTIAL" => Class::Warn,
        "SKIP" | units::NONE => Class::Muted,
        _ => Class::Bad,
    }
}
