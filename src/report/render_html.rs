//! A page as one HTML file: no script, no network, light and dark, readable on a phone and on paper.
//!
//! The template escapes everything (its name ends in `.html`); links were checked when the cell was made.

use super::doc::{Doc, visible};

/// The template, part of the program.
const TEMPLATE: &str = include_str!("page.html");

/// Renders a page.
pub(super) fn render(doc: &Doc) -> String {
    let mut environment = minijinja::Environment::new();
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            let text = visible(text);
            escape(&text).try_for_each(|part| out.write_str(part)).map_err(minijinja::Error::from)
        }
        _ => minijinja::escape_formatter(out, state, value),
    });
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    let syntax = minijinja::syntax::SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .expect("the default delimiters");
    environment.set_syntax(syntax);
    environment
        .add_template("page.html", TEMPLATE)
        .expect("the template is well formed; a test renders it");
    let template = environment.get_template("page.html").expect("just added");
    template
        .render(minijinja::value::Serde(doc))
        .expect("the template uses the fields of `Doc`; a test renders it")
}

/// The text in pieces, without anything that could end it. Minijinja's own escape also spells out every slash, which
/// makes paths in the source unreadable.
fn escape(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(SPECIAL).flat_map(|piece| {
        let (head, last) = piece.split_at(piece.len() - usize::from(piece.ends_with(SPECIAL)));
        [head, escaped(last)]
    })
}

/// Characters that mean something in markup or end an attribute.
const SPECIAL: [char; 5] = ['<', '>', '&', '"', '\''];

/// The reference for a special character, or the same text.
fn escaped(text: &str) -> &str {
    match text {
        "<" => "&lt;",
        ">" => "&gt;",
        "&" => "&amp;",
        "\"" => "&quot;",
        "'" => "&#39;",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::doc::{Block, Cell, Class, Section, Table, numbers, words};

    fn doc(text: &str) -> Doc {
        let mut table = Table::new(vec![words(text), numbers(text)]);
        table.rows.push(vec![
            Cell::code(text).to(Some(&format!("a/{text}"))),
            Cell::missing(text).class(Class::Bad),
        ]);
        Doc {
            title: text.to_owned(),
            trail: vec![Cell::strong(text)],
            lead: vec![vec![Cell::text(text)]],
            sections: vec![Section {
                id: "one",
                title: text.to_owned(),
                short: "One",
                blocks: vec![Block::List(vec![vec![Cell::text(text)]]), Block::Table(table)],
            }],
            footer: vec![Cell::text(text)],
        }
    }

    #[test]
    fn no_text_becomes_markup_or_leaves_its_attribute() {
        let plain = render(&doc("x"));
        let hostile = render(&doc("<script>alert(1)</script>\" onmouseover='x' & {{ title }}"));
        assert!(!hostile.contains("<script"));
        assert!(!hostile.contains("\" onmouseover"));
        let tags = |page: &str| page.matches('<').count();
        assert_eq!(tags(&plain), tags(&hostile));
        let quotes = |page: &str| page.matches('"').count();
        assert_eq!(quotes(&plain), quotes(&hostile));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_leaves_the_markup_as_it_is(text in proptest::prelude::any::<String>()) {
            let page = render(&doc(&text));
            // An unfit link is dropped with its two tags; nothing else may change.
            let plain = render(&doc("x")).matches('<').count();
            proptest::prop_assert!([plain, plain - 2].contains(&page.matches('<').count()));
        }
    }

    #[test]
    fn the_page_needs_no_script_and_no_network() {
        let page = render(&doc("x"));
        for needle in ["<script", "http:", "https:", "@import", "url(", "<link", "<img"] {
            assert!(!page.contains(needle), "{needle}");
        }
    }
}
