//! `ngcc kem fetch`: the pinned archives of submissions, from a folder or the network into the store, and unpacked.
//!
//! Every archive is its own affair: one that cannot be had is a line, and the others go on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::context::{Context, print, print_json};
use super::{CommandError, Verdict, unpack};
use crate::cli::{Exit, FetchArgs};
use crate::event::{Transfer, human_bytes};
use crate::exec::interrupt::Level;
use crate::exec::process::{Interrupt, Runner};
use crate::fetch::download::{DownloadError, Patience};
use crate::fetch::{Found, Obtain, ObtainError, Place, Wanted};
use crate::package::{self, Package};
use crate::spec::{Implementation, Source, Submission, Workspace};
use crate::store::Store;

/// Runs the verb.
///
/// # Errors
/// Invalid YAML, an unknown submission, an unusable store. Archives that cannot be had are in the exit code.
pub fn run(context: &Context, args: &FetchArgs) -> Verdict {
    let workspace = context.workspace()?;
    let store = context.store()?;
    if args.ids.is_empty() && !args.all {
        return Err(CommandError::new(Exit::Usage, "nothing is named to fetch")
            .help("name submissions (`ngcc kem fetch kem-18 'ref-*'`), or give --all"));
    }
    for selector in &args.ids {
        let known = |s: &Submission| {
            let parts = s.implementations.keys();
            parts.into_iter().any(|i| selector.matches(s.id.as_str(), i.as_str(), "*"))
        };
        if !workspace.submissions.values().any(known) {
            return Err(CommandError::new(
                Exit::Usage,
                format!("`{selector}` names no submission; `ngcc kem list` shows what there is"),
            ));
        }
    }
    let chosen = |submission: &Submission, implementation: &Implementation| {
        let (id, name) = (submission.id.as_str(), implementation.name.as_str());
        args.all || args.ids.iter().any(|s| s.matches(id, name, "*"))
    };
    let how = How {
        from: args.from.as_deref(),
        offline: args.offline,
        again: args.again,
        tries: args.retry + 1,
    };
    let rows = fetch(context, &workspace, &store, &chosen, &how)?;
    if context.json() {
        print_json(&rows)?;
    } else {
        let mut text: String = rows.iter().map(Row::line).collect();
        if rows.is_empty() {
            text.push_str("nothing to fetch: the source of what is named is in this workspace\n");
        }
        for submission in workspace.submissions.values().filter(|s| !s.inspected) {
            let mut fetched = rows.iter().filter(|row| row.problem.is_none());
            if fetched.any(|row| row.submissions.contains(&submission.id.to_string())) {
                let _ = writeln!(text, "next: ngcc kem inspect {}", submission.id);
            }
        }
        if rows.iter().any(|row| row.problem.is_some()) && args.from.is_none() {
            text.push_str(
                "help: a file that was downloaded by other means is taken with --from FOLDER\n",
            );
        }
        print(&text)?;
    }
    if rows.iter().any(|row| row.interrupted) {
        return Ok(Exit::Interrupted);
    }
    let failed = rows.iter().any(|row| row.problem.is_some());
    Ok(if failed { Exit::Findings } else { Exit::Fine })
}

/// Where to look, and how hard.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    /// A folder of downloads, or the archive itself.
    pub from: Option<&'a Path>,
    /// The network is not to be used.
    pub offline: bool,
    /// Unpack also what is unpacked already.
    pub again: bool,
    /// Attempts in a row that may bring nothing.
    pub tries: u32,
}

/// What became of one archive.
#[derive(Debug, serde::Serialize)]
pub struct Row {
    archive: String,
    sha256: String,
    submissions: Vec<String>,
    state: &'static str,
    files: usize,
    bytes: u64,
    problem: Option<String>,
    interrupted: bool,
}

impl Row {
    /// Whether it was not there before, or still is not.
    #[must_use]
    pub fn is_news(&self) -> bool {
        self.state != "present" || self.problem.is_some()
    }

    /// Whether the user had enough.
    #[must_use]
    pub const fn was_interrupted(&self) -> bool {
        self.interrupted
    }

    /// For people.
    #[must_use]
    pub fn line(&self) -> String {
        let whose = self.submissions.join(", ");
        match &self.problem {
            Some(problem) => format!("failed   {} ({whose}): {problem}\n", self.archive),
            None => format!(
                "{:<8} {} ({whose}): {} files, {}\n",
                self.state,
                self.archive,
                self.files,
                human_bytes(self.bytes)
            ),
        }
    }
}

/// Fetches the archives of the chosen implementations, each once.
///
/// # Errors
/// When this program cannot start children.
pub fn fetch(
    context: &Context,
    workspace: &Workspace,
    store: &Store,
    chosen: &dyn Fn(&Submission, &Implementation) -> bool,
    how: &How<'_>,
) -> Result<Vec<Row>, CommandError> {
    let mut wanted: BTreeMap<Wanted, Vec<String>> = BTreeMap::new();
    for submission in workspace.submissions.values() {
        for implementation in submission.implementations.values() {
            if chosen(submission, implementation)
                && let Some(pin) = pin(implementation)
            {
                let whose = wanted.entry(pin).or_default();
                let id = submission.id.to_string();
                if !whose.contains(&id) {
                    whose.push(id);
                }
            }
        }
    }
    let interrupt = Interrupt::install()?;
    let runner = Runner::new(context.terminal.launcher.clone());
    let obtain = Obtain {
        store,
        cargo: &context.terminal.cargo,
        runner: &runner,
        interrupt: &interrupt,
        from: how.from,
        offline: how.offline,
        patience: Patience { tries: how.tries, ..Patience::default() },
    };
    let mut rows = Vec::new();
    for (wanted, submissions) in wanted {
        let mut row = Row {
            archive: wanted.name.clone(),
            sha256: wanted.sha256.clone(),
            submissions,
            state: "present",
            files: 0,
            bytes: 0,
            problem: None,
            interrupted: false,
        };
        let result = match package::find(store, &wanted.sha256, &wanted.nested)? {
            Some(package) if !how.again => Ok(package),
            _ => one(context, &obtain, &wanted, &mut row.state),
        };
        match result {
            Ok(package) => {
                row.files = package.files.len();
                row.bytes = package.files.values().map(|m| m.len).sum();
            }
            Err(problem) => row.problem = Some(problem),
        }
        row.interrupted = interrupt.level() > Level::None;
        let stop = row.interrupted;
        rows.push(row);
        if stop {
            break;
        }
    }
    store.flush()?;
    Ok(rows)
}

/// One archive: obtained, unpacked, kept.
fn one(
    context: &Context,
    obtain: &Obtain<'_>,
    wanted: &Wanted,
    state: &mut &'static str,
) -> Result<Package, String> {
    let total = match wanted.from {
        Place::File { bytes, .. } => bytes,
        Place::Crate { .. } => 0,
    };
    let live = context.terminal.live && !context.json();
    let transfer = Transfer::new(&wanted.name, total, live, context.terminal.colour);
    let mut watch = |have: u64| {
        transfer.at(have);
        obtain.interrupt.level() == Level::None
    };
    let obtained = obtain.archive(wanted, &mut watch);
    transfer.end();
    let (path, found) = obtained.map_err(|error| {
        if let ObtainError::Download(DownloadError::Interrupted(have)) = error {
            let have = human_bytes(have);
            return format!("interrupted after {have}; the same command goes on from there");
        }
        error.to_string()
    })?;
    *state = match found {
        Found::Kept => "unpacked",
        Found::Folder => "copied",
        Found::Fetched => "fetched",
    };
    let tools = unpack::tools(obtain.runner, obtain.interrupt, &context.terminal.path);
    let name = file_name(wanted);
    let named = (name.as_str(), path.as_path());
    let mut package = unpack::unpack(obtain.store, named, &wanted.nested, &tools)?;
    package.archive.clone_from(&wanted.name);
    package::keep(obtain.store, &package, &wanted.nested).map_err(|error| error.to_string())?;
    Ok(package)
}

/// The archive's file name.
fn file_name(wanted: &Wanted) -> String {
    match wanted.from {
        Place::File { .. } => wanted.name.clone(),
        Place::Crate { .. } => format!("{}.crate", wanted.name),
    }
}

/// What an implementation pins, if its source is not a directory.
pub(super) fn pin(implementation: &Implementation) -> Option<Wanted> {
    match &implementation.source {
        Source::Directory { .. } => None,
        Source::Archive { file, url, sha256, bytes, nested } => Some(Wanted {
            name: file.clone(),
            sha256: sha256.clone(),
            from: Place::File { url: url.clone(), bytes: *bytes },
            nested: nested.clone(),
        }),
        Source::Crate { name, version, sha256 } => Some(Wanted {
            name: format!("{name}-{version}"),
            sha256: sha256.clone(),
            from: Place::Crate { name: name.clone(), version: version.clone() },
            nested: Vec::new(),
        }),
    }
}
