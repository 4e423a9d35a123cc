//! The one integration binary.

mod cc;
mod driver;
mod elf;
mod iccs;
mod loong;
mod report;
