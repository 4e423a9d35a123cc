//! What a page is: sections of paragraphs, lists and tables, made of cells. The same content for every format.
//!
//! A cell without a number says why; there is no empty place on a page whose cause is unknown. Knows nothing of Markdown
//! or HTML: escaping is the renderers' duty, and text in here may hold anything.

use serde::Serialize;

use crate::units;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doc {
    /// The heading, and the title of the file.
    pub title: String,
    /// The line above the heading: where this page stands among others.
    pub trail: Vec<Cell>,
    /// Paragraphs below the heading.
    pub lead: Vec<Vec<Cell>>,
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: Vec<Cell>,
}

/// A part of a page under a heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its anchor: lower-case letters and dashes.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// A short heading for navigation.
    pub short: &'static str,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "content")]
pub enum Block {
    /// A paragraph.
    Paragraph(Vec<Cell>),
    /// A bullet list.
    List(Vec<Vec<Cell>>),
    /// A table.
    Table(Table),
}

/// A table. Every row has as many cells as there are columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub const fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// How its cells line up.
    pub align: Align,
}

/// How the cells of a column line up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column of words.
#[must_use]
pub fn words(title: &str) -> Column {
    Column { title: title.to_owned(), align: Align::Left }
}

/// A column of numbers.
#[must_use]
pub fn numbers(title: &str) -> Column {
    Column { title: title.to_owned(), align: Align::Right }
}

/// The weight of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// All is well.
    Ok,
    /// Wrong.
    Bad,
    /// To be looked at.
    Warn,
    /// Of no weight.
    Muted,
}

/// How a cell's text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Face {
    /// As the rest.
    Plain,
    /// A name to be typed: fixed width.
    Code,
    /// Emphasis.
    Strong,
}

/// A run of text in a table, a list or a paragraph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// Where it leads: relative, or `https:`/`http:`.
    pub link: Option<String>,
    /// Its weight.
    pub class: Option<Class>,
    /// How it is set.
    pub face: Face,
    /// Why there is no value, if there is none.
    pub missing: Option<String>,
}

impl Cell {
    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), link: None, class: None, face: Face::Plain, missing: None }
    }

    /// A name set in fixed width.
    #[must_use]
    pub fn code(text: impl Into<String>) -> Self {
        Self { face: Face::Code, ..Self::text(text) }
    }

    /// Emphasis.
    #[must_use]
    pub fn strong(text: impl Into<String>) -> Self {
        Self { face: Face::Strong, ..Self::text(text) }
    }

    /// No value, with the reason.
    #[must_use]
    pub fn missing(reason: impl Into<String>) -> Self {
        Self { missing: Some(reason.into()), class: Some(Class::Muted), ..Self::text(units::NONE) }
    }

    /// The same cell leading somewhere. A link that could run something (`javascript:`) is dropped.
    #[must_use]
    pub fn to(self, href: Option<&str>) -> Self {
        let fine = |h: &&str| {
            let scheme = h.split(['/', '?', '#']).next().unwrap_or("").split_once(':');
            scheme.is_none_or(|(scheme, _)| matches!(scheme, "http" | "https"))
                && !h.is_empty()
                && !h.contains(char::is_control)
        };
        Self { link: href.filter(fine).map(ToOwned::to_owned), ..self }
    }

    /// The same cell with a weight.
    #[must_use]
    pub fn class(self, class: Class) -> Self {
        Self { class: Some(class), ..self }
    }
}

/// The text on one line and without characters that could turn the line around: line breaks and other control
/// characters become blanks, direction overrides the replacement character. Both renderers pass all text through here.
#[must_use]
pub fn visible(text: &str) -> String {
    let one = |c: char| match c {
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_relative_or_web_and_never_runs_anything() {
        let link = |h| Cell::text("x").to(Some(h)).link;
        for good in ["a/b.json", "../x#y:z", "https://a.example/?q=1:2", "http://a.example"] {
            assert_eq!(link(good).as_deref(), Some(good));
        }
        for bad in ["javascript:alert(1)", "data:text/html,x", "", "JaVaScRiPt:1", "java\nscript:1"]
        {
            assert_eq!(link(bad), None, "{bad}");
        }
        assert_eq!(Cell::text("x").to(None).link, None);
    }

    #[test]
    fn text_cannot_break_or_turn_its_line() {
        assert_eq!(visible("a\r\nb\0\u{202E}c×"), "a  b \u{FFFD}c×");
    }
}
