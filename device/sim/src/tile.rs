//! One tile: contexts, registers, issue.
//!
//! [`Tile::run`] runs all seven contexts by the issue rules until something outside the tile is
//! needed, and says what. It is a pure function of the tile: the same state gives the same run.

mod csr;
mod run;
pub(crate) mod supervisor;
pub(crate) mod worker;

use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::{MUX_HOST, MUX_NEUTRAL};
use tilekiln_chip::{PhysTile, WORKERS};

use crate::code::Code;
use crate::float::{FpState, Weights};
use crate::memory::Memory;
use crate::row::Row;
pub use crate::row::{Control, HostSend, RowLog, Sent};
use crate::settings::{Settings, garbage};
use crate::stop::{Context, Stop};
use supervisor::{Supervisor, Wait};
use worker::Worker;

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
    /// The supervisor has stopped, or waits for a worker that has, or nothing was running;
    /// [`Tile::stop`] says why. Workers that still run stand still, too.
    Stopped,
    /// The cycle limit was reached.
    Quota,
}

/// What a context does, as `$CTXT_STS` counts it. [isa-core §1.3 code]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No thread.
    Inactive,
    /// Executing.
    Active,
    /// Stopped by a debug exception.
    ExceptedDebug,
    /// Stopped by another exception, or by the edge of what is simulated.
    Excepted,
}

/// Whether `mux` selects a host port. [exchange §5 V]
pub(crate) const fn is_host(mux: u32) -> bool {
    mux >= MUX_HOST && mux < MUX_NEUTRAL
}

/// Supervisor registers with storage.
const CSRS: usize = 256;

/// The first places of the garbage that fills weights; see [`garbage`].
const WEIGHT_PLACES: u64 = 0x3_0000;

fn unwritten_weights(stream: u64, settings: &Settings) -> Weights {
    let mut weights = Weights::default();
    for index in 0..64 {
        weights.set(
            index,
            garbage(settings.fill_seed, stream, WEIGHT_PLACES + index as u64),
        );
    }
    weights
}

/// One tile.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Its number.
    pub id: PhysTile,
    /// Its memory.
    pub memory: Memory,
    pub(crate) settings: Settings,
    code: Code,
    pub(crate) supervisor: Supervisor,
    pub(crate) workers: [Worker; WORKERS],
    /// The active workers, a bit each.
    pub(crate) active: u8,
    pub(crate) weights: Weights,
    csrs: Box<[u32; CSRS]>,
    /// `$SSR.LC` and `$SSR.GC`.
    local_consensus: bool,
    global_consensus: bool,
    refused_launch: bool,
    /// The cycle that is simulated next, or at which the supervisor's last yield happened.
    pub(crate) now: u64,
    last_exit: u64,
    issued: u64,
    pub(crate) armed_at: u64,
    pub(crate) row: Row,
    /// `sctl` of the stream in force.
    pub(crate) stream: Option<u32>,
    pub(crate) host_words: Vec<HostSend>,
    tracing: bool,
}

impl Tile {
    /// A tile whose contexts are all inactive.
    pub fn new(id: PhysTile, settings: &Settings) -> Self {
        let stream = u64::from(id.index());
        let mut csrs = Box::new([0; CSRS]);
        csrs[usize::from(number::TILE_ID)] = stream as u32;
        csrs[usize::from(number::INCOMING_MUX)] = MUX_NEUTRAL;
        Self {
            id,
            memory: Memory::new(id, settings),
            settings: settings.clone(),
            code: Code::default(),
            supervisor: Supervisor::new(stream, settings),
            workers: core::array::from_fn(|number| Worker::new(number, stream, settings)),
            active: 0,
            weights: unwritten_weights(stream, settings),
            csrs,
            local_consensus: true,
            global_consensus: false,
            refused_launch: false,
            now: 0,
            last_exit: 0,
            issued: 0,
            armed_at: 0,
            row: Row::default(),
            stream: None,
            host_words: Vec::new(),
            tracing: false,
        }
    }

    /// Starts the supervisor at `pc`.
    pub fn launch_supervisor(&mut self, pc: u32) {
        self.supervisor.pc = pc;
        self.supervisor.state = State::Active;
        self.supervisor.wait = None;
        self.supervisor.stop = None;
        self.supervisor.next = self.now;
    }

    /// Starts one worker, as `run` does but with an absolute base; for tools that run one tile.
    pub fn launch_worker(&mut self, worker: usize, pc: u32, vertex_base: u32) {
        self.start(worker, pc, vertex_base);
    }

    /// Starts `worker`. [isa-core §1.4]
    pub(crate) fn start(&mut self, worker: usize, pc: u32, vertex_base: u32) {
        let base = self.csr(number::WORKER0_BASE + worker as u16);
        let (ictl, infmt, iscl) = (
            self.csr(number::FP_ICTL),
            self.csr(number::FP_INFMT),
            self.csr(number::FP_ISCL),
        );
        self.workers[worker].launch(pc, vertex_base, base);
        self.workers[worker].fp.launch(ictl, infmt, iscl);
        self.active |= 1 << worker;
    }

    /// The tile clock; after a yield, the cycle of the instruction that asked for it.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// Lets the supervisor issue nothing before `cycle`, and moves the clock there if no worker
    /// runs meanwhile.
    pub fn advance_to(&mut self, cycle: u64) {
        self.supervisor.next = self.supervisor.next.max(cycle);
        if self.active == 0 {
            self.now = self.now.max(cycle);
        }
    }

    /// Ends the wait the tile yielded for, at `cycle`, and reloads `$INCOMING_DELTA`.
    ///
    /// After a barrier of zone 3 the next timed instruction is event 0 of a row. A supervisor that
    /// waits for its own workers, or for nothing, is left alone.
    pub fn release(&mut self, cycle: u64) {
        match self.supervisor.wait {
            None | Some(Wait::Local) => return,
            Some(Wait::Barrier { zone }) => {
                if zone == tilekiln_chip::exchange::zone::INTERNAL {
                    self.row.expect(cycle);
                } else {
                    self.row.forget();
                }
                self.stream = None;
                self.global_consensus = self.local_consensus;
                self.local_consensus = true;
            }
            Some(Wait::NonParticipation) => self.row.forget(),
            Some(Wait::Receive) => {}
        }
        self.supervisor.wait = None;
        self.advance_to(cycle);
        self.reload_pointer();
    }

    /// Whether this tile consents at the barrier it waits for: `$SSR.LC`. [isa-core §8.1 inf]
    pub fn local_consensus(&self) -> bool {
        self.local_consensus
    }

    /// Sets `$SSR.GC`, which [`Tile::release`] takes from this tile alone.
    pub fn set_global_consensus(&mut self, consensus: bool) {
        self.global_consensus = consensus;
    }

    /// The cycle of the `sans` that armed the automatic syncs outstanding now.
    pub fn armed_at(&self) -> u64 {
        self.armed_at
    }

    /// The log of the row that ended.
    pub fn take_row(&mut self) -> RowLog {
        self.row.take()
    }

    /// What was sent to the host since the last call.
    pub fn take_host_words(&mut self) -> Vec<HostSend> {
        core::mem::take(&mut self.host_words)
    }

    /// Why the first context to stop did so.
    pub fn stop(&self) -> Option<&Stop> {
        let stops = self
            .workers
            .iter()
            .filter_map(|worker| worker.stop.as_deref());
        stops
            .chain(self.supervisor.stop.as_deref())
            .min_by_key(|stop| (stop.cycle, stop.context))
    }

    /// Why `context` stopped, if it did.
    pub fn stop_of(&self, context: Context) -> Option<&Stop> {
        match context {
            Context::Supervisor => self.supervisor.stop.as_deref(),
            Context::Worker(number) => self.workers[usize::from(number)].stop.as_deref(),
        }
    }

    /// Stops the supervisor for a reason from outside the tile.
    pub fn halt(&mut self, stop: Stop) {
        self.supervisor.state = State::Excepted;
        self.supervisor.stop = Some(Box::new(stop));
    }

    /// Instructions and execution bundles issued so far.
    pub fn instructions(&self) -> u64 {
        self.issued
    }

    /// Whether every instruction is to be reported through `tracing`, at level `trace`.
    pub fn set_tracing(&mut self, on: bool) {
        self.tracing = on;
    }

    /// What `context` does.
    pub fn state(&self, context: Context) -> State {
        match context {
            Context::Supervisor => self.supervisor.state,
            Context::Worker(number) => self.workers[usize::from(number)].state,
        }
    }

    /// The address `context` executes next, or stopped at.
    pub fn pc(&self, context: Context) -> u32 {
        match context {
            Context::Supervisor => self.supervisor.pc,
            Context::Worker(number) => self.workers[usize::from(number)].pc,
        }
    }

    /// A main register of `context`, 0 to 15.
    pub fn m(&self, context: Context, register: usize) -> u32 {
        match context {
            Context::Supervisor => self.supervisor.m[register & 15],
            Context::Worker(number) => self.workers[usize::from(number)].m[register & 15],
        }
    }

    /// Sets a main register of `context`; registers without storage stay as they are.
    pub fn set_m(&mut self, context: Context, register: usize, value: u32) {
        match context {
            Context::Supervisor => self.supervisor.write(register, value, 0),
            Context::Worker(number) => self.workers[usize::from(number)].set_m(register, value),
        }
    }

    /// An aux register of a worker, 0 to 15.
    pub fn a(&self, worker: usize, register: usize) -> u32 {
        self.workers[worker].a[register & 15]
    }

    /// Sets an aux register of a worker; registers without storage stay as they are.
    pub fn set_a(&mut self, worker: usize, register: usize, value: u32) {
        self.workers[worker].set_a(register, value);
    }

    /// The floating-point state of a worker.
    pub fn fp(&self, worker: usize) -> &FpState {
        &self.workers[worker].fp
    }

    /// The floating-point state of a worker, to be changed.
    pub fn fp_mut(&mut self, worker: usize) -> &mut FpState {
        &mut self.workers[worker].fp
    }

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The weights, to be changed.
    pub fn weights_mut(&mut self) -> &mut Weights {
        &mut self.weights
    }

    /// The status bit a worker's last exit returned, until its next launch.
    pub fn exit_status(&self, worker: usize) -> Option<bool> {
        self.workers[worker].exit_status
    }

    /// Issue slots a worker has used since its last launch, the exit included.
    pub fn slots(&self, worker: usize) -> u64 {
        self.workers[worker].slots
    }
}
