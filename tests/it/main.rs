//! The one integration binary.

mod cmake_child;
mod process;
mod toolchain;
