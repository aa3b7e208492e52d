//! Cuts a preprocessed source into statements, and remembers where each came from.
//!
//! A [`Piece`] is a statement without comments, or one brace of an execution bundle. Pieces are
//! text, not tokens, because macro arguments are substituted as text.

use std::rc::Rc;

use super::error::{Fault, Kind};

/// A position in an original source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    /// Index into [`Files`].
    pub(super) file: u32,
    /// Line, from 1.
    pub(super) line: u32,
    /// Column in bytes, from 1.
    pub(super) column: u32,
}

/// The names of the files that line markers mention.
#[derive(Debug, Default)]
pub(super) struct Files(Vec<String>);

impl Files {
    /// The index of `name`, added when it is new.
    pub(super) fn index(&mut self, name: &str) -> u32 {
        let found = self
            .0
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                self.0.push(name.to_owned());
                self.0.len() - 1
            });
        u32::try_from(found).unwrap_or(u32::MAX)
    }

    /// The name behind an index.
    pub(super) fn name(&self, index: u32) -> &str {
        self.0.get(index as usize).map_or("", String::as_str)
    }
}

/// What a piece is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PieceKind {
    /// A statement.
    Text,
    /// `{`
    Open,
    /// `}`
    Close,
}

/// One statement, or one brace.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    /// Without surrounding blanks; empty for braces.
    pub(super) text: Rc<str>,
    /// Where the text starts.
    pub(super) place: Place,
    /// The column of each byte where substitution has moved them.
    pub(super) columns: Option<Rc<[u32]>>,
}

impl Piece {
    /// Where byte `offset` of the text came from.
    pub(super) fn place_of(&self, offset: usize) -> Place {
        let shift = u32::try_from(offset).unwrap_or(u32::MAX);
        let column = match &self.columns {
            None => self.place.column.saturating_add(shift),
            Some(columns) => columns
                .get(offset)
                .or(columns.last())
                .copied()
                .unwrap_or(self.place.column),
        };
        Place {
            column,
            ..self.place
        }
    }
}

/// Cuts the text of a whole file, following its line markers.
pub(super) fn split_file(
    name: &str,
    text: &str,
    files: &mut Files,
) -> Result<Vec<Piece>, (Place, Fault)> {
    let start = Place {
        file: files.index(name),
        line: 1,
        column: 1,
    };
    let mut splitter = Splitter::new(text, start, None);
    splitter.run(Some(files))?;
    Ok(splitter.pieces)
}

/// Cuts text that came out of a substitution: `columns` gives each byte's column.
pub(super) fn split_expansion(
    text: &str,
    place: Place,
    columns: &[u32],
) -> Result<Vec<Piece>, (Place, Fault)> {
    let mut splitter = Splitter::new(text, place, Some(columns));
    splitter.run(None)?;
    Ok(splitter.pieces)
}

struct Splitter<'a> {
    text: &'a str,
    at: usize,
    line_start: usize,
    place: Place,
    columns: Option<&'a [u32]>,
    statement: Vec<u8>,
    statement_start: Option<usize>,
    statement_place: Place,
    pieces: Vec<Piece>,
}

impl<'a> Splitter<'a> {
    fn new(text: &'a str, place: Place, columns: Option<&'a [u32]>) -> Self {
        Self {
            text,
            at: 0,
            line_start: 0,
            place,
            columns,
            statement: Vec::new(),
            statement_start: None,
            statement_place: place,
            pieces: Vec::new(),
        }
    }

    fn here(&self) -> Place {
        let column = match self.columns {
            None => u32::try_from(self.at - self.line_start)
                .unwrap_or(u32::MAX)
                .saturating_add(1),
            Some(columns) => columns
                .get(self.at)
                .or(columns.last())
                .copied()
                .unwrap_or(self.place.column),
        };
        Place {
            column,
            ..self.place
        }
    }

    fn run(&mut self, mut files: Option<&mut Files>) -> Result<(), (Place, Fault)> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            if self.at == self.line_start
                && let Some(files) = files.as_deref_mut()
                && self.line_marker(files)
            {
                continue;
            }
            let rest = &bytes[self.at..];
            match rest {
                [b'\n', ..] => {
                    self.end_statement();
                    self.at += 1;
                    self.next_line();
                }
                [b';', ..] => {
                    self.end_statement();
                    self.at += 1;
                }
                [b'{', ..] => self.brace(PieceKind::Open),
                [b'}', ..] => self.brace(PieceKind::Close),
                [b'#', ..] | [b'/', b'/', ..] => self.skip_line(),
                [b'/', b'*', ..] => self.skip_block()?,
                [b'"', ..] => self.string()?,
                [byte, ..] => {
                    self.push(*byte);
                    self.at += 1;
                }
                [] => {}
            }
        }
        self.end_statement();
        Ok(())
    }

    fn next_line(&mut self) {
        self.line_start = self.at;
        self.place.line = self.place.line.saturating_add(1);
    }

    fn push(&mut self, byte: u8) {
        if self.statement_start.is_none() {
            if byte.is_ascii_whitespace() {
                return;
            }
            self.statement_start = Some(self.at);
            self.statement_place = self.here();
        }
        self.statement.push(byte);
    }

    fn end_statement(&mut self) {
        let Some(start) = self.statement_start.take() else {
            return;
        };
        while self.statement.last().is_some_and(u8::is_ascii_whitespace) {
            self.statement.pop();
        }
        // Only whole characters were copied, or blanks put in place of comments.
        let text = String::from_utf8_lossy(&self.statement).into_owned();
        let columns = self.columns.map(|all| {
            let end = (start + text.len()).min(all.len());
            Rc::from(all.get(start..end).unwrap_or(&[]))
        });
        self.statement.clear();
        let piece = Piece {
            kind: PieceKind::Text,
            text: text.into(),
            place: self.statement_place,
            columns,
        };
        self.pieces.push(piece);
    }

    fn brace(&mut self, kind: PieceKind) {
        self.end_statement();
        let place = self.here();
        self.pieces.push(Piece {
            kind,
            text: "".into(),
            place,
            columns: None,
        });
        self.at += 1;
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// A block comment counts as blanks, so that what follows it keeps its column.
    fn skip_block(&mut self) -> Result<(), (Place, Fault)> {
        let place = self.here();
        let Some(length) = self.text[self.at + 2..].find("*/") else {
            return Err((place, Fault::here(Kind::UnclosedComment)));
        };
        let end = self.at + 2 + length + 2;
        while self.at < end {
            let newline = self.text.as_bytes()[self.at] == b'\n';
            self.push(b' ');
            self.at += 1;
            if newline {
                self.next_line();
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), (Place, Fault)> {
        let place = self.here();
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                None | Some(b'\n') => return Err((place, Fault::here(Kind::UnclosedString))),
                Some(b'\\') => end += 2,
                Some(b'"') => break,
                Some(_) => end += 1,
            }
        }
        while self.at <= end {
            self.push(bytes[self.at]);
            self.at += 1;
        }
        Ok(())
    }

    /// Takes `# 12 "file"` or `#line 12 "file"`: the next line is line 12 of that file.
    fn line_marker(&mut self, files: &mut Files) -> bool {
        let rest = &self.text[self.at..];
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let Some((line, name)) = parse_marker(&rest[..length]) else {
            return false;
        };
        self.end_statement();
        self.at += length;
        self.line_start = self.at;
        self.place = Place {
            file: files.index(&name),
            line,
            column: 1,
        };
        true
    }
}

/// The line number and file of a line marker.
fn parse_marker(line: &str) -> Option<(u32, String)> {
    let rest = line.trim().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").map_or(rest, str::trim_start);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok()?;
    let quoted = rest[digits..].trim_start().strip_prefix('"')?;
    let mut name = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return Some((number, name)),
            '\\' => name.push(characters.next()?),
            other => name.push(other),
        }
    }
}

/// The identifier at the start of `text`: letters, digits, `_`, `.` and `$`, no digit first.
pub(super) fn leading_name(text: &str) -> &str {
    let end = text.bytes().take_while(|byte| is_name_byte(*byte)).count();
    if text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        ""
    } else {
        &text[..end]
    }
}

/// Whether `byte` may stand inside a symbol.
pub(super) const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> String {
        let mut files = Files::default();
        let pieces = split_file("t.s", text, &mut files).expect("splits");
        let show = |piece: &Piece| {
            let Place { file, line, column } = piece.place;
            let text = match piece.kind {
                PieceKind::Text => &piece.text,
                PieceKind::Open => "{",
                PieceKind::Close => "}",
            };
            format!("{}:{line}:{column} {text}\n", files.name(file))
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn statements_end_at_newlines_semicolons_and_braces() {
        let text = " nop; nop # no; comment\n{ a /* ; */ b\n c } // }\n.ascii \"x;#{\"";
        let want = "t.s:1:2 nop\nt.s:1:7 nop\nt.s:2:1 {\nt.s:2:3 a         b\nt.s:3:2 c\nt.s:3:4 }\n\
                    t.s:4:1 .ascii \"x;#{\"\n";
        assert_eq!(pieces(text), want);
    }

    #[test]
    fn line_markers_lead_back_to_the_file() {
        let text =
            "# 0 \"<built-in>\"\n# 7 \"a b.S\" 2\n nop\n# just words\n nop\n#line 3 \"c.S\"\nx";
        assert_eq!(pieces(text), "a b.S:7:2 nop\na b.S:9:2 nop\nc.S:3:1 x\n");
    }

    #[test]
    fn a_block_comment_may_span_lines() {
        assert_eq!(
            pieces("a /* x\n y */ b\nc"),
            "t.s:1:1 a            b\nt.s:3:1 c\n"
        );
    }
}
