//! Running things: a plan is bound to content, scheduled, carried out and recorded.
//!
//! `run.rs` is the loop, `sched.rs` its pure state machine, `bind.rs` gives keys, `job.rs` is what a procedure sees.
//! Children start through `process.rs` only; what starts is this same program as `ngcc __exec` (`launcher.rs`), which
//! sets the limits, runs the real program and stays its parent until the last descendant is gone.

pub mod archive_tools;
pub mod bind;
pub mod cgroup;
pub mod cmake_child;
pub mod command;
mod confine;
pub mod descendants;
pub mod forecast;
pub mod interrupt;
pub mod job;
pub mod launcher;
pub mod log;
pub mod meter;
pub mod no_network;
pub mod process;
pub mod run;
pub mod sched;
