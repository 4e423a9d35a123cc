//! The one integration binary.

mod cc;
mod cmake_child;
mod driver;
mod iccs;
mod loong;
mod process;
mod toolchain;
