//! One tile: contexts, registers, issue.

use tilekiln_chip::PhysTile;

use crate::memory::Memory;
pub use crate::row::{Control, HostSend, RowLog, Sent};
use crate::settings::Settings;
use crate::stop::Stop;

/// Why a tile stopped running for now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Yield {
    /// The supervisor asked for a barrier of this zone, 3 or above, at [`Tile::cycle`].
    Sync {
        /// The zone, 8 included for a master.
        zone: u32,
    },
    /// `sync 1` while automatic syncs are outstanding.
    NonParticipation,
    /// `sync 0` while words from the host are outstanding.
    Receive,
    /// A row has ended: the next instruction is not timed.
    RowEnd,
    /// Nothing runs any more; [`Tile::stop`] says why, if there is a reason.
    Stopped,
    /// The cycle limit was reached.
    Quota,
}

/// One tile.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Its number.
    pub id: PhysTile,
    /// Its memory.
    pub memory: Memory,
}

impl Tile {
    /// A tile whose contexts are all inactive.
    pub fn new(id: PhysTile, settings: &Settings) -> Self {
        Self {
            id,
            memory: Memory::new(id, settings),
        }
    }

    /// Starts the supervisor at `pc`.
    pub fn launch_supervisor(&mut self, _pc: u32) {}

    /// Starts one worker; for tools that run a single tile.
    pub fn launch_worker(&mut self, _worker: usize, _pc: u32, _vertex_base: u32) {}

    /// Runs until something outside the tile is needed, or the clock reaches `until_cycle`.
    pub fn run(&mut self, _until_cycle: u64) -> Yield {
        Yield::Stopped
    }

    /// The tile clock.
    pub fn cycle(&self) -> u64 {
        0
    }

    /// Lets no context issue before `cycle`.
    pub fn advance_to(&mut self, _cycle: u64) {}

    /// Ends the wait the tile yielded for, at `cycle`, and reloads `$INCOMING_DELTA`.
    pub fn release(&mut self, _cycle: u64) {}

    /// A supervisor register.
    pub fn csr(&self, _number: u16) -> u32 {
        0
    }

    /// Sets a supervisor register, without the effects of a `put`.
    pub fn set_csr(&mut self, _number: u16, _value: u32) {}

    /// The log of the row that ended.
    pub fn take_row(&mut self) -> RowLog {
        RowLog::default()
    }

    /// What was sent to the host since the last call.
    pub fn take_host_words(&mut self) -> Vec<HostSend> {
        Vec::new()
    }

    /// Why the first context to stop did so.
    pub fn stop(&self) -> Option<&Stop> {
        None
    }

    /// `$CTXT_STS`.
    pub fn context_status(&self) -> u32 {
        0
    }

    /// Instructions and execution bundles issued so far.
    pub fn instructions(&self) -> u64 {
        0
    }
}
