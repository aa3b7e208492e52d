//! Transfers stay in arrays, and no tile sends from where it receives.

use std::collections::BTreeMap;
use std::ops::Range;

use tilekiln_chip::exchange::MESSAGE_MAX;
use tilekiln_chip::memory::exclusion_unit;
use tilekiln_chip::{ByteAddr, TileId};

use super::super::{Exchange, Layout, Plan, Step, Transfer};
use super::CheckError;

pub(super) fn check(plan: &Plan) -> Result<(), CheckError> {
    let tiles: Vec<TileId> = {
        let mut tiles: Vec<TileId> = plan.tasks.iter().map(|task| task.tile).collect();
        tiles.sort();
        tiles
    };
    for step in &plan.steps {
        let Step::Exchange(exchange) = step else {
            continue;
        };
        for transfer in &exchange.transfers {
            one(plan, &tiles, exchange, transfer)?;
        }
        together(exchange)?;
    }
    Ok(())
}

/// Whether `bytes` bytes from `at` lie in one array.
pub(super) fn inside(layout: &Layout, at: ByteAddr, bytes: u32) -> bool {
    layout.allocations.iter().any(|array| {
        at >= array.at && u64::from(at.0) + u64::from(bytes) <= u64::from(array.at.0 + array.bytes)
    })
}

/// One transfer by itself.
fn one(
    plan: &Plan,
    tiles: &[TileId],
    exchange: &Exchange,
    transfer: &Transfer,
) -> Result<(), CheckError> {
    let phase = || exchange.name.clone();
    let (tile, words) = (transfer.source, transfer.words);
    if words == 0 || words > MESSAGE_MAX {
        return Err(CheckError::MessageLength {
            phase: phase(),
            tile,
            words,
            most: MESSAGE_MAX,
        });
    }
    let mut receivers: Vec<TileId> = transfer.destinations.iter().map(|to| to.0).collect();
    receivers.sort();
    if receivers.is_empty() || receivers.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(CheckError::Receivers {
            phase: phase(),
            tile,
        });
    }
    let places = transfer
        .destinations
        .iter()
        .copied()
        .chain([(tile, transfer.from)]);
    for (tile, at) in places {
        let bytes = 4 * words;
        let task = tiles.binary_search(&tile).is_ok();
        if !task || !at.0.is_multiple_of(4) || !inside(&plan.layout, at, bytes) {
            return Err(CheckError::Stray {
                phase: phase(),
                tile,
                at,
                bytes,
            });
        }
    }
    Ok(())
}

/// All transfers of a phase together: what is received is received once, and in other exclusion
/// units than what is sent. [exchange §8 H]
fn together(exchange: &Exchange) -> Result<(), CheckError> {
    let mut received: BTreeMap<TileId, Vec<Range<u32>>> = BTreeMap::new();
    let mut sent: BTreeMap<TileId, u32> = BTreeMap::new();
    for transfer in &exchange.transfers {
        let bytes = 4 * transfer.words;
        *sent.entry(transfer.source).or_default() |=
            units(transfer.from.0..transfer.from.0 + bytes);
        for (tile, at) in &transfer.destinations {
            received.entry(*tile).or_default().push(at.0..at.0 + bytes);
        }
    }
    for (tile, ranges) in &mut received {
        ranges.sort_by_key(|range| range.start);
        for pair in ranges.windows(2) {
            if pair[0].end > pair[1].start {
                let (phase, at) = (exchange.name.clone(), ByteAddr(pair[1].start));
                return Err(CheckError::ReceivedTwice {
                    phase,
                    tile: *tile,
                    at,
                });
            }
        }
        let sends = sent.get(tile).copied().unwrap_or(0);
        let both = sends
            & ranges
                .iter()
                .fold(0, |all, range| all | units(range.clone()));
        if both != 0 {
            return Err(CheckError::Shared {
                first: format!("what {tile} sends"),
                second: "what it receives".to_owned(),
                unit: both.trailing_zeros(),
                reason: exchange.name.clone(),
            });
        }
    }
    Ok(())
}

/// One bit for each exclusion unit that a range of tile memory touches.
fn units(range: Range<u32>) -> u32 {
    let unit = |at: u32| exclusion_unit(ByteAddr(at));
    (unit(range.start)..=unit(range.end - 1)).fold(0, |bits, unit| bits | 1 << unit)
}
