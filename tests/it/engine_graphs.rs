//! The graphs of the engine's benchmark: small ones run, big ones are read, ordered and planned without recursion.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests start the program itself")]

#[path = "../../benches/engine/files.rs"]
#[expect(dead_code, reason = "the peers' files are the benchmark's business")]
mod files;
#[path = "../../benches/engine/graph.rs"]
mod graph;
#[path = "../../benches/engine/ngcc_files.rs"]
mod ngcc_files;

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use ngcc::action::{ActionSpec, NodeId, ProcedureId, Source};
use ngcc::clock::SystemClock;
use ngcc::event::{Event, Sink};
use ngcc::exec::job::Bench;
use ngcc::exec::meter::Meter;
use ngcc::exec::process::{Interrupt, Runner};
use ngcc::exec::run::{self, Options};
use ngcc::host::{HostFacts, identity};
use ngcc::name::Name;
use ngcc::outcome::Outcome;
use ngcc::plan::{Plan, PlanBuilder};
use ngcc::procedure;
use ngcc::source::NoPackages;
use ngcc::spec::Workspace;
use ngcc::stage::{Request, System, plan};
use ngcc::store::Store;
use ngcc::toolchain::Tools;

use graph::{Graph, Shape};

#[test]
fn small_graphs_run_every_node_once_and_then_none() {
    for (shape, (nodes, behind)) in Shape::ALL.into_iter().zip([(15, 5), (4, 4), (5, 5)]) {
        let graph = Graph::new(shape, nodes);
        assert_eq!((graph.nodes.len(), graph.behind_one_source()), (nodes, behind));
        let dir = tempfile::tempdir().unwrap();
        ngcc_files::write_all(&graph, dir.path()).unwrap();
        let run = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ngcc"));
            let output = command.args(args).current_dir(dir.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let all = ["--format", "json", "pipeline", "run", ngcc_files::PIPELINE];
        for expected in [nodes, 0] {
            let summary: serde_json::Value = serde_json::from_str(&run(&all)).unwrap();
            let counts = [&summary["executed"], &summary["reused"]].map(|n| n.as_u64().unwrap());
            assert_eq!(counts, [expected as u64, (nodes - expected) as u64], "{}", shape.word());
        }
        run(&["why", &ngcc_files::label(&graph), "--pipeline", ngcc_files::PIPELINE]);
    }
}

/// Plans a graph from its files, with only some stages if any are named.
fn planned(graph: &Graph, only: &[&str]) -> Plan {
    let dir = tempfile::tempdir().unwrap();
    ngcc_files::write_all(graph, dir.path()).unwrap();
    let workspace = Workspace::load(dir.path()).unwrap_or_else(|errors| panic!("{errors}"));
    let only: Vec<Name> = only.iter().map(|name| name.parse().unwrap()).collect();
    let system = System {
        identity: identity(&HostFacts::default(), &[]),
        name: "this".to_owned(),
        arch: "x86_64".to_owned(),
        description: String::new(),
        cpu: 0,
    };
    let request = Request {
        selectors: &[],
        only: &only,
        system,
        rounds: &BTreeMap::new(),
        packages: &NoPackages,
        standing: &BTreeMap::new(),
    };
    let pipeline = workspace.pipelines.values().next().unwrap();
    plan(&workspace, pipeline, &request).unwrap()
}

#[test]
fn ten_thousand_stages_behind_each_other_or_beside_each_other_are_planned() {
    let chain = Graph::new(Shape::Chain, 10_000);
    assert_eq!(planned(&chain, &[]).len(), 10_000);
    // Asked for by its last link, the whole chain is needed; by the tenth, ten.
    assert_eq!(planned(&chain, &["n09999"]).len(), 10_000);
    assert_eq!(planned(&chain, &["n00009"]).len(), 10);
    let fan = planned(&Graph::new(Shape::Fan, 10_000), &["join"]);
    assert_eq!((fan.len(), fan.dependents(NodeId(0)).len()), (10_000, 1));
}

struct Silent;

impl Sink for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

/// The files of people end at some ten thousand stages, so the loop is met without them: the first of 100,000 links
/// has no input, and everything behind it is blocked, link by link.
#[test]
fn a_chain_of_100_000_ends_when_its_first_link_fails() {
    const LINKS: u32 = 100_000;
    let mut builder = PlanBuilder::default();
    let id = ProcedureId { name: "command", version: 1 };
    for link in 0..LINKS {
        let mut spec = ActionSpec::new(format!("n{link}"), &Arc::from("s"), id);
        let source = match link.checked_sub(1) {
            None => Source::File("absent".parse().unwrap()),
            Some(before) => Source::From(NodeId(before), "x".into()),
        };
        spec.inputs.insert("x".parse().unwrap(), source);
        spec.outputs = vec!["x".into()];
        builder.add(spec);
    }
    let plan = builder.finish().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store")).unwrap();
    let launcher = std::path::Path::new(env!("CARGO_BIN_EXE_ngcc"));
    let runner = Runner::new(launcher.to_owned());
    let confined = runner.confined();
    let interrupt = Interrupt::install().unwrap();
    let bench = Bench {
        store: &store,
        workspace: dir.path(),
        tools: &Tools::discover("", &std::collections::BTreeSet::new(), &|_| {
            Err(std::io::Error::other("no tools here"))
        }),
        launcher,
        runner: &runner,
        confined: &confined,
        clock: &SystemClock,
        interrupt: &interrupt,
        host: &HostFacts::default(),
        cpu: 0,
        meter: &Meter::default(),
    };
    let reuse_only = std::collections::BTreeSet::new();
    let options = Options { jobs: 2, fail_fast: false, reuse_only: &reuse_only };
    let report = run::run(&plan, &bench, procedure::find, options, &mut Silent).unwrap();
    let blocked = |outcome: &Option<Outcome>| matches!(outcome, Some(Outcome::Blocked { .. }));
    assert!(matches!(report.outcomes[0], Some(Outcome::Failed(_))));
    assert!(report.outcomes[1..].iter().all(blocked));
}
