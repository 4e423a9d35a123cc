//! JSON schemas of the three kinds of files, for editors: completion, descriptions, red lines while typing.
//!
//! Knows nothing of the fields: they are in `wire.rs`. The committed files in `schemas/` are this text.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use super::wire::{WirePipeline, WireSubmission, WireSystem};

/// The schemas: file name below `schemas/`, and text.
#[must_use]
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("pipeline.json", schema_text::<WirePipeline>("ngcc pipeline")),
        ("submission.json", schema_text::<WireSubmission>("ngcc submission")),
        ("system.json", schema_text::<WireSystem>("ngcc system")),
    ]
}

/// The schema of a type, in draft 7: what the language servers of editors read best.
///
/// # Panics
/// Never: a schema is a JSON value.
#[must_use]
pub fn schema_text<T: JsonSchema>(title: &str) -> String {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is a JSON value");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::diag::Diagnostic;
    use crate::disk::Disk;
    use crate::spec::yaml::Document;
    use crate::spec::{pipeline, submission, system};

    #[test]
    fn the_committed_schemas_are_the_generated_ones() {
        for (name, text) in schemas() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(name);
            let committed = std::fs::read_to_string(path).unwrap_or_default();
            assert!(
                committed == text,
                "schemas/{name} is stale: cargo test --lib write_the_schemas -- --ignored"
            );
        }
    }

    #[test]
    #[ignore = "writes the committed files; run it by name after a change"]
    fn write_the_schemas() {
        for (name, text) in schemas() {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join(name), text).unwrap();
        }
    }

    /// What a reader says about a text with one field that nobody knows: the fields there are, and the missing ones
    /// with the key that lacks them.
    fn reader_fields(kind: &str, text: &str) -> (BTreeSet<String>, BTreeSet<(String, String)>) {
        let doc = Document::parse("x", text.as_bytes()).unwrap();
        let (disk, name) = (Disk::new(Path::new("/nonexistent")), "x".parse().unwrap());
        let file = "kems/x".parse().unwrap();
        match kind {
            "pipeline" => drop(pipeline::read(&doc, &disk, &name, &file, |_| {})),
            "submission" => drop(submission::read(&doc, &disk, &name, &file, None)),
            _ => drop(system::read(&doc, &name, &file)),
        }
        let errors = doc.take_errors();
        let quoted =
            |e: &Diagnostic, n: usize| e.message().split('`').nth(n).unwrap_or("").to_owned();
        let missing = errors.iter().filter(|e| e.code() == "missing-field");
        (
            errors.iter().filter(|e| e.code() == "unknown-field").flat_map(listed).collect(),
            missing.map(|e| (quoted(e, 1), quoted(e, 3))).collect(),
        )
    }

    fn listed(error: &Diagnostic) -> Vec<String> {
        let help = error.helps().first().and_then(|h| h.strip_prefix("the fields are "));
        help.unwrap_or_default().split(", ").map(str::to_owned).collect()
    }

    /// The same from a schema object: its properties and the required ones.
    fn schema_fields(object: &serde_json::Value) -> (BTreeSet<String>, BTreeSet<String>) {
        let properties = object["properties"].as_object().into_iter().flatten();
        let required = object["required"].as_array().into_iter().flatten();
        assert_eq!(object["additionalProperties"], false, "{object}");
        (
            properties.map(|(name, _)| name.clone()).collect(),
            required.filter_map(|r| r.as_str()).map(str::to_owned).collect(),
        )
    }

    fn generated(name: &str) -> serde_json::Value {
        let all = schemas();
        let (_, text) = all.iter().find(|(n, _)| *n == name).unwrap();
        serde_json::from_str(text).unwrap()
    }

    /// A text with one unknown field in a mapping; the key that holds the mapping; the schema of the mapping.
    struct Case {
        kind: &'static str,
        owner: String,
        text: String,
        schema: serde_json::Value,
    }

    fn cases() -> Vec<Case> {
        let pipeline = generated("pipeline.json");
        let submission = generated("submission.json");
        let mut cases = Vec::new();
        let mut case = |kind, owner: &str, text: &str, schema: &serde_json::Value| {
            let text = text.replace('?', "zzzzzzzz: 1");
            cases.push(Case { kind, owner: owner.to_owned(), text, schema: schema.clone() });
        };
        case("pipeline", "", "?", &pipeline);
        case("submission", "", "?", &submission);
        case("system", "", "?", &generated("system.json"));
        let part = |name: &str| &pipeline["definitions"][name];
        case("pipeline", "g", "flag_sets: {g: {?}}", part("WireFlagSet"));
        case("pipeline", "limits", "stages: {s: {kind: sizes, limits: {?}}}", part("WireLimits"));
        let stages = part("WireStage")["oneOf"].as_array().unwrap();
        assert_eq!(stages.len(), crate::spec::StageKind::WORDS.len());
        for stage in stages {
            let kind = stage["properties"]["kind"]["const"].as_str().unwrap();
            case("pipeline", "s", &format!("stages: {{s: {{kind: {kind}, ?}}}}"), stage);
        }
        let part = |name: &str| &submission["definitions"][name];
        case("submission", "survey", "survey: {?}", part("WireSurvey"));
        case("submission", "one", "instances: {one: {?}}", part("WireInstance"));
        let finding = "instances: {one: {expected_findings: [{?}]}}";
        case("submission", "", finding, part("WireFinding"));
        for (owner, text, name) in [
            ("one", "?", "WireImplementation"),
            ("source", "source: {archive: x, ?}", "WireArchive"),
            ("source", "source: {crate: x, ?}", "WireCrate"),
            ("recipe", "recipe: {?}", "WireRecipe"),
            ("", "recipe: {libraries: [{?}]}", "WireLibrary"),
            ("", "recipe: {patches: [{?}]}", "WirePatch"),
            ("kat", "recipe: {kat: {?}}", "WireKat"),
        ] {
            let text = format!("implementations: {{one: {{{text}}}}}");
            case("submission", owner, &text, part(name));
        }
        cases
    }

    #[test]
    fn readers_and_schemas_have_the_same_fields() {
        for Case { kind, owner, text, schema } in cases() {
            let (mut known, missing) = reader_fields(kind, &text);
            let (mut properties, mut required) = schema_fields(&schema);
            if owner == "source" {
                // One reader has the fields of all three forms.
                let forms = ["directory", "archive", "crate"].map(str::to_owned);
                known.extend(forms.clone());
                properties.extend(forms);
            }
            assert_eq!(known, properties, "{text}");
            // What the text states cannot be missing.
            required.retain(|field| !text.contains(&format!("{field}:")));
            let mut own: BTreeSet<String> =
                missing.into_iter().filter(|(_, o)| *o == owner).map(|(field, _)| field).collect();
            if text.contains('[') {
                // An item of a list has no key: the document's own missing fields are among these.
                own.retain(|field| required.contains(field));
            }
            assert_eq!(own, required, "{text}");
        }
    }
}
