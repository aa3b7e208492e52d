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
    let likeness = |name: &str| strsim::jaro_winkler(wrong, name);
    let best = known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.7).then_some(best)
}
