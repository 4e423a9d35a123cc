//! Reads recipes: the defaults of an implementation merged with what each instance states.
//!
//! Knows nothing of compilers. The merge rule is one sentence: what an instance states replaces the default, except
//! that `defines`, `vars` and `kat` are merged entry by entry. `{instance}` and the names in `vars` are replaced by
//! their values, so that one recipe serves all parameter sets of a package.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fields::Map;
use super::reader::{At, Kind, Located};
use super::recipe::{Api, Generator, Helper, KatSettings, Library, Patch, Recipe};
use super::submission::{Place, Source, known_instance};
use crate::diag::nearest;
use crate::disk::Disk;
use crate::name::{Name, RelPath};

/// What one place of the manifest states; what it leaves out is `None`.
#[derive(Debug, Clone, Default)]
struct Draft<'d> {
    vars: BTreeMap<String, String>,
    directory: Option<Located<'d, String>>,
    sources: Option<Texts<'d>>,
    exclude: Option<Texts<'d>>,
    include: Option<Texts<'d>>,
    headers: Option<Texts<'d>>,
    header: Option<Located<'d, String>>,
    api: Option<Api>,
    prefix: Option<Located<'d, String>>,
    generator: Option<Located<'d, Generator>>,
    defines: BTreeMap<String, Option<Located<'d, String>>>,
    cflags: Option<Texts<'d>>,
    libraries: Option<Vec<Library>>,
    auxfunc: Option<Helper>,
    drng: Option<Helper>,
    own_drng_algorithm: Option<bool>,
    flag_sets: Option<Vec<Name>>,
    patches: Option<Vec<Patch>>,
    kat: KatDraft<'d>,
    stack: Option<u64>,
    timeout: Option<Duration>,
    kat_name: Option<Located<'d, String>>,
}

type Texts<'d> = Vec<Located<'d, String>>;

#[derive(Debug, Clone, Default)]
struct KatDraft<'d> {
    records: Option<u64>,
    timeout: Option<Duration>,
    nolen: Option<bool>,
    file: Option<Located<'d, String>>,
    directory: Option<Located<'d, String>>,
}

/// Reads `recipe` and `instances` of an implementation. Without `instances` it has all of the submission's.
pub(super) fn read(
    map: &Map<'_>,
    source: Option<&Source>,
    place: &Place<'_>,
) -> Option<BTreeMap<Name, Recipe>> {
    let defaults = map.or("recipe", Draft::default(), |at| draft(at, place));
    let own = map.optional("instances", |at| {
        at.named(|at| {
            let known = known_instance(at, place);
            let draft = if at.is_nothing() { Some(Draft::default()) } else { draft(at, place) };
            known.and(draft)
        })
    });
    let (defaults, own) = (defaults?, own?);
    let drafts: Vec<(Name, Draft<'_>)> = match own {
        Some(named) => named.into_iter().map(|n| (n.name, n.value)).collect(),
        None => {
            let names = place.instances.iter().filter_map(|name| name.parse::<Name>().ok());
            names.map(|name| (name, Draft::default())).collect()
        }
    };
    let tree = match source {
        Some(Source::Directory { path }) => Some(Tree { disk: place.disk, path }),
        Some(Source::Archive { .. } | Source::Crate { .. }) | None => None,
    };
    let finished = drafts.into_iter().filter_map(|(name, own)| {
        let recipe = merge(&defaults, own).finish(&name, map.at(), tree)?;
        Some((name, recipe))
    });
    Some(finished.collect())
}

fn draft<'d>(at: At<'d>, place: &Place<'_>) -> Option<Draft<'d>> {
    let map = at.map()?;
    let texts = |key| map.optional(key, |at| at.list(|at| at.located(at.any_text())));
    let text = |key| map.optional(key, |at| at.located(at.text()));
    let helper = |key| map.optional(key, |at| at.one_of("choice", &Helper::WORDS));
    let vars = map.or("vars", BTreeMap::new(), variables);
    let directory = map.optional("directory", |at| at.located(at.any_text()));
    let (sources, exclude) = (texts("sources"), texts("exclude"));
    let (include, headers) = (texts("include"), texts("headers"));
    let header = text("header");
    let api = map.optional("api", |at| at.one_of("API", &Api::WORDS));
    let prefix = text("prefix");
    let generator =
        map.optional("generator", |at| at.located(at.one_of("generator", &Generator::WORDS)));
    let defines = map.or("defines", BTreeMap::new(), defines);
    let cflags = texts("cflags");
    let libraries = map.optional("libraries", |at| at.list(library));
    let (auxfunc, drng) = (helper("auxfunc"), helper("drng"));
    let own_drng_algorithm = map.optional("own_drng_algorithm", At::truth);
    let flag_sets = map.optional("flag_sets", |at| at.set(|at| flag_set(at, place)));
    let patches = map.optional("patches", |at| at.list(|at| patch(at, place)));
    let kat = map.or("kat", KatDraft::default(), kat);
    let stack = map.optional("stack", At::bytes);
    let timeout = map.optional("timeout", At::duration);
    let kat_name = text("kat_name");
    map.finish();
    // What could not be read has been reported; the rest is still checked.
    Some(Draft {
        vars: vars.unwrap_or_default(),
        directory: directory.flatten(),
        sources: sources.flatten(),
        exclude: exclude.flatten(),
        include: include.flatten(),
        headers: headers.flatten(),
        header: header.flatten(),
        api: api.flatten(),
        prefix: prefix.flatten(),
        generator: generator.flatten(),
        defines: defines.unwrap_or_default(),
        cflags: cflags.flatten(),
        libraries: libraries.flatten(),
        auxfunc: auxfunc.flatten(),
        drng: drng.flatten(),
        own_drng_algorithm: own_drng_algorithm.flatten(),
        flag_sets: flag_sets.flatten(),
        patches: patches.flatten(),
        kat: kat.unwrap_or_default(),
        stack: stack.flatten(),
        timeout: timeout.flatten(),
        kat_name: kat_name.flatten(),
    })
}

fn variables(at: At<'_>) -> Option<BTreeMap<String, String>> {
    let named = at.named(At::any_text)?;
    if let Some(own) = named.iter().find(|n| n.name.as_str() == "instance") {
        let message = "the variable `instance` is set by the program";
        own.at.key_error("bad-value", message, "choose another name", |d| d);
        return None;
    }
    Some(named.into_iter().map(|n| (n.name.to_string(), n.value)).collect())
}

fn defines(at: At<'_>) -> Option<BTreeMap<String, Option<Located<'_, String>>>> {
    let identifier = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let read = at.entries()?.into_iter().filter_map(|at| {
        let name = at.key();
        if !identifier(name) {
            let message = format!("`{name}` is not a name of a macro");
            at.key_error("bad-value", message, "letters, digits and `_`", |d| d);
            return None;
        }
        let value = if at.is_nothing() { None } else { Some(at.located(at.any_text())?) };
        Some((name.to_owned(), value))
    });
    Some(read.collect())
}

fn flag_set(at: At<'_>, place: &Place<'_>) -> Option<Name> {
    let name = at.name()?;
    let Some(known) = place.flag_sets.filter(|known| !known.contains(&name)) else {
        return Some(name);
    };
    let message = format!("no pipeline has a flag set `{name}`");
    at.error("unknown-flag-set", message, "", |d| {
        d.suggest(name.as_str(), known.iter().map(Name::as_str))
    });
    None
}

fn library(at: At<'_>) -> Option<Library> {
    let map = at.map()?;
    let name = map.required("name", At::name);
    let header = map.optional("header", At::text);
    let debian = map.optional("debian", At::text);
    map.finish();
    Some(Library { name: name?.to_string(), header: header?, debian: debian? })
}

fn patch(at: At<'_>, place: &Place<'_>) -> Option<Patch> {
    let map = at.map()?;
    let replaces = map.required("replaces", At::text);
    let with = map.required("with", |at| {
        let path = at.path_from(Some(place.dir))?;
        at.must_exist(place.disk, &path, Kind::File)?;
        Some(path)
    });
    let why = map.required("why", At::text);
    map.finish();
    Some(Patch { replaces: replaces?, with: with?, why: why? })
}

fn kat(at: At<'_>) -> Option<KatDraft<'_>> {
    let map = at.map()?;
    let text = |key| map.optional(key, |at| at.located(at.text()));
    let records = map.optional("records", At::count);
    let timeout = map.optional("timeout", At::duration);
    let nolen = map.optional("nolen", At::truth);
    let (file, directory) = (text("file"), text("directory"));
    map.finish();
    Some(KatDraft {
        records: records?,
        timeout: timeout?,
        nolen: nolen?,
        file: file?,
        directory: directory?,
    })
}

/// The merge rule. Destructured without `..`, so that a new field must be thought about.
fn merge<'d>(defaults: &Draft<'d>, own: Draft<'d>) -> Draft<'d> {
    let Draft {
        mut vars,
        directory,
        sources,
        exclude,
        include,
        headers,
        header,
        api,
        prefix,
        generator,
        mut defines,
        cflags,
        libraries,
        auxfunc,
        drng,
        own_drng_algorithm,
        flag_sets,
        patches,
        kat,
        stack,
        timeout,
        kat_name,
    } = defaults.clone();
    vars.extend(own.vars);
    defines.extend(own.defines);
    Draft {
        vars,
        directory: own.directory.or(directory),
        sources: own.sources.or(sources),
        exclude: own.exclude.or(exclude),
        include: own.include.or(include),
        headers: own.headers.or(headers),
        header: own.header.or(header),
        api: own.api.or(api),
        prefix: own.prefix.or(prefix),
        generator: own.generator.or(generator),
        defines,
        cflags: own.cflags.or(cflags),
        libraries: own.libraries.or(libraries),
        auxfunc: own.auxfunc.or(auxfunc),
        drng: own.drng.or(drng),
        own_drng_algorithm: own.own_drng_algorithm.or(own_drng_algorithm),
        flag_sets: own.flag_sets.or(flag_sets),
        patches: own.patches.or(patches),
        kat: KatDraft {
            records: own.kat.records.or(kat.records),
            timeout: own.kat.timeout.or(kat.timeout),
            nolen: own.kat.nolen.or(kat.nolen),
            file: own.kat.file.or(kat.file),
            directory: own.kat.directory.or(kat.directory),
        },
        stack: own.stack.or(stack),
        timeout: own.timeout.or(timeout),
        kat_name: own.kat_name.or(kat_name),
    }
}

impl<'d> Draft<'d> {
    /// Replaces the variables and puts the defaults of the program where nothing is stated. When the source tree is
    /// at hand, what the recipe names in it must be there.
    fn finish(mut self, instance: &Name, whole: At<'d>, tree: Option<Tree<'_>>) -> Option<Recipe> {
        self.vars.insert("instance".to_owned(), instance.to_string());
        let vars = self.vars;
        let one = |text: Option<Located<'d, String>>| match text {
            None => Some(None),
            Some(text) => fill(&text, &vars).map(Some),
        };
        let many = |texts: Option<Texts<'d>>, default: &[&str]| match texts {
            None => Some(default.iter().map(|s| (*s).to_owned()).collect()),
            Some(texts) => {
                let filled: Vec<_> = texts.iter().map(|text| fill(text, &vars)).collect();
                filled.into_iter().collect::<Option<Vec<String>>>()
            }
        };
        let directory_at = self.directory.as_ref().map_or(whole, |d| d.at);
        let directory = one(self.directory).map(Option::unwrap_or_default);
        let directory = directory.and_then(|text| directory_inside(&text, directory_at, tree));
        let inside = |texts: Option<Texts<'d>>, default: &[&str], tree: Option<Tree<'_>>| {
            if let (Some(texts), Some(directory)) = (&texts, &directory) {
                for text in texts {
                    file_inside(text.at, &fill(text, &vars)?, directory, tree)?;
                }
            }
            many(texts, default)
        };
        let prefix_at = self.prefix.as_ref().map(|p| p.at);
        let api = self.api.unwrap_or(Api::Iccs);
        let generator_at = self.generator.as_ref().map(|g| g.at);
        for (what, at) in [("prefix", prefix_at), ("generator", generator_at)] {
            if let (Some(at), Api::Iccs) = (at, api) {
                let message =
                    format!("a {what} belongs to the NIST API, and this recipe has the ICCS one");
                at.key_error("bad-value", message, "", |d| d.help("add `api: nist`"));
            }
        }
        let (sources, exclude) = (inside(self.sources, &["*.c"], tree), many(self.exclude, &[]));
        let include = inside(self.include, &["."], None);
        let headers = inside(self.headers, &[], None);
        let (header, prefix) = (one(self.header), one(self.prefix));
        // It becomes part of names in C.
        let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if let (Some(at), Some(Some(text))) = (prefix_at, &prefix)
            && !text.bytes().all(letter)
        {
            let message = format!("`{text}` cannot begin a name in C");
            at.error("bad-value", message, "letters, digits and `_`", |d| d);
        }
        let cflags = many(self.cflags, &[]);
        let defines: Vec<_> = self.defines.into_iter().map(|(k, v)| Some((k, one(v)?))).collect();
        let defines: Option<BTreeMap<_, _>> = defines.into_iter().collect();
        let (file, kat_directory) = (one(self.kat.file), one(self.kat.directory));
        let kat_name = one(self.kat_name);
        Some(Recipe {
            directory: directory?,
            sources: sources?,
            exclude: exclude?,
            include: include?,
            headers: headers?,
            header: header?.unwrap_or_else(|| api.default_header().to_owned()),
            api,
            prefix: prefix?,
            generator: self.generator.map_or(Generator::AesDrbg, |g| g.value),
            defines: defines?,
            cflags: cflags?,
            libraries: self.libraries.unwrap_or_default(),
            auxfunc: self.auxfunc.unwrap_or(Helper::Auto),
            drng: self.drng.unwrap_or(Helper::Auto),
            own_drng_algorithm: self.own_drng_algorithm.unwrap_or(false),
            flag_sets: self.flag_sets,
            patches: self.patches.unwrap_or_default(),
            kat: KatSettings {
                records: self.kat.records,
                timeout: self.kat.timeout,
                nolen: self.kat.nolen.unwrap_or(false),
                file: file?,
                directory: kat_directory?,
            },
            stack_bytes: self.stack,
            timeout: self.timeout,
            kat_name: kat_name?,
        })
    }
}

/// Replaces `{name}`. A brace that opens no name stays what it is.
fn fill(text: &Located<'_, String>, vars: &BTreeMap<String, String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.value.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let name = after.split_once('}').filter(|(name, _)| name.parse::<Name>().is_ok());
        let Some((name, tail)) = name else {
            out.push('{');
            rest = after;
            continue;
        };
        let Some(value) = vars.get(name) else {
            text.at.error("unknown-variable", format!("there is no variable `{name}`"), "", |d| {
                match nearest(name, vars.keys().map(String::as_str)) {
                    Some(near) => d.help(format!("did you mean `{{{near}}}`?")),
                    None => d.help("`{instance}` and the names in `vars` can be used"),
                }
            });
            return None;
        };
        out.push_str(value);
        rest = tail;
    }
    out.push_str(rest);
    Some(out)
}

/// A source tree that is at hand.
#[derive(Clone, Copy)]
struct Tree<'a> {
    disk: &'a Disk,
    path: &'a RelPath,
}

impl Tree<'_> {
    /// The path from the workspace's root of one inside the tree; of the tree itself for an empty one.
    fn at(self, inside: &str) -> String {
        if inside.is_empty() { self.path.to_string() } else { format!("{}/{inside}", self.path) }
    }
}

/// The instance's directory, without `/` at its end: inside the source tree, and there if the tree is at hand.
fn directory_inside(text: &str, at: At<'_>, tree: Option<Tree<'_>>) -> Option<String> {
    let text = text.trim_end_matches('/');
    if !text.is_empty() && text.parse::<RelPath>().is_err() {
        let message = format!("`{text}` is not a directory inside the source tree");
        at.error("bad-value", message, "", |d| d);
        return None;
    }
    if tree.is_some_and(|tree| !tree.disk.is_dir(&tree.at(text))) {
        let message = format!("there is no directory `{text}` in the source tree");
        at.error("missing-file", message, "", |d| d);
        return None;
    }
    Some(text.to_owned())
}

/// Refuses a path that leaves the source tree, and one without wildcards that is not there if the tree is at hand.
fn file_inside(at: At<'_>, path: &str, directory: &str, tree: Option<Tree<'_>>) -> Option<()> {
    let Some(resolved) = resolve(directory, path) else {
        let message = format!("`{path}` leaves the source tree");
        at.error("bad-value", message, format!("relative to `{directory}`"), |d| d);
        return None;
    };
    let there =
        |tree: Tree<'_>| path.contains(['*', '?']) || tree.disk.is_file(&tree.at(&resolved));
    if tree.is_none_or(there) {
        return Some(());
    }
    let message = format!("there is no file `{resolved}` in the source tree");
    at.error("missing-file", message, "", |d| d);
    None
}

/// A path or pattern relative to the instance's directory, as one from the root of the source tree.
pub(super) fn resolve(directory: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
