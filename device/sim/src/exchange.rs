//! The fabric at event time: who takes which word, where it goes, and what the chip would not
//! survive.
//!
//! The tiles log what their rows do ([`RowLog`]); [`resolve`] works out one phase from all logs at
//! once. Nothing here knows what the rows were meant to do, so it judges by the rules a fabric can
//! see: a bus nobody listens to, a receiver on a silent bus, a pointer inside a message, two
//! accesses in one memory element. What the chip would do silently wrong is refused like what it
//! would trap on. [exchange §6, §7, §8, §11]
//!
//! Every receiver's multiplexer is intersected with the selected bus by intervals, so the cost
//! grows with instructions and only the copying with words.

mod capture;
mod check;
mod deliver;
pub mod fault;
pub mod rows;
mod timeline;

use rayon::prelude::*;
use tilekiln_chip::PhysTile;

pub use fault::{Fault, FaultKind, ReceiveError, Rule};

use crate::memory::Memory;
use crate::tile::RowLog;
use capture::Captured;
use deliver::Order;
use timeline::Timelines;

/// One tile in one phase.
pub struct Participant<'a> {
    /// The tile.
    pub tile: PhysTile,
    /// What its row does.
    pub log: &'a RowLog,
    /// What `$INCOMING_MUX` holds at event 0; `MUX_NEUTRAL` in every sound program.
    pub mux: u32,
    /// Where its sends read and its words arrive.
    pub memory: &'a mut Memory,
}

/// What became of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PhaseFacts {
    /// Tiles with a row.
    pub participants: u32,
    /// Items that left a tile.
    pub sent: u64,
    /// Items that were stored, counted at every receiver.
    pub delivered: u64,
    /// The end of the longest row, in events.
    pub horizon: u32,
    /// For each participant, in their order, the cursor behind its last word (a byte address, base
    /// included), if any arrived.
    pub cursors: Vec<Option<u32>>,
}

/// Moves all words of one phase between the participants' memories.
///
/// `strict` also refuses stamps that differ from the exact ones without doing harm. [exchange §11]
///
/// # Errors
///
/// Every breach found, receivers first and each group by tile; no memory is changed then.
pub fn resolve(
    participants: &mut [Participant<'_>],
    strict: bool,
) -> Result<PhaseFacts, Vec<Fault>> {
    let (timelines, mut faults) = Timelines::new(participants);
    faults.extend(check::entries(participants));
    faults.extend(check::buses(&timelines));
    let places = (0..participants.len()).into_par_iter();
    let captured: Vec<Captured> = places
        .map(|place| capture::capture(&timelines, place, strict))
        .collect();
    let mut arrivals = Vec::with_capacity(captured.len());
    let mut cursors = Vec::with_capacity(captured.len());
    for capture in captured {
        faults.extend(capture.faults);
        arrivals.push(capture.arrivals);
        cursors.push(capture.cursor);
    }
    faults.extend(check::pairs(&timelines, &arrivals));
    let lists = timelines.all.par_iter().zip(&arrivals);
    let looked: Vec<(Vec<Fault>, Order)> = lists
        .map(|(own, list)| (check::elements(own, list), deliver::order(own, list)))
        .collect();
    let mut orders = Vec::with_capacity(looked.len());
    for (clashes, order) in looked {
        faults.extend(clashes);
        faults.extend_from_slice(&order.faults);
        orders.push(order);
    }
    faults.extend(check::coverage(&timelines, &arrivals));
    if !faults.is_empty() {
        return Err(faults);
    }
    deliver::deliver(&timelines, &arrivals, &orders, participants)?;
    Ok(facts(&timelines, &arrivals, cursors))
}

fn facts(
    timelines: &Timelines,
    arrivals: &[Vec<capture::Arrival>],
    cursors: Vec<Option<u32>>,
) -> PhaseFacts {
    let segments = timelines.all.iter().flat_map(|timeline| &timeline.segments);
    let ends = timelines.all.iter().map(|timeline| timeline.end);
    PhaseFacts {
        participants: timelines.all.len() as u32,
        sent: segments.map(|segment| u64::from(segment.items)).sum(),
        delivered: arrivals
            .iter()
            .flatten()
            .map(|arrival| u64::from(arrival.items))
            .sum(),
        horizon: ends.max().unwrap_or(0) as u32,
        cursors,
    }
}
