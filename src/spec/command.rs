//! The stage kind `command`: a lab's own step, declared in full, so that everything it depends on enters its key.
//!
//! Knows nothing of running it. In `argv` and `env`, `${input:name}`, `${output:name}` and `${tool:name}` stand for paths that
//! only exist once the step runs; no shell is involved unless the file names one as a tool.

use std::collections::BTreeMap;

use super::fields::{Map, Named};
use super::reader::{At, Kind, Located};
use crate::diag::nearest;
use crate::disk::Disk;
use crate::name::{Name, RelPath};

/// A declared command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSettings {
    /// How often it runs.
    pub scope: Scope,
    /// Program and arguments.
    pub argv: Vec<ArgTemplate>,
    /// What it reads.
    pub inputs: BTreeMap<Name, InputRef>,
    /// What it writes: name to path in its scratch directory.
    pub outputs: BTreeMap<Name, RelPath>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// Programs it runs, looked up on PATH; their digests enter the key.
    pub tools: Vec<String>,
    /// The output that its standard output becomes.
    pub stdout: Option<Name>,
    /// Exit codes that mean a finding rather than a failure.
    pub finding_exit_codes: Vec<i32>,
}

/// How often a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Once for each submission.
    Submission,
    /// Once for each instance of each implementation.
    Instance,
    /// Once.
    Once,
}

impl Scope {
    /// The words of the pipeline file.
    pub(super) const WORDS: [(&'static str, Self); 3] =
        [("submission", Self::Submission), ("instance", Self::Instance), ("once", Self::Once)];
}

/// One argument: its parts are joined without anything between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgTemplate(pub Vec<ArgPart>);

/// A part of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgPart {
    /// Itself.
    Text(String),
    /// The path of an input.
    Input(Name),
    /// The path of an output.
    Output(Name),
    /// The path of a tool.
    Tool(String),
}

/// What an input is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputRef {
    /// The source files of the instance (or of all instances in the scope).
    Sources,
    /// An output of another stage.
    Stage {
        /// The stage.
        stage: Name,
        /// The name of its output.
        output: String,
    },
    /// A file or directory of the workspace.
    File(RelPath),
}

/// An output of another stage: the stage's name and the output's.
pub(super) type Use = (Name, String);

/// Reads the fields of a command; also returns the outputs of stages that it uses, with their places.
pub(super) fn read<'d>(
    map: &Map<'d>,
    disk: &Disk,
) -> Option<(CommandSettings, Vec<Located<'d, Use>>)> {
    let scope = map.required("scope", |at| at.one_of("scope", &Scope::WORDS));
    let inputs = map.or("inputs", Vec::new(), |at| at.named(|at| input(at, disk)));
    let outputs = map.required("outputs", |at| at.named(|at| at.path_from(None)));
    let tools = map.required("tools", |at| at.set(tool));
    let env = map.or("env", BTreeMap::new(), environment);
    let stdout = map.optional("stdout", |at| at.located(at.name()));
    let argv = map.required("argv", |at| at.list(|at| at.located(argument(at))));
    let codes = map.or("finding_exit_codes", Vec::new(), |at| at.set(exit_code));
    let names = |key| map.get(key).map_or_else(Vec::new, At::keys);
    let tools = tools.unwrap_or_default();
    let known = Known {
        inputs: names("inputs"),
        outputs: names("outputs"),
        tools: tools.iter().map(String::as_str).collect(),
    };
    let (inputs, outputs) = (inputs?, outputs.unwrap_or_default());
    one_file_each(&outputs);
    if let Some(Some(stdout)) = &stdout {
        known.one("output", stdout.value.as_str(), &known.outputs, stdout.at);
    }
    argv.iter().flatten().for_each(|arg| known.check(arg));
    let argv = argv.and_then(|argv| known.program_first(map, argv));
    let uses = inputs
        .iter()
        .filter_map(|named| match &named.value {
            InputRef::Stage { stage, output } => {
                Some(Located { value: (stage.clone(), output.clone()), at: named.at })
            }
            InputRef::Sources | InputRef::File(_) => None,
        })
        .collect();
    let settings = CommandSettings {
        scope: scope?,
        argv: argv?,
        env: env?,
        stdout: stdout?.map(|s| s.value),
        finding_exit_codes: codes?,
        inputs: inputs.into_iter().map(|n| (n.name, n.value)).collect(),
        outputs: outputs.into_iter().map(|n| (n.name, n.value)).collect(),
        tools,
    };
    Some((settings, uses))
}

/// Two outputs in one file would be one.
fn one_file_each(outputs: &[Named<'_, RelPath>]) {
    let mut places: BTreeMap<&RelPath, At<'_>> = BTreeMap::new();
    for output in outputs {
        if let Some(first) = places.insert(&output.value, output.at) {
            let message = format!("two outputs are the file `{}`", output.value);
            output
                .at
                .error("duplicate-output", message, "again here", |d| first.point(d, "first here"));
        }
    }
}

/// The names that an argument may use.
struct Known<'a> {
    inputs: Vec<&'a str>,
    outputs: Vec<&'a str>,
    tools: Vec<&'a str>,
}

impl Known<'_> {
    fn check(&self, arg: &Located<'_, ArgTemplate>) {
        for part in &arg.value.0 {
            match part {
                ArgPart::Text(_) => {}
                ArgPart::Input(name) => self.one("input", name.as_str(), &self.inputs, arg.at),
                ArgPart::Output(name) => self.one("output", name.as_str(), &self.outputs, arg.at),
                ArgPart::Tool(name) => self.one("tool", name, &self.tools, arg.at),
            }
        }
    }

    fn one(&self, what: &str, name: &str, known: &[&str], at: At<'_>) {
        if known.contains(&name) {
            return;
        }
        let message = format!("there is no {what} `{name}` in this stage");
        at.error("unknown-name", message, "", |d| match nearest(name, known.iter().copied()) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d.help(format!("declare it in `{what}s`")),
        });
    }

    /// The first item is the program: a tool, or the path of an input. A bare word there is a tool's name.
    fn program_first(
        &self,
        map: &Map<'_>,
        mut argv: Vec<Located<'_, ArgTemplate>>,
    ) -> Option<Vec<ArgTemplate>> {
        let Some(program) = argv.first_mut() else {
            map.required("argv", |at| {
                let message = "`argv` is empty: the first item is the program to run";
                at.error("bad-value", message, "", |d| d);
                None::<()>
            });
            return None;
        };
        if let [ArgPart::Text(text)] = program.value.0.as_slice() {
            self.one("tool", text, &self.tools, program.at);
            program.value.0 = vec![ArgPart::Tool(text.clone())];
        }
        Some(argv.into_iter().map(|arg| arg.value).collect())
    }
}

/// `sources`, `stage.output`, or a path with a `/` in it.
fn input(at: At<'_>, disk: &Disk) -> Option<InputRef> {
    let text = at.text()?;
    if text == "sources" {
        return Some(InputRef::Sources);
    }
    if text.contains('/') {
        let path = at.path_from(None)?;
        let kind = if disk.is_dir(path.as_str()) { Kind::Directory } else { Kind::File };
        at.must_exist(disk, &path, kind)?;
        return Some(InputRef::File(path));
    }
    if let Some((stage, output)) = text.split_once('.')
        && let (Ok(stage), Ok(output)) = (stage.parse::<Name>(), output.parse::<Name>())
    {
        return Some(InputRef::Stage { stage, output: output.to_string() });
    }
    at.error("bad-value", format!("`{text}` is not an input"), "", |d| {
        d.suggest(&text, ["sources"])
            .help("an input is `sources`, `stage.output`, or a path with a `/` (`./file`)")
    });
    None
}

fn tool(at: At<'_>) -> Option<String> {
    let name = at.name()?;
    Some(name.to_string())
}

fn environment(at: At<'_>) -> Option<BTreeMap<String, String>> {
    let read = |at: At<'_>| {
        let name = at.key();
        if name.is_empty() || name.contains(['=', '\0', ' ']) {
            let message = format!("`{name}` is not a name of an environment variable");
            at.key_error("bad-value", message, "", |d| d);
            return None;
        }
        Some((name.to_owned(), at.any_text()?))
    };
    Some(at.entries()?.into_iter().filter_map(read).collect())
}

fn exit_code(at: At<'_>) -> Option<i32> {
    let code = at.small_number()?;
    match i32::try_from(code) {
        Ok(code) if (1..=255).contains(&code) => Some(code),
        _ => {
            at.error("bad-value", format!("{code} is not an exit code"), "1 to 255", |d| d);
            None
        }
    }
}

fn argument(at: At<'_>) -> Option<ArgTemplate> {
    let text = at.any_text()?;
    let mut parts = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        if !before.is_empty() {
            parts.push(ArgPart::Text(before.to_owned()));
        }
        let (place, tail) = after.split_once('}').unwrap_or((after, ""));
        let name = |n: &str| n.parse::<Name>().ok();
        let part = match place.split_once(':') {
            Some(("input", n)) => name(n).map(ArgPart::Input),
            Some(("output", n)) => name(n).map(ArgPart::Output),
            Some(("tool", n)) => name(n).map(|n| ArgPart::Tool(n.to_string())),
            _ => None,
        };
        let Some(part) = part else {
            let message = format!("`${{{place}}}` stands for nothing");
            at.error("bad-value", message, "", |d| {
                d.help("`${input:name}`, `${output:name}` and `${tool:name}` can be used")
            });
            return None;
        };
        parts.push(part);
        rest = tail;
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(ArgPart::Text(rest.to_owned()));
    }
    Some(ArgTemplate(parts))
}
