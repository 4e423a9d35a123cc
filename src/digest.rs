//! Content identity: BLAKE3 digests, typed ids over them, and the one framed encoding that becomes a key.
//!
//! Knows nothing of what is hashed. A key is only ever made by [`KeyWriter`], and the text of `ngcc why` only by
//! [`KeyText`]; both read the same [`Encode`] implementation, so key and explanation cannot disagree.
//! Every field is framed (name length, name, value length, value), so `["ab","c"]` and `["a","bc"]` differ.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use crate::big_file;

/// Version of the key encoding; part of every key. Changing the encoding means raising it in the same commit.
pub const KEY_VERSION: u32 = 1;

/// A 256-bit BLAKE3 digest. Its text form is 64 lower-case hex digits and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Wraps 32 raw bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Hashes a byte string.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Hashes a stream to its end; returns the digest and the number of bytes.
    ///
    /// # Errors
    /// Whatever reading fails with.
    pub fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0_u8; 64 * 1024];
        let mut total = 0_u64;
        loop {
            let n = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            hasher.update(&buffer[..n]);
            total += n as u64;
        }
        Ok((Self(*hasher.finalize().as_bytes()), total))
    }

    /// Hashes a file, a big one by several threads.
    ///
    /// # Errors
    /// Whatever opening or reading the file fails with.
    pub fn of_file(path: &Path) -> io::Result<(Self, u64)> {
        Self::of_open_file(&std::fs::File::open(path)?)
    }

    /// Hashes a file from its start.
    ///
    /// # Errors
    /// Whatever reading the file fails with.
    pub fn of_open_file(file: &std::fs::File) -> io::Result<(Self, u64)> {
        let len = file.metadata()?.len();
        if len >= big_file::BIG
            && let Some(hash) = big_file::hash(file, len)?
        {
            return Ok((Self(*hash.as_bytes()), len));
        }
        // A small file is read in one go, without a buffer larger than itself.
        if len < 64 * 1024 {
            let mut bytes = Vec::with_capacity(usize::try_from(len + 1).unwrap_or(0));
            let mut file = file;
            file.read_to_end(&mut bytes)?;
            return Ok((Self::of(&bytes), bytes.len() as u64));
        }
        Self::of_reader(file)
    }

    /// The first twelve hex digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: 64 lower-case hex digits expected")]
pub struct BadDigest(pub String);

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let bad = || BadDigest(text.chars().take(80).collect());
        if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(bad());
        }
        blake3::Hash::from_hex(text).map(|h| Self(*h.as_bytes())).map_err(|_| bad())
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Makes a newtype over [`Digest`]; there is no conversion from one kind of id to another.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Digest);

        impl $name {
            /// The digest behind the id.
            #[must_use]
            pub const fn digest(&self) -> &Digest {
                &self.0
            }

            /// The first twelve hex digits, for people.
            #[must_use]
            pub fn short(&self) -> String {
                self.0.short()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0.short())
            }
        }

        impl FromStr for $name {
            type Err = BadDigest;

            fn from_str(text: &str) -> Result<Self, BadDigest> {
                text.parse().map(Self)
            }
        }
    };
}

id_type!(
    /// Names a byte string in the store.
    BlobId
);
id_type!(
    /// Names a directory tree in the store (digest of its canonical listing).
    TreeId
);
id_type!(
    /// Names everything an action's result may depend on.
    ActionKey
);
id_type!(
    /// Names a measuring system by its identity fields.
    SystemId
);

impl BlobId {
    /// The id of a byte string.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Digest::of(bytes))
    }
}

/// Receives the fields of a value, in order. Implemented by [`KeyWriter`] (a digest) and [`KeyText`] (for people).
pub trait Sink {
    /// One named field.
    fn field(&mut self, name: &str, value: &[u8]);
    /// A group of `count` entries follows; framed by the count, closed by [`Sink::close`].
    fn open(&mut self, name: &str, count: usize);
    /// The group last opened is complete.
    fn close(&mut self);
}

/// A value that enters keys.
pub trait Encode {
    /// Sends every field that can change a result.
    fn encode(&self, sink: &mut dyn Sink);
}

/// The only way to a key: BLAKE3 in derive-key mode over the framed fields.
#[derive(Debug)]
pub struct KeyWriter(blake3::Hasher);

impl KeyWriter {
    /// A writer for one kind of value; the domain keeps kinds apart, its number is [`KEY_VERSION`].
    #[must_use]
    pub fn new(domain: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("ngcc key 2026-11");
        hasher.update(&KEY_VERSION.to_le_bytes());
        let mut writer = Self(hasher);
        writer.frame(domain.as_bytes());
        writer
    }

    /// The key of one value.
    #[must_use]
    pub fn key(domain: &str, value: &dyn Encode) -> Digest {
        let mut writer = Self::new(domain);
        value.encode(&mut writer);
        writer.finish()
    }

    /// The digest of everything written.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }

    fn frame(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

impl Sink for KeyWriter {
    fn field(&mut self, name: &str, value: &[u8]) {
        self.0.update(&[1]);
        self.frame(name.as_bytes());
        self.frame(value);
    }

    fn open(&mut self, name: &str, count: usize) {
        self.0.update(&[2]);
        self.frame(name.as_bytes());
        self.0.update(&(count as u64).to_le_bytes());
    }

    fn close(&mut self) {
        self.0.update(&[3]);
    }
}

/// The same fields as `path = value` lines, for `ngcc why` and for the record.
#[derive(Debug, Default)]
pub struct KeyText {
    path: Vec<String>,
    lines: Vec<(String, String)>,
}

impl KeyText {
    /// The fields of a value, in encoding order.
    #[must_use]
    pub fn of(value: &dyn Encode) -> Vec<(String, String)> {
        let mut text = Self::default();
        value.encode(&mut text);
        text.lines
    }
}

impl Sink for KeyText {
    fn field(&mut self, name: &str, value: &[u8]) {
        let mut path = self.path.join(" ");
        if !path.is_empty() {
            path.push(' ');
        }
        path.push_str(name);
        self.lines.push((path, String::from_utf8_lossy(value).into_owned()));
    }

    fn open(&mut self, name: &str, _count: usize) {
        self.path.push(name.to_owned());
    }

    fn close(&mut self) {
        self.path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fields(Vec<(&'static str, &'static str)>);

    impl Encode for Fields {
        fn encode(&self, sink: &mut dyn Sink) {
            sink.open("fields", self.0.len());
            for (name, value) in &self.0 {
                sink.field(name, value.as_bytes());
            }
            sink.close();
        }
    }

    fn key(fields: &[(&'static str, &'static str)]) -> Digest {
        KeyWriter::key("test", &Fields(fields.to_vec()))
    }

    #[test]
    fn the_key_encoding_is_pinned() {
        // Raise KEY_VERSION in the commit that changes this value.
        assert_eq!(
            key(&[("a", "b")]).to_string(),
            "1641296e464a89bbbfd7ef922f3541903b8b14b9634f13246e4230e509e50048"
        );
    }

    #[test]
    fn moving_a_byte_between_fields_changes_the_key() {
        assert_ne!(key(&[("x", "ab"), ("x", "c")]), key(&[("x", "a"), ("x", "bc")]));
        assert_ne!(key(&[("xa", "b")]), key(&[("x", "ab")]));
        assert_ne!(key(&[("x", "")]), key(&[]));
    }

    #[test]
    fn text_and_key_list_the_same_fields() {
        let text = KeyText::of(&Fields(vec![("a", "1"), ("b", "2")]));
        assert_eq!(text, [("fields a".into(), "1".into()), ("fields b".into(), "2".into())]);
    }

    #[test]
    fn only_64_lower_case_hex_digits_are_a_digest() {
        let digest = Digest::of(b"x");
        assert_eq!(digest.to_string().parse::<Digest>(), Ok(digest));
        assert!(digest.to_string().to_uppercase().parse::<Digest>().is_err());
        assert!("".parse::<Digest>().is_err());
    }

    #[test]
    fn a_big_file_hashes_like_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("big");
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| i.to_le_bytes()[1]).collect();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Digest::of_file(&path).unwrap(), (Digest::of(&bytes), 3_000_000));
    }
}
