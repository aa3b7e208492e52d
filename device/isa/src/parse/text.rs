//! Statements without symbols: what tests, tools and vector files are made of.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;

use super::half::half;
use super::{Arg, Options, ParseError, Selected, dollar, pair, select};
use crate::form::INLINE;
use crate::instruction::{Decoded, Mode};

/// Reads statements that hold constants only, separated by `;` or line ends.
///
/// An execution bundle is `{ main ; aux }`. The data word of `sendpicp` follows as `.long` or
/// `.word`. [isa-encoding §7.1, §13]
///
/// # Errors
///
/// The first thing that is wrong.
pub fn line(text: &str, mode: Mode) -> Result<Vec<Decoded>, ParseError> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('{') {
            let Some((members, after)) = inside.split_once('}') else {
                return Err(syntax(rest, "an execution bundle that ends"));
            };
            all.push(bundle(members, mode)?);
            rest = end(after)?;
            continue;
        }
        let (one, after) = rest.split_at(rest.find([';', '\n']).unwrap_or(rest.len()));
        rest = end(after)?;
        if one.contains('}') {
            return Err(syntax("}", "an instruction"));
        }
        let selected = statement(one, mode)?;
        if !selected.instruction.form.traits.has(INLINE) {
            let second = selected.second.map(Decoded::Solo);
            all.extend(
                [Decoded::Solo(selected.instruction)]
                    .into_iter()
                    .chain(second),
            );
            continue;
        }
        let (data, after) = rest.split_at(rest.find([';', '\n']).unwrap_or(rest.len()));
        all.push(Decoded::Inline(selected.instruction, inline_data(data)?));
        rest = end(after)?;
    }
    Ok(all)
}

/// The words of statements that hold constants only; see [`line()`].
///
/// # Errors
///
/// The first thing that is wrong.
pub fn words(text: &str, mode: Mode) -> Result<Vec<u32>, ParseError> {
    Ok(line(text, mode)?.iter().flat_map(Decoded::words).collect())
}

/// Skips the separator after a statement.
fn end(after: &str) -> Result<&str, ParseError> {
    let after = after.trim_start_matches([' ', '\t', '\r']);
    if after.is_empty() {
        return Ok(after);
    }
    match after.strip_prefix([';', '\n']) {
        Some(rest) => Ok(rest.trim()),
        None => Err(syntax(after, "the end of the statement")),
    }
}

/// Reads what stands between the braces.
fn bundle(members: &str, mode: Mode) -> Result<Decoded, ParseError> {
    let selected: Vec<Selected> = members
        .split([';', '\n'])
        .filter(|member| !member.trim().is_empty())
        .map(|member| statement(member, mode))
        .collect::<Result<_, _>>()?;
    Ok(Decoded::Bundle(pair(&selected, false)?.bundle))
}

/// Reads one instruction.
fn statement(text: &str, mode: Mode) -> Result<Selected, ParseError> {
    let text = text.trim();
    let (mnemonic, operands) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let operands = operands.trim();
    // No instruction has more operands; a longer list is cut and refused for its length.
    let mut args = [Arg::Symbolic; 8];
    let mut count = 0;
    if !operands.is_empty() {
        for (operand, place) in operands.split(',').zip(&mut args) {
            *place = argument(operand.trim())?;
            count += 1;
        }
    }
    select(mnemonic, &args[..count], mode, Options::default())
}

/// Reads one operand.
fn argument(text: &str) -> Result<Arg<'_>, ParseError> {
    if text.starts_with('$') {
        return dollar(text).ok_or_else(|| syntax(text, "a register"));
    }
    constant(text).map(Arg::Constant)
}

/// Reads the data word of an instruction that has one.
fn inline_data(text: &str) -> Result<u32, ParseError> {
    let text = text.trim();
    let data = text
        .strip_prefix(".long")
        .or_else(|| text.strip_prefix(".word"));
    let value = constant(data.ok_or_else(|| syntax(text, "`.long` and the data word"))?)?;
    u32::try_from(value)
        .or_else(|_| i32::try_from(value).map(|value| value as u32))
        .map_err(|_| {
            let (low, high) = (i32::MIN.into(), u32::MAX.into());
            ParseError::OutOfRange {
                operand: "data",
                value,
                low,
                high,
            }
        })
}

fn syntax(found: &str, wanted: &'static str) -> ParseError {
    ParseError::Syntax {
        found: found.to_owned(),
        wanted,
    }
}

/// The value of an expression over numbers and half literals.
///
/// Knows `+ - * / << >> & | ~` and parentheses. Operators bind as in the GNU assembler, not as in C:
/// `* / << >>` first, then `& |`, then `+ -`.
///
/// # Errors
///
/// [`ParseError::Syntax`] and [`ParseError::NoValue`].
pub fn constant(text: &str) -> Result<i64, ParseError> {
    let mut reader = Reader {
        rest: text,
        depth: 0,
    };
    let value = reader.binary(0)?;
    match reader.peek() {
        "" => Ok(value),
        rest => Err(syntax(rest, "the end of the expression")),
    }
}

/// Parentheses and signs nest this deep at most, so that no text overflows the stack.
const DEPTH_MAX: u32 = 100;

/// The operators by precedence, weakest first.
const OPERATORS: [&[&str]; 3] = [&["+", "-"], &["&", "|"], &["*", "/", "<<", ">>"]];

/// What is left of an expression.
struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    /// Takes `token` if it is next.
    fn take(&mut self, token: &str) -> bool {
        let rest = self.peek().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads operators of `level` and everything that binds more closely.
    fn binary(&mut self, level: usize) -> Result<i64, ParseError> {
        let Some(operators) = OPERATORS.get(level) else {
            return self.unary();
        };
        let mut value = self.binary(level + 1)?;
        while let Some(&operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.binary(level + 1)?;
            value = apply(operator, value, right).ok_or(ParseError::NoValue { operator })?;
        }
        Ok(value)
    }

    fn unary(&mut self) -> Result<i64, ParseError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(syntax(self.rest, "an expression that nests less"));
        }
        let value = if self.take("-") {
            match self.literal_half() {
                Some(bits) => i64::from(bits ^ 0x8000),
                None => {
                    let operator = "-";
                    self.unary()?
                        .checked_neg()
                        .ok_or(ParseError::NoValue { operator })?
                }
            }
        } else if self.take("~") {
            !self.unary()?
        } else if self.take("+") {
            self.unary()?
        } else if self.take("(") {
            let value = self.binary(0)?;
            if !self.take(")") {
                return Err(syntax(self.rest, "a closing parenthesis"));
            }
            value
        } else {
            self.number()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Takes a half literal without sign, if one is next.
    fn literal_half(&mut self) -> Option<u16> {
        let text = self.peek();
        let (word, rest) = text.split_at(word_length(text));
        let bits = half(word)?;
        self.rest = rest;
        Some(bits)
    }

    fn number(&mut self) -> Result<i64, ParseError> {
        if let Some(bits) = self.literal_half() {
            return Ok(bits.into());
        }
        let text = self.peek();
        let (word, rest) = text.split_at(word_length(text));
        let prefix = |marks: [&str; 2]| marks.iter().find_map(|mark| word.strip_prefix(mark));
        let value = if let Some(digits) = prefix(["0x", "0X"]) {
            digits_of(digits, 16)
        } else if let Some(digits) = prefix(["0b", "0B"]) {
            digits_of(digits, 2)
        } else if word.len() > 1 && word.starts_with('0') {
            digits_of(word, 8)
        } else {
            digits_of(word, 10)
        };
        let Some(value) = value else {
            return Err(syntax(
                if word.is_empty() { text } else { word },
                "a number",
            ));
        };
        self.rest = rest;
        Ok(value)
    }
}

/// A number in base `radix` without sign.
fn digits_of(digits: &str, radix: u32) -> Option<i64> {
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    i64::from_str_radix(digits, radix).ok()
}

/// How long the number or name at the start of `text` is; an exponent's sign belongs to it.
fn word_length(text: &str) -> usize {
    let decimal = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && !text.starts_with("0x")
        && !text.starts_with("0X");
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let exponent = decimal && matches!(before, 'e' | 'E') && matches!(c, '+' | '-');
        if !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$') || exponent) {
            return at;
        }
        before = c;
    }
    text.len()
}

/// The value of `left operator right`; `None` when there is none.
fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    match operator {
        "|" => Some(left | right),
        "&" => Some(left & right),
        "<<" => left.checked_shl(right.try_into().ok()?),
        ">>" => left.checked_shr(right.try_into().ok()?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        _ => left.checked_div(right),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{constant, words};
    use crate::instruction::Mode;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = match words(text, Mode::Worker) {
            Ok(words) => words
                .iter()
                .map(|word| std::format!("{word:08x}"))
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, want, "{text}");
    }

    use std::vec::Vec;

    #[test]
    fn expressions_have_the_precedence_of_the_gnu_assembler() {
        for (text, want) in [
            ("1 + 100 - 2", 99),
            ("1 + 2 << 3", 17),
            ("(1 << 19)", 0x8_0000),
            ("0x10 + 0b10 | 1 << 2", 0x16),
            ("0x10 | 0b11 & ~1", 0x12 & !1),
            ("-(2 + 3) * 4 / 2", -10),
            ("010", 8),
            ("-2.0h", 0xc000),
            ("1.5e-5h", 0x00fc),
            ("0xe-1", 13),
        ] {
            assert_eq!(constant(text), Ok(want), "{text}");
        }
        for text in [
            "", "1 +", "(1", "1)", "0.0", "1e5", "1 / 0", "1 << 64", "09", "x", "0x", "--",
        ] {
            assert!(constant(text).is_err(), "{text}");
        }
        assert!(constant(&"(".repeat(100_000)).is_err());
    }

    #[test]
    fn the_form_follows_from_the_number() {
        check("add $m0, $m1, 40000", "20109c40");
        check("add $m0, $m1, 5", "22100005");
        check("or $m0, $m1, 0", "4210c000");
        check("or $m0, $m1, -0x100000", "4210cfff");
        check("mov $m0, $m1", "42109000");
        check("ldconst $m2, 0x123456", "19223456 4222c001");
        check("sub $m0, $m0, 10", "2200fff6");
        check("ld32 $m0, $m1, $azero, 0", "0110f000");
        check("stm32step $m15, $m15+=, $m5", "475ff900");
    }

    #[test]
    fn complaints_name_what_is_wrong_with_the_nearest_form() {
        check("foo", "no instruction is called foo");
        check("add $m0, $m1", "add with 2 operands; it has 3");
        check(
            "add $m0, $m1, 70000",
            "imm is 70000; it goes from -32768 to 65535",
        );
        check(
            "sub $m0, $m0, 32768",
            "imm is 32768; it goes from -32767 to 32767",
        );
        check(
            "ld32step $a0, $mzero, $m0, 1",
            "operand 3 has no suffix; its register takes +=",
        );
        check(
            "setzi $m0++, 1",
            "operand 1 has ++; its register takes no suffix",
        );
        check(
            "run $m0, $m1, 0",
            "run is for the supervisor; this is worker code",
        );
        check("put $CCCSLOAD, $m0", "a worker has no $CCCSLOAD");
        check("or $a0, $a1, 0x1001", "imm is 4097; it goes from 0 to 4095");
        check(
            "{ add $m1, $m2, $m3 }",
            "an execution bundle of 1 instructions; it has 2",
        );
        check(
            "{ ldconst $m0, 42 ; fnop }",
            "ldconst cannot stand in an execution bundle",
        );
        check(
            "ldst64pace $a6:7, $a6:7, $m7, $m7, 0",
            "operand 3 is not a pair of main registers",
        );
    }
}
