//! What an inspection says: plain values, each with its reason, and the questions that are left.

use std::collections::BTreeMap;

use super::kat_text::KatText;
use super::kinds::Kind;
use crate::name::{Name, RelPath};
use crate::spec::{self, Function, Helper, ImplementationVersion, Library, Submission};

/// What is already known of a submission, from a manifest that exists. All of it may be empty.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// What its authors call it.
    pub name: Option<String>,
    /// Web page about it.
    pub page: Option<String>,
    /// Licence of its source.
    pub licence: Option<String>,
    /// Its instances: targets, sizes, what the sizes count, expected findings.
    pub instances: BTreeMap<Name, spec::Instance>,
}

impl Hints {
    /// What a manifest knows.
    #[must_use]
    pub fn of(submission: &Submission) -> Self {
        Self {
            name: Some(submission.name.clone()),
            page: submission.page.clone(),
            licence: submission.licence.clone(),
            instances: submission.instances.clone(),
        }
    }
}

/// A value, and why it is this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided<T> {
    /// The value.
    pub value: T,
    /// Half a sentence for people.
    pub why: String,
}

impl<T> Decided<T> {
    pub(super) fn new(value: T, why: impl Into<String>) -> Self {
        Self { value, why: why.into() }
    }
}

/// The line of a manifest that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// `function`.
    Function,
    /// `implementations`.
    Implementations,
    /// `instances`.
    Instances,
    /// `sizes` of an instance.
    Sizes,
    /// `source`.
    Source,
    /// `directory` of a recipe.
    Directory,
    /// `sources` of a recipe.
    Sources,
    /// `include` of a recipe.
    Include,
    /// `header` of a recipe.
    Header,
    /// `defines` of a recipe.
    Defines,
    /// `libraries` of a recipe.
    Libraries,
    /// `auxfunc` and `drng` of a recipe.
    Helpers,
    /// `kat` of a recipe.
    Kat,
}

/// Something that the package leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The line it is about.
    pub field: Field,
    /// What a person must decide, and why the package does not say.
    pub text: String,
    /// Answers that would fit, as they would be written.
    pub candidates: Vec<String>,
}

impl Question {
    pub(super) fn new(field: Field, text: impl Into<String>, candidates: Vec<String>) -> Self {
        Self { field, text: text.into(), candidates }
    }
}

/// What was found in a package.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// What the submission does; `None` is a question.
    pub function: Option<Decided<Function>>,
    /// Its name, if hints know it.
    pub name: Option<String>,
    /// Hints that go into the manifest as they are.
    pub hints: Hints,
    /// Implementations, reference first.
    pub implementations: Vec<FoundImplementation>,
    /// All known-answer texts, matched or not.
    pub kats: Vec<KatText>,
    /// What kind each file is.
    pub kinds: BTreeMap<RelPath, Kind>,
    /// Directories that repeat an implementation, with why they are passed over.
    pub copies: Vec<Decided<String>>,
    /// Remarks for people: differing helper copies, texts that belong to nothing.
    pub notes: Vec<String>,
    /// Questions about the whole.
    pub questions: Vec<Question>,
}

impl Inspection {
    /// Every question, with what it is about.
    #[must_use]
    pub fn all_questions(&self) -> Vec<(String, &Question)> {
        let mut all: Vec<(String, &Question)> =
            self.questions.iter().map(|question| (String::new(), question)).collect();
        for implementation in &self.implementations {
            let about = implementation.name.to_string();
            all.extend(implementation.questions.iter().map(|q| (about.clone(), q)));
            for instance in &implementation.instances {
                let about = format!("{}/{}", implementation.name, instance.name.value);
                all.extend(instance.questions.iter().map(|q| (about.clone(), q)));
            }
        }
        all
    }

    /// The files of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &RelPath> {
        self.kinds.iter().filter(move |(_, k)| **k == kind).map(|(path, _)| path)
    }
}

/// One implementation.
#[derive(Debug, Clone)]
pub struct FoundImplementation {
    /// Its name in the manifest.
    pub name: Name,
    /// Which of the guide's versions it is.
    pub version: Decided<ImplementationVersion>,
    /// Its instances, in natural order of their names.
    pub instances: Vec<FoundInstance>,
    /// Remarks for people.
    pub notes: Vec<String>,
    /// Questions about all its instances.
    pub questions: Vec<Question>,
}

/// One instance of an implementation: what its recipe would say.
#[derive(Debug, Clone)]
pub struct FoundInstance {
    /// Its name in the manifest.
    pub name: Decided<Name>,
    /// `ALGORITHM_INSTANCE`, where it is not the name.
    pub kat_name: Option<Decided<String>>,
    /// Its directory; empty for the package's root.
    pub directory: Decided<String>,
    /// The header that declares the API, as sources include it.
    pub header: Decided<String>,
    /// Files or patterns that are compiled, relative to the directory.
    pub sources: Decided<Vec<String>>,
    /// Files that the patterns would take and that must not be compiled.
    pub exclude: Vec<Decided<String>>,
    /// Include directories in order, relative to the directory.
    pub include: Decided<Vec<String>>,
    /// Further files that are included.
    pub headers: Vec<Decided<String>>,
    /// Definitions.
    pub defines: BTreeMap<String, Decided<Option<String>>>,
    /// Flags that it cannot be built without.
    pub cflags: Vec<Decided<String>>,
    /// Libraries of the system.
    pub libraries: Vec<Decided<Library>>,
    /// Which `auxfunc.c` is linked.
    pub auxfunc: Decided<Helper>,
    /// Which `drng.c` is linked.
    pub drng: Decided<Helper>,
    /// It defines the global `drng_algorithm` in a source that it needs.
    pub own_drng_algorithm: Option<Decided<bool>>,
    /// Sizes in bytes, by the names of the function's size fields.
    pub sizes: BTreeMap<String, Decided<u64>>,
    /// Its known-answer text.
    pub kat: Option<FoundKat>,
    /// Flags that the package's own build files use; reported, not used.
    pub submitted_flags: Vec<String>,
    /// Remarks for people.
    pub notes: Vec<String>,
    /// What could not be decided.
    pub questions: Vec<Question>,
}

/// The known-answer text of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKat {
    /// The text.
    pub text: KatText,
    /// Why it is this one.
    pub why: String,
}
