//! Whether an implementation can be planned: its files are here, and its manifest has been checked against them.
//!
//! A manifest made from the catalogue alone guesses at sources and defines. Building from it would give failures that
//! look like the submission's, so a package counts as unavailable until somebody has inspected it. Our own directories
//! need no inspection: manifest and files stand in one workspace.

use super::Files;
use crate::plan::Unavailable;
use crate::spec::{Implementation, Source, Submission};

/// What there is of an implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Its files are here and its manifest is checked.
    Present,
    /// Its files are here; nobody has checked the manifest against them.
    NotInspected,
    /// Its files are not here.
    Absent,
}

impl State {
    /// In words, for tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::NotInspected => "not inspected",
            Self::Absent => "absent",
        }
    }
}

/// The state of an implementation whose files were looked for.
#[must_use]
pub fn state(
    submission: &Submission,
    implementation: &Implementation,
    files: &Result<Files, Unavailable>,
) -> State {
    match files {
        Err(_) => State::Absent,
        Ok(_) if submission.inspected || !is_package(implementation) => State::Present,
        Ok(_) => State::NotInspected,
    }
}

/// The files of an implementation that was looked for, unless its manifest still has to be inspected.
///
/// # Errors
/// A row that says what is missing and which commands help.
pub fn ready(
    submission: &Submission,
    implementation: &Implementation,
    files: Result<Files, Unavailable>,
) -> Result<Files, Unavailable> {
    let id = &submission.id;
    let inspect = format!("`ngcc kem inspect {id}`");
    match (state(submission, implementation, &files), files) {
        (State::NotInspected, Ok(_)) => Err(Unavailable {
            label: format!("{id}/{}", implementation.name),
            why: "not yet inspected".to_owned(),
            help: inspect,
        }),
        (_, Err(row)) if !submission.inspected && is_package(implementation) => Err(Unavailable {
            why: format!("not yet inspected; {}", row.why),
            help: format!("`ngcc kem fetch {id}`, then {inspect}"),
            ..row
        }),
        (_, files) => files,
    }
}

const fn is_package(implementation: &Implementation) -> bool {
    match &implementation.source {
        Source::Directory { .. } => false,
        Source::Archive { .. } | Source::Crate { .. } => true,
    }
}
