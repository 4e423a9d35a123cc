//! `kat.sha256`: one line per known-answer file, `<digest> <strict|nolen|nist>[:<records>] <instance>/<file>`.
//!
//! Knows nothing of the known-answer files themselves. The format is the harness's, so that its files can be used as
//! they are, with `nist` of our own; a bare `KAT_…_<instance>.txt` is taken too. Errors come with their line.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Source};
use crate::name::Name;
use crate::result::KatExpectation;

/// Reads the file; every line that is wrong gives a diagnostic, the others count.
pub(super) fn read(
    name: &str,
    bytes: &[u8],
    instances: &[&str],
) -> (BTreeMap<Name, KatExpectation>, Vec<Diagnostic>) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let source = Source::new(name, text.as_str());
    let mut found: BTreeMap<Name, (KatExpectation, usize)> = BTreeMap::new();
    let mut errors = Vec::new();
    let mut offset = 0;
    for full in text.split_inclusive('\n') {
        let start = offset;
        offset += full.len();
        let line = full.trim_end();
        if line.is_empty() {
            continue;
        }
        let span = start..start + line.len();
        match read_line(line, instances) {
            Err(bad) => {
                let at = start + bad.at..start + bad.at + bad.len;
                let diagnostic =
                    Diagnostic::new("bad-kat-line", bad.message).at(&source, at, bad.label);
                let names = instances.iter().copied();
                errors.push(match &bad.name {
                    Some(name) => diagnostic.suggest(name, names),
                    None => diagnostic,
                });
            }
            Ok((instance, _)) if found.contains_key(&instance) => {
                let first = found[&instance].1;
                errors.push(
                    Diagnostic::new("bad-kat-line", format!("instance `{instance}` has two lines"))
                        .at(&source, span, "again here")
                        .at(&source, first..first + 64, "first here"),
                );
            }
            Ok((instance, expectation)) => {
                found.insert(instance, (expectation, start));
            }
        }
    }
    (found.into_iter().map(|(name, (kat, _))| (name, kat)).collect(), errors)
}

/// Why a line is refused, and which part of it.
struct BadPart {
    at: usize,
    len: usize,
    message: String,
    label: &'static str,
    /// An instance name to find a near one for.
    name: Option<String>,
}

fn read_line(line: &str, instances: &[&str]) -> Result<(Name, KatExpectation), BadPart> {
    let bad = |at: usize, len: usize, message: String, label| {
        Err(BadPart { at, len, message, label, name: None })
    };
    let mut parts = line.splitn(3, ' ');
    let (Some(digest), Some(mode), Some(file)) = (parts.next(), parts.next(), parts.next()) else {
        let message = "a line is a digest, a mode and a file".to_owned();
        return bad(
            0,
            line.len(),
            message,
            "`<sha256> <strict|nolen|nist>[:<records>] <instance>/<file>`",
        );
    };
    if let Err(error) = super::quantity::sha256(digest) {
        return bad(0, digest.len(), error.to_string(), "");
    }
    let mode_at = digest.len() + 1;
    let (word, records) = match mode.split_once(':') {
        None => (mode, None),
        Some((word, count)) => match count.parse::<u64>() {
            Ok(count) if count > 0 => (word, Some(count)),
            _ => {
                let message = format!("`{count}` is not a number of records");
                return bad(mode_at + word.len() + 1, count.len().max(1), message, "");
            }
        },
    };
    if !matches!(word, "strict" | "nolen" | "nist") {
        let message = format!("there is no mode `{word}`");
        return bad(mode_at, word.len(), message, "`strict`, `nolen` or `nist`");
    }
    let file_at = mode_at + mode.len() + 1;
    let label = file.split_once('/').map_or_else(|| bare_label(file), |(label, _)| label);
    let instance = label.parse::<Name>().ok().filter(|name| instances.contains(&name.as_str()));
    let Some(instance) = instance else {
        let message = format!("there is no instance `{label}` in this submission");
        let name = Some(label.to_owned());
        return Err(BadPart { at: file_at, len: file.len(), message, label: "", name });
    };
    let (sha256, mode) = (digest.to_owned(), word.to_owned());
    Ok((instance, KatExpectation { sha256, mode, records, file: file.to_owned() }))
}

/// The instance in a bare file name: `KAT_KEM_Loong128.txt`.
fn bare_label(file: &str) -> &str {
    let stem = file.strip_suffix(".txt").unwrap_or(file);
    let prefixes = ["KAT_KEM_", "KAT_SIG_", "KAT_KEX_"];
    prefixes.iter().find_map(|p| stem.strip_prefix(p)).unwrap_or(stem)
}
