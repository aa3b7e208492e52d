//! What a tile sends and receives so far, and the first moment at which one more message fits.
//!
//! All times are on the tile's own event clock, signed because routes may take negative times.
//! [exchange §2.2]

use tilekiln_chip::TileId;
use tilekiln_chip::exchange::{FIRST_STAMP, POINTER_LEAD, POINTER_LEAD_PER_ROW, TAIL_GUARD};
use tilekiln_chip::topology::time_to_mux;

use super::multicast::{Hazard, Kind, Message, units};

/// A moment on an event clock.
pub(super) type Time = i64;

const GUARD: Time = TAIL_GUARD as Time;

/// A message as the timeline needs it: routes and elements worked out.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The sender, as an index of timelines.
    pub sender: usize,
    /// How many words.
    pub words: Time,
    /// The exclusion units it is read from, as bits.
    pub units: u32,
    /// The receivers, by ascending index.
    pub links: Vec<Link>,
    /// The earliest start any clock allows.
    pub floor: Time,
    /// What must be over before.
    pub after: Vec<Wait>,
}

/// One receiver of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The receiver, as an index of timelines.
    pub tile: usize,
    /// From the start to the multiplexer stamp on the receiver's clock.
    pub to_mux: Time,
    /// The exclusion units it is written to, as bits.
    pub units: u32,
}

/// A [`Hazard`] with its tile as an index of timelines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The earlier message.
    pub before: usize,
    /// The tile both touch.
    pub tile: usize,
    /// In which way.
    pub kind: Kind,
}

impl Shape {
    /// How many tiles take part.
    pub(super) fn ends(&self) -> usize {
        self.links.len() + 1
    }

    /// The receiver with index `tile`.
    pub(super) fn link(&self, tile: usize) -> Option<&Link> {
        let index = self
            .links
            .binary_search_by_key(&tile, |link| link.tile)
            .ok()?;
        Some(&self.links[index])
    }

    /// The shape of `message`; `index_of` numbers the tiles.
    pub(super) fn new(message: &Message, index_of: impl Fn(TileId) -> usize) -> Self {
        let source = message.source.physical();
        let links: Vec<Link> = message
            .receivers
            .iter()
            .map(|&(tile, at)| Link {
                tile: index_of(tile),
                to_mux: Time::from(time_to_mux(source, tile.physical())) + 1,
                units: units(at, message.words),
            })
            .collect();
        let first = Time::from(FIRST_STAMP);
        let floor = links
            .iter()
            .map(|link| first - link.to_mux)
            .fold(0, Time::max);
        let wait = |hazard: &Hazard| Wait {
            before: hazard.before,
            tile: index_of(hazard.tile),
            kind: hazard.kind,
        };
        Self {
            sender: index_of(message.source),
            words: Time::from(message.words),
            units: units(message.from, message.words),
            links,
            floor,
            after: message.after.iter().map(wait).collect(),
        }
    }
}

/// A stretch of sending or of receiving.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: Time,
    end: Time,
    units: u32,
}

/// One tile's sends and receives. Receives are kept by multiplexer stamps; the words arrive
/// [`Timeline::lead`] later.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    lead: Time,
    sends: Vec<Span>,
    receives: Vec<Span>,
}

/// Whether `time` starts a span.
fn starts(spans: &[Span], time: Time) -> bool {
    spans.binary_search_by_key(&time, |span| span.start).is_ok()
}

/// Whether `time` ends a span; spans do not overlap, so their ends ascend too.
fn ends(spans: &[Span], time: Time) -> bool {
    spans.binary_search_by_key(&time, |span| span.end).is_ok()
}

/// The first moment from `start` at which `length` events are free.
fn first_gap(spans: &[Span], mut start: Time, length: Time) -> Time {
    for span in &spans[spans.partition_point(|span| span.end <= start)..] {
        if span.start >= start + length {
            break;
        }
        start = span.end;
    }
    start
}

/// Puts `span` where it belongs.
fn insert(spans: &mut Vec<Span>, span: Span) {
    spans.insert(
        spans.partition_point(|other| other.start < span.start),
        span,
    );
}

impl Timeline {
    /// A tile that does nothing yet.
    pub(super) fn new(tile: TileId) -> Self {
        let row = u32::from(tile.physical().row());
        let lead = Time::from(POINTER_LEAD + POINTER_LEAD_PER_ROW * row);
        Self {
            lead,
            sends: Vec::new(),
            receives: Vec::new(),
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.sends.clear();
        self.receives.clear();
    }

    /// From multiplexer stamp to pointer stamp.
    pub(super) fn lead(&self) -> Time {
        self.lead
    }

    /// When the tile has nothing more to do.
    pub(super) fn end(&self) -> Time {
        let sent = self.sends.last().map_or(0, |span| span.end);
        let received = self
            .receives
            .last()
            .map_or(0, |span| span.end + self.lead + GUARD);
        sent.max(received)
    }

    /// The first moment from `start` at which `shape` can leave: the bus is free and no word
    /// arrives in an element being read.
    fn send_from(&self, mut start: Time, shape: &Shape) -> Time {
        loop {
            start = first_gap(&self.sends, start, shape.words);
            let from = start - self.lead - GUARD;
            let next = self.receives.partition_point(|span| span.end <= from);
            let until = start + shape.words - self.lead;
            let clash = self.receives[next..]
                .iter()
                .take_while(|span| span.start < until)
                .find(|span| span.units & shape.units != 0);
            match clash {
                Some(span) => start = span.end + self.lead + GUARD,
                None => return start,
            }
        }
    }

    /// The first multiplexer stamp from `stamp` at which `link` can receive: the multiplexer is
    /// free and no word arrives in an element being read.
    fn receive_from(&self, mut stamp: Time, words: Time, link: &Link) -> Time {
        loop {
            stamp = first_gap(&self.receives, stamp, words);
            let (arrival, over) = (stamp + self.lead, stamp + self.lead + words + GUARD);
            let next = self.sends.partition_point(|span| span.end <= arrival);
            let clash = self.sends[next..]
                .iter()
                .take_while(|span| span.start < over)
                .find(|span| span.units & link.units != 0);
            match clash {
                Some(span) => stamp = span.end - self.lead,
                None => return stamp,
            }
        }
    }
}

/// What a message would add to one tile, and whether the row can still be written.
///
/// A stamp one event after a send's start cannot be encoded. Two controls in one event need an
/// instruction at an even word; so that one more word can always be put before it, nothing may
/// happen one and two events earlier. [exchange §12]
struct Row<'a> {
    timeline: &'a Timeline,
    send: Option<(Time, Time)>,
    receive: Option<(Time, Time)>,
}

impl Row<'_> {
    fn send_starts(&self, time: Time) -> bool {
        self.send.is_some_and(|(start, _)| start == time) || starts(&self.timeline.sends, time)
    }

    fn send_ends(&self, time: Time) -> bool {
        self.send.is_some_and(|(_, end)| end == time) || ends(&self.timeline.sends, time)
    }

    fn mux_at(&self, time: Time) -> bool {
        self.receive
            .is_some_and(|(start, end)| start == time || end == time)
            || starts(&self.timeline.receives, time)
            || ends(&self.timeline.receives, time)
    }

    fn pointer_at(&self, time: Time) -> bool {
        let time = time - self.timeline.lead;
        self.receive.is_some_and(|(start, _)| start == time)
            || starts(&self.timeline.receives, time)
    }

    fn control_at(&self, time: Time) -> bool {
        self.mux_at(time) || self.pointer_at(time)
    }

    /// Whether the control or controls at `time`, if any, can be encoded.
    fn stamp_fits(&self, time: Time) -> bool {
        let (mux, pointer) = (self.mux_at(time), self.pointer_at(time));
        if !mux && !pointer {
            return true;
        }
        if self.send_starts(time - 1) {
            return false;
        }
        let crowded = || {
            time < 3
                || self.control_at(time - 1)
                || self.control_at(time - 2)
                || self.send_starts(time - 2)
                || self.send_ends(time - 2)
        };
        !(mux && pointer && crowded())
    }

    /// Whether every control near the new message can be encoded.
    fn fits(&self) -> bool {
        let near_send = self.send.is_none_or(|(start, end)| {
            [start + 1, start + 2, end + 2]
                .into_iter()
                .all(|time| self.stamp_fits(time))
        });
        near_send
            && self.receive.is_none_or(|(start, end)| {
                [start, end, start + self.timeline.lead]
                    .into_iter()
                    .all(|stamp| (stamp..stamp + 3).all(|time| self.stamp_fits(time)))
            })
    }
}

/// The first start from `start` at which `shape` fits the timelines.
pub(super) fn earliest(timelines: &[Timeline], shape: &Shape, mut start: Time) -> Time {
    loop {
        let tried = start;
        start = timelines[shape.sender].send_from(start, shape);
        for link in &shape.links {
            let stamp = start + link.to_mux;
            start += timelines[link.tile].receive_from(stamp, shape.words, link) - stamp;
        }
        if start != tried {
            continue;
        }
        if fits(timelines, shape, start) {
            return start;
        }
        start += 1;
    }
}

/// Whether all rows can be written with `shape` at `start`.
fn fits(timelines: &[Timeline], shape: &Shape, start: Time) -> bool {
    let end = start + shape.words;
    let sender = Row {
        timeline: &timelines[shape.sender],
        send: Some((start, end)),
        receive: shape
            .link(shape.sender)
            .map(|link| (start + link.to_mux, end + link.to_mux)),
    };
    sender.fits()
        && shape
            .links
            .iter()
            .filter(|link| link.tile != shape.sender)
            .all(|link| {
                let receive = Some((start + link.to_mux, end + link.to_mux));
                Row {
                    timeline: &timelines[link.tile],
                    send: None,
                    receive,
                }
                .fits()
            })
}

/// The earliest start that the messages before `shape` leave it; `starts` has theirs.
pub(super) fn ready(
    timelines: &[Timeline],
    shapes: &[Shape],
    shape: &Shape,
    starts: impl Fn(usize) -> Time,
) -> Time {
    let to_mux = |shape: &Shape, tile: usize| shape.link(tile).map_or(0, |link| link.to_mux);
    shape.after.iter().fold(shape.floor, |floor, wait| {
        let earlier = &shapes[wait.before];
        let (sent, lead) = (
            starts(wait.before) + earlier.words,
            timelines[wait.tile].lead,
        );
        let arrived = sent + to_mux(earlier, wait.tile) + lead + GUARD;
        let from = match wait.kind {
            Kind::ReadAfterWrite => arrived,
            Kind::WriteAfterRead => sent - to_mux(shape, wait.tile) - lead,
            Kind::WriteAfterWrite => arrived - to_mux(shape, wait.tile) - lead,
        };
        floor.max(from)
    })
}

/// Puts `shape` on the timelines at `start`.
pub(super) fn commit(timelines: &mut [Timeline], shape: &Shape, start: Time) {
    let end = start + shape.words;
    insert(
        &mut timelines[shape.sender].sends,
        Span {
            start,
            end,
            units: shape.units,
        },
    );
    for link in &shape.links {
        let span = Span {
            start: start + link.to_mux,
            end: end + link.to_mux,
            units: link.units,
        };
        insert(&mut timelines[link.tile].receives, span);
    }
}
