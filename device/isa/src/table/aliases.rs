//! Names that are written for other forms, and the pseudo-instructions. [isa-encoding §7.3]

use Bound::{Arg, Is};
use Use::{Both, Text};

use crate::op::Op;

/// Where a form's operand comes from when it is written under another name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// From this operand of the alias.
    Arg(u8),
    /// It always has this value.
    Is(u32),
}

/// Who uses an alias.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// The parser and the printer.
    Both,
    /// The parser alone: names that force a form.
    Text,
    /// The printer alone: a second pattern that means the same.
    Print,
}

/// Another name for a form, perhaps with some of its operands fixed.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// Its name in text.
    pub mnemonic: &'static str,
    /// How many operands it has.
    pub arity: usize,
    /// The form it stands for.
    pub op: Op,
    /// Where each of the form's operands comes from, in assembly order.
    pub bound: &'static [Bound],
    /// Who uses it.
    pub used: Use,
}

/// Every alias. The printer takes the first that fits: the more specific come first.
#[rustfmt::skip] // One alias a line: the columns are the point.
pub const ALIASES: &[Alias] = &[
    alias("adds",            3, Op::AddMMS16,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("addz",            3, Op::AddMMZ16,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("cmpeqs",          3, Op::CmpeqMMS16,              &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("cmpeqz",          3, Op::CmpeqMMZ16,              &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("maxs",            3, Op::MaxMMS16,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("maxz",            3, Op::MaxMMZ16,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("mins",            3, Op::MinMMS16,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("minz",            3, Op::MinMMZ16,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("subs",            3, Op::SubMS16M,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("subz",            3, Op::SubMZ16M,                &[Arg(0), Arg(1), Arg(2)],         Text),
    alias("f16v4sisov2amp",  4, Op::F16v4sisoampApApApZ6,    &[Arg(0), Arg(1), Arg(2), Arg(3)], Text),
    alias("f16v4sisov2slic", 4, Op::F16v4sisoslicApApApZ6,   &[Arg(0), Arg(1), Arg(2), Arg(3)], Text),
    alias("nop",             0, Op::SetziMZ20,               &[Is(14), Is(0)],                  Both),
    alias("fnop",            0, Op::SetziAZ20,               &[Is(13), Is(0)],                  Both),
    alias("zero",            1, Op::OrMMM,                   &[Arg(0), Is(15), Is(15)],         Both),
    alias("zero",            1, Op::OrAAA,                   &[Arg(0), Is(15), Is(15)],         Both),
    alias("zero",            1, Op::Or64ApApAp,              &[Arg(0), Is(14), Is(14)],         Both),
    alias("mov",             2, Op::OrMMZ12,                 &[Arg(0), Arg(1), Is(0)],          Both),
    alias("mov",             2, Op::OrMMH12,                 &[Arg(0), Arg(1), Is(0)],          Use::Print),
    alias("mov",             2, Op::OrAAZ12,                 &[Arg(0), Arg(1), Is(0)],          Both),
    alias("mov",             2, Op::OrAAH12,                 &[Arg(0), Arg(1), Is(0)],          Use::Print),
    alias("mov",             2, Op::AtomMA,                  &[Arg(0), Arg(1)],                 Both),
    alias("mov",             2, Op::Or64ApApAp,              &[Arg(0), Arg(1), Is(14)],         Both),
    alias("movnz",           3, Op::MovzMMM,                 &[Arg(0), Arg(1), Arg(2)],         Both),
    alias("get",             2, Op::UgetACsr,                &[Arg(0), Arg(1)],                 Both),
    alias("put",             2, Op::UputCsrA,                &[Arg(0), Arg(1)],                 Both),
    alias("swap16",          2, Op::Roll16MMM,               &[Arg(0), Arg(1), Arg(1)],         Both),
    alias("swap16",          2, Op::Roll16AAA,               &[Arg(0), Arg(1), Arg(1)],         Both),
    alias("strap",           0, Op::PutCsrM,                 &[Is(255), Is(15)],                Both),
];

/// The one way to write an alias down.
const fn alias(
    mnemonic: &'static str,
    arity: usize,
    op: Op,
    bound: &'static [Bound],
    used: Use,
) -> Alias {
    Alias {
        mnemonic,
        arity,
        op,
        bound,
        used,
    }
}

/// What a pseudo-instruction becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expansion {
    /// A 32-bit constant: `low` with its bits 19:0, then `high` with the others unless they are 0.
    Constant {
        /// Sets the register to a 20-bit value.
        low: Op,
        /// Adds the upper 12 bits to the same register.
        high: Op,
    },
    /// The form with its last operand negated.
    Negated(Op),
}

/// Every pseudo-instruction, with what it becomes.
pub const PSEUDO: &[(&str, Expansion)] = &[
    (
        "ldconst",
        Expansion::Constant {
            low: Op::SetziMZ20,
            high: Op::OrMMH12,
        },
    ),
    (
        "ldconst",
        Expansion::Constant {
            low: Op::SetziAZ20,
            high: Op::OrAAH12,
        },
    ),
    ("sub", Expansion::Negated(Op::AddMMS16)),
];

#[cfg(test)]
mod tests {
    use super::{ALIASES, Bound, Expansion, PSEUDO};

    #[test]
    fn every_alias_binds_every_operand_of_its_form_and_uses_all_of_its_own() {
        assert_eq!((ALIASES.len(), PSEUDO.len()), (29, 3));
        for alias in ALIASES {
            let form = alias.op.form();
            assert_eq!(alias.bound.len(), form.operands.len(), "{}", alias.mnemonic);
            for (operand, bound) in form.operands.iter().zip(alias.bound) {
                if let Bound::Is(value) = bound {
                    assert_eq!(operand.check(*value), Ok(()), "{}", alias.mnemonic);
                }
            }
            for arg in 0..alias.arity {
                assert!(
                    alias.bound.contains(&Bound::Arg(arg as u8)),
                    "{}",
                    alias.mnemonic
                );
            }
        }
    }

    #[test]
    fn both_halves_of_a_constant_go_to_the_same_kind_of_register() {
        for (name, expansion) in PSEUDO {
            if let Expansion::Constant { low, high } = expansion {
                let kinds = [low, high].map(|op| op.form().operands[0].kind);
                assert_eq!(kinds[0], kinds[1], "{name}");
            }
        }
    }
}
