//! How much of each operation is spent in the symmetric helpers.
//!
//! A share the wrappers could not see is `not measurable` with the reason, never 0 %; a library that has none of the
//! helpers is `not applicable`.

use super::{Notes, Page, absent, paragraph};
use crate::profile_share::{NO_HELPER, Share};
use crate::report::doc::{Block, Cell, Class, Section, Table, numbers, words};
use crate::report::figures::Figure;
use crate::report::input::{Function, Outcome};
use crate::units;

/// How it was measured.
const METHOD: &str = "Share of each operation spent in the ICCS helpers that stand in for a hash and in the ICCS \
generator, seen by wrappers put in when linking; only the outermost call counts. The calls of the generator and the \
hashing inside it count as generator.";

pub(super) fn section(page: &Page<'_>) -> Section {
    let mut blocks = vec![verdict(page)];
    let rows: Vec<&Figure<'_>> = page.figures.iter().filter(|f| f.profile.is_some()).collect();
    if page.input.submission.function == Function::Hash || rows.is_empty() {
        blocks.push(paragraph("No operation was profiled."));
    } else {
        let mut table = Table::new(page.label_columns());
        table.columns.extend([
            words("operation"),
            numbers("pseudohash/XOF/sm3"),
            numbers("DRNG"),
            words("calls per operation"),
        ]);
        let mut notes = Notes::default();
        for figure in rows {
            let mut row = page.label(figure.implementation, figure.instance);
            row.push(Cell::text(figure.operation));
            row.extend(cells(figure, &mut notes));
            table.rows.push(row);
        }
        blocks.extend([paragraph(METHOD), Block::Table(table)]);
        blocks.extend(notes.blocks());
    }
    Section {
        id: "symmetric",
        title: "Symmetric primitives".to_owned(),
        short: "Symmetric",
        blocks,
    }
}

/// The survey's verdict.
fn verdict(page: &Page<'_>) -> Block {
    let mut line = vec![Cell::text("Survey verdict: ")];
    match &page.input.submission.survey {
        Some(survey) => {
            line.push(Cell::strong(&survey.verdict));
            if !survey.notes.is_empty() {
                line.push(Cell::text(format!(" — {}", survey.notes)));
            }
        }
        None => line.push(Cell::strong("not surveyed")),
    }
    Block::Paragraph(line)
}

fn cells(figure: &Figure<'_>, notes: &mut Notes) -> Vec<Cell> {
    let Some(shares) = &figure.shares else {
        let mut first = absent(figure.profile).expect("a profile without shares is absent");
        let reason = first.missing.clone().unwrap_or_default();
        first.text += &notes.mark(reason.clone());
        return vec![first, Cell::missing(&reason), Cell::missing(reason)];
    };
    let href = figure.profile.and_then(Outcome::href);
    let calls = if shares.calls_per_operation.is_empty() {
        Cell::missing("no helper call was seen")
    } else {
        Cell::text(units::calls(&shares.calls_per_operation))
    };
    vec![share(&shares.hash, notes).to(href), share(&shares.drng, notes).to(href), calls.to(href)]
}

fn share(share: &Share, notes: &mut Notes) -> Cell {
    match share {
        Share::Measured(value) => Cell::text(units::percent(*value)),
        Share::AtLeast(value) => {
            let mark = notes.mark(
                "A lower bound: some calls happen where the wrapper cannot see them.".to_owned(),
            );
            Cell::text(format!("≥ {}{mark}", units::percent(*value)))
        }
        Share::NotMeasurable(why) => Cell {
            missing: Some(why.clone()),
            ..Cell::text(format!("not measurable ({why})")).class(Class::Muted)
        },
        Share::NotApplicable => Cell {
            missing: Some(NO_HELPER.to_owned()),
            ..Cell::text(format!("not applicable{}", notes.mark(format!("{NO_HELPER}."))))
                .class(Class::Muted)
        },
    }
}
