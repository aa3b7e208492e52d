//! Looks at a finished schedule and derives again what it does, from the machine words alone.
//!
//! Nothing here is shared with the code that chooses. Rows are decoded into what is sent and which
//! controls apply when; from these follows which word every tile captures and where it goes; and
//! that must be what the plan says, word for word, with every rule of exchange §11 kept. All of it
//! is intervals, so the length of messages costs nothing.

mod capture;
mod decode;
mod error;
mod hazard;
mod host;

use std::ops::Range;

use tilekiln_chip::exchange::{POINTER_LEAD, POINTER_LEAD_PER_ROW};
use tilekiln_chip::topology::time_to_mux;
use tilekiln_chip::{ByteAddr, Event, Events, TileId};

use self::capture::Delivery;
use self::decode::Program;
pub use self::error::{CheckError, HostError};
pub use self::host::{HostFacts, host};
use super::{Phase, Schedule};
use crate::plan::{Exchange, Plan, Step};

/// What is true of a phase that passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The end of the longest row.
    pub horizon: Events,
    /// No schedule of these transfers is shorter. [exchange §13.2]
    pub bound: Events,
    /// Words sent, a multicast counted once.
    pub sent: u64,
    /// Words received, by all receivers.
    pub received: u64,
    /// Controls written.
    pub controls: u64,
    /// Stamps that are right but not the exact ones of exchange §3.2.
    pub loose_stamps: u64,
    /// Row words of all tiles, returns included.
    pub row_words: u64,
    /// Row words of the tile that has most.
    pub longest_row: u32,
}

/// Checks every phase of `schedule` against `plan`; the rows of a phase lie at the same address of
/// `rows_at` on every tile.
///
/// # Errors
///
/// The first rule found broken.
pub fn whole(
    plan: &Plan,
    schedule: &Schedule,
    rows_at: &[ByteAddr],
) -> Result<Vec<Facts>, CheckError> {
    let exchanges: Vec<&Exchange> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Exchange(exchange) => Some(exchange),
            _ => None,
        })
        .collect();
    let phases = (exchanges.len(), schedule.phases.len());
    let placed = (exchanges.len(), rows_at.len());
    let hosts = (plan.host.phases.len(), schedule.host.len());
    for (planned, scheduled) in [phases, placed, hosts] {
        if planned != scheduled {
            return Err(CheckError::Phases { planned, scheduled });
        }
    }
    for (index, (planned, scheduled)) in plan.host.phases.iter().zip(&schedule.host).enumerate() {
        let command = (index == 0).then_some(super::host::COMMAND_WORD);
        host(planned, command, scheduled)?;
    }
    exchanges
        .iter()
        .zip(schedule.phases.iter().zip(rows_at))
        .map(|(exchange, (scheduled, at))| {
            let rows: Vec<_> = scheduled.rows.iter().map(|row| (row.tile, *at)).collect();
            phase(exchange, scheduled, Some(&rows))
        })
        .collect()
}

/// Checks one phase. With `rows_at`, the address of every row, also that fetching rows disturbs
/// nobody.
///
/// # Errors
///
/// The first rule found broken.
pub fn phase(
    exchange: &Exchange,
    phase: &Phase,
    rows_at: Option<&[(TileId, ByteAddr)]>,
) -> Result<Facts, CheckError> {
    if let Some(pair) = phase
        .rows
        .windows(2)
        .find(|pair| pair[0].tile >= pair[1].tile)
    {
        return Err(CheckError::RowOrder { tile: pair[1].tile });
    }
    let programs: Vec<Program> = phase
        .rows
        .iter()
        .map(decode::row)
        .collect::<Result<_, _>>()?;
    let captured = capture::all(&programs)?;
    let deliveries = capture::expect(exchange, &captured)?;
    capture::heard(&programs, &captured)?;
    declared(exchange, phase, &programs, &deliveries)?;
    hazard::order(exchange, &deliveries)?;
    for (program, arrivals) in programs.iter().zip(&captured.arrivals) {
        hazard::elements(program, arrivals)?;
        ends(program, arrivals)?;
    }
    if let Some(rows_at) = rows_at {
        hazard::fetch(phase, &programs, &captured, rows_at)?;
    }
    Ok(facts(exchange, phase, &programs, &captured))
}

/// A span of a tile's event clock; signed, because clocks differ by negative routes.
type Span = Range<i64>;

/// From the multiplexer stamp of a word to its arrival stamp. [exchange §3.2]
fn lead(tile: TileId) -> i64 {
    i64::from(POINTER_LEAD + POINTER_LEAD_PER_ROW * u32::from(tile.physical().row()))
}

/// What the phase says of itself must be what its words do.
fn declared(
    exchange: &Exchange,
    phase: &Phase,
    programs: &[Program],
    deliveries: &[Delivery],
) -> Result<(), CheckError> {
    for (row, program) in phase.rows.iter().zip(programs) {
        let (says, is) = (row.events, Events(program.end as u32));
        if says != is {
            return Err(CheckError::RowEvents {
                tile: row.tile,
                says,
                is,
            });
        }
    }
    let longest = phase
        .rows
        .iter()
        .map(|row| row.events)
        .max()
        .unwrap_or_default();
    if phase.horizon != longest {
        return Err(CheckError::Horizon {
            says: phase.horizon,
            is: longest,
        });
    }
    let (says, is) = (phase.starts.len(), exchange.transfers.len());
    if says != is {
        return Err(CheckError::Starts { says, is });
    }
    for delivery in deliveries {
        let (says, is) = (
            phase.starts[delivery.transfer],
            Event(delivery.first as u32),
        );
        if says != is {
            return Err(CheckError::Start {
                transfer: delivery.transfer,
                says,
                is,
            });
        }
    }
    Ok(())
}

/// R7 and R11: the tile is disconnected and has waited for its last word.
fn ends(program: &Program, arrivals: &[capture::Arrival]) -> Result<(), CheckError> {
    let tile = program.tile;
    if let Some(&(stamp, selects)) = program.mux.last()
        && selects != tilekiln_chip::exchange::MUX_NEUTRAL
    {
        return Err(CheckError::Connected {
            tile,
            stamp: Event(stamp as u32),
            selects,
        });
    }
    let guard = i64::from(tilekiln_chip::exchange::TAIL_GUARD);
    let last = arrivals
        .iter()
        .map(|arrival| arrival.at.end + guard)
        .max()
        .unwrap_or(0);
    if program.end < last {
        let (ends, needs) = (Event(program.end as u32), Event(last as u32));
        return Err(CheckError::EndsEarly { tile, ends, needs });
    }
    Ok(())
}

/// The figures of a phase that passed.
fn facts(
    exchange: &Exchange,
    phase: &Phase,
    programs: &[Program],
    captured: &capture::Captured,
) -> Facts {
    let length = |span: &Span| (span.end - span.start) as u64;
    Facts {
        horizon: phase.horizon,
        bound: bound(exchange),
        sent: programs
            .iter()
            .flat_map(|it| &it.sends)
            .map(|it| length(&it.at))
            .sum(),
        received: captured
            .arrivals
            .iter()
            .flatten()
            .map(|it| length(&it.at))
            .sum(),
        controls: programs
            .iter()
            .map(|it| (it.mux.len() + it.pointers.len()) as u64)
            .sum(),
        loose_stamps: captured.loose_stamps,
        row_words: phase.rows.iter().map(|row| row.words.len() as u64).sum(),
        longest_row: phase
            .rows
            .iter()
            .map(|row| row.words.len() as u32)
            .max()
            .unwrap_or(0),
    }
}

/// The length that the busiest tile needs at least, each way. [exchange §13.2]
///
/// Ranges sent several times count once, since they may be one multicast.
fn bound(exchange: &Exchange) -> Events {
    let mut receive = vec![(0, i64::MAX); usize::from(tilekiln_chip::TILE_COUNT)];
    let mut send = vec![Vec::new(); usize::from(tilekiln_chip::TILE_COUNT)];
    for transfer in &exchange.transfers {
        let words = i64::from(transfer.words);
        send[usize::from(transfer.source.index())].push((transfer.from, words));
        for &(tile, _) in &transfer.destinations {
            let time = time_to_mux(transfer.source.physical(), tile.physical());
            let first = i64::from(time.max(0)) + 1 + lead(tile);
            let (sum, least) = &mut receive[usize::from(tile.index())];
            (*sum, *least) = (*sum + words, (*least).min(first));
        }
    }
    let guard = i64::from(tilekiln_chip::exchange::TAIL_GUARD);
    let received = receive
        .iter()
        .filter(|it| it.0 > 0)
        .map(|(sum, first)| sum + first + guard);
    let sent = send.iter_mut().map(|list| {
        list.sort_unstable();
        list.dedup();
        list.iter().map(|&(_, words)| words).sum::<i64>()
    });
    Events(received.chain(sent).max().unwrap_or(0) as u32)
}

#[cfg(test)]
mod tests;
