//! Runs a plan.

pub mod sched;
