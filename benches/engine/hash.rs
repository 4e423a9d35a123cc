//! Hashing one big file that is in memory: the library's own way against `b3sum`.
//!
//! The library's way runs inside this process, so its wall time has no start of a program in it; that is a millisecond
//! in its favour and said in the row.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use ngcc::digest::Digest;
use nix::sys::resource::UsageWho;

use crate::contest::{Contender, Row, contest};
use crate::process::{Invocation, Sample, cpu, find};

/// Measures; a missing `b3sum` is a row.
pub(crate) fn measure(dir: &Path, mib: u64, runs: usize) -> Result<Vec<Row>, String> {
    let file = dir.join(format!("random-{mib}"));
    if !file.is_file() {
        fill(&file, mib).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    }
    let graph = format!("{mib} MiB");
    let path = file.clone();
    let ours = move || {
        let before = cpu(UsageWho::RUSAGE_SELF);
        let begun = Instant::now();
        let (digest, _) = Digest::of_file(&path).map_err(|e| e.to_string())?;
        let wall = begun.elapsed();
        let cpu = cpu(UsageWho::RUSAGE_SELF).saturating_sub(before);
        let out = format!("{digest}");
        Ok(Sample { wall, cpu, out, err: String::new(), fine: true })
    };
    let expected = ours()?.out;
    let mut contenders = vec![Contender {
        who: "ngcc".to_owned(),
        prepare: Box::new(|| Ok(())),
        timed: Box::new(ours),
        check: Box::new(|_| Ok(())),
        memory: None,
    }];
    let name = file.to_str().unwrap_or_default();
    let b3sum = find("b3sum");
    if let Some(program) = &b3sum {
        for (who, threads) in [("b3sum", None), ("b3sum, 1 thread", Some("--num-threads=1"))] {
            let args: Vec<&str> = threads.into_iter().chain([name]).collect();
            let expected = expected.clone();
            let same = move |sample: &Sample| {
                let same = sample.out.starts_with(&expected);
                if same { Ok(()) } else { Err("another digest".to_owned()) }
            };
            contenders
                .push(Contender::new(who, &Invocation::new(program, &args, dir)).checked(same));
        }
    }
    let mut rows = contest("hash", &graph, contenders, runs);
    for row in &mut rows {
        if let Some(wall) = row.wall() {
            #[expect(clippy::cast_precision_loss, reason = "a display of a rate")]
            let rate = (mib << 20) as f64 / wall.as_secs_f64() / 1e9;
            let inside = if row.who == "ngcc" { ", inside this process" } else { "" };
            row.note = Some(format!("{rate:.2} GB/s{inside}"));
        }
    }
    if b3sum.is_none() {
        let why = "not installed: b3sum (cargo install b3sum)".to_owned();
        rows.push(Row::missing("hash", &graph, "b3sum", why));
    }
    Ok(rows)
}

/// Bytes that no file system stores in less.
fn fill(path: &Path, mib: u64) -> std::io::Result<()> {
    let mut bytes = blake3::Hasher::new().update(b"engine benchmark").finalize_xof();
    let mut piece = vec![0; 1 << 20];
    let mut out = BufWriter::new(File::create(path)?);
    for _ in 0..mib {
        bytes.fill(&mut piece);
        out.write_all(&piece)?;
    }
    out.flush()
}
