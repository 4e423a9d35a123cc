//! What the files that people write may get wrong, and the exact text they are told.
//!
//! Each case is a small workspace in a directory of its own. The snapshots are the specification: read them as a user.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

use std::fmt::Write as _;
use std::path::Path;

use ngcc::diag::Colour;
use ngcc::spec::Workspace;

/// A good workspace; each case replaces or adds files.
const GOOD: [(&str, &str); 4] = [
    (
        "pipelines/all.yaml",
        "about: everything\nflag_sets:\n  guide: {c: [-O2]}\nstages:\n  build: {kind: build, flags: [guide]}\n  \
         kat: {kind: kat, needs: [build]}\n",
    ),
    (
        "kems/kem-1/submission.yaml",
        "name: One\nfunction: kem\ninstances:\n  One128:\n  One256:\nimplementations:\n  independent:\n    \
         version: independent\n    source: {directory: c}\n",
    ),
    ("kems/kem-1/c/one.c", "\n"),
    ("systems/this.yaml", "description: this machine\narch: any\n"),
];

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// What loading says about the good workspace with these files changed.
fn said(files: &[(&str, &str)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &GOOD);
    write(dir.path(), files);
    match Workspace::load(dir.path()) {
        Ok(_) => "nothing is wrong\n".to_owned(),
        Err(errors) => errors.render(Colour::Off),
    }
}

/// A pipeline with these stages.
fn stages(text: &str) -> String {
    let head = "about: test\nflag_sets:\n  guide: {c: [-O2]}\nstages:\n  build: {kind: build, flags: [guide]}\n";
    said(&[("pipelines/all.yaml", &format!("{head}{text}"))])
}

/// A manifest whose one implementation has these lines.
fn implementation(text: &str) -> String {
    let head = "name: One\nfunction: kem\ninstances: {One128: {}, One256: {}}\nimplementations:\n  mine:\n    version: independent\n    about: test\n";
    let mut manifest = head.to_owned();
    for line in text.lines() {
        let _ = writeln!(manifest, "    {line}");
    }
    said(&[("kems/kem-1/submission.yaml", &manifest)])
}

macro_rules! cases {
    ($($name:ident: $said:expr;)*) => {
        $(#[test] fn $name() { insta::assert_snapshot!(stringify!($name), $said); })*
    };
}

cases! {
    the_good_workspace_is_good: said(&[]);

    // The document.
    an_empty_file_lacks_every_required_field: said(&[("pipelines/all.yaml", ""), ("systems/this.yaml", "# only a comment\n")]);
    a_tab_as_indentation: said(&[("systems/this.yaml", "description: x\narch: any\nexpect:\n\tgovernor: performance\n")]);
    an_open_quote: said(&[("systems/this.yaml", "description: \"x\narch: any\n")]);
    a_brace_in_a_flow_list: said(&[("systems/this.yaml", "description: x\narch: any\nidentity: [cpu_{model}]\n")]);
    two_documents: said(&[("systems/this.yaml", "description: x\narch: any\n---\ndescription: y\n")]);
    a_tag: said(&[("systems/this.yaml", "description: !secret x\narch: any\n")]);
    an_unknown_alias: said(&[("systems/this.yaml", "description: *x\narch: any\n")]);
    an_alias_bomb: said(&[("systems/this.yaml", &alias_bomb())]);
    a_byte_order_mark_changes_no_place: said(&[("systems/this.yaml", "\u{feff}descriptoin: x\narch: any\n")]);
    carriage_returns_change_no_place: said(&[("systems/this.yaml", "description: x\r\narch: any\r\ncpu: two\r\n")]);
    columns_count_characters: said(&[("systems/this.yaml", "{description: 测量机 é 😀, arch: any, cpu: zwölf}\n")]);
    a_duplicate_key_shows_both_places: said(&[("systems/this.yaml", "description: x\narch: any\ncpu: 1\nhostname: a\ncpu: 2\n")]);
    a_list_where_a_mapping_is_wanted: said(&[("systems/this.yaml", "- description: x\n")]);

    // Pipelines.
    an_unknown_field_names_the_nearest: stages("  kat: {kind: kat, need: [build]}\n");
    an_unknown_field_far_from_all_lists_them: stages("  kat: {kind: kat, needs: [build], colour: red}\n");
    a_wrong_type: stages("  kat: {kind: kat, needs: [build], records: [ten]}\n  timing: {kind: timing, needs: [build], trials: five, interval: maybe}\n");
    an_unknown_kind: stages("  kat:\n    kind: kta\n    needs: [build]\n");
    an_unknown_stage: stages("  kat: {kind: kat, needs: [bulid]}\n");
    an_unknown_flag_set: said(&[("pipelines/all.yaml", "about: x\nflag_sets: {guide: {c: [-O2]}}\nstages:\n  build: {kind: build, flags: [guid, guide]}\n")]);
    two_flags_in_one: said(&[("pipelines/all.yaml", "about: x\nflag_sets: {guide: {c: [-O2 -g]}}\nstages:\n  build: {kind: build, flags: [guide]}\n")]);
    a_missing_field: said(&[("pipelines/all.yaml", "stages:\n  build:\n    kind: build\n")]);
    no_stages: said(&[("pipelines/all.yaml", "about: x\nstages:\n")]);
    a_cycle_of_one: stages("  a: {kind: command, scope: once, argv: [wc], tools: [wc], outputs: {}, needs: [a]}\n");
    a_cycle_of_two: stages("  kat: {kind: kat, needs: [build, other]}\n  other: {kind: kat, needs: [build, kat]}\n");
    a_cycle_of_three: stages(&format!(
        "{}{}{}{}",
        command("c", "needs: [a]"), command("a", "needs: [b]"), command("b", "needs: [build, c]"), command("after", "needs: [a]"),
    ));
    a_stage_that_cannot_use_another: stages("  kat: {kind: kat, needs: [build]}\n  timing: {kind: timing, needs: [build]}\n  again: {kind: kat, needs: [build, timing]}\n");
    a_stage_without_a_library: stages("  kat: {kind: kat}\n");
    a_stage_with_two_libraries: stages("  fast: {kind: build, flags: [guide]}\n  kat: {kind: kat, needs: [build, fast]}\n");
    a_bad_unit: stages("  timing: {kind: timing, needs: [build], target: 1 sec, budget: 15}\n  kat: {kind: kat, needs: [build], keep_text: 1 mb, limits: {memory: much}}\n");
    too_few_trials_for_an_interval: stages("  timing:\n    kind: timing\n    needs: [build]\n    trials: 5\n    interval: true\n");
    too_few_trials_by_default: stages("  timing: {kind: timing, needs: [build], interval: true}\n");
    an_unknown_operation_and_one_twice: stages("  timing: {kind: timing, needs: [build], operations: [keygen, encaps, dec]}\n  more: {kind: timing, needs: [build], operations: [dec, enc, dec]}\n");
    a_selector_of_no_submission: said(&[("pipelines/all.yaml", "about: x\nselect: [kem-2, 'kem-*', kem-1//x]\nflag_sets: {g: {c: [-O2]}}\nstages: {build: {kind: build, flags: [g]}}\n")]);
    a_pipeline_with_the_other_ending: said(&[("pipelines/more.yml", "")]);

    // Commands.
    a_command_that_uses_what_it_does_not_declare: stages(
        "  lines:\n    kind: command\n    scope: instance\n    argv: [awk, -f, '${input:scirpt}', '${file:x}', '${output:lines}', '${tool:sed}']\n    \
         inputs: {script: kems/kem-1/c/one.c}\n    outputs: {line: lines.txt}\n    tools: [gawk]\n    stdout: out\n");
    a_command_with_two_outputs_in_one_file: stages(
        "  lines:\n    kind: command\n    scope: once\n    argv: [awk]\n    tools: [awk]\n    outputs: {a: x.txt, b: ./x.txt}\n");
    a_command_with_inputs_that_are_not_there: stages(
        "  lines:\n    kind: command\n    scope: once\n    argv: [awk]\n    tools: [awk]\n    outputs: {a: x.txt}\n    \
         inputs: {one: ./kems/kem-1/c/on.c, two: source, three: build.libary, four: biuld.library, five: ../x}\n");
    a_command_with_odd_exit_codes: stages(
        "  lines: {kind: command, scope: once, argv: [], tools: [awk], outputs: {a: ../x}, finding_exit_codes: [0, 1, 300]}\n");

    // Submissions.
    a_source_directory_that_is_not_there: implementation("source: {directory: d}");
    a_source_of_two_forms: implementation("source: {directory: c, crate: x}");
    a_bad_digest_and_a_bad_size: implementation("source:\n  archive: a/One.zip\n  url: One.zip\n  sha256: A6E5\n  bytes: 8 MB\n");
    a_digest_of_digits_only_is_a_text: implementation(&format!("source:\n  archive: One.zip\n  sha256: {}\n  bytes: 10\n", "0123456789".repeat(7).get(..64).unwrap()));
    a_version_that_looks_like_a_number_is_a_text: implementation(&format!("source: {{crate: one, version: 1.10, sha256: {}}}", "a".repeat(64)));
    an_unknown_instance: implementation("source: {directory: c}\ninstances:\n  One129: {}\n  One256:\n");
    an_unknown_variable: implementation("source: {directory: c}\nrecipe:\n  directory: '{instence}'\n  defines: {LEVEL: '{level}', 2X: 1}\n");
    a_path_that_leaves_the_tree: implementation("source: {directory: c}\nrecipe:\n  sources: ['*.c', ../../core/*.c]\n  directory: ..\n");
    a_source_file_that_is_not_there: implementation("source: {directory: c}\nrecipe: {sources: [one.c, two.c]}\n");
    an_instance_directory_that_is_not_there: implementation("source: {directory: c}\nrecipe: {directory: '{instance}'}\n");
    a_patch_that_is_not_there: implementation("source: {directory: c}\nrecipe:\n  patches:\n    - {replaces: one.c, with: patches/one.c, why: it does not compile}\n    - {replaces: one.c, with: c/one.c}\n");
    a_prefix_without_its_api: implementation("source: {directory: c}\nrecipe: {prefix: one_}\n");
    a_generator_without_its_api: implementation("source: {directory: c}\nrecipe: {generator: shake}\n");
    a_prefix_that_is_no_name: implementation("source: {directory: c}\nrecipe: {api: nist, prefix: 'one two_', generator: drbg}\n");
    unknown_words: implementation("source: {directory: c}\nrecipe: {api: icss, auxfunc: theirs, flag_sets: [giude]}\n");
    a_flag_set_that_no_pipeline_has: implementation("source: {directory: c}\nrecipe: {flag_sets: [giude]}\n");
    a_size_of_another_function: said(&[("kems/kem-1/submission.yaml", "name: One\nfunction: kem\npage: one\ninstances: {One 128: {}, One128: {sizes: {pk: 0, sig: 12}, target_bits: -1}}\nimplementations: {}\n")]);
    bad_lines_of_a_kat_manifest: said(&[("kems/kem-1/kat.sha256", &kat_lines())]);

    // Systems.
    an_unknown_fact: said(&[("systems/this.yaml", "description: x\narch: x86\nidentity: [cpu_modell, microcode, microcode]\nexpect: {governer: performance, colour: red}\n")]);

    // Everything at once.
    several_errors_in_several_files: said(&[
        ("pipelines/all.yaml", "abuot: x\nstages:\n  kat: {kind: kat, needs: [build]}\n"),
        ("pipelines/other.yaml", "about: [\n"),
        ("systems/this.yaml", "description: x\narch: vax\n"),
        ("kems/kem-1/submission.yaml", "name: One\nfunction: kme\ninstances: {}\n"),
        ("kems/kem-2/submission.yaml", "name: [Two]\n"),
    ]);
}

fn command(name: &str, more: &str) -> String {
    format!(
        "  {name}:\n    kind: command\n    scope: once\n    argv: [wc]\n    tools: [wc]\n    outputs: {{}}\n    {more}\n"
    )
}

fn alias_bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..20 {
        let _ = writeln!(text, "a{i}: &a{i} [{}]", format!("*a{}, ", i - 1).repeat(9));
    }
    text
}

fn kat_lines() -> String {
    let digest = "75672c8d94a18620e00a5cefe3ef77a4569b9fdcaf0fd3ee7277ac69336e941c";
    format!(
        "{digest} strict One128/KAT_KEM_One128.txt\n\n{digest} nolen:3 KAT_KEM_One256.txt\r\n{digest} strict One128/again.txt\n\
         75672C strict One128/a.txt\n{digest} loose One128/a b.txt\n{digest} strict:0 One128/a.txt\n{digest} strict One12/x.txt\n{digest}\n"
    )
}

#[test]
fn the_json_form_has_the_same_errors_in_the_same_order() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("systems/a.yaml", "arch: vax\n"), ("pipelines/a.yml", "")]);
    let errors = Workspace::load(dir.path()).unwrap_err();
    insta::assert_json_snapshot!(errors.to_json());
}

#[test]
fn thousands_of_errors_are_cut_off_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "description: x\narch: any\n".to_owned();
    for i in 0..5000 {
        let _ = writeln!(text, "field{i}: x");
    }
    write(dir.path(), &[("systems/a.yaml", &text)]);
    let errors = Workspace::load(dir.path()).unwrap_err();
    assert_eq!(errors.len(), 101);
    assert!(errors.iter().any(|d| d.message() == "4900 more errors are not shown"));
}
