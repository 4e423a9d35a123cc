//! `ngcc store gc` at the command line: what keeps results, whose they are, and what is still known of those that went.

use crate::bench::Workspace;

#[test]
fn two_workspaces_share_a_store_and_collecting_from_one_keeps_the_results_of_the_other() {
    let (one, two) = (Workspace::new(), Workspace::new());
    let store = one.path("store");
    let store = ["--store", store.to_str().unwrap()];
    for workspace in [&one, &two] {
        workspace.without_measuring();
    }
    two.edit("pipelines/p.yaml", "-O1, -fPIC]", "-O2, -fPIC]");
    assert_eq!(two.run(&store).code, Some(0));
    // Later runs of the other workspace, more than are kept.
    for define in ["-DONE", "-DTWO", "-DTHREE"] {
        one.edit("pipelines/p.yaml", "[-std=c99, ", &format!("[-std=c99, {define}, "));
        let run = one.run(&[]);
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    }
    // Pages are shared by name; without them only the runs are roots.
    std::fs::remove_dir_all(one.path("store/pages")).unwrap();
    let gc = |more: &[&str]| one.ngcc(&[&["store", "gc", "--keep-runs", "1"], more].concat());
    let dry = gc(&[]);
    assert_eq!(dry.code, Some(0), "{}{}", dry.out, dry.err);
    assert!(dry.out.contains("nothing was removed; add --yes"), "{}", dry.out);
    for workspace in [&one, &two] {
        let root = std::fs::canonicalize(workspace.root()).unwrap();
        let line = format!("the last 1 runs of `p` in workspace {}", root.display());
        assert!(dry.out.contains(&line), "{line}: {}", dry.out);
    }
    let done = gc(&["--yes"]);
    assert!(
        done.out.contains("removed ") && !done.out.contains("removed 0 records"),
        "{}",
        done.out
    );
    assert_eq!(two.run(&store).ran(), Vec::<String>::new());
    assert_eq!(one.run(&[]).ran(), Vec::<String>::new());
    assert_eq!(one.ngcc(&["store", "verify"]).code, Some(0));
}

#[test]
fn named_runs_pages_and_measurements_are_roots_and_stat_shows_them() {
    let workspace = Workspace::new();
    assert_eq!(workspace.run(&[]).code, Some(0));
    assert_eq!(workspace.ngcc(&["runs", "name", "submitted"]).code, Some(0));
    let stat = workspace.ngcc(&["store", "stat"]);
    for text in ["named `submitted`", "results behind pages/this/p", "12 measurements"] {
        assert!(stat.out.contains(text), "{text}: {}", stat.out);
    }
    let stat = workspace.ngcc(&["--format", "json", "store", "stat"]);
    let stat: serde_json::Value = serde_json::from_str(&stat.out).unwrap();
    assert_eq!(stat["roots"]["measured"], 12);
    assert!(stat["blobs"]["files"].as_u64().unwrap() > 10);
    // The name goes; the pages still cite everything.
    assert_eq!(workspace.ngcc(&["runs", "unname", "submitted"]).code, Some(0));
    let gc = workspace.ngcc(&["store", "gc", "--keep-runs", "0", "--yes"]);
    assert!(gc.out.contains("removed 0 records, 1 runs"), "{}", gc.out);
    assert_eq!(workspace.run(&[]).ran(), Vec::<String>::new());
    // Provenance that cannot be read is no reason to guess.
    workspace.write("store/pages/this/p/provenance.json", "{");
    let gc = workspace.ngcc(&["store", "gc"]);
    assert_eq!(gc.code, Some(4), "{}{}", gc.out, gc.err);
    assert!(gc.err.contains("provenance.json"), "{}", gc.err);
}

#[test]
fn why_names_the_changed_file_after_records_and_blobs_were_collected_and_plan_still_knows_the_cost()
{
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    std::fs::remove_dir_all(workspace.path("store/pages")).unwrap();
    let gc = workspace.ngcc(&["store", "gc", "--keep-runs", "0", "--yes"]);
    assert!(gc.out.contains("removed 11 records, 1 runs"), "{}", gc.out);
    let source = "kems/toy-1/src/B/KEM_AlgorithmInstance.c";
    workspace.edit(source, "enum { SEED", "/* a comment */\nenum { SEED");
    let why = workspace.ngcc(&["why", "B/build", "--pipeline", "p"]);
    assert!(why.out.contains(&format!("file `{source}` changed")), "{}{}", why.out, why.err);
    assert!(why.out.contains("changed since its last result"), "{}", why.out);
    let why = workspace.ngcc(&["why", "A/build", "--pipeline", "p"]);
    assert!(why.out.contains("was collected or damaged"), "{}", why.out);
    let plan = workspace.ngcc(&["--format", "json", "pipeline", "plan", "p"]);
    let plan: serde_json::Value = serde_json::from_str(&plan.out).unwrap();
    assert_eq!(plan["estimate"]["never_ran"], 0, "{plan}");
    assert!(plan["estimate"]["seconds"].as_f64().unwrap() > 0.0, "{plan}");
    assert!(workspace.ngcc(&["pipeline", "plan", "p"]).out.contains("; about "));
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
}
