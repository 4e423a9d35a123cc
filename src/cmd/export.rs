//! `ngcc store export` and `ngcc store import`: one run as an archive, to another machine and back.
//!
//! What is in an archive and how it is checked is the store's business; here are files, names and words.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::context::{Context, print, print_json};
use super::{CommandError, Verdict, runs};
use crate::action::key_of_ingredients;
use crate::cli::Exit;
use crate::event::human_bytes;
use crate::name::Name;
use crate::record::Record;
use crate::store::ImportError;

/// Writes the archive of a run.
///
/// # Errors
/// An unknown run, a record or content that is missing or damaged, a file that cannot be written.
pub fn export(context: &Context, which: &str, file: &Path) -> Verdict {
    let store = context.store()?;
    let run = runs::find(&store, which)?;
    if file == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        store.export_run(&run, &mut out)?;
        out.flush()?;
        return Ok(Exit::Fine);
    }
    let named =
        |error: io::Error| CommandError::new(Exit::Usage, format!("`{}`: {error}", file.display()));
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let mut out = BufWriter::new(File::create(part).map_err(named)?);
    let written = store.export_run(&run, &mut out).map_err(CommandError::from).and_then(|done| {
        let file = out.into_inner().map_err(|error| named(error.into_error()))?;
        file.sync_all().map_err(named)?;
        Ok(done)
    });
    let done = written.inspect_err(|_| {
        let _ = std::fs::remove_file(part);
    })?;
    std::fs::rename(part, file).map_err(named)?;
    if context.json() {
        return print_json(&serde_json::json!({
            "run": run.id, "file": file, "records": done.records, "objects": done.objects,
            "bytes": done.bytes,
        }));
    }
    print(&format!(
        "run {} ({}): {} records, {} blobs and trees, {} in {}\n",
        run.id,
        run.start.pipeline,
        done.records,
        done.objects,
        human_bytes(done.bytes),
        file.display()
    ))
}

/// Takes an archive in.
///
/// # Errors
/// An archive that is refused, a store that cannot be written.
pub fn import(context: &Context, file: &Path, name: Option<&Name>) -> Verdict {
    let mut input: Box<dyn Read> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let open = File::open(file).map_err(|error| {
            CommandError::new(Exit::Usage, format!("`{}`: {error}", file.display()))
        })?;
        Box::new(BufReader::new(open))
    };
    let store = context.store()?;
    let fits = |record: &Record| key_of_ingredients(&record.ingredients) == record.key;
    let done = store.import_run(&mut input, &fits)?;
    let names = store.named_runs()?;
    let known = names.iter().find(|(_, id)| **id == done.run).map(|(name, _)| name.clone());
    let name = match (name, known) {
        (Some(name), _) => name.clone(),
        (None, Some(known)) => known,
        (None, None) => format!("imported-{}", done.run).parse().map_err(|_| {
            CommandError::new(Exit::Usage, "give the run a shorter name with --name")
        })?,
    };
    store.name_run(&name, &done.run)?;
    store.flush()?;
    let exit = if done.differing.is_empty() { Exit::Fine } else { Exit::Store };
    if context.json() {
        print_json(&serde_json::json!({
            "run": done.run, "was": done.was, "name": name, "known": done.known,
            "records": done.records, "same": done.same, "differing": done.differing,
        }))?;
        return Ok(exit);
    }
    let mut text = String::new();
    for (key, label) in &done.differing {
        let _ = writeln!(
            text,
            "differs  {label} (record {}): the result that was here stays",
            key.short()
        );
    }
    if !done.differing.is_empty() {
        text.push_str("help: equal keys with different results are nondeterminism of a tool, or other samples\n");
    }
    if let Some(was) = &done.was {
        let _ = writeln!(text, "another run is called {was} here");
    }
    let _ = writeln!(
        text,
        "run {} is here as `{name}`: {} records are new, {} were here, {} differ",
        done.run,
        done.records,
        done.same,
        done.differing.len()
    );
    print(&text)?;
    Ok(exit)
}

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Store(error) => error.into(),
            refused @ ImportError::Refused(_) => Self::new(Exit::Store, refused.to_string())
                .help("nothing of it is in view; ask for the archive again"),
            unread @ ImportError::Read(_) => Self::new(Exit::Usage, unread.to_string()),
        }
    }
}
