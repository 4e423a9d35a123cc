//! Where two KAT texts first differ: record, field, offset and both sides.
//!
//! Reads both texts side by side in canonical form; holds a window of bytes, never a line.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read};

use super::canonical::{Canonical, Mode};

/// How many characters of each side are shown, from the first difference on.
const SHOWN: usize = 32;

/// How much of each text is held.
const CHUNK: usize = 256 * 1024;

/// The first difference between a generated text and its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of the record (the value of its `Count` line), if one has begun.
    pub record: Option<u64>,
    /// The field whose line differs.
    pub field: String,
    /// Offset in the field's value: bytes for a hex value, else characters.
    pub offset: u64,
    /// The generated text from there on.
    pub ours: String,
    /// The reference from there on.
    pub reference: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record, field, offset, ours, reference } = self;
        match record {
            Some(record) => write!(f, "record {record}, ")?,
            None => write!(f, "before the first record, ")?,
        }
        write!(f, "field {field}, byte {offset}: `{ours}` here, `{reference}` in the reference")
    }
}

/// Follows which record and field a byte belongs to.
#[derive(Debug, Default)]
struct Place {
    record: Option<u64>,
    key: Vec<u8>,
    in_value: bool,
    value: u64,
    count: Vec<u8>,
}

impl Place {
    /// Goes on over bytes that are equal in both texts. By line, not by byte: texts may be gigabytes.
    fn pass(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            let (body, complete) = match part.strip_suffix(b"\n") {
                Some(body) => (body, true),
                None => (part, false),
            };
            self.extend(body);
            if complete {
                if self.key_text().eq_ignore_ascii_case("Count") {
                    let text = String::from_utf8_lossy(&self.count).trim().to_owned();
                    self.record = text.parse().ok().or(self.record);
                }
                self.key.clear();
                self.count.clear();
                (self.in_value, self.value) = (false, 0);
            }
        }
    }

    fn extend(&mut self, mut body: &[u8]) {
        if !self.in_value {
            let end = body.iter().position(|b| *b == b'=');
            let key = &body[..end.unwrap_or(body.len())];
            self.key.extend_from_slice(&key[..key.len().min(80 - self.key.len().min(80))]);
            let Some(end) = end else { return };
            self.in_value = true;
            body = &body[end + 1..];
        }
        // The blank after `=` is no part of the value.
        if self.value == 0 {
            body = &body[body.iter().position(|b| *b != b' ').unwrap_or(body.len())..];
        }
        self.value += body.len() as u64;
        let room = 20 - self.count.len().min(20);
        self.count.extend_from_slice(&body[..body.len().min(room)]);
    }

    fn key_text(&self) -> String {
        String::from_utf8_lossy(&self.key).trim().to_owned()
    }
}

/// Compares two texts in canonical form; `None` when they are equal.
///
/// # Errors
/// Whatever reading either side fails with.
pub fn first_difference(
    ours: impl Read,
    reference: impl Read,
    mode: Mode,
    limit: Option<u64>,
) -> io::Result<Option<Difference>> {
    let mut ours = BufReader::with_capacity(CHUNK, Canonical::new(ours, mode, limit));
    let mut reference = BufReader::with_capacity(CHUNK, Canonical::new(reference, mode, limit));
    let mut place = Place::default();
    loop {
        let (a, b) = (ours.fill_buf()?, reference.fill_buf()?);
        let both = a.len().min(b.len());
        if a.is_empty() && b.is_empty() {
            return Ok(None);
        }
        let equal = if a[..both] == b[..both] {
            both
        } else {
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        };
        place.pass(&a[..equal]);
        ours.consume(equal);
        reference.consume(equal);
        if both > 0 && equal == both {
            continue;
        }
        let field = if place.in_value { place.key_text() } else { String::new() };
        let hexadecimal = !field.ends_with("_Len") && !field.eq_ignore_ascii_case("Count");
        return Ok(Some(Difference {
            record: place.record,
            offset: if hexadecimal { place.value / 2 } else { place.value },
            field: if field.is_empty() { "(line start)".to_owned() } else { field },
            ours: window(&mut ours)?,
            reference: window(&mut reference)?,
        }));
    }
}

/// What a side says from here on, to the end of the line at most.
fn window(rest: &mut impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    rest.take(SHOWN as u64).read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Ok("(end of text)".to_owned());
    }
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCE: &str =
        "Count = 0\nSeed = AA\nPK = 00112233\n\nCount = 1\nSeed = BB\nPK = 44556677\n\n";

    #[test]
    fn the_layout_of_nist_is_understood() {
        let text = "count = 0\nseed = AA\npk = 0011\n\ncount = 1\nseed = BB\npk = 4455\n";
        let ours = text.replace("4455", "4465");
        let found = first_difference(ours.as_bytes(), text.as_bytes(), Mode::Nist, None).unwrap();
        let expected = "record 1, field pk, byte 1: `65` here, `55` in the reference";
        assert_eq!(found.unwrap().to_string(), expected);
    }

    fn difference(ours: &str) -> Option<Difference> {
        first_difference(ours.as_bytes(), REFERENCE.as_bytes(), Mode::Strict, None).unwrap()
    }

    #[test]
    fn the_record_the_field_the_byte_and_both_sides_are_named() {
        let found = difference(&REFERENCE.replace("44556677", "44556A77")).unwrap();
        assert_eq!(found.record, Some(1));
        assert_eq!(found.field, "PK");
        assert_eq!(found.offset, 2);
        assert_eq!((found.ours.as_str(), found.reference.as_str()), ("A77", "677"));
        assert!(found.to_string().starts_with("record 1, field PK, byte 2: "));
    }

    #[test]
    fn equal_texts_with_other_line_ends_do_not_differ() {
        assert_eq!(difference(&REFERENCE.replace('\n', "\r\n")), None);
    }

    #[test]
    fn the_place_is_the_same_wherever_the_chunks_end() {
        let value = "AB".repeat(CHUNK);
        let text = format!("Count = 7\nPK = {value}\nSK = {value}00\n");
        for at in [0, 1, CHUNK - 30, CHUNK, 2 * CHUNK - 1] {
            let mut other = text.clone().into_bytes();
            let place = text.find("SK").unwrap() + 5 + at;
            other[place] = b'F';
            let found = first_difference(&*other, text.as_bytes(), Mode::Strict, None).unwrap();
            let found = found.unwrap();
            assert_eq!((found.record, found.field.as_str()), (Some(7), "SK"));
            assert_eq!(found.offset, at as u64 / 2);
        }
    }

    #[test]
    fn a_text_that_stops_early_differs_at_its_end() {
        let found = difference(&REFERENCE[..20]).unwrap();
        assert!(found.ours.contains("end of text"));
    }
}
