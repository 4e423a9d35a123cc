//! Runs several programs against each other and keeps every sample.
//!
//! One run of each that is not timed, then A B C A B C, so that a change of the machine's mood meets all alike. A run
//! that did not do what it was meant to do ends its program's row with the reason instead of a figure.

use std::time::Duration;

use crate::process::{Invocation, Sample, load};

/// Makes ready for the next run, outside the clock.
pub(crate) type Prepare = Box<dyn FnMut() -> Result<(), String>>;
/// The timed part.
pub(crate) type Timed = Box<dyn FnMut() -> Result<Sample, String>>;
/// Whether a run did what it was meant to.
pub(crate) type Check = Box<dyn Fn(&Sample) -> Result<(), String>>;

/// One program in one discipline.
pub(crate) struct Contender {
    pub(crate) who: String,
    pub(crate) prepare: Prepare,
    pub(crate) timed: Timed,
    pub(crate) check: Check,
    /// What is run once more for its peak memory.
    pub(crate) memory: Option<Invocation>,
}

impl Contender {
    /// A program that needs nothing between its runs and only has to end well.
    pub(crate) fn new(who: &str, invocation: &Invocation) -> Self {
        let run = invocation.clone();
        Self {
            who: who.to_owned(),
            prepare: Box::new(|| Ok(())),
            timed: Box::new(move || run.run()),
            check: Box::new(|_| Ok(())),
            memory: Some(invocation.clone()),
        }
    }

    /// With something to be done before each run.
    pub(crate) fn after(mut self, prepare: impl FnMut() -> Result<(), String> + 'static) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// With a look at each run.
    pub(crate) fn checked(
        mut self,
        check: impl Fn(&Sample) -> Result<(), String> + 'static,
    ) -> Self {
        self.check = Box::new(check);
        self
    }

    fn once(&mut self) -> Result<Sample, String> {
        (self.prepare)()?;
        let sample = (self.timed)()?;
        if !sample.fine {
            let said = if sample.err.trim().is_empty() { &sample.out } else { &sample.err };
            return Err(format!("failed: {}", said.lines().next().unwrap_or("without a word")));
        }
        (self.check)(&sample)?;
        Ok(sample)
    }
}

/// One program's figures in one discipline, or why there are none.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) graph: String,
    pub(crate) who: String,
    pub(crate) wall_ns: Vec<u128>,
    pub(crate) cpu_ns: Vec<u128>,
    pub(crate) peak_kib: Option<u64>,
    pub(crate) load: String,
    pub(crate) note: Option<String>,
    /// Why there are no figures.
    pub(crate) missing: Option<String>,
}

impl Row {
    /// A row that only says why it is empty.
    pub(crate) fn missing(case: &str, graph: &str, who: &str, why: String) -> Self {
        Self {
            case: case.to_owned(),
            graph: graph.to_owned(),
            who: who.to_owned(),
            wall_ns: Vec::new(),
            cpu_ns: Vec::new(),
            peak_kib: None,
            load: load(),
            note: None,
            missing: Some(why),
        }
    }

    /// The median wall time.
    pub(crate) fn wall(&self) -> Option<Duration> {
        median(&self.wall_ns)
    }

    /// The median CPU time.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        median(&self.cpu_ns)
    }

    /// Shortest and longest wall time.
    pub(crate) fn range(&self) -> Option<(Duration, Duration)> {
        Some((nanos(*self.wall_ns.iter().min()?), nanos(*self.wall_ns.iter().max()?)))
    }
}

fn nanos(value: u128) -> Duration {
    Duration::from_nanos(u64::try_from(value).unwrap_or(u64::MAX))
}

fn median(values: &[u128]) -> Option<Duration> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (low, high) =
        (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(nanos((low + high) / 2))
}

/// Runs one discipline.
pub(crate) fn contest(
    case: &str,
    graph: &str,
    mut contenders: Vec<Contender>,
    runs: usize,
) -> Vec<Row> {
    let mut rows: Vec<Row> = contenders
        .iter()
        .map(|c| Row { missing: None, ..Row::missing(case, graph, &c.who, String::new()) })
        .collect();
    for round in 0..=runs {
        for (contender, row) in contenders.iter_mut().zip(&mut rows) {
            if row.missing.is_some() {
                continue;
            }
            match contender.once() {
                Ok(_) if round == 0 => {}
                Ok(sample) => {
                    row.wall_ns.push(sample.wall.as_nanos());
                    row.cpu_ns.push(sample.cpu.as_nanos());
                }
                Err(why) => row.missing = Some(why),
            }
        }
    }
    let after = load();
    for (contender, row) in contenders.iter_mut().zip(&mut rows) {
        row.load = format!("{}..{after}", row.load);
        if row.missing.is_none()
            && let Some(memory) = &contender.memory
            && (contender.prepare)().is_ok()
        {
            row.peak_kib = memory.peak_kib();
        }
    }
    rows
}
