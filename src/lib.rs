//! Measures cryptographic submissions as a reproducible, content-addressed pipeline.
//!
//! Data flows one way: `cli -> cmd -> spec -> plan -> exec -> store`, and `report` reads what the store holds.
//! `DESIGN.md` lists every file in a line; `tests/it/tidy.rs` holds the arrows.

pub mod action;
pub mod artifact;
pub mod big_file;
pub mod c_sources;
pub mod cli;
pub mod clock;
pub mod cmd;
pub mod diag;
pub mod digest;
pub mod disk;
pub mod elf;
pub mod event;
pub mod exec;
pub mod fetch;
pub mod host;
pub mod inspect;
pub mod kat;
pub mod name;
pub mod outcome;
pub mod package;
pub mod plan;
pub mod procedure;
pub mod profile_share;
pub mod record;
pub mod report;
pub mod result;
pub mod source;
pub mod spec;
pub mod stage;
pub mod stats;
pub mod store;
pub mod toolchain;
pub mod units;
pub mod watcher;
