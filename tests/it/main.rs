//! The one integration binary.

mod archive_bytes;
mod bench;
mod cc;
mod cmake_child;
mod codes;
mod driver;
mod elf;
mod good_archives;
mod hare;
mod hostile_archives;
mod hqc;
mod iccs;
mod loong;
mod lore;
mod manifest_errors;
mod manifest_fuzz;
mod process;
mod quirks;
mod report;
mod reruns;
mod survival;
mod tidy;
mod toolchain;
mod triq;
