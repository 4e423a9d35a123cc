//! Pinned archives from where they are into the store: a folder, the network, or the user's own cargo.
//!
//! The only place that touches the network. Every byte is checked against the pin before it counts. Unpacking is the
//! business of `package`.

pub mod download;
mod obtain;
pub mod release;

pub use obtain::{Found, Obtain, ObtainError, Place, Wanted};
