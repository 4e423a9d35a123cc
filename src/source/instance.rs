//! Chooses the files of one instance out of its source tree: sources, and everything they may include.
//!
//! Sources come from the recipe's patterns, relative to the instance directory (`..` stays inside the tree). Inputs
//! are the sources plus all header-like files of the instance and include directories, so that a change anywhere
//! the compiler may look changes the key, and a change elsewhere does not.

use std::collections::BTreeSet;

use super::Files;
use crate::action;
use crate::name::{Name, RelPath};
use crate::spec::{Api, Helper, Pattern, Recipe};

/// The files of one instance.
#[derive(Debug, Clone)]
pub struct InstanceFiles {
    /// Everything the compiler may read: path in the tree, content.
    pub inputs: Files,
    /// What is compiled, in order.
    pub sources: Vec<RelPath>,
    /// Include directories in search order, relative to the tree; empty for its root.
    pub includes: Vec<String>,
    /// Our `auxfunc.c` is needed.
    pub our_auxfunc: bool,
    /// Our `drng.c` is needed.
    pub our_drng: bool,
}

/// A recipe that does not fit its tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFiles {
    /// A pattern matches nothing.
    #[error("`{pattern}` matches no file below `{directory}`")]
    NoMatch {
        /// The pattern as written.
        pattern: String,
        /// The instance directory.
        directory: String,
    },
    /// A helper is said to be among the sources, and is not.
    #[error("`{0}` is not among the sources, and the recipe says that the package ships it")]
    NotShipped(&'static str),
    /// A path leaves the tree.
    #[error("`{0}` leaves the source tree")]
    Outside(String),
    /// The API header is in none of the include directories.
    #[error("header `{header}` is in none of the include directories ({searched})")]
    NoHeader {
        /// Its name.
        header: String,
        /// Where it was looked for.
        searched: String,
    },
}

/// Endings of files that may be compiled or included. Anything else in a tree is never used.
const CODE: [&str; 12] = ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inc", "s", "S", "def"];

/// Base names that a pattern with wildcards never picks up: drivers, tests, benchmarks. Source: the reference
/// harness' default rule.
#[must_use]
pub fn is_driver(name: &str) -> bool {
    const STARTS: [&str; 16] = [
        "KAT_",
        "PQCgenKAT",
        "main",
        "test",
        "bench",
        "speed",
        "cpucycles",
        "osfreq",
        "run_bench",
        "selftest",
        "self_test",
        "example",
        "demo",
        "kat_",
        "kat.",
        "SPEED_",
    ];
    const BEFORE_DOT: [&str; 6] = ["_test.", "test_.", "_bench.", "bench_.", "_main.", "_kat."];
    STARTS.iter().any(|s| name.starts_with(s)) || BEFORE_DOT.iter().any(|s| name.contains(s))
}

/// Chooses the files of one instance.
///
/// # Errors
/// [`NoFiles`] for a pattern without a match, a path outside the tree or a missing header.
pub fn expand(recipe: &Recipe, files: &Files) -> Result<InstanceFiles, NoFiles> {
    let base = place("", &recipe.directory)?;
    let includes =
        recipe.include.iter().map(|dir| place(&base, dir)).collect::<Result<Vec<_>, _>>()?;
    let mut sources: Vec<RelPath> = Vec::new();
    for pattern in &recipe.sources {
        let pattern_in_tree = place(&base, pattern)?;
        let wild = pattern_in_tree.contains(['*', '?']);
        let mut found = false;
        for path in files.keys() {
            if !Pattern::from(pattern_in_tree.as_str()).matches(path.as_str()) {
                continue;
            }
            found = true;
            if sources.contains(path) || wild && is_driver(path.file_name()) {
                continue;
            }
            let dropped = recipe.exclude.iter().any(|exclude| {
                place(&base, exclude)
                    .is_ok_and(|e| Pattern::from(e.as_str()).matches(path.as_str()))
            });
            if !dropped {
                sources.push(path.clone());
            }
        }
        if !found {
            let directory = recipe.directory.clone();
            return Err(NoFiles::NoMatch { pattern: pattern.clone(), directory });
        }
    }
    let has = |name: &str| sources.iter().any(|s| s.file_name() == name);
    let ours = |helper: &Helper, name: &'static str| match helper {
        Helper::Auto => Ok(recipe.api == Api::Iccs && !has(name)),
        Helper::Ours => Ok(true),
        Helper::Shipped if !has(name) => Err(NoFiles::NotShipped(name)),
        Helper::Shipped | Helper::Absent => Ok(false),
    };
    let (our_auxfunc, our_drng) =
        (ours(&recipe.auxfunc, "auxfunc.c")?, ours(&recipe.drng, "drng.c")?);
    sources.retain(|s| !(our_auxfunc && s.file_name() == "auxfunc.c"));
    sources.retain(|s| !(our_drng && s.file_name() == "drng.c"));
    let mut inputs = Files::new();
    let wanted: BTreeSet<&RelPath> = sources.iter().collect();
    let below: Vec<String> = includes.iter().chain([&base]).cloned().collect();
    let extra: Vec<String> =
        recipe.headers.iter().map(|pattern| place(&base, pattern)).collect::<Result<_, _>>()?;
    for (path, content) in files {
        let code = path.file_name().rsplit_once('.').is_some_and(|(_, end)| CODE.contains(&end));
        let near = below.iter().any(|dir| {
            dir.is_empty()
                || path.as_str().strip_prefix(dir.as_str()).is_some_and(|r| r.starts_with('/'))
        });
        let named = extra.iter().any(|pattern| {
            Pattern::from(pattern.as_str()).matches(path.as_str())
                || path.as_str().strip_prefix(pattern.as_str()).is_some_and(|r| r.starts_with('/'))
        });
        if wanted.contains(path) || (code && near) || named {
            inputs.insert(path.clone(), content.clone());
        }
    }
    for patch in &recipe.patches {
        let replaced = place(&base, &patch.replaces)?;
        let Some((path, _)) = files.iter().find(|(p, _)| p.as_str() == replaced) else {
            let directory = recipe.directory.clone();
            return Err(NoFiles::NoMatch { pattern: patch.replaces.clone(), directory });
        };
        inputs.insert(path.clone(), action::Source::File(patch.with.clone()));
    }
    let header_found = includes.iter().any(|dir| {
        let path =
            if dir.is_empty() { recipe.header.clone() } else { format!("{dir}/{}", recipe.header) };
        place("", &path).is_ok_and(|p| files.keys().any(|f| f.as_str() == p))
    });
    if !header_found {
        let searched =
            includes.iter().map(|d| if d.is_empty() { "." } else { d }).collect::<Vec<_>>();
        return Err(NoFiles::NoHeader {
            header: recipe.header.clone(),
            searched: searched.join(", "),
        });
    }
    Ok(InstanceFiles { inputs, sources, includes, our_auxfunc, our_drng })
}

/// Where the package keeps the reference text of an instance, if the recipe says so.
#[derive(Debug, Clone)]
pub enum ReferenceText {
    /// Here it is: path in the tree, content.
    Found(RelPath, action::Source),
    /// It is said to be there, and is not.
    Missing(String),
}

/// Looks for the reference text that a recipe's `kat.directory` and `kat.file` point to: the file itself, or the one
/// of that name in a directory called like the instance. `None` when the recipe names neither.
#[must_use]
pub fn reference_text(recipe: &Recipe, instance: &Name, files: &Files) -> Option<ReferenceText> {
    let kat = &recipe.kat;
    if kat.file.is_none() && kat.directory.is_none() {
        return None;
    }
    let label = recipe.kat_name.as_deref().unwrap_or(instance.as_str());
    let file = kat.file.clone().unwrap_or_else(|| format!("KAT_KEM_{label}.txt"));
    let directory = kat.directory.as_deref().unwrap_or("");
    let candidates = [format!("{directory}/{file}"), format!("{directory}/{instance}/{file}")];
    let found = candidates.iter().filter_map(|text| place("", text).ok()).find_map(|path| {
        files.iter().find(|(known, _)| known.as_str() == path).map(|(p, s)| (p.clone(), s.clone()))
    });
    Some(match found {
        Some((path, content)) => ReferenceText::Found(path, content),
        None => ReferenceText::Missing(candidates[0].trim_start_matches('/').to_owned()),
    })
}

/// A path relative to a base inside the tree, with `.` and `..` resolved; empty for the root.
fn place(base: &str, more: &str) -> Result<String, NoFiles> {
    let mut parts: Vec<&str> = base.split('/').filter(|p| !p.is_empty()).collect();
    for part in more.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(NoFiles::Outside(more.to_owned()));
                }
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}
