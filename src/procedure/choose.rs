//! Decides which build of an instance is measured, and keeps why.
//!
//! The first build that passes its known-answer test wins. If none does, the fallback is kept only when it changes
//! the verdict: an instance whose test fails for a reason of its own is measured with the first flags, where its
//! figures stay comparable. A build that crashed, or that cannot be loaded, is not measured.

use super::build::Attempt;
use crate::exec::job::{Job, Stop, Yield};
use crate::outcome::OutcomeDocument;
use crate::record::{FailureClass, Finding};
use crate::result::{Choice, Kat};

/// Statuses that are measured and marked; anything else is not measured. Source: the reference harness' gate.
const MEASURED: [&str; 7] =
    ["PASS", "MISMATCH", "NOKAT", "PARTIAL", "CRYPTOFAIL", "TIMEOUT", "OVERFLOW"];

struct Candidate {
    attempt: Attempt,
    status: String,
    detail: String,
    library: crate::artifact::Artifact,
    profiled: crate::artifact::Artifact,
    kat: Option<crate::artifact::Artifact>,
}

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let mut candidates = Vec::new();
    let mut reasons: Vec<(String, String)> = Vec::new();
    for set in job.param("sets").split(' ').filter(|s| !s.is_empty()) {
        let Some(build) = job.outcome(&format!("build/{set}")).cloned() else { continue };
        if !build.is_done() {
            if build.status != "skipped" {
                reasons.push((set.to_owned(), build.reason()));
            }
            continue;
        }
        let (Some(library), Some(profiled), Some(attempt)) = (
            build.outputs.get("library"),
            build.outputs.get("profiled"),
            build.outputs.get("attempt"),
        ) else {
            continue;
        };
        let attempt: Attempt = job.read_json(*attempt)?;
        let (status, detail, kat) = match job.outcome(&format!("kat/{set}")).cloned() {
            None => ("NOKAT".to_owned(), "no kat stage in this pipeline".to_owned(), None),
            Some(document) => verdict(job, &document)?,
        };
        candidates.push(Candidate {
            attempt,
            status,
            detail,
            library: *library,
            profiled: *profiled,
            kat,
        });
    }
    let expected = job.param("kat stage") == "yes";
    // A test that came to no verdict for a passing reason decides nothing; the next run tries again.
    if let Some(open) = candidates.iter().find(|c| c.status == "NORESULT") {
        let text = format!(
            "{}: no verdict of the known-answer test ({})",
            open.attempt.flags, open.detail
        );
        return Err(Stop::new(FailureClass::Refused, text));
    }
    let best = candidates.iter().position(|c| c.status == "PASS" || !expected);
    let last = candidates.iter().position(|c| MEASURED.contains(&c.status.as_str()));
    let Some(index) = best.or(last) else {
        let mut why: Vec<String> = reasons.iter().map(|(s, r)| format!("{s}: {r}")).collect();
        why.extend(
            candidates.iter().map(|c| format!("{}: {} {}", c.attempt.flags, c.status, c.detail)),
        );
        return Err(Stop::new(
            FailureClass::Refused,
            format!("no build to measure ({})", why.join("; ")),
        ));
    };
    let chosen = &candidates[index];
    let mut rejected = chosen.attempt.rejected.clone();
    rejected.extend(reasons);
    for other in candidates.iter().take(index) {
        rejected.extend(other.attempt.rejected.clone());
        rejected.insert(
            other.attempt.flags.clone(),
            format!("KAT {} {}", other.status, other.detail).trim_end().to_owned(),
        );
    }
    rejected.remove(&chosen.attempt.flags);
    let choice = Choice {
        schema: 1,
        flags: chosen.attempt.flags.clone(),
        build_flags: chosen.attempt.build_flags.clone(),
        kat: chosen.status.clone(),
        rejected,
    };
    let mut made = Yield::default()
        .with("library", chosen.library)
        .with("profiled", chosen.profiled)
        .with("binding", job.keep_json(&chosen.attempt.binding)?)
        .with("choice", job.keep_json(&choice)?);
    // An instance without a kat stage still has an output of that name, so that pages need no special case.
    made = made.with("kat", chosen.kat.map_or_else(|| job.keep(b"null\n"), Ok)?);
    let expected_codes: Vec<&str> = job.param("expected").split(' ').collect();
    let code = format!("kat-{}", chosen.status.to_lowercase());
    if expected && chosen.status != "PASS" && !expected_codes.contains(&code.as_str()) {
        made.findings.push(Finding {
            code,
            message: format!("KAT {}: {}", chosen.status, chosen.detail).trim_end().to_owned(),
        });
    }
    Ok(made)
}

/// Status, detail and document of a known-answer test, whichever way it ended.
fn verdict(
    job: &Job<'_>,
    document: &OutcomeDocument,
) -> Result<(String, String, Option<crate::artifact::Artifact>), Stop> {
    if let Some(artifact) = document.outputs.get("kat") {
        let kat: Kat = job.read_json(*artifact)?;
        return Ok((kat.status, kat.detail, Some(*artifact)));
    }
    let status = match document.class {
        Some(FailureClass::Timeout) => "TIMEOUT",
        Some(FailureClass::Signal | FailureClass::Memory) => "CRASH",
        Some(
            FailureClass::Exit
            | FailureClass::Output
            | FailureClass::Spawn
            | FailureClass::InputChanged
            | FailureClass::Interrupted
            | FailureClass::Store
            | FailureClass::Refused,
        )
        | None => "NORESULT",
    };
    Ok((status.to_owned(), document.reason(), None))
}
