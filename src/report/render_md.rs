//! A page as Markdown (GitHub's dialect): tables that line up in a text editor, too.
//!
//! Everything is escaped: a name with a bar, a bracket or a line break stays one cell of one row. A record that several
//! cells of a row come from is linked once, at the first of them.

use super::doc::{Align, Block, Cell, Doc, Face, Table, visible};

/// Renders a page.
pub(super) fn render(doc: &Doc) -> String {
    let mut blocks = Vec::new();
    if !doc.trail.is_empty() {
        blocks.push(line(&doc.trail));
    }
    blocks.push(format!("# {}", escape(&doc.title)));
    blocks.extend(doc.lead.iter().map(|l| line(l)));
    for section in &doc.sections {
        blocks.push(format!("## {}", escape(&section.title)));
        for block in &section.blocks {
            blocks.push(match block {
                Block::Paragraph(cells) => line(cells),
                Block::List(items) => {
                    let items: Vec<String> =
                        items.iter().map(|i| format!("- {}", line(i))).collect();
                    items.join("\n")
                }
                Block::Table(table) => self::table(table),
            });
        }
    }
    blocks.push("---".to_owned());
    blocks.push(line(&doc.footer));
    blocks.join("\n\n") + "\n"
}

/// A paragraph on one line.
fn line(cells: &[Cell]) -> String {
    let text: String = cells.iter().map(|c| inline(c, c.link.as_deref())).collect();
    protect_start(text)
}

/// Keeps a paragraph from starting like a heading, a list, a quotation or a rule.
fn protect_start(text: String) -> String {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let numbered = digits > 0 && text[digits..].starts_with(['.', ')']);
    if numbered {
        format!("{}\\{}", &text[..digits], &text[digits..])
    } else if text.starts_with(['#', '+', '-', '=', '>']) {
        format!("\\{text}")
    } else {
        text
    }
}

/// A table with padded columns.
fn table(table: &Table) -> String {
    let header: Vec<String> = table.columns.iter().map(|c| escape(&c.title)).collect();
    let mut rows = vec![header];
    rows.extend(table.rows.iter().map(|row| row_texts(row)));
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|r| r.get(column));
        cells.map(|c| c.chars().count()).max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&table.columns).zip(&widths);
            let padded: Vec<String> = cells
                .map(|((text, column), width)| match column.align {
                    Align::Left => format!("{text:<width$}"),
                    Align::Right => format!("{text:>width$}"),
                })
                .collect();
            format!("| {} |", padded.join(" | "))
        })
        .collect();
    let rules = table.columns.iter().zip(&widths).map(|(column, width)| match column.align {
        Align::Left => "-".repeat(*width),
        Align::Right => format!("{}:", "-".repeat(width - 1)),
    });
    lines.insert(1, format!("| {} |", rules.collect::<Vec<_>>().join(" | ")));
    lines.join("\n")
}

/// The cells of a row; a target is linked once.
fn row_texts(row: &[Cell]) -> Vec<String> {
    let mut linked: Vec<&str> = Vec::new();
    row.iter()
        .map(|cell| {
            let link = cell.link.as_deref().filter(|l| !linked.contains(l));
            linked.extend(link);
            inline(cell, link)
        })
        .collect()
}

/// A run of text.
fn inline(cell: &Cell, link: Option<&str>) -> String {
    let text = match cell.face {
        Face::Plain => escape(&cell.text),
        Face::Strong => format!("**{}**", escape(&cell.text)),
        Face::Code => code(&cell.text),
    };
    match link {
        Some(link) => format!("[{text}](<{}>)", target(link)),
        None => text,
    }
}

/// A code span that may hold backticks. A bar has to be escaped even in there, since cells are split first.
fn code(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

/// A link target between angle brackets.
fn target(link: &str) -> String {
    let mut out = String::new();
    // Pages lie beside each other in every format; whoever reads Markdown stays in it.
    let link = match link.strip_suffix("index.html") {
        Some(head) if !link.contains("://") => format!("{head}index.md"),
        _ => link.to_owned(),
    };
    for c in link.chars() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '|' => out.push_str("%7C"),
            '\\' => out.push_str("%5C"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Plain text that Markdown leaves alone. An underscore inside a word is left as it is, for the reader's sake.
fn escape(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = before.is_alphanumeric() && rest.peek().is_some_and(|n| n.is_alphanumeric());
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            '_' if !in_word => out.push_str("\\_"),
            c => out.push(c),
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::doc::words;

    #[test]
    fn hostile_names_stay_in_their_cell() {
        assert_eq!(
            escape("a|b<c>\n*d* [e](f) `g` x86_1 _h_"),
            "a\\|b&lt;c&gt; \\*d\\* \\[e\\](f) \\`g\\` x86_1 \\_h\\_"
        );
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(line(&[Cell::text("1. x")]), "1\\. x");
        assert_eq!(line(&[Cell::text("# x")]), "\\# x");
        assert_eq!(line(&[Cell::text("83% x")]), "83% x");
    }

    #[test]
    fn a_record_is_linked_once_in_a_row() {
        let row = [Cell::text("1").to(Some("a b")), Cell::text("2").to(Some("a b"))];
        assert_eq!(row_texts(&row), ["[1](<a b>)", "2"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_one_line_with_the_bars_of_its_table(a in any::<String>(), b in any::<String>()) {
            let mut t = Table::new(vec![words("x"), words("y")]);
            t.rows.push(vec![Cell::text(a), Cell::code(b.clone()).to(Some(&b))]);
            let text = table(&t);
            prop_assert_eq!(text.lines().count(), 3);
            let mut bars = 0;
            let mut escaped = false;
            for c in text.lines().nth(2).unwrap().chars() {
                bars += usize::from(c == '|' && !escaped);
                // In a code span a backslash before a backslash does not count, but the splitter looks one back only.
                escaped = c == '\\';
            }
            prop_assert_eq!(bars, 3);
        }
    }
}
