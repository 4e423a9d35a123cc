//! `ngcc schema`: the JSON schemas that editors use for the YAML files.

use std::fmt::Write as _;

use super::Verdict;
use super::context::{Context, print};
use crate::cli::Exit;
use crate::spec;

/// Runs the verb: prints all schemas, or writes them to `schemas/`.
///
/// # Errors
/// When they cannot be written.
pub fn run(context: &Context, write: bool) -> Verdict {
    let schemas = spec::schemas();
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
