//! `ngcc schema`: the JSON schemas of the YAML files, for editors, and of what a run says, for programs.

use std::fmt::Write as _;

use super::context::{Context, print};
use super::summary::Summary;
use super::{CommandError, Verdict};
use crate::cli::Exit;
use crate::diag::nearest;
use crate::event::Line;
use crate::spec;

/// All schemas: file name below `schemas/`, and text.
#[must_use]
pub fn schemas() -> Vec<(&'static str, String)> {
    let mut all = spec::schemas();
    all.push(("events.json", spec::schema_text::<Line<'_>>("A line of events of ngcc")));
    all.push(("summary.json", spec::schema_text::<Summary>("The summary of a run of ngcc")));
    all.sort_unstable();
    all
}

/// Runs the verb: prints one schema or all, or writes them to `schemas/`.
///
/// # Errors
/// An unknown name; when they cannot be written.
pub fn run(context: &Context, which: Option<&str>, write: bool) -> Verdict {
    let schemas = schemas();
    if let Some(which) = which {
        let names = || schemas.iter().map(|(name, _)| name.trim_end_matches(".json"));
        return match schemas.iter().find(|(name, _)| name.trim_end_matches(".json") == which) {
            Some((_, text)) => print(text),
            None => {
                let error =
                    CommandError::new(Exit::Usage, format!("no schema is called `{which}`"));
                let all = names().collect::<Vec<_>>().join(", ");
                Err(match nearest(which, names()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("there are: {all}")),
                })
            }
        };
    }
    if !write {
        let all: std::collections::BTreeMap<_, _> = schemas
            .into_iter()
            .map(|(name, text)| {
                (name, serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default())
            })
            .collect();
        return super::context::print_json(&all);
    }
    let directory = context.root()?.join("schemas");
    std::fs::create_dir_all(&directory)?;
    let mut text = String::new();
    for (name, schema) in schemas {
        let path = directory.join(name);
        let same = std::fs::read_to_string(&path).is_ok_and(|old| old == schema);
        if !same {
            std::fs::write(&path, schema)?;
        }
        let _ = writeln!(text, "{} schemas/{name}", if same { "same   " } else { "written" });
    }
    print(&text)?;
    Ok(Exit::Fine)
}
