//! `ngcc pipeline run`: lock, run, lay the pages out, say what happened.

use std::collections::BTreeMap;
use std::time::Duration;

use super::context::{Context, print, print_json};
use super::session::Session;
use super::{CommandError, Verdict, pages, plan as plan_verb};
use crate::action::NodeId;
use crate::cli::{Exit, RunArgs};
use crate::clock::{Clock, SystemClock};
use crate::event::{Clockwork, Event, Json, Live, Plain, Sink, human};
use crate::exec::job::Bench;
use crate::exec::meter::Meter;
use crate::exec::process::{Interrupt, Runner};
use crate::exec::run::{self, Options, Report};
use crate::outcome::Outcome;
use crate::procedure;
use crate::record::FailureClass;
use crate::store::{RunEnd, RunLine, RunLog, RunStart, RunSummary};

/// Runs the verb.
///
/// # Errors
/// Invalid YAML, an unusable store, a wrong machine. Failed actions are in the exit code, not errors.
pub fn run(context: &Context, args: &RunArgs) -> Verdict {
    if args.dry_run {
        return plan_verb::run(context, &args.plan);
    }
    let interrupt = Interrupt::install()?;
    let session = Session::open(context, &args.plan, args.remeasure)?;
    let jobs = args.jobs.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
    });
    let mut sink = sink(context, &session, jobs);
    let what = format!("pipeline run {}", args.plan.pipeline);
    let lock = session.store.lock_run(&what, &mut |holder| {
        sink.event(&Event::Note(&format!(
            "waiting for `ngcc {}` (process {}, since {}) to release the store",
            holder.command, holder.pid, holder.since
        )));
    })?;
    if args.remeasure {
        session.keep_rounds()?;
    }
    let meter = Meter::default();
    let runner = Runner::new(context.terminal.launcher.clone());
    let confined = runner.confined();
    let bench = Bench {
        store: &session.store,
        workspace: &session.workspace.root,
        tools: &session.tools,
        launcher: &context.terminal.launcher,
        runner: &runner,
        confined: &confined,
        clock: &SystemClock,
        interrupt: &interrupt,
        host: &session.host,
        cpu: session.cpu,
        meter: &meter,
    };
    let log = session.store.begin_run(&RunStart {
        pipeline: args.plan.pipeline.to_string(),
        command: context.terminal.command.clone(),
        started: SystemClock.utc(),
        ngcc: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    let options = Options { jobs, fail_fast: args.fail_fast };
    let mut logged = Logged { inner: &mut *sink, log: &log };
    let report = run::run(&session.plan, &bench, procedure::find, options, &mut logged)?;
    let laid_out = pages::lay_out(&session, &report);
    sink.end();
    drop(sink);
    let pages = laid_out?;
    let summary = Summary::of(&session, &report, pages, context.terminal.started.elapsed());
    let keys = session.plan.order().iter().filter_map(|&node| {
        let label = session.plan.node(node).label.clone();
        matches!(report.outcomes[node.index()], Some(Outcome::Done { .. }))
            .then_some((label, report.keys[node.index()]?))
    });
    session.store.end_run(&log, &summary.for_log(), &keys.collect())?;
    drop(lock);
    if context.json() {
        print_json(&summary)?;
    } else {
        print(&summary.text(context.terminal.colour))?;
    }
    Ok(summary.exit())
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

fn sink(context: &Context, session: &Session, jobs: usize) -> Box<dyn Sink> {
    let history = |node: NodeId| {
        let label = &session.plan.node(node).label;
        let key = session.store.latest(label).ok().flatten()?;
        let hit = session.store.lookup(key).ok().flatten()?;
        Some(Duration::from_nanos(hit.wall_ns))
    };
    if context.json() {
        return Box::new(Json::new(std::io::stderr()));
    }
    let clockwork = Clockwork::new(&session.plan, jobs, history);
    if context.terminal.live {
        Box::new(Live::new(clockwork, context.terminal.colour))
    } else {
        Box::new(Plain::new(std::io::stderr(), clockwork))
    }
}

/// What a run did, in numbers and words.
#[derive(Debug, serde::Serialize)]
pub struct Summary {
    pipeline: String,
    system: String,
    actions: usize,
    executed: usize,
    reused: usize,
    failed: usize,
    blocked: usize,
    not_needed: usize,
    not_reached: usize,
    unavailable: Vec<crate::plan::Unavailable>,
    repaired: usize,
    findings: Vec<Problem>,
    failures: Vec<Problem>,
    wall_s: f64,
    overhead_s: f64,
    peak_memory_bytes: u64,
    pages: Option<String>,
    interrupted: bool,
}

/// One finding or failure.
#[derive(Debug, serde::Serialize)]
struct Problem {
    action: String,
    what: String,
    log: Option<String>,
}

impl Summary {
    fn of(session: &Session, report: &Report, pages: Option<String>, wall: Duration) -> Self {
        let mut summary = Self {
            pipeline: session.pipeline.to_string(),
            system: session.system.name.clone(),
            actions: session.plan.len(),
            executed: report.executed.len(),
            reused: report.reused,
            failed: 0,
            blocked: 0,
            not_needed: 0,
            not_reached: 0,
            unavailable: session.plan.unavailable.clone(),
            repaired: report.repaired,
            findings: Vec::new(),
            failures: Vec::new(),
            wall_s: wall.as_secs_f64(),
            overhead_s: report.overhead.as_secs_f64(),
            peak_memory_bytes: crate::host::own_peak_memory(),
            pages,
            interrupted: report.interrupted,
        };
        for &node in session.plan.order() {
            let spec = session.plan.node(node);
            let problem = |what: String, log: Option<String>| Problem {
                action: spec.label.clone(),
                what,
                log,
            };
            match &report.outcomes[node.index()] {
                None => summary.not_reached += 1,
                Some(Outcome::Skipped) => summary.not_needed += 1,
                Some(Outcome::Blocked { .. }) => summary.blocked += 1,
                Some(Outcome::Done { findings, .. }) => {
                    if !spec.tentative {
                        let rows = findings.iter().map(|f| problem(f.message.clone(), None));
                        summary.findings.extend(rows);
                    }
                }
                Some(Outcome::Failed(failure)) => {
                    summary.failed += 1;
                    // An attempt of a decision is reported by the decision, with the attempt's log.
                    if failure.class != FailureClass::Interrupted && !spec.tentative {
                        let mut attempts =
                            spec.waits_for().filter_map(|n| match &report.outcomes[n.index()] {
                                Some(Outcome::Failed(attempt)) => attempt.log,
                                _ => None,
                            });
                        let failure_log = failure.log.or_else(|| attempts.next());
                        let log = failure_log.map(|blob| session.store.blob_path(blob));
                        let log = log.map(|path| path.display().to_string());
                        let text = format!("{}: {}", failure.class.word(), failure.message);
                        summary.failures.push(problem(text, log));
                    }
                }
            }
        }
        summary
    }

    /// The exit code.
    fn exit(&self) -> Exit {
        if self.interrupted {
            Exit::Interrupted
        } else if self.findings.is_empty() && self.failures.is_empty() {
            Exit::Fine
        } else {
            Exit::Findings
        }
    }

    fn for_log(&self) -> RunSummary {
        RunSummary {
            ended: SystemClock.utc(),
            ran: self.executed as u64,
            reused: self.reused as u64,
            failed: self.failed as u64,
            blocked: self.blocked as u64,
            unavailable: self.unavailable.len() as u64,
            findings: self.findings.len() as u64,
            interrupted: self.interrupted,
        }
    }

    fn text(&self, colour: bool) -> String {
        let (bold, red, plain) =
            if colour { ("\x1b[1m", "\x1b[31m", "\x1b[0m") } else { ("", "", "") };
        let mut out = String::new();
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        for problem in &self.findings {
            line(format!("{red}finding{plain}  {}", problem.action));
            line(format!("         {}", problem.what));
        }
        for problem in &self.failures {
            line(format!("{red}failed{plain}   {}", problem.action));
            line(format!("         {}", problem.what));
            if let Some(log) = &problem.log {
                line(format!("         log: {log}"));
            }
        }
        for row in &self.unavailable {
            line(format!("absent   {}: {}", row.label, row.why));
            line(format!("         to have it: {}", row.help));
        }
        let mut counts: BTreeMap<usize, String> = BTreeMap::new();
        let parts = [
            (self.failed, "failed"),
            (self.blocked, "blocked by a failure"),
            (self.not_reached, "not reached"),
            (self.repaired, "repaired"),
        ];
        for (index, (count, word)) in parts.into_iter().enumerate() {
            if count > 0 {
                counts.insert(index, format!(", {count} {word}"));
            }
        }
        let more: String = counts.into_values().collect();
        let wall = Duration::from_secs_f64(self.wall_s);
        line(format!(
            "{bold}{}{plain} on {}: {} actions executed, {} reused{more}; {} in all",
            self.pipeline,
            self.system,
            self.executed,
            self.reused,
            human(wall),
        ));
        if self.executed > 0 && self.wall_s > 0.0 {
            line(format!(
                "engine: {:.1} % of the wall time had no child running; peak memory {:.1} MiB",
                100.0 * self.overhead_s / self.wall_s,
                mebibytes(self.peak_memory_bytes),
            ));
        }
        if self.interrupted {
            let lost = self.failed;
            line(format!("interrupted: {lost} running actions were given up; run again to go on"));
        }
        if let Some(pages) = &self.pages {
            line(format!("pages: {pages}"));
        }
        out
    }
}

#[expect(clippy::cast_precision_loss, reason = "a display of memory in MiB")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

impl From<pages::PageError> for CommandError {
    fn from(error: pages::PageError) -> Self {
        Self::new(Exit::Store, error.to_string())
    }
}
