//! What one line of the table says: mnemonic, operands, bits, mask, lane, context.
//!
//! A line is written with the one-word constructors of this file, so that it reads like the manual:
//! `m("src0", 20)` is a main register in word bits 23:20, `z("off", 0, 12).of(4)` an unsigned
//! 12-bit immediate at bit 0 that counts 4-byte units.

use crate::op::Op;

/// Bit 31 of a word: set in both halves of an execution bundle. [isa-encoding §2]
pub const COISSUE: u32 = 1 << 31;

/// The issue slot a form belongs to. [isa-encoding §2]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// Main registers, memory, control.
    Main,
    /// Aux registers; workers only.
    Aux,
}

/// Who may execute a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    /// Supervisor and workers.
    Both,
    /// Workers only.
    Worker,
    /// The supervisor only.
    Supervisor,
}

/// The best public support of a form's encoding, strongest first. [isa.json, legend]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Evidence {
    /// Machine words are printed publicly.
    Bytes,
    /// A public test asserts the text.
    Text,
    /// A public instruction description.
    Table,
    /// Operand classes agree with the instruction pages.
    Signature,
    /// Third-party reverse engineering only.
    Recovered,
}

/// A set of the properties that decide where a form may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traits(u8);

/// May not stand in a repeat body: branches, calls, repeats, exits.
pub const CONTROL: Traits = Traits(1);
/// May not stand in a repeat body: registers, traps, launches, exchange.
pub const SYSTEM: Traits = Traits(2);
/// The delta register may be left out in text; `$m15` is then encoded.
pub const SHORT: Traits = Traits(4);
/// Never half of an execution bundle; bit 31 belongs to the opcode.
pub const SOLO: Traits = Traits(8);
/// Followed by one word of data, and starting on 8 bytes.
pub const INLINE: Traits = Traits(16);
/// Exists on ipu21 only.
pub const IPU21: Traits = Traits(32);
/// Exists on ipu2 and ipu21.
pub const IPU2: Traits = Traits(64);

impl Traits {
    /// No property at all.
    pub const NONE: Self = Self(0);

    /// Both sets together.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every property of `other` is in this set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One encodable shape of a mnemonic.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Which form this is.
    pub op: Op,
    /// Its name in text; several forms share one.
    pub mnemonic: &'static str,
    /// The operands, in assembly order.
    pub operands: &'static [Operand],
    /// The fixed bits of a solo instruction (coissue bit 0 unless it is part of the opcode).
    pub bits: u32,
    /// Which bits are fixed; operands and the coissue bit are not.
    pub mask: u32,
    /// Its issue slot.
    pub lane: Lane,
    /// Who may execute it.
    pub context: Context,
    /// What supports the encoding.
    pub evidence: Evidence,
    /// Where it may stand.
    pub traits: Traits,
}

impl Form {
    /// The same form with `traits`.
    pub(crate) const fn with(self, traits: Traits) -> Self {
        Self { traits, ..self }
    }

    /// Whether the form may be half of an execution bundle.
    pub const fn can_coissue(&self) -> bool {
        !self.traits.has(SOLO)
    }
}

/// The one way to write a form down; wrong ones do not compile.
#[expect(
    clippy::too_many_arguments,
    reason = "a line of the table has these columns"
)]
pub(crate) const fn form(
    op: Op,
    mnemonic: &'static str,
    operands: &'static [Operand],
    bits: u32,
    mask: u32,
    lane: Lane,
    context: Context,
    evidence: Evidence,
) -> Form {
    assert!(bits & !mask == 0, "a fixed bit lies outside the mask");
    assert!(
        operands.len() <= MAX_OPERANDS,
        "more operands than any form has"
    );
    Form {
        op,
        mnemonic,
        operands,
        bits,
        mask,
        lane,
        context,
        evidence,
        traits: Traits::NONE,
    }
}

/// The most operands a form has.
pub const MAX_OPERANDS: usize = 5;

/// What an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A main register.
    M,
    /// An aux register.
    A,
    /// An aligned pair of main registers; the value is the even number.
    MPair,
    /// An aligned pair of aux registers; the value is the even number.
    APair,
    /// An aligned quad of aux registers; the value is the first number.
    AQuad,
    /// An aux register whose lower half is broadcast, `$aN:BL`.
    ALower,
    /// An aux register whose upper half is broadcast, `$aN:BU`.
    AUpper,
    /// An aux register that is broadcast, `$aN:B`.
    ABroadcast,
    /// An unsigned immediate.
    Unsigned,
    /// A two's complement immediate.
    Signed,
    /// A 12-bit immediate in bits 31:20 of a 32-bit value; text gives the whole value.
    High,
    /// An absolute code address in words.
    Code,
    /// A control and status register 0 to 255.
    Csr,
    /// A control and status register 256 to 511, as number minus 256.
    UpperCsr,
}

/// Whether an operand is read, written or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Read.
    In,
    /// Written.
    Out,
    /// Read, then written.
    InOut,
}

/// What text must follow a register. [isa-encoding §7.1]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suffix {
    /// Nothing.
    None,
    /// `+=`, a stepped pointer.
    Step,
    /// `++`, a pointer that moves by one access.
    Bump,
    /// `@`, a register of deltas.
    Delta,
    /// `>>`, a register that is shifted down.
    Shift,
}

/// The relocation a symbol gives in this operand, apart from code addresses. [isa-encoding §10]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fixup {
    /// `R_COLOSSUS_8`
    Bits8,
    /// `R_COLOSSUS_16`
    Bits16,
    /// `R_COLOSSUS_20`
    Bits20,
    /// `R_COLOSSUS_RUN`
    Run,
}

/// Where a piece of an operand's value lies in the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Lowest bit in the word.
    pub word_low: u8,
    /// How many bits.
    pub bits: u8,
    /// Lowest bit in the value.
    pub value_low: u8,
}

/// One operand of a form.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The name the specification gives it.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// How many bits its value has.
    pub width: u8,
    /// Where they lie.
    pub fields: Fields,
    /// Read, written or both.
    pub direction: Direction,
    /// What follows it in text.
    pub suffix: Suffix,
    /// Bytes the hardware multiplies the value by; 1 when it does not.
    pub scale: u8,
    /// What a symbol in this place becomes; `None` where only constants may stand.
    pub fixup: Option<Fixup>,
}

/// The fields of an operand: nearly always one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fields {
    /// One run of bits.
    One(Field),
    /// Several.
    Split(&'static [Field]),
}

impl Fields {
    /// The fields as a slice.
    pub const fn as_slice(&self) -> &[Field] {
        match self {
            Self::One(field) => core::slice::from_ref(field),
            Self::Split(fields) => fields,
        }
    }
}

impl Operand {
    /// The word bits this operand occupies.
    pub fn mask(&self) -> u32 {
        let run = |f: &Field| ((1u32 << f.bits) - 1) << f.word_low;
        self.fields
            .as_slice()
            .iter()
            .map(run)
            .fold(0, |mask, bits| mask | bits)
    }

    const fn new(name: &'static str, kind: Kind, fields: Fields, width: u8) -> Self {
        let (direction, suffix) = (Direction::In, Suffix::None);
        Self {
            name,
            kind,
            width,
            fields,
            direction,
            suffix,
            scale: 1,
            fixup: None,
        }
    }

    pub(crate) const fn out(self) -> Self {
        Self {
            direction: Direction::Out,
            ..self
        }
    }
    pub(crate) const fn inout(self) -> Self {
        Self {
            direction: Direction::InOut,
            ..self
        }
    }
    pub(crate) const fn of(self, scale: u8) -> Self {
        Self { scale, ..self }
    }
    pub(crate) const fn step(self) -> Self {
        Self {
            suffix: Suffix::Step,
            ..self
        }
    }
    pub(crate) const fn bump(self) -> Self {
        Self {
            suffix: Suffix::Bump,
            ..self
        }
    }
    pub(crate) const fn delta(self) -> Self {
        Self {
            suffix: Suffix::Delta,
            ..self
        }
    }
    pub(crate) const fn shift(self) -> Self {
        Self {
            suffix: Suffix::Shift,
            ..self
        }
    }
    pub(crate) const fn fixup(self, fixup: Fixup) -> Self {
        Self {
            fixup: Some(fixup),
            ..self
        }
    }
}

/// Field `bits` wide at word bit `word_low`, holding the value from bit `value_low` up.
pub(crate) const fn at(word_low: u8, bits: u8, value_low: u8) -> Field {
    Field {
        word_low,
        bits,
        value_low,
    }
}

const fn one(low: u8, bits: u8) -> Fields {
    Fields::One(at(low, bits, 0))
}

pub(crate) const fn m(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::M, one(low, 4), 4)
}
pub(crate) const fn a(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::A, one(low, 4), 4)
}
pub(crate) const fn mp(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::MPair, one(low, 4), 4)
}
pub(crate) const fn ap(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::APair, one(low, 4), 4)
}
pub(crate) const fn aq(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::AQuad, one(low, 4), 4)
}
/// A quad in three bits: its number times two, bit 0 of the register number being always 0.
pub(crate) const fn aq3(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::AQuad, Fields::One(at(low, 3, 1)), 4)
}
pub(crate) const fn bl(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::ALower, one(low, 4), 4)
}
pub(crate) const fn bu(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::AUpper, one(low, 4), 4)
}
pub(crate) const fn bb(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::ABroadcast, one(low, 4), 4)
}
pub(crate) const fn z(name: &'static str, low: u8, width: u8) -> Operand {
    Operand::new(name, Kind::Unsigned, one(low, width), width)
}
pub(crate) const fn z_in(name: &'static str, width: u8, fields: &'static [Field]) -> Operand {
    Operand::new(name, Kind::Unsigned, Fields::Split(fields), width)
}
pub(crate) const fn s(name: &'static str, low: u8, width: u8) -> Operand {
    Operand::new(name, Kind::Signed, one(low, width), width)
}
pub(crate) const fn s_in(name: &'static str, width: u8, fields: &'static [Field]) -> Operand {
    Operand::new(name, Kind::Signed, Fields::Split(fields), width)
}
pub(crate) const fn h(name: &'static str, low: u8, width: u8) -> Operand {
    Operand::new(name, Kind::High, one(low, width), width)
}
pub(crate) const fn code(name: &'static str, low: u8, width: u8) -> Operand {
    Operand::new(name, Kind::Code, one(low, width), width)
}
pub(crate) const fn csr(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::Csr, one(low, 8), 8)
}
pub(crate) const fn ucsr(name: &'static str, low: u8) -> Operand {
    Operand::new(name, Kind::UpperCsr, one(low, 8), 8)
}
