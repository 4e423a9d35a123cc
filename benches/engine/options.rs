//! The command line of the benchmark.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::graph::Shape;

/// Measures ngcc's engine beside ninja, make and razel on one graph.
#[derive(Debug, Parser)]
#[command(name = "engine", max_term_width = 110)]
pub(crate) struct Options {
    /// Only this part (repeatable)
    #[arg(long, value_enum, value_name = "PART")]
    pub(crate) only: Vec<Part>,
    /// Nodes of each graph
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) nodes: usize,
    /// Nodes of the graph that is run from nothing
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) fresh_nodes: usize,
    /// Timed runs of each command, after one that is not timed
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) runs: usize,
    /// MiB of the file that is hashed
    #[arg(long, value_name = "N", default_value_t = 1_024)]
    pub(crate) hash_mib: u64,
    /// Work here, keep everything, and use again what an earlier call left [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// The ngcc to measure
    #[arg(long, value_name = "PATH", default_value = env!("CARGO_BIN_EXE_ngcc"))]
    pub(crate) ngcc: PathBuf,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Tiny graphs, one run: checks that everything here works, measures nothing
    #[arg(long)]
    pub(crate) smoke: bool,
    /// What `cargo bench` adds
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
    /// What test runners ask of every target; there are no tests in here
    #[arg(long, hide = true)]
    pub(crate) list: bool,
    /// What test runners add to `--list`
    #[arg(long, hide = true)]
    pub(crate) format: Option<String>,
    /// What test runners add to `--list`
    #[arg(long, hide = true)]
    pub(crate) ignored: bool,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Rows of five stages
    Grid,
    /// One long chain
    Chain,
    /// Many leaves and a join
    Fan,
    /// A grid from nothing
    Fresh,
    /// Hashing one big file
    Hash,
    /// Start of the program
    Start,
}

impl Options {
    /// The command line, with `--smoke` carried out.
    pub(crate) fn read() -> Self {
        let mut options = Self::parse();
        if options.smoke {
            options.nodes = 15;
            options.fresh_nodes = 15;
            options.runs = 1;
            options.hash_mib = 1;
        }
        options
    }

    /// Somebody asks for measurements, and not a test runner for its list of tests.
    pub(crate) fn is_meant(&self) -> bool {
        (self.bench || self.smoke || self.json || !self.only.is_empty()) && !self.list
    }

    /// Whether a part is asked for.
    pub(crate) fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// The shapes asked for.
    pub(crate) fn shapes(&self) -> Vec<Shape> {
        let part = |shape: &Shape| match shape {
            Shape::Grid => Part::Grid,
            Shape::Chain => Part::Chain,
            Shape::Fan => Part::Fan,
        };
        Shape::ALL.into_iter().filter(|shape| self.wants(part(shape))).collect()
    }
}
