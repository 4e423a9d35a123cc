//! Which library of the system a header belongs to, and the Debian package that brings it.

use crate::spec::Library;

/// Start of the header's name, the library as the linker knows it, the package.
const KNOWN: [(&str, &str, &str); 10] = [
    ("gmp.h", "gmp", "libgmp-dev"),
    ("gmpxx.h", "gmpxx", "libgmp-dev"),
    ("mpfr.h", "mpfr", "libmpfr-dev"),
    ("flint/", "flint", "libflint-dev"),
    ("NTL/", "ntl", "libntl-dev"),
    ("openssl/", "crypto", "libssl-dev"),
    ("quadmath.h", "quadmath", "gcc"),
    ("sodium.h", "sodium", "libsodium-dev"),
    ("m4ri/", "m4ri", "libm4ri-dev"),
    ("fftw3.h", "fftw3", "libfftw3-dev"),
];

/// The library behind an included header.
pub(super) fn of_header(header: &str) -> Option<Library> {
    let (_, name, debian) = KNOWN.iter().find(|(start, _, _)| {
        header == *start || start.ends_with('/') && header.starts_with(start)
    })?;
    Some(Library {
        name: (*name).to_owned(),
        header: Some(header.to_owned()),
        debian: Some((*debian).to_owned()),
    })
}

/// The library behind `-l…`, when it is a known one.
pub(super) fn of_flag(name: &str) -> Option<Library> {
    let (start, name, debian) = KNOWN.iter().find(|(_, library, _)| *library == name)?;
    Some(Library {
        name: (*name).to_owned(),
        header: start.ends_with(".h").then(|| (*start).to_owned()),
        debian: Some((*debian).to_owned()),
    })
}

/// Libraries that every build has.
pub(super) const ALWAYS: [&str; 4] = ["m", "c", "rt", "pthread"];
