//! All 1472 tiles and what lies between them: barriers, the fabric, the host port.
//!
//! A chip alternates two steps. First every tile that can runs, all in parallel, until it needs
//! something from outside. Then, with every tile at rest, the chip looks at them in order of
//! their numbers and does what is due: a phase of the exchange, transfers with the host, a
//! barrier. Tiles never see each other in the first step, and the second has one order, so the
//! result does not depend on the number of threads.

pub mod host;
mod stuck;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;
use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::{MUX_NEUTRAL, zone};
use tilekiln_chip::{PhysTile, assumed};

pub use host::{HostMemory, NoHost, PortFault};

use crate::exchange::{self, Participant};
use crate::settings::Settings;
use crate::stop::{Context, Fault, Stop, StopKind};
use crate::sync::{self, Barrier, Marks, Proxy, Standing, Written};
use crate::tile::{RowLog, Tile, Yield};
use host::{Packet, Port, port_of};

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

    /// Whether a barrier waits for this group's mark.
    pub fn is_held(&self, group: Group) -> bool {
        self.held[group as usize].is_some()
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
        if !self.stops.is_empty() {
            return Rest::Stopped;
        }
        loop {
            if self.gauge.cancel.load(Ordering::Relaxed) {
                return Rest::Cancelled;
            }
            self.run_tiles(limit);
            if !self.stops.is_empty() {
                return Rest::Stopped;
            }
            if self.states.contains(&State::Runs) {
                if self.gauge.cancel.load(Ordering::Relaxed) {
                    return Rest::Cancelled;
                }
                return Rest::Limit;
            }
            let moved = self.settle(memory);
            match moved {
                Ok(Some(Moved::On)) => {}
                Ok(Some(Moved::Mark)) if !until_mark => {}
                Ok(Some(Moved::Mark)) => return Rest::Mark,
                Ok(None) if self.held.iter().any(Option::is_some) => return Rest::Host,
                Ok(None) if self.has_ended() => return Rest::Ended,
                Ok(None) => {
                    self.stops.push(self.stuck());
                    return Rest::Stopped;
                }
                Err(stop) => {
                    let tile = usize::from(stop.tile.index());
                    self.tiles[tile].halt((*stop).clone());
                    self.stops.push(*stop);
                    return Rest::Stopped;
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

    /// Resolves the rows that have ended and lets their tiles go on.
    fn resolve_rows(&mut self) -> Result<(), Box<Stop>> {
        let mut logs: Vec<Option<RowLog>> = vec![None; self.tiles.len()];
        let rows = self.tiles.iter_mut().zip(&mut self.states).zip(&mut logs);
        for ((tile, state), log) in rows.filter(|((_, state), _)| **state == State::Row) {
            *state = State::Runs;
            let row = tile.take_row();
            // A lone `delay` is no row.
            *log = (!row.sends.is_empty() || !row.controls.is_empty()).then_some(row);
        }
        let tiles = self.tiles.iter_mut().zip(&logs).zip(&self.muxes);
        let mut participants: Vec<Participant<'_>> = tiles
            .filter_map(|((tile, log), &mux)| {
                let (tile, memory, log) = (tile.id, &mut tile.memory, log.as_ref()?);
                Some(Participant {
                    tile,
                    log,
                    mux,
                    memory,
                })
            })
            .collect();
        if participants.is_empty() {
            return Ok(());
        }
        let facts = exchange::resolve(&mut participants, false).map_err(|faults| {
            let fault = &faults[0];
            let log = logs[usize::from(fault.tile.index())].as_ref();
            let start = log.map_or(0, |log| log.start);
            let cycle = start.saturating_add_signed(fault.event);
            let what = format!("{fault} ({} faults in this phase)", faults.len());
            Box::new(fabric_stop(
                fault.tile,
                log.map_or(0, |log| log.code.start),
                cycle,
                what,
            ))
        })?;
        drop(participants);
        self.facts.phases += 1;
        self.facts.sent += facts.sent;
        self.facts.delivered += facts.delivered;
        self.facts.events += u64::from(facts.horizon);
        let took_part = self
            .tiles
            .iter_mut()
            .zip(&logs)
            .filter(|(_, log)| log.is_some());
        for ((tile, log), cursor) in took_part.zip(facts.cursors) {
            tile.set_csr(number::INCOMING_MUX, MUX_NEUTRAL);
            if let (Some(log), Some(cursor)) = (log, cursor) {
                tile.set_csr(
                    number::INCOMING_DELTA,
                    cursor.wrapping_sub(log.incoming_base),
                );
            }
        }
        Ok(())
    }

    /// Takes in what tiles sent to the host and serves those that wait and may; says whether
    /// somebody can go on.
    fn serve_host(&mut self, memory: &mut dyn HostMemory) -> Result<bool, Box<Stop>> {
        let port = &mut self.port;
        let port_stop = |tile: &Tile, fault: &PortFault| {
            let what = format!("{}: {fault}", tile.id);
            Box::new(fabric_stop(
                tile.id,
                tile.csr(number::PC),
                tile.cycle(),
                what,
            ))
        };
        for tile in 0..self.tiles.len() {
            let sends = self.tiles[tile].take_host_words();
            port.accept(self.tiles[tile].id, sends)
                .map_err(|(at, fault)| port_stop(&self.tiles[usize::from(at.index())], &fault))?;
        }
        let mut moved = false;
        for (tile, state) in self.tiles.iter_mut().zip(&mut self.states) {
            if *state != State::Receives {
                continue;
            }
            for packet in port.serve(tile.id) {
                transfer(tile, packet, memory, &mut self.facts)
                    .map_err(|fault| port_stop(tile, &fault))?;
            }
            if tile.csr(number::INCOMING_DCOUNT) == 0 {
                tile.release(tile.cycle());
                *state = State::Runs;
                moved = true;
            }
        }
        Ok(moved)
    }

    /// Completes a barrier if every tile is there or has excused itself.
    fn pass_barrier(&mut self) -> Result<Option<Moved>, Box<Stop>> {
        if self.held.iter().any(Option::is_some) {
            return Ok(None);
        }
        let zone = match sync::barrier((0..self.tiles.len()).map(|tile| self.standing(tile))) {
            Barrier::Complete { zone } => zone,
            Barrier::Open | Barrier::Torn { .. } => return Ok(None),
        };
        let arrival = self.cycle_of_arrival();
        if zone == zone::INTERNAL {
            self.facts.internal_barriers += 1;
            self.release(zone, arrival + assumed::SYNC_INTERNAL_CYCLES);
            return Ok(Some(Moved::On));
        }
        self.facts.external_barriers += 1;
        if !sync::has_host(zone) {
            self.release(zone, arrival + assumed::SYNC_EXTERNAL_CYCLES);
            return Ok(Some(Moved::On));
        }
        self.port.end_phase().map_err(|(tile, fault)| {
            let tile = &self.tiles[usize::from(tile.index())];
            let what = format!("{}: {fault}", tile.id);
            Box::new(fabric_stop(
                tile.id,
                tile.csr(number::PC),
                tile.cycle(),
                what,
            ))
        })?;
        let group = usize::from(zone == zone::GS2_HOST);
        if self.marks[group].arrive() {
            self.release(zone, arrival + assumed::SYNC_EXTERNAL_CYCLES);
        } else {
            self.held[group] = Some(arrival);
        }
        Ok(Some(Moved::Mark))
    }

    /// How a tile stands to the next barrier. [exchange §9.2]
    fn standing(&self, tile: usize) -> Standing {
        match self.states[tile] {
            State::Waits { zone } => Standing::Waits { zone },
            State::Ended => Standing::Away,
            _ if self.tiles[tile].csr(number::ANS_DCOUNT) > 0 => Standing::Armed,
            _ => Standing::Away,
        }
    }

    /// When the last tile came to the barrier, or excused itself from it.
    fn cycle_of_arrival(&self) -> u64 {
        let tiles = self.tiles.iter().zip(&self.states);
        let arrival = |(tile, state): (&Tile, &State)| match state {
            State::Waits { .. } => tile.cycle(),
            _ => tile.armed_at(),
        };
        tiles.map(arrival).max().unwrap_or(0)
    }

    /// Lets everybody pass a barrier of `zone` at `cycle`.
    fn release(&mut self, zone: u32, cycle: u64) {
        let waits = |state: &State| matches!(state, State::Waits { .. });
        let tiles = self.tiles.iter().zip(&self.states);
        let consensus = tiles
            .filter(|(_, state)| waits(state))
            .all(|(tile, _)| tile.local_consensus());
        let tiles = self
            .tiles
            .iter_mut()
            .zip(&mut self.states)
            .zip(&mut self.muxes);
        for ((tile, state), mux) in tiles {
            match *state {
                State::Waits { zone: other } if sync::shared(other) == zone => {
                    if zone == zone::INTERNAL {
                        *mux = tile.csr(number::INCOMING_MUX);
                    }
                    tile.release(cycle);
                    tile.set_global_consensus(consensus);
                    *state = State::Runs;
                }
                State::Ended | State::Waits { .. } => {}
                _ => {
                    let left = tile.csr(number::ANS_DCOUNT).saturating_sub(1);
                    tile.set_csr(number::ANS_DCOUNT, left);
                    if left == 0 && *state == State::Armed {
                        tile.release(cycle);
                        *state = State::Runs;
                    }
                }
            }
        }
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

/// Moves one packet's data and counts it. A read of nothing counts one word. [A-DCOUNT]
fn transfer(
    tile: &mut Tile,
    packet: Packet,
    memory: &mut dyn HostMemory,
    facts: &mut ChipFacts,
) -> Result<(), PortFault> {
    let (mux, wanted) = (tile.csr(number::INCOMING_MUX), port_of(tile.id));
    if mux != wanted {
        return Err(PortFault::WrongPort { mux, wanted });
    }
    if tile.context_status() >> 2 & 0x555 & !(tile.context_status() >> 3) != 0 {
        return Err(PortFault::Workers);
    }
    match packet {
        Packet::Write { offset, data } => {
            facts.host_written += data.len() as u64;
            let bytes = data.len() as u32;
            memory
                .write(offset, &data)
                .then_some(())
                .ok_or(PortFault::Unattached { offset, bytes })
        }
        Packet::Read {
            offset,
            bytes,
            address,
            ..
        } => {
            let words = (bytes / 4).max(1);
            let expected = tile.csr(number::INCOMING_DCOUNT);
            if words > expected {
                return Err(PortFault::Unexpected { expected, words });
            }
            let mut data = vec![0; bytes as usize];
            if bytes > 0 && !memory.read(offset, &mut data) {
                return Err(PortFault::Unattached { offset, bytes });
            }
            let stored = bytes == 0 || tile.memory.write(address, &data).is_ok();
            stored
                .then_some(())
                .ok_or(PortFault::Destination { address, bytes })?;
            facts.host_read += u64::from(bytes);
            tile.set_csr(number::INCOMING_DCOUNT, expected - words);
            Ok(())
        }
    }
}
