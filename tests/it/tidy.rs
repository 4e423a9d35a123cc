//! The repository's own rules: arrows between modules, one line per file in DESIGN.md, sizes, no machine paths.
//!
//! The table of arrows is a block of DESIGN.md, so that the text people read is the text that is checked.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Pairs of modules that use each other, each with its reason in DESIGN.md. Nothing else may form a cycle.
const KNOWN_CYCLES: [(&str, &str); 2] = [("cli", "cmd"), ("exec", "toolchain")];

/// Directories each of whose files has its line in DESIGN.md.
const DESCRIBED: [&str; 3] = ["src", "benches", "fuzz/targets"];

/// Longest source file, lines.
const LONGEST: usize = 620;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below a directory of the repository, sorted.
fn below(directory: &str) -> Vec<PathBuf> {
    walkdir::WalkDir::new(root().join(directory))
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned()
}

/// The block of DESIGN.md: module to the modules it may use.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let text = read(&root().join("DESIGN.md"));
    let block = text.split("\n```arrows\n").nth(1).expect("DESIGN.md has a block of arrows");
    let block = block.split("\n```").next().unwrap();
    let mut found = BTreeMap::new();
    let mut order = Vec::new();
    for line in block.lines() {
        let (module, rest) = line.split_once(": may use ").unwrap_or_else(|| panic!("`{line}`"));
        let uses: BTreeSet<String> =
            rest.split(", ").filter(|m| *m != "nothing").map(str::to_owned).collect();
        order.push(module.to_owned());
        assert!(found.insert(module.to_owned(), uses).is_none(), "`{module}` stands there twice");
    }
    assert!(order.is_sorted(), "the arrows are not in alphabetical order");
    found
}

/// The top-level module a file belongs to; none for the roots of the crate.
fn module_of(path: &Path) -> Option<String> {
    let relative = path.strip_prefix(root().join("src")).unwrap();
    let first = relative.components().next()?.as_os_str().to_str()?;
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(module, "lib" | "main")).then(|| module.to_owned())
}

/// The modules behind `crate::x` and `crate::{x, y::z}` in code; comments and test modules at the end do not count.
fn used(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let word = |text: &str| -> String {
        text.trim().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => {
                let mut depth = 1_u32;
                let mut start = true;
                for (at, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 1 => start = true,
                        c if start && !c.is_whitespace() => {
                            found.insert(word(&group[at..]));
                            start = false;
                        }
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            None => drop(found.insert(word(rest))),
        }
    }
    found
}

#[test]
fn every_use_of_another_module_is_an_arrow_of_the_design_and_every_arrow_is_used() {
    let arrows = arrows();
    let lib = read(&root().join("src/lib.rs"));
    let modules: BTreeSet<String> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect();
    let drawn: BTreeSet<String> = arrows.keys().cloned().collect();
    assert_eq!(drawn, modules, "DESIGN.md's arrows and src/lib.rs name different modules");
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in below("src").into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let Some(module) = module_of(&path) else { continue };
        for other in used(&read(&path)).into_iter().filter(|m| modules.contains(m)) {
            if other == module {
                continue;
            }
            if !arrows[&module].contains(&other) {
                wrong.push(format!("{}: `{module}` may not use `{other}`", relative(&path)));
            }
            seen.entry(module.clone()).or_default().insert(other);
        }
    }
    for (module, uses) in &arrows {
        for other in uses {
            if !seen.get(module).is_some_and(|s| s.contains(other)) {
                wrong.push(format!("DESIGN.md: `{module}` does not use `{other}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arrows_form_no_cycle_but_the_known_ones() {
    let mut arrows = arrows();
    for (one, other) in KNOWN_CYCLES {
        assert!(arrows[one].contains(other) && arrows[other].contains(one), "{one} and {other}");
        // The way back is the exception.
        arrows.get_mut(other).unwrap().remove(one);
    }
    // Leaves go first; what is never left without arrows is on a cycle or leads to one.
    while let Some(leaf) = arrows.iter().find(|(_, uses)| uses.is_empty()).map(|(m, _)| m.clone()) {
        arrows.remove(&leaf);
        for uses in arrows.values_mut() {
            uses.remove(&leaf);
        }
    }
    assert!(arrows.is_empty(), "a cycle among {:?}", arrows.keys());
}

#[test]
fn every_source_file_has_its_line_in_the_design_and_is_short() {
    let design = read(&root().join("DESIGN.md"));
    let mut wrong = Vec::new();
    for path in DESCRIBED.iter().flat_map(|directory| below(directory)) {
        let name = relative(&path);
        if !name.ends_with(".snap") && !design.contains(&format!("- `{name}`: ")) {
            wrong.push(format!("{name} has no line in DESIGN.md"));
        }
        let lines = read(&path).lines().count();
        if lines > LONGEST {
            wrong.push(format!("{name} has {lines} lines, more than {LONGEST}"));
        }
    }
    for line in design.lines().filter_map(|l| l.strip_prefix("- `")) {
        let name = line.split('`').next().unwrap();
        let described = DESCRIBED.iter().any(|d| name.starts_with(&format!("{d}/")));
        if described && !root().join(name).is_file() {
            wrong.push(format!("DESIGN.md names {name}, which does not exist"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn planning_looks_at_files_through_the_type_that_notes_every_look() {
    const LOOKS: [&str; 7] =
        ["fs::", "File::open", "WalkDir", ".exists()", ".is_file()", ".is_dir()", ".metadata("];
    let mut wrong = Vec::new();
    for directory in ["src/spec", "src/source", "src/stage"] {
        for path in
            below(directory).into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs"))
        {
            let text = read(&path);
            let code = text.split("\n#[cfg(test)]").next().unwrap();
            for (number, line) in code.lines().enumerate() {
                let own = line.trim_start().starts_with("//")
                    || line.contains("std::fs::FileType")
                    // Of an entry that `Disk` has listed.
                    || line.contains("t.is_")
                    // Finding the root comes before there is anything to note.
                    || line.contains("let holds = |dir: &&Path|");
                if !own && LOOKS.iter().any(|look| line.contains(look)) {
                    wrong.push(format!("{}:{}: {}", relative(&path), number + 1, line.trim()));
                }
            }
        }
    }
    let wrong: Vec<_> = wrong.into_iter().filter(|line| !line.contains("disk.is_")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_directory_of_testdata_says_what_it_is_for() {
    for entry in fs::read_dir(root().join("testdata")).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            !path.is_dir() || path.join("README.md").is_file(),
            "{} has no README.md",
            relative(&path)
        );
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let main = read(&root().join("tests/it/main.rs"));
    for entry in fs::read_dir(root().join("tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|m| *m != "main") else { continue };
        let line = format!("mod {module};");
        assert!(main.lines().any(|l| l == line), "tests/it/{name} is not in tests/it/main.rs");
    }
}

#[test]
fn no_file_mentions_a_directory_of_somebodys_machine() {
    // Put together here, so that this file does not find itself.
    let forbidden = ["root", "home", "Users"].map(|name| format!("/{name}/"));
    let single = ["README.md", "DESIGN.md", "CHANGELOG.md", "Makefile", "Cargo.toml", "flake.nix"];
    let directories = [
        "src",
        "benches",
        "fuzz/targets",
        "tests",
        "docs",
        "pipelines",
        "systems",
        "kems",
        "nix",
        ".ci",
    ];
    let mut files: Vec<PathBuf> = single.iter().map(|name| root().join(name)).collect();
    files.extend(directories.iter().flat_map(|directory| below(directory)));
    let mut wrong = Vec::new();
    for path in files {
        // What is not text has no paths that people read.
        let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) else { continue };
        for (number, line) in text.lines().enumerate() {
            if forbidden.iter().any(|f| line.contains(f.as_str())) {
                wrong.push(format!("{}:{}: {}", relative(&path), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
