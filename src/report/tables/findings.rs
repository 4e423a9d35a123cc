//! What somebody must look at: known-answer tests that differ, sizes that disagree, steps that failed.

use super::{Page, paragraph};
use crate::report::doc::{Block, Cell, Class, Section, Table, words};
use crate::report::wording::count;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let findings = &page.input.findings;
    if findings.is_empty() {
        return None;
    }
    let mut table =
        Table::new(vec![words("where"), words("finding"), words("expected"), words("what")]);
    for finding in findings {
        let (expected, class) =
            if finding.expected { ("yes", Class::Muted) } else { ("no", Class::Bad) };
        table.rows.push(vec![
            Cell::code(&finding.place),
            Cell::text(&finding.code).to(finding.href.as_deref()),
            Cell::text(expected).class(class),
            Cell::text(&finding.message),
        ]);
    }
    let expected = findings.iter().filter(|f| f.expected).count();
    let text = format!(
        "{}, {expected} of them announced by the manifest.",
        count(findings.len(), "finding")
    );
    Some(Section {
        id: "findings",
        title: "Findings".to_owned(),
        short: "Findings",
        blocks: vec![paragraph(text), Block::Table(table)],
    })
}
