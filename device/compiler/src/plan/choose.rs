//! Costs every blocking worth trying and takes the cheapest that fits.

use tilekiln_chip::TILE_COUNT;

use crate::spec::{self, OpKind, Spec};

use super::blocking::{Blocking, KEY_BLOCK_AUTO, KEY_BLOCK_MAX, PANEL, QueryCut, useful_parts};
use super::error::{Pin, PlanError, Remedy};
use super::placement::{NoRoom, place};
use super::{Attention, Candidate, Layout, Plan, cost, host, name, phases};

/// Decides who holds what, who computes what and who talks when.
///
/// Every blocking worth trying is costed by the formula of `cost` and placed; the cheapest that fits
/// is taken, of equals the one with fewer tiles, then fewer query blocks.
///
/// # Errors
///
/// [`PlanError`] names what does not fit: heads on tiles, a pinned value, or an array in memory.
pub fn plan(spec: &Spec) -> Result<Plan, PlanError> {
    let OpKind::Attention(op) = &spec.ops[0].kind;
    let pins = Pins::of(op);
    let tiles = spec.device.tiles.value.min(u32::from(TILE_COUNT));
    check_pins(op, &pins, tiles)?;
    let mut costed = costed(op, &pins, tiles);
    let Some(best) = costed.iter().position(|(_, _, layout)| layout.is_ok()) else {
        return Err(refusal(op, &pins, tiles, &costed));
    };
    // What was refused before it stays in the list, behind what could be taken.
    let (blocking, _, layout) = &costed[best];
    let (blocking, layout) = (*blocking, layout.clone());
    costed.sort_by_key(|(_, _, layout)| layout.is_err());
    let candidates = costed
        .into_iter()
        .map(|(_, candidate, _)| candidate)
        .collect();
    match layout {
        Ok(layout) => Ok(assemble(spec, op, &blocking, layout, tiles, candidates)),
        Err(misfit) => Err(PlanError::misfit(&misfit, Remedy::Smaller)),
    }
}

/// What graph.toml pins of a blocking.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pins {
    /// Rows of a query block.
    pub query_block_rows: Option<u32>,
    /// Key splits of a head.
    pub key_splits: Option<u32>,
    /// Keys of an f16 accumulation.
    pub key_block_rows: Option<u32>,
}

impl Pins {
    /// Everything is left to the planner.
    const NONE: Self = Self {
        query_block_rows: None,
        key_splits: None,
        key_block_rows: None,
    };

    fn of(op: &spec::Attention) -> Self {
        let value = |pin: &Option<spec::Spanned<u32>>| pin.as_ref().map(|pin| pin.value);
        Self {
            query_block_rows: value(&op.query_block_rows),
            key_splits: value(&op.key_splits),
            key_block_rows: value(&op.key_block_rows),
        }
    }
}

/// Refuses what can be refused without placing anything.
fn check_pins(op: &spec::Attention, pins: &Pins, tiles: u32) -> Result<(), PlanError> {
    let shape = op.shape;
    let heads = u64::from(shape.batch) * u64::from(shape.heads);
    if heads > u64::from(tiles) {
        let (batch, heads, limit) = (shape.batch, shape.heads, u32::from(TILE_COUNT));
        return Err(PlanError::TooManyHeads {
            batch,
            heads,
            tiles,
            limit,
        });
    }
    check_alone(op, pins)?;
    // At least one task a head fits, so none of these divisions leaves nothing.
    let heads = heads as u32;
    let room = tiles / heads;
    let splits = pins.key_splits.unwrap_or(1);
    if splits > room {
        return Err(PlanError::SplitsExceedTiles {
            splits,
            heads,
            tiles,
            nearest: room,
        });
    }
    let rows = pins.query_block_rows.unwrap_or(shape.query_length);
    let blocks = u64::from(shape.query_length.div_ceil(rows));
    if blocks * u64::from(splits) > u64::from(room) {
        let nearest = shape.query_length.div_ceil(room / splits);
        let tasks = u64::from(heads) * blocks * u64::from(splits);
        return Err(PlanError::BlocksExceedTiles {
            rows,
            tasks,
            tiles,
            nearest,
        });
    }
    Ok(())
}

/// Refuses pinned values that no number of tiles would make possible.
fn check_alone(op: &spec::Attention, pins: &Pins) -> Result<(), PlanError> {
    let (length, keys) = (op.shape.query_length, op.shape.key_length);
    if let Some(rows) = pins.query_block_rows.filter(|rows| *rows > length) {
        return Err(PlanError::QueryBlockTooLong { rows, length });
    }
    let groups = keys.div_ceil(PANEL);
    if let Some(splits) = pins.key_splits.filter(|splits| *splits > groups) {
        return Err(PlanError::TooManySplits {
            splits,
            groups,
            keys,
        });
    }
    let whole = |rows: u32| rows.is_multiple_of(PANEL) && rows <= KEY_BLOCK_MAX;
    if let Some(rows) = pins.key_block_rows.filter(|rows| !whole(*rows)) {
        let nearest = rows.div_ceil(PANEL).clamp(1, KEY_BLOCK_MAX / PANEL) * PANEL;
        return Err(PlanError::KeyBlock {
            rows,
            most: KEY_BLOCK_MAX,
            nearest,
        });
    }
    Ok(())
}

type Costed = (Blocking, Candidate, Result<Layout, Misfit>);

/// Why a blocking cannot be taken.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Misfit {
    /// An array finds no place.
    #[error("the {} want {} bytes of {} memory, {} available", .0.array, .0.wanted, .0.class, .0.available)]
    NoRoom(NoRoom),
    /// Some split has fewer groups of keys than key blocks.
    #[error("some split has fewer groups of keys than key blocks")]
    EmptyPartials,
    /// A kernel takes no more.
    #[error("{what} would be {got}, and the kernels take at most {most}")]
    Kernel {
        /// Of what.
        what: &'static str,
        /// How much it would be.
        got: u32,
        /// How much it may be.
        most: u32,
    },
}

/// Bytes from row to row of a matrix product's operands. [kernels/gemm.S]
const ROW_BYTES_MAX: u32 = 4096;

/// Key splits of a merge. [kernels/merge.S]
const KEY_SPLITS_MAX: u32 = 32;

/// Rows that workers share out among them. [kernels/include/kernel.h]
const ROWS_MAX: u32 = 98_303;

/// Every blocking worth trying with its cost and its layout, cheapest first.
fn costed(op: &spec::Attention, pins: &Pins, tiles: u32) -> Vec<Costed> {
    let mut list: Vec<Costed> = blockings(op, pins, tiles)
        .into_iter()
        .map(|blocking| {
            let mut candidate = cost::cost(&blocking);
            let layout = fit(&blocking);
            candidate.refused = layout.as_ref().err().map(ToString::to_string);
            (blocking, candidate, layout)
        })
        .collect();
    list.sort_by_key(|(_, c, _)| (c.cycles, c.tasks, c.query_blocks, c.key_splits));
    list
}

fn fit(blocking: &Blocking) -> Result<Layout, Misfit> {
    if blocking.has_empty_partials() {
        return Err(Misfit::EmptyPartials);
    }
    let layout = place(blocking).map_err(Misfit::NoRoom)?;
    let limits = [
        (
            "the bytes of a row of scores",
            2 * PANEL * blocking.groups_max(),
            ROW_BYTES_MAX,
        ),
        (
            "the bytes of a row of queries",
            blocking.row_bytes(),
            ROW_BYTES_MAX,
        ),
        ("key_splits", blocking.key_splits, KEY_SPLITS_MAX),
        ("query_block_rows", blocking.rows_max(), ROWS_MAX),
    ];
    if let Some((what, got, most)) = limits.into_iter().find(|(_, got, most)| got > most) {
        return Err(Misfit::Kernel { what, got, most });
    }
    Ok(layout)
}

/// Every blocking worth trying, in ascending order of query blocks, then key splits.
fn blockings(op: &spec::Attention, pins: &Pins, tiles: u32) -> Vec<Blocking> {
    let shape = op.shape;
    let room = tiles / (shape.batch * shape.heads);
    let cuts = match pins.query_block_rows {
        Some(rows) => vec![QueryCut::Rows(rows)],
        None => useful_parts(shape.query_length, room)
            .into_iter()
            .map(QueryCut::Even)
            .collect(),
    };
    let key_block_limit = pins.key_block_rows.unwrap_or(KEY_BLOCK_AUTO);
    let mut list = Vec::new();
    for query_cut in cuts {
        let whole = Blocking {
            shape,
            query_cut,
            key_splits: 1,
            key_block_limit,
        };
        let room = room / whole.query_blocks();
        let splits = match pins.key_splits {
            Some(splits) => vec![splits],
            None => useful_parts(whole.groups(), room),
        };
        let fits = splits.into_iter().filter(|splits| *splits <= room);
        list.extend(fits.map(|key_splits| Blocking {
            key_splits,
            ..whole
        }));
    }
    list
}

/// Why nothing of `costed` fits: what is wrong with the blocking that comes closest to fitting,
/// and what would help.
fn refusal(op: &spec::Attention, pins: &Pins, tiles: u32, costed: &[Costed]) -> PlanError {
    let remedy = remedy(op, pins, tiles);
    // Room says most about what to change; kernels' limits come next.
    let over = |misfit: &Misfit| match misfit {
        Misfit::NoRoom(no_room) => (0, no_room.wanted.saturating_sub(no_room.available)),
        Misfit::Kernel { got, most, .. } => (1, u64::from(got - most)),
        Misfit::EmptyPartials => (2, 0),
    };
    let misfits = costed
        .iter()
        .filter_map(|(_, _, layout)| layout.as_ref().err());
    match misfits.min_by_key(|misfit| over(misfit)) {
        Some(misfit) => PlanError::misfit(misfit, remedy),
        None => PlanError::misfit(&Misfit::EmptyPartials, remedy),
    }
}

/// The smallest change that makes a plan possible.
fn remedy(op: &spec::Attention, pins: &Pins, tiles: u32) -> Remedy {
    if let Some((pin, value)) = nearest_pin(op, pins, tiles) {
        return Remedy::Pin(pin, value);
    }
    let possible = |pins: &Pins, tiles| blockings(op, pins, tiles).iter().any(|b| fit(b).is_ok());
    if possible(&Pins::NONE, tiles) {
        return Remedy::Unpin;
    }
    // What fits on some tiles fits on more of them, so halving finds the fewest.
    let (mut too_few, mut enough) = (tiles, u32::from(TILE_COUNT));
    if !possible(pins, enough) {
        return Remedy::Smaller;
    }
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if possible(pins, middle) {
            enough = middle
        } else {
            too_few = middle
        }
    }
    Remedy::Tiles(enough)
}

/// The pinned value nearest to what was asked that has a blocking that fits, the rest as pinned.
fn nearest_pin(op: &spec::Attention, pins: &Pins, tiles: u32) -> Option<(Pin, u32)> {
    let possible = |pins: &Pins| blockings(op, pins, tiles).iter().any(|b| fit(b).is_ok());
    let nearest = |values: &mut dyn Iterator<Item = u32>, asked: u32| {
        values.min_by_key(|value| (value.abs_diff(asked), *value))
    };
    if let Some(asked) = pins.query_block_rows {
        let free = blockings(
            op,
            &Pins {
                query_block_rows: None,
                ..*pins
            },
            tiles,
        );
        let fits = |rows: &u32| {
            possible(&Pins {
                query_block_rows: Some(*rows),
                ..*pins
            })
        };
        let mut sizes = free.iter().map(Blocking::rows_max).filter(fits);
        if let Some(mut fitting) = nearest(&mut sizes, asked) {
            // Between a size that fits and one that does not, halving finds the border.
            let mut refused = asked;
            while fitting.abs_diff(refused) > 1 {
                let middle = fitting.midpoint(refused);
                if fits(&middle) {
                    fitting = middle
                } else {
                    refused = middle
                }
            }
            return Some((Pin::QueryBlockRows, fitting));
        }
    }
    if let Some(asked) = pins.key_splits {
        let mut counts = (1..=KEY_SPLITS_MAX).filter(|splits| {
            possible(&Pins {
                key_splits: Some(*splits),
                ..*pins
            })
        });
        if let Some(splits) = nearest(&mut counts, asked) {
            return Some((Pin::KeySplits, splits));
        }
    }
    let asked = pins.key_block_rows?;
    let mut lengths = (1..=KEY_BLOCK_MAX / PANEL)
        .map(|panels| panels * PANEL)
        .filter(|rows| {
            possible(&Pins {
                key_block_rows: Some(*rows),
                ..*pins
            })
        });
    let rows = nearest(&mut lengths, asked)?;
    Some((Pin::KeyBlockRows, rows))
}

/// The plan of a blocking that fits.
fn assemble(
    spec: &Spec,
    op: &spec::Attention,
    blocking: &Blocking,
    layout: Layout,
    tiles: u32,
    candidates: Vec<Candidate>,
) -> Plan {
    let operands = [&op.query, &op.key, &op.value].map(|operand| spec.value_name(operand.value));
    let names = host::Names {
        operands,
        output: &spec.outputs[0].name.value,
    };
    let tasks = phases::tasks(blocking);
    let output = layout
        .find(name::OUTPUT)
        .map(|output| output.at)
        .unwrap_or_default();
    let host = host::host(blocking, &tasks, output, &names);
    let parts = phases::Parts {
        blocking,
        tasks: &tasks,
        layout: &layout,
        host: &host,
        scale: op.scale as f32,
    };
    let steps = parts.steps();
    let attention = Attention {
        name: spec.ops[0].name.value.clone(),
        operands: operands.map(str::to_owned),
        batch: op.shape.batch,
        query_length: op.shape.query_length,
        key_length: op.shape.key_length,
        heads: op.shape.heads,
        head_dimension: op.shape.head_dimension,
        padded_head_dimension: blocking.padded_columns(),
        scale: op.scale,
        rounding: op.rounding,
        query_blocks: blocking.query_blocks(),
        query_block_rows: blocking.rows_max(),
        key_splits: blocking.key_splits,
        key_block_rows: blocking.key_block_rows(),
    };
    Plan {
        name: spec.name.clone(),
        tiles,
        attention,
        tasks,
        layout,
        steps,
        host,
        candidates,
    }
}
