//! Runs the known-answer test of one library and compares its text with the published digest, as a stream.
//!
//! The driver writes the text to a pipe; a canonical digest is made of it as it comes, and only a text short enough
//! is kept, so memory stays small whatever the size. What the action leaves is a function of the library: wall times
//! go to the record's `observed` part. A text that passes is remembered under its digest: it *is* the reference text,
//! and later differences are shown against it. Without a published digest the text is compared with the one that the
//! package itself brings, where the manifest says that it does.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use crate::digest::BlobId;
use crate::exec::command::Command;
use crate::exec::job::{Job, Stop, Yield};
use crate::exec::process::Exit;
use crate::kat::{
    Digested, Mode, Vectors, check_vectors, digest, first_difference, has_blank_lengths,
};
use crate::record::{FailureClass, Finding};
use crate::result::{Kat, KatExpectation};

/// Exit codes of the driver with a verdict of their own. Source: the reference harness' statuses.
const STATUS_OF_CODE: [(i32, &str); 4] =
    [(3, "CRYPTOFAIL"), (4, "OVERFLOW"), (5, "LOADFAIL"), (7, "CRASH")];

/// Records of a text when nobody asks for another number. Source: the call's own driver.
const USUAL_RECORDS: u64 = 10;

/// The reference text among the inputs, laid out.
const REFERENCE: &str = "reference.txt";

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let published: Option<KatExpectation> = job.json_param("expected")?;
    let keep: u64 = job.number("keep")?;
    let asked = match job.param("records") {
        "" => None,
        _ => Some(job.number::<u64>("records")?),
    };
    let layout = job.param("layout").to_owned();
    let plain = if layout == "nist" { Mode::Nist } else { Mode::Strict };
    job.lay_out_inputs("")?;
    let from_package = published.is_none() && job.has_input(REFERENCE);
    let expected = if from_package { Some(packaged(job, asked)?) } else { published };
    let mode = expected.as_ref().map_or(plain, mode_of);
    let limit = expected.as_ref().and_then(|e| e.records);
    let mut args = vec!["lib.so".to_owned(), "--layout".to_owned(), layout];
    if let Some(count) = asked {
        args.extend(["--count".to_owned(), count.to_string()]);
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
            Some((_, status)) => (Some(*status), advised(result_detail(&log))),
            None => return Err(failed(job, &finished.exit)),
        },
        Exit::Signal(_) | Exit::Timeout(_) | Exit::Memory | Exit::Interrupted | Exit::Spawn(_) => {
            return Err(failed(job, &finished.exit));
        }
    };
    let digested = digested.unwrap_or(Digested { sha256: String::new(), records: 0, bytes: 0 });
    let (status, detail) = match (status, &expected) {
        (Some(status), _) => (status, detail),
        (None, None) => ("NOKAT", nothing_to_compare(job)),
        (None, Some(expected)) => {
            let text = Made { path: &text_path, whole, records: digested.records };
            let (status, detail) = judge(job, &text, &digested.sha256, expected, asked)?;
            let file = &expected.file;
            match (from_package, detail.as_str()) {
                (false, _) => (status, detail),
                (true, "") => (status, format!("(compared with `{file}` of the package)")),
                (true, _) => (status, format!("{detail} (compared with `{file}` of the package)")),
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
        let origin = if from_package { "package" } else { "manifest" };
        lines.push(format!("{origin} {} {}{count} {file}", expected.sha256, expected.mode));
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
    // Too little to compare with is no reason to try other flags; the choice between builds reports it.
    if !matches!(status, "PASS" | "NOKAT" | "PARTIAL") {
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

fn mode_of(expected: &KatExpectation) -> Mode {
    match expected.mode.as_str() {
        "nolen" => Mode::NoLen,
        "nist" => Mode::Nist,
        _ => Mode::Strict,
    }
}

/// What the package's own text expects. A text whose lengths are blank cannot be compared with them.
fn packaged(job: &Job<'_>, asked: Option<u64>) -> Result<KatExpectation, Stop> {
    let path = job.scratch()?.join(REFERENCE);
    let nolen = job.param("nolen") == "yes" || has_blank_lengths(File::open(&path)?)?;
    let mode = if nolen { Mode::NoLen } else { Mode::Strict };
    let reference = digest(File::open(&path)?, mode, asked)?;
    Ok(KatExpectation {
        sha256: reference.sha256,
        mode: if nolen { "nolen" } else { "strict" }.to_owned(),
        records: asked.filter(|n| *n == reference.records),
        file: job.param("reference").to_owned(),
    })
}

fn nothing_to_compare(job: &Job<'_>) -> String {
    match job.param("reference") {
        "" => "no published digest to compare with".to_owned(),
        path => format!("no published digest to compare with, and no `{path}` in the package"),
    }
}

/// A generated text.
struct Made<'t> {
    path: &'t Path,
    /// Whether all of it was kept.
    whole: bool,
    records: u64,
}

/// The verdict on a text that was made to its end.
fn judge(
    job: &mut Job<'_>,
    text: &Made<'_>,
    sha256: &str,
    expected: &KatExpectation,
    asked: Option<u64>,
) -> Result<(&'static str, String), Stop> {
    let limit = expected.records;
    if sha256 == expected.sha256 && limit.is_none_or(|limit| limit == text.records) {
        let detail = limit.map_or_else(String::new, |n| format!("(first {n} records only)"));
        return Ok(("PASS", detail));
    }
    // A digest of more records than were asked for says nothing; what a reference says of the first ones counts.
    if let Some(n) = asked.filter(|n| *n < limit.unwrap_or(USUAL_RECORDS)) {
        return Ok(match compare(job, text, expected, None, Some(n))? {
            Compared::Equal => ("PASS", format!("(first {n} records only)")),
            Compared::Differs(place) => ("MISMATCH", place),
            Compared::Unknown(why) => (
                "PARTIAL",
                format!("{n} records were made; the published digest covers more, and {why}"),
            ),
        });
    }
    let detail = match limit {
        Some(limit) if limit != text.records => {
            format!("the published digest covers {limit} records, {} were made", text.records)
        }
        _ => match compare(job, text, expected, remembered(job, expected), limit)? {
            Compared::Differs(place) => place,
            Compared::Equal => "the digest differs; no difference to what is at hand".to_owned(),
            Compared::Unknown(why) => format!("the digest differs; {why}"),
        },
    };
    Ok(("MISMATCH", detail))
}

/// What a comparison record by record gave.
enum Compared {
    Equal,
    Differs(String),
    /// There is nothing to compare with, and why.
    Unknown(String),
}

/// Compares the first records (all without a limit) with the best reference at hand. What the store remembers is no
/// input of the action: it may name a place, and never decide a verdict.
fn compare(
    job: &mut Job<'_>,
    text: &Made<'_>,
    expected: &KatExpectation,
    remembered: Option<Box<dyn Read + '_>>,
    limit: Option<u64>,
) -> Result<Compared, Stop> {
    if !text.whole {
        return Ok(Compared::Unknown("the text is too long to be kept for a comparison".into()));
    }
    let mut why = "no reference text is at hand to show where".to_owned();
    let reference = match remembered {
        Some(reader) => Some(reader),
        None => reference(job, expected, &mut why)?,
    };
    if let Some(reference) = reference {
        let ours = BufReader::new(File::open(text.path)?);
        let found = first_difference(ours, reference, mode_of(expected), limit)?;
        return Ok(found.map_or(Compared::Equal, |found| Compared::Differs(found.to_string())));
    }
    if job.has_input("vectors.json") {
        let all: Vectors = serde_json::from_str(&job.text("vectors.json")?).map_err(|error| {
            Stop::new(FailureClass::Refused, format!("kat.vectors.json: {error}"))
        })?;
        if let Some(known) = all.get(job.param("label")) {
            if let Some(found) = check_vectors(File::open(text.path)?, known)? {
                return Ok(Compared::Differs(found));
            }
            if limit.is_some_and(|n| known.len() as u64 >= n) {
                return Ok(Compared::Equal);
            }
        }
    }
    Ok(Compared::Unknown(why))
}

/// The text that passed earlier under this digest.
fn remembered<'a>(job: &Job<'a>, expected: &KatExpectation) -> Option<Box<dyn Read + 'a>> {
    let blob: BlobId = job.store().reference(&reference_name(&expected.sha256))?;
    let reader = job.store().open_blob(blob).ok()?;
    Some(Box::new(reader))
}

/// The package's own text, if it is what the digest is of; another would name a place where nothing is wrong.
fn reference(
    job: &Job<'_>,
    expected: &KatExpectation,
    why: &mut String,
) -> Result<Option<Box<dyn Read>>, Stop> {
    if !job.has_input(REFERENCE) {
        return Ok(None);
    }
    let path = job.scratch()?.join(REFERENCE);
    let found = digest(File::open(&path)?, mode_of(expected), expected.records)?;
    if found.sha256 != expected.sha256 {
        *why = format!(
            "the text in the package (`{}`) has another digest, too",
            job.param("reference")
        );
        return Ok(None);
    }
    Ok(Some(Box::new(File::open(&path)?)))
}

/// Says what a manifest can do about a crash.
fn advised(detail: String) -> String {
    if detail.contains("out of stack") {
        return format!("{detail}; `stack:` in the recipe raises the limit");
    }
    detail
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
