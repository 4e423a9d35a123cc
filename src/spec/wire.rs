//! The shapes of the three kinds of files as types, for their JSON schema and its documentation only.
//!
//! Files are read by hand (`reader.rs`), because a derived reader stops at the first error. Tests in `schema.rs` hold
//! the two together: same fields, same required ones; words come from the same lists. Descriptions are doc comments.

#![expect(dead_code, reason = "the fields are read by the schema generator only")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::command::Scope;
use super::recipe::{Api, Generator, Helper};
use super::stage::ReportFormat;
use super::submission::{Function, ImplementationVersion};
use super::system::FACTS;
use crate::result::KEM_OPERATIONS;

fn words<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(word, _)| *word).collect()
}

macro_rules! text_schema {
    ($type:ident, $($json:tt)+) => {
        struct $type;

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!($($json)+)
            }
        }
    };
}

text_schema!(Time, {
    "description": "A time with its unit: `1 s`, `500 ms`, `15 min`, `6 h`",
    "type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(us|ms|s|min|h)\s*$",
});
text_schema!(Bytes, {
    "description": "A number of bytes with its unit: `64 MiB`, `10 MB`, `512 KiB`",
    "type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(B|kB|MB|GB|KB|KiB|MiB|GiB)\s*$",
});
text_schema!(WireName, {
    "description": "A name: letters, digits, `-`, `_`, `+` and `.` (not first)",
    "type": "string", "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_+.-]{0,63}$",
});
text_schema!(Sha256, {
    "description": "A SHA-256 digest: 64 lower-case hex digits",
    "type": "string", "pattern": "^[0-9a-f]{64}$",
});
text_schema!(Scalar, {
    "description": "A text; numbers and the like are taken as written",
    "type": ["string", "number", "boolean"],
});

text_schema!(Operation, {"type": "string", "enum": KEM_OPERATIONS});
text_schema!(Format, {"type": "string", "enum": words(&ReportFormat::WORDS)});
text_schema!(Fact, {"type": "string", "enum": FACTS});

/// Which instances, with which flags, through which stages.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WirePipeline {
    /// What it answers, for people.
    about: String,
    /// Selectors `submission/implementation/instance`; `*` and `?` allowed, later parts may be left out. Default: all.
    select: Option<Vec<String>>,
    /// Sets of compiler flags by name.
    flag_sets: Option<BTreeMap<String, WireFlagSet>>,
    /// The stages by name. They run in the order of their needs.
    stages: BTreeMap<String, WireStage>,
}

/// A set of compiler flags.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireFlagSet {
    /// What they are.
    about: Option<String>,
    /// Flags of the C compiler, one each.
    c: Vec<String>,
    /// Flags of the linker, one each.
    link: Option<Vec<String>>,
}

/// One step.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum WireStage {
    /// Compiles the library of each instance.
    Build {
        /// Stages whose results it uses.
        needs: Option<Vec<WireName>>,
        /// Limits of each process.
        limits: Option<WireLimits>,
        /// Names of flag sets. The first with which an instance builds and passes is used.
        flags: Vec<WireName>,
    },
    /// Runs the known-answer test.
    Kat {
        /// Stages whose results it uses: a build.
        needs: Option<Vec<WireName>>,
        /// Limits of each process.
        limits: Option<WireLimits>,
        /// Only so many records.
        #[schemars(range(min = 1))]
        records: Option<u64>,
        /// Keep the generated text when it is at most so long.
        keep_text: Option<Bytes>,
    },
    /// Times the operations.
    Timing {
        /// Stages whose results it uses: a build, and the test that must have run before.
        needs: Option<Vec<WireName>>,
        /// Limits of each process.
        limits: Option<WireLimits>,
        /// Trials of each operation. Default 5.
        #[schemars(range(min = 1))]
        trials: Option<u64>,
        /// Time that one trial should take. Default 1 s.
        target: Option<Time>,
        /// Fewest calls over all trials. Default 100.
        #[schemars(range(min = 1))]
        min_total: Option<u64>,
        /// Most calls in one trial. Default 20000.
        #[schemars(range(min = 1))]
        max_iterations: Option<u64>,
        /// Longest time for one operation. Default 900 s.
        budget: Option<Time>,
        /// Trials are separate processes when setting up takes less. Default 60 s.
        separate_setup: Option<Time>,
        /// Print the interval of the median over the trials; needs at least 6 of them.
        interval: Option<bool>,
        /// Which operations. Default: all.
        operations: Option<Vec<Operation>>,
    },
    /// Finds the share of the helper functions in each operation.
    Profile {
        /// Stages whose results it uses: a build.
        needs: Option<Vec<WireName>>,
        /// Limits of each process.
        limits: Option<WireLimits>,
        /// Time that the profile of one operation should take. Default 1 s.
        target: Option<Time>,
        /// Most calls. Default 20000.
        #[schemars(range(min = 1))]
        max_operations: Option<u64>,
    },
    /// Measures the static sizes of each library.
    Sizes {
        /// Stages whose results it uses: a build.
        needs: Option<Vec<WireName>>,
        /// Limits of each process.
        limits: Option<WireLimits>,
    },
    /// Renders pages.
    Report {
        /// Stages whose results it shows.
        needs: Option<Vec<WireName>>,
        /// Limits of each process.
        limits: Option<WireLimits>,
        /// Forms of the pages. Default: md.
        formats: Option<Vec<Format>>,
        /// Heading.
        title: Option<String>,
    },
    /// Runs a declared command.
    Command {
        /// Stages whose results it uses; those named in `inputs` need not be listed.
        needs: Option<Vec<WireName>>,
        /// Limits of each process.
        limits: Option<WireLimits>,
        /// How often it runs.
        #[schemars(extend("enum" = words(&Scope::WORDS)))]
        scope: String,
        /// Program and arguments, with `${input:name}`, `${output:name}`, `${tool:name}` for paths.
        argv: Vec<Scalar>,
        /// What it reads: `sources`, `stage.output`, or a path of the repository with a `/`.
        inputs: Option<BTreeMap<String, String>>,
        /// What it writes: name to path in its scratch directory.
        outputs: BTreeMap<String, String>,
        /// Its whole environment.
        env: Option<BTreeMap<String, Scalar>>,
        /// Programs it runs, looked up on PATH.
        tools: Vec<WireName>,
        /// The output that its standard output becomes.
        stdout: Option<WireName>,
        /// Exit codes that mean a finding rather than a failure.
        #[schemars(inner(range(min = 1, max = 255)))]
        finding_exit_codes: Option<Vec<i32>>,
    },
}

/// Limits of a process.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireLimits {
    /// Wall time.
    wall: Option<Time>,
    /// Address space.
    memory: Option<Bytes>,
    /// Largest file it may write.
    file_size: Option<Bytes>,
    /// Stack.
    stack: Option<Bytes>,
    /// Log kept.
    log: Option<Bytes>,
}

/// A submission: its instances, its implementations, and how they are built.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireSubmission {
    /// What its authors call it.
    name: String,
    /// What it does.
    #[schemars(extend("enum" = words(&Function::WORDS)))]
    function: String,
    /// Web page about it.
    page: Option<String>,
    /// Licence of its source.
    licence: Option<String>,
    /// Which symmetric primitives it uses, as surveyed.
    survey: Option<WireSurvey>,
    /// Remarks for people.
    notes: Option<String>,
    /// Whether a person has checked this manifest against the package.
    inspected: Option<bool>,
    /// Its parameter sets by name.
    instances: BTreeMap<String, Option<WireInstance>>,
    /// Its implementations by name.
    implementations: BTreeMap<String, WireImplementation>,
}

/// Result of the survey of symmetric primitives.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireSurvey {
    /// `ICCS-only`, `mixed`, `bypass`, `instance-dependent`.
    verdict: String,
    /// Why.
    notes: Option<String>,
}

/// One parameter set.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireInstance {
    /// Security target in bits.
    target_bits: Option<u32>,
    /// Sizes in bytes, from the catalogue: `pk`, `sk`, `ct`, `ss` for a KEM.
    sizes: Option<BTreeMap<String, u64>>,
    /// What the sizes count, e.g. `encoded`.
    size_basis: Option<String>,
    /// What is known to be wrong with it.
    expected_findings: Option<Vec<WireFinding>>,
}

/// A finding that is no news.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireFinding {
    /// Its code, e.g. `kat-mismatch`.
    code: WireName,
    /// Why it is expected.
    why: String,
}

/// One implementation.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireImplementation {
    /// Which of the guide's versions it is, or ours, or a baseline to compare with.
    #[schemars(extend("enum" = words(&ImplementationVersion::WORDS)))]
    version: String,
    /// Remarks for people.
    about: Option<String>,
    /// Where its source comes from: one of `directory`, `archive`, `crate`.
    source: WireSource,
    /// How its instances are built, where they do not say otherwise.
    recipe: Option<WireRecipe>,
    /// The instances it has, with what differs for each. Default: all.
    instances: Option<BTreeMap<String, Option<WireRecipe>>>,
}

/// Where source comes from.
#[derive(JsonSchema)]
#[serde(untagged)]
enum WireSource {
    /// A directory of the repository.
    Directory(WireDirectory),
    /// An archive, pinned by its digest.
    Archive(WireArchive),
    /// A release of a crate, used for its files only.
    Crate(WireCrate),
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireDirectory {
    /// Relative to the manifest.
    directory: String,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireArchive {
    /// File name of the archive.
    archive: String,
    /// Where it can be fetched.
    url: Option<String>,
    /// SHA-256 of the archive.
    sha256: Sha256,
    /// Its length in bytes.
    #[schemars(range(min = 1))]
    bytes: u64,
    /// Archives inside it that are unpacked in place.
    nested: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireCrate {
    /// Its name.
    #[serde(rename = "crate")]
    name: WireName,
    /// Its version.
    version: Scalar,
    /// The registry's checksum.
    sha256: Sha256,
}

/// How an instance is built. In texts, `{instance}` and the names in `vars` are replaced by their values.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireRecipe {
    /// Values for `{name}` in the other fields.
    vars: Option<BTreeMap<String, Scalar>>,
    /// The instance's directory inside the source tree. Default: the tree itself.
    directory: Option<String>,
    /// Files or patterns, relative to `directory`; `..` allowed inside the tree. Default: `*.c`.
    sources: Option<Vec<String>>,
    /// Files or patterns that are not compiled. Patterns never pick drivers and benchmarks.
    exclude: Option<Vec<String>>,
    /// Include directories in order, relative to `directory`. Default: `.`.
    include: Option<Vec<String>>,
    /// More directories or patterns whose files are inputs.
    headers: Option<Vec<String>>,
    /// The header that declares the API. Default: `KEM_AlgorithmInstance.h`; for the NIST API `api.h`.
    header: Option<String>,
    /// Which API it has. Default: iccs.
    #[schemars(extend("enum" = words(&Api::WORDS)))]
    api: Option<String>,
    /// Prefix of the API's symbols (NIST API only): `PQCLEAN_MLKEM768_CLEAN_`.
    prefix: Option<String>,
    /// Where random bytes come from (NIST API only). Default aes-drbg: the generator of NIST's test driver.
    #[schemars(extend("enum" = words(&Generator::WORDS)))]
    generator: Option<String>,
    /// Preprocessor definitions; a name without value is defined as it is.
    defines: Option<BTreeMap<String, Option<Scalar>>>,
    /// More compiler flags.
    cflags: Option<Vec<String>>,
    /// Libraries of the system.
    libraries: Option<Vec<WireLibrary>>,
    /// Which `auxfunc.c` is linked. Default auto: the one among the sources, else ours (NIST API: else none).
    #[schemars(extend("enum" = words(&Helper::WORDS)))]
    auxfunc: Option<String>,
    /// Which `drng.c` is linked. Default auto: the one among the sources, else ours (NIST API: else none).
    #[schemars(extend("enum" = words(&Helper::WORDS)))]
    drng: Option<String>,
    /// The submission defines the global `drng_algorithm` itself.
    own_drng_algorithm: Option<bool>,
    /// Flag sets to try instead of the pipeline's, in order.
    flag_sets: Option<Vec<WireName>>,
    /// Files of ours that replace one source each.
    patches: Option<Vec<WirePatch>>,
    /// How its known-answer test differs from the usual.
    kat: Option<WireKat>,
    /// Stack that a call needs.
    stack: Option<Bytes>,
    /// Time limit of one process.
    timeout: Option<Time>,
    /// `ALGORITHM_INSTANCE`, where it differs from the instance's name.
    kat_name: Option<String>,
}

/// A library of the system.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireLibrary {
    /// As the linker knows it: `gmp`.
    name: WireName,
    /// A header to look for before building.
    header: Option<String>,
    /// The Debian package to install.
    debian: Option<String>,
}

/// A file of ours that replaces one source.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WirePatch {
    /// The source it replaces, relative to the instance's directory.
    replaces: String,
    /// Our file, relative to the manifest.
    with: String,
    /// Why.
    why: String,
}

/// How a known-answer test differs from the usual.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct WireKat {
    /// Only so many records.
    #[schemars(range(min = 1))]
    records: Option<u64>,
    /// Time limit.
    timeout: Option<Time>,
    /// Lines with lengths are not compared with the package's own text; a line of `kat.sha256` has its own mode.
    nolen: Option<bool>,
    /// Name of the package's own text. Default: `KAT_KEM_<kat_name>.txt`.
    file: Option<String>,
    /// Directory of the package's own text, from the root of the source tree; also a directory of the instance in it.
    directory: Option<String>,
}

/// A bench machine: what identifies it, and what must be so before it measures.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireSystem {
    /// What it is, for people.
    description: String,
    /// Its architecture.
    #[schemars(extend("enum" = super::system::ARCHITECTURES))]
    arch: String,
    /// Its host name, when it is one certain machine.
    hostname: Option<String>,
    /// Facts that enter the identity of measurements.
    identity: Option<Vec<Fact>>,
    /// Facts that must have a value.
    #[schemars(extend("propertyNames" = {"enum": FACTS}))]
    expect: Option<BTreeMap<String, Scalar>>,
    /// The core to measure on.
    cpu: Option<u32>,
}
