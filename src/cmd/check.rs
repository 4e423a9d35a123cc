//! `ngcc pipeline check`: every mistake in every YAML file, at once.

use super::Verdict;
use super::context::{Context, print, print_json};

/// Runs the verb.
///
/// # Errors
/// All mistakes, with their places.
pub fn run(context: &Context) -> Verdict {
    let workspace = context.workspace()?;
    let (pipelines, submissions, systems) =
        (workspace.pipelines.len(), workspace.submissions.len(), workspace.systems.len());
    if context.json() {
        return print_json(&serde_json::json!({
            "pipelines": pipelines, "submissions": submissions, "systems": systems, "errors": [],
        }));
    }
    print(&format!(
        "{pipelines} pipelines, {submissions} submissions, {systems} systems: no mistakes\n"
    ))
}
