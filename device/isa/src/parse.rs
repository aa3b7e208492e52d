//! One statement → the form it selects.
//!
//! The assembler evaluates its expressions and asks [`select`] for each instruction and [`pair`]
//! for each execution bundle; [`line()`] does all of it for text without symbols.

mod error;
mod half;
mod text;

use alloc::borrow::ToOwned;

use tilekiln_chip::csr::{self, Space};

pub use error::ParseError;
pub use half::half;
pub use text::{constant, line, words};

use crate::encode::HIGH_SHIFT;
use crate::form::{Fixup, Form, Kind, Lane, MAX_OPERANDS, Operand, SHORT, Suffix};
use crate::instruction::{ExecutionBundle, Instruction, Mode};
use crate::op::Op;
use crate::register::{self, Broadcast, Class, Register};
use crate::table::aliases::{ALIASES, Bound, Expansion, PSEUDO, Use};
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
    let mut result = choose(mnemonic, args, mode, exact);
    if options.allow_invalid_operands
        && matches!(
            result,
            Err(ParseError::OutOfRange { .. } | ParseError::LowBits { .. })
        )
    {
        result = choose(mnemonic, args, mode, options);
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

/// The best complaint so far, and how far its form had matched.
struct Nearest {
    progress: usize,
    error: ParseError,
}

impl Nearest {
    /// Keeps the complaint of the form that matched further; ranges of equals are joined.
    fn hear(&mut self, progress: usize, error: ParseError) {
        if progress > self.progress {
            *self = Self { progress, error };
        } else if let (
            true,
            ParseError::OutOfRange {
                low: known_low,
                high: known_high,
                ..
            },
            ParseError::OutOfRange { low, high, .. },
        ) = (progress == self.progress, &mut self.error, &error)
        {
            (*known_low, *known_high) = (*low.min(known_low), *high.max(known_high));
        } else if progress == self.progress && matches!(self.error, ParseError::LowBits { .. }) {
            self.error = error;
        }
    }
}

/// [`select`] with `options` as they are: with operands cut, the first form of the right shape wins.
fn choose(
    mnemonic: &str,
    args: &[Arg<'_>],
    mode: Mode,
    options: Options,
) -> Result<Selected, ParseError> {
    let error = ParseError::UnknownMnemonic {
        mnemonic: mnemonic.to_owned(),
    };
    let mut nearest = Nearest { progress: 0, error };
    let matcher = Matcher {
        mnemonic,
        args,
        mode,
        options,
    };
    for first in [true, false] {
        for form in named(mnemonic).filter(|form| comes_first(form) == first) {
            match matcher.form(form) {
                Ok(selected) => return Ok(selected),
                Err((progress, error)) => nearest.hear(progress, error),
            }
        }
    }
    for alias in ALIASES.iter().filter(|alias| alias.mnemonic == mnemonic) {
        if alias.used == Use::Print {
            continue;
        }
        match matcher.bound(alias.op.form(), alias.arity, |at| alias.bound[at]) {
            Ok(selected) => return Ok(selected),
            Err((progress, error)) => nearest.hear(progress, error),
        }
    }
    for (_, expansion) in PSEUDO.iter().filter(|(name, _)| *name == mnemonic) {
        let expanded = match *expansion {
            Expansion::Constant { low, high } => matcher.constant(low, high),
            Expansion::Negated(op) => matcher.negated(op),
        };
        match expanded {
            Ok(selected) => return Ok(selected),
            Err((progress, error)) => nearest.hear(progress, error),
        }
    }
    Err(nearest.error)
}

/// Whether the form is tried before the others of its name. [isa-encoding §4]
fn comes_first(form: &Form) -> bool {
    form.operands
        .iter()
        .any(|operand| matches!(operand.kind, Kind::Signed | Kind::High))
}

/// A complaint and how far the form had matched before it.
type Miss = (usize, ParseError);

/// Progress of a form that has another number of operands.
const COUNT_DIFFERS: usize = 1;
/// Progress of a form whose first operand is of another kind. Each operand that matches adds two,
/// one of the right kind with a wrong value one.
const KIND_DIFFERS: usize = 2;
/// Progress of a form that matched and belongs to the other mode.
const MODE_DIFFERS: usize = 100;

/// One statement, to be held against the forms of its name.
struct Matcher<'a> {
    mnemonic: &'a str,
    args: &'a [Arg<'a>],
    mode: Mode,
    options: Options,
}

impl Matcher<'_> {
    /// Holds the statement against `form` itself.
    fn form(&self, form: &'static Form) -> Result<Selected, Miss> {
        let all = form.operands.len();
        let delta = form
            .operands
            .iter()
            .position(|operand| operand.name == "delta");
        match delta {
            // Without a delta register the field holds m15. [isa-encoding §7.2]
            Some(delta) if form.traits.has(SHORT) && self.args.len() + 1 == all => {
                self.bound(form, all - 1, |at| match at {
                    at if at < delta => Bound::Arg(at as u8),
                    at if at > delta => Bound::Arg(at as u8 - 1),
                    _ => Bound::Is(15),
                })
            }
            _ => self.bound(form, all, |at| Bound::Arg(at as u8)),
        }
    }

    /// Holds the statement against `form` whose operands come from where `bound` says.
    fn bound(
        &self,
        form: &'static Form,
        arity: usize,
        bound: impl Fn(usize) -> Bound,
    ) -> Result<Selected, Miss> {
        self.arity(arity)?;
        let mut values = [0; MAX_OPERANDS];
        let mut reference = None;
        for (at, operand) in form.operands.iter().enumerate() {
            match bound(at) {
                Bound::Is(value) => values[at] = value,
                Bound::Arg(arg) => match self.operand(form, operand, arg.into())? {
                    Value::Known(value) => values[at] = value,
                    Value::Later(relocation) => {
                        reference = Some(Reference {
                            arg: arg.into(),
                            operand: at,
                            relocation,
                        });
                    }
                },
            }
        }
        self.mode(form)?;
        let instruction = Instruction { form, values };
        Ok(Selected {
            instruction,
            second: None,
            reference,
            pseudo: false,
        })
    }

    /// A 32-bit constant, in one instruction if that is enough.
    fn constant(&self, low: Op, high: Op) -> Result<Selected, Miss> {
        self.arity(2)?;
        let (low, high) = (low.form(), high.form());
        let Value::Known(register) = self.operand(low, &low.operands[0], 0)? else {
            return Err(self.miss(0, low.operands[0].kind));
        };
        let value = match self.args[1] {
            Arg::Constant(value) => value,
            Arg::Symbolic => {
                return Err((
                    near(1),
                    ParseError::NeedsConstant {
                        operand: low.operands[1].name,
                    },
                ));
            }
            _ => return Err(self.miss(1, Kind::Unsigned)),
        };
        let operand = low.operands[1].name;
        let value = self.range(operand, 1, value, i32::MIN.into(), u32::MAX.into())? as u32;
        self.mode(low)?;
        let (lower, upper) = (
            value & ((1 << HIGH_SHIFT) - 1),
            value >> HIGH_SHIFT << HIGH_SHIFT,
        );
        let instruction = Instruction {
            form: low,
            values: [register, lower, 0, 0, 0],
        };
        let values = [register, register, upper, 0, 0];
        let second = (upper != 0).then_some(Instruction { form: high, values });
        Ok(Selected {
            instruction,
            second,
            reference: None,
            pseudo: true,
        })
    }

    /// `op` with its last operand negated; the number may be no larger either way than its negative.
    fn negated(&self, op: Op) -> Result<Selected, Miss> {
        let form = op.form();
        self.arity(form.operands.len())?;
        let last = self.args.len() - 1;
        let mut args = [Arg::Symbolic; MAX_OPERANDS];
        args[..=last].copy_from_slice(self.args);
        let mut written = 0;
        if let Arg::Constant(value) = &mut args[last] {
            written = *value;
            *value = value.wrapping_neg();
        }
        let high = (1 << (form.operands[last].width - 1)) - 1;
        let negated = Matcher {
            args: &args[..=last],
            ..*self
        }
        .form(form);
        let (operand, value, low) = (form.operands[last].name, written, -high);
        let range = ParseError::OutOfRange {
            operand,
            value,
            low,
            high,
        };
        match negated {
            Ok(_) if written > high && !self.options.allow_invalid_operands => {
                Err((near(last), range))
            }
            Err((progress, ParseError::OutOfRange { .. })) => Err((progress, range)),
            other => other,
        }
    }

    /// Checks the number of operands.
    fn arity(&self, wanted: usize) -> Result<(), Miss> {
        if self.args.len() == wanted {
            return Ok(());
        }
        let (mnemonic, given) = (self.mnemonic.to_owned(), self.args.len());
        Err((
            COUNT_DIFFERS,
            ParseError::OperandCount {
                mnemonic,
                given,
                wanted,
            },
        ))
    }

    /// Checks that the mode has the form.
    fn mode(&self, form: &Form) -> Result<(), Miss> {
        if self.mode.may_execute(form.context) || self.options.allow_invalid_execution_mode {
            return Ok(());
        }
        let mode = self.mode;
        Err((
            MODE_DIFFERS,
            ParseError::WrongMode {
                mnemonic: form.mnemonic,
                mode,
            },
        ))
    }

    /// The complaint that argument `arg` is of another kind.
    fn miss(&self, arg: usize, wanted: Kind) -> Miss {
        (
            KIND_DIFFERS + 2 * arg,
            ParseError::WrongOperand {
                position: arg + 1,
                wanted,
            },
        )
    }

    /// The value that argument `arg` gives `operand`.
    fn operand(&self, form: &Form, operand: &Operand, arg: usize) -> Result<Value, Miss> {
        let kind = operand.kind;
        match (kind, self.args[arg]) {
            (_, Arg::Register(register)) if kind.is_register() => self
                .register(form, operand, arg, register)
                .map(Value::Known),
            (Kind::Csr | Kind::UpperCsr, Arg::Csr(name)) => self.csr(name, arg).map(Value::Known),
            (_, Arg::Constant(value)) if !kind.is_register() => {
                self.immediate(operand, arg, value).map(Value::Known)
            }
            (_, Arg::Symbolic) if !kind.is_register() => {
                let needs = ParseError::NeedsConstant {
                    operand: operand.name,
                };
                relocation(operand)
                    .map(Value::Later)
                    .ok_or((near(arg), needs))
            }
            _ => Err(self.miss(arg, kind)),
        }
    }

    /// The number of `register` where `operand` takes it.
    fn register(
        &self,
        form: &Form,
        operand: &Operand,
        arg: usize,
        register: Register,
    ) -> Result<u32, Miss> {
        // The public assembler does not look at the file of an address register; sources write
        // `$azero` there and mean m15. [isa-encoding §7.2]
        let address = form.traits.has(SHORT)
            && operand.kind == Kind::M
            && matches!(operand.name, "base" | "delta" | "off")
            && (register.class, register.broadcast) == (Class::A, Broadcast::None);
        if !register.is(operand.kind) && !address {
            return Err(self.miss(arg, operand.kind));
        }
        // One stepping store is written with and without its suffix. [isa-encoding §7.1]
        let optional = form.op == Op::Stm32stepMMM && operand.name == "base";
        let (given, wanted) = (register.suffix, operand.suffix);
        if given != wanted && !(optional && given == Suffix::Step) {
            let error = ParseError::WrongSuffix {
                position: arg + 1,
                given,
                wanted,
            };
            return Err((near(arg), error));
        }
        Ok(register.number.into())
    }

    /// The field of the control register `name`.
    fn csr(&self, name: &str, arg: usize) -> Result<u32, Miss> {
        if let Some(field) = csr_field(name, self.mode) {
            return Ok(field.into());
        }
        let other = csr_field(name, self.mode.other());
        match (other, self.options.allow_invalid_execution_mode) {
            (Some(field), true) => Ok(field.into()),
            (Some(_), false) => {
                let (name, mode) = (name.to_owned(), self.mode);
                Err((near(arg), ParseError::CsrOfOtherMode { name, mode }))
            }
            (None, _) => Err((
                near(arg),
                ParseError::UnknownCsr {
                    name: name.to_owned(),
                },
            )),
        }
    }

    /// The operand's value for the number `value`.
    fn immediate(&self, operand: &Operand, arg: usize, value: i64) -> Result<u32, Miss> {
        let name = operand.name;
        let power = 1i64 << operand.width;
        match operand.kind {
            Kind::Signed => {
                let value = self.range(name, arg, value, -power / 2, power / 2 - 1)?;
                Ok(operand.extract(operand.insert(value as u32)))
            }
            Kind::High => {
                let value = self.range(name, arg, value, i32::MIN.into(), u32::MAX.into())?;
                let whole = operand.extract(operand.insert(value as u32));
                if whole != value as u32 && !self.options.allow_invalid_operands {
                    return Err((
                        near(arg),
                        ParseError::LowBits {
                            operand: name,
                            value,
                        },
                    ));
                }
                Ok(whole)
            }
            _ => {
                let value = self.range(name, arg, value, 0, power - 1)?;
                Ok(operand.extract(operand.insert(value as u32)))
            }
        }
    }

    /// Checks that `value` lies between two bounds, both included.
    fn range(
        &self,
        operand: &'static str,
        arg: usize,
        value: i64,
        low: i64,
        high: i64,
    ) -> Result<i64, Miss> {
        if (low..=high).contains(&value) || self.options.allow_invalid_operands {
            return Ok(value);
        }
        Err((
            near(arg),
            ParseError::OutOfRange {
                operand,
                value,
                low,
                high,
            },
        ))
    }
}

/// What an argument gives an operand.
enum Value {
    Known(u32),
    Later(Relocation),
}

/// Progress of a form whose argument `arg` is of the right kind, with a wrong value.
const fn near(arg: usize) -> usize {
    KIND_DIFFERS + 2 * arg + 1
}

/// What a symbol in `operand` becomes.
fn relocation(operand: &Operand) -> Option<Relocation> {
    if operand.kind == Kind::Code {
        return Some(Relocation::Code19);
    }
    Some(match operand.fixup? {
        Fixup::Bits8 => Relocation::Bits8,
        Fixup::Bits16 => Relocation::Bits16,
        Fixup::Bits20 => Relocation::Bits20,
        Fixup::Run => Relocation::Run,
    })
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
