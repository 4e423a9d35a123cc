//! `ngcc host check` and `show`: this machine as a measuring system.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::Verdict;
use super::context::{Context, print, print_json, table};
use super::session::unknown;
use crate::cli::Exit;
use crate::exec::process::{Child, Interrupt, Limits, Runner, Stdout};
use crate::host::{self, Check, HostFacts, Verdict as Fitness};
use crate::name::Name;

/// Checks whether the machine is fit for measuring.
///
/// # Errors
/// Printing only; an unfit machine is exit code 5.
pub fn check(context: &Context, cpu: Option<u32>) -> Verdict {
    let root = Path::new("/");
    let cpu = cpu.unwrap_or_else(|| HostFacts::default_cpu(root).unwrap_or(0));
    let facts = HostFacts::read(root, cpu);
    let mut checks = host::readiness(&facts, cpu);
    checks.extend(isolation(context).unwrap_or_else(|error| {
        vec![Check {
            name: "sandbox".to_owned(),
            verdict: Fitness::Warn,
            found: format!("cannot be tried: {error}"),
            wanted: "no network, writes below one directory only".to_owned(),
            fix: "make /tmp writable for this user".to_owned(),
        }]
    }));
    let unfit = checks.iter().any(|c| c.verdict == Fitness::Fail);
    let exit = if unfit { Exit::Host } else { Exit::Fine };
    if context.json() {
        print_json(&checks)?;
        return Ok(exit);
    }
    let mut rows = Vec::new();
    for check in &checks {
        let word = match check.verdict {
            Fitness::Pass => "pass",
            Fitness::Warn => "warn",
            Fitness::Fail => "FAIL",
        };
        let fix = if check.verdict == Fitness::Pass { String::new() } else { check.fix.clone() };
        rows.push(vec![word.to_owned(), check.name.clone(), check.found.clone(), fix]);
    }
    let sum = if unfit {
        "not fit for measuring: figures taken here are marked by these facts, not refused"
    } else {
        "fit for measuring"
    };
    print(&format!("core {cpu}\n{}{sum}\n", table(&rows)))?;
    Ok(exit)
}

/// What holds programs of a submission here, asked of a child that is shut in as they are.
fn isolation(context: &Context) -> std::io::Result<Vec<Check>> {
    let dir = nix::unistd::mkdtemp("/tmp/ngcc-host-check-XXXXXX").map_err(std::io::Error::from)?;
    let runner = Runner::new(context.terminal.launcher.clone()).confined();
    let limits = Limits {
        memory: Some(1 << 30),
        processes: Some(64),
        file_size: Some(1 << 20),
        ..Limits::wall(Duration::from_secs(10))
    };
    let child = Child {
        argv: vec![context.terminal.launcher.clone().into_os_string(), "--version".into()],
        dir: dir.clone(),
        env: BTreeMap::new(),
        stdout: Stdout::Log,
        log: dir.join("log"),
        limits,
        cpu: None,
    };
    let finished = runner.run(child, &Interrupt::none());
    std::fs::remove_dir_all(&dir)?;
    let unknown = format!("{:?}", finished.exit);
    let found = |name: &str| finished.in_force.get(name).unwrap_or(&unknown).clone();
    let check = |name: &str, limit: &str, good: &[&str], wanted: &str, fix: &str| {
        let found = found(limit);
        let fine = good.iter().any(|start| found.starts_with(start));
        let verdict = if fine { Fitness::Pass } else { Fitness::Warn };
        let (name, wanted) = (name.to_owned(), wanted.to_owned());
        Check { name, verdict, found, wanted, fix: fix.to_owned() }
    };
    Ok(vec![
        check(
            "sandbox",
            "sandbox",
            &["namespaces:"],
            "no network, writes below one directory only",
            "allow user namespaces, or let nobody's code run here that you do not trust",
        ),
        check(
            "memory-limit",
            "memory",
            &["cgroup"],
            "a control group for all processes of an action",
            "run where control groups can be made; now each process is limited by itself",
        ),
        check(
            "process-limit",
            "processes",
            &["cgroup", "rlimit"],
            "a limit on processes",
            "run as another user than root, or where control groups can be made",
        ),
    ])
}

/// Prints facts and identity.
///
/// # Errors
/// Invalid YAML or an unknown system.
pub fn show(context: &Context, system: &Name) -> Verdict {
    let workspace = context.workspace()?;
    let described = workspace
        .systems
        .get(system)
        .ok_or_else(|| unknown("system", system, workspace.systems.keys(), "systems/"))?;
    let root = Path::new("/");
    let cpu = described.cpu.unwrap_or_else(|| HostFacts::default_cpu(root).unwrap_or(0));
    let facts = HostFacts::read(root, cpu);
    let identity = host::identity(&facts, &described.identity);
    if context.json() {
        return print_json(&serde_json::json!({
            "system": described.id, "identity": identity, "fields": described.identity,
            "facts": facts.0,
        }));
    }
    let mut rows = Vec::new();
    for (name, value) in &facts.0 {
        let mark = if described.identity.contains(name) { "identity" } else { "" };
        rows.push(vec![name.clone(), value.clone(), mark.to_owned()]);
    }
    print(&format!("system {}, identity {identity}\n{}", described.id, table(&rows)))
}
