//! Where symbolic links of an archive end.
//!
//! A link becomes a copy of the file at its end. It must stay inside its own archive, step by step; one to a directory,
//! to nothing or in a circle is refused, because the package would mean something else without it.

use std::collections::BTreeMap;

use super::Member;
use super::refusal::Refusal;
use crate::name::RelPath;

/// The kernel's own limit is 40.
const MOST_STEPS: usize = 40;

/// A link before it is settled.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) target: String,
    pub(super) raw_name: Option<String>,
}

impl Link {
    /// The file at its end. `root` is the directory that it may not leave; none is the package's own.
    pub(super) fn resolve<'f>(
        &self,
        at: &RelPath,
        root: Option<&RelPath>,
        links: &BTreeMap<RelPath, Self>,
        files: &'f BTreeMap<RelPath, Member>,
    ) -> Result<&'f Member, Refusal> {
        let mut at = at.clone();
        let mut link = self;
        for _ in 0..MOST_STEPS {
            let next = step(&at, &link.target, root)
                .ok_or_else(|| Refusal::LinkOutside(self.target.clone()))?;
            let nothing = || Refusal::LinkToNothing(self.target.clone());
            at = next.parse().map_err(|_| nothing())?;
            match links.get(&at) {
                Some(further) => link = further,
                None => return files.get(&at).ok_or_else(nothing),
            }
        }
        Err(Refusal::LinkCircle)
    }
}

/// The path that a target means, seen from a link. By its text: a directory on the way can be no link, as links to
/// directories are refused.
fn step(link: &RelPath, target: &str, root: Option<&RelPath>) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let floor = root.map_or(0, |root| root.as_str().split('/').count());
    let mut parts: Vec<&str> = link.as_str().split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.len() <= floor => return None,
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::BlobId;

    fn member() -> Member {
        Member { blob: BlobId::of(b""), len: 0, raw_name: None, was_executable: false }
    }

    fn end(link: &str, all: &[(&str, &str)], root: Option<&str>) -> Result<(), Refusal> {
        let files: BTreeMap<RelPath, Member> =
            ["f", "a/f", "z/b.zip/f"].map(|path| (path.parse().unwrap(), member())).into();
        let links: BTreeMap<RelPath, Link> = all
            .iter()
            .map(|(path, target)| {
                (path.parse().unwrap(), Link { target: (*target).into(), raw_name: None })
            })
            .collect();
        let root = root.map(|root| root.parse().unwrap());
        let path = link.parse().unwrap();
        links[&path].resolve(&path, root.as_ref(), &links, &files).map(drop)
    }

    #[test]
    fn a_link_ends_at_a_file_inside_or_is_refused() {
        let one = |path, target| end(path, &[(path, target)], None);
        assert_eq!(one("l", "a/f"), Ok(()));
        assert_eq!(one("a/l", ".././a//f"), Ok(()));
        assert_eq!(one("a/l", "../../f"), Err(Refusal::LinkOutside("../../f".into())));
        assert_eq!(one("l", "/f"), Err(Refusal::LinkOutside("/f".into())));
        assert_eq!(one("l", "gone"), Err(Refusal::LinkToNothing("gone".into())));
        assert_eq!(one("l", "f/f"), Err(Refusal::LinkToNothing("f/f".into())));
        assert_eq!(one("l", "l"), Err(Refusal::LinkCircle));
        assert_eq!(end("l", &[("l", "a/m"), ("a/m", "../f")], None), Ok(()));
        let circle = end("l", &[("l", "a/m"), ("a/m", "../l")], None);
        assert_eq!(circle, Err(Refusal::LinkCircle));
    }

    #[test]
    fn a_link_of_a_nested_archive_stays_in_that_archive() {
        let root = Some("z/b.zip");
        assert_eq!(end("z/b.zip/l", &[("z/b.zip/l", "./f")], root), Ok(()));
        assert!(matches!(
            end("z/b.zip/l", &[("z/b.zip/l", "../../f")], root),
            Err(Refusal::LinkOutside(_))
        ));
    }
}
