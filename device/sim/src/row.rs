//! What a tile's timed instructions did: the log of a row, and the words sent to the host.

use core::ops::Range;

/// One row of an exchange phase, as its tile executed it. Events count from the first timed
/// instruction after the phase's entry sync. [exchange §3.1]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowLog {
    /// Cycle at which the entry sync was released.
    pub release: u64,
    /// Cycle of event 0.
    pub start: u64,
    /// What left the tile, by event.
    pub sends: Vec<Sent>,
    /// What was written to the incoming registers, by stamp.
    pub controls: Vec<Control>,
    /// Events up to the end of the last timed instruction.
    pub end: u32,
    /// The bytes of the row, the return included.
    pub code: Range<u32>,
    /// `$INCOMING_BASE` during the row.
    pub incoming_base: u32,
}

/// One instruction's items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Event of the first item.
    pub event: u32,
    /// Items, one an event.
    pub items: u32,
    /// Byte address of the first item, `$OUTGOING_BASE` included.
    pub address: u32,
    /// Bit 0 east, bit 1 west, bit 2 64-bit items.
    pub control: u8,
    /// The instruction.
    pub pc: u32,
}

/// One write to an incoming register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// Event at which it takes effect.
    pub stamp: u32,
    /// `$INCOMING_MUX`, `$INCOMING_MUXPAIR`, `$INCOMING_DELTA` or `$INCOMING_FORMAT`.
    pub register: u16,
    /// What the register then holds; `$INCOMING_DELTA` in bytes.
    pub value: u32,
    /// The instruction.
    pub pc: u32,
}

/// Words sent while a host port was selected, as memory held them at that moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostSend {
    /// Cycle of the first word.
    pub cycle: u64,
    /// The words.
    pub words: Vec<u32>,
    /// The port: `$INCOMING_MUX`, 0x600 to 0x63f.
    pub mux: u32,
    /// The instruction.
    pub pc: u32,
}

/// Where a tile stands between two barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    phase: Phase,
    log: RowLog,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    /// No internal barrier came last, or its row has ended.
    #[default]
    None,
    /// An internal barrier came last; the next timed instruction is event 0.
    Due,
    /// Timed instructions run.
    Running,
}

impl Row {
    /// After an internal barrier: a row may begin.
    pub fn expect(&mut self, release: u64) {
        self.phase = Phase::Due;
        self.log = RowLog {
            release,
            ..RowLog::default()
        };
    }

    /// After an external barrier: none may.
    pub fn forget(&mut self) {
        self.phase = Phase::None;
    }

    /// Whether timed instructions belong to a phase.
    pub fn is_due(&self) -> bool {
        self.phase != Phase::None
    }

    /// Whether timed instructions have run.
    pub fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// Ends the row before the instruction at `pc`, which is taken for its return.
    pub fn end(&mut self, pc: u32) {
        self.phase = Phase::None;
        self.log.code.end = pc + 4;
    }

    /// Hands over the log.
    pub fn take(&mut self) -> RowLog {
        core::mem::take(&mut self.log)
    }

    /// The log of a running row.
    pub fn log(&mut self) -> Option<&mut RowLog> {
        self.is_running().then_some(&mut self.log)
    }

    /// The event at `cycle` of a running row.
    pub fn event_of(&self, cycle: u64) -> Option<u32> {
        self.is_running().then(|| (cycle - self.log.start) as u32)
    }

    /// Takes a timed instruction of `events` events at `cycle`; the first one starts the row.
    pub fn advance(&mut self, pc: u32, cycle: u64, events: u32, incoming_base: u32) -> Option<u32> {
        if self.phase == Phase::Due {
            self.phase = Phase::Running;
            self.log.start = cycle;
            self.log.code = pc..pc + 4;
            self.log.incoming_base = incoming_base;
        }
        let event = self.event_of(cycle)?;
        self.log.end = event + events;
        Some(event)
    }
}
