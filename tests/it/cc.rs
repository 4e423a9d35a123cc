//! Compiles and runs the C programs of `tests/c`, for every test that needs one.
//!
//! It does not know what the programs do. Children are started through `duct`, which feeds and drains
//! them at the same time, so that neither side can block the other.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The guide's flags for a reference implementation, stricter: no warning is let through.
pub(crate) const GUIDE: &[&str] = &[
    "-std=c99",
    "-Wpedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Werror",
    "-O2",
    "-fPIC",
    "-D_GNU_SOURCE",
];

/// The same with the address and undefined-behaviour sanitizers; any finding ends the program.
pub(crate) const SANITIZED: &[&str] = &[
    "-std=c99",
    "-Wpedantic",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-O1",
    "-g",
    "-fPIC",
    "-D_GNU_SOURCE",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// What a program that ended well has written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A file or directory of the repository.
pub(crate) fn repo(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The C files directly in a directory of the repository, sorted.
pub(crate) fn c_files(dir: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(repo(dir))
        .expect("the directory is part of the repository")
        .map(|entry| entry.expect("the directory is readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    files
}

/// Compiles and links `sources` into `out` with the system's gcc; panics with its messages if it fails.
/// `flags` come before the sources, the include directories are searched in the given order.
pub(crate) fn compile(sources: &[PathBuf], include_dirs: &[PathBuf], flags: &[&str], out: &Path) {
    let mut argv: Vec<OsString> = flags.iter().map(OsString::from).collect();
    for dir in include_dirs {
        argv.push("-I".into());
        argv.push(dir.into());
    }
    argv.extend(sources.iter().map(OsString::from));
    argv.extend(["-o".into(), out.into()]);
    let output = duct::cmd("gcc", &argv)
        .stdout_capture()
        .stderr_capture()
        .unchecked()
        .run()
        .expect("gcc is installed");
    assert!(
        output.status.success(),
        "gcc {argv:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a compiled program; panics with what it wrote unless it exits with 0.
pub(crate) fn run(program: &Path, args: &[&str], stdin: &str) -> Written {
    let output = duct::cmd(program, args)
        .stdin_bytes(stdin)
        .stdout_capture()
        .stderr_capture()
        .unchecked()
        .run()
        .expect("the program was just compiled");
    let written = Written {
        stdout: String::from_utf8(output.stdout).expect("the test programs write text"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(
        output.status.success(),
        "{} {args:?} ended with {}:\n{}",
        program.display(),
        output.status,
        written.stderr
    );
    written
}
