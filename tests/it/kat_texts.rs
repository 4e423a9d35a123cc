//! Known-answer texts at the command line, among them one of 2 GB through a pipe.

#![expect(clippy::disallowed_methods, reason = "tests start the program itself")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

fn ngcc() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ngcc"));
    command.stdin(Stdio::null());
    command
}

#[test]
fn digest_prints_the_line_of_the_manifest_and_compare_names_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let text = "Count = 0\nPK_Len = 2\nPK = AB12\n\nCount = 1\nPK_Len = 2\nPK = CD34\n\n";
    let (a, b) = (write("a b.txt", text), write("b", &text.replace('\n', "\r\n")));
    let digest = |file: &Path| {
        let out = ngcc().args(["kat", "digest", "--nolen"]).arg(file).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let line = digest(&a);
    assert_eq!(line.split(' ').next(), digest(&b).split(' ').next());
    assert!(line.ends_with(&format!(" nolen {}\n", a.display())), "{line}");

    let other = write("c", &text.replace("CD34", "CD35"));
    let compare = |more: &[&str]| {
        let out = ngcc().args(["kat", "compare"]).args(more).args([&other, &b]).output().unwrap();
        (out.status.code(), String::from_utf8(out.stdout).unwrap())
    };
    let place = "MISMATCH record 1, field PK, byte 1: `5` here, `4` in the reference\n";
    assert_eq!(compare(&[]), (Some(1), place.to_owned()));
    assert_eq!(compare(&["--records", "1"]), (Some(0), "equal\n".to_owned()));
    let gone = ngcc().args(["kat", "digest", "/no such text"]).output().unwrap();
    assert_eq!(gone.status.code(), Some(2));
    assert!(String::from_utf8(gone.stderr).unwrap().contains("/no such text"));
}

/// Writes a KAT text of about 2 GB with lines of 25 MB; the last byte is as asked.
fn write_two_gigabytes(to: std::fs::File, last: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::with_capacity(1 << 20, to);
    let block = b"0123456789ABCDEF".repeat(1 << 16);
    for record in 0..10 {
        writeln!(out, "Count = {record}")?;
        for field in ["PK", "SK", "CT", "SS"] {
            write!(out, "{field} = ")?;
            for _ in 0..50 {
                out.write_all(&block)?;
            }
            out.write_all(b"\n")?;
        }
    }
    out.write_all(b"SS = ")?;
    out.write_all(last)?;
    out.flush()
}

#[test]
fn two_texts_of_two_gigabytes_are_compared_in_little_memory() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = |name: &str| {
        let path = dir.path().join(name);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        path
    };
    let (ours, reference) = (pipe("ours"), pipe("reference"));
    let child = ngcc()
        .args(["--format", "json", "kat", "compare"])
        .args([&ours, &reference])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let writer = |path: std::path::PathBuf, last: &'static [u8]| {
        std::thread::spawn(move || {
            let pipe = std::fs::File::options().write(true).open(path).unwrap();
            write_two_gigabytes(pipe, last).unwrap();
        })
    };
    let writers = [writer(ours, b"00FF\n"), writer(reference, b"00FE\r\n")];
    let out = child.wait_with_output().unwrap();
    for writer in writers {
        writer.join().unwrap();
    }
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1), "{found}");
    assert_eq!(found["difference"]["record"], 9);
    assert_eq!(found["difference"]["offset"], 1);
    let peak = found["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak < 50 << 20, "{peak} bytes");
}
