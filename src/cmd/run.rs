//! `ngcc pipeline run`: lock, run, lay the pages out, say what happened.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::context::{Context, print, print_json};
use super::fetch::{self, How, Row};
use super::session::{Session, find_pipeline};
use super::standing::Standing;
use super::summary::Summary;
use super::{CommandError, Verdict, engine, pages, plan as plan_verb, watch};
use crate::action::NodeId;
use crate::cli::{Exit, RunArgs};
use crate::clock::{Clock, SystemClock};
use crate::digest::ActionKey;
use crate::event::{Clockwork, Event, Json, Live, Plain, Sink};
use crate::exec::interrupt::Level;
use crate::exec::process::Interrupt;
use crate::exec::run::Options;
use crate::outcome::Outcome;
use crate::spec::{Implementation, Submission};
use crate::stage;
use crate::store::{
    LockHolder, RunEnd, RunLine, RunLock, RunLog, RunStart, RunWorkspace, Store, StoreError,
};

/// Runs the verb.
///
/// # Errors
/// Invalid YAML, an unusable store, a wrong machine. Failed actions are in the exit code, not errors.
pub fn run(context: &Context, args: &RunArgs) -> Verdict {
    if args.dry_run {
        return plan_verb::run(context, &args.plan);
    }
    if args.fetch && !fetch_first(context, args)? {
        return Ok(Exit::Interrupted);
    }
    if args.watch {
        return watch::run(context, args);
    }
    let interrupt = Interrupt::install()?;
    if !args.remeasure
        && let Some(store) = context.store_if_there()?
        && let Some((standing, machine)) = Standing::load(context, &store, &args.plan)?
    {
        let way = if standing.is_whole() {
            nothing_moved(context, args, &store, &standing, &interrupt)?
        } else {
            let session = Session::on(context, store, &args.plan, standing, machine)?;
            carry_out(context, args, session, &interrupt, Timed::Run)?
        };
        match way {
            Way::Ended(ended) => return Ok(ended.exit),
            Way::Enough => return Ok(Exit::Interrupted),
            Way::Again => {}
        }
    }
    Ok(once(context, args, &interrupt, Timed::Run)?.map_or(Exit::Interrupted, |ended| ended.exit))
}

/// What happens to timed work without a result in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timed {
    /// It runs.
    Run,
    /// It is left out, with what is behind it.
    ReuseOnly,
}

/// How a run ended, for whoever looks again.
pub(super) struct Ended {
    pub(super) exit: Exit,
    /// The key of each action by label, if it came to have one; rows that are unavailable are labels, too.
    pub(super) keys: BTreeMap<String, Option<ActionKey>>,
}

/// One run; `None` when the user had enough of waiting for the store.
///
/// # Errors
/// As for [`run`].
pub(super) fn once(
    context: &Context,
    args: &RunArgs,
    interrupt: &Interrupt,
    timed: Timed,
) -> Result<Option<Ended>, CommandError> {
    let session = Session::open(context, &args.plan, args.remeasure)?;
    match carry_out(context, args, session, interrupt, timed)? {
        Way::Ended(ended) => Ok(Some(ended)),
        Way::Enough => Ok(None),
        Way::Again => Err(CommandError::new(Exit::Bug, "a whole plan stands on nothing")),
    }
}

/// What came of an attempt at a run.
enum Way {
    /// It is over.
    Ended(Ended),
    /// It cannot be done on top of what stands; all must be planned.
    Again,
    /// The user had enough of waiting for the store.
    Enough,
}

/// Ends a run that has nothing to look up: all of it stands. Again when the store had to be waited for, since then
/// another run may have changed what was just looked at.
fn nothing_moved(
    context: &Context,
    args: &RunArgs,
    store: &Store,
    standing: &Standing,
    interrupt: &Interrupt,
) -> Result<Way, CommandError> {
    let Some(keys) = standing.keys().filter(|keys| store.has_blob(*keys)) else {
        return Ok(Way::Again);
    };
    let mut sink = quiet_sink(context);
    sink.event(&Event::Begin {
        pipeline: args.plan.pipeline.as_str(),
        system: args.plan.system.as_str(),
    });
    let lock = match wait_for_store(store, &what(args), interrupt, &mut *sink)? {
        Waited::Not(lock) => lock,
        Waited::Long(_) => return Ok(Way::Again),
        Waited::Enough => return Ok(Way::Enough),
    };
    let log = store.begin_run(&start(context, args)?)?;
    let pages = pages::lay_out_standing(store, &pages_root(args, store), standing)?;
    let summary = Summary::standing(context, args, standing, log.id(), pages);
    store.end_run_like(&log, &summary.for_log(), keys)?;
    drop(lock);
    show(context, &summary)?;
    Ok(Way::Ended(Ended { exit: summary.exit(), keys: BTreeMap::new() }))
}

/// Runs what is planned.
fn carry_out(
    context: &Context,
    args: &RunArgs,
    session: Session,
    interrupt: &Interrupt,
    timed: Timed,
) -> Result<Way, CommandError> {
    let begun = Instant::now();
    let jobs = args.jobs.unwrap_or_else(engine::default_jobs);
    let mut sink = sink(context, &session, jobs);
    sink.event(&Event::Begin {
        pipeline: args.plan.pipeline.as_str(),
        system: &session.system.name,
    });
    let lock = match wait_for_store(&session.store, &what(args), interrupt, &mut *sink)? {
        Waited::Long(_) if session.standing.is_some() => return Ok(Way::Again),
        Waited::Not(lock) | Waited::Long(lock) => lock,
        Waited::Enough => return Ok(Way::Enough),
    };
    if args.remeasure {
        session.keep_rounds()?;
    }
    let log = session.store.begin_run(&start(context, args)?)?;
    let reuse_only = match timed {
        Timed::Run => BTreeSet::new(),
        Timed::ReuseOnly => {
            let nodes = session.plan.order().iter().copied();
            nodes.filter(|node| session.plan.node(*node).is_timed()).collect()
        }
    };
    let options = Options { jobs, fail_fast: args.fail_fast, reuse_only: &reuse_only };
    let mut logged = Logged { inner: &mut *sink, log: &log };
    let report = engine::perform(context, &session, interrupt, options, &mut logged)?;
    if session.standing.is_some() && report.unmade {
        // Something that stands is damaged, and what makes it again was not planned.
        return Ok(Way::Again);
    }
    let laid_out = pages::lay_out(&session, &report);
    sink.end();
    drop(sink);
    let pages = laid_out?;
    let started = if args.watch { begun } else { context.terminal.started };
    let summary = Summary::of(&session, &report, log.id(), pages, started.elapsed());
    let mut keys: BTreeMap<String, ActionKey> = BTreeMap::new();
    for &node in session.plan.order() {
        if let Some(key) = report.keys[node.index()]
            && matches!(report.outcomes[node.index()], Some(Outcome::Done { .. }))
        {
            keys.insert(session.plan.node(node).label.clone(), key);
        }
    }
    for (_, label, key) in session.standing.iter().flat_map(Standing::nodes) {
        keys.extend(key.map(|key| (label.to_owned(), key)));
    }
    let keys = session.store.end_run(&log, &summary.for_log(), &keys)?;
    if !report.interrupted && timed == Timed::Run {
        // What cannot be kept is planned again next time; the run is what it is.
        let _ = Standing::keep(context, &args.plan, &session, &report, keys);
    }
    drop(lock);
    show(context, &summary)?;
    let exit = summary.exit();
    let mut keys = BTreeMap::new();
    if args.watch {
        let nodes = session.plan.order().iter();
        keys.extend(
            nodes.map(|node| (session.plan.node(*node).label.clone(), report.keys[node.index()])),
        );
        let absent = session.plan.unavailable.iter();
        keys.extend(absent.map(|row| (watch::absent(&row.label, &row.why), None)));
        return Ok(Way::Ended(Ended { exit, keys }));
    }
    // The plan is big and the process ends here; the store alone has something to do when it goes.
    let Session { store, plan, workspace, .. } = session;
    std::mem::forget((plan, workspace, report));
    drop(store);
    Ok(Way::Ended(Ended { exit, keys }))
}

fn what(args: &RunArgs) -> String {
    format!("pipeline run {}", args.plan.pipeline)
}

fn start(context: &Context, args: &RunArgs) -> Result<RunStart, CommandError> {
    Ok(RunStart {
        pipeline: args.plan.pipeline.to_string(),
        command: context.terminal.command.clone(),
        started: SystemClock.utc(),
        ngcc: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: Some(RunWorkspace::at(context.root()?)),
    })
}

fn pages_root(args: &RunArgs, store: &Store) -> PathBuf {
    let plan = &args.plan;
    pages::root(store, plan.system.as_str(), plan.pipeline.as_str(), plan.is_partial())
}

fn show(context: &Context, summary: &Summary) -> Verdict {
    if context.json() { print_json(summary) } else { print(&summary.text(context.terminal.colour)) }
}

/// Fetches what the selection needs and is not there. What cannot be had stays a row of the run; `false` when the user
/// had enough.
fn fetch_first(context: &Context, args: &RunArgs) -> Result<bool, CommandError> {
    let workspace = context.workspace()?;
    let store = context.store()?;
    let pipeline = find_pipeline(&workspace, &args.plan.pipeline)?;
    let chosen = |submission: &Submission, implementation: &Implementation| {
        let asked = &args.plan.selectors;
        let mut instances = implementation.recipes.keys();
        instances.any(|i| stage::selected(pipeline, asked, submission, implementation, i))
    };
    let how = How { from: None, offline: args.offline, again: false, tries: args.retry + 1 };
    let rows = fetch::fetch(context, &workspace, &store, &chosen, &how)?;
    if !context.json() {
        let mut err = std::io::stderr().lock();
        for row in rows.iter().filter(|row| row.is_news()) {
            // Nobody reads a broken pipe; the run goes on.
            let _ = err.write_all(row.line().as_bytes());
        }
    }
    Ok(!rows.iter().any(Row::was_interrupted))
}

/// How the store's run lock was come by.
enum Waited {
    /// At once.
    Not(RunLock),
    /// After another run.
    Long(RunLock),
    /// The user has had enough of waiting.
    Enough,
}

/// Takes the store's run lock; says whom it waits for.
fn wait_for_store(
    store: &Store,
    what: &str,
    interrupt: &Interrupt,
    sink: &mut dyn Sink,
) -> Result<Waited, CommandError> {
    let mut told = None;
    let mut patient = |holder: &LockHolder| {
        if told.as_ref() != Some(holder) {
            let text = format!("waiting for {holder} to release the store");
            sink.event(&Event::Note(&text));
            told = Some(holder.clone());
        }
        if interrupt.level() > Level::None {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    match store.lock_run_while(what, &mut patient) {
        Ok(lock) if told.is_some() => Ok(Waited::Long(lock)),
        Ok(lock) => Ok(Waited::Not(lock)),
        Err(StoreError::Busy(_)) => Ok(Waited::Enough),
        Err(error) => Err(error.into()),
    }
}

/// Writes what ends into the run's file, besides showing it.
struct Logged<'s> {
    inner: &'s mut dyn Sink,
    log: &'s RunLog,
}

impl Sink for Logged<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.inner.event(event);
        let Event::Ended { label, key, outcome, wall, .. } = event else { return };
        let end = match outcome {
            Outcome::Done { findings, .. } => {
                RunEnd::Ran(u32::try_from(findings.len()).unwrap_or(u32::MAX))
            }
            Outcome::Failed(failure) => RunEnd::Failed(failure.clone()),
            Outcome::Blocked { by } => RunEnd::Blocked(by.clone()),
            Outcome::Skipped => return,
        };
        let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        // The history is for people; a run does not stop because it cannot be written.
        let _ = self.log.append(&RunLine { label: (*label).to_owned(), key: *key, end, wall_ns });
    }
}

/// Shows notes only.
fn quiet_sink(context: &Context) -> Box<dyn Sink> {
    if context.json() {
        return Box::new(Json::new(std::io::stderr()));
    }
    Box::new(Plain::new(std::io::stderr(), Clockwork::empty()))
}

fn sink<'s>(context: &Context, session: &'s Session, jobs: usize) -> Box<dyn Sink + 's> {
    if context.json() {
        return Box::new(Json::new(std::io::stderr()));
    }
    let history = |node: NodeId| {
        let label = &session.plan.node(node).label;
        let key = session.store.latest(label).ok().flatten()?;
        let hit = session.store.lookup(key).ok().flatten()?;
        Some(Duration::from_nanos(hit.wall_ns))
    };
    let clockwork = Clockwork::new(&session.plan, jobs, history);
    if context.terminal.live {
        Box::new(Live::new(clockwork, context.terminal.colour))
    } else {
        Box::new(Plain::new(std::io::stderr(), clockwork))
    }
}

impl From<pages::PageError> for CommandError {
    fn from(error: pages::PageError) -> Self {
        Self::new(Exit::Store, error.to_string())
    }
}
