//! Who takes which items: each receiver's multiplexer against the selected buses, by intervals.

use tilekiln_chip::exchange::{
    FORMAT_LEAD, MUX_NEUTRAL, POINTER_LEAD, POINTER_LEAD_PER_ROW, TAIL_GUARD,
};
use tilekiln_chip::topology::{direction, time_to_mux};
use tilekiln_chip::{ByteAddr, PhysTile, memory};

use super::fault::{Fault, FaultKind};
use super::timeline::{Segment, Step, Timeline, Timelines};

/// Consecutive items of one segment that arrive on consecutive events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    /// The sender's place among the participants.
    pub sender: usize,
    /// The segment's index there.
    pub segment: usize,
    /// The first item's place in the segment.
    pub first: u32,
    /// How many.
    pub items: u32,
    /// Bytes of one item.
    pub width: u32,
    /// When the first is written.
    pub event: i64,
    /// Where the first is written.
    pub address: u32,
    /// Whether the tile is on the wrong one of the sender's two buses.
    swapped: bool,
}

impl Arrival {
    /// The event behind the last item.
    pub fn end(&self) -> i64 {
        self.event + i64::from(self.items)
    }

    pub fn bytes(&self) -> u32 {
        self.items * self.width
    }
}

/// What one tile receives, in order, and what is wrong with it.
pub(super) struct Captured {
    pub arrivals: Vec<Arrival>,
    pub faults: Vec<Fault>,
    /// The cursor after the last word.
    pub cursor: Option<u32>,
}

/// Works out everything that arrives at the tile at `place`.
pub(super) fn capture(timelines: &Timelines, place: usize, strict: bool) -> Captured {
    let own = &timelines.all[place];
    let mut work = Work {
        timelines,
        own,
        faults: Vec::new(),
        strict,
    };
    let mut arrivals = work.walk_mux();
    arrivals.sort_by_key(|arrival| arrival.event);
    work.check_order(&arrivals);
    work.check_formats(&arrivals);
    let cursor = work.place_words(&mut arrivals);
    work.check_end(&arrivals);
    Captured {
        arrivals,
        faults: work.faults,
        cursor,
    }
}

struct Work<'a> {
    timelines: &'a Timelines,
    own: &'a Timeline,
    faults: Vec<Fault>,
    strict: bool,
}

/// Events from a multiplexer stamp to the arrival of the same word. [exchange §3.3 V]
pub(super) fn pointer_lead(tile: PhysTile) -> i64 {
    i64::from(POINTER_LEAD + POINTER_LEAD_PER_ROW * u32::from(tile.row()))
}

impl Work<'_> {
    fn fault(&mut self, event: i64, kind: FaultKind) {
        self.faults.push(Fault {
            tile: self.own.tile,
            event,
            kind,
        });
    }

    fn walk_mux(&mut self) -> Vec<Arrival> {
        let own = self.own;
        let mut arrivals = Vec::new();
        for (index, step) in own.mux.iter().enumerate() {
            let until = own
                .mux
                .get(index + 1)
                .map_or(i64::MAX / 2, |next| next.stamp);
            if step.value == MUX_NEUTRAL || until == step.stamp {
                continue;
            }
            if until > own.end || step.stamp < 0 {
                self.fault(
                    step.stamp.max(0),
                    FaultKind::Connected { value: step.value },
                );
            }
            match u16::try_from(step.value).ok().and_then(PhysTile::new) {
                Some(source) => self.interval(*step, until, source, &mut arrivals),
                None => self.fault(step.stamp, FaultKind::MuxRange { value: step.value }),
            }
        }
        arrivals
    }

    /// Takes what the bus of `source` carries this way while it is selected.
    fn interval(&mut self, step: Step, until: i64, source: PhysTile, into: &mut Vec<Arrival>) {
        let before = into.len();
        let wanted = direction(source, self.own.tile) as u8;
        let driven = self.heard(step.stamp, until, source, source, into)
            | self.heard(step.stamp, until, source.partner(), source, into);
        if into.len() == before {
            let source = u32::from(source.index());
            let kind = match driven {
                0 => FaultKind::SilentBus { source, until },
                driven => FaultKind::WrongDirection {
                    source,
                    wanted,
                    driven,
                },
            };
            self.fault(step.stamp, kind);
        } else if self.strict {
            self.check_exact(step, until, &into[before..]);
        }
    }

    /// Takes the items that `sender` puts on the bus of `bus` in the events the interval covers;
    /// returns the directions it drove otherwise.
    fn heard(
        &self,
        from: i64,
        until: i64,
        sender: PhysTile,
        bus: PhysTile,
        into: &mut Vec<Arrival>,
    ) -> u8 {
        let Some(place) = self.timelines.place(u32::from(sender.index())) else {
            return 0;
        };
        let tile = self.own.tile;
        let wanted = direction(sender, tile) as u8;
        let time = i64::from(time_to_mux(sender, tile));
        let later = time.max(i64::from(time_to_mux(sender, tile.partner())));
        let (first, last) = (from - time - 1, until - time - 1);
        let mut driven = 0;
        for (index, segment) in self.timelines.all[place].between(first, last) {
            if bus != sender && !segment.is_wide() {
                continue;
            }
            if segment.control & wanted == 0 {
                driven |= segment.control & 3;
                continue;
            }
            let skip = (first - segment.event).max(0);
            let emitted = segment.event + skip;
            let delay = 1 + pointer_lead(tile) + if segment.is_wide() { later } else { time };
            into.push(Arrival {
                sender: place,
                segment: index,
                first: skip as u32,
                items: (last.min(segment.end()) - emitted) as u32,
                width: segment.width(),
                event: emitted + delay,
                address: 0,
                swapped: bus.index() != sender.index() ^ (tile.index() & 2),
            });
        }
        driven
    }

    fn check_exact(&mut self, step: Step, until: i64, arrivals: &[Arrival]) {
        let lead = pointer_lead(self.own.tile);
        let late = |a: &Arrival| i64::from(a.width == 8 && self.is_early(a));
        let first = arrivals.iter().map(|a| a.event - lead - late(a)).min();
        let last = arrivals.iter().map(|a| a.end() - lead - late(a)).max();
        for (stamp, exact) in [(step.stamp, first), (until, last)] {
            if let Some(exact) = exact
                && exact != stamp
            {
                self.fault(stamp, FaultKind::Inexact { exact });
            }
        }
    }

    /// Whether this tile is the one of its pair that a word of the arrival's sender reaches first.
    fn is_early(&self, arrival: &Arrival) -> bool {
        let sender = self.timelines.all[arrival.sender].tile;
        let tile = self.own.tile;
        time_to_mux(sender, tile) < time_to_mux(sender, tile.partner())
    }

    fn check_order(&mut self, arrivals: &[Arrival]) {
        for pair in arrivals.windows(2) {
            if pair[0].end() > pair[1].event {
                let (first, second) = (self.number(&pair[0]), self.number(&pair[1]));
                self.fault(pair[1].event, FaultKind::Collision { first, second });
            }
        }
        for arrival in arrivals.iter().filter(|a| a.width == 8 && a.swapped) {
            let source = self.number(arrival);
            self.fault(arrival.event, FaultKind::Swapped { source });
        }
    }

    fn number(&self, arrival: &Arrival) -> u32 {
        u32::from(self.timelines.all[arrival.sender].tile.index())
    }

    /// A 64-bit item needs its direction's format two events before it arrives, a word needs none,
    /// and no change may overtake what is on its way. [exchange §7 H]
    fn check_formats(&mut self, arrivals: &[Arrival]) {
        for arrival in arrivals {
            let sender = self.timelines.all[arrival.sender].tile;
            let lead = if arrival.width == 8 { 2 } else { 0 };
            let wanted = match arrival.width {
                8 => direction(sender, self.own.tile) as u32,
                _ => 0,
            };
            let (from, until) = (arrival.event - lead, arrival.end() - lead);
            let inside = self
                .own
                .formats
                .iter()
                .filter(|f| from < f.stamp && f.stamp < until);
            let bad = inside.map(|f| f.value).chain([self.own.format_at(from)]);
            if let Some(found) = bad.into_iter().find(|&found| found != wanted) {
                self.fault(arrival.event, FaultKind::Format { wanted, found });
            }
        }
        for index in 0..self.own.formats.len() {
            let step = self.own.formats[index];
            let before = if index == 0 {
                0
            } else {
                self.own.formats[index - 1].value
            };
            if step.value == 0 || step.value == before {
                continue;
            }
            // The first item under the new format arrives FORMAT_LEAD events after it.
            let late = arrivals
                .iter()
                .find(|a| a.event < step.stamp + i64::from(FORMAT_LEAD) && a.end() > step.stamp);
            if let Some(late) = late {
                self.fault(
                    step.stamp,
                    FaultKind::FormatEarly {
                        arrival: late.end() - 1,
                    },
                );
            }
        }
    }

    /// Gives every arrival its address; returns the cursor behind the last word.
    fn place_words(&mut self, arrivals: &mut [Arrival]) -> Option<u32> {
        let own = self.own;
        let mut cursor = None;
        let mut next = 0;
        for arrival in arrivals.iter_mut() {
            let due = own.pointers[next..].partition_point(|p| p.stamp <= arrival.event);
            for unused in own.pointers[next..next + due].iter().rev().skip(1) {
                self.fault(
                    unused.stamp,
                    FaultKind::PointerUnused {
                        address: unused.value,
                    },
                );
            }
            if due > 0 {
                let pointer = own.pointers[next + due - 1];
                cursor = Some(pointer.value);
                next += due;
                if self.strict && pointer.stamp != arrival.event {
                    self.fault(
                        pointer.stamp,
                        FaultKind::Inexact {
                            exact: arrival.event,
                        },
                    );
                }
            }
            let inside = own.pointers[next..].partition_point(|p| p.stamp < arrival.end());
            for pointer in &own.pointers[next..next + inside] {
                self.fault(
                    pointer.stamp,
                    FaultKind::PointerInside {
                        first: arrival.event,
                    },
                );
            }
            next += inside;
            let Some(address) = cursor else {
                let source = self.number(arrival);
                self.fault(arrival.event, FaultKind::NoPointer { source });
                continue;
            };
            arrival.address = address;
            self.check_address(arrival);
            cursor = Some(address.wrapping_add(arrival.bytes()));
        }
        for unused in &own.pointers[next..] {
            self.fault(
                unused.stamp,
                FaultKind::PointerUnused {
                    address: unused.value,
                },
            );
        }
        cursor
    }

    fn check_address(&mut self, arrival: &Arrival) {
        let Arrival { address, width, .. } = *arrival;
        let inside = memory::contains(ByteAddr(address), arrival.bytes());
        if !inside || !address.is_multiple_of(width) {
            self.fault(arrival.event, FaultKind::Address { address, width });
        }
    }

    fn check_end(&mut self, arrivals: &[Arrival]) {
        let own = self.own;
        let last = arrivals.iter().map(Arrival::end).max();
        if let Some(last) = last {
            let needed = last + i64::from(TAIL_GUARD);
            if own.end < needed {
                self.fault(
                    own.end,
                    FaultKind::Short {
                        end: own.end,
                        needed,
                    },
                );
            }
        }
        let sent = own.segments.last().map_or(0, Segment::end);
        if own.end < sent {
            self.fault(
                own.end,
                FaultKind::Short {
                    end: own.end,
                    needed: sent,
                },
            );
        }
    }
}
