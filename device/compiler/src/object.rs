//! Relocatable objects: sections, symbols, relocations, and the only reader and writer of ELF.
//!
//! [`Object`] is what the assembler makes and the linker takes. [`Object::to_bytes`] writes it as
//! an ELF32 file that `readelf` reads and that carries its own digest; [`Object::from_bytes`]
//! reads it back and refuses a file that has changed. [`Object::from_elf`] takes the files of
//! other tools, which carry no digest.

use std::fmt::Write as _;

mod elf;
mod read;
mod relocation;

pub use elf::executable;
pub use read::ObjectError;
pub use relocation::{RelocationError, RelocationKind};

/// The `e_machine` of the tile processor. [isa-encoding §10]
pub const MACHINE: u16 = 248;

/// `EI_OSABI`: a standalone program. [isa-encoding §10]
pub const OS_ABI: u8 = 255;

/// `e_flags`: architecture ipu21. [isa-encoding §10]
pub const FLAGS: u32 = 0x21;

/// Bytes of `e_flags` that name the architecture. [isa-encoding §10]
pub const ARCHITECTURE_MASK: u32 = 0xff;

/// The assembled form of one source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Object {
    /// What the source is called; no folder, so that it is the same wherever it was built.
    pub name: String,
    /// The files that [`LineMark::file`] counts, without folders.
    pub files: Vec<String>,
    /// The sections in order of first appearance; empty ones are left out.
    pub sections: Vec<Section>,
    /// The symbols, locals before globals.
    pub symbols: Vec<Symbol>,
}

/// What a section holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SectionKind {
    /// Instructions.
    Code,
    /// Data that a program may write.
    Data,
    /// Data that no program writes.
    ReadOnly,
    /// Data that starts as zeros; no bytes are kept.
    Zero,
}

impl SectionKind {
    /// The word for it in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Data => "data",
            Self::ReadOnly => "read-only data",
            Self::Zero => "zeros",
        }
    }
}

/// One section of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its name, for instance `.text.gemm`.
    pub name: String,
    /// What it holds.
    pub kind: SectionKind,
    /// Its alignment in bytes, a power of two.
    pub alignment: u32,
    /// Its contents; empty for [`SectionKind::Zero`].
    pub bytes: Vec<u8>,
    /// Its length in bytes, also where there are no contents.
    pub size: u32,
    /// What the linker has to patch, by offset.
    pub relocations: Vec<Relocation>,
    /// Which source line each byte came from: a mark holds until the next one.
    pub lines: Vec<LineMark>,
}

/// A value that only the linker knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// The first byte of the word or datum to patch.
    pub offset: u32,
    /// What to put where.
    pub kind: RelocationKind,
    /// What the value counts from.
    pub target: Target,
    /// What to add.
    pub addend: i32,
}

/// What a relocation counts from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// The start of a section, by index.
    Section(usize),
    /// A symbol, by index.
    Symbol(usize),
}

/// A source line and the offset from which it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineMark {
    /// Bytes from the start of the section.
    pub offset: u32,
    /// Index into [`Object::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
}

/// A name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Where it is.
    pub place: SymbolPlace,
    /// Bytes it covers; 0 when unknown.
    pub size: u32,
    /// What it names.
    pub kind: SymbolKind,
    /// Who sees it.
    pub binding: Binding,
}

/// Where a symbol is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolPlace {
    /// In another object.
    Undefined,
    /// Nowhere: it is a number.
    Absolute(u32),
    /// In a section.
    Section {
        /// Index of the section.
        section: usize,
        /// Bytes from its start.
        offset: u32,
    },
}

/// What a symbol names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// Nothing in particular.
    None,
    /// Data.
    Object,
    /// Code.
    Function,
}

/// Who sees a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Binding {
    /// Its own object.
    Local,
    /// All objects.
    Global,
    /// All objects, unless one of them has a global of that name.
    Weak,
}

impl Object {
    /// The object as an ELF32 file that carries its own digest.
    ///
    /// # Errors
    ///
    /// [`ObjectError`] when the object cannot be told in ELF: a name with a zero byte, a reference
    /// to nothing, contents that differ from the size. Objects of the assembler always can.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ObjectError> {
        elf::write(self)
    }

    /// Reads what [`Object::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// [`ObjectError::Digest`] when any byte has changed since, [`ObjectError::NoDigest`] for the
    /// files of other tools, and what [`Object::from_elf`] refuses.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ObjectError> {
        read::check_digest(bytes)?;
        read::read("", bytes)
    }

    /// Reads an ELF32 object of any tool; `name` is what it is called unless it says so itself.
    ///
    /// # Errors
    ///
    /// [`ObjectError`] when the file is damaged, for another machine, or uses what this linker does
    /// not know.
    pub fn from_elf(name: &str, bytes: &[u8]) -> Result<Self, ObjectError> {
        read::read(name, bytes)
    }

    /// The section of that name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The symbol of that name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// The object as text: every section with its words, relocations and source lines, then the
    /// symbols.
    pub fn listing(&self) -> String {
        let mut out = String::new();
        for section in &self.sections {
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "section {} {} align {} size {}",
                section.name,
                section.kind.word(),
                section.alignment,
                section.size
            );
            self.list_section(section, &mut out);
        }
        for symbol in &self.symbols {
            let Symbol {
                name,
                place,
                size,
                kind,
                binding,
            } = symbol;
            let place = match place {
                SymbolPlace::Undefined => "undefined".to_owned(),
                SymbolPlace::Absolute(value) => format!("= {value:#x}"),
                SymbolPlace::Section { section, offset } => {
                    let name = self.sections.get(*section).map_or("?", |s| s.name.as_str());
                    format!("{name} + {offset:#x}")
                }
            };
            let _ = writeln!(
                out,
                "symbol {name} {binding:?} {kind:?} {place} size {size}"
            );
        }
        out
    }

    fn list_section(&self, section: &Section, out: &mut String) {
        let mut marks = section.lines.iter().peekable();
        let mut relocations = section.relocations.iter().peekable();
        for (index, chunk) in section.bytes.chunks(4).enumerate() {
            let offset = u32::try_from(index * 4).unwrap_or(u32::MAX);
            let word = chunk
                .iter()
                .rev()
                .fold(0u32, |word, byte| word << 8 | u32::from(*byte));
            let digits = chunk.len() * 2;
            let _ = write!(out, "  {offset:04x} {word:0digits$x}");
            while let Some(r) = relocations.next_if(|r| r.offset < offset + 4) {
                let target = match r.target {
                    Target::Section(section) => self.sections.get(section).map(|s| &s.name),
                    Target::Symbol(symbol) => self.symbols.get(symbol).map(|s| &s.name),
                };
                let name = target.map_or("?", String::as_str);
                let _ = write!(out, "  {} {name}{:+}", r.kind.name(), r.addend);
            }
            while let Some(mark) = marks.next_if(|mark| mark.offset < offset + 4) {
                let file = self
                    .files
                    .get(mark.file as usize)
                    .map_or("?", String::as_str);
                let _ = write!(out, "  {file}:{}", mark.line);
            }
            out.push('\n');
        }
    }
}
