//! Times, byte counts and digests as people write them in the three file kinds: `1 s`, `64 MiB`, 64 hex digits.
//!
//! Knows nothing of where they stand. A number without a unit is refused: a reader of the file must not have to guess.

use std::time::Duration;

const TIMES: [(&str, u64); 5] =
    [("us", 1), ("ms", 1000), ("s", 1_000_000), ("min", 60_000_000), ("h", 3_600_000_000)];

const BYTES: [(&str, u64); 8] = [
    ("B", 1),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KB", 1000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Why a text is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum QuantityError {
    /// No number, or one that is not understood.
    #[error("`{text}` is not {wanted}: a number and a unit ({units}) are expected")]
    Form { text: String, wanted: &'static str, units: String },
    /// A number alone.
    #[error("`{text}` has no unit: one of {units} is expected")]
    NoUnit { text: String, units: String },
    /// A unit that does not exist.
    #[error("there is no unit `{unit}`: one of {units} is expected")]
    Unit { unit: String, units: String },
    /// Zero, less than the smallest step, or more than fits.
    #[error("`{text}` is out of range")]
    Range { text: String },
    /// Not a digest.
    #[error(
        "`{0}` is not a SHA-256 digest: 64 lower-case hex digits are expected, {1} characters found"
    )]
    Digest(String, usize),
}

/// A time that is not zero.
pub(super) fn duration(text: &str) -> Result<Duration, QuantityError> {
    quantity(text, "a time", &TIMES).map(Duration::from_micros)
}

/// A number of bytes that is not zero.
pub(super) fn bytes(text: &str) -> Result<u64, QuantityError> {
    quantity(text, "a number of bytes", &BYTES)
}

/// 64 lower-case hex digits.
pub(super) fn sha256(text: &str) -> Result<&str, QuantityError> {
    match text.parse::<crate::digest::Digest>() {
        Ok(_) => Ok(text),
        Err(bad) => Err(QuantityError::Digest(bad.0, text.chars().count())),
    }
}

/// Whole numbers and decimals, in exact arithmetic: no float decides a time limit.
fn quantity(text: &str, wanted: &'static str, units: &[(&str, u64)]) -> Result<u64, QuantityError> {
    let names = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let form = || QuantityError::Form { text: text.to_owned(), wanted, units: names() };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |s: &str| !s.is_empty() && s.len() <= 15 && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(form());
    }
    if unit.is_empty() {
        return Err(QuantityError::NoUnit { text: text.to_owned(), units: names() });
    }
    let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(QuantityError::Unit { unit: unit.to_owned(), units: names() });
    };
    let (whole, part): (u128, u128) = match (whole.parse(), fraction.parse()) {
        (Ok(whole), Ok(part)) => (whole, part),
        _ => return Err(form()),
    };
    let scale = fraction.chars().fold(1_u128, |scale, _| scale * 10);
    let total = whole * u128::from(factor) + part * u128::from(factor) / scale;
    match u64::try_from(total) {
        Ok(total) if total > 0 => Ok(total),
        _ => Err(QuantityError::Range { text: text.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_bytes_are_read_with_and_without_a_blank() {
        assert_eq!(duration("1 s"), Ok(Duration::from_secs(1)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5 min"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("6 h"), Ok(Duration::from_secs(21_600)));
        assert_eq!(bytes("64 MiB"), Ok(64 << 20));
        assert_eq!(bytes("10 MB"), Ok(10_000_000));
        assert_eq!(bytes("0.5 KiB"), Ok(512));
    }

    #[test]
    fn what_is_no_quantity_says_which_units_there_are() {
        let error = |text| duration(text).unwrap_err().to_string();
        assert_eq!(error("15"), "`15` has no unit: one of us, ms, s, min, h is expected");
        assert_eq!(error("1 sec"), "there is no unit `sec`: one of us, ms, s, min, h is expected");
        assert!(error("soon").contains("is not a time"));
        assert!(error("-1 s").contains("is not a time"));
        assert!(error("1.2.3 s").contains("is not a time"));
        assert!(error("0 s").contains("out of range"));
        assert!(error("999999999999999 h").contains("out of range"));
        assert!(bytes("1 mib").is_err());
    }
}
