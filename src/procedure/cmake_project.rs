//! Writes the CMake project of one instance: explicit sources, exactly the declared flags, nothing else.
//!
//! Object libraries carry the sources, so CMake adds no `-fPIC` or export define of its own and the profiled library
//! reuses the objects. Knows nothing of manifests; paths are below the scratch directory.

use std::fmt::Write as _;

/// How one instance is built. The stage writes it, the build procedure reads it: JSON in the key.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recipe {
    /// Submission id for the metadata block.
    pub id: String,
    /// Algorithm name for the metadata block.
    pub algorithm: String,
    /// Variant text for the metadata block, e.g. `Reference_Implementation`.
    pub variant: String,
    /// Source directory as the metadata block shows it.
    pub source_dir: String,
    /// Label: the library is `lib<label>.so`.
    pub label: String,
    /// `ALGORITHM_INSTANCE` override, if the header's own is not to be used.
    pub instance: Option<String>,
    /// API header.
    pub header: String,
    /// Sources below the scratch directory, in link order.
    pub sources: Vec<String>,
    /// Include directories below the scratch directory, in search order.
    pub includes: Vec<String>,
    /// Defines, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Flags of the instance, after the flag set.
    pub cflags: Vec<String>,
    /// Libraries to link, by name, with the header and Debian package that provide them.
    pub libraries: Vec<Library>,
    /// What the NIST API needs, if the sources have that.
    pub nist: Option<Nist>,
    /// Our `auxfunc.c` is linked.
    pub our_auxfunc: bool,
    /// Our `drng.c` is linked.
    pub our_drng: bool,
    /// The submission defines `drng_algorithm` itself.
    pub own_drng_algorithm: bool,
    /// Flag sets in the order they are tried.
    pub flag_sets: Vec<FlagSet>,
}

/// How the sources' NIST API is reached.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Nist {
    /// What its names begin with; may be empty.
    pub prefix: String,
    /// Our file with the generator, below `ngcc/`.
    pub generator: String,
}

/// A library a submission needs.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Library {
    /// `-l` name.
    pub name: String,
    /// A header of it, to recognise that it is not installed.
    pub header: Option<String>,
    /// The Debian package to install.
    pub debian: Option<String>,
}

/// A named set of flags.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FlagSet {
    /// Its name.
    pub name: String,
    /// Compiler flags.
    pub c: Vec<String>,
    /// Link flags.
    pub link: Vec<String>,
}

impl Recipe {
    /// The flags as the library reports them: set, then the instance's own.
    #[must_use]
    pub fn flags_text(&self, set: &FlagSet) -> String {
        set.c.iter().chain(&self.cflags).cloned().collect::<Vec<_>>().join(" ")
    }

    /// Whether anything of the ICCS helper layer can be seen by the sources.
    #[must_use]
    pub const fn uses_iccs(&self) -> bool {
        self.nist.is_none() || self.our_auxfunc || self.our_drng
    }
}

/// A CMake bracket argument: no character in it means anything.
fn quoted(text: &str) -> String {
    let mut level = 1;
    while text.contains(&format!("]{}]", "=".repeat(level)))
        || text.ends_with(&format!("]{}", "=".repeat(level)))
    {
        level += 1;
    }
    let bars = "=".repeat(level);
    format!("[{bars}[{text}]{bars}]")
}

fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().fold(String::new(), |mut text, item| {
        let _ = write!(text, "\n  {}", quoted(item));
        text
    })
}

/// A C string literal for a define.
fn literal(text: &str) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            c => vec![c],
        })
        .collect();
    format!("\"{escaped}\"")
}

/// Which helper symbols the profiled library wraps: symbol and the switch of `hashprof.c`.
pub const WRAPPED: [(&str, &str); 4] = [
    ("pseudohash", "NGCC_WRAP_PSEUDOHASH"),
    ("pseudoXOF", "NGCC_WRAP_PSEUDOXOF"),
    ("sm3hash", "NGCC_WRAP_SM3HASH"),
    ("get_random_number", "NGCC_WRAP_DRNG"),
];

/// The text of `CMakeLists.txt`. `wrapped` lists the helper symbols that the instance's objects define; with `None`
/// only the plain library is described.
#[must_use]
pub fn text(recipe: &Recipe, set: &FlagSet, scratch: &str, wrapped: Option<&[&str]>) -> String {
    let below = |path: &String| format!("{scratch}/{path}");
    let mut cflags: Vec<String> = set.c.clone();
    cflags.extend(recipe.cflags.iter().cloned());
    // Makes the result independent of where it is built; adds no code.
    cflags.push(format!("-ffile-prefix-map={scratch}=."));
    let mut out = String::from(
        "cmake_minimum_required(VERSION 3.13)\nproject(ngcc_instance C)\nset(CMAKE_SKIP_RPATH ON)\n\
         set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n",
    );
    let mut objects = Vec::new();
    let mut object_library = |name: &str,
                              sources: &[String],
                              defines: &[String],
                              includes: &[String]| {
        let _ =
            writeln!(out, "add_library({name} OBJECT{})", list(sources.iter().map(String::as_str)));
        let _ = writeln!(
            out,
            "target_include_directories({name} PRIVATE{})",
            list(includes.iter().map(String::as_str))
        );
        if !defines.is_empty() {
            let _ = writeln!(
                out,
                "target_compile_definitions({name} PRIVATE{})",
                list(defines.iter().map(String::as_str))
            );
        }
        let shell: Vec<String> =
            cflags.iter().map(|f| format!("SHELL:{}", shell_quoted(f))).collect();
        let _ = writeln!(
            out,
            "target_compile_options({name} PRIVATE{})",
            list(shell.iter().map(String::as_str))
        );
        objects.push(format!("$<TARGET_OBJECTS:{name}>"));
    };
    let mut includes: Vec<String> = recipe.includes.iter().map(below).collect();
    if recipe.nist.is_some() {
        includes.push(format!("{scratch}/ngcc/nist"));
    }
    if recipe.uses_iccs() {
        includes.push(format!("{scratch}/ngcc/iccs"));
    }
    let sources: Vec<String> = recipe.sources.iter().map(below).collect();
    object_library("candidate", &sources, &recipe.defines, &includes);
    let mut helpers = Vec::new();
    if recipe.our_auxfunc {
        helpers.push(format!("{scratch}/ngcc/iccs/auxfunc.c"));
    }
    if recipe.our_drng {
        helpers.push(format!("{scratch}/ngcc/iccs/drng.c"));
    }
    if !helpers.is_empty() {
        helpers.push(format!("{scratch}/ngcc/iccs/sm3.c"));
        object_library("helpers", &helpers, &[], &[format!("{scratch}/ngcc/iccs")]);
    }
    let mut shim = vec![
        "NGCC_BUILD_KEM".to_owned(),
        format!("NGCC_ID={}", literal(&recipe.id)),
        format!("NGCC_ALG={}", literal(&recipe.algorithm)),
        format!("NGCC_VARIANT={}", literal(&recipe.variant)),
        format!("NGCC_SRCDIR={}", literal(&recipe.source_dir)),
        format!("NGCC_FLAGS={}", literal(&recipe.flags_text(set))),
        format!("NGCC_INSTANCE_HEADER={}", literal(&recipe.header)),
    ];
    let mut shim_sources = vec![format!("{scratch}/ngcc/driver/shim.c")];
    if let Some(nist) = &recipe.nist {
        shim.extend(["NGCC_NIST".to_owned(), "NGCC_INSTANCE_HEADER_NONE".to_owned()]);
        shim.push(format!("NGCC_NIST_PREFIX={}", nist.prefix));
        let files = ["driver/nist.c", "driver/nist_random.c", nist.generator.as_str()];
        shim_sources.extend(files.map(|file| format!("{scratch}/ngcc/{file}")));
    }
    shim.extend(recipe.instance.as_deref().map(|name| format!("NGCC_INSTANCE={}", literal(name))));
    if recipe.own_drng_algorithm {
        shim.push("NGCC_NO_DRNG".to_owned());
    }
    shim.extend(recipe.defines.iter().cloned());
    let mut shim_includes = includes.clone();
    shim_includes.push(format!("{scratch}/ngcc/driver"));
    object_library("shim", &shim_sources, &shim, &shim_includes);
    library(
        &mut out,
        &recipe.label,
        "instance",
        &objects,
        recipe,
        set,
        scratch,
        "exports.map",
        &[],
    );
    if let Some(wrapped) = wrapped {
        let switches: Vec<String> = WRAPPED
            .iter()
            .filter(|(symbol, _)| wrapped.contains(symbol))
            .map(|(_, switch)| (*switch).to_owned())
            .collect();
        let _ = writeln!(
            out,
            "add_library(hashprof OBJECT{})\ntarget_compile_definitions(hashprof PRIVATE{})\n\
             target_compile_options(hashprof PRIVATE -std=c99 -O2 -fPIC{})",
            list([format!("{scratch}/ngcc/driver/hashprof.c").as_str()]),
            list(switches.iter().map(String::as_str)),
            list([format!("-ffile-prefix-map={scratch}=.").as_str()]),
        );
        let mut all = objects.clone();
        all.push("$<TARGET_OBJECTS:hashprof>".to_owned());
        let wraps: Vec<String> = wrapped.iter().map(|s| format!("-Wl,--wrap={s}")).collect();
        library(
            &mut out,
            "profiled",
            "profiled",
            &all,
            recipe,
            set,
            scratch,
            "exports_profile.map",
            &wraps,
        );
    }
    out
}

#[expect(clippy::too_many_arguments, reason = "one caller, twice; a struct would only rename them")]
fn library(
    out: &mut String,
    file: &str,
    target: &str,
    objects: &[String],
    recipe: &Recipe,
    set: &FlagSet,
    scratch: &str,
    exports: &str,
    more: &[String],
) {
    let mut link: Vec<String> = vec![
        format!("-Wl,--version-script={scratch}/ngcc/driver/{exports}"),
        "-Wl,-Bsymbolic".into(),
        "-Wl,--no-undefined".into(),
        "-Wl,-z,noexecstack".into(),
        "-Wl,-z,relro".into(),
    ];
    link.extend(set.link.iter().cloned());
    link.extend(more.iter().cloned());
    let mut libraries = vec!["m"];
    libraries.extend(recipe.libraries.iter().map(|l| l.name.as_str()));
    let _ = writeln!(
        out,
        "add_library({target} SHARED {})\n\
         set_target_properties({target} PROPERTIES OUTPUT_NAME {} LINKER_LANGUAGE C NO_SONAME ON)\n\
         target_link_options({target} PRIVATE{})\n\
         target_link_libraries({target} PRIVATE{})",
        objects.join(" "),
        quoted(file),
        list(link.iter().map(String::as_str)),
        list(libraries),
    );
}

/// One word for CMake's `SHELL:` prefix, which keeps repeated flags that CMake would drop as duplicates.
fn shell_quoted(flag: &str) -> String {
    if flag.contains([' ', '"', '\\', ';']) {
        format!("\"{}\"", flag.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        flag.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_bracket_argument_means_anything() {
        assert_eq!(quoted("a b"), "[=[a b]=]");
        assert_eq!(quoted("x]=]y"), "[==[x]=]y]==]");
        assert_eq!(quoted("x]="), "[==[x]=]==]");
    }

    #[test]
    fn a_define_text_is_a_c_string_literal() {
        assert_eq!(literal(r#"a "b" \c"#), r#""a \"b\" \\c""#);
    }
}
