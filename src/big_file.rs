//! The BLAKE3 hash of a big file by several threads, each reading a part of it.
//!
//! BLAKE3 is a tree: the hash of an aligned power-of-two piece does not depend on the others, so threads read and hash
//! pieces in any order and the results are merged at the end (BLAKE3 paper, section 2.1; `blake3::hazmat`). The file is
//! read and not mapped: whoever cuts a mapped file short meanwhile would end this process by a signal. Knows nothing
//! of what the file is for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use blake3::hazmat::{self, ChainingValue, HasherExt as _, Mode};

/// Length of a piece: a power of two. Several for each thread, so that a slow one is not waited for long.
const PIECE: u64 = 8 << 20;
/// Read at a time: what stays in a core's cache until it is hashed.
const BUFFER: usize = 512 << 10;

/// Files from this size on are worth the threads.
pub const BIG: u64 = 2 * PIECE;

/// Hashes `len` bytes from the start of a file; `None` when it turns out to be shorter.
///
/// # Errors
/// Whatever reading fails with.
///
/// # Panics
/// With fewer bytes than [`BIG`], which is no tree of several pieces.
pub fn hash(file: &File, len: u64) -> io::Result<Option<blake3::Hash>> {
    assert!(len >= BIG, "small files are hashed in one go");
    let count = len.div_ceil(PIECE);
    let next = AtomicU64::new(0);
    let work = || -> io::Result<Option<Vec<(u64, ChainingValue)>>> {
        let mut buffer = vec![0; BUFFER];
        let mut done = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                return Ok(Some(done));
            }
            let start = piece * PIECE;
            match hash_piece(file, start, PIECE.min(len - start), &mut buffer)? {
                Some(value) => done.push((piece, value)),
                None => return Ok(None),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let parts: Vec<io::Result<Option<Vec<_>>>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut parts = vec![work()];
        parts.extend(others.into_iter().map(|t| t.join().expect("hashing does not panic")));
        parts
    });
    let mut values = Vec::new();
    for part in parts {
        match part? {
            Some(part) => values.extend(part),
            None => return Ok(None),
        }
    }
    values.sort_unstable_by_key(|(piece, _)| *piece);
    let values: Vec<ChainingValue> = values.into_iter().map(|(_, value)| value).collect();
    let (left, right) = values.split_at(left_pieces(values.len()));
    Ok(Some(hazmat::merge_subtrees_root(&merge(left), &merge(right), Mode::Hash)))
}

fn hash_piece(
    file: &File,
    start: u64,
    len: u64,
    buffer: &mut [u8],
) -> io::Result<Option<ChainingValue>> {
    let mut hasher = blake3::Hasher::new();
    hasher.set_input_offset(start);
    let mut at = 0;
    while at < len {
        let wanted = usize::try_from(len - at).unwrap_or(usize::MAX).min(buffer.len());
        match file.read_at(&mut buffer[..wanted], start + at) {
            Ok(0) => return Ok(None),
            Ok(n) => {
                hasher.update(&buffer[..n]);
                at += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(Some(hasher.finalize_non_root()))
}

/// Pieces in the left half of a tree: the largest power of two below their number.
fn left_pieces(count: usize) -> usize {
    count.div_ceil(2).next_power_of_two()
}

fn merge(values: &[ChainingValue]) -> ChainingValue {
    match values {
        [one] => *one,
        _ => {
            let (left, right) = values.split_at(left_pieces(values.len()));
            hazmat::merge_subtrees_non_root(&merge(left), &merge(right), Mode::Hash)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn pieces_give_the_hash_of_the_whole_at_every_number_of_them() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> =
            (0..5 * PIECE / 4 + 70).flat_map(|i: u64| i.to_le_bytes()[..4].to_vec()).collect();
        file.write_all(&bytes).unwrap();
        for len in [BIG, BIG + 1, 3 * PIECE, 3 * PIECE + 1025, 4 * PIECE, 5 * PIECE + 280] {
            let part = &bytes[..usize::try_from(len).unwrap()];
            assert_eq!(hash(&file, len).unwrap(), Some(blake3::hash(part)), "{len}");
        }
        assert_eq!(hash(&file, 6 * PIECE).unwrap(), None, "it is shorter");
    }
}
