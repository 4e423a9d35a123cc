//! Measures how much of a run's wall time passes while no child runs: the engine's own share.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Accumulates the wall time during which at least one child was running.
#[derive(Debug, Default)]
pub struct Meter(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: usize,
    since: Option<Instant>,
    busy: Duration,
}

/// One running child; counted until dropped.
#[derive(Debug)]
pub struct Busy<'m>(&'m Meter);

impl Meter {
    /// A child starts.
    pub fn child(&self) -> Busy<'_> {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.running == 0 {
            state.since = Some(Instant::now());
        }
        state.running += 1;
        Busy(self)
    }

    /// Wall time with at least one child, so far.
    #[must_use]
    pub fn busy(&self) -> Duration {
        let state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.busy + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut state = self.0.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.running -= 1;
        if state.running == 0
            && let Some(since) = state.since.take()
        {
            state.busy += since.elapsed();
        }
    }
}
