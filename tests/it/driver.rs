//! The C drivers, run against a toy KEM that misbehaves on request.
#![expect(clippy::disallowed_methods, reason = "tests start compilers and drivers")]
#![expect(clippy::unwrap_used, reason = "in a helper of tests, too, a panic is the report")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use object::{Object, ObjectSymbol};

use crate::cc::{self, repo};

const WRAPPED: [&str; 4] = ["pseudohash", "pseudoXOF", "sm3hash", "get_random_number"];
const WRAP_DEFINES: [&str; 4] =
    ["-DNGCC_WRAP_PSEUDOHASH", "-DNGCC_WRAP_PSEUDOXOF", "-DNGCC_WRAP_SM3HASH", "-DNGCC_WRAP_DRNG"];

fn sources(dir: &str, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| repo(dir).join(format!("{name}.c"))).collect()
}

/// Compiles with the guide's flags, the drivers and helpers on the include path.
fn gcc(sources: &[PathBuf], flags: &[&str], out: &Path) {
    let flags: Vec<&str> = cc::GUIDE.iter().chain(flags).copied().collect();
    let dirs = ["testdata/toy-kem", "src/iccs", "src/driver"].map(repo);
    cc::compile(sources, &dirs, &flags, out);
}

/// A directory of compiled drivers and libraries, gone when the test ends.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles one driver, without any warning.
    fn driver(&self, name: &str, extra: &[&str]) -> PathBuf {
        let (parts, iccs): (&[&str], &[&str]) = match name {
            "kat" => (&["kat_main", "kem", "report", "crash"], &["drng", "sm3"]),
            "perf" => (&["perf_main", "prepare", "memory", "counter", "report", "kem"], &[]),
            "profile" => (&["profile_main", "prepare", "counter", "report", "kem"], &[]),
            "clock" => (&["clock_main", "counter", "report"], &[]),
            _ => panic!("no driver {name}"),
        };
        let out = self.path(name);
        let mut files = sources("src/driver", parts);
        files.extend(sources("src/iccs", iccs));
        files.push("-ldl".into());
        gcc(&files, extra, &out);
        out
    }

    /// Compiles the toy KEM into an instance library.
    fn toy(&self, defines: &[&str]) -> PathBuf {
        self.library("toy.so", "exports.map", &[], defines)
    }

    /// The same, linked for profiling.
    fn profiled_toy(&self) -> PathBuf {
        let mut flags: Vec<String> = WRAP_DEFINES.iter().map(ToString::to_string).collect();
        flags.extend(WRAPPED.iter().map(|symbol| format!("-Wl,--wrap={symbol}")));
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.library("toy-profile.so", "exports_profile.map", &["hashprof"], &flags)
    }

    fn library(&self, name: &str, map: &str, more: &[&str], flags: &[&str]) -> PathBuf {
        let out = self.path(name);
        let mut all: Vec<String> = ["-shared", "-DNGCC_BUILD_KEM"].map(String::from).to_vec();
        let texts = [("ID", "kem-99"), ("ALG", "Toy"), ("SRCDIR", "testdata/toy-kem")];
        all.extend(texts.map(|(key, text)| format!("-DNGCC_{key}=\"{text}\"")));
        all.push(format!("-DNGCC_FLAGS=\"{}\"", long_flags()));
        let script = repo("src/driver").join(map);
        all.push(format!("-Wl,--version-script={}", script.display()));
        let link = ["-Bsymbolic", "--no-undefined", "-z,noexecstack", "-z,relro"];
        all.extend(link.map(|flag| format!("-Wl,{flag}")));
        all.extend(flags.iter().map(ToString::to_string));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut files = sources("testdata/toy-kem", &["KEM_AlgorithmInstance"]);
        files.extend(sources("src/driver", &["shim"]));
        files.extend(sources("src/driver", more));
        files.extend(sources("src/iccs", &["auxfunc", "drng", "sm3"]));
        files.push("-lm".into());
        gcc(&files, &all, &out);
        out
    }
}

/// What most tests use, compiled once: the drivers and the well-behaved toy.
fn shared(name: &str) -> PathBuf {
    static KEPT: OnceLock<PathBuf> = OnceLock::new();
    let dir = KEPT.get_or_init(|| {
        let bench = Bench::new();
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("drivers");
        fs::create_dir_all(&kept).unwrap();
        let drivers = ["kat", "perf", "profile", "clock"].map(|name| bench.driver(name, &[]));
        for built in drivers.into_iter().chain([bench.toy(&[]), bench.profiled_toy()]) {
            // Renaming replaces a file that another test process may be running.
            let name = built.file_name().unwrap();
            let fresh = kept.join(format!("{}.{}", name.display(), std::process::id()));
            fs::copy(&built, &fresh).unwrap();
            fs::rename(&fresh, kept.join(name)).unwrap();
        }
        kept
    });
    dir.join(name)
}

/// Longer than the 127 bytes that fit into the metadata block.
fn long_flags() -> String {
    format!("-std=c99 -O2 {}", "-Wextra ".repeat(20))
}

fn run<S: AsRef<OsStr>>(program: &Path, args: impl IntoIterator<Item = S>) -> Output {
    Command::new(program).args(args).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs the KAT driver on a variant of the toy; exit code, text and log.
fn kat(defines: &[&str], args: &[&str]) -> (Option<i32>, String, String) {
    let bench = Bench::new();
    let lib = if defines.is_empty() { shared("toy.so") } else { bench.toy(defines) };
    let log = bench.path("log");
    let mut all: Vec<&OsStr> = vec![lib.as_os_str(), "--log".as_ref(), log.as_os_str()];
    all.extend(args.iter().map(OsStr::new));
    let out = run(&shared("kat"), all);
    (out.status.code(), text(&out.stdout), fs::read_to_string(&log).unwrap())
}

fn lines<'a>(output: &'a str, kind: &str) -> Vec<Vec<&'a str>> {
    let lines = output.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    lines.filter(|fields| fields[0] == kind).collect()
}

fn meta(output: &str) -> BTreeMap<&str, &str> {
    let fields = lines(output, "META");
    assert!(fields.iter().all(|f| f.len() == 3), "{output}");
    fields.iter().map(|f| (f[1], f[2])).collect()
}

fn perf(lib: &Path, args: &[&str]) -> (Option<i32>, String) {
    let args = [lib.as_os_str()].into_iter().chain(args.iter().map(OsStr::new));
    let out = run(&shared("perf"), args);
    (out.status.code(), text(&out.stdout))
}

#[test]
fn kat_text_has_the_official_layout() {
    let (code, text, _) = kat(&[], &[]);
    assert_eq!(code, Some(0));
    assert!(text.ends_with("\n\n"), "the last record ends with an empty line too");
    let records: Vec<&str> = text.trim_end_matches('\n').split("\n\n").collect();
    assert_eq!(records.len(), 10);
    for (i, record) in records.iter().enumerate() {
        let fields: Vec<(&str, &str)> =
            record.lines().map(|line| line.split_once(" = ").unwrap()).collect();
        assert_eq!(fields[0], ("Count", i.to_string().as_str()));
        let sizes = [("Seed", 64), ("PK", 40), ("SK", 72), ("CT", 48), ("SS", 32)];
        assert_eq!(fields.len(), 1 + 2 * sizes.len());
        for ((name, bytes), pair) in sizes.iter().zip(fields[1..].chunks(2)) {
            assert_eq!(pair[0], (format!("{name}_Len").as_str(), bytes.to_string().as_str()));
            assert_eq!(pair[1].0, *name);
            assert_eq!(pair[1].1.len(), 2 * bytes);
            assert!(pair[1].1.bytes().all(|c| matches!(c, b'0'..=b'9' | b'A'..=b'F')));
        }
    }
    assert!(
        text.contains("Seed = 927F06B594798A4DDFAA4F03F92AAAF04E1D453F6ED1DE19B86D3AADE048A654")
    );
}

#[test]
fn kat_text_is_the_same_in_two_runs_and_a_shorter_one_is_its_prefix() {
    let (_, first, _) = kat(&[], &[]);
    let (_, second, _) = kat(&[], &["--count", "10"]);
    let (_, short, _) = kat(&[], &["--count", "3"]);
    assert_eq!(first, second);
    assert!(first.starts_with(&short) && short.matches("Count = ").count() == 3);
}

#[test]
fn kat_log_gives_the_metadata_and_no_verdict_when_the_text_is_complete() {
    let (code, text, log) = kat(&[], &["--count", "0"]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let log: Vec<&str> = log.lines().collect();
    assert!(log[0].starts_with("library     = ") && log[0].ends_with("toy.so"));
    assert!(log[7].starts_with("compiler    = gcc "));
    let flags = format!("build_flags = {}", &long_flags()[..127]);
    let rest: Vec<&str> = log[1..7].iter().chain(&log[8..]).copied().collect();
    let expected = [
        "id          = kem-99",
        "type        = kem",
        "algorithm   = Toy",
        "instance    = Toy-128",
        "variant     = Reference_Implementation",
        "source_dir  = testdata/toy-kem",
        &flags,
        "pk_len      = 40",
        "sk_len      = 72",
        "ct_len      = 48",
        "ss_len      = 32",
    ];
    assert_eq!(rest, expected);
}

#[test]
fn kat_timings_hold_one_value_a_record_and_their_average() {
    let bench = Bench::new();
    let timings = bench.path("timings.json");
    let (code, _, _) = kat(&[], &["--count", "4", "--timings", timings.to_str().unwrap()]);
    assert_eq!(code, Some(0));
    let json: serde_json::Value = serde_json::from_slice(&fs::read(timings).unwrap()).unwrap();
    assert_eq!((&json["unit"], &json["records"]), (&"ms".into(), &4.into()));
    for op in ["keygen", "enc", "dec"] {
        let values: Vec<f64> =
            json[op].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        assert_eq!(values.len(), 4);
        let average = json["average"][op].as_f64().unwrap();
        assert!((values.iter().sum::<f64>() / 4.0 - average).abs() < 1e-5);
    }
}

#[test]
fn kat_reports_each_misbehaviour_with_its_status_and_place() {
    let result = |define: &str| {
        let (code, text, log) = kat(&[define], &[]);
        let last = log.lines().last().unwrap().to_string();
        assert!(text.matches("Count = ").count() <= 1, "stops at the first failure");
        (code.unwrap(), last)
    };
    let cases = [
        (
            "OVERFLOW",
            4,
            "OVERFLOW kem_enc wrote past the end of ct (byte 49 of claimed 48) at count 0",
        ),
        (
            "UNDERFLOW",
            4,
            "OVERFLOW kem_enc wrote before the start of ct (1 bytes before) at count 0",
        ),
        ("LONG_LEN", 4, "OVERFLOW kem_enc returned length 49 > claimed 48 for ct at count 0"),
        ("WRONG_SS", 3, "CRYPTOFAIL kem_dec returned another secret than kem_enc at count 0"),
        (
            "SHORT_SS",
            3,
            "CRYPTOFAIL kem_dec returned a secret of 31 bytes, kem_enc one of 32 at count 0",
        ),
        ("REFUSE", 3, "CRYPTOFAIL kem_dec returned -1 at count 0"),
        ("CRASH", 7, "CRASH signal=11 in kem_dec at count 0"),
        ("STACK", 7, "CRASH signal=11 in kem_keygen at count 0"),
        ("EXIT", 7, "CRASH exit called in kem_dec at count 0"),
        ("HUGE", 5, "LOADFAIL the library claims 1073741824 bytes for pk, more than 536870912"),
    ];
    for (define, code, detail) in cases {
        let expected = (code, format!("RESULT kem-99 Toy-128 {detail}"));
        let (code, mut line) = result(&format!("-DTOY_{define}"));
        if define == "STACK"
            && let Some((before, limit)) = line.split_once(": out of stack, limit ")
        {
            // The limit is the caller's.
            assert!(limit.ends_with(" KiB"), "{line}");
            line = before.to_owned();
        }
        assert_eq!((code, line), expected);
    }
}

#[test]
fn kat_text_is_not_disturbed_by_a_submission_that_prints() {
    let (_, quiet, _) = kat(&[], &[]);
    let (code, printing, _) = kat(&["-DTOY_PRINT"], &[]);
    assert_eq!((code, printing), (Some(0), quiet));
}

#[test]
fn kat_of_something_that_is_no_instance_is_a_load_failure() {
    for lib in ["/no/such/library.so", "libm.so.6", "Cargo.toml"] {
        let out = run(&shared("kat"), [lib]);
        assert_eq!(out.status.code(), Some(5), "{lib}");
        let log = text(&out.stderr);
        assert!(log.starts_with("RESULT - - LOADFAIL ") && log.ends_with('\n'), "{log}");
    }
    assert_eq!(run(&shared("kat"), ["--count", "x", "lib"]).status.code(), Some(5));
}

#[test]
fn kat_that_cannot_write_its_text_does_not_claim_success() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = Command::new(shared("kat"))
        .arg(shared("toy.so"))
        .stdout(full)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(8));
}

#[test]
fn a_hanging_operation_leaves_the_log_readable_and_can_be_killed() {
    let bench = Bench::new();
    let log = bench.path("log");
    let mut child = Command::new(shared("kat"))
        .arg(bench.toy(&["-DTOY_HANG"]))
        .arg("--log")
        .arg(&log)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(20);
    let header =
        |log: &Path| fs::read_to_string(log).is_ok_and(|l| l.ends_with("ss_len      = 32\n"));
    while !header(&log) && Instant::now() < patience {
        std::thread::yield_now();
    }
    assert!(header(&log), "the metadata is written before the first operation");
    assert_eq!(child.try_wait().unwrap(), None);
    child.kill().unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), text(&out.stdout).matches("SS = ").count()), (None, 0));
}

fn exported(lib: &Path) -> Vec<String> {
    let data = fs::read(lib).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let symbols = file.dynamic_symbols().filter(|s| s.is_definition() && s.is_global());
    let mut names: Vec<String> = symbols.map(|s| s.name().unwrap().to_string()).collect();
    names.sort();
    names
}

#[test]
fn libraries_export_the_api_and_nothing_else() {
    let mut expected = vec![
        "drng_algorithm",
        "get_random_number",
        "init_random_number",
        "kem_dec",
        "kem_enc",
        "kem_get_ct_len_bytes",
        "kem_get_pk_len_bytes",
        "kem_get_sk_len_bytes",
        "kem_get_ss_len_bytes",
        "kem_keygen",
        "ngcc_build_flags",
        "ngcc_meta",
        "ngcc_random",
        "ngcc_seed",
    ];
    assert_eq!(exported(&shared("toy.so")), expected);
    expected.extend([
        "ngcc_prof_cost",
        "ngcc_prof_on",
        "ngcc_prof_overflow_count",
        "ngcc_prof_reset",
        "ngcc_prof_row",
        "ngcc_prof_row_count",
        "ngcc_prof_wrapped",
    ]);
    expected.sort_unstable();
    assert_eq!(exported(&shared("toy-profile.so")), expected);
}

#[test]
fn the_shim_of_every_type_compiles_without_an_instance_header() {
    let bench = Bench::new();
    for kind in ["KEM", "SIG", "KEX", "HASH"] {
        let kind = format!("-DNGCC_BUILD_{kind}");
        let texts = ["-DNGCC_ID=\"x-1\"", "-DNGCC_INSTANCE=\"X\"", "-DNGCC_INSTANCE_HEADER_NONE"];
        let flags = ["-c", &kind, "-DNGCC_DIGEST_BITS=512", "-DNGCC_NO_DRNG"];
        gcc(
            &sources("src/driver", &["shim"]),
            &[&flags[..], &texts].concat(),
            &bench.path("shim.o"),
        );
    }
}

#[test]
fn perf_prints_the_protocol_for_every_operation() {
    let lib = shared("toy.so");
    for op in ["keygen", "enc", "dec"] {
        let (code, out) = perf(&lib, &[op, "3", "40", "2"]);
        assert_eq!(code, Some(0), "{out}");
        let meta = meta(&out);
        let expected = [
            ("id", "kem-99"),
            ("instance", "Toy-128"),
            ("variant", "Reference_Implementation"),
            ("operation", op),
            ("input_bytes", "0"),
            ("build_flags", &long_flags()),
            ("pk_bytes", "40"),
            ("sk_bytes", "72"),
            ("ct_bytes", "48"),
            ("ss_bytes", "32"),
            ("signature_bytes", "0"),
            ("digest_bytes", "0"),
            ("mode", "fixed_iterations"),
            ("timing_scope", "loop"),
            ("warmups", "2"),
            ("measurement_count", "120"),
            ("guide_100_measurements", "met"),
            ("sample_buffer_bytes", "0"),
            ("inputs_changed", "no"),
            ("guard_damage", "no"),
        ];
        for (key, value) in expected {
            assert_eq!(meta[key], value, "{key}");
        }
        assert!(meta["first_call_ns"].parse::<u64>().unwrap() > 0);
        let trials = lines(&out, "TRIAL");
        for (i, trial) in trials.iter().enumerate() {
            assert_eq!((trial.len(), trial[1], trial[2]), (5, (i + 1).to_string().as_str(), "40"));
            assert!(trial[3].parse::<f64>().unwrap() > 0.0 && trial[3].contains('.'));
        }
        assert_eq!((trials.len(), lines(&out, "USAGE").len()), (3, 3));
        assert!(out.ends_with("STATUS\tcomplete\n"));
    }
}

#[test]
fn the_first_call_is_kept_also_without_warm_ups() {
    let bench = Bench::new();
    let samples = bench.path("samples");
    let with_samples = ["keygen", "1", "5", "0", "--samples", samples.to_str().unwrap()];
    for args in [&with_samples[..4], &with_samples] {
        let (_, out) = perf(&shared("toy.so"), args);
        assert_ne!(meta(&out)["first_call_ns"], "0");
    }
    let (_, out) = perf(&shared("toy.so"), &with_samples);
    let first = format!("1 1 {}\n", meta(&out)["first_call_ns"]);
    assert!(fs::read_to_string(samples).unwrap().starts_with(&first));
}

#[test]
fn ticks_are_never_reported_as_cycles() {
    let lib = shared("toy.so");
    let (_, out) = perf(&lib, &["keygen", "2", "10", "0"]);
    let source = meta(&out)["cycle_source"];
    let cycles = lines(&out, "TRIAL").iter().all(|t| t[4] != "0");
    let ticks = lines(&out, "TICKS").len();
    match source {
        "hw-cycles" => assert_eq!((cycles, ticks, meta(&out)["tick_hz"]), (true, 0, "0")),
        "tsc" | "cntvct" => {
            assert_eq!((cycles, ticks, meta(&out)["cpu_cycles_available"]), (false, 2, "no"));
            assert!(meta(&out)["tick_hz"].parse::<u64>().unwrap() > 1_000_000);
            assert_ne!(meta(&out)["cycle_note"], "-");
        }
        other => assert_eq!((other, cycles, ticks), ("none", false, 0)),
    }
    let (code, out) = perf(&lib, &["keygen", "2", "10", "0", "--counter", "none"]);
    assert_eq!((code, meta(&out)["cycle_source"]), (Some(0), "none"));
    assert!(lines(&out, "TICKS").is_empty() && lines(&out, "TRIAL").iter().all(|t| t[4] == "0"));
}

#[test]
fn a_hardware_counter_asked_for_by_name_counts_or_fails_loudly() {
    let (code, out) = perf(&shared("toy.so"), &["keygen", "1", "10", "0", "--counter", "hw"]);
    if code == Some(0) {
        assert_eq!(meta(&out)["cycle_source"], "hw-cycles");
        assert!(lines(&out, "TRIAL").iter().all(|t| t[4] != "0"));
    } else {
        assert_eq!(
            (code, lines(&out, "TRIAL").len(), lines(&out, "STATUS").len()),
            (Some(2), 0, 0)
        );
    }
}

/// Stands in for a kernel with a PMU: one counter, whose readings are given as arguments.
const FAKE_PMU: &str = r#"
#include "counter.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
static unsigned long long reading[3];
long __wrap_syscall(long, ...);
int __wrap_ioctl(int, unsigned long, ...);
ssize_t __wrap_read(int, void *, size_t);
ssize_t __real_read(int, void *, size_t);
static int refusal;
long __wrap_syscall(long n, ...) { (void)n; errno = refusal; return refusal ? -1 : 1077; }
int __wrap_ioctl(int fd, unsigned long what, ...) { (void)fd; (void)what; return 0; }
ssize_t __wrap_read(int fd, void *to, size_t size)
{
    if (fd != 1077) return __real_read(fd, to, size);
    memcpy(to, reading, sizeof reading);
    return sizeof reading;
}
int main(int argc, char **argv)
{
    struct counter counter;
    char why[COUNTER_TEXT];
    uint64_t count;
    int i;
    refusal = EACCES;
    i = counter_open(&counter, COUNTER_WANT_HW);
    printf("%d %s\n", i, counter.note);
    refusal = 0;
    i = counter_open(&counter, COUNTER_AUTO);
    printf("%d %s %s\n", i, counter.source, counter.note);
    for (i = 1; i + 2 < argc; i += 3) {
        int j;
        for (j = 0; j < 3; j++) reading[j] = strtoull(argv[i + j], NULL, 10);
        if (counter_start(&counter, why) == 0 && counter_stop(&counter, &count, why) == 0)
            printf("count %d\n", (int)count);
        else
            puts(why);
    }
    return 0;
}
"#;

#[test]
fn a_cycle_count_that_was_shared_or_never_ran_is_a_failure() {
    let bench = Bench::new();
    let source = bench.path("fake.c");
    fs::write(&source, FAKE_PMU).unwrap();
    let wraps = ["-Wl,--wrap=syscall", "-Wl,--wrap=ioctl", "-Wl,--wrap=read"];
    let program = bench.path("fake");
    gcc(&[source, repo("src/driver/counter.c")], &wraps, &program);
    // Count, time enabled, time running; the times go on from one reading to the next.
    let readings = "1000 500 500  2000 1500 1500  3000 2500 1600  7 3500 1600  42 4500 2600";
    let out = run(&program, readings.split_whitespace());
    let expected = "-1 EACCES: not permitted (kernel.perf_event_paranoid must be 2 or lower)\n\
                    0 hw-cycles -\ncount 1000\ncount 2000\n\
                    the cycle counter was multiplexed: it ran for 100 of 1000 ns\n\
                    the cycle counter never ran (no free counter, or another core type)\n\
                    count 42\n";
    assert_eq!(text(&out.stdout), expected);
}

#[test]
fn perf_keeps_one_sample_a_call() {
    let bench = Bench::new();
    let samples = bench.path("samples");
    let args = ["dec", "3", "50", "1", "--samples", samples.to_str().unwrap()];
    let (code, out) = perf(&shared("toy.so"), &args);
    assert_eq!(code, Some(0), "{out}");
    let samples = fs::read_to_string(samples).unwrap();
    let mut expected = (1..=3).flat_map(|trial| (1..=50).map(move |index| (trial, index)));
    let mut sums = [0u64; 3];
    for line in samples.lines() {
        let numbers: Vec<u64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        assert_eq!(Some((numbers[0], numbers[1])), expected.next());
        assert!(numbers.len() == 3 && numbers[2] > 0);
        sums[usize::try_from(numbers[0]).unwrap() - 1] += numbers[2];
    }
    assert_eq!(expected.next(), None, "trials times iterations");
    for (sum, trial) in sums.iter().zip(lines(&out, "TRIAL")) {
        let whole = trial[3].parse::<f64>().unwrap();
        assert!(
            Duration::from_nanos(*sum).as_secs_f64() <= whole,
            "calls take no longer than the block"
        );
    }
}

#[test]
fn the_sample_buffer_does_not_inflate_what_an_operation_seems_to_need() {
    let bench = Bench::new();
    let samples = bench.path("samples");
    let args = ["dec", "2", "100000", "0", "--samples", samples.to_str().unwrap()];
    let (_, out) = perf(&shared("toy.so"), &args);
    let meta = meta(&out);
    let bytes = |key: &str| meta[key].parse::<u64>().unwrap();
    assert!(bytes("sample_buffer_bytes") >= 1_600_000);
    assert!(bytes("baseline_rss_bytes") > bytes("sample_buffer_bytes"));
    assert!(bytes("peak_rss_bytes") < bytes("baseline_rss_bytes") + 800_000, "{out}");
}

#[test]
fn perf_of_an_operation_that_fails_is_partial_and_says_why() {
    let cases = [
        ("REFUSE", "kem_dec returned -1"),
        ("WRONG_SS", "kem_dec returned another secret than kem_enc"),
        ("LONG_LEN", "kem_enc returned length 49 > claimed 48 for ct"),
    ];
    for (define, why) in cases {
        let bench = Bench::new();
        let (code, out) = perf(&bench.toy(&[&format!("-DTOY_{define}")]), &["dec", "1", "5", "0"]);
        assert_eq!((code, meta(&out)["failure"]), (Some(3), why));
        assert!(out.ends_with("STATUS\tpartial\n") && lines(&out, "TRIAL").is_empty());
    }
    let bench = Bench::new();
    let (code, out) = perf(&bench.toy(&["-DTOY_EXIT"]), &["dec", "1", "5", "0"]);
    assert_eq!((code, lines(&out, "STATUS").len()), (Some(3), 0));
}

#[test]
fn perf_times_an_overflowing_instance_but_reports_the_damage() {
    let bench = Bench::new();
    let (code, out) = perf(&bench.toy(&["-DTOY_OVERFLOW"]), &["enc", "1", "5", "0"]);
    let damage = "wrote past the end of ct (byte 49 of claimed 48)";
    assert_eq!((code, meta(&out)["guard_damage"]), (Some(0), damage));
}

#[test]
fn perf_refuses_bad_arguments() {
    let lib = shared("toy.so");
    let bad: [&[&str]; 7] = [
        &["sign", "1", "1", "0"],
        &["enc", "0", "1", "0"],
        &["enc", "1", "-1", "0"],
        &["enc", "1", "1"],
        &["enc", "1", "1", "0", "--counter", "rdtsc"],
        &["enc", "1", "1", "0", "--samples"],
        &["enc", "1", "1x", "0"],
    ];
    for args in bad {
        let (code, out) = perf(&lib, args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}");
    }
}

#[test]
fn profile_counts_every_helper_call_of_the_toy() {
    let lib = shared("toy-profile.so");
    let profile = |op: &str| {
        let lib = lib.to_str().unwrap();
        let out = run(&shared("profile"), [lib, op, "25", "2"]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let out = text(&out.stdout);
        let meta = meta(&out);
        assert_eq!((meta["id"], meta["instance"], meta["operation"]), ("kem-99", "Toy-128", op));
        assert_eq!(meta["wrapped"], "pseudohash,pseudoXOF,sm3hash,drng");
        assert_eq!((meta["warmups"], meta["overflow_calls"]), ("2", "0"));
        assert!(meta["wrapper_ticks"].parse::<f64>().unwrap() >= 0.0);
        let total = lines(&out, "TOTAL");
        assert_eq!((total.len(), total[0].len(), total[0][1]), (1, 3, "25"));
        let calls = lines(&out, "CALL");
        let booked: u64 = calls.iter().map(|c| c[5].parse::<u64>().unwrap()).sum();
        assert!(booked <= total[0][2].parse().unwrap(), "shares add up to at most one");
        assert!(out.ends_with("STATUS\tcomplete\n"));
        calls.iter().map(|c| c[1..5].join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(profile("keygen"), ["drng 0 256 25", "pseudoXOF 256 320 25"]);
    let dec = ["pseudoXOF 320 384 25", "sm3hash 704 256 25"];
    assert_eq!(profile("enc"), ["drng 0 384 25", dec[0], dec[1]]);
    assert_eq!(profile("dec"), dec);
}

#[test]
fn profile_refuses_a_library_that_was_not_linked_for_it() {
    let lib = shared("toy.so");
    let out = run(&shared("profile"), [lib.to_str().unwrap(), "enc", "1", "0"]);
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(2), ""));
    assert!(text(&out.stderr).contains("was not linked for profiling"));
}

/// A program that is its own library: a generator that hashes, an XOF that hashes twice, many shapes.
const NESTING: &str = r#"
#include "hashprof.h"
#include <stdio.h>
#define H int bits, const unsigned char *m, unsigned long long n, unsigned char *o
#define X unsigned long long bits, const unsigned char *m, unsigned long long n, unsigned char *o
#define G void *d, unsigned char *o, unsigned long long bits
int __wrap_sm3hash(H); int __wrap_pseudoXOF(X); int __wrap_get_random_number(G);
int __real_sm3hash(H); int __real_pseudoXOF(X); int __real_get_random_number(G);
int __real_sm3hash(H) { (void)bits; (void)m; (void)n; (void)o; return 0; }
int __real_pseudoXOF(X) { (void)bits; return __wrap_sm3hash(256, m, n, o) + __wrap_sm3hash(256, m, n, o); }
int __real_get_random_number(G) { (void)d; return __wrap_pseudoXOF(bits, o, 440, o) + 7; }
static void print(void)
{
    struct ngcc_prof_line r;
    unsigned i;
    for (i = 0; i < 3 && ngcc_prof_row(i, &r) == 0; i++)
        printf("%s %d %d %d\n", r.function, (int)r.in_bits, (int)r.out_bits, (int)r.calls);
    printf("rows %u overflow %d\n", ngcc_prof_row_count(), (int)ngcc_prof_overflow_count());
}
int main(void)
{
    unsigned char b[64] = {0};
    int i;
    ngcc_prof_reset();
    __wrap_sm3hash(256, b, 8, b);
    ngcc_prof_on(1);
    if (__wrap_get_random_number(b, b, 512) != 7) return 1;
    __wrap_pseudoXOF(1024, b, 16, b);
    __wrap_pseudoXOF(1024, b, 16, b);
    __wrap_sm3hash(256, b, 8, b);
    ngcc_prof_on(0);
    __wrap_sm3hash(256, b, 8, b);
    print();
    ngcc_prof_reset();
    ngcc_prof_on(1);
    for (i = 0; i < 9000; i++) __wrap_sm3hash(256, b, (unsigned long long)i, b);
    print();
    return 0;
}
"#;

#[test]
fn nested_helper_calls_are_counted_once_and_a_full_table_overflows() {
    let bench = Bench::new();
    let source = bench.path("nesting.c");
    fs::write(&source, NESTING).unwrap();
    let flags = ["-fsanitize=undefined", "-fno-sanitize-recover"];
    let flags = [&flags[..], &WRAP_DEFINES[1..]].concat();
    let program = bench.path("nesting");
    gcc(&[source, repo("src/driver/hashprof.c")], &flags, &program);
    let out = run::<&str>(&program, []);
    let expected = "drng 0 512 1\npseudoXOF 16 1024 2\nsm3hash 8 256 1\nrows 3 overflow 0\n\
                    sm3hash 0 256 1\nsm3hash 1 256 1\nsm3hash 2 256 1\nrows 8192 overflow 808\n";
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(0), expected));
}

#[test]
fn clock_probe_measures_or_says_why_not() {
    let out = run(&shared("clock"), ["5", "2"]);
    let printed = text(&out.stdout);
    if out.status.code() == Some(0) {
        let keys: Vec<&str> = printed.lines().map(|l| l.split_once('\t').unwrap().0).collect();
        let expected = ["clock_hz", "clock_min_hz", "clock_max_hz", "clock_iqr_hz", "windows"];
        assert_eq!(keys, expected);
    } else {
        assert_eq!(out.status.code(), Some(2));
        assert!(printed.starts_with("clock_note\t") && printed.lines().count() == 1, "{printed}");
    }
    assert_eq!(run(&shared("clock"), ["0", "5"]).status.code(), Some(2));
}

#[test]
fn drivers_run_clean_under_the_sanitizers() {
    let bench = Bench::new();
    let flags = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"];
    let (plain, profiled) = (shared("toy.so"), shared("toy-profile.so"));
    let (plain, profiled) = (plain.to_str().unwrap(), profiled.to_str().unwrap());
    let samples = bench.path("samples");
    let samples = samples.to_str().unwrap();
    let runs: [(&str, &[&str]); 5] = [
        ("kat", &[plain, "--count", "2", "--timings", samples]),
        ("perf", &[plain, "keygen", "2", "9", "1", "--samples", samples]),
        ("perf", &[plain, "dec", "2", "9", "1", "--counter", "tsc"]),
        ("profile", &[profiled, "enc", "5", "1"]),
        ("profile", &[profiled, "dec", "5", "1"]),
    ];
    for (name, args) in runs {
        let out = run(&bench.driver(name, &flags), args);
        assert_eq!(out.status.code(), Some(0), "{name}: {}", text(&out.stderr));
        assert!(!text(&out.stderr).contains("runtime error"), "{}", text(&out.stderr));
    }
}
