//! Static sizes of a library, read off its ELF file, beside the API and catalogue sizes.
//!
//! A pure function of the library: no process runs.

use std::collections::BTreeMap;

use crate::elf;
use crate::exec::job::{Job, Stop, Yield};
use crate::record::{FailureClass, Finding};
use crate::result::{Kat, Sizes};

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let bytes = job.read(job.artifact("library")?)?;
    let facts = elf::image(&bytes)
        .map_err(|error| Stop::new(FailureClass::Output, format!("the library: {error}")))?;
    let kat: Option<Kat> = job.read_json(job.artifact("kat")?)?;
    let api: BTreeMap<String, u64> = kat.map(|kat| kat.sizes).unwrap_or_default();
    let catalogue: BTreeMap<String, u64> = job.json_param("catalogue")?;
    let mut made = Yield::default();
    let expected: Vec<&str> = job.param("expected").split(' ').collect();
    for (name, wanted) in &catalogue {
        if let Some(found) = api.get(name)
            && found != wanted
            && !expected.contains(&"size-differs")
        {
            made.findings.push(Finding {
                code: "size-differs".into(),
                message: format!(
                    "{name} is {found} bytes in the library, {wanted} in the catalogue"
                ),
            });
        }
    }
    let sizes = Sizes {
        schema: 1,
        elf_load_bytes: facts.load_bytes,
        file_bytes: bytes.len() as u64,
        sections: facts.sections,
        api,
        catalogue,
    };
    made = made.with("sizes", job.keep_json(&sizes)?);
    Ok(made)
}
