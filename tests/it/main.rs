//! The one integration binary.

mod cc;
mod codes;
mod hare;
mod hqc;
mod iccs;
mod loong;
mod triq;
