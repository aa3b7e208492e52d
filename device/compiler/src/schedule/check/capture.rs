//! Which words every tile captures, where they go, and whether that is what the plan says.
//! [exchange §6]

use tilekiln_chip::exchange::MUX_NEUTRAL;
use tilekiln_chip::topology::{direction, time_to_mux};
use tilekiln_chip::{ByteAddr, Event, PhysTile, TILE_COUNT, TileId, memory};

use super::decode::Program;
use super::{CheckError, Span, lead};
use crate::plan::Exchange;

/// Words that arrive on consecutive events and go to consecutive addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Arrival stamps.
    pub at: Span,
    /// Byte address of the first word.
    pub to: u32,
    /// Who sent them.
    pub source: TileId,
    /// Byte address of the first word there.
    pub from: u32,
    /// When the first word left.
    pub sent: i64,
}

/// What all tiles capture.
#[derive(Clone, Debug, Default)]
pub(super) struct Captured {
    /// For each program, what its tile receives, in order.
    pub arrivals: Vec<Vec<Arrival>>,
    /// For each program, sources and addresses of words that pass unheard, because they are sent
    /// the other way.
    pub unheard: Vec<Vec<(TileId, u32, u32)>>,
    /// The tiles of the programs.
    pub tiles: Vec<TileId>,
    /// Stamps that are not the exact ones.
    pub loose_stamps: u64,
    /// Pointers that no word follows, with their tiles.
    pub idle: Vec<(TileId, i64)>,
}

/// Follows every word of every program.
pub(super) fn all(programs: &[Program]) -> Result<Captured, CheckError> {
    let mut by_tile: Vec<Option<&Program>> = vec![None; usize::from(TILE_COUNT)];
    for program in programs {
        by_tile[usize::from(program.tile.index())] = Some(program);
    }
    let mut captured = Captured::default();
    for program in programs {
        let mut arrivals = Vec::new();
        let mut unheard = Vec::new();
        let ends = program
            .mux
            .iter()
            .skip(1)
            .map(|&(stamp, _)| stamp)
            .chain([i64::MAX]);
        for (&(stamp, value), end) in program.mux.iter().zip(ends) {
            if value == MUX_NEUTRAL {
                continue;
            }
            let source = source(program.tile, stamp, value)?;
            let sender = by_tile[usize::from(source.index())];
            let first = (arrivals.len(), unheard.len());
            listen(
                program.tile,
                source,
                sender,
                stamp..end,
                &mut arrivals,
                &mut unheard,
            );
            if first == (arrivals.len(), unheard.len()) {
                let (tile, stamp) = (program.tile, Event(stamp as u32));
                return Err(CheckError::Silent {
                    tile,
                    sender: source,
                    stamp,
                });
            }
            let first = first.0;
            let q = lead(program.tile);
            let early = arrivals
                .get(first)
                .is_none_or(|it| it.at.start != stamp + q);
            let late = arrivals[first..]
                .last()
                .is_none_or(|it| it.at.end != end.saturating_add(q));
            captured.loose_stamps += u64::from(early) + u64::from(late);
        }
        let arrivals = store(program, &arrivals, &mut captured)?;
        captured.arrivals.push(arrivals);
        captured.unheard.push(unheard);
        captured.tiles.push(program.tile);
    }
    Ok(captured)
}

/// The tile that multiplexer value `value` selects.
fn source(tile: TileId, stamp: i64, value: u32) -> Result<TileId, CheckError> {
    let physical = u16::try_from(value).ok().and_then(PhysTile::new);
    let stamp = Event(stamp as u32);
    let error = CheckError::Source {
        tile,
        stamp,
        source_id: value,
    };
    physical.map(PhysTile::logical).ok_or(error)
}

/// What `tile` hears of `source` while its multiplexer selects it.
fn listen(
    tile: TileId,
    source: TileId,
    sender: Option<&Program>,
    selected: Span,
    arrivals: &mut Vec<Arrival>,
    unheard: &mut Vec<(TileId, u32, u32)>,
) {
    let Some(sender) = sender else { return };
    let to_mux = i64::from(time_to_mux(source.physical(), tile.physical())) + 1;
    let heard = selected.start - to_mux..selected.end.saturating_sub(to_mux);
    let way = direction(source.physical(), tile.physical()) as u32;
    let first = sender
        .sends
        .partition_point(|sent| sent.at.end <= heard.start);
    for sent in sender.sends[first..]
        .iter()
        .take_while(|sent| sent.at.start < heard.end)
    {
        let leaves = sent.at.start.max(heard.start)..sent.at.end.min(heard.end);
        let from = sent.from + 4 * (leaves.start - sent.at.start) as u32;
        if sent.ctl & way == 0 {
            unheard.push((source, from, (leaves.end - leaves.start) as u32));
            continue;
        }
        let q = to_mux + lead(tile);
        let at = leaves.start + q..leaves.end + q;
        arrivals.push(Arrival {
            at,
            to: 0,
            source,
            from,
            sent: leaves.start,
        });
    }
}

/// Gives every captured word its address: pointers apply just before the first word that arrives
/// at their stamp or later. Notes pointers that address no word, or none at their own stamp.
fn store(
    program: &Program,
    heard: &[Arrival],
    captured: &mut Captured,
) -> Result<Vec<Arrival>, CheckError> {
    let tile = program.tile;
    let mut pointers = program.pointers.iter().copied().peekable();
    let mut cursor = None;
    let mut stored = Vec::with_capacity(heard.len());
    for arrival in heard {
        let mut now = arrival.at.start;
        while now < arrival.at.end {
            while let Some((stamp, to)) = pointers.next_if(|&(stamp, _)| stamp <= now) {
                if pointers.peek().is_some_and(|&(next, _)| next <= now) {
                    captured.idle.push((tile, stamp));
                }
                captured.loose_stamps += u64::from(stamp != now);
                cursor = Some(to);
            }
            let next = pointers.peek().map_or(i64::MAX, |&(stamp, _)| stamp);
            let until = arrival.at.end.min(next);
            let stamp = Event(now as u32);
            let to = cursor.ok_or(CheckError::NoPointer { tile, stamp })?;
            let (words, passed) = ((until - now) as u32, now - arrival.at.start);
            if !memory::contains(ByteAddr(to), 4 * words) {
                return Err(CheckError::OutsideMemory {
                    tile,
                    at: ByteAddr(to),
                    words,
                });
            }
            let (from, sent) = (arrival.from + 4 * passed as u32, arrival.sent + passed);
            stored.push(Arrival {
                at: now..until,
                to,
                source: arrival.source,
                from,
                sent,
            });
            cursor = Some(to + 4 * words);
            now = until;
        }
    }
    captured
        .idle
        .extend(pointers.map(|(stamp, _)| (tile, stamp)));
    Ok(stored)
}

/// R5, R6: every word that leaves is taken by somebody, and every pointer is followed by a word.
pub(super) fn heard(programs: &[Program], captured: &Captured) -> Result<(), CheckError> {
    if let Some(&(tile, stamp)) = captured.idle.first() {
        return Err(CheckError::IdlePointer {
            tile,
            stamp: Event(stamp as u32),
        });
    }
    let mut taken: Vec<(TileId, i64, i64)> = captured
        .arrivals
        .iter()
        .flatten()
        .map(|it| (it.source, it.sent, it.sent + it.at.end - it.at.start))
        .collect();
    taken.sort_unstable();
    for program in programs {
        let tile = program.tile;
        let first = taken.partition_point(|it| it.0 < tile);
        let mut own = taken[first..]
            .iter()
            .take_while(|it| it.0 == tile)
            .peekable();
        let mut until = 0;
        for sent in &program.sends {
            until = until.max(sent.at.start);
            while until < sent.at.end {
                match own.next_if(|&&(_, start, _)| start <= until) {
                    Some(&(.., end)) => until = until.max(end),
                    None => {
                        return Err(CheckError::Unheard {
                            tile,
                            stamp: Event(until as u32),
                        });
                    }
                }
            }
        }
    }
    Ok(())
}

/// One transfer to one tile, delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    /// The transfer's place in the phase.
    pub transfer: usize,
    /// The receiver.
    pub tile: TileId,
    /// When its first word left.
    pub first: i64,
    /// When its words left, first to last.
    pub sent: Span,
    /// When they arrived.
    pub arrived: Span,
}

/// One transfer to one tile, as planned, and what has come of it.
struct Expected {
    tile: TileId,
    source: TileId,
    from: u32,
    to: u32,
    words: u32,
    transfer: usize,
    /// Ranges of words, when the first left, when it arrived.
    pieces: Vec<(std::ops::Range<u32>, i64, i64)>,
}

impl Expected {
    /// The word of this transfer at `from`, unless it has come already.
    fn wants(&self, from: u32) -> Option<u32> {
        let word = from.checked_sub(self.from)? / 4;
        let open =
            word < self.words && !self.pieces.iter().any(|(piece, ..)| piece.contains(&word));
        open.then_some(word)
    }

    /// Words from `word` on that have not come.
    fn open(&self, word: u32) -> u32 {
        let later = self
            .pieces
            .iter()
            .map(|(piece, ..)| piece.start)
            .filter(|&it| it > word);
        later.min().unwrap_or(self.words) - word
    }

    fn delivery(&self) -> Delivery {
        let start = |at: fn(&(std::ops::Range<u32>, i64, i64)) -> i64| {
            let starts = self.pieces.iter().map(at).min().unwrap_or(0);
            let ends = self
                .pieces
                .iter()
                .map(|piece| at(piece) + piece.0.len() as i64)
                .max();
            starts..ends.unwrap_or(0)
        };
        let first = self.pieces.iter().find(|(piece, ..)| piece.start == 0);
        Delivery {
            transfer: self.transfer,
            tile: self.tile,
            first: first.map_or(0, |&(_, sent, _)| sent),
            sent: start(|&(_, sent, _)| sent),
            arrived: start(|&(.., arrived)| arrived),
        }
    }
}

/// R3 to R6: every captured word belongs to a transfer and goes where it says, and every word of
/// every transfer is captured by each of its receivers.
pub(super) fn expect(
    exchange: &Exchange,
    captured: &Captured,
) -> Result<Vec<Delivery>, CheckError> {
    let mut expected = Vec::new();
    for (transfer, it) in exchange.transfers.iter().enumerate() {
        expected.extend(it.destinations.iter().map(|&(tile, to)| Expected {
            tile,
            source: it.source,
            from: it.from.0,
            to: to.0,
            words: it.words,
            transfer,
            pieces: Vec::new(),
        }));
    }
    expected.sort_by_key(|it| (it.tile, it.source, it.transfer));
    for (&tile, arrivals) in captured.tiles.iter().zip(&captured.arrivals) {
        for arrival in arrivals {
            let key = (tile, arrival.source);
            let first = expected.partition_point(|it| (it.tile, it.source) < key);
            let count = expected[first..].partition_point(|it| (it.tile, it.source) == key);
            take(arrival, tile, &mut expected[first..first + count])?;
        }
    }
    expected.iter().try_for_each(|it| complete(it, captured))?;
    Ok(expected.iter().map(Expected::delivery).collect())
}

/// Books the words of one arrival.
fn take(arrival: &Arrival, tile: TileId, expected: &mut [Expected]) -> Result<(), CheckError> {
    let mut done = 0;
    let words = (arrival.at.end - arrival.at.start) as u32;
    while done < words {
        let (from, to) = (arrival.from + 4 * done, arrival.to + 4 * done);
        let (sent, stamp) = (
            arrival.sent + i64::from(done),
            arrival.at.start + i64::from(done),
        );
        let place = |it: &Expected| it.wants(from).map(|word| it.to + 4 * word);
        let right = expected.iter_mut().find(|it| place(it) == Some(to));
        let Some(right) = right else {
            let stamp = Event(stamp as u32);
            let elsewhere = expected
                .iter()
                .find_map(|it| Some((it.transfer, place(it)?)));
            return Err(match elsewhere {
                Some((transfer, wants)) => {
                    let (is, wants) = (ByteAddr(to), ByteAddr(wants));
                    CheckError::Address {
                        tile,
                        transfer,
                        stamp,
                        is,
                        wants,
                    }
                }
                None => {
                    let (sender, from) = (arrival.source, ByteAddr(from));
                    CheckError::Unexpected {
                        tile,
                        sender,
                        from,
                        stamp,
                    }
                }
            });
        };
        let word = right.wants(from).unwrap_or(0);
        let take = right.open(word).min(words - done);
        right.pieces.push((word..word + take, sent, stamp));
        done += take;
    }
    Ok(())
}

/// Whether all words of a transfer have come.
fn complete(expected: &Expected, captured: &Captured) -> Result<(), CheckError> {
    let Expected {
        tile,
        source,
        from,
        words,
        transfer,
        ..
    } = *expected;
    let came = expected
        .pieces
        .iter()
        .map(|(piece, ..)| piece.len() as u32)
        .sum();
    if came == words {
        return Ok(());
    }
    let unheard = captured
        .tiles
        .binary_search(&tile)
        .map(|index| &captured.unheard[index]);
    let other_way = unheard.is_ok_and(|unheard| {
        unheard.iter().any(|&(sender, at, count)| {
            sender == source && at < from + 4 * words && from < at + 4 * count
        })
    });
    Err(if other_way {
        CheckError::Direction {
            tile,
            sender: source,
            transfer,
        }
    } else {
        CheckError::Missing {
            tile,
            transfer,
            captured: came,
            words,
        }
    })
}
