//! `ngcc kat digest` and `ngcc kat compare`: known-answer texts outside a pipeline, as streams of any length.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::context::{Context, print, print_json};
use super::{CommandError, Verdict};
use crate::cli::{Exit, KatText};
use crate::kat::{digest, first_difference};

/// Prints the line of `kat.sha256` for each text.
///
/// # Errors
/// A text that cannot be read.
pub fn digests(context: &Context, files: &[std::path::PathBuf], how: &KatText) -> Verdict {
    let mut rows = Vec::new();
    let mut text = String::new();
    for file in files {
        let found = digest(open(file)?, how.mode(), how.records).map_err(|e| unread(file, &e))?;
        let mode = if how.nolen { "nolen" } else { "strict" };
        let count = how.records.map_or_else(String::new, |n| format!(":{n}"));
        let _ = writeln!(text, "{} {mode}{count} {}", found.sha256, file.display());
        rows.push(serde_json::json!({
            "file": file, "sha256": found.sha256, "records": found.records, "bytes": found.bytes,
            "mode": mode,
        }));
    }
    if context.json() { print_json(&rows) } else { print(&text) }
}

/// Compares a generated text with its reference; a difference is a finding.
///
/// # Errors
/// A text that cannot be read.
pub fn compare(context: &Context, ours: &Path, reference: &Path, how: &KatText) -> Verdict {
    let (a, b) = (open(ours)?, open(reference)?);
    let found =
        first_difference(a, b, how.mode(), how.records).map_err(|error| unread(ours, &error))?;
    let exit = if found.is_some() { Exit::Findings } else { Exit::Fine };
    if context.json() {
        print_json(&serde_json::json!({
            "equal": found.is_none(),
            "difference": found.as_ref().map(|d| serde_json::json!({
                "record": d.record, "field": d.field, "offset": d.offset,
                "ours": d.ours, "reference": d.reference,
            })),
            "peak_memory_bytes": crate::host::own_peak_memory(),
        }))?;
    } else {
        let verdict = |d| format!("MISMATCH {d}\n");
        print(&found.map_or_else(|| "equal\n".to_owned(), verdict))?;
    }
    Ok(exit)
}

/// A file, or standard input for `-`.
fn open(path: &Path) -> Result<Box<dyn Read>, CommandError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(|error| unread(path, &error))?;
    Ok(Box::new(file))
}

fn unread(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(Exit::Usage, format!("cannot read `{}`: {error}", path.display()))
}
