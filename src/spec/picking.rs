//! Which files of a source tree a recipe compiles.
//!
//! Knows nothing of where the tree is: it works on a list of paths. Wildcards never pick drivers and benchmarks, which
//! packages keep beside their sources and which would bring a second `main`; a file named in full is always picked.

use std::collections::BTreeSet;

use super::glob::Pattern;
use super::recipe::{Recipe, resolve};

/// The sources of one instance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picked {
    /// Paths from the root of the source tree, in recipe order, by name within a pattern, each once.
    pub sources: Vec<String>,
    /// Patterns and names of the recipe that pick nothing.
    pub unmatched: Vec<String>,
}

impl Recipe {
    /// Applies `sources` and `exclude` to the files of the tree (paths from its root).
    #[must_use]
    pub fn pick_sources(&self, files: &BTreeSet<String>) -> Picked {
        let patterns = |texts: &[String]| -> Vec<Option<Pattern>> {
            let resolved = texts.iter().map(|t| resolve(&self.directory, t));
            resolved.map(|text| text.map(|t| Pattern::from(t.as_str()))).collect()
        };
        let exclude = patterns(&self.exclude);
        let excluded = |file: &str| exclude.iter().flatten().any(|p| p.matches(file));
        let mut picked = Picked::default();
        let mut seen = BTreeSet::new();
        for (text, pattern) in self.sources.iter().zip(patterns(&self.sources)) {
            let fits = |file: &&String| match &pattern {
                Some(p) if p.is_literal() => p.as_str() == file.as_str(),
                Some(p) => p.matches(file) && !excluded(file) && !is_driver(file),
                None => false,
            };
            let mut any = false;
            for file in files.iter().filter(fits) {
                any = true;
                if seen.insert(file) {
                    picked.sources.push(file.clone());
                }
            }
            if !any {
                picked.unmatched.push(text.clone());
            }
        }
        picked
    }

    /// A path of the recipe (include directory, header pattern, patch target) from the root of the source tree.
    #[must_use]
    pub fn from_tree_root(&self, path: &str) -> Option<String> {
        resolve(&self.directory, path)
    }
}

/// Whether a file name is one of a test driver, benchmark or example.
fn is_driver(path: &str) -> bool {
    const STARTS: [&str; 15] = [
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
    ];
    const BEFORE_DOT: [&str; 6] = ["_test.", "test_.", "_bench.", "bench_.", "_main.", "_kat."];
    let name = path.rsplit('/').next().unwrap_or(path);
    STARTS.iter().any(|s| name.starts_with(s)) || BEFORE_DOT.iter().any(|s| name.contains(s))
}
