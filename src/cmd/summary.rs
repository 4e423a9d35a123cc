//! What a run did, in numbers and words: for people, as JSON, and for the run's file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::context::Context;
use super::session::Session;
use super::standing::Standing;
use crate::cli::{Exit, RunArgs};
use crate::clock::{Clock, SystemClock};
use crate::event::{FORMAT as EVENT_FORMAT, human};
use crate::exec::run::Report;
use crate::name::Name;
use crate::outcome::Outcome;
use crate::plan::absent;
use crate::record::FailureClass;
use crate::store::RunSummary;

/// What a run did, in numbers and words.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(title = "The summary of a run", deny_unknown_fields)]
pub struct Summary {
    /// Version of the events and of this document.
    format: u32,
    /// Id of the run.
    run: String,
    pipeline: String,
    system: String,
    /// Actions in the plan.
    actions: usize,
    /// Actions that were planned and looked up one by one; the others stand as a former run left them.
    planned: usize,
    /// Actions that ran and have a result.
    executed: usize,
    /// Actions whose result was in the store.
    reused: usize,
    failed: usize,
    /// Actions that could not start for want of an input.
    blocked: usize,
    /// Fallbacks that were not needed.
    not_needed: usize,
    /// Actions that the run stopped before.
    not_reached: usize,
    /// Timed actions that were not asked for, and what is behind them.
    left_out: LeftOut,
    /// Rows without an action, because a package or a tool is not here.
    unavailable: Vec<crate::plan::Unavailable>,
    /// Damaged contents that were made again.
    repaired: usize,
    findings: Vec<Problem>,
    failures: Vec<Problem>,
    /// Wall time, seconds.
    wall_s: f64,
    /// Wall time with no child running, seconds.
    overhead_s: f64,
    /// Largest resident set of the program itself.
    peak_memory_bytes: u64,
    /// Where the pages begin.
    pages: Option<String>,
    interrupted: bool,
    /// Actions that Ctrl-C ended.
    lost: Vec<Lost>,
}

/// What a run without timed work did not do.
#[derive(Debug, Default, serde::Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct LeftOut {
    actions: usize,
    stages: BTreeSet<String>,
}

/// An action that Ctrl-C ended.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Lost {
    action: String,
    /// Wall time spent on it for nothing.
    seconds: f64,
}

/// One finding or failure.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Problem {
    action: String,
    what: String,
    /// Path of its log.
    log: Option<String>,
}

impl Summary {
    pub(super) fn of(
        session: &Session,
        report: &Report,
        run: &Name,
        pages: Option<String>,
        wall: Duration,
    ) -> Self {
        let mut summary = Self {
            format: EVENT_FORMAT,
            run: run.to_string(),
            pipeline: session.pipeline.to_string(),
            system: session.system.name.clone(),
            actions: session.plan.len() - session.plan.standing.len(),
            planned: session.plan.len() - session.plan.standing.len(),
            executed: report.executed.len(),
            reused: report.reused,
            failed: 0,
            blocked: 0,
            not_needed: 0,
            not_reached: 0,
            left_out: LeftOut::default(),
            unavailable: session.plan.unavailable.clone(),
            repaired: report.repaired,
            findings: Vec::new(),
            failures: Vec::new(),
            wall_s: wall.as_secs_f64(),
            overhead_s: report.overhead.as_secs_f64(),
            peak_memory_bytes: crate::host::own_peak_memory(),
            pages,
            interrupted: report.interrupted,
            lost: report
                .lost
                .iter()
                .map(|(node, wall)| Lost {
                    action: session.plan.node(*node).label.clone(),
                    seconds: wall.as_secs_f64(),
                })
                .collect(),
        };
        summary.stand(session.standing.as_ref());
        for &node in session.plan.order().iter().filter(|n| !session.plan.is_standing(**n)) {
            let spec = session.plan.node(node);
            let problem = |what: String, log: Option<String>| Problem {
                action: spec.label.clone(),
                what,
                log,
            };
            match &report.outcomes[node.index()] {
                None if !report.held.is_empty() && !report.interrupted => {
                    summary.left_out.actions += 1;
                    summary.left_out.stages.insert(spec.stage.to_string());
                }
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

    /// A run all of which stands as a former run left it.
    pub(super) fn standing(
        context: &Context,
        args: &RunArgs,
        standing: &Standing,
        run: &Name,
        pages: Option<String>,
    ) -> Self {
        let wall = context.terminal.started.elapsed();
        let mut summary = Self {
            format: EVENT_FORMAT,
            run: run.to_string(),
            left_out: LeftOut::default(),
            lost: Vec::new(),
            pipeline: args.plan.pipeline.to_string(),
            system: args.plan.system.to_string(),
            actions: 0,
            planned: 0,
            executed: 0,
            reused: 0,
            failed: 0,
            blocked: 0,
            not_needed: 0,
            not_reached: 0,
            unavailable: standing.unavailable(),
            repaired: 0,
            findings: Vec::new(),
            failures: Vec::new(),
            wall_s: wall.as_secs_f64(),
            overhead_s: wall.as_secs_f64(),
            peak_memory_bytes: crate::host::own_peak_memory(),
            pages,
            interrupted: false,
        };
        summary.stand(Some(standing));
        summary
    }

    /// Counts what was not planned in.
    fn stand(&mut self, standing: Option<&Standing>) {
        let Some(standing) = standing else { return };
        for (_, _, key) in standing.nodes() {
            self.actions += 1;
            *(if key.is_some() { &mut self.reused } else { &mut self.not_needed }) += 1;
        }
        let problem = |(action, what)| Problem { action, what, log: None };
        self.findings.extend(standing.findings().into_iter().map(problem));
    }

    /// The exit code.
    pub(super) fn exit(&self) -> Exit {
        if self.interrupted {
            Exit::Interrupted
        } else if self.findings.is_empty() && self.failures.is_empty() {
            Exit::Fine
        } else {
            Exit::Findings
        }
    }

    pub(super) fn for_log(&self) -> RunSummary {
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

    pub(super) fn text(&self, colour: bool) -> String {
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
        for group in absent(&self.unavailable) {
            let why = group.why.map_or_else(String::new, |why| format!(": {why}"));
            line(format!("absent   {}{why}", group.what));
            line(format!("         to have it: {}", group.help));
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
        if self.left_out.actions > 0 {
            let stages: Vec<&str> = self.left_out.stages.iter().map(String::as_str).collect();
            line(format!(
                "left out: {} actions of {} (timed, or behind timed work); --measure runs them",
                self.left_out.actions,
                stages.join(", "),
            ));
        }
        if self.interrupted {
            for lost in &self.lost {
                let spent = human(Duration::from_secs_f64(lost.seconds));
                line(format!("given up {} after {spent}", lost.action));
            }
            let spent = human(Duration::from_secs_f64(self.lost.iter().map(|l| l.seconds).sum()));
            line(match self.lost.len() {
                0 => "interrupted: nothing was lost; run again to go on".to_owned(),
                1 => {
                    format!("interrupted: 1 action was given up, {spent} lost; run again to go on")
                }
                n => format!(
                    "interrupted: {n} actions were given up, {spent} lost; run again to go on"
                ),
            });
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
