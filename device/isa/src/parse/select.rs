//! The choice of a form for one statement.

use alloc::borrow::ToOwned;

use super::{Arg, Options, ParseError, Reference, Relocation, Selected, csr_field};
use crate::encode::HIGH_SHIFT;
use crate::form::{Fixup, Form, Kind, MAX_OPERANDS, Operand, SHORT, Suffix};
use crate::instruction::{Instruction, Mode};
use crate::op::Op;
use crate::register::{Broadcast, Class, Register};
use crate::table::aliases::{ALIASES, Bound, Expansion, PSEUDO, Use};
use crate::table::named;

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
pub(super) fn choose(
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
