//! Pieces of files and numbers in bytes.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;

/// A piece of a file as a reader. Reads at positions, so that one open file serves many readers.
#[derive(Debug)]
pub(super) struct Section<'f> {
    file: &'f File,
    at: u64,
    left: u64,
}

impl<'f> Section<'f> {
    pub(super) fn new(file: &'f File, at: u64, len: u64) -> Self {
        Self { file, at, left: len }
    }
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let n = self.file.read_at(&mut buffer[..most], self.at)?;
        self.at += n as u64;
        self.left -= n as u64;
        Ok(n)
    }
}

/// A little-endian number; there must be enough bytes.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// A little-endian number; there must be enough bytes.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// A little-endian number; there must be enough bytes.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
