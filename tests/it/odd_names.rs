//! Names and paths that break other tools: blanks, quotes, dollars, dashes, newlines, great length, great number.
//! Each works, or is refused with one message; none is taken for another.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::os::unix::ffi::OsStrExt as _;

use crate::bench::{Run, Workspace, shell};

/// One step that prints the names and contents of all files below `./in`, in byte order.
fn listing() -> Workspace {
    let script = "PATH=/usr/bin:/bin; cd \"$1\" && \
                  find . -type f -print0 | LC_ALL=C sort -z | xargs -0 grep -H ''";
    let script = serde_json::to_string(script).unwrap();
    let stage = format!(
        "  list: {{kind: command, scope: once, argv: [sh, -c, {script}, sh, \"${{input:all}}\"], tools: [sh], \
         inputs: {{all: ./in/}}, outputs: {{out: out}}, stdout: out}}\n"
    );
    let workspace = Workspace::of_commands(&[], &stage);
    std::fs::create_dir(workspace.path("in")).unwrap();
    workspace
}

/// No panic and no stack trace, whatever it says.
fn said(run: &Run) -> String {
    assert!(matches!(run.code, Some(0..=5)), "{:?}: {}{}", run.code, run.out, run.err);
    assert!(!run.err.contains("panicked"), "{}", run.err);
    format!("{}{}", run.out, run.err)
}

#[test]
fn file_names_that_a_shell_would_break_come_through_whole() {
    let workspace = listing();
    let long = "l".repeat(200);
    let names = [
        "a b",
        "'single'",
        "\"double\"",
        "-rf",
        "$HOME",
        "a;b|c&d",
        "*",
        "`x`",
        "~",
        "{in}",
        "\\n",
        "#",
        "%s",
        &long,
    ];
    for name in names {
        workspace.write(&format!("in/{name}"), &format!("content of {name}\n"));
        workspace.write(&format!("in/dir {name}/{name}"), "deep\n");
    }
    assert_eq!(workspace.executed().len(), 1);
    let listed = workspace.output("once/list", "out");
    for name in names {
        assert!(listed.contains(&format!("./{name}:content of {name}\n")), "{name}: {listed}");
        assert!(listed.contains(&format!("./dir {name}/{name}:deep\n")), "{name}: {listed}");
    }
    assert_eq!(listed.lines().count(), 2 * names.len());
    assert_eq!(workspace.executed(), Vec::<String>::new());
}

#[test]
fn an_argument_that_looks_like_a_symbol_of_ours_is_itself() {
    let script = "printf '%s|' \"$@\"";
    let stage = format!(
        "  echo: {{kind: command, scope: once, argv: [sh, -c, '{}', sh, '{{in}}', '{{{{out}}}}', 'x{{out}}y'], \
         tools: [sh], outputs: {{out: out}}, stdout: out}}\n",
        script.replace('\'', "''")
    );
    let workspace = Workspace::of_commands(&[], &stage);
    assert_eq!(workspace.executed().len(), 1);
    assert_eq!(workspace.output("once/echo", "out"), "{in}|{{out}}|x{out}y|");
}

#[test]
fn names_that_differ_in_unicode_normal_form_or_letter_case_only_stay_apart() {
    let workspace = listing();
    for (name, text) in
        [("\u{e9}", "composed"), ("e\u{301}", "decomposed"), ("A", "upper"), ("a", "lower")]
    {
        workspace.write(&format!("in/{name}"), &format!("{text}\n"));
    }
    assert_eq!(workspace.executed().len(), 1);
    let listed = workspace.output("once/list", "out");
    assert_eq!(listed, "./A:upper\n./a:lower\n./e\u{301}:decomposed\n./\u{e9}:composed\n");
}

#[test]
fn a_name_with_a_newline_or_of_no_text_is_refused_in_one_message_with_the_name() {
    for (name, shown) in [(&b"new\nline"[..], "control"), (&b"not \xff utf-8"[..], "not UTF-8")] {
        let workspace = listing();
        workspace.write("in/good", "good\n");
        let odd = workspace.path("in").join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(odd, "x").unwrap();
        let run = workspace.run(&[]);
        let text = said(&run);
        assert!(matches!(run.code, Some(2 | 3)), "{text}");
        assert!(text.contains(shown) && text.contains("`all`"), "{text}");
    }
}

#[test]
fn a_workspace_below_an_odd_directory_works_with_an_odd_store() {
    let workspace = listing();
    workspace.write("in/x", "x\n");
    let odd = tempfile::tempdir().unwrap();
    let root = odd.path().join("-a 'b' \"c\" $D\n{scratch} ü");
    workspace.copy_to(&root, &["in/x"]);
    let args = ["--format", "json", "--store", "-s t 'o'", "pipeline", "run", "p"];
    let args = args.map(|arg| if arg.starts_with("-s ") { "./-s t 'o'" } else { arg });
    for executed in [1, 0] {
        let mut command = workspace.command(&args);
        let output = command.current_dir(&root).output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{out}{err}");
        assert!(out.contains(&format!("\"executed\": {executed}")), "{out}");
    }
}

#[test]
fn a_path_at_the_limit_of_the_system_works_or_says_that_it_is_too_long() {
    // Components of 200 bytes: with the scratch directory in front the longest go over the system's 4,096.
    for parts in [5, 15, 19] {
        let workspace = listing();
        let mut deep = workspace.path("in");
        for _ in 0..parts {
            deep.push("d".repeat(200));
        }
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("f"), "deep\n").unwrap();
        let run = workspace.run(&[]);
        let text = said(&run);
        if run.code != Some(0) {
            assert!(text.to_lowercase().contains("name too long"), "{parts}: {text}");
        }
        assert!(run.code == Some(0) || parts > 5, "{text}");
    }
}

#[test]
fn a_step_with_more_inputs_than_arguments_can_be_gets_them_as_a_directory() {
    // Together the paths have twice the bytes that the system allows in the arguments of a program, 2 MiB.
    let script =
        "find ${input:all} -type f | wc -l; find ${input:all} -type f -exec cat {} + | wc -c";
    let workspace =
        Workspace::of_commands(&[], &shell("join", "once", script, "inputs: {all: ./in/}"));
    let directory = workspace.path("in").join(vec!["d".repeat(240); 10].join("/"));
    std::fs::create_dir_all(&directory).unwrap();
    for file in 0..1500 {
        std::fs::write(directory.join(format!("{file:0240}")), format!("{:04}", file % 7)).unwrap();
    }
    assert_eq!(workspace.executed().len(), 1);
    assert_eq!(workspace.output("once/join", "out"), "1500\n6000\n");
    assert_eq!(workspace.executed(), Vec::<String>::new());
}
