//! Walks the source statement by statement: macros, conditionals, labels, and who handles the rest.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::conditional::Condition;
use super::error::{AsmError, Fault, Kind, MAX_ERRORS, Within};
use super::expr::{Cursor, Expr};
use super::lex::{Token, lex};
use super::macros::{self, Expansion, Macro};
use super::section::Sections;
use super::split::{Files, Piece, PieceKind, Place, leading_name, split_file};
use super::statement::{OpenBundle, Options, Statement};
use super::symbols::Symbols;
use super::{Mode, Source};

/// Macros and repetitions may nest so deep.
const MAX_DEPTH: usize = 128;

/// A source may expand to so many statements; a tile holds far fewer words.
const MAX_STATEMENTS: usize = 1 << 20;

/// The chain of calls that led to a statement.
#[derive(Debug)]
pub(super) struct Trace {
    name: String,
    place: Place,
    outer: Option<Rc<Trace>>,
}

/// File and line for the table of lines: where the statement stands, or the outermost macro call it
/// came from, because that is the line its author wrote.
pub(super) fn line_of(place: Place, trace: Option<&Rc<Trace>>) -> (u32, u32) {
    let mut at = place;
    let mut next = trace;
    while let Some(trace) = next {
        if trace.name != REPEAT {
            at = trace.place;
        }
        next = trace.outer.as_ref();
    }
    (at.file, at.line)
}

/// What a repetition is called in complaints.
const REPEAT: &str = ".rept";

/// Pieces being read, once or repeatedly.
struct Frame {
    pieces: Rc<[Piece]>,
    next: usize,
    repeat: u64,
    trace: Option<Rc<Trace>>,
    /// Conditionals that were open when the frame was entered.
    conditions: usize,
}

/// Everything the assembler knows while it reads.
pub(super) struct Assembler {
    pub(super) files: Files,
    pub(super) symbols: Symbols,
    pub(super) sections: Sections,
    pub(super) mode: Mode,
    pub(super) options: Options,
    pub(super) conditions: Vec<Condition>,
    pub(super) bundle: Option<OpenBundle>,
    /// Complaints and the statement each is about.
    pub(super) errors: Vec<(usize, AsmError)>,
    pub(super) warnings: Vec<(usize, AsmError)>,
    macros: BTreeMap<String, Rc<Macro>>,
    expansions: usize,
    frames: Vec<Frame>,
    /// Statements read so far.
    pub(super) count: usize,
}

impl Assembler {
    pub(super) fn new(source: &Source) -> Self {
        let mut files = Files::default();
        let place = Place {
            file: files.index(&source.name),
            line: 0,
            column: 1,
        };
        let mut symbols = Symbols::default();
        let mut errors = Vec::new();
        for (name, value) in &source.symbols {
            if let Err(kind) = symbols.assign(name, Expr::Number(*value), place) {
                let file = source.name.clone();
                errors.push((
                    0,
                    AsmError {
                        file,
                        line: 0,
                        column: 1,
                        kind,
                        within: Vec::new(),
                    },
                ));
            }
        }
        Self {
            files,
            symbols,
            sections: Sections::default(),
            mode: source.mode,
            options: Options::default(),
            conditions: Vec::new(),
            bundle: None,
            errors,
            warnings: Vec::new(),
            macros: BTreeMap::new(),
            expansions: 0,
            frames: Vec::new(),
            count: 0,
        }
    }

    /// Reads the whole source; complaints are collected on the way.
    pub(super) fn read(&mut self, source: &Source) {
        match split_file(&source.name, &source.text, &mut self.files) {
            Err((place, fault)) => self.complain(place, fault.kind, None),
            Ok(pieces) => {
                self.frames.push(Frame {
                    pieces: pieces.into(),
                    next: 0,
                    repeat: 1,
                    trace: None,
                    conditions: 0,
                });
                while self.errors.len() < MAX_ERRORS
                    && let Some(piece) = self.next_piece()
                {
                    self.piece(&piece);
                }
            }
        }
        if let Some(open) = self.bundle.take() {
            self.complain(open.place, Kind::UnclosedBundle, open.trace);
        }
    }

    /// The next piece of the innermost frame that has one.
    fn next_piece(&mut self) -> Option<Piece> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(piece) = frame.pieces.get(frame.next) {
                frame.next += 1;
                self.count += 1;
                if self.count > MAX_STATEMENTS {
                    let (place, trace) = (piece.place, frame.trace.clone());
                    self.frames.clear();
                    self.complain(place, Kind::TooLong(MAX_STATEMENTS), trace);
                    return None;
                }
                return Some(piece.clone());
            }
            frame.repeat = frame.repeat.saturating_sub(1);
            if frame.repeat > 0 && !frame.pieces.is_empty() {
                frame.next = 0;
                continue;
            }
            let Frame {
                conditions, trace, ..
            } = self.frames.pop()?;
            while self.conditions.len() > conditions {
                if let Some(open) = self.conditions.pop() {
                    self.complain(open.place, Kind::UnclosedIf, trace.clone());
                }
            }
        }
    }

    /// The calls that led to the current statement.
    pub(super) fn trace(&self) -> Option<Rc<Trace>> {
        self.frames.last().and_then(|frame| frame.trace.clone())
    }

    /// Conditionals opened in the current macro call or file.
    pub(super) fn open_conditions(&self) -> usize {
        self.conditions.len() - self.frames.last().map_or(0, |frame| frame.conditions)
    }

    fn piece(&mut self, piece: &Piece) {
        let active = self
            .conditions
            .last()
            .is_none_or(|condition| condition.active);
        let result = match piece.kind {
            PieceKind::Text => self.text(piece, active),
            _ if !active => Ok(()),
            PieceKind::Open => self.open_bundle(piece),
            PieceKind::Close => self.close_bundle(),
        };
        if let Err(fault) = result {
            self.complain(piece.place_of(fault.at), fault.kind, self.trace());
        }
    }

    fn text(&mut self, piece: &Piece, active: bool) -> Result<(), Fault> {
        let mut at = 0;
        loop {
            let rest = &piece.text[at..];
            let word = leading_name(rest);
            let is_directive = word.len() > 1 && word.starts_with('.');
            if is_directive && self.conditional(word, piece, at + word.len())? {
                return Ok(());
            }
            if !active {
                return Ok(());
            }
            match self.label(piece, at)? {
                Some(next) if next >= piece.text.len() => return Ok(()),
                Some(next) => at = next,
                None => return self.statement(piece, at, word),
            }
        }
    }

    /// Takes a label at byte `at`: where the rest of the statement starts.
    fn label(&mut self, piece: &Piece, at: usize) -> Result<Option<usize>, Fault> {
        let rest = &piece.text[at..];
        let name = leading_name(rest);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length = name.len().max(digits);
        let after = rest[length..].trim_start();
        if length == 0 || !after.starts_with(':') {
            return Ok(None);
        }
        let fault = |kind| Fault::at(at, kind);
        if self.bundle.is_some() {
            return Err(fault(Kind::NotInBundle(format!(
                "the label {}",
                &rest[..length]
            ))));
        }
        let place = piece.place_of(at);
        let here = self.sections.here();
        if name.is_empty() {
            let bad = || fault(Kind::BadNumber(rest[..digits].to_owned()));
            let number = rest[..digits].parse().map_err(|_| bad())?;
            self.symbols.define_numeric(number, here, place);
        } else {
            self.symbols
                .define_label(name, here, place)
                .map_err(fault)?;
        }
        let behind = after[1..].trim_start();
        Ok(Some(piece.text.len() - behind.len()))
    }

    /// Hands a statement without labels to whoever knows it.
    fn statement(&mut self, piece: &Piece, at: usize, word: &str) -> Result<(), Fault> {
        let after = at + word.len();
        let rest = &piece.text[after..];
        let trimmed = rest.trim_start();
        if !word.is_empty() && trimmed.starts_with('=') && !trimmed.starts_with("==") {
            let value_at = piece.text.len() - trimmed.len() + 1;
            return self.assign(word, piece, at, value_at);
        }
        if let Some(found) = self.macros.get(word).cloned() {
            return self.call(&found, piece, after);
        }
        match word {
            ".macro" => return self.define_macro(piece, after),
            ".rept" => return self.repeat(piece, after),
            ".endm" | ".endmacro" => return Err(Fault::at(at, Kind::Without(".endm", ".macro"))),
            ".endr" => return Err(Fault::at(at, Kind::Without(".endr", ".rept"))),
            ".exitm" => return self.exit_macro(at),
            _ => {}
        }
        if word.len() > 1 && word.starts_with('.') {
            return self.directive(word, piece, at, after);
        }
        self.instruction(piece, at, word)
    }

    /// `name = value` or `.set name, value`; a later one replaces the value.
    pub(super) fn assign(
        &mut self,
        name: &str,
        piece: &Piece,
        at: usize,
        value_at: usize,
    ) -> Result<(), Fault> {
        let tokens = self.tokens(piece, value_at)?;
        let mut cursor = Cursor::new(&tokens, piece, self.sections.here(), piece.text.len());
        let value = cursor.expression(&mut self.symbols)?;
        cursor.end()?;
        let assigned = self.symbols.assign(name, value, piece.place_of(at));
        assigned.map_err(|kind| Fault::at(at, kind))
    }

    /// The tokens of a statement from byte `from` on; they count from the statement's start.
    pub(super) fn tokens(&self, piece: &Piece, from: usize) -> Result<Vec<Token>, Fault> {
        let shift = |token: Token| Token {
            start: token.start + from,
            end: token.end + from,
            ..token
        };
        match lex(&piece.text[from..]) {
            Ok(tokens) => Ok(tokens.into_iter().map(shift).collect()),
            Err(fault) => Err(Fault::at(fault.at + from, fault.kind)),
        }
    }

    fn call(&mut self, found: &Macro, piece: &Piece, after: usize) -> Result<(), Fault> {
        let depth = self.frames.len();
        if depth >= MAX_DEPTH {
            return Err(Fault::here(Kind::TooDeep(depth + 1, MAX_DEPTH)));
        }
        let trace = Trace {
            name: found.name.clone(),
            place: piece.place,
            outer: self.trace(),
        };
        let trace = Some(Rc::new(trace));
        let pieces = match found.expand(&piece.text[after..], self.expansions) {
            Ok(pieces) => pieces,
            Err(Expansion::Call(kind)) => return Err(Fault::here(kind)),
            Err(Expansion::Body(place, fault)) => {
                self.complain(place, fault.kind, trace);
                return Ok(());
            }
        };
        self.expansions += 1;
        let conditions = self.conditions.len();
        self.frames.push(Frame {
            pieces,
            next: 0,
            repeat: 1,
            trace,
            conditions,
        });
        Ok(())
    }

    fn exit_macro(&mut self, at: usize) -> Result<(), Fault> {
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.trace.is_some()) else {
            return Err(Fault::at(at, Kind::Without(".exitm", ".macro")));
        };
        frame.next = frame.pieces.len();
        frame.repeat = 1;
        let conditions = frame.conditions;
        self.conditions.truncate(conditions);
        Ok(())
    }

    fn define_macro(&mut self, piece: &Piece, after: usize) -> Result<(), Fault> {
        let body = self.body(".macro", &[".endm", ".endmacro"]);
        let body = body.ok_or_else(|| Fault::here(Kind::Unclosed(".macro", ".endm")))?;
        let text = &piece.text[after..];
        let head = macros::head(text, body.into(), piece.place.line);
        let head = head.map_err(|fault| Fault::at(after + fault.at, fault.kind))?;
        // As in the GNU assembler a macro is not redefined by accident.
        if let Some(known) = self.macros.get(&head.name) {
            let line = known.line;
            return Err(Fault::at(
                after,
                Kind::Redefined {
                    name: head.name,
                    line,
                },
            ));
        }
        self.macros.insert(head.name.clone(), Rc::new(head));
        Ok(())
    }

    fn repeat(&mut self, piece: &Piece, after: usize) -> Result<(), Fault> {
        let tokens = self.tokens(piece, after)?;
        let mut cursor = Cursor::new(&tokens, piece, self.sections.here(), piece.text.len());
        let count = cursor.expression(&mut self.symbols);
        let body = self.body(".rept", &[".endr"]);
        let body = body.ok_or_else(|| Fault::here(Kind::Unclosed(".rept", ".endr")))?;
        let value = count?
            .constant(&self.symbols)
            .map_err(|kind| Fault::at(after, kind))?;
        cursor.end()?;
        let repeat = u64::try_from(value).map_err(|_| {
            Fault::at(
                after,
                Kind::OutOfRange {
                    name: REPEAT.to_owned(),
                    value,
                    low: 0,
                    high: i64::try_from(MAX_STATEMENTS).unwrap_or(i64::MAX),
                },
            )
        })?;
        if repeat == 0 {
            return Ok(());
        }
        let trace = Trace {
            name: REPEAT.to_owned(),
            place: piece.place,
            outer: self.trace(),
        };
        let conditions = self.conditions.len();
        let trace = Some(Rc::new(trace));
        self.frames.push(Frame {
            pieces: body.into(),
            next: 0,
            repeat,
            trace,
            conditions,
        });
        Ok(())
    }

    /// Takes the pieces up to the directive that ends a macro or repetition.
    fn body(&mut self, start: &str, ends: &[&str]) -> Option<Vec<Piece>> {
        let frame = self.frames.last_mut()?;
        let mut depth = 0usize;
        for (index, piece) in frame.pieces.iter().enumerate().skip(frame.next) {
            let word = leading_name(&piece.text);
            if word == start {
                depth += 1;
            } else if ends.contains(&word) {
                if depth == 0 {
                    let body = frame.pieces[frame.next..index].to_vec();
                    frame.next = index + 1;
                    return Some(body);
                }
                depth -= 1;
            }
        }
        frame.next = frame.pieces.len();
        None
    }

    /// Records a complaint about the current statement.
    pub(super) fn complain(&mut self, place: Place, kind: Kind, trace: Option<Rc<Trace>>) {
        let error = self.error(place, kind, trace);
        self.record(self.count, error);
    }

    /// Keeps a complaint, unless a repetition has just made the same one.
    fn record(&mut self, number: usize, error: AsmError) {
        if self.errors.last().is_none_or(|(_, last)| *last != error) {
            self.errors.push((number, error));
        }
    }

    /// Records a complaint about a statement read before.
    pub(super) fn complain_about(&mut self, statement: &Statement, fault: Fault) {
        let place = statement.piece.place_of(fault.at);
        let error = self.error(place, fault.kind, statement.trace.clone());
        self.record(statement.number, error);
    }

    /// A complaint, with the calls that led to its place.
    pub(super) fn error(&self, place: Place, kind: Kind, trace: Option<Rc<Trace>>) -> AsmError {
        let mut within = Vec::new();
        let mut next = &trace;
        while let Some(trace) = next {
            let file = self.files.name(trace.place.file).to_owned();
            within.push(Within {
                name: trace.name.clone(),
                file,
                line: trace.place.line,
            });
            next = &trace.outer;
        }
        let file = self.files.name(place.file).to_owned();
        AsmError {
            file,
            line: place.line,
            column: place.column,
            kind,
            within,
        }
    }
}
