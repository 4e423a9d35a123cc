//! The child side of a CMake build: `ngcc __cmake JSON-FILE`, every value explicit.
//!
//! The `cmake` crate is made for build scripts: it takes what it is not told from the environment, adds flags of its
//! own unless all flag variables are defined, prints `cargo:` lines and panics when something fails. In a child with
//! an emptied environment the first two cannot falsify a benchmark, the third goes to the log, and the fourth is exit
//! code 101. It cannot be told which `cmake` to run but through the variable `CMAKE`, so [`Request::environment`]
//! says what the parent must set.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The build type: all its flags are defined empty, so the name has no effect but must not be left out.
const PROFILE: &str = "Release";

/// What to configure and build.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Directory of `CMakeLists.txt`.
    pub source: PathBuf,
    /// Build directory; its last part must be `build` (the crate appends that name itself).
    pub build_dir: PathBuf,
    /// `Ninja` or `Unix Makefiles`.
    pub generator: String,
    /// The cmake program.
    pub cmake: PathBuf,
    /// The ninja or make program.
    pub make_program: PathBuf,
    /// The C compiler.
    pub c_compiler: PathBuf,
    /// Further cache variables. `CMAKE_C_FLAGS` here are exactly the flags compiled with.
    pub defines: BTreeMap<String, String>,
    /// What to build, e.g. `all`.
    pub target: String,
    /// Parallel compiler processes.
    pub jobs: u32,
}

impl Request {
    /// The complete environment that the child needs, around the given `PATH`.
    #[must_use]
    pub fn environment(&self, path: &str) -> BTreeMap<String, String> {
        let text = |p: &Path| p.display().to_string();
        BTreeMap::from([
            ("CC".to_owned(), text(&self.c_compiler)),
            ("CMAKE".to_owned(), text(&self.cmake)),
            ("LC_ALL".to_owned(), "C".to_owned()),
            ("PATH".to_owned(), path.to_owned()),
        ])
    }

    /// The cache variables that stand before those of the request.
    fn fixed_defines(&self) -> BTreeMap<String, String> {
        let mut defines = BTreeMap::new();
        for language in ["C", "CXX", "ASM"] {
            // Undefined, the crate fills them with its own flags (-ffunction-sections, -march, -w).
            defines.insert(format!("CMAKE_{language}_FLAGS"), String::new());
            for kind in ["DEBUG", "RELEASE", "RELWITHDEBINFO", "MINSIZEREL"] {
                defines.insert(format!("CMAKE_{language}_FLAGS_{kind}"), String::new());
            }
        }
        let program = |p: &Path| p.display().to_string();
        defines.insert("CMAKE_C_COMPILER".to_owned(), program(&self.c_compiler));
        defines.insert("CMAKE_MAKE_PROGRAM".to_owned(), program(&self.make_program));
        defines.insert("CMAKE_EXPORT_COMPILE_COMMANDS".to_owned(), "ON".to_owned());
        defines
    }
}

/// Runs `ngcc __cmake` with the arguments after it. Exit codes: 0 built, 101 cmake or the build failed, 70 called
/// wrongly.
///
/// # Panics
/// When cmake fails: the crate says so by panicking, which ends this child with 101.
#[must_use]
pub fn main(args: Vec<OsString>) -> ExitCode {
    match read(&args) {
        Ok(request) => {
            build(&request);
            ExitCode::SUCCESS
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "ngcc __cmake: {message}");
            ExitCode::from(70)
        }
    }
}

fn read(args: &[OsString]) -> Result<Request, String> {
    let [file] = args else { return Err("one JSON file is expected".to_owned()) };
    let text = std::fs::read(file).map_err(|e| format!("{}: {e}", Path::new(file).display()))?;
    let request: Request =
        serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", Path::new(file).display()))?;
    if request.build_dir.file_name().is_none_or(|name| name != "build") {
        return Err(format!("`{}` does not end in `build`", request.build_dir.display()));
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this child's environment is what the parent made, and the crate reads it"
    )]
    let told = std::env::var_os("CMAKE");
    if told.as_deref() != Some(request.cmake.as_os_str()) {
        return Err("the variable CMAKE is not the cmake of the request".to_owned());
    }
    Ok(request)
}

fn build(request: &Request) {
    // Target and host only steer cross-compilation, which the toolchain file of a request would do, not the crate.
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut config = cmake::Config::new(&request.source);
    config
        .target(&triple)
        .host(&triple)
        .out_dir(request.build_dir.parent().unwrap_or(Path::new("/")))
        .profile(PROFILE)
        .no_default_flags(true)
        .generator(&request.generator)
        .always_configure(true)
        .build_target(&request.target)
        .build_arg(format!("-j{}", request.jobs.max(1)));
    let mut defines = request.fixed_defines();
    defines.extend(request.defines.clone());
    for (name, value) in &defines {
        config.define(name, value);
    }
    config.build();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_variable_is_defined_so_that_nothing_is_added() {
        let request = Request {
            source: "/s".into(),
            build_dir: "/b/build".into(),
            generator: "Ninja".into(),
            cmake: "/bin/cmake".into(),
            make_program: "/bin/ninja".into(),
            c_compiler: "/bin/gcc".into(),
            defines: BTreeMap::new(),
            target: "all".into(),
            jobs: 1,
        };
        let defines = request.fixed_defines();
        assert_eq!(defines.get("CMAKE_C_FLAGS").map(String::as_str), Some(""));
        assert_eq!(defines.get("CMAKE_C_FLAGS_RELEASE").map(String::as_str), Some(""));
        assert_eq!(defines.get("CMAKE_ASM_FLAGS").map(String::as_str), Some(""));
    }
}
