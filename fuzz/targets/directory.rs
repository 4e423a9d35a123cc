//! A directory in memory, and files in it.

use std::path::Path;

/// A fresh directory, where the system has memory for it.
pub fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary directory")
}

/// Writes a file and the directories above it.
pub fn write(path: &Path, bytes: &[u8]) {
    let parent = path.parent().expect("a file stands in a directory");
    std::fs::create_dir_all(parent).expect("a directory");
    std::fs::write(path, bytes).expect("a file");
}
