//! `ngcc runs`: the history of runs; one run in detail; names that keep a run's results from collection.

use std::fmt::Write as _;

use super::context::{Context, print, print_json, table};
use super::{CommandError, Verdict};
use crate::cli::Exit;
use crate::event::human;
use crate::name::Name;
use crate::store::{Run, RunEnd, Store};

/// Lists the last runs, the latest first.
///
/// # Errors
/// A store that cannot be read.
pub fn list(context: &Context, last: usize, pipeline: Option<&Name>) -> Verdict {
    let store = context.store()?;
    let names = store.named_runs()?;
    let mut runs = Vec::new();
    for id in store.run_ids()?.into_iter().rev() {
        if runs.len() == last {
            break;
        }
        let Some(run) = store.run(&id)? else { continue };
        if pipeline.is_none_or(|p| p.as_str() == run.start.pipeline) {
            runs.push(run);
        }
    }
    let named = |run: &Run| -> Vec<&str> {
        names.iter().filter(|(_, id)| **id == run.id).map(|(name, _)| name.as_str()).collect()
    };
    if context.json() {
        let rows: Vec<_> = runs
            .iter()
            .map(|run| {
                serde_json::json!({
                    "id": run.id, "pipeline": run.start.pipeline, "command": run.start.command,
                    "started": run.start.started, "names": named(run), "summary": run.summary,
                })
            })
            .collect();
        return print_json(&rows);
    }
    let header = ["run", "pipeline", "ran", "reused", "failed", "findings", "end", "command"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for run in &runs {
        let count = |of: fn(&crate::store::RunSummary) -> u64| {
            run.summary.as_ref().map_or_else(|| "–".to_owned(), |s| of(s).to_string())
        };
        let names = named(run).join(", ");
        let names = if names.is_empty() { String::new() } else { format!(" ({names})") };
        let command: Vec<&str> = run.start.command.iter().map(String::as_str).collect();
        rows.push(vec![
            format!("{}{names}", run.id),
            run.start.pipeline.clone(),
            count(|s| s.ran),
            count(|s| s.reused),
            count(|s| s.failed),
            count(|s| s.findings),
            end_word(run).to_owned(),
            command.join(" "),
        ]);
    }
    print(&table(&rows))
}

fn end_word(run: &Run) -> &'static str {
    match &run.summary {
        None => "killed or going on",
        Some(summary) if summary.interrupted => "interrupted",
        Some(_) => "complete",
    }
}

/// Shows what ran or failed in one run.
///
/// # Errors
/// An unknown run, a store that cannot be read.
pub fn show(context: &Context, which: &str) -> Verdict {
    let store = context.store()?;
    let run = find(&store, which)?;
    if context.json() {
        return print_json(&serde_json::json!({
            "id": run.id, "start": run.start, "summary": run.summary, "lines": run.lines,
        }));
    }
    let mut text = format!("run {}: {} ({})\n", run.id, run.start.pipeline, end_word(&run));
    let _ = writeln!(text, "  {} by ngcc {}", run.start.command.join(" "), run.start.ngcc);
    let mut rows = Vec::new();
    for line in &run.lines {
        let (word, what) = match &line.end {
            RunEnd::Ran(0) => ("done", String::new()),
            RunEnd::Ran(n) => ("finding", format!("{n} of them")),
            RunEnd::Failed(failure) => (failure.class.word(), failure.message.clone()),
            RunEnd::Blocked(by) => ("not run", format!("`{by}` has no result")),
            RunEnd::Unavailable(what) => ("unavailable", what.clone()),
        };
        let wall = human(std::time::Duration::from_nanos(line.wall_ns));
        let key = line.key.map_or_else(|| "–".to_owned(), |key| key.short());
        let first = what.lines().next().unwrap_or_default().to_owned();
        rows.push(vec![format!("  {word}"), line.label.clone(), wall, key, first]);
    }
    if rows.is_empty() {
        text.push_str("  nothing ran\n");
    }
    text.push_str(&table(&rows));
    print(&text)
}

/// Names a run, or takes a name away.
///
/// # Errors
/// An unknown run, a store that cannot be written.
pub fn name(context: &Context, name: &Name, which: Option<&str>) -> Verdict {
    let store = context.store()?;
    let text = match which {
        Some(which) => {
            let run = find(&store, which)?;
            store.name_run(name, &run.id)?;
            format!("{} is now `{name}`; collection keeps its results\n", run.id)
        }
        None => {
            if !store.named_runs()?.contains_key(name) {
                let text = format!("no run is called `{name}`");
                return Err(CommandError::new(Exit::Usage, text));
            }
            store.unname_run(name)?;
            format!("no run is called `{name}` any more\n")
        }
    };
    store.flush()?;
    print(&text)
}

/// The run that a person means: an id, a name, `latest`, or `latest~N` for the Nth before it.
///
/// # Errors
/// When there is none.
pub(super) fn find(store: &Store, which: &str) -> Result<Run, CommandError> {
    let ids = store.run_ids()?;
    let back = match which.strip_prefix("latest") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix('~').and_then(|n| n.parse::<usize>().ok()),
        None => None,
    };
    let id = match back {
        Some(back) => ids.iter().rev().nth(back).cloned(),
        None => which.parse::<Name>().ok().and_then(|name| {
            let named = store.named_runs().ok().and_then(|names| names.get(&name).cloned());
            named.or_else(|| ids.iter().find(|id| **id == name).cloned())
        }),
    };
    let run = match id {
        Some(id) => store.run(&id)?,
        None => None,
    };
    run.ok_or_else(|| {
        CommandError::new(Exit::Usage, format!("there is no run `{which}`"))
            .help("`ngcc runs` lists them; `latest` and `latest~1` are the last two")
    })
}
