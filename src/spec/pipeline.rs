//! A pipeline file (`pipelines/<name>.yaml`): which instances, with which flags, through which stages.
//!
//! Knows nothing of submissions: selectors are checked for form here and for sense by the caller.

use std::collections::BTreeMap;

use super::glob::Selector;
use super::needs;
use super::reader::{At, Located};
use super::stage::{self, Stage};
use super::yaml::Document;
use crate::diag::nearest;
use crate::disk::Disk;
use crate::name::{Name, RelPath};

/// One pipeline, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// Name of its file without `.yaml`.
    pub name: Name,
    /// What it answers.
    pub about: String,
    /// Selectors of instances; one fits when any does.
    pub select: Vec<String>,
    /// Sets of compiler flags by name.
    pub flag_sets: BTreeMap<Name, FlagSet>,
    /// Its stages: each after those it needs, else in file order.
    pub stages: Vec<Stage>,
    /// Its file, from the workspace root.
    pub file: RelPath,
}

/// Flags under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagSet {
    /// For the C compiler.
    pub c: Vec<String>,
    /// For the linker, beside those every library gets.
    pub link: Vec<String>,
    /// What they are.
    pub about: Option<String>,
}

/// Reads one pipeline file. Everything wrong is reported to the document; `selected` may add to that.
pub(super) fn read(
    doc: &Document,
    disk: &Disk,
    name: &Name,
    file: &RelPath,
    selected: impl Fn(&Located<'_, Selector>),
) -> Option<Pipeline> {
    let map = At::root(doc).map()?;
    let about = map.required("about", At::text);
    let select = map.or("select", vec!["*".to_owned()], |at| {
        at.list(|at| {
            let selector = at.located(at.parse::<Selector>("a selector"))?;
            selected(&selector);
            Some(selector.value.to_string())
        })
    });
    let flag_sets = map.or("flag_sets", Vec::new(), |at| at.named(flag_set));
    let flag_set_names = map.get("flag_sets").map_or_else(Vec::new, At::keys);
    let stages = map.required("stages", |at| {
        let stages = at.named(|at| stage::read(at, disk))?;
        if at.keys().is_empty() {
            at.error("bad-value", "a pipeline has at least one stage", "", |d| d);
            return None;
        }
        Some(stages)
    });
    let stage_names = map.get("stages").map_or_else(Vec::new, At::keys);
    map.finish();
    let stages = stages?;
    let flags = stages.iter().flat_map(|s| &s.value.flags);
    flags.for_each(|flags| known_flags(flags, &flag_set_names));
    let order = needs::check(&stages, &stage_names)?;
    let mut drafts: Vec<_> = stages.into_iter().map(Some).collect();
    let stages = order.into_iter().filter_map(|i| drafts[i].take()).map(|named| Stage {
        name: named.name,
        needs: named.value.needs.into_iter().map(|n| n.value).collect(),
        kind: named.value.kind,
        limits: named.value.limits,
    });
    Some(Pipeline {
        name: name.clone(),
        about: about?,
        select: select?,
        flag_sets: flag_sets?.into_iter().map(|n| (n.name, n.value)).collect(),
        stages: stages.collect(),
        file: file.clone(),
    })
}

fn flag_set(at: At<'_>) -> Option<FlagSet> {
    let map = at.map()?;
    let about = map.optional("about", At::text);
    let c = map.required("c", |at| at.list(flag));
    let link = map.or("link", Vec::new(), |at| at.list(flag));
    map.finish();
    Some(FlagSet { c: c?, link: link?, about: about? })
}

/// One flag is one word: a blank in it means that two were meant.
fn flag(at: At<'_>) -> Option<String> {
    let text = at.text()?;
    if !text.contains(char::is_whitespace) {
        return Some(text);
    }
    at.error("bad-value", format!("`{text}` is more than one flag"), "", |d| {
        d.help(format!(
            "write a list: [{}]",
            text.split_whitespace().collect::<Vec<_>>().join(", ")
        ))
    });
    None
}

fn known_flags(flags: &Located<'_, Name>, known: &[&str]) {
    let name = flags.value.as_str();
    if known.contains(&name) {
        return;
    }
    let message = format!("there is no flag set `{name}` in this pipeline");
    flags.at.error("unknown-flag-set", message, "", |d| {
        match nearest(name, known.iter().copied()) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d.help("declare it in `flag_sets`"),
        }
    });
}
