//! Why text is no instruction.

use alloc::string::String;
use core::fmt;

use crate::form::{Kind, Lane, Suffix};
use crate::instruction::{Mode, Written};
use crate::register::suffix_text;

/// Why text is no instruction or no execution bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParseError {
    /// No instruction has this name.
    UnknownMnemonic {
        /// The name.
        mnemonic: String,
    },
    /// No form of the mnemonic has this many operands.
    OperandCount {
        /// The mnemonic.
        mnemonic: String,
        /// How many there are.
        given: usize,
        /// How many the nearest form has.
        wanted: usize,
    },
    /// An operand is of another kind.
    WrongOperand {
        /// Which one, counted from 1.
        position: usize,
        /// What stands there in the nearest form.
        wanted: Kind,
    },
    /// A register's suffix is missing, superfluous or another one.
    WrongSuffix {
        /// Which operand, counted from 1.
        position: usize,
        /// The suffix there is.
        given: Suffix,
        /// The suffix the form wants.
        wanted: Suffix,
    },
    /// An immediate does not fit.
    OutOfRange {
        /// The operand.
        operand: &'static str,
        /// Its value.
        value: i64,
        /// The lowest value that fits.
        low: i64,
        /// The highest value that fits.
        high: i64,
    },
    /// A value for bits 31:20 has other bits set.
    LowBits {
        /// The operand.
        operand: &'static str,
        /// Its value.
        value: i64,
    },
    /// A symbol stands where its value would have to be known.
    NeedsConstant {
        /// The operand.
        operand: &'static str,
    },
    /// The form belongs to the other mode.
    WrongMode {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The mode that text is for.
        mode: Mode,
    },
    /// No control register has this name.
    UnknownCsr {
        /// The name.
        name: String,
    },
    /// The mode does not have this control register.
    CsrOfOtherMode {
        /// The name.
        name: String,
        /// The mode that text is for.
        mode: Mode,
    },
    /// An execution bundle does not hold two instructions.
    BundleLength {
        /// How many it holds.
        given: usize,
    },
    /// The instruction never stands in an execution bundle.
    NotInBundle {
        /// Its mnemonic.
        mnemonic: &'static str,
    },
    /// An instruction stands in the other lane's half.
    WrongLane {
        /// Its mnemonic.
        mnemonic: &'static str,
        /// The half it stands in.
        half: Lane,
    },
    /// Both halves write the same register.
    WritesTwice {
        /// What the aux half writes.
        register: Written,
    },
    /// Text goes on where something else was wanted.
    Syntax {
        /// What is there.
        found: String,
        /// What was wanted.
        wanted: &'static str,
    },
    /// An expression has no value: overflow, division by zero or a shift by more than 63.
    NoValue {
        /// The operator.
        operator: &'static str,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMnemonic { mnemonic } => write!(f, "no instruction is called {mnemonic}"),
            Self::OperandCount {
                mnemonic,
                given,
                wanted,
            } => {
                write!(f, "{mnemonic} with {given} operands; it has {wanted}")
            }
            Self::WrongOperand { position, wanted } => {
                write!(f, "operand {position} is not {}", kind_text(*wanted))
            }
            Self::WrongSuffix {
                position,
                given,
                wanted,
            } => {
                let text = |suffix| match suffix {
                    Suffix::None => "no suffix",
                    suffix => suffix_text(suffix),
                };
                let (given, wanted) = (text(*given), text(*wanted));
                write!(
                    f,
                    "operand {position} has {given}; its register takes {wanted}"
                )
            }
            Self::OutOfRange {
                operand,
                value,
                low,
                high,
            } => {
                write!(f, "{operand} is {value}; it goes from {low} to {high}")
            }
            Self::LowBits { operand, value } => {
                write!(
                    f,
                    "{operand} is {value:#x}; it must be a multiple of 0x10_0000"
                )
            }
            Self::NeedsConstant { operand } => write!(f, "{operand} must be a constant"),
            Self::WrongMode { mnemonic, mode } => {
                write!(
                    f,
                    "{mnemonic} is for the {}; this is {mode} code",
                    mode.other()
                )
            }
            Self::UnknownCsr { name } => write!(f, "no control register is called {name}"),
            Self::CsrOfOtherMode { name, mode } => write!(f, "a {mode} has no {name}"),
            Self::BundleLength { given } => {
                write!(f, "an execution bundle of {given} instructions; it has 2")
            }
            Self::NotInBundle { mnemonic } => {
                write!(f, "{mnemonic} cannot stand in an execution bundle")
            }
            Self::WrongLane { mnemonic, half } => {
                let half = if *half == Lane::Main { "main" } else { "aux" };
                write!(
                    f,
                    "{mnemonic} stands in the {half} half of an execution bundle"
                )
            }
            Self::WritesTwice { register } => {
                write!(f, "both halves of an execution bundle write {register}")
            }
            Self::Syntax { found, wanted } => write!(f, "`{found}` where {wanted} should be"),
            Self::NoValue { operator } => write!(f, "{operator} has no value here"),
        }
    }
}

impl core::error::Error for ParseError {}

/// An operand's kind in words.
fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::M => "a main register",
        Kind::A => "an aux register",
        Kind::MPair => "a pair of main registers",
        Kind::APair => "a pair of aux registers",
        Kind::AQuad => "a quad of aux registers",
        Kind::ALower => "an aux register with :BL",
        Kind::AUpper => "an aux register with :BU",
        Kind::ABroadcast => "an aux register with :B",
        Kind::Unsigned | Kind::Signed | Kind::High => "a number",
        Kind::Code => "a code address",
        Kind::Csr | Kind::UpperCsr => "a control register",
    }
}
