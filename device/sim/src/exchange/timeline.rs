//! What each tile does when: its bus, its multiplexer, its pointer and its format, by event.

use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::MUX_NEUTRAL;
use tilekiln_chip::{PhysTile, TILE_COUNT};

use super::Participant;
use super::fault::{Fault, FaultKind};
use crate::memory::Memory;
use crate::tile::RowLog;

/// Items that leave a tile on consecutive events from consecutive addresses: one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    /// When the first item leaves.
    pub event: i64,
    /// How many there are.
    pub items: u32,
    /// Where the first item is read.
    pub address: u32,
    /// Directions driven, bits 0 and 1; 64-bit items, bit 2.
    pub control: u8,
    /// Where the instruction stands.
    pub pc: u32,
    /// The stream it belongs to: the index of the stream's first segment.
    pub stream: usize,
    /// Its first item's place in the stream.
    pub place: u32,
}

impl Segment {
    /// The event behind the last item.
    pub fn end(&self) -> i64 {
        self.event + i64::from(self.items)
    }

    /// Bytes of one item.
    pub fn width(&self) -> u32 {
        if self.is_wide() { 8 } else { 4 }
    }

    pub fn is_wide(&self) -> bool {
        self.control & 4 != 0
    }

    pub fn bytes(&self) -> u32 {
        self.items * self.width()
    }
}

/// A register that takes `value` at `stamp`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub stamp: i64,
    pub value: u32,
}

/// Everything one tile does in one phase.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    pub tile: PhysTile,
    pub segments: Vec<Segment>,
    pub mux: Vec<Step>,
    /// Byte addresses, base included.
    pub pointers: Vec<Step>,
    pub formats: Vec<Step>,
    pub end: i64,
    pub code: std::ops::Range<u32>,
}

impl Timeline {
    /// The format in force at `event`.
    pub fn format_at(&self, event: i64) -> u32 {
        let after = self.formats.partition_point(|step| step.stamp <= event);
        if after == 0 {
            0
        } else {
            self.formats[after - 1].value
        }
    }

    /// The segments that may emit in `from..until`.
    pub fn between(&self, from: i64, until: i64) -> impl Iterator<Item = (usize, &Segment)> {
        let first = self
            .segments
            .partition_point(|segment| segment.end() <= from);
        let rest = self.segments[first..]
            .iter()
            .take_while(move |segment| segment.event < until);
        rest.enumerate()
            .map(move |(index, segment)| (first + index, segment))
    }
}

/// The participants' timelines, and who is where.
pub(super) struct Timelines {
    pub all: Vec<Timeline>,
    index: Vec<Option<u16>>,
}

impl Timelines {
    /// Reads every log, then lets paired controls take effect on the partners.
    pub fn new(participants: &[Participant<'_>]) -> (Self, Vec<Fault>) {
        let mut index = vec![None; usize::from(TILE_COUNT)];
        for (place, participant) in participants.iter().enumerate() {
            index[usize::from(participant.tile.index())] = u16::try_from(place).ok();
        }
        let all = participants.iter().map(timeline).collect();
        let mut timelines = Self { all, index };
        let faults = timelines.apply_pairs(participants);
        (timelines, faults)
    }

    /// The place of the tile with physical number `number`, if it takes part.
    pub fn place(&self, number: u32) -> Option<usize> {
        self.index
            .get(number as usize)
            .copied()
            .flatten()
            .map(usize::from)
    }

    fn apply_pairs(&mut self, participants: &[Participant<'_>]) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut lent = vec![Vec::new(); participants.len()];
        for participant in participants {
            let partner = participant.tile.partner();
            for control in participant
                .log
                .controls
                .iter()
                .filter(|c| c.register == number::INCOMING_MUXPAIR)
            {
                let stamp = i64::from(control.stamp);
                match self.place(u32::from(partner.index())) {
                    Some(place) => {
                        lent[place].push(Step {
                            stamp: stamp + 1,
                            value: across(control.value),
                        });
                    }
                    None => faults.push(Fault {
                        tile: participant.tile,
                        event: stamp,
                        kind: FaultKind::PartnerAbsent { partner },
                    }),
                }
            }
        }
        for (timeline, lent) in self.all.iter_mut().zip(lent) {
            merge_mux(timeline, &lent, &mut faults);
        }
        faults
    }
}

/// What the partner's multiplexer is set to: the sender's other bus. [exchange §5 V]
const fn across(value: u32) -> u32 {
    if value == MUX_NEUTRAL {
        value
    } else {
        value ^ 2
    }
}

fn merge_mux(timeline: &mut Timeline, lent: &[Step], faults: &mut Vec<Fault>) {
    for step in lent {
        if let Some(own) = timeline.mux.iter().find(|own| own.stamp == step.stamp) {
            let kind = FaultKind::MuxRace {
                own: own.value,
                partner: step.value,
            };
            faults.push(Fault {
                tile: timeline.tile,
                event: step.stamp,
                kind,
            });
        }
    }
    timeline.mux.extend(lent);
    timeline.mux.sort_by_key(|step| step.stamp);
}

fn timeline(participant: &Participant<'_>) -> Timeline {
    let log = participant.log;
    let steps = |registers: &[u16], value: &dyn Fn(u32) -> u32| {
        let wanted = log
            .controls
            .iter()
            .filter(|c| registers.contains(&c.register));
        let step = |c: &crate::tile::Control| Step {
            stamp: i64::from(c.stamp),
            value: value(c.value),
        };
        wanted.map(step).collect::<Vec<Step>>()
    };
    let mut mux = steps(
        &[number::INCOMING_MUX, number::INCOMING_MUXPAIR],
        &|value| value,
    );
    if participant.mux != MUX_NEUTRAL {
        mux.insert(
            0,
            Step {
                stamp: i64::MIN / 2,
                value: participant.mux,
            },
        );
    }
    Timeline {
        tile: participant.tile,
        segments: segments(log, participant.memory),
        mux,
        pointers: steps(&[number::INCOMING_DELTA], &|value| {
            log.incoming_base.wrapping_add(value)
        }),
        formats: steps(&[number::INCOMING_FORMAT], &|value| value),
        end: i64::from(log.end),
        code: log.code.clone(),
    }
}

/// The sends that drive anything, each with its place in its stream.
///
/// A stream goes on while items follow each other without a gap in time or address and with equal
/// directions; a `send` or a driving `sendpicp` begins a new one, because there an encoder begins
/// a message.
fn segments(log: &RowLog, memory: &Memory) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::with_capacity(log.sends.len());
    for sent in log
        .sends
        .iter()
        .filter(|sent| sent.control & 3 != 0 && sent.items > 0)
    {
        let mut segment = Segment {
            event: i64::from(sent.event),
            items: sent.items,
            address: sent.address,
            control: sent.control,
            pc: sent.pc,
            stream: segments.len(),
            place: 0,
        };
        if let Some(last) = segments.last()
            && last.end() == segment.event
            && last.address.wrapping_add(last.bytes()) == segment.address
            && last.control == segment.control
            && !restarts(memory.load32(sent.pc).unwrap_or(0))
        {
            segment.stream = last.stream;
            segment.place = last.place + last.items;
        }
        segments.push(segment);
    }
    segments
}

/// Whether `word` is a `send` or the first word of a `sendpicp`. [exchange §4.1 V]
const fn restarts(word: u32) -> bool {
    word >> 27 == 0b0_1111 || word >> 28 == 0b1111
}
