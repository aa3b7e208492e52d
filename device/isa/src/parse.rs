//! One statement → the form it selects.
//!
//! The assembler evaluates its expressions and asks [`select`] for each instruction and [`pair`]
//! for each execution bundle; [`line()`] does all of it for text without symbols.

mod error;
mod half;
mod select;
mod text;

use tilekiln_chip::csr::{self, Space};

pub use error::ParseError;
pub use half::half;
pub use text::{constant, line, words};

use crate::form::Lane;
use crate::instruction::{ExecutionBundle, Instruction, Mode};
use crate::register::{self, Register};
use crate::table::aliases::{ALIASES, PSEUDO, Use};
use crate::table::named;

/// An operand as the assembler hands it over: parsed, and evaluated where that is possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg<'a> {
    /// A register with its broadcast and suffix.
    Register(Register),
    /// A control register's name with its `$`.
    Csr(&'a str),
    /// An expression whose value is known.
    Constant(i64),
    /// An expression whose value is not known yet.
    Symbolic,
}

/// Checks that directives switch off. [isa-encoding §7.5]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Immediates that do not fit are cut to their field.
    pub allow_invalid_operands: bool,
    /// Forms and control registers of the other mode are taken.
    pub allow_invalid_execution_mode: bool,
}

/// What a statement selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selected {
    /// The instruction.
    pub instruction: Instruction,
    /// A second one after it: the upper half of a constant.
    pub second: Option<Instruction>,
    /// The operand whose value is not known yet.
    pub reference: Option<Reference>,
    /// Whether it was written as `ldconst`, which no execution bundle takes.
    pub pseudo: bool,
}

/// An operand that was [`Arg::Symbolic`]; its value in the instruction is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Which of the statement's operands it was, counted from 0.
    pub arg: usize,
    /// Which of the form's operands it is.
    pub operand: usize,
    /// How a linker fills it in.
    pub relocation: Relocation,
}

/// How a symbol's value reaches the word. [isa-encoding §10]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relocation {
    /// `R_COLOSSUS_8`
    Bits8,
    /// `R_COLOSSUS_16`
    Bits16,
    /// `R_COLOSSUS_20`
    Bits20,
    /// `R_COLOSSUS_19_S2`
    Code19,
    /// `R_COLOSSUS_RUN`
    Run,
}

/// An execution bundle and what is still missing in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paired {
    /// The two halves.
    pub bundle: ExecutionBundle,
    /// The unknown operand of the main and of the aux half.
    pub references: [Option<Reference>; 2],
    /// Whether the text had the aux half first.
    pub swapped: bool,
}

/// Whether `name` is an instruction, an alias or a pseudo-instruction.
pub fn is_mnemonic(name: &str) -> bool {
    named(name).next().is_some()
        || ALIASES
            .iter()
            .any(|alias| alias.mnemonic == name && alias.used != Use::Print)
        || PSEUDO.iter().any(|(mnemonic, _)| *mnemonic == name)
}

/// Reads an operand that starts with `$` as a register or a control register.
///
/// `None` says that it is neither; it may be a symbol. Registers win. [isa-encoding §7.1]
pub fn dollar(text: &str) -> Option<Arg<'_>> {
    let text = text.trim();
    if let Some(register) = register::parse(text) {
        return Some(Arg::Register(register));
    }
    let known = [Mode::Supervisor, Mode::Worker]
        .iter()
        .any(|mode| csr_field(text, *mode).is_some());
    known.then_some(Arg::Csr(text))
}

/// Chooses the form that `mnemonic` with `args` means, and fills it in.
///
/// Where a number fits several forms, signed and high ones win over unsigned ones. The delta
/// register of an address may be left out where the form says so. [isa-encoding §4, §7.2, §7.3]
///
/// # Errors
///
/// The complaint of the form that came nearest.
pub fn select(
    mnemonic: &str,
    args: &[Arg<'_>],
    mode: Mode,
    options: Options,
) -> Result<Selected, ParseError> {
    let exact = Options {
        allow_invalid_operands: false,
        ..options
    };
    let mut result = select::choose(mnemonic, args, mode, exact);
    if options.allow_invalid_operands
        && matches!(
            result,
            Err(ParseError::OutOfRange { .. } | ParseError::LowBits { .. })
        )
    {
        result = select::choose(mnemonic, args, mode, options);
    }
    result
}

/// Makes an execution bundle of its members, in the order of the text. [isa-encoding §7.4]
///
/// `may_swap` lets the aux half come first.
///
/// # Errors
///
/// [`ParseError::BundleLength`], [`ParseError::NotInBundle`], [`ParseError::WrongLane`] and
/// [`ParseError::WritesTwice`].
pub fn pair(members: &[Selected], may_swap: bool) -> Result<Paired, ParseError> {
    let &[first, second] = members else {
        return Err(ParseError::BundleLength {
            given: members.len(),
        });
    };
    for member in members {
        let mnemonic = member.instruction.form.mnemonic;
        if member.pseudo {
            return Err(ParseError::NotInBundle {
                mnemonic: PSEUDO[0].0,
            });
        } else if !member.instruction.form.can_coissue() {
            return Err(ParseError::NotInBundle { mnemonic });
        }
    }
    let lane = |member: &Selected| member.instruction.form.lane;
    let swapped = may_swap && lane(&first) == Lane::Aux && lane(&second) == Lane::Main;
    let (main, aux) = if swapped {
        (second, first)
    } else {
        (first, second)
    };
    for (half, member) in [(Lane::Main, &main), (Lane::Aux, &aux)] {
        if lane(member) != half {
            let mnemonic = member.instruction.form.mnemonic;
            return Err(ParseError::WrongLane { mnemonic, half });
        }
    }
    let bundle = ExecutionBundle {
        main: main.instruction,
        aux: aux.instruction,
    };
    match bundle.clash() {
        Some(register) => Err(ParseError::WritesTwice { register }),
        None => Ok(Paired {
            bundle,
            references: [main.reference, aux.reference],
            swapped,
        }),
    }
}

/// The field of the control register called `name` in `mode`, whichever space it lies in.
///
/// The weight registers resolve for the supervisor alone. [isa-encoding §8]
fn csr_field(name: &str, mode: Mode) -> Option<u8> {
    let spaces: &[Space] = match mode {
        Mode::Supervisor => &[Space::Supervisor],
        Mode::Worker => &[Space::Worker, Space::WorkerUpper],
    };
    let csr = spaces.iter().find_map(|space| csr::by_name(name, *space));
    match (csr, mode) {
        (Some(csr), _) => Some(csr.number as u8),
        (None, Mode::Supervisor) => weight(name),
        (None, Mode::Worker) => None,
    }
}

/// The number of a weight register, `$CWEI_u_p` = 4u + p. [isa-encoding §7.6]
fn weight(name: &str) -> Option<u8> {
    let (unit, part) = name.strip_prefix("$CWEI_")?.split_once('_')?;
    let (unit, part): (u8, u8) = (unit.parse().ok()?, part.parse().ok()?);
    (unit < 16 && part < 4).then_some(unit * 4 + part)
}
