//! `ngcc host check` and `show`: this machine as a measuring system.

use std::path::Path;

use super::Verdict;
use super::context::{Context, print, print_json, table};
use super::session::unknown;
use crate::cli::Exit;
use crate::host::{self, HostFacts, Verdict as Fitness};
use crate::name::Name;

/// Checks whether the machine is fit for measuring.
///
/// # Errors
/// Printing only; an unfit machine is exit code 5.
pub fn check(context: &Context, cpu: Option<u32>) -> Verdict {
    let root = Path::new("/");
    let cpu = cpu.unwrap_or_else(|| HostFacts::default_cpu(root).unwrap_or(0));
    let facts = HostFacts::read(root, cpu);
    let checks = host::readiness(&facts, cpu);
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
