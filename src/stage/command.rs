//! The stage kind `command`: a declared argv per instance, per submission or once.
//!
//! Inputs stand below `in/<name>`: a file as itself, anything plural as a directory (`<instance>/...` for a
//! submission, `<submission>/<implementation>/<instance>/...` for the whole). The result of a step that runs once is a
//! file for another that runs once; that of one per submission stands at `<submission>`. What the argv refers to is put in here
//! as symbols, so no path of this machine enters a key.

use std::collections::{BTreeMap, BTreeSet};

use super::instance::Planned;
use super::{Planner, StageError, input_path};
use crate::action::{ActionSpec, NodeId, Source};
use crate::name::Name;
use crate::procedure;
use crate::spec::{ArgPart, CommandSettings, InputRef, Scope, Stage, StageKind};

impl<'a> Planner<'a> {
    /// One run per instance.
    pub(super) fn plan_instance_command(
        &mut self,
        stage: &Stage,
        settings: &CommandSettings,
        planned: &mut Planned<'a>,
    ) {
        if settings.scope != Scope::Instance {
            return;
        }
        let label = format!("{}/{}", planned.label(), stage.name);
        let mut spec = self.command(label, stage, settings);
        self.fill_inputs(stage, settings, &[(String::new(), planned)], &mut spec);
        let node = self.builder.add(spec);
        planned.roles.insert(format!("command/{}", stage.name), node);
    }

    /// One run per submission.
    pub(super) fn plan_submission_commands(&mut self, planned: &[&Planned<'a>]) {
        let Some(first) = planned.first() else { return };
        let submission = first.submission.id.to_string();
        let named: Vec<(String, &Planned<'a>)> = planned
            .iter()
            .map(|p| (format!("/{}/{}", p.implementation.name, p.instance), *p))
            .collect();
        self.plan_commands(Scope::Submission, &submission, &named);
    }

    /// One run for the whole plan.
    pub(super) fn plan_once_commands(&mut self, planned: &[Planned<'a>]) {
        let named: Vec<(String, &Planned<'a>)> =
            planned.iter().map(|p| (format!("/{}", p.label()), p)).collect();
        self.plan_commands(Scope::Once, "once", &named);
    }

    fn plan_commands(&mut self, scope: Scope, place: &str, planned: &[(String, &Planned<'a>)]) {
        let pipeline = self.pipeline;
        for stage in &pipeline.stages {
            let StageKind::Command(settings) = &stage.kind else { continue };
            if settings.scope != scope || !self.wanted(&stage.name) {
                continue;
            }
            let label = format!("{place}/{}", stage.name);
            let mut spec = self.command(label, stage, settings);
            self.fill_inputs(stage, settings, planned, &mut spec);
            let node = self.builder.add(spec);
            self.commands.insert((place.to_owned(), stage.name.clone()), node);
        }
    }

    fn command(&self, label: String, stage: &Stage, settings: &CommandSettings) -> ActionSpec {
        let mut spec = self.action(label, &stage.name, &stage.limits, procedure::COMMAND);
        let part = |part: &ArgPart| match part {
            // What looks like a symbol and is none: `procedure/command.rs` takes the braces off again.
            ArgPart::Text(text) => text.replace("{in}", "{{in}}").replace("{out}", "{{out}}"),
            ArgPart::Input(name) => format!("{{in}}/{name}"),
            ArgPart::Output(name) => {
                let path = settings.outputs.get(name).map_or("", crate::name::RelPath::as_str);
                format!("{{out}}/{path}")
            }
            ArgPart::Tool(name) => format!("tool:{name}"),
        };
        let argv: Vec<String> =
            settings.argv.iter().map(|arg| arg.0.iter().map(part).collect()).collect();
        let outputs: BTreeMap<&str, &str> =
            settings.outputs.iter().map(|(n, p)| (n.as_str(), p.as_str())).collect();
        spec.params.insert("argv", super::json(&argv));
        spec.params.insert("outputs", super::json(&outputs));
        spec.params.insert("finding codes", super::json(&settings.finding_exit_codes));
        let stdout = settings.stdout.as_ref().map_or("", Name::as_str);
        spec.params.insert("stdout", stdout.to_owned());
        spec.outputs = settings.outputs.keys().map(|n| n.to_string().into()).collect();
        spec.env.extend(settings.env.clone());
        spec.tools.clone_from(&settings.tools);
        spec
    }

    /// Adds the declared inputs; `planned` pairs each instance with the path that tells it from the others.
    fn fill_inputs(
        &mut self,
        stage: &Stage,
        settings: &CommandSettings,
        planned: &[(String, &Planned<'a>)],
        spec: &mut ActionSpec,
    ) {
        for (name, input) in &settings.inputs {
            match input {
                InputRef::File(path) => {
                    let disk = &self.workspace.disk;
                    if disk.is_dir(path.as_str()) {
                        let listed = crate::source::directory(disk, path);
                        let listed = listed.unwrap_or_else(|why| {
                            let (stage, input) = (stage.name.clone(), name.clone());
                            self.broken = Some(StageError::Input { stage, input, why });
                            BTreeMap::new()
                        });
                        for (below, source) in listed {
                            spec.inputs.insert(input_path(&format!("{name}/{below}")), source);
                        }
                    } else {
                        spec.inputs.insert(input_path(name.as_str()), Source::File(path.clone()));
                    }
                }
                InputRef::Sources => {
                    for (place, planned) in planned {
                        for (path, source) in &planned.files {
                            let path = input_path(&format!("{name}{place}/{path}"));
                            spec.inputs.insert(path, source.clone());
                        }
                    }
                }
                InputRef::Stage { stage: from, output } => match self.scope_of(from) {
                    None | Some(Scope::Instance) => {
                        for (place, planned) in planned {
                            self.stage_input(name, place, planned, (from, output), spec);
                        }
                    }
                    Some(scope) => {
                        let wide = self.wide_input(name, planned, (scope, from), settings.scope);
                        if wide.is_empty() {
                            let (stage, input) = (stage.name.clone(), name.clone());
                            let why = format!("`{from}` has no result for a step of this scope");
                            self.broken = Some(StageError::Input { stage, input, why });
                        }
                        for (path, node) in wide {
                            let source = Source::From(node, output.clone().into());
                            spec.inputs.insert(input_path(&path), source);
                        }
                    }
                },
            }
        }
    }

    /// The scope of a command stage; none for other kinds.
    fn scope_of(&self, stage: &Name) -> Option<Scope> {
        let stage = self.pipeline.stages.iter().find(|s| s.name == *stage)?;
        if let StageKind::Command(settings) = &stage.kind { Some(settings.scope) } else { None }
    }

    /// Where results of a command that does not run per instance stand, and which node makes them: one for a step of
    /// the same scope, one of each submission for a step that runs once. Empty where there is none.
    fn wide_input(
        &self,
        name: &Name,
        planned: &[(String, &Planned<'a>)],
        (scope, from): (Scope, &Name),
        to: Scope,
    ) -> BTreeMap<String, NodeId> {
        let node = |place: &str| self.commands.get(&(place.to_owned(), from.clone())).copied();
        let submissions: BTreeSet<&str> =
            planned.iter().map(|(_, p)| p.submission.id.as_str()).collect();
        let places: Vec<(String, &str)> = match (scope, to) {
            (Scope::Once, Scope::Once) => vec![(name.to_string(), "once")],
            (Scope::Submission, Scope::Submission) => {
                submissions.iter().map(|id| (name.to_string(), *id)).collect()
            }
            (Scope::Submission, Scope::Once) => {
                submissions.iter().map(|id| (format!("{name}/{id}"), *id)).collect()
            }
            _ => Vec::new(),
        };
        places.into_iter().filter_map(|(path, place)| Some((path, node(place)?))).collect()
    }

    fn stage_input(
        &self,
        name: &Name,
        place: &str,
        planned: &Planned<'a>,
        (stage, output): (&Name, &str),
        spec: &mut ActionSpec,
    ) {
        let Some(kind) = self.stages.get(stage).map(|s| &s.kind) else { return };
        let choice =
            |output: &'static str| vec![("choice".to_owned(), String::new(), output.to_owned())];
        let operations = |role: &str| {
            crate::result::KEM_OPERATIONS
                .iter()
                .map(|o| (format!("{role}/{o}"), format!("/{o}"), role.to_owned()))
                .collect::<Vec<_>>()
        };
        let wanted = match kind {
            StageKind::Build { .. } if output == "library" => choice("library"),
            StageKind::Build { .. } => choice("choice"),
            StageKind::Kat { .. } => choice("kat"),
            StageKind::Timing(_) => operations("timing"),
            StageKind::Profile(_) => operations("profile"),
            StageKind::Sizes => vec![("sizes".to_owned(), String::new(), "sizes".to_owned())],
            StageKind::Command(_) => {
                vec![(format!("command/{stage}"), String::new(), output.to_owned())]
            }
            StageKind::Report { .. } => Vec::new(),
        };
        for (role, suffix, output) in wanted {
            if let Some(node) = planned.roles.get(&role) {
                let path = input_path(&format!("{name}{place}{suffix}"));
                spec.inputs.insert(path, Source::From(*node, output.into()));
            }
        }
    }
}
