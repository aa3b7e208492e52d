//! Header, section table and records of a bundle; the same types for writer and reader.
//!
//! Everything is little-endian. A file is a header, a table of sections and the sections, each on
//! a 64-byte boundary, in the order of [`Section::ALL`]. A section is text, bytes, or records of
//! one fixed size. Texts inside records are a start and a length in the section of strings.
//!
//! ```text
//! header   0 magic (8)  8 version  12 sections  16 chip (8)  24 bytes (8)  32 whole digest (32)
//! section  0 kind  4 record bytes  8 start (8)  16 bytes (8)  24 digest (32)
//! ```
//!
//! | version | since |
//! |---|---|
//! | 1 | the first |

use std::fmt;
use std::ops::Range;

use tilekiln_chip::PhysTile;
use tilekiln_chip::exchange::{HOST_PAGE, HOST_REACH};

use crate::digest::Digest;

mod records;

pub use records::{
    Binding, Direction, Host, HostPhase, Line, Meta, Roles, Rounding, Stage, Tensor, TensorKind,
    Verify,
};
pub(crate) use records::{ClassRecord, SegmentRecord, TileRecord};

/// What a bundle starts with.
pub const MAGIC: [u8; 8] = *b"tilekiln";

/// The only version this crate writes and reads.
pub const VERSION: u32 = 1;

/// The chip a bundle is for, padded with zeros.
pub const CHIP: [u8; 8] = *b"ipu21\0\0\0";

/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;

/// Bytes of one line of the section table.
pub const SECTION_BYTES: usize = 64;

/// Every section starts on a multiple of this.
pub const SECTION_ALIGN: usize = 64;

pub(crate) const SECTION_COUNT: Range<usize> = 12..16;
pub(crate) const WHOLE_DIGEST: Range<usize> = 32..64;
pub(crate) const SECTION_DIGEST: usize = 24;

/// Largest host buffer: what one complex can address, less the command page. [host-driver §9.1]
pub const BUFFER_BYTES_MAX: u32 = HOST_REACH - COMMAND_PAGE_BYTES;

/// Bytes of the command page, buffer 0. [host-driver §9.2 HW]
pub const COMMAND_PAGE_BYTES: u32 = HOST_PAGE;

/// The parts of a bundle, in file order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Section {
    /// Shapes and choices; one record.
    Meta = 1,
    /// What the host protocol needs besides phases and bindings; one record.
    Host = 2,
    /// What `verify` feeds and demands; one record.
    Verify = 3,
    /// Inputs and outputs.
    Tensors = 4,
    /// Host phases of a call.
    Phases = 5,
    /// Where rows of tensors lie in the data buffer.
    Bindings = 6,
    /// One a physical tile.
    Tiles = 7,
    /// Pieces of tile images.
    Segments = 8,
    /// Kinds of images, each with its lines.
    Classes = 9,
    /// Addresses back to sources.
    Lines = 10,
    /// Digests of the outputs of the bake's stages.
    Stages = 11,
    /// All texts of records.
    Strings = 12,
    /// The manifest.
    Manifest = 13,
    /// The report.
    Report = 14,
    /// The bytes of all segments, equal ones once.
    Blob = 15,
}

impl Section {
    /// All sections in file order.
    pub const ALL: [Self; 15] = [
        Self::Meta,
        Self::Host,
        Self::Verify,
        Self::Tensors,
        Self::Phases,
        Self::Bindings,
        Self::Tiles,
        Self::Segments,
        Self::Classes,
        Self::Lines,
        Self::Stages,
        Self::Strings,
        Self::Manifest,
        Self::Report,
        Self::Blob,
    ];

    /// Bytes of one record; 1 for text and bytes.
    pub const fn record_bytes(self) -> usize {
        match self {
            Self::Meta => Meta::BYTES,
            Self::Host => Host::BYTES,
            Self::Verify => Verify::BYTES,
            Self::Tensors => Tensor::BYTES,
            Self::Phases => HostPhase::BYTES,
            Self::Bindings => Binding::BYTES,
            Self::Tiles => TileRecord::BYTES,
            Self::Segments => SegmentRecord::BYTES,
            Self::Classes => ClassRecord::BYTES,
            Self::Lines => Line::BYTES,
            Self::Stages => Stage::BYTES,
            Self::Strings | Self::Manifest | Self::Report | Self::Blob => 1,
        }
    }

    /// Its place in the section table.
    pub(crate) const fn index(self) -> usize {
        self as usize - 1
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Meta => "meta",
            Self::Host => "host",
            Self::Verify => "verify",
            Self::Tensors => "tensors",
            Self::Phases => "phases",
            Self::Bindings => "bindings",
            Self::Tiles => "tiles",
            Self::Segments => "segments",
            Self::Classes => "classes",
            Self::Lines => "lines",
            Self::Stages => "stages",
            Self::Strings => "strings",
            Self::Manifest => "manifest",
            Self::Report => "report",
            Self::Blob => "blob",
        })
    }
}

/// A line of the section table, as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionEntry {
    pub kind: u32,
    pub record_bytes: u32,
    pub start: u64,
    pub bytes: u64,
    pub digest: Digest,
}

impl SectionEntry {
    /// Reads `SECTION_BYTES` bytes.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut fields = Fields {
            rest: bytes,
            strings: "",
        };
        Self {
            kind: fields.u32(),
            record_bytes: fields.u32(),
            start: fields.u64(),
            bytes: fields.u64(),
            digest: Digest(fields.take()),
        }
    }

    pub fn encode(&self) -> [u8; SECTION_BYTES] {
        let mut out = [0; SECTION_BYTES];
        out[0..4].copy_from_slice(&self.kind.to_le_bytes());
        out[4..8].copy_from_slice(&self.record_bytes.to_le_bytes());
        out[8..16].copy_from_slice(&self.start.to_le_bytes());
        out[16..24].copy_from_slice(&self.bytes.to_le_bytes());
        out[SECTION_DIGEST..SECTION_DIGEST + 32].copy_from_slice(&self.digest.0);
        out
    }

    /// Where the section lies, if that fits this machine's addresses.
    pub fn range(&self) -> Option<Range<usize>> {
        let start = usize::try_from(self.start).ok()?;
        let end = start.checked_add(usize::try_from(self.bytes).ok()?)?;
        Some(start..end)
    }
}

/// A little-endian 32-bit number, if `bytes` is four bytes.
pub(crate) fn small(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// A field that holds what it must not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadField {
    /// Its name.
    pub field: &'static str,
    /// What it holds.
    pub value: u64,
}

/// The fields of one record, read one after the other.
pub(crate) struct Fields<'a> {
    pub rest: &'a [u8],
    pub strings: &'a str,
}

impl<'a> Fields<'a> {
    pub fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self
            .rest
            .split_first_chunk()
            .expect("a record has a fixed size");
        self.rest = rest;
        *head
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub fn f64(&mut self) -> f64 {
        f64::from_bits(self.u64())
    }

    fn text(&mut self, field: &'static str) -> Result<&'a str, BadField> {
        let (start, bytes) = (self.u32(), self.u32());
        let end = u64::from(start) + u64::from(bytes);
        usize::try_from(end)
            .ok()
            .and_then(|end| self.strings.get(start as usize..end))
            .ok_or(BadField { field, value: end })
    }

    fn tile(&mut self, field: &'static str) -> Result<PhysTile, BadField> {
        let value = self.u32();
        u16::try_from(value)
            .ok()
            .and_then(PhysTile::new)
            .ok_or(BadField {
                field,
                value: value.into(),
            })
    }

    fn choice<T: Copy, const N: usize>(
        &mut self,
        field: &'static str,
        of: [T; N],
    ) -> Result<T, BadField> {
        let value = self.u32();
        of.get(value as usize).copied().ok_or(BadField {
            field,
            value: value.into(),
        })
    }
}

/// Where records are written to.
#[derive(Default)]
pub(crate) struct Sink {
    pub bytes: Vec<u8>,
}

impl Sink {
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    fn text(&mut self, strings: &mut Strings, text: &str) {
        let (start, bytes) = strings.place(text);
        self.u32(start);
        self.u32(bytes);
    }
}

/// The section of strings while it grows; equal strings are stored once.
#[derive(Default)]
pub(crate) struct Strings {
    pub all: String,
    known: std::collections::BTreeMap<String, u32>,
}

impl Strings {
    fn place(&mut self, text: &str) -> (u32, u32) {
        let start = *self.known.entry(text.to_owned()).or_insert_with(|| {
            let start = self.all.len() as u32;
            self.all.push_str(text);
            start
        });
        (start, text.len() as u32)
    }
}

/// A record of fixed size; `put` and `take` are each other's inverse.
pub(crate) trait Record<'a>: Sized {
    const BYTES: usize;
    fn put(&self, out: &mut Sink, strings: &mut Strings);
    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField>;
}
