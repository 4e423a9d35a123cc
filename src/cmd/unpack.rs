//! Unpacking as the verbs do it: with the archive's own name in messages, and the installed programs shut in.

use std::path::Path;
use std::time::Duration;

use crate::exec::archive_tools::ArchiveTools;
use crate::exec::process::{Interrupt, Runner};
use crate::package::{self, Limits, Package};
use crate::spec::Pattern;
use crate::store::Store;

/// How long a program may take for one archive. A real package of 1.4 GB takes a minute.
const WALL: Duration = Duration::from_secs(30 * 60);

/// The programs of this machine.
pub(super) fn tools<'a>(
    runner: &Runner,
    interrupt: &'a Interrupt,
    path: &'a str,
) -> ArchiveTools<'a> {
    ArchiveTools::new(runner, interrupt, path, WALL)
}

/// Unpacks an archive of the store under its outside name.
///
/// # Errors
/// One text that names archive and entry.
pub(super) fn unpack(
    store: &Store,
    (name, path): (&str, &Path),
    nested: &[String],
    tools: &ArchiveTools<'_>,
) -> Result<Package, String> {
    let scratch = store.scratch("archive").map_err(|e| e.to_string())?;
    // The file in the store is called by its digest; messages are to call it by its name.
    let link = scratch.path().join(name);
    std::os::unix::fs::symlink(path, &link).map_err(|e| format!("`{}`: {e}", link.display()))?;
    let unpack = |nested: &[String]| {
        package::unpack(store, &link, nested, &Limits::default(), tools).map_err(|e| e.to_string())
    };
    let is_pattern = |text: &String| text.contains(['*', '?']);
    if !nested.iter().any(is_pattern) {
        return unpack(nested);
    }
    // Which archives a pattern means shows only when the outer one is open. Patterns look one archive deep.
    let outer = unpack(&[])?;
    let mut paths: Vec<String> = nested.iter().filter(|n| !is_pattern(n)).cloned().collect();
    for pattern in nested.iter().filter(|n| is_pattern(n)) {
        let wanted = Pattern::from(pattern.as_str());
        let before = paths.len();
        let all = outer.files.keys().map(ToString::to_string);
        paths.extend(all.filter(|path| wanted.matches(path)));
        if paths.len() == before {
            return Err(format!("{name}: no archive inside it matches `{pattern}`"));
        }
    }
    unpack(&paths)
}
