//! Why bytes are no bundle.

use tilekiln_chip::{ByteAddr, PhysTile};

use crate::digest::Digest;
use crate::format::Section;

/// Why bytes are no bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Not even a header.
    #[error("a bundle of {bytes} bytes; its header alone takes {want}")]
    Short {
        /// What there is.
        bytes: usize,
        /// What it takes.
        want: usize,
    },
    /// Something else's file.
    #[error("this is no bundle: it starts with {got:02x?}")]
    Magic {
        /// What it starts with.
        got: [u8; 8],
    },
    /// Another version's file.
    #[error("a bundle of version {got}; this program reads version {want}")]
    Version {
        /// What it says.
        got: u32,
        /// What is read.
        want: u32,
    },
    /// Another chip's file.
    #[error("a bundle for {got:?}; this program drives {want:?}")]
    Chip {
        /// What it says.
        got: String,
        /// What is driven.
        want: String,
    },
    /// Cut off, or something appended.
    #[error("the bundle says it is {says} bytes long and is {bytes}")]
    Length {
        /// What it says.
        says: u64,
        /// What there is.
        bytes: u64,
    },
    /// Damaged.
    #[error("the digest of the whole bundle is {got}, not {want}")]
    Damaged {
        /// As written.
        want: Digest,
        /// As found.
        got: Digest,
    },
    /// One section damaged.
    #[error("the digest of section {section} is {got}, not {want}")]
    SectionDamaged {
        /// Which one.
        section: Section,
        /// As written.
        want: Digest,
        /// As found.
        got: Digest,
    },
    /// The section table is not the one of this version.
    #[error("line {index} of the section table has {field} {got} where {want} belongs")]
    SectionTable {
        /// Which line.
        index: usize,
        /// Which of its fields.
        field: &'static str,
        /// What it holds.
        got: u64,
        /// What it must hold, at least or at most.
        want: u64,
    },
    /// A text that is not UTF-8.
    #[error("section {section} is not UTF-8 behind byte {valid}")]
    Text {
        /// Which one.
        section: Section,
        /// The bytes that are.
        valid: usize,
    },
    /// A record with a number out of its range.
    #[error("record {index} of section {section} has {field} {value}; {limit} is the limit")]
    Field {
        /// Which section.
        section: Section,
        /// Which record.
        index: usize,
        /// Which field.
        field: &'static str,
        /// What it holds.
        value: u64,
        /// What it may hold.
        limit: u64,
    },
    /// A record that cannot be read at all.
    #[error("record {index} of section {section} has {field} {value}, which means nothing")]
    Meaningless {
        /// Which section.
        section: Section,
        /// Which record.
        index: usize,
        /// Which field.
        field: &'static str,
        /// What it holds.
        value: u64,
    },
    /// Not one record a tile.
    #[error("images for {got} tiles; the chip has {want}")]
    TileCount {
        /// Images there are.
        got: usize,
        /// Tiles there are.
        want: usize,
    },
    /// The lowest segment is not the entry.
    #[error("the image of {tile} starts at {got}, not at {want}")]
    Entry {
        /// Which tile.
        tile: PhysTile,
        /// Where its image starts; the end of memory if it has none.
        got: ByteAddr,
        /// Where it must.
        want: ByteAddr,
    },
    /// A segment the loader cannot place.
    #[error("{tile}: {bytes} bytes at {address} leave {from}..{to}, which the loader can reach")]
    Unreachable {
        /// Which tile.
        tile: PhysTile,
        /// Where the segment starts.
        address: ByteAddr,
        /// How long it is.
        bytes: u32,
        /// First byte that can be reached.
        from: ByteAddr,
        /// First byte behind that.
        to: ByteAddr,
    },
    /// Two segments at one address, or out of order.
    #[error("{tile}: the segment at {address} starts below {previous_end}, where the last ends")]
    Overlap {
        /// Which tile.
        tile: PhysTile,
        /// Where the segment starts.
        address: ByteAddr,
        /// Where the one before it ends.
        previous_end: ByteAddr,
    },
    /// Two tensors with one name.
    #[error("tensors {first} and {second} are both called {name}")]
    NameTwice {
        /// Index of the first.
        first: usize,
        /// Index of the second.
        second: usize,
        /// The name.
        name: String,
    },
    /// A tensor whose elements are not all bound once.
    #[error("{bound} elements of tensor {tensor} are bound to the host buffer; it has {elements}")]
    Unbound {
        /// Its index.
        tensor: usize,
        /// Elements in all its bindings.
        bound: u64,
        /// Elements it has.
        elements: u64,
    },
}
