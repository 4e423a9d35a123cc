//! `ngcc trace`: the provenance chain of one number, from its samples back to sources and tools.

use std::fmt::Write as _;

use std::collections::BTreeSet;

use super::context::{Context, print, print_json};
use super::session::Session;
use super::{CommandError, Verdict, lineage};
use crate::action::{NodeId, Source};
use crate::artifact::Artifact;
use crate::cli::{Exit, WhichPipeline};
use crate::exec::forecast::{Forecast, forecast};
use crate::record::Record;

/// One link of the chain.
#[derive(Debug, serde::Serialize)]
struct Link {
    action: String,
    depth: usize,
    record: Record,
}

/// Runs the verb.
///
/// # Errors
/// Invalid YAML, an unknown target, an action without a result.
pub fn run(context: &Context, target: &str, which: &WhichPipeline) -> Verdict {
    let store = context.store()?;
    if let Some(record) = lineage::by_key(&store, target)? {
        let links: Vec<Link> = lineage::chain(&store, record)?
            .into_iter()
            .map(|(depth, record)| Link { action: record.label.clone(), depth, record })
            .collect();
        return show(context, None, &links);
    }
    drop(store);
    let session = Session::whole(context, which)?;
    let node = session.find(target)?;
    let root = &session.workspace.root;
    let (forecasts, _) = forecast(&session.plan, &session.store, root, &session.tools)?;
    let mut links = Vec::new();
    let mut seen = BTreeSet::new();
    follow(&session, &forecasts, node, 0, &mut seen, &mut links)?;
    if links.is_empty() {
        let label = &session.plan.node(node).label;
        let mut help =
            format!("ngcc why {label} says why; ngcc pipeline run {} makes it", which.pipeline);
        for earlier in lineage::results_of(&session.store, label)?.iter().rev().take(5) {
            let (key, at) = (earlier.key.short(), &earlier.provenance.started);
            let _ = write!(help, "\n      ngcc trace {key} traces the result of {at}");
        }
        let text = format!("`{label}` has no result for today's inputs");
        return Err(CommandError::new(Exit::Usage, text).help(help));
    }
    show(context, Some(&session), &links)
}

fn show(context: &Context, session: Option<&Session>, links: &[Link]) -> Verdict {
    if context.json() {
        return print_json(&links);
    }
    let text: String = links.iter().map(|link| described(session, link)).collect();
    print(&text)
}

fn follow(
    session: &Session,
    forecasts: &[Forecast],
    node: NodeId,
    depth: usize,
    seen: &mut BTreeSet<NodeId>,
    links: &mut Vec<Link>,
) -> Result<(), CommandError> {
    if !seen.insert(node) {
        return Ok(());
    }
    let Forecast::Hit(key) = &forecasts[node.index()] else { return Ok(()) };
    let Some(record) = session.store.record(*key)? else { return Ok(()) };
    let spec = session.plan.node(node);
    links.push(Link { action: spec.label.clone(), depth, record });
    for source in spec.inputs.values() {
        if let Source::From(from, _) | Source::Outcome(from) = source {
            follow(session, forecasts, *from, depth + 1, seen, links)?;
        }
    }
    Ok(())
}

fn described(session: Option<&Session>, link: &Link) -> String {
    let Link { action, depth, record } = link;
    let indent = "  ".repeat(*depth);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{indent}  {name:<10} {value}");
    };
    line("record", record.key.to_string());
    for (name, artifact) in &record.outputs {
        let kind = match artifact {
            Artifact::Blob(_) => "blob",
            Artifact::Tree(_) => "tree",
        };
        line("output", format!("{name} {kind} {}", artifact.digest()));
    }
    for (path, digest) in &record.provenance.sources {
        line("source", format!("{path} {digest}"));
    }
    for (name, sha256) in &record.provenance.packages {
        line("package", format!("{name} sha256 {sha256}"));
    }
    let embedded = record.ingredients.iter().filter(|(field, _)| {
        field.strip_prefix("input ").is_some_and(|path| {
            path.starts_with("driver/") || path.starts_with("iccs/") || path.starts_with("ngcc/")
        })
    });
    for (field, value) in embedded {
        line("embedded", format!("{} {value}", field.trim_start_matches("input ")));
    }
    for (name, tool) in &record.provenance.tools {
        line("tool", format!("{name} {} ({})", tool.digest, tool.version));
    }
    if !record.provenance.commands.is_empty() {
        for command in record.provenance.commands.iter().take(3) {
            line("command", command.join(" "));
        }
        let more = record.provenance.commands.len().saturating_sub(3);
        if more > 0 {
            line("command", format!("... and {more} more"));
        }
    }
    for name in ["cpu_model", "kernel", "os", "cycle_source"] {
        if let Some(value) = record.provenance.host.get(name)
            && *depth == 0
        {
            line("host", format!("{name}: {value}"));
        }
    }
    if let Some(session) = session.filter(|_| *depth == 0) {
        line("system", format!("{} {}", session.system.name, session.system.identity));
    }
    line("ran", format!("{} to {}", record.provenance.started, record.provenance.ended));
    format!("{indent}{action}\n{text}")
}
