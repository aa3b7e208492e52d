//! What only shows when all arrivals are known: buses, lost words, pairs, elements, entry.

use tilekiln_chip::exchange::TAIL_GUARD;
use tilekiln_chip::memory::{FETCH_AHEAD, PAIR_BYTES, exclusion_unit, unit_start};
use tilekiln_chip::{ByteAddr, memory};

use super::Participant;
use super::capture::Arrival;
use super::fault::{Fault, FaultKind};
use super::timeline::{Segment, Timeline, Timelines};

/// R2: a 64-bit send needs the partner's bus for itself.
pub(super) fn buses(timelines: &Timelines) -> Vec<Fault> {
    let mut faults = Vec::new();
    for own in &timelines.all {
        let partner = own.tile.partner();
        let Some(place) = timelines.place(u32::from(partner.index())) else {
            continue;
        };
        for segment in own.segments.iter().filter(|segment| segment.is_wide()) {
            let met = timelines.all[place]
                .between(segment.event, segment.end())
                .next();
            if let Some((_, other)) = met {
                let kind = FaultKind::BusTaken {
                    partner,
                    since: other.event,
                };
                faults.push(Fault {
                    tile: own.tile,
                    event: segment.event,
                    kind,
                });
            }
        }
    }
    faults
}

/// R12: event 0 lies equally far behind the sync everywhere.
pub(super) fn entries(participants: &[Participant<'_>]) -> Vec<Fault> {
    let far = |p: &Participant<'_>| p.log.start.saturating_sub(p.log.release);
    let mut all: Vec<u64> = participants.iter().map(far).collect();
    all.sort_unstable();
    let Some(common) = all
        .chunk_by(|a, b| a == b)
        .rev()
        .max_by_key(|run| run.len())
    else {
        return Vec::new();
    };
    let common = common[0];
    let differ = participants.iter().filter(|p| far(p) != common);
    let fault = |p: &Participant<'_>| {
        let kind = FaultKind::Entry {
            found: far(p),
            common,
        };
        Fault {
            tile: p.tile,
            event: 0,
            kind,
        }
    };
    differ.map(fault).collect()
}

/// Both tiles of a pair take the same 64-bit items.
pub(super) fn pairs(timelines: &Timelines, arrivals: &[Vec<Arrival>]) -> Vec<Fault> {
    let same = |a: &Arrival, b: &Arrival| {
        (a.sender, a.segment, a.first, a.items, a.width)
            == (b.sender, b.segment, b.first, b.items, b.width)
    };
    let mut faults = Vec::new();
    for (own, taken) in timelines.all.iter().zip(arrivals) {
        let partner = timelines.place(u32::from(own.tile.partner().index()));
        let others = partner.map_or(&[][..], |place| &arrivals[place][..]);
        for arrival in taken.iter().filter(|arrival| arrival.width == 8) {
            if !others.iter().any(|other| same(arrival, other)) {
                let source = u32::from(timelines.all[arrival.sender].tile.index());
                let kind = FaultKind::HalfPair { source };
                faults.push(Fault {
                    tile: own.tile,
                    event: arrival.event,
                    kind,
                });
            }
        }
    }
    faults
}

/// Items `from..until` of the stream that `stream` begins, as one receiver takes them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Taken {
    sender: usize,
    stream: usize,
    from: u32,
    until: u32,
    receiver: usize,
}

/// R5: every item of every stream is taken by somebody, and nobody joins or leaves a stream where
/// no other receiver leaves or joins it.
pub(super) fn coverage(timelines: &Timelines, arrivals: &[Vec<Arrival>]) -> Vec<Fault> {
    let mut taken = Vec::new();
    for (receiver, list) in arrivals.iter().enumerate() {
        join_runs(timelines, receiver, list, &mut taken);
    }
    taken.sort_unstable();
    let mut faults = Vec::new();
    for (sender, own) in timelines.all.iter().enumerate() {
        for stream in own.segments.chunk_by(|a, b| a.stream == b.stream) {
            let key = (sender, stream[0].stream);
            let first = taken.partition_point(|t| (t.sender, t.stream) < key);
            let rest = &taken[first..];
            let count = rest.partition_point(|t| (t.sender, t.stream) == key);
            stream_faults(timelines, own, stream, &rest[..count], &mut faults);
        }
    }
    faults
}

fn join_runs(timelines: &Timelines, receiver: usize, list: &[Arrival], taken: &mut Vec<Taken>) {
    for arrival in list {
        let segment = &timelines.all[arrival.sender].segments[arrival.segment];
        let from = segment.place + arrival.first;
        let (sender, stream) = (arrival.sender, segment.stream);
        let until = from + arrival.items;
        match taken.last_mut() {
            Some(last)
                if (last.receiver, last.sender, last.stream, last.until)
                    == (receiver, sender, stream, from) =>
            {
                last.until = until;
            }
            _ => taken.push(Taken {
                sender,
                stream,
                from,
                until,
                receiver,
            }),
        }
    }
}

fn stream_faults(
    timelines: &Timelines,
    own: &Timeline,
    stream: &[Segment],
    taken: &[Taken],
    faults: &mut Vec<Fault>,
) {
    let of = stream.iter().map(|segment| segment.items).sum();
    let start = stream[0].event;
    let mut lost = |item: u32, until: u32| {
        let kind = FaultKind::Lost {
            item,
            items: until - item,
            of,
        };
        faults.push(Fault {
            tile: own.tile,
            event: start + i64::from(item),
            kind,
        });
    };
    let mut covered = 0;
    for run in taken {
        if run.from > covered {
            lost(covered, run.from);
        }
        covered = covered.max(run.until);
    }
    if covered < of {
        lost(covered, of);
    }
    let mut joins: Vec<u32> = taken.iter().map(|t| t.from).collect();
    let mut leaves: Vec<u32> = taken.iter().map(|t| t.until).collect();
    joins.sort_unstable();
    leaves.sort_unstable();
    for run in taken {
        let odd = [(run.from, 0, &leaves), (run.until, of, &joins)]
            .into_iter()
            .find(|(item, edge, others)| item != edge && others.binary_search(item).is_err());
        if let Some((item, ..)) = odd {
            let receiver = timelines.all[run.receiver].tile;
            let kind = FaultKind::Partial { receiver, item, of };
            faults.push(Fault {
                tile: own.tile,
                event: start + i64::from(item),
                kind,
            });
        }
    }
}

/// Bytes of memory that one access after the other touches, and when.
#[derive(Clone, Copy)]
struct Access {
    unit: u32,
    from: i64,
    until: i64,
    address: u32,
}

/// R8: row, sources and destinations stay out of each other's elements.
pub(super) fn elements(own: &Timeline, arrivals: &[Arrival]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    for segment in &own.segments {
        let (at, bytes) = (segment.address, segment.bytes());
        if !memory::contains(ByteAddr(at), bytes) || !at.is_multiple_of(segment.width()) {
            let kind = FaultKind::Address {
                address: at,
                width: segment.width(),
            };
            faults.push(Fault {
                tile: own.tile,
                event: segment.event,
                kind,
            });
            continue;
        }
        by_unit(
            at,
            segment.items,
            segment.width(),
            segment.event,
            0,
            &mut reads,
        );
    }
    let guard = i64::from(TAIL_GUARD);
    for arrival in arrivals {
        let (at, bytes) = (arrival.address, arrival.bytes());
        if memory::contains(ByteAddr(at), bytes) && at.is_multiple_of(arrival.width) {
            by_unit(
                at,
                arrival.items,
                arrival.width,
                arrival.event,
                guard,
                &mut writes,
            );
        }
    }
    against_row(own, &reads, &writes, &mut faults);
    against_each_other(own, &mut reads, &mut writes, &mut faults);
    faults
}

/// Splits an access where it enters the next exclusion unit.
fn by_unit(at: u32, items: u32, width: u32, event: i64, guard: i64, into: &mut Vec<Access>) {
    let mut done = 0;
    while done < items {
        let address = at + done * width;
        let unit = exclusion_unit(ByteAddr(address));
        let behind = unit_behind(unit);
        let now = (items - done).min((behind - address).div_ceil(width));
        let from = event + i64::from(done);
        into.push(Access {
            unit,
            from,
            until: from + i64::from(now) + guard,
            address,
        });
        done += now;
    }
}

fn unit_behind(unit: u32) -> u32 {
    if unit < 12 {
        unit_start(unit + 1).0
    } else if unit == 12 {
        memory::INTERLEAVED.0
    } else {
        unit_start(unit).0 + PAIR_BYTES
    }
}

fn against_row(own: &Timeline, reads: &[Access], writes: &[Access], faults: &mut Vec<Fault>) {
    if own.code.is_empty() {
        return;
    }
    let row = own.code.start;
    let last = (own.code.end + FETCH_AHEAD).min(memory::END.0) - 1;
    if !memory::contains(ByteAddr(row), 1) {
        return;
    }
    let units = exclusion_unit(ByteAddr(row))..=exclusion_unit(ByteAddr(last));
    let mut first = |list: &[Access], kind: &dyn Fn(u32) -> FaultKind| {
        if let Some(hit) = list.iter().find(|access| units.contains(&access.unit)) {
            let kind = kind(hit.address);
            faults.push(Fault {
                tile: own.tile,
                event: hit.from,
                kind,
            });
        }
    };
    first(reads, &|address| FaultKind::SourceInRow { address, row });
    first(writes, &|address| FaultKind::DestinationInRow {
        address,
        row,
    });
}

fn against_each_other(
    own: &Timeline,
    reads: &mut [Access],
    writes: &mut [Access],
    faults: &mut Vec<Fault>,
) {
    reads.sort_by_key(|access| (access.unit, access.from));
    writes.sort_by_key(|access| (access.unit, access.from));
    let (mut read, mut write) = (0, 0);
    while let (Some(r), Some(w)) = (reads.get(read), writes.get(write)) {
        if r.unit == w.unit && r.from < w.until && w.from < r.until {
            let (source, destination, arrival) = (r.address, w.address, w.from);
            let kind = FaultKind::Clash {
                source,
                destination,
                arrival,
            };
            faults.push(Fault {
                tile: own.tile,
                event: r.from,
                kind,
            });
            return;
        }
        // Whatever ends first can meet nothing later; the guard keeps writes sorted by end too.
        if (r.unit, r.until) <= (w.unit, w.until) {
            read += 1;
        } else {
            write += 1;
        }
    }
}
