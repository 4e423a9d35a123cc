//! Section 5: memory and code size. Item 5 of the guide's report.

use super::{Page, absent, paragraph};
use crate::elf::FAMILIES;
use crate::report::doc::{Block, Cell, Section, Table, numbers, words};
use crate::report::figures::{Figure, instances};
use crate::report::input::Outcome;
use crate::units;

/// What the figures include; without it they would be read as the algorithm's own.
const PROXIES: &str = "The ELF image is the memory size of all loadable segments of the library, zero-filled data \
included, stack and heap excluded. Resident sizes are those of the whole measuring process with driver and C library, \
before the first call and at their peak (VmHWM), in whole pages. Both are upper bounds for the algorithm.";

pub(super) fn section(page: &Page<'_>) -> Section {
    let mut memory = Table::new(page.label_columns());
    memory.columns.extend([
        words("operation"),
        numbers("static: ELF image (bytes)"),
        numbers("baseline RSS"),
        numbers("peak RSS"),
    ]);
    for figure in page.figures.iter().filter(|f| peak(f) > 0) {
        let mut row = page.label(figure.implementation, figure.instance);
        row.push(Cell::text(figure.operation));
        row.extend(cells(figure));
        memory.rows.push(row);
    }
    let mut blocks = vec![paragraph(PROXIES)];
    if memory.rows.is_empty() {
        blocks.push(paragraph("No resident sizes were recorded."));
    } else {
        blocks.push(Block::Table(memory));
    }
    let sections = sections(page);
    if !sections.rows.is_empty() {
        blocks.push(paragraph(
            "Bytes of the library by section family; dynamic-linking tables, unwind data and start-up code count \
             as other.",
        ));
        blocks.push(Block::Table(sections));
    }
    Section {
        id: "resources",
        title: "5. Resource consumption".to_owned(),
        short: "Resources",
        blocks,
    }
}

/// The peak of a complete timing, bytes; 0 when there is none.
fn peak(figure: &Figure<'_>) -> u64 {
    figure.timing.and_then(Outcome::done).map_or(0, |t| t.peak_rss_bytes)
}

fn cells(figure: &Figure<'_>) -> Vec<Cell> {
    let sizes = &figure.instance.sizes;
    let elf = match sizes.done() {
        Some(s) => Cell::text(s.elf_load_bytes.to_string()).to(sizes.href()),
        None => absent(Some(sizes)).expect("no result"),
    };
    let timing = figure.timing.and_then(Outcome::done).expect("only rows with a peak");
    let rss = |bytes| Cell::text(units::kib(bytes)).to(figure.timing.and_then(Outcome::href));
    vec![elf, rss(timing.baseline_rss_bytes), rss(timing.peak_rss_bytes)]
}

/// The table of section families; without rows when no library was measured.
fn sections(page: &Page<'_>) -> Table {
    let mut table = Table::new(page.label_columns());
    table.columns.extend(FAMILIES.iter().map(|f| numbers(f)));
    table.columns.push(numbers("library file"));
    for (implementation, instance) in instances(page.input) {
        let Some(sizes) = instance.sizes.done().filter(|s| !s.sections.is_empty()) else {
            continue;
        };
        let href = instance.sizes.href();
        let mut row = page.label(implementation, instance);
        for family in FAMILIES {
            row.push(match sizes.sections.get(family) {
                Some(bytes) => Cell::text(bytes.to_string()).to(href),
                None => Cell::missing("not recorded"),
            });
        }
        row.push(Cell::text(sizes.file_bytes.to_string()).to(href));
        table.rows.push(row);
    }
    table
}
