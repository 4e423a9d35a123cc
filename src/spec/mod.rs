//! The files that people write: pipelines, submissions and systems, as checked plain values.
//!
//! Knows nothing of running, storing or reporting. `yaml.rs` reads documents with places, `reader.rs` is the vocabulary
//! for reading values and keeping every error, one file each reads a kind of file, `workspace.rs` reads them all.

mod command;
mod glob;
mod kat_manifest;
mod needs;
mod picking;
mod pipeline;
mod probe;
mod quantity;
mod reader;
mod recipe;
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
pub use picking::Picked;
pub use pipeline::{FlagSet, Pipeline};
pub use recipe::{Api, Helper, KatSettings, Library, Patch, Recipe};
pub use schema::schemas;
pub use stage::{Limits, ProfileSettings, ReportFormat, Stage, StageKind, TimingSettings};
pub use submission::{
    ExpectedFinding, Function, Implementation, ImplementationVersion, Instance, Source, Submission,
    Survey,
};
pub use system::{DEFAULT_IDENTITY, FACTS, System};
pub use workspace::Workspace;

use workspace::read_file;
