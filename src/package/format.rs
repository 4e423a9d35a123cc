//! Which kind of archive a file is, by its first bytes, and who reads it.
//!
//! The ending of a name says what somebody meant; the bytes say what programs will do with it.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::assembly::{Assembly, Place};
use super::bytes::Section;
use super::external::{self, External};
use super::refusal::{Refusal, UnpackError, read_failure};
use super::{tar, zip};

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Zip,
    Tar,
    TarGz,
    TarXz,
    TarZst,
    SevenZip,
    Rar,
}

/// By magic bytes; tar has none, but a checksum.
fn of(start: &[u8]) -> Option<Format> {
    let magic: [(&[u8], Format); 8] = [
        (b"PK\x03\x04", Format::Zip),
        (b"PK\x05\x06", Format::Zip),
        (b"PK\x07\x08", Format::Zip),
        (b"\x1f\x8b", Format::TarGz),
        (b"\xfd7zXZ\0", Format::TarXz),
        (b"\x28\xb5\x2f\xfd", Format::TarZst),
        (b"7z\xbc\xaf\x27\x1c", Format::SevenZip),
        (b"Rar!\x1a\x07", Format::Rar),
    ];
    let known = magic.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, f)| *f);
    known.or_else(|| tar::is_header(start).then_some(Format::Tar))
}

/// Takes the entries of an archive of any kind. The path is for programs that read it by themselves.
pub(super) fn read(
    file: &File,
    path: &Path,
    at: &Place,
    into: &mut Assembly<'_>,
    external: &dyn External,
) -> Result<(), UnpackError> {
    let len = at.len.unwrap_or_default();
    let whole = || Section::new(file, 0, len);
    let mut start = Vec::new();
    whole().take(512).read_to_end(&mut start).map_err(|e| at.error(read_failure(&e)))?;
    match of(&start).ok_or_else(|| at.error(Refusal::UnknownFormat))? {
        Format::Zip => zip::read(file, at, into),
        Format::Tar => tar::read(&mut BufReader::new(whole()), at, into),
        Format::TarGz => {
            let packed = BufReader::with_capacity(64 * 1024, whole());
            compressed(&mut flate2::bufread::MultiGzDecoder::new(packed), at, into)
        }
        Format::TarXz => external::stream(&external::XZ, external, path, at, into, &mut compressed),
        Format::TarZst => {
            external::stream(&external::ZSTD, external, path, at, into, &mut compressed)
        }
        Format::SevenZip => external::extract(&external::SEVEN_ZIP, external, path, at, into),
        Format::Rar => external::extract(&external::RAR, external, path, at, into),
    }
}

/// A tar archive out of a decoder.
fn compressed(
    unpacked: &mut dyn Read,
    at: &Place,
    into: &mut Assembly<'_>,
) -> Result<(), UnpackError> {
    let limits = into.limits;
    let most = at.len.unwrap_or_default().saturating_mul(limits.ratio).max(limits.ratio_from);
    let mut counted = Counted { unpacked, left: most, ratio: limits.ratio };
    let mut start = Vec::new();
    (&mut counted).take(512).read_to_end(&mut start).map_err(|e| at.error(read_failure(&e)))?;
    if !tar::is_header(&start) {
        let why = if start.len() < 512 {
            Refusal::Truncated("its data ends early")
        } else {
            Refusal::NotATar
        };
        return Err(at.error(why));
    }
    tar::read(&mut start.chain(counted), at, into)
}

/// What comes out of a decoder, up to so many times the length of what went in.
struct Counted<'s> {
    unpacked: &'s mut dyn Read,
    left: u64,
    ratio: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.unpacked.read(buffer)?;
        let left = self.left.checked_sub(n as u64);
        self.left = left.ok_or_else(|| Refusal::Ratio(self.ratio).into_io())?;
        Ok(n)
    }
}
