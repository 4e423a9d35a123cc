//! Our own Lore (kem-19): the published KAT texts and calls, honest use, rejection, and the parts.

use std::path::{Path, PathBuf};

use ngcc::kat;
use sha2::{Digest as _, Sha256};

use crate::cc;

const ROOT: &str = "kems/kem-19/independent";

/// What every instance links from the core; family and code add the rest.
const CORE: [&str; 9] = [
    "kem.c",
    "matrix.c",
    "pack.c",
    "pke.c",
    "product_t.c",
    "round.c",
    "sampler.c",
    "secretkey.c",
    "transform.c",
];

#[derive(Clone, Copy, PartialEq)]
enum Family {
    Shake,
    Sm3,
}

/// One instance with its published values.
struct Instance {
    family: Family,
    level: u8,
    /// The secret of record 0 when bit 0 of byte 0 of the ciphertext is flipped.
    rejected: &'static str,
    /// Published calls of `pseudoXOF` by key generation, encapsulation and decapsulation.
    xof: [usize; 3],
}

const INSTANCES: [Instance; 8] = [
    Instance {
        family: Family::Shake,
        level: 1,
        rejected: "0a0c3413795069055f3a7347b5c5a6d306408010eb28405d0ddc0dc4fe436fe0",
        xof: [0, 0, 0],
    },
    Instance {
        family: Family::Shake,
        level: 2,
        rejected: "faf0aa692b8405ceb5bbc9bac3d53bdade5a590437596b1d8df29b56dffe8db9",
        xof: [0, 0, 0],
    },
    Instance {
        family: Family::Shake,
        level: 3,
        rejected: "7a738bc3e426a77f1d623e6e4a2533edc41ac48775e6ced6aa88e79620058260",
        xof: [0, 0, 0],
    },
    Instance {
        family: Family::Shake,
        level: 4,
        rejected: "692e138a40d2707617ac6e80f135fecbae93979cd7dda15d4f1f27089ed3c887",
        xof: [0, 0, 0],
    },
    Instance {
        family: Family::Sm3,
        level: 1,
        rejected: "6f0051b777715096086d4403402f3cf6be55c04a11365eee40dd310bfb06c1cd",
        xof: [5, 7, 8],
    },
    Instance {
        family: Family::Sm3,
        level: 2,
        rejected: "79d561ed5d66296c145cdd5ec7f74ca6d9094ec1428156b2c1c34964c8c28a53",
        xof: [14, 16, 17],
    },
    Instance {
        family: Family::Sm3,
        level: 3,
        rejected: "fba85164b34840406c8f1cb0f49e1eb22b3b3581d5ce6ebee43565ae4f0ef319",
        xof: [29, 31, 32],
    },
    Instance {
        family: Family::Sm3,
        level: 4,
        rejected: "d09b1486c3924ea71f4b7972bc0d58fef90b54fb856ccffff877edfe32fd5c60",
        xof: [56, 58, 59],
    },
];

impl Instance {
    fn label(&self) -> String {
        let family = match self.family {
            Family::Shake => "SHAKE",
            Family::Sm3 => "SM3",
        };
        format!("Lore-{family}-L{}", self.level)
    }

    /// The core files this instance links.
    fn core_files(&self) -> Vec<&'static str> {
        let mut files = CORE.to_vec();
        files.extend_from_slice(match self.family {
            Family::Shake => &["keccak.c", "symmetric_shake.c"],
            Family::Sm3 => &["symmetric_sm3.c"],
        });
        files.extend_from_slice(match self.level {
            1 => &["code_repeat.c"],
            _ => &["bch.c", "code_bch.c"],
        });
        files
    }

    /// Compiles `programs` of `tests/c` over this instance, exactly as a build would: its own
    /// directory comes first.
    fn compile(&self, dir: &Path, programs: &[&str], flags: &[&str]) -> PathBuf {
        let own = format!("{ROOT}/{}", self.label());
        let mut sources = cc::c_files(&own);
        sources
            .extend(self.core_files().iter().map(|file| cc::repo(&format!("{ROOT}/core/{file}"))));
        sources.extend(cc::c_files("src/iccs"));
        sources.extend(programs.iter().map(|file| cc::repo(&format!("tests/c/{file}"))));
        let include_dirs =
            [cc::repo(&own), cc::repo(&format!("{ROOT}/core")), cc::repo("src/iccs")];
        let program = dir.join(self.label());
        cc::compile(&sources, &include_dirs, flags, &program);
        program
    }

    /// The program that asks what any KEM can be asked.
    fn kem_check(&self, dir: &Path) -> PathBuf {
        let wrap = "-Wl,--wrap=sm3hash,--wrap=pseudohash,--wrap=pseudoXOF,--wrap=get_random_number";
        self.compile(dir, &["kem_check.c"], &[cc::GUIDE, &[wrap]].concat())
    }

    /// The program that asks what only Lore can be asked. Sanitized, as it brings the foreign inputs.
    fn lore_check(&self, dir: &Path) -> PathBuf {
        let programs = ["lore_check.c", "lore_parts.c", "lore_rejection.c"];
        self.compile(dir, &programs, &[cc::SANITIZED, &["-Wl,--wrap=lore_PRF"]].concat())
    }

    /// Published calls of the generator, the XOF and the hash, by operation.
    fn published_calls(&self) -> [[usize; 3]; 3] {
        let hash = if self.family == Family::Sm3 { [1, 3, 3] } else { [0, 0, 0] };
        let drng = [1, 1, 0];
        [0, 1, 2].map(|operation| [drng[operation], self.xof[operation], hash[operation]])
    }
}

/// Counts the calls of the generator, the XOF and the hash that `kem_check calls` lists.
fn count_calls(listed: &str) -> [[usize; 3]; 3] {
    let mut counts = [[0; 3]; 3];
    let mut operation = 0;
    for line in listed.lines() {
        match line.split(' ').next().unwrap_or_default() {
            "keygen" => operation = 0,
            "enc" => operation = 1,
            "dec" => operation = 2,
            "get_random_number" => counts[operation][0] += 1,
            "pseudoXOF" => counts[operation][1] += 1,
            "sm3hash" => counts[operation][2] += 1,
            other => panic!("an unexpected call: {other}"),
        }
    }
    counts
}

fn assert_behaves_as_published(family: Family, honest: [usize; 4]) {
    let dir = tempfile::tempdir().expect("a directory for the programs");
    let manifest = std::fs::read_to_string(cc::repo("kems/kem-19/kat.sha256"))
        .expect("the manifest is part of the repository");
    for (instance, keys) in INSTANCES.iter().filter(|i| i.family == family).zip(honest) {
        let label = instance.label();
        let program = instance.kem_check(dir.path());
        let text = cc::run(&program, &["kat"], "").stdout;
        let digest = kat::digest(text.as_bytes(), kat::Mode::Strict, None).expect("text in memory");
        let line = format!("{} strict {label}/KAT_KEM_Lore-L{}.txt", digest.sha256, instance.level);
        assert!(manifest.lines().any(|known| known == line), "not published: {line}");
        let calls = cc::run(&program, &["calls"], "").stdout;
        assert_eq!(count_calls(&calls), instance.published_calls(), "{label}");
        let agreed = cc::run(&program, &["honest", &keys.to_string()], "").stdout;
        assert_eq!(agreed, format!("{keys}\n"), "{label}");
    }
}

fn assert_parts_are_sound(family: Family) {
    let dir = tempfile::tempdir().expect("a directory for the programs");
    for instance in INSTANCES.iter().filter(|i| i.family == family) {
        let program = instance.lore_check(dir.path());
        let ask = |question: &str| cc::run(&program, &[question], "").stdout;
        assert_eq!(ask("reject"), format!("{}\n", instance.rejected), "{}", instance.label());
        assert_eq!(ask("code"), code_words(instance.level), "{}", instance.label());
        ask("tamper");
        ask("transform");
        ask("runout");
        if instance.level > 1 {
            ask("bch");
        }
    }
}

/// The code words of the message 0, 1, 2, ... and of the message with bit 0 alone.
fn code_words(level: u8) -> String {
    if level == 1 {
        let spread = |byte: u8| {
            let nibble = |bit: u8| (byte >> bit & 1) * 0xf;
            (0..8).step_by(2).map(|bit| format!("{:x}{:x}", nibble(bit + 1), nibble(bit))).collect()
        };
        let counting: String = (0..16).map(|byte| -> String { spread(byte) }).collect();
        return format!("{counting}\n0f{}\n", "00".repeat(63));
    }
    let (bytes, counting_parity, single_parity) = match level {
        2 => (
            32,
            "86be208eeaeb35200bffc0f66bde32e7db6be310ebc2867c681f116a3f000000",
            "a85683ab18c977e18f122d7d2f8f9f06aa9a0e749e24e39c0c4f198fa1020000",
        ),
        3 => (48, "86d41fa2f44735ac122506d951a9c114", "2bd8aa451f34995fbb0fbd00f0a1da00"),
        _ => (
            64,
            "4481343feffb18cfdb27bffda4b8f9dff5e7416463fa31b6c3bcf6ae89990800",
            "2671c812487bf0397e3a4a88e2ab24bee487cb9229c995e8226c2c96a0091000",
        ),
    };
    let counting: String = (0..bytes).map(|byte| format!("{byte:02x}")).collect();
    format!("{counting}{counting_parity}\n01{}{single_parity}\n", "00".repeat(bytes - 1))
}

/// The empty message by the values of the standard; all others by the digest another library gives.
#[test]
fn sha3_and_shake_give_the_known_answers_around_their_rates() {
    let dir = tempfile::tempdir().unwrap();
    let printed = cc::run(&INSTANCES[0].lore_check(dir.path()), &["keccak"], "").stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 27, "three functions, nine lengths");
    assert_eq!(lines[0], "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
    let shake256 = "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f";
    assert!(lines[1].starts_with(shake256), "{}", lines[1]);
    let shake128 = "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26";
    assert!(lines[2].starts_with(shake128), "{}", lines[2]);
    assert_eq!(
        format!("{:x}", Sha256::digest(&printed)),
        "adba20c30871f6c7154005a3fa45e5136cbd4a41884a56074e1149d243c6031b"
    );
}

#[test]
fn the_shake_family_has_the_published_kat_texts_and_calls_and_hundreds_of_keys_agree() {
    assert_behaves_as_published(Family::Shake, [800, 400, 150, 100]);
}

#[test]
fn the_sm3_family_has_the_published_kat_texts_and_calls_and_hundreds_of_keys_agree() {
    assert_behaves_as_published(Family::Sm3, [800, 400, 150, 100]);
}

#[test]
fn the_shake_family_rejects_what_it_must_and_its_parts_pass_the_sanitizers() {
    assert_parts_are_sound(Family::Shake);
}

#[test]
fn the_sm3_family_rejects_what_it_must_and_its_parts_pass_the_sanitizers() {
    assert_parts_are_sound(Family::Sm3);
}
