//! Formats that installed programs read for us: xz and zstd as a stream, 7z and RAR into a scratch directory.
//!
//! Which program, with which arguments, is here; starting it, shut in and limited, is the business of whoever
//! implements [`External`]. What a program leaves is taken by the same rules as any directory, so nothing depends on
//! how careful it is with names and links.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::assembly::{Assembly, Place};
use super::directory;
use super::refusal::{Refusal, UnpackError};

/// Reads a program's standard output while it runs.
pub type Output<'a> = dyn FnMut(&mut dyn Read) -> io::Result<()> + Send + 'a;

/// A program to run.
pub struct Call<'a> {
    /// Its name, to be looked up.
    pub program: &'static str,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory, which is all it may write to. It exists and is empty.
    pub dir: &'a Path,
    /// What is done with its standard output; without it, it is a message.
    pub output: Option<&'a mut Output<'a>>,
    /// Bytes of all files together that it may leave in its directory.
    pub most_bytes: u64,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { program, args, dir, output: _, most_bytes } = self;
        write!(f, "{program} {args:?} in {} for {most_bytes} bytes", dir.display())
    }
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// There is no such program.
    Missing,
    /// It did not end well, because.
    Failed(String),
}

/// Runs installed programs on hostile input: no network, nothing written but below the directory of the call, an end
/// after some time.
pub trait External {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// When it is not there, or did not end well.
    fn run(&self, call: Call<'_>) -> Result<(), CallError>;
}

/// A format, and the programs that read it, best first.
pub(super) struct Tools {
    format: &'static str,
    ending: &'static str,
    package: &'static str,
    /// Name, arguments before the archive, arguments behind it.
    programs: &'static [(&'static str, &'static [&'static str], &'static [&'static str])],
}

pub(super) const XZ: Tools = Tools {
    format: "an xz stream",
    ending: "xz",
    package: "xz-utils",
    programs: &[("xz", &["-dcq", "--memlimit-decompress=2GiB", "--"], &[])],
};

pub(super) const ZSTD: Tools = Tools {
    format: "a zstd stream",
    ending: "zst",
    package: "zstd",
    programs: &[("zstd", &["-dcq", "--"], &[])],
};

const SEVEN: &[&str] = &["x", "-y", "-bd", "-p", "-o.", "--"];
const BSDTAR: (&str, &[&str], &[&str]) =
    ("bsdtar", &["-x", "--no-same-owner", "--no-same-permissions", "-f"], &[]);
const UNAR: (&str, &[&str], &[&str]) = ("unar", &["-quiet", "-no-directory"], &[]);

pub(super) const SEVEN_ZIP: Tools = Tools {
    format: "a 7z archive",
    ending: "7z",
    package: "7zip",
    programs: &[("7zz", SEVEN, &[]), ("7z", SEVEN, &[]), BSDTAR, UNAR],
};

pub(super) const RAR: Tools = Tools {
    format: "a RAR archive",
    ending: "rar",
    package: "libarchive-tools",
    programs: &[
        BSDTAR,
        ("unrar", &["x", "-y", "-p-", "-idq", "--"], &["./"]),
        UNAR,
        ("7zz", SEVEN, &[]),
        ("7z", SEVEN, &[]),
    ],
};

impl Tools {
    /// The refusal when none of the programs did it.
    fn refusal(&self, failures: &[String]) -> Refusal {
        if !failures.is_empty() {
            return Refusal::ToolFailed { format: self.format, why: failures.join("; ") };
        }
        let names: Vec<String> =
            self.programs.iter().map(|(program, ..)| format!("`{program}`")).collect();
        Refusal::NoTool { format: self.format, programs: names.join(", "), package: self.package }
    }
}

/// What takes the entries out of a stream that was decompressed.
type Take<'t> =
    dyn FnMut(&mut dyn Read, &Place, &mut Assembly<'_>) -> Result<(), UnpackError> + Send + 't;

/// Decompresses an archive by the program for it and hands on what comes out.
pub(super) fn stream(
    tools: &Tools,
    external: &dyn External,
    archive: &Path,
    at: &Place,
    into: &mut Assembly<'_>,
    take: &mut Take<'_>,
) -> Result<(), UnpackError> {
    let scratch = into.store.scratch("unpack")?;
    let archive = absolute(archive)?;
    let mut failures = Vec::new();
    for (program, before, behind) in tools.programs {
        let dir = scratch.path().join(program);
        create(&dir)?;
        let mut taken = None;
        let mut output = |stdout: &mut dyn Read| {
            taken = Some(take(stdout, at, into));
            Ok(())
        };
        let args = args(before, &archive, behind);
        let most_bytes = 0;
        let call = Call { program, args, dir: &dir, output: Some(&mut output), most_bytes };
        let ended = external.run(call);
        match (ended, taken) {
            (Err(CallError::Missing), _) => {}
            // What was read up to the failure tells less than the program: it may have said why the stream ended.
            (Err(CallError::Failed(why)), None | Some(Ok(()))) => failures.push(why),
            (Err(CallError::Failed(why)), Some(Err(error))) => {
                let ended = matches!(
                    error.refusal(),
                    Some(Refusal::Truncated(_) | Refusal::Shorter { .. })
                );
                if !ended {
                    return Err(error);
                }
                failures.push(why);
                break;
            }
            (Ok(()), Some(result)) => return result,
            (Ok(()), None) => failures.push(format!("`{program}` wrote nothing")),
        }
    }
    Err(at.error(tools.refusal(&failures)))
}

/// Unpacks an archive by one of the programs for it, in a scratch directory, and takes what is there then.
pub(super) fn extract(
    tools: &Tools,
    external: &dyn External,
    archive: &Path,
    at: &Place,
    into: &mut Assembly<'_>,
) -> Result<(), UnpackError> {
    let scratch = into.store.scratch("unpack")?;
    // Some programs go by the ending of a name.
    let archive_link = scratch.path().join(format!("archive.{}", tools.ending));
    std::os::unix::fs::symlink(absolute(archive)?, &archive_link)
        .map_err(|source| UnpackError::Io { path: archive_link.clone(), source })?;
    let mut failures = Vec::new();
    for (program, before, behind) in tools.programs {
        let dir = scratch.path().join(program);
        create(&dir)?;
        let args = args(before, &archive_link, behind);
        let most_bytes = into.limits.total_bytes;
        match external.run(Call { program, args, dir: &dir, output: None, most_bytes }) {
            Ok(()) => return directory::read(&dir, at, into),
            Err(CallError::Missing) => {}
            Err(CallError::Failed(why)) => failures.push(why),
        }
    }
    Err(at.error(tools.refusal(&failures)))
}

fn args(before: &[&str], archive: &Path, behind: &[&str]) -> Vec<OsString> {
    let mut args: Vec<OsString> = before.iter().map(Into::into).collect();
    args.push(archive.into());
    args.extend(behind.iter().map(OsString::from));
    args
}

fn absolute(path: &Path) -> Result<std::path::PathBuf, UnpackError> {
    std::path::absolute(path).map_err(|source| UnpackError::Io { path: path.to_owned(), source })
}

fn create(dir: &Path) -> Result<(), UnpackError> {
    fs::create_dir(dir).map_err(|source| UnpackError::Io { path: dir.to_owned(), source })
}
