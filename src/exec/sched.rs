//! The scheduler: a pure state machine over claims. No processes, no clock, no store.
//!
//! Shared actions fill the job slots; a quiet action runs only when nothing else does, and nothing starts while it
//! runs. Quiet work waits until no shared action is ready or running, so builds fill the machine before and between.

use std::collections::VecDeque;

use crate::action::{Claim, NodeId};

/// Which nodes are ready and which run.
#[derive(Debug)]
pub struct Scheduler {
    jobs: usize,
    shared: VecDeque<NodeId>,
    quiet: VecDeque<NodeId>,
    running_shared: usize,
    running_quiet: bool,
}

impl Scheduler {
    /// A scheduler with so many job slots (at least one).
    #[must_use]
    pub fn new(jobs: usize) -> Self {
        Self {
            jobs: jobs.max(1),
            shared: VecDeque::new(),
            quiet: VecDeque::new(),
            running_shared: 0,
            running_quiet: false,
        }
    }

    /// A node may start as soon as its claim allows.
    pub fn ready(&mut self, node: NodeId, claim: Claim) {
        match claim {
            Claim::Shared => self.shared.push_back(node),
            Claim::Quiet => self.quiet.push_back(node),
        }
    }

    /// The next node to start now, if any; it counts as running from here on.
    pub fn start(&mut self) -> Option<(NodeId, Claim)> {
        if self.running_quiet {
            return None;
        }
        if self.running_shared < self.jobs
            && let Some(node) = self.shared.pop_front()
        {
            self.running_shared += 1;
            return Some((node, Claim::Shared));
        }
        if self.running_shared == 0
            && let Some(node) = self.quiet.pop_front()
        {
            self.running_quiet = true;
            return Some((node, Claim::Quiet));
        }
        None
    }

    /// A running node has ended.
    ///
    /// # Panics
    /// When no such node runs: a bug of the caller.
    pub fn ended(&mut self, claim: Claim) {
        match claim {
            Claim::Shared => {
                assert!(self.running_shared > 0, "a shared action ended that did not run");
                self.running_shared -= 1;
            }
            Claim::Quiet => {
                assert!(self.running_quiet, "a quiet action ended that did not run");
                self.running_quiet = false;
            }
        }
    }

    /// Nothing runs.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.running_shared == 0 && !self.running_quiet
    }

    /// Forgets everything that has not started (a run that stops early).
    pub fn clear(&mut self) -> Vec<NodeId> {
        self.shared.drain(..).chain(self.quiet.drain(..)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a random graph to its end under a random order of completions, checking the claims at every step.
    fn simulate(
        jobs: usize,
        claims: &[bool],
        edges: &[(usize, usize)],
        choices: &[usize],
    ) -> Vec<NodeId> {
        let n = claims.len();
        let claim = |i: usize| if claims[i] { Claim::Quiet } else { Claim::Shared };
        let id = |i: usize| NodeId(u32::try_from(i).unwrap());
        let mut waits = vec![0; n];
        for &(_, to) in edges {
            waits[to] += 1;
        }
        let mut scheduler = Scheduler::new(jobs);
        for (i, _) in waits.iter().enumerate().filter(|(_, w)| **w == 0) {
            scheduler.ready(id(i), claim(i));
        }
        let mut running: Vec<(NodeId, Claim)> = Vec::new();
        let mut done = Vec::new();
        let mut choice = choices.iter().cycle();
        loop {
            while let Some(started) = scheduler.start() {
                running.push(started);
                let quiet = running.iter().filter(|(_, c)| *c == Claim::Quiet).count();
                assert!(running.len() <= jobs.max(1), "more actions than jobs");
                assert!(quiet == 0 || running.len() == 1, "a quiet action has company");
            }
            if running.is_empty() {
                assert!(scheduler.is_idle());
                break;
            }
            let (node, c) = running.swap_remove(choice.next().unwrap() % running.len());
            scheduler.ended(c);
            done.push(node);
            for &(from, to) in edges {
                if from == node.index() {
                    waits[to] -= 1;
                    if waits[to] == 0 {
                        scheduler.ready(id(to), claim(to));
                    }
                }
            }
        }
        done
    }

    proptest! {
        #[test]
        fn every_runnable_node_runs_once_and_no_claim_is_ever_broken(
            jobs in 1_usize..5,
            claims in proptest::collection::vec(any::<bool>(), 1..30),
            raw in proptest::collection::vec((0_usize..30, 0_usize..30), 0..60),
            choices in proptest::collection::vec(0_usize..8, 1..40),
        ) {
            let n = claims.len();
            let edges: Vec<_> = raw.into_iter().map(|(a, b)| (a % n, b % n)).filter(|(a, b)| a < b).collect();
            let mut done = simulate(jobs, &claims, &edges, &choices);
            done.sort();
            done.dedup();
            prop_assert_eq!(done.len(), n, "a node did not run (deadlock) or ran twice");
        }
    }

    #[test]
    fn quiet_work_waits_until_no_shared_work_is_left() {
        let mut scheduler = Scheduler::new(1);
        scheduler.ready(NodeId(0), Claim::Quiet);
        scheduler.ready(NodeId(1), Claim::Shared);
        scheduler.ready(NodeId(2), Claim::Shared);
        let order: Vec<_> = std::iter::from_fn(|| {
            let (node, claim) = scheduler.start()?;
            scheduler.ended(claim);
            Some(node)
        })
        .collect();
        assert_eq!(order, [NodeId(1), NodeId(2), NodeId(0)]);
    }
}
