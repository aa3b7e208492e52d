//! Words → instruction or execution bundle, or the reason why not.

use core::fmt;

use crate::form::{COISSUE, Form, INLINE, Kind, Lane, MAX_OPERANDS};
use crate::instruction::{Decoded, ExecutionBundle, Instruction, Mode, Written};
use crate::table::{COUNT, FORMS};

/// Why words are no instruction, or none that the mode may execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DecodeError {
    /// No form has this pattern.
    UnknownWord {
        /// The word.
        word: u32,
    },
    /// A pair or quad of registers starts where none does. [isa-encoding §3]
    BadGroup {
        /// The word.
        word: u32,
        /// The form's mnemonic.
        mnemonic: &'static str,
        /// The operand.
        operand: &'static str,
        /// The register number in the field.
        first: u8,
    },
    /// The form belongs to the other mode.
    WrongMode {
        /// The form's mnemonic.
        mnemonic: &'static str,
        /// The mode that tried.
        mode: Mode,
    },
    /// The second of two words is missing.
    Truncated {
        /// The first word.
        word: u32,
    },
    /// The coissue bit is set in a supervisor's word that is not `sendpicp`.
    CoissueInSupervisor {
        /// The word.
        word: u32,
    },
    /// The coissue bit is set in the first word and clear in the second.
    LoneCoissue {
        /// The first word.
        first: u32,
        /// The second word.
        second: u32,
    },
    /// An instruction stands in the other lane's half of an execution bundle.
    WrongLane {
        /// Its mnemonic.
        mnemonic: &'static str,
        /// Which half it stands in.
        half: Lane,
    },
    /// Both halves of an execution bundle write the same register. [isa-core §2.1]
    WritesTwice {
        /// What the aux half writes.
        register: Written,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UnknownWord { word } => write!(f, "{word:#010x} is no instruction"),
            Self::BadGroup {
                word,
                mnemonic,
                operand,
                first,
            } => {
                write!(
                    f,
                    "{word:#010x} is {mnemonic} whose {operand} starts at register {first}"
                )
            }
            Self::WrongMode { mnemonic, mode } => {
                write!(
                    f,
                    "{mnemonic} is for the {}; this is a {mode}",
                    mode.other()
                )
            }
            Self::Truncated { word } => {
                write!(f, "{word:#010x} is the first of 2 words; there is 1")
            }
            Self::CoissueInSupervisor { word } => {
                write!(
                    f,
                    "{word:#010x} is half of an execution bundle; supervisors have none"
                )
            }
            Self::LoneCoissue { first, second } => write!(
                f,
                "{first:#010x} is half of an execution bundle; {second:#010x} after it is not"
            ),
            Self::WrongLane { mnemonic, half } => {
                let half = if half == Lane::Main { "main" } else { "aux" };
                write!(
                    f,
                    "{mnemonic} stands in the {half} half of an execution bundle"
                )
            }
            Self::WritesTwice { register } => {
                write!(f, "both halves of an execution bundle write {register}")
            }
        }
    }
}

impl core::error::Error for DecodeError {}

/// Reads one word, with or without the coissue bit, as the single instruction it is.
///
/// A form of the other mode is read too: patterns never overlap, so `mode` only decides how
/// [`decode()`] and the printer go on.
///
/// # Errors
///
/// [`DecodeError::UnknownWord`] and [`DecodeError::BadGroup`].
pub fn decode_word(word: u32) -> Result<Instruction, DecodeError> {
    let form = lookup(word).ok_or(DecodeError::UnknownWord { word })?;
    let mut values = [0; MAX_OPERANDS];
    for (operand, place) in form.operands.iter().zip(&mut values) {
        let value = operand.extract(word);
        // m12:13 and m14:15 are no pairs, although the assembler takes their names. [isa-encoding §3]
        let exists = value.is_multiple_of(operand.kind.group())
            && !(operand.kind == Kind::MPair && value > LAST_MAIN_PAIR);
        if !exists {
            let (mnemonic, operand) = (form.mnemonic, operand.name);
            return Err(DecodeError::BadGroup {
                word,
                mnemonic,
                operand,
                first: value as u8,
            });
        }
        *place = value;
    }
    Ok(Instruction { form, values })
}

/// The last pair of main registers that decodes. [isa-encoding §3]
const LAST_MAIN_PAIR: u32 = 10;

/// Reads what a context in `mode` executes at two consecutive words.
///
/// `second` is looked at only where the first word asks for it; `None` says that memory ends.
///
/// # Errors
///
/// Everything the chip does not execute. [isa-core §2.1]
pub fn decode(first: u32, second: Option<u32>, mode: Mode) -> Result<Decoded, DecodeError> {
    let legal = |instruction: Instruction| {
        let form = instruction.form;
        if mode.may_execute(form.context) {
            return Ok(instruction);
        }
        Err(DecodeError::WrongMode {
            mnemonic: form.mnemonic,
            mode,
        })
    };
    if mode == Mode::Supervisor && first & COISSUE != 0 {
        // Whatever follows: `sendpicp` is the only such word. [isa-core §2.1]
        let inline = inline(first, second);
        let other = DecodeError::CoissueInSupervisor { word: first };
        return if is_inline(&inline) {
            inline
        } else {
            Err(other)
        };
    }
    match read(first, second, mode)? {
        Decoded::Solo(instruction) => Ok(Decoded::Solo(legal(instruction)?)),
        Decoded::Inline(instruction, data) => Ok(Decoded::Inline(legal(instruction)?, data)),
        Decoded::Bundle(bundle) => {
            for (half, instruction) in [(Lane::Main, bundle.main), (Lane::Aux, bundle.aux)] {
                let form = legal(instruction)?.form;
                if form.lane != half {
                    return Err(DecodeError::WrongLane {
                        mnemonic: form.mnemonic,
                        half,
                    });
                }
            }
            match bundle.clash() {
                Some(register) => Err(DecodeError::WritesTwice { register }),
                None => Ok(Decoded::Bundle(bundle)),
            }
        }
    }
}

/// Reads two consecutive words as a disassembler does: in `mode` first, then in the other one.
///
/// Takes any two co-issuable instructions as the halves of an execution bundle, in whatever lane,
/// and forms of either mode; [`decode()`] is the strict one. [isa-encoding §2, §11]
///
/// # Errors
///
/// [`DecodeError::UnknownWord`], [`DecodeError::BadGroup`], [`DecodeError::Truncated`] and
/// [`DecodeError::LoneCoissue`].
pub fn read(first: u32, second: Option<u32>, mode: Mode) -> Result<Decoded, DecodeError> {
    if first & COISSUE == 0 {
        return decode_word(first).map(Decoded::Solo);
    }
    let inline = inline(first, second);
    match mode {
        Mode::Supervisor if is_inline(&inline) => inline,
        Mode::Supervisor => bundle(first, second),
        Mode::Worker => bundle(first, second).or_else(|error| match inline {
            inline if is_inline(&inline) => inline,
            _ => Err(error),
        }),
    }
}

/// Whether the first word was an instruction with inline data, even if the data is missing.
fn is_inline(read: &Result<Decoded, DecodeError>) -> bool {
    matches!(read, Ok(_) | Err(DecodeError::Truncated { .. }))
}

/// The two words as an instruction with inline data.
fn inline(first: u32, second: Option<u32>) -> Result<Decoded, DecodeError> {
    let instruction = decode_word(first)?;
    if !instruction.form.traits.has(INLINE) {
        return Err(DecodeError::UnknownWord { word: first });
    }
    let data = second.ok_or(DecodeError::Truncated { word: first })?;
    Ok(Decoded::Inline(instruction, data))
}

/// The two words as an execution bundle, lanes unchecked.
fn bundle(first: u32, second: Option<u32>) -> Result<Decoded, DecodeError> {
    let half = |word: u32| {
        let instruction = decode_word(word)?;
        // Solo forms have bit 31 in their mask, so only the inline one can get this far.
        if instruction.form.can_coissue() {
            return Ok(instruction);
        }
        Err(DecodeError::UnknownWord { word })
    };
    let main = half(first)?;
    let second = second.ok_or(DecodeError::Truncated { word: first })?;
    if second & COISSUE == 0 {
        return Err(DecodeError::LoneCoissue { first, second });
    }
    Ok(Decoded::Bundle(ExecutionBundle {
        main,
        aux: half(second)?,
    }))
}

/// The form whose fixed bits `word` has.
fn lookup(word: u32) -> Option<&'static Form> {
    let key = key(word);
    let candidates = &INDEX.lines[INDEX.starts[key] as usize..INDEX.starts[key + 1] as usize];
    candidates
        .iter()
        .find(|line| word & line.mask == line.bits)
        .map(|line| FORMS[line.form as usize])
}

/// The word bits that tell most forms apart: the opcode 30:24 and the sub-opcode 11:8.
const KEY_BITS: u32 = 0x7f00_0f00;

/// How many values those bits have.
const KEYS: usize = 1 << 11;

/// How many lines the index has: a form stands under every key that its operands allow.
const LINES: usize = 1958;

/// The key bits of `word`, moved together.
const fn key(word: u32) -> usize {
    (word >> 24 & 0x7f) as usize * 16 + (word >> 8 & 0xf) as usize
}

/// One form under one key.
#[derive(Clone, Copy)]
struct Line {
    mask: u32,
    bits: u32,
    form: u16,
}

/// The forms by key: those of key `k` are the lines from `starts[k]` up to `starts[k + 1]`.
struct Index {
    starts: [u16; KEYS + 1],
    lines: [Line; LINES],
}

static INDEX: Index = index();

/// Sorts the forms by key: counts first, then places.
const fn index() -> Index {
    let mut starts = [0u16; KEYS + 1];
    let mut lines = [Line {
        mask: 0,
        bits: 0,
        form: 0,
    }; LINES];
    let mut form = 0;
    while form < COUNT {
        let mut free = Some(0);
        while let Some(operands) = free {
            starts[key(FORMS[form].bits & KEY_BITS | operands) + 1] += 1;
            free = next_subset(operands, KEY_BITS & !FORMS[form].mask);
        }
        form += 1;
    }
    let mut at = 0;
    while at < KEYS {
        starts[at + 1] += starts[at];
        at += 1;
    }
    assert!(
        starts[KEYS] as usize == LINES,
        "the index has a different number of lines"
    );
    let mut next = starts;
    form = 0;
    while form < COUNT {
        let Form { mask, bits, .. } = *FORMS[form];
        let mut free = Some(0);
        while let Some(operands) = free {
            let key = key(bits & KEY_BITS | operands);
            lines[next[key] as usize] = Line {
                mask,
                bits,
                form: form as u16,
            };
            next[key] += 1;
            free = next_subset(operands, KEY_BITS & !mask);
        }
        form += 1;
    }
    Index { starts, lines }
}

/// The subset of the bits `of` that follows `subset` in counting order.
const fn next_subset(subset: u32, of: u32) -> Option<u32> {
    let next = (subset | !of).wrapping_add(1) & of;
    if next == 0 { None } else { Some(next) }
}

#[cfg(test)]
mod tests {
    use super::{DecodeError, decode, decode_word};
    use crate::encode::encode;
    use crate::form::Lane;
    use crate::instruction::{Decoded, Mode};
    use crate::op::Op;
    use crate::table::forms;

    #[test]
    fn the_index_finds_every_form_whatever_its_operands_hold() {
        for form in forms() {
            for fill in [0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa, 0x0f0f_0f0f] {
                let word = form.bits | fill & !form.mask;
                let found = super::lookup(word).map(|form| form.op);
                assert_eq!(found, Some(form.op), "{word:#010x}");
            }
        }
    }

    #[test]
    fn groups_that_do_not_exist_are_refused() {
        assert!(matches!(
            decode_word(0x5f20_f030),
            Err(DecodeError::BadGroup { first: 3, .. })
        ));
        assert!(matches!(
            decode_word(0x5642_2800),
            Err(DecodeError::BadGroup { first: 2, .. })
        ));
        // m12:13 as a pair of addresses.
        assert!(matches!(
            decode_word(0x5676_c160),
            Err(DecodeError::BadGroup { first: 12, .. })
        ));
    }

    #[test]
    fn a_bundle_needs_two_coissue_bits_the_right_lanes_and_a_worker() {
        let two = |first, second| decode(first, Some(second), Mode::Worker);
        assert!(matches!(
            two(0xc420_1602, 0x9ad0_0000),
            Ok(Decoded::Bundle(_))
        ));
        let lone = DecodeError::LoneCoissue {
            first: 0xc420_1602,
            second: 0x1ad0_0000,
        };
        assert_eq!(two(0xc420_1602, 0x1ad0_0000), Err(lone));
        let lane = DecodeError::WrongLane {
            mnemonic: "add",
            half: Lane::Aux,
        };
        assert_eq!(two(0xc420_3011, 0xc450_6041), Err(lane));
        let truncated = DecodeError::Truncated { word: 0xc420_1602 };
        assert_eq!(decode(0xc420_1602, None, Mode::Worker), Err(truncated));
        let mode = DecodeError::CoissueInSupervisor { word: 0xc420_1602 };
        assert_eq!(
            decode(0xc420_1602, Some(0x9ad0_0000), Mode::Supervisor),
            Err(mode)
        );
        assert!(matches!(
            two(0x89de_f000, 0x9af0_0004),
            Err(DecodeError::WritesTwice { .. })
        ));
        // `exitz $m15` with the coissue bit: bit 31 belongs to its opcode.
        assert!(matches!(
            two(0xc3f0_4000, 0x9ad0_0000),
            Err(DecodeError::UnknownWord { .. })
        ));
    }

    #[test]
    fn sendpicp_takes_the_next_word_and_is_for_the_supervisor() {
        let (first, data) = (0xf54a_0109, 0x1901_5000);
        let Ok(Decoded::Inline(instruction, word)) = decode(first, Some(data), Mode::Supervisor)
        else {
            panic!("not an inline instruction");
        };
        assert_eq!((instruction.op(), word), (Op::SendpicpZ6Z18Z3Z1, data));
        assert_eq!(encode(&instruction), first);
        let wrong = DecodeError::WrongMode {
            mnemonic: "sendpicp",
            mode: Mode::Worker,
        };
        assert_eq!(decode(first, Some(data), Mode::Worker), Err(wrong));
    }

    #[test]
    fn forms_of_the_other_mode_are_refused() {
        assert!(decode(0x1500_f000, None, Mode::Worker).is_err());
        assert!(decode(0x1500_f000, None, Mode::Supervisor).is_ok());
        assert!(decode(0x43f0_4000, None, Mode::Supervisor).is_err());
    }
}
