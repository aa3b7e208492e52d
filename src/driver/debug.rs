//! The tile debug interface: states, memory through injected instructions, triage of a hang.
//! [host-driver §16]
//!
//! Stopping or injecting disturbs a tile. This is for the end of a program and for post-mortems,
//! never for data.

use std::fmt;
use std::time::Duration;

use tilekiln_chip::csr::number;
use tilekiln_chip::registers::{self, Tdi, inject, outcome, state};
use tilekiln_chip::{ByteAddr, PhysTile, TILE_COUNT, WORKERS};

use super::{DriverError, PAUSE, Zone, read_mark};
use crate::card::{Device, RegOffset};

/// `$WSR`, or `$SSR` of the supervisor, which has the same number: the cause of an exception is in
/// bits 7:4. [host-driver §16 HW]
const STATUS: u16 = number::WSR;

/// `put $DBG_DATA, $m0`: a register of the tile becomes visible here.
const PUT_M0: u32 = inject::put(number::DBG_DATA, 0);
/// `put $DBG_DATA, $m1`
const PUT_M1: u32 = inject::put(number::DBG_DATA, 1);
/// `get $m0, $DBG_DATA`: a register of the tile takes what was written here.
const GET_M0: u32 = inject::get(0, number::DBG_DATA);
/// `get $m1, $DBG_DATA`
const GET_M1: u32 = inject::get(1, number::DBG_DATA);

/// Why a tile could not be looked into.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DebugError {
    /// The context runs or waits, so nothing can be injected.
    #[error("{tile}: context {context} is not quiescent; its state is {state}")]
    NotQuiescent {
        /// The tile.
        tile: PhysTile,
        /// The context.
        context: u32,
        /// Its state.
        state: u32,
    },
    /// An injected instruction was refused.
    #[error("{tile}: injecting {instruction:#010x} left status {status:#x}")]
    Refused {
        /// The tile.
        tile: PhysTile,
        /// What was injected.
        instruction: u32,
        /// The status register.
        status: u32,
    },
    /// An injected instruction did not end.
    #[error("{tile}: {instruction:#010x} is still busy after {waited:?}")]
    Busy {
        /// The tile.
        tile: PhysTile,
        /// What was injected.
        instruction: u32,
        /// How long it was waited for.
        waited: Duration,
    },
}

/// The states of a tile's contexts, and what its exchange says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextStatus(pub u32);

impl ContextStatus {
    /// The state of a context: 0 the supervisor, 1 to 6 the workers.
    pub const fn context(self, context: u32) -> u32 {
        self.0 >> (2 * context) & 3
    }

    /// The state of the supervisor.
    pub const fn supervisor(self) -> u32 {
        self.context(0)
    }

    /// Why a receive failed; 0 if none did.
    pub const fn receive_error(self) -> u32 {
        self.0 >> 27 & 7
    }

    /// Contexts that stopped with an exception.
    pub fn excepted(self) -> impl Iterator<Item = u32> {
        (0..=WORKERS as u32).filter(move |&context| self.context(context) >= state::EXCEPTED_DEBUG)
    }
}

/// The name of an exception's cause. [host-driver §16 HW]
pub const fn cause_name(cause: u32) -> &'static str {
    match cause {
        0 => "none",
        1 => "RBRK",
        2 => "PBRK0",
        3 => "PBRK1",
        4 => "BOS",
        5 => "FP",
        6 => "CONFLICT",
        7 => "EXCONF",
        8 => "INVALID_ADDR",
        9 => "INVALID_OP",
        10 => "INVALID_PC",
        11 => "DBRK",
        12 => "INVALID_INSTR",
        13 => "EXERR",
        14 => "MEMERR",
        15 => "IBRK",
        _ => "unknown",
    }
}

/// Reads the states of a tile's contexts.
///
/// # Errors
///
/// [`DriverError::Gone`] when the card answers all ones.
pub fn context_status(
    device: &mut dyn Device,
    tile: PhysTile,
) -> Result<ContextStatus, DriverError> {
    match device.read32(register(tile, Tdi::ContextStatus)) {
        u32::MAX => Err(DriverError::Gone),
        word => Ok(ContextStatus(word)),
    }
}

fn register(tile: PhysTile, register: Tdi) -> RegOffset {
    RegOffset::new(registers::tdi(tile, register))
}

/// Looks into one tile.
pub struct Debugger<'a> {
    device: &'a mut dyn Device,
    tile: PhysTile,
    limit: Duration,
}

impl<'a> Debugger<'a> {
    /// Opens the interface of `tile`; one operation may take `limit`.
    pub fn new(device: &'a mut dyn Device, tile: PhysTile, limit: Duration) -> Self {
        Self {
            device,
            tile,
            limit,
        }
    }

    /// Reads a word of tile memory through the first idle worker.
    ///
    /// # Errors
    ///
    /// [`DebugError`] when no worker is idle or the tile does not answer.
    pub fn read_word(&mut self, at: ByteAddr) -> Result<u32, DebugError> {
        let context = self.idle_worker()?;
        self.inject(context, PUT_M0)?;
        let m0 = self.data();
        self.inject(context, PUT_M1)?;
        let m1 = self.data();
        self.set_data(at.0);
        self.inject(context, GET_M1)?;
        self.inject(context, inject::LOAD)?;
        self.inject(context, PUT_M0)?;
        let word = self.data();
        self.set_data(m1);
        self.inject(context, GET_M1)?;
        self.set_data(m0);
        self.inject(context, GET_M0)?;
        Ok(word)
    }

    /// Reads a register of a context that has stopped.
    ///
    /// # Errors
    ///
    /// [`DebugError`] when it has not, or the tile does not answer.
    pub fn read_csr(&mut self, context: u32, csr: u16) -> Result<u32, DebugError> {
        self.inject(context, PUT_M0)?;
        let m0 = self.data();
        self.inject(context, inject::get(0, csr))?;
        self.inject(context, PUT_M0)?;
        let value = self.data();
        self.set_data(m0);
        self.inject(context, GET_M0)?;
        Ok(value)
    }

    fn idle_worker(&mut self) -> Result<u32, DebugError> {
        let status = ContextStatus(self.device.read32(register(self.tile, Tdi::ContextStatus)));
        let idle = |&context: &u32| status.context(context) != state::ACTIVE;
        (1..=WORKERS as u32)
            .find(idle)
            .ok_or(DebugError::NotQuiescent {
                tile: self.tile,
                context: 1,
                state: status.context(1),
            })
    }

    fn inject(&mut self, context: u32, instruction: u32) -> Result<(), DebugError> {
        let tile = self.tile;
        self.device
            .write32(register(tile, Tdi::StatusClear), outcome::ALL);
        self.device.write32(register(tile, Tdi::Owner), context);
        self.device
            .write32(register(tile, Tdi::Execute), instruction);
        let start = self.device.now();
        loop {
            let status = self.device.read32(register(tile, Tdi::Status));
            let waited = self.device.now().saturating_sub(start);
            if status & outcome::BUSY == 0 {
                return match status & outcome::ALL {
                    0 => Ok(()),
                    _ => Err(DebugError::Refused {
                        tile,
                        instruction,
                        status,
                    }),
                };
            }
            if waited >= self.limit {
                return Err(DebugError::Busy {
                    tile,
                    instruction,
                    waited,
                });
            }
            self.device.pause(PAUSE);
        }
    }

    fn data(&mut self) -> u32 {
        self.device.read32(register(self.tile, Tdi::Data))
    }

    fn set_data(&mut self, word: u32) {
        self.device.write32(register(self.tile, Tdi::Data), word);
    }
}

/// What is the matter with a card that does not come back. [host-driver §16]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triage {
    /// Tiles by the state of their supervisor: waiting or none, active, debug, excepted.
    pub supervisors: [u32; 4],
    /// The first few contexts that stopped.
    pub stopped: Vec<Stopped>,
    /// The first few tiles that wait for words of the host, and how many.
    pub waiting: Vec<(PhysTile, u32)>,
    /// Both marks.
    pub marks: [u16; 2],
}

/// A context that stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The tile.
    pub tile: PhysTile,
    /// The context.
    pub context: u32,
    /// Its cause and its program counter, if the tile told.
    pub at: Option<(u32, ByteAddr)>,
}

/// Contexts and tiles a triage looks at closely.
const TRIAGE_CLOSE: usize = 4;

/// Looks at every tile and at the first few troubled ones closely.
///
/// # Errors
///
/// [`DriverError::Gone`] when the card answers all ones.
pub fn triage(device: &mut dyn Device, limit: Duration) -> Result<Triage, DriverError> {
    let mut triage = Triage {
        marks: [read_mark(device, Zone::Gs1)?, read_mark(device, Zone::Gs2)?],
        ..Triage::default()
    };
    for tile in PhysTile::all() {
        let status = context_status(device, tile)?;
        triage.supervisors[status.supervisor() as usize] += 1;
        for context in status.excepted() {
            if triage.stopped.len() < TRIAGE_CLOSE {
                let at = where_stopped(device, tile, context, limit).ok();
                triage.stopped.push(Stopped { tile, context, at });
            }
        }
        if triage.waiting.len() < TRIAGE_CLOSE {
            let words = device.read32(register(tile, Tdi::IncomingCount));
            if words != 0 && status.supervisor() == state::INACTIVE {
                triage.waiting.push((tile, words));
            }
        }
    }
    Ok(triage)
}

fn where_stopped(
    device: &mut dyn Device,
    tile: PhysTile,
    context: u32,
    limit: Duration,
) -> Result<(u32, ByteAddr), DebugError> {
    let mut debugger = Debugger::new(device, tile, limit);
    let cause = debugger.read_csr(context, STATUS)? >> 4 & 15;
    Ok((cause, ByteAddr(debugger.read_csr(context, number::PC)?)))
}

impl fmt::Display for Triage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [waiting, active, debug, excepted] = self.supervisors;
        write!(
            f,
            "of {TILE_COUNT} supervisors {waiting} wait, {active} run, {} have stopped",
            debug + excepted
        )?;
        write!(f, "; marks GS1 {}, GS2 {}", self.marks[0], self.marks[1])?;
        for Stopped { tile, context, at } in &self.stopped {
            write!(f, "\n{tile}, context {context}: stopped")?;
            match at {
                // A simulator stops where the documents end; no exception of the chip's is that.
                Some((0, pc)) => write!(f, " at {pc}")?,
                Some((cause, pc)) => write!(f, " by {} at {pc}", cause_name(*cause))?,
                None => {}
            }
        }
        for (tile, words) in &self.waiting {
            write!(f, "\n{tile} waits for {words} words")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::fake::{Behaviour, FakeCard};

    #[test]
    fn states_are_two_bits_a_context() {
        let status = ContextStatus(0x0000_0010 | 3 | 4 << 27);
        assert_eq!(status.supervisor(), state::EXCEPTED);
        assert_eq!(status.context(2), state::ACTIVE);
        assert_eq!(status.receive_error(), 4);
        assert_eq!(status.excepted().collect::<Vec<_>>(), [0]);
    }

    /// The list of the specification's golden data, with 7 written to the status clear. [§16]
    #[test]
    fn a_word_is_read_with_the_operations_known_to_work() {
        let mut card = FakeCard::new(Behaviour::default(), 1, 1);
        card.record();
        let tile = PhysTile::new(81).unwrap();
        Debugger::new(&mut card, tile, Duration::from_millis(100))
            .read_word(ByteAddr(0x6_0000))
            .unwrap();
        let injected: Vec<_> = card
            .recorded()
            .iter()
            .filter(|(at, _)| *at == 0x3_144c)
            .map(|&(_, word)| word)
            .collect();
        assert_eq!(
            injected,
            [
                0x4300_8070,
                0x4310_8070,
                0x4101_0070,
                0x01f0_1000,
                0x4300_8070,
                0x4101_0070,
                0x4100_0070
            ]
        );
        assert_eq!(
            card.recorded()[..3],
            [(0x3_1464, 7), (0x3_1450, 1), (0x3_144c, 0x4300_8070)]
        );
        assert!(card.recorded().contains(&(0x3_145c, 0x6_0000)));
    }

    #[test]
    fn a_triage_counts_states_and_names_marks() {
        let mut card = FakeCard::new(Behaviour::default(), 1, 1);
        let triage = triage(&mut card, Duration::from_millis(100)).unwrap();
        assert_eq!(
            triage.to_string(),
            "of 1472 supervisors 1472 wait, 0 run, 0 have stopped; marks GS1 0, GS2 0"
        );
    }
}
