//! The canonical form of a KAT text, as a reader over any other reader.
//!
//! Rules: split at LF; strip trailing CR, space and tab of each line; drop empty lines; with a record limit N stop
//! before the (N+1)-th line starting with `Count = `; in mode `nolen` drop every line whose key (text before the
//! first `=`, trailing blanks removed) ends in `_Len`; end each remaining line with one LF.
//! Only blanks at a line's end and a line's first bytes are ever held back.
//!
//! A text of NIST's layout (mode `nist`) is its own canonical form, byte for byte, because digests of such texts are
//! published over the file as it is. Only a record limit cuts it: before the empty lines that precede the (N+1)-th line
//! starting with `count = `.

use std::io::{self, BufRead, BufReader, Read};

use sha2::{Digest as _, Sha256};

/// Which lines count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All lines.
    Strict,
    /// All but the lengths.
    NoLen,
    /// The text as it is, in NIST's layout.
    Nist,
}

/// Longest key that is looked at; a longer line start cannot be a `_Len` line of any known layout.
const KEY_LIMIT: usize = 256;

/// Most blanks in a row that are held back. A text with more in one line is not from any driver.
const BLANKS_LIMIT: usize = 16 << 20;

/// How a record starts.
const COUNT: &[u8] = b"Count = ";

/// The same in NIST's layout.
const NIST_COUNT: &[u8] = b"count = ";

/// Reads the canonical form of a text.
#[derive(Debug)]
pub struct Canonical<R> {
    inner: BufReader<R>,
    mode: Mode,
    limit: Option<u64>,
    records: u64,
    raw_bytes: u64,
    line: Line,
    out: Vec<u8>,
    taken: usize,
    ended: bool,
}

#[derive(Debug, Default)]
struct Line {
    /// The start of the line, until it is known whether the line counts.
    head: Vec<u8>,
    /// Whether it counts, once known.
    kept: Option<bool>,
    /// Blanks that may turn out to be trailing; in NIST's layout the empty lines before this one.
    blanks: Vec<u8>,
}

impl<R: Read> Canonical<R> {
    /// A reader of the canonical form; `limit` is the number of records covered, if not all.
    pub fn new(inner: R, mode: Mode, limit: Option<u64>) -> Self {
        Self {
            inner: BufReader::with_capacity(64 * 1024, inner),
            mode,
            limit,
            records: 0,
            raw_bytes: 0,
            line: Line::default(),
            out: Vec::new(),
            taken: 0,
            ended: false,
        }
    }

    /// Records seen so far (lines starting with `Count = `, in NIST's layout `count = `), within the limit.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Bytes read from the text so far.
    pub const fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Turns one chunk of the text into canonical bytes in `out`.
    fn push(&mut self, chunk: &[u8]) {
        if self.mode == Mode::Nist {
            return self.push_raw(chunk);
        }
        for part in chunk.split_inclusive(|b| *b == b'\n') {
            let (body, complete) = match part.strip_suffix(b"\n") {
                Some(body) => (body, true),
                None => (part, false),
            };
            self.extend_line(body);
            if complete {
                self.end_line();
            }
            if self.ended {
                return;
            }
        }
    }

    /// Passes bytes on as they are; a line's start and the empty lines before it wait until it is known what it is.
    fn push_raw(&mut self, chunk: &[u8]) {
        for part in chunk.split_inclusive(|b| *b == b'\n') {
            if self.line.kept.is_none() {
                self.line.head.extend_from_slice(part);
                let head = &self.line.head;
                if head == b"\n" {
                    self.line.blanks.push(b'\n');
                    self.line.head.clear();
                    continue;
                }
                if head.len() < NIST_COUNT.len() && !head.ends_with(b"\n") {
                    continue;
                }
                if head.starts_with(NIST_COUNT) {
                    if self.limit == Some(self.records) {
                        self.ended = true;
                        return;
                    }
                    self.records += 1;
                }
                self.release();
                self.line.kept = Some(true);
            } else {
                self.out.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.line.kept = None;
            }
        }
    }

    /// What was held back of a text in NIST's layout.
    fn release(&mut self) {
        self.out.append(&mut self.line.blanks);
        self.out.append(&mut self.line.head);
    }

    fn extend_line(&mut self, body: &[u8]) {
        let solid =
            body.iter().rposition(|b| !matches!(b, b'\r' | b' ' | b'\t')).map_or(0, |p| p + 1);
        if solid > 0 {
            let blanks = std::mem::take(&mut self.line.blanks);
            self.emit(&blanks);
            self.emit(&body[..solid]);
        }
        self.line.blanks.extend_from_slice(&body[solid..]);
    }

    /// Bytes that belong to the line for certain.
    fn emit(&mut self, bytes: &[u8]) {
        match self.line.kept {
            Some(true) => self.out.extend_from_slice(bytes),
            Some(false) => {}
            None => {
                self.line.head.extend_from_slice(bytes);
                // Eight bytes tell a record's start; the key ends at the first `=`.
                let head = &self.line.head;
                if head.len() > KEY_LIMIT || head.len() >= COUNT.len() && head.contains(&b'=') {
                    self.decide();
                }
            }
        }
    }

    fn decide(&mut self) {
        let head = std::mem::take(&mut self.line.head);
        let key = head.split(|b| *b == b'=').next().unwrap_or(&[]);
        let key = key.trim_ascii_end();
        let dropped = self.mode == Mode::NoLen && key.ends_with(b"_Len");
        if head.starts_with(COUNT) {
            if self.limit == Some(self.records) {
                self.ended = true;
                self.line.kept = Some(false);
                return;
            }
            self.records += 1;
        }
        self.line.kept = Some(!dropped);
        if !dropped {
            self.out.extend_from_slice(&head);
        }
    }

    fn end_line(&mut self) {
        if self.line.kept.is_none() && !self.line.head.is_empty() {
            self.decide();
        }
        if self.line.kept == Some(true) && !self.ended {
            self.out.push(b'\n');
        }
        self.line.kept = None;
        self.line.head.clear();
        self.line.blanks.clear();
    }
}

impl<R: Read> Read for Canonical<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.out.len() {
            self.out.clear();
            self.taken = 0;
            if self.ended {
                return Ok(0);
            }
            let chunk = self.inner.fill_buf()?;
            if chunk.is_empty() {
                self.ended = true;
                // A last line without LF counts like any other.
                let ended = std::mem::replace(&mut self.ended, false);
                match self.mode {
                    Mode::Nist => self.release(),
                    Mode::Strict | Mode::NoLen => self.end_line(),
                }
                self.ended = ended;
                continue;
            }
            let chunk = chunk.to_vec();
            self.inner.consume(chunk.len());
            self.raw_bytes += chunk.len() as u64;
            self.push(&chunk);
            if self.line.blanks.len() > BLANKS_LIMIT {
                let text = "more than 16 MiB of blanks in one line: this is no KAT text";
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
        let n = buffer.len().min(self.out.len() - self.taken);
        buffer[..n].copy_from_slice(&self.out[self.taken..self.taken + n]);
        self.taken += n;
        Ok(n)
    }
}

/// What digesting a text gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digested {
    /// SHA-256 of the canonical form, lower-case hex.
    pub sha256: String,
    /// Records covered.
    pub records: u64,
    /// Bytes of the text as it came.
    pub bytes: u64,
}

/// Whether the first record has a length without a value, as a driver leaves it that was told to print none.
///
/// # Errors
/// Whatever reading fails with.
pub fn has_blank_lengths(text: impl Read) -> io::Result<bool> {
    let mut key: Vec<u8> = Vec::new();
    let mut value = false;
    for byte in BufReader::new(Canonical::new(text, Mode::Strict, Some(1))).bytes() {
        match byte? {
            // The canonical form has no blanks at a line's end, so the key of a blank length ends the line.
            b'\n' => {
                if !value
                    && key.strip_suffix(b"=").is_some_and(|k| k.trim_ascii().ends_with(b"_Len"))
                {
                    return Ok(true);
                }
                key.clear();
                value = false;
            }
            _ if value => {}
            byte => {
                value = key.ends_with(b"=") && byte != b' ' || key.len() > KEY_LIMIT;
                key.push(byte);
            }
        }
    }
    Ok(false)
}

/// The SHA-256 of a text's canonical form, in constant memory.
///
/// # Errors
/// Whatever reading fails with.
pub fn digest(text: impl Read, mode: Mode, limit: Option<u64>) -> io::Result<Digested> {
    let mut canonical = Canonical::new(text, mode, limit);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n = canonical.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hasher.update(&buffer[..n]);
    }
    let sha256 = hex(&hasher.finalize());
    Ok(Digested { sha256, records: canonical.records(), bytes: canonical.raw_bytes() })
}

/// Lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &[u8], mode: Mode, limit: Option<u64>) -> String {
        let mut out = String::new();
        Canonical::new(text, mode, limit).read_to_string(&mut out).unwrap();
        out
    }

    /// The rule as written, holding everything in memory.
    fn model(text: &str, mode: Mode, limit: Option<u64>) -> String {
        let (mut out, mut records) = (String::new(), 0);
        for line in text.split('\n') {
            let line = line.trim_end_matches(['\r', ' ', '\t']);
            if line.is_empty() {
                continue;
            }
            let key = line.split('=').next().unwrap().trim_end();
            if line.starts_with("Count = ") {
                if limit == Some(records) {
                    break;
                }
                records += 1;
            }
            if mode == Mode::NoLen && key.ends_with("_Len") {
                continue;
            }
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    const TEXT: &str = "Count = 0\nPK_Len = 2\nPK = AB12\n\nCount = 1\nPK_Len = 2\nPK = CD34\n\n";

    #[test]
    fn line_ends_and_trailing_blanks_do_not_change_the_canonical_form() {
        let plain = canonical(TEXT.as_bytes(), Mode::Strict, None);
        let crlf = TEXT.replace('\n', " \t\r\n");
        assert_eq!(canonical(crlf.as_bytes(), Mode::Strict, None), plain);
        assert_eq!(canonical(TEXT.trim_end().as_bytes(), Mode::Strict, None), plain);
        assert_eq!(plain, TEXT.replace("\n\n", "\n"));
    }

    #[test]
    fn nolen_drops_the_lengths_and_a_limit_stops_before_the_next_record() {
        assert_eq!(canonical(TEXT.as_bytes(), Mode::NoLen, Some(1)), "Count = 0\nPK = AB12\n");
        assert_eq!(digest(TEXT.as_bytes(), Mode::Strict, Some(1)).unwrap().records, 1);
    }

    #[test]
    fn a_text_of_nist_is_taken_byte_for_byte_and_a_limit_leaves_the_form_of_a_shorter_text() {
        let one = "count = 0\nseed = 06\npk = AB \nss = 00\n";
        let two = format!("{one}\n{}", one.replace("count = 0", "count = 1"));
        for text in [one, &two, "count", "", "\n\n", "# heading\r\n\ncount = 0\n\n"] {
            assert_eq!(canonical(text.as_bytes(), Mode::Nist, None), text);
        }
        assert_eq!(canonical(two.as_bytes(), Mode::Nist, Some(1)), one);
        assert_eq!(canonical(two.as_bytes(), Mode::Nist, Some(2)), two);
        let digested = digest(two.as_bytes(), Mode::Nist, Some(1)).unwrap();
        assert_eq!(
            (digested.records, digest(one.as_bytes(), Mode::Nist, None).unwrap().records),
            (1, 1)
        );
        assert_eq!(digested.sha256, hex(&Sha256::digest(one)));
    }

    #[test]
    fn a_value_that_is_empty_keeps_its_line() {
        assert_eq!(canonical(b"PK = \n", Mode::Strict, None), "PK =\n");
    }

    #[test]
    fn endless_blanks_are_refused_before_they_fill_the_memory() {
        let blanks = io::repeat(b' ').take(1 << 40);
        let error = digest(b"PK = ".chain(blanks), Mode::Strict, None).unwrap_err();
        assert!(error.to_string().contains("no KAT text"), "{error}");
    }

    #[test]
    fn a_line_of_many_megabytes_is_never_held() {
        struct Long(u64);
        impl Read for Long {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let n = buffer.len().min(usize::try_from(self.0).unwrap());
                buffer[..n].fill(b'A');
                self.0 -= n as u64;
                Ok(n)
            }
        }
        let mut reader = Canonical::new(b"PK = ".chain(Long(100 << 20)), Mode::Strict, None);
        let mut buffer = [0; 4096];
        let mut total = 0;
        loop {
            let n = reader.read(&mut buffer).unwrap();
            if n == 0 {
                break;
            }
            total += n;
            assert!(reader.out.capacity() < 1 << 20, "a whole line is held");
        }
        assert_eq!(total, 5 + (100 << 20) + 1);
    }

    /// Gives at most so many bytes at a time.
    struct Cut<'a>(&'a [u8], usize);

    impl Read for Cut<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    proptest! {
        #[test]
        fn a_text_of_nist_does_not_depend_on_how_it_is_cut(
            lines in proptest::collection::vec("(count = [0-9]|pk = [A-F0-9 ]{0,9}|[ \t\r]{0,3}|count|Count = 1)", 0..20),
            limit in proptest::option::of(0_u64..4),
            cut in 1_usize..7,
        ) {
            let text = lines.join("\n");
            let mut pieces = String::new();
            let cut = Cut(text.as_bytes(), cut);
            Canonical::new(cut, Mode::Nist, limit).read_to_string(&mut pieces).unwrap();
            prop_assert_eq!(&pieces, &canonical(text.as_bytes(), Mode::Nist, limit));
            prop_assert!(text.starts_with(&pieces));
            let records = lines.iter().filter(|l| l.starts_with("count = ")).count() as u64;
            if limit.is_none_or(|limit| records <= limit) {
                prop_assert_eq!(pieces, text);
            }
        }

        #[test]
        fn the_stream_equals_the_rule_however_it_is_cut(
            lines in proptest::collection::vec("(Count = [0-9]|PK_Len = 3|PK = [A-F0-9 ]{0,9}|[ \t\r]{0,3}|x_Len|CT =A=B|Count)[ \r\t]{0,2}", 0..20),
            nolen in any::<bool>(),
            limit in proptest::option::of(0_u64..4),
            cut in 1_usize..7,
        ) {
            let text = lines.join("\n");
            let mode = if nolen { Mode::NoLen } else { Mode::Strict };
            let mut out = String::new();
            Canonical::new(Cut(text.as_bytes(), cut), mode, limit).read_to_string(&mut out).unwrap();
            prop_assert_eq!(out, model(&text, mode, limit));
        }
    }

    #[test]
    fn a_length_without_a_value_is_seen_in_the_first_record_only() {
        let blank = |text: &str| has_blank_lengths(text.as_bytes()).unwrap();
        assert!(blank("Count = 0\r\nPK_Len = \r\nPK = 00\r\n"));
        assert!(blank("Count = 0\nPK_Len =\n"));
        assert!(!blank("Count = 0\nPK_Len = 40\nPK =\n"));
        assert!(!blank("Count = 0\nPK_Len = 40\n\nCount = 1\nPK_Len =\n"));
    }
}
