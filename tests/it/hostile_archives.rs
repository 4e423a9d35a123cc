//! Archives made to do harm, or broken: each is refused with its own message, and leaves nothing behind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ngcc::package::{self, Call, CallError, External, Limits, Package, UnpackError};
use ngcc::store::Store;
use proptest::prelude::{ProptestConfig, any, prop};

use crate::archive_bytes::{
    ZipFile, deflate, gzip, pax, tar, tar_entry, tar_header, unicode_extra, zip, zip_of,
};

/// A machine without any program for archives.
struct NoTools;

impl External for NoTools {
    fn run(&self, _: Call<'_>) -> Result<(), CallError> {
        Err(CallError::Missing)
    }
}

/// A directory with a store and an archive, and a file beside them that nobody may touch.
struct Bench {
    dir: tempfile::TempDir,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "untouched").unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        Self { dir, store }
    }

    fn archive(&self, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join("pkg.zip");
        fs::write(&path, bytes).unwrap();
        path
    }

    fn unpack(
        &self,
        bytes: &[u8],
        nested: &[&str],
        limits: &Limits,
    ) -> Result<Package, UnpackError> {
        self.unpack_with(bytes, nested, limits, &NoTools)
    }

    fn unpack_with(
        &self,
        bytes: &[u8],
        nested: &[&str],
        limits: &Limits,
        external: &dyn External,
    ) -> Result<Package, UnpackError> {
        let nested: Vec<String> = nested.iter().map(|path| (*path).to_owned()).collect();
        let result = package::unpack(&self.store, &self.archive(bytes), &nested, limits, external);
        self.assert_clean();
        result
    }

    /// Nothing stands beside the store, nothing half-written in it, and no name of an entry anywhere.
    fn assert_clean(&self) {
        assert_eq!(names(self.dir.path()), ["pkg.zip", "store", "x"]);
        assert_eq!(fs::read(self.dir.path().join("x")).unwrap(), b"untouched");
        let known = [
            "blobs",
            "damaged",
            "format",
            "index",
            "lock",
            "pending",
            "records",
            "references",
            "runs",
            "stat-cache",
            "tmp",
            "trees",
            "pages",
            "cache",
        ];
        for name in names(self.store.root()) {
            assert!(known.contains(&name.as_str()), "store/{name}");
        }
        for session in fs::read_dir(self.store.root().join("tmp")).unwrap() {
            let path = session.unwrap().path();
            assert!(path.is_file() || names(&path) == ["alive"], "{:?}", names(&path));
        }
        for blob in walkdir::WalkDir::new(self.store.root().join("blobs")) {
            let blob = blob.unwrap();
            let name = blob.file_name().to_str().unwrap();
            assert!(name == "blobs" || name.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
        }
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Unpacks what must be refused; gives the message.
fn refused(bench: &Bench, bytes: &[u8], nested: &[&str], limits: &Limits) -> String {
    let error = bench.unpack(bytes, nested, limits).unwrap_err();
    assert!(error.refusal().is_some(), "{error}");
    error.to_string()
}

/// Each archive of a table is refused with its message.
fn all_refused(table: &[(&str, Vec<u8>, &str)]) {
    let bench = Bench::new();
    for (what, bytes, message) in table {
        let said = refused(&bench, bytes, &[], &Limits::default());
        assert_eq!(said, *message, "{what}");
    }
}

/// One harmless file, then the given one.
fn zip_with(file: ZipFile) -> Vec<u8> {
    zip(&[ZipFile::new("a/ok.c", "fine"), file])
}

fn tar_with(entries: &[Vec<u8>]) -> Vec<u8> {
    let ok = tar_entry(b"a/ok.c", b'0', b"", b"fine");
    tar(&[vec![ok], entries.to_vec()].concat())
}

#[test]
fn a_zip_whose_names_lead_elsewhere_is_refused() {
    let name = |name: &[u8]| zip_with(ZipFile::new(name, "evil"));
    all_refused(&[
        ("absolute", name(b"/x"), "`pkg.zip`: entry `/x`: its name is an absolute path"),
        ("drive", name(b"C:\\x"), "`pkg.zip`: entry `C:\\x`: its name is an absolute path"),
        (
            "host",
            name(b"\\\\host\\x"),
            "`pkg.zip`: entry `\\\\host\\x`: its name is an absolute path",
        ),
        (
            "upwards",
            name(b"../x"),
            "`pkg.zip`: entry `../x`: its name has a part `..`, which leads upwards",
        ),
        (
            "upwards inside",
            name(b"a/../../x"),
            "`pkg.zip`: entry `a/../../x`: its name has a part `..`, which leads upwards",
        ),
        (
            "upwards by backslash",
            name(b"a\\..\\..\\x"),
            "`pkg.zip`: entry `a\\..\\..\\x`: its name has a part `..`, which leads upwards",
        ),
        (
            "what is left when `../` is cut out",
            name(b"..././x"),
            "`pkg.zip`: entry `..././x`: its name has a part made of dots only",
        ),
        (
            "a dot inside",
            name(b"a/./x"),
            "`pkg.zip`: entry `a/./x`: its name has a part made of dots only",
        ),
        (
            "backslash",
            name(b"a\\x"),
            "`pkg.zip`: entry `a\\x`: its name has a backslash, which separates directories for some programs and not for others; pack it again with `/`",
        ),
        ("nothing", name(b""), "`pkg.zip`: entry ``: its name is empty"),
        (
            "an empty part",
            name(b"a//x"),
            "`pkg.zip`: entry `a//x`: its name has an empty part (`//`)",
        ),
        (
            "NUL",
            name(b"a.c\0.txt"),
            "`pkg.zip`: entry `a.c\\u{0}.txt`: its name has a control character",
        ),
        ("newline", name(b"a\nb"), "`pkg.zip`: entry `a\\nb`: its name has a control character"),
        (
            "escape",
            name(b"a\x1b[2Jb"),
            "`pkg.zip`: entry `a\\u{1b}[2Jb`: its name has a control character",
        ),
        (
            "no text",
            name(b"a\xff.c"),
            "`pkg.zip`: entry `a\u{fffd}.c`: its name is neither UTF-8 nor GB18030",
        ),
        (
            "deep",
            name(&b"d/".repeat(41)[..81]),
            &format!(
                "`pkg.zip`: entry `{}`: its path has more than 40 parts",
                &"d/".repeat(41)[..81]
            ),
        ),
        (
            "a directory upwards",
            zip_with(ZipFile::new("../d/", "")),
            "`pkg.zip`: entry `../d/`: its name has a part `..`, which leads upwards",
        ),
        (
            "upwards in the Unicode name only",
            zip_with(ZipFile {
                extra: unicode_extra(b"fine.c", "../x"),
                ..ZipFile::new("fine.c", "evil")
            }),
            "`pkg.zip`: entry `../x`: its name has a part `..`, which leads upwards",
        ),
    ]);
    let bench = Bench::new();
    let said = refused(&bench, &name(&[b'a'; 256]), &[], &Limits::default());
    assert!(said.ends_with("a…`: a part of its name is longer than 255 bytes"), "{said}");
    let long = [&[b'a'; 250][..], b"/"].concat().repeat(9);
    let said = refused(&bench, &name(&long[..2200]), &[], &Limits::default());
    assert!(said.ends_with("its path is longer than 2000 bytes"), "{said}");
}

#[test]
fn entries_that_stand_in_each_others_way_are_refused() {
    let two = |one: &[u8], other: &[u8]| zip(&[ZipFile::new(one, "1"), ZipFile::new(other, "2")]);
    let gbk = b"\xd6\xd0.c";
    all_refused(&[
        (
            "one name",
            two(b"a.c", b"a.c"),
            "`pkg.zip`: entry `a.c`: another entry has the same name",
        ),
        (
            "one name by way of `./`",
            two(b"a.c", b"./a.c"),
            "`pkg.zip`: entry `a.c`: another entry has the same name",
        ),
        (
            "one name once decoded",
            two("中.c".as_bytes(), gbk),
            "`pkg.zip`: entry `中.c`: another entry has the same name",
        ),
        (
            "letter case",
            two(b"a/Kem.c", b"a/kem.C"),
            "`pkg.zip`: entry `a/kem.C`: its name differs only by letter case from `a/Kem.c`",
        ),
        (
            "letter case of other letters",
            two("ДА.c".as_bytes(), "да.c".as_bytes()),
            "`pkg.zip`: entry `да.c`: its name differs only by letter case from `ДА.c`",
        ),
        (
            "letter case of directories",
            two(b"Src/a.c", b"src/b.c"),
            "`pkg.zip`: entry `src/b.c`: its name differs only by letter case from `Src`",
        ),
        (
            "below a file",
            two(b"a", b"a/b"),
            "`pkg.zip`: entry `a/b`: `a` is a file and would have to be a directory",
        ),
        (
            "a file where a directory is",
            two(b"a/b", b"a"),
            "`pkg.zip`: entry `a`: `a` is a file and would have to be a directory",
        ),
    ]);
    let bench = Bench::new();
    let dir = zip(&[ZipFile::new("a", "1"), ZipFile::new("a/", "")]);
    let said = refused(&bench, &dir, &[], &Limits::default());
    assert_eq!(said, "`pkg.zip`: entry `a`: `a` is a file and would have to be a directory");
}

#[test]
fn links_of_a_zip_that_lead_nowhere_good_are_refused() {
    let link = |target: &str| zip_with(ZipFile::new("a/l", target).stored().mode(0o120_777));
    let through =
        zip(&[ZipFile::new("d", "/tmp").stored().mode(0o120_777), ZipFile::new("d/x", "evil")]);
    all_refused(&[
        (
            "outside",
            link("../../x"),
            "`pkg.zip`: entry `a/l`: it is a link to `../../x`, outside of the archive",
        ),
        (
            "absolute",
            link("/etc/passwd"),
            "`pkg.zip`: entry `a/l`: it is a link to `/etc/passwd`, outside of the archive",
        ),
        (
            "dangling",
            link("gone.c"),
            "`pkg.zip`: entry `a/l`: it is a link to `gone.c`, which is no file of the archive",
        ),
        (
            "directory",
            link("../a"),
            "`pkg.zip`: entry `a/l`: it is a link to the directory `../a`; only links to files can be kept",
        ),
        ("itself", link("l"), "`pkg.zip`: entry `a/l`: it is a link that leads in a circle"),
        ("no target", link(""), "`pkg.zip`: entry `a/l`: it is a link without a usable target"),
        (
            "an endless target",
            link(&"a/".repeat(3000)),
            "`pkg.zip`: entry `a/l`: it is a link without a usable target",
        ),
        (
            "writing through a link",
            through,
            "`pkg.zip`: entry `d/x`: `d` is a file and would have to be a directory",
        ),
        (
            "device",
            zip_with(ZipFile::new("a/dev", "").mode(0o060_600)),
            "`pkg.zip`: entry `a/dev`: it is a device, not a file",
        ),
        (
            "pipe",
            zip_with(ZipFile::new("a/p", "").mode(0o010_600)),
            "`pkg.zip`: entry `a/p`: it is a named pipe, not a file",
        ),
        (
            "socket",
            zip_with(ZipFile::new("a/s", "").mode(0o140_600)),
            "`pkg.zip`: entry `a/s`: it is a socket, not a file",
        ),
        (
            "a directory that holds bytes",
            zip_with(ZipFile::new("a/d/", "evil")),
            "`pkg.zip`: entry `a/d/`: it is no file and has content",
        ),
    ]);
}

#[test]
fn a_zip_that_two_programs_would_read_in_two_ways_is_refused() {
    let file = || ZipFile::new("a.c", "int a;");
    let inner = ZipFile::new("b", "b").stored();
    let outer = ZipFile::new("a", inner.local()).stored();
    // The data of `a` is the entry `b`, as in a bomb whose files share their data.
    let quoted = zip_of(&outer.local(), &[outer.central(0), inner.central(31)]);
    let twice = zip_of(
        &file().local(),
        &[file().central(0), ZipFile { name: b"b.c".to_vec(), ..file() }.central(0)],
    );
    let shared = zip_of(&file().local(), &[file().central(0), file().central(0)]);
    let with_end = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = zip(&[file()]);
        change(&mut bytes);
        bytes
    };
    let end = zip(&[file()]).len() - 22;
    all_refused(&[
        (
            "names differ",
            zip_with(ZipFile { local_name: Some(b"x".to_vec()), ..file() }),
            "`pkg.zip`: entry `a.c`: its two headers differ in the name",
        ),
        (
            "methods differ",
            zip_with(ZipFile { local_method: Some(0), ..file() }),
            "`pkg.zip`: entry `a.c`: its two headers differ in the compression method",
        ),
        (
            "lengths differ",
            zip_with(ZipFile { local_len: Some(5), ..file() }),
            "`pkg.zip`: entry `a.c`: its two headers differ in the length",
        ),
        (
            "quoted entries",
            quoted,
            "`pkg.zip`: entry `a`: its data overlaps that of `b`, as in a decompression bomb",
        ),
        (
            "one place for two names",
            twice,
            "`pkg.zip`: entry `b.c`: its two headers differ in the name",
        ),
        (
            "one place twice",
            shared,
            "`pkg.zip`: entry `a.c`: its data overlaps that of `a.c`, as in a decompression bomb",
        ),
        (
            "something in front",
            [b"#!/bin/sh\n".to_vec(), zip(&[file()])].concat(),
            "`pkg.zip`: it is no archive of a known kind (ZIP, tar, tar.gz, tar.xz, tar.zst, 7z, RAR)",
        ),
        (
            "an archive in front",
            [zip(&[file()]), zip(&[file()])].concat(),
            "`pkg.zip`: it is damaged: the central directory is not where the end record says",
        ),
        (
            "something behind",
            with_end(&|b| b.push(0)),
            "`pkg.zip`: it is truncated: the end record of the ZIP is missing",
        ),
        (
            "an end record in the comment",
            with_end(&|b| {
                let again = b[end..].to_vec();
                b[end + 20] = 22;
                b.extend(again);
            }),
            "`pkg.zip`: it is damaged: it has two end records",
        ),
        (
            "a missing entry",
            with_end(&|b| (b[end + 8], b[end + 10]) = (2, 2)),
            "`pkg.zip`: it is damaged: the central directory has another number of entries than stated",
        ),
        (
            "several parts",
            with_end(&|b| b[end + 4] = 1),
            "`pkg.zip`: a ZIP in several parts is not supported",
        ),
        ("no entries", zip(&[]), "`pkg.zip`: it holds no file"),
        ("only a directory", zip(&[ZipFile::new("a/", "")]), "`pkg.zip`: it holds no file"),
        (
            "data outside",
            zip_of(b"PK\x03\x04", &[file().central(4_000_000)]),
            "`pkg.zip`: entry `a.c`: it is damaged: its data is not before the central directory",
        ),
        (
            "no local header",
            zip_of(&[b"PK\x03\x04".to_vec(), vec![0; 60]].concat(), &[file().central(9)]),
            "`pkg.zip`: entry `a.c`: it is damaged: it has no local header where the central directory says",
        ),
    ]);
}

#[test]
fn a_zip_that_cannot_be_read_rightly_is_refused() {
    let file = || ZipFile::new("a.c", "int a;");
    let whole = zip(&[file()]);
    let cut = whole[..whole.len() - 10].to_vec();
    all_refused(&[
        (
            "encrypted",
            zip_with(ZipFile { flags: 1, ..file() }),
            "`pkg.zip`: entry `a.c`: it is encrypted",
        ),
        (
            "encrypted by AES",
            zip_with(ZipFile { method: 99, ..file() }),
            "`pkg.zip`: entry `a.c`: it is encrypted",
        ),
        (
            "patch data",
            zip_with(ZipFile { flags: 32, ..file() }),
            "`pkg.zip`: entry `a.c`: patch data in a ZIP is not supported",
        ),
        (
            "method",
            zip_with(ZipFile { method: 14, ..file() }),
            "`pkg.zip`: entry `a.c`: it is compressed by method 14, which is not supported; pack it again with Deflate",
        ),
        (
            "checksum",
            zip_with(ZipFile { crc: Some(7), ..file() }),
            "`pkg.zip`: entry `a.c`: its checksum is wrong",
        ),
        (
            "no deflate",
            zip_with(ZipFile { packed: Some(vec![0xff; 9]), ..file() }),
            "`pkg.zip`: entry `a.c`: it is damaged: corrupt deflate stream",
        ),
        (
            "half of the data",
            zip_with(ZipFile { packed: Some(deflate(b"int a;")[..4].to_vec()), ..file() }),
            "`pkg.zip`: entry `a.c`: it is truncated: its data ends early",
        ),
        (
            "more than stated",
            zip_with(ZipFile { len: Some(3), ..file() }),
            "`pkg.zip`: entry `a.c`: it holds more than the 3 bytes that its header states",
        ),
        (
            "less than stated",
            zip_with(ZipFile { len: Some(9), ..file() }),
            "`pkg.zip`: entry `a.c`: it holds 6 bytes where its header states 9",
        ),
        ("cut off", cut, "`pkg.zip`: it is truncated: the end record of the ZIP is missing"),
        (
            "nothing at all",
            Vec::new(),
            "`pkg.zip`: it is no archive of a known kind (ZIP, tar, tar.gz, tar.xz, tar.zst, 7z, RAR)",
        ),
        (
            "a web page",
            b"<html>404</html>".to_vec(),
            "`pkg.zip`: it is no archive of a known kind (ZIP, tar, tar.gz, tar.xz, tar.zst, 7z, RAR)",
        ),
    ]);
}

#[test]
fn a_tar_made_to_do_harm_is_refused() {
    let file = |name: &[u8]| tar_with(&[tar_entry(name, b'0', b"", b"evil")]);
    let link = |kind, target: &[u8]| tar_with(&[tar_entry(b"a/l", kind, target, b"")]);
    let through =
        tar_with(&[tar_entry(b"d", b'2', b"/tmp", b""), tar_entry(b"d/x", b'0', b"", b"evil")]);
    let short_header = tar_header(b"b", b'0', b"", 4000);
    let mut no_mark = tar_with(&[]);
    no_mark.truncate(no_mark.len() - 1024);
    let mut bad_sum = tar_with(&[tar_entry(b"b", b'0', b"", b"b")]);
    bad_sum[1024] = b'c';
    let with_name = |name: &[u8]| {
        [tar_entry(b"@", b'L', b"", name), tar_entry(b"fine", b'0', b"", b"evil")].concat()
    };
    all_refused(&[
        ("absolute", file(b"/x"), "`pkg.zip`: entry `/x`: its name is an absolute path"),
        (
            "upwards",
            file(b"a/../../x"),
            "`pkg.zip`: entry `a/../../x`: its name has a part `..`, which leads upwards",
        ),
        ("no name", file(b""), "`pkg.zip`: entry ``: its name is empty"),
        ("only a dot", file(b"."), "`pkg.zip`: entry `.`: its name is empty"),
        (
            "upwards in a long name",
            tar_with(&[with_name(b"../x\0")]),
            "`pkg.zip`: entry `../x`: its name has a part `..`, which leads upwards",
        ),
        (
            "NUL in a long name",
            tar_with(&[with_name(b"a\0b\0")]),
            "`pkg.zip`: entry `a\\u{0}b`: its name has a control character",
        ),
        (
            "upwards in a POSIX name",
            tar_with(&[pax(&[("path", b"../x")]), tar_entry(b"fine", b'0', b"", b"")]),
            "`pkg.zip`: entry `../x`: its name has a part `..`, which leads upwards",
        ),
        (
            "newline in a POSIX name",
            tar_with(&[pax(&[("path", b"a\nb")]), tar_entry(b"fine", b'0', b"", b"")]),
            "`pkg.zip`: entry `a\\nb`: its name has a control character",
        ),
        (
            "another length by POSIX",
            tar_with(&[
                pax(&[("size", b"0")]),
                tar_entry(b"b", b'0', b"", &tar_entry(b"hidden", b'0', b"", b"evil")),
            ]),
            "`pkg.zip`: entry `b`: its two headers differ in the length",
        ),
        (
            "a long name of megabytes",
            tar_with(&[with_name(&vec![b'a'; 1 << 20])]),
            "`pkg.zip`: it is damaged: a name or header of 1048576 bytes",
        ),
        (
            "a long name for nothing",
            tar_with(&[tar_entry(b"@", b'L', b"", b"a\0")]),
            "`pkg.zip`: it is truncated: the entry after the last name is missing",
        ),
        (
            "a link outside",
            link(b'2', b"../../x"),
            "`pkg.zip`: entry `a/l`: it is a link to `../../x`, outside of the archive",
        ),
        (
            "a link to nothing",
            link(b'2', b"gone"),
            "`pkg.zip`: entry `a/l`: it is a link to `gone`, which is no file of the archive",
        ),
        (
            "a link then written through",
            through,
            "`pkg.zip`: entry `d/x`: `d` is a file and would have to be a directory",
        ),
        (
            "a hard link outside",
            link(b'1', b"../x"),
            "`pkg.zip`: entry `a/l`: it is a link to `../x`, outside of the archive",
        ),
        (
            "an absolute hard link",
            link(b'1', b"/etc/passwd"),
            "`pkg.zip`: entry `a/l`: it is a link to `/etc/passwd`, outside of the archive",
        ),
        (
            "a hard link to nothing",
            link(b'1', b"gone"),
            "`pkg.zip`: entry `a/l`: it is a hard link to `gone`, which is no file before it in the archive",
        ),
        (
            "a hard link without target",
            link(b'1', b""),
            "`pkg.zip`: entry `a/l`: it is a link without a usable target",
        ),
        ("a device", link(b'3', b""), "`pkg.zip`: entry `a/l`: it is a device, not a file"),
        ("a pipe", link(b'6', b""), "`pkg.zip`: entry `a/l`: it is a named pipe, not a file"),
        (
            "a sparse file",
            link(b'S', b""),
            "`pkg.zip`: entry `a/l`: a sparse file in a tar is not supported",
        ),
        (
            "an unknown kind",
            link(b'Z', b""),
            "`pkg.zip`: entry `a/l`: it is a thing of an unknown kind, not a file",
        ),
        (
            "a directory that holds bytes",
            tar_with(&[tar_entry(b"d", b'5', b"", b"evil")]),
            "`pkg.zip`: entry `d`: it is no file and has content",
        ),
        (
            "one name twice",
            file(b"a/ok.c"),
            "`pkg.zip`: entry `a/ok.c`: another entry has the same name",
        ),
        (
            "letter case",
            file(b"a/OK.c"),
            "`pkg.zip`: entry `a/OK.c`: its name differs only by letter case from `a/ok.c`",
        ),
        (
            "cut off in the data",
            [tar_entry(b"a", b'0', b"", b"a"), short_header, vec![1; 100]].concat(),
            "`pkg.zip`: entry `b`: it holds 100 bytes where its header states 4000",
        ),
        (
            "cut off in a header",
            tar_with(&[])[..1200].to_vec(),
            "`pkg.zip`: it is truncated: its data ends early",
        ),
        (
            "cut off between entries",
            no_mark,
            "`pkg.zip`: it is truncated: the end mark of the tar is missing",
        ),
        (
            "a header of another sum",
            bad_sum,
            "`pkg.zip`: it is damaged: archive header checksum mismatch",
        ),
        (
            "an archive behind",
            [tar_with(&[]), tar_with(&[])].concat(),
            "`pkg.zip`: it is damaged: there is more after the end mark of the tar",
        ),
    ]);
}

#[test]
fn a_compressed_tar_that_is_none_or_broken_is_refused() {
    let good = gzip(&tar_with(&[]));
    let mut wrong_sum = good.clone();
    let at = wrong_sum.len() - 6;
    wrong_sum[at] ^= 1;
    all_refused(&[
        (
            "a compressed text",
            gzip(&vec![b'a'; 2000]),
            "`pkg.zip`: it is compressed, but what it holds is no tar archive",
        ),
        (
            "cut off",
            good[..good.len() / 2].to_vec(),
            "`pkg.zip`: it is truncated: its data ends early",
        ),
        (
            "cut off in the checksum",
            good[..good.len() - 3].to_vec(),
            "`pkg.zip`: it is truncated: its data ends early",
        ),
        (
            "checksum",
            wrong_sum,
            "`pkg.zip`: it is damaged: corrupt gzip stream does not have a matching checksum",
        ),
    ]);
}

#[test]
fn bombs_are_stopped_early() {
    let bench = Bench::new();
    let small = Limits {
        members: 5,
        member_bytes: 1 << 20,
        total_bytes: 3 << 20,
        ratio: 100,
        ratio_from: 64 << 10,
        nested_depth: 1,
        path_depth: 5,
        path_bytes: 100,
    };
    let zeros = |len: usize| ZipFile::new(format!("z{len}"), vec![0; len]);
    let text = |name: &str, len: usize| ZipFile::new(name, vec![b'x'; len]).stored();
    let six: Vec<ZipFile> = (0..6).map(|n| text(&format!("f{n}"), 1)).collect();
    let three: Vec<ZipFile> = (0..4).map(|n| text(&format!("f{n}"), 1 << 20)).collect();
    let lying = ZipFile { len: Some(9), ..zeros(900_000) };
    let links: Vec<Vec<u8>> = [
        vec![tar_entry(b"f", b'0', b"", &vec![1; 1 << 20])],
        (0..3_u8).map(|n| tar_entry(&[b'l', b'0' + n], b'1', b"f", b"")).collect(),
    ]
    .concat();
    let inner = zip(&[zip_inner()]);
    for (bytes, nested, message) in [
        (
            zip(&[zeros(900_000)]),
            &[][..],
            "`pkg.zip`: entry `z900000`: it unpacks to more than 100 times its packed size, as a decompression bomb does",
        ),
        (
            zip(&[lying]),
            &[],
            "`pkg.zip`: entry `z900000`: it holds more than the 9 bytes that its header states",
        ),
        (
            zip(&[text("big", (1 << 20) + 1)]),
            &[],
            "`pkg.zip`: entry `big`: it is longer than 1048576 bytes",
        ),
        (
            zip(&three),
            &[],
            "`pkg.zip`: entry `f3`: with it the package holds more than 3145728 bytes",
        ),
        (zip(&six), &[], "`pkg.zip`: it holds more than 5 entries"),
        (
            tar(&links),
            &[],
            "`pkg.zip`: entry `l2`: with it the package holds more than 3145728 bytes",
        ),
        (
            gzip(&tar(&[tar_entry(b"z", b'0', b"", &vec![0; 900_000])])),
            &[],
            "`pkg.zip`: entry `z`: it unpacks to more than 100 times its packed size, as a decompression bomb does",
        ),
        (
            zip(&[text("a/b/c/d/e/f", 1)]),
            &[],
            "`pkg.zip`: entry `a/b/c/d/e/f`: its path has more than 5 parts",
        ),
        (
            zip(&[ZipFile::new("o.zip", &inner)]),
            &["o.zip", "o.zip/i.zip"],
            "`pkg.zip/o.zip/i.zip`: it is the archive inside 2 others, which is too deep",
        ),
        (
            zip(&[ZipFile::new("o.zip", zip(&[zeros(900_000)])).stored()]),
            &["o.zip"],
            "`pkg.zip/o.zip`: entry `z900000`: it unpacks to more than 100 times its packed size, as a decompression bomb does",
        ),
        (
            zip(&[ZipFile::new("o.zip", &inner)]),
            &["p.zip"],
            "`pkg.zip`: it has no file `p.zip` to unpack as a nested archive",
        ),
        (
            zip(&[ZipFile::new("o.zip", "no")]),
            &["o.zip"],
            "`pkg.zip/o.zip`: it is no archive of a known kind (ZIP, tar, tar.gz, tar.xz, tar.zst, 7z, RAR)",
        ),
    ] {
        assert_eq!(refused(&bench, &bytes, nested, &small), message);
    }
    // A file below the threshold may compress as well as it likes.
    bench.unpack(&zip(&[zeros(60_000)]), &[], &small).unwrap();
}

fn zip_inner() -> ZipFile {
    ZipFile::new("i.zip", zip(&[ZipFile::new("x.c", "x")]))
}

#[test]
fn a_nested_archive_cannot_reach_into_the_outer_one() {
    let bench = Bench::new();
    let outer =
        |inner: Vec<u8>| zip(&[ZipFile::new("d/s.c", "secret"), ZipFile::new("d/i.zip", inner)]);
    let link = zip(&[ZipFile::new("l", "../s.c").stored().mode(0o120_777)]);
    for (inner, message) in [
        (
            zip(&[ZipFile::new("../s.c", "evil")]),
            "`pkg.zip/d/i.zip`: entry `../s.c`: its name has a part `..`, which leads upwards",
        ),
        (link, "`pkg.zip/d/i.zip`: entry `l`: it is a link to `../s.c`, outside of the archive"),
        (
            tar(&[tar_entry(b"l", b'1', b"../s.c", b"")]),
            "`pkg.zip/d/i.zip`: entry `l`: it is a link to `../s.c`, outside of the archive",
        ),
    ] {
        assert_eq!(refused(&bench, &outer(inner), &["d/i.zip"], &Limits::default()), message);
    }
}

#[test]
fn formats_without_a_program_name_the_package_to_install() {
    let start = |magic: &[u8]| [magic, &[0; 600]].concat();
    all_refused(&[
        (
            "xz",
            start(b"\xfd7zXZ\0"),
            "`pkg.zip`: it is an xz stream; to read it, install one of `xz` (Debian: `apt install xz-utils`)",
        ),
        (
            "zstd",
            start(b"\x28\xb5\x2f\xfd"),
            "`pkg.zip`: it is a zstd stream; to read it, install one of `zstd` (Debian: `apt install zstd`)",
        ),
        (
            "7z",
            start(b"7z\xbc\xaf\x27\x1c"),
            "`pkg.zip`: it is a 7z archive; to read it, install one of `7zz`, `7z`, `bsdtar`, `unar` (Debian: `apt install 7zip`)",
        ),
        (
            "RAR",
            start(b"Rar!\x1a\x07\x01\0"),
            "`pkg.zip`: it is a RAR archive; to read it, install one of `bsdtar`, `unrar`, `unar`, `7zz`, `7z` (Debian: `apt install libarchive-tools`)",
        ),
    ]);
}

/// A program that leaves what a test wants in its directory, or writes it to its output.
struct FakeTool<F: Fn(Call<'_>) -> Result<(), CallError>>(F);

impl<F: Fn(Call<'_>) -> Result<(), CallError>> External for FakeTool<F> {
    fn run(&self, call: Call<'_>) -> Result<(), CallError> {
        (self.0)(call)
    }
}

#[test]
fn what_a_program_unpacks_is_taken_by_the_same_rules() {
    let bench = Bench::new();
    let seven = [&b"7z\xbc\xaf\x27\x1c"[..], &[0; 600]].concat();
    let with = |fill: &dyn Fn(&Path)| {
        let tool = FakeTool(|call: Call<'_>| {
            if call.program != "7z" {
                return Err(CallError::Missing);
            }
            fill(call.dir);
            Ok(())
        });
        bench.unpack_with(&seven, &[], &Limits::default(), &tool)
    };
    let good = with(&|dir| fs::write(dir.join("a b.c"), "int a;").unwrap()).unwrap();
    assert_eq!(good.files.keys().map(|path| path.as_str()).collect::<Vec<_>>(), ["a b.c"]);
    let link = |target: &'static str| {
        with(&move |dir| std::os::unix::fs::symlink(target, dir.join("l")).unwrap()).unwrap_err()
    };
    assert_eq!(
        link("../../../x").to_string(),
        "`pkg.zip`: entry `l`: it is a link to `../../../x`, outside of the archive"
    );
    assert_eq!(
        link("/etc/passwd").to_string(),
        "`pkg.zip`: entry `l`: it is a link to `/etc/passwd`, outside of the archive"
    );
    let pipe = with(&|dir| {
        nix::unistd::mkfifo(&dir.join("p"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    });
    assert_eq!(
        pipe.unwrap_err().to_string(),
        "`pkg.zip`: entry `p`: it is a named pipe, not a file"
    );
    let failing =
        FakeTool(|call: Call<'_>| Err(CallError::Failed(format!("`{}` broke", call.program))));
    let said = bench.unpack_with(&seven, &[], &Limits::default(), &failing).unwrap_err();
    assert_eq!(
        said.to_string(),
        "`pkg.zip`: it is a 7z archive, and it could not be unpacked: `7zz` broke; `7z` broke; `bsdtar` broke; `unar` broke"
    );
}

#[test]
fn a_bomb_behind_a_program_is_stopped_while_it_streams() {
    let bench = Bench::new();
    let zst = [&b"\x28\xb5\x2f\xfd"[..], &[0; 600]].concat();
    let header = tar_header(b"z", b'0', b"", 1 << 32);
    let tool = FakeTool(|call: Call<'_>| {
        let mut endless = header.as_slice().chain(std::io::repeat(0));
        call.output.unwrap()(&mut endless).unwrap();
        Err(CallError::Failed("`zstd` was ended by signal 13".to_owned()))
    });
    let said = bench.unpack_with(&zst, &[], &Limits::default(), &tool).unwrap_err();
    assert_eq!(
        said.to_string(),
        "`pkg.zip`: entry `z`: it unpacks to more than 250 times its packed size, as a decompression bomb does"
    );
}

#[test]
fn a_flipped_byte_of_a_zip_never_makes_other_files() {
    let bench = Bench::new();
    let bytes =
        zip(&[ZipFile::new("a/one.c", "int one;"), ZipFile::new("二.c", "int two;").stored()]);
    let good = bench.unpack(&bytes, &[], &Limits::default()).unwrap();
    let store = &bench.store;
    for at in 0..bytes.len() {
        for flip in [0x01, 0x20, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            let path = bench.archive(&bytes);
            match package::unpack(store, &path, &[], &Limits::default(), &NoTools) {
                Ok(package) => assert_eq!(package.files, good.files, "byte {at}, {flip:#x}"),
                Err(error) => assert!(error.refusal().is_some(), "byte {at}: {error}"),
            }
        }
    }
    bench.assert_clean();
}

proptest::proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_bytes_and_damaged_archives_end_in_a_package_or_an_error(
        kind in 0..4_usize,
        noise in prop::collection::vec(any::<u8>(), 0..700),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let entries = [
            pax(&[("path", "目录/x.c".as_bytes())]),
            tar_entry(b"fine", b'0', b"", b"int x;"),
            tar_entry(b"a/l", b'2', "../目录/x.c".as_bytes(), b""),
        ];
        let mut bytes = match kind {
            0 => [&b"PK\x03\x04"[..], &noise].concat(),
            1 => zip(&[zip_inner(), ZipFile::new("a/b.c", &noise), ZipFile::new("l", "a/b.c").mode(0o120_777)]),
            2 => tar(&entries),
            _ => gzip(&tar(&entries)),
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let bench = Bench::new();
        if let Ok(package) = bench.unpack(&bytes, &[], &Limits::default()) {
            // What was accepted is a tree that the store takes, too.
            bench.store.put_tree(&package.tree()).unwrap();
        }
    }
}
