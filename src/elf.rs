//! What ELF files say: load size, section families, exported symbols, and whether a helper's calls can be wrapped.
//!
//! Pure functions over bytes; garbage gives an error or nothing, never a panic. Knows nothing of paths, linking or
//! reports. The link-time wrapper (`--wrap`) redirects undefined references only, so a call within the defining object
//! is invisible to it; [`binding`] finds that out before a report prints a share that is not one.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::SHF_ALLOC;
use object::{
    Object, ObjectKind, ObjectSection, ObjectSegment, ObjectSymbol, RelocationTarget, SectionFlags,
    SymbolKind,
};

use crate::profile_share::{DRNG, HASH_HELPERS};
use crate::result::Binding;

/// The symbol of the official generator; profiles call it `drng`.
const DRNG_SYMBOL: &str = "get_random_number";

/// The section families of [`Image::sections`], in page order; `other` takes what is in no other family.
pub const FAMILIES: [&str; 5] = [".text", ".rodata", ".data", ".bss", "other"];

/// Bytes that cannot be read as an ELF file.
#[derive(Debug, thiserror::Error)]
#[error("not a readable ELF file: {0}")]
pub struct ElfError(#[from] object::Error);

/// Static facts of a shared library or program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Sum of the memory sizes of all loadable segments, bytes. Includes `.bss`, excludes stack and heap.
    pub load_bytes: u64,
    /// Bytes in memory by section family (see [`FAMILIES`]); sections that are not loaded do not count.
    pub sections: BTreeMap<String, u64>,
    /// Names of the symbols defined for other images.
    pub exported: BTreeSet<String>,
}

/// Reads a shared library or program.
///
/// # Errors
/// When the headers are not those of an ELF file.
pub fn image(bytes: &[u8]) -> Result<Image, ElfError> {
    let file = object::File::parse(bytes)?;
    let mut sections: BTreeMap<_, u64> = FAMILIES.iter().map(|f| ((*f).to_owned(), 0)).collect();
    for section in file.sections().filter(loaded) {
        let size = sections.get_mut(family(section.name().unwrap_or(""))).expect("a family");
        *size = size.saturating_add(section.size());
    }
    Ok(Image {
        load_bytes: file.segments().fold(0, |sum, s| sum.saturating_add(s.size())),
        sections,
        exported: file
            .dynamic_symbols()
            .filter(|s| s.is_definition() && s.is_global())
            .filter_map(|s| s.name().ok().map(ToOwned::to_owned))
            .collect(),
    })
}

/// Whether a section takes room in memory at run time.
fn loaded<'data>(section: &impl ObjectSection<'data>) -> bool {
    matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(SHF_ALLOC))
}

/// `.text`, `.text.hot` and `.text.unlikely` are one family, and so on.
fn family(section: &str) -> &'static str {
    let belongs = |f: &&&str| {
        section.strip_prefix(**f).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    FAMILIES.iter().find(belongs).copied().unwrap_or("other")
}

/// What one relocatable object has to do with the helpers.
#[derive(Debug, Default)]
struct Facts {
    /// Helpers defined here, by profile name.
    defined: BTreeSet<&'static str>,
    /// Helpers that this object needs from elsewhere.
    undefined: BTreeSet<&'static str>,
    /// Helpers that this object defines and refers to itself.
    own_use: BTreeSet<&'static str>,
    /// Whether it defines functions for others that are no helpers: then own use may be the submission's.
    other_functions: bool,
    /// Whether it holds code that is only generated when linking.
    lto: bool,
}

/// For each helper (`pseudohash`, `pseudoXOF`, `sm3hash`, `drng`): whether the wrapper can see its calls.
///
/// `objects` are the relocatable objects of one library, with a name that is only for the caller. Own use within an
/// object that offers nothing but helpers is one helper calling another: it counts as the outer one and hides nothing.
/// Code that the compiler inlined leaves no trace here; what cannot be read contributes nothing.
#[must_use]
pub fn binding(objects: &[(&str, &[u8])]) -> BTreeMap<String, Binding> {
    let facts: Vec<Facts> = objects.iter().map(|(_, bytes)| facts(bytes)).collect();
    let lto = facts.iter().any(|f| f.lto);
    let judge = |helper: &&'static str| {
        let binding = if lto {
            Binding::Lto
        } else if !facts.iter().any(|f| f.defined.contains(helper)) {
            Binding::Absent
        } else if !facts.iter().any(|f| f.undefined.contains(helper)) {
            Binding::Unbound
        } else if facts.iter().any(|f| f.own_use.contains(helper) && f.other_functions) {
            Binding::Partial
        } else {
            Binding::Bound
        };
        ((*helper).to_owned(), binding)
    };
    HASH_HELPERS.iter().chain([&DRNG]).map(judge).collect()
}

/// The profile name of a helper's symbol.
fn helper(symbol: &str) -> Option<&'static str> {
    if symbol == DRNG_SYMBOL {
        return Some(DRNG);
    }
    HASH_HELPERS.iter().find(|h| **h == symbol).copied()
}

/// Reads one relocatable object.
fn facts(bytes: &[u8]) -> Facts {
    let mut facts = Facts::default();
    // LLVM writes bare bitcode, with or without a wrapper header, in place of an object.
    if bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B]) {
        facts.lto = true;
        return facts;
    }
    let Ok(file) = object::File::parse(bytes) else { return facts };
    if file.kind() != ObjectKind::Relocatable {
        return facts;
    }
    let mut defined: BTreeMap<usize, &'static str> = BTreeMap::new();
    for symbol in file.symbols() {
        let Some(helper) = symbol.name().ok().and_then(helper) else {
            facts.other_functions |=
                symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text;
            continue;
        };
        if symbol.is_undefined() {
            facts.undefined.insert(helper);
        } else if symbol.is_definition() {
            facts.defined.insert(helper);
            defined.insert(symbol.index().0, helper);
        }
    }
    for section in file.sections() {
        let name = section.name_bytes().unwrap_or_default();
        facts.lto |= name.starts_with(b".gnu.lto_") || name == b".llvmbc" || name == b".llvm.lto";
        // Unwind tables refer to every function; debug sections are not loaded.
        if defined.is_empty() || !loaded(&section) || name == b".eh_frame" {
            continue;
        }
        for (_, relocation) in section.relocations() {
            if let RelocationTarget::Symbol(index) = relocation.target() {
                facts.own_use.extend(defined.get(&index.0).copied());
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn section_families_are_told_apart_by_whole_words() {
        for (section, want) in [
            (".text", ".text"),
            (".text.unlikely", ".text"),
            (".rodata.cst16", ".rodata"),
            (".data.rel.ro", ".data"),
            (".bss", ".bss"),
            (".texture", "other"),
            (".init_array", "other"),
            ("", "other"),
        ] {
            assert_eq!(family(section), want, "{section}");
        }
    }

    #[test]
    fn garbage_is_an_error_and_no_helper() {
        assert!(image(b"").is_err());
        assert!(image(b"\x7fELF").is_err());
        let all = binding(&[("x.o", b"garbage")]);
        assert_eq!(all.len(), 4);
        assert!(all.values().all(|b| *b == Binding::Absent));
    }

    #[test]
    fn bare_bitcode_is_link_time_code() {
        assert_eq!(binding(&[("x.o", b"BC\xC0\xDE....")])["drng"], Binding::Lto);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let elf = [b"\x7fELF\x02\x01\x01\0".as_slice(), &bytes].concat();
            let _ = image(&elf);
            let _ = binding(&[("a", &elf), ("b", &bytes)]);
        }
    }
}
