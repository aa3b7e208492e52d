//! `&'static [u8]` → [`Bundle`]: nothing copied, nothing allocated.

use std::ops::Range;

use tilekiln_chip::memory::{BASE, ENTRY, LOADER_END};
use tilekiln_chip::{ByteAddr, PhysTile, TILE_COUNT};

use crate::digest::{self, Digest};
use crate::format::{
    BadField, Binding, CHIP, ClassRecord, Direction, Fields, HEADER_BYTES, Host, HostPhase, Line,
    MAGIC, Meta, Record, SECTION_ALIGN, SECTION_BYTES, Section, SectionEntry, SegmentRecord, Stage,
    Tensor, TileRecord, VERSION, Verify,
};

mod check;
mod error;

pub use error::ReadError;

/// A baked graph, read in place. All of it was checked, so reading cannot fail.
#[derive(Clone, Copy, Debug)]
pub struct Bundle<'a> {
    bytes: &'a [u8],
    digest: Digest,
    sections: [(usize, usize); Section::ALL.len()],
    strings: &'a str,
    manifest: &'a str,
    report: &'a str,
    meta: Meta<'a>,
    host: Host,
    verify: Verify,
}

/// One piece of a tile's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Where it goes.
    pub address: ByteAddr,
    /// What goes there.
    pub bytes: &'a [u8],
    /// Where these bytes stand in the bundle; tiles with equal segments share the place.
    pub bundle_offset: usize,
}

/// One tile's image.
#[derive(Clone, Copy, Debug)]
pub struct TileImage<'a> {
    bundle: Bundle<'a>,
    record: TileRecord,
    /// The tile.
    pub tile: PhysTile,
}

impl<'a> Bundle<'a> {
    /// Reads a bundle where it lies.
    ///
    /// # Errors
    ///
    /// [`ReadError`] for anything that is not exactly what [`crate::Builder`] writes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let digest = check_header(bytes)?;
        let mut sections = [(0, 0); Section::ALL.len()];
        let mut end = HEADER_BYTES + Section::ALL.len() * SECTION_BYTES;
        for section in Section::ALL {
            let range = check_section(bytes, section, end)?;
            end = range.end;
            sections[section.index()] = (range.start, range.end);
        }
        let text = |section: Section| {
            let (start, end) = sections[section.index()];
            std::str::from_utf8(&bytes[start..end]).map_err(|error| ReadError::Text {
                section,
                valid: error.valid_up_to(),
            })
        };
        let strings = text(Section::Strings)?;
        let single = |section: Section| {
            let (start, end) = sections[section.index()];
            Fields {
                rest: &bytes[start..end],
                strings,
            }
        };
        let bundle = Self {
            bytes,
            digest,
            sections,
            strings,
            manifest: text(Section::Manifest)?,
            report: text(Section::Report)?,
            meta: check::readable(Section::Meta, 0, Meta::take(&mut single(Section::Meta)))?,
            host: check::readable(Section::Host, 0, Host::take(&mut single(Section::Host)))?,
            verify: check::readable(
                Section::Verify,
                0,
                Verify::take(&mut single(Section::Verify)),
            )?,
        };
        check::all(&bundle)?;
        Ok(bundle)
    }

    /// The digest of the whole bundle.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The bundle as it lies in memory.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where a section lies in [`Bundle::bytes`].
    pub fn section(&self, section: Section) -> Range<usize> {
        let (start, end) = self.sections[section.index()];
        start..end
    }

    /// Shapes and choices.
    pub fn meta(&self) -> &Meta<'a> {
        &self.meta
    }

    /// What the host protocol needs besides phases and bindings.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What `verify` feeds and demands.
    pub fn verify(&self) -> &Verify {
        &self.verify
    }

    /// The manifest.
    pub fn manifest(&self) -> &'a str {
        self.manifest
    }

    /// The report.
    pub fn report(&self) -> &'a str {
        self.report
    }

    /// Inputs and outputs.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = Tensor<'a>> + Clone + use<'a> {
        self.records(Section::Tensors)
    }

    /// The tensor with this index.
    pub fn tensor(&self, index: u32) -> Option<Tensor<'a>> {
        self.tensors().nth(index as usize)
    }

    /// Host phases of a call, in order.
    pub fn phases(&self) -> impl ExactSizeIterator<Item = HostPhase> + Clone + use<'a> {
        self.records(Section::Phases)
    }

    /// Acknowledgements of a call: two a host phase. [host-driver §14.4]
    pub fn acknowledgements(&self) -> u32 {
        2 * self.phases().len() as u32
    }

    /// Where rows of tensors lie in the data buffer.
    pub fn bindings(&self) -> impl ExactSizeIterator<Item = Binding> + Clone + use<'a> {
        self.records(Section::Bindings)
    }

    /// Digests of the outputs of the bake's stages, in order.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = Stage<'a>> + Clone + use<'a> {
        self.records(Section::Stages)
    }

    /// All tile images by ascending physical tile.
    pub fn tiles(&self) -> impl ExactSizeIterator<Item = TileImage<'a>> + Clone + use<'a> {
        let bundle = *self;
        (0..TILE_COUNT).map(move |index| {
            bundle.tile(PhysTile::new(index).expect("the index is below the tile count"))
        })
    }

    /// The image of one tile.
    pub fn tile(&self, tile: PhysTile) -> TileImage<'a> {
        let record = self.record(Section::Tiles, tile.index().into());
        TileImage {
            bundle: *self,
            record,
            tile,
        }
    }

    /// Names of the kinds of images, by class number.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        self.records(Section::Classes)
            .map(|class: ClassRecord<'a>| class.name)
    }

    /// Where the code at `address` of `tile` was written down.
    pub fn line(&self, tile: PhysTile, address: ByteAddr) -> Option<Line<'a>> {
        let class = self.tile(tile).class();
        let lines = self.lines(class);
        let behind = lines
            .clone()
            .position(|line| line.start > address)
            .unwrap_or(lines.len());
        let line = lines.take(behind).last()?;
        (address < line.end).then_some(line)
    }

    /// The lines of one kind of image, by ascending address.
    pub fn lines(&self, class: u32) -> impl ExactSizeIterator<Item = Line<'a>> + Clone + use<'a> {
        let class: ClassRecord<'a> = self.record(Section::Classes, class as usize);
        let first = class.first_line as usize;
        let bundle = *self;
        (first..first + class.lines as usize).map(move |index| bundle.record(Section::Lines, index))
    }

    fn body(&self, section: Section) -> &'a [u8] {
        &self.bytes[self.section(section)]
    }

    fn len(&self, section: Section) -> usize {
        self.section(section).len() / section.record_bytes()
    }

    fn fields(&self, section: Section, index: usize) -> Fields<'a> {
        let size = section.record_bytes();
        Fields {
            rest: &self.body(section)[index * size..][..size],
            strings: self.strings,
        }
    }

    fn record<T: Record<'a>>(&self, section: Section, index: usize) -> T {
        let record: Result<T, BadField> = T::take(&mut self.fields(section, index));
        record.expect("every record was read once by parse")
    }

    fn records<T: Record<'a>>(
        &self,
        section: Section,
    ) -> impl ExactSizeIterator<Item = T> + Clone + use<'a, T> {
        let bundle = *self;
        (0..self.len(section)).map(move |index| bundle.record(section, index))
    }
}

impl<'a> TileImage<'a> {
    /// Its kind, by number.
    pub fn class(&self) -> u32 {
        self.record.class
    }

    /// Its pieces by ascending address; the first is at the entry.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Segment<'a>> + Clone + use<'a> {
        let first = self.record.first_segment as usize;
        let bundle = self.bundle;
        let blob = bundle.section(Section::Blob).start;
        (first..first + self.record.segments as usize).map(move |index| {
            let segment: SegmentRecord = bundle.record(Section::Segments, index);
            let offset = blob + segment.blob_offset as usize;
            Segment {
                address: ByteAddr(segment.address),
                bytes: &bundle.bytes[offset..][..segment.bytes as usize],
                bundle_offset: offset,
            }
        })
    }

    /// Bytes of all its pieces.
    pub fn bytes(&self) -> usize {
        self.segments().map(|segment| segment.bytes.len()).sum()
    }
}

/// Checks all that can be said before the section table is understood.
fn check_header(bytes: &[u8]) -> Result<Digest, ReadError> {
    let want = HEADER_BYTES + Section::ALL.len() * SECTION_BYTES;
    if bytes.len() < want {
        return Err(ReadError::Short {
            bytes: bytes.len(),
            want,
        });
    }
    let mut fields = Fields {
        rest: bytes,
        strings: "",
    };
    let magic = fields.take();
    if magic != MAGIC {
        return Err(ReadError::Magic { got: magic });
    }
    let version = fields.u32();
    if version != VERSION {
        return Err(ReadError::Version {
            got: version,
            want: VERSION,
        });
    }
    let sections = fields.u32();
    let chip = fields.take();
    if chip != CHIP {
        return Err(ReadError::Chip {
            got: chip_name(&chip),
            want: chip_name(&CHIP),
        });
    }
    let says = fields.u64();
    if says != bytes.len() as u64 {
        return Err(ReadError::Length {
            says,
            bytes: bytes.len() as u64,
        });
    }
    let want = Digest(fields.take());
    let got = digest::whole(bytes);
    if got != want {
        return Err(ReadError::Damaged { want, got });
    }
    if sections as usize != Section::ALL.len() {
        return Err(ReadError::SectionTable {
            index: Section::ALL.len(),
            field: "a count of",
            got: sections.into(),
            want: Section::ALL.len() as u64,
        });
    }
    Ok(want)
}

fn chip_name(bytes: &[u8; 8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim_end_matches('\0')
        .to_owned()
}

/// Checks one line of the section table; the section may start at `from` at the earliest.
fn check_section(bytes: &[u8], section: Section, from: usize) -> Result<Range<usize>, ReadError> {
    let index = section.index();
    let entry =
        SectionEntry::decode(&bytes[HEADER_BYTES + index * SECTION_BYTES..][..SECTION_BYTES]);
    let wrong = |field, got, want| ReadError::SectionTable {
        index,
        field,
        got,
        want,
    };
    if entry.kind != section as u32 {
        return Err(wrong("kind", entry.kind.into(), section as u64));
    }
    let size = section.record_bytes();
    if entry.record_bytes as usize != size {
        return Err(wrong(
            "record bytes",
            entry.record_bytes.into(),
            size as u64,
        ));
    }
    if !entry.bytes.is_multiple_of(size as u64) {
        return Err(wrong("bytes", entry.bytes, size as u64));
    }
    let single = matches!(section, Section::Meta | Section::Host | Section::Verify);
    if single && entry.bytes != size as u64 {
        return Err(wrong("bytes", entry.bytes, size as u64));
    }
    let first = from.next_multiple_of(SECTION_ALIGN) as u64;
    if entry.start != first {
        return Err(wrong("start", entry.start, first));
    }
    let range = entry.range().filter(|range| range.end <= bytes.len());
    let range = range.ok_or(wrong("bytes", entry.bytes, bytes.len() as u64))?;
    let got = Digest::of(&bytes[range.clone()]);
    if got != entry.digest {
        return Err(ReadError::SectionDamaged {
            section,
            want: entry.digest,
            got,
        });
    }
    Ok(range)
}
