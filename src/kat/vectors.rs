//! Per-record digests of a reference text: enough to name the record and field of a difference when the text itself
//! is not at hand.
//!
//! `kems/<id>/kat.vectors.json` holds, per instance and record, the SHA-256 of each value with its first and last
//! bytes. Knows nothing of manifests.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use sha2::{Digest as _, Sha256};

use super::canonical::{Canonical, Mode, hex};

/// Per instance: the records in order, each a map from field (`pk`, `sk`, `ct`, `ss`, `seed`) to what is known of it.
pub type Vectors = BTreeMap<String, Vec<BTreeMap<String, Known>>>;

/// What is known of one value.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// SHA-256 of the bytes, lower-case hex.
    pub sha256: String,
    /// First bytes, lower-case hex (all of them for a short value).
    pub head: String,
}

/// Compares a generated text with the vectors of one instance; the first difference in words, `None` when all agree.
///
/// # Errors
/// Whatever reading the text fails with.
pub fn check(text: impl Read, known: &[BTreeMap<String, Known>]) -> io::Result<Option<String>> {
    let mut reader = io::BufReader::new(Canonical::new(text, Mode::Strict, None));
    let mut record: Option<usize> = None;
    loop {
        let mut key = Vec::new();
        if (&mut reader).take(256).read_until(b'=', &mut key)? == 0 {
            return Ok(None);
        }
        let key = String::from_utf8_lossy(&key).trim_end_matches('=').trim().to_owned();
        if key.eq_ignore_ascii_case("Count") {
            record = Some(record.map_or(0, |r| r + 1));
        }
        let value = read_value(&mut reader)?;
        let Some(expected) =
            record.and_then(|r| known.get(r)).and_then(|r| r.get(&key.to_lowercase()))
        else {
            continue;
        };
        if value.sha256 != expected.sha256 {
            let record = record.unwrap_or(0);
            let n = value.head.len().min(expected.head.len());
            let at = (0..n).find(|i| value.head.as_bytes()[*i] != expected.head.as_bytes()[*i]);
            let sides = match at {
                Some(at) => {
                    let from = at / 2 * 2;
                    let show = |head: &str| head.get(from..).unwrap_or("").to_uppercase();
                    format!(
                        "byte {}: `{}` here, `{}` in the reference",
                        at / 2,
                        show(&value.head),
                        show(&expected.head)
                    )
                }
                None => format!(
                    "after byte {}: SHA-256 {} here, {} in the reference",
                    n / 2,
                    &value.sha256[..16],
                    expected.sha256.get(..16).unwrap_or(&expected.sha256)
                ),
            };
            return Ok(Some(format!("record {record}, field {key}, {sides}")));
        }
    }
}

struct Value {
    sha256: String,
    head: String,
}

/// Digests one hex value up to its line end without holding it.
fn read_value(reader: &mut impl BufRead) -> io::Result<Value> {
    let mut hasher = Sha256::new();
    let mut head = Vec::new();
    let mut high: Option<u8> = None;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let end = chunk.iter().position(|b| *b == b'\n');
        let body = &chunk[..end.unwrap_or(chunk.len())];
        let mut bytes = Vec::with_capacity(body.len() / 2 + 1);
        for byte in body {
            let Some(digit) = char::from(*byte).to_digit(16).and_then(|d| u8::try_from(d).ok())
            else {
                continue;
            };
            match high.take() {
                None => high = Some(digit),
                Some(high) => bytes.push(high << 4 | digit),
            }
        }
        hasher.update(&bytes);
        head.extend(bytes.iter().take(32_usize.saturating_sub(head.len())));
        let used = body.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(Value { sha256: hex(&hasher.finalize()), head: hex(&head) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(pairs: &[(&str, &[u8])]) -> BTreeMap<String, Known> {
        let known = |bytes: &[u8]| Known {
            sha256: hex(&Sha256::digest(bytes)),
            head: hex(&bytes[..bytes.len().min(32)]),
        };
        pairs.iter().map(|(name, bytes)| ((*name).to_owned(), known(bytes))).collect()
    }

    #[test]
    fn the_first_differing_record_and_field_are_named() {
        let records = [known(&[("pk", &[1, 2]), ("ss", &[9])]), known(&[("pk", &[3, 4])])];
        let text = "Count = 0\nPK = 0102\nSS = 09\n\nCount = 1\nPK = 0305\n";
        let found = check(text.as_bytes(), &records).unwrap().unwrap();
        assert_eq!(found, "record 1, field PK, byte 1: `05` here, `04` in the reference");
        assert_eq!(check(text.replace("0305", "0304").as_bytes(), &records).unwrap(), None);
    }

    #[test]
    fn the_keys_of_the_layout_of_nist_name_the_same_fields() {
        let text = "count = 0\nseed = 01\npk = 0103\n";
        let found = check(text.as_bytes(), &[known(&[("pk", &[1, 2])])]).unwrap().unwrap();
        assert_eq!(found, "record 0, field pk, byte 1: `03` here, `02` in the reference");
    }

    #[test]
    fn a_difference_behind_the_known_bytes_is_still_found() {
        let (a, mut b) = (vec![7; 100], vec![7; 100]);
        b[90] = 8;
        let text = format!("Count = 0\nCT = {}\n", hex(&b));
        let found = check(text.as_bytes(), &[known(&[("ct", &a)])]).unwrap().unwrap();
        assert!(found.starts_with("record 0, field CT, after byte 32: "), "{found}");
    }
}
