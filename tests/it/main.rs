//! The one integration binary.

mod cc;
mod driver;
mod iccs;
mod loong;
mod manifest_errors;
