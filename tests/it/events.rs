//! What `pipeline run --format json` says fits the published schemas, line by line.
//!
//! The check knows the part of JSON Schema that our generator uses and refuses any other word, so that it cannot pass
//! by looking away.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;

use crate::bench::Workspace;

/// Why a value does not fit; the root holds the definitions.
fn misfit(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let Some(schema) = schema.as_object() else {
        return (schema == &Value::Bool(false)).then(|| "nothing may stand here".to_owned());
    };
    for (word, rule) in schema {
        let wrong = match word.as_str() {
            "$schema" | "title" | "description" | "format" | "default" | "definitions" => None,
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/definitions/").unwrap();
                misfit(root, &root["definitions"][name], value)
            }
            "type" => {
                let types: Vec<&Value> =
                    rule.as_array().map_or(vec![rule], |all| all.iter().collect());
                let fits = types.iter().any(|t| match t.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    other => panic!("a type of JSON is called `{other}`"),
                });
                (!fits).then(|| format!("{value} is no {rule}"))
            }
            "const" => (value != rule).then(|| format!("{value} is not {rule}")),
            "enum" => (!rule.as_array().unwrap().contains(value)).then(|| format!("{value}")),
            "minimum" => (value.as_f64() < rule.as_f64()).then(|| format!("{value} is too small")),
            "uniqueItems" => None,
            "required" => {
                let names = rule.as_array().unwrap().iter().map(|n| n.as_str().unwrap());
                names
                    .into_iter()
                    .find(|name| value.get(name).is_none())
                    .map(|n| format!("no `{n}`"))
            }
            "properties" => rule.as_object().unwrap().iter().find_map(|(name, rule)| {
                misfit(root, rule, value.get(name)?).map(|why| format!("{name}: {why}"))
            }),
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let more = value.as_object().into_iter().flatten();
                let mut more =
                    more.filter(|(name, _)| !known.is_some_and(|k| k.contains_key(*name)));
                more.find_map(|(name, value)| {
                    misfit(root, rule, value).map(|why| format!("{name}: {why}"))
                })
            }
            "allOf" => rule.as_array().unwrap().iter().find_map(|all| misfit(root, all, value)),
            "items" => value.as_array().into_iter().flatten().find_map(|v| misfit(root, rule, v)),
            "oneOf" | "anyOf" => {
                let ways = rule.as_array().unwrap();
                let wrong: Vec<_> = ways.iter().map(|way| misfit(root, way, value)).collect();
                let fitting = wrong.iter().filter(|w| w.is_none()).count();
                let fine = fitting == 1 || (word == "anyOf" && fitting > 1);
                (!fine).then(|| format!("{value} fits {fitting} of {wrong:?}"))
            }
            other => panic!("the check does not know `{other}`"),
        };
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

fn schema(workspace: &Workspace, name: &str) -> Value {
    serde_json::from_str(&workspace.ngcc(&["schema", name]).out).unwrap()
}

#[test]
fn every_line_and_the_summary_of_a_run_fit_their_schemas() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    workspace.edit("kems/toy-1/kat.sha256", "f9b2", "f9b3");
    workspace.edit("kems/toy-1/src/B/KEM_AlgorithmInstance.c", "enum { SEED", "no C\nenum { SEED");
    let (events, summary) = (schema(&workspace, "events"), schema(&workspace, "summary"));
    let mut seen = std::collections::BTreeSet::new();
    for executed in [true, false] {
        let run = workspace.run(&[]);
        assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
        for (number, line) in run.err.lines().enumerate() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(misfit(&events, &events, &value), None, "{line}");
            seen.insert(value["event"].as_str().unwrap().to_owned());
            if number == 0 {
                assert_eq!((&value["event"], &value["format"]), (&"begin".into(), &1.into()));
            }
        }
        let value = run.summary();
        assert_eq!(misfit(&summary, &summary, &value), None, "{value}");
        assert_eq!(value["executed"].as_u64().unwrap() > 3, executed);
        let runs = workspace.ngcc(&["runs"]);
        assert!(runs.out.contains(value["run"].as_str().unwrap()), "{}", runs.out);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["begin", "ended", "planned", "started"]);
}

#[test]
fn the_check_itself_refuses_what_does_not_fit() {
    let workspace = Workspace::new();
    let events = schema(&workspace, "events");
    let fits = |text: &str| misfit(&events, &events, &serde_json::from_str(text).unwrap());
    assert_eq!(fits(r#"{"event":"planned","total":3,"reused":0}"#), None);
    for bad in [
        r#"{"event":"planned","total":3}"#,
        r#"{"event":"planned","total":"3","reused":0}"#,
        r#"{"event":"planned","total":3,"reused":0,"more":1}"#,
        r#"{"event":"landed","total":3,"reused":0}"#,
        "3",
    ] {
        assert!(fits(bad).is_some(), "{bad}");
    }
    assert_eq!(workspace.ngcc(&["schema", "event"]).code, Some(2));
}

#[test]
fn the_committed_schemas_of_events_and_summaries_are_the_generated_ones() {
    for (name, text) in ngcc::cmd::schema::schemas() {
        let committed = std::fs::read_to_string(crate::cc::repo("schemas").join(name));
        assert!(committed.unwrap_or_default() == text, "schemas/{name}: `ngcc schema --write`");
    }
}
