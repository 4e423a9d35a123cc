//! Prints rows, aligned, or as one JSON document.
//!
//! Prints what was measured and nothing else: a row without figures says why, and a ratio stands only where both of
//! its figures do.

use std::fmt::Write as _;
use std::time::Duration;

use crate::contest::Row;

/// The program that the others are compared with.
const YARDSTICK: &str = "ninja";

/// The figures as lines of text.
pub(crate) fn text(rows: &[Row]) -> String {
    const HEAD: [&str; 10] = [
        "case", "graph", "program", "median", "shortest", "longest", "CPU", "peak", "to ninja",
        "load",
    ];
    let mut lines = vec![HEAD.map(str::to_owned)];
    let mut below = Vec::new();
    for row in rows {
        let place = [&row.case, &row.graph, &row.who].map(String::clone);
        if let (None, Some(wall), Some((low, high))) = (&row.missing, row.wall(), row.range()) {
            let [case, graph, who] = place;
            let peak = row.peak_kib.map_or_else(|| "–".to_owned(), mebibytes);
            let cpu = row.cpu().map_or_else(|| "–".to_owned(), millis);
            let ratio = ratio(rows, row).map_or_else(String::new, |r| format!("{r:.2}"));
            let load = row.load.clone();
            lines.push([
                case,
                graph,
                who,
                millis(wall),
                millis(low),
                millis(high),
                cpu,
                peak,
                ratio,
                load,
            ]);
        }
        let place = format!("{}, {}, {}", row.case, row.graph, row.who);
        below.extend(row.missing.iter().chain(&row.note).map(|text| format!("{place}: {text}")));
    }
    let width = |column: usize| lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    let mut last = "";
    for line in &lines {
        if !last.is_empty() && last != line[0] {
            text.push('\n');
        }
        last = &line[0];
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = match column {
                0..=2 => write!(text, "{cell:<width$}  "),
                _ => write!(text, "{cell:>width$}  "),
            };
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    if !below.is_empty() {
        let _ = writeln!(text, "\n{}", below.join("\n"));
    }
    text
}

/// Wall time in units of the yardstick's, in the same case on the same graph.
fn ratio(rows: &[Row], row: &Row) -> Option<f64> {
    let same = |other: &&Row| {
        other.who.split(' ').next() == Some(YARDSTICK)
            && (&other.case, &other.graph) == (&row.case, &row.graph)
    };
    let other = rows.iter().find(same)?.wall()?;
    Some(row.wall()?.as_secs_f64() / other.as_secs_f64())
}

fn millis(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 100.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

#[expect(clippy::cast_precision_loss, reason = "a display of memory in MiB")]
fn mebibytes(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}

/// Everything as one document.
pub(crate) fn json(head: &serde_json::Value, rows: &[Row]) -> String {
    let document = serde_json::json!({ "machine": head, "rows": rows });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}
