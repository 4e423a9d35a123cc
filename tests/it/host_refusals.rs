//! A run on a system that is not this machine, or not known, ends before anything runs and says what there is.

use crate::bench::{Workspace, shell};

#[test]
fn a_system_that_is_unknown_or_another_machine_is_refused_before_anything_runs() {
    let workspace = Workspace::of_commands(&[], &shell("step", "once", "echo done", ""));
    workspace.write(
        "systems/far.yaml",
        "description: another machine\narch: any\nexpect: {cpu_model: A Chip of Tomorrow}\n",
    );
    let far = workspace.run(&["--system", "far"]);
    assert_eq!(far.code, Some(5), "{}{}", far.out, far.err);
    assert!(far.err.contains("A Chip of Tomorrow") && far.err.contains("cpu_model"), "{}", far.err);
    let unknown = workspace.run(&["--system", "fra"]);
    assert_eq!(unknown.code, Some(2), "{}{}", unknown.out, unknown.err);
    assert!(unknown.err.contains("did you mean `far`?"), "{}", unknown.err);
    assert!(
        !workspace.path("store/runs").is_dir() || {
            let runs = std::fs::read_dir(workspace.path("store/runs"));
            runs.is_ok_and(|mut runs| runs.next().is_none())
        }
    );
    assert_eq!(workspace.executed(), ["once/step"]);
}

#[test]
fn host_check_says_what_holds_the_programs_of_a_submission() {
    let workspace = Workspace::new();
    let run = workspace.ngcc(&["--format", "json", "host", "check"]);
    let checks: Vec<serde_json::Value> = serde_json::from_str(&run.out).unwrap();
    let found = |name: &str| {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        (check["verdict"].as_str().unwrap().to_owned(), check["found"].as_str().unwrap().to_owned())
    };
    let (verdict, sandbox) = found("sandbox");
    assert_eq!(verdict == "pass", sandbox.starts_with("namespaces: no network"), "{sandbox}");
    for (name, means) in [("memory-limit", "rlimit AS"), ("process-limit", "rlimit NPROC")] {
        let (_, found) = found(name);
        let known = ["cgroup v1 ", "cgroup v2 ", means, "not limited"];
        assert!(known.iter().any(|start| found.starts_with(start)), "{name}: {found}");
    }
}
