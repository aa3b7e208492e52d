//! The assembler: from the preprocessed text of a kernel to an [`Object`].
//!
//! ```text
//! text ─► split ─► pieces ─► driver ─► items in sections ─► finish ─► Object
//!          lines,             macros,   sizes known,          every label known:
//!          comments           .if       values not            forms chosen, words written
//! ```
//!
//! Sizes come first: no statement changes its size once it has been read, so a distance between
//! two labels is known as soon as both are. Values come last, when every label is known; that is
//! when the instruction table chooses forms and when bundles and repeat bodies are checked.
//!
//! # Where to start
//!
//! [`assemble`] is the assembler; [`key`] is what a cache may file its result under.
//!
//! # What differs from other assemblers
//!
//! - An integer, or a name that `.set` gives a number, as a branch target is the raw field; a label
//!   is a byte address. [isa-encoding §5]
//! - `.align` counts bytes. A comparison that holds is 1. Operators bind as in the GNU assembler.
//! - A macro cannot be defined twice.

mod conditional;
mod directive;
mod driver;
mod error;
mod expr;
mod finish;
mod key;
mod lex;
mod macros;
mod output;
mod section;
mod split;
mod statement;
mod symbols;

pub use error::{AsmError, AsmErrors, Kind, MAX_ERRORS, Within};
pub use key::key;
pub use tilekiln_isa::Mode;

use driver::Assembler;

use crate::object::Object;

/// A source, after the C preprocessor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// What it is called until a line marker says otherwise.
    pub name: String,
    /// The text; line markers (`# 12 "file.S"`) lead complaints back to the original.
    pub text: String,
    /// Names that stand for numbers, as if by `.set` on a line before the first.
    pub symbols: Vec<(String, i64)>,
    /// Who executes the code until `.supervisor` or `.worker` says otherwise.
    pub mode: Mode,
}

/// An object, and what was odd about its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assembled {
    /// The object.
    pub object: Object,
    /// Bundles that break the rules where the source asked for warnings only.
    pub warnings: Vec<AsmError>,
}

/// Assembles `source`; warnings are dropped.
///
/// # Errors
///
/// All complaints about the source, in its order, up to [`MAX_ERRORS`].
pub fn assemble(source: &Source) -> Result<Object, AsmErrors> {
    assemble_with_warnings(source).map(|assembled| assembled.object)
}

/// Assembles `source`, and also says what it only warns about.
///
/// # Errors
///
/// All complaints about the source, in its order, up to [`MAX_ERRORS`].
pub fn assemble_with_warnings(source: &Source) -> Result<Assembled, AsmErrors> {
    let mut assembler = Assembler::new(source);
    assembler.read(source);
    let given_up = assembler.errors.len() >= MAX_ERRORS;
    let object = if given_up {
        None
    } else {
        assembler.object(&source.name)
    };
    let Assembler {
        mut errors,
        mut warnings,
        ..
    } = assembler;
    errors.sort_by_key(|(number, _)| *number);
    warnings.sort_by_key(|(number, _)| *number);
    let more = given_up || errors.len() > MAX_ERRORS;
    let errors: Vec<_> = errors
        .into_iter()
        .take(MAX_ERRORS)
        .map(|(_, error)| error)
        .collect();
    match object {
        Some(object) if errors.is_empty() => {
            let warnings = warnings.into_iter().map(|(_, warning)| warning).collect();
            Ok(Assembled { object, warnings })
        }
        _ => Err(AsmErrors { errors, more }),
    }
}
