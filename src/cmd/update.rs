//! `ngcc kem update`: a newer package of a submission: what differs, which actions that touches, the new pin.
//!
//! The manifest is edited in place, comments kept, and read back: unless it then says exactly what it said before but
//! for the pin, it is put back. What would run is forecast in memory, so a dry run writes nothing. The old package stays in the store, so its records stay traceable.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::context::{Context, print, print_json};
use super::session::{Session, unknown};
use super::shelved::Shelved;
use super::{CommandError, Verdict, add};
use crate::cli::{Exit, PlanArgs, UpdateArgs};
use crate::exec::forecast::{Forecast, forecast};
use crate::inspect::{self, Difference, Hints};
use crate::package;
use crate::spec::{ArchivePin, Source, Submission, Workspace, repin};
use crate::store::Store;

/// Runs the verb.
///
/// # Errors
/// An unknown submission, a package that is refused, a manifest that cannot be edited.
pub fn run(context: &Context, args: &UpdateArgs) -> Verdict {
    let workspace = context.workspace()?;
    let id = &args.id;
    let submission = workspace
        .submissions
        .get(id)
        .ok_or_else(|| unknown("submission", id, workspace.submissions.keys(), "kems/"))?;
    let (old, nested) = the_archive(submission)?;
    let store = context.store()?;
    let (package, file) = add::archive(context, &store, &args.package)?;
    let new = ArchivePin { file, sha256: package.sha256.clone(), bytes: package.bytes };
    if new.sha256 == old.sha256 {
        return print(&format!("{id}: the package is the one that is pinned; nothing to do\n"));
    }
    if !nested.is_empty() {
        let text = format!("`{id}` unpacks archives inside its package");
        return Err(CommandError::new(Exit::Usage, text)
            .help("edit sha256 and bytes in the manifest, then `ngcc kem fetch` it with --from"));
    }
    let before = package::find(&store, &old.sha256, &nested)?;
    let difference = before.as_ref().map(|before| {
        let (a, b) = (Shelved::new(&store, before), Shelved::new(&store, &package));
        inspect::difference(&a, &b, submission)
    });
    let kat = new_digests(&store, &package, submission, &workspace)?;
    let wanted = repinned(submission, &old, &new, kat.as_deref());
    let path = submission.file.under(&workspace.root);
    let text = std::fs::read_to_string(&path)?;
    let edited = repin(&text, &old, &new).ok_or_else(|| by_hand(submission))?;
    drop(store);
    // Both forecasts are made before anything is written.
    let hits_before = hits(context, workspace.clone(), args)?;
    let mut ahead = workspace.clone();
    ahead.submissions.insert(id.clone(), wanted.clone());
    let reruns = hits(context, ahead, args)?;
    if !args.dry_run {
        let kat_path = path.with_file_name("kat.sha256");
        let kat_before = kat.as_ref().map(|_| std::fs::read(&kat_path)).transpose()?;
        replace(&path, edited.as_bytes())?;
        if let Some(kat) = &kat {
            replace(&kat_path, kat.as_bytes())?;
        }
        let found = context.workspace().ok();
        if found.as_ref().and_then(|w| w.submissions.get(id)) != Some(&wanted) {
            replace(&path, text.as_bytes())?;
            if let Some(bytes) = kat_before {
                replace(&kat_path, &bytes)?;
            }
            return Err(by_hand(submission));
        }
    }
    let told = Told {
        difference: difference.as_ref(),
        touched: reruns.runs.difference(&hits_before.runs).cloned().collect(),
        unavailable: reruns.unavailable,
        digests: kat.is_some(),
    };
    told.print(context, args, &old, &new)
}

/// The one archive of a submission and the archives inside it.
fn the_archive(submission: &Submission) -> Result<(ArchivePin, Vec<String>), CommandError> {
    let mut pins: Vec<(ArchivePin, Vec<String>)> = Vec::new();
    for implementation in submission.implementations.values() {
        if let Source::Archive { file, sha256, bytes, nested, .. } = &implementation.source {
            let pin = ArchivePin { file: file.clone(), sha256: sha256.clone(), bytes: *bytes };
            if !pins.iter().any(|(p, _)| *p == pin) {
                pins.push((pin, nested.clone()));
            }
        }
    }
    match pins.len() {
        1 => Ok(pins.remove(0)),
        n => {
            let text = format!("`{}` pins {n} archives; one can be updated", submission.id);
            Err(CommandError::new(Exit::Usage, text)
                .help(format!("edit the pins in {}", submission.file)))
        }
    }
}

/// `kat.sha256` with the digests of the new package's texts, if any differs. Lines of instances without a text stay.
fn new_digests(
    store: &Store,
    package: &package::Package,
    submission: &Submission,
    workspace: &Workspace,
) -> Result<Option<String>, CommandError> {
    let path = submission.file.under(&workspace.root).with_file_name("kat.sha256");
    let Ok(before) = std::fs::read_to_string(&path) else { return Ok(None) };
    let found = inspect::inspect(&Shelved::new(store, package), &Hints::of(submission));
    let fresh = inspect::kat_manifest(&found);
    let label = |line: &str| line.splitn(3, ' ').nth(2).map(str::to_owned);
    let mut after = String::new();
    for line in before.lines() {
        let mode = line.split(' ').nth(1);
        let of = |new: &&str| label(new) == label(line) && new.split(' ').nth(1) == mode;
        let _ = writeln!(after, "{}", fresh.lines().find(of).unwrap_or(line));
    }
    Ok((after != before).then_some(after))
}

/// What a run would do.
struct Ahead {
    runs: BTreeSet<String>,
    unavailable: Vec<String>,
}

fn hits(context: &Context, workspace: Workspace, args: &UpdateArgs) -> Result<Ahead, CommandError> {
    let plan =
        PlanArgs {
            pipeline: args.pipeline.clone(),
            selectors: vec![args.id.as_str().parse().map_err(|_| {
                CommandError::new(Exit::Bug, "the id of a submission is no selector")
            })?],
            only: Vec::new(),
            system: args.system.clone(),
            cpu: None,
        };
    let session = Session::over(context, workspace, &plan, false)?;
    let root = &session.workspace.root;
    let (forecasts, _) = forecast(&session.plan, &session.store, root, &session.tools)?;
    let nodes = session.plan.order().iter();
    let runs = nodes
        .filter(|node| matches!(forecasts[node.index()], Forecast::Run(_) | Forecast::After(_)))
        .map(|node| session.plan.node(*node).label.clone())
        .collect();
    let rows = session.plan.unavailable.iter();
    Ok(Ahead { runs, unavailable: rows.map(|r| format!("{}: {}", r.label, r.why)).collect() })
}

/// The submission as the edited manifest is to say it: another pin, and the digests of the new `kat.sha256`.
fn repinned(
    submission: &Submission,
    old: &ArchivePin,
    new: &ArchivePin,
    kat: Option<&str>,
) -> Submission {
    let mut wanted = submission.clone();
    for implementation in wanted.implementations.values_mut() {
        if let Source::Archive { file, sha256, bytes, .. } = &mut implementation.source
            && *sha256 == old.sha256
        {
            (*file, *sha256, *bytes) = (new.file.clone(), new.sha256.clone(), new.bytes);
        }
    }
    for line in kat.unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ' ');
        let (Some(sha256), Some(file)) = (parts.next(), parts.nth(1)) else { continue };
        for expected in wanted.kat.values_mut().filter(|expected| expected.file == file) {
            sha256.clone_into(&mut expected.sha256);
        }
    }
    wanted
}

fn replace(path: &std::path::Path, bytes: &[u8]) -> Result<(), CommandError> {
    let fresh = path.with_extension("new");
    std::fs::write(&fresh, bytes)?;
    std::fs::rename(&fresh, path)?;
    Ok(())
}

fn by_hand(submission: &Submission) -> CommandError {
    let text =
        format!("the pin in {} could not be edited safely; it is as it was", submission.file);
    CommandError::new(Exit::Spec, text).help("put archive, sha256 and bytes there yourself")
}

/// What there is to say.
struct Told<'a> {
    difference: Option<&'a Difference>,
    touched: Vec<String>,
    unavailable: Vec<String>,
    digests: bool,
}

impl Told<'_> {
    fn print(
        &self,
        context: &Context,
        args: &UpdateArgs,
        old: &ArchivePin,
        new: &ArchivePin,
    ) -> Verdict {
        let id = &args.id;
        if context.json() {
            return print_json(&serde_json::json!({
                "id": id, "written": !args.dry_run, "sha256": new.sha256, "before": old.sha256,
                "difference": self.difference.map(ToString::to_string),
                "touched": self.touched, "unavailable": self.unavailable,
                "known_answers_changed": self.digests,
            }));
        }
        let mut text = format!(
            "{id}: {} ({} bytes) -> {} ({} bytes)\n",
            old.file, old.bytes, new.file, new.bytes
        );
        match self.difference {
            Some(difference) => text.push_str(&difference.to_string()),
            None => text.push_str(
                "the package that was pinned is not in the store, so there is nothing to compare with\n",
            ),
        }
        if self.digests {
            let _ = writeln!(text, "kems/{id}/kat.sha256 has the digests of the new texts");
        }
        for row in &self.unavailable {
            let _ = writeln!(text, "unavailable: {row}");
        }
        if self.touched.is_empty() {
            let _ = writeln!(text, "no action of pipeline `{}` runs because of it", args.pipeline);
        } else {
            let count = self.touched.len();
            let _ = writeln!(
                text,
                "{count} actions of pipeline `{}` are touched (those behind a build run if its result differs):",
                args.pipeline
            );
            for label in &self.touched {
                let _ = writeln!(text, "  {label}");
            }
        }
        let _ = if args.dry_run {
            writeln!(text, "nothing was written")
        } else {
            writeln!(
                text,
                "kems/{id}/submission.yaml pins the new package; next: ngcc pipeline run {} {id}",
                args.pipeline
            )
        };
        print(&text)
    }
}
