//! `ngcc pipeline list`: the pipelines and what they are for.

use super::Verdict;
use super::context::{Context, print, print_json, table};

/// Runs the verb.
///
/// # Errors
/// Invalid YAML.
pub fn run(context: &Context) -> Verdict {
    let workspace = context.workspace()?;
    if context.json() {
        let rows: Vec<_> = workspace
            .pipelines
            .values()
            .map(|p| {
                let stages: Vec<&str> = p.stages.iter().map(|s| s.name.as_str()).collect();
                serde_json::json!({ "name": p.name, "about": p.about, "stages": stages, "file": p.file })
            })
            .collect();
        return print_json(&rows);
    }
    let mut rows = vec![vec!["pipeline".into(), "stages".into(), "about".into()]];
    for pipeline in workspace.pipelines.values() {
        let stages: Vec<&str> = pipeline.stages.iter().map(|s| s.name.as_str()).collect();
        rows.push(vec![pipeline.name.to_string(), stages.join(" "), pipeline.about.clone()]);
    }
    print(&table(&rows))
}
