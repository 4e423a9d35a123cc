//! The plan: all actions of one run as an acyclic, ordered graph, made before anything runs.
//!
//! Pure: made by the stages from checked YAML. petgraph lives here only. Knows nothing of keys' values (they exist
//! when inputs do), of the store or of processes.

use std::collections::BTreeMap;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::action::{ActionSpec, NodeId};
use crate::artifact::Artifact;
use crate::digest::ActionKey;
use crate::record::Finding;

/// A plan can only be made by [`PlanBuilder::finish`]: acyclic, ordered, labels unique.
#[derive(Debug)]
pub struct Plan {
    nodes: Vec<ActionSpec>,
    order: Vec<NodeId>,
    dependents: Vec<Vec<NodeId>>,
    labels: BTreeMap<String, NodeId>,
    /// Page trees to lay out after the run: directory name, node, output.
    pub pages: Vec<PageSlot>,
    /// Instances that could not be planned, with the command that helps.
    pub unavailable: Vec<Unavailable>,
    /// Nodes that stand for results of an earlier run whose own actions were not planned again, in node order.
    pub standing: Vec<Stand>,
    /// Each submission's row of the index as the plan knows it, as JSON, by submission.
    pub rows: BTreeMap<String, String>,
}

/// A node that is settled before anything is looked at.
#[derive(Debug, Clone)]
pub struct Stand {
    /// The node.
    pub node: NodeId,
    /// Its key.
    pub key: ActionKey,
    /// Its outputs.
    pub outputs: BTreeMap<String, Artifact>,
    /// Its findings.
    pub findings: Vec<Finding>,
}

/// A page tree that a run leaves for people.
#[derive(Debug, Clone)]
pub struct PageSlot {
    /// Directory below the pages folder, e.g. `kem-18/independent`; empty for the index.
    pub directory: String,
    /// The node that renders it.
    pub node: NodeId,
}

/// Something that is not there yet: a row, not an error.
#[derive(
    Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[schemars(deny_unknown_fields)]
pub struct Unavailable {
    /// `kem-18/reference`, with the instance when only that one is meant.
    pub label: String,
    /// Why.
    pub why: String,
    /// What to type.
    pub help: String,
}

/// Rows that one kind of command helps, as one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Absent {
    /// What is meant, short: `kem-01 … kem-15, kem-17 (reference)`.
    pub what: String,
    /// Why, when that is the same for all.
    pub why: Option<String>,
    /// What to type; `ID` stands for the submission when there are several.
    pub help: String,
    /// The rows, one per implementation or instance.
    pub rows: Vec<Unavailable>,
}

/// Groups rows: packages that are not here become one group for all that take the same commands, instances of one
/// implementation that lack the same become one row, and everything else stays by itself.
#[must_use]
pub fn absent(rows: &[Unavailable]) -> Vec<Absent> {
    let mut merged: Vec<(Unavailable, u32)> = Vec::new();
    for row in rows {
        let (implementation, instance) = implementation_of(&row.label);
        let same = merged.iter_mut().find(|(known, _)| {
            instance
                && implementation_of(&known.label).0 == implementation
                && (&known.why, &known.help) == (&row.why, &row.help)
        });
        match same {
            Some((_, count)) => *count += 1,
            None => merged.push((row.clone(), 1)),
        }
    }
    let mut groups: Vec<(String, Vec<Unavailable>)> = Vec::new();
    for (mut row, count) in merged {
        if count > 1 {
            row.label = format!("{} ({count} instances)", implementation_of(&row.label).0);
        }
        let id = row.label.split('/').next().unwrap_or_default();
        // Only what a command of the program obtains is alike in all packages.
        let obtained = row.help.contains("`ngcc kem ");
        let pattern = if obtained { row.help.replace(id, "ID") } else { String::new() };
        match groups.iter_mut().find(|(known, _)| obtained && *known == pattern) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((pattern, vec![row])),
        }
    }
    let group = |(pattern, rows): (String, Vec<Unavailable>)| match rows.as_slice() {
        [one] => Absent {
            what: one.label.clone(),
            why: Some(one.why.clone()),
            help: one.help.clone(),
            rows,
        },
        [first, ..] => {
            let why = rows.iter().all(|r| r.why == first.why).then(|| first.why.clone());
            Absent { what: ranges(&rows), why, help: pattern, rows }
        }
        [] => Absent { what: String::new(), why: None, help: pattern, rows },
    };
    groups.into_iter().map(group).collect()
}

/// `kem-18/reference` of a label, and whether the label names an instance of it.
fn implementation_of(label: &str) -> (&str, bool) {
    match label.match_indices('/').nth(1) {
        Some((at, _)) => (&label[..at], true),
        None => (label, false),
    }
}

/// Submissions by implementation, three or more with consecutive numbers as a range.
fn ranges(rows: &[Unavailable]) -> String {
    let mut by_rest: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let (id, rest) = row.label.split_once('/').unwrap_or((&row.label, ""));
        by_rest.entry(rest).or_default().push(id);
    }
    let number = |id: &str| -> Option<(String, u32)> {
        let (start, digits) = id.rsplit_once('-')?;
        Some((format!("{start}/{}", digits.len()), digits.parse().ok()?))
    };
    let follows = |a: &str, b: &str| match (number(a), number(b)) {
        (Some((x, m)), Some((y, n))) => x == y && m.checked_add(1) == Some(n),
        _ => false,
    };
    let each = by_rest.into_iter().map(|(rest, ids)| {
        let runs = ids.chunk_by(|a, b| follows(a, b)).map(|run| match run {
            [first, _, .., last] => format!("{first} … {last}"),
            few => few.join(", "),
        });
        let text = runs.collect::<Vec<_>>().join(", ");
        if rest.is_empty() { text } else { format!("{text} ({rest})") }
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Collects actions; nodes may only refer to nodes added before them.
#[derive(Debug, Default)]
pub struct PlanBuilder {
    nodes: Vec<ActionSpec>,
    /// Page slots so far.
    pub pages: Vec<PageSlot>,
    /// Rows so far.
    pub unavailable: Vec<Unavailable>,
    /// Standing nodes so far.
    pub standing: Vec<Stand>,
    /// Rows of the index so far.
    pub rows: BTreeMap<String, String>,
}

/// A plan that breaks an invariant: a bug of a stage, or a workspace that uses one name twice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two actions have one label.
    #[error("two actions are called `{0}`; rename one of the stages")]
    DuplicateLabel(String),
    /// A source names an output its node does not have.
    #[error("`{label}` wants output `{output}` of `{from}`, which has none of that name")]
    NoSuchOutput {
        /// The consumer.
        label: String,
        /// The producer.
        from: String,
        /// The output.
        output: String,
    },
    /// The graph has a cycle through this action.
    #[error("the actions around `{0}` wait for each other")]
    Cycle(String),
}

impl PlanBuilder {
    /// Adds an action and returns its node.
    ///
    /// # Panics
    /// With more than 2^32 actions.
    pub fn add(&mut self, spec: ActionSpec) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 actions"));
        self.nodes.push(spec);
        id
    }

    /// Makes an action a fallback: it runs only when `node` did not end well.
    pub fn only_unless_good(&mut self, action: NodeId, node: NodeId) {
        self.nodes[action.index()].unless_good.push(node);
    }

    /// Checks the invariants and orders the nodes.
    ///
    /// # Errors
    /// [`PlanError`] for a label used twice, an output that is not there, or a cycle.
    pub fn finish(self) -> Result<Plan, PlanError> {
        let Self { nodes, pages, unavailable, standing, rows } = self;
        let mut labels = BTreeMap::new();
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(nodes.len(), nodes.len() * 2);
        for (index, node) in nodes.iter().enumerate() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            if labels.insert(node.label.clone(), id).is_some() {
                return Err(PlanError::DuplicateLabel(node.label.clone()));
            }
            graph.add_node(());
        }
        for (index, node) in nodes.iter().enumerate() {
            for source in node.inputs.values() {
                if let crate::action::Source::From(from, output) = source
                    && !nodes[from.index()].outputs.contains(output)
                {
                    return Err(PlanError::NoSuchOutput {
                        label: node.label.clone(),
                        from: nodes[from.index()].label.clone(),
                        output: output.to_string(),
                    });
                }
            }
            let mut before: Vec<NodeId> = node.waits_for().collect();
            before.sort_unstable();
            before.dedup();
            for from in before {
                graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(index), ());
            }
        }
        let sorted = petgraph::algo::toposort(&graph, None)
            .map_err(|cycle| PlanError::Cycle(nodes[cycle.node_id().index()].label.clone()))?;
        // Any topological order is right; the order of adding is one when no cycle exists and is the one people expect.
        let forward = graph.edge_references().all(|e| e.source() < e.target());
        let id = |index: NodeIndex| NodeId(u32::try_from(index.index()).unwrap_or(u32::MAX));
        let order = if forward {
            graph.node_indices().map(id).collect()
        } else {
            sorted.into_iter().map(id).collect()
        };
        let mut dependents = vec![Vec::new(); nodes.len()];
        for edge in graph.edge_references() {
            dependents[edge.source().index()].push(id(edge.target()));
        }
        Ok(Plan { nodes, order, dependents, labels, pages, unavailable, standing, rows })
    }
}

impl Plan {
    /// Number of actions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing to do at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// One action.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &ActionSpec {
        &self.nodes[id.index()]
    }

    /// All nodes, producers before consumers.
    #[must_use]
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// Whether a node only stands for the result of an earlier run.
    #[must_use]
    pub fn is_standing(&self, id: NodeId) -> bool {
        self.standing.binary_search_by_key(&id, |stand| stand.node).is_ok()
    }

    /// The nodes that wait for this one.
    #[must_use]
    pub fn dependents(&self, id: NodeId) -> &[NodeId] {
        &self.dependents[id.index()]
    }

    /// The node with this label.
    #[must_use]
    pub fn find(&self, label: &str) -> Option<NodeId> {
        self.labels.get(label).copied()
    }

    /// All labels, sorted.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{ProcedureId, Source};
    use std::sync::Arc;

    fn spec(label: &str) -> ActionSpec {
        let mut spec =
            ActionSpec::new(label.into(), &Arc::from("s"), ProcedureId { name: "t", version: 1 });
        spec.outputs = vec!["out".into()];
        spec
    }

    fn after(label: &str, nodes: &[u32]) -> ActionSpec {
        let mut spec = spec(label);
        for node in nodes {
            spec.inputs.insert(
                format!("in{node}").parse().unwrap(),
                Source::From(NodeId(*node), "out".into()),
            );
        }
        spec
    }

    #[test]
    fn producers_come_before_consumers() {
        let mut builder = PlanBuilder::default();
        builder.add(spec("a"));
        builder.add(after("b", &[0]));
        builder.add(after("c", &[0, 1]));
        let plan = builder.finish().unwrap();
        assert_eq!(plan.order(), [NodeId(0), NodeId(1), NodeId(2)]);
        assert_eq!(plan.dependents(NodeId(0)), [NodeId(1), NodeId(2)]);
    }

    #[test]
    fn a_cycle_and_a_label_used_twice_are_refused() {
        let mut builder = PlanBuilder::default();
        builder.add(after("a", &[1]));
        builder.add(after("b", &[0]));
        assert!(matches!(builder.finish(), Err(PlanError::Cycle(_))));
        let mut builder = PlanBuilder::default();
        builder.add(spec("a"));
        builder.add(spec("a"));
        assert_eq!(builder.finish().unwrap_err(), PlanError::DuplicateLabel("a".into()));
    }

    #[test]
    fn a_chain_of_100_000_is_ordered_without_a_stack_overflow() {
        let mut builder = PlanBuilder::default();
        builder.add(spec("n0"));
        for i in 1..100_000_u32 {
            builder.add(after(&format!("n{i}"), &[i - 1]));
        }
        assert_eq!(builder.finish().unwrap().order().len(), 100_000);
    }

    fn row(label: &str, why: &str, help: &str) -> Unavailable {
        Unavailable { label: label.into(), why: why.into(), help: help.into() }
    }

    #[test]
    fn absent_packages_are_one_group_and_broken_recipes_stay_apart() {
        let mut rows: Vec<_> = (1..=3)
            .chain([5])
            .map(|n| {
                let fetch = format!("`ngcc kem fetch kem-0{n}`");
                row(&format!("kem-0{n}/reference"), &format!("archive {n}"), &fetch)
            })
            .collect();
        rows.push(row("kem-07/reference/A", "`*.c` matches nothing", "mend kem-07"));
        rows.push(row("kem-07/reference/B", "`*.c` matches nothing", "mend kem-07"));
        rows.push(row("kem-08/reference/A", "`*.c` matches nothing", "mend kem-08"));
        let groups = absent(&rows);
        let shown: Vec<_> =
            groups.iter().map(|g| (g.what.as_str(), g.help.as_str(), g.rows.len())).collect();
        assert_eq!(
            shown,
            [
                ("kem-01 … kem-03, kem-05 (reference)", "`ngcc kem fetch ID`", 4),
                ("kem-07/reference (2 instances)", "mend kem-07", 1),
                ("kem-08/reference/A", "mend kem-08", 1),
            ]
        );
    }
}
