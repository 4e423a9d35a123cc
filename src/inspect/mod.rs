//! Inspects a package without executing anything: what it is, what it holds, and the manifest one would write.
//!
//! Input is a listing whose contents are read on demand ([`Contents`]). Every decision carries its reason, and what a
//! package does not say becomes a question instead of a guess that looks like knowledge. Shipped build files are read
//! as text and are evidence only; nothing a package ships is run, included or believed.
//!
//! The order of work: `kinds` sorts files, `places` finds the APIs, `naming` the instances of a directory, `closure`
//! the sources of an instance, `kat_match` its known answers; `manifest` writes what `kem add` proposes, and
//! `difference` says what a new package changes.

mod build_text;
mod c_text;
mod closure;
mod constants;
mod difference;
mod found;
mod instance;
mod items;
mod kat_match;
mod kat_text;
mod kinds;
mod libraries;
mod manifest;
mod naming;
mod package;
mod places;
mod preprocess;
mod scope;
mod share;
mod yaml_text;

use std::collections::{BTreeMap, BTreeSet};

use closure::Index;
use naming::Variant;
use package::{Package, directory_of};
use places::{Anchor, Places};
use scope::Scope;

use crate::digest::BlobId;
use crate::name::{Name, RelPath, natural_order};
use crate::spec::{Function, ImplementationVersion};

pub use difference::{Change, Difference, InstanceChange, difference};
pub use found::{
    Decided, Field, FoundImplementation, FoundInstance, FoundKat, Hints, Inspection, Question,
};
pub use kat_text::KatText;
pub use kinds::Kind;
pub use manifest::{Origin, kat_manifest, manifest};
pub use package::{Contents, Listed};

/// Inspects a package.
#[must_use]
pub fn inspect(contents: &dyn Contents, hints: &Hints) -> Inspection {
    let package = Package::new(contents);
    let included = preprocess::included_sources(&package);
    let places = places::find(&package, &included);
    let mut inspection = Inspection {
        function: None,
        name: hints.name.clone(),
        hints: hints.clone(),
        implementations: Vec::new(),
        kats: kats(&package),
        kinds: package.kinds.clone(),
        copies: places.copies.clone(),
        notes: helper_copies(&package),
        questions: Vec::new(),
    };
    let Some(function) = function(&places, &mut inspection) else { return inspection };
    let anchors: Vec<Anchor> =
        places.anchors.into_iter().filter(|anchor| anchor.function == function).collect();
    let index = Index::new(&package, included);
    let all: BTreeSet<String> = anchors.iter().map(|anchor| anchor.directory.clone()).collect();
    let builds = scope::builds(&package);
    for (version, name, anchors) in groups(anchors, &mut inspection.questions) {
        let scopes: Vec<Scope<'_, '_>> = anchors
            .iter()
            .map(|anchor| {
                let (version, machine) = (anchor.version, anchor.machine.clone());
                Scope::new(&package, &anchor.directory, version, machine, &all, &builds)
            })
            .collect();
        let found = implementation(version, name, &anchors, &scopes, &index);
        inspection.implementations.push(found);
    }
    kat_match::assign(&mut inspection.implementations, &inspection.kats, function);
    for implementation in &mut inspection.implementations {
        for instance in &mut implementation.instances {
            sizes(instance, function, hints);
        }
    }
    inspection.implementations.iter_mut().for_each(common_notes);
    unmatched(&mut inspection);
    inspection
}

/// What is to be said of all instances is said once.
fn common_notes(found: &mut FoundImplementation) {
    let Some(first) = found.instances.first() else { return };
    let all =
        |note: &&String| found.instances.iter().all(|instance| instance.notes.contains(*note));
    let common: Vec<String> = first.notes.iter().filter(all).cloned().collect();
    for instance in &mut found.instances {
        instance.notes.retain(|note| !common.contains(note));
    }
    found.notes.extend(common);
}

fn kats(package: &Package<'_>) -> Vec<KatText> {
    let files = package.contents.files();
    let all = package.of(Kind::KnownAnswers);
    all.filter_map(|path| kat_text::read(package.contents, path, files.get(path)?)).collect()
}

/// What the package is for, by the APIs found.
fn function(places: &Places, inspection: &mut Inspection) -> Option<Function> {
    let found: BTreeSet<Function> = places.anchors.iter().map(|anchor| anchor.function).collect();
    let Some(function) = found.first().copied() else {
        inspection.questions.push(no_api(places, inspection));
        return None;
    };
    let of_function = places.anchors.iter().filter(|anchor| anchor.function == function);
    let header = of_function.min_by_key(|anchor| (anchor.version.is_none(), anchor.version))?;
    let names = places::api_names(function);
    let why = format!("`{}` declares `{}`", header.header, names[0]);
    inspection.function = Some(Decided::new(function, why));
    if found.len() > 1 {
        let candidates = found.iter().map(|function| word(*function).to_owned()).collect();
        let text = "headers for several functions are in the package; the first is taken";
        inspection.questions.push(Question::new(Field::Function, text, candidates));
    }
    Some(function)
}

/// The word of the manifest.
const fn word(function: Function) -> &'static str {
    match function {
        Function::Kem => "kem",
        Function::Signature => "signature",
        Function::KeyExchange => "key-exchange",
        Function::Hash => "hash",
    }
}

fn no_api(places: &Places, inspection: &Inspection) -> Question {
    let archives: Vec<String> =
        inspection.of(Kind::Archive).map(|path| format!("nested: [{path}]")).collect();
    let headers = |all: &[RelPath]| all.iter().map(|path| path.to_string()).collect::<Vec<_>>();
    if !places.nist.is_empty() {
        let text = "no header declares an official API, but these declare NIST's (`api: nist`)";
        return Question::new(Field::Function, text, headers(&places.nist));
    }
    if !places.empty.is_empty() {
        let text = "these headers declare an API, and no source of the package carries it out";
        return Question::new(Field::Function, text, headers(&places.empty));
    }
    if let Some(copy) = places.copies.first() {
        let text = format!("an API is declared only {}: `{}`", copy.why, copy.value);
        return Question::new(Field::Function, text, vec![copy.value.clone()]);
    }
    let text = if archives.is_empty() {
        "no header declares `kem_keygen`, `sig_keygen`, `kex_init_a` or `CryptHash`; what does the package do?"
    } else {
        "no header declares an API; the code may be in an archive inside the package"
    };
    Question::new(Field::Function, text, archives)
}

type Group = (Decided<ImplementationVersion>, Name, Vec<Anchor>);

/// Implementations: by version, and by machine where one version has several.
fn groups(anchors: Vec<Anchor>, questions: &mut Vec<Question>) -> Vec<Group> {
    let named = anchors.iter().any(|anchor| anchor.version.is_some());
    let reference =
        anchors.iter().any(|anchor| anchor.version == Some(ImplementationVersion::Reference));
    let mut sorted: BTreeMap<(ImplementationVersion, Option<String>), Vec<Anchor>> =
        BTreeMap::new();
    let mut aside = Vec::new();
    for anchor in anchors {
        let version = match anchor.version {
            Some(version) => version,
            None if reference => {
                aside.push(anchor.directory);
                continue;
            }
            None => ImplementationVersion::Reference,
        };
        sorted.entry((version, anchor.machine.clone())).or_default().push(anchor);
    }
    if !aside.is_empty() {
        let text = "these directories have an API and no folder says which version they are; they are left out";
        questions.push(Question::new(Field::Implementations, text, aside));
    }
    let mut count: BTreeMap<ImplementationVersion, usize> = BTreeMap::new();
    sorted.keys().for_each(|(version, _)| *count.entry(*version).or_default() += 1);
    let mut groups = Vec::new();
    for ((version, machine), anchors) in sorted {
        let word = match version {
            ImplementationVersion::Reference => "reference",
            ImplementationVersion::Performance => "performance",
            ImplementationVersion::Resource => "resource",
            ImplementationVersion::Independent => "independent",
            ImplementationVersion::Baseline => "baseline",
        };
        let text = match machine.filter(|_| count[&version] > 1) {
            Some(machine) => format!("{word}-{machine}"),
            None => word.to_owned(),
        };
        let Ok(name) = text.parse::<Name>() else { continue };
        let why = match anchors.first().and_then(|anchor| anchor.version_part.as_ref()) {
            Some(part) => format!("its folder is called `{part}`"),
            None if named => "no folder says otherwise".to_owned(),
            None => "the only implementation, and no folder says otherwise".to_owned(),
        };
        groups.push((Decided::new(version, why), name, anchors));
    }
    groups
}

fn implementation(
    version: Decided<ImplementationVersion>,
    name: Name,
    anchors: &[Anchor],
    scopes: &[Scope<'_, '_>],
    index: &Index,
) -> FoundImplementation {
    let mut found = FoundImplementation {
        name,
        version,
        instances: Vec::new(),
        notes: Vec::new(),
        questions: Vec::new(),
    };
    let given: Vec<instance::Given> = scopes.iter().map(instance::given).collect();
    let variants: Vec<Vec<Variant>> = (scopes.iter().zip(anchors).zip(&given))
        .map(|((scope, anchor), given)| naming::variants(scope, &anchor.header, &given.plain()))
        .collect();
    for (at, (scope, anchor)) in scopes.iter().zip(anchors).enumerate() {
        for variant in own_variants(&variants, at, &anchor.directory) {
            let described = instance::describe(scope, index, anchor, variant, &given[at]);
            found.instances.extend(described);
        }
    }
    unique_names(&mut found);
    found.instances.sort_by(|a, b| natural_order(a.name.value.as_str(), b.name.value.as_str()));
    let flags: BTreeSet<&String> =
        found.instances.iter().flat_map(|i| &i.submitted_flags).collect();
    if !flags.is_empty() {
        let list: Vec<String> = flags.into_iter().map(|flag| format!("`{flag}`")).collect();
        found.notes.push(format!("its own build files use {}; not used here", list.join(" ")));
    }
    found
}

/// The variants of a directory. When the same set of names is in several directories, a directory has the one that
/// its name says.
fn own_variants<'v>(all: &'v [Vec<Variant>], at: usize, directory: &str) -> Vec<&'v Variant> {
    let own = &all[at];
    let elsewhere = |variant: &&Variant| {
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        others.flat_map(|(_, variants)| variants).any(|other| other.name == variant.name)
    };
    if own.len() < 2 || !own.iter().all(|variant| elsewhere(&variant)) {
        return own.iter().collect();
    }
    let parts: Vec<String> = directory.rsplit('/').take(2).map(naming::plain).collect();
    let digits: Vec<&str> = naming::numbers(directory).into_iter().rev().take(1).collect();
    let named = |variant: &&Variant| {
        variant.name.as_ref().is_some_and(|name| parts.contains(&naming::plain(name)))
    };
    let numbered = |variant: &&Variant| {
        let name = variant.name.as_deref().unwrap_or("");
        naming::numbers(name).into_iter().rev().take(1).eq(digits.iter().copied())
    };
    for fits in [&named as &dyn Fn(&&Variant) -> bool, &numbered] {
        if let [one] = own.iter().filter(|variant| fits(variant)).collect::<Vec<_>>()[..] {
            return vec![one];
        }
    }
    own.iter().collect()
}

/// Names that two instances share, and the template's own, give way to the directories' names.
fn unique_names(found: &mut FoundImplementation) {
    let unique = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let stated: Vec<String> = found.instances.iter().map(|i| i.name.value.to_string()).collect();
    let template = stated.iter().any(|name| name == "AlgorithmInstance");
    if unique(&stated) && !template {
        return;
    }
    let part = |directory: &str, up: usize| directory.rsplit('/').nth(up).unwrap_or("").to_owned();
    let bases: Vec<String> = found.instances.iter().map(|i| part(&i.directory.value, 0)).collect();
    let joined: Vec<String> = (found.instances.iter().zip(&stated))
        .map(|(i, name)| {
            let family = part(&i.directory.value, 1);
            let shared = family.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            let cut = name.get(..shared).and_then(|s| s.rfind(['-', '_'])).map_or(0, |at| at + 1);
            format!("{family}-{}", &name[cut..])
        })
        .collect();
    let (names, why) = if unique(&bases) && bases.iter().all(|base| naming::as_name(base).is_some())
    {
        (bases, "the directory's name, because the header's is not one instance's own")
    } else if unique(&joined) {
        (joined, "its folder and its name, because two instances have the same name")
    } else {
        let count = stated.iter().enumerate().map(|(at, name)| format!("{name}-{}", at + 1));
        let text = "several instances have one name; numbers were added to tell them apart";
        let all = stated.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
        found.questions.push(Question::new(Field::Instances, text, all));
        (count.collect(), "numbered, because nothing else tells them apart")
    };
    for ((instance, name), stated) in found.instances.iter_mut().zip(names).zip(stated) {
        let Some(name) = naming::as_name(&name) else { continue };
        if name.as_str() != stated {
            let original = instance.name.why.clone();
            instance.kat_name.get_or_insert(Decided::new(stated, original));
            instance.name = Decided::new(name, why);
        }
    }
}

/// Sizes from constants, from record 0, from what was known; differing ones are a question.
fn sizes(instance: &mut FoundInstance, function: Function, hints: &Hints) {
    let known = hints.instances.get(&instance.name.value).map(|known| &known.sizes);
    for size in function.size_names() {
        let constant = instance.sizes.get(*size).map(|decided| decided.value);
        let kat = instance.kat.as_ref();
        let text = kat.and_then(|kat| kat_match::length(&kat.text, size));
        let place = kat.map(|kat| kat.text.path.to_string()).unwrap_or_default();
        let decided = match (constant, text) {
            (Some(a), Some(b)) if a == b => {
                Decided::new(a, "the code's constants and record 0 of the known answers agree")
            }
            (Some(a), Some(b)) => {
                let text = format!(
                    "`{size}`: the code's constants give {a}, record 0 of `{place}` has {b}"
                );
                let candidates = vec![a.to_string(), b.to_string()];
                instance.questions.push(Question::new(Field::Sizes, text, candidates));
                Decided::new(a, "asked")
            }
            (Some(a), None) => Decided::new(a, "the code's constants"),
            (None, Some(b)) => Decided::new(b, format!("record 0 of `{place}`")),
            (None, None) => match known.and_then(|known| known.get(*size)) {
                Some(bytes) => Decided::new(*bytes, "from the manifest before"),
                None => continue,
            },
        };
        instance.sizes.insert((*size).to_owned(), decided);
    }
}

/// Texts that belong to nothing are worth a line.
fn unmatched(inspection: &mut Inspection) {
    let all = || inspection.implementations.iter().flat_map(|i| &i.instances);
    let used: BTreeSet<&str> =
        all().filter_map(|i| i.kat.as_ref()).map(|kat| kat.text.sha256.as_str()).collect();
    let free = inspection.kats.iter().filter(|kat| !used.contains(kat.sha256.as_str()));
    let mut notes: Vec<String> = free
        .map(|kat| format!("known answers that belong to no instance: `{}`", kat.path))
        .collect();
    inspection.notes.append(&mut notes);
}

/// Helper files that are shipped in several versions: at most one of them is the official one.
fn helper_copies(package: &Package<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for name in ["auxfunc.c", "drng.c"] {
        let mut versions: BTreeMap<BlobId, Vec<&RelPath>> = BTreeMap::new();
        for path in package.sources().filter(|path| path.file_name() == name) {
            // Line ends make no difference to what is compiled.
            let mut bytes = package::read_up_to(package.contents, path, 4 << 20);
            bytes.retain(|byte| *byte != b'\r');
            versions.entry(BlobId::of(&bytes)).or_default().push(path);
        }
        if versions.len() > 1 {
            let places: Vec<String> = versions
                .values()
                .map(|paths| {
                    let place = paths.first().map(|path| directory_of(path)).unwrap_or_default();
                    let more = if paths.len() > 1 {
                        format!(" and {} more", paths.len() - 1)
                    } else {
                        String::new()
                    };
                    format!("`{place}`{more}")
                })
                .collect();
            notes.push(format!(
                "{} different `{name}` are shipped, so not all are the official one: in {}",
                versions.len(),
                places.join("; ")
            ));
        }
    }
    notes
}
