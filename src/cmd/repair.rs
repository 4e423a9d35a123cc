//! `ngcc store verify --repair`: what is damaged goes, what can be made again is made again, what cannot is named.
//!
//! Only results that were lost run again, each as the action that today's plans make under the very same key: a repair
//! never starts work that a changed source would ask for. A measurement is a sample and not a function of its inputs, so
//! another one is no repair; it is taken with `--measure` only, and otherwise named with the command that takes it.
//! Knows nothing of how a store is checked (`store::verify`) or how actions run (`exec`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::context::{Context, print, print_json};
use super::session::Session;
use super::{Verdict, engine, pages, roots, store as store_verb};
use crate::action::{NodeId, Purity};
use crate::cli::{Exit, PlanArgs, RepairArgs};
use crate::digest::ActionKey;
use crate::event::{Clockwork, Plain, Silent, Sink};
use crate::exec::forecast::{Forecast, forecast};
use crate::exec::interrupt::Level;
use crate::exec::process::Interrupt;
use crate::exec::run::Options;
use crate::name::Name;
use crate::outcome::Outcome;
use crate::store::{Object, Store, StoreError, VerifyReport};

/// A result that was lost, and what became of it.
#[derive(Debug, serde::Serialize)]
struct Lost {
    action: String,
    key: ActionKey,
    measured: bool,
    /// The pipeline that makes it, if one does.
    pipeline: Option<Name>,
    /// It is there again, or what took its place is.
    rebuilt: bool,
    /// The record that took its place, made from measurements that were taken again.
    anew: Option<ActionKey>,
    /// Why it is not, or the command that helps.
    note: String,
}

/// Runs the verb.
///
/// # Errors
/// A store that cannot be read or that a run holds. What stays lost is exit code 4, not an error.
pub fn run(context: &Context, args: &RepairArgs) -> Verdict {
    let interrupt = Interrupt::install()?;
    let store = context.store()?;
    let lock = store.try_lock_run("store verify --repair")?.map_err(StoreError::Busy)?;
    let report = store.verify(&mut |_, _| {})?;
    let mut lost = lost(&store, &report)?;
    let keys: BTreeSet<ActionKey> = lost.iter().map(|l| l.key).collect();
    let touched = Touched::by(&store, &keys)?;
    store.repair(&report, &lock)?;
    drop(store);
    let mut notes = Vec::new();
    if !lost.is_empty() {
        notes = rebuild(context, args, &interrupt, &mut lost)?;
    }
    drop(lock);
    let whole = lost.iter().all(|l| l.rebuilt) && report.dangling_references.is_empty();
    let exit = match whole {
        _ if interrupt.level() > Level::None => Exit::Interrupted,
        true => Exit::Fine,
        false => Exit::Store,
    };
    if context.json() {
        print_json(&serde_json::json!({
            "damaged": store_verb::names(&report.damaged), "missing": store_verb::names(&report.missing),
            "lost": lost, "runs": touched.runs, "pages": touched.pages,
            "references": report.dangling_references.keys().collect::<Vec<_>>(), "notes": notes,
            "whole": whole,
        }))?;
        return Ok(exit);
    }
    print(&described(&report, &lost, &touched, &notes))?;
    Ok(exit)
}

/// Who cited what was lost.
struct Touched {
    /// Run, as people call it, to the number of its results.
    runs: BTreeMap<String, usize>,
    /// Directory of pages to the number of its results.
    pages: BTreeMap<String, usize>,
}

impl Touched {
    fn by(store: &Store, keys: &BTreeSet<ActionKey>) -> Result<Self, StoreError> {
        let mut runs = BTreeMap::new();
        for id in store.run_ids()? {
            let Some(run) = store.run(&id)? else { continue };
            // A list that is itself lost cites nothing any more.
            let cited = store.run_keys(&run).unwrap_or_default();
            let count = cited.values().filter(|key| keys.contains(key)).count();
            if count > 0 {
                runs.insert(format!("{id} ({})", run.start.pipeline), count);
            }
        }
        let mut pages = BTreeMap::new();
        for (directory, cited) in roots::pages(store).unwrap_or_default() {
            let count = cited.intersection(keys).count();
            if count > 0 {
                pages.insert(directory, count);
            }
        }
        Ok(Self { runs, pages })
    }
}

/// The results behind a report, with what is known of them while their records still stand.
fn lost(store: &Store, report: &VerifyReport) -> Result<Vec<Lost>, StoreError> {
    let mut labels = report.affected.clone();
    let unreadable = report.damaged.iter().filter_map(|object| match object {
        Object::Record(key) => Some(*key),
        Object::Blob(_) | Object::Tree(_) => None,
    });
    let unreadable: BTreeSet<ActionKey> = unreadable.collect();
    for id in store.run_ids()? {
        if unreadable.iter().all(|key| labels.contains_key(key)) {
            break;
        }
        let Some(run) = store.run(&id)? else { continue };
        for (label, key) in store.run_keys(&run).unwrap_or_default() {
            if unreadable.contains(&key) {
                labels.insert(key, label);
            }
        }
    }
    for key in unreadable {
        labels.entry(key).or_default();
    }
    let mut lost = Vec::new();
    for (key, action) in labels {
        let measured = store.record(key)?.is_some_and(|record| record.is_measured());
        let note = String::new();
        lost.push(Lost { action, key, measured, pipeline: None, rebuilt: false, anew: None, note });
    }
    lost.sort_by(|a, b| crate::name::natural_order(&a.action, &b.action));
    Ok(lost)
}

/// Runs the lost actions that today's plans make. Gives what is to be said about pipelines.
fn rebuild(
    context: &Context,
    args: &RepairArgs,
    interrupt: &Interrupt,
    lost: &mut [Lost],
) -> Result<Vec<String>, super::CommandError> {
    let Ok(workspace) = context.workspace() else {
        for one in lost.iter_mut() {
            "no workspace here could make it again".clone_into(&mut one.note);
        }
        return Ok(vec!["run this in the workspace (or with -C DIR) to rebuild".into()]);
    };
    let mut notes = Vec::new();
    for pipeline in workspace.pipelines.keys() {
        let plan = PlanArgs {
            pipeline: pipeline.clone(),
            selectors: Vec::new(),
            only: Vec::new(),
            system: args.system.clone(),
            cpu: None,
        };
        match Session::over(context, workspace.clone(), &plan, false) {
            Ok(session) => rebuild_of(context, args, interrupt, &session, lost)?,
            Err(error) => notes.push(format!("{pipeline}: {}", error.message())),
        }
    }
    for one in lost.iter_mut().filter(|l| !l.rebuilt && l.note.is_empty()) {
        one.note = match &one.pipeline {
            Some(name) => {
                format!("its inputs have changed since; `ngcc pipeline run {name}` makes today's")
            }
            None => "no pipeline of this workspace makes it any more".into(),
        };
    }
    Ok(notes)
}

fn rebuild_of(
    context: &Context,
    args: &RepairArgs,
    interrupt: &Interrupt,
    session: &Session,
    lost: &mut [Lost],
) -> Result<(), super::CommandError> {
    let plan = &session.plan;
    let root = &session.workspace.root;
    let open: BTreeSet<ActionKey> = lost.iter().filter(|l| !l.rebuilt).map(|l| l.key).collect();
    let labels: BTreeSet<String> =
        lost.iter().filter(|l| !l.rebuilt).map(|l| l.action.clone()).collect();
    let (forecasts, _) = forecast(plan, &session.store, root, &session.tools)?;
    // Sound: what stands before it is there, or is a lost result itself.
    let mut sound = BTreeSet::new();
    for &node in plan.order() {
        let fits = match &forecasts[node.index()] {
            Forecast::Hit(_) | Forecast::Skipped | Forecast::Blocked(_) => true,
            Forecast::Run(key) => open.contains(key),
            Forecast::After(_) => plan.node(node).waits_for().all(|before| sound.contains(&before)),
        };
        if fits {
            sound.insert(node);
        }
    }
    let measured = |node: NodeId| matches!(plan.node(node).purity, Purity::Measured { .. });
    let ahead = |node: NodeId| {
        matches!(forecasts[node.index()], Forecast::Run(_) | Forecast::After(_))
            && sound.contains(&node)
            && labels.contains(plan.node(node).label.as_str())
    };
    // What shows a measurement is made anew with it.
    let mut behind = BTreeSet::new();
    for &node in plan.order() {
        let lost = measured(node) && ahead(node);
        if args.measure && (lost || plan.node(node).waits_for().any(|n| behind.contains(&n))) {
            behind.insert(node);
        }
    }
    let runs = |node: NodeId| match measured(node) {
        true => ahead(node) && args.measure,
        false => ahead(node) || behind.contains(&node),
    };
    let reuse_only: BTreeSet<NodeId> =
        plan.order().iter().copied().filter(|node| !runs(*node)).collect();
    let (mut failures, mut made) = (BTreeMap::new(), BTreeMap::new());
    if plan.order().iter().any(|node| !reuse_only.contains(node)) {
        let mut sink: Box<dyn Sink> = if context.json() {
            Box::new(Silent)
        } else {
            let clockwork = Clockwork::new(plan, 1, |_| None);
            Box::new(Plain::new(std::io::stderr(), clockwork))
        };
        let jobs = engine::default_jobs();
        let options = Options { jobs, fail_fast: false, reuse_only: &reuse_only };
        let report = engine::perform(context, session, interrupt, options, &mut *sink)?;
        for &node in plan.order() {
            if let Some(Outcome::Failed(failure)) = &report.outcomes[node.index()] {
                let text = format!("{}: {}", failure.class.word(), failure.message);
                failures.insert(plan.node(node).label.as_str(), text);
            }
        }
        for &node in &report.executed {
            made.insert(plan.node(node).label.as_str(), report.keys[node.index()]);
        }
        if report.held.is_empty() {
            pages::lay_out(session, &report)?;
        }
    }
    for one in lost.iter_mut().filter(|l| !l.rebuilt) {
        let Some(node) = plan.find(&one.action) else { continue };
        one.measured |= measured(node);
        one.rebuilt = session.store.record(one.key)?.is_some();
        if !one.rebuilt && args.measure {
            one.anew = made.get(one.action.as_str()).copied().flatten();
            one.rebuilt = one.anew.is_some();
        }
        let known = ahead(node) || one.rebuilt;
        if known || one.pipeline.is_none() {
            one.pipeline = Some(session.pipeline.clone());
        }
        if one.rebuilt {
            one.note.clear();
        } else if let Some(text) = failures.get(one.action.as_str()) {
            one.note.clone_from(text);
        } else if ahead(node) {
            let name = &session.pipeline;
            one.note = if one.measured && !args.measure {
                let selector: Vec<&str> = one.action.split('/').take(3).collect();
                let selector = selector.join("/");
                format!(
                    "a lost measurement; to take another: ngcc pipeline run {name} '{selector}'"
                )
            } else {
                format!("it needs a result that is still lost; ngcc pipeline run {name} makes both")
            };
        }
    }
    Ok(())
}

fn described(report: &VerifyReport, lost: &[Lost], touched: &Touched, notes: &[String]) -> String {
    let mut text = String::new();
    for object in &report.damaged {
        let _ = writeln!(text, "damaged  {object}");
    }
    for object in &report.missing {
        let _ = writeln!(text, "missing  {object}");
    }
    for (run, count) in &touched.runs {
        let _ = writeln!(text, "touched  run {run}: {count} of its results");
    }
    for (pages, count) in &touched.pages {
        let _ = writeln!(text, "touched  pages {pages}: {count} of their results");
    }
    for one in lost {
        let action = if one.action.is_empty() { "(label not known)" } else { &one.action };
        let key = one.key.short();
        if let Some(anew) = one.anew {
            let _ = writeln!(text, "anew     {action} (record {} in place of {key})", anew.short());
        } else if one.rebuilt {
            let _ = writeln!(text, "rebuilt  {action} (record {key})");
        } else {
            let _ = writeln!(text, "lost     {action} (record {key})\n         {}", one.note);
        }
    }
    for name in report.dangling_references.keys() {
        let _ = writeln!(
            text,
            "lost     content of `{name}`\n         `ngcc kem fetch` brings archives back"
        );
    }
    for note in notes {
        let _ = writeln!(text, "note     {note}");
    }
    let rebuilt = lost.iter().filter(|l| l.rebuilt).count();
    let still = lost.len() - rebuilt + report.dangling_references.len();
    let bad = report.damaged.len() + report.missing.len();
    let _ = match (bad, still) {
        (0, 0) => writeln!(text, "clean: nothing to repair"),
        (_, 0) => writeln!(
            text,
            "repaired: {bad} damaged or missing, {rebuilt} results rebuilt, nothing lost"
        ),
        _ => writeln!(text, "{bad} damaged or missing, {rebuilt} results rebuilt, {still} lost"),
    };
    text
}
