//! Instruction, execution bundle or words → canonical text.
//!
//! Canonical text is what the public disassembler prints: one blank between tokens, decimal
//! immediates, code targets as byte addresses in hex, the delta register always written, aliases
//! where they are meant to be seen. It does not assemble back to the same word everywhere;
//! [`exact`] does. [isa-encoding §11]

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Display};

use tilekiln_chip::csr::{self, Space};

use crate::decode::read;
use crate::form::{Form, INLINE, Kind, Lane, MAX_OPERANDS, Operand};
use crate::instruction::{Decoded, Instruction, Mode};
use crate::parse;
use crate::register::{Broadcast, Class, Register};
use crate::table::aliases::{ALIASES, Alias, Bound, Use};

/// Canonical text of an instruction. `mode` decides what control registers are called.
#[derive(Clone, Copy, Debug)]
pub struct Text<T> {
    what: T,
    mode: Mode,
}

/// The canonical text of one instruction.
pub fn instruction(instruction: &Instruction, mode: Mode) -> Text<Instruction> {
    Text {
        what: *instruction,
        mode,
    }
}

/// The canonical text of what was decoded; inline data follows as `.long`.
pub fn decoded(decoded: &Decoded, mode: Mode) -> Text<Decoded> {
    Text {
        what: *decoded,
        mode,
    }
}

/// The canonical text of the code at `first`, and how many bytes of code that is.
///
/// Reads as [`read`] does. What is no instruction prints as `<invalid>` and counts 4 bytes.
pub fn words(first: u32, second: Option<u32>, mode: Mode) -> (String, u32) {
    match read(first, second, mode) {
        Ok(read) => (decoded(&read, mode).to_string(), read.bytes()),
        Err(_) => ("<invalid>".to_string(), 4),
    }
}

/// Text that assembles back to the same words, `;` between statements.
///
/// Targets are raw fields; names that force a form stand where the canonical one selects another;
/// what no text selects is `.word`.
pub fn exact(decoded: &Decoded, mode: Mode) -> String {
    let text = match decoded {
        Decoded::Solo(instruction) => exact_text(instruction, mode),
        Decoded::Inline(instruction, data) => {
            exact_text(instruction, mode).map(|text| format!("{text} ; .long {data:#010x}"))
        }
        // The printer shows pairs of main-lane words, which no assembler takes back.
        Decoded::Bundle(bundle) if bundle.aux.form.lane == Lane::Main => None,
        Decoded::Bundle(bundle) => exact_text(&bundle.main, mode)
            .zip(exact_text(&bundle.aux, mode))
            .map(|(main, aux)| format!("{{ {main} ; {aux} }}")),
    };
    text.unwrap_or_else(|| {
        let mut text = String::new();
        for word in decoded.words() {
            text += if text.is_empty() { "" } else { " ; " };
            text += &format!(".word {word:#010x}");
        }
        text
    })
}

/// The first spelling of `instruction` that selects it again: the canonical name, the form's own,
/// then names that only assemblers know.
fn exact_text(instruction: &Instruction, mode: Mode) -> Option<String> {
    let canonical = printed_alias(instruction);
    let others = ALIASES
        .iter()
        .filter(|alias| reads_as(alias, instruction))
        .map(Some);
    let aliases = [canonical, None].into_iter().chain(others);
    aliases
        .map(|alias| {
            Spelling {
                instruction,
                alias,
                mode,
                raw_targets: true,
            }
            .to_string()
        })
        .find(|text| selects(text, instruction, mode))
}

/// Whether `text` assembles to `instruction`.
fn selects(text: &str, instruction: &Instruction, mode: Mode) -> bool {
    if instruction.form.traits.has(INLINE) {
        // No statement without its data; it has one form, and all of its numbers fit.
        return true;
    }
    match parse::line(text, mode).as_deref() {
        Ok([Decoded::Solo(read)]) => read == instruction,
        _ => false,
    }
}

impl Display for Text<Instruction> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alias = printed_alias(&self.what);
        Spelling {
            instruction: &self.what,
            alias,
            mode: self.mode,
            raw_targets: false,
        }
        .fmt(f)
    }
}

impl Display for Text<Decoded> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |what: &Instruction| instruction(what, self.mode);
        match &self.what {
            Decoded::Solo(solo) => one(solo).fmt(f),
            Decoded::Bundle(bundle) => {
                write!(f, "{{ {} ; {} }}", one(&bundle.main), one(&bundle.aux))
            }
            Decoded::Inline(inline, data) => write!(f, "{} ; .long {data:#010x}", one(inline)),
        }
    }
}

/// The alias that `instruction` is shown as, if any.
fn printed_alias(instruction: &Instruction) -> Option<&'static Alias> {
    ALIASES
        .iter()
        .find(|alias| alias.used != Use::Text && reads_as(alias, instruction))
}

/// Whether `instruction` is what `alias` stands for.
fn reads_as(alias: &Alias, instruction: &Instruction) -> bool {
    if alias.op != instruction.form.op {
        return false;
    }
    let mut args = [None; MAX_OPERANDS];
    alias
        .bound
        .iter()
        .zip(instruction.values)
        .all(|(bound, value)| match *bound {
            Bound::Is(fixed) => value == fixed,
            Bound::Arg(arg) => *args[usize::from(arg)].get_or_insert(value) == value,
        })
}

/// One way to write an instruction.
struct Spelling<'a> {
    instruction: &'a Instruction,
    alias: Option<&'static Alias>,
    mode: Mode,
    /// Code targets as they stand in the word instead of as byte addresses.
    raw_targets: bool,
}

impl Display for Spelling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = self.instruction.form;
        f.write_str(self.alias.map_or(form.mnemonic, |alias| alias.mnemonic))?;
        let mut separator = " ";
        for (operand, value) in self.shown(form) {
            f.write_str(separator)?;
            separator = ", ";
            self.operand(f, operand, value)?;
        }
        Ok(())
    }
}

impl Spelling<'_> {
    /// The operands that are written, in order.
    fn shown(&self, form: &'static Form) -> impl Iterator<Item = (&'static Operand, u32)> {
        let bound = self.alias.map(|alias| alias.bound);
        form.operands
            .iter()
            .zip(self.instruction.values)
            .enumerate()
            .filter_map(move |(at, shown)| {
                let first = match bound {
                    None => true,
                    Some(bound) => {
                        matches!(bound[at], Bound::Arg(_)) && !bound[..at].contains(&bound[at])
                    }
                };
                first.then_some(shown)
            })
    }

    fn operand(&self, f: &mut fmt::Formatter<'_>, operand: &Operand, value: u32) -> fmt::Result {
        let (class, broadcast) = match operand.kind {
            Kind::M => (Class::M, Broadcast::None),
            Kind::A => (Class::A, Broadcast::None),
            Kind::MPair => (Class::MPair, Broadcast::None),
            Kind::APair => (Class::APair, Broadcast::None),
            Kind::AQuad => (Class::AQuad, Broadcast::None),
            Kind::ALower => (Class::A, Broadcast::Lower),
            Kind::AUpper => (Class::A, Broadcast::Upper),
            Kind::ABroadcast => (Class::A, Broadcast::Whole),
            Kind::Signed => return (value as i32).fmt(f),
            Kind::Code if !self.raw_targets => return write!(f, "{:#x}", value << 2),
            Kind::Unsigned | Kind::High | Kind::Code => return value.fmt(f),
            Kind::Csr | Kind::UpperCsr => return self.csr(f, operand.kind, value),
        };
        Register {
            class,
            number: value as u8,
            broadcast,
            suffix: operand.suffix,
        }
        .fmt(f)
    }

    /// A control register by its name in this mode, or by its field.
    fn csr(&self, f: &mut fmt::Formatter<'_>, kind: Kind, field: u32) -> fmt::Result {
        let (space, first) = match (kind, self.mode) {
            (Kind::UpperCsr, _) => (Space::WorkerUpper, 0x100),
            (_, Mode::Worker) => (Space::Worker, 0),
            (_, Mode::Supervisor) => (Space::Supervisor, 0),
        };
        match csr::by_number(first + field as u16, space) {
            Some(csr) => f.write_str(csr.name),
            None => field.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{exact, words};
    use crate::decode::read;
    use crate::instruction::Mode::{self, Supervisor, Worker};

    #[track_caller]
    fn check(first: u32, second: Option<u32>, mode: Mode, canonical: &str, again: &str) {
        assert_eq!(words(first, second, mode).0, canonical);
        assert_eq!(
            exact(&read(first, second, mode).expect("an instruction"), mode),
            again
        );
    }

    #[test]
    fn aliases_are_printed_where_they_are_meant_to_be_seen() {
        check(0x19e0_0000, None, Worker, "nop", "nop");
        check(0x1ad0_0000, None, Worker, "fnop", "fnop");
        check(0x44f0_f381, None, Worker, "zero $m8", "zero $m8");
        check(0x58e0_ee21, None, Worker, "zero $a2:3", "zero $a2:3");
        check(0x5d01_0000, None, Worker, "mov $m1, $a0", "mov $m1, $a0");
        check(0x43f0_80ff, None, Worker, "strap", "strap");
        check(
            0x47f3_fa00,
            None,
            Worker,
            "movnz $m15, $m15, $m3",
            "movnz $m15, $m15, $m3",
        );
        check(
            0x4410_1342,
            None,
            Worker,
            "swap16 $m4, $m1",
            "swap16 $m4, $m1",
        );
    }

    #[test]
    fn control_registers_have_the_names_of_their_mode() {
        check(0x4100_0001, None, Worker, "get $m0, $WSR", "get $m0, $WSR");
        check(
            0x4100_0001,
            None,
            Supervisor,
            "get $m0, $SSR",
            "get $m0, $SSR",
        );
        check(
            0x5100_8001,
            None,
            Worker,
            "put $FP_CLR, $a0",
            "put $FP_CLR, $a0",
        );
        check(0x4100_007f, None, Worker, "get $m0, 127", "get $m0, 127");
    }

    #[test]
    fn exact_text_selects_the_same_form_again() {
        check(0x4087_fffd, None, Worker, "bri 0x1ffff4", "bri 524285");
        check(
            0x2000_002a,
            None,
            Worker,
            "add $m0, $m0, 42",
            "addz $m0, $m0, 42",
        );
        check(
            0x3900_002a,
            None,
            Worker,
            "sub $m0, 42, $m0",
            "sub $m0, 42, $m0",
        );
        check(0x4200_c000, None, Worker, "mov $m0, $m0", "or $m0, $m0, 0");
        check(
            0x5200_8000,
            None,
            Worker,
            "and $a0, $a0, 0",
            ".word 0x52008000",
        );
    }

    #[test]
    fn two_words_print_on_one_line() {
        let fnop = Some(0x9ad0_0000);
        let text = "{ sub $m0, $m1, $m2 ; fnop }";
        check(0xc420_1602, fnop, Worker, text, text);
        let main = "{ add $m1, $m2, $m3 ; add $m4, $m5, $m6 }";
        let raw = ".word 0xc4203011 ; .word 0xc4506041";
        check(0xc420_3011, Some(0xc450_6041), Supervisor, main, raw);
        let inline = "sendpicp 42, 81953, 1, 0 ; .long 0x19015000";
        check(0xf54a_0109, Some(0x1901_5000), Supervisor, inline, inline);
    }

    #[test]
    fn what_is_no_instruction_is_invalid() {
        assert_eq!(words(0x5f20_f030, None, Worker), ("<invalid>".into(), 4));
        assert_eq!(words(0xc420_1602, None, Worker), ("<invalid>".into(), 4));
    }
}
