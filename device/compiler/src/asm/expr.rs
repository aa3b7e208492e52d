//! Expressions: reading them, and working them out as far as the source allows.
//!
//! Precedence is that of the GNU assembler: `* / % << >>` bind tightest, then `& | ^`, then
//! `+ -`, then comparisons, then `&&`, then `||`. A comparison that holds is 1.

use super::error::{Fault, Kind};
use super::lex::{Token, TokenKind};
use super::split::{Piece, Place};
use super::symbols::{Meaning, SymbolId, Symbols};

/// An expression whose `.set` names have been replaced by their values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// A number.
    Number(i64),
    /// A half literal, which a minus negates by its sign bit.
    Half(u16),
    /// A name.
    Symbol(SymbolId),
    /// A place in a section.
    Place(usize, u32),
    /// An operator in front.
    Unary(&'static str, Box<Expr>),
    /// An operator between.
    Binary(&'static str, Box<Expr>, Box<Expr>),
}

/// What an expression comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A number.
    Constant(i64),
    /// A distance from something the linker places.
    Address(Base, i64),
}

/// What an address counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// The start of a section.
    Section(usize),
    /// A symbol that another object may define or replace.
    Symbol(SymbolId),
}

/// Binary operators and how tightly they bind; `<>` is another `!=`.
fn precedence(mark: &str) -> Option<u8> {
    Some(match mark {
        "||" => 1,
        "&&" => 2,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => 3,
        "+" | "-" => 4,
        "&" | "|" | "^" => 5,
        "*" | "/" | "%" | "<<" | ">>" => 6,
        _ => return None,
    })
}

/// A reader of one statement's tokens.
pub(super) struct Cursor<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) piece: &'a Piece,
    /// What `.` stands for.
    pub(super) here: (usize, u32),
    /// The length of the text, for complaints about its end.
    pub(super) length: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(
        tokens: &'a [Token],
        piece: &'a Piece,
        here: (usize, u32),
        length: usize,
    ) -> Self {
        Self {
            tokens,
            at: 0,
            piece,
            here,
            length,
        }
    }

    pub(super) fn peek(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    pub(super) fn peek_mark(&self) -> Option<&'static str> {
        match self.peek() {
            Some(TokenKind::Mark(mark)) => Some(mark),
            _ => None,
        }
    }

    /// The byte of the statement the next token starts at.
    pub(super) fn offset(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.length, |token| token.start)
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Takes `mark` if it is next.
    pub(super) fn take(&mut self, mark: &str) -> bool {
        let found = self.peek_mark() == Some(mark);
        self.at += usize::from(found);
        found
    }

    /// The name that must be next.
    pub(super) fn name(&mut self, expected: &'static str) -> Result<String, Fault> {
        match self.peek() {
            Some(TokenKind::Name(name)) => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => Err(self.expected(expected)),
        }
    }

    /// A comma must be next.
    pub(super) fn comma(&mut self) -> Result<(), Fault> {
        if self.take(",") {
            Ok(())
        } else {
            Err(self.expected("a comma"))
        }
    }

    /// The statement must end here.
    pub(super) fn end(&self) -> Result<(), Fault> {
        if self.is_done() {
            return Ok(());
        }
        Err(Fault::at(self.offset(), Kind::Trailing(self.found())))
    }

    /// The next token as a complaint names it.
    pub(super) fn found(&self) -> String {
        match self.tokens.get(self.at) {
            None => "the end of the statement".to_owned(),
            Some(token) => match &token.kind {
                TokenKind::Name(name) => format!("`{name}`"),
                TokenKind::Mark(mark) => format!("`{mark}`"),
                TokenKind::Text(_) => "a string".to_owned(),
                TokenKind::Integer(value) => format!("`{value}`"),
                TokenKind::Half(_) => "a half literal".to_owned(),
                TokenKind::LocalLabel { number, forward } => {
                    format!("`{number}{}`", if *forward { 'f' } else { 'b' })
                }
            },
        }
    }

    pub(super) fn expected(&self, expected: &'static str) -> Fault {
        Fault::at(
            self.offset(),
            Kind::Expected {
                expected,
                found: self.found(),
            },
        )
    }

    /// Reads an expression.
    pub(super) fn expression(&mut self, symbols: &mut Symbols) -> Result<Expr, Fault> {
        self.binary(symbols, 1, 0)
    }

    fn binary(&mut self, symbols: &mut Symbols, least: u8, depth: usize) -> Result<Expr, Fault> {
        let mut left = self.unary(symbols, depth)?;
        while let Some(mark) = self.peek_mark() {
            let Some(level) = precedence(mark).filter(|level| *level >= least) else {
                break;
            };
            self.at += 1;
            let right = self.binary(symbols, level + 1, depth + 1)?;
            left = Expr::Binary(mark, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self, symbols: &mut Symbols, depth: usize) -> Result<Expr, Fault> {
        if depth > 200 {
            return Err(Fault::at(self.offset(), Kind::TooDeep(depth, 200)));
        }
        if let Some(mark @ ("-" | "+" | "~" | "!")) = self.peek_mark() {
            self.at += 1;
            let operand = self.unary(symbols, depth + 1)?;
            return Ok(match (mark, operand) {
                ("-", Expr::Half(bits)) => Expr::Half(bits ^ 0x8000),
                (_, operand) => Expr::Unary(mark, Box::new(operand)),
            });
        }
        if self.take("(") {
            let inner = self.binary(symbols, 1, depth + 1)?;
            return if self.take(")") {
                Ok(inner)
            } else {
                Err(self.expected("`)`"))
            };
        }
        self.primary(symbols)
    }

    fn primary(&mut self, symbols: &mut Symbols) -> Result<Expr, Fault> {
        let at = self.offset();
        let place = self.place_at(at);
        let expr = match self.peek() {
            Some(TokenKind::Integer(value)) => Expr::Number(value.cast_signed()),
            Some(TokenKind::Half(bits)) => Expr::Half(*bits),
            Some(TokenKind::LocalLabel { number, forward }) => {
                let found = match forward {
                    true => Ok(symbols.forward(*number, place)),
                    false => symbols.backward(*number),
                };
                Expr::Symbol(found.map_err(|kind| Fault::at(at, kind))?)
            }
            Some(TokenKind::Name(name)) if name == "." => Expr::Place(self.here.0, self.here.1),
            Some(TokenKind::Name(name)) => {
                let id = symbols.named(name, place);
                let entry = symbols.get_mut(id);
                entry.used = true;
                match &entry.meaning {
                    Meaning::Value(value) => value.clone(),
                    _ => Expr::Symbol(id),
                }
            }
            _ => return Err(self.expected("an expression")),
        };
        self.at += 1;
        Ok(expr)
    }

    /// Where a byte of the statement came from.
    pub(super) fn place_at(&self, offset: usize) -> Place {
        self.piece.place_of(offset)
    }
}

impl Expr {
    /// Works the expression out with what is known so far.
    pub(super) fn value(&self, symbols: &Symbols) -> Result<Value, Kind> {
        self.value_within(symbols, 0)
    }

    /// The constant the expression comes to.
    pub(super) fn constant(&self, symbols: &Symbols) -> Result<i64, Kind> {
        match self.value(symbols)? {
            Value::Constant(value) => Ok(value),
            Value::Address(Base::Symbol(id), _) => {
                let entry = symbols.get(id);
                let name = entry.name.clone();
                Err(match entry.meaning {
                    Meaning::Unknown => Kind::NotYetKnown(name),
                    _ => Kind::NotConstant(name),
                })
            }
            Value::Address(Base::Section(_), _) => Err(Kind::NotConstant(self.describe(symbols))),
        }
    }

    fn value_within(&self, symbols: &Symbols, depth: usize) -> Result<Value, Kind> {
        match self {
            Self::Number(value) => Ok(Value::Constant(*value)),
            Self::Half(bits) => Ok(Value::Constant(i64::from(*bits))),
            Self::Place(section, offset) => {
                Ok(Value::Address(Base::Section(*section), i64::from(*offset)))
            }
            Self::Symbol(id) => match &symbols.get(*id).meaning {
                Meaning::Value(value) if depth < 200 => value.value_within(symbols, depth + 1),
                Meaning::Value(_) => Err(Kind::Circular(symbols.get(*id).name.clone())),
                _ => Ok(Value::Address(Base::Symbol(*id), 0)),
            },
            Self::Unary(mark, operand) => unary(mark, operand.value_within(symbols, depth + 1)?),
            Self::Binary(mark, left, right) => {
                let left_value = left.value_within(symbols, depth + 1)?;
                let right_value = right.value_within(symbols, depth + 1)?;
                binary(mark, left_value, right_value, symbols)
            }
        }
    }

    /// A name for complaints.
    pub(super) fn describe(&self, symbols: &Symbols) -> String {
        match self {
            Self::Symbol(id) => symbols.get(*id).name.clone(),
            Self::Place(..) => "`.`".to_owned(),
            _ => "the expression".to_owned(),
        }
    }
}

fn unary(mark: &'static str, value: Value) -> Result<Value, Kind> {
    let Value::Constant(value) = value else {
        return Err(Kind::AddressOperand(mark));
    };
    Ok(Value::Constant(match mark {
        "-" => value.checked_neg().ok_or(Kind::Overflow)?,
        "~" => !value,
        "!" => i64::from(value == 0),
        _ => value,
    }))
}

fn binary(mark: &'static str, left: Value, right: Value, symbols: &Symbols) -> Result<Value, Kind> {
    use Value::{Address, Constant};
    match (mark, left, right) {
        (_, Constant(left), Constant(right)) => constants(mark, left, right).map(Constant),
        ("+", Address(base, addend), Constant(more))
        | ("+", Constant(more), Address(base, addend)) => Ok(Address(
            base,
            addend.checked_add(more).ok_or(Kind::Overflow)?,
        )),
        ("-", Address(base, addend), Constant(less)) => Ok(Address(
            base,
            addend.checked_sub(less).ok_or(Kind::Overflow)?,
        )),
        ("-", Address(..), Address(..)) => distance(left, right, symbols).map(Constant),
        ("==" | "!=" | "<" | "<=" | ">" | ">=", Address(..), Address(..)) => {
            constants(mark, distance(left, right, symbols)?, 0).map(Constant)
        }
        _ => Err(Kind::AddressOperand(mark)),
    }
}

/// How far two places of one section are apart.
fn distance(left: Value, right: Value, symbols: &Symbols) -> Result<i64, Kind> {
    let (Value::Address(a, from_a), Value::Address(b, from_b)) = (left, right) else {
        return Err(Kind::AddressOperand("-"));
    };
    let ((a, offset_a), (b, offset_b)) = (settle(a, symbols), settle(b, symbols));
    if a != b {
        if let (Base::Symbol(id), _) | (_, Base::Symbol(id)) = (a, b) {
            return Err(Kind::NotYetKnown(symbols.get(id).name.clone()));
        }
        return Err(Kind::FarDifference {
            left: describe_place(left, symbols).unwrap_or_else(|| "`.`".to_owned()),
            right: describe_place(right, symbols).unwrap_or_else(|| "`.`".to_owned()),
        });
    }
    let sum = |from: i64, offset: u32| from.checked_add(i64::from(offset)).ok_or(Kind::Overflow);
    sum(from_a, offset_a)?
        .checked_sub(sum(from_b, offset_b)?)
        .ok_or(Kind::Overflow)
}

/// The name of a place, where it has one.
fn describe_place(value: Value, symbols: &Symbols) -> Option<String> {
    match value {
        Value::Address(Base::Symbol(id), _) => Some(symbols.get(id).name.clone()),
        _ => None,
    }
}

/// A label as its section and offset; anything else as itself.
pub(super) fn settle(base: Base, symbols: &Symbols) -> (Base, u32) {
    if let Base::Symbol(id) = base
        && let Meaning::Label { section, offset } = symbols.get(id).meaning
    {
        return (Base::Section(section), offset);
    }
    (base, 0)
}

fn constants(mark: &'static str, left: i64, right: i64) -> Result<i64, Kind> {
    let shift = || {
        u32::try_from(right)
            .ok()
            .filter(|bits| *bits < 64)
            .ok_or(Kind::Overflow)
    };
    let result = match mark {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" | "%" if right == 0 => return Err(Kind::DivisionByZero),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        "<<" => left.checked_mul(1i64.checked_shl(shift()?).ok_or(Kind::Overflow)?),
        ">>" => Some((left.cast_unsigned() >> shift()?).cast_signed()),
        "&" => Some(left & right),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<" => Some(i64::from(left < right)),
        "<=" => Some(i64::from(left <= right)),
        ">" => Some(i64::from(left > right)),
        ">=" => Some(i64::from(left >= right)),
        "&&" => Some(i64::from(left != 0 && right != 0)),
        "||" => Some(i64::from(left != 0 || right != 0)),
        _ => return Err(Kind::AddressOperand(mark)),
    };
    result.ok_or(Kind::Overflow)
}
