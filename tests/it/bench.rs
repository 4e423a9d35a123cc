//! A small workspace around the toy KEM, with two instances `A` and `B`, and the program run on it.
//!
//! Every test has a workspace and a store of its own; nothing outside its temporary directory is touched.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests start the program itself")]

use std::fmt::Write as _;
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

const IMPLEMENTATION: &str = "\
implementations:
  independent:
    version: independent
    source: {directory: src}
    recipe: {directory: \"{instance}\"}
";

/// A command stage that runs a shell script with the usual programs on its path; `more` are its other fields. What it
/// prints is its output `out`, unless `more` says which outputs it has.
pub(crate) fn shell(name: &str, scope: &str, script: &str, more: &str) -> String {
    let script = serde_json::to_string(&format!("PATH=/usr/bin:/bin; {script}")).unwrap();
    let outputs = if more.contains("outputs:") { "" } else { "outputs: {out: out}, stdout: out, " };
    let comma = if more.is_empty() { "" } else { ", " };
    format!(
        "  {name}: {{kind: command, scope: {scope}, {outputs}tools: [sh], argv: [sh, -c, {script}]{comma}{more}}}\n"
    )
}

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

    /// A pipeline `p` of these command stages (see [`shell`]), and a submission `steps` with one instance for each
    /// name (`A` when there are none), whose source `one.c` holds its name.
    pub(crate) fn of_commands(instances: &[&str], stages: &str) -> Self {
        let workspace = Self { dir: tempfile::tempdir().unwrap() };
        let mut names = String::new();
        for instance in if instances.is_empty() { &["A"] } else { instances } {
            let _ = writeln!(names, "  {instance}: {{}}");
            workspace.write(&format!("kems/steps/src/{instance}/one.c"), &format!("{instance}\n"));
            workspace.write(&format!("kems/steps/src/{instance}/KEM_AlgorithmInstance.h"), "");
        }
        let manifest = format!("name: Steps\nfunction: kem\ninstances:\n{names}{IMPLEMENTATION}");
        workspace.write("kems/steps/submission.yaml", &manifest);
        workspace.write("pipelines/p.yaml", &format!("about: Commands\nstages:\n{stages}"));
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

    /// Copies a workspace of commands, with further files, to another place.
    pub(crate) fn copy_to(&self, root: &Path, more: &[&str]) {
        let source = "kems/steps/src/A";
        let ours = ["pipelines/p.yaml", "systems/this.yaml", "kems/steps/submission.yaml"];
        let sources = [format!("{source}/one.c"), format!("{source}/KEM_AlgorithmInstance.h")];
        for file in more.iter().chain(&ours).copied().chain(sources.iter().map(String::as_str)) {
            let to = root.join(file);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(self.path(file), to).unwrap();
        }
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

    /// A run that must end well: what was executed, by label.
    pub(crate) fn executed(&self) -> Vec<String> {
        let run = self.run(&[]);
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
        run.ran()
    }

    /// The bytes of an action's output, a file; read past the store's own checks.
    pub(crate) fn output(&self, action: &str, name: &str) -> String {
        let trace = self.ngcc(&["--format", "json", "trace", action, "--pipeline", "p"]);
        let links: serde_json::Value = serde_json::from_str(&trace.out)
            .unwrap_or_else(|e| panic!("no trace ({e}): {}{}", trace.out, trace.err));
        let blob = links[0]["record"]["outputs"][name]["blob"].as_str().unwrap().to_owned();
        std::fs::read_to_string(self.blob(&blob)).unwrap()
    }

    /// Where a blob lies.
    pub(crate) fn blob(&self, digest: &str) -> PathBuf {
        self.path(&format!("store/blobs/{}/{digest}", &digest[..2]))
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
