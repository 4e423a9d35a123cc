//! The one integration binary.

mod cc;
mod cmake_child;
mod codes;
mod driver;
mod elf;
mod hare;
mod hqc;
mod iccs;
mod loong;
mod lore;
mod manifest_errors;
mod process;
mod report;
mod tidy;
mod toolchain;
mod triq;
