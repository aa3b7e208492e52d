//! A form with values in its operands, and what two of them make.

use core::fmt;

use crate::form::{Context, Direction, Form, Kind, MAX_OPERANDS, Operand};
use crate::op::Op;

/// Who executes: decides which forms and which control registers exist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// The tile's supervisor: main lane only, no execution bundles.
    Supervisor,
    /// One of the six workers.
    Worker,
}

impl Mode {
    /// The mode that is not this one.
    pub const fn other(self) -> Self {
        match self {
            Self::Supervisor => Self::Worker,
            Self::Worker => Self::Supervisor,
        }
    }

    /// Whether this mode may execute forms of `context`.
    pub fn may_execute(self, context: Context) -> bool {
        match context {
            Context::Both => true,
            Context::Worker => self == Self::Worker,
            Context::Supervisor => self == Self::Supervisor,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Supervisor => "supervisor",
            Self::Worker => "worker",
        })
    }
}

/// One instruction: a line of the table and a value for each of its operands.
///
/// Values stand in assembly order; places beyond the form's operands hold 0. What a value means
/// depends on the operand's kind:
///
/// | kind | value |
/// |---|---|
/// | registers | the number; of the first register for pairs and quads |
/// | `Unsigned` | the field, never scaled |
/// | `Signed` | the field, sign-extended to 32 bits |
/// | `High` | the whole 32-bit value, that is field `<< 20` |
/// | `Code` | the raw field, a word address |
/// | `Csr`, `UpperCsr` | the field, 0 to 255 |
#[derive(Clone, Copy)]
pub struct Instruction {
    /// Which form.
    pub form: &'static Form,
    /// The operands' values.
    pub values: [u32; MAX_OPERANDS],
}

impl Instruction {
    /// Builds the instruction `op` from its operands' values, for code that is generated.
    ///
    /// # Panics
    ///
    /// When [`Instruction::try_new`] would refuse: a generator that does this has a bug.
    #[track_caller]
    pub fn new(op: Op, values: &[u32]) -> Self {
        match Self::try_new(op, values) {
            Ok(instruction) => instruction,
            Err(error) => panic!("{}: {error}", op.form().mnemonic),
        }
    }

    /// Builds the instruction `op` from its operands' values.
    ///
    /// # Errors
    ///
    /// - [`ValueError::Count`] when there are more or fewer values than operands;
    /// - [`ValueError::Range`] when a value is not one its field can hold;
    /// - [`ValueError::Group`] when a pair or quad does not start on its alignment.
    pub fn try_new(op: Op, values: &[u32]) -> Result<Self, ValueError> {
        let form = op.form();
        if values.len() != form.operands.len() {
            return Err(ValueError::Count {
                given: values.len(),
                wanted: form.operands.len(),
            });
        }
        let mut all = [0; MAX_OPERANDS];
        for ((operand, &value), place) in form.operands.iter().zip(values).zip(&mut all) {
            operand.check(value)?;
            *place = value;
        }
        Ok(Self { form, values: all })
    }

    /// Which form this is.
    pub fn op(&self) -> Op {
        self.form.op
    }

    /// Each operand with its value, in assembly order.
    pub fn operands(&self) -> impl Iterator<Item = (&'static Operand, u32)> + '_ {
        self.form.operands.iter().zip(self.values)
    }

    /// The registers the instruction names as results, the zero registers included.
    pub fn written(&self) -> impl Iterator<Item = Written> + '_ {
        self.operands()
            .filter(|(operand, _)| operand.direction != Direction::In)
            .filter_map(|(operand, value)| {
                let (aux, count) = match operand.kind {
                    Kind::M => (false, 1),
                    Kind::MPair => (false, 2),
                    Kind::A | Kind::ALower | Kind::AUpper | Kind::ABroadcast => (true, 1),
                    Kind::APair => (true, 2),
                    Kind::AQuad => (true, 4),
                    _ => return None,
                };
                Some(Written {
                    aux,
                    first: value as u8,
                    count,
                })
            })
    }
}

impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        self.form.op == other.form.op && self.values == other.values
    }
}

impl Eq for Instruction {}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = &self.values[..self.form.operands.len()];
        write!(f, "{:?}{values:?}", self.form.op)
    }
}

/// A run of registers that an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// Whether they are aux registers; main registers otherwise.
    pub aux: bool,
    /// The first one's number.
    pub first: u8,
    /// How many.
    pub count: u8,
}

impl Written {
    /// Whether a register lies in both runs.
    pub fn overlaps(self, other: Self) -> bool {
        self.aux == other.aux
            && self.first < other.first + other.count
            && other.first < self.first + self.count
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.aux { 'a' } else { 'm' };
        write!(f, "${file}{}", self.first)?;
        if self.count > 1 {
            write!(f, ":{}", self.first + self.count - 1)?;
        }
        Ok(())
    }
}

/// A main and an aux instruction that issue together. [isa-encoding §2]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExecutionBundle {
    /// The main-lane half, first in memory.
    pub main: Instruction,
    /// The aux-lane half.
    pub aux: Instruction,
}

impl ExecutionBundle {
    /// What both halves write, if they clash; no execution bundle may. [isa-core §2.1]
    ///
    /// Names the aux half's registers. The zero registers count.
    pub fn clash(&self) -> Option<Written> {
        self.aux
            .written()
            .find(|aux| self.main.written().any(|main| main.overlaps(*aux)))
    }
}

/// What one or two words are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decoded {
    /// One word.
    Solo(Instruction),
    /// Two words that issue together.
    Bundle(ExecutionBundle),
    /// An instruction and its inline word of data: `sendpicp`. [isa-encoding §2]
    Inline(Instruction, u32),
}

impl Decoded {
    /// How many bytes of code it occupies: 4 or 8.
    pub const fn bytes(&self) -> u32 {
        match self {
            Self::Solo(_) => 4,
            Self::Bundle(_) | Self::Inline(..) => 8,
        }
    }
}

/// Why values do not make an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ValueError {
    /// There are more or fewer values than operands.
    Count {
        /// How many values came.
        given: usize,
        /// How many operands the form has.
        wanted: usize,
    },
    /// A value does not fit its field.
    Range {
        /// The operand.
        operand: &'static str,
        /// The value, as it was given.
        value: u32,
        /// The width of its field.
        bits: u8,
    },
    /// A pair or quad starts at a number that is not a multiple of its size.
    Group {
        /// The operand.
        operand: &'static str,
        /// The number of its first register.
        first: u32,
        /// How many registers it has.
        size: u32,
    },
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { given, wanted } => {
                write!(f, "{given} operands given; the form has {wanted}")
            }
            Self::Range {
                operand,
                value,
                bits,
            } => {
                write!(f, "{operand} is {value:#x}; its field has {bits} bits")
            }
            Self::Group {
                operand,
                first,
                size,
            } => {
                write!(
                    f,
                    "{operand} starts at register {first}; groups of {size} are aligned"
                )
            }
        }
    }
}

impl core::error::Error for ValueError {}

impl Operand {
    /// Checks that `value`, in the sense of [`Instruction`], is one this operand can hold.
    ///
    /// # Errors
    ///
    /// [`ValueError::Range`] and [`ValueError::Group`].
    pub fn check(&self, value: u32) -> Result<(), ValueError> {
        let size = self.kind.group();
        if size > 1 && !value.is_multiple_of(size) {
            return Err(ValueError::Group {
                operand: self.name,
                first: value,
                size,
            });
        }
        if self.extract(self.insert(value)) != value {
            return Err(ValueError::Range {
                operand: self.name,
                value,
                bits: self.width,
            });
        }
        Ok(())
    }
}

impl Kind {
    /// How many registers the operand names; 1 for everything that is no group.
    pub const fn group(self) -> u32 {
        match self {
            Self::MPair | Self::APair => 2,
            Self::AQuad => 4,
            _ => 1,
        }
    }

    /// Whether the operand is a register or a group of them.
    pub const fn is_register(self) -> bool {
        use Kind::{A, ABroadcast, ALower, APair, AQuad, AUpper, M, MPair};
        matches!(
            self,
            M | A | MPair | APair | AQuad | ALower | AUpper | ABroadcast
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ExecutionBundle, Instruction, ValueError};
    use crate::op::Op;

    #[test]
    fn values_that_do_not_fit_are_refused_with_both_numbers() {
        let range = Instruction::try_new(Op::AddMMM, &[0, 1, 16]);
        assert_eq!(
            range,
            Err(ValueError::Range {
                operand: "src1",
                value: 16,
                bits: 4
            })
        );
        let group = Instruction::try_new(Op::Ld64ApMMZ12, &[3, 1, 15, 0]);
        assert_eq!(
            group,
            Err(ValueError::Group {
                operand: "dst",
                first: 3,
                size: 2
            })
        );
        let count = Instruction::try_new(Op::BrM, &[]);
        assert_eq!(
            count,
            Err(ValueError::Count {
                given: 0,
                wanted: 1
            })
        );
        let high = Instruction::try_new(Op::OrMMH12, &[0, 0, 0x12_3456]);
        assert!(matches!(high, Err(ValueError::Range { .. })));
        assert!(Instruction::try_new(Op::AddMMS16, &[0, 0, -1i32 as u32]).is_ok());
        assert!(Instruction::try_new(Op::AddMMS16, &[0, 0, 0xffff]).is_err());
    }

    #[test]
    fn halves_of_a_bundle_clash_where_a_pair_holds_the_other_ones_register() {
        let main = Instruction::new(Op::Ld64ApMMZ12, &[14, 13, 15, 0]);
        let clash = |dst| {
            let aux = Instruction::new(Op::SetziAZ20, &[dst, 4]);
            ExecutionBundle { main, aux }.clash()
        };
        assert!(clash(15).is_some());
        assert!(clash(14).is_some());
        assert!(clash(13).is_none());
    }
}
