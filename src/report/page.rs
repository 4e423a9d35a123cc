//! The page of one submission on one system, in the structure of the guide's self-assessment report.

use super::doc::{Cell, Class, Doc};
use super::input::PageInput;
use super::{figures, tables, wording};

/// Builds the page.
#[must_use]
pub fn page(input: &PageInput) -> Doc {
    let (submission, system) = (&input.submission, &input.system);
    let arch = wording::architecture(figures::architecture(input));
    Doc {
        title: format!(
            "{} {} — performance on {arch} (system {})",
            submission.id, submission.name, system.id
        ),
        trail: trail(input),
        lead: lead(input),
        sections: tables::sections(input),
        footer: vec![Cell::text(concat!(
            "Rendered by ngcc ",
            env!("CARGO_PKG_VERSION"),
            " from the records above; the same records give the same page."
        ))],
    }
}

/// Where the page stands: all submissions, this system, this submission, other systems.
fn trail(input: &PageInput) -> Vec<Cell> {
    let mut trail = vec![
        Cell::text("All submissions").to(input.index_href.as_deref()),
        Cell::text(" › "),
        Cell::code(&input.submission.id),
        Cell::text(" · system: "),
        Cell::strong(&input.system.id),
    ];
    for other in &input.other_systems {
        trail.extend([Cell::text(" · "), Cell::text(&other.text).to(Some(&other.href))]);
    }
    trail
}

/// What kind of page this is, and whether something is wrong.
fn lead(input: &PageInput) -> Vec<Vec<Cell>> {
    let mut lead = vec![vec![Cell::text(format!(
        "Measured independently, in the structure of §3.5 (1)–(7) of the NICCS {} self-assessment guide; this is not \
         the submitters' own assessment.",
        wording::guide(figures::architecture(input))
    ))]];
    if !input.system.description.is_empty() {
        lead.push(vec![Cell::text(format!(
            "System {}: {}",
            input.system.id, input.system.description
        ))]);
    }
    let surprises = input.findings.iter().filter(|f| !f.expected).count();
    if surprises > 0 {
        let text = format!("{} to look at", wording::count(surprises, "finding"));
        lead.push(vec![
            Cell::text(text).class(Class::Bad).to(Some("#findings")),
            Cell::text(", see below."),
        ]);
    }
    lead
}
