//! The builder; equal segments stored once.

use std::collections::BTreeMap;

use tilekiln_chip::{ByteAddr, PhysTile, TILE_COUNT};

use crate::digest::{self, Digest};
use crate::format::{
    Binding, CHIP, ClassRecord, HEADER_BYTES, Host, HostPhase, Line, MAGIC, Meta, Record,
    SECTION_ALIGN, SECTION_BYTES, Section, SectionEntry, SegmentRecord, Sink, Stage, Strings,
    Tensor, TileRecord, VERSION, Verify, WHOLE_DIGEST,
};
use crate::read::{Bundle, ReadError};

/// Why a bundle could not be written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A tile without an image.
    #[error("{tile} has no image")]
    NoImage {
        /// Which one.
        tile: PhysTile,
    },
    /// A tile with two images.
    #[error("{tile} has two images")]
    TwoImages {
        /// Which one.
        tile: PhysTile,
    },
    /// More bytes of segments than a segment can count.
    #[error("the segments take {bytes} bytes; {limit} is the limit")]
    TooLarge {
        /// What they take.
        bytes: usize,
        /// What they may.
        limit: u32,
    },
    /// What was written is not what a reader takes.
    #[error("the bundle does not read back")]
    Refused(#[from] ReadError),
}

/// A kind of image; tiles of one kind share their lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Class(u32);

impl Class {
    /// Its number, as [`crate::TileImage::class`] gives it back.
    pub fn index(self) -> u32 {
        self.0
    }
}

/// A bundle while it is put together. Equal calls give equal bytes.
pub struct Builder {
    strings: Strings,
    meta: Sink,
    host: Sink,
    verify: Sink,
    tensors: Sink,
    phases: Sink,
    bindings: Sink,
    segments: Sink,
    stages: Sink,
    classes: Vec<(String, Vec<OwnedLine>)>,
    tiles: BTreeMap<PhysTile, TileRecord>,
    blob: Vec<u8>,
    /// Segments placed before, by their digest: 32 bytes each instead of the bytes again.
    placed: BTreeMap<Digest, u32>,
    manifest: String,
    report: String,
}

struct OwnedLine {
    start: ByteAddr,
    end: ByteAddr,
    symbol: String,
    file: String,
    line: u32,
}

impl Builder {
    /// Starts a bundle.
    pub fn new(meta: &Meta<'_>, host: &Host, verify: &Verify) -> Self {
        let mut strings = Strings::default();
        let mut single = |put: &dyn Fn(&mut Sink, &mut Strings)| {
            let mut sink = Sink::default();
            put(&mut sink, &mut strings);
            sink
        };
        Self {
            meta: single(&|sink, strings| meta.put(sink, strings)),
            host: single(&|sink, strings| host.put(sink, strings)),
            verify: single(&|sink, strings| verify.put(sink, strings)),
            strings,
            tensors: Sink::default(),
            phases: Sink::default(),
            bindings: Sink::default(),
            segments: Sink::default(),
            stages: Sink::default(),
            classes: Vec::new(),
            tiles: BTreeMap::new(),
            blob: Vec::new(),
            placed: BTreeMap::new(),
            manifest: String::new(),
            report: String::new(),
        }
    }

    /// Adds a tensor; the n-th one added has index n.
    pub fn tensor(&mut self, tensor: &Tensor<'_>) -> &mut Self {
        tensor.put(&mut self.tensors, &mut self.strings);
        self
    }

    /// Adds a host phase behind those added before.
    pub fn phase(&mut self, phase: &HostPhase) -> &mut Self {
        phase.put(&mut self.phases, &mut self.strings);
        self
    }

    /// Adds a binding.
    pub fn binding(&mut self, binding: &Binding) -> &mut Self {
        binding.put(&mut self.bindings, &mut self.strings);
        self
    }

    /// Adds the digest of a stage's output.
    pub fn stage(&mut self, name: &str, output: &[u8]) -> &mut Self {
        let stage = Stage {
            name,
            digest: Digest::of(output),
            bytes: output.len() as u64,
        };
        stage.put(&mut self.stages, &mut self.strings);
        self
    }

    /// Sets the manifest.
    pub fn manifest(&mut self, text: &str) -> &mut Self {
        text.clone_into(&mut self.manifest);
        self
    }

    /// Sets the report.
    pub fn report(&mut self, text: &str) -> &mut Self {
        text.clone_into(&mut self.report);
        self
    }

    /// Adds a kind of image.
    pub fn class(&mut self, name: &str) -> Class {
        self.classes.push((name.to_owned(), Vec::new()));
        Class(self.classes.len() as u32 - 1)
    }

    /// Says where code of a kind of image was written down. In any order; ranges must not overlap.
    pub fn line(&mut self, class: Class, line: &Line<'_>) -> &mut Self {
        self.classes[class.0 as usize].1.push(OwnedLine {
            start: line.start,
            end: line.end,
            symbol: line.symbol.to_owned(),
            file: line.file.to_owned(),
            line: line.line,
        });
        self
    }

    /// Gives a tile its image: pieces in any order, each a multiple of four bytes.
    ///
    /// # Errors
    ///
    /// [`WriteError::TwoImages`] when the tile has one, [`WriteError::TooLarge`] when the bundle
    /// would need more than 32 bits.
    pub fn tile<B: AsRef<[u8]>>(
        &mut self,
        tile: PhysTile,
        class: Class,
        segments: &[(ByteAddr, B)],
    ) -> Result<&mut Self, WriteError> {
        let mut order: Vec<_> = segments
            .iter()
            .map(|(address, bytes)| (*address, bytes.as_ref()))
            .collect();
        order.sort_by_key(|&(address, _)| address);
        let record = TileRecord {
            class: class.0,
            first_segment: (self.segments.bytes.len() / SegmentRecord::BYTES) as u32,
            segments: order.len() as u32,
        };
        for (address, bytes) in order {
            let segment = SegmentRecord {
                address: address.0,
                blob_offset: self.place(bytes)?,
                bytes: bytes.len() as u32,
            };
            segment.put(&mut self.segments, &mut self.strings);
        }
        match self.tiles.insert(tile, record) {
            None => Ok(self),
            Some(_) => Err(WriteError::TwoImages { tile }),
        }
    }

    /// The offset of `bytes` in the blob.
    fn place(&mut self, bytes: &[u8]) -> Result<u32, WriteError> {
        let digest = Digest::of(bytes);
        if let Some(&offset) = self.placed.get(&digest) {
            return Ok(offset);
        }
        let offset = self.blob.len().next_multiple_of(8);
        let end = offset + bytes.len();
        if end > u32::MAX as usize {
            return Err(WriteError::TooLarge {
                bytes: end,
                limit: u32::MAX,
            });
        }
        self.blob.resize(offset, 0);
        self.blob.extend(bytes);
        self.placed.insert(digest, offset as u32);
        Ok(offset as u32)
    }

    /// Writes the bundle and reads it back.
    ///
    /// # Errors
    ///
    /// [`WriteError::NoImage`] when a tile has none, [`WriteError::Refused`] with the reader's
    /// reason when something does not fit together.
    pub fn finish(mut self) -> Result<Vec<u8>, WriteError> {
        let (classes, lines) = self.put_classes();
        let mut tiles = Sink::default();
        for tile in PhysTile::all() {
            let record = self.tiles.get(&tile).ok_or(WriteError::NoImage { tile })?;
            record.put(&mut tiles, &mut self.strings);
        }
        debug_assert_eq!(
            tiles.bytes.len(),
            usize::from(TILE_COUNT) * TileRecord::BYTES
        );
        let bytes = assemble(|section| match section {
            Section::Meta => &self.meta.bytes,
            Section::Host => &self.host.bytes,
            Section::Verify => &self.verify.bytes,
            Section::Tensors => &self.tensors.bytes,
            Section::Phases => &self.phases.bytes,
            Section::Bindings => &self.bindings.bytes,
            Section::Tiles => &tiles.bytes,
            Section::Segments => &self.segments.bytes,
            Section::Classes => &classes.bytes,
            Section::Lines => &lines.bytes,
            Section::Stages => &self.stages.bytes,
            Section::Strings => self.strings.all.as_bytes(),
            Section::Manifest => self.manifest.as_bytes(),
            Section::Report => self.report.as_bytes(),
            Section::Blob => &self.blob,
        });
        Bundle::parse(&bytes)?;
        Ok(bytes)
    }

    fn put_classes(&mut self) -> (Sink, Sink) {
        let (mut classes, mut lines) = (Sink::default(), Sink::default());
        for (name, list) in &mut self.classes {
            list.sort_by_key(|line| line.start);
            let first_line = (lines.bytes.len() / Line::BYTES) as u32;
            let class = ClassRecord {
                name,
                first_line,
                lines: list.len() as u32,
            };
            class.put(&mut classes, &mut self.strings);
            for OwnedLine {
                start,
                end,
                symbol,
                file,
                line,
            } in list
            {
                let line = Line {
                    start: *start,
                    end: *end,
                    symbol,
                    file,
                    line: *line,
                };
                line.put(&mut lines, &mut self.strings);
            }
        }
        (classes, lines)
    }
}

/// Puts header, section table and sections together.
fn assemble<'a>(body: impl Fn(Section) -> &'a [u8]) -> Vec<u8> {
    let table = HEADER_BYTES + Section::ALL.len() * SECTION_BYTES;
    let mut bytes = vec![0; table];
    for section in Section::ALL {
        let start = bytes.len().next_multiple_of(SECTION_ALIGN);
        bytes.resize(start, 0);
        bytes.extend(body(section));
        let entry = SectionEntry {
            kind: section as u32,
            record_bytes: section.record_bytes() as u32,
            start: start as u64,
            bytes: body(section).len() as u64,
            digest: Digest::of(body(section)),
        };
        let at = HEADER_BYTES + section.index() * SECTION_BYTES;
        bytes[at..at + SECTION_BYTES].copy_from_slice(&entry.encode());
    }
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&(Section::ALL.len() as u32).to_le_bytes());
    bytes[16..24].copy_from_slice(&CHIP);
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    let digest = digest::whole(&bytes);
    bytes[WHOLE_DIGEST].copy_from_slice(&digest.0);
    bytes
}
