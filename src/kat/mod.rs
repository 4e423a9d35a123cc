//! Known-answer texts: canonical form, digest and the place of the first difference, all as streams.
//!
//! A text may be gigabytes with lines of 25 MB, so nothing here holds a line, let alone a text. Knows nothing of how
//! texts are made. Source of the canonical form: the reference harness' manifest rules (docs/FORMATS.md, KAT).

mod canonical;
mod locate;
mod vectors;

pub use canonical::{Canonical, Digested, Mode, digest, has_blank_lengths};
pub use locate::{Difference, first_difference};
pub use vectors::{Vectors, check as check_vectors};
