//! `ngcc diff`: two runs side by side: which actions differ in key, in outputs, in findings, and by how much in numbers.
//!
//! A key that differs is told by its ingredients, like `why` does; equal outputs under different keys are said to be
//! equal, since that is what stops a rerun. Figures are those of timing records: medians over trials.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::context::{Context, print, print_json};
use super::{CommandError, Verdict, runs};
use crate::artifact::Artifact;
use crate::cli::Exit;
use crate::digest::ActionKey;
use crate::record::Record;
use crate::result::Timing;
use crate::store::Store;

/// One action that is not the same in both runs.
#[derive(Debug, serde::Serialize)]
struct Differing {
    action: String,
    /// `only in the first`, `only in the second`, `key`, `lost`.
    what: &'static str,
    /// Fields of the key that differ: name, before, after.
    ingredients: Vec<(String, Option<String>, Option<String>)>,
    /// Names of outputs that differ.
    outputs: Vec<String>,
    /// Findings of the first that the second has not.
    gone: Vec<String>,
    /// Findings of the second that the first has not.
    new: Vec<String>,
    /// Median nanoseconds before and after.
    median_ns: Option<(f64, f64)>,
}

/// Runs the verb. A difference in outputs or findings is exit code 1.
///
/// # Errors
/// An unknown run, a store that cannot be read.
pub fn run(context: &Context, first: &str, second: &str) -> Verdict {
    let store = context.store()?;
    let (a, b) = (runs::find(&store, first)?, runs::find(&store, second)?);
    let (before, after) = (store.run_keys(&a)?, store.run_keys(&b)?);
    let rows = differences(&store, &before, &after)?;
    let equal = before.iter().filter(|(label, key)| after.get(*label) == Some(key)).count();
    let differs = rows.iter().any(|row| {
        row.what != "key" || !(row.outputs.is_empty() && row.gone.is_empty() && row.new.is_empty())
    });
    let exit = if differs { Exit::Findings } else { Exit::Fine };
    if context.json() {
        print_json(&serde_json::json!({
            "first": a.id, "second": b.id, "equal": equal, "differing": rows,
        }))?;
        return Ok(exit);
    }
    let mut text = format!("{} ({}) -> {} ({})\n", a.id, a.start.pipeline, b.id, b.start.pipeline);
    for row in &rows {
        describe(row, &mut text);
    }
    let _ = writeln!(text, "{equal} actions are the same, {} differ", rows.len());
    print(&text)?;
    Ok(exit)
}

fn differences(
    store: &Store,
    before: &BTreeMap<String, ActionKey>,
    after: &BTreeMap<String, ActionKey>,
) -> Result<Vec<Differing>, CommandError> {
    let labels: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut rows = Vec::new();
    for label in labels {
        let mut row = Differing {
            action: label.clone(),
            what: "key",
            ingredients: Vec::new(),
            outputs: Vec::new(),
            gone: Vec::new(),
            new: Vec::new(),
            median_ns: None,
        };
        match (before.get(label), after.get(label)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) => match (store.record(*a)?, store.record(*b)?) {
                (Some(a), Some(b)) => compare(store, &a, &b, &mut row),
                _ => row.what = "lost",
            },
            (Some(_), None) => row.what = "only in the first",
            (None, _) => row.what = "only in the second",
        }
        rows.push(row);
    }
    Ok(rows)
}

fn compare(store: &Store, a: &Record, b: &Record, row: &mut Differing) {
    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (a.ingredients.iter().cloned().collect(), b.ingredients.iter().cloned().collect());
    let fields: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for field in fields {
        if old.get(field) != new.get(field) {
            let value = |map: &BTreeMap<String, String>| map.get(field).cloned();
            row.ingredients.push((field.clone(), value(&old), value(&new)));
        }
    }
    let names: BTreeSet<&String> = a.outputs.keys().chain(b.outputs.keys()).collect();
    let differ = names.into_iter().filter(|name| a.outputs.get(*name) != b.outputs.get(*name));
    row.outputs = differ.cloned().collect();
    let texts = |record: &Record| -> BTreeSet<String> {
        record.findings.iter().map(|f| format!("{}: {}", f.code, f.message)).collect()
    };
    let (old, new) = (texts(a), texts(b));
    row.gone = old.difference(&new).cloned().collect();
    row.new = new.difference(&old).cloned().collect();
    row.median_ns = median(store, a).zip(median(store, b));
}

/// Median over trials of the time of one call, of a timing record.
fn median(store: &Store, record: &Record) -> Option<f64> {
    let Some(Artifact::Blob(id)) = record.outputs.get("timing") else { return None };
    let timing: Timing = serde_json::from_slice(&store.read_blob(*id).ok()?).ok()?;
    Some(crate::stats::summary(&timing.trials).ok()?.median_trial_seconds * 1e9)
}

fn describe(row: &Differing, text: &mut String) {
    let verdict = match row.what {
        "key" if row.outputs.is_empty() => "another key, equal outputs".to_owned(),
        "key" => format!("{} differ{}", row.outputs.join(", "), one(&row.outputs)),
        "lost" => "another key; a record of it is gone from the store".to_owned(),
        other => other.to_owned(),
    };
    let _ = writeln!(text, "{}: {verdict}", row.action);
    if let Some((a, b)) = row.median_ns {
        let change = (b / a - 1.0) * 100.0;
        let _ =
            writeln!(text, "    median {:.3} µs -> {:.3} µs ({change:+.1} %)", a / 1e3, b / 1e3);
    }
    for (field, a, b) in row.ingredients.iter().take(6) {
        let short = |value: &Option<String>| -> String {
            value.as_deref().unwrap_or("(not there)").chars().take(40).collect()
        };
        let _ = writeln!(text, "    {field}: {} -> {}", short(a), short(b));
    }
    if row.ingredients.len() > 6 {
        let _ = writeln!(text, "    ... and {} more fields", row.ingredients.len() - 6);
    }
    for finding in &row.gone {
        let _ = writeln!(text, "    no longer: {finding}");
    }
    for finding in &row.new {
        let _ = writeln!(text, "    new: {finding}");
    }
}

/// The verb's ending for one subject.
fn one(names: &[String]) -> &'static str {
    if names.len() == 1 { "s" } else { "" }
}
