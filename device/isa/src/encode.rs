//! Instruction or execution bundle → words.

use crate::form::{COISSUE, Kind, Operand};
use crate::instruction::{Decoded, ExecutionBundle, Instruction};

/// The word of a solo instruction.
///
/// A value too large for its field is cut to the field; [`Instruction::new`] makes no such values.
pub fn encode(instruction: &Instruction) -> u32 {
    instruction
        .operands()
        .fold(instruction.form.bits, |word, (operand, value)| {
            word | operand.insert(value)
        })
}

/// The words of an execution bundle, main lane first, both with the coissue bit.
pub fn encode_bundle(bundle: &ExecutionBundle) -> [u32; 2] {
    [
        encode(&bundle.main) | COISSUE,
        encode(&bundle.aux) | COISSUE,
    ]
}

impl Decoded {
    /// The one or two words, in memory order.
    pub fn words(&self) -> impl Iterator<Item = u32> + use<> {
        let (first, second) = match self {
            Self::Solo(instruction) => (encode(instruction), None),
            Self::Inline(instruction, data) => (encode(instruction), Some(*data)),
            Self::Bundle(bundle) => {
                let [main, aux] = encode_bundle(bundle);
                (main, Some(aux))
            }
        };
        core::iter::once(first).chain(second)
    }
}

impl Operand {
    /// The bits of `value` at their places in the word; bits that have no place are dropped.
    pub fn insert(&self, value: u32) -> u32 {
        let field = if self.kind == Kind::High {
            value >> HIGH_SHIFT
        } else {
            value
        };
        self.fields.as_slice().iter().fold(0, |word, piece| {
            let bits = field >> piece.value_low & ((1 << piece.bits) - 1);
            word | bits << piece.word_low
        })
    }

    /// The value that `word` holds for this operand.
    pub fn extract(&self, word: u32) -> u32 {
        let field = self.fields.as_slice().iter().fold(0, |field, piece| {
            let bits = word >> piece.word_low & ((1 << piece.bits) - 1);
            field | bits << piece.value_low
        });
        match self.kind {
            Kind::High => field << HIGH_SHIFT,
            Kind::Signed => {
                let unused = 32 - u32::from(self.width);
                ((field << unused) as i32 >> unused) as u32
            }
            _ => field,
        }
    }
}

/// Where the field of a high immediate starts in the value. [isa-encoding §4]
pub(crate) const HIGH_SHIFT: u32 = 20;

#[cfg(test)]
mod tests {
    use super::{encode, encode_bundle};
    use crate::instruction::{ExecutionBundle, Instruction};
    use crate::op::Op;

    #[test]
    fn split_fields_land_where_the_formats_say() {
        let st32 = Instruction::new(Op::St32AMMZ12, &[13, 7, 0, 0xabc]);
        assert_eq!(encode(&st32), 0x5e7b_0adc);
        let run = Instruction::new(Op::RunMMZ16, &[0, 0, 0x1234]);
        assert_eq!(encode(&run), 0x1401_0234);
        let quad = Instruction::new(Op::Ld2xst64paceAqApMpMZ6, &[12, 14, 10, 2, 0]);
        assert_eq!(encode(&quad), 0x562c_a8e0);
    }

    #[test]
    fn both_halves_of_a_bundle_have_the_coissue_bit() {
        let main = Instruction::new(Op::SubMMM, &[0, 1, 2]);
        let aux = Instruction::new(Op::SetziAZ20, &[13, 0]);
        assert_eq!(
            encode_bundle(&ExecutionBundle { main, aux }),
            [0xc420_1602, 0x9ad0_0000]
        );
    }
}
