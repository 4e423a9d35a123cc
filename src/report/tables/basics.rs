//! Section 1: what was measured. Item 1 of the guide's report.

use super::Page;
use crate::report::doc::{Block, Cell, Section};
use crate::report::figures::instances;

pub(super) fn section(page: &Page<'_>) -> Section {
    let submission = &page.input.submission;
    let line = |name: &str, value: &str| vec![Cell::text(format!("{name}: ")), Cell::text(value)];
    let implementations: Vec<&str> =
        page.input.implementations.iter().map(|i| i.name.as_str()).collect();
    let mut sets = vec![Cell::text("Parameter sets: ")];
    let mut named: Vec<&str> = Vec::new();
    for (_, instance) in instances(page.input) {
        if !named.contains(&instance.name.as_str()) {
            if !named.is_empty() {
                sets.push(Cell::text(", "));
            }
            sets.push(Cell::code(&instance.name));
            named.push(&instance.name);
        }
    }
    if named.is_empty() {
        sets.push(Cell::text("none"));
    }
    let mut list = vec![
        vec![Cell::text(format!(
            "Category: {}; function: {}",
            submission.function.category(),
            submission.function.words()
        ))],
        line("Algorithm", &submission.name),
        line(
            "Implementations measured",
            &if implementations.is_empty() {
                "none".to_owned()
            } else {
                implementations.join(", ")
            },
        ),
        sets,
    ];
    if let Some(licence) = &submission.licence {
        list.push(line("Licence of the source", licence));
    }
    if let Some(url) = &submission.page_url {
        list.push(vec![Cell::text("Submission: "), Cell::text("official page").to(Some(url))]);
    }
    Section {
        id: "basic",
        title: "1. Basic information".to_owned(),
        short: "Basics",
        blocks: vec![Block::List(list)],
    }
}
