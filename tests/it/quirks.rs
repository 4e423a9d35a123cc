//! Every quirk that packages are known for can be said in a manifest: `testdata/quirks`.

use std::path::Path;
use std::time::Duration;

use ngcc::spec::{Api, Helper, Implementation, Recipe, Source, Submission, Workspace};

fn workspace() -> Workspace {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/quirks");
    Workspace::load(&root).unwrap_or_else(|errors| panic!("{errors}"))
}

fn submission<'w>(workspace: &'w Workspace, id: &str) -> &'w Submission {
    workspace.submissions.values().find(|s| s.id.as_str() == id).expect("it is in the workspace")
}

fn implementation<'s>(submission: &'s Submission, name: &str) -> &'s Implementation {
    let all = &submission.implementations;
    all.values().find(|i| i.name.as_str() == name).expect("the manifest has it")
}

fn recipe<'s>(submission: &'s Submission, instance: &str) -> &'s Recipe {
    let recipes = &implementation(submission, "reference").recipes;
    recipes.iter().find(|(name, _)| name.as_str() == instance).expect("the manifest has it").1
}

#[test]
fn code_outside_the_instance_directory_and_blanks_in_paths() {
    let workspace = workspace();
    let hare = recipe(submission(&workspace, "kem-16"), "HARE-384-kr");
    assert_eq!(
        hare.directory,
        "Implementations and Test_Vectors/Implementations/Reference_Implementation/HARE-384/kr"
    );
    assert_eq!(hare.sources[1], "../../../_shared/hare_core/common/*.c");
    assert_eq!(hare.include[0], ".");
    assert_eq!(hare.include[4], "../../../_shared/api_pkc");
    assert_eq!(hare.defines["HARE_SYMMETRIC_MODE_B"], None);
    assert_eq!(hare.defines["HARE_BACKEND_KR"].as_deref(), Some("1"));
    assert_eq!((hare.auxfunc, hare.drng), (Helper::Ours, Helper::Ours));
}

#[test]
fn two_families_with_the_same_names_are_told_apart_by_variables() {
    let workspace = workspace();
    let lore = submission(&workspace, "kem-19");
    let (shake, sm3) = (recipe(lore, "Lore-SHAKE-L2"), recipe(lore, "Lore-SM3-L2"));
    assert_eq!(shake.kat_name, sm3.kat_name);
    assert_eq!(shake.kat.file.as_deref(), Some("KAT_KEM_Lore-L2.txt"));
    assert_ne!(shake.kat.directory, sm3.kat.directory);
    assert_eq!(shake.defines["LORE_LEVEL"].as_deref(), Some("2"));
    assert_eq!((shake.auxfunc, sm3.auxfunc), (Helper::Auto, Helper::Shipped));
    assert_eq!(lore.instances.values().map(|i| i.sizes["ss"]).collect::<Vec<_>>(), [32; 4]);
}

#[test]
fn one_tree_serves_all_levels_and_an_instance_adds_to_the_defines() {
    let workspace = workspace();
    let pike = submission(&workspace, "kem-31");
    let (one, three) = (recipe(pike, "NGCC-1"), recipe(pike, "NGCC-3"));
    assert!(one.sources.contains(&"src/gf/ref/NGCC_1/fp_p479.c".to_owned()));
    assert!(three.sources.contains(&"src/gf/ref/NGCC_3/fp_p1534.c".to_owned()));
    assert_eq!(three.defines.len(), one.defines.len() + 1);
    assert_eq!(three.defines["ALGORITHM_INSTANCE"].as_deref(), Some("\"NGCC-3\""));
    assert_eq!(three.kat.timeout, Some(Duration::from_secs(1800)));
    assert_eq!(
        three.kat.directory.as_deref(),
        Some("Test_Vectors"),
        "kat is merged entry by entry"
    );
    assert_eq!(one.libraries[0].debian.as_deref(), Some("libgmp-dev"));
}

#[test]
fn one_of_everything_else() {
    let workspace = workspace();
    let odd = submission(&workspace, "kem-oddities");
    let (plain, slow) = (recipe(odd, "Plain"), recipe(odd, "Slow"));
    assert_eq!(plain.directory, "实现/reference code/Plain");
    assert_eq!(plain.sources, ["*.c"]);
    assert!(plain.own_drng_algorithm && plain.kat.nolen);
    assert_eq!((plain.auxfunc, plain.drng), (Helper::Absent, Helper::Auto));
    assert_eq!(plain.patches[0].with.as_str(), "kems/kem-oddities/patches/kem.c");
    assert_eq!(slow.stack_bytes, Some(64 << 20));
    assert_eq!((slow.kat.records, slow.kat.nolen), (Some(3), true));
    let findings: Vec<&str> = odd
        .instances
        .values()
        .flat_map(|i| &i.expected_findings)
        .map(|f| f.code.as_str())
        .collect();
    assert_eq!(findings, ["kat-mismatch"]);
    let kat: Vec<_> =
        odd.kat.values().map(|k| (k.mode.as_str(), k.records, k.file.as_str())).collect();
    assert_eq!(
        kat,
        [("nolen", None, "Plain/test vectors.txt"), ("strict", Some(3), "KAT_KEM_Slow.txt")]
    );
    let optimised = implementation(odd, "optimised");
    assert!(matches!(&optimised.source, Source::Crate { version, .. } if version == "1.10"));
    assert_eq!(optimised.recipes.len(), 1);
    assert!(optimised.recipes.values().all(|r| r.api == Api::Nist && r.prefix.is_some()));
}
