//! Transfers → messages: equal payloads become one multicast, adjacent ranges one message, long
//! ones several; and what must wait for what.

use tilekiln_chip::exchange::{MESSAGE_MAX, POINTER_LEAD, POINTER_LEAD_PER_ROW};
use tilekiln_chip::topology::time_to_mux;
use tilekiln_chip::{ByteAddr, TileId, memory};

use super::ScheduleError;
use crate::plan::{Transfer, Width};

/// One uninterrupted run of words from a tile to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The sender.
    pub source: TileId,
    /// Where the words lie there, in bytes.
    pub from: u32,
    /// How many.
    pub words: u32,
    /// The receivers and where each keeps the words, by ascending tile.
    pub receivers: Vec<(TileId, u32)>,
    /// The transfers whose first word this message carries, and how many words are before it.
    pub begins: Vec<(usize, u32)>,
    /// What must be over before.
    pub after: Vec<Hazard>,
}

/// Something an earlier message must have done. [exchange §11 R9]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hazard {
    /// The earlier message (or, before messages exist, transfer).
    pub before: usize,
    /// Where both touch the same words.
    pub tile: TileId,
    /// In which way.
    pub kind: Kind,
}

/// Ways in which one message may depend on an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Sends what the earlier one delivers.
    ReadAfterWrite,
    /// Overwrites what the earlier one sends.
    WriteAfterRead,
    /// Overwrites what the earlier one delivers.
    WriteAfterWrite,
}

/// The exclusion units of `words` words from `at`, as bits. [exchange §8]
pub(super) fn units(at: u32, words: u32) -> u32 {
    let first = memory::exclusion_unit(ByteAddr(at));
    let last = memory::exclusion_unit(ByteAddr(at + 4 * words - 1));
    (first..=last).fold(0, |mask, unit| mask | 1 << unit)
}

/// The messages of a phase, every one behind those it must wait for.
pub(super) fn messages(transfers: &[Transfer]) -> Result<Vec<Message>, ScheduleError> {
    for (index, transfer) in transfers.iter().enumerate() {
        validate(index, transfer)?;
    }
    let hazards = hazards(transfers);
    let groups = group(transfers, &hazards);
    let mut group_of = vec![0; transfers.len()];
    for (index, group) in groups.iter().enumerate() {
        for &(transfer, _) in &group.begins {
            group_of[transfer] = index;
        }
    }
    let mut messages = Vec::with_capacity(groups.len());
    let mut parts: Vec<std::ops::Range<usize>> = Vec::with_capacity(groups.len());
    for group in groups {
        let mut after: Vec<Hazard> = Vec::new();
        for &(transfer, _) in &group.begins {
            for hazard in &hazards[transfer] {
                let parts = parts[group_of[hazard.before]].clone();
                after.extend(parts.map(|before| Hazard { before, ..*hazard }));
            }
        }
        after.sort_unstable();
        after.dedup();
        let first = messages.len();
        split(Message { after, ..group }, &mut messages);
        parts.push(first..messages.len());
    }
    Ok(messages)
}

/// Refuses what no row can carry.
fn validate(index: usize, transfer: &Transfer) -> Result<(), ScheduleError> {
    let tile = transfer.source;
    if transfer.width == Width::Paired {
        return Err(ScheduleError::Paired { transfer: index });
    }
    if transfer.words == 0 {
        return Err(ScheduleError::Empty { transfer: index });
    }
    if transfer.destinations.is_empty() {
        return Err(ScheduleError::NoReceiver {
            transfer: index,
            tile,
        });
    }
    if transfer
        .destinations
        .iter()
        .all(|&(receiver, _)| receiver == tile)
    {
        return Err(ScheduleError::LoopsBack {
            transfer: index,
            tile,
        });
    }
    let mut receivers: Vec<TileId> = transfer
        .destinations
        .iter()
        .map(|&(tile, _)| tile)
        .collect();
    receivers.sort_unstable();
    if let Some(pair) = receivers.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ScheduleError::ReceivesTwice {
            transfer: index,
            tile: pair[0],
        });
    }
    let ends = transfer
        .destinations
        .iter()
        .copied()
        .chain([(tile, transfer.from)]);
    for (tile, at) in ends {
        if at.word().is_none() {
            return Err(ScheduleError::Misaligned {
                transfer: index,
                tile,
                at,
            });
        }
        let words = transfer.words;
        if !words
            .checked_mul(4)
            .is_some_and(|bytes| memory::contains(at, bytes))
        {
            return Err(ScheduleError::OutsideMemory {
                transfer: index,
                tile,
                at,
                words,
            });
        }
    }
    validate_loop(index, transfer)
}

/// Refuses a tile's message to itself that would read and write one element at once.
fn validate_loop(index: usize, transfer: &Transfer) -> Result<(), ScheduleError> {
    let tile = transfer.source;
    let own = transfer
        .destinations
        .iter()
        .find(|&&(receiver, _)| receiver == tile);
    match own {
        Some(&(_, to)) if !loop_fits(tile, transfer.from.0, to.0, transfer.words) => {
            let from = transfer.from;
            Err(ScheduleError::LoopClashes {
                transfer: index,
                tile,
                from,
                to,
            })
        }
        _ => Ok(()),
    }
}

/// Whether `tile` may send words to itself: they are read from other elements than they are written
/// to, or all are read before the first comes back. [exchange §8]
fn loop_fits(tile: TileId, from: u32, to: u32, words: u32) -> bool {
    let physical = tile.physical();
    let way = i64::from(time_to_mux(physical, physical)) + 1;
    let back = way + i64::from(POINTER_LEAD + POINTER_LEAD_PER_ROW * u32::from(physical.row()));
    let apart = from + 4 * words <= to || to + 4 * words <= from;
    units(from, words) & units(to, words) == 0 || apart && i64::from(words) <= back
}

/// One use of a range of a tile's memory by a transfer.
struct Use {
    tile: TileId,
    from: u32,
    to: u32,
    writes: bool,
    transfer: usize,
}

/// What each transfer must wait for.
fn hazards(transfers: &[Transfer]) -> Vec<Vec<Hazard>> {
    let mut uses = Vec::new();
    for (transfer, it) in transfers.iter().enumerate() {
        let reads = [(it.source, it.from, false)].into_iter();
        let writes = it.destinations.iter().map(|&(tile, at)| (tile, at, true));
        uses.extend(reads.chain(writes).map(|(tile, at, writes)| Use {
            tile,
            from: at.0,
            to: at.0 + 4 * it.words,
            writes,
            transfer,
        }));
    }
    uses.sort_unstable_by_key(|it| (it.tile, it.from, it.to, it.transfer, it.writes));
    let mut after = vec![Vec::new(); transfers.len()];
    let mut open: [Vec<usize>; 2] = Default::default();
    for (index, this) in uses.iter().enumerate() {
        for open in &mut open {
            open.retain(|&other| uses[other].tile == this.tile && uses[other].to > this.from);
        }
        for other in open[1].iter().chain(open[0].iter().filter(|_| this.writes)) {
            clash(&uses[*other], this, &mut after);
        }
        open[usize::from(this.writes)].push(index);
    }
    for list in &mut after {
        list.sort_unstable();
        list.dedup();
    }
    after
}

/// Notes that two uses of the same words have an order.
fn clash(one: &Use, two: &Use, after: &mut [Vec<Hazard>]) {
    let (first, second) = if one.transfer < two.transfer {
        (one, two)
    } else {
        (two, one)
    };
    let kind = match (first.writes, second.writes) {
        (true, false) => Kind::ReadAfterWrite,
        (false, true) => Kind::WriteAfterRead,
        _ => Kind::WriteAfterWrite,
    };
    if first.transfer != second.transfer {
        after[second.transfer].push(Hazard {
            before: first.transfer,
            tile: first.tile,
            kind,
        });
    }
}

/// How many of a sender's latest groups a transfer may still join.
const REACH: usize = 16;

/// Transfers joined where that is free: one group, one message, unless it is too long.
///
/// A transfer joins an earlier group only if everything it must wait for lies before that whole
/// group; so groups, in order of their first transfer, still come behind what they wait for.
fn group(transfers: &[Transfer], hazards: &[Vec<Hazard>]) -> Vec<Message> {
    let mut groups: Vec<Message> = Vec::new();
    let mut latest: Vec<Vec<usize>> = vec![Vec::new(); usize::from(tilekiln_chip::TILE_COUNT)];
    for (index, transfer) in transfers.iter().enumerate() {
        let mut receivers: Vec<(TileId, u32)> = transfer
            .destinations
            .iter()
            .map(|&(tile, at)| (tile, at.0))
            .collect();
        receivers.sort_unstable();
        let own = &mut latest[usize::from(transfer.source.index())];
        let newest = hazards[index].iter().map(|hazard| hazard.before).max();
        let joined = own.iter().rev().take(REACH).find(|&&group| {
            let group = &mut groups[group];
            newest.is_none_or(|newest| newest < group.begins[0].0)
                && (extend(group, index, transfer, &receivers)
                    || widen(group, index, transfer, &receivers))
        });
        if joined.is_some() {
            continue;
        }
        own.push(groups.len());
        groups.push(Message {
            source: transfer.source,
            from: transfer.from.0,
            words: transfer.words,
            receivers,
            begins: vec![(index, 0)],
            after: Vec::new(),
        });
    }
    groups
}

/// Appends a transfer that continues `group` at every end.
fn extend(group: &mut Message, index: usize, transfer: &Transfer, to: &[(TileId, u32)]) -> bool {
    let bytes = 4 * group.words;
    let words = group.words + transfer.words;
    let loops = group
        .receivers
        .iter()
        .find(|&&(tile, _)| tile == group.source);
    let continues = transfer.from.0 == group.from + bytes
        && words <= MESSAGE_MAX
        && to.len() == group.receivers.len()
        && to
            .iter()
            .zip(&group.receivers)
            .all(|(new, old)| new.0 == old.0 && new.1 == old.1 + bytes)
        && loops.is_none_or(|&(tile, at)| loop_fits(tile, group.from, at, words));
    if continues {
        group.begins.push((index, group.words));
        group.words += transfer.words;
    }
    continues
}

/// Adds the receivers of a transfer with the same payload to `group`.
fn widen(group: &mut Message, index: usize, transfer: &Transfer, to: &[(TileId, u32)]) -> bool {
    let has = |tile: TileId| {
        group
            .receivers
            .binary_search_by_key(&tile, |&(tile, _)| tile)
            .is_ok()
    };
    let same = transfer.from.0 == group.from
        && transfer.words == group.words
        && !to.iter().any(|&(tile, _)| has(tile));
    if same {
        group.begins.push((index, 0));
        group.receivers.extend_from_slice(to);
        group.receivers.sort_unstable();
    }
    same
}

/// Cuts a group into messages of nearly equal length, none too long.
fn split(group: Message, messages: &mut Vec<Message>) {
    let parts = group.words.div_ceil(MESSAGE_MAX);
    let longest = group.words.div_ceil(parts);
    let mut done = 0;
    while done < group.words {
        let words = longest.min(group.words - done);
        let here = |&&(_, offset): &&(usize, u32)| (done..done + words).contains(&offset);
        messages.push(Message {
            source: group.source,
            from: group.from + 4 * done,
            words,
            receivers: group
                .receivers
                .iter()
                .map(|&(tile, at)| (tile, at + 4 * done))
                .collect(),
            begins: group
                .begins
                .iter()
                .filter(here)
                .map(|&(it, at)| (it, at - done))
                .collect(),
            after: group.after.clone(),
        });
        done += words;
    }
}
