//! What each file of a package is good for, by its path and its first bytes.
//!
//! Nothing that is junk, binary or packed is ever used; it is listed, so that a person can see that it was seen.

use std::collections::BTreeMap;

use super::package::{Contents, head};
use crate::name::RelPath;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// C, C++ or assembler text, or a header.
    Code,
    /// A build description, read as text only.
    Build,
    /// Something that starts like a known-answer text.
    KnownAnswers,
    /// A document for people.
    Document,
    /// A licence text.
    Licence,
    /// An archive inside the package.
    Archive,
    /// Left behind by a system, an editor or a compiler, or executable: never used.
    Junk,
    /// Anything else: scripts, tables, texts.
    Other,
}

/// Endings of code.
const CODE: [&str; 13] =
    ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inc", "s", "S", "def", "inl"];
const DOCUMENTS: [&str; 14] = [
    "pdf", "doc", "docx", "odt", "ppt", "pptx", "xls", "xlsx", "tex", "md", "rtf", "wps", "png",
    "jpg",
];
const ARCHIVES: [&str; 10] = ["zip", "rar", "7z", "tar", "gz", "tgz", "xz", "bz2", "tbz", "zst"];
const JUNK_ENDINGS: [&str; 21] = [
    "o", "obj", "a", "lib", "so", "dll", "dylib", "exe", "out", "d", "gch", "pch", "ilk", "pdb",
    "idb", "pyc", "class", "swp", "swo", "bak", "orig",
];
const JUNK_NAMES: [&str; 5] = [".DS_Store", "Thumbs.db", "desktop.ini", "ehthumbs.db", ".gitkeep"];
const JUNK_PARTS: [&str; 12] = [
    "__MACOSX",
    ".git",
    ".svn",
    ".vs",
    ".vscode",
    ".idea",
    ".settings",
    "CMakeFiles",
    "__pycache__",
    ".Spotlight-V100",
    ".Trashes",
    ".cache",
];

/// Sorts every file of a package.
pub(super) fn sort(contents: &dyn Contents) -> BTreeMap<RelPath, Kind> {
    contents.files().keys().map(|path| (path.clone(), kind(contents, path))).collect()
}

pub(super) fn kind(contents: &dyn Contents, path: &RelPath) -> Kind {
    let name = path.file_name();
    let lower = name.to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let lower_ending = ending.to_ascii_lowercase();
    let has = |list: &[&str]| list.contains(&lower_ending.as_str());
    let junk = path.as_str().split('/').any(|part| JUNK_PARTS.contains(&part))
        || JUNK_NAMES.contains(&name)
        || name.starts_with("._")
        || name.starts_with(".#")
        || name.ends_with('~');
    if junk || has(&JUNK_ENDINGS) {
        return Kind::Junk;
    }
    if has(&ARCHIVES) {
        return Kind::Archive;
    }
    if has(&DOCUMENTS) {
        return Kind::Document;
    }
    if lower == "cmakelists.txt"
        || lower.starts_with("makefile")
        || lower == "gnumakefile"
        || matches!(lower_ending.as_str(), "mk" | "mak" | "cmake" | "sh" | "bat")
    {
        return Kind::Build;
    }
    let code = CODE.contains(&ending);
    let start = head(contents, path);
    if is_binary(&start) {
        return if is_archive(&start) { Kind::Archive } else { Kind::Junk };
    }
    if code {
        return Kind::Code;
    }
    if ["licence", "license", "copying"].iter().any(|w| lower.starts_with(w)) {
        return Kind::Licence;
    }
    if starts_a_record(&start) {
        return Kind::KnownAnswers;
    }
    if start.starts_with(b"%PDF") { Kind::Document } else { Kind::Other }
}

fn is_archive(start: &[u8]) -> bool {
    let magics: [&[u8]; 5] = [b"PK\x03\x04", b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b", b"\xfd7zXZ"];
    magics.iter().any(|magic| start.starts_with(magic))
}

/// By magic, or by a NUL: no text of a package holds one.
fn is_binary(start: &[u8]) -> bool {
    let magics: [&[u8]; 5] =
        [b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"!<arch>"];
    is_archive(start) || start.contains(&0) && !start.starts_with(b"%PDF")
        // `MZ` alone may start a text.
        || magics.iter().any(|magic| start.starts_with(magic) && (magic.len() > 2 || start.contains(&0)))
}

/// Whether a text starts with `Count = 0` or another line of the official record layouts.
fn starts_a_record(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let key = text.split('=').next().unwrap_or("").trim().to_ascii_lowercase();
    text.contains('=')
        && matches!(key.as_str(), "count" | "msg_len" | "seed_len" | "seed" | "pk_len")
}

/// A rule of thumb for directories of measuring, self-assessment and other copies: never an implementation.
pub(super) fn is_copy(path: &str) -> bool {
    path.split('/').rev().skip(1).any(|part| {
        let part: String =
            part.to_lowercase().chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
        part.contains("selfeval")
            || part.contains("selfassess")
            || part.contains("selftest")
            || part.contains("自评估")
            || part.contains("自测")
            || part == "others"
    })
}
