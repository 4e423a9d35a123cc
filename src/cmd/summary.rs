//! What a run did, in numbers and words: for people, as JSON, and for the run's file.

use std::collections::BTreeMap;
use std::time::Duration;

use super::context::Context;
use super::session::Session;
use super::standing::Standing;
use crate::cli::{Exit, RunArgs};
use crate::clock::{Clock, SystemClock};
use crate::event::human;
use crate::exec::run::Report;
use crate::outcome::Outcome;
use crate::plan::absent;
use crate::record::FailureClass;
use crate::store::RunSummary;

/// What a run did, in numbers and words.
#[derive(Debug, serde::Serialize)]
pub struct Summary {
    pipeline: String,
    system: String,
    actions: usize,
    /// Actions that were planned and looked up one by one; the others stand as a former run left them.
    planned: usize,
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
    pub(super) fn of(
        session: &Session,
        report: &Report,
        pages: Option<String>,
        wall: Duration,
    ) -> Self {
        let mut summary = Self {
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
        summary.stand(session.standing.as_ref());
        for &node in session.plan.order().iter().filter(|n| !session.plan.is_standing(**n)) {
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

    /// A run all of which stands as a former run left it.
    pub(super) fn standing(
        context: &Context,
        args: &RunArgs,
        standing: &Standing,
        pages: Option<String>,
    ) -> Self {
        let wall = context.terminal.started.elapsed();
        let mut summary = Self {
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
