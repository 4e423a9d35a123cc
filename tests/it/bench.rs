//! A small workspace around the toy KEM, with two instances `A` and `B`, and the program run on it.
//!
//! Every test has a workspace and a store of its own; nothing outside its temporary directory is touched.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests start the program itself")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cc::repo;

/// What the program said and how it ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// Exit code; none when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Run {
    /// The summary of `pipeline run --format json`.
    pub(crate) fn summary(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("no summary ({e}): {}{}", self.out, self.err))
    }

    /// Labels of the actions that ran, from the JSON events.
    pub(crate) fn ran(&self) -> Vec<String> {
        let ended = self.err.lines().filter_map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            (event["event"] == "ended").then(|| event["action"].as_str().map(str::to_owned))?
        });
        let mut labels: Vec<String> = ended.collect();
        labels.sort();
        labels
    }
}

/// The KAT digest of the toy KEM, canonical form.
pub(crate) const TOY_KAT: &str = "f9b259a0fe8be820ffabfb9d93d418c709705bec525d733187aef49d8adb3936";

const MANIFEST: &str = "\
name: Toy
function: kem
inspected: true
instances:
  A:
    sizes: {pk: 40, sk: 72, ct: 48, ss: 32}
  B:
    sizes: {pk: 40, sk: 72, ct: 48, ss: 32}
implementations:
  independent:
    version: independent
    source: {directory: src}
    recipe:
      directory: \"{instance}\"
";

const PIPELINE: &str = "\
about: Everything, as short as it gets
flag_sets:
  plain:
    c: [-std=c99, -O1, -fPIC]
  loose:
    c: [-std=gnu11, -O1, -fPIC]
stages:
  build: {kind: build, flags: [plain, loose]}
  kat: {kind: kat, needs: [build]}
  timing:
    kind: timing
    needs: [build, kat]
    trials: 6
    interval: true
    target: 1 ms
    min_total: 6
    max_iterations: 20
    budget: 1 s
  profile: {kind: profile, needs: [build, kat], target: 1 ms, max_operations: 20}
  sizes: {kind: sizes, needs: [build]}
  report: {kind: report, needs: [build, kat, timing, profile, sizes], formats: [md, json]}
";

/// A workspace in a temporary directory.
#[derive(Debug)]
pub(crate) struct Workspace {
    dir: tempfile::TempDir,
}

impl Workspace {
    /// Two instances, one pipeline `p` with every stage.
    pub(crate) fn new() -> Self {
        let workspace = Self { dir: tempfile::tempdir().unwrap() };
        for instance in ["A", "B"] {
            for file in ["KEM_AlgorithmInstance.c", "KEM_AlgorithmInstance.h"] {
                let text = std::fs::read_to_string(repo("testdata/toy-kem").join(file)).unwrap();
                workspace.write(&format!("kems/toy-1/src/{instance}/{file}"), &text);
            }
        }
        workspace.write("kems/toy-1/submission.yaml", MANIFEST);
        let digests: String =
            ["A", "B"].iter().map(|i| format!("{TOY_KAT} strict {i}/KAT_KEM_{i}.txt\n")).collect();
        workspace.write("kems/toy-1/kat.sha256", &digests);
        workspace.write("pipelines/p.yaml", PIPELINE);
        let system = std::fs::read_to_string(repo("systems/this.yaml")).unwrap();
        workspace.write("systems/this.yaml", &system);
        workspace
    }

    /// The root.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// A path below the root.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    /// Writes a file.
    pub(crate) fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Replaces one text in a file; it must be there.
    pub(crate) fn edit(&self, below: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path(below)).unwrap();
        assert!(text.contains(from), "`{from}` is not in {below}");
        std::fs::write(self.path(below), text.replacen(from, to, 1)).unwrap();
    }

    /// The program with these arguments, not started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ngcc"));
        command.args(args).current_dir(self.root()).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn ngcc(&self, args: &[&str]) -> Run {
        let output = self.command(args).output().unwrap();
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// `pipeline run p` with JSON output and further arguments.
    pub(crate) fn run(&self, more: &[&str]) -> Run {
        let mut args = vec!["--format", "json", "pipeline", "run", "p"];
        args.extend(more);
        self.ngcc(&args)
    }

    /// Takes the stages that need the machine for themselves out of the pipeline.
    pub(crate) fn without_measuring(&self) {
        let text = std::fs::read_to_string(self.path("pipelines/p.yaml")).unwrap();
        let start = text.find("  timing:").unwrap();
        let end = text.find("  sizes:").unwrap();
        let text = format!("{}{}", &text[..start], &text[end..]);
        let text = text.replace("kat, timing, profile, sizes", "kat, sizes");
        self.write("pipelines/p.yaml", &text);
    }
}
