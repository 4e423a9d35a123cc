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
use crate::c_sources;
use crate::digest::SystemId;
use crate::name::Name;
use crate::plan::{Plan, PlanBuilder, PlanError, Unavailable};
use crate::procedure;
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
    let builder = PlanBuilder::default();
    let mut planner =
        Planner { workspace, pipeline, request, stages, wanted, builder, drivers: None };
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for submission in workspace.submissions.values() {
        let mut measured: Vec<Planned<'_>> = Vec::new();
        let mut touched = false;
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
                source::files(&workspace.root, request.packages, submission, implementation);
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
            rows.push(planner.plan_page(submission, &each));
        }
        all.extend(measured);
    }
    planner.plan_once_commands(&all);
    if rows.is_empty() {
        let texts: Vec<String> = request.selectors.iter().map(ToString::to_string).collect();
        let texts =
            if texts.is_empty() { "the pipeline's selection".into() } else { texts.join(" ") };
        return Err(StageError::NothingSelected(texts));
    }
    planner.plan_index(&rows);
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
