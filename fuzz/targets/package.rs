//! A hostile archive: unpacking ends within its limits, says why not, and what it takes can be laid out and is inside.
//!
//! No installed program is run for it: formats that need one are refused here.

#![no_main]

#[path = "directory.rs"]
mod directory;

use libfuzzer_sys::fuzz_target;
use ngcc::package::{Call, CallError, External, Limits, unpack};
use ngcc::store::Store;

struct NoTools;

impl External for NoTools {
    fn run(&self, _: Call<'_>) -> Result<(), CallError> {
        Err(CallError::Missing)
    }
}

const LIMITS: Limits = Limits {
    members: 500,
    member_bytes: 1 << 20,
    total_bytes: 2 << 20,
    ratio: 100,
    ratio_from: 1 << 16,
    nested_depth: 2,
    path_depth: 10,
    path_bytes: 300,
};

fuzz_target!(|input: &[u8]| {
    let dir = directory::directory();
    let archive = dir.path().join("a.zip");
    directory::write(&archive, input);
    let store = Store::open(&dir.path().join("store")).expect("a store");
    let package = match unpack(&store, &archive, &[], &LIMITS, &NoTools) {
        Ok(package) => package,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let bytes: u64 = package.files.values().map(|member| member.len).sum();
    assert!(bytes <= LIMITS.total_bytes && package.files.len() as u64 <= LIMITS.members);
    for (path, member) in &package.files {
        let stored = store.read_blob(member.blob).expect("what was filed is there");
        assert_eq!(stored.len() as u64, member.len, "{path}");
        let parts = path.as_str().split('/');
        assert!(parts.clone().all(|part| !matches!(part, "" | "." | "..")), "{path}");
    }
    let text = serde_json::to_string(&package).expect("a package is plain data");
    assert_eq!(
        serde_json::from_str::<ngcc::package::Package>(&text).expect("its own text"),
        package
    );
    let inner = package
        .files
        .keys()
        .find(|path| [".zip", ".tar", ".gz"].iter().any(|ending| path.as_str().ends_with(ending)));
    if let Some(inner) = inner {
        let _ = unpack(&store, &archive, &[inner.to_string()], &LIMITS, &NoTools);
    }
});
