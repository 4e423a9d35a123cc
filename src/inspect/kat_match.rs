//! Which known-answer text belongs to which instance: by file name, by folder, by the lengths in the first record.

use std::collections::BTreeSet;

use super::found::{Field, FoundImplementation, FoundInstance, FoundKat, Question};
use super::kat_text::KatText;
use super::kinds;
use super::naming::plain;
use super::package::directory_of;
use super::places::{tag, version_of};
use crate::spec::Function;

/// How a text came to an instance; earlier is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Name,
    SimilarName,
    Folder,
    Lengths,
}

impl By {
    const fn words(self) -> &'static str {
        match self {
            Self::Name => "its name is the instance's",
            Self::SimilarName => "its name is the instance's, spelled differently",
            Self::Folder => "its folder has the instance's name",
            Self::Lengths => "the lengths in record 0 are the instance's, and no other's",
        }
    }
}

/// Gives every instance its text; asks where several different ones fit.
pub(super) fn assign(
    implementations: &mut [FoundImplementation],
    kats: &[KatText],
    function: Function,
) {
    let of_function: Vec<&KatText> = kats.iter().filter(|kat| kat.function == function).collect();
    for implementation in implementations {
        let sizes: Vec<_> = implementation.instances.iter().map(constants).collect();
        for (at, instance) in implementation.instances.iter_mut().enumerate() {
            let alone = sizes.iter().filter(|other| **other == sizes[at]).count() == 1;
            assign_one(instance, &of_function, function, alone);
        }
    }
}

fn constants(instance: &FoundInstance) -> Vec<(String, u64)> {
    instance.sizes.iter().map(|(name, size)| (name.clone(), size.value)).collect()
}

/// The key of a text's lengths for a size of the manifest.
pub(super) fn length(kat: &KatText, size: &str) -> Option<u64> {
    let key = match size {
        "sig" => "sn",
        "digest" => "dst",
        size => size,
    };
    kat.lengths.get(key).copied().filter(|bytes| *bytes > 0)
}

fn assign_one(instance: &mut FoundInstance, kats: &[&KatText], function: Function, alone: bool) {
    let own = constants(instance);
    let contradicts = |kat: &KatText| {
        own.iter().any(|(name, bytes)| length(kat, name).is_some_and(|other| other != *bytes))
    };
    let mut fitting: Vec<(By, bool, usize, &&KatText)> = Vec::new();
    for kat in kats {
        let Some(by) = how(instance, kat, function, &own, alone) else { continue };
        fitting.push((by, !folder_fits(instance, kat), usize::MAX - family(instance, kat), kat));
    }
    // A text whose lengths are another instance's is the last choice.
    let preference = |kat: &KatText| {
        let version = version_of(&instance.directory.value).map(|(v, _)| v);
        let other = version_of(kat.path.as_str()).is_some_and(|(v, _)| Some(v) != version);
        let vectors = plain(kat.path.as_str()).contains("testvector");
        (kinds::is_copy(kat.path.as_str()), !vectors, other, kat.path.as_str().matches('/').count())
    };
    fitting.sort_by_key(|(by, folder, family, kat)| {
        (contradicts(kat), *by, *folder, *family, preference(kat), kat.path.clone())
    });
    let Some((by, folder, family, first)) = fitting.first().copied() else {
        missing(instance, kats);
        return;
    };
    let judged = |kat: &KatText| (contradicts(kat), kinds::is_copy(kat.path.as_str()));
    let equal: Vec<&&KatText> = fitting
        .iter()
        .filter(|(b, d, f, kat)| {
            (*b, *d, *f) == (by, folder, family) && judged(kat) == judged(first)
        })
        .map(|(_, _, _, kat)| *kat)
        .collect();
    let texts: BTreeSet<&str> = equal.iter().map(|kat| kat.sha256.as_str()).collect();
    if texts.len() > 1 {
        let text = "several different known-answer texts fit; the first is taken".to_owned();
        let candidates = equal.iter().map(|kat| kat.path.to_string()).collect();
        instance.questions.push(Question::new(Field::Kat, text, candidates));
    }
    if contradicts(first) {
        let text =
            format!("`{}` has the name, but its lengths are not those of the code", first.path);
        instance.questions.push(Question::new(Field::Kat, text, vec![first.path.to_string()]));
    }
    for oddity in &first.oddities {
        instance.notes.push(format!("`{}`: {oddity}", first.path));
    }
    instance.kat = Some(FoundKat { text: (**first).clone(), why: by.words().to_owned() });
}

fn how(
    instance: &FoundInstance,
    kat: &KatText,
    function: Function,
    own: &[(String, u64)],
    alone: bool,
) -> Option<By> {
    let stem = kat.path.file_name().rsplit_once('.').map_or(kat.path.file_name(), |(stem, _)| stem);
    let prefix = format!("KAT_{}_", tag(function));
    let named = stem.strip_prefix(&prefix).unwrap_or(stem);
    let base = instance.directory.value.rsplit('/').next().unwrap_or("");
    let kat_name = instance.kat_name.as_ref().map_or(instance.name.value.as_str(), |k| &k.value);
    if named == kat_name || named == instance.name.value.as_str() {
        return Some(By::Name);
    }
    let similar = plain(named);
    if [kat_name, instance.name.value.as_str(), base]
        .iter()
        .any(|name| !name.is_empty() && plain(name) == similar)
    {
        return Some(By::SimilarName);
    }
    if folder_fits(instance, kat) {
        return Some(By::Folder);
    }
    let same = own.iter().filter(|(name, bytes)| length(kat, name) == Some(*bytes)).count();
    (alone && same == own.len() && same >= 2).then_some(By::Lengths)
}

/// Whether a folder of the text has the instance's or its directory's name.
fn folder_fits(instance: &FoundInstance, kat: &KatText) -> bool {
    let base = instance.directory.value.rsplit('/').next().unwrap_or("");
    let names = [plain(instance.name.value.as_str()), plain(base)];
    let directory = directory_of(&kat.path);
    directory.split('/').any(|part| !part.is_empty() && names.contains(&plain(part)))
}

/// Folders that text and instance have in common, wherever they stand: `Lore-SHAKE`.
fn family(instance: &FoundInstance, kat: &KatText) -> usize {
    let own: BTreeSet<&str> = instance.directory.value.split('/').collect();
    let directory = directory_of(&kat.path);
    directory.split('/').filter(|part| own.contains(part)).count()
}

fn missing(instance: &mut FoundInstance, kats: &[&KatText]) {
    if kats.is_empty() {
        instance.notes.push("the package has no known-answer text for it".to_owned());
        return;
    }
    let text = "no known-answer text has its name, its folder or its lengths";
    let candidates = kats.iter().take(12).map(|kat| kat.path.to_string()).collect();
    instance.questions.push(Question::new(Field::Kat, text, candidates));
}
