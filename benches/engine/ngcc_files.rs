//! Writes a graph as a workspace of `ngcc`: pipelines, submissions, a system.
//!
//! A grid is one pipeline of five `command` stages over as many submissions as there are rows; a chain and a fan are
//! one submission and one stage per node. ngcc runs two actions once when program, arguments, inputs' content and
//! names of outputs are equal, and equal copies of one file would be: so in a row, chain or fan every output has a
//! name of its own, as it has for the peers. Knows nothing of how they are run.

use std::fmt::Write as _;
use std::path::Path;

use super::files::write;
use super::graph::{Graph, Input, STAGES, Shape, row_name, source_text};

/// The pipeline that holds the graph.
pub(crate) const PIPELINE: &str = "graph";
/// Any machine.
const SYSTEM: &str = "description: the machine that the benchmark runs on\narch: any\n";
/// A submission whose files are its own directory.
const MANIFEST: &str = "\
name: Bench
function: kem
inspected: true
instances:
  A:
implementations:
  own:
    version: independent
    source: {directory: src}
    recipe: {header: k.h}
";

/// Writes the workspace below a directory.
pub(crate) fn write_all(graph: &Graph, dir: &Path) -> std::io::Result<()> {
    write(&dir.join("systems/this.yaml"), SYSTEM)?;
    write(&dir.join(format!("pipelines/{PIPELINE}.yaml")), &pipeline(graph))?;
    for source in 0..graph.sources {
        let id = row_name(source);
        write(&dir.join(format!("kems/{id}/submission.yaml")), MANIFEST)?;
        write(&dir.join(format!("kems/{id}/src/k.h")), "")?;
        write(&dir.join(source_file(source)), &source_text(source, 0))?;
    }
    Ok(())
}

/// Where a source stands.
pub(crate) fn source_file(source: usize) -> String {
    format!("kems/{}/src/k.c", row_name(source))
}

/// The label of the last node of the first row, chain or fan.
pub(crate) fn label(graph: &Graph) -> String {
    let stage = match graph.shape {
        Shape::Grid => STAGES[STAGES.len() - 1],
        Shape::Chain | Shape::Fan => graph.nodes.last().map_or("", |node| &node.name),
    };
    format!("{}/own/A/{stage}", row_name(0))
}

fn pipeline(graph: &Graph) -> String {
    let mut text = "about: Copies files, to measure the engine\nstages:\n".to_owned();
    // Rows are alike, so the stages are those of the first one.
    let stages = match graph.shape {
        Shape::Grid => &graph.nodes[..STAGES.len()],
        Shape::Chain | Shape::Fan => &graph.nodes[..],
    };
    let name = |index: usize| match graph.shape {
        Shape::Grid => STAGES[index],
        Shape::Chain | Shape::Fan => graph.nodes[index].name.as_str(),
    };
    for (index, node) in stages.iter().enumerate() {
        let (mut inputs, mut file) = (String::new(), "");
        for (number, input) in node.inputs.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            let from = match (input, graph.shape) {
                (Input::Source(_), Shape::Grid) => {
                    file = "/k.c";
                    "sources".to_owned()
                }
                (Input::Source(source), Shape::Chain | Shape::Fan) => source_file(*source),
                (Input::Node(before), _) => {
                    let before = name(*before);
                    format!("{before}.{before}")
                }
            };
            let _ = write!(inputs, "{comma}x{number}: {from}");
        }
        let name = name(index);
        let _ = writeln!(
            text,
            "  {name}: {{kind: command, scope: instance, argv: [cat, \"${{input:x0}}{file}\"], \
             inputs: {{{inputs}}}, outputs: {{{name}: {name}}}, stdout: {name}, tools: [cat]}}"
        );
    }
    text
}
