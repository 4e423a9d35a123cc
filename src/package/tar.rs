//! Entries of a tar archive that comes as a stream.
//!
//! The `tar` crate reads the headers; names and links that GNU and POSIX keep in entries of their own are put together
//! here, because the crate reads them into memory whatever their length. A length that POSIX keeps there (for files
//! above 8 GiB, which no limit lets through) must be that of the header, or two programs would see two archives.

use std::io::{self, Read};

use tar::{Archive, Entry, Header};

use super::assembly::{Assembly, Place, Stated};
use super::names::RawName;
use super::refusal::{Refusal, UnpackError, read_failure};

// Types of entries that say something about the next one or all.
const GNU_LONG_NAME: u8 = b'L';
const GNU_LONG_LINK: u8 = b'K';
const POSIX_FIELDS: u8 = b'x';
const POSIX_GLOBAL_FIELDS: u8 = b'g';

/// Longest name, link target or list of POSIX fields, bytes.
const LONGEST_NOTE: u64 = 64 * 1024;

/// What may follow the end mark: zeros up to the size of a tape block.
const LONGEST_PADDING: u64 = 16 << 20;

/// Whether these first 512 bytes are the header of a tar entry: the checksum is right.
pub(super) fn is_header(block: &[u8]) -> bool {
    let Some(block) = block.get(..512) else { return false };
    let header = Header::from_byte_slice(block);
    let sum = |range: &[u8]| range.iter().map(|b| u32::from(*b)).sum::<u32>();
    let found = sum(&block[..148]) + 8 * 32 + sum(&block[156..]);
    block[0] != 0 && header.cksum().is_ok_and(|stated| stated == found)
}

/// Names and links for the next entry that stand before it.
#[derive(Default)]
struct Notes {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    any: bool,
}

/// Takes the entries of a tar stream and reads it to its end.
pub(super) fn read(
    stream: &mut dyn Read,
    at: &Place,
    into: &mut Assembly<'_>,
) -> Result<(), UnpackError> {
    let mut archive = Archive::new(Tail { stream, ended: false });
    let mut notes = Notes::default();
    let entries = archive.entries().map_err(|e| at.error(read_failure(&e)))?;
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(|e| at.error(broken(&e)))?;
        match entry.header().entry_type().as_byte() {
            GNU_LONG_NAME => {
                notes.path = Some(text(&mut entry).map_err(|why| at.error(why))?);
                notes.any = true;
            }
            GNU_LONG_LINK => {
                notes.target = Some(text(&mut entry).map_err(|why| at.error(why))?);
                notes.any = true;
            }
            POSIX_FIELDS => {
                fields(&mut entry, &mut notes).map_err(|why| at.error(why))?;
                notes.any = true;
            }
            // For all entries that follow; `git archive` leaves its commit here.
            POSIX_GLOBAL_FIELDS => {
                let mut global = Notes::default();
                fields(&mut entry, &mut global).map_err(|why| at.error(why))?;
                if global.path.is_some() || global.target.is_some() || global.size.is_some() {
                    return Err(at.error(Refusal::Unsupported("one name for all entries of a tar")));
                }
            }
            _ => take(&mut entry, std::mem::take(&mut notes), at, into)?,
        }
    }
    if notes.any {
        return Err(at.error(Refusal::Truncated("the entry after the last name is missing")));
    }
    end(archive.into_inner()).map_err(|why| at.error(why))
}

fn take<R: Read>(
    entry: &mut Entry<'_, R>,
    notes: Notes,
    at: &Place,
    into: &mut Assembly<'_>,
) -> Result<(), UnpackError> {
    let header = entry.header().clone();
    let path = notes.path.unwrap_or_else(|| header.path_bytes().into_owned());
    let name = RawName::plain(&path);
    let wrong = |why| at.entry_error(name, why);
    let len = header.entry_size().map_err(|e| wrong(read_failure(&e)))?;
    if notes.size.is_some_and(|size| size != len) {
        return Err(wrong(Refusal::HeadersDiffer("the length")));
    }
    let target = notes.target.or_else(|| header.link_name_bytes().map(|name| name.into_owned()));
    let target = || target.as_deref().ok_or_else(|| wrong(Refusal::LinkTarget));
    let empty = || if len == 0 { Ok(()) } else { Err(wrong(Refusal::Content)) };
    match header.entry_type().as_byte() {
        // Before POSIX a directory was a file with a slash.
        b'0' | b'\0' | b'7' if !path.ends_with(b"/") => {
            let mode = header.mode().unwrap_or_default();
            let stated = Stated { len: Some(len), packed: None, executable: mode & 0o111 != 0 };
            into.file(at, name, stated, entry)
        }
        b'0' | b'\0' | b'7' | b'5' => {
            empty()?;
            into.directory(at, name)
        }
        b'2' => {
            empty()?;
            into.link(at, name, target()?)
        }
        b'1' => {
            empty()?;
            into.hard_link(at, name, target()?)
        }
        b'3' | b'4' => Err(wrong(Refusal::Special("device"))),
        b'6' => Err(wrong(Refusal::Special("named pipe"))),
        b'S' => Err(wrong(Refusal::Unsupported("a sparse file in a tar"))),
        _ => Err(wrong(Refusal::Special("thing of an unknown kind"))),
    }
}

/// A name kept in an entry of its own, without the NUL at its end.
fn text<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, Refusal> {
    let mut bytes = note(entry)?;
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(bytes)
}

/// The fields of a POSIX header that matter here.
fn fields<R: Read>(entry: &mut Entry<'_, R>, notes: &mut Notes) -> Result<(), Refusal> {
    let bytes = note(entry)?;
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let bad = || Refusal::Corrupt("a POSIX header of the tar makes no sense".to_owned());
        let (key, value, after) = field(rest).ok_or_else(bad)?;
        rest = after;
        match key {
            b"path" => notes.path = Some(value.to_vec()),
            b"linkpath" => notes.target = Some(value.to_vec()),
            b"size" => notes.size = Some(number(value).ok_or_else(bad)?),
            key if key.starts_with(b"GNU.sparse.") => {
                return Err(Refusal::Unsupported("a sparse file in a tar"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// One field, `<length> <key>=<value>` and a newline, and what follows. By its length: values hold newlines, too,
/// which the crate's own reader takes for ends.
fn field(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let blank = bytes.iter().position(|b| *b == b' ')?;
    let len = usize::try_from(number(&bytes[..blank])?).ok()?;
    let body = bytes.get(blank + 1..len)?.strip_suffix(b"\n")?;
    let equals = body.iter().position(|b| *b == b'=')?;
    Some((&body[..equals], &body[equals + 1..], &bytes[len..]))
}

fn number(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

fn note<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, Refusal> {
    let len = entry.header().entry_size().map_err(|e| read_failure(&e))?;
    if len > LONGEST_NOTE {
        return Err(Refusal::Corrupt(format!("a name or header of {len} bytes")));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(|e| read_failure(&e))?;
    if bytes.len() as u64 != len {
        return Err(Refusal::Truncated("its data ends early"));
    }
    Ok(bytes)
}

/// The crate has stopped at a block of zeros or at the end of the stream. Only the former is an end.
fn end(mut tail: Tail<'_>) -> Result<(), Refusal> {
    if tail.ended {
        return Err(Refusal::Truncated("the end mark of the tar is missing"));
    }
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut left = LONGEST_PADDING;
    loop {
        let n = tail.read(&mut buffer).map_err(|e| read_failure(&e))?;
        if n == 0 {
            return Ok(());
        }
        left = left.saturating_sub(n as u64);
        if left == 0 || buffer[..n].iter().any(|b| *b != 0) {
            return Err(Refusal::Corrupt("there is more after the end mark of the tar".into()));
        }
    }
}

/// What the crate says when the stream ends between two blocks is not of the kind for it.
fn broken(error: &io::Error) -> Refusal {
    let refusal = read_failure(error);
    let early = ["unexpected EOF", "failed to read entire block"];
    if let Refusal::Corrupt(text) = &refusal
        && early.iter().any(|early| text.contains(early))
    {
        return Refusal::Truncated("its data ends early");
    }
    refusal
}

/// A stream that remembers whether its end was seen.
struct Tail<'s> {
    stream: &'s mut dyn Read,
    ended: bool,
}

impl Read for Tail<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = loop {
            match self.stream.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.ended |= n == 0 && !buffer.is_empty();
        Ok(n)
    }
}
