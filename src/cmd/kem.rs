//! `ngcc kem list` and `show`: what there is, pinned, missing.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::context::{Context, print, print_json, table};
use super::packages::Shelf;
use super::session::unknown;
use super::{CommandError, Verdict};
use crate::name::Name;
use crate::source::{self, Packages};
use crate::spec::{Implementation, Source, Submission, Workspace};
use crate::store::Store;

/// Lists the submissions.
///
/// # Errors
/// Invalid YAML.
pub fn list(context: &Context) -> Verdict {
    let workspace = context.workspace()?;
    let store = context.store()?;
    let packages = Shelf::new(&store);
    if context.json() {
        let rows: Vec<_> =
            workspace.submissions.values().map(|s| described(&workspace, &packages, s)).collect();
        return print_json(&rows);
    }
    let header = ["id", "name", "instances", "targets", "survey", "KAT digests", "state"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for submission in workspace.submissions.values() {
        rows.push(vec![
            submission.id.to_string(),
            shortened(&submission.name),
            submission.instances.len().to_string(),
            targets(submission),
            submission.survey.as_ref().map_or_else(|| "–".into(), |s| s.verdict.clone()),
            submission.kat.len().to_string(),
            states(&workspace, &packages, submission),
        ]);
    }
    print(&table(&rows))
}

/// A name as wide as a column of a table may be; `kem show` has it whole.
fn shortened(name: &str) -> String {
    const WIDEST: usize = 32;
    if name.chars().count() <= WIDEST {
        return name.to_owned();
    }
    name.chars().take(WIDEST - 1).chain(['…']).collect()
}

/// The security targets that its instances have, ascending.
fn targets(submission: &Submission) -> String {
    let bits: BTreeSet<u32> =
        submission.instances.values().filter_map(|instance| instance.target_bits).collect();
    let texts: Vec<String> = bits.iter().map(u32::to_string).collect();
    if texts.is_empty() { "–".to_owned() } else { texts.join(" ") }
}

/// The state of its implementations; in one word when there is one.
fn states(workspace: &Workspace, packages: &dyn Packages, submission: &Submission) -> String {
    let each: Vec<(&Name, &str)> = submission
        .implementations
        .values()
        .map(|i| {
            let files = source::files(&workspace.disk, packages, submission, i);
            (&i.name, source::state(submission, i, &files).word())
        })
        .collect();
    match each.as_slice() {
        [(_, only)] => (*only).to_owned(),
        several => {
            let texts: Vec<String> =
                several.iter().map(|(name, word)| format!("{name} {word}")).collect();
            texts.join(", ")
        }
    }
}

/// Shows one submission.
///
/// # Errors
/// Invalid YAML, or an unknown id.
pub fn show(context: &Context, id: &Name) -> Verdict {
    let workspace = context.workspace()?;
    let store = context.store()?;
    let packages = Shelf::new(&store);
    let submission = workspace
        .submissions
        .get(id)
        .ok_or_else(|| unknown("submission", id, workspace.submissions.keys(), "kems/"))?;
    if context.json() {
        return print_json(&described(&workspace, &packages, submission));
    }
    let mut text = format!("{} {}\n", submission.id, submission.name);
    let mut facts = vec![vec!["manifest".to_owned(), submission.file.to_string()]];
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.push(vec![name.to_owned(), value]);
        }
    };
    fact("page", submission.page.clone());
    fact("licence", submission.licence.clone());
    fact("survey", submission.survey.as_ref().map(|s| s.verdict.clone()));
    fact("published KAT digests", Some(submission.kat.len().to_string()));
    text.push_str(&table(&facts));
    if let Some(notes) = &submission.notes {
        let _ = writeln!(text, "\n{}", notes.trim_end());
    }
    for implementation in submission.implementations.values() {
        let _ = writeln!(text, "\n{}: {}", implementation.name, pinned(implementation));
        if let Some(about) = &implementation.about {
            let _ = writeln!(text, "  {about}");
        }
        let files = source::files(&workspace.disk, &packages, submission, implementation);
        match source::ready(submission, implementation, files) {
            Ok(files) => {
                let _ = writeln!(text, "  present, {} files", files.len());
            }
            Err(row) => {
                let _ = writeln!(text, "  unavailable: {}\n  to have it: {}", row.why, row.help);
                for (sha256, files) in earlier(&store, implementation)? {
                    let _ = writeln!(
                        text,
                        "  stale: another package of this name is in the store, sha256 {}…, {files} files",
                        &sha256[..12]
                    );
                }
            }
        }
    }
    let header = ["instance", "target", "pk", "sk", "ct", "ss", "KAT digest"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for instance in submission.instances.values() {
        let size = |name: &str| instance.sizes.get(name).map_or_else(|| "–".into(), u64::to_string);
        let digest = submission.kat.get(&instance.name);
        rows.push(vec![
            instance.name.to_string(),
            instance.target_bits.map_or_else(|| "–".into(), |b| b.to_string()),
            size("pk"),
            size("sk"),
            size("ct"),
            size("ss"),
            digest.map_or_else(|| "–".into(), |k| format!("{}… {}", &k.sha256[..16], k.mode)),
        ]);
    }
    text.push('\n');
    text.push_str(&table(&rows));
    print(&text)
}

/// Packages of the store that have the archive's name and are not the pinned one: SHA-256, number of files.
fn earlier(
    store: &Store,
    implementation: &Implementation,
) -> Result<Vec<(String, usize)>, CommandError> {
    let Source::Archive { file, sha256, .. } = &implementation.source else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for package in crate::package::all(store)? {
        if package.archive == *file && package.sha256 != *sha256 {
            found.push((package.sha256, package.files.len()));
        }
    }
    Ok(found)
}

fn pinned(implementation: &Implementation) -> String {
    match &implementation.source {
        Source::Directory { path } => format!("directory {path}"),
        Source::Archive { file, sha256, bytes, .. } => {
            format!("archive {file}, {bytes} bytes, sha256 {sha256}")
        }
        Source::Crate { name, version, .. } => format!("crate {name} {version}"),
    }
}

fn described(
    workspace: &Workspace,
    packages: &dyn Packages,
    submission: &Submission,
) -> serde_json::Value {
    let implementations: Vec<_> = submission
        .implementations
        .values()
        .map(|i| {
            let files = source::files(&workspace.disk, packages, submission, i);
            let state = source::state(submission, i, &files);
            let row = source::ready(submission, i, files).err();
            serde_json::json!({
                "name": i.name, "source": pinned(i), "state": state.word(),
                "present": state != source::State::Absent,
                "why": row.as_ref().map(|r| &r.why),
                "help": row.as_ref().map(|r| &r.help),
                "instances": i.recipes.keys().collect::<Vec<_>>(),
            })
        })
        .collect();
    serde_json::json!({
        "id": submission.id, "name": submission.name, "implementations": implementations,
        "instances": submission.instances.keys().collect::<Vec<_>>(),
        "targets": submission.instances.values().filter_map(|i| i.target_bits)
            .collect::<BTreeSet<_>>(),
        "survey": submission.survey.as_ref().map(|s| &s.verdict),
        "inspected": submission.inspected,
        "kat_digests": submission.kat.len(), "page": submission.page,
    })
}
