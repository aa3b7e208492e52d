//! Messages and their starts → rows: the timed program of every tile that takes part.

use tilekiln_chip::exchange::{
    DELAY_MAX, DELAYPIC_MAX, DELAYXPIC_MAX, MUX_NEUTRAL, SEND_MAX, SENDOFF_MAX, TAIL_GUARD,
};
use tilekiln_chip::topology::{direction, time_to_mux};
use tilekiln_chip::{Event, Events, PhysTile, TILE_COUNT, TileId};
use tilekiln_isa::op::Op;
use tilekiln_isa::{Instruction, encode};

use super::multicast::Message;
use super::timeline::{Time, Timeline};
use super::{Phase, Row, ScheduleError};

/// Events the reference pads a sending row to. [exchange §3.3 V]
const SENDING_ROW_MIN: Time = 6;

/// `sctl` for receivers in both directions. [exchange §4.1 V]
const BOTH_DIRECTIONS: u32 = 3;

/// `br` takes the return address of a row from here. [exchange §9.3 V]
const RETURN_REGISTER: u32 = 10;

/// What one tile does.
#[derive(Clone, Debug, Default)]
struct Work {
    sends: Vec<Send>,
    receives: Vec<Receive>,
}

/// One message leaving.
#[derive(Clone, Copy, Debug)]
struct Send {
    start: Time,
    words: Time,
    /// Word address.
    from: u32,
    /// Directions driven.
    ctl: u32,
}

/// One message arriving.
#[derive(Clone, Copy, Debug)]
struct Receive {
    /// Multiplexer stamp.
    stamp: Time,
    words: Time,
    source: PhysTile,
    /// Word address.
    to: u32,
}

/// The controls of one event.
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    stamp: Time,
    mux: Option<u32>,
    pointer: Option<u32>,
}

/// The phase that `messages` at `starts` make of `transfers` transfers.
pub(super) fn phase(
    transfers: usize,
    messages: &[Message],
    starts: &[Time],
) -> Result<Phase, ScheduleError> {
    let mut works = vec![Work::default(); usize::from(TILE_COUNT)];
    let mut begins = vec![Event(0); transfers];
    for (message, &start) in messages.iter().zip(starts) {
        for &(transfer, words) in &message.begins {
            begins[transfer] = Event(start as u32 + words);
        }
        share(message, start, &mut works);
    }
    let mut rows = Vec::new();
    for tile in TileId::all() {
        let work = &mut works[usize::from(tile.index())];
        if !work.sends.is_empty() || !work.receives.is_empty() {
            rows.push(row(tile, work)?);
        }
    }
    let horizon = rows.iter().map(|row| row.events).max().unwrap_or_default();
    Ok(Phase {
        starts: begins,
        rows,
        horizon,
    })
}

/// Gives every end of `message` its part.
fn share(message: &Message, start: Time, works: &mut [Work]) {
    let source = message.source.physical();
    let words = Time::from(message.words);
    let ctl = match message.receivers[..] {
        [(receiver, _)] => direction(source, receiver.physical()) as u32,
        _ => BOTH_DIRECTIONS,
    };
    let send = Send {
        start,
        words,
        from: message.from / 4,
        ctl,
    };
    works[usize::from(message.source.index())].sends.push(send);
    for &(receiver, at) in &message.receivers {
        let stamp = start + Time::from(time_to_mux(source, receiver.physical())) + 1;
        let receive = Receive {
            stamp,
            words,
            source,
            to: at / 4,
        };
        works[usize::from(receiver.index())].receives.push(receive);
    }
}

/// The row of one tile.
fn row(tile: TileId, work: &mut Work) -> Result<Row, ScheduleError> {
    let lead = Timeline::new(tile).lead();
    work.sends.sort_unstable_by_key(|send| send.start);
    work.receives.sort_unstable_by_key(|receive| receive.stamp);
    let controls = controls(lead, &work.receives);
    let sent = work
        .sends
        .last()
        .map_or(0, |send| (send.start + send.words).max(SENDING_ROW_MIN));
    let guard = Time::from(TAIL_GUARD);
    let received = work
        .receives
        .last()
        .map_or(0, |last| last.stamp + last.words + lead + guard);
    let end = sent.max(received);

    let mut writer = Writer {
        tile,
        steps: Vec::new(),
        words: 0,
        now: 0,
    };
    let mut rest = &controls[..];
    for send in &work.sends {
        let (before, behind) = rest.split_at(rest.partition_point(|it| it.stamp <= send.start));
        writer.gap(before, send.start)?;
        let over = send.start + send.words;
        let (inside, behind) = behind.split_at(behind.partition_point(|it| it.stamp <= over));
        writer.send(send, inside)?;
        rest = behind;
    }
    writer.gap(rest, end)?;
    Ok(Row {
        tile,
        words: writer.encode(),
        events: Events(end as u32),
    })
}

/// The controls that `receives`, in order, need: nothing is written that already holds.
fn controls(lead: Time, receives: &[Receive]) -> Vec<Control> {
    let mut controls: Vec<Control> = Vec::new();
    let mut last: Option<&Receive> = None;
    for (index, receive) in receives.iter().enumerate() {
        let (stamp, end) = (receive.stamp, receive.stamp + receive.words);
        let abuts = |last: &Receive| last.stamp + last.words == stamp;
        if !last.is_some_and(|last| abuts(last) && last.source == receive.source) {
            let mux = Some(u32::from(receive.source.index()));
            controls.push(Control {
                stamp,
                mux,
                pointer: None,
            });
        }
        if last.is_none_or(|last| last.to + last.words as u32 != receive.to) {
            let pointer = Some(receive.to);
            controls.push(Control {
                stamp: stamp + lead,
                mux: None,
                pointer,
            });
        }
        if receives.get(index + 1).is_none_or(|next| next.stamp != end) {
            controls.push(Control {
                stamp: end,
                mux: Some(MUX_NEUTRAL),
                pointer: None,
            });
        }
        last = Some(receive);
    }
    controls.sort_by_key(|control| control.stamp);
    controls.dedup_by(|next, kept| {
        let same = next.stamp == kept.stamp;
        if same {
            kept.mux = kept.mux.or(next.mux);
            kept.pointer = kept.pointer.or(next.pointer);
        }
        same
    });
    controls
}

/// One timed instruction: how many events it takes, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    events: Time,
    what: What,
}

/// What a timed instruction does besides taking time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Delay,
    DelayMux(u32),
    DelayPointer(u32),
    Send {
        from: u32,
        ctl: u32,
    },
    More {
        ctl: u32,
    },
    SendMux {
        value: u32,
        ctl: u32,
    },
    SendPointer {
        value: u32,
        ctl: u32,
    },
    /// Two controls; sends from `from` unless `ctl` is 0.
    Both {
        mux: u32,
        pointer: u32,
        from: u32,
        ctl: u32,
    },
}

/// Selectors of `sendpic`: the exchange register counted from the multiplexer. [exchange §4.1 V]
const SELECT_MUX: u32 = 0;
const SELECT_POINTER: u32 = 2;

impl Step {
    fn words(self) -> usize {
        if matches!(self.what, What::Both { .. }) {
            2
        } else {
            1
        }
    }

    /// The same in two instructions, one word longer; `None` if one event is all there is.
    fn split(self) -> Option<[Self; 2]> {
        let long = self.events - 1;
        let step = |events, what| Self { events, what };
        let two = match self.what {
            What::Delay | What::DelayMux(_) | What::DelayPointer(_) => {
                [step(long, What::Delay), step(1, self.what)]
            }
            What::Both { ctl: 0, .. } => [step(long, self.what), step(1, What::Delay)],
            What::Send { ctl, .. }
            | What::More { ctl }
            | What::SendMux { ctl, .. }
            | What::SendPointer { ctl, .. }
            | What::Both { ctl, .. } => [step(long, self.what), step(1, What::More { ctl })],
        };
        (long > 0).then_some(two)
    }

    fn encode(self) -> [Option<u32>; 2] {
        let count = self.events as u32 - 1;
        let one = |op, values: &[u32]| encode(&Instruction::new(op, values));
        let first = match self.what {
            What::Delay => one(Op::DelayZ19, &[count]),
            What::DelayMux(value) => one(Op::DelayxpicZ12Z1Z13, &[count, 0, value]),
            What::DelayPointer(value) => one(Op::DelaypicZ7Z1Z18, &[count, 0, value]),
            What::Send { from, ctl } => one(Op::SendZ6Z18Z3, &[count, from, ctl]),
            What::More { ctl } => one(Op::SendoffZ12Z11Z3, &[count, 0, ctl]),
            What::SendMux { value, .. } => one(Op::SendpicZ6Z2Z18, &[count, SELECT_MUX, value]),
            What::SendPointer { value, .. } => {
                one(Op::SendpicZ6Z2Z18, &[count, SELECT_POINTER, value])
            }
            What::Both {
                mux,
                pointer,
                from,
                ctl,
            } => {
                let word = one(Op::SendpicpZ6Z18Z3Z1, &[count, from, ctl, 0]);
                return [Some(word), Some(mux << 18 | pointer)];
            }
        };
        [Some(first), None]
    }
}

/// Writes one row, walking time upward.
struct Writer {
    tile: TileId,
    steps: Vec<Step>,
    words: usize,
    now: Time,
}

impl Writer {
    fn push(&mut self, events: Time, what: What) {
        let step = Step { events, what };
        self.words += step.words();
        self.now += events;
        self.steps.push(step);
    }

    /// Does nothing until `time`.
    fn wait(&mut self, time: Time) {
        while self.now < time {
            self.push((time - self.now).min(Time::from(DELAY_MAX)), What::Delay);
        }
    }

    /// Controls while nothing is sent, then nothing until `until`.
    fn gap(&mut self, controls: &[Control], until: Time) -> Result<(), ScheduleError> {
        for (index, control) in controls.iter().enumerate() {
            match (control.mux, control.pointer) {
                (Some(mux), Some(pointer)) => {
                    self.wait(control.stamp - 1);
                    self.make_even()?;
                    // The instruction may wait for what comes next, which saves a word.
                    let rest = until - self.now;
                    let last = index + 1 == controls.len() && rest <= Time::from(SEND_MAX);
                    let events = if last { rest } else { 1 };
                    self.push(
                        events,
                        What::Both {
                            mux,
                            pointer,
                            from: 0,
                            ctl: 0,
                        },
                    );
                }
                (Some(mux), None) => {
                    self.wait(control.stamp - Time::from(DELAYXPIC_MAX));
                    self.push(control.stamp - self.now, What::DelayMux(mux));
                }
                (None, Some(pointer)) => {
                    self.wait(control.stamp - Time::from(DELAYPIC_MAX));
                    self.push(control.stamp - self.now, What::DelayPointer(pointer));
                }
                (None, None) => {}
            }
        }
        self.wait(until);
        Ok(())
    }

    /// A message, and the controls that fall inside it.
    fn send(&mut self, send: &Send, controls: &[Control]) -> Result<(), ScheduleError> {
        let Send { start, ctl, .. } = *send;
        let end = start + send.words;
        let next = |index: usize| controls.get(index).map_or(end, |next| next.stamp - 1);
        self.part(
            next(0),
            What::Send {
                from: send.from,
                ctl,
            },
            ctl,
        );
        for (index, control) in controls.iter().enumerate() {
            let from = send.from + (control.stamp - 1 - start) as u32;
            let what = match (control.mux, control.pointer) {
                (Some(mux), Some(pointer)) => {
                    self.make_even()?;
                    What::Both {
                        mux,
                        pointer,
                        from,
                        ctl,
                    }
                }
                (Some(value), None) => What::SendMux { value, ctl },
                (None, Some(value)) => What::SendPointer { value, ctl },
                (None, None) => What::More { ctl },
            };
            self.part(next(index + 1), what, ctl);
        }
        Ok(())
    }

    /// Sends until `until`: `what` first, and the rest without controls.
    fn part(&mut self, until: Time, what: What, ctl: u32) {
        self.push((until - self.now).min(Time::from(SEND_MAX)), what);
        while self.now < until {
            self.push(
                (until - self.now).min(Time::from(SENDOFF_MAX)),
                What::More { ctl },
            );
        }
    }

    /// Makes the number of words so far even: the last instruction that can be split is, if none
    /// before it must stand at an even word itself. [exchange §12]
    fn make_even(&mut self) -> Result<(), ScheduleError> {
        if self.words.is_multiple_of(2) {
            return Ok(());
        }
        for index in (0..self.steps.len()).rev() {
            let step = self.steps[index];
            if let Some(two) = step.split() {
                self.steps.splice(index..=index, two);
                self.words += 1;
                return Ok(());
            }
            if step.words() == 2 {
                break;
            }
        }
        Err(ScheduleError::Parity {
            tile: self.tile,
            instructions: self.steps.len(),
        })
    }

    /// The machine words, the return included.
    fn encode(&self) -> Vec<u32> {
        let mut words: Vec<u32> = self
            .steps
            .iter()
            .flat_map(|step| step.encode().into_iter().flatten())
            .collect();
        words.push(encode(&Instruction::new(Op::BrM, &[RETURN_REGISTER])));
        words
    }
}
