//! What every verb starts from: where the workspace and the store are, and how to print.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use super::{CommandError, Verdict};
use crate::cli::{Cli, Exit, Format};
use crate::fetch::release::Cargo;
use crate::spec::Workspace;
use crate::store::Store;

/// What the program was told by its surroundings; read once, in `cli.rs`.
#[derive(Debug, Clone)]
pub struct Terminal {
    /// `PATH`, to find tools on.
    pub path: String,
    /// The user's cargo, which crates are obtained through.
    pub cargo: Cargo,
    /// This program.
    pub launcher: PathBuf,
    /// Colours are wanted.
    pub colour: bool,
    /// stderr is a terminal: a live view is of use.
    pub live: bool,
    /// The command line, for the run's history.
    pub command: Vec<String>,
    /// Trust no stamp: hash everything again.
    pub paranoid: bool,
    /// Output format.
    pub format: Format,
    /// When the program started.
    pub started: Instant,
}

/// The surroundings of one call.
#[derive(Debug)]
pub struct Context {
    /// Root of the workspace, if there is one.
    root: Option<PathBuf>,
    store: Option<PathBuf>,
    /// Terminal facts.
    pub terminal: Terminal,
}

impl Context {
    /// Finds the workspace: the option, else upwards from the current directory.
    ///
    /// # Errors
    /// When the current directory cannot be read or the option names no workspace.
    pub fn open(cli: &Cli, terminal: Terminal) -> Result<Self, CommandError> {
        let root = match &cli.workspace {
            Some(given) => {
                let root = std::path::absolute(given)?;
                if !root.join("pipelines").is_dir() {
                    return Err(CommandError::new(
                        Exit::Usage,
                        format!("`{}` is no workspace: it has no pipelines/", given.display()),
                    ));
                }
                Some(root)
            }
            None => Workspace::find_root(&std::env::current_dir()?),
        };
        Ok(Self { root, store: cli.store.clone(), terminal })
    }

    /// Root of the workspace.
    ///
    /// # Errors
    /// When there is none.
    pub fn root(&self) -> Result<&PathBuf, CommandError> {
        self.root.as_ref().ok_or_else(|| {
            CommandError::new(Exit::Usage, "no workspace here or above: no pipelines/ and kems/")
                .help("change into a clone of the project, or give one with -C DIR")
        })
    }

    /// Loads and checks all YAML files.
    ///
    /// # Errors
    /// Every mistake in them.
    pub fn workspace(&self) -> Result<Workspace, CommandError> {
        Ok(Workspace::load(self.root()?)?)
    }

    /// Opens the store.
    ///
    /// # Errors
    /// When it cannot be made or has another format.
    pub fn store(&self) -> Result<Store, CommandError> {
        let store = Store::open(&self.store_root()?)?;
        store.set_paranoid(self.terminal.paranoid);
        Ok(store)
    }

    /// Opens the store if there is one; what only looks makes none.
    ///
    /// # Errors
    /// As [`Context::store`].
    pub fn store_if_there(&self) -> Result<Option<Store>, CommandError> {
        if Store::is_at(&self.store_root()?) { self.store().map(Some) } else { Ok(None) }
    }

    /// Where the store is.
    ///
    /// # Errors
    /// When there is no workspace and no option.
    pub fn store_root(&self) -> Result<PathBuf, CommandError> {
        match &self.store {
            Some(given) => Ok(std::path::absolute(given)?),
            None => Ok(self.root()?.join("store")),
        }
    }

    /// Whether results are printed as JSON.
    #[must_use]
    pub fn json(&self) -> bool {
        self.terminal.format == Format::Json
    }
}

/// Prints text on stdout.
///
/// # Errors
/// A broken pipe, which counts as success.
pub fn print(text: &str) -> Verdict {
    print_bytes(text.as_bytes())
}

/// Prints bytes on stdout.
///
/// # Errors
/// A broken pipe, which counts as success.
pub fn print_bytes(bytes: &[u8]) -> Verdict {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Exit::Fine)
}

/// Prints a JSON document on stdout.
///
/// # Errors
/// A broken pipe, which counts as success.
pub fn print_json(value: &impl serde::Serialize) -> Verdict {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| CommandError::new(Exit::Bug, error.to_string()))?;
    text.push('\n');
    print(&text)
}

/// Rows of texts as lines with aligned columns, two blanks between; the last column is not padded.
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|r| r.get(column)).map(|t| t.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            line.push_str(cell);
            if column + 1 < row.len() {
                let pad = widths[column] - cell.chars().count() + 2;
                line.extend(std::iter::repeat_n(' ', pad));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_alphabet() {
        let rows = [vec!["id".into(), "name".into()], vec!["kem-18é".into(), "x".into()]];
        assert_eq!(table(&rows), "id       name\nkem-18é  x\n");
    }
}
