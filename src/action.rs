//! What a step *is*: procedure, parameters, inputs, outputs, environment, tools, limits, claim and purity.
//!
//! An [`ActionSpec`] is written at plan time with symbolic sources. Binding every source to content gives a
//! [`Bound`] action, and only that has a key: so a rebuilt but byte-equal library stops the rerun there (early
//! cut-off). The key never sees absolute paths, job counts, labels, times or users.
//! Knows nothing of processes, of the store or of stage kinds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::artifact::Artifact;
use crate::digest::{ActionKey, BlobId, Digest, Encode, KeyText, KeyWriter, Sink, SystemId};
use crate::name::RelPath;

/// A node of one plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Position in the plan's node list.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which code of this program carries an action out; the version is raised when its results may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcedureId {
    /// Its name in the registry.
    pub name: &'static str,
    /// Part of every key.
    pub version: u32,
}

/// What pins a package: the name and digest that the outside world has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// File name of the archive, or `name-version` of a crate release.
    pub name: String,
    /// SHA-256 of the archive.
    pub sha256: String,
}

/// Where an input comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file of the workspace.
    File(RelPath),
    /// Bytes of this program or made at plan time (driver sources, generated text).
    Text(Arc<str>),
    /// A file of an unpacked package, which the store already holds.
    Packed {
        /// Its content.
        blob: BlobId,
        /// Its path in the package.
        path: RelPath,
        /// The package.
        of: Arc<Pin>,
    },
    /// A named output of another node; that node must succeed.
    From(NodeId, Cow<'static, str>),
    /// How another node ended, whichever way: its outputs by digest, or why there are none.
    Outcome(NodeId),
}

impl Source {
    /// The node this source waits for.
    #[must_use]
    pub const fn node(&self) -> Option<NodeId> {
        match self {
            Self::From(node, _) | Self::Outcome(node) => Some(*node),
            Self::File(_) | Self::Text(_) | Self::Packed { .. } => None,
        }
    }
}

/// What an action needs of the machine while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// One job slot beside others.
    Shared,
    /// The whole machine silent: nothing else of ours runs meanwhile.
    Quiet,
}

/// Whether a result is a function of its inputs or a sample taken on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purity {
    /// Same inputs, same result, anywhere.
    Pure,
    /// A measurement: belongs to a system and to a round of deliberate repetition.
    Measured {
        /// The machine.
        system: SystemId,
        /// From 0; `--remeasure` adds one.
        round: u32,
    },
}

/// Limits of each child process of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionLimits {
    /// Wall time of one child. Not in the key: a success does not depend on it, a timeout is never cached.
    pub wall: Duration,
    /// Memory, bytes.
    pub memory: Option<u64>,
    /// Largest file, bytes.
    pub file_size: Option<u64>,
    /// Stack, bytes.
    pub stack: Option<u64>,
    /// Log kept, bytes. Not in the key.
    pub log: u64,
}

impl Default for ActionLimits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(900),
            memory: Some(8 << 30),
            file_size: Some(4 << 30),
            stack: Some(64 << 20),
            log: 16 << 20,
        }
    }
}

/// One step as planned.
#[derive(Debug, Clone)]
pub struct ActionSpec {
    /// Where it stands, e.g. `kem-18/independent/Loong128/timing/keygen`. Not in the key.
    pub label: String,
    /// The stage of the pipeline file it belongs to.
    pub stage: Arc<str>,
    /// The code that carries it out.
    pub procedure: ProcedureId,
    /// Parameters by name.
    pub params: BTreeMap<&'static str, String>,
    /// Inputs by their path in the scratch directory (or by role, for procedures that need none).
    pub inputs: BTreeMap<RelPath, Source>,
    /// Names of the outputs it must leave.
    pub outputs: Vec<Cow<'static, str>>,
    /// Environment of its children, complete.
    pub env: BTreeMap<String, String>,
    /// Names of the tools it runs; their digests enter the key.
    pub tools: Vec<String>,
    /// Limits.
    pub limits: ActionLimits,
    /// What it needs of the machine.
    pub claim: Claim,
    /// Function or sample.
    pub purity: Purity,
    /// Run only when one of these nodes did not end well; skipped otherwise.
    pub unless_good: Vec<NodeId>,
    /// Its findings and failures are an intermediate step of a later decision, which reports them itself.
    pub tentative: bool,
}

impl ActionSpec {
    /// A pure, shared action without inputs; fields are then filled in.
    #[must_use]
    pub fn new(label: String, stage: &Arc<str>, procedure: ProcedureId) -> Self {
        Self {
            label,
            stage: Arc::clone(stage),
            procedure,
            params: BTreeMap::new(),
            inputs: BTreeMap::new(),
            outputs: Vec::new(),
            env: BTreeMap::new(),
            tools: Vec::new(),
            limits: ActionLimits::default(),
            claim: Claim::Shared,
            purity: Purity::Pure,
            unless_good: Vec::new(),
            tentative: false,
        }
    }

    /// Whether it is a measurement, or wants the machine for itself.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.claim == Claim::Quiet || matches!(self.purity, Purity::Measured { .. })
    }

    /// Every node this one waits for, in input order, with repetitions.
    pub fn waits_for(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.inputs.values().filter_map(Source::node).chain(self.unless_good.iter().copied())
    }

    /// The nodes that must succeed for this one to run.
    pub fn requires(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.inputs.values().filter_map(|source| match source {
            Source::From(node, _) => Some(*node),
            Source::File(_) | Source::Text(_) | Source::Packed { .. } | Source::Outcome(_) => None,
        })
    }
}

/// An input bound to content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundInput {
    /// A blob or tree.
    Artifact(Artifact),
    /// Digest of an outcome document.
    Outcome(Digest),
}

impl BoundInput {
    fn key_text(self) -> String {
        match self {
            Self::Artifact(artifact) => artifact.key_text(),
            Self::Outcome(digest) => format!("outcome {digest}"),
        }
    }
}

/// An action whose every input is content: the only thing that has a key and can run.
#[derive(Debug, Clone)]
pub struct Bound<'s> {
    spec: &'s ActionSpec,
    inputs: BTreeMap<&'s RelPath, BoundInput>,
    tools: BTreeMap<&'s str, Digest>,
}

/// An input or tool that could not be bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{label}` cannot be bound: no content for {what}")]
pub struct Unbound {
    /// The action.
    pub label: String,
    /// The input or tool.
    pub what: String,
}

impl<'s> Bound<'s> {
    /// Binds a spec; every input and tool must be given.
    ///
    /// # Errors
    /// [`Unbound`] names the first input or tool without content.
    pub fn bind(
        spec: &'s ActionSpec,
        mut input: impl FnMut(&RelPath, &Source) -> Option<BoundInput>,
        mut tool: impl FnMut(&str) -> Option<Digest>,
    ) -> Result<Self, Unbound> {
        let missing = |what: String| Unbound { label: spec.label.clone(), what };
        let mut inputs = BTreeMap::new();
        for (path, source) in &spec.inputs {
            let bound = input(path, source).ok_or_else(|| missing(format!("input `{path}`")))?;
            inputs.insert(path, bound);
        }
        let mut tools = BTreeMap::new();
        for name in &spec.tools {
            let digest = tool(name).ok_or_else(|| missing(format!("tool `{name}`")))?;
            tools.insert(name.as_str(), digest);
        }
        Ok(Self { spec, inputs, tools })
    }

    /// The digest of everything the result may depend on.
    #[must_use]
    pub fn key(&self) -> ActionKey {
        ActionKey(KeyWriter::key("ngcc action", self))
    }

    /// The same fields in words.
    #[must_use]
    pub fn ingredients(&self) -> Vec<(String, String)> {
        KeyText::of(self)
    }

    /// What is planned.
    #[must_use]
    pub const fn spec(&self) -> &'s ActionSpec {
        self.spec
    }

    /// The bound inputs.
    #[must_use]
    pub const fn inputs(&self) -> &BTreeMap<&'s RelPath, BoundInput> {
        &self.inputs
    }
}

impl Encode for Bound<'_> {
    fn encode(&self, sink: &mut dyn Sink) {
        // Destructured without `..`: a new field does not compile until it is hashed or left out by name.
        let ActionSpec {
            label: _,
            stage: _,
            procedure,
            params,
            inputs: _, // bound below
            outputs,
            env,
            tools: _, // bound below
            limits: ActionLimits { wall: _, memory, file_size, stack, log: _ },
            claim: _, // how it is scheduled, not what it computes; measurements always claim Quiet
            purity,
            unless_good: _, // whether it runs, not what it computes
            tentative: _,
        } = self.spec;
        sink.field("procedure", procedure.name.as_bytes());
        sink.field("procedure version", procedure.version.to_string().as_bytes());
        sink.open("parameter", params.len());
        for (name, value) in params {
            sink.field(name, value.as_bytes());
        }
        sink.close();
        sink.open("input", self.inputs.len());
        for (path, bound) in &self.inputs {
            sink.field(path.as_str(), bound.key_text().as_bytes());
        }
        sink.close();
        sink.open("output", outputs.len());
        for name in outputs {
            sink.field(name, b"");
        }
        sink.close();
        sink.open("environment", env.len());
        for (name, value) in env {
            sink.field(name, value.as_bytes());
        }
        sink.close();
        sink.open("tool", self.tools.len());
        for (name, digest) in &self.tools {
            sink.field(name, digest.to_string().as_bytes());
        }
        sink.close();
        sink.open("limit", 3);
        for (name, value) in [("memory", memory), ("file size", file_size), ("stack", stack)] {
            sink.field(name, value.map_or("none".to_owned(), |v| v.to_string()).as_bytes());
        }
        sink.close();
        match purity {
            Purity::Pure => sink.field("purity", b"pure"),
            Purity::Measured { system, round } => {
                sink.field("purity", b"measured");
                sink.field("system", system.to_string().as_bytes());
                sink.field("round", round.to_string().as_bytes());
            }
        }
    }
}

/// The id of generated or embedded text.
#[must_use]
pub fn text_id(text: &str) -> BlobId {
    BlobId::of(text.as_bytes())
}

/// The fields of a key in words, encoded again.
struct Words<'w>(&'w [(String, String)]);

impl Encode for Words<'_> {
    fn encode(&self, sink: &mut dyn Sink) {
        // The groups of `Bound`, in its order: an empty one leaves no word, and is in the key.
        const GROUPS: [&str; 6] = ["parameter", "input", "output", "environment", "tool", "limit"];
        let (plain, mut rest) = self.0.split_at(self.0.len().min(2));
        let field = |sink: &mut dyn Sink, name: &str, value: &String| {
            sink.field(name, value.as_bytes());
        };
        for (name, value) in plain {
            field(sink, name, value);
        }
        for group in GROUPS {
            let inside = |(name, _): &&(String, String)| {
                name.strip_prefix(group).is_some_and(|rest| rest.starts_with(' '))
            };
            let count = rest.iter().take_while(inside).count();
            sink.open(group, count);
            for (name, value) in &rest[..count] {
                field(sink, &name[group.len() + 1..], value);
            }
            sink.close();
            rest = &rest[count..];
        }
        for (name, value) in rest {
            field(sink, name, value);
        }
    }
}

/// The key that the ingredients of a record give: what its `key` must be if nobody changed either.
#[must_use]
pub fn key_of_ingredients(ingredients: &[(String, String)]) -> ActionKey {
    ActionKey(KeyWriter::key("ngcc action", &Words(ingredients)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PROCEDURE: ProcedureId = ProcedureId { name: "test", version: 1 };

    fn spec() -> ActionSpec {
        let mut spec = ActionSpec::new("a/b".into(), &Arc::from("build"), PROCEDURE);
        spec.params.insert("flags", "-O2".into());
        spec.inputs.insert("src/a.c".parse().unwrap(), Source::Text("int x;".into()));
        spec.inputs.insert("src/b.c".parse().unwrap(), Source::Text("int y;".into()));
        spec.outputs = vec!["library".into()];
        spec.env.insert("LC_ALL".into(), "C".into());
        spec.tools = vec!["cc".into()];
        spec
    }

    fn key_with(spec: &ActionSpec, tool: &[u8]) -> ActionKey {
        Bound::bind(
            spec,
            |_, source| match source {
                Source::Text(text) => Some(BoundInput::Artifact(Artifact::Blob(text_id(text)))),
                Source::File(_) | Source::Packed { .. } | Source::From(..) | Source::Outcome(_) => {
                    None
                }
            },
            |_| Some(Digest::of(tool)),
        )
        .unwrap()
        .key()
    }

    fn key(spec: &ActionSpec) -> ActionKey {
        key_with(spec, b"gcc")
    }

    #[test]
    fn the_ingredients_of_a_record_give_its_key_again_and_changed_ones_another() {
        let measured = Purity::Measured { system: SystemId(Digest::of(b"x86_1")), round: 3 };
        let bare = ActionSpec::new("bare".into(), &Arc::from("s"), PROCEDURE);
        for spec in [spec(), bare, ActionSpec { purity: measured, ..spec() }] {
            let input = |_: &RelPath, _: &Source| Some(BoundInput::Outcome(Digest::of(b"o")));
            let bound = Bound::bind(&spec, input, |_| Some(Digest::of(b"gcc"))).unwrap();
            let mut words = bound.ingredients();
            assert_eq!(key_of_ingredients(&words), bound.key());
            words.last_mut().unwrap().1.push('x');
            assert_ne!(key_of_ingredients(&words), bound.key());
        }
        assert_ne!(key_of_ingredients(&[]), key(&spec()));
    }

    #[test]
    fn any_single_change_changes_the_key() {
        let base = key(&spec());
        type Change = fn(&mut ActionSpec);
        let changes: [Change; 12] = [
            |s| s.procedure.version += 1,
            |s| s.procedure.name = "other",
            |s| *s.params.get_mut("flags").unwrap() = "-O3".into(),
            |s| drop(s.params.insert("more", String::new())),
            |s| drop(s.inputs.insert("src/c.c".parse().unwrap(), Source::Text("".into()))),
            |s| drop(s.inputs.remove(&"src/a.c".parse::<RelPath>().unwrap())),
            |s| s.outputs.push("log".into()),
            |s| drop(s.env.insert("LC_ALL".into(), "de".into())),
            |s| s.tools.push("ld".into()),
            |s| s.limits.memory = None,
            |s| s.limits.stack = Some(1),
            |s| s.purity = Purity::Measured { system: SystemId(Digest::of(b"x86_1")), round: 0 },
        ];
        let mut keys = vec![base];
        for change in changes {
            let mut changed = spec();
            change(&mut changed);
            keys.push(key(&changed));
        }
        keys.push(key_with(&spec(), b"another gcc with the same version text"));
        let mut unique = keys.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), keys.len(), "two changes gave one key");
    }

    #[test]
    fn label_claim_time_limit_and_log_limit_do_not_enter_the_key() {
        let mut other = spec();
        other.label = "elsewhere".into();
        other.claim = Claim::Quiet;
        other.limits.wall = Duration::from_secs(1);
        other.limits.log = 1;
        other.tentative = true;
        assert_eq!(key(&spec()), key(&other));
    }

    #[test]
    fn swapping_the_contents_of_two_inputs_changes_the_key() {
        let mut swapped = spec();
        swapped.inputs.insert("src/a.c".parse().unwrap(), Source::Text("int y;".into()));
        swapped.inputs.insert("src/b.c".parse().unwrap(), Source::Text("int x;".into()));
        assert_ne!(key(&spec()), key(&swapped));
    }

    #[test]
    fn the_round_and_the_system_are_part_of_a_measurement() {
        let measured = |system: &[u8], round| {
            let mut spec = spec();
            spec.purity = Purity::Measured { system: SystemId(Digest::of(system)), round };
            key(&spec)
        };
        assert_ne!(measured(b"a", 0), measured(b"b", 0));
        assert_ne!(measured(b"a", 0), measured(b"a", 1));
    }

    #[test]
    fn the_action_key_encoding_is_pinned() {
        // Raise digest::KEY_VERSION in the commit that changes this value.
        assert_eq!(
            key(&spec()).to_string(),
            "be450dd624e9336f0bed9e7347369802a0400a755a7877da868734c032d8e18f"
        );
    }

    #[test]
    fn an_input_without_content_is_named() {
        let mut spec = spec();
        spec.inputs.insert("lib.so".parse().unwrap(), Source::From(NodeId(3), "library".into()));
        let error = Bound::bind(&spec, |_, _| None, |_| None).unwrap_err();
        assert_eq!(error.what, "input `lib.so`");
    }

    type Texts = BTreeMap<String, String>;

    /// The parts of an action that a random one consists of.
    #[derive(Debug, Clone, PartialEq)]
    struct Parts {
        params: [String; 3],
        inputs: Texts,
        env: Texts,
        tools: Texts,
        outputs: std::collections::BTreeSet<String>,
        limits: [Option<u64>; 3],
    }

    fn parts() -> impl Strategy<Value = Parts> {
        let texts = |name| proptest::collection::btree_map(name, "[ab=/]{0,2}", 0..4);
        let params = ["[ab]{0,2}", "[ab]{0,2}", "[ab]{0,2}"];
        let outputs = proptest::collection::btree_set("[ab]{1,2}", 0..3);
        let limit = || proptest::option::of(0_u64..3);
        let limits = [limit(), limit(), limit()];
        (
            params,
            texts("[ab]{1,2}(/[ab]{1,2})?"),
            texts("[AB]{1,2}"),
            texts("[ab]{1,2}"),
            outputs,
            limits,
        )
            .prop_map(|(params, inputs, env, tools, outputs, limits)| Parts {
                params,
                inputs,
                env,
                tools,
                outputs,
                limits,
            })
    }

    /// The key of such an action; `reversed` declares its tools, the one list whose order is the writer's, backwards.
    fn key_of(parts: &Parts, reversed: bool) -> ActionKey {
        let mut spec = ActionSpec::new("l".into(), &Arc::from("s"), PROCEDURE);
        spec.params.extend(["p", "q", "pq"].into_iter().zip(parts.params.clone()));
        for (path, text) in &parts.inputs {
            spec.inputs.insert(path.parse().unwrap(), Source::Text(text.as_str().into()));
        }
        spec.env = parts.env.clone();
        spec.tools = parts.tools.keys().cloned().collect();
        if reversed {
            spec.tools.reverse();
        }
        spec.outputs = parts.outputs.iter().map(|name| name.clone().into()).collect();
        [spec.limits.memory, spec.limits.file_size, spec.limits.stack] = parts.limits;
        let text = |source: &Source| match source {
            Source::Text(text) => Some(BoundInput::Artifact(Artifact::Blob(text_id(text)))),
            Source::File(_) | Source::Packed { .. } | Source::From(..) | Source::Outcome(_) => None,
        };
        let tool = |name: &str| Some(Digest::of(parts.tools[name].as_bytes()));
        Bound::bind(&spec, |_, source| text(source), tool).unwrap().key()
    }

    proptest! {
        #[test]
        fn two_actions_have_one_key_only_when_every_part_is_equal(
            base in parts(),
            other in parts(),
            change in 0..7_usize,
        ) {
            let mut changed = base.clone();
            match change {
                0 => changed.params = other.params,
                1 => changed.inputs = other.inputs,
                2 => changed.env = other.env,
                3 => changed.tools = other.tools,
                4 => changed.outputs = other.outputs,
                5 => changed.limits = other.limits,
                // The same texts in another place.
                _ => std::mem::swap(&mut changed.env, &mut changed.tools),
            }
            prop_assert_eq!(key_of(&base, false) == key_of(&changed, false), base == changed);
            prop_assert_eq!(key_of(&base, false), key_of(&base, true));
        }

        #[test]
        fn parameters_moved_between_names_never_collide(a in "[a-c]{0,3}", b in "[a-c]{0,3}", c in "[a-c]{0,3}", d in "[a-c]{0,3}") {
            let with = |x: &str, y: &str| {
                let mut spec = spec();
                spec.params.insert("p", x.into());
                spec.params.insert("q", y.into());
                key(&spec)
            };
            prop_assert_eq!(with(&a, &b) == with(&c, &d), a == c && b == d);
        }
    }
}
