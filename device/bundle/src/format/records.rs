//! The records, each with its two directions side by side.

use std::fmt;

use tilekiln_chip::{ByteAddr, PhysTile};

use super::{BadField, Fields, Record, Sink, Strings};
use crate::digest::Digest;

/// How results are rounded to f16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Up or down at random, without bias.
    Stochastic,
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nearest => "nearest",
            Self::Stochastic => "stochastic",
        })
    }
}

/// Which tensor plays which part in the attention, by index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Roles {
    /// The queries.
    pub query: u32,
    /// The keys.
    pub key: u32,
    /// The values.
    pub value: u32,
    /// The result.
    pub output: u32,
}

/// Shapes and choices of the baked graph.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Meta<'a> {
    /// The graph's name.
    pub name: &'a str,
    /// The target as the user wrote it.
    pub target: &'a str,
    /// The op's name.
    pub op: &'a str,
    /// Tiles the plan was allowed to use.
    pub tiles: u32,
    /// Batch size.
    pub batch: u32,
    /// Query rows of a head.
    pub query_length: u32,
    /// Key rows of a head.
    pub key_length: u32,
    /// Heads.
    pub heads: u32,
    /// Columns of a head.
    pub head_dimension: u32,
    /// Columns of a head rounded up to the matrix unit's 16.
    pub padded_head_dimension: u32,
    /// Factor on the scores.
    pub scale: f64,
    /// How results are rounded to f16.
    pub rounding: Rounding,
    /// Tiles with a part of the work.
    pub tasks: u32,
    /// Query blocks of a head.
    pub query_blocks: u32,
    /// Rows of the largest query block.
    pub query_block_rows: u32,
    /// Parts the keys of a head are split into.
    pub key_splits: u32,
    /// Keys summed in f16 before the sum is carried on in f32.
    pub key_block_rows: u32,
    /// Internal exchange phases of a call.
    pub exchange_phases: u32,
    /// Which tensor plays which part.
    pub roles: Roles,
}

impl<'a> Record<'a> for Meta<'a> {
    const BYTES: usize = 3 * 8 + 13 * 4 + 8 + 4 + 4 * 4;

    #[rustfmt::skip] // One field a line, in file order.
    fn put(&self, out: &mut Sink, strings: &mut Strings) {
        for text in [self.name, self.target, self.op] { out.text(strings, text); }
        for number in [
            self.tiles, self.batch, self.query_length, self.key_length, self.heads,
            self.head_dimension, self.padded_head_dimension, self.tasks, self.query_blocks,
            self.query_block_rows, self.key_splits, self.key_block_rows, self.exchange_phases,
        ] { out.u32(number); }
        out.f64(self.scale);
        out.u32(self.rounding as u32);
        for role in [self.roles.query, self.roles.key, self.roles.value, self.roles.output] {
            out.u32(role);
        }
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            name: fields.text("name")?,
            target: fields.text("target")?,
            op: fields.text("op")?,
            tiles: fields.u32(),
            batch: fields.u32(),
            query_length: fields.u32(),
            key_length: fields.u32(),
            heads: fields.u32(),
            head_dimension: fields.u32(),
            padded_head_dimension: fields.u32(),
            tasks: fields.u32(),
            query_blocks: fields.u32(),
            query_block_rows: fields.u32(),
            key_splits: fields.u32(),
            key_block_rows: fields.u32(),
            exchange_phases: fields.u32(),
            scale: fields.f64(),
            rounding: fields.choice("rounding", [Rounding::Nearest, Rounding::Stochastic])?,
            roles: Roles {
                query: fields.u32(),
                key: fields.u32(),
                value: fields.u32(),
                output: fields.u32(),
            },
        })
    }
}

/// What the host protocol needs besides phases and bindings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Host {
    /// Bytes of the data buffer, buffer 1; a multiple of the page.
    pub buffer_bytes: u32,
    /// Offsets in the data buffer of the first and the last sample of the cycle counter.
    pub cycles: [u32; 2],
    /// Offset of the command word in the command page, buffer 0.
    pub command_offset: u32,
    /// The tile the host watches for the end of the program.
    pub completion_tile: PhysTile,
    /// Where that tile stores 1 at the end.
    pub completion_address: ByteAddr,
}

impl<'a> Record<'a> for Host {
    const BYTES: usize = 6 * 4;

    fn put(&self, out: &mut Sink, _: &mut Strings) {
        out.u32(self.buffer_bytes);
        out.u32(self.cycles[0]);
        out.u32(self.cycles[1]);
        out.u32(self.command_offset);
        out.u32(self.completion_tile.index().into());
        out.u32(self.completion_address.0);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            buffer_bytes: fields.u32(),
            cycles: [fields.u32(), fields.u32()],
            command_offset: fields.u32(),
            completion_tile: fields.tile("completion tile")?,
            completion_address: ByteAddr(fields.u32()),
        })
    }
}

/// What `tilekiln verify` feeds and demands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Verify {
    /// Seed of the inputs.
    pub seed: u64,
    /// Mean of the inputs.
    pub mean: f64,
    /// Standard deviation of the inputs.
    pub std: f64,
    /// Largest absolute error that passes.
    pub max_abs_error: f64,
    /// Largest root mean square error that passes.
    pub rmse: f64,
}

impl<'a> Record<'a> for Verify {
    const BYTES: usize = 5 * 8;

    fn put(&self, out: &mut Sink, _: &mut Strings) {
        out.u64(self.seed);
        for number in [self.mean, self.std, self.max_abs_error, self.rmse] {
            out.f64(number);
        }
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            seed: fields.u64(),
            mean: fields.f64(),
            std: fields.f64(),
            max_abs_error: fields.f64(),
            rmse: fields.f64(),
        })
    }
}

/// Whether a tensor goes in or comes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorKind {
    /// Streamed in by the host.
    Input,
    /// Streamed back.
    Output,
}

/// An input or output: f16, four axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tensor<'a> {
    /// Its name in the graph.
    pub name: &'a str,
    /// Whether it goes in or comes out.
    pub kind: TensorKind,
    /// Batch, length, heads, head dimension.
    pub shape: [u32; 4],
}

impl Tensor<'_> {
    /// Elements of the tensor; none if the product leaves 64 bits.
    pub fn elements(&self) -> Option<u64> {
        self.shape
            .iter()
            .try_fold(1u64, |product, &axis| product.checked_mul(axis.into()))
    }
}

impl<'a> Record<'a> for Tensor<'a> {
    const BYTES: usize = 8 + 2 * 4 + 4 * 4;

    fn put(&self, out: &mut Sink, strings: &mut Strings) {
        out.text(strings, self.name);
        out.u32(self.kind as u32);
        out.u32(0); // the element type: f16, the only one
        for axis in self.shape {
            out.u32(axis);
        }
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        let name = fields.text("name")?;
        let kind = fields.choice("kind", [TensorKind::Input, TensorKind::Output])?;
        fields.choice("element type", [()])?;
        Ok(Self {
            name,
            kind,
            shape: [fields.u32(), fields.u32(), fields.u32(), fields.u32()],
        })
    }
}

/// Which way a host phase moves data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Host to tiles.
    ToTiles,
    /// Tiles to host.
    ToHost,
}

/// One host phase: it takes two rendezvous, its entry and its exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostPhase {
    /// Which way.
    pub direction: Direction,
    /// Tiles with a page in it.
    pub pages: u32,
    /// Bytes it moves.
    pub bytes: u64,
}

impl<'a> Record<'a> for HostPhase {
    const BYTES: usize = 2 * 4 + 8;

    fn put(&self, out: &mut Sink, _: &mut Strings) {
        out.u32(self.direction as u32);
        out.u32(self.pages);
        out.u64(self.bytes);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            direction: fields.choice("direction", [Direction::ToTiles, Direction::ToHost])?,
            pages: fields.u32(),
            bytes: fields.u64(),
        })
    }
}

/// A strided run of rows of one tensor in the data buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Index of the tensor.
    pub tensor: u32,
    /// Offset in the buffer of the first row.
    pub buffer_offset: u32,
    /// Bytes from row to row in the buffer.
    pub buffer_stride: u32,
    /// Elements of a row.
    pub row_elements: u32,
    /// Rows.
    pub rows: u32,
    /// Index of the first element in the tensor.
    pub first_element: u64,
    /// Elements from row to row in the tensor.
    pub element_stride: u64,
}

impl<'a> Record<'a> for Binding {
    const BYTES: usize = 6 * 4 + 2 * 8;

    fn put(&self, out: &mut Sink, _: &mut Strings) {
        out.u32(self.tensor);
        out.u32(self.buffer_offset);
        out.u32(self.buffer_stride);
        out.u32(self.row_elements);
        out.u32(self.rows);
        out.u32(0);
        out.u64(self.first_element);
        out.u64(self.element_stride);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        let (tensor, buffer_offset, buffer_stride) = (fields.u32(), fields.u32(), fields.u32());
        let (row_elements, rows) = (fields.u32(), fields.u32());
        fields.choice("reserved", [()])?;
        Ok(Self {
            tensor,
            buffer_offset,
            buffer_stride,
            row_elements,
            rows,
            first_element: fields.u64(),
            element_stride: fields.u64(),
        })
    }
}

/// The digest of one bake stage's output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stage<'a> {
    /// The stage.
    pub name: &'a str,
    /// Of its output.
    pub digest: Digest,
    /// Of its output.
    pub bytes: u64,
}

impl<'a> Record<'a> for Stage<'a> {
    const BYTES: usize = 8 + 32 + 8;

    fn put(&self, out: &mut Sink, strings: &mut Strings) {
        out.text(strings, self.name);
        out.bytes.extend(self.digest.0);
        out.u64(self.bytes);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            name: fields.text("name")?,
            digest: Digest(fields.take()),
            bytes: fields.u64(),
        })
    }
}

/// Where the code of an address range was written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    /// First address.
    pub start: ByteAddr,
    /// First address behind the range.
    pub end: ByteAddr,
    /// The symbol the code belongs to.
    pub symbol: &'a str,
    /// The source file, or what generated the code.
    pub file: &'a str,
    /// The line there; 0 for generated code.
    pub line: u32,
}

impl<'a> Record<'a> for Line<'a> {
    const BYTES: usize = 2 * 4 + 2 * 8 + 4;

    fn put(&self, out: &mut Sink, strings: &mut Strings) {
        out.u32(self.start.0);
        out.u32(self.end.0);
        out.text(strings, self.symbol);
        out.text(strings, self.file);
        out.u32(self.line);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            start: ByteAddr(fields.u32()),
            end: ByteAddr(fields.u32()),
            symbol: fields.text("symbol")?,
            file: fields.text("file")?,
            line: fields.u32(),
        })
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{} ({})", self.symbol, self.file),
            line => write!(f, "{} ({}:{line})", self.symbol, self.file),
        }
    }
}

/// A tile: its kind of image and its run of segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileRecord {
    pub class: u32,
    pub first_segment: u32,
    pub segments: u32,
}

impl<'a> Record<'a> for TileRecord {
    const BYTES: usize = 3 * 4;

    fn put(&self, out: &mut Sink, _: &mut Strings) {
        out.u32(self.class);
        out.u32(self.first_segment);
        out.u32(self.segments);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            class: fields.u32(),
            first_segment: fields.u32(),
            segments: fields.u32(),
        })
    }
}

/// A segment: where on the tile, and which bytes of the blob.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentRecord {
    pub address: u32,
    pub blob_offset: u32,
    pub bytes: u32,
}

impl<'a> Record<'a> for SegmentRecord {
    const BYTES: usize = 3 * 4;

    fn put(&self, out: &mut Sink, _: &mut Strings) {
        out.u32(self.address);
        out.u32(self.blob_offset);
        out.u32(self.bytes);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            address: fields.u32(),
            blob_offset: fields.u32(),
            bytes: fields.u32(),
        })
    }
}

/// A kind of image: its name and its run of lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassRecord<'a> {
    pub name: &'a str,
    pub first_line: u32,
    pub lines: u32,
}

impl<'a> Record<'a> for ClassRecord<'a> {
    const BYTES: usize = 8 + 2 * 4;

    fn put(&self, out: &mut Sink, strings: &mut Strings) {
        out.text(strings, self.name);
        out.u32(self.first_line);
        out.u32(self.lines);
    }

    fn take(fields: &mut Fields<'a>) -> Result<Self, BadField> {
        Ok(Self {
            name: fields.text("name")?,
            first_line: fields.u32(),
            lines: fields.u32(),
        })
    }
}
