//! All 1472 tiles and what lies between them: barriers, the fabric, the host port.
//!
//! A chip alternates two steps. First every tile that can runs, all in parallel, until it needs
//! something from outside. Then, with every tile at rest, the chip looks at them in order of
//! their numbers and does what is due: a phase of the exchange, transfers with the host, a
//! barrier. Tiles never see each other in the first step, and the second has one order, so the
//! result does not depend on the number of threads.

mod barrier;
mod host;
mod phase;
mod port_fault;
mod serve;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;
use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::{MUX_NEUTRAL, zone};
use tilekiln_chip::{PhysTile, assumed};

pub use host::{HostMemory, NoHost};
pub use port_fault::PortFault;

use crate::settings::Settings;
use crate::stop::{Context, Fault, Stop, StopKind};
use crate::sync::{Marks, Proxy, Written};
use crate::tile::{Tile, Yield};
use host::{Port, port_of};

/// What a tile is doing, as the chip sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It has something to do.
    Runs,
    /// Its row has ended and is not resolved yet.
    Row,
    /// It waits for a barrier of this zone.
    Waits { zone: u32 },
    /// It waits for barriers to pass that it does not take part in.
    Armed,
    /// It waits for words from the host.
    Receives,
    /// Its supervisor has left.
    Ended,
}

/// Why the chip came to rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rest {
    /// The cycle limit was reached.
    Limit,
    /// A mark changed and the caller wanted to know.
    Mark,
    /// A barrier waits for the host.
    Host,
    /// Every supervisor has left.
    Ended,
    /// A context stopped, or nothing can ever move again; [`Chip::stops`] says where and why.
    Stopped,
    /// The caller asked for it.
    Cancelled,
}

/// What a chip has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChipFacts {
    /// Phases of the internal exchange with at least one row.
    pub phases: u64,
    /// Barriers of the internal zone.
    pub internal_barriers: u64,
    /// Barriers of the external zones.
    pub external_barriers: u64,
    /// Items that left a tile for other tiles.
    pub sent: u64,
    /// Items that arrived there, counted at every receiver.
    pub delivered: u64,
    /// Events of all phases, each as long as its longest row.
    pub events: u64,
    /// Bytes read from the host.
    pub host_read: u64,
    /// Bytes written to the host.
    pub host_written: u64,
}

/// What somebody else may watch, and say, while a chip runs.
#[derive(Debug, Default)]
pub struct Gauge {
    /// How often a tile was run until it needed something.
    pub runs: AtomicU64,
    /// The furthest tile clock.
    pub cycles: AtomicU64,
    /// Set by the watcher: come to rest soon.
    pub cancel: AtomicBool,
}

/// The chip.
pub struct Chip {
    /// The tiles, by physical number.
    pub tiles: Vec<Tile>,
    /// What the host lets pass: external groups 1 and 2.
    marks: [Proxy; 2],
    /// The barrier that waits for the host in each group: when its last tile arrived.
    held: [Option<u64>; 2],
    states: Vec<State>,
    /// `$INCOMING_MUX` at the release of the last internal barrier.
    muxes: Vec<u32>,
    port: Port,
    stops: Vec<Stop>,
    facts: ChipFacts,
    gauge: std::sync::Arc<Gauge>,
}

/// One of the two external groups that the host takes part in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// The loader's.
    One,
    /// The application's.
    Two,
}

impl Chip {
    /// All tiles with memory that nobody has written, and no context running.
    pub fn new(settings: &Settings, marks: Marks) -> Self {
        let tiles: Vec<Tile> = PhysTile::all().map(|id| Tile::new(id, settings)).collect();
        Self {
            marks: [Proxy::new(marks); 2],
            held: [None; 2],
            states: vec![State::Ended; tiles.len()],
            muxes: vec![MUX_NEUTRAL; tiles.len()],
            port: Port::new(),
            stops: Vec::new(),
            facts: ChipFacts::default(),
            gauge: std::sync::Arc::default(),
            tiles,
        }
    }

    /// Starts every supervisor at `pc` in the state the loader leaves: the multiplexer on the
    /// host's port, nothing else set. [host-driver §12.5]
    pub fn launch(&mut self, pc: u32) {
        for (tile, state) in self.tiles.iter_mut().zip(&mut self.states) {
            tile.set_csr(number::INCOMING_MUX, port_of(tile.id));
            tile.set_csr(number::OUTGOING_BASE, 0);
            tile.launch_supervisor(pc);
            *state = State::Runs;
        }
    }

    /// Lets the loader's last barrier wait for the host, as it does when an image has been loaded.
    pub fn await_launch(&mut self, marks: Marks) {
        self.marks[Group::One as usize] = Proxy::waiting(marks);
    }

    /// The mark of a group.
    pub fn mark(&self, group: Group) -> u16 {
        self.marks[group as usize].mark()
    }

    /// Writes a mark at cycle `now`. A barrier that waits for it is released.
    pub fn write_mark(&mut self, group: Group, mark: u16, now: u64) -> Written {
        let written = self.marks[group as usize].write(mark);
        if written == Written::Released
            && let Some(arrival) = self.held[group as usize].take()
        {
            let cycle = (arrival + assumed::SYNC_EXTERNAL_CYCLES).max(now);
            self.release(2 * group as u32 + zone::GS1_HOST, cycle);
        }
        written
    }

    /// Every context that stopped for a reason, and why nothing moves any more if so, by tile.
    pub fn stops(&self) -> &[Stop] {
        &self.stops
    }

    /// What it has done so far.
    pub fn facts(&self) -> ChipFacts {
        self.facts
    }

    /// What may be watched while [`Chip::run`] is at work.
    pub fn gauge(&self) -> std::sync::Arc<Gauge> {
        self.gauge.clone()
    }

    /// The furthest tile clock.
    pub fn cycle(&self) -> u64 {
        self.tiles.iter().map(Tile::cycle).max().unwrap_or(0)
    }

    /// Instructions and execution bundles of all tiles.
    pub fn instructions(&self) -> u64 {
        self.tiles.iter().map(Tile::instructions).sum()
    }

    /// Whether every supervisor has left.
    pub fn has_ended(&self) -> bool {
        self.states.iter().all(|&state| state == State::Ended)
    }

    /// Runs until the tile clocks reach `limit`, or something outside the chip is needed. With
    /// `until_mark` it also comes to rest whenever a barrier has used up a mark.
    pub fn run(&mut self, limit: u64, until_mark: bool, memory: &mut dyn HostMemory) -> Rest {
        loop {
            if self.stops.is_empty() {
                self.run_tiles(limit);
            }
            if !self.stops.is_empty() {
                return Rest::Stopped;
            }
            if self.gauge.cancel.load(Ordering::Relaxed) {
                return Rest::Cancelled;
            }
            if self.states.contains(&State::Runs) {
                return Rest::Limit;
            }
            match self.settle(memory) {
                Ok(Some(Moved::Mark)) if until_mark => return Rest::Mark,
                Ok(Some(_)) => {}
                Ok(None) if self.held.iter().any(Option::is_some) => return Rest::Host,
                Ok(None) if self.has_ended() => return Rest::Ended,
                Ok(None) => {
                    let stuck = self.stuck();
                    self.stops.push(stuck);
                }
                Err(stop) => {
                    self.tiles[usize::from(stop.tile.index())].halt((*stop).clone());
                    self.stops.push(*stop);
                }
            }
        }
    }

    /// Runs every tile that can, and notes what each needs.
    fn run_tiles(&mut self, limit: u64) {
        let gauge = &self.gauge;
        let work = self
            .tiles
            .par_iter_mut()
            .zip(self.states.par_iter_mut())
            .with_max_len(1);
        work.filter(|(tile, state)| **state == State::Runs && tile.cycle() < limit)
            .for_each(|(tile, state)| {
                if gauge.cancel.load(Ordering::Relaxed) {
                    return;
                }
                *state = match tile.run(limit) {
                    Yield::Sync { zone } => State::Waits { zone },
                    Yield::NonParticipation => State::Armed,
                    Yield::Receive => State::Receives,
                    Yield::RowEnd => State::Row,
                    Yield::Stopped => State::Ended,
                    Yield::Quota => State::Runs,
                };
                gauge.runs.fetch_add(1, Ordering::Relaxed);
                gauge.cycles.fetch_max(tile.cycle(), Ordering::Relaxed);
            });
        for tile in &self.tiles {
            if let Some(stop) = tile.stop()
                && !is_end(stop)
            {
                self.stops.push(stop.clone());
            }
        }
    }

    /// A breach of the port's rules as the stop of its tile.
    fn port_stop(&self, tile: PhysTile, fault: &PortFault) -> Box<Stop> {
        let it = &self.tiles[usize::from(tile.index())];
        let what = format!("{tile}: {fault}");
        Box::new(fabric_stop(tile, it.csr(number::PC), it.cycle(), what))
    }

    /// Does what is due now that every tile rests; `None` when nothing is.
    fn settle(&mut self, memory: &mut dyn HostMemory) -> Result<Option<Moved>, Box<Stop>> {
        if self.states.contains(&State::Row) {
            self.resolve_rows()?;
            return Ok(Some(Moved::On));
        }
        if self.serve_host(memory)? {
            return Ok(Some(Moved::On));
        }
        self.pass_barrier()
    }
}

/// What [`Chip::settle`] did.
enum Moved {
    /// Somebody can go on.
    On,
    /// A barrier used up a mark.
    Mark,
}

/// Whether a stop is how programs end: the supervisor's jump to address 0. [host-driver §14.5]
pub fn is_end(stop: &Stop) -> bool {
    let jump = Fault::CodeAddress { at: 0, align: 4 };
    stop.context == Context::Supervisor && stop.kind == jump.kind()
}

/// A stop for a reason that lies between the tiles.
fn fabric_stop(tile: PhysTile, pc: u32, cycle: u64, what: String) -> Stop {
    let kind = StopKind::Fabric { what };
    Stop {
        tile,
        context: Context::Supervisor,
        pc,
        cycle,
        kind,
        instruction: String::new(),
    }
}
