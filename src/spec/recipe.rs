//! How one instance is built from its source tree, as plain values. `recipe_file.rs` reads them from a manifest.
//!
//! Knows nothing of compilers, or of how the values were stated.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::name::{Name, RelPath};

/// How one instance is built. Paths and patterns have their variables replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The instance's directory inside the source tree; empty for the tree itself.
    pub directory: String,
    /// Files or patterns, relative to `directory`.
    pub sources: Vec<String>,
    /// Files or patterns that are not compiled.
    pub exclude: Vec<String>,
    /// Include directories in order, relative to `directory`.
    pub include: Vec<String>,
    /// More directories or patterns whose files are inputs.
    pub headers: Vec<String>,
    /// The header that declares the API.
    pub header: String,
    /// Which API it has.
    pub api: Api,
    /// Prefix of the API's symbols (NIST API only).
    pub prefix: Option<String>,
    /// Where random bytes come from (NIST API only).
    pub generator: Generator,
    /// Preprocessor definitions.
    pub defines: BTreeMap<String, Option<String>>,
    /// More compiler flags.
    pub cflags: Vec<String>,
    /// Libraries of the system.
    pub libraries: Vec<Library>,
    /// Which `auxfunc.c` is linked.
    pub auxfunc: Helper,
    /// Which `drng.c` is linked.
    pub drng: Helper,
    /// The submission defines the global `drng_algorithm` itself.
    pub own_drng_algorithm: bool,
    /// Flag sets to try instead of the pipeline's, in order.
    pub flag_sets: Option<Vec<Name>>,
    /// Files that replace a source.
    pub patches: Vec<Patch>,
    /// Settings of the known-answer test.
    pub kat: KatSettings,
    /// Stack that a call needs.
    pub stack_bytes: Option<u64>,
    /// Time limit of one process.
    pub timeout: Option<Duration>,
    /// `ALGORITHM_INSTANCE`, where it differs from the instance's name.
    pub kat_name: Option<String>,
}

/// The API that an implementation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// The call's own.
    Iccs,
    /// The one of NIST's calls.
    Nist,
}

impl Api {
    /// The words of the manifest.
    pub(super) const WORDS: [(&'static str, Self); 2] =
        [("iccs", Self::Iccs), ("nist", Self::Nist)];
}

impl Api {
    /// The header that declares the API when the recipe names none.
    pub(super) const fn default_header(self) -> &'static str {
        match self {
            Self::Iccs => "KEM_AlgorithmInstance.h",
            Self::Nist => "api.h",
        }
    }
}

/// Where an implementation with the NIST API gets random bytes. The ICCS API has one generator only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generator {
    /// `CTR_DRBG` on AES-256, as in NIST's test driver (SP 800-90A, 10.2.1).
    AesDrbg,
    /// SHAKE256 over the seed, as HQC's own test driver has it.
    Shake,
}

impl Generator {
    /// The words of the manifest.
    pub(super) const WORDS: [(&'static str, Self); 2] =
        [("aes-drbg", Self::AesDrbg), ("shake", Self::Shake)];

    /// The embedded file that implements it.
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::AesDrbg => "driver/nist_drbg.c",
            Self::Shake => "driver/nist_shake.c",
        }
    }
}

/// Which copy of an official helper file is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Helper {
    /// The one among the sources; ours when there is none, unless the API is NIST's.
    Auto,
    /// Ours, even when the tree has one.
    Ours,
    /// The one among the sources; it must be there.
    Shipped,
    /// None.
    Absent,
}

impl Helper {
    /// The words of the manifest.
    pub(super) const WORDS: [(&'static str, Self); 4] = [
        ("auto", Self::Auto),
        ("ours", Self::Ours),
        ("shipped", Self::Shipped),
        ("absent", Self::Absent),
    ];
}

/// A library of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// As the linker knows it: `gmp`.
    pub name: String,
    /// A header to look for before building.
    pub header: Option<String>,
    /// The Debian package to install.
    pub debian: Option<String>,
}

/// A file of ours that replaces one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The source it replaces, relative to the instance's directory.
    pub replaces: String,
    /// Our file, from the workspace root.
    pub with: RelPath,
    /// Why.
    pub why: String,
}

/// How the known-answer test of an instance differs from the usual.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KatSettings {
    /// Only so many records.
    pub records: Option<u64>,
    /// Time limit.
    pub timeout: Option<Duration>,
    /// Lines with lengths are not compared with the package's own text; a line of `kat.sha256` has its own mode.
    pub nolen: bool,
    /// Name of the package's own text. Default: `KAT_KEM_<kat_name>.txt`.
    pub file: Option<String>,
    /// Directory of the package's own text, from the root of the source tree; also a directory of the instance in it.
    pub directory: Option<String>,
}
