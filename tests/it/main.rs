//! The one integration binary.

mod bench;
mod cc;
mod cmake_child;
mod codes;
mod downloads;
mod driver;
mod elf;
mod hare;
mod history;
mod hqc;
mod iccs;
mod kat_texts;
mod loong;
mod lore;
mod manifest_errors;
mod manifest_fuzz;
mod packages;
mod process;
mod quirk_builds;
mod quirks;
mod report;
mod reruns;
mod survival;
mod tidy;
mod toolchain;
mod triq;
