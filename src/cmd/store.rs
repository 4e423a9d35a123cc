//! `ngcc store stat`, `verify` and `gc`.

use std::fmt::Write as _;

use super::Verdict;
use super::context::{Context, print, print_json, table};
use crate::cli::Exit;
use crate::event::human;
use crate::store::{GcRoots, StoreError};

/// Counts what the store holds.
///
/// # Errors
/// A store that cannot be read.
pub fn stat(context: &Context) -> Verdict {
    let store = context.store()?;
    let census = store.stat()?;
    if context.json() {
        return print_json(&census);
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
    print(&format!("{}\n{}", store.root().display(), table(&rows)))
}

/// Re-hashes everything; with `repair` acts on what is found.
///
/// # Errors
/// A store that cannot be read, or that a run holds when it is to be repaired. Damage is exit code 4, not an error,
/// also when it was repaired just now.
pub fn verify(context: &Context, repair: bool) -> Verdict {
    let store = context.store()?;
    let begun = std::time::Instant::now();
    let lock = repair.then(|| store.try_lock_run("store verify --repair")).transpose()?;
    let lock = lock.transpose().map_err(StoreError::Busy)?;
    let report = store.verify(&mut |_, _| {})?;
    if let Some(lock) = &lock
        && !report.is_clean()
    {
        store.repair(&report, lock)?;
    }
    let exit = if report.is_clean() { Exit::Fine } else { Exit::Store };
    if context.json() {
        let names = |objects: &std::collections::BTreeSet<crate::store::Object>| {
            objects.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        print_json(&serde_json::json!({
            "clean": report.is_clean(), "blobs": report.blobs, "trees": report.trees,
            "records": report.records, "bytes": report.bytes,
            "damaged": names(&report.damaged), "missing": names(&report.missing),
            "foreign": report.foreign, "affected": report.affected, "repaired": repair,
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
        let help = if repair {
            let affected = report.affected.len();
            format!("{affected} results were removed; the next run makes again what it needs")
        } else {
            "help: the next run that needs one of them makes it again; --repair removes what is affected"
                .to_owned()
        };
        let _ = writeln!(text, "{bad} damaged or missing: {checked}\n{help}");
    }
    print(&text)?;
    Ok(exit)
}

/// Removes what no recent run needs.
///
/// # Errors
/// A store that cannot be read, or that a run holds.
pub fn gc(context: &Context, keep_runs: usize, yes: bool) -> Verdict {
    let store = context.store()?;
    // Earlier rounds of a measurement cannot be made again, so they stay whatever runs used them.
    let mut keys = std::collections::BTreeSet::new();
    for (key, _) in store.records() {
        let measured = |record: &crate::record::Record| {
            record.ingredients.iter().any(|(field, value)| field == "purity" && value == "measured")
        };
        if store.record(key)?.as_ref().is_some_and(measured) {
            keys.insert(key);
        }
    }
    let roots = GcRoots { runs: store.runs_to_keep(keep_runs)?, keys, ..GcRoots::default() };
    let mut plan = store.gc_plan(roots)?;
    if yes {
        plan = store.gc_perform(&plan)?;
    }
    if context.json() {
        return print_json(&serde_json::json!({
            "performed": yes, "bytes": plan.bytes(), "records": plan.records,
            "runs": plan.runs, "trees": plan.trees.len(), "blobs": plan.blobs.len(),
            "kept": plan.kept,
        }));
    }
    let mut text = String::new();
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
