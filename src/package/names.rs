//! The names of entries: decoded, checked, made into paths.
//!
//! What is refused is what two programs could read in two ways, or what leads elsewhere in any of them. A leading `./`
//! is what `tar` writes and means nothing, so it goes. A backslash is refused, not translated: `a\b` is a file in a
//! directory to one program and one odd name to another. Names are UTF-8 whether the archive says so or not, else
//! GB18030 (what Chinese Windows writes, a superset of GBK and GB2312). Knows nothing of other entries.

use std::fmt::Write as _;

use super::limits::Limits;
use super::refusal::Refusal;
use crate::name::RelPath;

/// A checked name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// Below the root of the package.
    pub(super) path: RelPath,
    /// Hex of the bytes in the archive, when they are not the UTF-8 of the name.
    pub(super) raw: Option<String>,
}

/// A name as it stands in an archive.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawName<'a> {
    pub(super) bytes: &'a [u8],
    /// The same in Unicode, if the archive gives it beside the bytes.
    pub(super) unicode: Option<&'a str>,
}

impl<'a> RawName<'a> {
    pub(super) fn plain(bytes: &'a [u8]) -> Self {
        Self { bytes, unicode: None }
    }

    /// The name for a message: whatever it holds, one line of a bounded length.
    pub(super) fn shown(&self) -> String {
        let text = self.unicode.map_or_else(
            || decode(self.bytes).unwrap_or_else(|| String::from_utf8_lossy(self.bytes).into()),
            str::to_owned,
        );
        let control = |c: char| -> String {
            if c.is_control() { c.escape_default().collect() } else { c.into() }
        };
        let mut shown: String = text.chars().take(200).map(control).collect();
        if text.chars().nth(200).is_some() {
            shown.push('…');
        }
        shown
    }
}

/// UTF-8 or GB18030.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.to_owned());
    }
    let decoded = encoding_rs::GB18030.decode_without_bom_handling_and_without_replacement(bytes);
    decoded.map(std::borrow::Cow::into_owned)
}

/// Checks a name and puts it below a prefix. `None` is the root of the archive itself, which `tar` likes to list.
pub(super) fn check(
    name: RawName<'_>,
    prefix: Option<&RelPath>,
    limits: &Limits,
) -> Result<Option<Name>, Refusal> {
    if name.bytes.is_empty() || name.unicode == Some("") {
        return Err(Refusal::EmptyName);
    }
    let text = match name.unicode {
        Some(text) => text.to_owned(),
        None => decode(name.bytes).ok_or(Refusal::Undecodable)?,
    };
    let raw = (text.as_bytes() != name.bytes).then(|| hex(name.bytes));
    let Some(path) = inside(&text)? else { return Ok(None) };
    let path = prefix.map_or_else(|| path.to_owned(), |prefix| format!("{prefix}/{path}"));
    if path.len() > limits.path_bytes {
        return Err(Refusal::LongPath(limits.path_bytes));
    }
    if path.split('/').count() > limits.path_depth {
        return Err(Refusal::DeepPath(limits.path_depth));
    }
    Ok(Some(Name { path: path.parse()?, raw }))
}

/// The relative path that a text is, without `./` before and `/` after it.
fn inside(text: &str) -> Result<Option<&str>, Refusal> {
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    if drive || text.starts_with(['/', '\\']) {
        return Err(Refusal::Absolute);
    }
    let dots = |part: &str| !part.is_empty() && part.bytes().all(|b| b == b'.');
    if text.split(['/', '\\']).any(|part| part == "..") {
        return Err(Refusal::Upwards);
    }
    if text.contains('\\') {
        return Err(Refusal::Backslash);
    }
    if text.chars().any(char::is_control) {
        return Err(Refusal::Control);
    }
    let mut path = text;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() || path == "." {
        return Ok(None);
    }
    for part in path.split('/') {
        if part.is_empty() {
            return Err(Refusal::EmptyPart);
        }
        if dots(part) {
            return Err(Refusal::Dots);
        }
        if part.len() > 255 {
            return Err(Refusal::LongPart);
        }
    }
    Ok(Some(path))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> Refusal {
        check(RawName::plain(bytes), None, &Limits::default()).unwrap_err()
    }

    #[test]
    fn names_that_lead_elsewhere_or_can_be_read_in_two_ways_are_refused() {
        for (bytes, why) in [
            (&b""[..], Refusal::EmptyName),
            (b"/etc/passwd", Refusal::Absolute),
            (b"//host/x", Refusal::Absolute),
            (b"C:\\x", Refusal::Absolute),
            (b"c:x", Refusal::Absolute),
            (b"\\\\host\\x", Refusal::Absolute),
            (b"\\x", Refusal::Absolute),
            (b"../x", Refusal::Upwards),
            (b"a/..", Refusal::Upwards),
            (b"./../x", Refusal::Upwards),
            (b"a\\..\\x", Refusal::Upwards),
            (b"..\\x", Refusal::Upwards),
            (b"..././x", Refusal::Dots),
            (b"a/./x", Refusal::Dots),
            (b"a/.../x", Refusal::Dots),
            (b"a\\b", Refusal::Backslash),
            (b"a//b", Refusal::EmptyPart),
            (b".//a", Refusal::EmptyPart),
            (b"a/b//", Refusal::EmptyPart),
            (b"a\0b", Refusal::Control),
            (b"a\nb", Refusal::Control),
            (b"a\x7fb", Refusal::Control),
            ("a\u{85}b".as_bytes(), Refusal::Control),
            (&[b'a'; 256], Refusal::LongPart),
            (&b"a/".repeat(41)[..81], Refusal::DeepPath(40)),
            (
                &b"0123456789012345678901234567890123456789012345678901234567890/".repeat(35)
                    [..2100],
                Refusal::LongPath(2000),
            ),
            (b"a\xff", Refusal::Undecodable),
        ] {
            assert_eq!(refused(bytes), why, "{:?}", bytes.escape_ascii().to_string());
        }
    }

    #[test]
    fn a_name_is_decoded_and_its_bytes_are_kept_when_they_were_not_utf_8() {
        let name = |bytes: &[u8]| {
            let name = check(RawName::plain(bytes), None, &Limits::default()).unwrap().unwrap();
            (name.path.to_string(), name.raw)
        };
        assert_eq!(name("中文 资料/ü x.c".as_bytes()), ("中文 资料/ü x.c".to_owned(), None));
        assert_eq!(name(b"./././a/b/"), ("a/b".to_owned(), None));
        assert_eq!(name(b".hidden/..x/x..y"), (".hidden/..x/x..y".to_owned(), None));
        // GBK; the second byte of the second character is a backslash.
        assert_eq!(
            name(b"\xd6\xd0\xd5\x5c/a.c"),
            ("中誠/a.c".to_owned(), Some("d6d0d55c2f612e63".into()))
        );
        for root in [&b"."[..], b"./", b"././"] {
            assert_eq!(check(RawName::plain(root), None, &Limits::default()).unwrap(), None);
        }
        let prefix = "a/b.zip".parse().unwrap();
        let below = check(RawName::plain(b"x"), Some(&prefix), &Limits::default()).unwrap();
        assert_eq!(below.unwrap().path.as_str(), "a/b.zip/x");
    }

    #[test]
    fn a_unicode_name_beside_the_bytes_wins_and_is_checked_too() {
        let both = |unicode| {
            let name = RawName { bytes: b"??.c", unicode: Some(unicode) };
            check(name, None, &Limits::default())
        };
        let name = both("资料.c").unwrap().unwrap();
        assert_eq!((name.path.as_str(), name.raw.as_deref()), ("资料.c", Some("3f3f2e63")));
        assert_eq!(both("../x"), Err(Refusal::Upwards));
    }

    #[test]
    fn a_name_is_shown_in_one_line() {
        assert_eq!(RawName::plain(b"a\n\x1b[31mb").shown(), "a\\n\\u{1b}[31mb");
        assert_eq!(RawName::plain(&[b'a'; 300]).shown().chars().count(), 201);
    }
}
