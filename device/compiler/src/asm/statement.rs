//! Instructions and execution bundles as the source is read.
//!
//! Which form an instruction takes is decided when every label is known; until then only its size
//! matters, and that its mnemonic exists.

use std::rc::Rc;

use tilekiln_isa::parse::{self, Arg, dollar, is_mnemonic};
use tilekiln_isa::register::Register;

use super::Mode;
use super::driver::{Assembler, Trace, line_of};
use super::error::{Fault, Kind};
use super::expr::{Cursor, Expr, Value};
use super::lex::{Token, TokenKind};
use super::section::What;
use super::split::{Piece, Place};
use super::symbols::Symbols;

/// The checks that directives switch. [isa-encoding §7.5]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    /// Execution bundles may be written in the other order, and `{ rpt ; fnop }` may become `rpt`.
    pub(super) optimise: bool,
    /// Repeat bodies are not checked.
    pub(super) any_repeat: bool,
    /// Immediates that do not fit are cut.
    pub(super) any_operands: bool,
    /// Forms of the other mode are taken.
    pub(super) any_mode: bool,
    /// Execution bundles that break the rules are only warned about.
    pub(super) warn_bundles: bool,
}

/// A statement that becomes bytes.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) mnemonic: String,
    pub(super) operands: Vec<Operand>,
    /// The byte of the piece it starts at.
    pub(super) start: usize,
    pub(super) piece: Piece,
    pub(super) mode: Mode,
    pub(super) options: Options,
    pub(super) trace: Option<Rc<Trace>>,
    /// How many statements there were before it.
    pub(super) number: usize,
}

/// One operand and the byte of the piece it starts at.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) at: usize,
    pub(super) what: OperandKind,
}

/// What an operand is.
#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    Register(Register),
    Csr(String),
    Value(Expr),
}

/// An execution bundle whose `}` has not come yet.
#[derive(Debug)]
pub(super) struct OpenBundle {
    pub(super) place: Place,
    pub(super) trace: Option<Rc<Trace>>,
    members: Vec<Statement>,
    /// A member was refused, so that their number says nothing.
    broken: bool,
}

impl Statement {
    /// The operands with their values as far as they are known.
    pub(super) fn args<'a>(&'a self, symbols: &Symbols) -> Result<Vec<Arg<'a>>, Fault> {
        let arg = |operand: &'a Operand| match &operand.what {
            OperandKind::Register(register) => Ok(Arg::Register(*register)),
            OperandKind::Csr(name) => Ok(Arg::Csr(name)),
            OperandKind::Value(value) => match value.value(symbols) {
                Ok(Value::Constant(value)) => Ok(Arg::Constant(value)),
                Ok(Value::Address(..)) => Ok(Arg::Symbolic),
                Err(kind) => Err(Fault::at(operand.at, kind)),
            },
        };
        self.operands.iter().map(arg).collect()
    }

    /// What the instruction table makes of the statement.
    pub(super) fn select(&self, symbols: &Symbols) -> Result<parse::Selected, Fault> {
        let args = self.args(symbols)?;
        let options = parse::Options {
            allow_invalid_operands: self.options.any_operands,
            allow_invalid_execution_mode: self.options.any_mode,
        };
        let selected = parse::select(&self.mnemonic, &args, self.mode, options);
        selected.map_err(|error| {
            let at = self.blame(&error, &args);
            let kind = match error {
                parse::ParseError::NeedsConstant { .. } => self.unknown(symbols),
                _ => Kind::Instruction(error.to_string()),
            };
            Fault::at(at, kind)
        })
    }

    /// Which operand is no constant, where one must be.
    fn unknown(&self, symbols: &Symbols) -> Kind {
        let mut values = self
            .operands
            .iter()
            .filter_map(|operand| match &operand.what {
                OperandKind::Value(value) => value.constant(symbols).err(),
                _ => None,
            });
        values
            .next()
            .unwrap_or_else(|| Kind::NotConstant(self.mnemonic.clone()))
    }

    /// The byte of the statement that a complaint is about.
    fn blame(&self, error: &parse::ParseError, args: &[Arg<'_>]) -> usize {
        use parse::ParseError as E;
        let find = |test: &dyn Fn(&Arg<'_>) -> bool| args.iter().position(test);
        let operand = match error {
            E::WrongOperand { position, .. } | E::WrongSuffix { position, .. } => {
                position.checked_sub(1)
            }
            E::OutOfRange { value, .. } | E::LowBits { value, .. } => {
                find(&|arg| *arg == Arg::Constant(*value))
            }
            E::NeedsConstant { .. } => find(&|arg| *arg == Arg::Symbolic),
            E::UnknownCsr { .. } | E::CsrOfOtherMode { .. } => {
                find(&|arg| matches!(arg, Arg::Csr(_)))
            }
            _ => None,
        };
        operand
            .and_then(|index| self.operands.get(index))
            .map_or(self.start, |found| found.at)
    }
}

impl Assembler {
    /// Takes an instruction that starts at byte `at` with the name `word`.
    pub(super) fn instruction(
        &mut self,
        piece: &Piece,
        at: usize,
        word: &str,
    ) -> Result<(), Fault> {
        let statement = self.parse_instruction(piece, at, word);
        if let Some(bundle) = &mut self.bundle {
            match statement {
                Ok(statement) if statement.mnemonic == "ldconst" => {
                    bundle.broken = true;
                    return Err(Fault::at(at, Kind::NotInBundle("ldconst".to_owned())));
                }
                Ok(statement) => bundle.members.push(statement),
                Err(fault) => {
                    bundle.broken = true;
                    return Err(fault);
                }
            }
            return Ok(());
        }
        self.solo(statement?)
    }

    fn parse_instruction(
        &mut self,
        piece: &Piece,
        at: usize,
        word: &str,
    ) -> Result<Statement, Fault> {
        if word.is_empty() {
            let tokens = self.tokens(piece, at)?;
            let cursor = Cursor::new(&tokens, piece, self.sections.here(), piece.text.len());
            return Err(cursor.expected("a statement"));
        }
        if !is_mnemonic(word) {
            let nearest = nearest(word).map(str::to_owned);
            return Err(Fault::at(
                at,
                Kind::UnknownMnemonic {
                    mnemonic: word.to_owned(),
                    nearest,
                },
            ));
        }
        let mut statement = self.new_statement(piece, at, word);
        let tokens = self.tokens(piece, at + word.len())?;
        if !tokens.is_empty() {
            for range in operands(&tokens) {
                let operand = self.operand(piece, &tokens[range.clone()], range.end, &tokens)?;
                statement.operands.push(operand);
            }
        }
        Ok(statement)
    }

    /// One operand; `end` is the index of the comma behind it.
    fn operand(
        &mut self,
        piece: &Piece,
        tokens: &[Token],
        end: usize,
        all: &[Token],
    ) -> Result<Operand, Fault> {
        let length = all.get(end).map_or(piece.text.len(), |comma| comma.start);
        let mut cursor = Cursor::new(tokens, piece, self.sections.here(), length);
        let at = cursor.offset();
        if let Some(TokenKind::Name(name)) = cursor.peek()
            && name.starts_with('$')
        {
            let last = tokens.last().map_or(at, |token| token.end);
            let text = &piece.text[at..last];
            match dollar(text) {
                Some(Arg::Register(register)) => {
                    return Ok(Operand {
                        at,
                        what: OperandKind::Register(register),
                    });
                }
                Some(Arg::Csr(name)) => {
                    return Ok(Operand {
                        at,
                        what: OperandKind::Csr(name.to_owned()),
                    });
                }
                _ if self.symbols.find(name).is_none() => {
                    let found = format!("`{text}`");
                    return Err(Fault::at(
                        at,
                        Kind::Expected {
                            expected: "a register",
                            found,
                        },
                    ));
                }
                _ => {}
            }
        }
        let value = cursor.expression(&mut self.symbols)?;
        if !cursor.is_done() {
            return Err(cursor.expected("a comma"));
        }
        Ok(Operand {
            at,
            what: OperandKind::Value(value),
        })
    }

    /// Makes room for an instruction that issues alone.
    fn solo(&mut self, statement: Statement) -> Result<(), Fault> {
        self.check_place(&statement)?;
        let mut bytes = 4;
        if statement.mnemonic == "ldconst" {
            // The only statement whose size depends on a value; so it must be known at once.
            for operand in &statement.operands {
                if let OperandKind::Value(value) = &operand.what {
                    let known = value.constant(&self.symbols);
                    known.map_err(|kind| Fault::at(operand.at, kind))?;
                }
            }
            bytes += 4 * u32::from(statement.select(&self.symbols)?.second.is_some());
        }
        let line = line_of(statement.piece.place, statement.trace.as_ref());
        let start = statement.start;
        let pushed = self.sections.push(What::Solo(statement), bytes, line);
        pushed.map_err(|kind| Fault::at(start, kind))
    }

    /// Checks the alignment of code, and raises the section's where an instruction needs 8.
    fn check_place(&mut self, statement: &Statement) -> Result<(), Fault> {
        let (_, offset) = self.sections.here();
        let fault = |kind| Err(Fault::at(statement.start, kind));
        if offset % 4 != 0 {
            return fault(Kind::Misaligned(offset));
        }
        let mnemonic = statement.mnemonic.as_str();
        if mnemonic == "sendpicp" && offset % 8 != 0 {
            return fault(Kind::InlineAlignment {
                mnemonic: mnemonic.to_owned(),
                offset,
            });
        }
        if mnemonic == "sendpicp" || (mnemonic == "rpt" && !statement.options.any_repeat) {
            let section = self.sections.current_mut();
            section.alignment = section.alignment.max(8);
        }
        Ok(())
    }

    pub(super) fn open_bundle(&mut self, piece: &Piece) -> Result<(), Fault> {
        if self.bundle.is_some() {
            return Err(Fault::here(Kind::NestedBundle));
        }
        let (place, trace) = (piece.place, self.trace());
        self.bundle = Some(OpenBundle {
            place,
            trace,
            members: Vec::new(),
            broken: false,
        });
        Ok(())
    }

    pub(super) fn close_bundle(&mut self) -> Result<(), Fault> {
        let Some(open) = self.bundle.take() else {
            return Err(Fault::here(Kind::BundleEnd));
        };
        let OpenBundle {
            place,
            trace,
            members,
            broken,
        } = open;
        if broken {
            return Ok(());
        }
        let members = match <[Statement; 2]>::try_from(members) {
            Ok(members) => members,
            Err(members) => {
                self.complain(place, Kind::BundleSize(members.len()), trace);
                return Ok(());
            }
        };
        for member in &members {
            if let Err(fault) = self.check_place(member) {
                self.complain_about(member, fault);
                return Ok(());
            }
        }
        if let Some(rpt) = self.shortened(&members) {
            return self.solo(rpt);
        }
        let at = line_of(place, self.trace().as_ref());
        let pushed = self.sections.push(What::Bundle(Box::new(members)), 8, at);
        pushed.map_err(Fault::here)
    }

    /// The `rpt` of `{ rpt ; fnop }`, when it alone puts the body on 8 bytes. [isa-encoding §6]
    fn shortened(&self, members: &[Statement; 2]) -> Option<Statement> {
        let (_, offset) = self.sections.here();
        let [first, second] = members;
        let pair = (first.mnemonic.as_str(), second.mnemonic.as_str());
        if !first.options.optimise || offset % 8 != 4 {
            return None;
        }
        match pair {
            ("rpt", "fnop") => Some(first.clone()),
            ("fnop", "rpt") => Some(second.clone()),
            _ => None,
        }
    }
}

/// The tokens of each operand: what stands between commas outside parentheses.
fn operands(tokens: &[Token]) -> Vec<std::ops::Range<usize>> {
    let (mut all, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Mark("(") => depth += 1,
            TokenKind::Mark(")") => depth = depth.saturating_sub(1),
            TokenKind::Mark(",") if depth == 0 => {
                all.push(start..index);
                start = index + 1;
            }
            _ => {}
        }
    }
    all.push(start..tokens.len());
    all
}

/// The mnemonic nearest to `word`, if one is near.
fn nearest(word: &str) -> Option<&'static str> {
    tilekiln_isa::table::forms()
        .map(|form| {
            (
                strsim::damerau_levenshtein(word, form.mnemonic),
                form.mnemonic,
            )
        })
        .min()
        .filter(|(distance, name)| *distance <= (name.len() / 3).clamp(1, 2))
        .map(|(_, name)| name)
}
