//! Where implementations are: the headers that declare an official API, and the directories that carry it out.
//!
//! Folder names say which version an implementation is, in English or Chinese, spelled in many ways; what a header
//! declares says which API it is.

use std::collections::{BTreeMap, BTreeSet};

use super::found::Decided;
use super::kinds::{self, Kind};
use super::package::{Package, directory_of, is_below, read_up_to, shared_parts};
use super::preprocess::rough;
use crate::name::RelPath;
use crate::source::is_driver;
use crate::spec::{Function, ImplementationVersion};

/// The functions that an API must have. The first is the one that marks a source as carrying it out.
pub(super) fn api_names(function: Function) -> &'static [&'static str] {
    match function {
        Function::Kem => &[
            "kem_keygen",
            "kem_enc",
            "kem_dec",
            "kem_get_pk_len_bytes",
            "kem_get_sk_len_bytes",
            "kem_get_ss_len_bytes",
            "kem_get_ct_len_bytes",
        ],
        Function::Signature => &[
            "sig_keygen",
            "sig_sign",
            "sig_verify",
            "sig_get_pk_len_bytes",
            "sig_get_sk_len_bytes",
            "sig_get_sn_len_bytes",
        ],
        Function::KeyExchange => &[
            "kex_init_a",
            "kex_init_b",
            "kex_generate_pass1_msg_a",
            "kex_derive_ss_a",
            "kex_derive_ss_b",
            "kex_get_passes_num",
            "kex_get_pk_len_bytes",
            "kex_get_sk_len_bytes",
            "kex_get_sta_len_bytes",
            "kex_get_stb_len_bytes",
            "kex_get_ss_len_bytes",
            "kex_get_total_msg_len_bytes",
        ],
        Function::Hash => &["CryptHash"],
    }
}

pub(super) const FUNCTIONS: [Function; 4] =
    [Function::Kem, Function::Signature, Function::KeyExchange, Function::Hash];

/// What official headers and drivers are called by: `KEM_…`, `KAT_KEM_…`.
pub(super) const fn tag(function: Function) -> &'static str {
    match function {
        Function::Kem => "KEM",
        Function::Signature => "SIG",
        Function::KeyExchange => "KEX",
        Function::Hash => "CryptHash",
    }
}

/// One directory that has an API.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    pub(super) header: RelPath,
    pub(super) function: Function,
    pub(super) directory: String,
    pub(super) version: Option<ImplementationVersion>,
    /// The part of the path that says so, and a part below it that names a machine.
    pub(super) version_part: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) why: String,
}

/// The version that a path's folders name: the first one from the root that names any.
pub(super) fn version_of(path: &str) -> Option<(ImplementationVersion, String)> {
    path.split('/').find_map(|part| {
        let lower = part.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let version = if has(&["additional", "resource", "资源"]) {
            ImplementationVersion::Resource
        } else if has(&["optimi", "performance", "性能", "优化"]) || lower == "opt" {
            ImplementationVersion::Performance
        } else if has(&["reference", "参考"]) || lower == "ref" {
            ImplementationVersion::Reference
        } else {
            return None;
        };
        Some((version, part.to_owned()))
    })
}

/// Whether a folder or file is for a machine with extensions, which reference flags do not allow.
pub(super) fn machine_of(path: &str) -> Option<String> {
    const MACHINES: [&str; 12] = [
        "avx2",
        "avx512",
        "avx",
        "avx256",
        "neon",
        "sve",
        "aarch64",
        "arm64",
        "arm",
        "armv8",
        "cortex-m4",
        "riscv",
    ];
    path.split('/').find_map(|part| {
        let lower = part.to_ascii_lowercase();
        let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        words.find(|word| MACHINES.contains(word)).map(str::to_owned)
    })
}

/// Everything that `find` learns.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) anchors: Vec<Anchor>,
    pub(super) copies: Vec<Decided<String>>,
    /// Headers that declare NIST's API, when there is no other.
    pub(super) nist: Vec<RelPath>,
    /// Headers that declare an API which no source carries out.
    pub(super) empty: Vec<RelPath>,
}

fn mentions(package: &Package<'_>, path: &RelPath, needles: &[&str]) -> bool {
    let bytes = read_up_to(package.contents, path, 4 << 20);
    needles
        .iter()
        .any(|needle| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
}

/// Finds all of them.
pub(super) fn find(package: &Package<'_>, included: &BTreeMap<RelPath, RelPath>) -> Places {
    let needles: Vec<&str> =
        FUNCTIONS.iter().map(|f| api_names(*f)[0]).chain(["_len_bytes"]).collect();
    let mut places = Places::default();
    let mut headers: Vec<(RelPath, Function)> = Vec::new();
    // Sources with the functions of an API that they define.
    let mut carriers: BTreeMap<RelPath, BTreeSet<String>> = BTreeMap::new();
    for path in package.of(Kind::Code) {
        let source = path.as_str().ends_with(".c");
        if source && (is_driver(path.file_name()) || included.contains_key(path)) {
            continue;
        }
        if !mentions(package, path, &needles) {
            if !source && mentions(package, path, &["crypto_kem_keypair"]) {
                places.nist.push(path.clone());
            }
            continue;
        }
        let items = rough(package, path);
        if source {
            let names = FUNCTIONS.iter().flat_map(|f| api_names(*f));
            let defined = names.filter(|n| items.functions.contains(**n)).map(|n| (*n).to_owned());
            let defined: BTreeSet<String> = defined.collect();
            if !defined.is_empty() && !items.functions.contains("main") {
                carriers.insert(path.clone(), defined);
            }
            continue;
        }
        let declares = |function: &Function| {
            let names = api_names(*function);
            names.iter().take(3).all(|name| items.declared.contains(*name))
        };
        if let Some(function) = FUNCTIONS.into_iter().find(declares) {
            headers.push((path.clone(), function));
        }
    }
    let mut anchors = Vec::new();
    for (header, function) in headers {
        if kinds::is_copy(header.as_str()) {
            let why = "below a folder for self-assessment or other matter";
            places.copies.push(Decided::new(directory_of(&header), why));
            continue;
        }
        let found = directories(&header, function, &carriers);
        if found.is_empty() {
            places.empty.push(header.clone());
        }
        for (directory, why) in found {
            let (version, version_part) = version_of(&directory).unzip();
            let below = version_part.as_ref().and_then(|part| directory.split_once(part.as_str()));
            let machine = below.and_then(|(_, below)| machine_of(below));
            anchors.push(Anchor {
                header: header.clone(),
                function,
                directory,
                version,
                version_part,
                machine,
                why,
            });
        }
    }
    one_header_each(&mut anchors);
    without_repetitions(package, &mut anchors, &mut places.copies);
    places.anchors = anchors;
    places
}

/// The directories that a header's API is carried out in, each with why.
fn directories(
    header: &RelPath,
    function: Function,
    carriers: &BTreeMap<RelPath, BTreeSet<String>>,
) -> Vec<(String, String)> {
    let own = directory_of(header);
    let names = api_names(function);
    let carries = |defined: &BTreeSet<String>| names.iter().any(|name| defined.contains(*name));
    let all: Vec<&RelPath> =
        carriers.iter().filter(|(_, d)| carries(d)).map(|(path, _)| path).collect();
    if all.iter().any(|path| directory_of(path) == own) {
        return vec![(
            own,
            format!(
                "`{}` declares the API, and a source beside it carries it out",
                header.file_name()
            ),
        )];
    }
    let version = version_of(header.as_str()).map(|(version, _)| version);
    let fits = |path: &RelPath| {
        !kinds::is_copy(path.as_str())
            && (version.is_none()
                || version_of(path.as_str()).is_none_or(|(v, _)| Some(v) == version))
    };
    let rank = |path: &RelPath| {
        (machine_of(path.as_str()).is_none(), shared_parts(path.as_str(), header.as_str()))
    };
    let fitting: Vec<&RelPath> = all.into_iter().filter(|path| fits(path)).collect();
    let Some(best) = fitting.iter().map(|path| rank(path)).max() else { return Vec::new() };
    let nearest: BTreeMap<String, &RelPath> = fitting
        .into_iter()
        .filter(|path| rank(path) == best)
        .map(|path| (directory_of(path), path))
        .collect();
    if let [(directory, source)] = nearest.iter().collect::<Vec<_>>()[..] {
        let shared = shared_parts(&own, directory);
        let common: Vec<&str> = own.split('/').take(shared).collect();
        let why = format!("it holds `{}` and `{}`", header.file_name(), source.file_name());
        return vec![(common.join("/"), why)];
    }
    let why =
        |source: &RelPath| format!("`{}` carries out what `{header}` declares", source.file_name());
    nearest.into_iter().map(|(directory, source)| (directory, why(source))).collect()
}

/// A directory has one API header: the one with the official name, else one like it, else the first.
fn one_header_each(anchors: &mut Vec<Anchor>) {
    let rank = |anchor: &Anchor| {
        let name = anchor.header.file_name();
        let official = format!("{}_AlgorithmInstance.h", tag(anchor.function));
        let beside = directory_of(&anchor.header) == anchor.directory;
        (name != official, !name.starts_with(tag(anchor.function)), !beside, anchor.header.clone())
    };
    anchors.sort_by_key(|anchor| (anchor.directory.clone(), rank(anchor)));
    anchors.dedup_by(|later, first| later.directory == first.directory);
}

/// Directories that repeat another one, file by file, are copies: the one nearer to the root counts.
fn without_repetitions(
    package: &Package<'_>,
    anchors: &mut Vec<Anchor>,
    copies: &mut Vec<Decided<String>>,
) {
    let content = |directory: &str| -> BTreeSet<(String, String)> {
        let below = package.of(Kind::Code).filter(|path| is_below(path.as_str(), directory));
        let named = below.filter_map(|path| {
            let name = path.as_str().get(directory.len()..)?.to_owned();
            Some((name, package.blob(path)?.to_string()))
        });
        named.collect()
    };
    let base = |directory: &str| directory.rsplit('/').next().unwrap_or("").to_owned();
    let mut kept: Vec<Anchor> = Vec::new();
    anchors.sort_by_key(|anchor| (anchor.directory.matches('/').count(), anchor.directory.clone()));
    for anchor in anchors.drain(..) {
        let same = kept.iter().find(|other| {
            base(&other.directory) == base(&anchor.directory)
                && other.version == anchor.version
                && package.blob(&other.header) == package.blob(&anchor.header)
                && content(&other.directory) == content(&anchor.directory)
        });
        match same {
            // The same code under two folders that no version tells apart, but which families may: keep both.
            Some(other)
                if other.version.is_none() || !families(&other.directory, &anchor.directory) =>
            {
                let why = format!("the same files as in `{}`", other.directory);
                copies.push(Decided::new(anchor.directory.clone(), why));
            }
            _ => kept.push(anchor),
        }
    }
    kept.sort_by(|a, b| a.directory.cmp(&b.directory));
    *anchors = kept;
}

/// Whether two directories differ below the same version folder: then they are siblings and not copies.
fn families(a: &str, b: &str) -> bool {
    let head = |path: &str| {
        let (_, part) = version_of(path)?;
        path.split_once(part.as_str()).map(|(head, _)| head.to_owned())
    };
    head(a) == head(b)
}
