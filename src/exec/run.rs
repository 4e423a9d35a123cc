//! The loop: look up, run, record. One function for each kind of state change.
//!
//! Knows nothing of stage kinds (the registry of procedures is passed in) and draws nothing (events are passed out).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::bind::{self, Bindable, Settled};
use super::interrupt::Level;
use super::job::{Bench, Job, Stop, Yield};
use super::sched::Scheduler;
use crate::action::{Bound, Claim, NodeId, Source};
use crate::artifact::{Artifact, Entry};
use crate::digest::{ActionKey, Digest};
use crate::event::{Event, Sink};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::record::{Failure, FailureClass, Provenance, RECORD_FORMAT, Record};

/// Finds the code of a procedure by name.
pub type Registry = fn(&str) -> Option<Procedure>;
/// The code of a procedure.
pub type Procedure = fn(&mut Job<'_>) -> Result<Yield, Stop>;

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Options<'r> {
    /// Job slots for shared actions.
    pub jobs: usize,
    /// Start nothing new after the first failure or finding.
    pub fail_fast: bool,
    /// Nodes that are taken from the store and never run; without a result there, they and what is behind them wait.
    pub reuse_only: &'r BTreeSet<NodeId>,
}

/// What a run did.
#[derive(Debug)]
pub struct Report {
    /// How each node ended; `None` when the run stopped before it.
    pub outcomes: Vec<Option<Outcome>>,
    /// The key of each node that was bound.
    pub keys: Vec<Option<ActionKey>>,
    /// Actions that ran and have a result.
    pub executed: Vec<NodeId>,
    /// Actions whose result was reused.
    pub reused: usize,
    /// Blobs found damaged and made again.
    pub repaired: usize,
    /// Wall time of the loop.
    pub wall: Duration,
    /// Wall time with no child running, less waiting for nothing.
    pub overhead: Duration,
    /// Nodes of [`Options::reuse_only`] without a result.
    pub held: Vec<NodeId>,
    /// Nodes that Ctrl-C ended, with the wall time that was spent on them for nothing.
    pub lost: Vec<(NodeId, Duration)>,
    /// Content was damaged that no action of this plan makes.
    pub unmade: bool,
    /// Stopped by Ctrl-C.
    pub interrupted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting(u32),
    Ready,
    Running,
    Settled,
}

struct Finished {
    node: NodeId,
    claim: Claim,
    result: Result<Record, Stop>,
    log: Option<crate::digest::BlobId>,
    wall: Duration,
}

struct Loop<'r> {
    plan: &'r Plan,
    bench: &'r Bench<'r>,
    sink: &'r mut dyn Sink,
    options: Options<'r>,
    states: Vec<State>,
    settled: Settled,
    keys: Vec<Option<ActionKey>>,
    scheduler: Scheduler,
    /// Nodes all of whose dependencies have ended, not yet looked at.
    due: VecDeque<NodeId>,
    repairs: BTreeMap<NodeId, u32>,
    /// What an action that runs again because of damage had given before.
    before: BTreeMap<NodeId, BTreeMap<String, Artifact>>,
    executed: Vec<NodeId>,
    reused: usize,
    held: Vec<NodeId>,
    lost: Vec<(NodeId, Duration)>,
    stopping: bool,
    unmade: bool,
}

/// Runs a plan to its end.
///
/// # Errors
/// A store that cannot be read at all.
pub fn run(
    plan: &Plan,
    bench: &Bench<'_>,
    registry: Registry,
    options: Options<'_>,
    sink: &mut dyn Sink,
) -> Result<Report, crate::store::StoreError> {
    let begun = Instant::now();
    let mut state = Loop {
        plan,
        bench,
        sink,
        options,
        states: Vec::with_capacity(plan.len()),
        settled: Settled::new(plan),
        keys: vec![None; plan.len()],
        scheduler: Scheduler::new(options.jobs),
        due: VecDeque::new(),
        repairs: BTreeMap::new(),
        before: BTreeMap::new(),
        executed: Vec::new(),
        reused: 0,
        held: Vec::new(),
        lost: Vec::new(),
        stopping: false,
        unmade: false,
    };
    state.states.resize(plan.len(), State::Waiting(0));
    state.settled.stand(plan);
    for stand in &plan.standing {
        state.states[stand.node.index()] = State::Settled;
        state.keys[stand.node.index()] = Some(stand.key);
    }
    for index in 0..plan.len() {
        let node = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
        if state.states[index] != State::Settled {
            state.wait_again(node);
        }
    }
    state.drain_due();
    if plan.len() > state.reused {
        let total = plan.len();
        state.sink.event(&Event::Planned { total, reused: state.reused });
    }
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<Finished>();
        loop {
            while let Some((node, claim)) = state.next_start() {
                let sender = sender.clone();
                let work = state.prepare(node);
                scope.spawn(move || {
                    let finished = match work {
                        Ok(work) => carry_out(work, registry, node, claim),
                        Err(failure) => Finished {
                            node,
                            claim,
                            result: Err(Stop::Failure(failure)),
                            log: None,
                            wall: Duration::ZERO,
                        },
                    };
                    // The receiver lives as long as the loop; it cannot be gone while a thread of the scope runs.
                    let _ = sender.send(finished);
                });
            }
            if state.scheduler.is_idle() {
                break;
            }
            let Ok(finished) = receiver.recv() else { break };
            state.finish(finished);
            state.drain_due();
        }
    });
    bench.store.flush()?;
    let interrupted = bench.interrupt.level() > Level::None;
    let wall = begun.elapsed();
    let overhead = wall.saturating_sub(bench.meter.busy());
    let repaired = state.repairs.len();
    let Loop { settled, keys, executed, reused, held, lost, unmade, .. } = state;
    let outcomes = settled.into_outcomes();
    Ok(Report {
        outcomes,
        keys,
        executed,
        reused,
        repaired,
        wall,
        overhead,
        held,
        lost,
        unmade,
        interrupted,
    })
}

/// Everything a worker thread needs of one action.
struct Work<'r> {
    bench: &'r Bench<'r>,
    bound: Bound<'r>,
    outcomes: BTreeMap<&'r crate::name::RelPath, std::sync::Arc<crate::outcome::OutcomeDocument>>,
}

impl<'r> Loop<'r> {
    fn next_start(&mut self) -> Option<(NodeId, Claim)> {
        if self.bench.interrupt.level() > Level::None {
            self.stopping = true;
        }
        if self.stopping {
            self.scheduler.clear();
            return None;
        }
        let (node, claim) = self.scheduler.start()?;
        self.states[node.index()] = State::Running;
        self.sink.event(&Event::Started {
            node,
            label: &self.plan.node(node).label,
            quiet: claim == Claim::Quiet,
        });
        Some((node, claim))
    }

    /// Counts what a node waits for; due when that is nothing.
    fn wait_again(&mut self, node: NodeId) {
        let mut before: Vec<NodeId> = self.plan.node(node).waits_for().collect();
        before.sort_unstable();
        before.dedup();
        let open = before.iter().filter(|n| self.settled.get(**n).is_none()).count();
        self.states[node.index()] = State::Waiting(u32::try_from(open).unwrap_or(u32::MAX));
        if open == 0 {
            self.due.push_back(node);
        }
    }

    /// Looks at every node whose dependencies have ended.
    fn drain_due(&mut self) {
        while let Some(node) = self.due.pop_front() {
            self.consider(node);
        }
    }

    /// Skips, blocks, reuses or queues one node.
    fn consider(&mut self, node: NodeId) {
        match bind::bindable(self.plan, node, &self.settled) {
            Bindable::Skipped => self.settle(node, Outcome::Skipped),
            Bindable::Blocked(by) => self.settle(node, Outcome::Blocked { by }),
            Bindable::Yes => match self.bind(node) {
                Err(failure) => self.settle(node, Outcome::Failed(failure)),
                Ok(bound) => {
                    let key = bound.key();
                    self.keys[node.index()] = Some(key);
                    match self.bench.store.lookup(key) {
                        Ok(Some(hit)) => self.reuse(node, key, hit),
                        Ok(None) => self.queue(node),
                        Err(error) => {
                            let failure = Failure::new(FailureClass::Store, error.to_string());
                            self.settle(node, Outcome::Failed(failure));
                        }
                    }
                }
            },
        }
    }

    /// Lets the scheduler have a node, unless it is to be reused or left.
    fn queue(&mut self, node: NodeId) {
        if self.options.reuse_only.contains(&node) {
            self.held.push(node);
            return;
        }
        self.states[node.index()] = State::Ready;
        self.scheduler.ready(node, self.plan.node(node).claim);
    }

    fn bind(&mut self, node: NodeId) -> Result<Bound<'r>, Failure> {
        let Bench { store, workspace, tools, .. } = self.bench;
        bind::bind(self.plan.node(node), &mut self.settled, store, workspace, tools)
    }

    fn reuse(&mut self, node: NodeId, key: ActionKey, hit: crate::store::Hit) {
        // Findings are few; only then is the record itself opened.
        let findings = if hit.findings == 0 {
            Vec::new()
        } else {
            match self.bench.store.record(key) {
                Ok(Some(record)) => record.findings,
                Ok(None) | Err(_) => return self.queue(node),
            }
        };
        self.reused += 1;
        let outputs = hit.outputs.into_iter().collect();
        self.settle(node, Outcome::Done { outputs, findings, reused: true });
    }

    /// The one place where a node ends.
    fn settle(&mut self, node: NodeId, outcome: Outcome) {
        let spec = self.plan.node(node);
        let bad = !spec.tentative
            && match &outcome {
                Outcome::Done { findings, .. } => !findings.is_empty(),
                Outcome::Failed(_) => true,
                Outcome::Blocked { .. } | Outcome::Skipped => false,
            };
        if bad && self.options.fail_fast {
            self.stopping = true;
        }
        if self.states[node.index()] != State::Running {
            self.sink.event(&Event::Passed { node });
        }
        self.settled.set(node, Some(outcome));
        self.states[node.index()] = State::Settled;
        for &dependent in self.plan.dependents(node) {
            if let State::Waiting(open) = &mut self.states[dependent.index()] {
                *open = open.saturating_sub(1);
                if *open == 0 {
                    self.due.push_back(dependent);
                }
            }
        }
    }

    fn prepare(&mut self, node: NodeId) -> Result<Work<'r>, Failure> {
        let bound = self.bind(node)?;
        self.keys[node.index()] = Some(bound.key());
        let mut outcomes = BTreeMap::new();
        for (path, source) in &self.plan.node(node).inputs {
            if let Source::Outcome(from) = source
                && let Some((document, _)) = self.settled.document(*from)
            {
                outcomes.insert(path, document);
            }
        }
        Ok(Work { bench: self.bench, bound, outcomes })
    }

    fn finish(&mut self, finished: Finished) {
        let Finished { node, claim, result, log, wall } = finished;
        self.scheduler.ended(claim);
        let outcome = match result {
            Ok(record) => {
                self.executed.push(node);
                self.compare_with_before(node, &record);
                Outcome::Done { outputs: record.outputs, findings: record.findings, reused: false }
            }
            Err(Stop::Damaged(digest)) => match self.repair(node, digest) {
                None => return,
                Some(failure) => Outcome::Failed(failure),
            },
            Err(Stop::Failure(failure)) => Outcome::Failed(Failure { log, ..failure }),
        };
        if matches!(&outcome, Outcome::Failed(f) if f.class == FailureClass::Interrupted) {
            self.lost.push((node, wall));
        }
        let label = &self.plan.node(node).label;
        let key = self.keys[node.index()];
        self.sink.event(&Event::Ended { node, label, key, outcome: &outcome, wall });
        self.settle(node, outcome);
    }

    /// A blob that `node` needs is damaged: whoever made it, and everything after that, is looked at again.
    fn repair(&mut self, node: NodeId, digest: Digest) -> Option<Failure> {
        let broken = |what: String| Some(Failure::new(FailureClass::Store, what));
        let Some(maker) = self.maker_of(digest) else {
            self.unmade = true;
            return broken(format!(
                "{} is damaged and nothing here makes it again",
                digest.short()
            ));
        };
        let count = self.repairs.entry(maker).or_insert(0);
        *count += 1;
        if *count > 2 {
            return broken(format!("{} is damaged again and again", digest.short()));
        }
        self.sink.event(&Event::Repairing { label: &self.plan.node(maker).label, digest });
        if let Some(Outcome::Done { outputs, .. }) = self.settled.get(maker) {
            self.before.insert(maker, outputs.clone());
        }
        if let Some(key) = self.keys[maker.index()] {
            // Failing to forget only means the same repair next time.
            let _ = self.bench.store.forget(key);
        }
        let mut again = vec![maker];
        let mut seen = BTreeSet::from([maker]);
        while let Some(next) = again.pop() {
            if self.states[next.index()] != State::Running || next == node {
                self.settled.set(next, None);
            }
            for &dependent in self.plan.dependents(next) {
                if seen.insert(dependent) {
                    again.push(dependent);
                }
            }
        }
        seen.insert(node);
        for &next in &seen {
            let running = self.states[next.index()] == State::Running && next != node;
            let queued = self.states[next.index()] == State::Ready;
            if !running && !queued {
                self.wait_again(next);
            }
        }
        None
    }

    /// The same key gave other bytes: nothing downstream is wrong, since keys go by content, but somebody should know.
    fn compare_with_before(&mut self, node: NodeId, record: &Record) {
        let Some(before) = self.before.remove(&node) else { return };
        let label = &self.plan.node(node).label;
        for (name, artifact) in &record.outputs {
            if before.get(name).is_some_and(|earlier| earlier != artifact) {
                let text = format!(
                    "`{label}` gave another `{name}` than before from the same inputs: it cannot be reproduced"
                );
                self.sink.event(&Event::Note(&text));
            }
        }
    }

    fn maker_of(&self, digest: Digest) -> Option<NodeId> {
        let holds = |artifact: &Artifact| match artifact {
            Artifact::Blob(id) => id.0 == digest,
            Artifact::Tree(id) => {
                id.0 == digest
                    || self.bench.store.read_tree(*id).is_ok_and(|tree| {
                        tree.0.values().any(
                            |entry| matches!(entry, Entry::File { blob, .. } if blob.0 == digest),
                        )
                    })
            }
        };
        let mut own = self.plan.order().iter().copied().filter(|n| !self.plan.is_standing(*n));
        own.find(|node| match self.settled.get(*node) {
            Some(Outcome::Done { outputs, .. }) => outputs.values().any(holds),
            _ => false,
        })
    }
}

/// Runs one procedure in a worker thread and commits its record.
fn carry_out(work: Work<'_>, registry: Registry, node: NodeId, claim: Claim) -> Finished {
    let Work { bench, bound, outcomes } = work;
    let started = bench.clock.utc();
    let started_ns = bench.clock.monotonic_ns();
    let begun = Instant::now();
    let mut job = Job::new(bench, &bound, outcomes);
    let spec = bound.spec();
    let mut result = match registry(spec.procedure.name) {
        Some(procedure) => procedure(&mut job),
        None => Err(Stop::new(
            FailureClass::Refused,
            format!("no procedure is called `{}`", spec.procedure.name),
        )),
    };
    if let Ok(made) = &result
        && let Some(missing) =
            spec.outputs.iter().find(|name| !made.outputs.contains_key(name.as_ref()))
    {
        let text = format!("output `{missing}` was not made");
        result = Err(Stop::new(FailureClass::Output, text));
    }
    let wall = begun.elapsed();
    let log =
        if job.trace.log.is_empty() { None } else { bench.store.put_bytes(&job.trace.log).ok() };
    let result = result.and_then(|made| {
        let trace = job.trace;
        let record = Record {
            format: RECORD_FORMAT,
            key: bound.key(),
            label: spec.label.clone(),
            outputs: made.outputs,
            findings: made.findings,
            ingredients: bound.ingredients(),
            provenance: Provenance {
                ngcc: env!("CARGO_PKG_VERSION").to_owned(),
                host: bench.host.0.clone(),
                tools: spec
                    .tools
                    .iter()
                    .filter_map(|name| {
                        Some((name.clone(), bench.tools.get(name)?.identity.clone()))
                    })
                    .collect(),
                started,
                ended: bench.clock.utc(),
                started_ns,
                wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
                cpu_ns: u64::try_from(trace.cpu.as_nanos()).unwrap_or(u64::MAX),
                max_rss_bytes: trace.max_rss_bytes,
                commands: trace.commands,
                log,
                limits: trace.limits,
                sources: trace.sources,
                packages: trace.packages,
            },
            observed: made.observed,
        };
        bench.store.commit(&record)?;
        Ok(record)
    });
    Finished { node, claim, result, log, wall }
}
