//! Turns checked YAML into a plan: which actions one pipeline means for the selected instances.
//!
//! Pure description: stages neither spawn nor open the store. One file per group of stage kinds; `instance.rs` holds
//! the chain build -> kat -> choose -> timing, profile, sizes of one instance.

mod command;
mod instance;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::instance::Planned;
use crate::action::{ActionLimits, ActionSpec, NodeId, Source};
use crate::artifact::Artifact;
use crate::c_sources;
use crate::digest::{ActionKey, SystemId};
use crate::name::Name;
use crate::plan::{Plan, PlanBuilder, PlanError, Unavailable};
use crate::procedure;
use crate::record::Finding;
use crate::source::{self, Files};
use crate::spec::{
    Implementation, Limits, Pipeline, Recipe, Selector, Stage, Submission, Workspace,
};

/// What is to be planned, beside the pipeline itself.
#[derive(Debug)]
pub struct Request<'a> {
    /// Which instances; empty for the pipeline's own selection.
    pub selectors: &'a [Selector],
    /// Only these stages and what they need; empty for all.
    pub only: &'a [Name],
    /// The measuring system.
    pub system: System,
    /// Round of each measurement by label; 0 where nothing is said.
    pub rounds: &'a BTreeMap<String, u32>,
    /// Where pinned packages are looked up.
    pub packages: &'a dyn source::Packages,
    /// Submissions whose actions need no planning, since nothing they depend on has moved; they are not in the workspace.
    pub standing: &'a BTreeMap<Name, StandingRow>,
}

/// What the plan needs of a submission that stands as it was.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct StandingRow {
    /// Its row of the index, as JSON; none when it is not part of the pipeline.
    pub row: Option<String>,
    /// Its pages, in the order of the report stages.
    pub pages: Vec<StandingPage>,
    /// What of it is not there.
    pub unavailable: Vec<Unavailable>,
    /// Whether one of its actions uses the measuring programs.
    pub drivers: bool,
}

/// A page that stands as it was.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct StandingPage {
    /// Directory below the pages folder.
    pub directory: String,
    /// The action that rendered it.
    pub label: String,
    /// The key of its record.
    pub key: ActionKey,
    /// What the record has.
    pub outputs: BTreeMap<String, Artifact>,
    /// What is to be looked at.
    pub findings: Vec<Finding>,
}

/// The measuring system as pages show it.
#[derive(Debug, Clone)]
pub struct System {
    /// Its digest over the identity fields.
    pub identity: SystemId,
    /// Its name, e.g. `x86_1`.
    pub name: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// One line.
    pub description: String,
    /// The core that timed work is pinned to: part of every measurement's key, since cores differ.
    pub cpu: u32,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A stage asked for by name is not in the pipeline.
    #[error("pipeline `{pipeline}` has no stage `{stage}`")]
    NoStage {
        /// The pipeline.
        pipeline: Name,
        /// The name given.
        stage: Name,
    },
    /// Nothing matches the selection.
    #[error("`{0}` matches no instance; `ngcc kem list` shows what there is")]
    NothingSelected(String),
    /// An input of a command is a directory that cannot be listed, or holds a name that no path may have.
    #[error("input `{input}` of stage `{stage}`: {why}")]
    Input {
        /// The stage.
        stage: Name,
        /// The input.
        input: Name,
        /// What is wrong with which file.
        why: String,
    },
    /// An invariant of the plan is broken.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Everything a stage needs while it describes its actions.
struct Planner<'a> {
    workspace: &'a Workspace,
    pipeline: &'a Pipeline,
    request: &'a Request<'a>,
    /// Its stages by name.
    stages: BTreeMap<&'a Name, &'a Stage>,
    /// The stages of this run; `None` for all.
    wanted: Option<BTreeSet<&'a Name>>,
    builder: PlanBuilder,
    drivers: Option<NodeId>,
    /// Commands that do not run per instance, by place (a submission or `once`) and stage.
    commands: BTreeMap<(String, Name), NodeId>,
    /// Why there is no plan after all.
    broken: Option<StageError>,
}

/// One instance to be planned.
struct Subject<'a> {
    submission: &'a Submission,
    implementation: &'a Implementation,
    instance: &'a Name,
    recipe: &'a Recipe,
    files: source::InstanceFiles,
    reference: Option<source::ReferenceText>,
}

/// Plans one pipeline.
///
/// # Errors
/// [`StageError`] for an unknown stage, a selection without instances, or two actions of one name.
pub fn plan(
    workspace: &Workspace,
    pipeline: &Pipeline,
    request: &Request<'_>,
) -> Result<Plan, StageError> {
    let stages: BTreeMap<&Name, &Stage> = pipeline.stages.iter().map(|s| (&s.name, s)).collect();
    for stage in request.only {
        if !stages.contains_key(stage) {
            let (pipeline, stage) = (pipeline.name.clone(), stage.clone());
            return Err(StageError::NoStage { pipeline, stage });
        }
    }
    let wanted = wanted(&stages, request.only);
    let mut planner = Planner {
        workspace,
        pipeline,
        request,
        stages,
        wanted,
        builder: PlanBuilder::default(),
        drivers: None,
        commands: BTreeMap::new(),
        broken: None,
    };
    let mut rows = Vec::new();
    let mut all = Vec::new();
    let ids: BTreeSet<&Name> =
        workspace.submissions.keys().chain(request.standing.keys()).collect();
    for id in ids {
        let Some(submission) = workspace.submissions.get(id) else {
            rows.extend(planner.stand(&request.standing[id]));
            continue;
        };
        let mut measured: Vec<Planned<'_>> = Vec::new();
        let mut touched = false;
        workspace.disk.on_behalf_of(submission.id.as_str());
        for implementation in submission.implementations.values() {
            let wanted: Vec<&Name> = implementation
                .recipes
                .keys()
                .filter(|instance| planner.selected(submission, implementation, instance))
                .collect();
            if wanted.is_empty() {
                continue;
            }
            touched = true;
            let files =
                source::files(&workspace.disk, request.packages, submission, implementation);
            match source::ready(submission, implementation, files) {
                Err(row) => planner.builder.unavailable.push(row),
                Ok(files) => measured.extend(planner.plan_implementation(
                    submission,
                    implementation,
                    &wanted,
                    &files,
                )),
            }
        }
        if touched {
            let each: Vec<&Planned<'_>> = measured.iter().collect();
            planner.plan_submission_commands(&each);
            let row = planner.plan_page(submission, &each);
            planner.builder.rows.insert(submission.id.to_string(), json(&row.row));
            rows.push(row);
        }
        all.extend(measured);
    }
    workspace.disk.on_behalf_of("");
    planner.plan_once_commands(&all);
    if rows.is_empty() {
        let texts: Vec<String> = request.selectors.iter().map(ToString::to_string).collect();
        let texts =
            if texts.is_empty() { "the pipeline's selection".into() } else { texts.join(" ") };
        return Err(StageError::NothingSelected(texts));
    }
    planner.plan_index(&rows);
    if let Some(error) = planner.broken {
        return Err(error);
    }
    Ok(planner.builder.finish()?)
}

/// Whether an instance is in a pipeline's selection and in what was asked for.
#[must_use]
pub fn selected(
    pipeline: &Pipeline,
    asked: &[Selector],
    submission: &Submission,
    implementation: &Implementation,
    instance: &Name,
) -> bool {
    let fits = |s: &Selector| {
        s.matches(submission.id.as_str(), implementation.name.as_str(), instance.as_str())
    };
    let own = pipeline.select.iter().filter_map(|text| text.parse().ok());
    own.into_iter().any(|s| fits(&s)) && (asked.is_empty() || asked.iter().any(fits))
}

/// The stages of a run: all (`None`), or those that are asked for and those that they need.
fn wanted<'a>(
    stages: &BTreeMap<&'a Name, &'a Stage>,
    only: &'a [Name],
) -> Option<BTreeSet<&'a Name>> {
    if only.is_empty() {
        return None;
    }
    let (mut wanted, mut open) = (BTreeSet::new(), only.iter().collect::<Vec<_>>());
    while let Some(name) = open.pop() {
        if let (true, Some(stage)) = (wanted.insert(name), stages.get(name)) {
            open.extend(&stage.needs);
        }
    }
    Some(wanted)
}

impl<'a> Planner<'a> {
    fn selected(
        &self,
        submission: &Submission,
        implementation: &Implementation,
        instance: &Name,
    ) -> bool {
        let asked = self.request.selectors;
        selected(self.pipeline, asked, submission, implementation, instance)
    }

    /// Whether a stage is part of this run.
    fn wanted(&self, stage: &Name) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.contains(stage))
    }

    fn plan_implementation(
        &mut self,
        submission: &'a Submission,
        implementation: &'a Implementation,
        wanted: &[&'a Name],
        files: &Files,
    ) -> Vec<Planned<'a>> {
        let mut measured = Vec::new();
        for &instance in wanted {
            let recipe = &implementation.recipes[instance];
            match source::expand(recipe, files) {
                Err(error) => self.builder.unavailable.push(Unavailable {
                    label: format!("{}/{}/{instance}", submission.id, implementation.name),
                    why: error.to_string(),
                    help: format!("mend the recipe in {}", submission.file),
                }),
                Ok(chosen) => {
                    let reference = source::reference_text(recipe, instance, files);
                    measured.push(self.plan_instance(Subject {
                        submission,
                        implementation,
                        instance,
                        recipe,
                        files: chosen,
                        reference,
                    }));
                }
            }
        }
        measured
    }

    /// A new action of a stage, with the stage's limits.
    fn action(
        &self,
        label: String,
        stage: &Name,
        limits: &Limits,
        id: crate::action::ProcedureId,
    ) -> ActionSpec {
        let mut spec = ActionSpec::new(label, &Arc::from(stage.as_str()), id);
        let mut own = ActionLimits::default();
        if let Some(wall) = limits.wall {
            own.wall = wall;
        }
        own.memory = limits.memory.or(own.memory);
        own.file_size = limits.file_size.or(own.file_size);
        own.stack = limits.stack.or(own.stack);
        own.log = limits.log.unwrap_or(own.log);
        spec.limits = own;
        spec.env.insert("LC_ALL".into(), "C".into());
        spec
    }

    /// The node that compiles the measuring programs; one per plan.
    fn drivers(&mut self) -> NodeId {
        if let Some(node) = self.drivers {
            return node;
        }
        let mut spec = ActionSpec::new("drivers".into(), &Arc::from("drivers"), procedure::DRIVERS);
        for (path, text) in c_sources::ICCS.iter().chain(&c_sources::SHIM).chain(&c_sources::DRIVER)
        {
            if let Ok(path) = path.parse() {
                spec.inputs.insert(path, Source::Text(Arc::from(*text)));
            }
        }
        spec.outputs = vec!["kat".into(), "perf".into(), "profile".into()];
        spec.env.insert("LC_ALL".into(), "C".into());
        spec.tools = compile_tools(false);
        let node = self.builder.add(spec);
        self.drivers = Some(node);
        node
    }
}

/// The tools whose identity a compiled result depends on.
fn compile_tools(with_cmake: bool) -> Vec<String> {
    let mut tools = vec!["gcc", "cc1", "as", "ld", "collect2", "libc"];
    if with_cmake {
        tools.extend(["cmake", "ninja"]);
    }
    tools.into_iter().map(str::to_owned).collect()
}

/// Plain strings, numbers and lists as JSON text.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain strings, numbers and lists serialise")
}

/// A relative path that is well formed by construction of its parts.
fn input_path(text: &str) -> crate::name::RelPath {
    text.parse().expect("stages join checked names with `/`")
}
