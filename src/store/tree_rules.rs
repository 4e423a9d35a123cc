//! What a tree may hold, and its listing read back.
//!
//! The same rules at every door: capturing a directory, putting a tree, reading one (it may come from elsewhere).
//! A path lies inside the tree by its type; here it is checked that nothing stands below a file or a link, and that
//! following a link, step by step through other links as the kernel would, ends at something inside the tree. So
//! laying out a checked tree cannot write, and reading it cannot look, outside.

use std::collections::{BTreeSet, VecDeque};

use crate::artifact::{Entry, Tree};
use crate::name::RelPath;

/// The kernel's own limit is 40.
const MOST_LINKS: usize = 40;

/// Checks a tree.
///
/// # Errors
/// The first offending path, with the rule it breaks.
pub(super) fn check(tree: &Tree) -> Result<(), (RelPath, String)> {
    let mut dirs = BTreeSet::new();
    for path in tree.0.keys() {
        let mut at = path.parent();
        while let Some(dir) = at {
            match tree.0.get(&dir) {
                None => {}
                Some(Entry::Dir) => return Err((dir, "it is listed as empty and is not".into())),
                Some(Entry::File { .. } | Entry::Link { .. }) => {
                    return Err((path.clone(), format!("`{dir}` above it is no directory")));
                }
            }
            at = dir.parent();
            if !dirs.insert(dir) {
                break;
            }
        }
    }
    for (path, entry) in &tree.0 {
        if let Entry::Link { target } = entry {
            follow(tree, &dirs, path, target)
                .map_err(|why| (path.clone(), format!("its target `{target}` {why}")))?;
        }
    }
    Ok(())
}

/// Follows a link to its end.
fn follow(
    tree: &Tree,
    dirs: &BTreeSet<RelPath>,
    link: &RelPath,
    target: &str,
) -> Result<(), &'static str> {
    let mut at: Vec<String> = link
        .parent()
        .map(|p| p.as_str().split('/').map(str::to_owned).collect())
        .unwrap_or_default();
    let mut ahead: VecDeque<String> = VecDeque::new();
    let mut links = 0;
    let mut next = Some(target.to_owned());
    loop {
        if let Some(target) = next.take() {
            links += 1;
            if links > MOST_LINKS {
                return Err("leads in a circle");
            }
            if target.is_empty() || target.contains('\0') {
                return Err("is no path");
            }
            if target.starts_with('/') {
                return Err("is absolute");
            }
            for part in target.rsplit('/') {
                ahead.push_front(part.to_owned());
            }
        }
        let Some(part) = ahead.pop_front() else { return Ok(()) };
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                if at.pop().is_none() {
                    return Err("leaves the tree");
                }
                continue;
            }
            _ => at.push(part),
        }
        let Ok(path) = at.join("/").parse::<RelPath>() else { return Err("is not in the tree") };
        match tree.0.get(&path) {
            Some(Entry::Link { target }) => {
                next = Some(target.clone());
                at.pop();
            }
            Some(Entry::File { .. }) if ahead.is_empty() => return Ok(()),
            Some(Entry::File { .. }) => return Err("goes through a file"),
            Some(Entry::Dir) => {}
            None if dirs.contains(&path) => {}
            None => return Err("is not in the tree"),
        }
    }
}

/// Reads a listing as [`Tree::listing`] writes it; anything else, also in another order, is refused.
pub(super) fn parse(listing: &str) -> Option<Tree> {
    let mut rest = listing.strip_prefix("ngcc tree 1\n")?;
    let mut tree = Tree::default();
    while !rest.is_empty() {
        let (kind, tail) = rest.split_once(' ')?;
        let (entry, tail) = match kind {
            "f" | "x" => {
                let (blob, tail) = tail.split_once(' ')?;
                let (len, tail) = tail.split_once(' ')?;
                let (blob, len) = (blob.parse().ok()?, len.parse().ok()?);
                (Entry::File { blob, len, executable: kind == "x" }, tail)
            }
            "d" => (Entry::Dir, tail),
            "l" => {
                let (len, tail) = tail.split_once(' ')?;
                let (target, tail) = tail.split_at_checked(len.parse().ok()?)?;
                (Entry::Link { target: target.to_owned() }, tail.strip_prefix(' ')?)
            }
            _ => return None,
        };
        let (path, tail) = tail.split_once('\n')?;
        tree.0.insert(path.parse().ok()?, entry);
        rest = tail;
    }
    (tree.listing() == listing).then_some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::BlobId;

    fn tree(entries: &[(&str, &str)]) -> Tree {
        let entry = |text: &str| match text.split_once(' ') {
            Some((_, target)) => Entry::Link { target: target.into() },
            None if text == "dir" => Entry::Dir,
            None => Entry::File { blob: BlobId::of(b"x"), len: 1, executable: text == "exec" },
        };
        Tree(entries.iter().map(|(path, text)| (path.parse().unwrap(), entry(text))).collect())
    }

    fn why(entries: &[(&str, &str)]) -> String {
        let (path, why) = check(&tree(entries)).unwrap_err();
        format!("{path}: {why}")
    }

    #[test]
    fn links_that_end_inside_the_tree_are_fine() {
        check(&tree(&[
            ("a/b/file", "file"),
            ("a/link", "-> b/file"),
            ("up", "-> a/b/../link"),
            ("dir", "-> a"),
            ("through", "-> dir/b/./file"),
            ("a/self", "-> .."),
            ("void", "dir"),
            ("to void", "-> void"),
        ]))
        .unwrap();
    }

    #[test]
    fn links_that_do_not_are_refused_with_the_path() {
        assert_eq!(why(&[("l", "-> /etc/passwd")]), "l: its target `/etc/passwd` is absolute");
        assert_eq!(why(&[("a/l", "-> ../../x")]), "a/l: its target `../../x` leaves the tree");
        assert_eq!(why(&[("l", "-> gone")]), "l: its target `gone` is not in the tree");
        assert_eq!(why(&[("l", "-> l")]), "l: its target `l` leads in a circle");
        assert!(why(&[("p", "-> q"), ("q", "-> p")]).contains("circle"));
        assert!(why(&[("f", "file"), ("l", "-> f/x")]).contains("through a file"));
        // By its text `d/../x` stays inside; through the link it does not.
        assert!(why(&[("d", "-> ."), ("l", "-> d/../x"), ("x", "file")]).contains("leaves"));
    }

    #[test]
    fn nothing_stands_below_a_file_or_a_link() {
        assert!(why(&[("a", "file"), ("a/b", "file")]).contains("no directory"));
        assert!(why(&[("a", "-> c"), ("a/b", "file"), ("c/d", "file")]).contains("no directory"));
        assert!(why(&[("a", "dir"), ("a/b", "file")]).contains("empty"));
    }

    #[test]
    fn a_listing_is_read_back_and_any_other_text_is_not() {
        let tree = tree(&[
            ("a b/ü x", "file"),
            ("run", "exec"),
            ("empty", "dir"),
            ("l", "-> a b/ü x"),
            ("strange", "-> odd\nname run"),
        ]);
        let listing = tree.listing();
        assert_eq!(parse(&listing), Some(tree));
        for cut in 0..listing.len() {
            // A cut at a line end is a smaller tree; its id tells.
            if let Some(part) = listing.get(..cut)
                && !part.ends_with('\n')
            {
                assert_eq!(parse(part), None, "{part:?}");
            }
        }
        let hex = BlobId::of(b"x");
        assert_eq!(parse(&format!("ngcc tree 1\nf {hex} 1 ../x\n")), None);
        assert_eq!(parse(&format!("ngcc tree 1\nf {hex} 1 /x\n")), None);
        assert_eq!(parse("ngcc tree 1\nd b\nd a\n"), None);
        assert_eq!(parse("ngcc tree 1\nd a\nd a\n"), None);
    }
}
