//! The C that this program brings along: helper layer, shim, drivers. Embedded, so that its text is in every key
//! that depends on it and the program needs no files of its own at run time.

/// Files of the ICCS helper layer: path below `iccs/`, text.
pub const ICCS: [(&str, &str); 6] = [
    ("iccs/auxfunc.c", include_str!("iccs/auxfunc.c")),
    ("iccs/auxfunc.h", include_str!("iccs/auxfunc.h")),
    ("iccs/drng.c", include_str!("iccs/drng.c")),
    ("iccs/drng.h", include_str!("iccs/drng.h")),
    ("iccs/sm3.c", include_str!("iccs/sm3.c")),
    ("iccs/sm3.h", include_str!("iccs/sm3.h")),
];

/// Files linked into an instance's library.
pub const SHIM: [(&str, &str); 5] = [
    ("driver/exports.map", include_str!("driver/exports.map")),
    ("driver/exports_profile.map", include_str!("driver/exports_profile.map")),
    ("driver/hashprof.c", include_str!("driver/hashprof.c")),
    ("driver/hashprof.h", include_str!("driver/hashprof.h")),
    ("driver/shim.c", include_str!("driver/shim.c")),
];

/// Files linked into the library of an instance with the NIST API, and what its sources may include.
pub const NIST: [(&str, &str); 6] = [
    ("driver/nist.c", include_str!("driver/nist.c")),
    ("driver/nist_drbg.c", include_str!("driver/nist_drbg.c")),
    ("driver/nist_random.c", include_str!("driver/nist_random.c")),
    ("driver/nist_random.h", include_str!("driver/nist_random.h")),
    ("driver/nist_shake.c", include_str!("driver/nist_shake.c")),
    ("nist/randombytes.h", include_str!("nist/randombytes.h")),
];

/// Headers shared by what is linked into a library and the drivers.
pub const META: [(&str, &str); 2] = [
    ("driver/meta.h", include_str!("driver/meta.h")),
    ("driver/ticks.h", include_str!("driver/ticks.h")),
];

/// Files of the measuring programs.
pub const DRIVER: [(&str, &str); 18] = [
    ("driver/counter.c", include_str!("driver/counter.c")),
    ("driver/counter.h", include_str!("driver/counter.h")),
    ("driver/crash.c", include_str!("driver/crash.c")),
    ("driver/crash.h", include_str!("driver/crash.h")),
    ("driver/kat_main.c", include_str!("driver/kat_main.c")),
    ("driver/kem.c", include_str!("driver/kem.c")),
    ("driver/kem.h", include_str!("driver/kem.h")),
    ("driver/memory.c", include_str!("driver/memory.c")),
    ("driver/memory.h", include_str!("driver/memory.h")),
    ("driver/meta.h", include_str!("driver/meta.h")),
    ("driver/perf_main.c", include_str!("driver/perf_main.c")),
    ("driver/prepare.c", include_str!("driver/prepare.c")),
    ("driver/prepare.h", include_str!("driver/prepare.h")),
    ("driver/profile_main.c", include_str!("driver/profile_main.c")),
    ("driver/report.c", include_str!("driver/report.c")),
    ("driver/report.h", include_str!("driver/report.h")),
    ("driver/ticks.h", include_str!("driver/ticks.h")),
    ("driver/hashprof.h", include_str!("driver/hashprof.h")),
];
