//! Complaints about graph.toml, in the user's terms: code, message, place, help.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A complaint about graph.toml, in the user's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable, searchable, never reused.
    pub code: &'static str,
    /// What is wrong, with both numbers.
    pub message: String,
    /// The bytes of graph.toml at fault.
    pub span: Range<usize>,
    /// What to change. Without one, the message is not finished.
    pub help: String,
}

/// The complaints as a reader sees them: each with its line of `source` and a caret under it.
///
/// `file_name` is what the reader calls the text; `color` adds terminal colours.
pub fn render(diagnostics: &[Diagnostic], file_name: &str, source: &str, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = String::new();
    for diagnostic in diagnostics {
        let span = within(&diagnostic.span, source);
        let snippet = Snippet::source(source)
            .path(file_name)
            .annotation(AnnotationKind::Primary.span(span));
        let group = Level::ERROR
            .primary_title(&diagnostic.message)
            .id(diagnostic.code)
            .element(snippet)
            .element(Level::HELP.message(&diagnostic.help));
        text.push_str(&renderer.render(&[group]));
        text.push_str("\n\n");
    }
    text.truncate(text.trim_end().len());
    text
}

/// `span` cut to `source`, on character boundaries: a renderer must not stumble over a place.
fn within(span: &Range<usize>, source: &str) -> Range<usize> {
    let floor = |mut at: usize| {
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start.min(source.len()));
    start..floor(span.end.min(source.len())).max(start)
}

/// The known name nearest to `wrong`, if one is near enough to be meant.
pub fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    // Few slips of the finger first, a swap being one; then a common beginning.
    let slips = |name: &str| strsim::damerau_levenshtein(wrong, name);
    let likeness = |name: &str| strsim::jaro_winkler(wrong, name);
    let close = known.iter().copied().min_by_key(|name| slips(name))?;
    if slips(close) <= (close.len() / 3).max(1) {
        return Some(close);
    }
    let alike = known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(alike) > 0.8).then_some(alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_names_what_was_meant() {
        let known = ["mean", "std", "rounding", "query_block_rows"];
        let cases = [
            ("sdt", Some("std")),
            ("men", Some("mean")),
            ("round", Some("rounding")),
            ("query_block", Some("query_block_rows")),
            ("colour", None),
        ];
        for (wrong, meant) in cases {
            assert_eq!(nearest(wrong, &known), meant, "{wrong}");
        }
    }

    #[test]
    fn places_outside_the_text_are_brought_back() {
        let far = Diagnostic {
            code: "K0000",
            message: "far".to_owned(),
            span: 90..95,
            help: "none".to_owned(),
        };
        assert!(render(&[far], "x", "é = 1\n", false).contains("far"));
        assert_eq!(within(&(1..1), "é"), 0..0);
    }
}
