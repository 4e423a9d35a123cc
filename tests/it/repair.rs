//! `ngcc store verify --repair`: damage of every kind becomes whole again, or is named with the command that helps.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;

use crate::bench::{Run, Workspace};

/// The file of an output of an action, which is a blob.
fn output(workspace: &Workspace, action: &str, name: &str) -> PathBuf {
    let trace = workspace.ngcc(&["--format", "json", "trace", action, "--pipeline", "p"]);
    let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
    let blob = links[0]["record"]["outputs"][name]["blob"].as_str().unwrap().to_owned();
    workspace.path(&format!("store/blobs/{}/{blob}", &blob[..2]))
}

fn spoil(path: &PathBuf, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn repair(workspace: &Workspace, more: &[&str]) -> Run {
    let mut args = vec!["store", "verify", "--repair"];
    args.extend(more);
    workspace.ngcc(&args)
}

#[test]
fn emptied_flipped_and_deleted_content_is_made_again_and_the_touched_runs_and_pages_are_named() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    let verified = repair(&workspace, &[]);
    assert_eq!((verified.code, verified.out.as_str()), (Some(0), "clean: nothing to repair\n"));

    let flipped = output(&workspace, "A/build", "library");
    spoil(&output(&workspace, "A/kat", "kat"), Vec::clear);
    spoil(&flipped, |bytes| bytes[2000] ^= 1);
    std::fs::remove_file(output(&workspace, "B/sizes", "sizes")).unwrap();
    let page = workspace.path("store/pages/this/p/provenance.json");
    let provenance: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(page).unwrap()).unwrap();
    let key = provenance["toy-1/independent/B/choice"].as_str().unwrap();
    let record = workspace.path(&format!("store/records/{}/{key}.json", &key[..2]));
    spoil(&record, |bytes| bytes.truncate(10));

    let run = repair(&workspace, &[]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    for action in ["A/build", "A/kat", "B/sizes", "B/choice"] {
        let line = format!("rebuilt  toy-1/independent/{action} ");
        assert!(run.out.contains(&line), "{action}: {}{}", run.out, run.err);
    }
    assert!(run.out.contains("touched  pages pages/this/p: "), "{}", run.out);
    assert!(run.out.contains("touched  run ") && run.out.contains(" (p): "), "{}", run.out);
    assert!(run.out.contains("nothing lost"), "{}", run.out);
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
    // The same keys: nothing is left to do.
    assert_eq!(workspace.run(&[]).ran(), Vec::<String>::new());
    let aside = std::fs::read_dir(workspace.path("store/damaged")).unwrap();
    assert!(aside.count() >= 2, "damaged content is set aside, not deleted");
}

#[test]
fn a_lost_measurement_is_named_with_its_command_and_taken_again_only_when_asked() {
    let workspace = Workspace::new();
    assert_eq!(workspace.run(&[]).code, Some(0));
    let samples = output(&workspace, "A/timing/keygen", "timing");
    spoil(&samples, |bytes| bytes[10] ^= 1);
    spoil(&output(&workspace, "B/build", "library"), Vec::clear);
    let run = repair(&workspace, &[]);
    assert_eq!(run.code, Some(4), "{}{}", run.out, run.err);
    assert!(run.out.contains("rebuilt  toy-1/independent/B/build "), "{}", run.out);
    assert!(run.out.contains("lost     toy-1/independent/A/timing/keygen "), "{}", run.out);
    let command = "ngcc pipeline run p 'toy-1/independent/A'";
    assert!(run.out.contains(command), "{}", run.out);
    assert!(!run.err.contains("timing"), "{}", run.err);
    // What is lost stays lost, and the store is whole without it.
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));

    assert_eq!(workspace.run(&[]).code, Some(0));
    spoil(&output(&workspace, "A/timing/enc", "timing"), Vec::clear);
    let run = repair(&workspace, &["--measure"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("rebuilt  toy-1/independent/A/timing/enc "), "{}", run.out);
    // The page shows the samples, so it is another one now.
    assert!(run.out.contains("anew     toy-1/report "), "{}", run.out);
    assert_eq!(workspace.run(&[]).ran(), Vec::<String>::new());
}

#[test]
fn a_result_that_todays_sources_do_not_make_stays_lost_and_nothing_else_is_started() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    assert_eq!(workspace.run(&[]).code, Some(0));
    spoil(&output(&workspace, "A/build", "library"), Vec::clear);
    let source = "kems/toy-1/src/A/KEM_AlgorithmInstance.c";
    workspace.edit(source, "enum { SEED", "/* later */\nenum { SEED");
    let run = repair(&workspace, &[]);
    assert_eq!(run.code, Some(4), "{}{}", run.out, run.err);
    assert!(run.out.contains("its inputs have changed since"), "{}", run.out);
    assert_eq!(run.err, "");
}
