//! Obtains the archive of a crate release through the user's own cargo, from wherever that is configured to look.
//!
//! The crate is used for its files only. `cargo fetch` in an empty project downloads and verifies archives; it compiles
//! nothing and runs nothing of them. What cargo keeps in its cache is found there without starting it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::exec::process::{Child, Exit, Interrupt, Limits, Runner, Stdout};
use crate::package::sha256_of;

/// A release, pinned.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// Name of the crate.
    pub name: &'a str,
    /// Its exact version.
    pub version: &'a str,
    /// The registry's checksum.
    pub sha256: &'a str,
}

/// The user's cargo.
#[derive(Debug, Clone, Default)]
pub struct Cargo {
    /// The program, if there is one.
    pub program: Option<PathBuf>,
    /// Its home: configuration and cache.
    pub home: Option<PathBuf>,
    /// The variables it is given.
    pub env: BTreeMap<String, String>,
}

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// No cargo.
    #[error(
        "crate `{0}` comes through cargo, which is not on PATH; install Rust, or give the .crate file with --from"
    )]
    NoCargo(String),
    /// Cargo is not allowed to look.
    #[error("crate `{0}` is not in cargo's cache, and --offline keeps cargo from looking further")]
    Offline(String),
    /// Cargo could not.
    #[error("cargo could not fetch `{name}` {version}:\n{log}")]
    Failed {
        /// The crate.
        name: String,
        /// Its version.
        version: String,
        /// The end of what cargo said.
        log: String,
    },
    /// Cargo says it is there, and it is not.
    #[error(
        "cargo fetched `{name}` {version}, but no archive with sha256 {sha256} is in its cache{other}"
    )]
    NotThere {
        /// The crate.
        name: String,
        /// Its version.
        version: String,
        /// The pin.
        sha256: String,
        /// What is there instead.
        other: String,
    },
    /// The scratch project.
    #[error("cannot prepare cargo's project: {0}")]
    Io(#[from] std::io::Error),
}

/// Finds the archive in cargo's cache, fetching it first when it is not there.
///
/// # Errors
/// [`ReleaseError`].
pub fn obtain(
    release: Release<'_>,
    cargo: &Cargo,
    project: &Path,
    runner: &Runner,
    interrupt: &Interrupt,
    offline: bool,
) -> Result<PathBuf, ReleaseError> {
    if let Ok(found) = cached(release, cargo) {
        return Ok(found);
    }
    if offline {
        return Err(ReleaseError::Offline(release.name.to_owned()));
    }
    let Some(program) = &cargo.program else {
        return Err(ReleaseError::NoCargo(release.name.to_owned()));
    };
    std::fs::create_dir_all(project.join("src"))?;
    std::fs::write(project.join("src/lib.rs"), "")?;
    // Build metadata is no part of a version requirement.
    let version = release.version.split('+').next().unwrap_or_default();
    let text = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
         [dependencies]\n{} = \"={version}\"\n\n[workspace]\n",
        release.name
    );
    std::fs::write(project.join("Cargo.toml"), text)?;
    let log = project.join("log");
    let child = Child {
        argv: vec![OsString::from(program), "fetch".into()],
        dir: project.to_owned(),
        env: cargo.env.clone(),
        stdout: Stdout::Log,
        log: log.clone(),
        limits: Limits::wall(Duration::from_secs(30 * 60)),
        cpu: None,
    };
    let finished = runner.run(child, interrupt);
    if finished.exit != Exit::Code(0) {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let end = lines[lines.len().saturating_sub(12)..].join("\n");
        let (name, version) = (release.name.to_owned(), release.version.to_owned());
        let log = if end.is_empty() { format!("{:?}", finished.exit) } else { end };
        return Err(ReleaseError::Failed { name, version, log });
    }
    cached(release, cargo)
}

/// The archive in cargo's cache whose checksum is the pinned one.
fn cached(release: Release<'_>, cargo: &Cargo) -> Result<PathBuf, ReleaseError> {
    let file = format!("{}-{}.crate", release.name, release.version);
    let mut other = String::new();
    let cache = cargo.home.iter().map(|home| home.join("registry").join("cache"));
    for registry in cache.flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten()) {
        let path = registry.path().join(&file);
        let Ok(opened) = std::fs::File::open(&path) else { continue };
        match sha256_of(opened) {
            Ok((found, _)) if found == release.sha256 => return Ok(path),
            Ok((found, _)) => other = format!("; one of that name has sha256 {found}"),
            Err(_) => {}
        }
    }
    Err(ReleaseError::NotThere {
        name: release.name.to_owned(),
        version: release.version.to_owned(),
        sha256: release.sha256.to_owned(),
        other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_in_the_cache_counts_only_with_the_pinned_checksum() {
        let dir = tempfile::tempdir().unwrap();
        let registry = dir.path().join("registry/cache/index-1");
        std::fs::create_dir_all(&registry).unwrap();
        std::fs::write(registry.join("k-1.0.0+x.crate"), "abc").unwrap();
        let cargo = Cargo { home: Some(dir.path().to_owned()), ..Cargo::default() };
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let release = Release { name: "k", version: "1.0.0+x", sha256: abc };
        assert_eq!(cached(release, &cargo).unwrap(), registry.join("k-1.0.0+x.crate"));
        let wrong = Release { sha256: "00", ..release };
        let error = cached(wrong, &cargo).unwrap_err().to_string();
        assert!(error.contains(abc), "{error}");
        let runner = Runner::without_cgroups(PathBuf::from("ngcc"));
        let project = dir.path().join("p");
        let none = Cargo::default();
        let ask = |offline| {
            obtain(release, &none, &project, &runner, &Interrupt::none(), offline)
                .unwrap_err()
                .to_string()
        };
        assert!(ask(true).contains("--offline"));
        assert!(ask(false).contains("not on PATH"));
        assert!(!project.exists());
    }
}
