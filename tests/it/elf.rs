//! ELF facts of what a real compiler writes, and of damaged copies of it.
#![expect(clippy::disallowed_methods, reason = "tests start the compiler and readelf")]
#![expect(clippy::unwrap_used, reason = "in a helper of tests, too, a panic is the report")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use ngcc::elf;
use ngcc::result::Binding;
use proptest::prelude::*;

const HELPERS: &str = "int sm3hash(int n) { return n * 3 + 1; }
int pseudoXOF(int n) { return sm3hash(n) ^ sm3hash(n + 1); }
int pseudohash(int n) { return sm3hash(n) + 2; }
";

fn gcc(dir: &Path, args: &[&str]) {
    let status = Command::new("gcc").current_dir(dir).args(args).status().unwrap();
    assert!(status.success(), "gcc {args:?}");
}

/// Compiles each source to an object with the given flags.
fn objects(flags: &[&str], sources: &[&str]) -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let compile = |source: &&str| {
        std::fs::write(dir.path().join("x.c"), source).unwrap();
        gcc(dir.path(), &[&["-c", "x.c", "-o", "x.o"], flags].concat());
        std::fs::read(dir.path().join("x.o")).unwrap()
    };
    sources.iter().map(compile).collect()
}

fn binding(flags: &[&str], sources: &[&str]) -> BTreeMap<String, Binding> {
    let objects = objects(flags, sources);
    let named: Vec<_> = objects.iter().map(|o| ("x.o", o.as_slice())).collect();
    elf::binding(&named)
}

/// `-O2` would inline such small functions and leave nothing to see.
const FLAGS: [&str; 4] = ["-O2", "-fno-inline", "-fPIC", "-g"];

#[test]
fn a_helper_called_from_another_object_is_bound_and_an_uncalled_one_is_not() {
    let user = "int pseudoXOF(int); int keygen(int n) { return pseudoXOF(n); }";
    let b = binding(&FLAGS, &[HELPERS, user]);
    assert_eq!(b["pseudoXOF"], Binding::Bound);
    assert_eq!(b["pseudohash"], Binding::Unbound);
    assert_eq!(b["sm3hash"], Binding::Unbound);
    assert_eq!(b["drng"], Binding::Absent);
}

#[test]
fn helpers_that_call_each_other_in_their_own_object_hide_nothing() {
    let user = "int pseudoXOF(int); int sm3hash(int);
int keygen(int n) { return pseudoXOF(n) + sm3hash(n); }";
    for extra in ["-fPIC", "-fno-pic"] {
        let b = binding(&["-O2", "-fno-inline", extra], &[HELPERS, user]);
        assert_eq!(b["sm3hash"], Binding::Bound, "{extra}");
    }
}

#[test]
fn a_submission_that_has_everything_in_one_file_is_unbound() {
    let one = format!(
        "{HELPERS}int get_random_number(int n) {{ return n; }}
int keygen(int n) {{ return pseudoXOF(get_random_number(n)); }}"
    );
    let b = binding(&FLAGS, &[&one]);
    assert!(b.values().all(|b| *b == Binding::Unbound), "{b:?}");
}

#[test]
fn calls_from_inside_and_outside_are_partly_seen() {
    let mixed = format!("{HELPERS}int keygen(int n) {{ return pseudoXOF(n); }}");
    let user = "int pseudoXOF(int); int pseudohash(int);
int enc(int n) { return pseudoXOF(n) + pseudohash(n); }";
    let b = binding(&FLAGS, &[&mixed, user]);
    assert_eq!(b["pseudoXOF"], Binding::Partial);
    assert_eq!(b["pseudohash"], Binding::Bound);
}

#[test]
fn a_private_static_copy_is_unbound() {
    let own = "static int sm3hash(int n) { return n * 7; }
int keygen(int n) { return sm3hash(n) + sm3hash(n + 1); }";
    assert_eq!(binding(&FLAGS, &[own])["sm3hash"], Binding::Unbound);
}

#[test]
fn link_time_optimisation_is_seen_in_slim_and_fat_objects() {
    let user = "int pseudoXOF(int); int keygen(int n) { return pseudoXOF(n); }";
    for fat in ["-ffat-lto-objects", "-fno-fat-lto-objects"] {
        let b = binding(&["-O2", "-flto", fat], &[HELPERS, user]);
        assert!(b.values().all(|b| *b == Binding::Lto), "{fat}: {b:?}");
    }
}

#[test]
fn a_library_has_its_sizes_and_exports() {
    let dir = tempfile::tempdir().unwrap();
    let source = "int table[5000]; const int fixed[100] = {1}; int set[50] = {2};
static int hidden(int n) { return n + set[n]; }
int keygen(int n) { return hidden(n) + fixed[n] + table[n]; }";
    std::fs::write(dir.path().join("x.c"), source).unwrap();
    gcc(dir.path(), &["-shared", "-fPIC", "-O0", "x.c", "-o", "x.so"]);
    let image = elf::image(&std::fs::read(dir.path().join("x.so")).unwrap()).unwrap();
    assert!(image.exported.contains("keygen") && image.exported.contains("table"));
    assert!(!image.exported.contains("hidden"));
    assert_eq!(image.sections.len(), 5);
    assert!((20_000..20_200).contains(&image.sections[".bss"]), "{image:?}");
    assert!((400..600).contains(&image.sections[".rodata"]), "{image:?}");
    assert!((200..400).contains(&image.sections[".data"]), "{image:?}");
    assert!(image.sections[".text"] > 0 && image.sections["other"] > 0);
    assert!(image.load_bytes >= image.sections.values().sum::<u64>(), "{image:?}");
}

#[test]
fn the_load_size_is_what_readelf_adds_up_to() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x.c"), HELPERS).unwrap();
    gcc(dir.path(), &["-shared", "-fPIC", "x.c", "-o", "x.so"]);
    let out =
        Command::new("readelf").args(["-lW", "x.so"]).current_dir(dir.path()).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let column = |line: &str| {
        let size = line.split_whitespace().nth(5).unwrap();
        u64::from_str_radix(size.trim_start_matches("0x"), 16).unwrap()
    };
    let loads = text.lines().filter(|l| l.trim_start().starts_with("LOAD"));
    let want: u64 = loads.map(column).sum();
    let bytes = std::fs::read(dir.path().join("x.so")).unwrap();
    assert_eq!(elf::image(&bytes).unwrap().load_bytes, want);
}

/// A small object and a small library, compiled once.
fn samples() -> &'static [Vec<u8>; 2] {
    static SAMPLES: std::sync::OnceLock<[Vec<u8>; 2]> = std::sync::OnceLock::new();
    SAMPLES.get_or_init(|| {
        let object = objects(&FLAGS, &[HELPERS]).remove(0);
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("x.c"), HELPERS).unwrap();
        gcc(dir.path(), &["-shared", "-fPIC", "x.c", "-o", "x.so"]);
        [object, std::fs::read(dir.path().join("x.so")).unwrap()]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn a_damaged_elf_file_never_panics(
        library in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        header in proptest::collection::vec((0_usize..64, any::<u8>()), 0..4),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = samples()[usize::from(library)].clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        for (place, value) in header {
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = elf::image(&bytes);
        prop_assert_eq!(elf::binding(&[("x.o", &bytes)]).len(), 4);
    }
}
