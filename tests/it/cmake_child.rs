//! The hidden CMake child on a real project: exactly the declared flags reach the compiler.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ngcc::digest::Digest;
use ngcc::exec::cmake_child::Request;
use ngcc::exec::process::{Child, Exit, Interrupt, Limits, Runner, Stdout};
use ngcc::toolchain::Tools;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Builds one C file with the given flags; the exit, the log, and the compile command. None without cmake.
fn build(source: &str, flags: &str, ninja: bool) -> Option<(Exit, String, String)> {
    let tools = Tools::discover(PATH, &BTreeSet::new(), &|path| {
        Digest::of_file(path).map(|(digest, _)| digest)
    });
    let (cmake, gcc) = (tools.get("cmake")?, tools.get("gcc")?);
    let make = tools.get(if ninja { "ninja" } else { "make" })?;
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("source")).unwrap();
    let project = "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_library(k SHARED k.c)\n";
    std::fs::write(at("source/CMakeLists.txt"), project).unwrap();
    std::fs::write(at("source/k.c"), source).unwrap();
    let request = Request {
        source: at("source"),
        build_dir: at("out/build"),
        generator: if ninja { "Ninja" } else { "Unix Makefiles" }.to_owned(),
        cmake: cmake.path.clone(),
        make_program: make.path.clone(),
        c_compiler: gcc.path.clone(),
        defines: BTreeMap::from([("CMAKE_C_FLAGS".to_owned(), flags.to_owned())]),
        target: "all".to_owned(),
        jobs: 1,
    };
    std::fs::write(at("request.json"), serde_json::to_vec(&request).unwrap()).unwrap();
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_ngcc"));
    let child = Child {
        argv: vec![launcher.clone().into(), "__cmake".into(), at("request.json").into()],
        dir: dir.path().to_owned(),
        env: request.environment(PATH),
        stdout: Stdout::Log,
        log: at("log"),
        limits: Limits::wall(Duration::from_secs(60)),
        cpu: None,
    };
    let finished = Runner::new(launcher).run(child, &Interrupt::none());
    let read = |path: &Path| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    };
    let commands = read(&at("out/build/compile_commands.json"));
    let commands: serde_json::Value = serde_json::from_str(&commands).unwrap_or_default();
    let command = commands[0]["command"].as_str().unwrap_or_default().to_owned();
    if finished.exit == Exit::Code(0) {
        assert!(at("out/build/libk.so").exists());
    }
    Some((finished.exit, read(&at("log")), command))
}

#[test]
fn the_compile_command_has_the_declared_flags_and_no_others() {
    for ninja in [true, false] {
        let Some((exit, log, command)) = build("int k;\n", "-O2 -std=c99", ninja) else { continue };
        assert_eq!(exit, Exit::Code(0), "{log}");
        let words: Vec<&str> = command.split_whitespace().collect();
        // What shared libraries need is CMake's own; the project says so by being one.
        let flags: Vec<&str> = words[1..].iter().copied().take_while(|w| *w != "-o").collect();
        assert_eq!(flags, ["-Dk_EXPORTS", "-O2", "-std=c99", "-fPIC"], "{command}");
    }
}

#[test]
fn a_build_that_fails_is_exit_code_101_with_the_reason_in_the_log() {
    let Some((exit, log, _)) = build("#error no such luck\n", "", true) else { return };
    assert_eq!(exit, Exit::Code(101));
    assert!(log.contains("no such luck"), "{log}");
}
