//! The one integration binary.

mod cc;
mod cmake_child;
mod driver;
mod elf;
mod iccs;
mod loong;
mod lore;
mod process;
mod toolchain;
