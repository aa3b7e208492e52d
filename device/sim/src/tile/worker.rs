//! A worker: registers, repeat state, and one issue slot.

use tilekiln_chip::csr::field;

use crate::code::WorkerSlot;
use crate::exec::control::BUNDLE;
use crate::exec::{AuxFn, AuxResult, AuxState, Effects, Main};
use crate::float::{FpState, Weights, issue};
use crate::memory::Memory;
use crate::settings::{Settings, garbage};
use crate::stop::{Fault, Stop};

use super::State;

/// `$WSR.ETYPE`. [isa-core §6.3 code]
const WSR_ETYPE: u32 = 0xf0;

/// `$WSR.ERPT`. [isa-core §6.3 code]
const WSR_ERPT: u32 = 1 << 9;

/// The repeat registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Repeat {
    /// First byte of the body.
    pub first: u32,
    /// First byte behind it.
    pub end: u32,
    /// Iterations left; 0 outside any body.
    pub count: u32,
}

impl Repeat {
    /// Whether a body with iterations left holds `pc`.
    #[inline]
    pub fn holds(&self, pc: u32) -> bool {
        self.count > 0 && self.first <= pc && pc < self.end
    }
}

/// One worker.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    /// Main registers; `m12` to `m15` hold what they read as.
    pub m: [u32; 16],
    /// Aux registers; `a8` and up stay 0.
    pub a: [u32; 16],
    pub pc: u32,
    pub state: State,
    /// Slots the last instruction still takes.
    pub busy: u8,
    /// Whether a refused `runall` makes the next execution bundle fail.
    pub refused: bool,
    pub repeat: Repeat,
    pub wsr: u32,
    pub break_id: u32,
    pub fp: FpState,
    /// The status bit of the last exit.
    pub exit_status: Option<bool>,
    /// Slots used since the last launch, the exit included.
    pub slots: u64,
    pub stop: Option<Box<Stop>>,
}

/// What an execution bundle does when it retires.
#[derive(Default)]
pub(crate) struct Retired {
    pub out: Effects,
    pub next: u32,
}

/// What an execution bundle sees besides its worker.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub memory: &'a Memory,
    pub weights: &'a Weights,
    pub settings: &'a Settings,
    pub cycle: u64,
    pub mailbox: u32,
}

impl Worker {
    /// Worker `number` before its first launch; `stream` names its tile.
    pub fn new(number: usize, stream: u64, settings: &Settings) -> Self {
        let fill = garbage(settings.fill_seed, stream, 0x1_0000 + number as u64);
        let mut registers = (0..10).map(|i| garbage(fill, stream, i)).flat_map(halves);
        let mut fresh = [0; 20];
        fresh.fill_with(|| registers.next().unwrap_or_default());
        let (mut m, mut a) = ([0; 16], [0; 16]);
        m[..12].copy_from_slice(&fresh[..12]);
        a[..8].copy_from_slice(&fresh[12..]);
        Self {
            m,
            a,
            pc: 0,
            state: State::Inactive,
            busy: 0,
            refused: false,
            repeat: Repeat::default(),
            wsr: number as u32,
            break_id: 0,
            fp: FpState::new(fill),
            exit_status: None,
            slots: 0,
            stop: None,
        }
    }

    /// Starts the worker. Registers keep what they hold. [A-RETAIN]
    pub fn launch(&mut self, pc: u32, vertex_base: u32, worker_base: u32) {
        self.pc = pc;
        self.m[12] = worker_base;
        self.m[13] = vertex_base;
        self.state = State::Active;
        self.busy = 0;
        self.refused = false;
        self.repeat.count = 0;
        self.exit_status = None;
        self.slots = 0;
        self.stop = None;
    }

    /// Sets a main register, unless it is one of those without storage.
    #[inline]
    pub fn set_m(&mut self, number: usize, value: u32) {
        if number < 12 {
            self.m[number] = value;
        }
    }

    /// Sets an aux register, unless it is one of those without storage.
    #[inline]
    pub fn set_a(&mut self, number: usize, value: u32) {
        if number < 8 {
            self.a[number] = value;
        }
    }

    /// Notes an exception in `$WSR`.
    pub fn note_exception(&mut self, etype: u32, in_body: bool) {
        let repeat = if in_body { WSR_ERPT } else { 0 };
        self.wsr = self.wsr & (field::WSR_CTXTID_M1.1 | WSR_ERPT) | etype << 4 & WSR_ETYPE | repeat;
    }

    /// Executes `slot` at `pc` up to the point where nothing can fail any more.
    #[inline]
    pub fn execute(
        &mut self,
        slot: &WorkerSlot,
        pc: u32,
        x: Around<'_>,
        retired: &mut Retired,
    ) -> Result<(), Fault> {
        let in_body = self.repeat.holds(pc);
        if in_body && !slot.repeatable && slot.fault.as_ref().is_none_or(|f| f.rank() > 1) {
            let Repeat { first, end, .. } = self.repeat;
            return Err(Fault::InRepeatBody { first, end });
        }
        let mut main = Main {
            m: &self.m,
            a: &self.a,
            memory: x.memory,
            worker: Some(self),
            settings: x.settings,
            cycle: x.cycle,
            mailbox: x.mailbox,
            next: pc + u32::from(slot.bytes),
            taken: false,
            out: &mut retired.out,
        };
        let result = (slot.main)(&slot.main_values, &mut main);
        retired.next = main.next;
        if let Some(fault) = slot.fault.as_deref() {
            let sooner = result.err().filter(|found| found.rank() < fault.rank());
            return Err(sooner.unwrap_or(*fault));
        }
        result?;
        self.slots += 1;
        if let Some(function) = slot.aux {
            self.execute_aux(slot, function, x)?;
        }
        if in_body && pc + BUNDLE == self.repeat.end {
            self.repeat.count -= 1;
            if self.repeat.count > 0 {
                retired.next = self.repeat.first;
            }
        }
        Ok(())
    }

    /// Executes the aux half, the last that may fail, and writes its registers: the main half has
    /// read what it wanted.
    #[inline]
    fn execute_aux(
        &mut self,
        slot: &WorkerSlot,
        function: AuxFn,
        x: Around<'_>,
    ) -> Result<(), Fault> {
        let (a, weights, settings) = (self.a, x.weights, x.settings);
        let mut state = AuxState {
            a,
            fp: &mut self.fp,
            weights,
            settings,
        };
        let result = if slot.watched {
            issue(function, &slot.aux_values, &mut state)
        } else {
            function(&slot.aux_values, &mut state)
        };
        match &result {
            Err(fault) => Err((*fault).into()),
            Ok(AuxResult {
                first,
                count,
                values,
                slots,
            }) => {
                for (i, value) in values.iter().enumerate().take(usize::from(*count)) {
                    self.set_a(usize::from(*first) + i, *value);
                }
                self.busy = slots.saturating_sub(1);
                self.slots += u64::from(self.busy);
                Ok(())
            }
        }
    }

    /// Writes the registers of a retired execution bundle's main half.
    #[inline]
    pub fn retire(&mut self, retired: &Retired) {
        for (number, value) in retired.out.m() {
            self.set_m(number, value);
        }
        for (number, value) in retired.out.a() {
            self.set_a(number, value);
        }
        self.pc = retired.next;
    }
}

/// The two halves of a word.
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}
