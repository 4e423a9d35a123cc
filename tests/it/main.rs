//! The one integration binary.

mod process;
mod toolchain;
