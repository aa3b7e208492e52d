//! What an assembled kernel may be filed under.

use tilekiln_bundle::Digest;
use tilekiln_isa::Mode;

use super::Source;
use super::split::{Files, PieceKind, split_file};

/// Changes whenever the same source would give another object.
const VERSION: &str = concat!("tilekiln-asm ", env!("CARGO_PKG_VERSION"), " objects 2");

/// The chip that code is for.
const TARGET: &str = "ipu21";

/// The SHA-256 of everything the object depends on: assembler, target, statements, parameters.
///
/// Covers statements and the lines they stand on, not text: comments, blanks, and the folders in
/// line markers do not matter. Equal keys give equal objects.
pub fn key(source: &Source) -> [u8; 32] {
    let mut fields = Fields(Vec::new());
    fields.field(VERSION.as_bytes());
    fields.field(TARGET.as_bytes());
    fields.field(base_name(&source.name).as_bytes());
    fields.field(match source.mode {
        Mode::Supervisor => b"supervisor",
        Mode::Worker => b"worker",
    });
    fields.number(source.symbols.len());
    for (name, value) in &source.symbols {
        fields.field(name.as_bytes());
        fields.field(&value.to_le_bytes());
    }
    let mut files = Files::default();
    match split_file(&source.name, &source.text, &mut files) {
        // It will not assemble; the whole text is as good as anything.
        Err(_) => fields.field(source.text.as_bytes()),
        Ok(pieces) => {
            for piece in &pieces {
                fields.field(match piece.kind {
                    PieceKind::Text => b"s",
                    PieceKind::Open => b"{",
                    PieceKind::Close => b"}",
                });
                fields.field(base_name(files.name(piece.place.file)).as_bytes());
                fields.field(&piece.place.line.to_le_bytes());
                fields.field(single_blanks(&piece.text).as_bytes());
            }
        }
    }
    Digest::of(&fields.0).0
}

/// Fields behind each other that cannot run into one another.
struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: usize) {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn field(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend_from_slice(bytes);
    }
}

/// The last part of a path, whoever wrote it.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The text with each run of blanks outside quotes made one.
fn single_blanks(text: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in text.chars() {
        let blank = c.is_whitespace() && !quoted;
        if !(blank && out.ends_with(' ')) {
            out.push(if blank { ' ' } else { c });
        }
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && c == '\\' && !escaped;
    }
    out
}
