//! A child's output on its way into a log file that cannot grow without bound.
//!
//! Keeps the beginning (where a compiler says what is wrong) and the last few KiB (where a crash says so), drops what
//! lies between and writes how much that was. It keeps reading after the limit: a chatty child is slowed by nothing.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// The most that is kept from the end of a truncated log, bytes.
const TAIL_BYTES: u64 = 4096;

/// Copies `from` to its end into a new file at `path` of at most `limit` bytes plus one line of mark. Returns whether
/// anything was dropped.
///
/// # Errors
/// When the file cannot be made or written. The stream is read to its end all the same, so that the child never
/// blocks on a full pipe.
pub fn copy(mut from: impl Read, path: &Path, limit: u64) -> io::Result<bool> {
    let copied = copy_bounded(&mut from, path, limit);
    if copied.is_err() {
        io::copy(&mut from, &mut io::sink())?;
    }
    copied
}

fn copy_bounded(from: &mut impl Read, path: &Path, limit: u64) -> io::Result<bool> {
    let mut file = File::create(path)?;
    let tail_limit = TAIL_BYTES.min(limit / 4);
    let mut head_left = limit - tail_limit;
    let tail_limit = usize::try_from(tail_limit).unwrap_or(usize::MAX);
    let mut tail: VecDeque<u8> = VecDeque::new();
    let mut dropped = 0_u64;
    let mut buffer = vec![0_u8; 32 * 1024];
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let head = usize::try_from(head_left).unwrap_or(usize::MAX).min(n);
        file.write_all(&buffer[..head])?;
        head_left -= head as u64;
        tail.extend(&buffer[head..n]);
        let excess = tail.len().saturating_sub(tail_limit);
        tail.drain(..excess);
        dropped += excess as u64;
    }
    if dropped > 0 {
        write!(file, "\n[ngcc: log truncated, {dropped} bytes left out here]\n")?;
    }
    let (first, second) = tail.as_slices();
    file.write_all(first)?;
    file.write_all(second)?;
    Ok(dropped > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(text: &[u8], limit: u64) -> (Vec<u8>, bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let truncated = copy(text, &path, limit).unwrap();
        (std::fs::read(path).unwrap(), truncated)
    }

    #[test]
    fn a_short_log_is_kept_as_it_is() {
        assert_eq!(logged(b"hello", 100), (b"hello".to_vec(), false));
        assert_eq!(logged(b"12345678", 8), (b"12345678".to_vec(), false));
    }

    #[test]
    fn a_long_log_keeps_both_ends_and_says_how_much_is_missing() {
        let (log, truncated) = logged(b"abcdefghijkl", 8);
        assert!(truncated);
        assert_eq!(log, b"abcdef\n[ngcc: log truncated, 4 bytes left out here]\nkl");
    }

    #[test]
    fn a_limit_of_zero_keeps_the_mark_only() {
        assert_eq!(logged(b"abc", 0).0, b"\n[ngcc: log truncated, 3 bytes left out here]\n");
    }
}
