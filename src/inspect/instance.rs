//! One instance: from its directory and its definitions to everything that a recipe says.

use std::collections::{BTreeMap, BTreeSet};

use super::c_text::Token;
use super::closure::{Closure, GLOBAL, HELPERS, Index, close, patterns};
use super::constants::{Enumerators, value};
use super::found::{Decided, Field, FoundInstance, Question};
use super::libraries;
use super::naming::{Defines, NAME, Variant, numbers};
use super::package::{directory_of, is_below, relative};
use super::places::Anchor;
use super::scope::Scope;
use crate::name::RelPath;
use crate::spec::{Function, Helper, Library};

/// Definitions that choose how a driver prints or a library checks, and not what is computed.
const IGNORED: [&str; 8] = [
    "OUTPUT_BLANK_TEST_VECTORS",
    "NDEBUG",
    "DEBUG",
    "_GNU_SOURCE",
    "_DEFAULT_SOURCE",
    "_POSIX_C_SOURCE",
    "_XOPEN_SOURCE",
    "_CRT_SECURE_NO_WARNINGS",
];

/// What the build files define for a directory.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// With one value.
    pub(super) decided: BTreeMap<String, Decided<Option<String>>>,
    /// With several: each value with where it stands.
    pub(super) open: BTreeMap<String, Vec<(Option<String>, String)>>,
}

impl Given {
    pub(super) fn plain(&self) -> Defines {
        self.decided.iter().map(|(name, decided)| (name.clone(), decided.value.clone())).collect()
    }
}

/// Reads the definitions off the build files.
pub(super) fn given(scope: &Scope<'_, '_>) -> Given {
    let mut all: BTreeMap<String, Vec<(Option<String>, String, bool)>> = BTreeMap::new();
    let base = scope.directory.rsplit('/').next().unwrap_or("");
    let parent = scope.directory.rsplit('/').nth(1).unwrap_or("");
    for (file, group) in &scope.builds {
        let target = group.target.to_ascii_lowercase();
        if ["bench", "speed", "test"].iter().any(|word| target.contains(word)) {
            continue;
        }
        let near = directory_of(file) == scope.directory;
        let speaks = |text: &str| {
            let words = || text.split(['/', ' ', '"', '=', '\\']);
            words().any(|word| word == base)
                && (base.len() > 2 || words().any(|word| word == parent))
        };
        let mentions = near
            || !base.is_empty()
                && (speaks(&group.target)
                    || group.sources.iter().any(|s| speaks(s))
                    || group.includes.iter().any(|i| speaks(i)));
        for (name, value) in &group.defines {
            if !IGNORED.contains(&name.as_str()) && name != NAME {
                let place = format!("defined in `{file}`");
                all.entry(name.clone()).or_default().push((value.clone(), place, mentions));
            }
        }
    }
    let mut given = Given::default();
    for (name, stated) in all {
        let own: Vec<_> = stated.iter().filter(|(_, _, mentions)| *mentions).collect();
        let judged: Vec<_> = if own.is_empty() { stated.iter().collect() } else { own };
        let values: BTreeSet<&Option<String>> = judged.iter().map(|(value, _, _)| value).collect();
        let symbolic = |value: &Option<String>| value.as_ref().is_some_and(|v| v.contains('$'));
        let plain = values.len() == 1 && !values.iter().any(|value| symbolic(value));
        if let (true, Some((value, place, _))) = (plain, judged.first()) {
            given.decided.insert(name, Decided::new(value.clone(), place.clone()));
            continue;
        }
        // `-DLEVEL=1` … `-DLEVEL=4`: the number that the directory's name has.
        let known = numbers(&scope.directory);
        let fitting: BTreeSet<&str> = values
            .iter()
            .filter_map(|value| value.as_deref())
            .filter(|value| known.iter().rev().take(2).any(|number| number == value))
            .collect();
        if let [one] = fitting.iter().collect::<Vec<_>>()[..] {
            let why =
                "one of the values of the build files, and the number in the directory's name";
            given.decided.insert(name, Decided::new(Some((*one).to_owned()), why));
            continue;
        }
        let open =
            judged.into_iter().map(|(value, place, _)| (value.clone(), place.clone())).collect();
        given.open.insert(name, open);
    }
    given
}

/// Everything about one variant of a directory. Its name may still change, when another has the same.
pub(super) fn describe(
    scope: &Scope<'_, '_>,
    index: &Index,
    anchor: &Anchor,
    variant: &Variant,
    given: &Given,
) -> Option<FoundInstance> {
    let mut defines = given.plain();
    defines.extend(variant.defines.clone());
    let closure = close(scope, index, anchor.function, &anchor.header, &defines);
    let (sources, exclude) = patterns(scope, &closure);
    let mentioned: BTreeSet<&String> =
        closure.units.values().flat_map(|unit| &unit.mentioned).collect();
    let mut questions = closure.questions.clone();
    let (auxfunc, drng, mut notes) = helpers(scope, &closure, &mut questions);
    for (name, open) in given
        .open
        .iter()
        .filter(|(n, _)| mentioned.contains(n) && !variant.defines.contains_key(*n))
    {
        let text =
            format!("`{name}` has several values in the build files, and the sources ask for it");
        let candidates: BTreeSet<String> = open
            .iter()
            .map(|(value, place)| {
                let value = value.as_deref().unwrap_or("");
                format!("{{{name}: {value}}} ({place})")
            })
            .collect();
        questions.push(Question::new(Field::Defines, text, candidates.into_iter().collect()));
    }
    let base = scope.directory.rsplit('/').next().unwrap_or("");
    let (name, why) = match &variant.name {
        Some(name) => (name.clone(), variant.why.clone()),
        None => (base.to_owned(), format!("the directory's name; {}", variant.why)),
    };
    let name = super::naming::as_name(&name).or_else(|| super::naming::as_name(base))?;
    let kat_name = variant
        .name
        .as_ref()
        .filter(|text| *text != name.as_str())
        .map(|text| Decided::new(text.clone(), variant.why.clone()));
    let header = header(scope, anchor, &closure);
    let outside = closure.because.iter().next().map(|(path, why)| {
        format!("; `{}` for {why}, and what that needs", relative(&scope.directory, path.as_str()))
    });
    let sources_why = format!("what the API leads to{}", outside.unwrap_or_default());
    let flags: BTreeSet<String> =
        scope.builds.iter().flat_map(|(_, group)| group.flags.iter().cloned()).collect();
    let (include, headers) = includes(scope, &closure);
    let (own_drng_algorithm, cflags) = globals(&closure);
    if own_drng_algorithm.is_some() {
        notes.push(format!("it defines the global `{GLOBAL}` itself"));
    }
    Some(FoundInstance {
        name: Decided::new(name, why),
        kat_name,
        directory: Decided::new(scope.directory.clone(), anchor.why.clone()),
        header,
        sources: Decided::new(sources, sources_why),
        exclude,
        include,
        headers,
        defines: chosen_defines(given, variant, &mentioned),
        cflags,
        libraries: used_libraries(scope, &closure),
        auxfunc,
        drng,
        own_drng_algorithm,
        sizes: sizes(anchor.function, &closure),
        kat: None,
        submitted_flags: flags.into_iter().collect(),
        notes,
        questions,
    })
}

/// The definitions that the sources ask for; the others of the build files do nothing.
fn chosen_defines(
    given: &Given,
    variant: &Variant,
    mentioned: &BTreeSet<&String>,
) -> BTreeMap<String, Decided<Option<String>>> {
    let used = |name: &String| mentioned.contains(name);
    let mut all: BTreeMap<String, Decided<Option<String>>> = given
        .decided
        .iter()
        .filter(|(name, _)| used(name))
        .map(|(name, decided)| (name.clone(), decided.clone()))
        .collect();
    for (name, value) in &variant.defines {
        if used(name) || name == NAME {
            all.insert(name.clone(), Decided::new(value.clone(), variant.why.clone()));
        }
    }
    all
}

/// The header as sources include it: by name where its directory is searched.
fn header(scope: &Scope<'_, '_>, anchor: &Anchor, closure: &Closure) -> Decided<String> {
    let directory = directory_of(&anchor.header);
    if closure.include.directories.contains(&directory) {
        let why = "it declares the functions of the API";
        return Decided::new(anchor.header.file_name().to_owned(), why);
    }
    Decided::new(
        relative(&scope.directory, anchor.header.as_str()),
        "it declares the functions of the API",
    )
}

fn includes(
    scope: &Scope<'_, '_>,
    closure: &Closure,
) -> (Decided<Vec<String>>, Vec<Decided<String>>) {
    let path = &closure.include;
    let dirs: Vec<String> =
        path.directories.iter().map(|dir| relative(&scope.directory, dir)).collect();
    let first = path
        .added
        .iter()
        .next()
        .map(|(dir, by)| format!("`{}` for {by}", relative(&scope.directory, dir)));
    let why =
        first.unwrap_or_else(|| "the directory itself, and where the API header is".to_owned());
    let files: BTreeSet<&RelPath> = closure.units.values().flat_map(|unit| &unit.files).collect();
    let searched = |file: &RelPath| {
        path.directories.iter().chain([&scope.directory]).any(|dir| is_below(file.as_str(), dir))
    };
    let outside = files.into_iter().filter(|file| !searched(file));
    let headers = outside.map(|file| {
        Decided::new(
            relative(&scope.directory, file.as_str()),
            "included by its path, from outside the include directories",
        )
    });
    (Decided::new(dirs, why), headers.collect())
}

/// Who defines the global, and whether tentative definitions need `-fcommon`.
fn globals(closure: &Closure) -> (Option<Decided<bool>>, Vec<Decided<String>>) {
    let owner = closure.units.iter().find(|(_, unit)| unit.items.defines(GLOBAL));
    let own = owner.map(|(path, _)| {
        Decided::new(
            true,
            format!("`{}` defines `{GLOBAL}` and is needed for more", path.file_name()),
        )
    });
    let mut tentative: BTreeMap<&String, usize> = BTreeMap::new();
    for name in closure.units.values().flat_map(|unit| &unit.items.tentative) {
        *tentative.entry(name).or_default() += 1;
    }
    let twice = tentative.into_iter().find(|(_, count)| *count > 1);
    let common = twice.map(|(name, count)| {
        Decided::new(
            "-fcommon".to_owned(),
            format!("{count} sources define `{name}` without a value"),
        )
    });
    (own, common.into_iter().collect())
}

fn used_libraries(scope: &Scope<'_, '_>, closure: &Closure) -> Vec<Decided<Library>> {
    let mut found: BTreeMap<String, Decided<Library>> = BTreeMap::new();
    for (path, unit) in &closure.units {
        for library in unit.foreign.iter().filter_map(|header| libraries::of_header(header)) {
            let why = format!("`{}` includes it", path.file_name());
            found.entry(library.name.clone()).or_insert_with(|| Decided::new(library, why));
        }
    }
    for (file, group) in &scope.builds {
        for name in &group.libraries {
            // A name of a target is no library; only known ones are taken from build files.
            let known =
                libraries::of_flag(name).filter(|_| !libraries::ALWAYS.contains(&name.as_str()));
            if let Some(library) = known {
                let why = format!("`{file}` links it");
                found.entry(library.name.clone()).or_insert_with(|| Decided::new(library, why));
            }
        }
    }
    found.into_values().collect()
}

/// Which helpers are linked. The default takes a shipped file among the sources, and ours without one.
fn helpers(
    scope: &Scope<'_, '_>,
    closure: &Closure,
    questions: &mut Vec<Question>,
) -> (Decided<Helper>, Decided<Helper>, Vec<String>) {
    let mut notes = Vec::new();
    let mut judge = |file: &str, names: &[&str]| {
        if let Some(path) = closure.units.keys().find(|path| path.file_name() == file) {
            let why =
                format!("`{}` is shipped and compiled", relative(&scope.directory, path.as_str()));
            return Decided::new(Helper::Auto, why);
        }
        let own =
            |name: &&&str| closure.units.values().any(|unit| unit.items.functions.contains(**name));
        let own: Vec<&&str> = names.iter().filter(own).collect();
        let needed = |name: &&&str| {
            closure.units.values().any(|unit| unit.items.needed().contains(&(**name).to_owned()))
        };
        let lacking: Vec<&&str> =
            names.iter().filter(needed).filter(|name| !own.contains(name)).collect();
        match (own.first(), lacking.first()) {
            (None, _) => {
                let why = format!("no `{file}` is shipped here; the official one is added");
                notes.push(why.clone());
                Decided::new(Helper::Auto, why)
            }
            (Some(name), None) => {
                Decided::new(Helper::Absent, format!("the submission has its own `{name}`"))
            }
            (Some(name), Some(lacking)) => {
                let text = format!(
                    "the submission has its own `{name}` but needs `{lacking}` of the official `{file}`"
                );
                questions.push(Question::new(
                    Field::Helpers,
                    text,
                    vec!["absent".to_owned(), "ours".to_owned()],
                ));
                Decided::new(Helper::Auto, "asked")
            }
        }
    };
    let auxfunc = judge("auxfunc.c", &HELPERS[..3]);
    let drng = judge("drng.c", &HELPERS[3..]);
    (auxfunc, drng, notes)
}

/// The getters that tell sizes, with the size's name in the manifest.
const fn getters(function: Function) -> &'static [(&'static str, &'static str)] {
    match function {
        Function::Kem => &[
            ("pk", "kem_get_pk_len_bytes"),
            ("sk", "kem_get_sk_len_bytes"),
            ("ct", "kem_get_ct_len_bytes"),
            ("ss", "kem_get_ss_len_bytes"),
        ],
        Function::Signature => &[
            ("pk", "sig_get_pk_len_bytes"),
            ("sk", "sig_get_sk_len_bytes"),
            ("sig", "sig_get_sn_len_bytes"),
        ],
        Function::KeyExchange => &[
            ("pk", "kex_get_pk_len_bytes"),
            ("sk", "kex_get_sk_len_bytes"),
            ("ss", "kex_get_ss_len_bytes"),
            ("messages", "kex_get_total_msg_len_bytes"),
        ],
        Function::Hash => &[],
    }
}

/// Sizes that constants give.
fn sizes(function: Function, closure: &Closure) -> BTreeMap<String, Decided<u64>> {
    let mut found = BTreeMap::new();
    for (size, getter) in getters(function) {
        let Some(unit) =
            closure.units.values().find(|unit| unit.items.bodies.contains_key(*getter))
        else {
            continue;
        };
        let body = &unit.items.bodies[*getter];
        let returned = body.iter().position(|token| token.word() == Some("return"));
        let Some(start) = returned else { continue };
        let rest = &body[start + 1..];
        let end = rest.iter().position(|token| token.is(';')).unwrap_or(rest.len());
        let known: &Enumerators = &unit.items.enumerators;
        let bytes = value(&rest[..end], &unit.macros, known).and_then(|n| u64::try_from(n).ok());
        if let Some(bytes) = bytes {
            found.insert(
                (*size).to_owned(),
                Decided::new(bytes, format!("`{getter}` returns this constant")),
            );
        }
    }
    if function == Function::Hash {
        let bits = closure.units.values().find_map(|unit| {
            let name = [Token::Word("DIGEST_BIT_LENGTH".into())];
            value(&name, &unit.macros, &unit.items.enumerators).and_then(|n| u64::try_from(n).ok())
        });
        if let Some(bits) = bits {
            found.insert("digest".to_owned(), Decided::new(bits / 8, "`DIGEST_BIT_LENGTH`"));
        }
    }
    found
}
