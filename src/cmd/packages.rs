//! The packages of a store, as planning looks them up.
//!
//! Each is read once per program run, however many implementations come from it. One that cannot be read counts as
//! absent: fetching it again is what heals it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::action::{self, Pin};
use crate::package;
use crate::source::{Files, Packages};
use crate::store::Store;

/// Looks packages up in a store.
#[derive(Debug)]
pub struct Shelf<'s> {
    store: &'s Store,
    known: RefCell<BTreeMap<String, Option<Files>>>,
}

impl<'s> Shelf<'s> {
    /// Over a store.
    #[must_use]
    pub const fn new(store: &'s Store) -> Self {
        Self { store, known: RefCell::new(BTreeMap::new()) }
    }
}

impl Packages for Shelf<'_> {
    fn files(&self, name: &str, sha256: &str, nested: &[String]) -> Option<Files> {
        let key = format!("{name} {}", package::package_name(sha256, nested));
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let found = package::find(self.store, sha256, nested).ok().flatten();
        let files = found.map(|found| {
            let of = Arc::new(Pin { name: name.to_owned(), sha256: sha256.to_owned() });
            let packed = |(path, member): (&crate::name::RelPath, &package::Member)| {
                let source = action::Source::Packed {
                    blob: member.blob,
                    path: path.clone(),
                    of: Arc::clone(&of),
                };
                (path.clone(), source)
            };
            found.files.iter().map(packed).collect::<Files>()
        });
        self.known.borrow_mut().insert(key, files.clone());
        files
    }
}
