//! One file per verb; each reads like a recipe. `context.rs` opens what they share.

pub mod add;
pub mod check;
pub mod context;
pub mod diff;
mod engine;
pub mod export;
pub mod fetch;
pub mod graph;
pub mod host;
pub mod kat;
pub mod kem;
mod lineage;
pub mod list;
pub mod packages;
pub mod pages;
pub mod plan;
pub mod repair;
mod roots;
pub mod run;
pub mod runs;
pub mod schema;
pub mod session;
mod shelved;
pub mod standing;
pub mod store;
pub mod summary;
pub mod trace;
mod unpack;
pub mod update;
pub mod watch;
pub mod why;

use crate::cli::Exit;
use crate::diag::{Colour, Diagnostics};
use crate::plan::PlanError;
use crate::stage::StageError;
use crate::store::StoreError;

/// Why a verb did not do its work.
#[derive(Debug)]
pub struct CommandError {
    exit: Exit,
    message: String,
    help: Option<String>,
    diagnostics: Option<Diagnostics>,
    broken_pipe: bool,
}

impl CommandError {
    /// An error of a kind, with one sentence.
    #[must_use]
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { exit, message, help: None, diagnostics: None, broken_pipe: false }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// What went wrong, in one sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The exit code it stands for.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        self.exit
    }

    /// Whether the reader of our output went away.
    #[must_use]
    pub const fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }

    /// The error for people.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        if let Some(diagnostics) = &self.diagnostics {
            let colour = if colour { Colour::On } else { Colour::Off };
            return diagnostics.render(colour);
        }
        let (red, plain) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        let help = self.help.as_ref().map_or_else(String::new, |h| format!("\nhelp: {h}"));
        format!("{red}error{plain}: {}{help}", self.message)
    }

    /// The error as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        match &self.diagnostics {
            Some(diagnostics) => diagnostics.to_json().to_string(),
            None => serde_json::json!({
                "error": self.message, "help": self.help, "exit": self.exit as u8,
            })
            .to_string(),
        }
    }
}

impl From<Diagnostics> for CommandError {
    fn from(diagnostics: Diagnostics) -> Self {
        let mut error = Self::new(Exit::Spec, "the YAML files have mistakes");
        error.diagnostics = Some(diagnostics);
        error
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::new(Exit::Store, format!("store: {error}"))
    }
}

impl From<StageError> for CommandError {
    fn from(error: StageError) -> Self {
        let exit = match &error {
            StageError::Plan(PlanError::DuplicateLabel(_)) | StageError::Input { .. } => Exit::Spec,
            StageError::Plan(PlanError::NoSuchOutput { .. } | PlanError::Cycle(_)) => Exit::Bug,
            StageError::NoStage { .. } | StageError::NothingSelected(_) => Exit::Usage,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        let broken_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self { broken_pipe, ..Self::new(Exit::Usage, error.to_string()) }
    }
}

/// What a verb gives back.
pub type Verdict = Result<Exit, CommandError>;
