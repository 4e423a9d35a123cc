//! Everything needed to plan and look up one pipeline on one machine.

use std::collections::{BTreeMap, BTreeSet};

use super::CommandError;
use super::context::Context;
use super::packages::Shelf;
use super::standing::Standing;
use crate::cli::{Exit, PlanArgs, WhichPipeline};
use crate::diag::nearest;
use crate::host::{self, HostFacts};
use crate::name::Name;
use crate::plan::Plan;
use crate::spec::{Pipeline, StageKind, System, Workspace};
use crate::stage::{self, Request};
use crate::store::Store;
use crate::toolchain::Tools;

/// A planned pipeline with the machine and the store it belongs to.
#[derive(Debug)]
pub struct Session {
    /// The checked YAML.
    pub workspace: Workspace,
    /// The store.
    pub store: Store,
    /// The tools of this machine.
    pub tools: Tools,
    /// Facts about this machine.
    pub host: HostFacts,
    /// The core to measure on.
    pub cpu: u32,
    /// The measuring system.
    pub system: stage::System,
    /// The pipeline's name.
    pub pipeline: Name,
    /// The plan.
    pub plan: Plan,
    /// Only a part of the pipeline was asked for, so its pages are no replacement for whole ones.
    pub partial: bool,
    /// Rounds of deliberate repetition by label.
    pub rounds: BTreeMap<String, u32>,
    /// The system's file.
    pub described: System,
    /// What was not planned because it stands as a former run left it.
    pub standing: Option<Standing>,
}

/// This machine, as far as a plan depends on it.
#[derive(Debug)]
pub struct Machine {
    /// The tools.
    pub tools: Tools,
    /// Facts.
    pub host: HostFacts,
    /// The measuring system.
    pub system: stage::System,
    /// What its file says.
    pub described: System,
}

impl Machine {
    /// Looks at this machine as the system asked for, with the build tools and the `names` that commands use.
    ///
    /// # Errors
    /// When it is not that system, or the tools cannot be looked for.
    pub fn find(
        context: &Context,
        store: &Store,
        names: &BTreeSet<String>,
        described: &System,
        args: &PlanArgs,
    ) -> Result<Self, CommandError> {
        let root = std::path::Path::new("/");
        let cpu =
            args.cpu.or(described.cpu).unwrap_or_else(|| HostFacts::default_cpu(root).unwrap_or(0));
        let mut host = HostFacts::read(root, cpu);
        for (fact, wanted) in &described.expect {
            let found = host.0.get(fact).map_or("unknown", String::as_str);
            if found != wanted {
                return Err(CommandError::new(
                    Exit::Host,
                    format!(
                        "this machine is not `{}`: {fact} is `{found}`, not `{wanted}`",
                        described.id
                    ),
                )
                .help("measure as `--system this`, or correct the system's file"));
            }
        }
        let system = stage::System {
            identity: host::identity(&host, &described.identity),
            name: described.id.to_string(),
            arch: host.0.get("architecture").cloned().unwrap_or_default(),
            description: described.description.clone(),
            cpu,
        };
        let tools = tools(context, store, names)?;
        for (fact, tool) in [("compiler", "gcc"), ("cmake", "cmake")] {
            host.set(fact, tools.get(tool).map(|t| t.identity.version.clone()));
        }
        Ok(Self { tools, host, system, described: described.clone() })
    }
}

/// The tools that command stages of any pipeline name.
#[must_use]
pub fn command_tools(workspace: &Workspace) -> BTreeSet<String> {
    let stages = workspace.pipelines.values().flat_map(|p| &p.stages);
    stages
        .filter_map(|stage| match &stage.kind {
            StageKind::Command(settings) => Some(settings.tools.iter().cloned()),
            StageKind::Build { .. }
            | StageKind::Kat { .. }
            | StageKind::Timing(_)
            | StageKind::Profile(_)
            | StageKind::Sizes
            | StageKind::Report { .. } => None,
        })
        .flatten()
        .collect()
}

impl Session {
    /// Opens everything and plans.
    ///
    /// # Errors
    /// Invalid YAML, an unknown name, a machine that is not the system asked for, an unusable store.
    pub fn open(context: &Context, args: &PlanArgs, remeasure: bool) -> Result<Self, CommandError> {
        let workspace = context.workspace()?;
        Self::plan(context, context.store()?, workspace, args, remeasure, None)
    }

    /// As [`Session::open`], over a workspace that need not be the one on disk.
    ///
    /// # Errors
    /// As [`Session::open`], but for the YAML.
    pub fn over(
        context: &Context,
        workspace: Workspace,
        args: &PlanArgs,
        remeasure: bool,
    ) -> Result<Self, CommandError> {
        Self::plan(context, context.store()?, workspace, args, remeasure, None)
    }

    /// Plans what has moved since a former run, on top of what stands.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn on(
        context: &Context,
        store: Store,
        args: &PlanArgs,
        standing: Standing,
        machine: Machine,
    ) -> Result<Self, CommandError> {
        let (all, again) = standing.submissions();
        let workspace = Workspace::load_part(context.root()?, &all, &again)?;
        Self::plan(context, store, workspace, args, false, Some((standing, machine)))
    }

    fn plan(
        context: &Context,
        store: Store,
        workspace: Workspace,
        args: &PlanArgs,
        remeasure: bool,
        standing: Option<(Standing, Machine)>,
    ) -> Result<Self, CommandError> {
        let pipeline = find_pipeline(&workspace, &args.pipeline)?.clone();
        let described = workspace
            .systems
            .get(&args.system)
            .ok_or_else(|| unknown("system", &args.system, workspace.systems.keys(), "systems/"))?;
        let (standing, machine) = match standing {
            Some((standing, machine)) => (Some(standing), machine),
            None => {
                let names = command_tools(&workspace);
                (None, Machine::find(context, &store, &names, described, args)?)
            }
        };
        let Machine { tools, host, system, described } = machine;
        let cpu = system.cpu;
        let mut rounds = read_rounds(&store, &system.name);
        let packages = Shelf::new(&store);
        let rows = standing.as_ref().map(Standing::rows).unwrap_or_default();
        let session_plan = |rounds: &BTreeMap<String, u32>| {
            let request = Request {
                selectors: &args.selectors,
                only: &args.only,
                system: system.clone(),
                rounds,
                packages: &packages,
                standing: &rows,
            };
            stage::plan(&workspace, &pipeline, &request)
        };
        let mut plan = session_plan(&rounds)?;
        if remeasure {
            for node in plan.order() {
                let spec = plan.node(*node);
                if matches!(spec.purity, crate::action::Purity::Measured { .. }) {
                    *rounds.entry(spec.label.clone()).or_insert(0) += 1;
                }
            }
            plan = session_plan(&rounds)?;
        }
        let pipeline = pipeline.name;
        let partial = args.is_partial();
        Ok(Self {
            workspace,
            store,
            tools,
            host,
            cpu,
            system,
            described,
            pipeline,
            plan,
            partial,
            rounds,
            standing,
        })
    }

    /// Keeps the rounds for later runs. Called with the run lock held, so that two runs do not lose one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_rounds(&self) -> Result<(), CommandError> {
        write_rounds(&self.store, &self.system.name, &self.rounds)
    }

    /// Opens what `why` and `trace` need: the whole of one pipeline.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn whole(context: &Context, which: &WhichPipeline) -> Result<Self, CommandError> {
        Self::open(context, &which.whole(), false)
    }

    /// The node a person means: a whole label, or a part that only one label contains.
    ///
    /// # Errors
    /// When none or several match.
    pub fn find(&self, target: &str) -> Result<crate::action::NodeId, CommandError> {
        if let Some(node) = self.plan.find(target) {
            return Ok(node);
        }
        let ends = |label: &&str| label.ends_with(&format!("/{target}"));
        let mut matching: Vec<&str> = self.plan.labels().filter(ends).collect();
        if matching.is_empty() {
            matching = self.plan.labels().filter(|l| l.contains(target)).collect();
        }
        match matching.as_slice() {
            [one] => self.plan.find(one).ok_or_else(|| CommandError::new(Exit::Bug, "label lost")),
            [] => {
                let near = nearest(target, self.plan.labels());
                let help = near.map_or_else(
                    || format!("`ngcc pipeline plan {}` lists the actions", self.pipeline),
                    |near| format!("did you mean `{near}`?"),
                );
                Err(CommandError::new(Exit::Usage, format!("no action is called `{target}`"))
                    .help(help))
            }
            many => {
                let shown: Vec<&str> = many.iter().take(8).copied().collect();
                let text = format!("`{target}` fits {} actions", many.len());
                Err(CommandError::new(Exit::Usage, text)
                    .help(format!("one of: {}", shown.join(", "))))
            }
        }
    }
}

/// The pipeline of a name.
///
/// # Errors
/// When there is none; names the nearest.
pub fn find_pipeline<'w>(
    workspace: &'w Workspace,
    name: &Name,
) -> Result<&'w Pipeline, CommandError> {
    workspace
        .pipelines
        .get(name)
        .ok_or_else(|| unknown("pipeline", name, workspace.pipelines.keys(), "pipelines/"))
}

/// An unknown name, with the nearest one.
pub fn unknown<'a>(
    kind: &str,
    name: &Name,
    known: impl Iterator<Item = &'a Name> + Clone,
    place: &str,
) -> CommandError {
    let error = CommandError::new(Exit::Usage, format!("no {kind} is called `{name}`"));
    match nearest(name.as_str(), known.clone().map(Name::as_str)) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => {
            let all: Vec<&str> = known.map(Name::as_str).take(12).collect();
            error.help(format!("{place} has: {}", all.join(", ")))
        }
    }
}

/// The tools of this machine; probed again only when one of their files changed.
fn tools(
    context: &Context,
    store: &Store,
    names: &BTreeSet<String>,
) -> Result<Tools, CommandError> {
    let cache = store.root().join("cache").join("tools.json");
    let path = &context.terminal.path;
    let known: Option<Tools> =
        std::fs::read(&cache).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(tools) = known
        && tools.still_hold(path, names)
    {
        return Ok(tools);
    }
    let digest = |file: &std::path::Path| {
        store.digest_file(file).map(|(id, _)| id.0).map_err(std::io::Error::other)
    };
    let tools = Tools::discover(path, names, &digest);
    let bytes = serde_json::to_vec_pretty(&tools)
        .map_err(|error| CommandError::new(Exit::Bug, error.to_string()))?;
    if let Some(parent) = cache.parent() {
        std::fs::create_dir_all(parent)?;
    }
    // A cache that cannot be written costs a probe next time, nothing else.
    let _ = std::fs::write(cache, bytes);
    Ok(tools)
}

fn rounds_file(store: &Store, system: &str) -> std::path::PathBuf {
    store.root().join(format!("rounds-{system}.json"))
}

/// Rounds of deliberate repetition on a system, by label.
#[must_use]
pub fn read_rounds(store: &Store, system: &str) -> BTreeMap<String, u32> {
    let bytes = std::fs::read(rounds_file(store, system)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn write_rounds(
    store: &Store,
    system: &str,
    rounds: &BTreeMap<String, u32>,
) -> Result<(), CommandError> {
    let bytes = serde_json::to_vec_pretty(rounds)
        .map_err(|error| CommandError::new(Exit::Bug, error.to_string()))?;
    let file = rounds_file(store, system);
    let fresh = file.with_extension("json.new");
    std::fs::write(&fresh, bytes)?;
    std::fs::rename(fresh, file)?;
    Ok(())
}
