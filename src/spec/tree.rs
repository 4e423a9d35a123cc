//! The generic tree of a document: what serde tells about it, with the way to every value.
//!
//! Knows nothing of the parser behind serde, nor of what documents mean. Two readings: the first makes the tree, and
//! sees numbers as numbers; the second, along the tree, puts the text as written into every scalar.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// Documents that aliases blow up to more nodes are refused. Keys count, so ten thousand stages with commands
/// are 230,000.
const MAX_NODES: usize = 300_000;
/// So are documents whose texts together are longer.
const MAX_TEXT: usize = 4 * super::yaml::MAX_BYTES;
/// Our own failures travel through serde's error type behind this mark.
pub(super) const MARK: &str = "@ngcc ";

/// A value and the way to it: the entry numbers from the root down.
#[derive(Debug)]
pub(super) struct Node {
    path: Vec<usize>,
    pub(super) value: Value,
}

/// What a node holds.
#[derive(Debug)]
pub(super) enum Value {
    /// `~`, `null` or nothing at all.
    Null,
    /// Any other scalar, as written.
    Scalar(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in file order. Keys may repeat here: the reader refuses that with both places.
    Mapping(Vec<(String, Node)>),
}

impl Node {
    /// The entry numbers from the root down.
    pub(super) fn path(&self) -> &[usize] {
        &self.path
    }
}

/// What one document may grow to.
#[derive(Debug, Default)]
pub(super) struct Budget {
    nodes: Cell<usize>,
    text: Cell<usize>,
}

impl Budget {
    fn spend<E: Error>(&self, text: usize) -> Result<(), E> {
        self.nodes.set(self.nodes.get() + 1);
        self.text.set(self.text.get() + text);
        if self.nodes.get() > MAX_NODES || self.text.get() > MAX_TEXT {
            return Err(ours(&format!("the document grows to more than {MAX_NODES} values")));
        }
        Ok(())
    }
}

/// A failure of ours, told apart from the parser's by [`MARK`].
pub(super) fn ours<E: Error>(message: &str) -> E {
    E::custom(format_args!("{MARK}{message}"))
}

/// First reading: the tree. Numbers and booleans are left as empty texts.
#[derive(Debug)]
pub(super) struct Tree<'b> {
    path: Vec<usize>,
    budget: &'b Budget,
}

impl<'b> Tree<'b> {
    /// Reads a whole document.
    pub(super) fn root(budget: &'b Budget) -> Self {
        Self { path: Vec::new(), budget }
    }
}

impl Tree<'_> {
    fn node(self, value: Value) -> Node {
        Node { path: self.path, value }
    }

    fn child(&self, index: usize) -> Self {
        let path = self.path.iter().copied().chain([index]).collect();
        Self { path, budget: self.budget }
    }

    fn scalar<E: Error>(self, text: &str) -> Result<Node, E> {
        self.budget.spend(text.len())?;
        Ok(self.node(Value::Scalar(text.to_owned())))
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Node, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        self.visit_unit()
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        self.budget.spend(0)?;
        Ok(self.node(Value::Null))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        self.scalar(text)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Node, E> {
        self.scalar("")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.budget.spend(0)?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.child(items.len()))? {
            items.push(item);
        }
        Ok(self.node(Value::Sequence(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.budget.spend(0)?;
        let mut entries = Vec::new();
        while let Some(key) = access.next_key_seed(Key { fail: false })? {
            self.budget.spend(key.len())?;
            let value = access.next_value_seed(self.child(entries.len()))?;
            entries.push((key, value));
        }
        Ok(self.node(Value::Mapping(entries)))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Node, A::Error> {
        Err(ours("tags (`!name`) are not used in these files"))
    }
}

/// Second reading: puts the text as written into every scalar of the tree.
#[derive(Debug)]
pub(super) struct Texts<'t>(pub(super) &'t mut Node);

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        match &mut self.0.value {
            Value::Null => d.deserialize_ignored_any(IgnoredAny).map(drop),
            Value::Scalar(text) => d.deserialize_str(TextInto(text)),
            Value::Sequence(_) | Value::Mapping(_) => d.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the first reading found")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Value::Sequence(items) = &mut self.0.value {
            for item in items {
                access.next_element_seed(Texts(item))?;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Value::Mapping(entries) = &mut self.0.value {
            for (_, value) in entries {
                access.next_key::<IgnoredAny>()?;
                access.next_value_seed(Texts(value))?;
            }
        }
        Ok(())
    }
}

/// Takes a scalar's text.
struct TextInto<'t>(&'t mut String);

impl Visitor<'_> for TextInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        text.clone_into(self.0);
        Ok(())
    }
}

/// A key's text, or a failure at the key.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) fail: bool,
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<String, D::Error> {
        d.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text as key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        if self.fail { Err(ours("here")) } else { Ok(text.to_owned()) }
    }
}
