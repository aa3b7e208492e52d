//! The supervisor: registers, waits, and one issue.

use crate::cycles;
use crate::settings::{Settings, garbage};
use crate::stop::{Fault, Stop};

use super::{State, Tile};

/// The function of a form that only the supervisor executes, or that it executes differently:
/// operand values in assembly order, the tile, and the address of the instruction.
pub(crate) type SupervisorFn = fn(&[u32; 5], &mut Tile, u32) -> Result<Done, Fault>;

/// What such a function did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Cycles until the next instruction may issue.
    pub cost: u64,
    /// A main register and its value.
    pub write: Option<(u32, u32)>,
    /// What the supervisor waits for.
    pub wait: Option<Wait>,
}

impl Done {
    /// Something that takes `cost` cycles.
    pub const fn new(cost: u64) -> Self {
        Self {
            cost,
            write: None,
            wait: None,
        }
    }
}

/// What a supervisor waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Words from the host.
    Receive,
    /// Announced barriers.
    NonParticipation,
    /// This tile's workers.
    Local,
    /// A barrier.
    Barrier {
        /// Its zone.
        zone: u32,
    },
}

/// The supervisor.
#[derive(Clone, Debug)]
pub(crate) struct Supervisor {
    /// Main registers; `m12` and up stay 0.
    pub m: [u32; 16],
    pub pc: u32,
    pub state: State,
    pub wait: Option<Wait>,
    /// The first cycle at which the previous instruction lets the next one issue.
    pub next: u64,
    /// The first cycle at which each main register may be read.
    ready: [u64; 16],
    pub stop: Option<Box<Stop>>,
}

impl Supervisor {
    /// The supervisor before its launch; `stream` names its tile.
    pub fn new(stream: u64, settings: &Settings) -> Self {
        let mut m = [0; 16];
        for (i, register) in m.iter_mut().take(12).enumerate() {
            *register = garbage(settings.fill_seed, stream, 0x2_0000 + i as u64) as u32;
        }
        Self {
            m,
            pc: 0,
            state: State::Inactive,
            wait: None,
            next: 0,
            ready: [0; 16],
            stop: None,
        }
    }

    /// Whether it issues when it gets a slot.
    #[inline]
    pub fn may_issue(&self) -> bool {
        self.state == State::Active && self.wait.is_none()
    }

    /// Sets a main register whose value is ready [`cycles::RESULT`] cycles after `cycle`.
    pub fn write(&mut self, number: usize, value: u32, cycle: u64) {
        if number < 12 {
            self.m[number] = value;
            self.ready[number] = cycle + cycles::RESULT;
        }
    }

    /// The first cycle at which an instruction that reads `sources` may issue.
    pub fn due(&self, sources: u16) -> u64 {
        let mut due = self.next;
        let mut left = sources;
        while left != 0 {
            due = due.max(self.ready[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
        due
    }
}
