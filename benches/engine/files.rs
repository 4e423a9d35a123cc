//! Writes a graph for the peers: `build.ninja`, `Makefile`, `razel.jsonl`, with the same commands on the same files.
//!
//! Knows nothing of how they are run. ninja and make start their commands through a shell and always have; razel and
//! ngcc start the program itself. That is part of what each of them is.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use super::graph::{Graph, Input, source_text};

/// Where a source stands in a peer's directory.
pub(crate) fn source_file(source: usize) -> String {
    format!("src/{source:05}.c")
}

/// Writes one file and the directories above it.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}

/// Writes the sources.
pub(crate) fn write_sources(graph: &Graph, dir: &Path) -> io::Result<()> {
    (0..graph.sources).try_for_each(|i| write(&dir.join(source_file(i)), &source_text(i, 0)))
}

/// What a node writes.
pub(crate) fn output(graph: &Graph, node: usize) -> String {
    format!("o/{}", graph.nodes[node].name)
}

fn input(graph: &Graph, input: Input) -> String {
    match input {
        Input::Source(source) => source_file(source),
        Input::Node(node) => output(graph, node),
    }
}

fn inputs(graph: &Graph, node: usize) -> Vec<String> {
    graph.nodes[node].inputs.iter().map(|&i| input(graph, i)).collect()
}

/// `build.ninja`.
pub(crate) fn ninja(graph: &Graph, dir: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(dir.join("build.ninja"))?);
    writeln!(out, "rule cat\n  command = cat $first > $out")?;
    for node in 0..graph.nodes.len() {
        let inputs = inputs(graph, node);
        let output = output(graph, node);
        writeln!(out, "build {output}: cat {}\n  first = {}", inputs.join(" "), inputs[0])?;
    }
    out.flush()
}

/// `Makefile`, without built-in rules: looking for them is work that nobody asked for.
pub(crate) fn make(graph: &Graph, dir: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(dir.join("Makefile"))?);
    let ends: Vec<String> = graph.ends().into_iter().map(|node| output(graph, node)).collect();
    writeln!(out, "MAKEFLAGS += --no-builtin-rules\n.SUFFIXES:\n.PHONY: all")?;
    writeln!(out, "all: {}", ends.join(" "))?;
    for node in 0..graph.nodes.len() {
        let inputs = inputs(graph, node).join(" ");
        writeln!(out, "{}: {inputs}\n\tcat $< > $@", output(graph, node))?;
    }
    out.flush()
}

/// `razel.jsonl`: one command per line.
pub(crate) fn razel(graph: &Graph, dir: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(dir.join("razel.jsonl"))?);
    for (index, node) in graph.nodes.iter().enumerate() {
        let inputs = inputs(graph, index);
        let mut line = String::new();
        let _ = write!(
            line,
            "{{\"name\":\"{}\",\"executable\":\"cat\",\"args\":[\"{}\"],\"inputs\":[\"{}\"],\"stdout\":\"{}\"}}",
            node.name,
            inputs[0],
            inputs.join("\",\""),
            output(graph, index)
        );
        writeln!(out, "{line}")?;
    }
    out.flush()
}
