//! `ngcc kem add` and `kem inspect`: from a package to a manifest, without executing anything of it.
//!
//! What exists is never overwritten by `add`. `inspect` replaces a manifest that nobody has checked yet, and keeps
//! what that one knew: survey and notes as they are, the rest as comments.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use super::context::{Context, print, print_json};
use super::session::unknown;
use super::shelved::Shelved;
use super::{CommandError, Verdict, fetch, unpack};
use crate::cli::{AddArgs, Exit, InspectArgs};
use crate::exec::process::{Interrupt, Runner};
use crate::inspect::{self, Hints, Inspection, Kind, Origin};
use crate::name::Name;
use crate::package::{self, Limits, Package, sha256_of};
use crate::spec::{Source, Submission, Workspace};
use crate::store::Store;

/// Runs `kem add`.
///
/// # Errors
/// A package that is refused, an id that is taken.
pub fn add(context: &Context, args: &AddArgs) -> Verdict {
    let workspace = context.workspace()?;
    let store = context.store()?;
    let id = match &args.id {
        Some(id) => id.clone(),
        None => id_from(&args.package)?,
    };
    let dir = workspace.root.join("kems").join(id.as_str());
    if args.package.is_dir() {
        free(&dir, &id)?;
        let package = package::gather(&store, &args.package, &Limits::default())
            .map_err(|error| CommandError::new(Exit::Usage, error.to_string()))?;
        let root = std::fs::canonicalize(&workspace.root)?;
        let whole = std::fs::canonicalize(&args.package)?;
        let inside = whole.strip_prefix(&root).ok().and_then(Path::to_str);
        let origin = inside.map_or_else(|| "source".to_owned(), |p| format!("../../{p}"));
        let found = inspected(&store, &package, &Hints::default());
        let texts = Texts::of(&found, &Origin::Directory(origin));
        if !args.dry_run {
            if inside.is_none() {
                copy_in(&store, &package, &found, &dir.join("source"))?;
            }
            write_new(&dir, &texts)?;
        }
        return told(context, &id, &found, &texts, args.dry_run);
    }
    let (package, name) = archive(context, &store, &args.package)?;
    if let Some(known) = pinned_by(&workspace, &package.sha256) {
        let text = format!("`{name}` is already the package of `{known}`");
        let next = format!("it is in the store now; see `ngcc kem show {known}`");
        return Err(CommandError::new(Exit::Usage, text).help(next));
    }
    if let Some(known) = named_by(&workspace, &name) {
        let text = format!("`{known}` has a package `{name}` with other content");
        return Err(CommandError::new(Exit::Usage, text)
            .help(format!("ngcc kem update {known} {}", args.package.display())));
    }
    free(&dir, &id)?;
    let found = inspected(&store, &package, &Hints::default());
    let origin = Origin::Archive {
        file: name,
        url: None,
        sha256: package.sha256.clone(),
        bytes: package.bytes,
    };
    let texts = Texts::of(&found, &origin);
    if !args.dry_run {
        write_new(&dir, &texts)?;
    }
    told(context, &id, &found, &texts, args.dry_run)
}

/// Runs `kem inspect`.
///
/// # Errors
/// An unknown submission, a package that is not here, a manifest that somebody has checked already.
pub fn inspect(context: &Context, args: &InspectArgs) -> Verdict {
    let workspace = context.workspace()?;
    let store = context.store()?;
    let id = &args.id;
    let submission = workspace
        .submissions
        .get(id)
        .ok_or_else(|| unknown("submission", id, workspace.submissions.keys(), "kems/"))?;
    let pins = submission.implementations.values();
    let mut archives: Vec<&Source> =
        pins.map(|i| &i.source).filter(|s| matches!(s, Source::Archive { .. })).collect();
    archives.dedup();
    let [Source::Archive { file, url, sha256, bytes, nested }] = archives.as_slice() else {
        let text = format!("`{id}` has {} archives; one is inspected", archives.len());
        return Err(CommandError::new(Exit::Usage, text)
            .help(format!("write the recipes in {} by hand", submission.file)));
    };
    let package = package::find(&store, sha256, nested)?.ok_or_else(|| {
        CommandError::new(Exit::Usage, format!("archive `{file}` is not in the store"))
            .help(format!("ngcc kem fetch {id}"))
    })?;
    let found = inspected(&store, &package, &Hints::of(submission));
    let origin = Origin::Archive {
        file: file.clone(),
        url: url.clone(),
        sha256: sha256.clone(),
        bytes: *bytes,
    };
    let mut texts = Texts::of(&found, &origin);
    let path = submission.file.under(&workspace.root);
    let before = std::fs::read_to_string(&path)?;
    if !submission.inspected {
        texts.manifest = merged(&texts.manifest, &before);
    }
    let keep = submission.inspected || submission.implementations.len() > 1;
    if keep || args.dry_run {
        if !args.dry_run && !context.json() {
            let why = if submission.inspected {
                "checked already"
            } else {
                "it has other implementations, which a new text would lose"
            };
            print(&format!("{}: {why}, so it stays as it is\n", submission.file))?;
        }
        return told(context, id, &found, &texts, true);
    }
    std::fs::write(&path, &texts.manifest)?;
    let kat = path.with_file_name("kat.sha256");
    if !texts.kat.is_empty() && !kat.exists() {
        std::fs::write(kat, &texts.kat)?;
    }
    told(context, id, &found, &texts, false)
}

/// The files that an inspection writes.
struct Texts {
    manifest: String,
    kat: String,
}

impl Texts {
    fn of(found: &Inspection, origin: &Origin) -> Self {
        Self { manifest: inspect::manifest(found, origin), kat: inspect::kat_manifest(found) }
    }
}

fn inspected(store: &Store, package: &Package, hints: &Hints) -> Inspection {
    inspect::inspect(&Shelved::new(store, package), hints)
}

/// Brings an archive into the store and unpacks it there.
pub(super) fn archive(
    context: &Context,
    store: &Store,
    path: &Path,
) -> Result<(Package, String), CommandError> {
    let unread = |error: std::io::Error| {
        CommandError::new(Exit::Usage, format!("cannot read `{}`: {error}", path.display()))
    };
    let (sha256, _) = sha256_of(File::open(path).map_err(unread)?).map_err(unread)?;
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or("package").to_owned();
    let (blob, _) = store.put_file(path)?;
    store.set_reference(&package::archive_name(&sha256), blob)?;
    let interrupt = Interrupt::install()?;
    let runner = Runner::new(context.terminal.launcher.clone());
    let tools = unpack::tools(&runner, &interrupt, &context.terminal.path);
    let kept = store.blob_path(blob);
    let mut package = unpack::unpack(store, (&name, &kept), &[], &tools)
        .map_err(|text| CommandError::new(Exit::Usage, text))?;
    package.archive.clone_from(&name);
    package::keep(store, &package, &[])?;
    store.flush()?;
    Ok((package, name))
}

/// The submission that pins an archive.
fn pinned_by<'w>(workspace: &'w Workspace, sha256: &str) -> Option<&'w Name> {
    by(workspace, &|pin| pin.sha256 == sha256)
}

/// The submission whose archive has this file name.
fn named_by<'w>(workspace: &'w Workspace, name: &str) -> Option<&'w Name> {
    by(workspace, &|pin| pin.name == name)
}

fn by<'w>(
    workspace: &'w Workspace,
    fits: &dyn Fn(&crate::fetch::Wanted) -> bool,
) -> Option<&'w Name> {
    let pins =
        |s: &&Submission| s.implementations.values().filter_map(fetch::pin).any(|p| fits(&p));
    workspace.submissions.values().find(pins).map(|submission| &submission.id)
}

/// An id made from a file's name: `LoongKEM (1).zip` is `loongkem-1`.
fn id_from(package: &Path) -> Result<Name, CommandError> {
    let stem = package.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    let stem = [".gz", ".xz", ".zst", ".tgz", ".tar", ".zip", ".rar", ".7z"]
        .iter()
        .fold(stem, |text, ending| text.strip_suffix(ending).unwrap_or(text));
    let letters: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' })
        .collect();
    let id = letters.split_whitespace().collect::<Vec<_>>().join("-");
    id.parse().map_err(|_| {
        let text = format!("no id can be made from `{}`", package.display());
        CommandError::new(Exit::Usage, text).help("give one with --id")
    })
}

fn free(dir: &Path, id: &Name) -> Result<(), CommandError> {
    if dir.exists() {
        let text = format!("there is a `kems/{id}` already");
        return Err(CommandError::new(Exit::Usage, text)
            .help("give another id with --id, or see `ngcc kem update --help`"));
    }
    Ok(())
}

fn write_new(dir: &Path, texts: &Texts) -> Result<(), CommandError> {
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join("submission.yaml"), &texts.manifest)?;
    if !texts.kat.is_empty() {
        std::fs::write(dir.join("kat.sha256"), &texts.kat)?;
    }
    Ok(())
}

/// Copies what may be of use of a directory outside the workspace: no junk, no archives.
fn copy_in(
    store: &Store,
    package: &Package,
    found: &Inspection,
    to: &Path,
) -> Result<(), CommandError> {
    for (path, member) in &package.files {
        if !matches!(found.kinds.get(path), Some(Kind::Junk | Kind::Archive)) {
            store.lay_out_blob(member.blob, &path.under(to), false)?;
        }
    }
    Ok(())
}

/// What the old manifest knew, in the new one: survey and notes as they are, the rest as comments.
fn merged(new: &str, old: &str) -> String {
    let block = |key: &str| -> String {
        let mut lines = old.split_inclusive('\n').skip_while(|l| !l.starts_with(key));
        let first = lines.next().unwrap_or_default().to_owned();
        let more = lines.take_while(|l| l.starts_with([' ', '#']) || l.trim().is_empty());
        let text = first + &more.collect::<String>();
        text.trim_end().to_owned() + if text.is_empty() { "" } else { "\n" }
    };
    let mut out = String::new();
    for line in new.split_inclusive('\n') {
        if line.starts_with("inspected:") {
            out.push_str(&block("survey:"));
            out.push_str(&block("notes:"));
        }
        out.push_str(line);
    }
    let recipe = block("implementations:");
    if !recipe.is_empty() {
        out.push_str("\n# Known before the inspection; take over what is still of use, and delete the rest.\n");
        for line in recipe.lines() {
            let _ = writeln!(out, "# {line}");
        }
    }
    out
}

/// Says what was found and what is next.
fn told(context: &Context, id: &Name, found: &Inspection, texts: &Texts, dry_run: bool) -> Verdict {
    let questions = found.all_questions();
    if context.json() {
        let implementations: Vec<_> = found
            .implementations
            .iter()
            .map(|i| {
                let names: Vec<_> = i.instances.iter().map(|x| &x.name.value).collect();
                serde_json::json!({"name": i.name, "instances": names, "notes": i.notes})
            })
            .collect();
        let asked: Vec<String> =
            questions.iter().map(|(about, q)| format!("{about}: {}", q.text)).collect();
        let junk: Vec<_> = found.of(Kind::Junk).collect();
        return print_json(&serde_json::json!({
            "id": id, "written": !dry_run, "implementations": implementations,
            "questions": asked, "notes": found.notes, "junk": junk,
            "manifest": texts.manifest, "kat": texts.kat,
        }));
    }
    let mut text = String::new();
    if dry_run {
        text.push_str(&texts.manifest);
        text.push_str("\n# kat.sha256\n");
        text.push_str(&texts.kat.lines().map(|l| format!("# {l}\n")).collect::<String>());
        return print(&text);
    }
    let _ = writeln!(text, "wrote kems/{id}/submission.yaml");
    if !texts.kat.is_empty() {
        let _ = writeln!(text, "      kems/{id}/kat.sha256, {} digests", texts.kat.lines().count());
    }
    for implementation in &found.implementations {
        let names: Vec<String> =
            implementation.instances.iter().map(|i| i.name.value.to_string()).collect();
        let _ = writeln!(text, "{}: {}", implementation.name, names.join(", "));
    }
    for note in &found.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let (junk, archives) = (found.of(Kind::Junk).count(), found.of(Kind::Archive).count());
    if junk + archives > 0 {
        let _ = writeln!(text, "never used: {junk} junk files, {archives} archives inside");
    }
    for (about, question) in &questions {
        let about = if about.is_empty() { String::new() } else { format!("{about}: ") };
        let _ = writeln!(text, "asked: {about}{}", question.text);
    }
    if questions.is_empty() {
        let _ = writeln!(text, "next: ngcc pipeline run all {id}");
    } else {
        let _ = writeln!(
            text,
            "next: answer the lines `# ASK:` in the manifest, set `inspected: true`, then \
             ngcc pipeline run all {id}"
        );
    }
    print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_of_the_letters_of_the_archives_name() {
        let id = |text: &str| id_from(Path::new(text)).map(|id| id.to_string());
        assert_eq!(id("down/LoongKEM (1).zip").unwrap(), "loongkem-1");
        assert_eq!(id("Aigis-Enc+.tar.gz").unwrap(), "aigis-enc");
        assert!(id("中文.zip").is_err());
    }

    #[test]
    fn survey_and_notes_stay_and_the_old_recipe_becomes_a_comment() {
        let old = "name: X\nsurvey: {verdict: mixed}\nnotes: |\n  slow\n\n  and odd\ninspected: false\n\
                   implementations:\n  reference:\n    kat: {records: 3}\n";
        let new = "name: X\ninspected: true\nimplementations: {}\n";
        assert_eq!(
            merged(new, old),
            "name: X\nsurvey: {verdict: mixed}\nnotes: |\n  slow\n\n  and odd\ninspected: true\n\
             implementations: {}\n\n# Known before the inspection; take over what is still of use, and delete \
             the rest.\n# implementations:\n#   reference:\n#     kat: {records: 3}\n"
        );
    }
}
