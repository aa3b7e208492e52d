//! Plan + Schedule → Programs: supervisor code and the words that differ from tile to tile.
//!
//! Tiles that play the same part share their code: a [`Class`] is one program as assembly text,
//! assembled and linked once. What differs per tile, arguments and counts, sits in the block of
//! slots; packets sit in the window, and exchange rows behind each other at fixed places of an
//! executable element, so that the call to a row is the same instruction on every tile.

mod defines;
mod host;
mod skeleton;
mod slots;

use std::collections::BTreeMap;
use std::ops::Range;

use tilekiln_chip::{ByteAddr, TileId};

use crate::plan::{Plan, Step, name};
use crate::schedule::Schedule;

pub use defines::{PREPROCESSOR_FLAGS, defines};
pub use host::Role;

/// Everything the linker needs: a program a class, and the words of each tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// The classes, in the order of the first tile of each.
    pub classes: Vec<Class>,
    /// One entry a tile, by logical number.
    pub tiles: Vec<TileWords>,
    /// Absolute symbols every object of this bake may name.
    pub symbols: Vec<(String, ByteAddr)>,
    /// Where the rows of each internal phase lie, the same on every tile.
    pub rows: Vec<ByteAddr>,
    /// Where the linker may put code, ascending.
    pub code: Vec<Range<u32>>,
    /// Where the host finds 1 when the program has ended.
    pub completion: ByteAddr,
}

/// Tiles that run the same code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// What the report calls it.
    pub name: String,
    /// Its program as assembly text.
    pub text: String,
    /// Entry symbols of the kernels it calls.
    pub kernels: Vec<&'static str>,
}

/// The words of one tile that no other need share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileWords {
    /// Index of its class.
    pub class: usize,
    /// Runs of words and where they lie, ascending, not touching.
    pub runs: Vec<(ByteAddr, Vec<u32>)>,
}

/// Why a plan has no program.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The plan lacks an array the program needs.
    #[error("the plan places no {name}")]
    Unplaced {
        /// The array.
        name: &'static str,
    },
    /// The slots do not hold what differs per tile.
    #[error("the slots need {wanted} bytes; the plan gives them {available}")]
    SlotsTooSmall {
        /// Bytes needed.
        wanted: u32,
        /// Bytes placed.
        available: u32,
    },
    /// Packets do not fit behind the page in the window.
    #[error("the packets of {phases} host phases need {wanted} bytes; the window has {available}")]
    PacketsTooLarge {
        /// Host phases of a call.
        phases: usize,
        /// Bytes needed.
        wanted: u32,
        /// Bytes left in the window.
        available: u32,
    },
    /// The rows do not fit their element.
    #[error(
        "the exchange rows of {phases} phases need {wanted} bytes; their element has {available}"
    )]
    RowsTooLarge {
        /// Internal phases of a call.
        phases: usize,
        /// Bytes needed.
        wanted: u32,
        /// Bytes of the element.
        available: u32,
    },
}

/// Where a program keeps what differs per tile.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Places {
    slots: slots::Slots,
    packets: Vec<host::Packets>,
    rows: Vec<ByteAddr>,
    code: Vec<Range<u32>>,
}

/// Writes the program of every class and the words of every tile.
///
/// # Errors
///
/// [`ProgramError`] when something that differs per tile has no room.
pub fn generate(plan: &Plan, schedule: &Schedule) -> Result<Programs, ProgramError> {
    let (rows, code) = row_places(plan, schedule)?;
    let packets = host::packet_places(plan, schedule)?;
    let slots = slots::Slots::of(plan)?;
    let places = Places {
        slots,
        packets,
        rows,
        code,
    };

    let mut classes = Vec::new();
    let mut by_part: BTreeMap<skeleton::Part, usize> = BTreeMap::new();
    let mut tiles = Vec::with_capacity(usize::from(tilekiln_chip::TILE_COUNT));
    for tile in TileId::all() {
        let part = skeleton::part(plan, schedule, tile);
        let class = *by_part.entry(part.clone()).or_insert_with(|| {
            classes.push(skeleton::class(plan, &places, &part));
            classes.len() - 1
        });
        tiles.push(TileWords {
            class,
            runs: tile_runs(plan, schedule, &places, tile),
        });
    }
    let completion = places.slots.completion();
    let symbols = places.slots.symbols();
    Ok(Programs {
        classes,
        tiles,
        symbols,
        rows: places.rows,
        code: places.code,
        completion,
    })
}

/// The runs of words of `tile`.
fn tile_runs(
    plan: &Plan,
    schedule: &Schedule,
    places: &Places,
    tile: TileId,
) -> Vec<(ByteAddr, Vec<u32>)> {
    let mut runs = host::packet_words(schedule, &places.packets, tile);
    let task = plan.tasks.iter().position(|task| task.tile == tile);
    if task.is_some() {
        for (phase, at) in schedule.phases.iter().zip(&places.rows) {
            let row = phase.rows.binary_search_by_key(&tile, |row| row.tile);
            let words = row.map_or_else(
                |_| skeleton::EMPTY_ROW.to_vec(),
                |i| phase.rows[i].words.clone(),
            );
            runs.push((*at, words));
        }
    }
    runs.push((
        places.slots.start(),
        places.slots.words(plan, schedule, tile, task),
    ));
    runs.sort_by_key(|run| run.0);
    runs
}

/// The place of each phase's rows, all tiles alike, and what is left for code: rows take the start
/// of the last executable element.
fn row_places(
    plan: &Plan,
    schedule: &Schedule,
) -> Result<(Vec<ByteAddr>, Vec<Range<u32>>), ProgramError> {
    let mut code = plan.layout.executable.clone();
    let element = code.last().cloned().ok_or(ProgramError::Unplaced {
        name: "executable element",
    })?;
    let mut next = element.start;
    let mut places = Vec::new();
    for phase in &schedule.phases {
        places.push(ByteAddr(next));
        let longest = phase
            .rows
            .iter()
            .map(|row| row.words.len())
            .max()
            .unwrap_or(0);
        let bytes = 4 * longest.max(skeleton::EMPTY_ROW.len()) as u32;
        next += bytes.next_multiple_of(8);
    }
    // A row's fetch runs ahead of its end; what it meets there must not be exchanged data, and it
    // is not: the rest of the element is code.
    if next > element.end {
        let (wanted, available) = (next - element.start, element.end - element.start);
        return Err(ProgramError::RowsTooLarge {
            phases: places.len(),
            wanted,
            available,
        });
    }
    if let Some(last) = code.last_mut() {
        last.start = next;
    }
    if let Some(first) = code.first_mut() {
        first.start = first.start.max(tilekiln_chip::memory::ENTRY.0);
    }
    // Fetching runs ahead of the last instruction too; keep it inside the element.
    for range in &mut code {
        range.end -= tilekiln_chip::memory::FETCH_AHEAD;
    }
    Ok((places, code))
}

/// The allocation called `name`.
fn allocation<'a>(
    plan: &'a Plan,
    name: &'static str,
) -> Result<&'a crate::plan::Allocation, ProgramError> {
    plan.layout
        .find(name)
        .ok_or(ProgramError::Unplaced { name })
}

/// The compute steps of a plan, in order.
fn compute_steps(plan: &Plan) -> impl Iterator<Item = &crate::plan::Compute> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Compute(compute) => Some(compute),
        _ => None,
    })
}

/// The block of slots of `plan`.
fn slots_allocation(plan: &Plan) -> Result<&crate::plan::Allocation, ProgramError> {
    allocation(plan, name::SLOTS)
}
