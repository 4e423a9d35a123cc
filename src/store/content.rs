//! Byte strings filed by BLAKE3: put, check, read, lay out.
//!
//! Nothing is ever believed by name alone: reading hashes, and putting bytes that seem to be there already compares
//! them with what is there. So running an action again heals the store. Content that fails the check is moved to
//! `damaged/`, not deleted: it may be samples that took hours and differ in one bit.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{Object, Store, StoreError, session};
use crate::digest::{BlobId, Digest};

/// Files below this size are read whole and only written when they are new.
const SMALL: u64 = 1 << 20;
const BUFFER: usize = 256 * 1024;

/// Why a stream was not filed.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The reader failed.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// There is more of it than was allowed.
    #[error("it is longer than allowed")]
    TooLong,
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Files a byte string.
    ///
    /// # Errors
    /// When it cannot be written; then nothing stands under its name.
    pub fn put_bytes(&self, bytes: &[u8]) -> Result<BlobId, StoreError> {
        let id = BlobId::of(bytes);
        self.put_content(bytes, &self.layout.blob(id))?;
        Ok(id)
    }

    /// Files the bytes of a file, hashing what it copies; returns their length too.
    ///
    /// # Errors
    /// When the file cannot be read or the copy cannot be written.
    pub fn put_file(&self, path: &Path) -> Result<(BlobId, u64), StoreError> {
        let file = File::open(path).map_err(|e| StoreError::io("read", path, e))?;
        self.put_open_file(file, path)
    }

    /// The same for a file already open; the path is for messages.
    pub(super) fn put_open_file(
        &self,
        mut file: File,
        path: &Path,
    ) -> Result<(BlobId, u64), StoreError> {
        self.put_stream(&mut file, u64::MAX, path).map_err(|error| match error {
            PutError::Read(e) => StoreError::io("read", path, e),
            PutError::TooLong => unreachable!("no file is longer than 2^64 bytes"),
            PutError::Store(e) => e,
        })
    }

    /// Files what a reader gives, at most `most` bytes of it; returns the length too. Holds a bounded part of it in
    /// memory. The reader is read to its end, so one that checks itself at its end has done so.
    ///
    /// # Errors
    /// [`PutError::TooLong`] when there is more, as soon as that is known; else what reading or writing failed with.
    /// Then nothing stands under any name.
    pub fn put_reader(&self, reader: &mut dyn Read, most: u64) -> Result<(BlobId, u64), PutError> {
        self.put_stream(reader, most, self.root())
    }

    /// A failure to write names `place`.
    fn put_stream(
        &self,
        reader: &mut dyn Read,
        most: u64,
        place: &Path,
    ) -> Result<(BlobId, u64), PutError> {
        let mut buffer = Vec::new();
        (&mut *reader).take(SMALL).read_to_end(&mut buffer).map_err(PutError::Read)?;
        let mut total = buffer.len() as u64;
        if total > most {
            return Err(PutError::TooLong);
        }
        if total < SMALL {
            return Ok((self.put_bytes(&buffer)?, total));
        }
        let mut temp = self.session.temp_file()?;
        let mut hasher = blake3::Hasher::new();
        let mut filled = buffer.len();
        while filled > 0 {
            hasher.update(&buffer[..filled]);
            temp.write_all(&buffer[..filled], place)?;
            buffer.resize(BUFFER, 0);
            filled = read_some(reader, &mut buffer).map_err(PutError::Read)?;
            total += filled as u64;
            if total > most {
                return Err(PutError::TooLong);
            }
        }
        let id = BlobId(Digest::from_bytes(*hasher.finalize().as_bytes()));
        let place = self.layout.blob(id);
        let there = Digest::of_file(&place).is_ok_and(|(digest, _)| digest == *id.digest());
        if !there {
            temp.place(&place)?;
        }
        self.note_unsynced();
        Ok((id, total))
    }

    /// Puts bytes at a place unless exactly they are there.
    pub(super) fn put_content(&self, bytes: &[u8], place: &Path) -> Result<(), StoreError> {
        if !holds_exactly(place, bytes) {
            self.session.place(bytes, place)?;
        }
        self.note_unsynced();
        Ok(())
    }

    /// Where an unfinished download is kept, by the SHA-256 that it is to have.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn download_path(&self, sha256: &str) -> Result<std::path::PathBuf, StoreError> {
        let dir = self.layout.downloads();
        fs::create_dir_all(&dir).map_err(|e| StoreError::io("create", &dir, e))?;
        Ok(dir.join(format!("{sha256}.part")))
    }

    /// Where a blob's bytes are, for messages that name a log.
    #[must_use]
    pub fn blob_path(&self, id: BlobId) -> std::path::PathBuf {
        self.layout.blob(id)
    }

    /// Whether a file stands under that name. Its content is checked when it is read.
    #[must_use]
    pub fn has_blob(&self, id: BlobId) -> bool {
        let empty = BlobId::of(b"");
        let stat = fs::metadata(self.layout.blob(id));
        stat.is_ok_and(|stat| stat.is_file() && (stat.len() > 0 || id == empty))
    }

    /// The bytes, checked.
    ///
    /// # Errors
    /// [`StoreError::Missing`] and [`StoreError::Damaged`] name the blob.
    pub fn read_blob(&self, id: BlobId) -> Result<Vec<u8>, StoreError> {
        self.read_content(Object::Blob(id), id.digest())
    }

    pub(super) fn read_content(
        &self,
        object: Object,
        digest: &Digest,
    ) -> Result<Vec<u8>, StoreError> {
        let path = self.layout.object(object);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) => return Err(absent(object, &path, e)),
        };
        if Digest::of(&bytes) != *digest {
            self.set_aside(object, digest);
            return Err(StoreError::Damaged(object));
        }
        Ok(bytes)
    }

    /// The bytes as a stream. It is checked at its end only: a reader must reach the end before it believes anything.
    /// Damage shows as an error of kind `InvalidData` whose source is [`StoreError::Damaged`].
    ///
    /// # Errors
    /// [`StoreError::Missing`] when it is not there.
    pub fn open_blob(&self, id: BlobId) -> Result<impl Read + use<'_>, StoreError> {
        let path = self.layout.blob(id);
        let file = File::open(&path).map_err(|e| absent(Object::Blob(id), &path, e))?;
        Ok(CheckedReader { store: self, id, file, hasher: blake3::Hasher::new() })
    }

    /// Writes the bytes to a new file outside the store, which must not exist yet: a copy, never a link, so that
    /// whoever edits it does not edit the store. `executable` becomes its execute bits. Makes missing directories.
    ///
    /// # Errors
    /// As for [`Store::read_blob`]; or when the file exists or cannot be written. Then there is no file.
    pub fn lay_out_blob(&self, id: BlobId, to: &Path, executable: bool) -> Result<(), StoreError> {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(|e| StoreError::io("create", parent, e))?;
        }
        self.copy_out(id, to, executable)
    }

    pub(super) fn copy_out(
        &self,
        id: BlobId,
        to: &Path,
        executable: bool,
    ) -> Result<(), StoreError> {
        let object = Object::Blob(id);
        let from = self.layout.blob(id);
        let mut source = File::open(&from).map_err(|e| absent(object, &from, e))?;
        let mode = if executable { 0o755 } else { 0o644 };
        let unwritable = |e| StoreError::io("write", to, e);
        let mut copy =
            File::options().write(true).create_new(true).mode(mode).open(to).map_err(unwritable)?;
        let mut fill = || -> Result<(), StoreError> {
            let len = source.metadata().map_err(|e| StoreError::io("read", &from, e))?.len();
            let mut buffer = vec![0_u8; usize::try_from(len + 1).unwrap_or(BUFFER).min(BUFFER)];
            let mut hasher = blake3::Hasher::new();
            loop {
                let n = read_some(&mut source, &mut buffer)
                    .map_err(|e| StoreError::io("read", &from, e))?;
                if n == 0 {
                    break;
                }
                hasher.update(&buffer[..n]);
                copy.write_all(&buffer[..n]).map_err(unwritable)?;
            }
            if hasher.finalize().as_bytes() != id.digest().as_bytes() {
                self.set_aside(object, id.digest());
                return Err(StoreError::Damaged(object));
            }
            // The caller's umask must not show in what an action sees.
            copy.set_permissions(fs::Permissions::from_mode(mode)).map_err(unwritable)
        };
        fill().inspect_err(|_| {
            let _ = fs::remove_file(to);
        })
    }

    /// Moves damaged content to `damaged/`. Looks at it once more after the move: between the failed check and the
    /// move another process may have put it right.
    pub(super) fn set_aside(&self, object: Object, digest: &Digest) {
        let place = self.layout.object(object);
        let aside = self.session.unused_path();
        if fs::rename(&place, &aside).is_err() {
            return;
        }
        let good = Digest::of_file(&aside).is_ok_and(|(found, _)| found == *digest);
        let goal = if good {
            place
        } else {
            let word = object.to_string();
            let word = word.split(' ').next().unwrap_or_default();
            self.layout.damaged().join(format!("{word}-{digest}.{}", self.session.name()))
        };
        let _ = session::rename(&aside, &goal);
    }
}

/// Reads on interruption again; 0 is the end.
fn read_some(file: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Whether a file holds exactly these bytes.
fn holds_exactly(path: &Path, bytes: &[u8]) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    if !file.metadata().is_ok_and(|stat| stat.len() == bytes.len() as u64) {
        return false;
    }
    let mut buffer = vec![0_u8; bytes.len().min(BUFFER)];
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = rest.len().min(buffer.len());
        if file.read_exact(&mut buffer[..n]).is_err() || buffer[..n] != rest[..n] {
            return false;
        }
        rest = &rest[n..];
    }
    true
}

pub(super) fn absent(object: Object, path: &Path, error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::NotFound {
        StoreError::Missing(object)
    } else {
        StoreError::io("read", path, error)
    }
}

/// Hashes what passes through and compares at the end.
struct CheckedReader<'s> {
    store: &'s Store,
    id: BlobId,
    file: File,
    hasher: blake3::Hasher,
}

impl Read for CheckedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        if n == 0
            && !buffer.is_empty()
            && self.hasher.finalize().as_bytes() != self.id.digest().as_bytes()
        {
            let object = Object::Blob(self.id);
            self.store.set_aside(object, self.id.digest());
            return Err(io::Error::new(io::ErrorKind::InvalidData, StoreError::Damaged(object)));
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        (dir, store)
    }

    /// Overwrites stored bytes in place, as bit rot would.
    fn spoil(store: &Store, id: BlobId, bytes: &[u8]) {
        let path = store.layout.blob(id);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn what_was_put_is_read_back() {
        let (dir, store) = store();
        for bytes in [&b""[..], b"x", &vec![7; 3 << 20]] {
            let id = store.put_bytes(bytes).unwrap();
            assert!(store.has_blob(id));
            assert_eq!(store.read_blob(id).unwrap(), bytes);
            let file = dir.path().join("file");
            fs::write(&file, bytes).unwrap();
            assert_eq!(store.put_file(&file).unwrap(), (id, bytes.len() as u64));
            let mut streamed = Vec::new();
            store.open_blob(id).unwrap().read_to_end(&mut streamed).unwrap();
            assert_eq!(streamed, bytes);
        }
        assert_eq!(fs::read_dir(store.root().join("damaged")).unwrap().count(), 0);
    }

    #[test]
    fn damaged_bytes_are_never_served_and_putting_them_again_heals() {
        let (dir, store) = store();
        let good = b"sample 1\nsample 2\n";
        for bad in [&b""[..], b"sample 1\nsample 3\n", b"sample 1\n"] {
            let id = store.put_bytes(good).unwrap();
            spoil(&store, id, bad);
            assert_eq!(store.has_blob(id), !bad.is_empty());
            let error = store.read_blob(id).unwrap_err();
            assert!(error.is_lost_content() && error.to_string().contains(&id.to_string()));
            assert!(matches!(store.read_blob(id), Err(StoreError::Missing(_))), "set aside");

            store.put_bytes(good).unwrap();
            spoil(&store, id, bad);
            let error = io::copy(&mut store.open_blob(id).unwrap(), &mut io::sink()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);

            store.put_bytes(good).unwrap();
            spoil(&store, id, bad);
            let copy = dir.path().join("copy");
            assert!(store.lay_out_blob(id, &copy, false).unwrap_err().is_lost_content());
            assert!(!copy.exists());

            store.put_bytes(good).unwrap();
            spoil(&store, id, bad);
            store.put_bytes(good).unwrap();
            assert_eq!(store.read_blob(id).unwrap(), good);
        }
        assert!(fs::read_dir(store.root().join("damaged")).unwrap().count() > 0);
    }

    #[test]
    fn a_big_damaged_blob_is_healed_by_putting_the_file_again() {
        let (dir, store) = store();
        let file = dir.path().join("big");
        fs::write(&file, vec![1; 2 << 20]).unwrap();
        let (id, _) = store.put_file(&file).unwrap();
        spoil(&store, id, &vec![2; 2 << 20]);
        store.put_file(&file).unwrap();
        assert_eq!(store.read_blob(id).unwrap(), vec![1; 2 << 20]);
    }

    #[test]
    fn a_stream_is_filed_up_to_the_given_length_and_a_longer_one_is_not() {
        let (_dir, store) = store();
        for len in [0, 1, SMALL - 1, SMALL, SMALL + 1, 3 * SMALL] {
            let bytes = || io::repeat(5).take(len);
            let (id, filed) = store.put_reader(&mut bytes(), len).unwrap();
            assert_eq!(filed, len);
            assert_eq!(store.read_blob(id).unwrap().len() as u64, len);
            if len > 0 {
                let error = store.put_reader(&mut bytes(), len - 1).unwrap_err();
                assert!(matches!(error, PutError::TooLong), "{error}");
            }
        }
        // A stream without end is given up soon.
        assert!(matches!(store.put_reader(&mut io::repeat(1), 9), Err(PutError::TooLong)));
        let half = &mut io::repeat(6).take(2 * SMALL).chain(Broken);
        assert!(matches!(store.put_reader(half, u64::MAX), Err(PutError::Read(_))));
        let own = store.session.unused_path();
        let left = fs::read_dir(own.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "only `alive` is left of what was written aside");
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }

    #[test]
    fn a_laid_out_file_can_be_edited_without_touching_the_store() {
        let (dir, store) = store();
        let id = store.put_bytes(b"original").unwrap();
        let copy = dir.path().join("a b/资料.sh");
        store.lay_out_blob(id, &copy, true).unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
        fs::write(&copy, "edited").unwrap();
        assert_eq!(store.read_blob(id).unwrap(), b"original");
        let again = store.lay_out_blob(id, &copy, true).unwrap_err();
        assert!(matches!(again, StoreError::Io { .. }));
        assert_eq!(fs::read(&copy).unwrap(), b"edited");
    }

    #[test]
    fn many_threads_putting_the_same_and_different_bytes_agree() {
        let (_dir, store) = store();
        let ids: Vec<Vec<BlobId>> = std::thread::scope(|scope| {
            let put = |_| {
                scope.spawn(|| {
                    (0..50_u8).map(|n| store.put_bytes(&[n; 100]).unwrap()).collect::<Vec<_>>()
                })
            };
            let threads: Vec<_> = (0..4).map(put).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.windows(2).all(|pair| pair[0] == pair[1]));
        for (n, id) in (0_u8..).zip(&ids[0]) {
            assert_eq!(store.read_blob(*id).unwrap(), [n; 100]);
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]
        #[test]
        fn any_bytes_put_by_two_writers_come_back(
            values in proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..20), 1..12),
        ) {
            let (_dir, store) = store();
            std::thread::scope(|scope| {
                scope.spawn(|| values.iter().for_each(|v| { store.put_bytes(v).unwrap(); }));
                scope.spawn(|| values.iter().rev().for_each(|v| { store.put_bytes(v).unwrap(); }));
            });
            for value in &values {
                proptest::prop_assert_eq!(&store.read_blob(BlobId::of(value)).unwrap(), value);
            }
        }
    }
}
