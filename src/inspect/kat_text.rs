//! What a known-answer text is: its layout, its records, the lengths in its first record, its canonical digest.
//!
//! Streamed: a text of 500 MB with lines of 25 MB is read in constant memory. Which instance it belongs to is for
//! `kat_match.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use super::package::{Contents, Listed};
use crate::kat::{Mode, digest};
use crate::name::RelPath;
use crate::spec::Function;

/// A known-answer text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KatText {
    /// Where it is in the package.
    pub path: RelPath,
    /// What its records are of.
    pub function: Function,
    /// SHA-256 of its canonical form, in the mode that `nolen` says.
    pub sha256: String,
    /// Records in it.
    pub records: u64,
    /// Lines with lengths are blank: written in template mode.
    pub nolen: bool,
    /// Lengths in bytes of the values of the first record, by key in lower case (`pk`, `sk`, `ct`, `ss`, …).
    pub lengths: BTreeMap<String, u64>,
    /// What is odd about it: records out of order, lengths that contradict the values.
    pub oddities: Vec<String>,
}

/// Longest key of a record line.
const LONGEST_KEY: usize = 40;

/// Longest value that is looked at as a number.
const LONGEST_NUMBER: usize = 24;

/// Reads one text; `None` when it has no record of a known layout, or cannot be read.
pub(super) fn read(contents: &dyn Contents, path: &RelPath, listed: &Listed) -> Option<KatText> {
    let open = || contents.open(listed.blob);
    let mut facts = Facts::default();
    let strict =
        digest(Watched { inner: open().ok()?, facts: &mut facts }, Mode::Strict, None).ok()?;
    facts.end_line();
    let function = facts.function()?;
    let nolen = facts.blank_lengths > 0;
    let sha256 =
        if nolen { digest(open().ok()?, Mode::NoLen, None).ok()?.sha256 } else { strict.sha256 };
    let oddities = facts.oddities();
    Some(KatText {
        path: path.clone(),
        function,
        sha256,
        records: strict.records.max(facts.records),
        nolen,
        lengths: facts.first.into_iter().map(|(key, len)| (key, len / 2)).collect(),
        oddities,
    })
}

/// Shows every byte to [`Facts`] on its way to the digest.
struct Watched<'f, R> {
    inner: R,
    facts: &'f mut Facts,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.facts.push(&buffer[..n]);
        Ok(n)
    }
}

/// What the lines say, one byte run at a time.
#[derive(Debug, Default)]
struct Facts {
    key: Vec<u8>,
    /// Behind the `=` of the line.
    in_value: bool,
    /// The start of the value.
    number: Vec<u8>,
    /// Solid bytes of the value.
    solid: u64,
    records: u64,
    blank_lengths: u64,
    counted_otherwise: Option<(u64, String)>,
    /// Hex digits of each value of the first record.
    first: BTreeMap<String, u64>,
    /// Lengths as stated in the first record.
    stated: BTreeMap<String, u64>,
    keys: BTreeSet<String>,
}

impl Facts {
    fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            let (body, complete) =
                part.strip_suffix(b"\n").map_or((part, false), |body| (body, true));
            self.extend(body);
            if complete {
                self.end_line();
            }
        }
    }

    fn extend(&mut self, body: &[u8]) {
        let value = if self.in_value {
            body
        } else {
            let end = body.iter().position(|b| *b == b'=');
            let key = &body[..end.unwrap_or(body.len())];
            let room = LONGEST_KEY.saturating_sub(self.key.len());
            self.key.extend_from_slice(&key[..key.len().min(room)]);
            let Some(end) = end else { return };
            self.in_value = true;
            &body[end + 1..]
        };
        self.solid += value.iter().filter(|b| !b.is_ascii_whitespace()).count() as u64;
        let room = LONGEST_NUMBER.saturating_sub(self.number.len());
        self.number.extend_from_slice(&value[..value.len().min(room)]);
    }

    fn end_line(&mut self) {
        let key = String::from_utf8_lossy(self.key.trim_ascii())
            .trim_start_matches('\u{feff}')
            .to_owned();
        let number = String::from_utf8_lossy(&self.number).trim().parse::<u64>().ok();
        let (in_value, solid) = (self.in_value, self.solid);
        self.key.clear();
        self.number.clear();
        (self.in_value, self.solid) = (false, 0);
        if !in_value || key.is_empty() || key.contains(' ') {
            return;
        }
        let starts = key.eq_ignore_ascii_case("count") || key == "Msg_Len";
        if starts {
            if let Some(number) = number.filter(|n| key != "Msg_Len" && *n != self.records) {
                let place = (self.records, number.to_string());
                self.counted_otherwise.get_or_insert(place);
            }
            self.records += 1;
        }
        if self.keys.len() < 200 {
            self.keys.insert(key.clone());
        }
        if let Some(of) = key.strip_suffix("_Len") {
            if solid == 0 {
                self.blank_lengths += 1;
            } else if let Some(number) = number.filter(|_| self.records <= 1) {
                self.stated.insert(of.to_lowercase(), number);
            }
        } else if self.records <= 1 && self.first.len() < 200 && !starts {
            self.first.entry(key.to_lowercase()).or_insert(solid);
        }
    }

    fn function(&self) -> Option<Function> {
        let has = |key: &str| self.keys.iter().any(|k| k.eq_ignore_ascii_case(key));
        if has("PKa") || has("Pass_Num") {
            Some(Function::KeyExchange)
        } else if has("Sn") || has("PK") && has("SK") && has("M") {
            Some(Function::Signature)
        } else if has("CT") && has("SS") {
            Some(Function::Kem)
        } else if has("Dst") || has("Msg") {
            Some(Function::Hash)
        } else {
            None
        }
    }

    fn oddities(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some((place, number)) = &self.counted_otherwise {
            all.push(format!(
                "record {place} (from 0) has `Count = {number}`: records are missing, repeated or spliced"
            ));
        }
        for (key, stated) in &self.stated {
            let hex = self.first.get(key).copied().unwrap_or(0);
            if key != "m" && key != "msg" && key != "dst" && hex != stated.saturating_mul(2) {
                all.push(format!(
                    "record 0 states {stated} bytes for `{key}`, and its value has {hex} hex digits"
                ));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &[u8]) -> Facts {
        let mut facts = Facts::default();
        for chunk in text.chunks(7) {
            facts.push(chunk);
        }
        facts.end_line();
        facts
    }

    #[test]
    fn lengths_come_from_the_values_and_blank_lengths_are_seen() {
        let facts = facts(
            b"Count = 0\r\nPK_Len = \r\nPK = AABB\r\nCT = 00 11\r\nSS = \r\n\r\nCount = 2\nPK = A",
        );
        assert_eq!(facts.first["pk"], 4);
        assert_eq!(facts.first["ct"], 4);
        assert_eq!((facts.records, facts.blank_lengths), (2, 1));
        assert_eq!(facts.function(), Some(Function::Kem));
        assert!(facts.oddities()[0].contains("record 1"), "{:?}", facts.oddities());
    }

    #[test]
    fn a_stated_length_that_is_not_the_value_s_is_odd() {
        let odd = facts(b"Count = 0\nCT_Len = 3\nCT = AABB\nSS = 00\n").oddities();
        assert!(odd[0].contains("states 3 bytes"), "{odd:?}");
    }

    #[test]
    fn lines_without_end_are_not_held() {
        let mut facts = Facts::default();
        for _ in 0..64 {
            facts.push(&[b'A'; 1 << 16]);
        }
        facts.push(b"= ");
        for _ in 0..64 {
            facts.push(&[b'B'; 1 << 16]);
        }
        assert!(facts.key.capacity() < 1024 && facts.number.capacity() < 1024);
    }
}
