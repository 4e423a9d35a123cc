//! Which tools this machine has, and what each of them is by content.
//!
//! A compiler replaced at the same path with the same version text must change every key, so identity is the digest of
//! the program file, and the driver alone is not enough: `cc1`, `as`, `ld`, `collect2` and the C library it links and
//! includes count on their own. Asking a compiler starts a dozen children; the answers are kept together with the stat
//! signature of every file they depend on, so a later start looks at those files and starts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::digest::{Digest, Encode, KeyWriter, Sink};
use crate::exec::process::ask;
use crate::record::ToolIdentity;

/// How long a tool may think about its version.
const PATIENCE: Duration = Duration::from_secs(30);

/// Programs that the compiler driver runs, by the name it knows them under. The last three are there only for LTO and
/// C++, and nobody misses them until a stage asks.
const OF_THE_DRIVER: [&str; 7] = ["cc1", "as", "ld", "collect2", "lto1", "lto-wrapper", "cc1plus"];

/// Files that the driver links into programs.
const LINKED: [&str; 14] = [
    "libc.so.6",
    "libm.so.6",
    "libc_nonshared.a",
    "crt1.o",
    "Scrt1.o",
    "crti.o",
    "crtn.o",
    "crtbegin.o",
    "crtbeginS.o",
    "crtend.o",
    "crtendS.o",
    "libgcc.a",
    "libgcc_s.so.1",
    "liblto_plugin.so",
];

/// Headers of the C library that stand for all of them; those they include count too.
const HEADERS: [&str; 6] = ["stdio.h", "stdlib.h", "string.h", "stdint.h", "math.h", "unistd.h"];

/// The Debian package that brings a tool.
const PACKAGES: [(&str, &str); 16] = [
    ("ar", "binutils"),
    ("as", "binutils"),
    ("cc1", "gcc"),
    ("cc1plus", "g++"),
    ("cmake", "cmake"),
    ("collect2", "gcc"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("libc", "libc6-dev"),
    ("lto-wrapper", "gcc"),
    ("lto1", "gcc"),
    ("make", "make"),
    ("ninja", "ninja-build"),
    ("objcopy", "binutils"),
    ("perf", "linux-perf"),
    ("valgrind", "valgrind"),
];

/// One tool of this machine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tool {
    /// Where it is; for `libc` the shared library.
    pub path: PathBuf,
    /// What it is.
    pub identity: ToolIdentity,
}

/// A tool that is needed and not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// Not on the path, and known where to get it.
    #[error("`{name}` is not installed here (Debian: apt install {package})")]
    Missing {
        /// The tool.
        name: String,
        /// The package.
        package: &'static str,
    },
    /// Not on the path.
    #[error("`{name}` is not on PATH")]
    Unknown {
        /// The tool.
        name: String,
    },
}

/// All tools found, with what is needed to know later whether that still holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tools {
    tools: BTreeMap<String, Tool>,
    /// The search path they were found on.
    path: String,
    /// Every name looked for on the path, with where it was.
    looked_for: BTreeMap<String, Option<PathBuf>>,
    /// Every file read.
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// What a file looked like from outside. The change time is set by the kernel and cannot be put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    device: u64,
    inode: u64,
}

impl Stamp {
    /// The stamp of a file.
    ///
    /// # Errors
    /// When it cannot be asked for.
    pub fn of(path: &Path) -> io::Result<Self> {
        let meta = std::fs::metadata(path)?;
        Ok(Self {
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            device: meta.dev(),
            inode: meta.ino(),
        })
    }
}

/// The digest of a file, from a cache where there is one.
pub type FileDigest<'a> = dyn Fn(&Path) -> io::Result<Digest> + 'a;

impl Tools {
    /// Looks for the build tools and the further `names` on the search path `path`. What is not there is left out;
    /// [`Tools::require`] says so when somebody wants it.
    #[must_use]
    pub fn discover(path: &str, names: &BTreeSet<String>, digest: &FileDigest<'_>) -> Self {
        let env = BTreeMap::from([
            ("LC_ALL".to_owned(), "C".to_owned()),
            ("PATH".to_owned(), path.to_owned()),
        ]);
        let mut search =
            Search { found: Self { path: path.to_owned(), ..Self::default() }, env, digest };
        if let Some(compiler) = search.program("gcc").or_else(|| search.program_as("gcc", "cc")) {
            search.parts_of(&compiler);
        }
        for name in ["cmake", "ninja", "make"].into_iter().chain(names.iter().map(String::as_str)) {
            if !search.found.tools.contains_key(name) {
                search.program(name);
            }
        }
        search.found
    }

    /// Whether discovering again with the same arguments would give the same, by looking at files only.
    #[must_use]
    pub fn still_hold(&self, path: &str, names: &BTreeSet<String>) -> bool {
        self.path == path
            && names.iter().all(|n| self.tools.contains_key(n) || self.looked_for.contains_key(n))
            && self.looked_for.iter().all(|(name, at)| find(path, name) == *at)
            && self.stamps.iter().all(|(file, stamp)| Stamp::of(file).is_ok_and(|s| s == *stamp))
    }

    /// The tool of this name, when it is there.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// The tool of this name.
    ///
    /// # Errors
    /// When it was not found; the message names the Debian package where that is known.
    pub fn require(&self, name: &str) -> Result<&Tool, ToolError> {
        self.get(name).ok_or_else(|| {
            let package = PACKAGES.iter().find(|(tool, _)| *tool == name);
            let name = name.to_owned();
            match package {
                Some((_, package)) => ToolError::Missing { name, package },
                None => ToolError::Unknown { name },
            }
        })
    }

    /// Identities of the tools with these names that are there: what enters a key.
    #[must_use]
    pub fn identities<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> BTreeMap<String, ToolIdentity> {
        let of = |name: &'a str| Some((name.to_owned(), self.get(name)?.identity.clone()));
        names.into_iter().filter_map(of).collect()
    }

    /// All tools by name.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, Tool> {
        &self.tools
    }
}

/// A discovery under way.
struct Search<'a> {
    found: Tools,
    env: BTreeMap<String, String>,
    digest: &'a FileDigest<'a>,
}

impl Search<'_> {
    /// Looks a program up on the path and notes it under its own name.
    fn program(&mut self, name: &str) -> Option<PathBuf> {
        self.program_as(name, name)
    }

    fn program_as(&mut self, name: &str, on_path: &str) -> Option<PathBuf> {
        let at = find(&self.found.path, on_path);
        self.found.looked_for.insert(on_path.to_owned(), at.clone());
        let path = at?;
        let version = self.first_line(&path, &["--version"]);
        self.note(name, &path, version)
    }

    fn note(&mut self, name: &str, path: &Path, version: Option<String>) -> Option<PathBuf> {
        let digest = self.digest(path)?;
        let version = version.unwrap_or_else(|| "version not told".to_owned());
        let identity = ToolIdentity { version, digest };
        self.found.tools.insert(name.to_owned(), Tool { path: path.to_owned(), identity });
        Some(path.to_owned())
    }

    /// A file's digest; its signature is taken before it is read, so a change meanwhile shows later.
    fn digest(&mut self, path: &Path) -> Option<Digest> {
        let stamp = Stamp::of(path).ok()?;
        let digest = (self.digest)(path).ok()?;
        self.found.stamps.insert(path.to_owned(), stamp);
        Some(digest)
    }

    fn first_line(&self, program: &Path, args: &[&str]) -> Option<String> {
        let answer = ask(program, args, &self.env, PATIENCE).ok()?;
        let text = String::from_utf8_lossy(&answer);
        let line = text.lines().find(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(200).collect())
    }

    /// The programs and the C library behind a compiler driver.
    fn parts_of(&mut self, compiler: &Path) {
        let version = self.first_line(compiler, &["--version"]);
        for name in OF_THE_DRIVER {
            let Some(answer) = self.first_line(compiler, &[&format!("-print-prog-name={name}")])
            else {
                continue;
            };
            // A bare name is how the driver says that it would look on the path itself.
            if answer.contains('/') {
                let path = PathBuf::from(answer);
                let own =
                    matches!(name, "as" | "ld").then(|| self.first_line(&path, &["--version"]));
                self.note(name, &path, own.unwrap_or_else(|| version.clone()));
            } else {
                self.program(name);
            }
        }
        self.c_library(compiler);
    }

    /// One identity for everything of the C library (and the compiler's own runtime) that gets into programs.
    fn c_library(&mut self, compiler: &Path) {
        let mut parts = Parts::default();
        let mut library = None;
        for name in LINKED {
            let answer = self.first_line(compiler, &[&format!("-print-file-name={name}")]);
            let Some(path) = answer.filter(|a| a.contains('/')).map(PathBuf::from) else {
                continue;
            };
            if let Some(digest) = self.digest(&path) {
                parts.0.insert(name.to_owned(), digest);
                if name == "libc.so.6" {
                    library = Some(path);
                }
            }
        }
        let mut args = vec!["-M"];
        args.extend(HEADERS.iter().flat_map(|header| ["-include", header]));
        args.extend(["-x", "c", "/dev/null"]);
        // Without headers or startup files nothing can be built: the same as no C library.
        let Ok(rule) = ask(compiler, &args, &self.env, PATIENCE) else { return };
        for header in prerequisites(&String::from_utf8_lossy(&rule)) {
            if let Some(digest) = self.digest(&header) {
                parts.0.insert(below_include(&header), digest);
            }
        }
        if !parts.0.contains_key("crt1.o") && !parts.0.contains_key("Scrt1.o") {
            return;
        }
        // The GNU library is a program that prints its version. A static-only system has no shared library.
        let version = library.as_deref().and_then(|path| self.first_line(path, &[]));
        let version = version.unwrap_or_else(|| "version not told".to_owned());
        let identity = ToolIdentity { version, digest: KeyWriter::key("libc", &parts) };
        let path = library.unwrap_or_else(|| compiler.to_owned());
        self.found.tools.insert("libc".to_owned(), Tool { path, identity });
    }
}

/// Files by a name that does not depend on where they are.
#[derive(Default)]
struct Parts(BTreeMap<String, Digest>);

impl Encode for Parts {
    fn encode(&self, sink: &mut dyn Sink) {
        sink.open("parts", self.0.len());
        for (name, digest) in &self.0 {
            sink.field(name, digest.as_bytes());
        }
        sink.close();
    }
}

/// The files after the colon of a make rule.
fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let after = rule.split_once(": ").map_or("", |(_, after)| after);
    let words = after.split_whitespace().filter(|&word| word != "\\" && word != "/dev/null");
    words.map(PathBuf::from).collect()
}

/// A header's path from the last `include` directory on.
fn below_include(header: &Path) -> String {
    let text = header.display().to_string();
    match text.rsplit_once("/include/") {
        Some((_, below)) => format!("include/{below}"),
        None => text,
    }
}

/// The first executable file of this name on the search path. Relative and empty entries are not searched.
pub(crate) fn find(path: &str, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    path.split(':').filter(|dir| dir.starts_with('/')).map(|dir| Path::new(dir).join(name)).find(
        |candidate| {
            std::fs::metadata(candidate).is_ok_and(|m| m.is_file() && m.mode() & 0o111 != 0)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_make_rule_gives_its_files() {
        let rule = "null.o: /dev/null /usr/include/stdio.h \\\n /usr/include/bits/types.h\n";
        let files = prerequisites(rule);
        assert_eq!(
            files,
            [PathBuf::from("/usr/include/stdio.h"), PathBuf::from("/usr/include/bits/types.h")]
        );
        assert_eq!(below_include(&files[1]), "include/bits/types.h");
        assert!(prerequisites("nonsense").is_empty());
    }

    #[test]
    fn a_missing_tool_names_its_package() {
        let tools = Tools::discover("/nonexistent", &BTreeSet::new(), &|_| Ok(Digest::of(b"")));
        let message = |name: &str| tools.require(name).unwrap_err().to_string();
        assert_eq!(
            message("ninja"),
            "`ninja` is not installed here (Debian: apt install ninja-build)"
        );
        assert_eq!(message("cloc"), "`cloc` is not on PATH");
        assert!(tools.still_hold("/nonexistent", &BTreeSet::new()));
    }
}
