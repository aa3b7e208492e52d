//! A card with an ideal program, for tests of the driver: one byte a phase goes in, their sum
//! comes out, and every barrier is where the specification puts it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tilekiln_bundle::Host;
use tilekiln_chip::registers::{self, EXCHANGE_WINDOW, MARK_GS1, MARK_GS2, TDI_BASE, state};
use tilekiln_chip::{ByteAddr, PhysTile};

use super::{Limits, Watch};
use crate::card::{BufferIndex, Device, DeviceError, Marks, Progress, RegOffset, Startup};

/// How the card takes marks and how fast its tiles move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behaviour {
    pub marks: Marks,
    pub startup: Startup,
    pub progress: Progress,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            marks: Marks::Arrival,
            startup: Startup::Early,
            progress: Progress::Immediate,
        }
    }
}

/// What the fake program's host protocol is.
pub(crate) fn host() -> Host {
    Host {
        buffer_bytes: 0x1000,
        cycles: [0x800, 0x804],
        command_offset: 0,
        completion_tile: PhysTile::new(0).unwrap(),
        completion_address: ByteAddr(0x5_0000),
    }
}

/// Where the program stands between two barriers of GS2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Loader,
    Starting,
    FirstBarrier,
    Entry(u32),
    Exit(u32),
    Ended,
}

pub(crate) struct FakeCard {
    behaviour: Behaviour,
    inputs: u32,
    outputs: u32,
    registers: BTreeMap<u32, u32>,
    buffers: BTreeMap<u32, Vec<u8>>,
    window: u32,
    mark: u16,
    place: Place,
    /// Arrived and not let through.
    stalled: bool,
    leaving: bool,
    sum: u8,
    barriers: u32,
    hang_after: Option<u32>,
    gone: bool,
    completion: u32,
    clock: Duration,
    lost: u32,
    looks: u32,
    writes: Option<Vec<(u32, u32)>>,
}

/// Calls `body` with a watch that waits as long as ever and hears of nothing.
pub(crate) fn watched<T>(body: impl FnOnce(&mut Watch<'_>) -> T) -> T {
    let interrupted = AtomicBool::new(false);
    let mut news = |_| {};
    body(&mut Watch {
        limits: Limits::default(),
        interrupted: &interrupted,
        news: &mut news,
    })
}

impl FakeCard {
    pub fn new(behaviour: Behaviour, inputs: u32, outputs: u32) -> Self {
        Self {
            behaviour,
            inputs,
            outputs,
            registers: BTreeMap::new(),
            buffers: BTreeMap::new(),
            window: 0,
            mark: 0,
            place: Place::Loader,
            stalled: false,
            leaving: false,
            sum: 0,
            barriers: 0,
            hang_after: None,
            gone: false,
            completion: 1,
            clock: Duration::ZERO,
            lost: 0,
            looks: 0,
            writes: None,
        }
    }

    pub fn ended(&self) -> bool {
        self.place == Place::Ended
    }

    pub fn attached(&self) -> usize {
        self.buffers.len()
    }

    pub fn lost_marks(&self) -> u32 {
        self.lost
    }

    pub fn hang_after(&mut self, barriers: u32) {
        self.hang_after = Some(barriers);
    }

    pub fn fall_off(&mut self) {
        self.gone = true;
    }

    pub fn complete_with(&mut self, word: u32) {
        self.completion = word;
    }

    pub fn record(&mut self) {
        self.writes = Some(Vec::new());
    }

    pub fn recorded(&self) -> &[(u32, u32)] {
        self.writes.as_deref().unwrap_or(&[])
    }

    /// Runs the tiles from the barrier they were let through to the next.
    fn run_on(&mut self) {
        self.stalled = false;
        self.place = match self.place {
            Place::Loader | Place::Starting => Place::FirstBarrier,
            Place::FirstBarrier => Place::Entry(0),
            Place::Entry(phase) => {
                self.transfer(phase);
                Place::Exit(phase)
            }
            Place::Exit(0) if self.leaving => Place::Ended,
            Place::Exit(phase) if phase + 1 == self.inputs + self.outputs => Place::Entry(0),
            Place::Exit(phase) => Place::Entry(phase + 1),
            Place::Ended => Place::Ended,
        };
        if self.place != Place::Ended {
            self.arrive();
        }
    }

    fn transfer(&mut self, phase: u32) {
        if phase == 0 {
            self.leaving = self.buffers[&0][0] == 1;
            self.sum = 0;
        }
        let data = self.buffers.get_mut(&1).expect("the driver attached it");
        if phase < self.inputs {
            self.sum += data[phase as usize];
        } else {
            data[phase as usize] = self.sum;
        }
    }

    fn arrive(&mut self) {
        self.barriers += 1;
        let passes = match self.behaviour.marks {
            Marks::Arrival => {
                self.mark = self.mark.saturating_sub(u16::from(self.mark > 0));
                self.mark > 0
            }
            Marks::Release => {
                let passes = self.mark > 0;
                self.mark -= u16::from(passes);
                passes
            }
        };
        self.stalled = !passes;
        if passes {
            self.proceed();
        }
    }

    fn proceed(&mut self) {
        if self.hang_after.is_some_and(|limit| self.barriers >= limit) {
            return;
        }
        match self.behaviour.progress {
            Progress::Immediate => self.run_on(),
            // A few looks later.
            Progress::Delayed => self.looks = 3,
        }
    }

    fn look(&mut self) {
        if self.looks > 0 {
            self.looks -= 1;
            if self.looks == 0 {
                self.run_on();
            }
        }
    }

    fn write_gs2(&mut self, mark: u16) {
        // Tiles that were launched early get there only now.
        let starting = self.place == Place::Starting;
        if !self.stalled && self.mark > 0 && self.place != Place::Ended {
            self.lost += 1;
        }
        if self.stalled && mark > 0 {
            let taken = u16::from(self.behaviour.marks == Marks::Release);
            self.mark = mark - taken;
            self.stalled = false;
            self.proceed();
        } else {
            self.mark = mark;
            if starting && self.looks == 0 {
                self.proceed();
            }
        }
    }

    fn buffer(&mut self, index: BufferIndex) -> Result<&mut Vec<u8>, DeviceError> {
        self.buffers
            .get_mut(&index.0)
            .ok_or(DeviceError::NoBuffer { index })
    }
}

impl Device for FakeCard {
    fn name(&self) -> &str {
        "fake"
    }

    fn read32(&mut self, at: RegOffset) -> u32 {
        if self.gone {
            return u32::MAX;
        }
        self.look();
        match at.bytes() {
            MARK_GS2 => self.mark.into(),
            TDI_BASE if self.place == Place::Ended => state::EXCEPTED,
            // What the idle worker's instructions leave there in the end.
            offset if offset == registers::tdi(host().completion_tile, registers::Tdi::Data) => {
                self.completion
            }
            offset => self.registers.get(&offset).copied().unwrap_or(0),
        }
    }

    fn write32(&mut self, at: RegOffset, value: u32) {
        if let Some(writes) = &mut self.writes {
            writes.push((at.bytes(), value));
        }
        match at.bytes() {
            MARK_GS1 => {
                self.place = Place::Starting;
                if self.behaviour.startup == Startup::Late {
                    self.proceed();
                }
            }
            MARK_GS2 => self.write_gs2(value as u16),
            EXCHANGE_WINDOW => self.window = value,
            offset if (TDI_BASE..).contains(&offset) => {}
            offset => {
                self.registers.insert(offset, value);
            }
        }
    }

    fn attach(&mut self, index: BufferIndex, bytes: u32) -> Result<(), DeviceError> {
        assert_eq!(
            std::mem::take(&mut self.window),
            registers::EXCHANGE_WINDOW_HEXOPT
        );
        self.buffers.insert(index.0, vec![0; bytes as usize]);
        Ok(())
    }

    fn write_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.buffer(index)?[at as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        into.copy_from_slice(&self.buffer(index)?[at as usize..][..into.len()]);
        Ok(())
    }

    fn fill_buffer(&mut self, index: BufferIndex, byte: u8) -> Result<(), DeviceError> {
        self.buffer(index)?.fill(byte);
        Ok(())
    }

    fn detach(&mut self, index: BufferIndex) -> Result<(), DeviceError> {
        self.buffers
            .remove(&index.0)
            .map(drop)
            .ok_or(DeviceError::NoBuffer { index })
    }

    fn detach_all(&mut self) -> Result<(), DeviceError> {
        self.buffers.clear();
        Ok(())
    }

    fn pause(&mut self, time: Duration) {
        self.clock += time;
    }

    fn now(&self) -> Duration {
        self.clock
    }
}
