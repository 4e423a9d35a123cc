//! What happens during a run, and the three ways to show it: a live view, plain lines, JSON lines.
//!
//! indicatif lives here only. While quiet work runs nothing is redrawn: a redraw thread is noise on the machine that
//! is being measured.

mod json;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::action::{Claim, NodeId};
use crate::digest::{ActionKey, Digest};
use crate::outcome::Outcome;
use crate::plan::Plan;

pub use json::{FORMAT, Json, Line};

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A run begins; nothing was looked up yet.
    Begin {
        /// The pipeline.
        pipeline: &'a str,
        /// The measuring system.
        system: &'a str,
    },
    /// The plan was looked up: so many actions, so many reused at once.
    Planned {
        /// Actions in the plan.
        total: usize,
        /// Reused without waiting for anything.
        reused: usize,
    },
    /// An action starts.
    Started {
        /// Its node.
        node: NodeId,
        /// Its label.
        label: &'a str,
        /// It has the machine for itself.
        quiet: bool,
    },
    /// An action ended.
    Ended {
        /// Its node.
        node: NodeId,
        /// Its label.
        label: &'a str,
        /// Its key, when its inputs came to be.
        key: Option<ActionKey>,
        /// How.
        outcome: &'a Outcome,
        /// Wall time.
        wall: Duration,
    },
    /// A node ended without running: reused, skipped or blocked.
    Passed {
        /// Its node.
        node: NodeId,
    },
    /// A damaged blob makes an action run again.
    Repairing {
        /// The action that made it.
        label: &'a str,
        /// The blob.
        digest: Digest,
    },
    /// A line for people.
    Note(&'a str),
}

/// Receives events.
pub trait Sink {
    /// One event.
    fn event(&mut self, event: &Event<'_>);
    /// The run is over; clear what is live.
    fn end(&mut self) {}
}

/// Shows nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Sink for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

/// Estimates how long the rest of a run takes, from earlier runs of the same actions and this run's own.
///
/// What has not started is kept as sums, since every line of progress asks anew: only running actions are looked at
/// one by one, so that showing a run takes no time that grows with its square.
#[derive(Debug)]
pub struct Clockwork {
    open: BTreeMap<NodeId, Pending>,
    waiting: Waiting,
    running: BTreeMap<NodeId, Instant>,
    stages: BTreeMap<Arc<str>, (u32, Duration)>,
    total: usize,
    jobs: u32,
}

#[derive(Debug)]
struct Pending {
    stage: Arc<str>,
    quiet: bool,
    history: Option<Duration>,
}

/// All that has not started, by shared and quiet.
#[derive(Debug, Default)]
struct Waiting {
    /// Times of those that ran before.
    known: [Duration; 2],
    /// How many of the others there are in each stage.
    unknown: [BTreeMap<Arc<str>, u32>; 2],
    /// How many there are that ran before.
    with_history: usize,
}

impl Waiting {
    fn add(&mut self, pending: &Pending) {
        let kind = usize::from(pending.quiet);
        match pending.history {
            Some(time) => {
                self.known[kind] += time;
                self.with_history += 1;
            }
            None => *self.unknown[kind].entry(Arc::clone(&pending.stage)).or_insert(0) += 1,
        }
    }

    fn remove(&mut self, pending: &Pending) {
        let kind = usize::from(pending.quiet);
        match pending.history {
            Some(time) => {
                self.known[kind] -= time;
                self.with_history -= 1;
            }
            None => {
                if let Some(count) = self.unknown[kind].get_mut(&pending.stage) {
                    *count -= 1;
                }
            }
        }
    }
}

impl Clockwork {
    /// A clockwork over a plan; `history` gives the wall time of an action's last result.
    #[must_use]
    pub fn new(
        plan: &Plan,
        jobs: usize,
        mut history: impl FnMut(NodeId) -> Option<Duration>,
    ) -> Self {
        let (mut open, mut waiting) = (BTreeMap::new(), Waiting::default());
        for &node in plan.order() {
            let spec = plan.node(node);
            let (stage, quiet) = (Arc::clone(&spec.stage), spec.claim == Claim::Quiet);
            let pending = Pending { stage, quiet, history: history(node) };
            waiting.add(&pending);
            open.insert(node, pending);
        }
        Self {
            open,
            waiting,
            running: BTreeMap::new(),
            stages: BTreeMap::new(),
            total: plan.len(),
            jobs: u32::try_from(jobs).unwrap_or(1).max(1),
        }
    }

    /// A clockwork over nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            open: BTreeMap::new(),
            waiting: Waiting::default(),
            running: BTreeMap::new(),
            stages: BTreeMap::new(),
            total: 0,
            jobs: 1,
        }
    }

    fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { node, .. } => {
                if let Some(pending) = self.open.get(node)
                    && self.running.insert(*node, Instant::now()).is_none()
                {
                    self.waiting.remove(pending);
                }
            }
            Event::Ended { node, wall, .. } => {
                if let Some(pending) = self.take(*node) {
                    let stage = self.stages.entry(pending.stage).or_insert((0, Duration::ZERO));
                    *stage = (stage.0 + 1, stage.1 + *wall);
                }
            }
            Event::Passed { node } => drop(self.take(*node)),
            Event::Begin { .. }
            | Event::Planned { .. }
            | Event::Repairing { .. }
            | Event::Note(_) => {}
        }
    }

    /// An action is over.
    fn take(&mut self, node: NodeId) -> Option<Pending> {
        let pending = self.open.remove(&node)?;
        if self.running.remove(&node).is_none() {
            self.waiting.remove(&pending);
        }
        Some(pending)
    }

    /// Actions that have ended.
    fn done(&self) -> usize {
        self.total - self.open.len()
    }

    /// Time left, if anything is known about what is left.
    fn left(&self) -> Option<Duration> {
        let seen = |stage: &str| self.stages.get(stage).map(|(n, sum)| *sum / (*n).max(1));
        let [mut shared, mut quiet] = self.waiting.known;
        let mut known = self.waiting.with_history > 0;
        for (sum, unknown) in [&mut shared, &mut quiet].into_iter().zip(&self.waiting.unknown) {
            for (stage, &count) in unknown.iter().filter(|(_, count)| **count > 0) {
                let Some(guess) = seen(stage) else { continue };
                known = true;
                *sum += guess * count;
            }
        }
        for (node, started) in &self.running {
            let Some(pending) = self.open.get(node) else { continue };
            let Some(guess) = pending.history.or_else(|| seen(&pending.stage)) else { continue };
            known = true;
            let rest = guess.saturating_sub(started.elapsed());
            *(if pending.quiet { &mut quiet } else { &mut shared }) += rest;
        }
        known.then(|| shared / self.jobs + quiet)
    }
}

/// Seconds, minutes or hours for people.
#[must_use]
pub fn human(duration: Duration) -> String {
    let s = duration.as_secs();
    match s {
        0 => format!("{} ms", duration.as_millis()),
        1..=9 => format!("{:.1} s", duration.as_secs_f64()),
        10..=119 => format!("{s} s"),
        120..=7199 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}

/// Bytes for people, in binary units.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// Shows one file coming in: a bar with speed and time left on a terminal, nothing elsewhere.
#[derive(Debug)]
pub struct Transfer(ProgressBar);

impl Transfer {
    /// Of a file of `total` bytes; 0 when its length is not known.
    #[must_use]
    pub fn new(name: &str, total: u64, live: bool, colour: bool) -> Self {
        if !live {
            return Self(ProgressBar::hidden());
        }
        let bar = if colour { "{bar:30.cyan/dim}" } else { "{bar:30}" };
        let template = if total == 0 {
            "{msg} {spinner} {elapsed}".to_owned()
        } else {
            format!(
                "{{msg}} {bar} {{binary_bytes}}/{{binary_total_bytes}}, {{binary_bytes_per_sec}}, {{eta}} left"
            )
        };
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let target = ProgressDrawTarget::stderr_with_hz(8);
        let progress = ProgressBar::with_draw_target(Some(total), target).with_style(style);
        progress.set_message(name.to_owned());
        progress.enable_steady_tick(Duration::from_millis(250));
        Self(progress)
    }

    /// So many bytes are there.
    pub fn at(&self, bytes: u64) {
        self.0.set_position(bytes);
    }

    /// No more will come.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// How an outcome reads in one word.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done { findings, .. } if findings.is_empty() => "done",
        Outcome::Done { .. } => "finding",
        Outcome::Failed(failure) => failure.class.word(),
        Outcome::Blocked { .. } => "not run",
        Outcome::Skipped => "not needed",
    }
}

/// One line per event, for pipes and logs.
#[derive(Debug)]
pub struct Plain<W> {
    out: W,
    clockwork: Clockwork,
}

impl<W: Write> Plain<W> {
    /// Writes lines to `out`.
    pub const fn new(out: W, clockwork: Clockwork) -> Self {
        Self { out, clockwork }
    }
}

impl<W: Write> Sink for Plain<W> {
    fn event(&mut self, event: &Event<'_>) {
        self.clockwork.see(event);
        let line = match event {
            Event::Planned { total, reused } => {
                format!("{total} actions planned, {reused} reused so far")
            }
            // A line when quiet work starts would be written while it runs.
            Event::Begin { .. } | Event::Started { .. } | Event::Passed { .. } => return,
            Event::Ended { label, outcome, wall, .. } => {
                let (done, total) = (self.clockwork.done(), self.clockwork.total);
                let width = total.to_string().len();
                let left = match self.clockwork.left() {
                    Some(left) if left > Duration::ZERO => format!(", about {} left", human(left)),
                    _ => String::new(),
                };
                let detail = detail(outcome);
                format!(
                    "[{done:>width$}/{total}] {:<10} {label} ({}{left}){detail}",
                    word(outcome),
                    human(*wall)
                )
            }
            Event::Repairing { label, digest } => {
                format!("repairing  {label}: {} is damaged or gone", digest.short())
            }
            Event::Note(text) => (*text).to_owned(),
        };
        // Nobody reads a broken pipe; the run goes on.
        let _ = writeln!(self.out, "{line}");
        let _ = self.out.flush();
    }
}

fn detail(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done { findings, .. } => {
            findings.iter().map(|f| format!("\n    {}", f.message)).collect()
        }
        Outcome::Failed(failure) => format!("\n    {}", failure.message),
        Outcome::Blocked { .. } | Outcome::Skipped => String::new(),
    }
}

/// A live view on a terminal: one line per running action, one for the whole.
#[derive(Debug)]
pub struct Live {
    bars: MultiProgress,
    total: ProgressBar,
    running: BTreeMap<NodeId, ProgressBar>,
    clockwork: Clockwork,
    quiet: bool,
}

impl Live {
    /// Draws on stderr.
    #[must_use]
    pub fn new(clockwork: Clockwork, colour: bool) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let template = if colour {
            "{bar:30.cyan/dim} {pos}/{len} actions, {elapsed} so far{msg}"
        } else {
            "{bar:30} {pos}/{len} actions, {elapsed} so far{msg}"
        };
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let total = bars.add(ProgressBar::new(clockwork.total as u64).with_style(style));
        Self { bars, total, running: BTreeMap::new(), clockwork, quiet: false }
    }

    fn refresh(&self) {
        self.total.set_position(self.clockwork.done() as u64);
        let left = match self.clockwork.left() {
            Some(left) if left > Duration::ZERO => format!(", about {} left", human(left)),
            _ => String::new(),
        };
        self.total.set_message(left);
    }
}

impl Sink for Live {
    fn event(&mut self, event: &Event<'_>) {
        self.clockwork.see(event);
        match event {
            Event::Started { node, label, quiet } => {
                let bar = self.bars.insert_before(&self.total, ProgressBar::new_spinner());
                let style = ProgressStyle::with_template("  {spinner} {msg} {elapsed}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner());
                bar.set_style(style);
                bar.set_message(if *quiet {
                    format!("{label} (alone on the machine; this view rests meanwhile)")
                } else {
                    (*label).to_owned()
                });
                self.quiet = *quiet;
                self.refresh();
                if *quiet {
                    self.total.disable_steady_tick();
                    bar.tick();
                } else {
                    bar.enable_steady_tick(Duration::from_millis(250));
                    self.total.enable_steady_tick(Duration::from_millis(500));
                }
                self.running.insert(*node, bar);
            }
            Event::Ended { node, label, outcome, wall, .. } => {
                if let Some(bar) = self.running.remove(node) {
                    bar.finish_and_clear();
                }
                self.quiet = false;
                if !matches!(outcome, Outcome::Done { findings, .. } if findings.is_empty()) {
                    let text = format!(
                        "{:<10} {label} ({}){}",
                        word(outcome),
                        human(*wall),
                        detail(outcome)
                    );
                    let _ = self.bars.println(text);
                }
                self.refresh();
            }
            Event::Begin { .. } | Event::Passed { .. } => {}
            Event::Planned { .. } => self.refresh(),
            Event::Repairing { label, digest } => {
                let _ = self
                    .bars
                    .println(format!("repairing  {label}: {} is damaged or gone", digest.short()));
            }
            Event::Note(text) => {
                let _ = self.bars.println(*text);
            }
        }
    }

    fn end(&mut self) {
        self.total.finish_and_clear();
        let _ = self.bars.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{ActionSpec, ProcedureId};
    use crate::plan::PlanBuilder;

    #[test]
    fn the_time_left_is_that_of_what_waits_and_what_is_left_of_what_runs() {
        let mut builder = PlanBuilder::default();
        let id = ProcedureId { name: "t", version: 1 };
        for n in 0..6 {
            let stage = Arc::from(if n < 4 { "build" } else { "timing" });
            let mut spec = ActionSpec::new(format!("n{n}"), &stage, id);
            spec.claim = if n < 4 { Claim::Shared } else { Claim::Quiet };
            builder.add(spec);
        }
        let plan = builder.finish().expect("six labels");
        // Node 0 took 100 s before, node 4 took 10 s; nothing is known of the others.
        let history = |node: NodeId| match node.0 {
            0 => Some(Duration::from_secs(100)),
            4 => Some(Duration::from_secs(10)),
            _ => None,
        };
        let mut clockwork = Clockwork::new(&plan, 2, history);
        let left = |clockwork: &Clockwork| clockwork.left().map(|left| left.as_secs_f64().round());
        assert_eq!(left(&clockwork), Some(60.0));
        let outcome = Outcome::Skipped;
        let started = |node| Event::Started { node: NodeId(node), label: "n", quiet: false };
        let ended = |node| Event::Ended {
            node: NodeId(node),
            label: "n",
            key: None,
            outcome: &outcome,
            wall: Duration::from_secs(20),
        };
        clockwork.see(&started(1));
        assert_eq!(left(&clockwork), Some(60.0), "nothing is known of what runs");
        clockwork.see(&ended(1));
        assert_eq!(left(&clockwork), Some(80.0), "a stage seen once is a guess for the others");
        clockwork.see(&Event::Passed { node: NodeId(2) });
        clockwork.see(&started(0));
        assert_eq!((left(&clockwork), clockwork.done()), (Some(70.0), 2));
        for node in [0, 3, 4, 5] {
            clockwork.see(&ended(node));
        }
        assert_eq!((left(&clockwork), clockwork.done()), (None, 6));
    }
}
