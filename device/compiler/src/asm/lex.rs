//! Cuts a statement into tokens.

use tilekiln_isa::parse::half;

use super::error::{Fault, Kind};
use super::split::{is_name_byte, leading_name};

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TokenKind {
    /// A symbol, mnemonic, directive or `$` name.
    Name(String),
    /// An integer.
    Integer(u64),
    /// A half-precision literal, as its bits.
    Half(u16),
    /// A quoted string, escapes resolved.
    Text(Vec<u8>),
    /// `1b` or `1f`.
    LocalLabel {
        /// The label.
        number: u64,
        /// `f` rather than `b`.
        forward: bool,
    },
    /// Punctuation; two characters only for the operators that have two.
    Mark(&'static str),
}

/// A token and the bytes of the statement it came from.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Two-character marks come first, so that they win. `+=` and `++` are suffixes of registers, not
/// operators, and are read as two marks.
const MARKS: [&str; 26] = [
    "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^", "~",
    "!", "<", ">", "=", "(", ")", ",", ":", "@",
];

/// The tokens of one statement.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let (kind, length) = one(&text[at..]).map_err(|kind| Fault::at(at, kind))?;
        tokens.push(Token {
            kind,
            start: at,
            end: at + length,
        });
        at += length;
    }
    Ok(tokens)
}

fn one(text: &str) -> Result<(TokenKind, usize), Kind> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if digit(0) || (bytes[0] == b'.' && digit(1)) {
        return number(text);
    }
    if bytes[0] == b'"' {
        return string(text);
    }
    let name = leading_name(text);
    if !name.is_empty() {
        // `infh` is the one half literal that starts with a letter.
        let kind = match half(name) {
            Some(bits) => TokenKind::Half(bits),
            None => TokenKind::Name(name.to_owned()),
        };
        return Ok((kind, name.len()));
    }
    match MARKS.iter().find(|mark| text.starts_with(**mark)) {
        Some(mark) => Ok((TokenKind::Mark(mark), mark.len())),
        None => Err(Kind::StrayCharacter(text.chars().next().unwrap_or(' '))),
    }
}

/// An integer, a half literal or a reference to a numeric label.
fn number(text: &str) -> Result<(TokenKind, usize), Kind> {
    let length = number_length(text.as_bytes());
    let word = &text[..length];
    let bad = || Kind::BadNumber(word.to_owned());
    let integer = |digits: &str, radix| u64::from_str_radix(digits, radix).map_err(|_| bad());
    if let Some(digits) = word.strip_prefix("0x").or(word.strip_prefix("0X")) {
        return Ok((TokenKind::Integer(integer(digits, 16)?), length));
    }
    if let Some(digits) = word.strip_prefix("0b").or(word.strip_prefix("0B"))
        && !digits.is_empty()
    {
        return Ok((TokenKind::Integer(integer(digits, 2)?), length));
    }
    if word.ends_with('h') {
        return Ok((TokenKind::Half(half(word).ok_or_else(bad)?), length));
    }
    if let Some(label) = word.strip_suffix(['b', 'f']) {
        let forward = word.ends_with('f');
        return Ok((
            TokenKind::LocalLabel {
                number: integer(label, 10)?,
                forward,
            },
            length,
        ));
    }
    if word.contains('.') {
        return Err(Kind::DecimalWithoutSuffix(word.to_owned()));
    }
    let octal = word.len() > 1 && word.starts_with('0');
    Ok((
        TokenKind::Integer(integer(word, if octal { 8 } else { 10 })?),
        length,
    ))
}

/// How far a number reaches: letters and digits, a decimal point, and the sign of an exponent.
fn number_length(bytes: &[u8]) -> usize {
    let hex = bytes.starts_with(b"0x") || bytes.starts_with(b"0X");
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let exponent = !hex && at > 0 && matches!(bytes[at - 1], b'e' | b'E');
        let sign = exponent && matches!(byte, b'+' | b'-');
        let inside = is_name_byte(byte) && byte != b'$';
        if !inside && !sign {
            break;
        }
        at += 1;
    }
    at
}

/// A string; the splitter has made sure that it ends.
fn string(text: &str) -> Result<(TokenKind, usize), Kind> {
    let bytes = text.as_bytes();
    let mut value = Vec::new();
    let mut at = 1;
    loop {
        match bytes.get(at) {
            None => return Err(Kind::UnclosedString),
            Some(b'"') => return Ok((TokenKind::Text(value), at + 1)),
            Some(b'\\') => at += 1 + escape(&bytes[at + 1..], &mut value)?,
            Some(byte) => {
                value.push(*byte);
                at += 1;
            }
        }
    }
}

/// Appends what an escape stands for, and says how many bytes behind the backslash it takes.
fn escape(bytes: &[u8], value: &mut Vec<u8>) -> Result<usize, Kind> {
    let Some(&first) = bytes.first() else {
        return Err(Kind::UnclosedString);
    };
    let simple = match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'\\' | b'"' => first,
        b'0'..=b'7' => {
            let digits = bytes
                .iter()
                .take(3)
                .take_while(|d| matches!(d, b'0'..=b'7'));
            let (count, sum) = digits.fold((0, 0u32), |(n, sum), d| {
                (n + 1, sum * 8 + u32::from(d - b'0'))
            });
            value.push(sum.to_le_bytes()[0]);
            return Ok(count);
        }
        other => return Err(Kind::BadEscape(char::from(other))),
    };
    value.push(simple);
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        lex(text)
            .expect("lexes")
            .into_iter()
            .map(|token| token.kind)
            .collect()
    }

    #[test]
    fn numbers_come_in_four_bases_and_labels_end_in_a_direction() {
        use TokenKind::{Half, Integer, LocalLabel};
        assert_eq!(
            kinds("10 0x1F 017 0b101 0b 1b 12f 1.0h -2h 6.10352e-5h 0"),
            vec![
                Integer(10),
                Integer(31),
                Integer(15),
                Integer(5),
                LocalLabel {
                    number: 0,
                    forward: false
                },
                LocalLabel {
                    number: 1,
                    forward: false
                },
                LocalLabel {
                    number: 12,
                    forward: true
                },
                Half(0x3c00),
                TokenKind::Mark("-"),
                Half(0x4000),
                Half(0x0400),
                Integer(0),
            ]
        );
    }

    #[test]
    fn a_decimal_point_needs_the_suffix_of_half_precision() {
        assert_eq!(
            lex("1.5"),
            Err(Fault::at(0, Kind::DecimalWithoutSuffix("1.5".to_owned())))
        );
        assert_eq!(
            lex(" 08"),
            Err(Fault::at(1, Kind::BadNumber("08".to_owned())))
        );
    }

    #[test]
    fn strings_know_the_usual_escapes() {
        assert_eq!(
            kinds(r#""a\n\"\101\0""#),
            vec![TokenKind::Text(b"a\n\"A\0".to_vec())]
        );
    }
}
