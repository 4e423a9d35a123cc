//! The report stage: one page per submission, and the index of all.
//!
//! Writes down what is known beforehand; what was measured comes in as outcomes, so a failed action is a row on the
//! page and not a missing page.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::instance::Planned;
use super::{Planner, StandingRow, input_path};
use crate::action::{ActionSpec, NodeId, Source};
use crate::plan::{PageSlot, Stand, absent};
use crate::procedure;
use crate::procedure::{IndexParams, PageParams};
use crate::report::Format;
use crate::report::input::{
    AbsentInput, CampaignInput, Function, ImplementationInput, IndexInput, IndexRow, InstanceInput,
    Outcome, PageInput, SubmissionInput, SurveyInput, SystemInput,
};
use crate::result::KEM_OPERATIONS;
use crate::spec::{self, ReportFormat, Stage, StageKind, Submission};

/// One submission's row of the index.
pub(super) struct PageRow {
    pub(super) row: IndexRow,
    node: Option<NodeId>,
}

fn missing<T>() -> Outcome<T> {
    Outcome::Missing { reason: "not part of this pipeline".into() }
}

impl<'a> Planner<'a> {
    /// The report stages of this run.
    fn reports(&self) -> Vec<(&'a Stage, Vec<Format>)> {
        let pipeline = self.pipeline;
        let stages = pipeline.stages.iter().filter(|s| self.wanted(&s.name));
        stages
            .filter_map(|stage| match &stage.kind {
                StageKind::Report { formats, .. } => {
                    let formats = formats.iter().map(|f| match f {
                        ReportFormat::Markdown => Format::Md,
                        ReportFormat::Html => Format::Html,
                        ReportFormat::Csv => Format::Csv,
                        ReportFormat::Json => Format::Json,
                    });
                    Some((stage, formats.collect()))
                }
                StageKind::Build { .. }
                | StageKind::Kat { .. }
                | StageKind::Timing(_)
                | StageKind::Profile(_)
                | StageKind::Sizes
                | StageKind::Command(_) => None,
            })
            .collect()
    }

    /// Plans the page of one submission, for every report stage.
    pub(super) fn plan_page(
        &mut self,
        submission: &'a Submission,
        measured: &[&Planned<'a>],
    ) -> PageRow {
        let instances = measured.len() as u64;
        let mut implementations: Vec<String> =
            measured.iter().map(|p| p.implementation.name.to_string()).collect();
        implementations.dedup();
        let mut row = IndexRow {
            id: submission.id.to_string(),
            name: submission.name.clone(),
            function: function(submission),
            href: None,
            implementations,
            instances,
            kat: BTreeMap::new(),
            timed: 0,
            timing_failed: 0,
            findings: 0,
            expected_findings: 0,
            unavailable: String::new(),
        };
        let mut last = None;
        if instances > 0 {
            for (stage, formats) in self.reports() {
                let node = self.plan_one_page(submission, measured, stage, formats);
                self.builder.pages.push(PageSlot { directory: submission.id.to_string(), node });
                row.href = Some(format!("{}/index.html", submission.id));
                last = Some(node);
            }
        }
        PageRow { row, node: last }
    }

    /// Takes a submission over as it stood: what is not there of it, its row, and its last page as a settled node.
    pub(super) fn stand(&mut self, standing: &StandingRow) -> Option<PageRow> {
        self.builder.unavailable.extend(standing.unavailable.iter().cloned());
        if standing.drivers {
            self.drivers();
        }
        let row = serde_json::from_str(standing.row.as_deref()?).ok()?;
        let node = standing.pages.last().map(|page| {
            let stage = Arc::from(page.label.rsplit('/').next().unwrap_or_default());
            let mut spec = ActionSpec::new(page.label.clone(), &stage, procedure::PAGE);
            spec.outputs = page.outputs.keys().map(|name| name.clone().into()).collect();
            let node = self.builder.add(spec);
            self.builder.standing.push(Stand {
                node,
                key: page.key,
                outputs: page.outputs.clone(),
                findings: page.findings.clone(),
            });
            node
        });
        Some(PageRow { row, node })
    }

    fn plan_one_page(
        &mut self,
        submission: &'a Submission,
        measured: &[&Planned<'a>],
        stage: &Stage,
        formats: Vec<Format>,
    ) -> NodeId {
        let label = format!("{}/{}", submission.id, stage.name);
        let mut spec = self.action(label, &stage.name, &stage.limits, procedure::PAGE);
        let mut expected = BTreeMap::new();
        let mut implementations = Vec::new();
        for planned in measured {
            let Planned { implementation, instance, roles, .. } = planned;
            let place = format!("{}/{instance}", implementation.name);
            for (role, node) in roles {
                let path = input_path(&format!("{place}/{role}"));
                spec.inputs.insert(path, Source::Outcome(*node));
            }
            let facts = submission.instances.get(*instance);
            let known = facts.map(|f| f.expected_findings.clone()).unwrap_or_default();
            expected.insert(place, known.iter().map(|f| f.code.clone()).collect());
            let operations = |role: &str| -> Vec<String> {
                let planned = |o: &&&str| roles.contains_key(&format!("{role}/{o}"));
                KEM_OPERATIONS.iter().filter(planned).map(|o| (*o).to_owned()).collect()
            };
            let input = InstanceInput {
                name: instance.to_string(),
                choice: missing(),
                kat: missing(),
                expected: known.iter().map(|f| format!("{}: {}", f.code, f.why)).collect(),
                timing: operations("timing").into_iter().map(|o| (o, missing())).collect(),
                profile: operations("profile").into_iter().map(|o| (o, missing())).collect(),
                sizes: missing(),
                catalogue_basis: facts.and_then(|f| f.size_basis.clone()).unwrap_or_default(),
            };
            let name = implementation.name.to_string();
            match implementations.iter_mut().find(|i: &&mut ImplementationInput| i.name == name) {
                Some(known) => known.instances.push(input),
                None => implementations.push(ImplementationInput { name, instances: vec![input] }),
            }
        }
        let intervals = self
            .pipeline
            .stages
            .iter()
            .any(|s| matches!(&s.kind, StageKind::Timing(settings) if settings.interval));
        let params = PageParams {
            page: PageInput {
                submission: SubmissionInput {
                    id: submission.id.to_string(),
                    name: submission.name.clone(),
                    function: function(submission),
                    page_url: submission.page.clone(),
                    licence: submission.licence.clone(),
                    survey: submission.survey.as_ref().map(|s| SurveyInput {
                        verdict: s.verdict.clone(),
                        notes: s.notes.clone().unwrap_or_default(),
                    }),
                },
                system: self.system_input(),
                environment: BTreeMap::new(),
                campaign: CampaignInput { started_utc: String::new(), ended_utc: String::new() },
                intervals,
                implementations,
                findings: Vec::new(),
                other_systems: Vec::new(),
                index_href: Some("../index.html".into()),
            },
            expected,
            formats,
        };
        spec.params.insert("page", super::json(&params));
        spec.outputs = vec!["page".into(), "tally".into()];
        self.builder.add(spec)
    }

    /// Plans the index over all submissions of the run.
    pub(super) fn plan_index(&mut self, rows: &[PageRow]) {
        let Some((stage, formats)) = self.reports().into_iter().next() else { return };
        let label = format!("index/{}", stage.name);
        let mut spec = self.action(label, &stage.name, &stage.limits, procedure::INDEX);
        spec.stage = Arc::from(stage.name.as_str());
        let mut submissions = Vec::new();
        for PageRow { row, node } in rows {
            let mut row = row.clone();
            match node {
                Some(node) => drop(spec.inputs.insert(input_path(&row.id), Source::Outcome(*node))),
                None => {
                    let absent = self
                        .builder
                        .unavailable
                        .iter()
                        .find(|u| u.label.starts_with(&format!("{}/", row.id)));
                    row.unavailable = absent.map_or_else(
                        || "nothing to measure".into(),
                        |u| format!("{}; {}", u.why, u.help),
                    );
                }
            }
            submissions.push(row);
        }
        let absent = absent(&self.builder.unavailable).into_iter();
        let absent = absent.map(|a| AbsentInput { what: a.what, why: a.why, help: a.help });
        let params = IndexParams {
            index: IndexInput {
                pipeline: self.pipeline.name.to_string(),
                system: self.system_input(),
                campaign: CampaignInput { started_utc: String::new(), ended_utc: String::new() },
                submissions,
                absent: absent.collect(),
            },
            formats,
        };
        spec.params.insert("index", super::json(&params));
        spec.outputs = vec!["page".into()];
        let node = self.builder.add(spec);
        self.builder.pages.push(PageSlot { directory: String::new(), node });
    }

    fn system_input(&self) -> SystemInput {
        let super::System { name, arch, description, .. } = &self.request.system;
        // A pipeline's title ("not for publication") says what the data set is good for.
        let titles = self.pipeline.stages.iter().filter_map(|s| match &s.kind {
            StageKind::Report { title, .. } => title.as_deref(),
            StageKind::Build { .. }
            | StageKind::Kat { .. }
            | StageKind::Timing(_)
            | StageKind::Profile(_)
            | StageKind::Sizes
            | StageKind::Command(_) => None,
        });
        let texts: Vec<&str> = std::iter::once(description.as_str()).chain(titles).collect();
        SystemInput { id: name.clone(), arch: arch.clone(), description: texts.join(". ") }
    }
}

fn function(submission: &Submission) -> Function {
    match submission.function {
        spec::Function::Kem => Function::Kem,
        spec::Function::Signature => Function::Signature,
        spec::Function::KeyExchange => Function::KeyExchange,
        spec::Function::Hash => Function::Hash,
    }
}
