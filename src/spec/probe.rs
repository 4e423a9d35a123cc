//! Finds the place of a value: fails on purpose at the end of a path, and serde_yaml adds the place to the failure.
//!
//! Knows nothing of the tree: it walks the parser's own events, so that the place is the parser's.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::tree::{Key, ours};

/// Which part of an entry a place points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The key.
    Key,
    /// The value.
    Value,
}

/// Fails on purpose at the node the path leads to; serde_yaml adds the place to the failure.
#[derive(Debug)]
pub(super) struct Probe<'p> {
    pub(super) path: &'p [usize],
    pub(super) part: Part,
}

impl Probe<'_> {
    fn scalar<E: Error>(&self) -> Result<(), E> {
        if self.path.is_empty() { Err(ours("here")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Probe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Probe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.scalar()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.scalar()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.scalar()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<(), E> {
        self.scalar()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<(), E> {
        self.scalar()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((&index, path)) = self.path.split_first() else { return Err(ours("here")) };
        for _ in 0..index {
            access.next_element::<IgnoredAny>()?;
        }
        access.next_element_seed(Probe { path, part: self.part }).map(drop)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((&index, path)) = self.path.split_first() else { return Err(ours("here")) };
        for _ in 0..index {
            access.next_entry::<IgnoredAny, IgnoredAny>()?;
        }
        let fail = path.is_empty() && self.part == Part::Key;
        access.next_key_seed(Key { fail })?;
        access.next_value_seed(Probe { path, part: self.part })
    }
}
