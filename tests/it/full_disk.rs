//! A store on a disk that fills up: what does not fit fails and is no result, the rest stays, and with space again the
//! next run goes on.
//!
//! The disk is a small file system in memory. Mounting one needs rights; without them the test says so and ends.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed; a skipped one says why"
)]
#![expect(clippy::disallowed_methods, reason = "tests start the program itself")]

use std::path::PathBuf;
use std::process::Command;

use crate::bench::{Workspace, shell};

/// A file system of 20 MB, gone when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mounted_at(path: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=20m", "tmpfs"]).arg(&path);
        let output = mount.output().ok()?;
        if !output.status.success() {
            eprintln!("not tried: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Self(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_full_store_fails_what_does_not_fit_and_goes_on_when_there_is_space() {
    let blob = |name: &str, more: &str| {
        let script = format!("(echo {name}; head -c 3145728 /dev/zero) > big");
        shell(name, "once", &script, &format!("outputs: {{file: big}}{more}"))
    };
    let small = shell("small", "once", "echo small", "");
    let stages =
        format!("{small}{}{}{}{}", blob("a", ""), blob("b", ""), blob("c", ""), blob("d", ""));
    let workspace = Workspace::of_commands(&[], &stages);
    let Some(disk) = Disk::mounted_at(workspace.path("store")) else { return };
    let ballast = workspace.path("store/.ballast");
    std::fs::write(&ballast, vec![7_u8; 10 << 20]).unwrap();
    let run = workspace.run(&["--jobs", "1"]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let summary = run.summary();
    let failures = summary["failures"].as_array().unwrap();
    let finished = summary["executed"].as_u64().unwrap();
    assert!(!failures.is_empty() && finished >= 2, "{summary}");
    for failure in failures {
        let what = failure["what"].as_str().unwrap();
        assert!(what.contains("no space left") || what.contains("No space left"), "{what}");
    }
    assert!(
        failures.iter().any(|f| f["what"].as_str().unwrap().contains("ngcc store gc")),
        "{summary}"
    );
    let verify = workspace.ngcc(&["store", "verify"]);
    assert_eq!(verify.code, Some(0), "{}{}", verify.out, verify.err);

    // Not a byte left: every verb says so or works, and none believes half a file.
    let filler = workspace.path("store/.filler");
    let _ = Command::new("sh")
        .args(["-c", "cat /dev/zero > \"$0\" 2>/dev/null"])
        .arg(&filler)
        .status()
        .unwrap();
    for args in [vec!["pipeline", "run", "p"], vec!["pipeline", "plan", "p"], vec!["store", "gc"]] {
        let run = workspace.ngcc(&args);
        assert!(matches!(run.code, Some(0 | 1 | 4)), "{args:?}: {:?} {}", run.code, run.err);
        assert!(!run.err.contains("panicked"), "{}", run.err);
    }
    std::fs::remove_file(filler).unwrap();
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));

    std::fs::remove_file(ballast).unwrap();
    let rest = workspace.run(&["--jobs", "1"]);
    assert_eq!(rest.code, Some(0), "{}{}", rest.out, rest.err);
    assert_eq!(rest.summary()["executed"].as_u64().unwrap(), 5 - finished, "{}", rest.out);
    assert_eq!(workspace.ngcc(&["store", "verify"]).code, Some(0));
    assert_eq!(workspace.executed(), Vec::<String>::new());
    drop(disk);
}
