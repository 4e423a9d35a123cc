//! `ngcc pipeline graph`: the actions as dot, mermaid or JSON, with their status.

use std::fmt::Write as _;

use super::Verdict;
use super::context::{Context, print, print_json};
use super::session::Session;
use crate::action::NodeId;
use crate::cli::{GraphFormat, PlanArgs};
use crate::exec::forecast::{Forecast, forecast};

/// Runs the verb.
///
/// # Errors
/// Invalid YAML, an unusable store.
pub fn run(context: &Context, args: &PlanArgs, notation: GraphFormat) -> Verdict {
    let session = Session::open(context, args, false)?;
    let plan = &session.plan;
    let root = &session.workspace.root;
    let (forecasts, _) = forecast(plan, &session.store, root, &session.tools)?;
    let status = |node: NodeId| match &forecasts[node.index()] {
        Forecast::Hit(_) => "hit",
        Forecast::Run(_) => "run",
        Forecast::After(_) => "after",
        Forecast::Skipped => "not needed",
        Forecast::Blocked(_) => "blocked",
    };
    let edges = || {
        plan.order()
            .iter()
            .flat_map(|&from| plan.dependents(from).iter().map(move |&to| (from, to)))
    };
    let mut text = String::new();
    match notation {
        GraphFormat::Json => {
            let nodes: Vec<_> = plan
                .order()
                .iter()
                .map(|&n| {
                    let spec = plan.node(n);
                    serde_json::json!({
                        "action": spec.label, "stage": &*spec.stage,
                        "procedure": spec.procedure.name, "status": status(n),
                    })
                })
                .collect();
            let edges: Vec<_> =
                edges().map(|(a, b)| [&plan.node(a).label, &plan.node(b).label]).collect();
            return print_json(&serde_json::json!({ "actions": nodes, "edges": edges }));
        }
        GraphFormat::Dot => {
            text.push_str("digraph ngcc {\n  rankdir=LR;\n  node [shape=box, style=filled];\n");
            for &node in plan.order() {
                let colour = match status(node) {
                    "hit" => "palegreen",
                    "run" => "orange",
                    "after" => "lightyellow",
                    "blocked" => "salmon",
                    _ => "white",
                };
                let label = plan.node(node).label.replace('"', "\\\"");
                let _ = writeln!(text, "  n{} [label=\"{label}\", fillcolor={colour}];", node.0);
            }
            for (from, to) in edges() {
                let _ = writeln!(text, "  n{} -> n{};", from.0, to.0);
            }
            text.push_str("}\n");
        }
        GraphFormat::Mermaid => {
            text.push_str("flowchart LR\n");
            for &node in plan.order() {
                let label = plan.node(node).label.replace('"', "#quot;");
                let class = status(node).replace(' ', "_");
                let _ = writeln!(text, "  n{}[\"{label}\"]:::{class}", node.0);
            }
            for (from, to) in edges() {
                let _ = writeln!(text, "  n{} --> n{}", from.0, to.0);
            }
            text.push_str("  classDef hit fill:#9f9\n  classDef run fill:#fb6\n");
            text.push_str("  classDef after fill:#ffc\n  classDef blocked fill:#f88\n");
        }
    }
    print(&text)
}
