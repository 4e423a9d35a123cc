//! The files that people write: pipelines, submissions and systems, as checked plain values.
//!
//! Knows nothing of running, storing or reporting. `yaml.rs` reads documents with places (with `tree.rs`
//! and `probe.rs`), `reader.rs` and `fields.rs` are the vocabulary for reading values and keeping every error, one file
//! each reads a kind of file or a part of it, `workspace.rs` reads them all; `wire.rs` is their shape for editors.

mod command;
mod fields;
mod glob;
mod kat_manifest;
mod needs;
mod pipeline;
mod probe;
mod quantity;
mod reader;
mod recipe;
mod recipe_file;
mod repin;
mod schema;
mod stage;
mod submission;
mod system;
mod tree;
mod wire;
mod workspace;
mod yaml;

pub use command::{ArgPart, ArgTemplate, CommandSettings, InputRef, Scope};
pub use glob::{BadSelector, Pattern, Selector};
pub use pipeline::{FlagSet, Pipeline};
pub use recipe::{Api, Generator, Helper, KatSettings, Library, Patch, Recipe};
pub use repin::{ArchivePin, repin};
pub use schema::{schema_text, schemas};
pub use stage::{Limits, ProfileSettings, ReportFormat, Stage, StageKind, TimingSettings};
pub use submission::{
    ExpectedFinding, Function, Implementation, ImplementationVersion, Instance, Source, Submission,
    Survey,
};
pub use system::{DEFAULT_IDENTITY, FACTS, System};
pub use workspace::Workspace;

use workspace::read_file;
