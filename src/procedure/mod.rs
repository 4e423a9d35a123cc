//! The code that carries actions out, by name. One file each; the registry is a plain list.
//!
//! Procedures see a [`Job`](crate::exec::job::Job) and nothing else: no plan, no workspace, no terminal.

pub mod cmake_project;

mod build;
mod choose;
mod command;
mod drivers;
mod kat;
mod page;
mod profile;
mod report_lines;
mod sizes;
mod timing;

use crate::action::ProcedureId;
use crate::exec::run::Procedure;

pub use page::{IndexParams, PageParams};
pub use timing::Settings as TimingSettings;

/// Every procedure: its id (raise the version when its results may change) and its code.
const ALL: [(ProcedureId, Procedure); 10] = [
    (DRIVERS, drivers::run),
    (BUILD, build::run),
    (KAT, kat::run),
    (CHOOSE, choose::run),
    (TIMING, timing::run),
    (PROFILE, profile::run),
    (SIZES, sizes::run),
    (COMMAND, command::run),
    (PAGE, page::run),
    (INDEX, page::run_index),
];

/// Compiles the measuring programs.
pub const DRIVERS: ProcedureId = ProcedureId { name: "drivers", version: 1 };
/// Compiles one instance with the first flag set that works.
pub const BUILD: ProcedureId = ProcedureId { name: "build", version: 2 };
/// Runs the known-answer test.
pub const KAT: ProcedureId = ProcedureId { name: "kat", version: 2 };
/// Decides which build of an instance is measured.
pub const CHOOSE: ProcedureId = ProcedureId { name: "choose", version: 1 };
/// Times one operation.
pub const TIMING: ProcedureId = ProcedureId { name: "timing", version: 1 };
/// Profiles one operation.
pub const PROFILE: ProcedureId = ProcedureId { name: "profile", version: 1 };
/// Reads static sizes off the library.
pub const SIZES: ProcedureId = ProcedureId { name: "sizes", version: 1 };
/// Runs a declared argv.
pub const COMMAND: ProcedureId = ProcedureId { name: "command", version: 1 };
/// Renders one page.
pub const PAGE: ProcedureId = ProcedureId { name: "page", version: 2 };
/// Renders the index.
pub const INDEX: ProcedureId = ProcedureId { name: "index", version: 1 };

/// Finds a procedure's code.
#[must_use]
pub fn find(name: &str) -> Option<Procedure> {
    ALL.iter().find(|(id, _)| id.name == name).map(|(_, code)| *code)
}
