//! Why a source does not assemble, and where.

use std::fmt;

/// All complaints about one source, in source order; at most [`MAX_ERRORS`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsmErrors {
    /// The complaints; never empty.
    pub errors: Vec<AsmError>,
    /// Whether assembly was given up before the end of the source.
    pub more: bool,
}

/// After so many complaints the assembler gives up.
pub const MAX_ERRORS: usize = 20;

impl fmt::Display for AsmErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{error}")?;
        }
        if self.more {
            write!(f, "\nno more than {MAX_ERRORS} complaints are shown")?;
        }
        Ok(())
    }
}

impl std::error::Error for AsmErrors {}

/// One complaint, with the place in the source as it was before preprocessing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsmError {
    /// The file, as the line markers name it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
    /// What is wrong.
    pub kind: Kind,
    /// The macro calls and repetitions the place stands in, innermost first.
    pub within: Vec<Within>,
}

/// A macro call or repetition that led to a complaint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Within {
    /// The macro, or `.rept`.
    pub name: String,
    /// The file of the call.
    pub file: String,
    /// The line of the call.
    pub line: u32,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            kind,
            within,
        } = self;
        write!(f, "{file}:{line}:{column}: {kind}")?;
        for Within { name, file, line } in within.iter().take(MAX_WITHIN) {
            write!(f, "\n  in {name} from {file}:{line}")?;
        }
        match within.len().saturating_sub(MAX_WITHIN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// So many calls are shown with a complaint.
const MAX_WITHIN: usize = 6;

/// A complaint and the byte of the statement it is about; the start where there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

impl Fault {
    pub(super) fn at(at: usize, kind: Kind) -> Self {
        Self { at, kind }
    }

    pub(super) fn here(kind: Kind) -> Self {
        Self { at: 0, kind }
    }
}

/// What can be wrong with a source.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Kind {
    /// `/*` without `*/`.
    #[error("a comment has no end")]
    UnclosedComment,
    /// A string without closing quote.
    #[error("a string has no end")]
    UnclosedString,
    /// An unknown escape in a string.
    #[error("unknown escape `\\{0}` in a string")]
    BadEscape(char),
    /// A character no statement contains.
    #[error("stray character `{0}`")]
    StrayCharacter(char),
    /// Digits that are no number of their base, or above 64 bits.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// `1.5` without `h`.
    #[error("`{0}` has a decimal point but not the suffix h of half precision")]
    DecimalWithoutSuffix(String),

    /// Something else should stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// Text behind the end of a statement.
    #[error("unexpected {0} behind the end of the statement")]
    Trailing(String),
    /// Arithmetic left 64 bits.
    #[error("the expression leaves 64 bits")]
    Overflow,
    /// Division by zero.
    #[error("the expression divides by zero")]
    DivisionByZero,
    /// An operator on an address it has no meaning for.
    #[error("`{0}` needs constants, not addresses")]
    AddressOperand(&'static str),
    /// A difference that only the linker could know.
    #[error("the difference of {left} and {right} is not known until the program is linked")]
    FarDifference {
        /// The first operand.
        left: String,
        /// The one subtracted.
        right: String,
    },
    /// A constant was needed at once.
    #[error("{0} is not defined; a constant must stand here")]
    NotYetKnown(String),
    /// An address where a constant must stand.
    #[error("{0} is an address; a constant must stand here")]
    NotConstant(String),
    /// `.set a, a + 1` with a forward reference to itself.
    #[error("the value of {0} depends on itself")]
    Circular(String),
    /// A numeric label that is nowhere in that direction.
    #[error("no label {number}: {direction} this place")]
    NoLocalLabel {
        /// The label.
        number: u64,
        /// `before` or `behind`.
        direction: &'static str,
    },
    /// A `.L` name that no label has.
    #[error("the local label {0} is never defined")]
    NoLabel(String),
    /// A name got a second meaning.
    #[error("{name} is already defined, at line {line}")]
    Redefined {
        /// The name.
        name: String,
        /// The line of the first definition.
        line: u32,
    },

    /// A directive that does not exist here.
    #[error("unknown directive {0}")]
    UnknownDirective(String),
    /// A mnemonic that does not exist.
    #[error("unknown instruction `{mnemonic}`{}", suggestion(.nearest))]
    UnknownMnemonic {
        /// What was written.
        mnemonic: String,
        /// The nearest name, when one is near.
        nearest: Option<String>,
    },
    /// What the instruction table says about a statement.
    #[error("{0}")]
    Instruction(String),
    /// An immediate beyond its field.
    #[error("{value} does not fit; {name} takes {low} to {high}")]
    OutOfRange {
        /// The field.
        name: String,
        /// The value.
        value: i64,
        /// The least value.
        low: i64,
        /// The largest value.
        high: i64,
    },
    /// A value that must be a multiple.
    #[error("{value} is not a multiple of {multiple}")]
    NotMultiple {
        /// The value.
        value: i64,
        /// What it must be a multiple of.
        multiple: i64,
    },
    /// A symbol in a place that no relocation serves.
    #[error("{0} cannot hold an address")]
    NoRelocation(String),
    /// A symbol modifier that does not exist or stands in the wrong place.
    #[error("unknown symbol modifier @{0}")]
    BadModifier(String),

    /// `.endif` and friends without `.if`.
    #[error("{0} without .if")]
    WithoutIf(&'static str),
    /// A conditional that is not closed.
    #[error("this conditional has no .endif")]
    UnclosedIf,
    /// A macro or repetition that is not closed.
    #[error("this {0} has no {1}")]
    Unclosed(&'static str, &'static str),
    /// `.endm` or `.endr` alone.
    #[error("{0} without {1}")]
    Without(&'static str, &'static str),
    /// A macro got more arguments than it takes.
    #[error("{name} takes {takes} arguments, not {given}")]
    TooManyArguments {
        /// The macro.
        name: String,
        /// How many it takes.
        takes: usize,
        /// How many there are.
        given: usize,
    },
    /// A required argument is missing.
    #[error("{name} needs a value for \\{parameter}")]
    MissingArgument {
        /// The macro.
        name: String,
        /// The parameter.
        parameter: String,
    },
    /// Macros nest too deep.
    #[error("macros nest {0} deep; no more than {1} are allowed")]
    TooDeep(usize, usize),
    /// The source expands to too much.
    #[error("the source expands to more than {0} statements")]
    TooLong(usize),
    /// `.error`
    #[error("{0}")]
    User(String),

    /// `{` inside an execution bundle.
    #[error("an execution bundle stands inside another")]
    NestedBundle,
    /// `}` alone.
    #[error("an execution bundle ends that never started")]
    BundleEnd,
    /// `{` alone.
    #[error("this execution bundle has no end")]
    UnclosedBundle,
    /// Not two instructions.
    #[error("an execution bundle holds 2 instructions, not {0}")]
    BundleSize(usize),
    /// A statement that may not stand in an execution bundle.
    #[error("{0} cannot stand in an execution bundle")]
    NotInBundle(String),
    /// Not one of each lane, or in the wrong order.
    #[error("an execution bundle is one main instruction, then one aux instruction; this is {0}")]
    BundleLanes(String),
    /// An instruction that issues alone.
    #[error("{0} always issues alone")]
    CannotCoissue(String),
    /// Both halves write a register.
    #[error("both instructions write {0}")]
    BundleClash(String),

    /// A repeat body on 4 bytes.
    #[error("a repeat body starts at a multiple of 8 bytes; this one is at {0:#x}")]
    RepeatAlignment(u32),
    /// A repeat body that leaves its section.
    #[error("this repeat body of {wanted} bytes goes beyond its section, which has {found} left")]
    RepeatBeyond {
        /// Bytes of the body.
        wanted: u32,
        /// Bytes there are.
        found: u32,
    },
    /// Something that is not an execution bundle in a repeat body.
    #[error("only execution bundles may stand in a repeat body, not {0}")]
    RepeatSolo(String),
    /// A control or system instruction in a repeat body.
    #[error("{0} may not stand in a repeat body")]
    RepeatForbidden(String),
    /// `sendpicp` on 4 bytes.
    #[error("{mnemonic} starts at a multiple of 8 bytes; this one is at {offset:#x}")]
    InlineAlignment {
        /// The instruction.
        mnemonic: String,
        /// Where it is in its section.
        offset: u32,
    },
    /// `sendpicp` without its data word.
    #[error("{0} is followed by one .long, its second word")]
    InlineWord(String),
    /// Code at an odd place.
    #[error("an instruction stands at {0:#x}, which is not a multiple of 4 bytes")]
    Misaligned(u32),

    /// An alignment that is not a power of two, or too large.
    #[error("{0} is not an alignment: a power of 2 up to 65536")]
    BadAlignment(i64),
    /// Too much space.
    #[error("{0} bytes are more than a tile holds")]
    TooLarge(i64),
    /// Data or code where only zeros may stand.
    #[error("section {0} holds only zeros")]
    OnlyZeros(String),
    /// A section got other flags than before.
    #[error("section {0} was {1} before")]
    SectionChanged(String, &'static str),
    /// A section name that no object can hold.
    #[error("a section cannot be called \"{}\"", .0.escape_default())]
    BadSectionName(String),
    /// Flags that do not exist.
    #[error("unknown section flags \"{0}\"")]
    BadFlags(String),
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!("; `{name}` exists"))
        .unwrap_or_default()
}
