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

/// Why a [`Spec`] has no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Every head needs a tile of its own.
    #[error("{batch} batches of {heads} heads need at least {} tiles; the plan may use {tiles}",
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
        /// A pinned key and the nearest value with which a plan exists.
        nearest: Option<(Pin, u32)>,
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
        /// Tiles allowed.
        tiles: u32,
        /// Tiles of the chip.
        limit: u32,
        /// A pinned key and the nearest value with which a plan exists.
        nearest: Option<(Pin, u32)>,
    },
}

impl PlanError {
    /// What is wrong with the blocking that comes closest to fitting.
    pub(crate) fn memory(misfit: &Misfit, tiles: u32, nearest: Option<(Pin, u32)>) -> Self {
        match misfit {
            Misfit::EmptyPartials => Self::UnevenKeyBlocks { nearest },
            Misfit::NoRoom(no_room) => Self::Memory {
                array: no_room.array.clone(),
                class: no_room.class,
                wanted: no_room.wanted,
                available: no_room.available,
                tiles,
                limit: u32::from(tilekiln_chip::TILE_COUNT),
                nearest,
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
        }
    }

    /// The complaint with its place in graph.toml and what to change there.
    pub fn diagnostic(&self, spec: &Spec) -> Diagnostic {
        let OpKind::Attention(op) = &spec.ops[0].kind;
        let pin = match self {
            Self::QueryBlockTooLong { .. } => op.query_block_rows.as_ref(),
            Self::BlocksExceedTiles { .. } => op.query_block_rows.as_ref(),
            Self::TooManySplits { .. } | Self::SplitsExceedTiles { .. } => op.key_splits.as_ref(),
            Self::KeyBlock { .. } | Self::UnevenKeyBlocks { .. } => op.key_block_rows.as_ref(),
            Self::Memory {
                nearest: Some((Pin::QueryBlockRows, _)),
                ..
            } => op.query_block_rows.as_ref(),
            Self::Memory {
                nearest: Some((Pin::KeySplits, _)),
                ..
            } => op.key_splits.as_ref(),
            Self::Memory {
                nearest: Some((Pin::KeyBlockRows, _)),
                ..
            } => op.key_block_rows.as_ref(),
            Self::TooManyHeads { .. } => Some(&spec.device.tiles),
            Self::Memory { nearest: None, .. } => None,
        };
        let span = pin.map_or(spec.ops[0].name.span.clone(), |pin| pin.span.clone());
        Diagnostic {
            code: self.code(),
            message: self.to_string(),
            span,
            help: self.help(spec),
        }
    }

    /// What to change.
    fn help(&self, spec: &Spec) -> String {
        let take = |pin: &dyn fmt::Display, value: u32| {
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
            } => {
                let wanted = u64::from(*batch) * u64::from(*heads);
                if wanted <= u64::from(*limit) {
                    format!("allow {wanted} tiles or more: the chip has {limit}")
                } else {
                    let most = limit / heads;
                    format!(
                        "the chip has {limit} tiles: {heads} heads leave room for {most} batches"
                    )
                }
            }
            Self::QueryBlockTooLong { length, .. } => take(&Pin::QueryBlockRows, *length),
            Self::BlocksExceedTiles { nearest, .. } => take(&Pin::QueryBlockRows, *nearest),
            Self::TooManySplits { groups, .. } => take(&Pin::KeySplits, *groups),
            Self::SplitsExceedTiles { nearest, .. } => take(&Pin::KeySplits, *nearest),
            Self::KeyBlock { nearest, .. } => take(&Pin::KeyBlockRows, *nearest),
            Self::UnevenKeyBlocks {
                nearest: Some((pin, value)),
            }
            | Self::Memory {
                nearest: Some((pin, value)),
                ..
            } => take(pin, *value),
            Self::UnevenKeyBlocks { nearest: None } => {
                "pin key_block_rows to 32 or more, or leave it \"auto\"".to_owned()
            }
            Self::Memory {
                array,
                tiles,
                limit,
                nearest: None,
                ..
            } => memory_help(spec, array, *tiles, *limit),
        }
    }
}

/// What makes the arrays of a tile smaller.
fn memory_help(spec: &Spec, array: &str, tiles: u32, limit: u32) -> String {
    let OpKind::Attention(op) = &spec.ops[0].kind;
    let axis = match array {
        name::KEYS_VALUES | name::KEYS_VALUES_OUT => "the keys",
        name::SCORES => "the queries or the keys",
        _ => "the queries",
    };
    let shape = &op.shape;
    if tiles < limit {
        format!("allow more than {tiles} tiles (the chip has {limit}), or shorten {axis}")
    } else {
        let heads = u64::from(shape.batch) * u64::from(shape.heads);
        format!(
            "all {limit} tiles are in use for {heads} heads: shorten {axis}, or take fewer batches or heads a call"
        )
    }
}
