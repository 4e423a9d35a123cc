//! stub
pub mod input;
use std::collections::BTreeMap;
use crate::name::RelPath;
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Format { Md, Html, Csv, Json }
pub fn render(_: &input::PageInput, _: &[Format]) -> BTreeMap<RelPath, Vec<u8>> { [("index.md".parse().unwrap(), b"stub".to_vec())].into() }
pub fn render_index(_: &input::IndexInput, _: &[Format]) -> BTreeMap<RelPath, Vec<u8>> { [("index.md".parse().unwrap(), b"stub".to_vec())].into() }
