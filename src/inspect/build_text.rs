//! What shipped build files say, read as text: nothing of them is executed.
//!
//! Two dialects with one aim: CMake commands and lines of make or shell give groups of sources, include directories,
//! definitions, libraries and flags. Variables are replaced where their value is a plain text. What cannot be
//! understood is passed over; a build file is evidence, never a recipe.

use std::collections::{BTreeMap, BTreeSet};

/// What one target of CMake, or one build file of another kind, states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Name of its target; empty for what holds for all.
    pub(super) target: String,
    /// Files and patterns, relative to the build file.
    pub(super) sources: BTreeSet<String>,
    pub(super) includes: Vec<String>,
    pub(super) defines: BTreeMap<String, Option<String>>,
    pub(super) libraries: BTreeSet<String>,
    pub(super) flags: BTreeSet<String>,
}

impl Group {
    /// One word of a compiler's command line.
    fn word(&mut self, word: &str) {
        let word = word.trim_matches(['\'', ',']);
        if let Some(define) = word.strip_prefix("-D") {
            self.define(define);
        } else if let Some(directory) = word.strip_prefix("-I") {
            self.include(directory);
        } else if let Some(library) = word.strip_prefix("-l") {
            if !library.is_empty() {
                self.libraries.insert(library.to_owned());
            }
        } else if ["-f", "-m", "-O", "-std="].iter().any(|p| word.starts_with(p)) && word.len() > 2
        {
            self.flags.insert(word.to_owned());
        } else if word.ends_with(".c") && !word.contains(['$', '%']) {
            self.sources.insert(word.trim_matches('"').trim_start_matches("./").to_owned());
        } else if let Some(object) =
            word.strip_suffix(".o").filter(|o| !o.contains(['$', '%', '*']))
        {
            self.sources.insert(format!("{}.c", object.trim_start_matches("./")));
        }
    }

    fn define(&mut self, text: &str) {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(unescape(value))),
            None => (text, None),
        };
        let name = name.trim().trim_matches('"');
        let fine = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if fine {
            self.defines.insert(name.to_owned(), value);
        }
    }

    fn include(&mut self, directory: &str) {
        let directory = directory.trim_matches('"');
        if !directory.is_empty()
            && !directory.contains('$')
            && !self.includes.iter().any(|d| d == directory)
        {
            self.includes.push(directory.to_owned());
        }
    }
}

/// `\"x\"` and `'"x"'` as a shell would pass them.
fn unescape(value: &str) -> String {
    let value = value.trim().trim_matches('\'');
    let inner =
        value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).filter(|v| v.contains('\\'));
    inner.unwrap_or(value).replace("\\\"", "\"").trim_end_matches('\\').to_owned()
}

/// Reads a build file; which dialect it is, its name says.
pub(super) fn read(name: &str, text: &str) -> Vec<Group> {
    let lower = name.to_ascii_lowercase();
    if lower == "cmakelists.txt" || lower.ends_with(".cmake") { cmake(text) } else { make(text) }
}

fn make(text: &str) -> Vec<Group> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let lines = joined.lines().filter(|line| line.len() < 100_000);
    let lines: Vec<&str> = lines
        .map(|line| line.split_once(" #").map_or(line, |(code, _)| code))
        .filter(|l| !l.trim_start().starts_with('#'))
        .collect();
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    for line in &lines {
        let Some((left, right)) = line.split_once('=').filter(|_| !line.starts_with('\t')) else {
            continue;
        };
        let name = left.trim_end_matches([':', '+', '?', ' ']).trim();
        if name.is_empty() || name.contains([' ', '$', ':']) {
            continue;
        }
        let value = variables.entry(name.to_owned()).or_default();
        if left.ends_with('+') && value.len() < 100_000 {
            value.push(' ');
            value.push_str(right.trim());
        } else if !left.ends_with('?') || value.is_empty() {
            right.trim().clone_into(value);
        }
    }
    let mut whole = Group::default();
    let mut per_line = Vec::new();
    for line in &lines {
        let filled = fill(line, &variables);
        let mut own = Group::default();
        let mut words = split_words(&filled).into_iter().peekable();
        while let Some(word) = words.next() {
            let word = match word.as_str() {
                "-I" | "-D" => {
                    word + words.next_if(|next| !next.starts_with('-')).as_deref().unwrap_or("")
                }
                _ => word,
            };
            let word = word
                .trim_end_matches(')')
                .rsplit_once("wildcard ")
                .map_or(word.as_str(), |(_, w)| w)
                .to_owned();
            // `CFLAGS=-O2` without blanks.
            let word = match word.split_once('=') {
                Some((left, right)) if !left.starts_with('-') => right.to_owned(),
                _ => word,
            };
            own.word(&word);
            whole.word(&word);
        }
        if line.starts_with('\t') && own.defines.keys().any(|name| whole.defines.contains_key(name))
        {
            own.target = filled.trim().chars().take(200).collect();
            per_line.push(own);
        }
    }
    // Commands that define the same macro differently are for different instances.
    let values = |name: &String| {
        let all = per_line.iter().filter_map(|group| group.defines.get(name));
        all.collect::<BTreeSet<_>>().len()
    };
    let differing: Vec<String> =
        whole.defines.keys().filter(|name| values(name) > 1).cloned().collect();
    if differing.is_empty() {
        return vec![whole];
    }
    whole.defines.retain(|name, _| !differing.contains(name));
    per_line.retain(|group| group.defines.keys().any(|name| differing.contains(name)));
    std::iter::once(whole).chain(per_line).collect()
}

/// Replaces `$(X)` and `${X}`, a few levels deep.
fn fill(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut now = text.to_owned();
    for _ in 0..8 {
        let mut out = String::new();
        let mut rest = now.as_str();
        let mut changed = false;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let close = match after.chars().next() {
                Some('(') => ')',
                Some('{') => '}',
                _ => {
                    out.push('$');
                    rest = after;
                    continue;
                }
            };
            let name = after[1..].split(close).next().unwrap_or("");
            match variables.get(name) {
                Some(value) => {
                    changed = true;
                    out.push_str(value);
                    rest = after.get(name.len() + 2..).unwrap_or("");
                }
                None => {
                    out.push('$');
                    rest = after;
                }
            }
            if out.len() > 1 << 20 {
                return text.to_owned();
            }
        }
        out.push_str(rest);
        now = out;
        if !changed {
            break;
        }
    }
    now
}

/// Words as a shell splits them, quotes kept: blanks inside quotes do not split.
fn split_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut escaped) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        if escaped {
            escaped = false;
            word.push(c);
            continue;
        }
        match (c, quote) {
            ('\\', _) => {
                escaped = true;
                word.push(c);
            }
            ('"' | '\'', None) => {
                quote = Some(c);
                word.push(c);
            }
            (c, Some(open)) if c == open => {
                quote = None;
                word.push(c);
            }
            (c, None) if c.is_whitespace() || c == ';' => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The commands of a CMake text: name and words.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut clean = String::new();
    for line in text.lines() {
        let quoted = line.split('#').next().is_some_and(|code| code.matches('"').count() % 2 == 1);
        clean.push_str(if quoted { line } else { line.split('#').next().unwrap_or("") });
        clean.push('\n');
    }
    let (mut found, mut rest) = (Vec::new(), clean.as_str());
    while let Some(open) = rest.find('(') {
        let name = rest[..open].split_whitespace().last().unwrap_or("").to_ascii_lowercase();
        let mut depth = 0_u32;
        let end = rest[open..].char_indices().find(|(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some((end, _)) = end else { break };
        found.push((name, split_words(&rest[open + 1..open + end])));
        rest = &rest[open + end + 1..];
    }
    found
}

fn cmake(text: &str) -> Vec<Group> {
    const KEYWORDS: [&str; 14] = [
        "PRIVATE",
        "PUBLIC",
        "INTERFACE",
        "STATIC",
        "SHARED",
        "OBJECT",
        "MODULE",
        "SYSTEM",
        "BEFORE",
        "AFTER",
        "EXCLUDE_FROM_ALL",
        "GLOB",
        "GLOB_RECURSE",
        "CONFIGURE_DEPENDS",
    ];
    let mut variables: BTreeMap<String, String> = [
        "CMAKE_CURRENT_SOURCE_DIR",
        "CMAKE_SOURCE_DIR",
        "PROJECT_SOURCE_DIR",
        "CMAKE_CURRENT_LIST_DIR",
    ]
    .iter()
    .map(|name| ((*name).to_owned(), ".".to_owned()))
    .collect();
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (command, words) in commands(text) {
        let words: Vec<String> = words
            .iter()
            .flat_map(|word| split_words(&fill(word, &variables)))
            .map(|word| {
                let plain = word.strip_prefix('"').and_then(|w| w.strip_suffix('"'));
                plain.map_or(word.clone(), str::to_owned)
            })
            .collect();
        let Some((first, rest)) = words.split_first() else { continue };
        let rest = rest.iter().filter(|word| !KEYWORDS.contains(&word.as_str()));
        let all = words.iter().filter(|word| !KEYWORDS.contains(&word.as_str()));
        match command.as_str() {
            "set" | "file" | "list" => {
                let (name, values) = match (command.as_str(), words.as_slice()) {
                    ("set", [name, values @ ..]) => (name, values),
                    ("file" | "list", [kind, name, values @ ..])
                        if kind.starts_with("GLOB") || kind == "APPEND" =>
                    {
                        (name, values)
                    }
                    _ => continue,
                };
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                let added = values.join(" ");
                let value = variables.entry(name.clone()).or_default();
                if command == "list" && value.len() < 100_000 {
                    value.push(' ');
                    value.push_str(&added);
                } else {
                    *value = added;
                }
                // Flags in variables of CMake's own hold for every target.
                if name.starts_with("CMAKE_C") {
                    let whole = groups.entry(String::new()).or_default();
                    values.iter().for_each(|word| whole.word(word));
                }
            }
            "add_executable" | "add_library" | "target_sources" => {
                let target = groups.entry(first.clone()).or_default();
                rest.for_each(|word| target.word(word));
            }
            "target_include_directories" => {
                let target = groups.entry(first.clone()).or_default();
                rest.for_each(|word| target.include(word));
            }
            "include_directories" => {
                let whole = groups.entry(String::new()).or_default();
                all.for_each(|word| whole.include(word));
            }
            "target_compile_definitions" => {
                let target = groups.entry(first.clone()).or_default();
                rest.for_each(|word| target.define(word.trim_start_matches("-D")));
            }
            "add_compile_definitions" | "add_definitions" => {
                let whole = groups.entry(String::new()).or_default();
                all.for_each(|word| whole.define(word.trim_start_matches("-D")));
            }
            "target_link_libraries" => {
                let target = groups.entry(first.clone()).or_default();
                let names =
                    rest.map(|word| word.trim_start_matches("-l")).filter(|w| !w.contains('$'));
                target.libraries.extend(names.map(str::to_owned));
            }
            "target_compile_options" => {
                let target = groups.entry(first.clone()).or_default();
                rest.for_each(|word| target.word(word));
            }
            "add_compile_options" => {
                let whole = groups.entry(String::new()).or_default();
                all.for_each(|word| whole.word(word));
            }
            _ => {}
        }
    }
    groups
        .into_iter()
        .map(|(target, group)| Group { target, ..group })
        .filter(|group| Group { target: String::new(), ..group.clone() } != Group::default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_gives_sources_flags_and_definitions_through_variables() {
        let text = "CFLAGS = -O3 -march=native \\\n  -DLEVEL=2 -I../common\nCFLAGS += -DNAME=\\\"L-2\\\"\nSRC=kem.c \\\n poly.c\nall: $(SRC)\n\tgcc $(CFLAGS) $(SRC) -lgmp -lm # -DNOT\n";
        let groups = read("Makefile", text);
        assert_eq!(groups.len(), 1);
        let group = &groups[0];
        assert_eq!(group.sources.iter().collect::<Vec<_>>(), ["kem.c", "poly.c"]);
        assert_eq!(group.defines["LEVEL"].as_deref(), Some("2"));
        assert_eq!(group.defines["NAME"].as_deref(), Some("\"L-2\""));
        assert_eq!(group.includes, ["../common"]);
        assert!(group.libraries.contains("gmp") && group.flags.contains("-march=native"));
        assert!(!group.defines.contains_key("NOT"));
    }

    #[test]
    fn make_commands_with_different_values_are_groups() {
        let groups = read("Makefile", "a:\n\tcc -DL=1 -DX x.c -o a\nb:\n\tcc -DL=2 -DX x.c -o b\n");
        let values: Vec<_> = groups[1..].iter().map(|g| g.defines["L"].as_deref()).collect();
        assert_eq!(values, [Some("1"), Some("2")]);
        assert!(groups[0].defines.contains_key("X"));
    }

    #[test]
    fn cmake_gives_targets() {
        let text = "set(S \"${CMAKE_CURRENT_SOURCE_DIR}/_shared\") # x\nadd_compile_definitions(A)\n\
            add_library(kr STATIC ${S}/a.c b.c)\ntarget_compile_definitions(kr PRIVATE B=1 $<X:y>)\n\
            target_include_directories(kr PRIVATE ${S}/common)\ntarget_link_libraries(kr PRIVATE m crypto)\n\
            add_compile_options(-O2 -fcommon)\nif(broken";
        let groups = read("CMakeLists.txt", text);
        assert_eq!(groups[0].defines, [("A".to_owned(), None)].into_iter().collect());
        assert!(groups[0].flags.contains("-fcommon"));
        assert_eq!(groups[1].target, "kr");
        assert!(groups[1].sources.contains("_shared/a.c"), "{groups:?}");
        assert_eq!(groups[1].includes, ["./_shared/common"]);
        assert_eq!(groups[1].defines["B"].as_deref(), Some("1"));
        assert!(groups[1].libraries.contains("crypto"));
    }
}
