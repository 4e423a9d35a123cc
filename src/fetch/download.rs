//! Downloads one pinned file over HTTP, resuming what an earlier attempt left.
//!
//! The pin decides everything: not one byte more than it says is accepted, and a file counts only when its SHA-256 is
//! the pinned one. What an attempt got is kept in a part file, so a broken connection or a Ctrl-C costs only the rest.
//! Knows nothing of archives or of the store's layout: it is told where the part file is.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::http::{StatusCode, header};

use crate::package::sha256_of;

/// What must come out.
#[derive(Debug, Clone, Copy)]
pub struct Pinned<'a> {
    /// Where it is.
    pub url: &'a str,
    /// SHA-256, lower-case hex.
    pub sha256: &'a str,
    /// Length in bytes.
    pub bytes: u64,
}

/// Sees a download go on: bytes so far; `false` stops it.
pub type Watch<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The server could not be reached, or the connection broke, more often than was to be tried.
    #[error(
        "`{url}` could not be read: {why} (tried {tries} times; {have} bytes are kept for the next attempt)"
    )]
    Broken {
        /// The address.
        url: String,
        /// The last reason.
        why: String,
        /// Attempts that brought nothing.
        tries: u32,
        /// What is in the part file.
        have: u64,
    },
    /// The server answered with something else.
    #[error("`{url}` answered {status}")]
    Status {
        /// The address.
        url: String,
        /// Its answer.
        status: StatusCode,
    },
    /// More bytes than pinned.
    #[error("`{url}` is longer than the {bytes} bytes that are pinned; it is another file")]
    TooLong {
        /// The address.
        url: String,
        /// The pin.
        bytes: u64,
    },
    /// All bytes, and not the pinned ones.
    #[error("`{url}` has sha256 {found}, pinned is {pinned}; it is another file and was dropped")]
    Digest {
        /// The address.
        url: String,
        /// What came.
        found: String,
        /// What was to come.
        pinned: String,
    },
    /// Somebody else is at it.
    #[error("another process is downloading it (`{}` is locked)", .0.display())]
    Busy(PathBuf),
    /// The user had enough.
    #[error("interrupted after {0} bytes, which are kept; the same command goes on from there")]
    Interrupted(u64),
    /// The part file.
    #[error("cannot use `{}`: {source}", path.display())]
    Io {
        /// The part file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
}

/// How often nothing may come before it is given up, and how long to wait in between.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Attempts in a row that bring nothing.
    pub tries: u32,
    /// Wait before the second attempt; doubled each time.
    pub pause: Duration,
    /// Longest silence of the server.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 4, pause: Duration::from_secs(1), silence: Duration::from_secs(60) }
    }
}

/// Downloads into `part`, going on where it ends. Afterwards the part file is the pinned file, complete and checked.
///
/// # Errors
/// [`DownloadError`] says what to do; only wrong content is removed.
pub fn download(
    pinned: Pinned<'_>,
    part: &Path,
    patience: Patience,
    watch: Watch<'_>,
) -> Result<(), DownloadError> {
    let failed = |source| DownloadError::Io { path: part.to_owned(), source };
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(part)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(DownloadError::Busy(part.to_owned())),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_resolve(Some(patience.silence))
        .timeout_connect(Some(patience.silence))
        .timeout_recv_response(Some(patience.silence))
        .timeout_per_read(Some(patience.silence))
        .user_agent(concat!("ngcc/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut transfer = Transfer { pinned, part, file: &mut file, agent: &agent, watch };
    let mut fruitless = 0;
    loop {
        let before = transfer.have()?;
        if before == pinned.bytes {
            return transfer.check();
        }
        match transfer.attempt(before)? {
            Attempt::Whole => {}
            Attempt::Broken(why) => {
                let have = transfer.have()?;
                fruitless = if have > before { 0 } else { fruitless + 1 };
                if fruitless >= patience.tries {
                    let (url, tries) = (pinned.url.to_owned(), patience.tries);
                    return Err(DownloadError::Broken { url, why, tries, have });
                }
                std::thread::sleep(patience.pause * 2_u32.pow(fruitless.min(6)));
                if !(transfer.watch)(have) {
                    return Err(DownloadError::Interrupted(have));
                }
            }
        }
    }
}

enum Attempt {
    Whole,
    Broken(String),
}

struct Transfer<'a> {
    pinned: Pinned<'a>,
    part: &'a Path,
    file: &'a mut File,
    agent: &'a ureq::Agent,
    watch: Watch<'a>,
}

impl Transfer<'_> {
    fn failed(&self, source: io::Error) -> DownloadError {
        DownloadError::Io { path: self.part.to_owned(), source }
    }

    /// Bytes in the part file; one that is too long is of another pin and is emptied.
    fn have(&mut self) -> Result<u64, DownloadError> {
        let len = self.file.metadata().map_err(|e| self.failed(e))?.len();
        if len <= self.pinned.bytes {
            return Ok(len);
        }
        self.file.set_len(0).map_err(|e| self.failed(e))?;
        Ok(0)
    }

    /// One request for what is missing.
    fn attempt(&mut self, have: u64) -> Result<Attempt, DownloadError> {
        let url = self.pinned.url;
        let mut request = self.agent.get(url);
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let mut response = match request.call() {
            Ok(response) => response,
            Err(error) => return Ok(Attempt::Broken(error.to_string())),
        };
        let status = response.status();
        let goes_on = response
            .headers()
            .get(header::CONTENT_RANGE)
            .and_then(|v| v.to_str().ok())
            .is_some_and(|v| v.trim_start().starts_with(&format!("bytes {have}-")));
        let start = match status {
            StatusCode::PARTIAL_CONTENT if goes_on => have,
            // The server ignores ranges, or it was the whole that was asked for.
            StatusCode::OK => 0,
            StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PARTIAL_CONTENT if have > 0 => {
                self.file.set_len(0).map_err(|e| self.failed(e))?;
                return Ok(Attempt::Broken(format!("no part from byte {have} ({status})")));
            }
            status
                if status.is_server_error()
                    || status == StatusCode::TOO_MANY_REQUESTS
                    || status == StatusCode::REQUEST_TIMEOUT =>
            {
                return Ok(Attempt::Broken(status.to_string()));
            }
            status => return Err(DownloadError::Status { url: url.to_owned(), status }),
        };
        self.file.set_len(start).map_err(|e| self.failed(e))?;
        self.file.seek(SeekFrom::Start(start)).map_err(|e| self.failed(e))?;
        let mut have = start;
        let mut body = response.body_mut().as_reader();
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            let n = match body.read(&mut buffer) {
                Ok(0) if have < self.pinned.bytes => {
                    let text = format!("it ended after {have} of {} bytes", self.pinned.bytes);
                    return Ok(Attempt::Broken(text));
                }
                Ok(0) => return Ok(Attempt::Whole),
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(Attempt::Broken(error.to_string())),
            };
            have += n as u64;
            if have > self.pinned.bytes {
                self.file.set_len(0).map_err(|e| self.failed(e))?;
                let (url, bytes) = (url.to_owned(), self.pinned.bytes);
                return Err(DownloadError::TooLong { url, bytes });
            }
            self.file.write_all(&buffer[..n]).map_err(|e| self.failed(e))?;
            if !(self.watch)(have) {
                return Err(DownloadError::Interrupted(have));
            }
        }
    }

    /// Hashes the whole; wrong content is dropped.
    fn check(&mut self) -> Result<(), DownloadError> {
        self.file.seek(SeekFrom::Start(0)).map_err(|e| self.failed(e))?;
        let (found, _) = sha256_of(&mut *self.file).map_err(|e| self.failed(e))?;
        if found == self.pinned.sha256 {
            return Ok(());
        }
        self.file.set_len(0).map_err(|e| self.failed(e))?;
        let (url, pinned) = (self.pinned.url.to_owned(), self.pinned.sha256.to_owned());
        Err(DownloadError::Digest { url, found, pinned })
    }
}
