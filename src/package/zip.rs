//! Members of a ZIP, each checked against both of its headers and unpacked as a stream.
//!
//! All headers are looked at before the first byte is unpacked. Stored and deflated data is read; other methods,
//! encryption and archives in several parts are refused.

use std::fs::File;
use std::io::{self, BufReader, Read};

use super::assembly::{Assembly, Place, Stated};
use super::bytes::{Section, u16_at, u32_at};
use super::names::RawName;
use super::refusal::{Refusal, UnpackError, read_failure};
use super::zip_directory::{self, ZipEntry, corrupt, widen};

const LOCAL: u32 = 0x0403_4b50;
const LOCAL_LEN: usize = 30;

/// Bits of the flags: encrypted, sizes after the data, patch data, strongly encrypted, headers masked.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const SIZES_BEHIND: u16 = 1 << 3;
const PATCH: u16 = 1 << 5;

/// Longest target of a link; the system's own limit.
const LONGEST_TARGET: u64 = 4096;

/// Takes the entries of a ZIP.
pub(super) fn read(file: &File, at: &Place, into: &mut Assembly<'_>) -> Result<(), UnpackError> {
    let file_len = at.len.unwrap_or_default();
    let (entries, end) =
        zip_directory::read(file, file_len, into.limits).map_err(|why| at.error(why))?;
    let mut extents = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        let data_at =
            check_local(file, entry, end).map_err(|why| at.entry_error(entry.raw_name(), why))?;
        extents.push((entry.offset, data_at, number));
    }
    let data_at: Vec<u64> = extents.iter().map(|(_, data_at, _)| *data_at).collect();
    extents.sort_unstable();
    for pair in extents.windows(2) {
        let [(_, data_at, one), (next, _, other)] = [pair[0], pair[1]];
        let (one, other) = (&entries[one], &entries[other]);
        // No sum overflows: `check_local` found the data before the directory.
        if data_at + one.packed > next {
            let why = Refusal::Overlap(other.raw_name().shown());
            return Err(at.entry_error(one.raw_name(), why));
        }
    }
    for (entry, data_at) in entries.iter().zip(data_at) {
        take(file, entry, data_at, at, into)?;
    }
    Ok(())
}

impl ZipEntry {
    fn raw_name(&self) -> RawName<'_> {
        RawName { bytes: &self.name, unicode: self.unicode.as_deref() }
    }
}

/// Compares the local header with the directory; tells where the data begins.
fn check_local(file: &File, entry: &ZipEntry, end: u64) -> Result<u64, Refusal> {
    if entry.flags & ENCRYPTED != 0 || entry.method == 99 {
        return Err(Refusal::Encrypted);
    }
    if entry.flags & PATCH != 0 {
        return Err(Refusal::Unsupported("patch data in a ZIP"));
    }
    if !matches!(entry.method, 0 | 8) {
        return Err(Refusal::Method(entry.method));
    }
    let mut fixed = [0_u8; LOCAL_LEN];
    let outside = || corrupt("its data is not before the central directory");
    let header_end = entry.offset.checked_add(LOCAL_LEN as u64).ok_or_else(outside)?;
    if header_end > end {
        return Err(outside());
    }
    let mut reader = Section::new(file, entry.offset, end - entry.offset);
    let mut fill = |buffer: &mut [u8]| reader.read_exact(buffer).map_err(|e| read_failure(&e));
    fill(&mut fixed)?;
    if u32_at(&fixed, 0) != LOCAL {
        return Err(corrupt("it has no local header where the central directory says"));
    }
    let mut name = vec![0; u16_at(&fixed, 26).into()];
    let mut extra = vec![0; u16_at(&fixed, 28).into()];
    fill(&mut name)?;
    fill(&mut extra)?;
    if name != entry.name {
        return Err(Refusal::HeadersDiffer("the name"));
    }
    let flags = u16_at(&fixed, 6);
    if flags & ENCRYPTED != 0 {
        return Err(Refusal::Encrypted);
    }
    if u16_at(&fixed, 8) != entry.method {
        return Err(Refusal::HeadersDiffer("the compression method"));
    }
    if flags & SIZES_BEHIND == 0 {
        let mut len = u64::from(u32_at(&fixed, 22));
        let mut packed = u64::from(u32_at(&fixed, 18));
        widen([&mut len, &mut packed], &extra)?;
        if (len, packed) != (entry.len, entry.packed) {
            return Err(Refusal::HeadersDiffer("the length"));
        }
        if u32_at(&fixed, 14) != entry.crc {
            return Err(Refusal::HeadersDiffer("the checksum"));
        }
    }
    let data_at = header_end + name.len() as u64 + extra.len() as u64;
    if data_at.checked_add(entry.packed).is_none_or(|data_end| data_end > end) {
        return Err(outside());
    }
    Ok(data_at)
}

/// What an entry is, by its mode and its name.
enum Kind {
    File,
    Directory,
    Link,
}

fn kind(entry: &ZipEntry) -> Result<Kind, Refusal> {
    let slash = entry.raw_name().bytes.ends_with(b"/")
        || entry.unicode.as_ref().is_some_and(|name| name.ends_with('/'));
    match entry.mode.unwrap_or_default() & 0o170_000 {
        0o120_000 => Ok(Kind::Link),
        0o040_000 => Ok(Kind::Directory),
        0 | 0o100_000 if slash => Ok(Kind::Directory),
        0 | 0o100_000 => Ok(Kind::File),
        0o010_000 => Err(Refusal::Special("named pipe")),
        0o020_000 | 0o060_000 => Err(Refusal::Special("device")),
        0o140_000 => Err(Refusal::Special("socket")),
        _ => Err(Refusal::Special("thing of an unknown kind")),
    }
}

fn take(
    file: &File,
    entry: &ZipEntry,
    data_at: u64,
    at: &Place,
    into: &mut Assembly<'_>,
) -> Result<(), UnpackError> {
    let name = entry.raw_name();
    let wrong = |why| at.entry_error(name, why);
    let packed = Section::new(file, data_at, entry.packed);
    let mut data = Checked::new(packed, entry);
    match kind(entry).map_err(wrong)? {
        Kind::Directory if entry.len != 0 => Err(wrong(Refusal::Content)),
        Kind::Directory => into.directory(at, name),
        Kind::Link => {
            let mut target = Vec::new();
            (&mut data)
                .take(LONGEST_TARGET + 1)
                .read_to_end(&mut target)
                .map_err(|e| wrong(read_failure(&e)))?;
            if target.len() as u64 != entry.len || entry.len > LONGEST_TARGET {
                return Err(wrong(Refusal::LinkTarget));
            }
            into.link(at, name, &target)
        }
        Kind::File => {
            let stated = Stated {
                len: Some(entry.len),
                packed: Some(entry.packed),
                executable: entry.mode.unwrap_or_default() & 0o111 != 0,
            };
            into.file(at, name, stated, &mut data)
        }
    }
}

/// The data of an entry; compares its CRC-32 at the end.
struct Checked<'f> {
    data: Data<'f>,
    crc: flate2::Crc,
    stated: u32,
    stated_len: u64,
    len: u64,
}

enum Data<'f> {
    Stored(BufReader<Section<'f>>),
    Deflated(Box<flate2::bufread::DeflateDecoder<BufReader<Section<'f>>>>),
}

impl<'f> Checked<'f> {
    fn new(packed: Section<'f>, entry: &ZipEntry) -> Self {
        let packed = BufReader::with_capacity(64 * 1024, packed);
        let data = match entry.method {
            0 => Data::Stored(packed),
            _ => Data::Deflated(Box::new(flate2::bufread::DeflateDecoder::new(packed))),
        };
        let crc = flate2::Crc::new();
        Self { data, crc, stated: entry.crc, stated_len: entry.len, len: 0 }
    }
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = match &mut self.data {
            Data::Stored(data) => data.read(buffer)?,
            Data::Deflated(data) => data.read(buffer)?,
        };
        self.crc.update(&buffer[..n]);
        self.len += n as u64;
        // With a wrong length the checksum is wrong, too; the length says more.
        if n == 0
            && !buffer.is_empty()
            && self.len == self.stated_len
            && self.crc.sum() != self.stated
        {
            return Err(Refusal::Checksum.into_io());
        }
        Ok(n)
    }
}
