//! Compiles one instance into its shared library, with the first flag set that works, and a second library for the
//! profile whose helper calls go through wrappers.
//!
//! A set that the compiler rejects is kept as the reason for the next one; anything else that goes wrong (time,
//! memory, disk, a missing tool or header) is a failure of the action. The compile commands are read back: a flag
//! that is not in them, or one that nobody declared, is a failure too.

use std::collections::BTreeMap;
use std::path::Path;

use super::cmake_project::{self, FlagSet, Recipe, WRAPPED};
use crate::elf;
use crate::exec::cmake_child::Request;
use crate::exec::command::Command;
use crate::exec::job::{Job, Stop, Yield};
use crate::exec::process::Exit;
use crate::record::FailureClass;
use crate::result::Binding;

/// What a build leaves beside its libraries.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Attempt {
    /// Name of the flag set in use.
    pub(super) flags: String,
    /// The flags as compiled.
    pub(super) build_flags: String,
    /// Sets the compiler rejected, with its first error.
    pub(super) rejected: BTreeMap<String, String>,
    /// Whether each helper's calls can be seen by a wrapper.
    pub(super) binding: BTreeMap<String, Binding>,
}

/// Words of a line that says what is wrong with a compilation.
const VERDICTS: [&str; 3] = ["error:", "undefined reference", "multiple definition"];

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let recipe: Recipe = job.json_param("recipe")?;
    job.lay_out_inputs("")?;
    let mut rejected = BTreeMap::new();
    for set in &recipe.flag_sets {
        match compile(job, &recipe, set)? {
            Ok((library, profiled, binding)) => {
                let attempt = Attempt {
                    flags: set.name.clone(),
                    build_flags: recipe.flags_text(set),
                    rejected,
                    binding,
                };
                let attempt = job.keep_json(&attempt)?;
                return Ok(Yield::default()
                    .with("library", library)
                    .with("profiled", profiled)
                    .with("attempt", attempt));
            }
            Err(reason) => drop(rejected.insert(set.name.clone(), reason)),
        }
    }
    let reasons: Vec<String> = rejected.iter().map(|(set, why)| format!("{set}: {why}")).collect();
    Err(Stop::new(FailureClass::Exit, format!("does not compile ({})", reasons.join("; "))))
}

type Libraries = (crate::artifact::Artifact, crate::artifact::Artifact, BTreeMap<String, Binding>);

/// One flag set: the libraries, or the compiler's first error.
fn compile(
    job: &mut Job<'_>,
    recipe: &Recipe,
    set: &FlagSet,
) -> Result<Result<Libraries, String>, Stop> {
    let scratch = job.scratch()?.to_path_buf();
    let text = scratch.to_string_lossy().into_owned();
    // The cmake crate insists on a last part called `build`.
    let directory = format!("{}/build", set.name);
    if let Err(reason) = cmake(job, recipe, set, &directory, None)? {
        return Ok(Err(reason));
    }
    check_commands(&scratch.join(&directory), recipe, set, &text)?;
    let objects = objects_below(&scratch.join(&directory))?;
    let parts: Vec<(&str, &[u8])> =
        objects.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    let binding = elf::binding(&parts);
    let wrapped: Vec<&str> = WRAPPED
        .iter()
        .map(|(symbol, _)| *symbol)
        .filter(|symbol| {
            let name = if *symbol == "get_random_number" { "drng" } else { symbol };
            matches!(binding.get(name), Some(Binding::Bound | Binding::Partial | Binding::Unbound))
        })
        .collect();
    if let Err(reason) = cmake(job, recipe, set, &directory, Some(&wrapped))? {
        let text = format!("the library for the profile does not link: {reason}");
        return Err(Stop::new(FailureClass::Exit, text));
    }
    let build = scratch.join(&directory);
    let library = job.keep_file(&find(&build, &format!("lib{}.so", recipe.label)))?;
    let profiled = job.keep_file(&find(&build, "libprofiled.so"))?;
    Ok(Ok((library, profiled, binding)))
}

/// Configures and builds; the inner error is what the compiler said.
fn cmake(
    job: &mut Job<'_>,
    recipe: &Recipe,
    set: &FlagSet,
    directory: &str,
    wrapped: Option<&[&str]>,
) -> Result<Result<(), String>, Stop> {
    let scratch = job.scratch()?.to_path_buf();
    let text = scratch.to_string_lossy().into_owned();
    let project = format!("project-{}", set.name);
    std::fs::create_dir_all(scratch.join(&project))?;
    std::fs::write(
        scratch.join(&project).join("CMakeLists.txt"),
        cmake_project::text(recipe, set, &text, wrapped),
    )?;
    let tools = job.bench().tools;
    let path = |name: &str| {
        tools
            .require(name)
            .map(|t| t.path.clone())
            .map_err(|error| Stop::new(FailureClass::Refused, error.to_string()))
    };
    let order = Request {
        source: scratch.join(&project),
        build_dir: scratch.join(directory),
        generator: "Ninja".to_owned(),
        cmake: path("cmake")?,
        make_program: path("ninja")?,
        c_compiler: path("gcc")?,
        defines: BTreeMap::new(),
        target: "all".to_owned(),
        jobs: 1,
    };
    let name = format!("cmake-{}.json", set.name);
    let json =
        serde_json::to_vec(&order).map_err(|e| Stop::new(FailureClass::Refused, e.to_string()))?;
    std::fs::write(scratch.join(&name), json)?;
    let env = order.environment(&job.search_path());
    let before = job.trace.log.len();
    let command = Command {
        program: "self".into(),
        args: vec!["__cmake".into(), format!("{{scratch}}/{name}")],
        env,
        ..Command::default()
    };
    let finished = job.run(&command)?;
    if finished.exit == Exit::Code(0) {
        return Ok(Ok(()));
    }
    let log = String::from_utf8_lossy(&job.trace.log[before..]).into_owned();
    if let Some(message) = missing_header(&log, recipe).or_else(|| missing_library(&log, recipe)) {
        return Err(Stop::new(FailureClass::Refused, message));
    }
    // Only an ordinary end with the compiler's or linker's own error is a verdict on the flags. The linker's driver
    // only repeats that there was one.
    let verdict = log
        .lines()
        .find(|l| VERDICTS.iter().any(|v| l.contains(v)) && !l.starts_with("collect2:"))
        .or_else(|| log.lines().find(|l| l.contains("error:")));
    match (&finished.exit, verdict) {
        (Exit::Code(_), Some(line)) => Ok(Err(line.trim().chars().take(300).collect())),
        (exit, _) => {
            let failure = job.failure_of(exit, "cmake");
            Err(failure
                .map_or_else(|| Stop::new(FailureClass::Exit, "cmake failed"), Stop::Failure))
        }
    }
}

/// A header of a declared library that is not installed, with the package that has it.
fn missing_header(log: &str, recipe: &Recipe) -> Option<String> {
    let line = log.lines().find(|l| l.contains("fatal error:") && l.contains("No such file"))?;
    let header = line.split("fatal error:").nth(1)?.split(':').next()?.trim();
    let library = recipe.libraries.iter().find(|l| l.header.as_deref() == Some(header));
    Some(match library.and_then(|l| l.debian.as_deref()) {
        Some(package) => {
            format!("header `{header}` is not installed; on Debian: apt-get install {package}")
        }
        None => return None,
    })
}

/// A declared library that the linker does not find, with the package that has it.
fn missing_library(log: &str, recipe: &Recipe) -> Option<String> {
    let library = recipe.libraries.iter().find(|library| {
        let wanted = format!("cannot find -l{}", library.name);
        log.lines().filter_map(|l| l.split_once(wanted.as_str())).any(|(_, rest)| {
            !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+'))
        })
    })?;
    let package = library.debian.as_deref()?;
    let name = &library.name;
    Some(format!("library `{name}` is not installed; on Debian: apt-get install {package}"))
}

/// The words of a command line as CMake writes it for a shell.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, ' ' | '\t') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The flags among the words behind a compiler's name: no files, directories, definitions, nor what CMake itself needs.
fn flags_of(words: &[String]) -> Vec<&str> {
    let mut flags = Vec::new();
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "-I" | "-D" | "-isystem" | "-o" | "-c" | "-MT" | "-MF" => drop(rest.next()),
            "-MD" => {}
            word if word.starts_with("-I") || word.starts_with("-D") => {}
            word => flags.push(word),
        }
    }
    flags
}

/// Reads the compile commands back: every candidate source once, with exactly the declared flags in order.
fn check_commands(build: &Path, recipe: &Recipe, set: &FlagSet, scratch: &str) -> Result<(), Stop> {
    let wrong = |text: String| Stop::new(FailureClass::Output, text);
    let path = find(build, "compile_commands.json");
    let bytes = std::fs::read(&path)?;
    let commands: Vec<serde_json::Value> =
        serde_json::from_slice(&bytes).map_err(|e| wrong(format!("compile_commands.json: {e}")))?;
    for source in &recipe.sources {
        let file = format!("{scratch}/{source}");
        let mut found = commands.iter().filter(|c| c["file"].as_str() == Some(file.as_str()));
        let (Some(command), None) = (found.next(), found.next()) else {
            return Err(wrong(format!("`{source}` is not compiled exactly once")));
        };
        let line = command["command"].as_str().unwrap_or_default();
        let given = words(line);
        let prefix_map = format!("-ffile-prefix-map={scratch}=.");
        let mut flags = flags_of(given.get(1..).unwrap_or_default());
        flags.retain(|word| *word != prefix_map);
        let declared: Vec<String> = set.c.iter().chain(&recipe.cflags).cloned().collect();
        let plain = flags_of(&declared);
        if flags != plain {
            return Err(wrong(format!(
                "`{source}` was compiled with `{}` where `{}` was declared",
                flags.join(" "),
                plain.join(" ")
            )));
        }
    }
    Ok(())
}

/// The candidate's and helpers' object files.
fn objects_below(build: &Path) -> Result<Vec<(String, Vec<u8>)>, Stop> {
    let mut objects = Vec::new();
    for entry in walkdir::WalkDir::new(build).sort_by_file_name().into_iter().filter_map(Result::ok)
    {
        let path = entry.path().to_string_lossy().into_owned();
        let ours = path.contains("candidate.dir/") || path.contains("helpers.dir/");
        if ours && path.ends_with(".o") {
            objects.push((path, std::fs::read(entry.path())?));
        }
    }
    Ok(objects)
}

/// A file below the build directory by name; the directory itself joined with it when there is none.
fn find(build: &Path, name: &str) -> std::path::PathBuf {
    walkdir::WalkDir::new(build)
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok)
        .find(|e| e.file_type().is_file() && e.file_name().to_str() == Some(name))
        .map_or_else(|| build.join(name), walkdir::DirEntry::into_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_read_as_a_shell_reads_it() {
        let line = r#"/bin/gcc -DNAME=\"x y\" -I"/a/参考 - x86/b" '-DQ="z"' -O2 -include stddef.h -o a.o -c "/a b.c""#;
        let words = words(line);
        assert_eq!(words[1..4], ["-DNAME=\"x", "y\"", "-I/a/参考 - x86/b"]);
        assert_eq!(words[4], "-DQ=\"z\"");
        let flags = flags_of(&words[4..]);
        assert_eq!(flags, ["-O2", "-include", "stddef.h"]);
    }

    #[test]
    fn a_library_that_is_not_installed_is_named_with_its_package() {
        let library = |name: &str| cmake_project::Library {
            name: name.into(),
            header: None,
            debian: Some(format!("lib{name}-dev")),
        };
        let recipe: Recipe = serde_json::from_value(serde_json::json!({
            "id": "k", "algorithm": "", "variant": "", "source_dir": "", "label": "K", "instance": null,
            "header": "k.h", "sources": [], "includes": [], "defines": [], "cflags": [],
            "libraries": [library("gm"), library("gmp")],
            "our_auxfunc": false, "our_drng": false, "own_drng_algorithm": false, "flag_sets": [],
        }))
        .unwrap();
        let said =
            missing_library("/usr/bin/ld: cannot find -lgmp: No such file or directory", &recipe);
        assert_eq!(
            said.as_deref(),
            Some("library `gmp` is not installed; on Debian: apt-get install libgmp-dev")
        );
        assert_eq!(missing_library("/usr/bin/ld: cannot find -lcrypto", &recipe), None);
    }
}
