//! Every reason for which a package is not taken, one variant each, and where in which archive it was found.
//!
//! The texts go on after a colon: `pkg.zip`: entry `a/b`: …

use std::io;
use std::path::PathBuf;

use crate::name::NameError;
use crate::store::{PutError, StoreError};

/// Why a package was not unpacked. Nothing of it is known by any name then; what was filed already is collected later.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The archive as a whole breaks a rule.
    #[error("`{archive}`: {why}")]
    Archive {
        /// Its file name; for a nested one, with its path inside.
        archive: String,
        /// The rule.
        why: Refusal,
    },
    /// One of its entries breaks a rule.
    #[error("`{archive}`: entry `{entry}`: {why}")]
    Entry {
        /// Its file name; for a nested one, with its path inside.
        archive: String,
        /// The name of the entry, as far as it can be shown.
        entry: String,
        /// The rule.
        why: Refusal,
    },
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The archive or a file of the directory.
        path: PathBuf,
        /// The answer.
        source: io::Error,
    },
    /// It was written to meanwhile.
    #[error("`{}` changed while it was read", .0.display())]
    Changed(PathBuf),
    /// Its files cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl UnpackError {
    /// The rule that was broken, if it is the package's fault.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Archive { why, .. } | Self::Entry { why, .. } => Some(why),
            Self::Io { .. } | Self::Changed(_) | Self::Store(_) => None,
        }
    }
}

/// A rule for packages that was broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    // Names.
    /// No name at all.
    #[error("its name is empty")]
    EmptyName,
    /// Bytes that mean nothing.
    #[error("its name is neither UTF-8 nor GB18030")]
    Undecodable,
    /// `/x`, `C:\x`, `\\host\x`.
    #[error("its name is an absolute path")]
    Absolute,
    /// `a/../b`.
    #[error("its name has a part `..`, which leads upwards")]
    Upwards,
    /// `a/./b`, `a/.../b`: programs that cut `../` out of `..././x` are led upwards.
    #[error("its name has a part made of dots only")]
    Dots,
    /// `a//b`.
    #[error("its name has an empty part (`//`)")]
    EmptyPart,
    /// `a\b`.
    #[error(
        "its name has a backslash, which separates directories for some programs and not for others; pack it again \
         with `/`"
    )]
    Backslash,
    /// NUL, newline and the like.
    #[error("its name has a control character")]
    Control,
    /// More than file systems take.
    #[error("a part of its name is longer than 255 bytes")]
    LongPart,
    /// More than the system takes.
    #[error("its path is longer than {0} bytes")]
    LongPath(usize),
    /// Directories in directories.
    #[error("its path has more than {0} parts")]
    DeepPath(usize),
    /// Another rule of [`crate::name::RelPath`].
    #[error(transparent)]
    Name(#[from] NameError),
    // Entries among each other.
    /// Which of the two is meant cannot be said.
    #[error("another entry has the same name")]
    Duplicate,
    /// The same file on some systems.
    #[error("its name differs only by letter case from `{0}`")]
    CaseClash(String),
    /// A file and a directory of one name.
    #[error("`{0}` is a file and would have to be a directory")]
    FileAsDirectory(String),
    // Links and other kinds.
    /// A link to elsewhere.
    #[error("it is a link to `{0}`, outside of the archive")]
    LinkOutside(String),
    /// A link to nothing.
    #[error("it is a link to `{0}`, which is no file of the archive")]
    LinkToNothing(String),
    /// A link to a directory.
    #[error("it is a link to the directory `{0}`; only links to files can be kept")]
    LinkToDirectory(String),
    /// A link to itself, perhaps by way of others.
    #[error("it is a link that leads in a circle")]
    LinkCircle,
    /// A hard link that comes before its file, or without one.
    #[error("it is a hard link to `{0}`, which is no file before it in the archive")]
    HardLink(String),
    /// What a link should be made of.
    #[error("it is a link without a usable target")]
    LinkTarget,
    /// A directory or link that carries bytes.
    #[error("it is no file and has content")]
    Content,
    /// Neither file nor directory nor link.
    #[error("it is a {0}, not a file")]
    Special(&'static str),
    // Sizes.
    /// [`super::Limits::members`].
    #[error("it holds more than {0} entries")]
    Members(u64),
    /// [`super::Limits::member_bytes`].
    #[error("it is longer than {0} bytes")]
    MemberBytes(u64),
    /// [`super::Limits::total_bytes`].
    #[error("with it the package holds more than {0} bytes")]
    TotalBytes(u64),
    /// [`super::Limits::ratio`].
    #[error("it unpacks to more than {0} times its packed size, as a decompression bomb does")]
    Ratio(u64),
    /// [`super::Limits::nested_depth`].
    #[error("it is the archive inside {0} others, which is too deep")]
    Nesting(usize),
    /// The header lies, upwards.
    #[error("it holds more than the {0} bytes that its header states")]
    Longer(u64),
    /// The header lies, downwards; or the data ends early.
    #[error("it holds {found} bytes where its header states {stated}")]
    Shorter {
        /// Bytes that came out.
        found: u64,
        /// Bytes announced.
        stated: u64,
    },
    // Formats.
    /// No magic bytes of a known format.
    #[error("it is no archive of a known kind (ZIP, tar, tar.gz, tar.xz, tar.zst, 7z, RAR)")]
    UnknownFormat,
    /// Compressed, but no archive.
    #[error("it is compressed, but what it holds is no tar archive")]
    NotATar,
    /// The end is not there.
    #[error("it is truncated: {0}")]
    Truncated(&'static str),
    /// The bytes make no sense.
    #[error("it is damaged: {0}")]
    Corrupt(String),
    /// CRC-32.
    #[error("its checksum is wrong")]
    Checksum,
    /// A ZIP that needs a password.
    #[error("it is encrypted")]
    Encrypted,
    /// A ZIP compression method.
    #[error("it is compressed by method {0}, which is not supported; pack it again with Deflate")]
    Method(u16),
    /// Something else that is not read.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// The two headers of a ZIP entry.
    #[error("its two headers differ in {0}")]
    HeadersDiffer(&'static str),
    /// Entries that share bytes, as in a bomb.
    #[error("its data overlaps that of `{0}`, as in a decompression bomb")]
    Overlap(String),
    /// No files.
    #[error("it holds no file")]
    Empty,
    /// A nested archive that is not there.
    #[error("it has no file `{0}` to unpack as a nested archive")]
    NoSuchNested(String),
    /// A directory that holds the store.
    #[error("it holds the store itself")]
    HoldsStore,
    // External tools.
    /// No program for a format.
    #[error(
        "it is {format}; to read it, install one of {programs} (Debian: `apt install {package}`)"
    )]
    NoTool {
        /// The format.
        format: &'static str,
        /// Programs that would do, for people.
        programs: String,
        /// A Debian package with one of them.
        package: &'static str,
    },
    /// The programs for a format failed.
    #[error("it is {format}, and it could not be unpacked: {why}")]
    ToolFailed {
        /// The format.
        format: &'static str,
        /// What they said.
        why: String,
    },
}

impl Refusal {
    /// As the error of a reader, from which [`read_failure`] takes it out again.
    pub(super) fn into_io(self) -> io::Error {
        io::Error::other(self)
    }
}

/// What a failed read says about the archive.
pub(super) fn read_failure(error: &io::Error) -> Refusal {
    if let Some(refusal) = error.get_ref().and_then(|inner| inner.downcast_ref::<Refusal>()) {
        return refusal.clone();
    }
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Refusal::Truncated("its data ends early");
    }
    Refusal::Corrupt(error.to_string())
}

/// What the store said, when it is not about the bytes.
pub(super) fn put_failure(error: PutError, too_long: Refusal) -> Result<Refusal, StoreError> {
    match error {
        PutError::Read(e) => Ok(read_failure(&e)),
        PutError::TooLong => Ok(too_long),
        PutError::Store(e) => Err(e),
    }
}
