//! One running action as its procedure sees it: inputs, parameters, a scratch directory, children, outputs.
//!
//! Everything a procedure may touch goes through here, so provenance, limits and repair of damaged blobs are in one
//! place. Knows nothing of plans, scheduling or stage kinds.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::meter::Meter;
use super::process::{Interrupt, Runner};
use crate::action::{ActionSpec, Bound, BoundInput, Source};
use crate::artifact::Artifact;
use crate::clock::Clock;
use crate::digest::{BlobId, Digest};
use crate::host::HostFacts;
use crate::name::RelPath;
use crate::outcome::OutcomeDocument;
use crate::record::{Failure, FailureClass, Finding};
use crate::store::{Scratch, Store, StoreError};
use crate::toolchain::Tools;

/// What all actions of a run share.
pub struct Bench<'r> {
    /// The store.
    pub store: &'r Store,
    /// Root of the workspace that `Source::File` paths start at.
    pub workspace: &'r Path,
    /// The tools of this machine.
    pub tools: &'r Tools,
    /// This program, for its hidden children.
    pub launcher: &'r Path,
    /// Starts children that run our own code.
    pub runner: &'r Runner,
    /// Starts children that run a submission's code, or compile it: no network, writes below their directory only.
    pub confined: &'r Runner,
    /// Tells the time.
    pub clock: &'r dyn Clock,
    /// Ctrl-C.
    pub interrupt: &'r Interrupt,
    /// Facts about the machine, for records.
    pub host: &'r HostFacts,
    /// The core that timed work is pinned to.
    pub cpu: u32,
    /// Wall time spent inside children, for the engine's own share.
    pub meter: &'r Meter,
}

/// Why a procedure stops without a result.
#[derive(Debug)]
pub enum Stop {
    /// The action failed.
    Failure(Failure),
    /// An input blob or tree is damaged or gone; whoever made it must run again.
    Damaged(Digest),
}

impl Stop {
    /// A failure of the given class.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self::Failure(Failure::new(class, message))
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error.damaged() {
            Some(digest) => Self::Damaged(digest),
            None => Self::new(FailureClass::Store, error.to_string()),
        }
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::new(FailureClass::Store, format!("scratch directory: {error}"))
    }
}

/// What a procedure leaves.
#[derive(Debug, Default)]
pub struct Yield {
    /// Named outputs, all that the spec declares.
    pub outputs: BTreeMap<String, Artifact>,
    /// What somebody must look at.
    pub findings: Vec<Finding>,
    /// Figures that are no function of the inputs.
    pub observed: serde_json::Value,
}

impl Yield {
    /// Adds an output.
    #[must_use]
    pub fn with(mut self, name: &str, artifact: Artifact) -> Self {
        self.outputs.insert(name.to_owned(), artifact);
        self
    }
}

/// What happened while the action ran, for its record.
#[derive(Debug, Default)]
pub struct Trace {
    /// The commands, with symbolic paths.
    pub commands: Vec<Vec<String>>,
    /// CPU time of children.
    pub cpu: Duration,
    /// Largest resident set of a child, bytes.
    pub max_rss_bytes: u64,
    /// Limits in force, and by which means.
    pub limits: BTreeMap<String, String>,
    /// The log so far.
    pub log: Vec<u8>,
    /// Files behind the inputs.
    pub sources: BTreeMap<String, Digest>,
    /// Packages behind the inputs: name to SHA-256.
    pub packages: BTreeMap<String, String>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("workspace", &self.workspace).field("cpu", &self.cpu).finish()
    }
}

/// A running action.
#[derive(Debug)]
pub struct Job<'a> {
    pub(super) bench: &'a Bench<'a>,
    bound: &'a Bound<'a>,
    outcomes: BTreeMap<&'a RelPath, Arc<OutcomeDocument>>,
    scratch: OnceCell<Scratch>,
    /// For the record.
    pub trace: Trace,
}

impl<'a> Job<'a> {
    /// A job over a bound action; `outcomes` are the documents behind its `Outcome` inputs.
    #[must_use]
    pub fn new(
        bench: &'a Bench<'a>,
        bound: &'a Bound<'a>,
        outcomes: BTreeMap<&'a RelPath, Arc<OutcomeDocument>>,
    ) -> Self {
        Self { bench, bound, outcomes, scratch: OnceCell::new(), trace: Trace::default() }
    }

    /// What is planned.
    #[must_use]
    pub const fn spec(&self) -> &'a ActionSpec {
        self.bound.spec()
    }

    /// What all actions share.
    #[must_use]
    pub const fn bench(&self) -> &'a Bench<'a> {
        self.bench
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &'a Store {
        self.bench.store
    }

    /// A parameter; empty when the stage left it out.
    #[must_use]
    pub fn param(&self, name: &str) -> &'a str {
        self.spec().params.get(name).map_or("", String::as_str)
    }

    /// A parameter as a number.
    ///
    /// # Errors
    /// A bug of the stage that wrote it.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, Stop> {
        self.param(name).parse().map_err(|_| {
            let text = format!("parameter `{name}` is `{}`: not a number", self.param(name));
            Stop::new(FailureClass::Refused, text)
        })
    }

    /// A parameter as JSON.
    ///
    /// # Errors
    /// A bug of the stage that wrote it.
    pub fn json_param<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, Stop> {
        serde_json::from_str(self.param(name)).map_err(|error| {
            Stop::new(FailureClass::Refused, format!("parameter `{name}`: {error}"))
        })
    }

    /// The artifact bound to an input.
    ///
    /// # Errors
    /// When there is no such input, or it is an outcome.
    pub fn artifact(&self, input: &str) -> Result<Artifact, Stop> {
        // By search in the map, not along it: a command may have 100,000 inputs.
        let path = input.parse::<RelPath>().ok();
        match path.and_then(|path| self.bound.inputs().get(&path)) {
            Some(BoundInput::Artifact(artifact)) => Ok(*artifact),
            _ => Err(Stop::new(FailureClass::Refused, format!("no input `{input}`"))),
        }
    }

    /// Whether there is such an input.
    #[must_use]
    pub fn has_input(&self, input: &str) -> bool {
        input.parse::<RelPath>().is_ok_and(|path| self.bound.inputs().contains_key(&path))
    }

    /// How the node behind an outcome input ended.
    #[must_use]
    pub fn outcome(&self, input: &str) -> Option<&OutcomeDocument> {
        self.outcomes.iter().find(|(p, _)| p.as_str() == input).map(|(_, d)| &**d)
    }

    /// All outcome inputs in path order.
    pub fn outcomes(&self) -> impl Iterator<Item = (&'a RelPath, &OutcomeDocument)> {
        self.outcomes.iter().map(|(path, document)| (*path, &**document))
    }

    /// The bytes of a blob, verified.
    ///
    /// # Errors
    /// [`Stop::Damaged`] when the store's copy is damaged or gone.
    pub fn read(&self, artifact: Artifact) -> Result<Vec<u8>, Stop> {
        match artifact {
            Artifact::Blob(id) => Ok(self.store().read_blob(id)?),
            Artifact::Tree(id) => Err(Stop::new(
                FailureClass::Refused,
                format!("tree {} where a file was expected", id.short()),
            )),
        }
    }

    /// A JSON document from the store.
    ///
    /// # Errors
    /// As [`Job::read`], or when it is not of that shape.
    pub fn read_json<T: serde::de::DeserializeOwned>(&self, artifact: Artifact) -> Result<T, Stop> {
        let bytes = self.read(artifact)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let id = artifact.digest().short();
            Stop::new(FailureClass::Output, format!("document {id}: {error}"))
        })
    }

    /// The text of an input.
    ///
    /// # Errors
    /// When it is not there, not UTF-8 or changed since the plan was made.
    pub fn text(&mut self, input: &str) -> Result<String, Stop> {
        let bytes = self.input_bytes(input)?;
        String::from_utf8(bytes)
            .map_err(|_| Stop::new(FailureClass::Refused, format!("`{input}` is not UTF-8")))
    }

    fn input_bytes(&mut self, input: &str) -> Result<Vec<u8>, Stop> {
        let artifact = self.artifact(input)?;
        let path = input.parse::<RelPath>().ok();
        match path.and_then(|path| self.spec().inputs.get(&path)) {
            Some(Source::Text(text)) => Ok(text.as_bytes().to_vec()),
            Some(Source::File(path)) => self.snapshot(path, artifact),
            Some(source @ Source::Packed { .. }) => {
                self.note_packed(source);
                self.read(artifact)
            }
            _ => self.read(artifact),
        }
    }

    /// Reads a workspace file, checks it against what the key was made from, and keeps a copy in the store.
    fn snapshot(&mut self, path: &RelPath, expected: Artifact) -> Result<Vec<u8>, Stop> {
        let changed = |why: &str| {
            let text = format!("`{path}` {why} after the plan was made; run again");
            Stop::new(FailureClass::InputChanged, text)
        };
        let bytes = std::fs::read(path.under(self.bench.workspace))
            .map_err(|error| changed(&format!("could not be read ({error})")))?;
        let id = BlobId::of(&bytes);
        if Artifact::Blob(id) != expected {
            return Err(changed("changed"));
        }
        self.store().put_bytes(&bytes)?;
        self.trace.sources.insert(path.to_string(), id.0);
        Ok(bytes)
    }

    /// Notes the package behind an input, for the record.
    fn note_packed(&mut self, source: &Source) {
        if let Source::Packed { blob, path, of } = source {
            self.trace.sources.insert(format!("{}:{path}", of.name), blob.0);
            self.trace.packages.insert(of.name.clone(), of.sha256.clone());
        }
    }

    /// The scratch directory, made on first use.
    ///
    /// # Errors
    /// When the store cannot make one.
    pub fn scratch(&self) -> Result<&Path, Stop> {
        if self.scratch.get().is_none() {
            let made = self.store().scratch(&self.spec().label.replace('/', "-"))?;
            let _ = self.scratch.set(made);
        }
        let scratch = self.scratch.get().map(Scratch::path);
        scratch.ok_or_else(|| Stop::new(FailureClass::Store, "no scratch directory"))
    }

    /// Lays every artifact input out below `directory` of the scratch directory.
    ///
    /// # Errors
    /// When an input changed, is damaged, or the disk is full.
    pub fn lay_out_inputs(&mut self, directory: &str) -> Result<PathBuf, Stop> {
        let root = self.scratch()?.join(directory);
        std::fs::create_dir_all(&root)?;
        for (path, source) in &self.spec().inputs {
            if matches!(source, Source::Outcome(_)) {
                continue;
            }
            let to = path.under(&root);
            if let Some(parent) = to.parent() {
                std::fs::create_dir_all(parent)?;
            }
            match (source, self.artifact(path.as_str())?) {
                (Source::Text(_) | Source::File(_), _) => {
                    let bytes = self.input_bytes(path.as_str())?;
                    std::fs::write(&to, bytes)?;
                }
                (Source::Packed { .. } | Source::From(..), Artifact::Blob(id)) => {
                    self.note_packed(source);
                    // Execute bits travel by role: what a stage runs is laid out executable.
                    self.store().lay_out_blob(id, &to, path.as_str().starts_with("bin/"))?;
                }
                (Source::Packed { .. } | Source::From(..), Artifact::Tree(id)) => {
                    self.store().lay_out_tree(id, &to)?;
                }
                (Source::Outcome(_), _) => {}
            }
        }
        Ok(root)
    }

    /// Stores a file of the scratch directory.
    ///
    /// # Errors
    /// [`FailureClass::Output`] when it is not there.
    pub fn keep_file(&self, path: &Path) -> Result<Artifact, Stop> {
        if !path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = format!("`{name}` was not made");
            return Err(Stop::new(FailureClass::Output, text));
        }
        Ok(Artifact::Blob(self.store().put_file(path)?.0))
    }

    /// Stores what a child left at `path` below `base`: a file, or a directory as a tree. A link is refused, there and
    /// on the way there: following it would take any file of this machine for a result.
    ///
    /// # Errors
    /// [`FailureClass::Output`] when it is not there or is no such thing.
    pub fn keep_output(&self, base: &Path, path: &str) -> Result<Artifact, Stop> {
        let refused = |why: String| Stop::new(FailureClass::Output, why);
        let mut at = base.to_path_buf();
        for part in path.split('/') {
            at.push(part);
            match std::fs::symlink_metadata(&at) {
                Ok(stat) if stat.is_symlink() => {
                    let below = at.strip_prefix(base).unwrap_or(&at).display();
                    return Err(refused(format!("output `{path}`: `{below}` is a link")));
                }
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(refused(format!("`{path}` was not made")));
                }
                Err(error) => return Err(refused(format!("output `{path}`: {error}"))),
            }
        }
        if !at.is_dir() {
            return self.keep_file(&at);
        }
        let tree = match self.store().capture_tree(&at) {
            Err(StoreError::Refused { path: inside, why }) => {
                let inside = inside.strip_prefix(base).unwrap_or(&inside).display();
                return Err(refused(format!("output `{path}`: `{inside}` cannot be kept: {why}")));
            }
            other => other?,
        };
        Ok(Artifact::Tree(tree))
    }

    /// Stores bytes.
    ///
    /// # Errors
    /// When the store is full.
    pub fn keep(&self, bytes: &[u8]) -> Result<Artifact, Stop> {
        Ok(Artifact::Blob(self.store().put_bytes(bytes)?))
    }

    /// Stores a JSON document: indented, fields in declared order, one newline at the end.
    ///
    /// # Errors
    /// When the store is full.
    pub fn keep_json(&self, value: &impl serde::Serialize) -> Result<Artifact, Stop> {
        let mut text = serde_json::to_vec_pretty(value)
            .map_err(|error| Stop::new(FailureClass::Output, error.to_string()))?;
        text.push(b'\n');
        self.keep(&text)
    }
}
