//! `ngcc why`: why an action would run or was reused: the differing key ingredients against its last good run.
//!
//! Compares the fields of the key's own encoding, so explanation and key cannot disagree; names the source file or
//! flag behind a field where it is known.

use std::fmt::Write as _;

use super::context::{Context, print, print_json};
use super::session::Session;
use super::standing::Standing;
use super::{CommandError, Verdict};
use crate::action::{NodeId, Source};
use crate::cli::{Exit, WhichPipeline};
use crate::digest::ActionKey;
use crate::exec::bind::{self, Settled};
use crate::exec::forecast::{Forecast, forecast};
use crate::store::{Remembered, Store};

/// One changed ingredient.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// The field of the key.
    pub field: String,
    /// Value at the last good run; `None` when it was not there.
    pub before: Option<String>,
    /// Value now; `None` when it is gone.
    pub now: Option<String>,
    /// The file, flag or action behind it, in words.
    pub cause: String,
}

/// Why one action stands as it does.
#[derive(Debug, serde::Serialize)]
pub struct Explanation {
    /// Its label.
    pub action: String,
    /// `hit`, `run`, `after`, `not needed`, `blocked`.
    pub status: &'static str,
    /// One sentence.
    pub reason: String,
    /// The key, when it has one.
    pub key: Option<String>,
    /// Changed ingredients against the last good run.
    pub changes: Vec<Change>,
    /// The chain from the change's origin to here, by label.
    pub behind: Vec<String>,
}

impl Explanation {
    /// The first cause in a few words.
    #[must_use]
    pub fn headline(&self) -> String {
        match self.changes.first() {
            Some(change) if self.changes.len() == 1 => change.cause.clone(),
            Some(change) => format!("{} and {} more", change.cause, self.changes.len() - 1),
            None => self.reason.clone(),
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// Invalid YAML, an unknown target, an unusable store.
pub fn run(context: &Context, target: &str, which: &WhichPipeline) -> Verdict {
    let explanation = match standing(context, target, which)? {
        Some(explanation) => explanation,
        None => {
            let session = Session::whole(context, which)?;
            let node = session.find(target)?;
            explain(&session, node)?
        }
    };
    if context.json() {
        return print_json(&explanation);
    }
    let mut text = format!("{}: {}\n", explanation.action, explanation.status);
    let _ = writeln!(text, "  {}", explanation.reason);
    if let Some(key) = &explanation.key {
        let _ = writeln!(text, "  key {key}");
    }
    if explanation.behind.len() > 1 {
        let _ = writeln!(text, "  by way of {}", explanation.behind.join(" <- "));
    }
    for change in &explanation.changes {
        let _ = writeln!(text, "\n  {}", change.cause);
        let _ = writeln!(text, "    field  {}", change.field);
        for (word, value) in [("before", &change.before), ("now", &change.now)] {
            let value = value.as_deref().unwrap_or("(not there)");
            let _ = writeln!(text, "    {word:<6} {}", shortened(value));
        }
    }
    print(&text)?;
    Ok(Exit::Fine)
}

/// The explanation without planning all: nothing has moved, or what has moved is planned on top of what stands. `None`
/// when there is nothing to stand on, or the target is not plainly one action.
fn standing(
    context: &Context,
    target: &str,
    which: &WhichPipeline,
) -> Result<Option<Explanation>, CommandError> {
    let Some(store) = context.store_if_there()? else { return Ok(None) };
    let args = which.whole();
    let Some((standing, machine)) = Standing::load(context, &store, &args)? else {
        return Ok(None);
    };
    let tail = format!("/{target}");
    let fits = |label: &str| label == target || label.ends_with(&tail);
    let mut found = standing.nodes().filter(|(_, label, _)| fits(label));
    if let (Some((_, label, key)), None) = (found.next(), found.next()) {
        let planned = standing.submissions().1;
        // A label that ends like this may stand among what is to be planned, too.
        if planned.is_empty() || label == target {
            return settled(&store, label, key).map(Some);
        }
        return Ok(None);
    }
    drop(found);
    if standing.is_whole() {
        return Ok(None);
    }
    let session = Session::on(context, store, &args, standing, machine)?;
    let node = session.plan.find(target).filter(|node| !session.plan.is_standing(*node));
    node.map(|node| explain(&session, node)).transpose()
}

/// The explanation of an action that stands.
fn settled(
    store: &Store,
    label: &str,
    key: Option<ActionKey>,
) -> Result<Explanation, CommandError> {
    let (status, reason) = match key {
        Some(key) => {
            let when = store.record(key)?.map(|r| r.provenance.ended).unwrap_or_default();
            ("hit", reused(&when))
        }
        None => ("not needed", NOT_NEEDED.to_owned()),
    };
    Ok(Explanation {
        action: label.to_owned(),
        status,
        reason,
        key: key.map(|key| key.to_string()),
        changes: Vec::new(),
        behind: vec![label.to_owned()],
    })
}

const NOT_NEEDED: &str = "the attempt before it ended well, so this fallback does not run";

fn reused(when: &str) -> String {
    format!("every ingredient is as it was; the result of {when} is reused")
}

fn shortened(value: &str) -> String {
    let cut: String = value.chars().take(200).collect();
    if cut.len() < value.len() { format!("{cut}…") } else { cut }
}

/// Explains one node of a planned pipeline.
///
/// # Errors
/// A store that cannot be read.
pub fn explain(session: &Session, node: NodeId) -> Result<Explanation, CommandError> {
    let root = &session.workspace.root;
    let (forecasts, mut settled) = forecast(&session.plan, &session.store, root, &session.tools)?;
    explain_with(session, &forecasts, &mut settled, node)
}

/// As [`explain`], with a forecast at hand.
///
/// # Errors
/// A store that cannot be read.
pub fn explain_with(
    session: &Session,
    forecasts: &[Forecast],
    settled: &mut Settled,
    node: NodeId,
) -> Result<Explanation, CommandError> {
    let (plan, store) = (&session.plan, &session.store);
    let root = &session.workspace.root;
    let spec = plan.node(node);
    let mut explanation = Explanation {
        action: spec.label.clone(),
        status: "hit",
        reason: String::new(),
        key: None,
        changes: Vec::new(),
        behind: vec![spec.label.clone()],
    };
    match &forecasts[node.index()] {
        Forecast::Skipped => {
            explanation.status = "not needed";
            explanation.reason = NOT_NEEDED.into();
        }
        Forecast::Blocked(why) => {
            explanation.status = "blocked";
            explanation.reason.clone_from(why);
        }
        Forecast::After(origin) => {
            let inner = explain_with(session, forecasts, settled, *origin)?;
            explanation.status = "after";
            explanation.reason = format!(
                "`{}` would run first; if its result is equal, this one is reused",
                inner.action
            );
            explanation.behind.push(inner.action.clone());
            explanation.changes = inner.changes;
            if explanation.changes.is_empty() {
                explanation.reason = format!("{}: {}", explanation.reason, inner.reason);
            }
        }
        Forecast::Hit(key) => {
            explanation.key = Some(key.to_string());
            let when = store.record(*key)?.map(|r| r.provenance.ended).unwrap_or_default();
            explanation.reason = reused(&when);
        }
        Forecast::Run(key) => {
            explanation.status = "run";
            explanation.key = Some(key.to_string());
            let bound = bind::bind(spec, settled, store, root, &session.tools)
                .map_err(|failure| CommandError::new(Exit::Bug, failure.message))?;
            let last = match store.latest(&spec.label)? {
                Some(key) => store.record(key)?.map(|r| Remembered::of(&r)),
                None => None,
            };
            match last.or_else(|| store.remembered(&spec.label)) {
                None => explanation.reason = "it has never run with a result here".into(),
                Some(last) => {
                    let now = bound.ingredients();
                    explanation.changes = changes(session, node, &last.ingredients, &now);
                    explanation.reason = if explanation.changes.is_empty() {
                        "its record was collected or damaged; the ingredients are as they were"
                            .into()
                    } else {
                        format!("changed since its last result ({})", last.ended)
                    };
                }
            }
        }
    }
    Ok(explanation)
}

/// The fields that differ, in encoding order.
fn changes(
    session: &Session,
    node: NodeId,
    before: &[(String, String)],
    now: &[(String, String)],
) -> Vec<Change> {
    let value = |fields: &[(String, String)], name: &str| {
        fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in now.iter().chain(before) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let changed = names.into_iter().filter_map(|name| {
        let (old, new) = (value(before, name), value(now, name));
        (old != new).then(|| Change {
            field: name.to_owned(),
            cause: cause(session, node, name, old.as_deref(), new.as_deref()),
            before: old,
            now: new,
        })
    });
    changed.collect()
}

/// What a person calls the thing behind a field.
fn cause(
    session: &Session,
    node: NodeId,
    field: &str,
    before: Option<&str>,
    now: Option<&str>,
) -> String {
    let verb = match (before, now) {
        (None, _) => "is new",
        (_, None) => "is gone",
        _ => "changed",
    };
    let spec = session.plan.node(node);
    if let Some(path) = field.strip_prefix("input ") {
        let source = spec.inputs.iter().find(|(p, _)| p.as_str() == path).map(|(_, s)| s);
        return match source {
            Some(Source::File(file)) => format!("file `{file}` {verb}"),
            Some(Source::Text(_)) => format!("`{path}` of this program {verb}"),
            Some(Source::From(from, output)) => {
                format!("output `{output}` of `{}` {verb}", session.plan.node(*from).label)
            }
            Some(Source::Outcome(from)) => {
                format!("the outcome of `{}` {verb}", session.plan.node(*from).label)
            }
            Some(Source::Packed { path, of, .. }) => {
                format!("`{path}` of the package `{}` {verb}", of.name)
            }
            None => format!("input `{path}` {verb}"),
        };
    }
    if field == "parameter recipe" {
        return recipe_cause(before, now);
    }
    if let Some(name) = field.strip_prefix("parameter ") {
        return format!(
            "parameter `{name}` {verb}: {} -> {}",
            shortened(before.unwrap_or("(none)")),
            shortened(now.unwrap_or("(none)"))
        );
    }
    if let Some(name) = field.strip_prefix("tool ") {
        let version =
            session.tools.get(name).map(|t| t.identity.version.clone()).unwrap_or_default();
        return format!("tool `{name}` {verb} (now {version})");
    }
    match field {
        "system" => "the measuring system's identity changed".into(),
        "round" => "another round of measurement was asked for".into(),
        "procedure version" => "this program carries the step out differently".into(),
        other => format!("{other} {verb}"),
    }
}

/// Names the flag, define or source that a build's description changed in.
fn recipe_cause(before: Option<&str>, now: Option<&str>) -> String {
    let parse = |text: Option<&str>| {
        text.and_then(|t| serde_json::from_str::<serde_json::Value>(t).ok()).unwrap_or_default()
    };
    let (old, new) = (parse(before), parse(now));
    let flags = |value: &serde_json::Value| -> Vec<(String, Vec<String>)> {
        let sets = value["flag_sets"].as_array().cloned().unwrap_or_default();
        let words = |set: &serde_json::Value, part: &str| -> Vec<String> {
            let list = set[part].as_array().cloned().unwrap_or_default();
            list.iter().filter_map(|w| w.as_str().map(str::to_owned)).collect()
        };
        sets.iter()
            .map(|set| {
                let name = set["name"].as_str().unwrap_or("").to_owned();
                let mut all = words(set, "c");
                all.extend(words(set, "link"));
                (name, all)
            })
            .collect()
    };
    let (old_sets, new_sets) = (flags(&old), flags(&new));
    let mut texts = Vec::new();
    for (name, now) in &new_sets {
        let before = old_sets.iter().find(|(n, _)| n == name).map(|(_, f)| f.clone());
        let Some(before) = before else {
            texts.push(format!("flag set `{name}` is new"));
            continue;
        };
        let added: Vec<_> = now.iter().filter(|f| !before.contains(f)).cloned().collect();
        let gone: Vec<_> = before.iter().filter(|f| !now.contains(f)).cloned().collect();
        if !added.is_empty() || !gone.is_empty() {
            let list = |sign: char, flags: &[String]| {
                flags.iter().map(|f| format!(" {sign}`{f}`")).collect::<String>()
            };
            texts.push(format!("flag set `{name}`:{}{}", list('-', &gone), list('+', &added)));
        } else if before != *now {
            texts.push(format!("flag set `{name}`: the order of its flags changed"));
        }
    }
    let fields = new.as_object().or(old.as_object());
    for name in fields.into_iter().flat_map(serde_json::Map::keys) {
        if name != "flag_sets" && old[name] != new[name] {
            texts.push(format!("{name}: {} -> {}", old[name], new[name]));
        }
    }
    if texts.is_empty() { "the build's description changed".into() } else { texts.join("; ") }
}
