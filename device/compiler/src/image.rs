//! The linker: objects in, the words of an image out.
//!
//! Two steps: every section is given its place, then every word is written once. Nothing is placed
//! twice and nothing moves, so sizes never depend on addresses.
//!
//! 1. `resolve` finds what each name means and which sections the roots need.
//! 2. `layout` reserves: fixed sections first, then code, then data, in order of the
//!    objects, each at the next place of the regions that holds all of it.
//! 3. `relocate` copies the bytes and fills in the addresses.
//!
//! # Where to start
//!
//! [`link`] is the linker, [`Linked::origin`] leads an address back to its source line.

use std::ops::Range;

use tilekiln_chip::memory;

use crate::object::{Object, ObjectError, RelocationError, SectionKind, SymbolKind, executable};

mod layout;
mod relocate;
mod resolve;

/// A section of this name is placed at [`memory::ENTRY`], where the loader jumps to.
pub const ENTRY_SECTION: &str = ".text.entry";

/// Code starts at a multiple of this, so that repeat bodies inside keep their alignment.
/// [isa-encoding §6]
pub const CODE_ALIGNMENT: u32 = 8;

/// What to link.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// The objects; their order is the order of placement.
    pub objects: &'a [&'a Object],
    /// The symbol execution starts at; its section is kept, and so is all that it needs.
    pub entry: &'a str,
    /// Further symbols whose sections are kept.
    pub required: &'a [&'a str],
    /// Where sections may go, in order of preference; disjoint.
    pub regions: &'a [Range<u32>],
    /// Sections, by name, that have an address of their own, besides [`ENTRY_SECTION`].
    pub fixed: &'a [(&'a str, u32)],
    /// Names that stand for addresses outside all objects.
    pub symbols: &'a [(&'a str, u32)],
}

/// A linked program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linked {
    /// The address of the entry symbol.
    pub entry: u32,
    /// What to write into tile memory, by address; neighbours are joined.
    pub segments: Vec<Segment>,
    /// The sections that were kept, by address.
    pub sections: Vec<PlacedSection>,
    /// The symbols of those sections, by address and name.
    pub symbols: Vec<PlacedSymbol>,
    /// The files that [`LineRange::file`] counts.
    pub files: Vec<String>,
    /// Where each word came from, by address.
    pub lines: Vec<LineRange>,
    /// Bytes by use.
    pub sizes: Sizes,
}

/// Bytes at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The first byte's address.
    pub address: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A section and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedSection {
    /// The object it came from.
    pub object: String,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: SectionKind,
    /// Its first byte's address.
    pub address: u32,
    /// Its length in bytes.
    pub size: u32,
}

/// A symbol and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedSymbol {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: u32,
    /// Bytes it covers; 0 when unknown.
    pub size: u32,
    /// What it names.
    pub kind: SymbolKind,
    /// Whether other objects see it.
    pub global: bool,
    /// Index into [`Linked::sections`].
    pub section: usize,
}

/// A run of bytes and the source line they came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineRange {
    /// The addresses.
    pub range: Range<u32>,
    /// Index into [`Linked::sections`].
    pub section: usize,
    /// Index into [`Linked::symbols`] of the last symbol before, in the same section.
    pub symbol: Option<usize>,
    /// Index into [`Linked::files`].
    pub file: usize,
    /// The line, from 1.
    pub line: u32,
}

/// Where an address came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin<'a> {
    /// The object.
    pub object: &'a str,
    /// The section.
    pub section: &'a str,
    /// The last symbol before.
    pub symbol: Option<&'a str>,
    /// Bytes from that symbol, or from the section's start.
    pub offset: u32,
    /// The source file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
}

/// Bytes of a program by use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// Instructions.
    pub code: u32,
    /// Data.
    pub data: u32,
    /// Sections that nothing needs, which are left out.
    pub dropped: u32,
}

/// Why objects do not link.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// Two objects define one name.
    #[error("{name} is defined in {first} and in {second}")]
    Duplicate {
        /// The name.
        name: String,
        /// The first definition's object.
        first: String,
        /// The second one's.
        second: String,
    },
    /// The entry or a required symbol does not exist.
    #[error("{name} is required, and no object defines it")]
    Missing {
        /// The name.
        name: String,
    },
    /// A kept section uses a name that no object defines.
    #[error("{place}: {section} uses {name}, and no object defines it")]
    Undefined {
        /// The name.
        name: String,
        /// The file and line that use it, or the object when it does not tell lines.
        place: String,
        /// In which section.
        section: String,
    },
    /// The entry is a number or lies in data.
    #[error("the entry {name} is not in code")]
    EntryNotCode {
        /// The name.
        name: String,
    },
    /// A section fits into no region.
    #[error(
        "{section} of {object} needs {size} bytes; the regions have {free} left, \
         {largest} in one piece"
    )]
    Unplaceable {
        /// The section.
        section: String,
        /// Its object.
        object: String,
        /// Its length.
        size: u32,
        /// Bytes left in all regions.
        free: u32,
        /// The largest piece of them.
        largest: u32,
    },
    /// A section with an address of its own overlaps another.
    #[error("{section} of {object} at {address:#x} overlaps {other}")]
    Overlap {
        /// The section.
        section: String,
        /// Its object.
        object: String,
        /// Where it has to be.
        address: u32,
        /// What is there.
        other: String,
    },
    /// A place where the section must not be.
    #[error("{section} of {object} cannot be at {address:#x}, which {reason}")]
    BadPlace {
        /// The section.
        section: String,
        /// Its object.
        object: String,
        /// Where it has to be.
        address: u32,
        /// Why not.
        reason: &'static str,
    },
    /// A region that is empty the wrong way round, or from which nothing can be fetched.
    #[error("the region {start:#x} to {end:#x} is not executable memory, {low:#x} to {high:#x}")]
    BadRegion {
        /// Its start.
        start: u32,
        /// Its end.
        end: u32,
        /// The first executable byte.
        low: u32,
        /// The first byte behind them.
        high: u32,
    },
    /// Two regions share bytes.
    #[error("the regions at {first:#x} and {second:#x} overlap")]
    RegionsOverlap {
        /// The start of one.
        first: u32,
        /// The start of the other.
        second: u32,
    },
    /// A section of zeros; no image has a place for them.
    #[error("{section} of {object} holds {size} bytes of zeros; images only hold code and data")]
    Zeros {
        /// The section.
        section: String,
        /// Its object.
        object: String,
        /// Its length.
        size: u32,
    },
    /// An address does not fit where it is needed.
    #[error("{object} cannot refer to {name} at {offset:#x} of {section}: {error}")]
    Relocation {
        /// The object.
        object: String,
        /// The section patched.
        section: String,
        /// Where in it.
        offset: u32,
        /// What it refers to.
        name: String,
        /// Why not.
        error: Box<RelocationError>,
    },
    /// An object refers to a section or symbol that it does not have.
    #[error("{object} is damaged: {section} refers to a name that is not there")]
    Damaged {
        /// The object.
        object: String,
        /// The section.
        section: String,
    },
}

/// Links objects into the words of an image.
///
/// Sections go where the regions have room, code before data, in the order of the objects; a
/// section is never split, and a region that was too small for one section is not tried again for
/// the sections behind it. [pipeline §3.7]
///
/// # Errors
///
/// [`LinkError`], the first that is found; names and both numbers are in it.
pub fn link(input: &LinkInput<'_>) -> Result<Linked, LinkError> {
    let names = resolve::Names::of(input)?;
    let kept = names.reachable()?;
    let places = layout::reserve(input, &kept)?;
    relocate::write(&names, &places)
}

impl Linked {
    /// The address of a symbol; of the global one where locals have the same name.
    pub fn address(&self, name: &str) -> Option<u32> {
        let mut named = self.symbols.iter().filter(|symbol| symbol.name == name);
        let first = named.clone().next();
        named
            .find(|symbol| symbol.global)
            .or(first)
            .map(|symbol| symbol.address)
    }

    /// The program as an executable ELF file, for tools that read those.
    ///
    /// # Errors
    ///
    /// [`ObjectError::TooLarge`], which no program that fits a tile gives.
    pub fn to_elf(&self) -> Result<Vec<u8>, ObjectError> {
        let is_code = |segment: &Segment| {
            let mut sections = self.sections.iter();
            sections.any(|s| s.address == segment.address && s.kind == SectionKind::Code)
        };
        let parts: Vec<_> = self
            .segments
            .iter()
            .map(|segment| (segment.address, segment.bytes.as_slice(), is_code(segment)))
            .collect();
        executable(self.entry, &parts)
    }

    /// Where the byte at `address` came from.
    pub fn origin(&self, address: u32) -> Option<Origin<'_>> {
        let behind = self
            .lines
            .partition_point(|line| line.range.start <= address);
        let line = self.lines.get(behind.checked_sub(1)?)?;
        if !line.range.contains(&address) {
            return None;
        }
        let section = self.sections.get(line.section)?;
        let symbol = line.symbol.and_then(|index| self.symbols.get(index));
        let start = symbol.map_or(section.address, |symbol| symbol.address);
        Some(Origin {
            object: &section.object,
            section: &section.name,
            symbol: symbol.map(|symbol| symbol.name.as_str()),
            offset: address - start,
            file: self.files.get(line.file).map_or("", String::as_str),
            line: line.line,
        })
    }
}

/// Executable memory. [isa-core §1.6 obs]
const EXECUTABLE: Range<u32> = memory::BASE.0..memory::INTERLEAVED.0;
