//! `ngcc pipeline run --watch`: run, wait for a save, run again.
//!
//! An event only says when to look. Whether there is something to do is decided as everything here is decided, by keys: the
//! plan is made again and its keys are compared with those of the last run. So a touch, an editor's backup file, a
//! node that writes where it should not, and a burst of thousands of files cost a look, and run nothing that is as it was.
//! The store is not watched, and it is not held open while this waits, so others can collect or repair it.
//! Timed work is reused and never run, unless `--measure` is given.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::context::Context;
use super::run::{self, Ended, Timed};
use super::session::Session;
use super::{CommandError, Verdict};
use crate::action::Source;
use crate::cli::{Exit, RunArgs};
use crate::digest::ActionKey;
use crate::event::{Event, Json, Sink as _};
use crate::exec::forecast::{Forecast, forecast};
use crate::exec::interrupt::Level;
use crate::exec::process::Interrupt;
use crate::watcher::{Watcher, Woken};

/// Reruns in a row that nobody waited for, before it is taken that the run itself changes what it reads.
const HURRIED: u32 = 3;

/// What a plan made now would do.
struct Look {
    directories: BTreeSet<PathBuf>,
    /// Label to what is known of its key, or why the files cannot be read.
    plan: Result<BTreeMap<String, State>, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Key(ActionKey),
    Blocked,
    /// Behind an action that would run, or a fallback that is not needed.
    Open,
}

/// Runs the verb.
///
/// # Errors
/// A workspace that is not there. Mistakes in YAML files are shown, and the watch goes on.
pub fn run(context: &Context, args: &RunArgs) -> Verdict {
    let interrupt = Interrupt::install()?;
    let timed = if args.measure { Timed::Run } else { Timed::ReuseOnly };
    let (mut watcher, note) = Watcher::new(args.poll);
    say_all(context, note);
    let mut last_error = None;
    let mut hurried = 0;
    // A watch takes a deliberate repetition once, not with every save.
    let mut args = args.clone();
    let mut look = settled_look(context, &args, &mut watcher)?;
    loop {
        let seen = match &look.plan {
            Err(error) => {
                if last_error.as_ref() != Some(error) {
                    let _ = writeln!(std::io::stderr(), "{error}");
                }
                last_error = Some(error.clone());
                None
            }
            Ok(_) => {
                last_error = None;
                match run::once(context, &args, &interrupt, timed) {
                    Ok(None) => return Ok(Exit::Interrupted),
                    Ok(Some(ended)) if ended.exit == Exit::Interrupted => return Ok(ended.exit),
                    Ok(Some(ended)) => {
                        args.remeasure = false;
                        Some(ended)
                    }
                    Err(error) if error.exit() == Exit::Spec => {
                        tell(context, &error);
                        None
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        if interrupt.level() > Level::None {
            return Ok(Exit::Interrupted);
        }
        let waiting_for = format!("watching {} directories; Ctrl-C ends", look.directories.len());
        say(context, &waiting_for);
        loop {
            let Some(bell) = interrupt.bell_after(Level::None) else { return Ok(Exit::Fine) };
            let Woken::Changed { at_once } = watcher.wait(bell) else { return Ok(Exit::Fine) };
            look = settled_look(context, &args, &mut watcher)?;
            let changed = changes(&look, seen.as_ref(), last_error.as_ref(), args.fail_fast);
            let Some(what) = changed else { continue };
            hurried = if at_once { hurried + 1 } else { 0 };
            if hurried < HURRIED {
                if look.plan.is_ok() {
                    say(context, &format!("changed: {what}"));
                }
                break;
            }
            say(
                context,
                &format!("{what} changes while it runs; the next save starts another run"),
            );
            watcher.forget();
            hurried = 0;
        }
    }
}

/// Looks until no directory is new, so that nothing happens between a look and the watch over it.
fn settled_look(
    context: &Context,
    args: &RunArgs,
    watcher: &mut Watcher,
) -> Result<Look, CommandError> {
    loop {
        let look = look(context, args)?;
        let (new, note) = watcher.follow(look.directories.clone());
        say_all(context, note);
        if !new {
            return Ok(look);
        }
    }
}

fn look(context: &Context, args: &RunArgs) -> Result<Look, CommandError> {
    let root = context.root()?;
    let store = context.store_root()?;
    let mut directories = descriptions(root);
    let session = match Session::open(context, &args.plan, false) {
        Ok(session) => session,
        Err(error) if matches!(error.exit(), Exit::Spec | Exit::Usage) => {
            let text =
                if context.json() { error.json() } else { error.render(context.terminal.colour) };
            return Ok(Look { directories, plan: Err(text) });
        }
        Err(error) => return Err(error),
    };
    let plan = &session.plan;
    for &node in plan.order() {
        for source in plan.node(node).inputs.values() {
            if let Source::File(path) = source
                && let Some(parent) = path.under(root).parent()
            {
                directories.insert(parent.to_owned());
            }
        }
    }
    // New files may belong to a source list that is a pattern.
    let mut submissions = BTreeSet::new();
    submissions.extend(plan.labels().filter_map(|label| label.split('/').next()));
    for id in submissions {
        directories.extend(below(&root.join("kems").join(id), &store));
    }
    directories.retain(|path| !path.starts_with(&store) && path.is_dir());
    let (forecasts, _) = forecast(plan, &session.store, root, &session.tools)?;
    let state = |forecast: &Forecast| match forecast {
        Forecast::Hit(key) | Forecast::Run(key) => State::Key(*key),
        Forecast::Blocked(_) => State::Blocked,
        Forecast::After(_) | Forecast::Skipped => State::Open,
    };
    let nodes = plan.order().iter();
    let states =
        nodes.map(|node| (plan.node(*node).label.clone(), state(&forecasts[node.index()])));
    let mut states: BTreeMap<String, State> = states.collect();
    states.extend(plan.unavailable.iter().map(|row| (absent(&row.label, &row.why), State::Open)));
    Ok(Look { directories, plan: Ok(states) })
}

/// How a row that is unavailable stands among the labels.
pub(super) fn absent(label: &str, why: &str) -> String {
    format!("{label}: {why}")
}

/// Where YAML files are.
fn descriptions(root: &Path) -> BTreeSet<PathBuf> {
    let mut found: BTreeSet<PathBuf> =
        ["pipelines", "systems", "kems"].map(|name| root.join(name)).into();
    let kems = std::fs::read_dir(root.join("kems")).into_iter().flatten().flatten();
    found.extend(kems.map(|entry| entry.path()).filter(|path| path.is_dir()));
    found.retain(|path| path.is_dir());
    found
}

/// A directory and those below it, hidden ones and the store left out.
fn below(top: &Path, store: &Path) -> BTreeSet<PathBuf> {
    let walk = walkdir::WalkDir::new(top).into_iter().filter_entry(|entry| {
        let hidden = entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".");
        !hidden && entry.path() != store
    });
    let dirs = walk.flatten().filter(|entry| entry.file_type().is_dir());
    dirs.map(walkdir::DirEntry::into_path).collect()
}

/// The first thing that is not as the last run saw it.
fn changes(
    look: &Look,
    seen: Option<&Ended>,
    last_error: Option<&String>,
    fail_fast: bool,
) -> Option<String> {
    let states = match (&look.plan, seen) {
        (Err(now), _) => return (last_error != Some(now)).then(|| "a YAML file".to_owned()),
        (Ok(_), None) => return Some("a YAML file".to_owned()),
        (Ok(states), Some(_)) => states,
    };
    let before = &seen?.keys;
    if let Some(label) = before.keys().find(|label| !states.contains_key(*label)) {
        return Some(label.clone());
    }
    let differs = |label: &String, now: State| match (before.get(label), now) {
        (None, _) => true,
        (Some(Some(key)), State::Key(now)) => *key != now,
        (Some(Some(_)), State::Blocked) => true,
        // With --fail-fast much is not reached that could run; that is no change.
        (Some(None), State::Key(_)) => !fail_fast,
        (Some(_), State::Open) | (Some(None), State::Blocked) => false,
    };
    states.iter().find(|(label, now)| differs(label, **now)).map(|(label, _)| label.clone())
}

fn say_all(context: &Context, note: Option<String>) {
    if let Some(note) = note {
        say(context, &note);
    }
}

fn say(context: &Context, text: &str) {
    if context.json() {
        Json::new(std::io::stderr()).event(&Event::Note(text));
    } else {
        // Nobody reads a broken pipe.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

fn tell(context: &Context, error: &CommandError) {
    let text = if context.json() { error.json() } else { error.render(context.terminal.colour) };
    let _ = writeln!(std::io::stderr(), "{text}");
}
