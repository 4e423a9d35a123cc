//! The one integration binary.

mod process;
