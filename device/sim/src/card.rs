//! The card as its config window shows it: marks, the tile debug interface, and time.
//!
//! A [`Card`] is deterministic. Its tiles move only while somebody reads a register, a fixed
//! number of cycles at most, or, in immediate mode, while a mark is written; never by a clock of
//! the host. [host-driver §20]

mod debug;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tilekiln_chip::registers::{self, MARK_GS1, MARK_GS2, WINDOW_BYTES};
use tilekiln_chip::{ByteAddr, PhysTile, assumed, memory};

pub use crate::chip::{ChipFacts, Gauge, HostMemory, NoHost};
pub use crate::sync::Marks;

use crate::chip::{Chip, Group, Rest};
use crate::settings::Settings;
use crate::stop::{Fault, Stop};
use crate::sync::Written;
use debug::Debug;

/// Whether the host's first mark comes before or after the tiles' first barrier.
/// [host-driver §10]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Startup {
    /// Before: the tiles start slowly, as on the card with small images.
    #[default]
    Early,
    /// After.
    Late,
}

/// When the tiles get on. [host-driver §20.3]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Progress {
    /// Within the write of a mark, up to the next barrier that waits for the host.
    #[default]
    Immediate,
    /// A little at every read.
    Delayed,
}

/// How a card behaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// What the simulation of the tiles is told.
    pub settings: Settings,
    /// How marks are used up.
    pub marks: Marks,
    /// Who comes first.
    pub startup: Startup,
    /// When the tiles get on.
    pub progress: Progress,
    /// Threads to spread the tiles over; 0 for as many as there are cores.
    pub threads: usize,
    /// Cycles the tiles get at every read in delayed mode.
    pub quota: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            marks: Marks::default(),
            startup: Startup::default(),
            progress: Progress::default(),
            threads: 0,
            quota: 1_000_000,
        }
    }
}

/// Cycles the tiles get within the write of a mark in immediate mode; what they do beyond that
/// they do at reads. A program that loops for ever then still lets its host time out.
const IMMEDIATE_CYCLES: u64 = 100_000_000;

/// Where the tiles stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Loaded; the loader's last barrier waits for the host.
    Loaded,
    /// Launched, and too slow to have done anything before the host's first mark.
    Held,
    /// Launched.
    Runs,
}

/// A card with a loaded program.
pub struct Card {
    chip: Chip,
    options: Options,
    stage: Stage,
    registers: BTreeMap<u32, u32>,
    debug: Debug,
    /// Simulated time, in cycles.
    now: u64,
    /// Nothing moves before the next mark is written.
    idle: bool,
    faults: Vec<String>,
    pool: Option<ThreadPool>,
}

impl Card {
    /// A card whose tiles hold what nobody has written yet.
    pub fn new(options: &Options) -> Self {
        let mut chip = Chip::new(&options.settings, options.marks);
        chip.await_launch(options.marks);
        // Without a pool of its own a card shares the process's; the results are the same.
        let pool = match options.threads {
            0 => None,
            threads => ThreadPoolBuilder::new().num_threads(threads).build().ok(),
        };
        Self {
            chip,
            options: options.clone(),
            stage: Stage::Loaded,
            registers: BTreeMap::new(),
            debug: Debug::default(),
            now: 0,
            idle: false,
            faults: Vec::new(),
            pool,
        }
    }

    /// Puts bytes into a tile, as the loader would have.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] when one of them has no place.
    pub fn place(&mut self, tile: PhysTile, at: ByteAddr, bytes: &[u8]) -> Result<(), Fault> {
        self.chip.tiles[usize::from(tile.index())]
            .memory
            .write(at.0, bytes)
    }

    /// Starts every tile's supervisor at its entry, as writing the loader's mark does.
    /// [host-driver §12.5]
    pub fn launch(&mut self) {
        self.chip.launch(memory::ENTRY.0);
        self.stage = match self.options.startup {
            Startup::Early => Stage::Held,
            Startup::Late => Stage::Runs,
        };
    }

    /// Reads the register at `at`; the card moves on meanwhile. [host-driver §20.4]
    pub fn read32(&mut self, at: u32, host: &mut dyn HostMemory) -> u32 {
        if !self.check(at) {
            return 0;
        }
        if self.stage == Stage::Runs && !self.idle {
            let limit = self.now.saturating_add(self.options.quota);
            self.run(limit, true, host);
        }
        match at {
            MARK_GS1 => self.chip.mark(Group::One).into(),
            MARK_GS2 => self.chip.mark(Group::Two).into(),
            _ => match debug::place(at) {
                Some(_) if self.stage == Stage::Loaded => 0,
                Some((tile, index)) => self
                    .debug
                    .read(&self.chip.tiles[usize::from(tile.index())], index),
                None => self.registers.get(&at).copied().unwrap_or_default(),
            },
        }
    }

    /// Writes the register at `at`. [host-driver §20.4]
    pub fn write32(&mut self, at: u32, value: u32, host: &mut dyn HostMemory) {
        if !self.check(at) {
            return;
        }
        match at {
            MARK_GS1 => self.write_mark(Group::One, value, host),
            MARK_GS2 => self.write_mark(Group::Two, value, host),
            _ => match debug::place(at) {
                Some((tile, index)) => {
                    let held = self.stage == Stage::Loaded;
                    let tile = &mut self.chip.tiles[usize::from(tile.index())];
                    self.debug.write(tile, index, value, held);
                }
                None => {
                    self.registers.insert(at, value);
                }
            },
        }
    }

    fn check(&mut self, at: u32) -> bool {
        let fine = at.is_multiple_of(4) && at < WINDOW_BYTES;
        if !fine {
            self.faults.push(format!(
                "an access at {at:#x}; the window has words up to {WINDOW_BYTES:#x}"
            ));
        }
        fine
    }

    fn write_mark(&mut self, group: Group, value: u32, host: &mut dyn HostMemory) {
        let Ok(mark) = u16::try_from(value) else {
            self.faults
                .push(format!("mark {value:#x} was written; a mark has 16 bits"));
            return;
        };
        let ended = self.has_ended();
        self.idle = false;
        match self.chip.write_mark(group, mark, self.now) {
            Written::Overwritten if !ended => self.faults.push(format!(
                "mark {mark} was written to group {} over one not used up yet",
                group as u32 + 1
            )),
            Written::Released if self.stage == Stage::Loaded && group == Group::One => {
                self.launch();
            }
            _ => {}
        }
        if self.stage == Stage::Held && group == Group::Two && mark > 0 {
            self.stage = Stage::Runs;
        }
        if self.stage == Stage::Runs && self.options.progress == Progress::Immediate {
            let limit = self.now.saturating_add(IMMEDIATE_CYCLES);
            self.run(limit, false, host);
        }
    }

    fn run(&mut self, limit: u64, until_mark: bool, host: &mut dyn HostMemory) {
        let chip = &mut self.chip;
        let rest = match &self.pool {
            Some(pool) => pool.install(|| chip.run(limit, until_mark, host)),
            None => chip.run(limit, until_mark, host),
        };
        self.idle = matches!(rest, Rest::Host | Rest::Ended | Rest::Stopped);
        self.now = match rest {
            Rest::Limit => limit,
            _ => self.now.max(chip.cycle()),
        };
    }

    /// Lets simulated time pass. What the tiles can do with it they do at the next read.
    pub fn pause(&mut self, time: Duration) {
        let cycles = time.as_nanos() * u128::from(assumed::CLOCK_HZ) / 1_000_000_000;
        self.now = self
            .now
            .saturating_add(u64::try_from(cycles).unwrap_or(u64::MAX));
    }

    /// Simulated time since the card was made. [A-CLOCK]
    pub fn now(&self) -> Duration {
        let nanoseconds = u128::from(self.now) * 1_000_000_000 / u128::from(assumed::CLOCK_HZ);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// Why nothing moves any more, if so: contexts that stopped, a breach of the fabric's or the
    /// host port's rules, or tiles that wait for each other. A program's regular end is none.
    pub fn stops(&self) -> &[Stop] {
        self.chip.stops()
    }

    /// What the client did that a card would not have taken. [host-driver §20.5]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Whether every tile's program has ended.
    pub fn has_ended(&self) -> bool {
        self.stage != Stage::Loaded && self.chip.has_ended()
    }

    /// The furthest tile clock.
    pub fn cycles(&self) -> u64 {
        self.chip.cycle()
    }

    /// Instructions and execution bundles of all tiles.
    pub fn instructions(&self) -> u64 {
        self.chip.instructions()
    }

    /// Phases, barriers and traffic so far.
    pub fn facts(&self) -> ChipFacts {
        self.chip.facts()
    }

    /// What another thread may watch while the card is at work.
    pub fn gauge(&self) -> Arc<Gauge> {
        self.chip.gauge()
    }

    /// The tiles, for whoever looks at a card from outside.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }
}

/// Whether `at` is a register of the tile debug interface.
pub const fn is_debug(at: u32) -> bool {
    at >= registers::TDI_BASE
        && at < registers::TDI_BASE + registers::TDI_STRIDE * tilekiln_chip::TILE_COUNT as u32
}
