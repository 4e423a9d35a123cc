//! The one integration binary.

mod driver;
