//! Where two KAT texts first differ: record, field, offset and both sides.
//!
//! Reads both texts side by side in canonical form; holds a window of bytes, never a line.

use std::fmt;
use std::io::{self, BufReader, Read};

use super::canonical::{Canonical, Mode};

/// How many characters of each side are shown, from the first difference on.
const SHOWN: usize = 32;

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
    fn step(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                if self.key_text().eq_ignore_ascii_case("Count") {
                    let text = String::from_utf8_lossy(&self.count).trim().to_owned();
                    self.record = text.parse().ok().or(self.record);
                }
                self.key.clear();
                self.count.clear();
                (self.in_value, self.value) = (false, 0);
            }
            b'=' if !self.in_value => self.in_value = true,
            byte if self.in_value => {
                // The blank after `=` is no part of the value.
                if self.value > 0 || byte != b' ' {
                    self.value += 1;
                }
                if self.count.len() < 20 {
                    self.count.push(byte);
                }
            }
            byte if self.key.len() < 80 => self.key.push(byte),
            _ => {}
        }
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
    let mut ours = BufReader::new(Canonical::new(ours, mode, limit)).bytes();
    let mut reference = BufReader::new(Canonical::new(reference, mode, limit)).bytes();
    let mut place = Place::default();
    loop {
        let (a, b) = (ours.next().transpose()?, reference.next().transpose()?);
        match (a, b) {
            (None, None) => return Ok(None),
            (Some(a), Some(b)) if a == b => place.step(a),
            (a, b) => {
                let field = if place.in_value { place.key_text() } else { String::new() };
                let ours = window(a, &mut ours)?;
                let reference = window(b, &mut reference)?;
                let hexadecimal = !field.ends_with("_Len") && !field.eq_ignore_ascii_case("Count");
                let offset = if hexadecimal { place.value / 2 } else { place.value };
                let field = if field.is_empty() { "(line start)".to_owned() } else { field };
                return Ok(Some(Difference {
                    record: place.record,
                    field,
                    offset,
                    ours,
                    reference,
                }));
            }
        }
    }
}

fn window(
    first: Option<u8>,
    rest: &mut impl Iterator<Item = io::Result<u8>>,
) -> io::Result<String> {
    let Some(first) = first else { return Ok("(end of text)".to_owned()) };
    let mut bytes = vec![first];
    while bytes.len() < SHOWN && bytes.last() != Some(&b'\n') {
        match rest.next().transpose()? {
            Some(byte) => bytes.push(byte),
            None => break,
        }
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
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
    fn a_text_that_stops_early_differs_at_its_end() {
        let found = difference(&REFERENCE[..20]).unwrap();
        assert!(found.ours.contains("end of text"));
    }
}
