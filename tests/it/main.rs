//! The one integration binary.

mod cc;
mod iccs;
mod loong;
