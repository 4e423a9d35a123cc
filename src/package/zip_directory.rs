//! The central directory of a ZIP, read and checked before anything is unpacked.
//!
//! Read here and not by the `zip` crate, because what matters is what crates forgive: a second end record, entries of
//! one name, names that differ between the two headers, data that several entries share. A ZIP must be exactly its
//! entries, its central directory and its end record, in this order, so that every program finds the same files in
//! it. Sources: APPNOTE.TXT 6.3.10; D. Fifield, "A better zip bomb" (WOOT 2019), for overlaps.

use std::fs::File;
use std::io::{BufReader, Read as _};

use super::bytes::{Section, u16_at, u32_at, u64_at};
use super::limits::Limits;
use super::refusal::{Refusal, read_failure};

const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const END_64_LOCATOR: u32 = 0x0706_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END_LEN: usize = 22;
const END_64_LEN: u64 = 56;
const LOCATOR_LEN: u64 = 20;
/// Signature and fixed fields of an entry of the central directory.
const CENTRAL_LEN: usize = 46;

const TRUNCATED: Refusal = Refusal::Truncated("the end record of the ZIP is missing");

/// One entry as the central directory tells it.
#[derive(Debug, Clone)]
pub(super) struct ZipEntry {
    pub(super) name: Vec<u8>,
    /// From Info-ZIP's extra field 0x7075.
    pub(super) unicode: Option<String>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) len: u64,
    /// Unix file mode, if it was made on a Unix.
    pub(super) mode: Option<u32>,
    /// Where its local header is.
    pub(super) offset: u64,
}

/// Where the central directory is, and how many entries it is said to have.
struct Extent {
    at: u64,
    len: u64,
    /// Without the ZIP64 record only the low 16 bits of the number are known.
    count: u64,
    count_is_exact: bool,
}

/// The entries, in the order of the directory, and where it begins.
pub(super) fn read(
    file: &File,
    file_len: u64,
    limits: &Limits,
) -> Result<(Vec<ZipEntry>, u64), Refusal> {
    let extent = find(file, file_len)?;
    let mut reader = BufReader::new(Section::new(file, extent.at, extent.len));
    let mut left = extent.len;
    let mut entries = Vec::new();
    while left > 0 {
        if entries.len() as u64 >= limits.members {
            return Err(Refusal::Members(limits.members));
        }
        let mut fixed = [0_u8; CENTRAL_LEN];
        let mut fill = |buffer: &mut [u8]| -> Result<(), Refusal> {
            left = left
                .checked_sub(buffer.len() as u64)
                .ok_or_else(|| corrupt("an entry of the central directory is cut off"))?;
            reader.read_exact(buffer).map_err(|e| read_failure(&e))
        };
        fill(&mut fixed)?;
        if u32_at(&fixed, 0) != CENTRAL {
            return Err(corrupt("an entry of the central directory has no signature"));
        }
        let [name_len, extra_len, comment_len] = [28, 30, 32].map(|at| u16_at(&fixed, at));
        let mut name = vec![0; name_len.into()];
        let mut extra = vec![0; extra_len.into()];
        fill(&mut name)?;
        fill(&mut extra)?;
        fill(&mut vec![0; comment_len.into()])?;
        if name.len() > 4 * limits.path_bytes {
            return Err(Refusal::LongPath(limits.path_bytes));
        }
        entries.push(entry(&fixed, name, &extra)?);
    }
    let count = entries.len() as u64;
    let agrees =
        if extent.count_is_exact { count == extent.count } else { count % 65_536 == extent.count };
    if !agrees {
        return Err(corrupt("the central directory has another number of entries than stated"));
    }
    Ok((entries, extent.at))
}

/// Finds the one end record, which must be the end of the file, and what it says about the directory before it.
fn find(file: &File, file_len: u64) -> Result<Extent, Refusal> {
    let tail_len = file_len.min(END_LEN as u64 + u64::from(u16::MAX));
    let tail_at = file_len - tail_len;
    let mut tail = Vec::new();
    Section::new(file, tail_at, tail_len).read_to_end(&mut tail).map_err(|e| read_failure(&e))?;
    let is_end = |at: &usize| {
        tail.len() - at >= END_LEN
            && u32_at(&tail, *at) == END
            && at + END_LEN + usize::from(u16_at(&tail, at + 20)) == tail.len()
    };
    let mut ends = (0..tail.len()).filter(is_end);
    let at = ends.next().ok_or(TRUNCATED)?;
    if ends.next().is_some() {
        return Err(corrupt("it has two end records"));
    }
    let end = &tail[at..];
    let end_at = tail_at + at as u64;
    if [4, 6].iter().any(|at| !matches!(u16_at(end, *at), 0 | u16::MAX))
        || u16_at(end, 8) != u16_at(end, 10)
    {
        return Err(Refusal::Unsupported("a ZIP in several parts"));
    }
    let small = Extent {
        at: u32_at(end, 16).into(),
        len: u32_at(end, 12).into(),
        count: u16_at(end, 10).into(),
        count_is_exact: false,
    };
    let (extent, end_at) = match big(file, end_at)? {
        None => (small, end_at),
        Some((big, big_at)) => {
            let same = |small: u64, big: u64, none: u64| small == none || small == big;
            let none = u64::from(u32::MAX);
            if !same(small.at, big.at, none)
                || !same(small.len, big.len, none)
                || !same(small.count, big.count, u16::MAX.into())
            {
                return Err(corrupt("its two end records differ"));
            }
            (big, big_at)
        }
    };
    // Anything between or before would be bytes that some programs take for entries.
    if extent.at.checked_add(extent.len) != Some(end_at) {
        return Err(corrupt("the central directory is not where the end record says"));
    }
    Ok(extent)
}

/// The ZIP64 end record before the end record at `end_at`, and where it begins.
fn big(file: &File, end_at: u64) -> Result<Option<(Extent, u64)>, Refusal> {
    let Some(locator_at) = end_at.checked_sub(LOCATOR_LEN) else { return Ok(None) };
    let locator = exactly::<20>(file, locator_at)?;
    if u32_at(&locator, 0) != END_64_LOCATOR {
        return Ok(None);
    }
    let at = u64_at(&locator, 8);
    if at.checked_add(END_64_LEN) != Some(locator_at) {
        return Err(corrupt("the ZIP64 end record is not where it should be"));
    }
    let end = exactly::<56>(file, at)?;
    if u32_at(&end, 0) != END_64 || u32_at(&end, 16) != 0 || u32_at(&end, 20) != 0 {
        return Err(corrupt("the ZIP64 end record makes no sense"));
    }
    let extent = Extent {
        at: u64_at(&end, 48),
        len: u64_at(&end, 40),
        count: u64_at(&end, 32),
        count_is_exact: true,
    };
    Ok(Some((extent, at)))
}

fn entry(fixed: &[u8; CENTRAL_LEN], name: Vec<u8>, extra: &[u8]) -> Result<ZipEntry, Refusal> {
    let mut packed = u64::from(u32_at(fixed, 20));
    let mut len = u64::from(u32_at(fixed, 24));
    let mut offset = u64::from(u32_at(fixed, 42));
    if !matches!(u16_at(fixed, 34), 0 | u16::MAX) {
        return Err(Refusal::Unsupported("a ZIP in several parts"));
    }
    widen([&mut len, &mut packed, &mut offset], extra)?;
    // 3 is Unix, 19 macOS; elsewhere the upper half means nothing.
    let mode = matches!(fixed[5], 3 | 19).then(|| u32_at(fixed, 38) >> 16);
    Ok(ZipEntry {
        unicode: unicode_name(&name, extra),
        name,
        flags: u16_at(fixed, 8),
        method: u16_at(fixed, 10),
        crc: u32_at(fixed, 16),
        packed,
        len,
        mode,
        offset,
    })
}

/// Puts 64-bit lengths in place of those that do not fit in 32 bits; ZIP64 holds these and no others, in this order.
pub(super) fn widen<const N: usize>(fields: [&mut u64; N], extra: &[u8]) -> Result<(), Refusal> {
    let mut wide = extra_field(extra, 0x0001).unwrap_or_default().chunks_exact(8);
    for field in fields {
        if *field == u64::from(u32::MAX) {
            let bytes = wide.next().ok_or_else(|| corrupt("a ZIP64 length is missing"))?;
            *field = u64_at(bytes, 0);
        }
    }
    Ok(())
}

/// The body of an extra field. What is not well formed ends the list: some programs pad it.
fn extra_field(mut extra: &[u8], id: u16) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let end = 4 + usize::from(u16_at(extra, 2));
        let body = extra.get(4..end)?;
        if u16_at(extra, 0) == id {
            return Some(body);
        }
        extra = &extra[end..];
    }
    None
}

/// Info-ZIP's name in UTF-8. It counts only while it belongs to the name beside it.
fn unicode_name(name: &[u8], extra: &[u8]) -> Option<String> {
    let body = extra_field(extra, 0x7075)?;
    let mut crc = flate2::Crc::new();
    crc.update(name);
    if body.len() < 5 || body[0] != 1 || u32_at(body, 1) != crc.sum() {
        return None;
    }
    String::from_utf8(body[5..].to_vec()).ok()
}

fn exactly<const N: usize>(file: &File, at: u64) -> Result<[u8; N], Refusal> {
    let mut buffer = [0; N];
    Section::new(file, at, N as u64).read_exact(&mut buffer).map_err(|e| read_failure(&e))?;
    Ok(buffer)
}

pub(super) fn corrupt(why: &str) -> Refusal {
    Refusal::Corrupt(why.to_owned())
}
