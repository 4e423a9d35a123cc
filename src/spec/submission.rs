//! A submission's manifest (`kems/<id>/submission.yaml`): its instances, its implementations, where their source comes
//! from. How one instance is built is `recipe.rs`.
//!
//! Knows nothing of building or fetching: it checks that the file makes sense by itself and that the files it names
//! beside it are there. Archives are not looked for: an absent one is not an error of the manifest.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::Map;
use super::kat_manifest;
use super::reader::{At, Kind};
use super::recipe::Recipe;
use super::recipe_file;
use super::yaml::Document;
use crate::diag::nearest;
use crate::disk::Disk;
use crate::name::{Name, RelPath};
use crate::result::KatExpectation;

/// One submission, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Name of its directory: `kem-18`.
    pub id: Name,
    /// What its authors call it.
    pub name: String,
    /// What it does.
    pub function: Function,
    /// Web page about it.
    pub page: Option<String>,
    /// Licence of its source.
    pub licence: Option<String>,
    /// Which symmetric primitives it uses, as surveyed.
    pub survey: Option<Survey>,
    /// Remarks for people.
    pub notes: Option<String>,
    /// Whether a person has checked this manifest against the package.
    pub inspected: bool,
    /// Its parameter sets.
    pub instances: BTreeMap<Name, Instance>,
    /// Its implementations.
    pub implementations: BTreeMap<Name, Implementation>,
    /// Expected known answers, from `kat.sha256` beside the manifest, by instance.
    pub kat: BTreeMap<Name, KatExpectation>,
    /// `kat.vectors.json` beside the manifest, if there is one.
    pub vectors: Option<RelPath>,
    /// Its directory, from the workspace root.
    pub dir: RelPath,
    /// Its manifest, from the workspace root.
    pub file: RelPath,
}

/// What a submission does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Function {
    /// Key encapsulation.
    Kem,
    /// Signature.
    Signature,
    /// Key exchange.
    KeyExchange,
    /// Hash.
    Hash,
}

impl Function {
    /// The words of the manifest.
    pub(super) const WORDS: [(&'static str, Self); 4] = [
        ("kem", Self::Kem),
        ("signature", Self::Signature),
        ("key-exchange", Self::KeyExchange),
        ("hash", Self::Hash),
    ];

    /// Names of the sizes that an instance may state.
    #[must_use]
    pub fn size_names(self) -> &'static [&'static str] {
        match self {
            Self::Kem => &["pk", "sk", "ct", "ss"],
            Self::Signature => &["pk", "sk", "sig"],
            Self::KeyExchange => &["pk", "sk", "ss", "messages"],
            Self::Hash => &["digest"],
        }
    }
}

/// Result of the survey of symmetric primitives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// `ICCS-only`, `mixed`, `bypass`, `instance-dependent`.
    pub verdict: String,
    /// Why.
    pub notes: Option<String>,
}

/// One parameter set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Its name, as in the submission.
    pub name: Name,
    /// Security target in bits.
    pub target_bits: Option<u32>,
    /// Catalogue sizes in bytes, by [`Function::size_names`].
    pub sizes: BTreeMap<String, u64>,
    /// What the sizes count, e.g. `encoded`.
    pub size_basis: Option<String>,
    /// What is known to be wrong with it.
    pub expected_findings: Vec<ExpectedFinding>,
}

/// A finding that is no news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedFinding {
    /// Its code, e.g. `kat-mismatch`.
    pub code: String,
    /// Why it is expected.
    pub why: String,
}

/// One implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Implementation {
    /// Its name in the manifest.
    pub name: Name,
    /// Which of the guide's versions it is.
    pub version: ImplementationVersion,
    /// Where its source comes from.
    pub source: Source,
    /// How each instance it has is built.
    pub recipes: BTreeMap<Name, Recipe>,
    /// Remarks for people.
    pub about: Option<String>,
}

/// The guide's three versions, ours, and what is measured beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImplementationVersion {
    /// The reference implementation.
    Reference,
    /// Optimised for speed.
    Performance,
    /// Optimised for memory.
    Resource,
    /// Written by us from the specification.
    Independent,
    /// Known code of a scheme outside the call, to compare with.
    Baseline,
}

impl ImplementationVersion {
    /// The text of the metadata block, as the reference harness writes it.
    #[must_use]
    pub const fn variant(self) -> &'static str {
        match self {
            Self::Reference => "Reference_Implementation",
            Self::Performance => "Optimized_Implementation",
            Self::Resource => "Additional_Implementation",
            Self::Independent => "Independent_Implementation",
            Self::Baseline => "Baseline_Implementation",
        }
    }

    /// The words of the manifest.
    pub(super) const WORDS: [(&'static str, Self); 5] = [
        ("reference", Self::Reference),
        ("performance", Self::Performance),
        ("resource", Self::Resource),
        ("independent", Self::Independent),
        ("baseline", Self::Baseline),
    ];
}

/// Where source comes from: always pinned by content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A directory of this workspace.
    Directory {
        /// From the workspace root.
        path: RelPath,
    },
    /// An archive that is fetched or provided.
    Archive {
        /// Its file name.
        file: String,
        /// Where it can be fetched.
        url: Option<String>,
        /// SHA-256 of the archive.
        sha256: String,
        /// Its length.
        bytes: u64,
        /// Archives inside it that are unpacked in place.
        nested: Vec<String>,
    },
    /// A release of a crate, used for its files only.
    Crate {
        /// Its name.
        name: String,
        /// Its version.
        version: String,
        /// The registry's checksum.
        sha256: String,
    },
}

/// Reads one manifest. Everything wrong is reported to the document.
pub(super) fn read(
    doc: &Document,
    disk: &Disk,
    id: &Name,
    dir: &RelPath,
    flag_sets: Option<&BTreeSet<Name>>,
) -> Option<Submission> {
    let map = At::root(doc).map()?;
    let name = map.required("name", At::text);
    let function = map.required("function", |at| at.one_of("function", &Function::WORDS));
    let page = map.optional("page", url);
    let licence = map.optional("licence", At::text);
    let survey = map.optional("survey", survey);
    let notes = map.optional("notes", At::text);
    let inspected = map.or("inspected", false, At::truth);
    let instances = map
        .required("instances", |at| at.named(|at| instance(at, function.unwrap_or(Function::Kem))));
    let instances = instances
        .map(|named| named.into_iter().map(|n| (n.name, n.value)).collect::<BTreeMap<_, _>>());
    let named = map.get("instances").filter(|at| !at.is_nothing()).map(At::keys);
    let place = Place { disk, dir, instances: named.unwrap_or_default(), flag_sets };
    let implementations =
        map.required("implementations", |at| at.named(|at| implementation(at, &place)));
    map.finish();
    let implementations = implementations?.into_iter().map(|n| (n.name, n.value)).collect();
    let mut submission = Submission {
        id: id.clone(),
        name: name?,
        function: function?,
        page: page?,
        licence: licence?,
        survey: survey?,
        notes: notes?,
        inspected: inspected?,
        instances: instances?,
        implementations,
        kat: BTreeMap::new(),
        vectors: None,
        dir: dir.clone(),
        file: dir.join("submission.yaml").ok()?,
    };
    read_beside(&mut submission, doc, &place);
    Some(submission)
}

/// Adds what stands beside the manifest: `kat.sha256` and `kat.vectors.json`.
fn read_beside(submission: &mut Submission, doc: &Document, place: &Place<'_>) {
    let beside =
        |name: &str| submission.dir.join(name).ok().filter(|p| place.disk.exists(p.as_str()));
    submission.vectors = beside("kat.vectors.json");
    let Some(file) = beside("kat.sha256") else { return };
    let errors = match super::read_file(place.disk, &file) {
        Err(diagnostic) => vec![diagnostic],
        Ok(bytes) => {
            let (kat, errors) = kat_manifest::read(file.as_str(), &bytes, &place.instances);
            submission.kat = kat;
            errors
        }
    };
    errors.into_iter().for_each(|error| doc.report(|| error));
}

/// What the readers of parts need to know of the whole.
pub(super) struct Place<'a> {
    pub(super) disk: &'a Disk,
    pub(super) dir: &'a RelPath,
    /// Names of the instances, also of those that could not be read; empty when there is no telling.
    pub(super) instances: Vec<&'a str>,
    /// Flag sets of all pipelines; `None` when there is no telling.
    pub(super) flag_sets: Option<&'a BTreeSet<Name>>,
}

fn url(at: At<'_>) -> Option<String> {
    let text = at.text()?;
    let fine = ["https://", "http://"].iter().any(|s| text.starts_with(s) && text.len() > s.len());
    if fine && !text.contains(char::is_whitespace) {
        return Some(text);
    }
    at.error("bad-value", format!("`{text}` is not a web address"), "`https://…` expected", |d| d);
    None
}

fn survey(at: At<'_>) -> Option<Survey> {
    let map = at.map()?;
    let verdict = map.required("verdict", At::text);
    let notes = map.optional("notes", At::text);
    map.finish();
    Some(Survey { verdict: verdict?, notes: notes? })
}

fn instance(at: At<'_>, function: Function) -> Option<Instance> {
    if at.is_nothing() {
        return Some(Instance {
            name: at.key().parse().ok()?,
            target_bits: None,
            sizes: BTreeMap::new(),
            size_basis: None,
            expected_findings: Vec::new(),
        });
    }
    let map = at.map()?;
    let target_bits = map.optional("target_bits", At::small_number);
    let sizes = map.or("sizes", BTreeMap::new(), |at| sizes(at, function));
    let size_basis = map.optional("size_basis", At::text);
    let expected_findings = map.or("expected_findings", Vec::new(), |at| at.list(finding));
    map.finish();
    Some(Instance {
        name: at.key().parse().ok()?,
        target_bits: target_bits?,
        sizes: sizes?,
        size_basis: size_basis?,
        expected_findings: expected_findings?,
    })
}

fn sizes(at: At<'_>, function: Function) -> Option<BTreeMap<String, u64>> {
    let map = at.map()?;
    let read = |name: &&'static str| (*name, map.optional(name, At::count));
    let fields: Vec<_> = function.size_names().iter().map(read).collect();
    map.finish();
    let mut sizes = BTreeMap::new();
    for (name, size) in fields {
        if let Some(size) = size? {
            sizes.insert(name.to_owned(), size);
        }
    }
    Some(sizes)
}

fn finding(at: At<'_>) -> Option<ExpectedFinding> {
    let map = at.map()?;
    let code = map.required("code", At::name);
    let why = map.required("why", At::text);
    map.finish();
    Some(ExpectedFinding { code: code?.to_string(), why: why? })
}

fn implementation(at: At<'_>, place: &Place<'_>) -> Option<Implementation> {
    let map = at.map()?;
    let version = map.required("version", |at| at.one_of("version", &ImplementationVersion::WORDS));
    let about = map.optional("about", At::text);
    let source = map.required("source", |at| source(at, place));
    let recipes = recipe_file::read(&map, source.as_ref(), place);
    map.finish();
    Some(Implementation {
        name: at.key().parse().ok()?,
        version: version?,
        source: source?,
        recipes: recipes?,
        about: about?,
    })
}

fn source(at: At<'_>, place: &Place<'_>) -> Option<Source> {
    let map = at.map()?;
    let forms = ["directory", "archive", "crate"];
    let given: Vec<_> = forms.iter().filter_map(|form| map.get(form)).collect();
    let [form] = given.as_slice() else {
        let message = format!("a source is exactly one of {}", forms.join(", "));
        let label = format!("{} of them are given", given.len());
        at.error("bad-source", message, label, |d| d);
        return None;
    };
    let source = match form.key() {
        "directory" => directory(*form, place),
        "archive" => archive(*form, &map),
        _ => release(*form, &map),
    };
    map.finish();
    source
}

fn directory(at: At<'_>, place: &Place<'_>) -> Option<Source> {
    let path = at.path_from(Some(place.dir))?;
    at.must_exist(place.disk, &path, Kind::Directory)?;
    Some(Source::Directory { path })
}

fn archive(at: At<'_>, map: &Map<'_>) -> Option<Source> {
    let file = at.parse::<RelPath>("a file name").and_then(|path| {
        if path.parent().is_none() {
            return Some(path.to_string());
        }
        at.error("bad-value", format!("`{path}` is not a file name"), "without `/`", |d| d);
        None
    });
    let address = map.optional("url", url);
    let sha256 = map.required("sha256", At::sha256);
    let bytes = map.required("bytes", At::count);
    let nested = map.or("nested", Vec::new(), |at| at.list(At::text));
    Some(Source::Archive {
        file: file?,
        url: address?,
        sha256: sha256?,
        bytes: bytes?,
        nested: nested?,
    })
}

fn release(at: At<'_>, map: &Map<'_>) -> Option<Source> {
    let name = at.name();
    let version = map.required("version", At::text);
    let sha256 = map.required("sha256", At::sha256);
    Some(Source::Crate { name: name?.to_string(), version: version?, sha256: sha256? })
}

/// Reports an instance that the submission does not have.
pub(super) fn known_instance(at: At<'_>, place: &Place<'_>) -> Option<()> {
    let (name, names) = (at.key(), &place.instances);
    if names.is_empty() || names.contains(&name) {
        return Some(());
    }
    at.key_error(
        "unknown-instance",
        format!("there is no instance `{name}` in this submission"),
        "not in `instances`",
        |d| match nearest(name, names.iter().copied()) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d.help(format!("the instances are {}", names.join(", "))),
        },
    );
    None
}
