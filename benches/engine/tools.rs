//! The programs under test: what they are called, how they are run on a graph, and how it is told that they had
//! nothing to do.
//!
//! A program that is not installed is a line in the result. Nothing here measures.

use std::path::{Path, PathBuf};

use crate::files;
use crate::graph::{Graph, source_text};
use crate::ngcc_files;
use crate::process::{Invocation, Sample, find};

/// A kind of program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ngcc,
    Ninja,
    Make,
    Razel,
}

/// One program of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub(crate) kind: Kind,
    pub(crate) program: PathBuf,
    pub(crate) version: String,
}

impl Kind {
    /// All, ngcc first.
    const ALL: [Self; 4] = [Self::Ngcc, Self::Ninja, Self::Make, Self::Razel];

    /// Its name.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ngcc => "ngcc",
            Self::Ninja => "ninja",
            Self::Make => "make",
            Self::Razel => "razel",
        }
    }

    const fn install(self) -> &'static str {
        match self {
            Self::Ngcc => "cargo build --release",
            Self::Ninja => "apt install ninja-build",
            Self::Make => "apt install make",
            Self::Razel => "cargo install razel --locked",
        }
    }
}

/// The programs that are here, and a line for each that is not.
pub(crate) fn present(ngcc: &Path) -> (Vec<Tool>, Vec<String>) {
    let (mut tools, mut absent) = (Vec::new(), Vec::new());
    for kind in Kind::ALL {
        let program = if kind == Kind::Ngcc {
            // Its runs are started in other directories.
            std::path::absolute(ngcc).ok().filter(|path| path.is_file())
        } else {
            find(kind.word())
        };
        let found = program.and_then(|program| {
            let version = Invocation::new(&program, &["--version"], Path::new(".")).run().ok()?;
            let line = version.out.lines().next().unwrap_or("").trim();
            let version = line.rsplit(' ').next().unwrap_or(line).to_owned();
            Some(Tool { kind, program, version })
        });
        match found {
            Some(tool) => tools.push(tool),
            None => absent.push(format!("not installed: {} ({})", kind.word(), kind.install())),
        }
    }
    (tools, absent)
}

impl Tool {
    /// Writes a graph into a directory of its own.
    pub(crate) fn write(&self, graph: &Graph, dir: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(dir)?;
        if self.kind != Kind::Ngcc {
            files::write_sources(graph, dir)?;
        }
        match self.kind {
            Kind::Ngcc => ngcc_files::write_all(graph, dir),
            Kind::Ninja => files::ninja(graph, dir),
            Kind::Make => {
                // make does not make directories.
                std::fs::create_dir_all(dir.join("o"))?;
                files::make(graph, dir)
            }
            Kind::Razel => files::razel(graph, dir),
        }
    }

    /// The call that brings everything up to date, two commands at once.
    pub(crate) fn run(&self, dir: &Path) -> Invocation {
        let args: &[&str] = match self.kind {
            Kind::Ngcc => &["-C", ".", "pipeline", "run", ngcc_files::PIPELINE, "-j2"],
            Kind::Ninja | Kind::Make => &["-j2"],
            // It takes as many jobs as there are cores and cannot be told otherwise.
            Kind::Razel => &["exec", "--cache-dir", "cache"],
        };
        Invocation::new(&self.program, args, dir)
    }

    /// The call that says what would be done, where there is one.
    pub(crate) fn plan(&self, dir: &Path) -> Option<Invocation> {
        let args: &[&str] = match self.kind {
            Kind::Ngcc => &["-C", ".", "pipeline", "plan", ngcc_files::PIPELINE],
            Kind::Ninja | Kind::Make => &["-n"],
            Kind::Razel => return None,
        };
        Some(Invocation::new(&self.program, args, dir))
    }

    /// Removes all that it made, so that the next run starts from nothing.
    pub(crate) fn clean(&self, dir: &Path) -> std::io::Result<()> {
        for made in ["store", "o", ".ninja_log", ".ninja_deps", "razel-out", "cache"] {
            let path = dir.join(made);
            if path.is_dir() {
                std::fs::remove_dir_all(path)?;
            } else if path.exists() {
                std::fs::remove_file(path)?;
            }
        }
        if self.kind == Kind::Make { std::fs::create_dir_all(dir.join("o")) } else { Ok(()) }
    }

    /// Gives one source a text that it never had.
    pub(crate) fn change(&self, dir: &Path, source: usize) -> Result<(), String> {
        let name = match self.kind {
            Kind::Ngcc => ngcc_files::source_file(source),
            Kind::Ninja | Kind::Make | Kind::Razel => files::source_file(source),
        };
        let path = dir.join(name);
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let number = text.split("change ").nth(1).and_then(|rest| rest.split(' ').next());
        let number: u32 = number.and_then(|n| n.parse().ok()).ok_or("a source without a number")?;
        std::fs::write(path, source_text(source, number + 1)).map_err(|e| e.to_string())
    }

    /// Checks, by the program's own word, that nothing is left to do, and that the last outputs are there.
    pub(crate) fn is_idle(&self, graph: &Graph, dir: &Path) -> Result<(), String> {
        let ask = match self.kind {
            Kind::Ngcc => {
                let mut run = self.run(dir);
                run.args.extend(["--format", "json"].map(str::to_owned));
                run
            }
            Kind::Make => Invocation::new(&self.program, &["-q"], dir),
            Kind::Ninja | Kind::Razel => self.run(dir),
        };
        let said = ask.run()?;
        let idle = match self.kind {
            Kind::Ngcc => {
                count(&said, "executed") == Some(0)
                    && count(&said, "reused") == Some(graph.nodes.len())
            }
            Kind::Ninja => said.out.contains("no work to do"),
            Kind::Make => said.fine,
            Kind::Razel => said.fine && razel_executed(&said) == Some(0),
        };
        if !idle {
            return Err(format!("not idle: {}", said.out.lines().last().unwrap_or("no word")));
        }
        for end in graph.ends() {
            let output = files::output(graph, end);
            let place = match self.kind {
                // Its outputs are in the store; the count above says that it has them all.
                Kind::Ngcc => dir.join("store/blobs"),
                Kind::Ninja | Kind::Make => dir.join(&output),
                Kind::Razel => dir.join("razel-out").join(&output),
            };
            if !place.exists() {
                return Err(format!("{output} is not there"));
            }
        }
        Ok(())
    }

    /// How many commands a run says it executed; `None` when it does not say.
    pub(crate) fn executed(&self, said: &Sample) -> Option<usize> {
        match self.kind {
            Kind::Ngcc => {
                let text = said.out.split(" actions executed").next()?;
                text.rsplit(' ').next()?.parse().ok()
            }
            // `[5/5] cat …`, as one line that is written again and again, or as many.
            Kind::Ninja => said.out.rsplit('[').next()?.split('/').next()?.parse().ok(),
            Kind::Make => Some(said.out.lines().filter(|line| line.starts_with("cat ")).count()),
            Kind::Razel => razel_executed(said),
        }
    }
}

/// A number of ngcc's JSON summary.
pub(crate) fn count(said: &Sample, field: &str) -> Option<usize> {
    let summary: serde_json::Value = serde_json::from_str(&said.out).ok()?;
    usize::try_from(summary[field].as_u64()?).ok()
}

/// From `Finished successfully: 10 succeeded (8 cached), …`, which is coloured wherever it goes.
fn razel_executed(said: &Sample) -> Option<usize> {
    let mut plain = String::new();
    for (index, part) in said.out.split("\u{1b}[").enumerate() {
        plain.push_str(if index == 0 { part } else { part.split_once('m').map_or(part, |p| p.1) });
    }
    let (before, after) = plain.rsplit_once(" succeeded (")?;
    let succeeded: usize = before.rsplit(' ').next()?.parse().ok()?;
    succeeded.checked_sub(after.split(' ').next()?.parse().ok()?)
}
