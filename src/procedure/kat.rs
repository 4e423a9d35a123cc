//! Runs the known-answer test of one library and compares its text with the published digest, as a stream.
//!
//! The driver writes the text to a pipe; a canonical digest is made of it as it comes, and only a text short enough
//! is kept, so memory stays small whatever the size. What the action leaves is a function of the library: wall times
//! go to the record's `observed` part. A text that passes is remembered under its digest: it *is* the reference text,
//! and later differences are shown against it.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use crate::digest::BlobId;
use crate::exec::command::Command;
use crate::exec::job::{Job, Stop, Yield};
use crate::exec::process::Exit;
use crate::kat::{Digested, Mode, Vectors, check_vectors, digest, first_difference};
use crate::record::{FailureClass, Finding};
use crate::result::{Kat, KatExpectation};

/// Exit codes of the driver with a verdict of their own. Source: the reference harness' statuses.
const STATUS_OF_CODE: [(i32, &str); 4] =
    [(3, "CRYPTOFAIL"), (4, "OVERFLOW"), (5, "LOADFAIL"), (7, "CRASH")];

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let expected: Option<KatExpectation> = job.json_param("expected")?;
    let keep: u64 = job.number("keep")?;
    job.lay_out_inputs("")?;
    let layout = job.param("layout").to_owned();
    let mode = match expected.as_ref().map(|e| e.mode.as_str()) {
        Some("nolen") => Mode::NoLen,
        Some("nist") => Mode::Nist,
        None if layout == "nist" => Mode::Nist,
        _ => Mode::Strict,
    };
    let limit = expected.as_ref().and_then(|e| e.records);
    let mut args = vec!["lib.so".to_owned(), "--layout".to_owned(), layout];
    if let Some(count) = Some(job.param("records")).filter(|c| !c.is_empty()) {
        args.extend(["--count".to_owned(), count.to_owned()]);
    }
    args.extend(["--timings", "timings.json", "--log", "kat.log"].map(str::to_owned));
    let command = Command { program: "bin/kat".into(), args, ..Command::default() };
    let text_path = job.scratch()?.join("text");
    let mut text = Kept { file: File::create(&text_path)?, left: keep, whole: true };
    let mut digested: Option<Digested> = None;
    let mut reader = |stream: &mut dyn Read| {
        let tee = Tee { stream, kept: &mut text };
        digested = Some(digest(tee, mode, limit)?);
        Ok(())
    };
    let finished = job.run_streaming(&command, Some(&mut reader))?;
    let whole = text.whole;
    let log = std::fs::read_to_string(job.scratch()?.join("kat.log")).unwrap_or_default();
    let (status, detail) = match finished.exit {
        // A submission that ends the process itself with status 0 leaves no timings.
        Exit::Code(0) if !has_timings(job)? => {
            (Some("CRASH"), "the process was ended from inside the library".to_owned())
        }
        Exit::Code(0) => (None, String::new()),
        Exit::Code(code) => match STATUS_OF_CODE.iter().find(|(c, _)| *c == code) {
            Some((_, status)) => (Some(*status), result_detail(&log)),
            None => return Err(failed(job, &finished.exit)),
        },
        Exit::Signal(_) | Exit::Timeout(_) | Exit::Memory | Exit::Interrupted | Exit::Spawn(_) => {
            return Err(failed(job, &finished.exit));
        }
    };
    let digested = digested.unwrap_or(Digested { sha256: String::new(), records: 0, bytes: 0 });
    let (status, detail) = match (status, &expected) {
        (Some(status), _) => (status, detail),
        (None, None) => ("NOKAT", "no published digest to compare with".to_owned()),
        (None, Some(expected)) => {
            let count_fits = limit.is_none_or(|limit| limit == digested.records);
            if digested.sha256 == expected.sha256 && count_fits {
                let detail =
                    limit.map_or_else(String::new, |n| format!("(first {n} records only)"));
                ("PASS", detail)
            } else {
                let detail = if count_fits {
                    difference(job, &text_path, whole, expected, mode)?
                } else {
                    let made = digested.records;
                    format!(
                        "the published digest covers {} records, {made} were made",
                        limit.unwrap_or(0)
                    )
                };
                ("MISMATCH", detail)
            }
        }
    };
    let mut lines: Vec<String> = log
        .lines()
        .filter(|line| !line.starts_with("RESULT") && !line.starts_with("timing"))
        .map(str::to_owned)
        .collect();
    let (id, instance) = (job.param("id"), job.param("instance"));
    let file = expected.as_ref().map_or("", |e| e.file.rsplit('/').next().unwrap_or(""));
    lines.push(format!("generated {} bytes, {} records", digested.bytes, digested.records));
    if let Some(expected) = &expected {
        let count = expected.records.map_or_else(String::new, |n| format!(":{n}"));
        lines.push(format!("manifest {} {}{count} {file}", expected.sha256, expected.mode));
    }
    lines.push(format!("RESULT {id} {instance} {status} {detail}"));
    let kat = Kat {
        schema: 1,
        status: status.to_owned(),
        detail: detail.clone(),
        records: digested.records,
        text_bytes: digested.bytes,
        canonical_sha256: digested.sha256.clone(),
        expected,
        sizes: sizes_in(&log),
        log: lines,
    };
    let mut made = Yield::default().with("kat", job.keep_json(&kat)?);
    if status == "PASS" && whole {
        let (blob, _) = job.store().put_file(&text_path)?;
        // Losing this reference later costs only the detail of a message.
        let _ = job.store().set_reference(&reference_name(&digested.sha256), blob);
    }
    // Nothing to compare with is no reason to try other flags; the choice between builds reports it.
    if status != "PASS" && status != "NOKAT" {
        let code = format!("kat-{}", status.to_lowercase());
        let message = format!("KAT {status}: {detail}").trim_end_matches([':', ' ']).to_owned();
        made.findings.push(Finding { code, message });
    }
    let timings = std::fs::read(job.scratch()?.join("timings.json")).unwrap_or_default();
    made.observed = serde_json::from_slice(&timings).unwrap_or_default();
    Ok(made)
}

fn failed(job: &Job<'_>, exit: &Exit) -> Stop {
    job.failure_of(exit, "kat")
        .map_or_else(|| Stop::new(FailureClass::Exit, "the driver gave no result"), Stop::Failure)
}

fn has_timings(job: &Job<'_>) -> Result<bool, Stop> {
    Ok(job.scratch()?.join("timings.json").metadata().is_ok_and(|m| m.len() > 0))
}

fn reference_name(sha256: &str) -> String {
    format!("kat-sha256-{sha256}")
}

/// Where the text first differs, with the best reference at hand.
fn difference(
    job: &mut Job<'_>,
    text: &std::path::Path,
    whole: bool,
    expected: &KatExpectation,
    mode: Mode,
) -> Result<String, Stop> {
    if !whole {
        return Ok("the digest differs (the text is too long to be kept for a comparison)".into());
    }
    let reference: Option<BlobId> = job.store().reference(&reference_name(&expected.sha256));
    if let Some(blob) = reference
        && let Ok(reader) = job.store().open_blob(blob)
        && let Ok(Some(found)) =
            first_difference(BufReader::new(File::open(text)?), reader, mode, expected.records)
    {
        return Ok(found.to_string());
    }
    if job.has_input("vectors.json") {
        let all: Vectors = serde_json::from_str(&job.text("vectors.json")?).map_err(|error| {
            Stop::new(FailureClass::Refused, format!("kat.vectors.json: {error}"))
        })?;
        if let Some(known) = all.get(job.param("label"))
            && let Some(found) = check_vectors(File::open(text)?, known)?
        {
            return Ok(found);
        }
    }
    Ok("the digest differs; no reference text is at hand to show where".into())
}

/// The detail of the driver's own `RESULT` line.
fn result_detail(log: &str) -> String {
    let line = log.lines().rev().find(|l| l.starts_with("RESULT ")).unwrap_or_default();
    line.splitn(5, ' ').nth(4).unwrap_or("").trim().to_owned()
}

/// `pk_len = 1472` lines of the log, as `pk` -> 1472.
fn sizes_in(log: &str) -> std::collections::BTreeMap<String, u64> {
    log.lines()
        .filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            let name = key.trim().strip_suffix("_len")?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        })
        .collect()
}

/// A file that takes the text up to a limit.
struct Kept {
    file: File,
    left: u64,
    whole: bool,
}

/// Passes a stream on and keeps a copy of its first bytes.
struct Tee<'a> {
    stream: &'a mut dyn Read,
    kept: &'a mut Kept,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        if self.kept.whole {
            if n as u64 > self.kept.left {
                self.kept.whole = false;
                self.kept.file.set_len(0)?;
            } else {
                self.kept.left -= n as u64;
                self.kept.file.write_all(&buffer[..n])?;
            }
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detail_is_everything_behind_the_status() {
        let log = "pk_len      = 12\nRESULT kem-18 Loong128 OVERFLOW kem_enc wrote past ct\n";
        assert_eq!(result_detail(log), "kem_enc wrote past ct");
        assert_eq!(sizes_in(log), [("pk".to_owned(), 12)].into());
    }

    #[test]
    fn a_text_over_the_limit_is_dropped_but_still_passed_on() {
        let dir = tempfile::tempdir().unwrap();
        let mut kept =
            Kept { file: File::create(dir.path().join("t")).unwrap(), left: 3, whole: true };
        let mut out = Vec::new();
        Tee { stream: &mut &b"abcdef"[..], kept: &mut kept }.read_to_end(&mut out).unwrap();
        assert_eq!(out, b"abcdef");
        assert!(!kept.whole);
        assert_eq!(std::fs::metadata(dir.path().join("t")).unwrap().len(), 0);
    }
}
