//! `ngcc store stat`, `verify` and `gc`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Verdict;
use super::context::{Context, print, print_json, table};
use super::roots::Roots;
use crate::cli::Exit;
use crate::event::human;
use crate::store::Object;

/// Counts what the store holds.
///
/// # Errors
/// A store that cannot be read.
pub fn stat(context: &Context, keep_runs: usize) -> Verdict {
    let store = context.store()?;
    let census = store.stat()?;
    let roots = Roots::of(&store, keep_runs)?;
    if context.json() {
        let mut value = serde_json::json!(census);
        value["roots"] = serde_json::json!(roots);
        return print_json(&value);
    }
    let mut rows = vec![vec!["kind".to_owned(), "count".into(), "bytes".into()]];
    for (kind, count) in [
        ("blobs", census.blobs),
        ("trees", census.trees),
        ("records", census.records),
        ("records not yet durable", census.pending),
        ("references", census.references),
        ("runs", census.runs),
        ("damaged, set aside", census.damaged),
        ("caches", census.caches),
        ("temporary", census.temporary),
    ] {
        rows.push(vec![kind.to_owned(), count.files.to_string(), count.bytes.to_string()]);
    }
    print(&format!("{}\n{}\n{}", store.root().display(), table(&rows), roots.text()))
}

/// Re-hashes everything.
///
/// # Errors
/// A store that cannot be read. Damage is exit code 4, not an error.
pub fn verify(context: &Context) -> Verdict {
    let store = context.store()?;
    let begun = std::time::Instant::now();
    let report = store.verify(&mut |_, _| {})?;
    let exit = if report.is_clean() { Exit::Fine } else { Exit::Store };
    if context.json() {
        print_json(&serde_json::json!({
            "clean": report.is_clean(), "blobs": report.blobs, "trees": report.trees,
            "records": report.records, "bytes": report.bytes,
            "damaged": names(&report.damaged), "missing": names(&report.missing),
            "foreign": report.foreign, "affected": report.affected,
        }))?;
        return Ok(exit);
    }
    let mut text = String::new();
    for object in &report.damaged {
        let _ = writeln!(text, "damaged  {object}");
    }
    for object in &report.missing {
        let _ = writeln!(text, "missing  {object}");
    }
    for path in &report.foreign {
        let _ = writeln!(text, "foreign  {}", path.display());
    }
    for (key, label) in &report.affected {
        let _ = writeln!(text, "affected {label} (record {})", key.short());
    }
    let checked = format!(
        "{} blobs, {} trees, {} records, {} bytes in {}",
        report.blobs,
        report.trees,
        report.records,
        report.bytes,
        human(begun.elapsed())
    );
    if report.is_clean() {
        let _ = writeln!(text, "clean: {checked}");
    } else {
        let bad = report.damaged.len() + report.missing.len();
        let _ = writeln!(
            text,
            "{bad} damaged or missing: {checked}\n\
             help: `ngcc store verify --repair` makes it again; so does the next run that needs it"
        );
    }
    print(&text)?;
    Ok(exit)
}

pub(super) fn names(objects: &BTreeSet<Object>) -> Vec<String> {
    objects.iter().map(ToString::to_string).collect()
}

/// Removes what no recent run needs.
///
/// # Errors
/// A store that cannot be read, or that a run holds.
pub fn gc(context: &Context, keep_runs: usize, yes: bool) -> Verdict {
    let store = context.store()?;
    let roots = Roots::of(&store, keep_runs)?;
    let mut plan = store.gc_plan(roots.for_collection())?;
    if yes {
        plan = store.gc_perform(&plan)?;
    }
    if context.json() {
        return print_json(&serde_json::json!({
            "performed": yes, "bytes": plan.bytes(), "records": plan.records,
            "runs": plan.runs, "trees": plan.trees.len(), "blobs": plan.blobs.len(),
            "kept": plan.kept, "roots": roots,
        }));
    }
    let mut text = roots.text();
    for label in plan.records.values() {
        let _ = writeln!(text, "record  {label}");
    }
    let verb = if yes { "removed" } else { "would remove" };
    let _ = writeln!(
        text,
        "{verb} {} records, {} runs, {} trees, {} blobs ({} bytes); {} objects stay",
        plan.records.len(),
        plan.runs.len(),
        plan.trees.len(),
        plan.blobs.len(),
        plan.bytes(),
        plan.kept
    );
    if !yes && !plan.is_empty() {
        text.push_str("nothing was removed; add --yes to do it\n");
    }
    print(&text)
}
