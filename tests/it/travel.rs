//! `ngcc store export` and `import`: a run goes to another machine and is there what it was here.

use crate::bench::Workspace;

#[test]
fn an_exported_run_is_listed_traced_verified_and_kept_elsewhere_and_goes_out_again_byte_for_byte() {
    let (here, there) = (Workspace::new(), tempfile::tempdir().unwrap());
    assert_eq!(here.run(&[]).code, Some(0));
    let (first, second) = (here.path("first.tar"), here.path("second.tar"));
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    let export = here.ngcc(&["store", "export", "latest", first]);
    assert_eq!(export.code, Some(0), "{}{}", export.out, export.err);
    assert!(export.out.contains("(p): 23 records, "), "{}", export.out);
    here.ngcc(&["store", "export", "latest", second]);
    assert_eq!(std::fs::read(first).unwrap(), std::fs::read(second).unwrap());

    let root = there.path().to_str().unwrap();
    let other = |args: &[&str]| here.ngcc(&[&["--store", root], args].concat());
    let import = other(&["store", "import", first, "--name", "lab-a"]);
    assert_eq!(import.code, Some(0), "{}{}", import.out, import.err);
    assert!(import.out.contains("is here as `lab-a`: 23 records are new"), "{}", import.out);
    let runs = other(&["runs"]);
    assert!(runs.out.contains("(lab-a)") && runs.out.contains("complete"), "{}", runs.out);
    let trace = here.ngcc(&["--format", "json", "trace", "A/timing/dec", "--pipeline", "p"]);
    let links: serde_json::Value = serde_json::from_str(&trace.out).unwrap();
    let key = links[0]["record"]["key"].as_str().unwrap();
    assert_eq!(other(&["--format", "json", "trace", key]).out, {
        here.ngcc(&["--format", "json", "trace", key]).out
    });
    assert_eq!(other(&["store", "verify"]).code, Some(0));
    let gc = other(&["store", "gc", "--keep-runs", "0", "--yes"]);
    assert!(gc.out.contains("removed 0 records, 0 runs"), "{}", gc.out);
    let third = here.path("third.tar");
    let third = third.to_str().unwrap();
    assert_eq!(other(&["store", "export", "lab-a", third]).code, Some(0));
    assert_eq!(std::fs::read(first).unwrap(), std::fs::read(third).unwrap());

    // Twice is once.
    let again = other(&["store", "import", first]);
    assert!(again.out.contains("as `lab-a`: 0 records are new, 23 were here"), "{}", again.out);
    // The results serve a run there.
    let run = here.run(&["--store", root]);
    assert_eq!(run.ran(), Vec::<String>::new());
}

#[test]
fn an_archive_goes_through_pipes_and_a_broken_one_is_refused_with_exit_code_4() {
    let (here, there) = (Workspace::new(), tempfile::tempdir().unwrap());
    here.without_measuring();
    assert_eq!(here.run(&[]).code, Some(0));
    let archive = here.command(&["store", "export", "latest", "-"]).output().unwrap().stdout;
    assert!(archive.len() > 10_000);
    let take = |bytes: &[u8]| {
        let file = here.path("piped");
        std::fs::write(&file, bytes).unwrap();
        let root = there.path().to_str().unwrap();
        let mut command = here.command(&["--store", root, "store", "import", "-"]);
        command.stdin(std::fs::File::open(&file).unwrap()).output().unwrap()
    };
    let cut = take(&archive[..archive.len() / 2]);
    assert_eq!(cut.status.code(), Some(4), "{cut:?}");
    assert!(String::from_utf8_lossy(&cut.stderr).contains("the archive is refused"), "{cut:?}");
    let whole = take(&archive);
    assert_eq!(whole.status.code(), Some(0), "{whole:?}");
}
