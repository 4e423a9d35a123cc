//! The sections of a candidate page, one file each, and what they share: the rows and how rows are named.
//!
//! To add a section, write its file and name it in [`sections`]. Knows no output format.

mod basics;
mod environment;
mod evidence;
mod findings;
mod functional;
mod performance;
mod resources;
mod symmetric;
mod transmission;

pub(super) use functional::status;

use super::doc::{Block, Cell, Class, Column, Section, words};
use super::figures::{Figure, figures};
use super::input::{InstanceInput, Outcome, PageInput};

/// What every section reads.
#[derive(Debug)]
pub(super) struct Page<'a> {
    input: &'a PageInput,
    figures: Vec<Figure<'a>>,
}

/// All sections of a page, in order.
pub(super) fn sections(input: &PageInput) -> Vec<Section> {
    let page = Page { input, figures: figures(input) };
    let mut sections = vec![
        basics::section(&page),
        environment::section(&page),
        functional::section(&page),
        performance::section(&page),
        resources::section(&page),
        transmission::section(&page),
        symmetric::section(&page),
    ];
    sections.extend(findings::section(&page));
    sections.push(evidence::section(&page));
    sections
}

impl Page<'_> {
    /// The columns that name a row: the implementation only if there are several.
    fn label_columns(&self) -> Vec<Column> {
        let mut columns = vec![words("instance")];
        if self.input.implementations.len() > 1 {
            columns.insert(0, words("implementation"));
        }
        columns
    }

    /// The cells for [`Self::label_columns`].
    fn label(&self, implementation: &str, instance: &InstanceInput) -> Vec<Cell> {
        let mut cells = vec![Cell::code(&instance.name)];
        if self.input.implementations.len() > 1 {
            cells.insert(0, Cell::text(implementation));
        }
        cells
    }

    /// A row's name in a sentence: `Loong128 keygen`, `independent Loong128 keygen`.
    fn name(&self, figure: &Figure<'_>) -> String {
        let mut name = format!("{} {}", figure.instance.name, figure.operation);
        if self.input.implementations.len() > 1 {
            name = format!("{} {name}", figure.implementation);
        }
        name
    }
}

/// A cell for a result that is not there; none when it is.
fn absent<T>(outcome: Option<&Outcome<T>>) -> Option<Cell> {
    match outcome {
        Some(Outcome::Done { .. }) => None,
        Some(Outcome::Failed { word, reason, log }) => {
            let cell = Cell { missing: Some(reason.clone()), ..Cell::text(word) };
            Some(cell.class(Class::Bad).to(log.as_deref()))
        }
        Some(Outcome::Missing { reason }) => Some(Cell::missing(reason)),
        None => Some(Cell::missing("not part of this run")),
    }
}

/// A paragraph of plain text.
fn paragraph(text: impl Into<String>) -> Block {
    Block::Paragraph(vec![Cell::text(text)])
}

/// Numbered remarks under a table. The same remark keeps its number.
#[derive(Debug, Default)]
struct Notes(Vec<String>);

impl Notes {
    /// The mark for a remark, ` [1]`.
    fn mark(&mut self, note: String) -> String {
        let known = self.0.iter().position(|n| *n == note);
        let number = known.unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        format!(" [{}]", number + 1)
    }

    /// The remarks, one paragraph each.
    fn blocks(self) -> Vec<Block> {
        let one = |(i, note)| paragraph(format!("[{}] {note}", i + 1));
        self.0.into_iter().enumerate().map(one).collect()
    }
}
