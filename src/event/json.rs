//! Events as JSON lines, for programs: a fixed set of shapes, with a version and a schema.
//!
//! `ngcc schema events` prints the schema, which is made from the types here, so that text and program cannot differ. A
//! field may be added within a format; one that goes or changes its meaning raises [`FORMAT`].

use std::collections::BTreeMap;
use std::io::Write;

use super::{Event, Sink, word};
use crate::artifact::Artifact;

/// Version of the lines and of the summary that follows them.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
#[schemars(deny_unknown_fields)]
pub enum Line<'a> {
    /// A run begins. The first line of each run; only notes may come before it.
    Begin {
        /// Version of the lines and of the summary.
        format: u32,
        /// Version of the program.
        ngcc: &'a str,
        /// The pipeline.
        pipeline: &'a str,
        /// The measuring system.
        system: &'a str,
    },
    /// The plan was looked up in the store.
    Planned {
        /// Actions in the plan.
        total: usize,
        /// Those reused without waiting for anything.
        reused: usize,
    },
    /// An action starts.
    Started {
        /// Its label.
        action: &'a str,
        /// It has the machine for itself.
        quiet: bool,
    },
    /// An action ended that was started, or that could not be.
    Ended {
        /// Its label.
        action: &'a str,
        /// Its key, when its inputs came to be.
        key: Option<String>,
        /// `done`, `finding`, `not run`, `not needed`, or the word for a failure.
        status: &'a str,
        /// Wall time, seconds.
        wall_s: f64,
        /// Output to what it is in the store.
        outputs: BTreeMap<String, Output>,
        /// What somebody must look at.
        findings: Vec<Finding>,
        /// Of a failure, or the label of the action that is in the way.
        message: String,
    },
    /// Damaged content makes an action run again.
    Repairing {
        /// The action that made it.
        action: &'a str,
        /// Digest of the content.
        digest: String,
    },
    /// A line for people.
    Note {
        /// The line.
        text: &'a str,
    },
}

/// Content in the store.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// A file, by BLAKE3.
    Blob(String),
    /// A directory, by BLAKE3 of its listing.
    Tree(String),
}

/// A fact about the measured thing.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Finding {
    /// A short stable code.
    pub code: String,
    /// One sentence with the place.
    pub message: String,
}

impl<'a> Line<'a> {
    /// The line of an event, if it has one.
    fn of(event: &Event<'a>) -> Option<Self> {
        Some(match event {
            Event::Begin { pipeline, system } => {
                Self::Begin { format: FORMAT, ngcc: env!("CARGO_PKG_VERSION"), pipeline, system }
            }
            Event::Planned { total, reused } => Self::Planned { total: *total, reused: *reused },
            Event::Started { label, quiet, .. } => Self::Started { action: label, quiet: *quiet },
            Event::Ended { label, key, outcome, wall, .. } => {
                let document = outcome.document();
                let output = |artifact: Artifact| match artifact {
                    Artifact::Blob(id) => Output::Blob(id.to_string()),
                    Artifact::Tree(id) => Output::Tree(id.to_string()),
                };
                let outputs = document.outputs.into_iter();
                let findings = document.findings.into_iter();
                Self::Ended {
                    action: label,
                    key: key.map(|key| key.to_string()),
                    status: word(outcome),
                    wall_s: wall.as_secs_f64(),
                    outputs: outputs.map(|(name, artifact)| (name, output(artifact))).collect(),
                    findings: findings
                        .map(|f| Finding { code: f.code, message: f.message })
                        .collect(),
                    message: document.message,
                }
            }
            Event::Passed { .. } => return None,
            Event::Repairing { label, digest } => {
                Self::Repairing { action: label, digest: digest.to_string() }
            }
            Event::Note(text) => Self::Note { text },
        })
    }
}

/// Writes a line for each event.
#[derive(Debug)]
pub struct Json<W> {
    out: W,
}

impl<W: Write> Json<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write> Sink for Json<W> {
    fn event(&mut self, event: &Event<'_>) {
        let Some(line) = Line::of(event) else { return };
        let Ok(mut text) = serde_json::to_vec(&line) else { return };
        text.push(b'\n');
        // Nobody reads a broken pipe; the run goes on.
        let _ = self.out.write_all(&text);
        let _ = self.out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_event_first_and_is_one_line() {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        json.event(&Event::Begin { pipeline: "all", system: "this" });
        json.event(&Event::Note("two\nlines"));
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("{\"event\":\"begin\",\"format\":1,"), "{text}");
        assert_eq!(lines[1..], ["{\"event\":\"note\",\"text\":\"two\\nlines\"}"]);
    }
}
