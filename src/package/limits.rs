//! How much a package may hold before it counts as made to do harm.
//!
//! The defaults let the largest real packages through (790 MB with a known-answer text of 507 MB, one with thousands
//! of firmware files) and stop what would fill a disk or keep a machine busy for hours.

/// Bounds on everything that comes out of a package, nested archives included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Entries of all kinds, directories and links included.
    pub members: u64,
    /// Bytes of one file.
    pub member_bytes: u64,
    /// Bytes of all files together, copies that stand for links included.
    pub total_bytes: u64,
    /// Most bytes out for one byte in.
    pub ratio: u64,
    /// Bytes out from which on the ratio is looked at. Texts of small files compress as well as bombs do.
    pub ratio_from: u64,
    /// How deep archives may stand inside archives; 1 is an archive inside the package.
    pub nested_depth: usize,
    /// Parts of a path.
    pub path_depth: usize,
    /// Bytes of a path. Below the system's 4096, for the directory in front of it when it is laid out.
    pub path_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            members: 200_000,
            member_bytes: 4 << 30,
            total_bytes: 8 << 30,
            // Deflate itself ends at 1032:1. Texts made from a template come to about 100:1.
            ratio: 250,
            ratio_from: 64 << 20,
            nested_depth: 4,
            path_depth: 40,
            path_bytes: 2000,
        }
    }
}
