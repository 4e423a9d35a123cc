//! What has come out of a package so far, and the rules that hold among its entries.
//!
//! Every format hands its entries to this one place, in whatever order they come. Here they are counted, named, filed
//! and compared: no two of one name, none that differ by letter case only, nothing below a file. Links are settled
//! when an archive has been read to its end; what is left are files. Knows no format.

use std::collections::BTreeMap;
use std::io::Read;

use super::Member;
use super::limits::Limits;
use super::links::Link;
use super::names::{self, Name, RawName};
use super::refusal::{Refusal, UnpackError, put_failure};
use crate::name::RelPath;
use crate::store::Store;

/// An archive whose entries are being taken: how messages call it, and where its files stand.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) archive: String,
    pub(super) prefix: Option<RelPath>,
    /// Length of the archive, if it is one.
    pub(super) len: Option<u64>,
}

impl Place {
    /// An error about the whole archive.
    pub(super) fn error(&self, why: Refusal) -> UnpackError {
        UnpackError::Archive { archive: self.archive.clone(), why }
    }

    /// An error about an entry.
    pub(super) fn entry_error(&self, name: RawName<'_>, why: Refusal) -> UnpackError {
        UnpackError::Entry { archive: self.archive.clone(), entry: name.shown(), why }
    }

    /// The same, for an entry whose name was fine.
    fn path_error(&self, path: &RelPath, why: Refusal) -> UnpackError {
        let inside = self
            .prefix
            .as_ref()
            .and_then(|prefix| path.as_str().strip_prefix(prefix.as_str())?.strip_prefix('/'));
        let entry = inside.unwrap_or(path.as_str()).to_owned();
        UnpackError::Entry { archive: self.archive.clone(), entry, why }
    }
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

/// What a header says about a file; none of it is believed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stated {
    /// Its length.
    pub(super) len: Option<u64>,
    /// The bytes it is unpacked from, which is known if the format packs files one by one.
    pub(super) packed: Option<u64>,
    /// An execute bit is set.
    pub(super) executable: bool,
}

/// The files so far.
#[derive(Debug)]
pub(super) struct Assembly<'a> {
    pub(super) store: &'a Store,
    pub(super) limits: &'a Limits,
    files: BTreeMap<RelPath, Member>,
    /// Those of the archive that is being read.
    links: BTreeMap<RelPath, Link>,
    /// Every path and every directory above one, by its lower-case form.
    taken: BTreeMap<String, (RelPath, Kind)>,
    members: u64,
    bytes: u64,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(store: &'a Store, limits: &'a Limits) -> Self {
        Self {
            store,
            limits,
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            taken: BTreeMap::new(),
            members: 0,
            bytes: 0,
        }
    }

    /// A directory. Only its name is looked at: directories follow from files.
    pub(super) fn directory(&mut self, at: &Place, name: RawName<'_>) -> Result<(), UnpackError> {
        if let Some(name) = self.admit(at, name)? {
            self.take(at, &name.path, Kind::Directory)?;
        }
        Ok(())
    }

    /// A file, filed from a reader. What comes out is counted; the reader is asked for no more than it may give.
    pub(super) fn file(
        &mut self,
        at: &Place,
        raw: RawName<'_>,
        stated: Stated,
        reader: &mut dyn Read,
    ) -> Result<(), UnpackError> {
        let name = self.admit(at, raw)?.ok_or_else(|| at.entry_error(raw, Refusal::EmptyName))?;
        self.take(at, &name.path, Kind::File)?;
        let limits = self.limits;
        let left = limits.total_bytes - self.bytes;
        let mut most = [
            (stated.len, Refusal::Longer(stated.len.unwrap_or_default())),
            (
                stated.packed.map(|n| n.saturating_mul(limits.ratio).max(limits.ratio_from)),
                Refusal::Ratio(limits.ratio),
            ),
            (Some(limits.member_bytes), Refusal::MemberBytes(limits.member_bytes)),
            (Some(left), Refusal::TotalBytes(limits.total_bytes)),
        ];
        // What is stated bounds what is read, and is itself no reason to read more than the limits allow.
        most.sort_by_key(|(bound, _)| bound.unwrap_or(u64::MAX));
        let [(bound, too_long), ..] = most;
        let (blob, len) = match self.store.put_reader(reader, bound.unwrap_or(u64::MAX)) {
            Ok(filed) => filed,
            Err(error) => {
                let why = put_failure(error, too_long)?;
                return Err(at.entry_error(raw, why));
            }
        };
        if let Some(stated) = stated.len.filter(|stated| *stated != len) {
            return Err(at.entry_error(raw, Refusal::Shorter { found: len, stated }));
        }
        self.bytes += len;
        let member = Member { blob, len, raw_name: name.raw, was_executable: stated.executable };
        self.files.insert(name.path, member);
        Ok(())
    }

    /// A symbolic link, settled by [`Assembly::end_archive`].
    pub(super) fn link(
        &mut self,
        at: &Place,
        raw: RawName<'_>,
        target: &[u8],
    ) -> Result<(), UnpackError> {
        let name = self.admit(at, raw)?.ok_or_else(|| at.entry_error(raw, Refusal::EmptyName))?;
        self.take(at, &name.path, Kind::File)?;
        let target = names::decode(target).filter(|t| !t.is_empty() && !t.contains('\0'));
        let target = target.ok_or_else(|| at.entry_error(raw, Refusal::LinkTarget))?;
        self.links.insert(name.path, Link { target, raw_name: name.raw });
        Ok(())
    }

    /// A hard link becomes a copy of the file before it that it names.
    pub(super) fn hard_link(
        &mut self,
        at: &Place,
        raw: RawName<'_>,
        target: &[u8],
    ) -> Result<(), UnpackError> {
        let name = self.admit(at, raw)?.ok_or_else(|| at.entry_error(raw, Refusal::EmptyName))?;
        let shown = RawName::plain(target).shown();
        let outside = |why| {
            if why == Refusal::EmptyName {
                Refusal::LinkTarget
            } else {
                Refusal::LinkOutside(shown.clone())
            }
        };
        let found = names::check(RawName::plain(target), at.prefix.as_ref(), self.limits)
            .map_err(|why| at.entry_error(raw, outside(why)))?;
        let member = found.and_then(|target| self.files.get(&target.path)).cloned();
        let member = member.ok_or_else(|| at.entry_error(raw, Refusal::HardLink(shown.clone())))?;
        self.take(at, &name.path, Kind::File)?;
        self.copy(at, name.path, Member { raw_name: name.raw, ..member })
    }

    /// Settles the links of an archive that has been read to its end.
    pub(super) fn end_archive(&mut self, at: &Place) -> Result<(), UnpackError> {
        let links = std::mem::take(&mut self.links);
        for (path, link) in &links {
            let member = link
                .resolve(path, at.prefix.as_ref(), &links, &self.files)
                .map_err(|why| {
                    let nothing = matches!(why, Refusal::LinkToNothing(_));
                    if nothing && self.is_directory(path, &link.target) {
                        Refusal::LinkToDirectory(link.target.clone())
                    } else {
                        why
                    }
                })
                .map_err(|why| at.path_error(path, why))?
                .clone();
            self.copy(at, path.clone(), Member { raw_name: link.raw_name.clone(), ..member })?;
        }
        Ok(())
    }

    /// Takes a nested archive out of the files, so that its members can stand in its place.
    pub(super) fn open_up(&mut self, path: &RelPath) -> Option<Member> {
        let member = self.files.remove(path)?;
        self.taken.insert(lower(path.as_str()), (path.clone(), Kind::Directory));
        self.bytes -= member.len;
        Some(member)
    }

    /// All files.
    pub(super) fn finish(self, at: &Place) -> Result<BTreeMap<RelPath, Member>, UnpackError> {
        if self.files.is_empty() {
            return Err(at.error(Refusal::Empty));
        }
        Ok(self.files)
    }

    /// Whether a link's target is a directory that is known.
    fn is_directory(&self, link: &RelPath, target: &str) -> bool {
        let above = link.parent().map_or_else(String::new, |parent| format!("{parent}/"));
        let Ok(path) = RelPath::resolve(&format!("{above}{target}")) else { return true };
        self.taken.get(&lower(path.as_str())).is_some_and(|(_, kind)| *kind == Kind::Directory)
    }

    fn copy(&mut self, at: &Place, path: RelPath, member: Member) -> Result<(), UnpackError> {
        if member.len > self.limits.total_bytes - self.bytes {
            return Err(at.path_error(&path, Refusal::TotalBytes(self.limits.total_bytes)));
        }
        self.bytes += member.len;
        self.files.insert(path, member);
        Ok(())
    }

    /// Counts an entry and checks its name.
    fn admit(&mut self, at: &Place, name: RawName<'_>) -> Result<Option<Name>, UnpackError> {
        self.members += 1;
        if self.members > self.limits.members {
            return Err(at.error(Refusal::Members(self.limits.members)));
        }
        names::check(name, at.prefix.as_ref(), self.limits).map_err(|why| at.entry_error(name, why))
    }

    /// Reserves a path and the directories above it.
    fn take(&mut self, at: &Place, path: &RelPath, kind: Kind) -> Result<(), UnpackError> {
        match self.taken.get(&lower(path.as_str())) {
            None => {}
            Some((there, _)) if there != path => {
                return Err(at.path_error(path, Refusal::CaseClash(there.to_string())));
            }
            Some((_, Kind::Directory)) if kind == Kind::Directory => return Ok(()),
            Some((_, Kind::File)) if kind == Kind::File => {
                return Err(at.path_error(path, Refusal::Duplicate));
            }
            Some(_) => {
                return Err(at.path_error(path, Refusal::FileAsDirectory(path.to_string())));
            }
        }
        let mut above = path.parent();
        while let Some(directory) = above {
            let key = lower(directory.as_str());
            match self.taken.get(&key) {
                None => {}
                Some((there, _)) if *there != directory => {
                    return Err(at.path_error(path, Refusal::CaseClash(there.to_string())));
                }
                Some((_, Kind::Directory)) => break,
                Some((_, Kind::File)) => {
                    let why = Refusal::FileAsDirectory(directory.to_string());
                    return Err(at.path_error(path, why));
                }
            }
            above = directory.parent();
            self.taken.insert(key, (directory, Kind::Directory));
        }
        self.taken.insert(lower(path.as_str()), (path.clone(), kind));
        Ok(())
    }
}

/// Letter by letter, so that no letter depends on its neighbours.
fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}
