//! Sections while they grow: bytes, what waits in them for its value, alignment.

use tilekiln_isa::NOP;

use super::error::Kind;
use super::expr::Expr;
use super::statement::Statement;
use crate::object::{LineMark, RelocationKind, SectionKind};

/// Sections align to no more than this.
const MAX_ALIGNMENT: i64 = 65536;

/// Something whose bytes are not known until the source has been read.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) offset: u32,
    pub(super) what: What,
}

/// What waits for its bytes.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// An instruction that issues alone.
    Solo(Statement),
    /// Two that issue together.
    Bundle(Box<[Statement; 2]>),
    /// A datum of some bytes.
    Datum(Datum),
}

/// A datum, its statement told by a mnemonic without operands.
#[derive(Clone, Debug)]
pub(super) struct Datum {
    pub(super) bytes: u32,
    pub(super) value: Expr,
    /// The byte of the statement the value starts at.
    pub(super) at: usize,
    /// The relocation a symbol modifier asks for.
    pub(super) modifier: Option<RelocationKind>,
    pub(super) statement: Statement,
}

/// A section that grows.
#[derive(Clone, Debug)]
pub(super) struct Building {
    pub(super) name: String,
    pub(super) kind: SectionKind,
    pub(super) alignment: u32,
    pub(super) bytes: Vec<u8>,
    pub(super) size: u32,
    pub(super) items: Vec<Item>,
    pub(super) lines: Vec<LineMark>,
}

/// All sections, and the one that statements go to.
#[derive(Debug)]
pub(super) struct Sections {
    pub(super) all: Vec<Building>,
    current: usize,
}

impl Default for Sections {
    fn default() -> Self {
        let mut sections = Self {
            all: Vec::new(),
            current: 0,
        };
        sections.all.push(Building::new(".text", SectionKind::Code));
        sections
    }
}

impl Building {
    fn new(name: &str, kind: SectionKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            alignment: if kind == SectionKind::Code { 4 } else { 1 },
            bytes: Vec::new(),
            size: 0,
            items: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Appends bytes.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Kind> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let size = u64::from(self.size) + u64::from(length);
        let size = u32::try_from(size)
            .ok()
            .filter(|size| *size <= tilekiln_chip::memory::BYTES);
        let long = || Kind::TooLarge(i64::from(self.size) + i64::from(length));
        if self.kind == SectionKind::Zero {
            if bytes.iter().any(|byte| *byte != 0) {
                return Err(Kind::OnlyZeros(self.name.clone()));
            }
        } else {
            self.bytes.extend_from_slice(bytes);
        }
        self.size = size.ok_or_else(long)?;
        Ok(())
    }

    /// Notes that what follows comes from a source line.
    fn mark(&mut self, file: u32, line: u32) {
        let mark = LineMark {
            offset: self.size,
            file,
            line,
        };
        match self.lines.last_mut() {
            Some(last) if (last.file, last.line) == (file, line) => {}
            Some(last) if last.offset == self.size => *last = mark,
            _ => self.lines.push(mark),
        }
    }
}

impl Sections {
    /// The section that statements go to, and its length so far: what `.` stands for.
    pub(super) fn here(&self) -> (usize, u32) {
        (self.current, self.current().size)
    }

    pub(super) fn current(&self) -> &Building {
        &self.all[self.current]
    }

    pub(super) fn current_mut(&mut self) -> &mut Building {
        &mut self.all[self.current]
    }

    /// Makes `name` the current section; a new one holds `kind`, or what its name says.
    pub(super) fn switch(&mut self, name: &str, kind: Option<SectionKind>) -> Result<(), Kind> {
        if let Some(found) = self.all.iter().position(|section| section.name == name) {
            let before = self.all[found].kind;
            if kind.is_some_and(|kind| kind != before) {
                return Err(Kind::SectionChanged(name.to_owned(), before.word()));
            }
            self.current = found;
            return Ok(());
        }
        self.all
            .push(Building::new(name, kind.unwrap_or_else(|| kind_of(name))));
        self.current = self.all.len() - 1;
        Ok(())
    }

    /// Appends room for an item of `bytes` bytes.
    pub(super) fn push(&mut self, what: What, bytes: u32, line: (u32, u32)) -> Result<(), Kind> {
        let section = self.current_mut();
        if section.kind == SectionKind::Zero {
            return Err(Kind::OnlyZeros(section.name.clone()));
        }
        let offset = section.size;
        section.mark(line.0, line.1);
        section.append(&vec![0; bytes as usize])?;
        section.items.push(Item { offset, what });
        Ok(())
    }

    /// Appends bytes that are known.
    pub(super) fn append(&mut self, bytes: &[u8], line: (u32, u32)) -> Result<(), Kind> {
        let section = self.current_mut();
        section.mark(line.0, line.1);
        section.append(bytes)
    }

    /// Appends `count` bytes of one value.
    pub(super) fn space(&mut self, count: i64, fill: u8, line: (u32, u32)) -> Result<(), Kind> {
        let limit = i64::from(tilekiln_chip::memory::BYTES);
        let count = Some(count).filter(|count| (0..=limit).contains(count));
        let count = count.and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or(Kind::TooLarge(limit + 1))?;
        self.append(&vec![fill; count], line)
    }

    /// Grows the current section to a multiple of `alignment` bytes.
    ///
    /// Code is filled with `nop`, an odd remainder first with zeros.
    pub(super) fn align(&mut self, alignment: i64, fill: Option<u8>) -> Result<(), Kind> {
        let bytes = u32::try_from(alignment)
            .ok()
            .filter(|n| n.is_power_of_two() && alignment <= MAX_ALIGNMENT)
            .ok_or(Kind::BadAlignment(alignment))?;
        let section = self.current_mut();
        section.alignment = section.alignment.max(bytes);
        let mut missing = section.size.next_multiple_of(bytes) - section.size;
        if section.kind != SectionKind::Code || fill.is_some() {
            return section.append(&vec![fill.unwrap_or(0); missing as usize]);
        }
        section.append(&vec![0; (missing % 4) as usize])?;
        missing -= missing % 4;
        while missing > 0 {
            section.append(&NOP.to_le_bytes())?;
            missing -= 4;
        }
        Ok(())
    }
}

/// What a section of that name usually holds.
fn kind_of(name: &str) -> SectionKind {
    let starts = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if starts(".text") {
        SectionKind::Code
    } else if starts(".rodata") {
        SectionKind::ReadOnly
    } else if starts(".bss") {
        SectionKind::Zero
    } else {
        SectionKind::Data
    }
}
