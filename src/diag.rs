//! What is wrong with a file a person wrote, where, and what to do: one form for all readers of such files.
//!
//! Knows nothing of YAML or of what the files mean. The only user of `annotate-snippets`, so the look of an error is
//! decided here: rustc's. Errors are collected, never first-only, and come out by file and line. Text from files is
//! hostile: control characters are shown as escapes, so that a manifest cannot drive the reader's terminal.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// A file as read: the name to print and its text. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source(Arc<(String, String)>);

impl Source {
    /// A text under the name people know it by (a path below the workspace root).
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self(Arc::new((name.into(), text.into())))
    }

    /// The name to print.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.0
    }

    /// The text that spans count bytes of.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.1
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let before = self.before(offset);
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    fn before(&self, offset: usize) -> &str {
        &self.text()[..self.boundary(offset)]
    }

    /// The start of the character that a byte offset falls into; the end for anything behind it.
    #[must_use]
    pub fn boundary(&self, offset: usize) -> usize {
        let text = self.text();
        (0..=offset.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
    }
}

/// One place that a diagnostic talks about.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    source: Source,
    span: Range<usize>,
    label: String,
}

/// One thing that is wrong. The first place is where it is; further ones are what it clashes with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    code: &'static str,
    message: String,
    file: Option<String>,
    places: Vec<Place>,
    help: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic with a short stable code (`unknown-stage`) and one lower-case sentence.
    #[must_use]
    pub fn new(code: &'static str, message: impl AsRef<str>) -> Self {
        let message = printable(message.as_ref());
        Self { code, message, file: None, places: Vec::new(), help: Vec::new() }
    }

    /// Adds a place; the first one added is the primary one. The span counts bytes of the source's text.
    #[must_use]
    pub fn at(mut self, source: &Source, span: Range<usize>, label: impl AsRef<str>) -> Self {
        let text = source.text();
        let start = source.boundary(span.start);
        let reach = span.end.clamp(start, text.len());
        let end = (reach..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len());
        let label = printable(label.as_ref());
        self.places.push(Place { source: source.clone(), span: start..end, label });
        self
    }

    /// Names a file without a place in it (it is missing, unreadable, not text).
    #[must_use]
    pub fn in_file(mut self, name: impl AsRef<str>) -> Self {
        self.file = Some(printable(name.as_ref()));
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, text: impl AsRef<str>) -> Self {
        self.help.push(printable(text.as_ref()));
        self
    }

    /// Adds `did you mean …` when a candidate is near.
    #[must_use]
    pub fn suggest<'a>(self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(name, candidates) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Name of the file it is about, when there is one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.places.first().map(|p| p.source.name()).or(self.file.as_deref())
    }

    /// Line and column (from 1) of the primary place.
    #[must_use]
    pub fn position(&self) -> Option<(usize, usize)> {
        self.places.first().map(|p| p.source.line_column(p.span.start))
    }

    /// The lines of help.
    #[must_use]
    pub fn helps(&self) -> &[String] {
        &self.help
    }

    fn sort_key(&self) -> (&str, usize) {
        (self.file().unwrap_or(""), self.places.first().map_or(0, |p| p.span.start))
    }

    fn render(&self, renderer: &Renderer) -> String {
        let mut group =
            Group::with_title(Level::ERROR.primary_title(self.message.as_str()).id(self.code));
        for (first, window) in self.windows() {
            let mut snippet = Snippet::source(window.text)
                .path(window.source.name())
                .line_start(window.first_line)
                .fold(true);
            for (i, place) in window.places.iter().enumerate() {
                let kind = match first && i == 0 {
                    true => AnnotationKind::Primary,
                    false => AnnotationKind::Context,
                };
                let span = place.span.start - window.start..place.span.end - window.start;
                let label = Some(place.label.as_str()).filter(|l| !l.is_empty());
                snippet = snippet.annotation(kind.span(span).label(label));
            }
            group = group.element(snippet);
        }
        if let (true, Some(file)) = (self.places.is_empty(), &self.file) {
            group = group.element(Origin::path(file.as_str()));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        // The renderer shows the controls of ASCII as pictures and lets the others of source lines through.
        let unfit = |c: char| matches!(c, '\u{80}'..='\u{9f}') || turns_text(c);
        renderer.render(&[group]).replace(unfit, "\u{fffd}")
    }

    /// The places by file (the primary one's first), each with just the lines that its places span.
    fn windows(&self) -> impl Iterator<Item = (bool, Window<'_>)> {
        let mut windows: Vec<Window<'_>> = Vec::new();
        for place in &self.places {
            match windows.iter_mut().find(|w| w.source == &place.source) {
                Some(window) => window.places.push(place),
                None => windows.push(Window::new(place)),
            }
        }
        windows.into_iter().enumerate().map(|(i, w)| (i == 0, w.cut()))
    }

    fn to_json(&self) -> serde_json::Value {
        let place = |p: &Place| {
            let (line, column) = p.source.line_column(p.span.start);
            let (end_line, end_column) = p.source.line_column(p.span.end);
            serde_json::json!({
                "file": p.source.name(), "line": line, "column": column,
                "end_line": end_line, "end_column": end_column, "label": p.label,
            })
        };
        serde_json::json!({
            "code": self.code, "message": self.message, "file": self.file(),
            "places": self.places.iter().map(place).collect::<Vec<_>>(), "help": self.help,
        })
    }
}

/// The part of a file that a diagnostic prints. Whole files would be scanned again for every error.
struct Window<'a> {
    source: &'a Source,
    places: Vec<&'a Place>,
    start: usize,
    first_line: usize,
    text: &'a str,
}

impl<'a> Window<'a> {
    fn new(place: &'a Place) -> Self {
        Self { source: &place.source, places: vec![place], start: 0, first_line: 1, text: "" }
    }

    fn cut(mut self) -> Self {
        let text = self.source.text();
        let low = self.places.iter().map(|p| p.span.start).min().unwrap_or(0);
        let high = self.places.iter().map(|p| p.span.end).max().unwrap_or(0);
        self.start = text[..low].rfind('\n').map_or(0, |i| i + 1);
        self.first_line = self.source.line_column(low).0;
        let end = text[high..].find('\n').map_or(text.len(), |i| high + i);
        self.text = &text[self.start..end];
        self
    }
}

/// Whether rendered text carries colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Off,
    /// Terminal escapes.
    On,
}

/// Everything that is wrong, by file and line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let key = diagnostic.sort_key();
        let index = self.0.partition_point(|d| d.sort_key() <= key);
        self.0.insert(index, diagnostic);
    }

    /// Adds all of another collection.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        other.into_iter().for_each(|d| self.push(d));
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// In order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// All of them for people, with a count at the end when there are several. Ends in a newline unless empty.
    #[must_use]
    pub fn render(&self, colour: Colour) -> String {
        let renderer = match colour {
            Colour::Off => Renderer::plain(),
            Colour::On => Renderer::styled(),
        }
        .decor_style(DecorStyle::Ascii);
        let mut text = String::new();
        for diagnostic in &self.0 {
            text.push_str(&diagnostic.render(&renderer));
            text.push_str("\n\n");
        }
        if self.0.len() > 1 {
            let mut files: Vec<_> = self.0.iter().filter_map(Diagnostic::file).collect();
            files.dedup();
            let plural = if files.len() == 1 { "" } else { "s" };
            let _ = writeln!(text, "{} errors in {} file{plural}", self.0.len(), files.len());
        } else {
            text.truncate(text.trim_end_matches('\n').len() + 1);
        }
        text
    }

    /// All of them for programs: an array, one object per diagnostic.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        self.0.iter().map(Diagnostic::to_json).collect()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Colour::Off))
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The text with control characters as escapes, cut at 1000 characters.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1000));
    for (i, c) in text.chars().enumerate() {
        if i == 1000 {
            out.push('…');
            break;
        }
        match c.is_control() || turns_text(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// Whether a character turns the direction of the text after it.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The candidate that `name` is most likely a slip of, if one is near: at most a third of it differs.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(64).collect();
    let allowed = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|c| (distance(&wanted, &c.to_lowercase().chars().take(64).collect::<Vec<_>>()), c))
        .filter(|(d, c)| *d <= allowed && *d < c.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Edits between two texts: insert, delete, replace, swap neighbours (Damerau-Levenshtein, restricted).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_finds_none() {
        let stages = ["build", "kat", "timing", "profile"];
        assert_eq!(nearest("bulid", stages), Some("build"));
        assert_eq!(nearest("Timings", stages), Some("timing"));
        assert_eq!(nearest("kta", stages), Some("kat"));
        assert_eq!(nearest("upload", stages), None);
        assert_eq!(nearest("", stages), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn the_distance_counts_a_swap_as_one_edit() {
        let d = |a: &str, b: &str| {
            distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(d("ab", "ba"), 1);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("", "abc"), 3);
    }

    #[test]
    fn several_places_of_one_file_are_one_picture_and_order_is_by_file_and_line() {
        let b = Source::new("b.yaml", "one: 1\ntwo: 2\nthree: 3\nfour: 4\none: 5\n");
        let a = Source::new("a.yaml", "x: ä ö\n");
        let mut all = Diagnostics::default();
        all.push(
            Diagnostic::new("duplicate-key", "key `one` is given twice")
                .at(&b, 31..34, "again here")
                .at(&b, 0..3, "first here"),
        );
        all.push(Diagnostic::new("odd", "`ö` is odd").at(&a, 6..8, "").help("use `o`"));
        all.push(Diagnostic::new("unreadable", "cannot read: no such file").in_file("c.yaml"));
        insta::assert_snapshot!(all.render(Colour::Off));
        insta::assert_json_snapshot!(all.to_json());
    }

    #[test]
    fn control_characters_of_a_file_do_not_reach_the_terminal() {
        let source = Source::new("x.yaml", "a: \u{1b}[31mred \u{9b}31m \u{202e}x\n");
        let text = Diagnostics::from(
            Diagnostic::new("odd", "`\u{1b}[31m` is odd")
                .at(&source, 3..8, "\u{7}")
                .help("\u{202e}x"),
        )
        .render(Colour::Off);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        assert!(!text.contains('\u{202e}'));
    }

    #[test]
    fn spans_off_the_text_or_inside_a_character_are_moved_to_what_can_be_shown() {
        let source = Source::new("x", "ä");
        for span in [0..1, 1..1, 1..9, 7..9] {
            let text = Diagnostics::from(Diagnostic::new("odd", "x").at(&source, span, "here"));
            assert!(text.render(Colour::On).contains("here"));
        }
    }
}
