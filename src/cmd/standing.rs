//! A run that finds nothing moved since the last one neither plans nor reads YAML: it stands on that run's word.
//!
//! At the end of a run every submission whose actions all have a result is kept as an entry: what planning and binding
//! looked at (see `disk`), and the keys that came out. The next run asks for the stamps of all of it. What has moved
//! is planned again, the rest is taken over; when nothing has, there is no plan at all. Everything that is not a file
//! of the workspace (this program, the tools, the machine, rounds, what was asked for) is one digest, and another
//! digest means planning everything. Nothing is ever decided here that planning would not decide: an entry only says
//! "as before", and `--paranoid` compares contents instead of stamps.

use std::collections::{BTreeMap, BTreeSet};

use super::CommandError;
use super::context::Context;
use super::session::{self, Machine, Session};
use crate::action::{NodeId, Source};
use crate::cli::PlanArgs;
use crate::digest::{ActionKey, BlobId, Digest, Encode, KeyWriter, Sink};
use crate::disk::Looks;
use crate::exec::run::Report;
use crate::name::Name;
use crate::outcome::Outcome;
use crate::package;
use crate::plan::Unavailable;
use crate::spec::{Scope, Source as Origin, StageKind, System};
use crate::stage::{self, StandingPage, StandingRow};
use crate::store::{self, Seen, Store};
use crate::toolchain::Tools;

/// The entry of what belongs to no submission but decides about all: pipelines, systems, which submissions there are.
const ALL: &str = "";
/// The entry of the actions that belong to no submission. No submission can be called so.
const REST: &str = "~rest";

/// What a former run left, and which of it still holds.
#[derive(Debug)]
pub struct Standing {
    file: store::Standing,
    all: Everything,
    moved: BTreeSet<String>,
}

/// The payload of [`ALL`].
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Everything {
    /// Digest of everything that is no file of the workspace.
    surroundings: Digest,
    /// All submissions.
    ids: Vec<String>,
    /// Tools that command stages name.
    tools: BTreeSet<String>,
    system: System,
    /// An action takes inputs from all submissions.
    once: bool,
    /// The record of the measuring programs.
    drivers: Option<ActionKey>,
    /// The key list of the run.
    keys: Option<BlobId>,
}

/// What stands beside the nodes of an entry.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Beside {
    row: StandingRow,
    /// Action and finding, as the summary prints them.
    findings: Vec<(String, String)>,
}

/// One node of an entry: label, and key unless it was not needed.
type Node<'s> = (&'s str, Option<ActionKey>);

impl Standing {
    /// What a former run of the same thing left, and the machine as planning would find it; `None` when there is nothing
    /// to stand on and all must be planned.
    ///
    /// # Errors
    /// When there is no workspace.
    pub fn load(
        context: &Context,
        store: &Store,
        args: &PlanArgs,
    ) -> Result<Option<(Self, Machine)>, CommandError> {
        let root = context.root()?;
        let file = store.standing(&name(context, args)?);
        let all = file.payload(ALL).and_then(|p| serde_json::from_slice::<Everything>(p).ok());
        let Some(all) = all else { return Ok(None) };
        let Ok(machine) = Machine::find(context, store, &all.tools, &all.system, args) else {
            return Ok(None);
        };
        let rounds = session::read_rounds(store, &machine.system.name);
        let now = surroundings(context, &machine.tools, &machine.system, &rounds).ok();
        let lost = all.drivers.is_some_and(|key| !store.has_record(key));
        if now != Some(all.surroundings) || lost {
            return Ok(None);
        }
        let mut moved: BTreeSet<String> = file.moved(store, root).into_iter().collect();
        moved.extend(all.ids.iter().filter(|id| file.payload(id).is_none()).cloned());
        if file.payload(REST).is_none() {
            moved.insert(REST.to_owned());
        }
        if context.terminal.paranoid || !file.knows_records_of(store) {
            moved.extend(without_record(store, &file));
        }
        // Without its manifest a submission is none, and all the others' plan may differ.
        let no_manifest = |id: &String| {
            *id != REST && !root.join("kems").join(id).join("submission.yaml").exists()
        };
        let everything = moved.contains(ALL) || (all.once && !moved.is_empty());
        if everything || moved.iter().any(no_manifest) {
            return Ok(None);
        }
        Ok(Some((Self { file, all, moved }, machine)))
    }

    /// Nothing has moved at all.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.moved.is_empty()
    }

    /// All submissions, and those to be planned again.
    #[must_use]
    pub fn submissions(&self) -> (Vec<&str>, Vec<&str>) {
        let all: Vec<&str> = self.all.ids.iter().map(String::as_str).collect();
        let again = all.iter().copied().filter(|id| self.moved.contains(*id)).collect();
        (all, again)
    }

    /// The key list of the run, while it describes exactly what stands.
    #[must_use]
    pub const fn keys(&self) -> Option<BlobId> {
        self.all.keys
    }

    /// What planning needs of the submissions that stand.
    #[must_use]
    pub fn rows(&self) -> BTreeMap<Name, StandingRow> {
        let held = self.held().filter(|(id, _)| *id != REST);
        held.filter_map(|(id, payload)| Some((id.parse().ok()?, beside(payload).row))).collect()
    }

    /// The entries that hold: submissions, and when nothing has moved the rest as well.
    fn held(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let whole = self.is_whole();
        self.file.entries().filter(move |(id, _)| {
            *id != ALL && !self.moved.contains(*id) && (whole || *id != REST)
        })
    }

    /// The actions that stand: submission, label, key.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &str, Option<ActionKey>)> {
        self.held().flat_map(|(id, payload)| nodes(payload).map(move |(l, key)| (id, l, key)))
    }

    /// Findings of the actions that stand: action and text.
    #[must_use]
    pub fn findings(&self) -> Vec<(String, String)> {
        self.held().flat_map(|(_, payload)| beside(payload).findings).collect()
    }

    /// What is not there, of the submissions that stand.
    #[must_use]
    pub fn unavailable(&self) -> Vec<Unavailable> {
        self.held().flat_map(|(_, payload)| beside(payload).row.unavailable).collect()
    }

    /// The pages that stand.
    #[must_use]
    pub fn pages(&self) -> Vec<StandingPage> {
        self.held().flat_map(|(_, payload)| beside(payload).row.pages).collect()
    }

    /// Keeps what stands at the end of a run. What did not come to a result, or was touched since the program began,
    /// is left out and planned again next time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(
        context: &Context,
        args: &PlanArgs,
        session: &Session,
        report: &Report,
        keys: BlobId,
    ) -> Result<(), CommandError> {
        let store = &session.store;
        // What was changed since the program began may have been read before or after.
        let running =
            i64::try_from(context.terminal.started.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let keeper = Keeper { session, report, floor_ns: store.now_ns().saturating_sub(running) };
        let looks = session.workspace.disk.looks();
        let mut file = store.standing(&name(context, args)?);
        let mut groups: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
        for &node in session.plan.order() {
            if !session.plan.is_standing(node) {
                let first = session.plan.node(node).label.split('/').next().unwrap_or_default();
                let own = first
                    .parse::<Name>()
                    .is_ok_and(|n| session.workspace.submissions.contains_key(&n));
                groups.entry(if own { first } else { REST }).or_default().push(node);
            }
        }
        if session.standing.is_none() {
            file.clear();
            let Some(seen) = keeper.see_all(&looks) else { return Ok(()) };
            let all = keeper.everything(context, keys)?;
            file.set(ALL, &seen, &json(&all));
        } else if let Some(payload) = file.payload(ALL)
            && let Ok(mut all) = serde_json::from_slice::<Everything>(payload)
            && let Some(seen) = file.seen(ALL)
        {
            all.keys = Some(keys);
            file.set(ALL, &seen, &json(&all));
        }
        let none = BTreeSet::new();
        for id in session.workspace.submissions.keys().map(Name::as_str).chain([REST]) {
            let nodes = groups.get(id).map(Vec::as_slice).unwrap_or_default();
            let looked = looks.get(id).filter(|_| id != REST).unwrap_or(&none);
            match keeper.entry(id, nodes, looked) {
                Some((seen, payload)) => file.set(id, &seen, &payload),
                None => file.remove(id),
            }
        }
        Ok(store.keep_standing(&mut file)?)
    }
}

struct Keeper<'s> {
    session: &'s Session,
    report: &'s Report,
    floor_ns: i64,
}

impl Keeper<'_> {
    /// Looks at each path once more; `None` when one was touched meanwhile.
    fn see<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Option<Vec<Seen>> {
        let Session { store, workspace, .. } = self.session;
        let mut found: BTreeMap<String, Seen> = BTreeMap::new();
        for path in paths {
            if !found.contains_key(path) {
                let seen = store.see(&workspace.root, path, self.floor_ns)?;
                found.insert(seen.path().to_owned(), seen);
            }
        }
        Some(found.into_values().collect())
    }

    /// What belongs to no submission, and where pinned packages were looked up.
    fn see_all(&self, looks: &Looks) -> Option<Vec<Seen>> {
        let workspace = &self.session.workspace;
        let own = |owner: &str| {
            owner.parse::<Name>().is_ok_and(|name| workspace.submissions.contains_key(&name))
        };
        let mut paths: BTreeSet<String> =
            looks.iter().filter(|(owner, _)| !own(owner)).flat_map(|(_, p)| p.clone()).collect();
        for implementation in
            workspace.submissions.values().flat_map(|s| s.implementations.values())
        {
            let name = match &implementation.source {
                Origin::Directory { .. } => continue,
                Origin::Archive { sha256, nested, .. } => package::package_name(sha256, nested),
                Origin::Crate { sha256, .. } => package::package_name(sha256, &[]),
            };
            let path = self.session.store.reference_path(&name);
            paths.insert(path.to_str()?.to_owned());
        }
        self.see(paths.iter().map(String::as_str))
    }

    fn everything(&self, context: &Context, keys: BlobId) -> Result<Everything, CommandError> {
        let Session { workspace, plan, pipeline, rounds, tools, system, described, .. } =
            self.session;
        let pipeline = session::find_pipeline(workspace, pipeline)?;
        let once = pipeline
            .stages
            .iter()
            .any(|stage| matches!(&stage.kind, StageKind::Command(c) if c.scope == Scope::Once));
        let drivers = plan.find("drivers").and_then(|node| self.report.keys[node.index()]);
        Ok(Everything {
            surroundings: surroundings(context, tools, system, rounds)?,
            ids: workspace.submissions.keys().map(ToString::to_string).collect(),
            tools: session::command_tools(workspace),
            system: described.clone(),
            once,
            drivers,
            keys: Some(keys),
        })
    }

    /// The entry of some nodes; `None` when one of them has no result or something was touched.
    fn entry(
        &self,
        id: &str,
        nodes: &[NodeId],
        looked: &BTreeSet<String>,
    ) -> Option<(Vec<Seen>, Vec<u8>)> {
        let plan = &self.session.plan;
        let mut text = u32::try_from(nodes.len()).ok()?.to_le_bytes().to_vec();
        let mut beside = Beside::default();
        let mut files: BTreeSet<&str> = looked.iter().map(String::as_str).collect();
        let drivers = plan.find("drivers");
        for &node in nodes {
            let spec = plan.node(node);
            let key = match self.report.outcomes[node.index()].as_ref()? {
                Outcome::Done { findings, .. } => {
                    if !spec.tentative {
                        let rows = findings.iter().map(|f| (spec.label.clone(), f.message.clone()));
                        beside.findings.extend(rows);
                    }
                    Some(self.report.keys[node.index()]?)
                }
                Outcome::Skipped => None,
                Outcome::Failed(_) | Outcome::Blocked { .. } => return None,
            };
            text.push(u8::from(key.is_some()));
            text.extend(key.iter().flat_map(|k| k.digest().as_bytes()));
            text.extend(u32::try_from(spec.label.len()).ok()?.to_le_bytes());
            text.extend(spec.label.as_bytes());
            files.extend(spec.inputs.values().filter_map(|source| match source {
                Source::File(path) => Some(path.as_str()),
                Source::Text(_) | Source::Packed { .. } | Source::From(..) | Source::Outcome(_) => {
                    None
                }
            }));
            beside.row.drivers |= drivers.is_some() && spec.waits_for().any(|n| Some(n) == drivers);
        }
        let seen = self.see(files)?;
        if !plan.pages.is_empty() || !plan.unavailable.is_empty() {
            self.fill_row(id, nodes, &mut beside.row)?;
        }
        if beside.row.row.is_some()
            || beside.row.drivers
            || !beside.findings.is_empty()
            || !beside.row.unavailable.is_empty()
            || !beside.row.pages.is_empty()
        {
            text.extend(json(&beside));
        }
        Some((seen, text))
    }

    fn fill_row(&self, id: &str, nodes: &[NodeId], row: &mut StandingRow) -> Option<()> {
        let plan = &self.session.plan;
        row.row = plan.rows.get(id).cloned();
        let start = format!("{id}/");
        row.unavailable =
            plan.unavailable.iter().filter(|u| u.label.starts_with(&start)).cloned().collect();
        for slot in plan.pages.iter().filter(|slot| nodes.contains(&slot.node)) {
            let Some(Outcome::Done { outputs, findings, .. }) =
                &self.report.outcomes[slot.node.index()]
            else {
                return None;
            };
            row.pages.push(StandingPage {
                directory: slot.directory.clone(),
                label: plan.node(slot.node).label.clone(),
                key: self.report.keys[slot.node.index()]?,
                outputs: outputs.clone(),
                findings: findings.clone(),
            });
        }
        Some(())
    }
}

/// The nodes in a payload.
fn nodes(payload: &[u8]) -> impl Iterator<Item = Node<'_>> {
    let (count, mut rest) = payload.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    let mut left = u32::from_le_bytes(*count);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let (node, tail) = take_node(rest)?;
        rest = tail;
        Some(node)
    })
}

fn take_node(bytes: &[u8]) -> Option<(Node<'_>, &[u8])> {
    let (has_key, rest) = bytes.split_first()?;
    let (key, rest) = if *has_key == 1 {
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        (Some(ActionKey(Digest::from_bytes(*digest))), rest)
    } else {
        (None, rest)
    };
    let (len, rest) = rest.split_first_chunk::<4>()?;
    let (label, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
    Some(((std::str::from_utf8(label).ok()?, key), rest))
}

/// What stands after the nodes in a payload.
fn beside(payload: &[u8]) -> Beside {
    let (count, mut rest) = payload.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    for _ in 0..u32::from_le_bytes(*count) {
        let Some((_, tail)) = take_node(rest) else { return Beside::default() };
        rest = tail;
    }
    if rest.is_empty() {
        Beside::default()
    } else {
        serde_json::from_slice(rest).unwrap_or_default()
    }
}

/// Entries with a key that is not on record (any more).
fn without_record(store: &Store, file: &store::Standing) -> Vec<String> {
    let entries: Vec<(&str, &[u8])> = file.entries().filter(|(id, _)| *id != ALL).collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let lost = |part: &[(&str, &[u8])]| -> Vec<String> {
        let lost = part.iter().filter(|(_, payload)| {
            nodes(payload).any(|(_, key)| key.is_some_and(|key| !store.has_record(key)))
        });
        lost.map(|(id, _)| (*id).to_owned()).collect()
    };
    std::thread::scope(|scope| {
        let parts = entries.chunks(entries.len().div_ceil(threads).max(64));
        let parts: Vec<_> = parts.map(|part| scope.spawn(|| lost(part))).collect();
        parts.into_iter().flat_map(|p| p.join().expect("a look-up does not panic")).collect()
    })
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain data serialises")
}

/// What is asked for, and where.
fn name(context: &Context, args: &PlanArgs) -> Result<Digest, CommandError> {
    let PlanArgs { pipeline, selectors, only, system, cpu } = args;
    let mut writer = KeyWriter::new("ngcc standing");
    let texts = |list: Vec<String>| serde_json::to_string(&list).unwrap_or_default();
    writer.field("root", context.root()?.as_os_str().as_encoded_bytes());
    writer.field("pipeline", pipeline.as_str().as_bytes());
    writer
        .field("selectors", texts(selectors.iter().map(ToString::to_string).collect()).as_bytes());
    writer.field("only", texts(only.iter().map(ToString::to_string).collect()).as_bytes());
    writer.field("system", system.as_str().as_bytes());
    writer.field("core", format!("{cpu:?}").as_bytes());
    Ok(writer.finish())
}

/// Everything that a plan and its keys depend on and that is no file of the workspace.
fn surroundings(
    context: &Context,
    tools: &Tools,
    system: &stage::System,
    rounds: &BTreeMap<String, u32>,
) -> Result<Digest, CommandError> {
    struct Surroundings<'a>(&'a Tools, &'a stage::System, &'a BTreeMap<String, u32>, String);
    impl Encode for Surroundings<'_> {
        fn encode(&self, sink: &mut dyn Sink) {
            let stage::System { identity, name, arch, description, cpu } = self.1;
            sink.field("program", self.3.as_bytes());
            sink.field("tools", &json(self.0));
            sink.field("identity", identity.to_string().as_bytes());
            sink.field("name", name.as_bytes());
            sink.field("arch", arch.as_bytes());
            sink.field("description", description.as_bytes());
            sink.field("core", cpu.to_string().as_bytes());
            sink.field("rounds", &json(self.2));
        }
    }
    // The program is what its file is; a new build may plan otherwise.
    let program = crate::toolchain::Stamp::of(&context.terminal.launcher)?;
    let program = format!("{} {program:?}", env!("CARGO_PKG_VERSION"));
    Ok(KeyWriter::key("ngcc surroundings", &Surroundings(tools, system, rounds, program)))
}
