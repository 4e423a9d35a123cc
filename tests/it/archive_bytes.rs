//! Archives byte by byte, so that every malformation can be made. Independent of the code under test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::Write as _;

/// An entry of a ZIP. The fields that lie are set by the tests.
#[derive(Clone)]
pub(crate) struct ZipFile {
    pub(crate) name: Vec<u8>,
    /// Another name in the local header.
    pub(crate) local_name: Option<Vec<u8>>,
    pub(crate) data: Vec<u8>,
    /// As it stands in the archive; made from `data` when not given.
    pub(crate) packed: Option<Vec<u8>>,
    pub(crate) method: u16,
    pub(crate) local_method: Option<u16>,
    pub(crate) flags: u16,
    pub(crate) crc: Option<u32>,
    /// The length in both headers.
    pub(crate) len: Option<u32>,
    pub(crate) local_len: Option<u32>,
    /// Unix mode; else made on DOS.
    pub(crate) mode: Option<u32>,
    pub(crate) extra: Vec<u8>,
}

impl ZipFile {
    pub(crate) fn new(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            local_name: None,
            data: data.as_ref().to_vec(),
            packed: None,
            method: 8,
            local_method: None,
            flags: 0,
            crc: None,
            len: None,
            local_len: None,
            mode: None,
            extra: Vec::new(),
        }
    }

    pub(crate) fn stored(mut self) -> Self {
        self.method = 0;
        self
    }

    pub(crate) fn mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode);
        self
    }

    fn packed(&self) -> Vec<u8> {
        match (&self.packed, self.method) {
            (Some(packed), _) => packed.clone(),
            (None, 8) => deflate(&self.data),
            _ => self.data.clone(),
        }
    }

    fn crc(&self) -> u32 {
        self.crc.unwrap_or_else(|| crc32(&self.data))
    }

    fn len(&self) -> u32 {
        self.len.unwrap_or_else(|| u32::try_from(self.data.len()).unwrap())
    }

    /// Local header and data.
    pub(crate) fn local(&self) -> Vec<u8> {
        let packed = self.packed();
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let mut bytes = b"PK\x03\x04\x14\0".to_vec();
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.local_method.unwrap_or(self.method).to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.crc().to_le_bytes());
        bytes.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
        bytes.extend(self.local_len.unwrap_or_else(|| self.len()).to_le_bytes());
        bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend([0; 2]);
        bytes.extend(name);
        bytes.extend(packed);
        bytes
    }

    /// Entry of the central directory.
    pub(crate) fn central(&self, offset: u32) -> Vec<u8> {
        let mut bytes = b"PK\x01\x02\x14".to_vec();
        bytes.extend([if self.mode.is_some() { 3 } else { 0 }, 20, 0]);
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.method.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.crc().to_le_bytes());
        bytes.extend(u32::try_from(self.packed().len()).unwrap().to_le_bytes());
        bytes.extend(self.len().to_le_bytes());
        bytes.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        bytes.extend(u16::try_from(self.extra.len()).unwrap().to_le_bytes());
        bytes.extend([0; 6]);
        bytes.extend((self.mode.unwrap_or_default() << 16).to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend(&self.name);
        bytes.extend(&self.extra);
        bytes
    }
}

/// Body, central directory and end record.
pub(crate) fn zip_of(body: &[u8], central: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = body.to_vec();
    let at = u32::try_from(bytes.len()).unwrap();
    bytes.extend(central.concat());
    let len = u32::try_from(bytes.len()).unwrap() - at;
    let count = u16::try_from(central.len()).unwrap().to_le_bytes();
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count);
    bytes.extend(count);
    bytes.extend(len.to_le_bytes());
    bytes.extend(at.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

pub(crate) fn zip(files: &[ZipFile]) -> Vec<u8> {
    let (mut body, mut central) = (Vec::new(), Vec::new());
    for file in files {
        central.push(file.central(u32::try_from(body.len()).unwrap()));
        body.extend(file.local());
    }
    zip_of(&body, &central)
}

/// Info-ZIP's Unicode name for an entry.
pub(crate) fn unicode_extra(raw: &[u8], name: &str) -> Vec<u8> {
    let mut bytes = vec![0x75, 0x70];
    bytes.extend(u16::try_from(5 + name.len()).unwrap().to_le_bytes());
    bytes.push(1);
    bytes.extend(crc32(raw).to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes
}

/// One tar entry: header, data, padding.
pub(crate) fn tar_entry(name: &[u8], kind: u8, target: &[u8], data: &[u8]) -> Vec<u8> {
    let mut header = tar_header(name, kind, target, data.len() as u64);
    header.extend(data);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

/// A header with its checksum.
pub(crate) fn tar_header(name: &[u8], kind: u8, target: &[u8], len: u64) -> Vec<u8> {
    let mut header = vec![0_u8; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..108].copy_from_slice(b"0000755\0");
    header[124..136].copy_from_slice(format!("{len:011o}\0").as_bytes());
    header[156] = kind;
    header[157..157 + target.len()].copy_from_slice(target);
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|b| u32::from(*b)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

pub(crate) fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = entries.concat();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// Fields of a POSIX header.
pub(crate) fn pax(fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in fields {
        let rest = key.len() + value.len() + 3;
        let len = (rest + 1..).find(|len| rest + len.to_string().len() == *len).unwrap();
        bytes.extend(format!("{len} {key}=").as_bytes());
        bytes.extend(*value);
        bytes.push(b'\n');
    }
    tar_entry(b"pax", b'x', b"", &bytes)
}

pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::default();
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::default();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn crc32(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}
