//! The one integration binary.

mod cc;
mod codes;
mod driver;
mod hare;
mod hqc;
mod iccs;
mod loong;
mod triq;
