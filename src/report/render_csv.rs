//! Figures as CSV (RFC 4180, UTF-8, LF): one row per instance and operation, columns from [`super::columns`].
//!
//! An empty field is a value that does not exist; the column `state` says why. Numbers are written so that reading them
//! gives the same bits.

use super::columns::{COLUMNS, Value};
use super::figures::Figure;
use super::index::sorted;
use super::input::{IndexInput, PageInput};

/// The figures of one page.
pub(super) fn figures(input: &PageInput, figures: &[Figure<'_>]) -> String {
    let mut lines = vec![COLUMNS.map(|c| c.name.to_owned()).join(",")];
    for figure in figures {
        let fields = COLUMNS.map(|column| {
            field(&match (column.value)(input, figure) {
                Value::Text(text) => text,
                Value::Whole(number) => number.to_string(),
                Value::Real(number) => format!("{number:?}"),
                Value::None => String::new(),
            })
        });
        lines.push(fields.join(","));
    }
    lines.join("\n") + "\n"
}

/// The submissions of a run.
pub(super) fn index(input: &IndexInput) -> String {
    let mut lines = vec![
        "id,name,function,implementations,instances,kat,timed,timing_failed,findings,\
         expected_findings,unavailable,page"
            .to_owned(),
    ];
    for row in sorted(input) {
        let kat: Vec<String> = row.kat.iter().map(|(status, n)| format!("{status} {n}")).collect();
        let fields = [
            row.id.clone(),
            row.name.clone(),
            row.function.words().to_owned(),
            row.implementations.join(";"),
            row.instances.to_string(),
            kat.join(";"),
            row.timed.to_string(),
            row.timing_failed.to_string(),
            row.findings.to_string(),
            row.expected_findings.to_string(),
            row.unavailable.clone(),
            row.href.clone().unwrap_or_default(),
        ];
        lines.push(fields.map(|f| field(&f)).join(","));
    }
    lines.join("\n") + "\n"
}

/// A field, quoted where it has to be.
fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_only_where_they_have_to_be() {
        assert_eq!(field("drng 2, pseudoXOF 3"), "\"drng 2, pseudoXOF 3\"");
        assert_eq!(field("a\"b\nc"), "\"a\"\"b\nc\"");
        assert_eq!(field("5.81 M"), "5.81 M");
    }
}
