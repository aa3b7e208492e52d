//! Why a graph has no plan, and how that is said in the terms of graph.toml.

use std::fmt;

use crate::diagnostic::Diagnostic;
use crate::spec::{OpKind, Spec};

use super::choose::Misfit;
use super::{Class, name};

/// A planner key of an op that graph.toml may pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// `query_block_rows`.
    QueryBlockRows,
    /// `key_splits`.
    KeySplits,
    /// `key_block_rows`.
    KeyBlockRows,
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QueryBlockRows => "query_block_rows",
            Self::KeySplits => "key_splits",
            Self::KeyBlockRows => "key_block_rows",
        })
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Window => "window",
            Self::Standard => "standard",
            Self::Interleaved => "interleaved",
        })
    }
}

/// What would make a plan possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A pinned key, and the nearest value with which a plan exists.
    Pin(Pin, u32),
    /// No pins: the planner finds something.
    Unpin,
    /// The fewest tiles with which a plan exists.
    Tiles(u32),
    /// Nothing but a smaller graph.
    Smaller,
}

/// Why a [`Spec`] has no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Every head needs a tile of its own.
    #[error("batch {batch} times {heads} heads is {} tasks at least; the plan may use {tiles} tiles",
        u64::from(*batch) * u64::from(*heads))]
    TooManyHeads {
        /// Batch size.
        batch: u32,
        /// Heads.
        heads: u32,
        /// Tiles allowed.
        tiles: u32,
        /// Tiles of the chip.
        limit: u32,
    },

    /// A block cannot have more rows than there are.
    #[error("query_block_rows is {rows}; the queries have {length} rows")]
    QueryBlockTooLong {
        /// Rows asked for.
        rows: u32,
        /// Rows there are.
        length: u32,
    },

    /// Short blocks are many tasks.
    #[error("query blocks of {rows} rows make {tasks} tasks; the plan may use {tiles} tiles")]
    BlocksExceedTiles {
        /// Rows asked for.
        rows: u32,
        /// Tasks they make.
        tasks: u64,
        /// Tiles allowed.
        tiles: u32,
        /// Fewest rows that fit.
        nearest: u32,
    },

    /// A split holds at least one group of 16 keys.
    #[error(
        "key_splits is {splits}; {keys} keys are {groups} groups of 16, and a split holds at least one"
    )]
    TooManySplits {
        /// Splits asked for.
        splits: u32,
        /// Groups there are.
        groups: u32,
        /// Keys of a head.
        keys: u32,
    },

    /// Every split of every head needs a tile.
    #[error(
        "key_splits is {splits}; with {heads} heads on {tiles} tiles there is room for {nearest}"
    )]
    SplitsExceedTiles {
        /// Splits asked for.
        splits: u32,
        /// Heads of all batches.
        heads: u32,
        /// Tiles allowed.
        tiles: u32,
        /// Most splits that fit.
        nearest: u32,
    },

    /// A key block is whole panels, and not so long that f16 sums lose their accuracy.
    #[error("key_block_rows is {rows}; it must be a multiple of 16 up to {most}")]
    KeyBlock {
        /// Keys asked for.
        rows: u32,
        /// Most keys of an f16 accumulation.
        most: u32,
        /// The nearest value that can be.
        nearest: u32,
    },

    /// With key blocks this short, some split has fewer groups than the longest has blocks.
    #[error("key blocks of 16 keys need splits of equal length")]
    UnevenKeyBlocks {
        /// What would help.
        remedy: Remedy,
    },

    /// Every blocking asks more of a kernel than it can do.
    #[error("{what} would be {got}; the kernels take at most {most}")]
    Kernel {
        /// Of what.
        what: &'static str,
        /// How much it would be.
        got: u32,
        /// How much it may be.
        most: u32,
        /// What would help.
        remedy: Remedy,
    },

    /// No blocking has room for all its arrays; this one lacks least.
    #[error(
        "no room on a tile for its {array}: {wanted} bytes of {class} memory wanted, {available} available"
    )]
    Memory {
        /// The array that found no place.
        array: String,
        /// The memory it needs.
        class: Class,
        /// Bytes it needs.
        wanted: u64,
        /// Bytes of the largest gap it may use.
        available: u64,
        /// What would help.
        remedy: Remedy,
    },
}

impl PlanError {
    /// What is wrong with the blocking that comes closest to fitting.
    pub(crate) fn misfit(misfit: &Misfit, remedy: Remedy) -> Self {
        match misfit {
            Misfit::EmptyPartials => Self::UnevenKeyBlocks { remedy },
            Misfit::Kernel { what, got, most } => Self::Kernel {
                what,
                got: *got,
                most: *most,
                remedy,
            },
            Misfit::NoRoom(no_room) => Self::Memory {
                array: no_room.array.clone(),
                class: no_room.class,
                wanted: no_room.wanted,
                available: no_room.available,
                remedy,
            },
        }
    }

    /// The stable code of the complaint.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooManyHeads { .. } => "K0301",
            Self::QueryBlockTooLong { .. } => "K0302",
            Self::BlocksExceedTiles { .. } => "K0303",
            Self::TooManySplits { .. } => "K0304",
            Self::SplitsExceedTiles { .. } => "K0305",
            Self::KeyBlock { .. } => "K0306",
            Self::UnevenKeyBlocks { .. } => "K0307",
            Self::Memory { .. } => "K0308",
            Self::Kernel { .. } => "K0309",
        }
    }

    /// The complaint with its place in graph.toml and what to change there.
    pub fn diagnostic(&self, spec: &Spec) -> Diagnostic {
        let OpKind::Attention(op) = &spec.ops[0].kind;
        let pinned = |pin: Pin| match pin {
            Pin::QueryBlockRows => op.query_block_rows.as_ref(),
            Pin::KeySplits => op.key_splits.as_ref(),
            Pin::KeyBlockRows => op.key_block_rows.as_ref(),
        };
        let fault = match self {
            Self::TooManyHeads { .. } => Some(&spec.device.tiles),
            Self::QueryBlockTooLong { .. } | Self::BlocksExceedTiles { .. } => {
                pinned(Pin::QueryBlockRows)
            }
            Self::TooManySplits { .. } | Self::SplitsExceedTiles { .. } => pinned(Pin::KeySplits),
            Self::KeyBlock { .. } => pinned(Pin::KeyBlockRows),
            Self::UnevenKeyBlocks { remedy }
            | Self::Memory { remedy, .. }
            | Self::Kernel { remedy, .. } => match remedy {
                Remedy::Pin(pin, _) => pinned(*pin),
                Remedy::Tiles(_) => Some(&spec.device.tiles),
                Remedy::Unpin | Remedy::Smaller => None,
            },
        };
        // What was left out of the file has no place in it.
        let span = fault
            .map(|fault| fault.span.clone())
            .filter(|span| !span.is_empty());
        let span = span.unwrap_or(spec.ops[0].name.span.clone());
        let (message, help) = (self.to_string(), self.help(spec));
        Diagnostic {
            code: self.code(),
            message,
            span,
            help,
        }
    }

    /// What to change.
    fn help(&self, spec: &Spec) -> String {
        let take = |pin: Pin, value: u32| {
            format!(
                "the nearest {pin} that works is {value}; \"auto\" leaves the choice to the planner"
            )
        };
        match self {
            Self::TooManyHeads {
                batch,
                heads,
                limit,
                ..
            } => more_tiles(*batch, *heads, *limit),
            Self::QueryBlockTooLong { length, .. } => take(Pin::QueryBlockRows, *length),
            Self::BlocksExceedTiles { nearest, .. } => take(Pin::QueryBlockRows, *nearest),
            Self::TooManySplits { groups, .. } => take(Pin::KeySplits, *groups),
            Self::SplitsExceedTiles { nearest, .. } => take(Pin::KeySplits, *nearest),
            Self::KeyBlock { nearest, .. } => take(Pin::KeyBlockRows, *nearest),
            Self::UnevenKeyBlocks { remedy }
            | Self::Memory { remedy, .. }
            | Self::Kernel { remedy, .. } => match remedy {
                Remedy::Pin(pin, value) => take(*pin, *value),
                Remedy::Unpin => {
                    "write \"auto\" for query_block_rows, key_splits and key_block_rows".to_owned()
                }
                Remedy::Tiles(tiles) => {
                    format!("allow {tiles} tiles or more, or {}", self.smaller(spec))
                }
                Remedy::Smaller => self.smaller(spec),
            },
        }
    }

    /// What makes the arrays of a tile smaller when nothing else does.
    fn smaller(&self, spec: &Spec) -> String {
        let OpKind::Attention(op) = &spec.ops[0].kind;
        let axis = match self {
            Self::Kernel { what, .. } if what.ends_with("scores") => "the keys",
            Self::Kernel { what, .. } if what.ends_with("queries") => "the head dimension",
            Self::Memory { array, .. } if array == name::SCORES => "the queries or the keys",
            Self::Memory { array, .. } if array.starts_with(name::KEYS_VALUES) => "the keys",
            Self::Memory { array, .. } if array == name::INPUT => "the queries or the keys",
            _ => "the queries",
        };
        let heads = u64::from(op.shape.batch) * u64::from(op.shape.heads);
        match heads {
            1 => format!("shorten {axis}"),
            _ => format!("shorten {axis}, or take fewer than {heads} heads a call"),
        }
    }
}

/// How to have a tile for every head.
fn more_tiles(batch: u32, heads: u32, limit: u32) -> String {
    let wanted = u64::from(batch) * u64::from(heads);
    match limit / heads {
        _ if wanted <= u64::from(limit) => {
            format!("allow {wanted} tiles or more: the chip has {limit}")
        }
        0 => format!("the chip has {limit} tiles: take at most {limit} heads a call"),
        most => format!("the chip has {limit} tiles: {heads} heads leave room for {most} batches"),
    }
}
