//! The history of runs at the command line: listed, shown, named, compared.

use crate::bench::Workspace;

#[test]
fn two_runs_are_compared_by_keys_outputs_and_findings() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    assert_eq!(workspace.ngcc(&["runs", "name", "first"]).code, Some(0));
    let source = "kems/toy-1/src/A/KEM_AlgorithmInstance.c";
    let text = std::fs::read_to_string(workspace.path(source)).unwrap();
    workspace.write(source, &format!("{text}/* a remark */\n"));
    assert_eq!(workspace.run(&[]).code, Some(0));
    // A remark changes a key and no output.
    let diff = workspace.ngcc(&["diff", "latest~1", "latest"]);
    assert_eq!(diff.code, Some(0), "{}{}", diff.out, diff.err);
    assert!(
        diff.out.contains("toy-1/independent/A/build: another key, equal outputs"),
        "{}",
        diff.out
    );
    assert!(diff.out.contains("input tree/A/KEM_AlgorithmInstance.c:"), "{}", diff.out);
    assert!(diff.out.ends_with("actions are the same, 1 differ\n"), "{}", diff.out);

    workspace.edit("kems/toy-1/kat.sha256", "f9b2", "f9b3");
    assert_eq!(workspace.run(&[]).code, Some(1));
    let diff = workspace.ngcc(&["--format", "json", "diff", "first", "latest"]);
    assert_eq!(diff.code, Some(1), "{}{}", diff.out, diff.err);
    let diff: serde_json::Value = serde_json::from_str(&diff.out).unwrap();
    let rows = diff["differing"].as_array().unwrap();
    let kat = rows.iter().find(|row| row["action"] == "toy-1/independent/A/kat").unwrap();
    assert!(kat["new"][0].as_str().unwrap().starts_with("kat-mismatch"), "{kat}");

    let runs = workspace.ngcc(&["runs"]);
    let lines: Vec<&str> = runs.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", runs.out);
    assert!(lines[3].contains(" (first) ") && lines[1].contains("complete"), "{}", runs.out);
    let show = workspace.ngcc(&["runs", "show", "latest"]);
    assert!(show.out.contains("finding  toy-1/independent/A/kat"), "{}", show.out);
    assert_eq!(workspace.ngcc(&["runs", "unname", "first"]).code, Some(0));
    let gone = workspace.ngcc(&["runs", "show", "first"]);
    assert_eq!(gone.code, Some(2));
    assert!(gone.err.contains("there is no run `first`"), "{}", gone.err);
}
