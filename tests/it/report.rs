//! Pages made from published records and from a difficult run: bytes, cells, order and escapes.
#![expect(clippy::unwrap_used, reason = "in a helper of tests, too, a panic is the report")]

use std::collections::BTreeMap;

use ngcc::report::doc::{Block, Table};
use ngcc::report::input::{
    AbsentInput, CampaignInput, FindingInput, Function, ImplementationInput, IndexInput, IndexRow,
    InstanceInput, Link, Outcome, PageInput, SubmissionInput, SurveyInput, SystemInput,
};
use ngcc::report::{Format, page, render, render_index};
use ngcc::result::{
    Binding, Calibration, Choice, Counter, HelperCalls, Kat, Profile, Sizes, Timing, Trial,
    TrialPlan,
};
use serde_json::Value;

fn done<T>(result: T, record: &str) -> Outcome<T> {
    Outcome::Done { result, record: record.to_owned() }
}

fn map<T>(pairs: impl IntoIterator<Item = (&'static str, T)>) -> BTreeMap<String, T> {
    pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

fn texts(value: &Value) -> BTreeMap<String, String> {
    let text = |v: &Value| match v {
        Value::Null => None,
        Value::String(s) => Some(s.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(v.to_string())
        }
    };
    value.as_object().unwrap().iter().filter_map(|(k, v)| Some((k.clone(), text(v)?))).collect()
}

/// A published timing record in our form.
fn timing(record: &str) -> Timing {
    let record: Value = serde_json::from_str(record).unwrap();
    let field = |name: &str| record[name].clone();
    let sizes = [("pk", "pk_bytes"), ("sk", "sk_bytes"), ("ct", "ct_bytes"), ("ss", "ss_bytes")];
    Timing {
        schema: 1,
        operation: record["operation"].as_str().unwrap().to_owned(),
        plan: serde_json::from_value(field("plan")).unwrap(),
        calibration: Calibration { t1_s: 0.0017, setup_s: 0.001 },
        counter: hardware(),
        trials: serde_json::from_value(field("trials")).unwrap(),
        disturbed_retries: 0,
        sizes: map(sizes.map(|(name, key)| (name, record["sizes"][key].as_u64().unwrap()))),
        baseline_rss_bytes: record["baseline_rss_bytes"].as_u64().unwrap(),
        peak_rss_bytes: record["peak_rss_bytes"].as_u64().unwrap(),
        timing_scope: "loop".to_owned(),
        environment: texts(&record["environment"]),
        cpu: 2,
        started_utc: record["started_utc"].as_str().unwrap().to_owned(),
        ended_utc: record["ended_utc"].as_str().unwrap().to_owned(),
        load_average_start: serde_json::from_value(field("load_average_start")).unwrap(),
        load_average_end: serde_json::from_value(field("load_average_end")).unwrap(),
        round: 0,
    }
}

fn hardware() -> Counter {
    Counter { source: "hw-cycles".to_owned(), note: String::new(), tick_hz: 0.0, empty_op: 0 }
}

/// A published profile in our form.
fn profile(record: &str) -> Profile {
    let record: Value = serde_json::from_str(record).unwrap();
    Profile {
        schema: 1,
        operation: record["operation"].as_str().unwrap().to_owned(),
        tick_source: "cntvct".to_owned(),
        tick_hz: 19_199_980.0,
        operations: record["total"]["operations"].as_u64().unwrap(),
        ticks: record["total"]["ticks"].as_u64().unwrap(),
        wrapper_ticks: 0.0,
        overflow_calls: 0,
        calls: serde_json::from_value(record["calls"].clone()).unwrap(),
        binding: bindings(Binding::Bound),
    }
}

fn bindings(binding: Binding) -> BTreeMap<String, Binding> {
    map(["pseudohash", "pseudoXOF", "sm3hash", "drng"].map(|name| (name, binding)))
}

fn kat(status: &str, detail: &str) -> Kat {
    Kat {
        schema: 1,
        status: status.to_owned(),
        detail: detail.to_owned(),
        records: 10,
        text_bytes: 99_350,
        canonical_sha256: "75672c8d94a18620e00a5cefe3ef77a4569b9fdcaf0fd3ee7277ac69336e941c"
            .to_owned(),
        expected: None,
        sizes: BTreeMap::new(),
        log: Vec::new(),
    }
}

fn choice(flags: &str, kat: &str) -> Choice {
    Choice {
        schema: 1,
        flags: flags.to_owned(),
        build_flags: "-std=c99 -O2".to_owned(),
        kat: kat.to_owned(),
        rejected: BTreeMap::new(),
    }
}

/// The published data of kem-18 Loong128 on arm_1.
fn loong() -> PageInput {
    let records = [
        (
            "keygen",
            include_str!("../../testdata/records/Loong128__keygen.json"),
            include_str!("../../testdata/records/Loong128__keygen__profile.json"),
        ),
        (
            "enc",
            include_str!("../../testdata/records/Loong128__enc.json"),
            include_str!("../../testdata/records/Loong128__enc__profile.json"),
        ),
        (
            "dec",
            include_str!("../../testdata/records/Loong128__dec.json"),
            include_str!("../../testdata/records/Loong128__dec__profile.json"),
        ),
    ];
    let at = |item: &str| format!("records/reference/Loong128__{item}.json");
    let api = map([("pk", 1472), ("sk", 1848), ("ct", 1512), ("ss", 16)]);
    let instance = InstanceInput {
        name: "Loong128".to_owned(),
        choice: done(choice("guide", "PASS"), &at("build")),
        kat: done(kat("PASS", ""), &at("kat")),
        expected: Vec::new(),
        timing: map(records.map(|(o, t, _)| (o, done(timing(t), &at(&format!("timing_{o}")))))),
        profile: map(records.map(|(o, _, p)| (o, done(profile(p), &at(&format!("profile_{o}")))))),
        sizes: done(
            Sizes {
                schema: 1,
                elf_load_bytes: 29_272,
                file_bytes: 33_000,
                sections: BTreeMap::new(),
                catalogue: map([("pk", 1472), ("ct", 1512)]),
                api,
            },
            &at("sizes"),
        ),
        catalogue_basis: "encoded".to_owned(),
    };
    PageInput {
        submission: SubmissionInput {
            id: "kem-18".to_owned(),
            name: "LoongKEM".to_owned(),
            function: Function::Kem,
            page_url: Some("https://submissions.example/kem-18".to_owned()),
            licence: Some("MIT OR Apache-2.0".to_owned()),
            survey: Some(SurveyInput { verdict: "ICCS-only".to_owned(), notes: String::new() }),
        },
        system: SystemInput {
            id: "arm_1".to_owned(),
            arch: "aarch64".to_owned(),
            description: String::new(),
        },
        environment: BTreeMap::new(),
        campaign: CampaignInput {
            started_utc: "2026-09-28T19:53:24.001695+00:00".to_owned(),
            ended_utc: "2026-09-28T21:06:10Z".to_owned(),
        },
        intervals: true,
        implementations: vec![ImplementationInput {
            name: "reference".to_owned(),
            instances: vec![instance],
        }],
        findings: Vec::new(),
        other_systems: vec![Link {
            text: "x86_1".to_owned(),
            href: "../../x86_1/kem-18/index.html".to_owned(),
        }],
        index_href: Some("../index.html".to_owned()),
    }
}

/// A timing on a machine without a cycle counter.
fn ticks(operation: &str, trials: u64, hz: f64) -> Timing {
    let trial = |i: u64| Trial {
        measurements: 12,
        seconds: 0.012 + 0.000_01 * i as f64,
        cycles: 0,
        ticks: 31_152_000 + 26_000 * i,
        cpu_seconds: 0.012,
        involuntary_switches: 1,
        samples_ns: Vec::new(),
    };
    Timing {
        operation: operation.to_owned(),
        plan: TrialPlan {
            iterations_per_trial: 12,
            warmups: 1,
            trials,
            separate_processes: true,
            estimated_s: 0.1,
            timeout_per_process_s: 300.0,
        },
        counter: Counter {
            source: "tsc".to_owned(),
            note: "the kernel offers no hardware counter (ENOENT): no PMU in this guest".to_owned(),
            tick_hz: hz,
            empty_op: 52,
        },
        trials: (0..trials).map(trial).collect(),
        environment: map([
            ("cpu_model", "Example CPU".to_owned()),
            ("cpu_number", "1".to_owned()),
            ("virtualized", "true".to_owned()),
            ("kernel", format!("6.1.{trials}")),
        ]),
        ..timing(include_str!("../../testdata/records/Loong128__dec.json"))
    }
}

fn failed<T>(word: &str, reason: &str, log: Option<&str>) -> Outcome<T> {
    Outcome::Failed {
        word: word.to_owned(),
        reason: reason.to_owned(),
        log: log.map(ToOwned::to_owned),
    }
}

/// Two implementations, no cycles, failures, findings, and names that want to break out.
fn difficult() -> PageInput {
    let mut input = loong();
    input.submission.name = "A|B <script>`x`</script>\nKEM".to_owned();
    input.submission.page_url = Some("javascript:alert(1)".to_owned());
    input.submission.licence = None;
    input.submission.survey = Some(SurveyInput {
        verdict: "bypass".to_owned(),
        notes: "own SM3 | counter *XOF*".to_owned(),
    });
    input.system = SystemInput {
        id: "vm_1".to_owned(),
        arch: "x86_64".to_owned(),
        description: "a shared virtual machine".to_owned(),
    };
    let instance = &mut input.implementations[0].instances[0];
    instance.name = "L|10".to_owned();
    instance.kat = done(kat("MISMATCH", "record 3, field CT, byte 17: 0a, expected 0b"), "k.json");
    instance.expected = vec!["vectors come from the optimised code".to_owned()];
    let mut fallback = choice("harness-default", "MISMATCH");
    fallback.rejected = map([("guide", "the compiler stopped: x.c:1: error".to_owned())]);
    instance.choice = done(fallback, "b.json");
    instance.catalogue_basis = "maximum-variable".to_owned();
    let mut keygen = ticks("keygen", 9, 2_596_100_000.0);
    keygen.disturbed_retries = 2;
    keygen.round = 1;
    instance.timing = map([
        ("keygen", done(keygen, "t k.json")),
        ("enc", done(ticks("enc", 5, 2_596_900_000.0), "t e.json")),
        ("dec", failed("timed out", "no answer within 300 s", Some("logs/dec.txt"))),
    ]);
    let mut unbound = profile(include_str!("../../testdata/records/Loong128__dec__profile.json"));
    unbound.calls.clear();
    unbound.binding = bindings(Binding::Unbound);
    let mut partial = unbound.clone();
    partial.binding.insert("pseudoXOF".to_owned(), Binding::Partial);
    partial.calls = vec![HelperCalls {
        function: "pseudoXOF".to_owned(),
        in_bits: 8,
        out_bits: 8,
        calls: 592 * 1883,
        ticks: 500_000,
    }];
    instance.profile = map([
        ("keygen", done(partial, "p.json")),
        ("enc", done(unbound, "p.json")),
        ("dec", failed("failed", "the library does not link with wrappers", None)),
    ]);
    if let Outcome::Done { result, .. } = &mut instance.sizes {
        result.catalogue = map([("pk", 1471), ("ct", 1500)]);
        let sizes =
            [(".text", 9000), (".rodata", 800), (".data", 16), (".bss", 0), ("other", 4096)];
        result.sections = map(sizes);
    }
    let second = InstanceInput {
        name: "L9".to_owned(),
        choice: failed("build failed", "x.c:7: error: expected `;`", Some("logs/build.txt")),
        kat: Outcome::Missing { reason: "there is no library".to_owned() },
        expected: Vec::new(),
        timing: BTreeMap::new(),
        profile: BTreeMap::new(),
        sizes: Outcome::Missing { reason: "there is no library".to_owned() },
        catalogue_basis: String::new(),
    };
    input.implementations[0].instances.push(second);
    let mut own = input.implementations[0].clone();
    own.name = "independent".to_owned();
    own.instances.remove(0);
    input.implementations.push(own);
    input.findings = vec![
        FindingInput {
            place: "reference/L|10/kat".to_owned(),
            code: "kat-mismatch".to_owned(),
            message: "record 3 differs".to_owned(),
            expected: true,
            href: Some("k.json".to_owned()),
        },
        FindingInput {
            place: "reference/L9/build".to_owned(),
            code: "build-failed".to_owned(),
            message: "x.c:7: error: <expected> `;`".to_owned(),
            expected: false,
            href: None,
        },
    ];
    input
}

fn index() -> IndexInput {
    let row = |id: &str, name: &str, kat: &[(&'static str, u64)]| IndexRow {
        id: id.to_owned(),
        name: name.to_owned(),
        function: Function::Kem,
        href: Some(format!("{id}/index.html")),
        implementations: vec!["reference".to_owned()],
        instances: kat.iter().map(|k| k.1).sum(),
        kat: map(kat.iter().copied()),
        timed: 12,
        timing_failed: 0,
        findings: 0,
        expected_findings: 0,
        unavailable: String::new(),
    };
    let mut qube = row("kem-33", "QUBE", &[("MISMATCH", 4), ("NOKAT", 1)]);
    qube.expected_findings = 5;
    qube.findings = 1;
    qube.timing_failed = 2;
    let mut away = row("kem-9", "Cheetah", &[]);
    away.href = None;
    away.implementations.clear();
    away.unavailable = "archive not present; `ngcc kem fetch kem-9`".to_owned();
    let mut hash = row("hash-01", "A|B", &[("PASS", 2), ("TIMEOUT", 1)]);
    hash.function = Function::Hash;
    IndexInput {
        pipeline: "all".to_owned(),
        system: loong().system,
        campaign: loong().campaign,
        submissions: vec![hash, qube, row("kem-18", "LoongKEM", &[("PASS", 4), ("–", 1)]), away],
        absent: vec![
            AbsentInput {
                what: "kem-9, kem-18 (reference)".to_owned(),
                why: None,
                help: "`ngcc kem fetch ID`".to_owned(),
            },
            AbsentInput {
                what: "kem-33/reference/qube-192".to_owned(),
                why: Some("`*.c` matches no file below `qube-192`".to_owned()),
                help: "mend the recipe in kems/kem-33/submission.yaml".to_owned(),
            },
        ],
    }
}

fn files(input: &PageInput) -> BTreeMap<String, String> {
    let files = render(input, &Format::ALL);
    files.into_iter().map(|(p, b)| (p.to_string(), String::from_utf8(b).unwrap())).collect()
}

/// The tables of a section of the page.
fn tables(input: &PageInput, section: &str) -> Vec<Table> {
    let page = page::page(input);
    let section = page.sections.into_iter().find(|s| s.id == section).unwrap();
    let table = |block| match block {
        Block::Table(table) => Some(table),
        Block::Paragraph(_) | Block::List(_) => None,
    };
    section.blocks.into_iter().filter_map(table).collect()
}

fn rows(table: &Table) -> Vec<Vec<&str>> {
    table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect()
}

fn header(table: &Table) -> String {
    let titles: Vec<_> = table.columns.iter().map(|c| c.title.as_str()).collect();
    titles.join(" | ")
}

#[test]
fn the_page_of_published_records_has_the_published_cells() {
    let input = loong();
    let [performance, resources, sizes, symmetric] =
        ["performance", "resources", "transmission", "symmetric"]
            .map(|section| tables(&input, section).remove(0));
    let performance = rows(&performance);
    let (resources, sizes, symmetric) = (rows(&resources), rows(&sizes), rows(&symmetric));
    // Read through our own figures file: columns are the published ones.
    let csv = files(&input).remove("figures.csv").unwrap();
    let published = include_str!("../../testdata/published/arm_1.csv");
    let mut seen = 0;
    for (i, ours) in csv.lines().skip(1).enumerate() {
        let start = format!("kem-18,Loong128,{},", ["keygen", "enc", "dec"][i]);
        let line = published.lines().find(|l| l.starts_with(&start)).unwrap();
        assert!(ours.starts_with(line), "{ours}\n{line}");
        for cell in performance[i].iter().take(6).chain(&symmetric[i][2..4]) {
            assert!(line.contains(&format!(",{cell},")) || *cell == "Loong128", "{cell} in {line}");
            seen += 1;
        }
        for cell in &resources[i][2..] {
            let number = cell.trim_end_matches(" KiB");
            assert!(line.contains(&format!(",{number},")), "{cell} in {line}");
            seen += 1;
        }
        assert!(line.contains(symmetric[i][4]), "{line}");
        assert!(line.ends_with(&sizes[0][1..].join(",")), "{line}");
        seen += 2;
    }
    assert_eq!(seen, 39);
}

#[test]
fn every_fixture_gives_the_published_line_of_figures() {
    let fixtures: Vec<Value> =
        serde_json::from_str(include_str!("../../testdata/published/fixtures_arm_1.json")).unwrap();
    let mut cells = 0;
    for fixture in fixtures {
        let key = |i: usize| fixture["key"][i].as_str().unwrap().to_owned();
        let mut input = loong();
        input.submission.id = key(0);
        let instance = &mut input.implementations[0].instances[0];
        instance.name = key(1);
        let (mut timing, mut profile) = (BTreeMap::new(), BTreeMap::new());
        if let Some(trials) = fixture.get("trials") {
            let mut t = self::timing(include_str!("../../testdata/records/Loong128__dec.json"));
            let list: Vec<(u64, f64, u64)> = serde_json::from_value(trials.clone()).unwrap();
            t.plan.iterations_per_trial = list[0].0;
            t.trials.truncate(list.len());
            for (trial, (n, s, c)) in t.trials.iter_mut().zip(list) {
                (trial.measurements, trial.seconds, trial.cycles) = (n, s, c);
            }
            t.baseline_rss_bytes = fixture["baseline_rss_bytes"].as_u64().unwrap();
            t.peak_rss_bytes = fixture["peak_rss_bytes"].as_u64().unwrap();
            timing.insert(key(2), done(t, "t.json"));
        } else {
            let mut p =
                self::profile(include_str!("../../testdata/records/Loong128__dec__profile.json"));
            let list: Vec<(String, u64, u64)> =
                serde_json::from_value(fixture["profile_calls"].clone()).unwrap();
            let call = |(function, calls, ticks)| HelperCalls {
                function,
                in_bits: 8,
                out_bits: 8,
                calls,
                ticks,
            };
            p.calls = list.into_iter().map(call).collect();
            p.operations = fixture["profile_ops"].as_u64().unwrap();
            p.ticks = fixture["profile_ticks"].as_u64().unwrap();
            profile.insert(key(2), done(p, "p.json"));
        }
        (instance.timing, instance.profile) = (timing, profile);
        let json: Value = serde_json::from_str(&files(&input)["figures.json"]).unwrap();
        let row = &json["rows"][0];
        for (name, want) in fixture["cells"].as_object().unwrap() {
            let got = match row[name].as_str() {
                Some(text) => text.to_owned(),
                None => row[name].to_string(),
            };
            assert_eq!(*want, got, "{name} of {}", fixture["key"]);
            cells += 1;
        }
    }
    assert_eq!(cells, 114);
}

#[test]
fn table_headings_are_those_of_the_published_pages() {
    let input = loong();
    let first = |section| header(&tables(&input, section)[0]);
    assert_eq!(first("environment"), "item | value");
    assert_eq!(first("kat"), "instance | build flags | KAT");
    assert_eq!(
        first("performance"),
        "instance | operation | mean cycles | mean time | ops/s | median trial | n (trials × iters)"
    );
    assert_eq!(
        first("resources"),
        "instance | operation | static: ELF image (bytes) | baseline RSS | peak RSS"
    );
    assert_eq!(
        first("transmission"),
        "instance | public key | secret key | ciphertext | shared secret"
    );
    assert_eq!(
        first("symmetric"),
        "instance | operation | pseudohash/XOF/sm3 | DRNG | calls per operation"
    );
    assert_eq!(first("evidence"), "instance | item | file");
}

#[test]
fn ticks_never_stand_under_cycles() {
    let table = tables(&difficult(), "performance").remove(0);
    assert_eq!(
        header(&table),
        "implementation | instance | operation | mean cycles | \
         ticks @2.596 GHz to 2.597 GHz (tsc) | mean time | ops/s | median trial | \
         interval of the median | n (trials × iters)"
    );
    let table = rows(&table);
    assert_eq!(table[0][3..5], ["–", "2.60 M"]);
    assert_eq!(table[0][8], "[1 ms, 1.01 ms]");
    assert_eq!(table[1][8], "–");
    let csv = files(&difficult()).remove("figures.csv").unwrap();
    assert!(csv.lines().nth(1).unwrap().contains(",keygen,–,"), "{csv}");
    let md = files(&difficult()).remove("index.md").unwrap();
    assert!(md.contains("Core cycles are not available: the kernel offers no hardware counter"));
}

#[test]
fn a_mixed_page_keeps_each_counter_in_its_own_column() {
    let mut input = loong();
    let instance = &mut input.implementations[0].instances[0];
    instance.timing.insert("enc".to_owned(), done(ticks("enc", 5, 2.5961e9), "e.json"));
    let table = tables(&input, "performance").remove(0);
    let table = rows(&table);
    assert_eq!(table[0][2..4], ["5.81 M", "–"]);
    assert_eq!(table[1][2..4], ["–", "2.60 M"]);
}

#[test]
fn every_row_is_as_wide_as_its_table() {
    for input in [loong(), difficult()] {
        for section in page::page(&input).sections {
            for block in section.blocks {
                if let Block::Table(table) = block {
                    for row in &table.rows {
                        assert_eq!(row.len(), table.columns.len(), "{}", section.title);
                    }
                }
            }
        }
    }
}

#[test]
fn a_cell_without_a_value_says_why() {
    for section in page::page(&difficult()).sections {
        for block in section.blocks {
            if let Block::Table(table) = block {
                for cell in table.rows.iter().flatten().filter(|c| c.text == "–") {
                    assert!(cell.missing.as_ref().is_some_and(|m| !m.is_empty()), "{cell:?}");
                }
            }
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes_also_after_a_trip_through_json() {
    for input in [loong(), difficult()] {
        let text = serde_json::to_string(&input).unwrap();
        let again: PageInput = serde_json::from_str(&text).unwrap();
        assert_eq!(files(&input), files(&again));
    }
}

#[test]
fn a_system_that_leaves_its_architecture_open_takes_the_hosts() {
    let mut input = loong();
    input.system.arch = "any".to_owned();
    assert_eq!(page::page(&input).title, page::page(&loong()).title);
}

#[test]
fn a_page_without_anything_still_renders() {
    let mut input = loong();
    input.implementations.clear();
    input.submission.survey = None;
    assert_eq!(files(&input).len(), 4);
    assert!(files(&input)["index.md"].contains("No operation was timed."));
}

#[test]
fn pages_of_published_records_are_as_recorded() {
    for (path, text) in files(&loong()) {
        insta::assert_snapshot!(format!("loong_{path}"), text);
    }
}

#[test]
fn pages_of_a_difficult_run_are_as_recorded() {
    for (path, text) in files(&difficult()) {
        insta::assert_snapshot!(format!("difficult_{path}"), text);
    }
}

#[test]
fn the_index_of_a_run_is_as_recorded() {
    for (path, bytes) in render_index(&index(), &Format::ALL) {
        insta::assert_snapshot!(format!("index_{path}"), String::from_utf8(bytes).unwrap());
    }
}
