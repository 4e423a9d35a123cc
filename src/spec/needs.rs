//! What the stages of one pipeline need of each other: unknown names, cycles, kinds that do not fit, and the order.
//!
//! Knows nothing of what stages do beyond the table of kinds below. Pure: drafts in, order or diagnostics out.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::Fields;
use super::reader::Located;
use super::stage::{Drafts, StageKind, kinds};
use crate::diag::nearest;
use crate::name::Name;

/// Which kinds a kind can use.
fn usable(kind: &StageKind) -> &'static [&'static str] {
    match kind {
        StageKind::Build { .. } => &[],
        StageKind::Kat { .. } => &["build"],
        StageKind::Timing(_) | StageKind::Profile(_) => &["build", "kat"],
        StageKind::Sizes => &["build", "kat"],
        StageKind::Report { .. } => &["build", "kat", "timing", "profile", "sizes", "command"],
        StageKind::Command(_) => &StageKind::WORDS,
    }
}

/// Checks the needs of all stages; the order has every stage after those it needs, and else that of the file.
///
/// `names` are those of all stages in the file, also of those that could not be read.
pub(super) fn check(drafts: &Drafts<'_>, names: &[&str]) -> Option<Vec<usize>> {
    let known = unknown_names(drafts, names);
    let fitting = kinds_that_do_not_fit(drafts);
    let outputs = unknown_outputs(drafts);
    let order = order(drafts);
    let built = libraries(drafts);
    known.and(fitting).and(outputs).and(built).and(order)
}

fn unknown_names(drafts: &Drafts<'_>, names: &[&str]) -> Option<()> {
    let known: BTreeSet<&str> = names.iter().copied().collect();
    let mut fine = Some(());
    for need in drafts.iter().flat_map(|d| &d.value.needs) {
        let name = need.value.as_str();
        if known.contains(name) {
            continue;
        }
        fine = None;
        let message = format!("there is no stage `{name}` in this pipeline");
        need.at.error("unknown-stage", message, "", |d| {
            match nearest(name, names.iter().copied()) {
                Some(near) => d.help(format!("did you mean `{near}`?")),
                None => d.help(format!("the stages are {}", names.join(", "))),
            }
        });
    }
    fine
}

fn kinds_that_do_not_fit(drafts: &Drafts<'_>) -> Option<()> {
    let kinds = kinds(drafts);
    let mut fine = Some(());
    for draft in drafts {
        let (word, usable) = (draft.value.kind.word(), usable(&draft.value.kind));
        for need in &draft.value.needs {
            let Some(kind) = kinds.get(&need.value) else { continue };
            // Needing itself is a cycle, and reported as one.
            if usable.contains(&kind.word()) || need.value == draft.name {
                continue;
            }
            fine = None;
            let message = format!("a {word} stage cannot use a {} stage", kind.word());
            let label = format!("`{}` is of the kind {}", need.value, kind.word());
            need.at.error("unusable-need", message, label, |d| match usable {
                [] => d.help(format!("a {word} stage needs no other stage")),
                usable => d.help(format!("it can use {}", usable.join(", "))),
            });
        }
    }
    fine
}

/// Inputs of commands must be outputs that exist.
fn unknown_outputs(drafts: &Drafts<'_>) -> Option<()> {
    let kinds = kinds(drafts);
    let mut fine = Some(());
    for Located { value: (stage, output), at } in drafts.iter().flat_map(|d| &d.value.uses) {
        let Some(kind) = kinds.get(stage) else { continue };
        let outputs = kind.outputs();
        if outputs.contains(output) {
            continue;
        }
        fine = None;
        let message = format!("stage `{stage}` has no output `{output}`");
        at.error("unknown-output", message, "", |d| {
            match nearest(output, outputs.iter().map(String::as_str)) {
                Some(near) => d.help(format!("did you mean `{stage}.{near}`?")),
                None => d.help(format!("it has {}", outputs.join(", "))),
            }
        });
    }
    fine
}

/// What works on a library needs exactly one build, directly or through others.
fn libraries(drafts: &Drafts<'_>) -> Option<()> {
    let by_name: BTreeMap<&Name, _> = drafts.iter().map(|d| (&d.name, d)).collect();
    let mut fine = Some(());
    for draft in drafts {
        let wants_library = match &draft.value.kind {
            StageKind::Kat { .. }
            | StageKind::Timing(_)
            | StageKind::Profile(_)
            | StageKind::Sizes => true,
            StageKind::Build { .. } | StageKind::Report { .. } | StageKind::Command(_) => false,
        };
        // A long chain of commands is not walked from each of its links.
        if !wants_library {
            continue;
        }
        let (mut seen, mut open) = (BTreeSet::new(), vec![&draft.name]);
        while let Some(name) = open.pop() {
            if let (true, Some(d)) = (seen.insert(name), by_name.get(name)) {
                open.extend(d.value.needs.iter().map(|n| &n.value));
            }
        }
        let builds: Vec<&str> = drafts
            .iter()
            .filter(|d| seen.contains(&d.name) && matches!(d.value.kind, StageKind::Build { .. }))
            .map(|d| d.name.as_str())
            .collect();
        // An unknown need is reported elsewhere and may have been meant for the build.
        let all_known = seen.iter().all(|name| by_name.contains_key(name));
        if draft.value.fields == Fields::Wrong
            || builds.len() == 1
            || (builds.is_empty() && !all_known)
        {
            continue;
        }
        fine = None;
        let name = &draft.name;
        let (message, help) = match builds.as_slice() {
            [] => (
                format!("stage `{name}` works on a library, and needs no build stage"),
                "add `needs: [build]`, with the name of a build stage".to_owned(),
            ),
            builds => (
                format!("stage `{name}` needs {} build stages", builds.len()),
                format!("it can work on one library only: {}", builds.join(" or ")),
            ),
        };
        draft.at.key_error("no-library", message, "this stage", |d| d.help(help));
    }
    fine
}

/// Stages in needs order, and of those that may come next always the first of the file. Every cycle is reported once,
/// with all the places that make it. The time grows with stages and needs, not with their square.
fn order(drafts: &Drafts<'_>) -> Option<Vec<usize>> {
    let index: BTreeMap<&Name, usize> =
        drafts.iter().enumerate().map(|(i, d)| (&d.name, i)).collect();
    let needs: Vec<Vec<usize>> = drafts
        .iter()
        .map(|d| d.value.needs.iter().filter_map(|n| index.get(&n.value).copied()).collect())
        .collect();
    let mut needed_by = vec![Vec::new(); drafts.len()];
    for (i, needs) in needs.iter().enumerate() {
        needs.iter().for_each(|&need| needed_by[need].push(i));
    }
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut left: BTreeSet<usize> = (0..drafts.len()).collect();
    let mut ready: BTreeSet<usize> = left.iter().copied().filter(|&i| open[i] == 0).collect();
    let mut order = Vec::new();
    let mut acyclic = true;
    while let Some(&first) = left.first() {
        let next = match ready.pop_first() {
            Some(next) => vec![next],
            None => {
                acyclic = false;
                let cycle = find_cycle(&needs, &left, first);
                report_cycle(drafts, &cycle);
                cycle
            }
        };
        for i in next {
            left.remove(&i);
            ready.remove(&i);
            order.push(i);
            for &dependent in &needed_by[i] {
                open[dependent] = open[dependent].saturating_sub(1);
                if open[dependent] == 0 && left.contains(&dependent) {
                    ready.insert(dependent);
                }
            }
        }
    }
    acyclic.then_some(order)
}

/// Walks along open needs until a stage comes again. There always is one: no open stage is ready.
fn find_cycle(needs: &[Vec<usize>], left: &BTreeSet<usize>, first: usize) -> Vec<usize> {
    let (mut walk, mut places) = (Vec::new(), BTreeMap::new());
    let mut next = Some(first);
    while let Some(at) = next {
        if let Some(start) = places.insert(at, walk.len()) {
            walk.drain(..start);
            // The picture starts at the stage that stands first in the file.
            let first = walk.iter().enumerate().min_by_key(|(_, w)| **w).map_or(0, |(i, _)| i);
            walk.rotate_left(first);
            break;
        }
        walk.push(at);
        next = needs[at].iter().copied().find(|n| left.contains(n));
    }
    walk
}

fn report_cycle(drafts: &Drafts<'_>, cycle: &[usize]) {
    let names: Vec<&str> = cycle.iter().map(|&i| drafts[i].name.as_str()).collect();
    let edge = |i: usize| -> Option<(&Located<'_, Name>, String)> {
        let to = names[(i + 1) % names.len()];
        let need = drafts[cycle[i]].value.needs.iter().find(|n| n.value.as_str() == to)?;
        Some((need, format!("`{}` needs `{to}`", names[i])))
    };
    let edges: Vec<_> = (0..cycle.len()).filter_map(edge).collect();
    let Some(((first, label), rest)) = edges.split_first() else { return };
    let message = match names.as_slice() {
        [one] => format!("stage `{one}` needs itself"),
        names => format!("stages need each other: {} -> {}", names.join(" -> "), names[0]),
    };
    first.at.error("cycle", message, label, |d| {
        rest.iter().fold(d, |d, (need, label)| need.at.point(d, label))
    });
}
