//! Packages as people send them: they come out whole, whatever they are packed by.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ngcc::exec::archive_tools::ArchiveTools;
use ngcc::exec::interrupt::Interrupt;
use ngcc::exec::process::{self, Child, Exit, Limits as ChildLimits, Runner, Stdout};
use ngcc::package::{self, Limits, Package, UnpackError};
use ngcc::store::Store;
use sha2::Digest as _;

use crate::archive_bytes::{ZipFile, gzip, pax, tar, tar_entry, unicode_extra, zip};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

struct Bench {
    dir: tempfile::TempDir,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        Self { dir, store }
    }

    fn try_unpack(&self, bytes: &[u8], nested: &[&str]) -> Result<Package, UnpackError> {
        let path = self.dir.path().join("包 1.zip");
        fs::write(&path, bytes).unwrap();
        let nested: Vec<String> = nested.iter().map(|path| (*path).to_owned()).collect();
        let runner = Runner::new(PathBuf::from(env!("CARGO_BIN_EXE_ngcc")));
        let interrupt = Interrupt::none();
        let tools = ArchiveTools::new(&runner, &interrupt, PATH, Duration::from_secs(20));
        package::unpack(&self.store, &path, &nested, &Limits::default(), &tools)
    }

    fn unpack(&self, bytes: &[u8], nested: &[&str]) -> Package {
        self.try_unpack(bytes, nested).unwrap()
    }

    /// Paths and texts.
    fn texts(&self, package: &Package) -> BTreeMap<String, String> {
        let text = |member: &package::Member| {
            let bytes = self.store.read_blob(member.blob).unwrap();
            assert_eq!(bytes.len() as u64, member.len);
            String::from_utf8(bytes).unwrap()
        };
        package.files.iter().map(|(path, member)| (path.to_string(), text(member))).collect()
    }
}

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// The output of an installed program, or nothing when it is not there.
fn packed_by(program: &str, args: &[&str]) -> Option<Vec<u8>> {
    let found = PATH.split(':').map(|dir| Path::new(dir).join(program)).find(|p| p.is_file())?;
    let env = BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]);
    Some(process::ask(&found, args, &env, Duration::from_secs(20)).unwrap())
}

#[test]
fn a_zip_comes_out_whole_and_its_document_is_read_back() {
    let bench = Bench::new();
    let bytes = zip(&[
        ZipFile::new("Implementations and Test_Vectors/", ""),
        ZipFile::new("Implementations and Test_Vectors/中文资料/kem 1.c", "int a;"),
        ZipFile::new("./run.sh", "#!/bin/sh").mode(0o100_755),
        ZipFile::new("empty", "").stored(),
        ZipFile::new("__MACOSX/._run.sh", "junk"),
        ZipFile::new("include/a.h", "../run.sh").stored().mode(0o120_777),
    ]);
    let package = bench.unpack(&bytes, &[]);
    let expected = map(&[
        ("Implementations and Test_Vectors/中文资料/kem 1.c", "int a;"),
        ("__MACOSX/._run.sh", "junk"),
        ("empty", ""),
        ("include/a.h", "#!/bin/sh"),
        ("run.sh", "#!/bin/sh"),
    ]);
    assert_eq!(bench.texts(&package), expected);
    assert_eq!(package.archive, "包 1.zip");
    assert_eq!(package.bytes, bytes.len() as u64);
    assert_eq!(package.sha256, format!("{:x}", sha2::Sha256::digest(&bytes)));
    let run = &package.files[&"run.sh".parse().unwrap()];
    assert!(run.was_executable && run.raw_name.is_none());
    let tree = bench.store.put_tree(&package.tree()).unwrap();
    let out = bench.dir.path().join("out");
    bench.store.lay_out_tree(tree, &out).unwrap();
    let mode = fs::metadata(out.join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0, "nothing of a package is executed");
    let text = serde_json::to_string(&package).unwrap();
    assert_eq!(serde_json::from_str::<Package>(&text).unwrap(), package);
}

#[test]
fn names_from_chinese_windows_are_read_and_their_bytes_are_kept() {
    let bench = Bench::new();
    let gbk = b"\xd6\xd0\xce\xc4\xd7\xca\xc1\xcf/\xb8\xbd\xc2\xbcA.c";
    let raw = b"????/B.c";
    let unicode =
        ZipFile { extra: unicode_extra(raw, "中文资料/B.c"), ..ZipFile::new(raw, "b") };
    let stale = ZipFile { extra: unicode_extra(b"other", "../x"), ..ZipFile::new("c.c", "c") };
    let package = bench.unpack(&zip(&[ZipFile::new(gbk, "a"), unicode, stale]), &[]);
    let expected = map(&[("c.c", "c"), ("中文资料/B.c", "b"), ("中文资料/附录A.c", "a")]);
    assert_eq!(bench.texts(&package), expected);
    let raw_names: Vec<Option<&str>> =
        package.files.values().map(|member| member.raw_name.as_deref()).collect();
    let kept = [None, Some("3f3f3f3f2f422e63"), Some("d6d0cec4d7cac1cf2fb8bdc2bc412e63")];
    assert_eq!(raw_names, kept);
}

#[test]
fn archives_inside_archives_are_unpacked_in_place() {
    let bench = Bench::new();
    let innermost = gzip(&tar(&[tar_entry(b"deep.c", b'0', b"", b"deep")]));
    let inner = zip(&[ZipFile::new("x/t.tar.gz", &innermost).stored(), ZipFile::new("y.c", "y")]);
    let bytes = zip(&[
        ZipFile::new("Others/自评估结果.zip", &inner),
        ZipFile::new("left.zip", &inner),
        ZipFile::new("link.zip", "left.zip").stored().mode(0o120_777),
    ]);
    let nested = ["Others/自评估结果.zip/x/t.tar.gz", "Others/自评估结果.zip"];
    let package = bench.unpack(&bytes, &nested);
    let paths: Vec<&str> = package.files.keys().map(|path| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "Others/自评估结果.zip/x/t.tar.gz/deep.c",
            "Others/自评估结果.zip/y.c",
            "left.zip",
            "link.zip"
        ]
    );
    assert_eq!(package.nested, [nested[1], nested[0]]);
    bench.store.put_tree(&package.tree()).unwrap();
}

/// As `git archive`, GNU tar and macOS write them.
fn tar_of_all_kinds() -> Vec<u8> {
    let long = format!("long/{}/a.c", "n".repeat(120));
    tar(&[
        tar_entry(b"pax_global_header", b'g', b"", b"16 comment=1234\n"),
        tar_entry(b"./", b'5', b"", b""),
        tar_entry(b"./src/a.c", b'0', b"", b"a"),
        tar_entry(b"./src/b.c", b'1', b"./src/a.c", b""),
        tar_entry(b"c.c", b'2', b"src/d.c", b""),
        tar_entry(b"src/d.c", b'2', b"./a.c", b""),
        tar_entry(b"@", b'L', b"", long.as_bytes()),
        tar_entry(b"long", b'0', b"", b"long"),
        pax(&[("SCHILY.xattr.x", b"\n9 a=\n"), ("path", "资料/p.c".as_bytes())]),
        tar_entry(b"p.c", b'0', b"", b"p"),
    ])
}

fn assert_all_kinds(bench: &Bench, package: &Package) {
    let long = format!("long/{}/a.c", "n".repeat(120));
    let expected = map(&[
        ("c.c", "a"),
        (&long, "long"),
        ("src/a.c", "a"),
        ("src/b.c", "a"),
        ("src/d.c", "a"),
        ("资料/p.c", "p"),
    ]);
    assert_eq!(bench.texts(package), expected);
}

#[test]
fn a_tar_and_a_tar_gz_come_out_whole() {
    let bench = Bench::new();
    assert_all_kinds(&bench, &bench.unpack(&tar_of_all_kinds(), &[]));
    assert_all_kinds(&bench, &bench.unpack(&gzip(&tar_of_all_kinds()), &[]));
}

#[test]
fn xz_and_zstd_are_read_by_the_installed_programs_also_inside_a_zip() {
    let bench = Bench::new();
    let plain = bench.dir.path().join("plain.tar");
    fs::write(&plain, tar_of_all_kinds()).unwrap();
    for (program, args) in [("xz", &["-c"][..]), ("zstd", &["-cq"])] {
        let args = [args, &[plain.to_str().unwrap()]].concat();
        let Some(packed) = packed_by(program, &args) else { continue };
        assert_all_kinds(&bench, &bench.unpack(&packed, &[]));
        let outer = zip(&[ZipFile::new("in.tar.x", &packed)]);
        assert_eq!(bench.unpack(&outer, &["in.tar.x"]).files.len(), 6);
        let cut = bench.try_unpack(&packed[..packed.len() - 9], &[]).unwrap_err().to_string();
        let start =
            format!("stream, and it could not be unpacked: `{program}` ended with status 1");
        assert!(cut.contains(&start), "{cut}");
        fs::write(bench.dir.path().join("text"), "no tar ".repeat(400)).unwrap();
        let text = bench.dir.path().join("text");
        let args = [&args[..args.len() - 1], &[text.to_str().unwrap()]].concat();
        let text = bench.try_unpack(&packed_by(program, &args).unwrap(), &[]).unwrap_err();
        assert!(text.to_string().ends_with("what it holds is no tar archive"), "{text}");
    }
}

#[test]
fn seven_zip_is_read_by_an_installed_program_or_the_message_names_one() {
    let bench = Bench::new();
    let source = bench.dir.path().join("a 资料.c");
    fs::write(&source, "int a;").unwrap();
    let made = bench.dir.path().join("made.7z");
    let args = ["a", "-bd", made.to_str().unwrap(), source.to_str().unwrap()];
    let program = ["7zz", "7z"].into_iter().find(|program| packed_by(program, &args).is_some());
    if program.is_some() {
        let package = bench.unpack(&fs::read(&made).unwrap(), &[]);
        assert_eq!(bench.texts(&package), map(&[("a 资料.c", "int a;")]));
    } else {
        let broken = [&b"7z\xbc\xaf\x27\x1c"[..], &[0; 60]].concat();
        let said = bench.try_unpack(&broken, &[]).unwrap_err().to_string();
        assert!(said.contains("it is a 7z archive"), "{said}");
    }
}

#[test]
fn a_program_that_writes_too_much_or_never_ends_is_stopped() {
    use ngcc::package::{Call, CallError, External as _};
    let dir = tempfile::tempdir().unwrap();
    let runner = Runner::new(PathBuf::from(env!("CARGO_BIN_EXE_ngcc")));
    let interrupt = Interrupt::none();
    let run = |script: &str, wall| {
        let tools = ArchiveTools::new(&runner, &interrupt, PATH, Duration::from_millis(wall));
        let args = vec!["-c".into(), script.into()];
        let out = dir.path().join("out");
        fs::create_dir_all(&out).unwrap();
        tools.run(Call { program: "sh", args, dir: &out, output: None, most_bytes: 100_000 })
    };
    let many = "n=0; while :; do n=$((n+1)); head -c 60000 /dev/zero > f$n; done";
    let said = run(many, 20_000).unwrap_err();
    assert_eq!(said, CallError::Failed("`sh` unpacks more than 100000 bytes".to_owned()));
    fs::remove_dir_all(dir.path().join("out")).unwrap();
    let said = run("sleep 60", 300).unwrap_err();
    assert_eq!(said, CallError::Failed("`sh` took longer than its limit of 0.3 s".to_owned()));
    let said = run("echo wrong password >&2; exit 2", 20_000).unwrap_err();
    assert_eq!(said, CallError::Failed("`sh` ended with status 2: wrong password".to_owned()));
    assert_eq!(run("echo fine > x", 20_000), Ok(()));
}

#[test]
fn a_directory_is_taken_like_an_archive() {
    let bench = Bench::new();
    let dir = bench.dir.path().join("in/包");
    fs::create_dir_all(dir.join("src/空")).unwrap();
    fs::write(dir.join("src/a b.c"), "int a;").unwrap();
    fs::write(dir.join("run"), "#!").unwrap();
    fs::set_permissions(dir.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../run", dir.join("src/link")).unwrap();
    let package = package::gather(&bench.store, &dir, &Limits::default()).unwrap();
    let expected = map(&[("run", "#!"), ("src/a b.c", "int a;"), ("src/link", "#!")]);
    assert_eq!(bench.texts(&package), expected);
    assert_eq!((package.archive.as_str(), package.sha256.as_str(), package.bytes), ("包", "", 10));
    let gather = |dir: &Path| package::gather(&bench.store, dir, &Limits::default());
    symlink("../../x", dir.join("out")).unwrap();
    let said = gather(&dir).unwrap_err().to_string();
    assert_eq!(said, "`包`: entry `out`: it is a link to `../../x`, outside of the archive");
    let said = gather(bench.dir.path()).unwrap_err().to_string();
    assert!(said.ends_with("it holds the store itself"), "{said}");
    let said = gather(&bench.dir.path().join("in/包/src/空")).unwrap_err().to_string();
    assert_eq!(said, "`空`: it holds no file");
}

/// Text like that of known answers, with long runs that compress well, by a ZIP writer that is not ours.
fn write_big_zip(path: &Path, blocks: u32) {
    let mut writer = ::zip::ZipWriter::new(File::create(path).unwrap());
    let options = ::zip::write::SimpleFileOptions::default()
        .compression_method(::zip::CompressionMethod::Deflated)
        .compression_level(Some(1))
        .large_file(true);
    writer.start_file("Test_Vectors/KAT 测试.txt", options).unwrap();
    for n in 0..blocks {
        let seed = format!("{:x}", sha2::Sha256::digest(n.to_le_bytes()));
        let line = format!("Count = {n}\nSeed = {seed}\nPK = {}\n", "00".repeat(32_000));
        writer.write_all(line.as_bytes()).unwrap();
    }
    writer.start_file("a.c", options).unwrap();
    writer.write_all(b"int a;").unwrap();
    writer.finish().unwrap();
}

#[test]
#[ignore = "run by the next test, in a process of its own"]
fn big_package_child() {
    let dir = std::env::current_dir().unwrap();
    let Ok(archive) = fs::canonicalize(dir.join("big.zip")) else { return };
    let store = Store::open(&dir.join("store")).unwrap();
    let (runner, interrupt) = (Runner::new("/nowhere".into()), Interrupt::none());
    let tools = ArchiveTools::new(&runner, &interrupt, PATH, Duration::from_secs(1));
    let package = package::unpack(&store, &archive, &[], &Limits::default(), &tools).unwrap();
    let kat = &package.files[&"Test_Vectors/KAT 测试.txt".parse().unwrap()];
    assert!(kat.len > 300_000_000 && kat.len / package.bytes > 50, "{kat:?}");
    assert_eq!(package.files.len(), 2);
    fs::write(dir.join("done"), "").unwrap();
}

#[test]
fn a_package_of_300_megabytes_that_compresses_well_passes_in_little_memory() {
    let dir = tempfile::tempdir().unwrap();
    write_big_zip(&dir.path().join("big.zip"), 4700);
    let own = std::env::current_exe().unwrap();
    let args = ["--exact", "good_archives::big_package_child", "--ignored", "--test-threads=1"];
    let mut argv = vec![own.into_os_string()];
    argv.extend(args.map(Into::into));
    let child = Child {
        argv,
        dir: dir.path().to_owned(),
        env: BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]),
        stdout: Stdout::Log,
        log: dir.path().join("log"),
        limits: ChildLimits::wall(Duration::from_secs(60)),
        cpu: None,
    };
    let runner = Runner::new(PathBuf::from(env!("CARGO_BIN_EXE_ngcc")));
    let finished = runner.run(child, &Interrupt::none());
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert_eq!(finished.exit, Exit::Code(0), "{log}");
    assert!(dir.path().join("done").exists(), "{log}");
    assert!(finished.max_rss_bytes < 64 << 20, "{} bytes", finished.max_rss_bytes);
}
