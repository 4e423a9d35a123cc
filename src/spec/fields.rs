//! Reads mappings: fields that are known, required, unknown or given twice, and entries under free names.
//!
//! Knows nothing of what the fields mean. The fields asked for are the fields that exist: [`Map::finish`] refuses the
//! others and names the nearest.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::reader::At;
use super::tree::Value;
use crate::diag::nearest;
use crate::name::Name;

impl<'d> At<'d> {
    /// The fields of a mapping; each key may stand once.
    pub(super) fn map(self) -> Option<Map<'d>> {
        let Value::Mapping(entries) = &self.node.value else {
            if self.is_nothing() && self.key.is_none() {
                self.error("empty-file", "the file holds nothing", "", |d| d);
            } else {
                self.wrong_type("a mapping");
            }
            return None;
        };
        let mut fields: BTreeMap<&'d str, Self> = BTreeMap::new();
        let mut order = Vec::new();
        for (key, node) in entries {
            let at = Self { doc: self.doc, node, key: Some(key) };
            match fields.get(key.as_str()) {
                None => {
                    fields.insert(key, at);
                    order.push(at);
                }
                Some(first) => at.key_error(
                    "duplicate-key",
                    format!("the key `{key}` is given twice"),
                    "again here",
                    |d| first.point_key(d, "first here"),
                ),
            }
        }
        Some(Map {
            at: self,
            fields,
            order,
            known: RefCell::default(),
            missing: RefCell::default(),
        })
    }

    /// The entries of a mapping in file order, each key once.
    pub(super) fn entries(self) -> Option<Vec<Self>> {
        Some(self.map()?.order)
    }

    /// The keys of a mapping, whatever their values are: for later checks that must not mistake a broken entry for a
    /// missing one.
    pub(super) fn keys(self) -> Vec<&'d str> {
        match &self.node.value {
            Value::Mapping(entries) => entries.iter().map(|(key, _)| key.as_str()).collect(),
            Value::Null | Value::Scalar(_) | Value::Sequence(_) => Vec::new(),
        }
    }

    /// A mapping from names to values read alike, in file order. Nothing at all is an empty mapping. What cannot be
    /// read is reported and left out.
    pub(super) fn named<T>(self, read: impl Fn(Self) -> Option<T>) -> Option<Vec<Named<'d, T>>> {
        if self.is_nothing() {
            return Some(Vec::new());
        }
        let read = |at: Self| {
            let name = at.key().parse::<Name>();
            if let Err(error) = &name {
                at.key_error("bad-value", error, "", |d| d);
            }
            let value = read(at);
            Some(Named { name: name.ok()?, value: value?, at })
        };
        Some(self.entries()?.into_iter().filter_map(read).collect())
    }
}

/// One entry of a mapping from names.
#[derive(Debug)]
pub(super) struct Named<'d, T> {
    pub(super) name: Name,
    pub(super) value: T,
    pub(super) at: At<'d>,
}

/// The fields of one mapping.
#[derive(Debug)]
pub(super) struct Map<'d> {
    at: At<'d>,
    fields: BTreeMap<&'d str, At<'d>>,
    order: Vec<At<'d>>,
    known: RefCell<Vec<&'static str>>,
    missing: RefCell<Vec<&'static str>>,
}

impl<'d> Map<'d> {
    /// The mapping itself.
    pub(super) fn at(&self) -> At<'d> {
        self.at
    }

    /// A field, if it is there.
    pub(super) fn get(&self, key: &'static str) -> Option<At<'d>> {
        self.known.borrow_mut().push(key);
        self.fields.get(key).copied()
    }

    /// A field that must be there.
    pub(super) fn required<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(At<'d>) -> Option<T>,
    ) -> Option<T> {
        match self.get(key) {
            Some(at) => read(at),
            None => {
                self.missing.borrow_mut().push(key);
                None
            }
        }
    }

    /// A field that may be missing. The outer `None` means that it is there and wrong.
    #[expect(clippy::option_option, reason = "wrong and absent are different answers")]
    pub(super) fn optional<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(At<'d>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            None => Some(None),
            Some(at) => read(at).map(Some),
        }
    }

    /// A field with a default.
    pub(super) fn or<T>(
        &self,
        key: &'static str,
        default: T,
        read: impl FnOnce(At<'d>) -> Option<T>,
    ) -> Option<T> {
        self.optional(key, read).map(|found| found.unwrap_or(default))
    }

    /// Refuses every field that was not asked for, and reports the required ones that are missing. A missing field
    /// with an unknown one near it is one error, not two. Tells whether all fields were in order.
    pub(super) fn finish(self) -> Fields {
        let known = self.known.borrow().clone();
        let mut all = Fields::InOrder;
        for at in self.order.iter().filter(|at| !known.contains(&at.key())) {
            all = Fields::Wrong;
            let key = at.key();
            let near = nearest(key, known.iter().copied());
            self.missing.borrow_mut().retain(|missing| Some(*missing) != near);
            at.key_error("unknown-field", format!("there is no field `{key}` here"), "", |d| {
                match near {
                    Some(near) => d.help(format!("did you mean `{near}`?")),
                    None => d.help(format!("the fields are {}", known.join(", "))),
                }
            });
        }
        if !self.missing.borrow().is_empty() {
            all = Fields::Wrong;
        }
        self.finish_unjudged();
        all
    }

    /// Reports missing fields only: which others there may be is not known.
    pub(super) fn finish_unjudged(self) {
        for key in self.missing.take() {
            let owner = self.at.key.map_or_else(String::new, |k| format!(" in `{k}`"));
            self.at.error(
                "missing-field",
                format!("the field `{key}` is missing{owner}"),
                format!("`{key}` is missing here"),
                |d| d,
            );
        }
    }
}

/// What [`Map::finish`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    /// All fields are known and all required ones there.
    InOrder,
    /// Something was reported.
    Wrong,
}
