//! One input as several files.

/// The pieces of an input between lines `%%%`.
pub fn pieces(input: &[u8]) -> Vec<&[u8]> {
    const BETWEEN: &[u8] = b"\n%%%\n";
    let mut pieces = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
        pieces.push(&rest[..at]);
        rest = &rest[at + BETWEEN.len()..];
    }
    pieces.push(rest);
    pieces
}
