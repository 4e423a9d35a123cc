//! Packages in the shapes that submissions come in, made from this repository's own files, and what is said of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use ngcc::digest::BlobId;
use ngcc::inspect::{
    Change, Contents, Hints, Inspection, Kind, Listed, Origin, difference, inspect, kat_manifest,
    manifest,
};
use ngcc::name::{Name, RelPath};
use ngcc::spec::{Function, Helper, Implementation, ImplementationVersion, Submission, Workspace};

/// A package in memory.
#[derive(Default)]
struct Package {
    files: BTreeMap<RelPath, Listed>,
    blobs: BTreeMap<BlobId, Vec<u8>>,
}

impl Contents for Package {
    fn files(&self) -> &BTreeMap<RelPath, Listed> {
        &self.files
    }

    fn open(&self, blob: BlobId) -> std::io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.blobs[&blob].as_slice()))
    }
}

impl Package {
    fn put(&mut self, path: &str, bytes: impl Into<Vec<u8>>) -> &mut Self {
        let bytes = bytes.into();
        let listed = Listed { blob: BlobId::of(&bytes), len: bytes.len() as u64 };
        self.files.insert(path.parse().unwrap(), listed);
        self.blobs.insert(listed.blob, bytes);
        self
    }

    /// All files of a directory of the repository, with the line ends of Windows if asked.
    fn directory(&mut self, from: &str, to: &str, change: impl Fn(String) -> String) -> &mut Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
        let mut names: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|p| p.is_file())
            .collect();
        names.sort();
        for path in names {
            let name = path.file_name().unwrap().to_str().unwrap();
            self.put(&format!("{to}/{name}"), change(fs::read_to_string(&path).unwrap()));
        }
        self
    }
}

fn same(text: String) -> String {
    text
}

fn crlf(text: String) -> String {
    text.replace('\n', "\r\n")
}

/// A known-answer text with values of the given lengths.
fn kat(pk: usize, sk: usize, ct: usize, ss: usize, fill: &str) -> String {
    (0..10)
        .map(|count| {
            let value = |key: &str, bytes: usize| {
                format!("{key}_Len = {bytes}\n{key} = {}\n", fill.repeat(bytes))
            };
            format!(
                "Count = {count}\nSeed_Len = 64\nSeed = {}\n{}{}{}{}\n",
                "0A".repeat(64),
                value("PK", pk),
                value("SK", sk),
                value("CT", ct),
                value("SS", ss)
            )
        })
        .collect()
}

/// The official driver's outline: what matters is that it has a `main` and the global.
fn driver(header: &str) -> String {
    format!(
        "#include <stdio.h>\r\n#include \"drng.h\"\r\n#include \"{header}\"\r\nDRNG_ctx drng_algorithm;\r\n\
         int main(void) {{ unsigned long long n = kem_get_pk_len_bytes(); return (int)n; }}\r\n"
    )
}

const LOONG: [(&str, [usize; 4]); 4] = [
    ("Loong128", [1472, 1848, 1512, 16]),
    ("Loong256", [3248, 3888, 3520, 32]),
    ("Loong384", [6444, 7340, 6680, 48]),
    ("Loong512", [10640, 11832, 10848, 64]),
];

/// LoongKEM as its package is: every instance has all its files, with the line ends of Windows.
fn loong() -> Package {
    let mut package = Package::default();
    for version in
        ["Reference_Implementation", "Optimized_Implementation", "Additional_Implementation"]
    {
        for (name, _) in LOONG {
            let to = format!("Implementations/{version}/{name}");
            package.directory("kems/kem-18/independent/core", &to, crlf);
            package.directory(&format!("kems/kem-18/independent/{name}"), &to, crlf);
            package.directory("src/iccs", &to, crlf);
            package.put(&format!("{to}/KAT_KEM.c"), driver("KEM_Loong.h"));
            package.put(&format!("{to}/README.txt"), "build with make\r\n");
            let sources = "CC=/usr/bin/gcc\nCFLAGS=-O3 -march=native -fomit-frame-pointer\nSRC=$(wildcard *.c)\n\
                           all: $(SRC)\n\t$(CC) $(CFLAGS) $(SRC) -o KAT_KEM\n";
            package.put(&format!("{to}/makefile"), sources);
        }
    }
    for (name, [pk, sk, ct, ss]) in LOONG {
        package.put(&format!("Test_Vectors/KAT_KEM_{name}.txt"), crlf(kat(pk, sk, ct, ss, "AB")));
    }
    package.put("中文资料/loong kem 中文.pdf", "%PDF-1.7 \u{0}binary");
    package.put("Algorithm specifications/loong_kem_en.pdf", "%PDF-1.7");
    package.put("Implementations/.DS_Store", b"\x00\x00\x00\x01Bud1".to_vec());
    package.put("__MACOSX/Implementations/._x.c", b"\x00\x05\x16\x07".to_vec());
    package.put(
        "Implementations/Reference_Implementation/Loong128/poly.o",
        b"\x7fELF\x02\x01".to_vec(),
    );
    package
}

/// HARE as its package is: the code of all instances is shared, and two definitions are needed that only the shipped
/// build file has.
fn hare() -> Package {
    let root = "Implementations and Test_Vectors";
    let shared = format!("{root}/Implementations/_shared");
    let mut package = Package::default();
    package.directory("kems/kem-16/independent/core", &format!("{shared}/hare_core/common"), |text| {
        text.replace(
            "#include \"symmetric.h\"\n\n#include <string.h>",
            "#include \"symmetric.h\"\n#include \"backend.h\"\n#ifndef HARE_SYMMETRIC_MODE_B\n#error choose a mode\n#endif\n#include <string.h>",
        )
    });
    let backend = "#if defined(HARE_BACKEND_KR) && HARE_BACKEND_KR\n#define KR 1\n#else\n#error no backend\n#endif\n";
    package.put(&format!("{shared}/hare_core/ref/backend.h"), backend);
    package.directory("kems/shared/codes", &format!("{shared}/hare_core/ref"), same);
    // The same functions for another machine, which must not be taken.
    package.directory("kems/shared/codes", &format!("{shared}/hare_core/x86_64/avx256"), |text| {
        text + "\n/* avx */\n"
    });
    package.directory("src/iccs", &format!("{shared}/api_pkc"), |text| text + "/* edited */\n");
    for bits in ["128", "256", "384", "512"] {
        for version in ["Reference_Implementation", "Optimized_Implementation"] {
            let to = format!("{root}/Implementations/{version}/HARE-{bits}/kr");
            package.directory(&format!("kems/kem-16/independent/HARE-{bits}-kr"), &to, same);
        }
    }
    let sizes = [
        ("128", 2629, 2677, 4688, 16),
        ("256", 6580, 6676, 11790, 32),
        ("384", 13157, 13301, 23693, 48),
        ("512", 21812, 22004, 39294, 64),
    ];
    for (bits, pk, sk, ct, ss) in sizes {
        package.put(
            &format!("{root}/Test_Vectors/KAT_KEM_HARE-{bits}-kr.txt"),
            kat(pk, sk, ct, ss, "CD"),
        );
    }
    let cmake = "cmake_minimum_required(VERSION 3.16)\nset(HARE_SHARED ${CMAKE_CURRENT_SOURCE_DIR}/Implementations/_shared)\n\
        add_compile_options(-std=c99 -Wpedantic -O2)\nfile(GLOB CORE ${HARE_SHARED}/hare_core/common/*.c ${HARE_SHARED}/hare_core/ref/*.c)\n\
        function(add_hare level)\n  add_library(hare_${level} STATIC ${CORE})\n\
        target_compile_definitions(hare_${level} PRIVATE HARE_SYMMETRIC_MODE_B HARE_BACKEND_KR=1 UNUSED_THING=7)\n\
        target_link_libraries(hare_${level} PRIVATE m)\nendfunction()\nadd_hare(128)\nadd_hare(256)\n";
    package.put(&format!("{root}/CMakeLists.txt"), cmake);
    package.put("Algorithm specifications/HARE算法文档.pdf", "%PDF-1.4");
    package
}

fn origin() -> Origin {
    Origin::Archive {
        file: "Package.zip".to_owned(),
        url: None,
        sha256: "ab".repeat(32),
        bytes: 17,
    }
}

/// What the readers of manifests make of a proposal.
fn read_back(inspection: &Inspection) -> Submission {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("kems/kem-99");
    fs::create_dir_all(root.path().join("pipelines")).unwrap();
    fs::create_dir_all(&dir).unwrap();
    let text = manifest(inspection, &origin());
    fs::write(dir.join("submission.yaml"), &text).unwrap();
    fs::write(dir.join("kat.sha256"), kat_manifest(inspection)).unwrap();
    let workspace =
        Workspace::load(root.path()).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let (_, submission) = workspace.submissions.into_iter().next().unwrap();
    assert_eq!(submission.inspected, inspection.all_questions().is_empty(), "{text}");
    assert_eq!(!submission.inspected, text.contains("# ASK: "), "{text}");
    submission
}

fn implementation<'s>(submission: &'s Submission, name: &str) -> &'s Implementation {
    let all = &submission.implementations;
    all.values()
        .find(|i| i.name.as_str() == name)
        .unwrap_or_else(|| panic!("no {name} in {:?}", all.keys()))
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// The sources that a recipe takes out of a package, as paths.
fn sources(package: &Package, implementation: &Implementation, instance: &str) -> Vec<String> {
    let files = package
        .files
        .iter()
        .map(|(path, listed)| {
            let pin = ngcc::action::Pin { name: String::new(), sha256: String::new() };
            let of = std::sync::Arc::new(pin);
            let (blob, inside) = (listed.blob, path.clone());
            (path.clone(), ngcc::action::Source::Packed { blob, path: inside, of })
        })
        .collect();
    let recipe = &implementation.recipes[&name(instance)];
    let expanded =
        ngcc::source::expand(recipe, &files).unwrap_or_else(|error| panic!("{error}: {recipe:?}"));
    expanded.sources.iter().map(ToString::to_string).collect()
}

#[test]
fn a_package_like_loongkem_needs_no_editing() {
    let package = loong();
    let inspection = inspect(&package, &Hints::default());
    let submission = read_back(&inspection);
    assert!(submission.inspected, "{}", manifest(&inspection, &origin()));
    assert_eq!(submission.function, Function::Kem);
    let versions: Vec<_> = submission.implementations.values().map(|i| i.version).collect();
    for version in [
        ImplementationVersion::Reference,
        ImplementationVersion::Performance,
        ImplementationVersion::Resource,
    ] {
        assert!(versions.contains(&version), "{versions:?}");
    }
    let reference = implementation(&submission, "reference");
    for (instance, [pk, sk, ct, ss]) in LOONG {
        let recipe = &reference.recipes[&name(instance)];
        assert_eq!(
            recipe.directory,
            format!("Implementations/Reference_Implementation/{instance}")
        );
        assert_eq!(recipe.header, "KEM_Loong.h");
        assert_eq!(recipe.sources, ["*.c"]);
        assert_eq!(recipe.kat.directory.as_deref(), Some("Test_Vectors"));
        assert_eq!((recipe.auxfunc, recipe.drng), (Helper::Auto, Helper::Auto));
        let sizes = &submission.instances[&name(instance)].sizes;
        let expected = [("pk", pk), ("sk", sk), ("ct", ct), ("ss", ss)];
        for (size, bytes) in expected {
            assert_eq!(sizes[size], bytes as u64, "{instance} {size}");
        }
        let sources = sources(&package, reference, instance);
        assert!(
            sources.iter().any(|s| s.ends_with("/KEM_Loong.c")) && sources.len() == 10,
            "{sources:?}"
        );
        let kat = &submission.kat[&name(instance)];
        assert_eq!((kat.mode.as_str(), kat.records), ("strict", None));
    }
    let junk: Vec<&str> = inspection.of(Kind::Junk).map(RelPath::file_name).collect();
    assert!(
        junk.contains(&".DS_Store") && junk.contains(&"poly.o") && junk.contains(&"._x.c"),
        "{junk:?}"
    );
    insta::assert_snapshot!("loong", manifest(&inspection, &origin()));
}

#[test]
fn a_package_like_hare_needs_no_editing_beyond_what_is_asked() {
    let package = hare();
    let inspection = inspect(&package, &Hints::default());
    let submission = read_back(&inspection);
    let reference = implementation(&submission, "reference");
    for bits in ["128", "256", "384", "512"] {
        let instance = format!("HARE-{bits}-kr");
        let recipe = &reference.recipes[&name(&instance)];
        assert_eq!(
            recipe.defines.keys().collect::<Vec<_>>(),
            ["HARE_BACKEND_KR", "HARE_SYMMETRIC_MODE_B"]
        );
        assert_eq!(recipe.defines["HARE_BACKEND_KR"].as_deref(), Some("1"));
        let sources = sources(&package, reference, &instance);
        assert!(
            sources.iter().any(|s| s.ends_with("_shared/hare_core/common/kem.c")),
            "{sources:?}"
        );
        assert!(sources.iter().any(|s| s.ends_with("_shared/hare_core/ref/gf2x.c")), "{sources:?}");
        assert!(
            !sources.iter().any(|s| s.contains("avx") || s.contains("Optimized")),
            "{sources:?}"
        );
        assert!(
            recipe.include.contains(&"../../../_shared/hare_core/ref".to_owned()),
            "{:?}",
            recipe.include
        );
        assert_eq!(
            recipe.kat.directory.as_deref(),
            Some("Implementations and Test_Vectors/Test_Vectors")
        );
    }
    assert!(submission.inspected, "{}", manifest(&inspection, &origin()));
    insta::assert_snapshot!("hare", manifest(&inspection, &origin()));
}

/// A small KEM in one header and one source: everything a linker asks for.
fn toy_source(header: &str) -> String {
    let getters = ["pk", "sk", "ss", "ct"].map(|size| {
        format!(
            "unsigned long long kem_get_{size}_len_bytes() {{ return {}_BYTES; }}\n",
            size.to_uppercase()
        )
    });
    format!(
        "#include \"{header}\"\n#include \"drng.h\"\n#include \"tables.c\"\nextern DRNG_ctx drng_algorithm;\n{}\
         int kem_keygen(unsigned char *pk, unsigned long long *p, unsigned char *sk, unsigned long long *s)\n\
         {{ return get_random_number(&drng_algorithm, pk, table[0]); }}\n\
         int kem_enc(unsigned char *pk, unsigned long long p, unsigned char *ss, unsigned long long *s,\n\
         unsigned char *ct, unsigned long long *c) {{ return sm3hash(256, pk, p, ss); }}\n\
         int kem_dec(unsigned char *sk, unsigned long long s, unsigned char *ct, unsigned long long c,\n\
         unsigned char *ss, unsigned long long *n) {{ return 0; }}\n",
        getters.concat()
    )
}

const PROTOTYPES: &str = "unsigned long long kem_get_pk_len_bytes();\nunsigned long long kem_get_sk_len_bytes();\n\
    unsigned long long kem_get_ss_len_bytes();\nunsigned long long kem_get_ct_len_bytes();\n\
    int kem_keygen(unsigned char *pk, unsigned long long *p, unsigned char *sk, unsigned long long *s);\n\
    int kem_enc(unsigned char *pk, unsigned long long p, unsigned char *ss, unsigned long long *s,\n\
    unsigned char *ct, unsigned long long *c);\nint kem_dec(unsigned char *sk, unsigned long long s,\n\
    unsigned char *ct, unsigned long long c, unsigned char *ss, unsigned long long *n);\n";

#[test]
fn one_directory_serves_two_instances_by_define() {
    let mut package = Package::default();
    let header = format!(
        "#ifndef KEM_H\n#define KEM_H\n#if TOY_LEVEL == 1\n#define ALGORITHM_INSTANCE \"Toy-1\"\n#define PK_BYTES 10\n\
         #elif TOY_LEVEL == 5 /* 第五级\\ */\n#define ALGORITHM_INSTANCE \"Toy-5\"\n#define PK_BYTES 50\n\
         #else\n#error \"set TOY_LEVEL\"\n#endif\n#define SK_BYTES (2 * PK_BYTES)\n#define CT_BYTES 7\n#define SS_BYTES 32\n{PROTOTYPES}#endif\n"
    );
    let base = "Implementations/Implementations/ref";
    package.put(&format!("{base}/include/KEM_AlgorithmInstance.h"), header);
    package.put(&format!("{base}/kem.c"), toy_source("KEM_AlgorithmInstance.h"));
    package.put(&format!("{base}/tables.c"), "static const int table[2] = { 8, 16 };\n");
    package.put(&format!("{base}/KAT_KEM.c"), driver("KEM_AlgorithmInstance.h"));
    package
        .put(&format!("{base}/check_all.c"), "int main(int argc, char **argv) { return argc; }\n");
    package.put(
        &format!("{base}/drng_algorithm.c"),
        "#include \"drng.h\"\nDRNG_ctx drng_algorithm;\n",
    );
    package.put(&format!("{base}/speedup.c"), "int main() { return 0; }\n");
    package.put(
        &format!("{base}/Makefile"),
        "one:\n\tgcc -DTOY_LEVEL=1 -Iinclude kem.c -o one\nfive:\n\tgcc -DTOY_LEVEL=5 -Iinclude kem.c -o five\n",
    );
    package.put("Test_Vectors/KAT_KEM_Toy-1.txt", kat(10, 20, 7, 32, "01"));
    package.put(
        "Test_Vectors/KAT_KEM_Toy-5.txt",
        kat(50, 100, 7, 32, "01").replace("PK_Len = 50", "PK_Len ="),
    );
    // What was self-assessed is a copy.
    let from: Vec<(RelPath, Listed)> = package.files.iter().map(|(p, l)| (p.clone(), *l)).collect();
    for (path, listed) in from {
        package.files.insert(format!("Self_Evaluation/{path}").parse().unwrap(), listed);
    }
    let inspection = inspect(&package, &Hints::default());
    let submission = read_back(&inspection);
    let text = manifest(&inspection, &origin());
    assert!(submission.inspected, "{text}");
    assert_eq!(submission.implementations.len(), 1);
    assert!(!inspection.copies.is_empty());
    let reference = implementation(&submission, "reference");
    assert_eq!(reference.recipes.len(), 2, "{text}");
    for (instance, level, pk) in [("Toy-1", "1", 10), ("Toy-5", "5", 50)] {
        let recipe = &reference.recipes[&name(instance)];
        assert_eq!(recipe.directory, base);
        assert_eq!(recipe.defines["TOY_LEVEL"].as_deref(), Some(level));
        assert!(recipe.include.contains(&"include".to_owned()), "{text}");
        assert_eq!(sources(&package, reference, instance), [format!("{base}/kem.c")]);
        assert_eq!(submission.instances[&name(instance)].sizes["pk"], pk);
    }
    assert_eq!(submission.kat[&name("Toy-1")].mode, "strict");
    assert_eq!(submission.kat[&name("Toy-5")].mode, "nolen");
    let why = |file: &str| {
        let instance = &inspection.implementations[0].instances[0];
        instance.exclude.iter().find(|e| e.value == file).map(|e| e.why.clone()).unwrap_or_default()
    };
    if reference.recipes[&name("Toy-1")].sources == ["*.c"] {
        assert!(why("tables.c").contains("includes it"), "{text}");
        assert!(why("check_all.c").contains("main"), "{text}");
        assert!(why("drng_algorithm.c").contains("global"), "{text}");
    }
    assert_eq!(
        (reference.recipes[&name("Toy-1")].auxfunc, inspection.of(Kind::Junk).count()),
        (Helper::Auto, 0)
    );
}

#[test]
fn texts_of_one_name_are_told_apart_by_their_folders() {
    let mut package = Package::default();
    for (at, instance) in ["toy-qc-1", "toy-qc-3"].iter().enumerate() {
        let to = format!("Implementations/ref/{instance}");
        let header = format!(
            "#define ALGORITHM_INSTANCE \"AlgorithmInstance\"\n#define PK_BYTES 9\n#define SK_BYTES 9\n#define CT_BYTES 9\n#define SS_BYTES 9\n{PROTOTYPES}"
        );
        package.put(&format!("{to}/KEM_AlgorithmInstance.h"), header);
        package.put(&format!("{to}/kem.c"), toy_source("KEM_AlgorithmInstance.h"));
        package.put(&format!("{to}/tables.c"), format!("int table[1] = {{ {at} }};"));
        let text = kat(9, 9, 9, 9, &format!("0{at}"));
        package.put(&format!("Test_Vectors/{instance}/KAT_KEM_AlgorithmInstance.txt"), text);
    }
    let inspection = inspect(&package, &Hints::default());
    let submission = read_back(&inspection);
    assert!(submission.inspected, "{}", manifest(&inspection, &origin()));
    let reference = implementation(&submission, "reference");
    for instance in ["toy-qc-1", "toy-qc-3"] {
        let recipe = &reference.recipes[&name(instance)];
        assert_eq!(recipe.kat_name.as_deref(), Some("AlgorithmInstance"));
        assert_eq!(recipe.kat.directory, Some(format!("Test_Vectors/{instance}")));
    }
    let digests: Vec<&str> = submission.kat.values().map(|kat| kat.sha256.as_str()).collect();
    assert_ne!(digests[0], digests[1]);
}

#[test]
fn other_functions_are_recognised_and_a_package_without_any_is_a_question() {
    let sig = "int sig_keygen(unsigned char *pk); int sig_sign(int a); int sig_verify(int a);\n#define ALGORITHM_INSTANCE \"S-1\"\n";
    let hash = "#define ALGORITHM_INSTANCE \"H-512\"\n#define DIGEST_BIT_LENGTH 512\nint CryptHash(int n, const unsigned char *m, unsigned long long l, unsigned char *d);\n";
    let cases = [
        (
            "SIG_AlgorithmInstance",
            sig,
            "int sig_keygen(unsigned char *pk) { return 0; } int sig_sign(int a) { return a; } int sig_verify(int a) { return a; }\n",
            Function::Signature,
        ),
        (
            "CryptHash_AlgorithmInstance",
            hash,
            "int CryptHash(int n, const unsigned char *m, unsigned long long l, unsigned char *d) { return DIGEST_BIT_LENGTH; }\n",
            Function::Hash,
        ),
    ];
    for (file, header, source, function) in cases {
        let mut package = Package::default();
        package.put(&format!("实现/参考实现/x/{file}.h"), header);
        package
            .put(&format!("实现/参考实现/x/{file}.c"), format!("#include \"{file}.h\"\n{source}"));
        let inspection = inspect(&package, &Hints::default());
        let submission = read_back(&inspection);
        assert_eq!(submission.function, function, "{}", manifest(&inspection, &origin()));
        assert!(submission.implementations.len() == 1 && submission.instances.len() == 1);
        if function == Function::Hash {
            assert_eq!(submission.instances[&name("H-512")].sizes["digest"], 64);
        }
    }
    let mut package = Package::default();
    package.put("src/a.c", "int f(void) { return 1; }\n").put("x.zip", b"PK\x03\x04".to_vec());
    let inspection = inspect(&package, &Hints::default());
    assert!(inspection.function.is_none());
    assert_eq!(inspection.questions[0].candidates, ["nested: [x.zip]"]);
    assert!(!read_back(&inspection).inspected);
    assert!(!read_back(&inspect(&Package::default(), &Hints::default())).inspected);
}

#[test]
fn what_a_package_does_not_say_is_asked() {
    let mut package = hare();
    let cmake = "Implementations and Test_Vectors/CMakeLists.txt";
    let listed = package.files[&cmake.parse::<RelPath>().unwrap()];
    let text = String::from_utf8(package.blobs[&listed.blob].clone()).unwrap();
    package.put(cmake, text.replace("HARE_SYMMETRIC_MODE_B", ""));
    let inspection = inspect(&package, &Hints::default());
    let text = manifest(&inspection, &origin());
    assert!(!read_back(&inspection).inspected);
    assert!(text.contains("# ASK: ") && text.contains("#error choose a mode"), "{text}");
    assert!(text.contains("candidate: {HARE_SYMMETRIC_MODE_B: }"), "{text}");
}

#[test]
fn an_update_names_the_instances_that_it_touches() {
    let old = loong();
    let submission = read_back(&inspect(&old, &Hints::default()));
    let mut new = loong();
    new.put("中文资料/loong kem 中文.pdf", "%PDF-1.8");
    let found = difference(&old, &new, &submission);
    assert!(found.documents_only() && found.documents.len() == 1, "{found}");
    let base = "Implementations/Reference_Implementation/Loong256";
    new.put(&format!("{base}/extra.c"), "int extra;\n");
    new.put(&format!("{base}/params.h"), "int other;\n");
    new.files.remove(&format!("{base}/README.txt").parse().unwrap());
    new.put("Test_Vectors/KAT_KEM_Loong512.txt", kat(10640, 11832, 10850, 64, "AB"));
    let found = difference(&old, &new, &submission);
    let change = |instance: &str| &found.instances[&(name("reference"), name(instance))];
    assert!(change("Loong128").is_empty() && change("Loong384").is_empty(), "{found}");
    let inputs: Vec<Change> = change("Loong256").inputs.values().copied().collect();
    assert_eq!(inputs, [Change::Added, Change::Changed]);
    assert_eq!(change("Loong512").sizes["ct"], (10848, 10850));
    let text = found.to_string();
    assert!(
        text.contains("reference/Loong256: to be measured again")
            && text.contains("ct: 10848 -> 10850"),
        "{text}"
    );
    assert!(
        text.contains("  + Implementations/Reference_Implementation/Loong256/extra.c"),
        "{text}"
    );
}

#[test]
fn hostile_packages_are_inspected_to_the_end() {
    let mut package = Package::default();
    let dir = "Reference {implementation}/\u{1b}[2J\u{85} a: b #c";
    package.put(&format!("{dir}/KEM_AlgorithmInstance.h"), format!(
        "#include \"KEM_AlgorithmInstance.h\"\n#include \"loop.h\"\n#define ALGORITHM_INSTANCE \"\u{202e}\\\"x\ny\"\n{PROTOTYPES}"
    ));
    package.put(
        &format!("{dir}/loop.h"),
        "#include \"KEM_AlgorithmInstance.h\"\n#include \"loop.h\"\n#include \"loop.h\"\n",
    );
    package.put(
        &format!("{dir}/kem.c"),
        toy_source("KEM_AlgorithmInstance.h").replace("PK_BYTES", "PK_BYTES_BYTES"),
    );
    package.put(&format!("{dir}/tables.c"), "#include \"kem.c\"\nint table[");
    let mut long = b"Count = 0\nPK = ".to_vec();
    long.extend(vec![b'A'; 3 << 20]);
    long.extend(b"\nCT = 00\nSS = 00\nCount = 7\nCT = 11\n\xff\xfe");
    package.put("Test_Vectors/KAT_KEM_x.txt", long);
    package
        .put("a/Makefile", vec![b'$'; 1 << 16])
        .put("a/CMakeLists.txt", "set(A ${A}${A})\nset(A ${A}${A}))))((((");
    package.put("a/x.c", vec![b'{'; 1 << 20]).put("a/y.h", vec![0xff; 4096]).put("a/z.c", "\\");
    package.put("a/nul.c", "int x;\0").put("a/deep.c", "#if 1\n".repeat(50_000));
    let inspection = inspect(&package, &Hints::default());
    read_back(&inspection);
    assert_eq!(inspection.kats.len(), 1);
    assert!(inspection.kats[0].oddities[0].contains("record 1"), "{:?}", inspection.kats[0]);
}

#[test]
fn families_with_the_same_names_and_a_define_per_level() {
    let mut package = Package::default();
    let root = "Implementations and Test_Vectors";
    for family in ["SHAKE", "SM3"] {
        for level in ["1", "2"] {
            let to = format!(
                "{root}/Implementations/Reference_Implementation/Lore-{family}/Lore-L{level}"
            );
            package.directory("kems/kem-19/independent/core", &to, same);
            package.directory(
                &format!("kems/kem-19/independent/Lore-{family}-L{level}"),
                &to,
                |text| {
                    let instance = format!("\"Lore-{family}-L{level}\"");
                    text.replace(&instance, &format!("\"Lore-L{level}\"")).replace(
                        "#ifndef LORE_PARAMS_H",
                        "#ifndef LORE_LEVEL\n#error no level\n#endif\n#ifndef LORE_PARAMS_H",
                    )
                },
            );
            package.put(&format!("{to}/Makefile"), format!("CFLAGS=-O3 -DLORE_LEVEL={level}\n"));
            let text = kat(9, 9, 9, 9, if family == "SM3" { "0A" } else { "0B" });
            package
                .put(&format!("{root}/Test_Vectors/Lore-{family}/KAT_KEM_Lore-L{level}.txt"), text);
        }
    }
    let inspection = inspect(&package, &Hints::default());
    let text = manifest(&inspection, &origin());
    let submission = read_back(&inspection);
    let reference = implementation(&submission, "reference");
    for (family, level) in [("SHAKE", "1"), ("SHAKE", "2"), ("SM3", "1"), ("SM3", "2")] {
        let recipe = &reference.recipes[&name(&format!("Lore-{family}-L{level}"))];
        assert_eq!(recipe.kat_name, Some(format!("Lore-L{level}")), "{text}");
        assert_eq!(recipe.defines.get("LORE_LEVEL"), Some(&Some(level.to_owned())), "{text}");
        assert_eq!(
            recipe.kat.directory,
            Some(format!("{root}/Test_Vectors/Lore-{family}")),
            "{text}"
        );
    }
}
