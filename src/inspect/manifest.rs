//! Writes what an inspection found as `submission.yaml` and `kat.sha256`, in the form of the files that people write.
//!
//! Every value has its reason above it, every open question stands where its answer goes. The text is valid for the
//! readers of `spec` even with open questions, so that one can go on working with it; `inspected: false` says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::found::{Decided, Field, FoundImplementation, FoundInstance, Inspection, Question};
use super::kinds::Kind;
use super::share::{Fill, Shared, share};
use super::word;
use super::yaml_text::{comment, list, scalar, value};
use crate::name::{Name, natural_order};
use crate::spec::{Helper, ImplementationVersion, Library};

/// Where the package came from, as the manifest pins it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An archive.
    Archive {
        /// Its file name.
        file: String,
        /// Where it can be fetched.
        url: Option<String>,
        /// SHA-256 of the archive.
        sha256: String,
        /// Its length.
        bytes: u64,
    },
    /// A directory of the workspace, relative to the manifest.
    Directory(String),
}

/// One line of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Its key, and the key inside it for `defines` and `kat`.
    pub(super) key: (&'static str, String),
    /// Its texts: one, or the entries of a list.
    pub(super) value: Vec<String>,
    form: Form,
    why: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    One,
    List,
    /// A macro without a value.
    Nothing,
    /// YAML as it is.
    Ready,
}

/// Keys in the order of a recipe.
const KEYS: [&str; 14] = [
    "directory",
    "sources",
    "exclude",
    "include",
    "headers",
    "header",
    "defines",
    "cflags",
    "libraries",
    "auxfunc",
    "drng",
    "own_drng_algorithm",
    "kat_name",
    "kat",
];

const fn key_of(field: Field) -> &'static str {
    match field {
        Field::Directory => "directory",
        Field::Sources => "sources",
        Field::Include => "include",
        Field::Header => "header",
        Field::Defines => "defines",
        Field::Libraries => "libraries",
        Field::Helpers => "auxfunc",
        Field::Kat => "kat",
        Field::Function
        | Field::Implementations
        | Field::Instances
        | Field::Sizes
        | Field::Source => "",
    }
}

/// The lines of one instance, with names replaced by variables.
pub(super) fn lines(instance: &FoundInstance, fill: &Fill<'_>) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    let mut push = |key, inner: &str, value: Vec<String>, form, why: Vec<String>| {
        let value = if form == Form::Ready {
            value
        } else {
            value.iter().map(|text| fill.text(text)).collect()
        };
        let why = why.iter().map(|why| fill.text(why).replace("{open}", "{")).collect();
        all.push(Line { key: (key, inner.to_owned()), value, form, why });
    };
    let one = |decided: &Decided<String>| (vec![decided.value.clone()], vec![decided.why.clone()]);
    if !instance.directory.value.is_empty() {
        let (value, why) = one(&instance.directory);
        push("directory", "", value, Form::One, why);
    }
    if instance.sources.value != ["*.c"] {
        push(
            "sources",
            "",
            instance.sources.value.clone(),
            Form::List,
            vec![instance.sources.why.clone()],
        );
    }
    let many = |all: &[Decided<String>]| {
        let values: Vec<String> = all.iter().map(|d| d.value.clone()).collect();
        let whys: Vec<String> = all.iter().map(|d| format!("`{}`: {}", d.value, d.why)).collect();
        (values, whys)
    };
    for (key, list) in [
        ("exclude", &instance.exclude),
        ("headers", &instance.headers),
        ("cflags", &instance.cflags),
    ] {
        if !list.is_empty() {
            let (values, whys) = many(list);
            push(key, "", values, Form::List, whys);
        }
    }
    if instance.include.value != ["."] {
        push(
            "include",
            "",
            instance.include.value.clone(),
            Form::List,
            vec![instance.include.why.clone()],
        );
    }
    if instance.header.value != "KEM_AlgorithmInstance.h" {
        let (value, why) = one(&instance.header);
        push("header", "", value, Form::One, why);
    }
    for (name, define) in &instance.defines {
        let why = vec![format!("`{name}`: {}", define.why)];
        match &define.value {
            Some(value) => push("defines", name, vec![value.clone()], Form::One, why),
            None => push("defines", name, Vec::new(), Form::Nothing, why),
        }
    }
    if !instance.libraries.is_empty() {
        let values = instance.libraries.iter().map(|d| library(&d.value)).collect();
        let whys =
            instance.libraries.iter().map(|d| format!("{}: {}", d.value.name, d.why)).collect();
        push("libraries", "", values, Form::Ready, whys);
    }
    for (key, helper) in [("auxfunc", &instance.auxfunc), ("drng", &instance.drng)] {
        let word = match helper.value {
            Helper::Auto => continue,
            Helper::Ours => "ours",
            Helper::Shipped => "shipped",
            Helper::Absent => "absent",
        };
        push(key, "", vec![word.to_owned()], Form::One, vec![helper.why.clone()]);
    }
    if let Some(own) = &instance.own_drng_algorithm {
        push(
            "own_drng_algorithm",
            "",
            vec![own.value.to_string()],
            Form::Ready,
            vec![own.why.clone()],
        );
    }
    if let Some(name) = &instance.kat_name {
        let (value, why) = one(name);
        push("kat_name", "", value, Form::One, why);
    }
    if let Some(kat) = &instance.kat {
        let path = &kat.text.path;
        let directory = path.parent().map(|parent| parent.to_string()).unwrap_or_default();
        let why = vec![format!("known answers: {}", kat.why)];
        if !directory.is_empty() {
            push("kat", "directory", vec![directory], Form::One, why.clone());
        }
        let name =
            instance.kat_name.as_ref().map_or(instance.name.value.as_str(), |name| &name.value);
        if path.file_name() != format!("KAT_KEM_{name}.txt") {
            push("kat", "file", vec![path.file_name().to_owned()], Form::One, why);
        }
        if kat.text.nolen {
            let why = "its lines with lengths are blank".to_owned();
            push("kat", "nolen", vec!["true".to_owned()], Form::Ready, vec![why]);
        }
    }
    all.sort_by_key(|line| KEYS.iter().position(|key| *key == line.key.0));
    all
}

fn library(library: &Library) -> String {
    let mut text = format!("{{name: {}", scalar(&library.name));
    for (key, value) in [("header", &library.header), ("debian", &library.debian)] {
        if let Some(value) = value {
            let _ = write!(text, ", {key}: {}", scalar(value));
        }
    }
    text + "}"
}

/// The manifest, as text.
#[must_use]
pub fn manifest(inspection: &Inspection, origin: &Origin) -> String {
    let mut out = String::from("# yaml-language-server: $schema=../../schemas/submission.json\n");
    out.push_str("# Proposed from the files of the package; nothing of it was executed.\n");
    let stem = match origin {
        Origin::Archive { file, .. } => {
            file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem)
        }
        Origin::Directory(path) => {
            path.rsplit('/').find(|part| part.contains(char::is_alphanumeric)).unwrap_or("package")
        }
    };
    let name = inspection.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(stem);
    let name = if name.trim().is_empty() { "package" } else { name };
    let _ = writeln!(out, "name: {}", scalar(name));
    let asked = |field| inspection.questions.iter().filter(move |q| q.field == field);
    asked(Field::Function).for_each(|q| out.push_str(&ask(0, q)));
    match &inspection.function {
        Some(function) => {
            out.push_str(&comment(0, &function.why));
            let _ = writeln!(out, "function: {}", word(function.value));
        }
        None => out.push_str("function: kem\n"),
    }
    if let Some(page) = &inspection.hints.page {
        let _ = writeln!(out, "page: {}", scalar(page));
    }
    licence(inspection, &mut out);
    let _ = writeln!(out, "inspected: {}", inspection.all_questions().is_empty());
    seen(inspection, &mut out);
    instances(inspection, &mut out);
    asked(Field::Implementations).for_each(|q| out.push_str(&ask(0, q)));
    if inspection.implementations.is_empty() {
        out.push_str("\nimplementations: {}\n");
        return out;
    }
    out.push_str("\nimplementations:\n");
    let all: BTreeSet<&Name> = inspection
        .implementations
        .iter()
        .flat_map(|i| &i.instances)
        .map(|i| &i.name.value)
        .collect();
    for found in &inspection.implementations {
        implementation(inspection, found, origin, all.len(), &mut out);
    }
    out
}

fn ask(indent: usize, question: &Question) -> String {
    let mut text = comment(indent, &format!("ASK: {}", question.text));
    for candidate in question.candidates.iter().take(12) {
        text.push_str(&comment(indent, &format!("  candidate: {candidate}")));
    }
    if question.candidates.len() > 12 {
        text.push_str(&comment(indent, &format!("  and {} more", question.candidates.len() - 12)));
    }
    text
}

fn licence(inspection: &Inspection, out: &mut String) {
    let texts: Vec<String> = inspection.of(Kind::Licence).map(|path| format!("`{path}`")).collect();
    if !texts.is_empty() {
        out.push_str(&comment(0, &format!("Licence texts: {}", few(&texts))));
    }
    if let Some(licence) =
        inspection.hints.licence.as_ref().filter(|licence| !licence.trim().is_empty())
    {
        let _ = writeln!(out, "licence: {}", scalar(licence));
    }
}

/// At most eight of a list.
fn few(all: &[String]) -> String {
    let more = if all.len() > 8 { format!(" and {} more", all.len() - 8) } else { String::new() };
    format!("{}{more}", all[..all.len().min(8)].join(", "))
}

/// What was seen and is not used.
fn seen(inspection: &Inspection, out: &mut String) {
    let kinds = [
        (Kind::Junk, "Never used (left behind, or binary)"),
        (Kind::Archive, "Archives inside, not unpacked"),
    ];
    for (kind, words) in kinds {
        let all: Vec<String> = inspection.of(kind).map(|path| format!("`{path}`")).collect();
        if !all.is_empty() {
            out.push_str(&comment(0, &format!("{words}: {}", few(&all))));
        }
    }
    for copy in inspection.copies.iter().take(8) {
        out.push_str(&comment(
            0,
            &format!("A copy, not an implementation: `{}` ({})", copy.value, copy.why),
        ));
    }
    for note in inspection.notes.iter().take(20) {
        out.push_str(&comment(0, note));
    }
}

fn instances(inspection: &Inspection, out: &mut String) {
    let mut all: BTreeMap<&Name, &FoundInstance> = BTreeMap::new();
    for instance in inspection.implementations.iter().flat_map(|i| &i.instances) {
        all.entry(&instance.name.value).or_insert(instance);
    }
    let mut names: Vec<&&Name> = all.keys().collect();
    names.sort_by(|a, b| natural_order(a.as_str(), b.as_str()));
    out.push('\n');
    for question in inspection.questions.iter().filter(|q| q.field == Field::Instances) {
        out.push_str(&ask(0, question));
    }
    out.push_str(if names.is_empty() { "instances: {}\n" } else { "instances:\n" });
    // What is the same for all is said once.
    let whys: BTreeSet<&str> = all.values().map(|i| i.name.why.as_str()).collect();
    let sizes: BTreeSet<String> = all.values().map(|i| sizes_why(i)).collect();
    if let (1, Some(why)) = (whys.len(), whys.first()) {
        out.push_str(&comment(2, &format!("Names: {why}")));
    }
    if let (1, Some(why)) = (sizes.len(), sizes.first().filter(|why| !why.is_empty())) {
        out.push_str(&comment(2, &format!("Sizes: {why}")));
    }
    let once = sizes.len() == 1;
    for name in names {
        let instance = all[*name];
        if whys.len() > 1 {
            out.push_str(&comment(2, &instance.name.why));
        }
        let _ = writeln!(out, "  {}:", scalar(name.as_str()));
        let known = inspection.hints.instances.get(*name);
        if let Some(bits) = known.and_then(|known| known.target_bits) {
            let _ = writeln!(out, "    target_bits: {bits}");
        }
        for question in instance.questions.iter().filter(|q| q.field == Field::Sizes) {
            out.push_str(&ask(4, question));
        }
        let function = inspection.function.as_ref().map(|function| function.value);
        let order = function.map_or(&[][..], crate::spec::Function::size_names);
        let sizes: Vec<String> = order
            .iter()
            .filter_map(|size| Some(format!("{size}: {}", instance.sizes.get(*size)?.value)))
            .collect();
        if !sizes.is_empty() {
            if !once {
                out.push_str(&comment(4, &format!("Sizes: {}", sizes_why(instance))));
            }
            let _ = writeln!(out, "    sizes: {{{}}}", sizes.join(", "));
        }
        if let Some(basis) = known.and_then(|known| known.size_basis.as_ref()) {
            let _ = writeln!(out, "    size_basis: {}", scalar(basis));
        }
        let findings = known.map_or(&[][..], |known| known.expected_findings.as_slice());
        if !findings.is_empty() {
            out.push_str("    expected_findings:\n");
        }
        for finding in findings {
            let _ = writeln!(
                out,
                "      - code: {}\n        why: {}",
                scalar(&finding.code),
                scalar(&finding.why)
            );
        }
    }
}

/// Where an instance's sizes come from.
fn sizes_why(instance: &FoundInstance) -> String {
    let whys: BTreeSet<&str> = instance.sizes.values().map(|size| size.why.as_str()).collect();
    whys.into_iter().collect::<Vec<_>>().join("; ")
}

fn implementation(
    inspection: &Inspection,
    found: &FoundImplementation,
    origin: &Origin,
    instances: usize,
    out: &mut String,
) {
    let _ = writeln!(out, "  {}:", scalar(found.name.as_str()));
    out.push_str(&comment(4, &found.version.why));
    let version = match found.version.value {
        ImplementationVersion::Reference => "reference",
        ImplementationVersion::Performance => "performance",
        ImplementationVersion::Resource => "resource",
        ImplementationVersion::Independent => "independent",
        ImplementationVersion::Baseline => "baseline",
    };
    let _ = writeln!(out, "    version: {version}");
    out.push_str("    about: As submitted; not part of this repository\n");
    source(inspection, origin, out);
    for note in &found.notes {
        out.push_str(&comment(4, note));
    }
    found.questions.iter().for_each(|question| out.push_str(&ask(4, question)));
    let shared = share(&found.instances);
    let Shared { recipe, vars, own, questions } = &shared;
    let body = block(recipe, vars, questions, 6);
    if recipe.is_empty() && vars.is_empty() {
        // Comments alone would leave a key without a value.
        out.push_str(&block(recipe, vars, questions, 4));
    } else {
        out.push_str("    recipe:\n");
        out.push_str(&body);
    }
    let plain = own.iter().all(|(vars, lines, questions)| {
        vars.is_empty() && lines.is_empty() && questions.is_empty()
    });
    let noted = found.instances.iter().any(|instance| !instance.notes.is_empty());
    if plain && !noted && found.instances.len() == instances {
        return;
    }
    out.push_str("    instances:\n");
    for (instance, (vars, lines, questions)) in found.instances.iter().zip(own) {
        let name = scalar(instance.name.value.as_str());
        instance.notes.iter().for_each(|note| out.push_str(&comment(6, note)));
        if lines.is_empty() && questions.is_empty() {
            let vars: Vec<String> =
                vars.iter().map(|(k, v)| format!("{k}: {}", value(v))).collect();
            let _ = match vars.is_empty() {
                true => writeln!(out, "      {name}:"),
                false => writeln!(out, "      {name}: {{vars: {{{}}}}}", vars.join(", ")),
            };
            continue;
        }
        let _ = writeln!(out, "      {name}:");
        out.push_str(&block(lines, vars, questions, 8));
    }
}

fn source(inspection: &Inspection, origin: &Origin, out: &mut String) {
    match origin {
        Origin::Archive { file, url, sha256, bytes } => {
            let _ = writeln!(out, "    source:\n      archive: {}", scalar(file));
            if let Some(url) = url {
                let _ = writeln!(out, "      url: {}", scalar(url));
            }
            let _ = writeln!(out, "      sha256: {}\n      bytes: {bytes}", scalar(sha256));
        }
        Origin::Directory(path) => {
            let _ = writeln!(out, "    source: {{directory: {}}}", scalar(path));
        }
    }
    let archives: Vec<String> =
        inspection.of(Kind::Archive).map(|path| scalar(path.as_str())).collect();
    if !archives.is_empty() && matches!(origin, Origin::Archive { .. }) {
        out.push_str(&comment(6, &format!("To unpack in place: nested: [{}]", few(&archives))));
    }
}

/// Lines of a recipe with their reasons and questions, in the order of keys.
fn block(
    lines: &[Line],
    vars: &BTreeMap<&'static str, String>,
    questions: &[Question],
    indent: usize,
) -> String {
    let pad = " ".repeat(indent);
    let mut out = String::new();
    if !vars.is_empty() {
        let vars: Vec<String> = vars.iter().map(|(k, v)| format!("{k}: {}", value(v))).collect();
        let _ = writeln!(out, "{pad}vars: {{{}}}", vars.join(", "));
    }
    for key in KEYS {
        for question in questions.iter().filter(|q| key_of(q.field) == key) {
            out.push_str(&ask(indent, question));
        }
        let of_key: Vec<&Line> = lines.iter().filter(|line| line.key.0 == key).collect();
        let mut whys: Vec<&str> = Vec::new();
        for why in of_key.iter().flat_map(|line| &line.why) {
            if !whys.contains(&why.as_str()) {
                whys.push(why);
            }
        }
        for why in whys {
            out.push_str(&comment(indent, why));
        }
        match of_key.as_slice() {
            [] => {}
            [line] if line.key.1.is_empty() => {
                let _ = match line.form {
                    Form::List => writeln!(out, "{pad}{key}:{}", list(&line.value, indent)),
                    Form::Ready if key == "libraries" => {
                        let items: String =
                            line.value.iter().map(|item| format!("\n{pad}  - {item}")).collect();
                        writeln!(out, "{pad}{key}:{items}")
                    }
                    Form::Ready => writeln!(out, "{pad}{key}: {}", line.value.join("")),
                    Form::One | Form::Nothing => {
                        writeln!(out, "{pad}{key}: {}", scalar(&line.value.join("")))
                    }
                };
            }
            inner => {
                let _ = writeln!(out, "{pad}{key}:");
                for line in inner {
                    let value = match line.form {
                        Form::Nothing => String::new(),
                        Form::Ready => format!(" {}", line.value.join("")),
                        Form::One | Form::List => format!(" {}", value(&line.value.join(""))),
                    };
                    let _ = writeln!(out, "{pad}  {}:{value}", line.key.1);
                }
            }
        }
    }
    out
}

/// Records of an official text; another number is stated in `kat.sha256`.
const OFFICIAL_RECORDS: u64 = 10;

/// `kat.sha256`: one line per instance that has a text, sorted by bytes of the name.
#[must_use]
pub fn kat_manifest(inspection: &Inspection) -> String {
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for instance in inspection.implementations.iter().flat_map(|i| &i.instances) {
        let Some(kat) = &instance.kat else { continue };
        if !done.insert(&instance.name.value) {
            continue;
        }
        let text = &kat.text;
        let mode = if text.nolen { "nolen" } else { "strict" };
        let count = if text.records == OFFICIAL_RECORDS || text.records == 0 {
            String::new()
        } else {
            format!(":{}", text.records)
        };
        let name = format!("{}/{}", instance.name.value, text.path.file_name());
        lines.insert(name.clone(), format!("{} {mode}{count} {name}\n", text.sha256));
    }
    lines.into_values().collect()
}
