//! Two known-answer texts: the streaming comparison against a plain one that holds everything in memory.
//!
//! The input is a byte for the mode and the record limit, then two texts between a line `%%%`.

#![no_main]

#[path = "pieces.rs"]
mod pieces;

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use ngcc::kat::{
    Canonical, Mode, Vectors, check_vectors, digest, first_difference, has_blank_lengths,
};

/// Gives a few bytes at a time, so that every state of the reader meets an end of its buffer.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.len().min(self.1).min(buffer.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

/// The rules of docs/FORMATS.md, line by line, for the two layouts with lines.
fn plain(text: &[u8], mode: Mode, limit: Option<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut records = 0;
    for line in text.split(|&byte| byte == b'\n') {
        let end = line.iter().rposition(|byte| !b"\r \t".contains(byte)).map_or(0, |at| at + 1);
        let line = &line[..end];
        if line.is_empty() {
            continue;
        }
        if line.starts_with(b"Count = ") {
            records += 1;
            if limit.is_some_and(|limit| records > limit) {
                break;
            }
        }
        let key = line.split(|&byte| byte == b'=').next().unwrap_or(line).trim_ascii_end();
        if mode == Mode::NoLen && key.ends_with(b"_Len") {
            continue;
        }
        out.extend(line);
        out.push(b'\n');
    }
    out
}

fn canonical(text: &[u8], step: usize, mode: Mode, limit: Option<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    Canonical::new(Drops(text, step), mode, limit)
        .read_to_end(&mut out)
        .expect("memory is readable");
    out
}

fuzz_target!(|input: &[u8]| {
    let Some((&how, texts)) = input.split_first() else { return };
    let mode = [Mode::Strict, Mode::NoLen, Mode::Nist][usize::from(how) % 3];
    let limit = Some(u64::from(how / 3 % 4)).filter(|&limit| limit > 0);
    let parts = pieces::pieces(texts);
    let (ours, other) = (parts[0], parts.get(1).copied().unwrap_or_default());

    let whole = canonical(ours, usize::MAX, mode, limit);
    assert_eq!(whole, canonical(ours, 1, mode, limit), "the pieces a text comes in do not matter");
    // A longer start of a line is no key; see `KEY_LIMIT`.
    if mode != Mode::Nist && ours.split(|&byte| byte == b'\n').all(|line| line.len() < 256) {
        assert_eq!(
            String::from_utf8_lossy(&whole),
            String::from_utf8_lossy(&plain(ours, mode, limit)),
            "the canonical form"
        );
    }
    if mode != Mode::Nist {
        assert_eq!(whole, canonical(&whole, 7, mode, limit), "the canonical form is its own");
    }

    let same = first_difference(ours, Drops(ours, 3), mode, limit).expect("memory is readable");
    assert!(same.is_none(), "a text differs from itself: {same:?}");
    let differs = first_difference(ours, other, mode, limit).expect("memory is readable").is_some();
    assert_eq!(differs, whole != canonical(other, usize::MAX, mode, limit));
    let _ = digest(ours, mode, limit).expect("memory is readable");
    let _ = has_blank_lengths(ours).expect("memory is readable");
    if let Ok(vectors) = serde_json::from_slice::<Vectors>(other) {
        for known in vectors.values() {
            let _ = check_vectors(ours, known).expect("memory is readable");
        }
    }
});
