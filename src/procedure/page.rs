//! Renders one submission's page, and the index, from the documents of the actions before it.
//!
//! The stage writes everything that is known beforehand as a `PageInput` with nothing measured in it; this fills in
//! what was measured, or why it was not. The documents themselves are copied beside the page, so every figure's link
//! leads to the numbers it came from. Wording and layout are `report`'s.

use std::collections::BTreeMap;

use crate::artifact::{Artifact, Entry, Tree};
use crate::exec::job::{Job, Stop, Yield};
use crate::name::RelPath;
use crate::outcome::OutcomeDocument;
use crate::record::{FailureClass, Finding};
use crate::report::input::{FindingInput, IndexInput, Outcome, PageInput};
use crate::report::{self, Format};
use crate::result::Timing;

/// What the stage knows before anything ran. JSON in the key.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PageParams {
    /// The page with nothing measured in it.
    pub page: PageInput,
    /// Codes of findings the manifest announces, per `implementation/instance`.
    pub expected: BTreeMap<String, Vec<String>>,
    /// The formats asked for.
    pub formats: Vec<Format>,
}

/// What the stage knows about the index. JSON in the key.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct IndexParams {
    /// The index with nothing measured in it.
    pub index: IndexInput,
    /// The formats asked for.
    pub formats: Vec<Format>,
}

/// Where a page's data lives, for the index: a small document beside the page.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Tally {
    kat: BTreeMap<String, u64>,
    timed: u64,
    timing_failed: u64,
    findings: u64,
    expected_findings: u64,
    started_utc: String,
    ended_utc: String,
}

/// Collects documents into the page's tree while they are read.
struct Evidence<'j, 'a> {
    job: &'j Job<'a>,
    files: BTreeMap<RelPath, Entry>,
    tally: Tally,
    findings: Vec<FindingInput>,
}

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let PageParams { mut page, expected, formats } = job.json_param("page")?;
    let mut evidence =
        Evidence { job, files: BTreeMap::new(), tally: Tally::default(), findings: Vec::new() };
    for implementation in &mut page.implementations {
        for instance in &mut implementation.instances {
            let place = format!("{}/{}", implementation.name, instance.name);
            let known = expected.get(&place).map_or(&[][..], Vec::as_slice);
            instance.choice = evidence.fetch(&place, "choice", "choice", known)?;
            instance.kat = evidence.kat(&place)?;
            // A test that left no text still has a verdict when its library is measured all the same.
            if let (Outcome::Missing { .. }, Outcome::Done { result, .. }) =
                (&instance.kat, &instance.choice)
                && result.kat != "NOKAT"
            {
                let reason = "the known-answer test did not come to its end".to_owned();
                instance.kat = Outcome::Failed { word: result.kat.clone(), reason, log: None };
            }
            let status = match &instance.kat {
                Outcome::Done { result, .. } => result.status.clone(),
                Outcome::Failed { word, .. } => word.clone(),
                Outcome::Missing { .. } => "–".to_owned(),
            };
            *evidence.tally.kat.entry(status).or_insert(0) += 1;
            for (operation, slot) in &mut instance.timing {
                *slot = evidence.fetch(&place, &format!("timing/{operation}"), "timing", known)?;
                evidence.count(slot);
            }
            for (operation, slot) in &mut instance.profile {
                *slot =
                    evidence.fetch(&place, &format!("profile/{operation}"), "profile", known)?;
            }
            instance.sizes = evidence.fetch(&place, "sizes", "sizes", known)?;
        }
    }
    let Evidence { files, mut tally, findings, .. } = evidence;
    page.campaign.started_utc.clone_from(&tally.started_utc);
    page.campaign.ended_utc.clone_from(&tally.ended_utc);
    tally.findings = findings.iter().filter(|f| !f.expected).count() as u64;
    tally.expected_findings = findings.iter().filter(|f| f.expected).count() as u64;
    page.findings = findings;
    let mut tree = Tree(files);
    for (path, bytes) in report::render(&page, &formats) {
        let blob = job.store().put_bytes(&bytes)?;
        tree.0.insert(path, Entry::File { blob, len: bytes.len() as u64, executable: false });
    }
    let tree = Artifact::Tree(job.store().put_tree(&tree)?);
    Ok(Yield::default().with("page", tree).with("tally", job.keep_json(&tally)?))
}

impl Evidence<'_, '_> {
    /// The document an action left, or why there is none.
    fn fetch<T: serde::de::DeserializeOwned>(
        &mut self,
        place: &str,
        role: &str,
        output: &str,
        expected: &[String],
    ) -> Result<Outcome<T>, Stop> {
        let Some(document) = self.job.outcome(&format!("{place}/{role}")).cloned() else {
            let reason = "not part of this pipeline".to_owned();
            return Ok(Outcome::Missing { reason });
        };
        self.note_findings(place, role, &document, expected);
        match document.outputs.get(output) {
            Some(artifact) => self.done(place, role, *artifact),
            None if document.status == "failed" => Ok(Outcome::Failed {
                word: document.class.map_or("failed", FailureClass::word).to_owned(),
                reason: document.message.clone(),
                log: None,
            }),
            None => Ok(Outcome::Missing { reason: document.reason() }),
        }
    }

    /// The known-answer document travels with the choice.
    fn kat(&mut self, place: &str) -> Result<Outcome<crate::result::Kat>, Stop> {
        let Some(document) = self.job.outcome(&format!("{place}/choice")).cloned() else {
            return Ok(Outcome::Missing { reason: "not part of this pipeline".into() });
        };
        let Some(artifact) = document.outputs.get("kat") else {
            return Ok(Outcome::Failed {
                word: document.class.map_or("not run", FailureClass::word).to_owned(),
                reason: document.reason(),
                log: None,
            });
        };
        if self.job.read(*artifact)? == b"null\n" {
            return Ok(Outcome::Missing { reason: "no known-answer document".into() });
        }
        self.done(place, "kat", *artifact)
    }

    fn done<T: serde::de::DeserializeOwned>(
        &mut self,
        place: &str,
        role: &str,
        artifact: Artifact,
    ) -> Result<Outcome<T>, Stop> {
        let bytes = self.job.read(artifact)?;
        let result = serde_json::from_slice(&bytes)
            .map_err(|error| Stop::new(FailureClass::Output, format!("{place}/{role}: {error}")))?;
        let record = format!("records/{place}__{}.json", role.replace('/', "_"));
        if let (Ok(path), Artifact::Blob(blob)) = (record.parse(), artifact) {
            let len = bytes.len() as u64;
            self.files.insert(path, Entry::File { blob, len, executable: false });
        }
        Ok(Outcome::Done { result, record })
    }

    fn note_findings(
        &mut self,
        place: &str,
        role: &str,
        document: &OutcomeDocument,
        expected: &[String],
    ) {
        let mut findings = document.findings.clone();
        if document.status == "failed" {
            findings.push(Finding { code: "stage-failed".into(), message: document.reason() });
        }
        for Finding { code, message } in findings {
            self.findings.push(FindingInput {
                place: format!("{place}/{role}"),
                expected: expected.contains(&code),
                code,
                message,
                href: None,
            });
        }
    }

    fn count(&mut self, slot: &Outcome<Timing>) {
        match slot {
            Outcome::Done { result, .. } => {
                self.tally.timed += 1;
                let (start, end) = (&result.started_utc, &result.ended_utc);
                if self.tally.started_utc.is_empty() || *start < self.tally.started_utc {
                    self.tally.started_utc.clone_from(start);
                }
                if *end > self.tally.ended_utc {
                    self.tally.ended_utc.clone_from(end);
                }
            }
            Outcome::Failed { .. } => self.tally.timing_failed += 1,
            Outcome::Missing { .. } => {}
        }
    }
}

pub(super) fn run_index(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let IndexParams { mut index, formats } = job.json_param("index")?;
    for row in &mut index.submissions {
        let Some(document) = job.outcome(&row.id).cloned() else { continue };
        let Some(artifact) = document.outputs.get("tally") else {
            row.href = None;
            row.unavailable = document.reason();
            continue;
        };
        let tally: Tally = job.read_json(*artifact)?;
        row.kat = tally.kat;
        row.timed = tally.timed;
        row.timing_failed = tally.timing_failed;
        row.findings = tally.findings;
        row.expected_findings = tally.expected_findings;
        let campaign = &mut index.campaign;
        if !tally.started_utc.is_empty()
            && (campaign.started_utc.is_empty() || tally.started_utc < campaign.started_utc)
        {
            campaign.started_utc = tally.started_utc;
        }
        if tally.ended_utc > campaign.ended_utc {
            campaign.ended_utc = tally.ended_utc;
        }
    }
    let mut tree = Tree::default();
    for (path, bytes) in report::render_index(&index, &formats) {
        let blob = job.store().put_bytes(&bytes)?;
        tree.0.insert(path, Entry::File { blob, len: bytes.len() as u64, executable: false });
    }
    Ok(Yield::default().with("page", Artifact::Tree(job.store().put_tree(&tree)?)))
}
