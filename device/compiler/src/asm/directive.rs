//! The directives: sections, symbols, data, modes.

use super::Mode;
use super::driver::{Assembler, line_of};
use super::error::{Fault, Kind};
use super::expr::Cursor;
use super::lex::{Token, TokenKind};
use super::section::{Datum, What};
use super::split::Piece;
use super::statement::Statement;
use crate::object::{Binding, RelocationKind, SectionKind, SymbolKind};

/// What may stand between the braces of an execution bundle besides instructions.
const IN_BUNDLE: [&str; 4] = [".set", ".equ", ".equiv", ".error"];

impl Assembler {
    /// Obeys the directive `word`, which starts at byte `at`; its operands start at `after`.
    pub(super) fn directive(
        &mut self,
        word: &str,
        piece: &Piece,
        at: usize,
        after: usize,
    ) -> Result<(), Fault> {
        if self.bundle.is_some() && !IN_BUNDLE.contains(&word) {
            return Err(Fault::at(at, Kind::NotInBundle(word.to_owned())));
        }
        let tokens = self.tokens(piece, after)?;
        let mut cursor = Cursor::new(&tokens, piece, self.sections.here(), piece.text.len());
        if self.switch_flag(word) {
            return cursor.end();
        }
        let line = line_of(piece.place, self.trace().as_ref());
        match word {
            ".half" | ".short" | ".2byte" | ".hword" => self.data(word, &mut cursor, 2, at),
            ".byte" => self.data(word, &mut cursor, 1, at),
            ".int" | ".long" | ".word" | ".4byte" => self.data(word, &mut cursor, 4, at),
            ".quad" | ".8byte" => self.data(word, &mut cursor, 8, at),
            ".ascii" | ".asciz" | ".string" => self.text_data(word, &mut cursor, line),
            ".space" | ".zero" | ".skip" => self.space(&mut cursor, line),
            ".align" | ".balign" => self.align(&mut cursor, false),
            ".p2align" => self.align(&mut cursor, true),
            ".text" | ".data" | ".bss" | ".rodata" => {
                cursor.end()?;
                self.sections
                    .switch(word, None)
                    .map_err(|kind| Fault::at(at, kind))
            }
            ".section" => self.section(&mut cursor),
            ".globl" | ".global" => self.bind(&mut cursor, Some(Binding::Global)),
            ".weak" => self.bind(&mut cursor, Some(Binding::Weak)),
            ".extern" | ".local" => self.bind(&mut cursor, None),
            ".type" => self.symbol_type(&mut cursor),
            ".size" => self.symbol_size(&mut cursor),
            ".set" | ".equ" | ".equiv" => {
                let name = cursor.name("a symbol")?;
                cursor.comma()?;
                self.assign(&name, piece, after, cursor.offset())
            }
            ".error" | ".err" => Err(Fault::at(at, Kind::User(self.message(&cursor)))),
            // They describe the source to debuggers and matter to no byte.
            ".file" | ".ident" | ".loc" | ".warning" | ".print" => Ok(()),
            _ => Err(Fault::at(at, Kind::UnknownDirective(word.to_owned()))),
        }
    }

    /// The directives that only set a switch. [isa-encoding §7.5]
    fn switch_flag(&mut self, word: &str) -> bool {
        let options = &mut self.options;
        match word {
            ".worker" => self.mode = Mode::Worker,
            ".supervisor" => self.mode = Mode::Supervisor,
            ".allow_optimizations" => options.optimise = true,
            ".allow_invalid_repeat" => options.any_repeat = true,
            ".allow_invalid_operands" => options.any_operands = true,
            ".error_on_invalid_operands" => options.any_operands = false,
            ".allow_invalid_execution_mode" => options.any_mode = true,
            ".error_on_invalid_execution_mode" => options.any_mode = false,
            ".warn_on_invalid_bundles" => options.warn_bundles = true,
            ".error_on_invalid_bundles" => options.warn_bundles = false,
            _ => return false,
        }
        true
    }

    /// Data of `bytes` bytes each, apart by commas.
    fn data(
        &mut self,
        word: &str,
        cursor: &mut Cursor<'_>,
        bytes: u32,
        start: usize,
    ) -> Result<(), Fault> {
        loop {
            // `.` is the start of the datum it stands in.
            cursor.here = self.sections.here();
            let at = cursor.offset();
            let value = cursor.expression(&mut self.symbols)?;
            let modifier = modifier(cursor)?;
            let piece = cursor.piece;
            let statement = self.new_statement(piece, start, word);
            let line = line_of(piece.place, self.trace().as_ref());
            let datum = Datum {
                bytes,
                value,
                at,
                modifier,
                statement,
            };
            let pushed = self.sections.push(What::Datum(datum), bytes, line);
            pushed.map_err(|kind| Fault::at(at, kind))?;
            if !cursor.take(",") {
                return cursor.end();
            }
        }
    }

    fn text_data(
        &mut self,
        word: &str,
        cursor: &mut Cursor<'_>,
        line: (u32, u32),
    ) -> Result<(), Fault> {
        loop {
            let at = cursor.offset();
            let Some(TokenKind::Text(bytes)) = cursor.peek() else {
                return Err(cursor.expected("a string"));
            };
            let mut bytes = bytes.clone();
            if word != ".ascii" {
                bytes.push(0);
            }
            cursor.at += 1;
            self.sections
                .append(&bytes, line)
                .map_err(|kind| Fault::at(at, kind))?;
            if !cursor.take(",") {
                return cursor.end();
            }
        }
    }

    /// A number that must be known at once.
    fn number(&mut self, cursor: &mut Cursor<'_>) -> Result<i64, Fault> {
        let at = cursor.offset();
        let value = cursor.expression(&mut self.symbols)?;
        value
            .constant(&self.symbols)
            .map_err(|kind| Fault::at(at, kind))
    }

    /// A comma and a byte, or nothing.
    fn fill(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<u8>, Fault> {
        if !cursor.take(",") {
            return Ok(None);
        }
        let at = cursor.offset();
        let value = self.number(cursor)?;
        let byte = u8::try_from(value).or(i8::try_from(value).map(i8::cast_unsigned));
        byte.map(Some).map_err(|_| {
            let name = "a byte".to_owned();
            Fault::at(
                at,
                Kind::OutOfRange {
                    name,
                    value,
                    low: -128,
                    high: 255,
                },
            )
        })
    }

    fn space(&mut self, cursor: &mut Cursor<'_>, line: (u32, u32)) -> Result<(), Fault> {
        let at = cursor.offset();
        let count = self.number(cursor)?;
        let fill = self.fill(cursor)?.unwrap_or(0);
        cursor.end()?;
        let limit = i64::from(tilekiln_chip::memory::BYTES);
        if !(0..=limit).contains(&count) {
            let name = ".space".to_owned();
            let kind = Kind::OutOfRange {
                name,
                value: count,
                low: 0,
                high: limit,
            };
            return Err(Fault::at(at, kind));
        }
        self.sections
            .space(count, fill, line)
            .map_err(|kind| Fault::at(at, kind))
    }

    fn align(&mut self, cursor: &mut Cursor<'_>, power: bool) -> Result<(), Fault> {
        let at = cursor.offset();
        let mut value = self.number(cursor)?;
        let fill = self.fill(cursor)?;
        cursor.end()?;
        if power {
            let exponent = u32::try_from(value).ok().filter(|exponent| *exponent < 32);
            value = exponent.map_or(value, |exponent| 1 << exponent);
        }
        self.sections
            .align(value, fill)
            .map_err(|kind| Fault::at(at, kind))
    }

    /// `.section name`, with flags and a type that agree with the name or replace what it says.
    fn section(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let at = cursor.offset();
        let name = section_name(cursor)?;
        if name.is_empty() || name.contains(char::is_control) {
            return Err(Fault::at(at, Kind::BadSectionName(name)));
        }
        let (mut flags, mut zeros) = (None, false);
        if cursor.take(",") {
            let flags_at = cursor.offset();
            let Some(TokenKind::Text(text)) = cursor.peek() else {
                return Err(cursor.expected("section flags in quotes"));
            };
            let text = String::from_utf8_lossy(text).into_owned();
            cursor.at += 1;
            if text.contains(|c: char| !"awxMSG".contains(c)) {
                return Err(Fault::at(flags_at, Kind::BadFlags(text)));
            }
            flags = Some(text);
        }
        if cursor.take(",") {
            if !cursor.take("@") && !cursor.take("%") {
                return Err(cursor.expected("@progbits or @nobits"));
            }
            zeros = cursor.name("progbits or nobits")? == "nobits";
            if cursor.take(",") {
                self.number(cursor)?; // The size of an entry, which nobody here needs.
            }
        }
        cursor.end()?;
        let kind = flags.map(|flags| match () {
            () if flags.contains('x') => SectionKind::Code,
            () if zeros => SectionKind::Zero,
            () if flags.contains('w') => SectionKind::Data,
            () => SectionKind::ReadOnly,
        });
        self.sections
            .switch(&name, kind)
            .map_err(|kind| Fault::at(at, kind))
    }

    /// Names and who sees them; a `@type` behind a name is dropped, as poplibs needs.
    fn bind(&mut self, cursor: &mut Cursor<'_>, binding: Option<Binding>) -> Result<(), Fault> {
        loop {
            if !cursor.take("@") {
                let place = cursor.place_at(cursor.offset());
                let name = cursor.name("a symbol")?;
                let id = self.symbols.named(&name, place);
                let entry = self.symbols.get_mut(id);
                if binding.is_some() {
                    entry.binding = binding;
                }
            } else {
                cursor.name("a symbol type")?;
            }
            if !cursor.take(",") {
                return cursor.end();
            }
        }
    }

    fn symbol_type(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let place = cursor.place_at(cursor.offset());
        let name = cursor.name("a symbol")?;
        cursor.comma()?;
        if !cursor.take("@") && !cursor.take("%") {
            return Err(cursor.expected("@function or @object"));
        }
        let kind = match cursor.name("function or object")?.as_str() {
            "function" => SymbolKind::Function,
            "object" => SymbolKind::Object,
            "notype" => SymbolKind::None,
            _ => {
                cursor.at -= 1;
                return Err(cursor.expected("function, object or notype"));
            }
        };
        let id = self.symbols.named(&name, place);
        self.symbols.get_mut(id).kind = kind;
        cursor.end()
    }

    fn symbol_size(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let place = cursor.place_at(cursor.offset());
        let name = cursor.name("a symbol")?;
        cursor.comma()?;
        let size = cursor.expression(&mut self.symbols)?;
        let id = self.symbols.named(&name, place);
        self.symbols.get_mut(id).size = Some(size);
        cursor.end()
    }

    /// What `.error` says.
    fn message(&self, cursor: &Cursor<'_>) -> String {
        match cursor.peek() {
            Some(TokenKind::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => ".error".to_owned(),
        }
    }

    /// A statement about the current place, without operands.
    pub(super) fn new_statement(&self, piece: &Piece, start: usize, mnemonic: &str) -> Statement {
        Statement {
            mnemonic: mnemonic.to_owned(),
            operands: Vec::new(),
            start,
            piece: piece.clone(),
            mode: self.mode,
            options: self.options,
            trace: self.trace(),
            number: self.count,
        }
    }
}

/// A section's name, in quotes or not; `-` may stand in it.
fn section_name(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    if let Some(TokenKind::Text(text)) = cursor.peek() {
        cursor.at += 1;
        return Ok(String::from_utf8_lossy(text).into_owned());
    }
    let mut name = cursor.name("the name of a section")?;
    // `.text.a-1` comes as several tokens without blanks between them.
    let mut end = cursor
        .tokens
        .get(cursor.at - 1)
        .map_or(0, |token| token.end);
    while let Some(Token {
        start, end: next, ..
    }) = cursor.tokens.get(cursor.at)
        && *start == end
        && cursor.peek_mark() != Some(",")
    {
        name.push_str(cursor.piece.text.get(*start..*next).unwrap_or(""));
        end = *next;
        cursor.at += 1;
    }
    Ok(name)
}

/// A symbol modifier of data, `@abs18@s2` and its like. [isa-encoding §10]
fn modifier(cursor: &mut Cursor<'_>) -> Result<Option<RelocationKind>, Fault> {
    let at = cursor.offset();
    let mut text = String::new();
    while cursor.take("@") {
        let part = match cursor.peek() {
            Some(TokenKind::Name(name)) => name.clone(),
            Some(TokenKind::Integer(number)) => number.to_string(),
            _ => return Err(cursor.expected("a symbol modifier")),
        };
        cursor.at += 1;
        if !text.is_empty() {
            text.push('@');
        }
        text.push_str(&part);
    }
    Ok(match text.as_str() {
        "" => None,
        "relative@16@s2" => Some(RelocationKind::Relative16S2),
        "abs18@s2" => Some(RelocationKind::Word18),
        "abs19@s2" => Some(RelocationKind::Word19),
        "abs@21" => Some(RelocationKind::Bits21),
        _ => return Err(Fault::at(at, Kind::BadModifier(text))),
    })
}
