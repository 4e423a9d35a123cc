//! A package as a listing whose contents are read on demand.
//!
//! Knows no archive format: whoever unpacks or lists one implements [`Contents`]. Code is read once and kept as
//! directives and words; everything else is streamed by whoever needs it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::rc::Rc;

use super::c_text::{self, Line};
use super::kinds::{self, Kind};
use crate::digest::BlobId;
use crate::name::RelPath;

/// One file of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Its content, by digest.
    pub blob: BlobId,
    /// Its length in bytes.
    pub len: u64,
}

/// The files of a package.
pub trait Contents {
    /// Every file with its path inside the package.
    fn files(&self) -> &BTreeMap<RelPath, Listed>;

    /// Opens a file's content.
    ///
    /// # Errors
    /// Whatever opening fails with; the file is then treated as empty.
    fn open(&self, blob: BlobId) -> std::io::Result<Box<dyn Read + '_>>;
}

/// Longest part of a code file that is looked at.
const LONGEST_CODE: u64 = 64 << 20;

/// Code that is kept in words at a time, in bytes of text; beyond that it is read again.
const KEPT_CODE: u64 = 32 << 20;

/// The first bytes of a file.
pub(super) fn head(contents: &dyn Contents, path: &RelPath) -> Vec<u8> {
    read_up_to(contents, path, 512)
}

/// A file's bytes up to a limit; what cannot be read is empty.
pub(super) fn read_up_to(contents: &dyn Contents, path: &RelPath, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(listed) = contents.files().get(path) else { return bytes };
    if let Ok(reader) = contents.open(listed.blob) {
        // An error in the middle leaves what came before, which is all there is to judge.
        let _ = reader.take(limit).read_to_end(&mut bytes);
    }
    bytes
}

/// A package, sorted, with its code in words.
pub(super) struct Package<'c> {
    pub(super) contents: &'c dyn Contents,
    pub(super) kinds: BTreeMap<RelPath, Kind>,
    by_name: BTreeMap<String, Vec<RelPath>>,
    kept: RefCell<Kept>,
}

/// Code in words, and how many bytes of text it was.
type Kept = (BTreeMap<BlobId, Rc<Vec<Line>>>, u64);

impl<'c> Package<'c> {
    pub(super) fn new(contents: &'c dyn Contents) -> Self {
        let kinds = kinds::sort(contents);
        let mut by_name: BTreeMap<String, Vec<RelPath>> = BTreeMap::new();
        for (path, _) in kinds.iter().filter(|(_, kind)| **kind == Kind::Code) {
            by_name.entry(path.file_name().to_owned()).or_default().push(path.clone());
        }
        Self { contents, kinds, by_name, kept: RefCell::default() }
    }

    /// The files of a kind, in path order.
    pub(super) fn of(&self, kind: Kind) -> impl Iterator<Item = &RelPath> {
        self.kinds.iter().filter(move |(_, k)| **k == kind).map(|(path, _)| path)
    }

    /// Sources that could be compiled.
    pub(super) fn sources(&self) -> impl Iterator<Item = &RelPath> {
        self.of(Kind::Code).filter(|path| path.as_str().ends_with(".c"))
    }

    pub(super) fn is_code(&self, path: &str) -> Option<RelPath> {
        let path: RelPath = path.parse().ok()?;
        (self.kinds.get(&path) == Some(&Kind::Code)).then_some(path)
    }

    /// Code whose path ends with a relative path as an `#include` gives it.
    pub(super) fn ending_with(&self, include: &str) -> Vec<&RelPath> {
        let parts: Vec<&str> =
            include.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let Some(name) = parts.last() else { return Vec::new() };
        let tail = parts.join("/");
        let named = self.by_name.get(*name).map_or(&[][..], Vec::as_slice);
        let fits = |path: &&RelPath| {
            path.as_str()
                .strip_suffix(tail.as_str())
                .is_some_and(|h| h.is_empty() || h.ends_with('/'))
        };
        named.iter().filter(fits).collect()
    }

    pub(super) fn blob(&self, path: &RelPath) -> Option<BlobId> {
        self.contents.files().get(path).map(|listed| listed.blob)
    }

    /// A code file in words.
    pub(super) fn lines(&self, path: &RelPath) -> Rc<Vec<Line>> {
        let Some(listed) = self.contents.files().get(path) else { return Rc::default() };
        if let Some(lines) = self.kept.borrow().0.get(&listed.blob) {
            return Rc::clone(lines);
        }
        let bytes = read_up_to(self.contents, path, LONGEST_CODE);
        let lines = Rc::new(c_text::read(&bytes));
        let mut kept = self.kept.borrow_mut();
        if kept.1 > KEPT_CODE {
            *kept = (BTreeMap::new(), 0);
        }
        kept.1 += bytes.len() as u64;
        kept.0.insert(listed.blob, Rc::clone(&lines));
        lines
    }

    /// A short file as text.
    pub(super) fn text(&self, path: &RelPath) -> String {
        String::from_utf8_lossy(&read_up_to(self.contents, path, 1 << 20)).into_owned()
    }
}

/// The directory of a path; empty for the root.
pub(super) fn directory_of(path: &RelPath) -> String {
    path.parent().map(|parent| parent.to_string()).unwrap_or_default()
}

/// Whether a path lies in a directory or below it.
pub(super) fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path == directory
        || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// How many leading parts two paths share.
pub(super) fn shared_parts(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b && !a.is_empty()).count()
}

/// A path of the package as written from one of its directories: `../../_shared/x.c`.
pub(super) fn relative(directory: &str, path: &str) -> String {
    let shared = shared_parts(directory, path);
    let up = directory.split('/').filter(|part| !part.is_empty()).count() - shared;
    let mut parts = vec![".."; up];
    parts.extend(path.split('/').skip(shared).filter(|part| !part.is_empty()));
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// A relative path from a directory, with `.` and `..` resolved inside the package.
pub(super) fn resolve(directory: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
