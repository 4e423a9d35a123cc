//! `cargo bench --bench engine`: ngcc's engine beside ninja, make and razel on the same graphs.
//!
//! The engine's own work is what is measured: every node copies a few bytes. Before anything is timed each program must
//! say itself that it has nothing to do. docs/BENCHMARK.md says how to read the figures. Knows nothing of ngcc's
//! inside, but for the one hashing function that it compares with `b3sum`.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts programs and looks for them on PATH"
)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what the benchmark is for")]

mod contest;
mod files;
mod graph;
mod hash;
mod ngcc_files;
mod options;
mod process;
mod table;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::contest::{Contender, Row, contest};
use crate::graph::{Graph, Shape};
use crate::options::{Options, Part};
use crate::process::Invocation;
use crate::tools::{Kind, Tool};

fn main() -> ExitCode {
    let options = Options::read();
    if options.list {
        return ExitCode::SUCCESS;
    }
    if !options.is_meant() {
        eprintln!("run `cargo bench --bench engine -- --help`");
        return ExitCode::SUCCESS;
    }
    match measure(&options) {
        Ok(rows) => {
            let broken = rows.iter().any(|row| row.missing.as_ref().is_some_and(|m| is_broken(m)));
            if options.smoke && broken { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            eprintln!("engine: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A row is empty because something went wrong, and not because something is not there.
fn is_broken(missing: &str) -> bool {
    !["not installed", "skipped"].iter().any(|start| missing.starts_with(start))
}

fn measure(options: &Options) -> Result<Vec<Row>, String> {
    let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
    let work = options.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    let work = std::path::absolute(work).map_err(|e| e.to_string())?;
    let (tools, absent) = tools::present(&options.ngcc);
    let head = machine(&tools, &absent);
    if !options.json {
        println!("{head}\n");
    }
    let mut all = Vec::new();
    let mut show = |rows: Vec<Row>| {
        if !options.json {
            println!("{}", table::text(&rows));
        }
        all.extend(rows);
    };
    if options.wants(Part::Start) {
        show(start(&tools, &work, options.runs));
    }
    for shape in options.shapes() {
        show(shape_cases(&Graph::new(shape, options.nodes), &tools, &work, options.runs));
    }
    if options.wants(Part::Fresh) {
        show(fresh(options, &tools, &work));
    }
    if options.wants(Part::Hash) {
        show(hash::measure(&work, options.hash_mib, options.runs)?);
    }
    if options.json {
        println!("{}", table::json(&serde_json::json!(head), &all));
    }
    Ok(all)
}

/// Where this was measured, with which programs.
fn machine(tools: &[Tool], absent: &[String]) -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZeroUsize::get);
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
    let model = model.trim_start_matches([' ', '\t', ':']);
    let mut lines = vec![format!("{model}, {cores} cores, load {}", process::load())];
    let versions: Vec<String> =
        tools.iter().map(|tool| format!("{} {}", tool.kind.word(), tool.version)).collect();
    lines.push(versions.join(", "));
    lines.extend(absent.iter().cloned());
    if cfg!(debug_assertions) {
        lines.push(
            "this is a debug build: hashing, and ngcc unless --ngcc is given, say nothing"
                .to_owned(),
        );
    }
    lines.join("\n")
}

/// The time until a program has said what it is.
fn start(tools: &[Tool], work: &Path, runs: usize) -> Vec<Row> {
    let version = |tool: &Tool| {
        Contender::new(tool.kind.word(), &Invocation::new(&tool.program, &["--version"], work))
    };
    contest("--version", "none", tools.iter().map(version).collect(), runs)
}

/// The name of a graph in tables and of its directory.
fn graph_name(graph: &Graph) -> String {
    format!("{} {}", graph.shape.word(), graph.nodes.len())
}

/// Everything that is measured on one graph once its outputs are there.
fn shape_cases(graph: &Graph, tools: &[Tool], work: &Path, runs: usize) -> Vec<Row> {
    let name = graph_name(graph);
    let mut rows = Vec::new();
    let mut ready: Vec<(&Tool, PathBuf)> = Vec::new();
    for tool in tools {
        let dir = work.join(name.replace(' ', "-")).join(tool.kind.word());
        match make_ready(tool, graph, &dir) {
            Ok(()) => ready.push((tool, dir)),
            Err(why) => rows.push(Row::missing("no-op", &name, tool.kind.word(), why)),
        }
    }
    let idle = |(tool, dir): &(&Tool, PathBuf)| Contender::new(tool.kind.word(), &tool.run(dir));
    rows.extend(contest("no-op", &name, ready.iter().map(idle).collect(), runs));
    if graph.shape != Shape::Grid {
        return rows;
    }
    rows.extend(changed(graph, &ready, &name, runs));
    rows.extend(paranoid(&ready, &name, runs));
    let mut planned = Vec::new();
    for (tool, dir) in &ready {
        planned.extend(tool.plan(dir).map(|plan| Contender::new(tool.kind.word(), &plan)));
    }
    rows.extend(contest("plan", &name, planned, runs));
    let label = ngcc_files::label(graph);
    let args = ["-C", ".", "why", &label, "--pipeline", ngcc_files::PIPELINE];
    let why = ready.iter().filter(|(tool, _)| tool.kind == Kind::Ngcc);
    let why =
        why.map(|(tool, dir)| Contender::new("ngcc", &Invocation::new(&tool.program, &args, dir)));
    rows.extend(contest("why", &name, why.collect(), runs));
    rows
}

/// Writes the graph, runs it, and has the program confirm that nothing is left. A directory that is there is used as
/// it is, if the program confirms the same.
fn make_ready(tool: &Tool, graph: &Graph, dir: &Path) -> Result<(), String> {
    if !dir.is_dir() {
        tool.write(graph, dir).map_err(|e| format!("cannot write the graph: {e}"))?;
    }
    let first = tool.run(dir).run()?;
    if !first.fine {
        let said = if first.err.trim().is_empty() { first.out } else { first.err };
        return Err(format!("cannot run: {}", said.lines().next().unwrap_or("no word")));
    }
    tool.is_idle(graph, dir)
}

/// One source has another text than before: as many nodes run as are behind it.
fn changed(graph: &Graph, ready: &[(&Tool, PathBuf)], name: &str, runs: usize) -> Vec<Row> {
    let behind = graph.behind_one_source();
    let contender = |(tool, dir): &(&Tool, PathBuf)| {
        let (changing, changed_dir, sources) = ((*tool).clone(), dir.clone(), graph.sources);
        let mut next = 0;
        let looking = (*tool).clone();
        Contender::new(tool.kind.word(), &tool.run(dir))
            .after(move || {
                next = (next + 1) % sources;
                changing.change(&changed_dir, next)
            })
            .checked(move |said| match looking.executed(said) {
                Some(count) if count != behind => Err(format!("ran {count} nodes, not {behind}")),
                _ => Ok(()),
            })
    };
    let mut rows = contest("1 changed", name, ready.iter().map(contender).collect(), runs);
    for (row, (tool, dir)) in rows.iter_mut().zip(ready) {
        if tool.kind == Kind::Ngcc && row.missing.is_none() {
            row.note = engine_share(tool, dir);
        }
    }
    rows
}

/// What ngcc itself says of a run after a change: the time with no child running.
fn engine_share(tool: &Tool, dir: &Path) -> Option<String> {
    tool.change(dir, 0).ok()?;
    let mut run = tool.run(dir);
    run.args.extend(["--format", "json"].map(str::to_owned));
    let summary: serde_json::Value = serde_json::from_str(&run.run().ok()?.out).ok()?;
    let (wall, alone) = (summary["wall_s"].as_f64()?, summary["overhead_s"].as_f64()?);
    Some(format!(
        "by its own summary {:.1} ms in all; in its loop {:.1} ms with no child running (one run)",
        wall * 1e3,
        alone * 1e3
    ))
}

/// Everything hashed again, nothing believed.
fn paranoid(ready: &[(&Tool, PathBuf)], name: &str, runs: usize) -> Vec<Row> {
    let Some((tool, dir)) = ready.iter().find(|(tool, _)| tool.kind == Kind::Ngcc) else {
        return Vec::new();
    };
    let help = Invocation::new(&tool.program, &["--help"], dir).run();
    if !help.is_ok_and(|said| said.out.contains("--paranoid")) {
        let why = "skipped: this ngcc has no --paranoid".to_owned();
        return vec![Row::missing("paranoid", name, "ngcc", why)];
    }
    let mut run = tool.run(dir);
    run.args.insert(0, "--paranoid".to_owned());
    contest("paranoid", name, vec![Contender::new("ngcc", &run)], runs)
}

/// A grid from nothing. Removing what the run before left is outside the clock.
fn fresh(options: &Options, tools: &[Tool], work: &Path) -> Vec<Row> {
    let graph = Graph::new(Shape::Grid, options.fresh_nodes);
    let name = graph_name(&graph);
    let (mut contenders, mut rows) = (Vec::new(), Vec::new());
    for tool in tools {
        let dir = work.join("fresh").join(&name).join(tool.kind.word());
        if let Err(error) = tool.write(&graph, &dir) {
            let why = format!("cannot write the graph: {error}");
            rows.push(Row::missing("fresh", &name, tool.kind.word(), why));
            continue;
        }
        let (cleaning, place, looking, nodes) =
            (tool.clone(), dir.clone(), tool.clone(), graph.nodes.len());
        let contender = Contender::new(tool.kind.word(), &tool.run(&dir))
            .after(move || cleaning.clean(&place).map_err(|e| e.to_string()))
            .checked(move |said| match looking.executed(said) {
                Some(count) if count != nodes => Err(format!("ran {count} nodes, not {nodes}")),
                _ => Ok(()),
            });
        contenders.push(contender);
    }
    rows.extend(contest("fresh", &name, contenders, options.runs));
    for row in &mut rows {
        if let Some(wall) = row.wall() {
            let nodes = u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX);
            row.note =
                Some(format!("{:.3} ms per node", wall.as_secs_f64() * 1e3 / f64::from(nodes)));
        }
    }
    rows
}
