//! The table of failure cases in docs/FAILURES.md cannot rot: every test that it names is in the sources, and every
//! case has a row.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use crate::cc::repo;

/// Rows of the comparison with other engines, and cases of the list.
const PROBES: usize = 14;
const CASES: usize = 47;

/// The cells of all rows of all tables.
fn rows() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(repo("docs/FAILURES.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// All tests, as `module::name`, where the module is the file's name.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for directory in ["src", "tests/it"] {
        for entry in walkdir::WalkDir::new(repo(directory)) {
            let path = entry.unwrap().into_path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let mut lines = text.lines().map(str::trim);
            while let Some(line) = lines.next() {
                // The cases of manifest errors are a list from name to what is said.
                let listed = line.split_once(": ").filter(|(_, said)| {
                    ["said(", "stages(", "implementation("].iter().any(|s| said.starts_with(s))
                });
                let name = if line == "#[test]" {
                    let function = lines.find(|l| l.starts_with("fn ")).unwrap_or_default();
                    function.trim_start_matches("fn ").split('(').next()
                } else {
                    listed.map(|(name, _)| name)
                };
                found.extend(name.map(|name| format!("{module}::{name}")));
            }
        }
    }
    found
}

#[test]
fn every_test_that_the_table_of_failures_names_exists() {
    let tests = tests();
    let mut named = 0;
    for row in rows() {
        for test in row.last().unwrap().split('`').skip(1).step_by(2) {
            assert!(tests.contains(test), "docs/FAILURES.md names `{test}`, which is no test");
            named += 1;
        }
    }
    assert!(named > 60, "{named}");
}

#[test]
fn every_failure_case_has_its_row_and_a_row_without_a_test_says_why() {
    let rows = rows();
    for (letter, count) in [("P", PROBES), ("", CASES)] {
        for number in 1..=count {
            let case = format!("{letter}{number}");
            let row: Vec<_> = rows.iter().filter(|row| row[0] == case).collect();
            assert_eq!(row.len(), 1, "case {case}");
            let last = row[0].last().unwrap();
            assert!(last.contains('`') || last.starts_with("none: "), "case {case}: {last}");
        }
    }
}
