//! A workspace of hostile files: loading ends, what it says can be printed, and what it accepts can be planned.
//!
//! The input is four pieces between lines `%%%`: pipeline, submission, `kat.sha256`, system. An empty piece stands for
//! a good file, so that one wrong file meets three right ones.

#![no_main]

#[path = "directory.rs"]
mod directory;
#[path = "pieces.rs"]
mod pieces;

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use ngcc::diag::Colour;
use ngcc::host::{HostFacts, identity};
use ngcc::source::NoPackages;
use ngcc::spec::Workspace;
use ngcc::stage::{Request, System, plan};

const FILES: [(&str, &[u8]); 4] = [
    ("pipelines/p.yaml", include_bytes!("../../pipelines/all.yaml")),
    ("kems/kem-1/submission.yaml", include_bytes!("../seeds/submission.yaml")),
    ("kems/kem-1/kat.sha256", b""),
    ("systems/this.yaml", include_bytes!("../../systems/this.yaml")),
];

thread_local! {
    static ROOT: tempfile::TempDir = {
        let root = directory::directory();
        directory::write(&root.path().join("kems/kem-1/src/k.c"), b"int k;\n");
        directory::write(&root.path().join("kems/kem-1/src/k.h"), b"");
        root
    };
}

fuzz_target!(|input: &[u8]| {
    ROOT.with(|root| {
        let root = root.path();
        let parts = pieces::pieces(input);
        for (index, (path, good)) in FILES.iter().enumerate() {
            let piece = parts.get(index).copied().filter(|piece| !piece.is_empty());
            directory::write(&root.join(path), piece.unwrap_or(good));
        }
        match Workspace::load(root) {
            Err(errors) => {
                assert!(!errors.is_empty());
                let text = errors.render(Colour::Off);
                assert!(!text.is_empty());
                let _ = errors.to_json();
            }
            Ok(workspace) => {
                let system = System {
                    identity: identity(&HostFacts::default(), &[]),
                    name: "this".to_owned(),
                    arch: "x86_64".to_owned(),
                    description: String::new(),
                    cpu: 0,
                };
                let rounds = BTreeMap::new();
                for pipeline in workspace.pipelines.values() {
                    let request = Request {
                        selectors: &[],
                        only: &[],
                        system: system.clone(),
                        rounds: &rounds,
                        packages: &NoPackages,
                    };
                    let _ = plan(&workspace, pipeline, &request);
                }
            }
        }
    });
});
