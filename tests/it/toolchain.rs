//! Tool identity, on the real compiler and on fake ones.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ngcc::digest::Digest;
use ngcc::toolchain::Tools;

fn script(dir: &Path, name: &str, text: &str) {
    // A new file each time, as an installer does it.
    let path = dir.join(name);
    let new = dir.join("new");
    std::fs::write(&new, text).unwrap();
    std::fs::set_permissions(&new, PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::rename(new, path).unwrap();
}

fn digest(path: &Path) -> std::io::Result<Digest> {
    Ok(Digest::of_file(path)?.0)
}

#[test]
fn a_compiler_replaced_at_the_same_path_and_version_is_another_tool() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display().to_string();
    let none = BTreeSet::new();
    script(dir.path(), "gcc", "#!/bin/sh\necho 'gcc (Fake) 12.2.0'\n");
    let before = Tools::discover(&path, &none, &digest);
    assert!(before.still_hold(&path, &none));
    script(dir.path(), "gcc", "#!/bin/sh\n# patched\necho 'gcc (Fake) 12.2.0'\n");
    assert!(!before.still_hold(&path, &none), "a stat sees it");
    let after = Tools::discover(&path, &none, &digest);
    let identity = |tools: &Tools| tools.require("gcc").unwrap().identity.clone();
    assert_eq!(identity(&before).version, identity(&after).version);
    assert_ne!(identity(&before), identity(&after));
}

#[test]
fn an_edit_in_place_with_the_time_put_back_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display().to_string();
    let none = BTreeSet::new();
    script(dir.path(), "gcc", "#!/bin/sh\necho A\n");
    let before = Tools::discover(&path, &none, &digest);
    let file = dir.path().join("gcc");
    let time = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, "#!/bin/sh\necho B\n").unwrap();
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
    assert!(!before.still_hold(&path, &none));
}

#[test]
fn a_tool_that_comes_or_goes_is_noticed_without_starting_anything() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = format!("{}:{}", first.path().display(), second.path().display());
    let names = BTreeSet::from(["analyser".to_owned()]);
    script(second.path(), "analyser", "#!/bin/sh\necho 'analyser 1'\n");
    let tools = Tools::discover(&path, &names, &digest);
    assert_eq!(tools.require("analyser").unwrap().identity.version, "analyser 1");
    assert!(tools.still_hold(&path, &names));
    assert!(!tools.still_hold("/usr/bin", &names), "another search path");
    script(first.path(), "analyser", "#!/bin/sh\necho 'analyser 2'\n");
    assert!(!tools.still_hold(&path, &names), "one before it on the path");
    std::fs::remove_file(first.path().join("analyser")).unwrap();
    assert!(tools.still_hold(&path, &names));
    script(first.path(), "cmake", "#!/bin/sh\necho 'cmake 3'\n");
    assert!(!tools.still_hold(&path, &names), "one that was missing");
}

#[test]
fn the_real_compiler_is_known_with_its_parts_and_its_library() {
    let path = "/usr/local/bin:/usr/bin:/bin";
    let none = BTreeSet::new();
    let read = RefCell::new(0);
    let counting = |file: &Path| {
        *read.borrow_mut() += 1;
        digest(file)
    };
    let tools = Tools::discover(path, &none, &counting);
    for name in ["gcc", "cc1", "as", "ld", "collect2", "libc"] {
        let tool = tools.require(name).unwrap();
        assert!(tool.path.is_absolute() && tool.path.exists(), "{name}");
        assert_ne!(tool.identity.version, "version not told", "{name}");
    }
    assert!(*read.borrow() > 50, "headers count: {}", read.borrow());
    let text = serde_json::to_string(&tools).unwrap();
    let again: Tools = serde_json::from_str(&text).unwrap();
    assert_eq!(again, tools);
    assert!(again.still_hold(path, &none));
    let identities = tools.identities(["gcc", "no-such-tool", "ld"]);
    assert_eq!(identities.keys().collect::<Vec<_>>(), ["gcc", "ld"]);
}
