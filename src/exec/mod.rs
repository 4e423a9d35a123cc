//! Runs a plan.
//! Running things: children in their own process group, under limits, with nothing left behind.
//!
//! The parent side starts a child through `process.rs` only. What starts is this same program as `ngcc __exec`
//! (`launcher.rs`), which sets the limits, runs the real program and stays its parent until the last descendant is gone.

pub mod cgroup;
pub mod cmake_child;
pub mod descendants;
pub mod interrupt;
pub mod launcher;
pub mod log;
pub mod process;
pub mod sched;
