//! The data: what each send reads, and when, and into which memory it goes.

use rayon::prelude::*;

use super::Participant;
use super::capture::Arrival;
use super::fault::{Fault, FaultKind};
use super::timeline::{Segment, Timeline, Timelines};
use tilekiln_chip::exchange::TAIL_GUARD;

/// What one tile's sends have to wait for, and what has to wait for them.
#[derive(Clone, Default)]
pub(super) struct Order {
    /// `(segment, arrivals that must be complete before it reads)`
    after: Vec<(usize, usize)>,
    /// `(arrival, segment that must have read before it is written)`, for waiting segments only.
    before: Vec<(usize, usize)>,
    /// Sends that are neither clearly before nor clearly after an arrival (R9).
    pub faults: Vec<Fault>,
}

/// Moves every word.
///
/// Sends that read nothing received in this phase read first, all at once; those that pass on what
/// arrived read when it has arrived.
pub(super) fn deliver(
    timelines: &Timelines,
    arrivals: &[Vec<Arrival>],
    orders: &[Order],
    participants: &mut [Participant<'_>],
) -> Result<(), Vec<Fault>> {
    let mut data: Vec<Vec<Option<Vec<u8>>>> = participants
        .par_iter()
        .zip(timelines.all.par_iter().zip(orders))
        .map(|(participant, (own, order))| {
            let waits = |index| order.after.iter().any(|&(segment, _)| segment == index);
            let segments = own.segments.iter().enumerate();
            segments
                .map(|(index, s)| (!waits(index)).then(|| read(participant, s)))
                .collect()
        })
        .collect();
    if orders.iter().all(|order| order.after.is_empty()) {
        let lists = participants.par_iter_mut().zip(arrivals);
        lists.for_each(|(participant, list)| {
            for arrival in list {
                write(participant, arrival, &data);
            }
        });
        return Ok(());
    }
    relay(timelines, arrivals, orders, participants, &mut data)
}

fn read(participant: &Participant<'_>, segment: &Segment) -> Vec<u8> {
    let mut bytes = vec![0; segment.bytes() as usize];
    // The element check has already refused addresses outside memory.
    let _ = participant.memory.read(segment.address, &mut bytes);
    bytes
}

/// Writes one arrival if its data are there.
fn write(participant: &mut Participant<'_>, a: &Arrival, data: &[Vec<Option<Vec<u8>>>]) -> bool {
    let Some(bytes) = &data[a.sender][a.segment] else {
        return false;
    };
    let first = (a.first * a.width) as usize;
    let _ = participant
        .memory
        .write(a.address, &bytes[first..first + a.bytes() as usize]);
    true
}

/// Goes round until every word has arrived; each round passes on what the last one brought.
fn relay(
    timelines: &Timelines,
    arrivals: &[Vec<Arrival>],
    orders: &[Order],
    participants: &mut [Participant<'_>],
    data: &mut [Vec<Option<Vec<u8>>>],
) -> Result<(), Vec<Fault>> {
    let mut done = vec![0; participants.len()];
    loop {
        let mut moved = false;
        for (place, participant) in participants.iter_mut().enumerate() {
            let order = &orders[place];
            for arrival in &arrivals[place][done[place]..] {
                let held = order.before.iter().any(|&(index, segment)| {
                    index == done[place] && data[place][segment].is_none()
                });
                if held || !write(participant, arrival, data) {
                    break;
                }
                done[place] += 1;
                moved = true;
                for &(segment, needed) in &order.after {
                    if data[place][segment].is_none() && needed <= done[place] {
                        let bytes = read(participant, &timelines.all[place].segments[segment]);
                        data[place][segment] = Some(bytes);
                    }
                }
            }
        }
        if !moved {
            break;
        }
    }
    let stuck = (0..done.len()).find(|&place| done[place] < arrivals[place].len());
    match stuck {
        None => Ok(()),
        Some(place) => {
            let arrival = &arrivals[place][done[place]];
            let kind = FaultKind::Circle {
                address: arrival.address,
            };
            Err(vec![Fault {
                tile: timelines.all[place].tile,
                event: arrival.event,
                kind,
            }])
        }
    }
}

/// For every send that reads bytes which also arrive: is it clearly before or clearly after?
pub(super) fn order(own: &Timeline, arrivals: &[Arrival]) -> Order {
    let mut order = Order::default();
    let mut sorted: Vec<usize> = (0..arrivals.len()).collect();
    sorted.sort_by_key(|&index| arrivals[index].address);
    let longest = arrivals.iter().map(Arrival::bytes).max().unwrap_or(0);
    for (number, segment) in own.segments.iter().enumerate() {
        let end = segment.address + segment.bytes();
        let low = segment.address.saturating_sub(longest);
        let first = sorted.partition_point(|&index| arrivals[index].address < low);
        let near = sorted[first..]
            .iter()
            .take_while(|&&index| arrivals[index].address < end);
        let met: Vec<usize> = near
            .copied()
            .filter(|&i| arrivals[i].address + arrivals[i].bytes() > segment.address)
            .collect();
        let mut needed = 0;
        let mut later = Vec::new();
        for index in met {
            let arrival = &arrivals[index];
            let safe = arrival.end() + i64::from(TAIL_GUARD);
            if segment.event >= safe {
                needed = needed.max(index + 1);
            } else if arrival.event >= segment.end() {
                later.push((index, number));
            } else {
                let address = arrival.address.max(segment.address);
                let kind = FaultKind::Hazard {
                    address,
                    arrival: arrival.event,
                    safe,
                };
                order.faults.push(Fault {
                    tile: own.tile,
                    event: segment.event,
                    kind,
                });
            }
        }
        if needed > 0 {
            order.after.push((number, needed));
            order.before.extend(later);
        }
    }
    order
}
