//! Section 6: what is sent and stored. Item 6 of the guide's report.
//!
//! Public sizes are the catalogue's, since an API constant may be a capacity and not an encoding; where the two differ
//! the cell says so. Secret sizes are the API's.

use std::collections::BTreeMap;

use super::{Page, absent, paragraph};
use crate::report::doc::{Block, Cell, Class, Section, Table, numbers};
use crate::report::figures::instances;
use crate::report::input::{Function, InstanceInput, Outcome};

/// What the columns mean.
const SOURCES: &str = "All sizes in bytes. Public key and ciphertext or signature follow the catalogue of external \
sizes where it has an entry; secret key and shared secret are the figures of the API.";

pub(super) fn section(page: &Page<'_>) -> Section {
    let columns: &[(&str, &str)] = match page.input.submission.function {
        Function::Kem => &[
            ("public key", "pk"),
            ("secret key", "sk"),
            ("ciphertext", "ct"),
            ("shared secret", "ss"),
        ],
        Function::Signature => &[("public key", "pk"), ("secret key", "sk"), ("signature", "sig")],
        Function::KeyExchange => {
            &[("public key", "pk"), ("secret key", "sk"), ("shared secret", "ss")]
        }
        Function::Hash => &[],
    };
    let mut table = Table::new(page.label_columns());
    table.columns.extend(columns.iter().map(|(title, _)| numbers(title)));
    for (implementation, instance) in instances(page.input) {
        let mut row = page.label(implementation, instance);
        row.extend(columns.iter().map(|(_, name)| cell(instance, name)));
        table.rows.push(row);
    }
    let blocks = if columns.is_empty() {
        vec![paragraph("Nothing is sent or stored but the digest.")]
    } else {
        vec![paragraph(SOURCES), Block::Table(table)]
    };
    Section {
        id: "transmission",
        title: "6. Transmission and storage overhead".to_owned(),
        short: "Sizes",
        blocks,
    }
}

/// One size: the catalogue's, else the API's from the library, else the API's from a timing.
fn cell(instance: &InstanceInput, name: &str) -> Cell {
    let timed = instance.timing.values().find_map(Outcome::done).map(|t| &t.sizes);
    let built = instance.sizes.done();
    let get = |sizes: Option<&BTreeMap<String, u64>>| sizes.and_then(|s| s.get(name)).copied();
    let api = get(built.map(|s| &s.api)).or_else(|| get(timed));
    let catalogue = get(built.map(|s| &s.catalogue));
    let href = instance.sizes.href();
    let basis = match (name, instance.catalogue_basis.as_str()) {
        ("ct" | "sig", "maximum-variable") => " (maximum)",
        ("ct" | "sig", "nominal-variable") => " ≈ nominal",
        _ => "",
    };
    match (catalogue, api) {
        (Some(listed), Some(api)) if listed != api => {
            let cell = Cell::text(format!("{listed}{basis} (API: {api})")).to(href);
            if basis.is_empty() { cell.class(Class::Warn) } else { cell }
        }
        (Some(listed), _) => Cell::text(format!("{listed}{basis}")).to(href),
        (None, Some(api)) => Cell::text(api.to_string()).to(href),
        (None, None) => {
            absent(Some(&instance.sizes)).unwrap_or_else(|| Cell::missing("not recorded"))
        }
    }
}
