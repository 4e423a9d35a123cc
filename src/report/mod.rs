//! Pages: what was measured, as documents for people and as figures for programs.
//!
//! [`input`] is everything a page may know; [`page`] and [`index`] turn it into a [`doc::Doc`]; the renderers turn that
//! into bytes. Nothing here reads a store, a clock or the environment: same input, same bytes.

mod columns;
pub mod doc;
pub mod figures;
pub mod index;
pub mod input;
pub mod page;
mod render_csv;
mod render_html;
mod render_json;
mod render_md;
mod tables;
mod wording;

use std::collections::BTreeMap;

use crate::name::RelPath;
use input::{IndexInput, PageInput};

/// The counter source whose counts are core cycles; all others are ticks and never printed as cycles.
const HARDWARE_CYCLES: &str = "hw-cycles";

/// An output format of a page.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `index.md`.
    Md,
    /// `index.html`: one file, no script, no network.
    Html,
    /// `figures.csv`: one row per instance and operation.
    Csv,
    /// `figures.json`: the same with unrounded numbers and the links to the evidence.
    Json,
}

impl Format {
    /// All formats, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Md, Self::Html, Self::Csv, Self::Json];

    /// The file it is written to, inside the page's directory.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Md => "index.md",
            Self::Html => "index.html",
            Self::Csv => "figures.csv",
            Self::Json => "figures.json",
        }
    }
}

/// The files of one submission's page. Links in the input are taken relative to the page's directory.
#[must_use]
pub fn render(input: &PageInput, formats: &[Format]) -> BTreeMap<RelPath, Vec<u8>> {
    let one = |format: &Format| match format {
        Format::Md => render_md::render(&page::page(input)),
        Format::Html => render_html::render(&page::page(input)),
        Format::Csv => render_csv::figures(input, &figures::figures(input)),
        Format::Json => render_json::figures(input, &figures::figures(input)),
    };
    files(formats, one)
}

/// The files of the page that lists all submissions of a run.
#[must_use]
pub fn render_index(input: &IndexInput, formats: &[Format]) -> BTreeMap<RelPath, Vec<u8>> {
    let one = |format: &Format| match format {
        Format::Md => render_md::render(&index::page(input)),
        Format::Html => render_html::render(&index::page(input)),
        Format::Csv => render_csv::index(input),
        Format::Json => render_json::index(input),
    };
    files(formats, one)
}

fn files(formats: &[Format], one: impl Fn(&Format) -> String) -> BTreeMap<RelPath, Vec<u8>> {
    let path = |f: &Format| f.file_name().parse().expect("file names are relative paths");
    formats.iter().map(|f| (path(f), one(f).into_bytes())).collect()
}
