//! The chain of one instance: build, known-answer test, the choice between builds, timing, profile, sizes, commands.
//!
//! A build is tried with every flag set in order; a second build with the later sets exists in the plan and runs only
//! when the known-answer test of the first does not pass.

use std::collections::BTreeMap;

use super::{Planner, Subject, compile_tools, input_path};
use crate::action::{Claim, NodeId, Purity, Source};
use crate::c_sources;
use crate::name::Name;
use crate::procedure;
use crate::procedure::cmake_project::{FlagSet, Library, Nist, Recipe};
use crate::source::{Files, ReferenceText};
use crate::spec::{Api, Implementation, KatSettings, Stage, StageKind, Submission};

/// The nodes that describe one instance: role (`choice`, `timing/keygen`, ...) to node.
pub(super) type Roles = BTreeMap<String, NodeId>;

/// One instance as planned.
pub(super) struct Planned<'a> {
    pub(super) submission: &'a Submission,
    pub(super) implementation: &'a Implementation,
    pub(super) instance: &'a Name,
    pub(super) files: Files,
    pub(super) roles: Roles,
}

impl Planned<'_> {
    /// `kem-18/independent/Loong128`.
    pub(super) fn label(&self) -> String {
        format!("{}/{}/{}", self.submission.id, self.implementation.name, self.instance)
    }
}

impl Subject<'_> {
    fn label(&self) -> String {
        format!("{}/{}/{}", self.submission.id, self.implementation.name, self.instance)
    }

    /// The instance as its known-answer text and metadata name it.
    fn text_name(&self) -> String {
        self.recipe.kat_name.clone().unwrap_or_else(|| self.instance.to_string())
    }
}

impl<'a> Planner<'a> {
    /// Plans every stage of the pipeline for one instance, in the order of needs.
    pub(super) fn plan_instance(&mut self, subject: Subject<'a>) -> Planned<'a> {
        let Subject { submission, implementation, instance, .. } = subject;
        let mut planned = Planned {
            submission,
            implementation,
            instance,
            files: subject.files.inputs.clone(),
            roles: Roles::new(),
        };
        let subject = &subject;
        let pipeline = self.pipeline;
        let stage_of =
            |wanted: fn(&StageKind) -> bool| pipeline.stages.iter().find(|s| wanted(&s.kind));
        let kat = stage_of(|k| matches!(k, StageKind::Kat { .. })).filter(|s| self.wanted(&s.name));
        for stage in &self.pipeline.stages {
            if !self.wanted(&stage.name) {
                continue;
            }
            match &stage.kind {
                StageKind::Build { flags } => {
                    self.plan_builds(subject, stage, flags, kat, &mut planned.roles);
                }
                StageKind::Timing(settings) => {
                    for operation in &settings.operations {
                        self.plan_timing(subject, stage, operation, &mut planned.roles);
                    }
                }
                StageKind::Profile(_) => {
                    for operation in crate::result::KEM_OPERATIONS {
                        self.plan_profile(subject, stage, operation, &mut planned.roles);
                    }
                }
                StageKind::Sizes => self.plan_sizes(subject, stage, &mut planned.roles),
                StageKind::Command(command) => {
                    self.plan_instance_command(stage, command, &mut planned);
                }
                StageKind::Kat { .. } | StageKind::Report { .. } => {}
            }
        }
        planned
    }

    /// Builds and tests with each tail of the flag sets, then the choice.
    fn plan_builds(
        &mut self,
        subject: &Subject<'a>,
        stage: &Stage,
        flags: &[Name],
        kat: Option<&Stage>,
        roles: &mut Roles,
    ) {
        let label = subject.label();
        let flags = subject.recipe.flag_sets.as_deref().unwrap_or(flags);
        let sets: Vec<FlagSet> = flags
            .iter()
            .filter_map(|name| {
                let set = self.pipeline.flag_sets.get(name)?;
                Some(FlagSet { name: name.to_string(), c: set.c.clone(), link: set.link.clone() })
            })
            .collect();
        // Without a test nothing can reject the first build that compiles.
        let rounds = if kat.is_some() { sets.len() } else { sets.len().min(1) };
        let mut tried: Vec<(String, NodeId, Option<NodeId>)> = Vec::new();
        for first in 0..rounds {
            let name = sets[first].name.clone();
            let suffix = if first == 0 { String::new() } else { format!("/fallback-{name}") };
            let label = format!("{label}/{}{suffix}", stage.name);
            let mut spec = self.action(label, &stage.name, &stage.limits, procedure::BUILD);
            self.fill_build(subject, &sets[first..], &mut spec);
            if let Some((_, build, test)) = tried.last() {
                spec.inputs
                    .insert(input_path("previous.json"), Source::From(*build, "attempt".into()));
                spec.unless_good = test.iter().copied().collect();
            }
            spec.tentative = true;
            let build = self.builder.add(spec);
            let test = kat.map(|kat| self.plan_kat(subject, kat, &suffix, build));
            if let (Some(test), Some((_, _, Some(previous)))) = (test, tried.last()) {
                self.builder.only_unless_good(test, *previous);
            }
            tried.push((name, build, test));
        }
        let choice = format!("{label}/choice");
        let mut spec = self.action(choice, &stage.name, &stage.limits, procedure::CHOOSE);
        for (name, build, test) in &tried {
            spec.inputs.insert(input_path(&format!("build/{name}")), Source::Outcome(*build));
            if let Some(test) = test {
                spec.inputs.insert(input_path(&format!("kat/{name}")), Source::Outcome(*test));
            }
        }
        let names: Vec<&str> = tried.iter().map(|(name, _, _)| name.as_str()).collect();
        spec.params.insert("sets", names.join(" "));
        spec.params.insert("kat stage", if kat.is_some() { "yes" } else { "no" }.into());
        spec.params.insert("expected", expected_findings(subject));
        spec.outputs = ["library", "profiled", "binding", "choice", "kat"].map(Into::into).to_vec();
        roles.insert("choice".into(), self.builder.add(spec));
    }

    fn fill_build(
        &self,
        subject: &Subject<'a>,
        sets: &[FlagSet],
        spec: &mut crate::action::ActionSpec,
    ) {
        let Subject { submission, implementation, instance, recipe, files, reference: _ } = subject;
        let tree = |path: &str| {
            if path.is_empty() { "tree".to_owned() } else { format!("tree/{path}") }
        };
        for (path, source) in &files.inputs {
            spec.inputs.insert(input_path(&tree(path.as_str())), source.clone());
        }
        let defines = recipe.defines.iter().map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        });
        let described = Recipe {
            id: submission.id.to_string(),
            algorithm: submission.name.clone(),
            variant: implementation.version.variant().to_owned(),
            source_dir: recipe.directory.clone(),
            label: instance.to_string(),
            instance: match recipe.api {
                Api::Iccs => recipe.kat_name.clone(),
                // There is no macro to take it from.
                Api::Nist => Some(subject.text_name()),
            },
            header: recipe.header.clone(),
            sources: files.sources.iter().map(|s| tree(s.as_str())).collect(),
            includes: files.includes.iter().map(|s| tree(s)).collect(),
            defines: defines.collect(),
            cflags: recipe.cflags.clone(),
            libraries: recipe
                .libraries
                .iter()
                .map(|l| Library {
                    name: l.name.clone(),
                    header: l.header.clone(),
                    debian: l.debian.clone(),
                })
                .collect(),
            nist: (recipe.api == Api::Nist).then(|| Nist {
                prefix: recipe.prefix.clone().unwrap_or_default(),
                generator: recipe.generator.file().to_owned(),
            }),
            our_auxfunc: files.our_auxfunc,
            our_drng: files.our_drng,
            own_drng_algorithm: recipe.own_drng_algorithm,
            flag_sets: sets.to_vec(),
        };
        let iccs: &[_] = if described.uses_iccs() { &c_sources::ICCS } else { &[] };
        let nist: &[_] = if described.nist.is_some() { &c_sources::NIST } else { &[] };
        let ours = iccs.iter().chain(nist).chain(&c_sources::SHIM).chain(&c_sources::META);
        for (path, text) in ours {
            let path = input_path(&format!("ngcc/{path}"));
            spec.inputs.insert(path, Source::Text((*text).into()));
        }
        let text = super::json(&described);
        spec.params.insert("recipe", text);
        spec.outputs = vec!["library".into(), "profiled".into(), "attempt".into()];
        spec.tools = compile_tools(true);
        if let Some(wall) = recipe.timeout {
            spec.limits.wall = wall;
        }
    }

    fn plan_kat(
        &mut self,
        subject: &Subject<'a>,
        stage: &Stage,
        suffix: &str,
        build: NodeId,
    ) -> NodeId {
        let StageKind::Kat { records, keep_text } = &stage.kind else { return build };
        let drivers = self.drivers();
        let Subject { submission, instance, recipe, reference, .. } = subject;
        let label = format!("{}/{}{suffix}", subject.label(), stage.name);
        let mut spec = self.action(label, &stage.name, &stage.limits, procedure::KAT);
        spec.inputs.insert(input_path("lib.so"), Source::From(build, "library".into()));
        spec.inputs.insert(input_path("bin/kat"), Source::From(drivers, "kat".into()));
        if let Some(vectors) = &submission.vectors {
            spec.inputs.insert(input_path("vectors.json"), Source::File(vectors.clone()));
        }
        match reference {
            Some(ReferenceText::Found(path, content)) => {
                spec.inputs.insert(input_path("reference.txt"), content.clone());
                spec.params.insert("reference", path.to_string());
            }
            Some(ReferenceText::Missing(path)) => {
                spec.params.insert("reference", path.clone());
            }
            None => {}
        }
        // Where the reference text stands has been looked up with `file` and `directory`.
        let KatSettings { records: own, timeout, nolen, file: _, directory: _ } = &recipe.kat;
        spec.params.insert("nolen", if *nolen { "yes" } else { "no" }.into());
        let expected = submission.kat.get(*instance);
        let count = (*own).or(*records).or(expected.and_then(|e| e.records));
        spec.params.insert("expected", super::json(&expected));
        spec.params.insert("records", count.map(|c| c.to_string()).unwrap_or_default());
        spec.params.insert("keep", keep_text.unwrap_or(16 << 20).to_string());
        spec.params.insert("id", submission.id.to_string());
        spec.params.insert("instance", subject.text_name());
        // The digest says which text it is of; without one the API does.
        let nist = expected.map_or(recipe.api == Api::Nist, |e| e.mode == "nist");
        spec.params.insert("layout", if nist { "nist" } else { "iccs" }.into());
        spec.params.insert("label", instance.to_string());
        spec.outputs = vec!["kat".into()];
        spec.tools = vec!["libc".into()];
        if let Some(wall) = timeout.or(recipe.timeout) {
            spec.limits.wall = wall;
        }
        spec.limits.stack = recipe.stack_bytes.or(spec.limits.stack);
        spec.tentative = true;
        self.builder.add(spec)
    }

    fn plan_timing(
        &mut self,
        subject: &Subject<'a>,
        stage: &Stage,
        operation: &str,
        roles: &mut Roles,
    ) {
        let (StageKind::Timing(settings), Some(choice)) =
            (&stage.kind, roles.get("choice").copied())
        else {
            return;
        };
        let drivers = self.drivers();
        let label = format!("{}/{}/{operation}", subject.label(), stage.name);
        let round = self.request.rounds.get(&label).copied().unwrap_or(0);
        let mut spec = self.action(label, &stage.name, &stage.limits, procedure::TIMING);
        spec.inputs.insert(input_path("lib.so"), Source::From(choice, "library".into()));
        spec.inputs.insert(input_path("bin/perf"), Source::From(drivers, "perf".into()));
        let asked = procedure::TimingSettings {
            trials: settings.trials,
            target_s: settings.target.as_secs_f64(),
            min_total: settings.min_total,
            max_iterations: settings.max_iterations,
            budget_s: settings.budget.as_secs_f64(),
            separate_setup_s: settings.separate_setup.as_secs_f64(),
        };
        spec.params.insert("settings", super::json(&asked));
        spec.params.insert("operation", operation.to_owned());
        spec.params.insert("round", round.to_string());
        spec.outputs = vec!["timing".into()];
        self.measured(subject, &mut spec, round);
        roles.insert(format!("timing/{operation}"), self.builder.add(spec));
    }

    fn plan_profile(
        &mut self,
        subject: &Subject<'a>,
        stage: &Stage,
        operation: &str,
        roles: &mut Roles,
    ) {
        let (StageKind::Profile(settings), Some(choice)) =
            (&stage.kind, roles.get("choice").copied())
        else {
            return;
        };
        let drivers = self.drivers();
        let label = format!("{}/{}/{operation}", subject.label(), stage.name);
        let round = self.request.rounds.get(&label).copied().unwrap_or(0);
        let mut spec = self.action(label, &stage.name, &stage.limits, procedure::PROFILE);
        spec.inputs.insert(input_path("lib.so"), Source::From(choice, "profiled".into()));
        spec.inputs.insert(input_path("binding.json"), Source::From(choice, "binding".into()));
        spec.inputs.insert(input_path("bin/profile"), Source::From(drivers, "profile".into()));
        spec.params.insert("operation", operation.to_owned());
        spec.params.insert("target_s", settings.target.as_secs_f64().to_string());
        spec.params.insert("max operations", settings.max_operations.to_string());
        spec.outputs = vec!["profile".into()];
        self.measured(subject, &mut spec, round);
        roles.insert(format!("profile/{operation}"), self.builder.add(spec));
    }

    /// What every measurement has in common: a quiet machine, a system, a round, the C library it runs on.
    fn measured(&self, subject: &Subject<'a>, spec: &mut crate::action::ActionSpec, round: u32) {
        spec.claim = Claim::Quiet;
        spec.params.insert("cpu", self.request.system.cpu.to_string());
        spec.purity = Purity::Measured { system: self.request.system.identity, round };
        spec.tools = vec!["libc".into()];
        spec.limits.stack = subject.recipe.stack_bytes.or(spec.limits.stack);
        if let Some(wall) = subject.recipe.timeout {
            spec.limits.wall = wall;
        }
    }

    fn plan_sizes(&mut self, subject: &Subject<'a>, stage: &Stage, roles: &mut Roles) {
        let Some(choice) = roles.get("choice").copied() else { return };
        let label = format!("{}/{}", subject.label(), stage.name);
        let mut spec = self.action(label, &stage.name, &stage.limits, procedure::SIZES);
        for name in ["library", "kat"] {
            spec.inputs.insert(input_path(name), Source::From(choice, name.into()));
        }
        let catalogue = subject.submission.instances.get(subject.instance).map(|i| i.sizes.clone());
        spec.params.insert("catalogue", super::json(&catalogue.unwrap_or_default()));
        spec.params.insert("expected", expected_findings(subject));
        spec.outputs = vec!["sizes".into()];
        roles.insert("sizes".into(), self.builder.add(spec));
    }
}

/// Codes of the findings that the manifest expects of this instance, joined by blanks.
fn expected_findings(subject: &Subject<'_>) -> String {
    let instance = subject.submission.instances.get(subject.instance);
    let codes = instance.into_iter().flat_map(|i| &i.expected_findings);
    codes.map(|f| f.code.clone()).collect::<Vec<_>>().join(" ")
}
