//! The graphs that all programs are measured on, as one description that every writer reads.
//!
//! Knows nothing of any program's files. Every node copies its first input to its one output, so a run is nearly
//! nothing but the engine's own work. Names are short: a join names all its inputs on one command line or rule line.

/// A form of graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Rows of five stages each; every row has one source of its own.
    Grid,
    /// One source, then each node after the one before.
    Chain,
    /// One source, one leaf less than nodes there are, and one node behind all leaves.
    Fan,
}

impl Shape {
    /// All, in the order in which they are measured.
    pub(crate) const ALL: [Self; 3] = [Self::Grid, Self::Chain, Self::Fan];

    /// As the command line calls it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Chain => "chain",
            Self::Fan => "fan",
        }
    }
}

/// The stages of a grid's row.
pub(crate) const STAGES: [&str; 5] = ["build", "kat", "timing", "profile", "sizes"];

/// What a node reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A source, by number.
    Source(usize),
    /// A node, by number.
    Node(usize),
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its name, which is also that of its output.
    pub(crate) name: String,
    /// What it reads; it copies the first.
    pub(crate) inputs: Vec<Input>,
}

/// A graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Graph {
    pub(crate) shape: Shape,
    pub(crate) nodes: Vec<Node>,
    /// How many sources it has.
    pub(crate) sources: usize,
}

impl Graph {
    /// A graph of about so many nodes: a grid has whole rows.
    pub(crate) fn new(shape: Shape, nodes: usize) -> Self {
        let node = |name: String, inputs| Node { name, inputs };
        let (nodes, sources) = match shape {
            Shape::Grid => {
                let rows = (nodes / STAGES.len()).max(1);
                let cell = |index: usize| {
                    let (row, stage) = (index / STAGES.len(), index % STAGES.len());
                    let input =
                        if stage == 0 { Input::Source(row) } else { Input::Node(index - 1) };
                    node(format!("{}-{}", row_name(row), STAGES[stage]), vec![input])
                };
                ((0..rows * STAGES.len()).map(cell).collect(), rows)
            }
            Shape::Chain => {
                let link = |index: usize| {
                    let input = index.checked_sub(1).map_or(Input::Source(0), Input::Node);
                    node(format!("n{index:05}"), vec![input])
                };
                ((0..nodes.max(1)).map(link).collect(), 1)
            }
            Shape::Fan => {
                let leaves = nodes.saturating_sub(1).max(1);
                let leaf = |index: usize| node(format!("i{index:05}"), vec![Input::Source(0)]);
                let join = node("join".to_owned(), (0..leaves).map(Input::Node).collect());
                ((0..leaves).map(leaf).chain([join]).collect(), 1)
            }
        };
        Self { shape, nodes, sources }
    }

    /// The nodes that no other node reads: what a build is asked for.
    pub(crate) fn ends(&self) -> Vec<usize> {
        let mut read = vec![false; self.nodes.len()];
        for input in self.nodes.iter().flat_map(|node| &node.inputs) {
            if let Input::Node(index) = input {
                read[*index] = true;
            }
        }
        (0..self.nodes.len()).filter(|&index| !read[index]).collect()
    }

    /// How many nodes are behind one source.
    pub(crate) fn behind_one_source(&self) -> usize {
        self.nodes.len() / self.sources
    }
}

/// A row of a grid: the name of its submission.
pub(crate) fn row_name(row: usize) -> String {
    format!("s{row:05}")
}

/// The text of a source; a changed one has another number.
pub(crate) fn source_text(source: usize, change: u32) -> String {
    format!("/* source {source}, change {change} */\n")
}
