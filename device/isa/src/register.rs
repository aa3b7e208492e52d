//! Register numbers and their names. [isa-encoding §3, §7.1]

use core::fmt;

use crate::form::{Kind, Suffix};

/// Which file a register name belongs to, and how many registers it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// One main register.
    M,
    /// One aux register.
    A,
    /// Two main registers.
    MPair,
    /// Two aux registers.
    APair,
    /// Four aux registers.
    AQuad,
}

/// Which part of an aux register fills the whole operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broadcast {
    /// No part.
    None,
    /// `:BL`, the lower half.
    Lower,
    /// `:BU`, the upper half.
    Upper,
    /// `:B`, all of it.
    Whole,
}

/// A register as text names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// Its file and size.
    pub class: Class,
    /// Its number; of the first one for pairs and quads.
    pub number: u8,
    /// What follows the colon, if that is a broadcast.
    pub broadcast: Broadcast,
    /// What follows the name.
    pub suffix: Suffix,
}

impl Register {
    /// Whether an operand of `kind` takes this register, its suffix apart.
    pub fn is(&self, kind: Kind) -> bool {
        use Broadcast::{Lower, None, Upper, Whole};
        match kind {
            Kind::M => self.class == Class::M,
            Kind::MPair => self.class == Class::MPair,
            Kind::A => (self.class, self.broadcast) == (Class::A, None),
            Kind::ALower => (self.class, self.broadcast) == (Class::A, Lower),
            Kind::AUpper => (self.class, self.broadcast) == (Class::A, Upper),
            Kind::ABroadcast => (self.class, self.broadcast) == (Class::A, Whole),
            Kind::APair => self.class == Class::APair,
            Kind::AQuad => self.class == Class::AQuad,
            _ => false,
        }
    }
}

/// Names that stand for a single register.
#[rustfmt::skip] // One name a line: the columns are the point.
const ALIASES: &[(&str, Class, u8)] = &[
    ("bp",           Class::M,     8),
    ("fp",           Class::M,     9),
    ("lr",           Class::M,     10),
    ("sp",           Class::M,     11),
    ("mworker_base", Class::M,     12),
    ("mvertex_base", Class::M,     13),
    ("mzero",        Class::M,     15),
    ("azero",        Class::A,     15),
    ("azeros",       Class::APair, 14),
];

/// The suffixes, as they are written.
const SUFFIXES: [(&str, Suffix); 4] = [
    ("+=", Suffix::Step),
    ("++", Suffix::Bump),
    (">>", Suffix::Shift),
    ("@", Suffix::Delta),
];

/// Reads a register with its `$`, broadcast and suffix: `$m4`, `$a3:BL`, `$m2:3+=`.
///
/// Takes blanks after the colon and before the suffix, which the C preprocessor leaves there.
/// `None` says that the text is no register; it may still be a control register or a symbol.
pub fn parse(text: &str) -> Option<Register> {
    let rest = text.trim().strip_prefix('$')?;
    let (name, suffix) = SUFFIXES
        .iter()
        .find_map(|&(mark, suffix)| Some((rest.strip_suffix(mark)?.trim_end(), suffix)))
        .unwrap_or((rest, Suffix::None));
    let (base, after) = match name.split_once(':') {
        Some((base, after)) => (base, Some(after.trim_start())),
        None => (name, None),
    };
    let (class, number) = single(base)?;
    let plain = Register {
        class,
        number,
        broadcast: Broadcast::None,
        suffix,
    };
    match after {
        None => Some(plain),
        Some(after) if matches!(class, Class::M | Class::A) => colon(plain, after),
        Some(_) => None,
    }
}

/// The register or group that is `name`, which holds no colon.
fn single(name: &str) -> Option<(Class, u8)> {
    if let Some(&(_, class, number)) = ALIASES.iter().find(|(alias, ..)| *alias == name) {
        return Some((class, number));
    }
    // The public assembler takes group numbers up to 15 and folds them. [isa-encoding §3]
    if let Some(pair) = name.strip_prefix("ap") {
        return Some((Class::APair, (number(pair)? * 2).min(14)));
    }
    if let Some(quad) = name.strip_prefix("aq") {
        return Some((Class::AQuad, (number(quad)? * 4).min(12)));
    }
    match name.strip_prefix('m') {
        Some(main) => Some((Class::M, number(main)?)),
        None => Some((Class::A, number(name.strip_prefix('a')?)?)),
    }
}

/// What `first:after` is: a broadcast, a pair or a quad.
fn colon(first: Register, after: &str) -> Option<Register> {
    let aux = first.class == Class::A;
    let broadcast = match after {
        "BL" => Broadcast::Lower,
        "BU" => Broadcast::Upper,
        "B" => Broadcast::Whole,
        last => {
            let last = number(last)?;
            let class = match last.checked_sub(first.number)? {
                1 if first.number.is_multiple_of(2) => {
                    if aux {
                        Class::APair
                    } else {
                        Class::MPair
                    }
                }
                3 if first.number.is_multiple_of(4) && aux => Class::AQuad,
                _ => return None,
            };
            return Some(Register { class, ..first });
        }
    };
    aux.then_some(Register { broadcast, ..first })
}

/// A register number in plain decimal, 0 to 15.
fn number(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Some(digit - b'0'),
        [b'1', digit @ b'0'..=b'5'] => Some(10 + digit - b'0'),
        _ => None,
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.number;
        match self.class {
            Class::M => write!(f, "$m{first}"),
            Class::A => write!(f, "$a{first}"),
            Class::MPair => write!(f, "$m{first}:{}", first + 1),
            Class::APair => write!(f, "$a{first}:{}", first + 1),
            Class::AQuad => write!(f, "$a{first}:{}", first + 3),
        }?;
        f.write_str(match self.broadcast {
            Broadcast::None => "",
            Broadcast::Lower => ":BL",
            Broadcast::Upper => ":BU",
            Broadcast::Whole => ":B",
        })?;
        f.write_str(suffix_text(self.suffix))
    }
}

/// How a suffix is written.
pub(crate) fn suffix_text(suffix: Suffix) -> &'static str {
    SUFFIXES
        .iter()
        .find(|(_, one)| *one == suffix)
        .map_or("", |(mark, _)| mark)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::parse;

    #[test]
    fn every_spelling_of_a_register_reads_as_its_plain_name() {
        for (text, plain) in [
            ("$m0", "$m0"),
            ("$lr", "$m10"),
            ("$mzero", "$m15"),
            ("$azeros", "$a14:15"),
            ("$ap3", "$a6:7"),
            ("$ap9", "$a14:15"),
            ("$aq1", "$a4:7"),
            ("$aq15", "$a12:15"),
            ("$a2: 3", "$a2:3"),
            ("$m8:9 +=", "$m8:9+="),
            ("$a3:BL", "$a3:BL"),
            ("$a5:B", "$a5:B"),
            ("$m4>>", "$m4>>"),
            ("$m14:15+=", "$m14:15+="),
        ] {
            assert_eq!(
                parse(text).map(|register| register.to_string()),
                Some(plain.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn names_that_are_no_register_are_left_to_others() {
        for text in [
            "m0", "$m16", "$m01", "$a1:2", "$a2:5", "$a13:16", "$a0:x", "$a0:5", "$m0:3", "$m0:BL",
            "$PC", "$m0<<", "$m0>=", "$ap0:1", "$", "$a0:1:B",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
