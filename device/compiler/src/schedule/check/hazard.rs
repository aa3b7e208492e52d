//! Words and elements that two parts of a phase want at once. [exchange §8, §11 R8 R9]

use std::ops::Range;

use tilekiln_chip::assumed::FORWARD_GUARD;
use tilekiln_chip::exchange::TAIL_GUARD;
use tilekiln_chip::memory::{self, FETCH_AHEAD};
use tilekiln_chip::{ByteAddr, Event, TILE_COUNT, TileId};

use super::capture::{Arrival, Captured, Delivery};
use super::decode::Program;
use super::{CheckError, Span};
use crate::plan::Exchange;
use crate::schedule::Phase;

/// One transfer's use of a range of a tile's memory.
#[derive(Clone, Debug)]
struct Access {
    transfer: usize,
    bytes: Range<u32>,
    writes: bool,
    /// First to last event of the use.
    at: Span,
}

/// R9: where two transfers touch the same words, the later one waits.
///
/// With every word captured once and at its place, this makes the final memory that of the
/// transfers carried out one by one: R13.
pub(super) fn order(exchange: &Exchange, deliveries: &[Delivery]) -> Result<(), CheckError> {
    let mut sent: Vec<Option<Span>> = vec![None; exchange.transfers.len()];
    let mut accesses: Vec<Vec<Access>> = vec![Vec::new(); usize::from(TILE_COUNT)];
    for delivery in deliveries {
        let it = &delivery.sent;
        let all = sent[delivery.transfer].get_or_insert_with(|| it.clone());
        *all = all.start.min(it.start)..all.end.max(it.end);
        let transfer = &exchange.transfers[delivery.transfer];
        let to = transfer
            .destinations
            .iter()
            .find(|&&(tile, _)| tile == delivery.tile);
        accesses[usize::from(delivery.tile.index())].extend(to.map(|&(_, to)| Access {
            transfer: delivery.transfer,
            bytes: to.0..to.0 + 4 * transfer.words,
            writes: true,
            at: delivery.arrived.clone(),
        }));
    }
    for (transfer, (it, at)) in exchange.transfers.iter().zip(sent).enumerate() {
        accesses[usize::from(it.source.index())].extend(at.map(|at| Access {
            transfer,
            bytes: it.from.0..it.from.0 + 4 * it.words,
            writes: false,
            at,
        }));
    }
    for (tile, accesses) in TileId::all().zip(&mut accesses) {
        accesses.sort_by_key(|access| (access.bytes.start, access.transfer));
        let longest = accesses
            .iter()
            .map(|access| access.bytes.len() as u32)
            .max()
            .unwrap_or(0);
        for write in accesses.iter().filter(|access| access.writes) {
            let low = write.bytes.start.saturating_sub(longest);
            let near = accesses.partition_point(|access| access.bytes.start < low);
            let near = accesses[near..].iter();
            for other in near.take_while(|access| access.bytes.start < write.bytes.end) {
                if other.bytes.end > write.bytes.start {
                    in_order(tile, write, other)?;
                }
            }
        }
    }
    Ok(())
}

/// Whether two uses of the same words, one of them a write, keep the order of their transfers.
fn in_order(tile: TileId, write: &Access, other: &Access) -> Result<(), CheckError> {
    if write.transfer == other.transfer {
        let transfer = write.transfer;
        let itself = other.writes;
        return if itself {
            Ok(())
        } else {
            Err(CheckError::ReadsItself { transfer, tile })
        };
    }
    let (earlier, later) = if write.transfer < other.transfer {
        (write, other)
    } else {
        (other, write)
    };
    let guard = if earlier.writes {
        i64::from(FORWARD_GUARD)
    } else {
        0
    };
    let done = earlier.at.end + guard;
    if later.at.start >= done {
        return Ok(());
    }
    Err(CheckError::Hazard {
        earlier: earlier.transfer,
        later: later.transfer,
        tile,
        is: Event(later.at.start.max(0) as u32),
        needs: Event(done as u32),
    })
}

/// The parts of a run of words that lie in one exclusion unit each, with their times.
fn by_unit(from: u32, at: &Span) -> impl Iterator<Item = (u32, Span)> {
    let (mut from, mut at) = (from, at.clone());
    std::iter::from_fn(move || {
        if at.is_empty() {
            return None;
        }
        let unit = memory::exclusion_unit(ByteAddr(from));
        let room = i64::from((memory::unit_start(unit + 1).0 - from).div_ceil(4));
        let part = at.start..at.end.min(at.start + room);
        from += 4 * (part.end - part.start) as u32;
        at.start = part.end;
        Some((unit, part))
    })
}

/// R8: no word arrives in an element while another leaves it.
pub(super) fn elements(program: &Program, arrivals: &[Arrival]) -> Result<(), CheckError> {
    let guard = i64::from(TAIL_GUARD);
    let key = |(unit, at): &(u32, Span)| (*unit, at.start);
    let mut reads: Vec<(u32, Span)> = program
        .sends
        .iter()
        .flat_map(|sent| by_unit(sent.from, &sent.at))
        .collect();
    let mut writes: Vec<(u32, Span)> = arrivals
        .iter()
        .flat_map(|arrival| by_unit(arrival.to, &arrival.at))
        .collect();
    reads.sort_by_key(key);
    writes.sort_by_key(key);
    for (unit, write) in &writes {
        let over = write.end + guard;
        let next =
            reads.partition_point(|(other, read)| (*other, read.end) <= (*unit, write.start));
        if let Some((other, read)) = reads.get(next)
            && other == unit
            && read.start < over
        {
            return Err(CheckError::SendClash {
                tile: program.tile,
                unit: memory::unit_start(*unit),
                sent: Event(read.end as u32),
                received: Event(write.start as u32),
            });
        }
    }
    Ok(())
}

/// R8: no row, nor the bytes fetched behind it, shares an element with what the phase uses.
pub(super) fn fetch(
    phase: &Phase,
    programs: &[Program],
    captured: &Captured,
    rows_at: &[(TileId, ByteAddr)],
) -> Result<(), CheckError> {
    for ((row, program), arrivals) in phase.rows.iter().zip(programs).zip(&captured.arrivals) {
        let tile = row.tile;
        let at = rows_at
            .iter()
            .find(|&&(other, _)| other == tile)
            .map(|&(_, at)| at);
        let at = at.unwrap_or_default();
        let bytes = 4 * row.words.len() as u32 + FETCH_AHEAD;
        let inside =
            memory::contains(at, bytes) && at.0 + bytes - FETCH_AHEAD <= memory::INTERLEAVED.0;
        if !inside || !at.0.is_multiple_of(8) {
            return Err(CheckError::RowPlace { tile, at });
        }
        let sources = program
            .sends
            .iter()
            .flat_map(|sent| by_unit(sent.from, &sent.at));
        let targets = arrivals
            .iter()
            .flat_map(|arrival| by_unit(arrival.to, &arrival.at));
        let first = memory::exclusion_unit(at);
        let last = memory::exclusion_unit(ByteAddr(at.0 + bytes - 1));
        let clash = sources
            .chain(targets)
            .find(|(unit, _)| (first..=last).contains(unit));
        if let Some((unit, _)) = clash {
            return Err(CheckError::FetchClash {
                tile,
                at,
                unit: memory::unit_start(unit),
            });
        }
    }
    Ok(())
}
