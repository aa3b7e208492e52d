//! Spec → Plan: who holds what, who talks when.
//!
//! A plan is plain data. Every task tile runs the same steps on the same memory layout; what
//! differs from tile to tile is arguments, transfers and host pages, so that all tiles can share
//! their code.

mod blocking;
mod check;
mod choose;
mod cost;
mod error;
mod host;
mod phases;
mod placement;
mod text;

use std::ops::Range;

pub use check::{CheckError, check};
pub use choose::plan;
pub use error::{Pin, PlanError, Remedy};
pub use text::text;

use tilekiln_chip::{ByteAddr, TileId};

/// The names of allocations, for those who look one up with [`Layout::find`].
pub mod name {
    /// Where a page of the host lands.
    pub const PAGE: &str = "page";
    /// Argument words and whatever else differs from tile to tile.
    pub const SLOTS: &str = "slots";
    /// The input string: query rows, key rows, value rows, as the host sends them.
    pub const INPUT: &str = "input";
    /// Packed query rows on their way to the query block.
    pub const QUERIES_OUT: &str = "queries out";
    /// Packed keys and values on their way to the key split.
    pub const KEYS_VALUES_OUT: &str = "keys and values out";
    /// The query rows of the task, a left operand.
    pub const QUERIES: &str = "queries";
    /// The keys and values of the task, right operands.
    pub const KEYS_VALUES: &str = "keys and values";
    /// Scores, then weights.
    pub const SCORES: &str = "scores";
    /// Maximum and sum of every row of the scores.
    pub const STATISTICS: &str = "statistics";
    /// Results of the task's keys, one a key block.
    pub const PARTIALS: &str = "partials";
    /// Partial results of all splits for the rows this tile finishes.
    pub const GATHERED: &str = "gathered partials";
    /// Statistics of all splits for the rows this tile finishes.
    pub const GATHERED_STATISTICS: &str = "gathered statistics";
    /// The finished rows, then on the first task's tile the cycle samples.
    pub const OUTPUT: &str = "output";
}

/// What every task tile does in one call, where it keeps things, and what the host moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The graph's name.
    pub name: String,
    /// Tiles the plan was allowed to use.
    pub tiles: u32,
    /// The attention this plan computes, with the blocking chosen for it.
    pub attention: Attention,
    /// The tasks in order; each has a tile of its own.
    pub tasks: Vec<Task>,
    /// Tile memory, the same on every task tile.
    pub layout: Layout,
    /// The steps of one call, in order, the same on every task tile.
    pub steps: Vec<Step>,
    /// What the host moves, and where.
    pub host: Host,
    /// Every blocking that was costed, best first; the first is the one taken.
    pub candidates: Vec<Candidate>,
}

/// An attention with its shape and the blocking chosen for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The op's name.
    pub name: String,
    /// Names of the query, key and value inputs.
    pub operands: [String; 3],
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
    /// Query blocks of a head.
    pub query_blocks: u32,
    /// Rows of the largest query block.
    pub query_block_rows: u32,
    /// Parts the keys of a head are split into, each on tiles of its own.
    pub key_splits: u32,
    /// Keys summed in f16 before the sum is carried on in f32.
    pub key_block_rows: u32,
}

/// How results are rounded to f16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Up or down at random, without bias.
    Stochastic,
}

/// One part of the work: some query rows of one head against some of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Where it runs.
    pub tile: TileId,
    /// Batch index times heads plus head.
    pub head: u32,
    /// Which query block of the head.
    pub query_block: u32,
    /// Which key split of the head.
    pub key_split: u32,
    /// The query rows.
    pub rows: Range<u32>,
    /// The keys; the start is a multiple of 16.
    pub keys: Range<u32>,
    /// The query rows this tile receives from the host and, in the end, finishes.
    pub owned_rows: Range<u32>,
    /// The keys and values this tile receives from the host; the start is a multiple of 16.
    pub owned_keys: Range<u32>,
}

/// Tile memory as the plan divides it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Everything with an address, in the order of placement.
    pub allocations: Vec<Allocation>,
    /// Pairs of allocations (by index) that must share no exclusion unit, and why.
    pub distinct: Vec<Distinct>,
    /// Whole elements left to the linker for code and exchange rows, in ascending order.
    pub executable: Vec<Range<u32>>,
}

impl Layout {
    /// The allocation called `name`, one of [`name`].
    pub fn find(&self, name: &str) -> Option<&Allocation> {
        self.allocations
            .iter()
            .find(|allocation| allocation.name == name)
    }
}

/// A named piece of tile memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its name, in the terms of the report.
    pub name: String,
    /// The kind of memory it needs.
    pub class: Class,
    /// Where it lies.
    pub at: ByteAddr,
    /// Bytes used.
    pub bytes: u32,
    /// Readable bytes a stream may touch behind them.
    pub tail: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// Kinds of tile memory. [pipeline §5]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Where reads from the host land.
    Window,
    /// Anywhere outside code and window.
    Standard,
    /// Region 1 only.
    Interleaved,
}

/// Two allocations that must share no exclusion unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// Index of the first.
    pub first: usize,
    /// Index of the second.
    pub second: usize,
    /// What would go wrong otherwise.
    pub reason: &'static str,
}

/// One step of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The host phase with this index in [`Host::phases`].
    Host(usize),
    /// A kernel on every task tile.
    Compute(Compute),
    /// Words from tile to tile, in one phase.
    Exchange(Exchange),
}

/// A kernel call on every task tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compute {
    /// Which kernel.
    pub kernel: Kernel,
    /// What the report calls the step.
    pub name: String,
    /// Argument words, one list a task, in task order, all of one length.
    pub arguments: Vec<Vec<u32>>,
}

/// The kernels a plan may call; `device/kernels` has their contracts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// Copies 64-bit words.
    Copy,
    /// Rows to a scaled, zero-padded left operand.
    PackLeft,
    /// Rows to right-operand panels.
    PackRight,
    /// Rows to right-operand panels of their transpose.
    PackRightTransposed,
    /// Matrix product.
    Gemm,
    /// Takes padded key columns out of the scores.
    Mask,
    /// Scores to weights, row maxima and row sums.
    Softmax,
    /// Partial results to the output.
    Merge,
    /// Stores the cycle counter.
    Sample,
}

impl Kernel {
    /// All kernels, in the order of their names above.
    pub const ALL: [Self; 9] = [
        Self::Copy,
        Self::PackLeft,
        Self::PackRight,
        Self::PackRightTransposed,
        Self::Gemm,
        Self::Mask,
        Self::Softmax,
        Self::Merge,
        Self::Sample,
    ];

    /// Words of its argument block.
    pub const fn argument_words(self) -> u32 {
        match self {
            Self::Copy => 3,
            Self::PackLeft | Self::PackRight | Self::PackRightTransposed => 6,
            Self::Gemm | Self::Merge => 10,
            Self::Mask => 4,
            Self::Softmax => 5,
            Self::Sample => 1,
        }
    }

    /// The symbol its code starts at, and the name of its source file without `.S`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::PackLeft => "pack_left",
            Self::PackRight => "pack_right",
            Self::PackRightTransposed => "pack_right_transposed",
            Self::Gemm => "gemm",
            Self::Mask => "mask",
            Self::Softmax => "softmax",
            Self::Merge => "merge",
            Self::Sample => "sample",
        }
    }
}

/// One internal exchange phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// What the report calls the step.
    pub name: String,
    /// The transfers; a later one sees what an earlier one wrote.
    pub transfers: Vec<Transfer>,
}

/// Words from one tile to one or more others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The sender.
    pub source: TileId,
    /// Where the words lie there; a multiple of 4, of 8 for 64-bit items.
    pub from: ByteAddr,
    /// How many 32-bit words.
    pub words: u32,
    /// How they travel.
    pub width: Width,
    /// Who receives them, and where to.
    pub destinations: Vec<(TileId, ByteAddr)>,
}

/// How the words of a transfer travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32 bits an event.
    Single,
    /// 64 bits an event, to complete pairs of tiles.
    Paired,
}

/// Everything the host moves in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The phases, inputs first.
    pub phases: Vec<HostPhase>,
    /// Where the tensors lie in buffer 1.
    pub bindings: Vec<Binding>,
    /// Bytes of buffer 1, a multiple of the page.
    pub buffer_bytes: u32,
    /// Offset in buffer 1 of the two cycle samples (first, last), 4 bytes each.
    pub cycles: [u32; 2],
}

/// One host phase: at most one transfer a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPhase {
    /// Which way.
    pub direction: HostDirection,
    /// The transfers, at most one a tile, each inside one page.
    pub pages: Vec<HostPage>,
}

/// Which way a host phase moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDirection {
    /// Host to tiles.
    ToTiles,
    /// Tiles to host.
    ToHost,
}

/// One transfer between a tile and a page of buffer 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPage {
    /// The tile.
    pub tile: TileId,
    /// Where on the tile: 32-byte aligned in the window for reads, 4-byte aligned for writes.
    pub tile_address: ByteAddr,
    /// Offset in buffer 1.
    pub buffer_offset: u32,
    /// Bytes, at most a page; a multiple of 4 for reads, of 256 for writes.
    pub bytes: u32,
}

/// A strided run of rows of one tensor in buffer 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The tensor's name: an input's or an output's.
    pub tensor: String,
    /// Offset in buffer 1 of the first row.
    pub buffer_offset: u32,
    /// Bytes from row to row in buffer 1.
    pub buffer_stride: u32,
    /// Index of the first element in the tensor.
    pub first_element: u64,
    /// Elements from row to row in the tensor.
    pub element_stride: u64,
    /// Elements of a row.
    pub row_elements: u32,
    /// Rows.
    pub rows: u32,
}

/// A blocking and what it was estimated to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Query blocks of a head.
    pub query_blocks: u32,
    /// Rows of the largest query block.
    pub query_block_rows: u32,
    /// Key splits of a head.
    pub key_splits: u32,
    /// Keys an f16 accumulation.
    pub key_block_rows: u32,
    /// Tasks, each on a tile of its own.
    pub tasks: u64,
    /// Cycles by part, in the order of the report's columns.
    pub parts: Vec<(&'static str, u64)>,
    /// Their sum.
    pub cycles: u64,
    /// Why it cannot be taken, if it cannot.
    pub refused: Option<String>,
}
