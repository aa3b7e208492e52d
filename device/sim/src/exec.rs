//! What instructions do: one file for each of the table's files, under the same name.
//!
//! An instruction never changes the tile itself. A main-lane function reads the state before the
//! execution bundle and notes its results in [`Effects`]; an aux-lane function returns its
//! registers. The tile commits both when neither has failed, so a faulting execution bundle leaves
//! no trace.

pub(crate) mod control;
pub(crate) mod exchange;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod matrix;
pub(crate) mod memory;
pub(crate) mod random;
pub(crate) mod system;
pub(crate) mod vector;

use tilekiln_chip::{ByteAddr, memory::is_executable};
use tilekiln_isa::op::Op;

use crate::float::{FpState, Weights};
use crate::memory::Memory;
use crate::settings::Settings;
use crate::stop::Fault;
use crate::tile::worker::{Repeat, Worker};

/// The function of an aux-lane form: operand values in assembly order, and the state it works on.
///
/// On `Err` it has changed nothing.
pub(crate) type AuxFn = fn(&[u32; 5], &mut AuxState<'_>) -> Result<AuxResult, AuxFault>;

/// What an aux instruction sees.
pub(crate) struct AuxState<'a> {
    /// The aux registers before the execution bundle; `a8` and up read 0.
    pub a: [u32; 16],
    /// This worker's floating-point state.
    pub fp: &'a mut FpState,
    /// The tile's weights.
    pub weights: &'a Weights,
    /// The options.
    pub settings: &'a Settings,
}

/// What an aux instruction gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AuxResult {
    /// The first register written.
    pub first: u8,
    /// How many registers are written, from `first` on.
    pub count: u8,
    /// Their values.
    pub values: [u32; 4],
    /// Issue slots taken, at least one.
    pub slots: u8,
}

/// Why an aux instruction has no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AuxFault {
    /// An enabled floating-point exception.
    FloatingPoint,
    /// The documents leave it open.
    Undefined(&'static str),
}

impl From<AuxFault> for Fault {
    fn from(fault: AuxFault) -> Self {
        match fault {
            AuxFault::FloatingPoint => Self::FloatingPoint,
            AuxFault::Undefined(what) => Self::Undefined(what),
        }
    }
}

/// The function of a main-lane form that reads registers and memory only: operand values in
/// assembly order, and the state before the execution bundle together with the effects so far.
pub(crate) type MainFn = fn(&[u32; 5], &mut Main<'_>) -> Result<(), Fault>;

/// What a main-lane instruction sees, and what it wants done.
pub(crate) struct Main<'a> {
    /// The main registers before the execution bundle; `m12` and up hold what they read as.
    pub m: &'a [u32; 16],
    /// The aux registers before the execution bundle; `a8` and up are 0.
    pub a: &'a [u32; 16],
    /// The tile's memory.
    pub memory: &'a Memory,
    /// The worker that executes; `None` for the supervisor.
    pub worker: Option<&'a Worker>,
    /// The options.
    pub settings: &'a Settings,
    /// The tile clock.
    pub cycle: u64,
    /// `$DBG_DATA`.
    pub mailbox: u32,
    /// Address of the next execution bundle; a branch changes it.
    pub next: u32,
    /// Whether a branch was taken.
    pub taken: bool,
    /// What is to happen when the execution bundle retires. It stays where it is: copying what was
    /// just written piece by piece stalls the host.
    pub out: &'a mut Effects,
}

/// What a main-lane instruction changes when its execution bundle retires.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effects {
    m_count: u32,
    a_count: u32,
    m: [(u32, u32); 3],
    a: [(u32, u32); 4],
    /// A store, its address checked.
    pub store: Store,
    /// What else.
    pub then: Then,
}

/// A store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Store {
    /// None.
    #[default]
    None,
    /// 32 bits.
    Word(u32, u32),
    /// 64 bits.
    Double(u32, u64),
}

/// What a main-lane instruction does besides registers and memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Then {
    /// Nothing.
    #[default]
    Nothing,
    /// The worker ends with this status bit.
    Exit(bool),
    /// A repeat begins, or is skipped when its count is 0.
    Repeat(Repeat),
    /// `$DBG_DATA` is written.
    Mailbox(u32),
}

impl Effects {
    /// The main registers written, in order; a later write wins.
    #[inline]
    pub fn m(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let written = self.m.iter().take(self.m_count as usize);
        written.map(|&(number, value)| (number as usize, value))
    }

    /// The aux registers written.
    #[inline]
    pub fn a(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let written = self.a.iter().take(self.a_count as usize);
        written.map(|&(number, value)| (number as usize, value))
    }
}

impl Main<'_> {
    /// A main register.
    #[inline]
    pub fn m(&self, number: u32) -> u32 {
        self.m[number as usize & 15]
    }

    /// An aux register.
    #[inline]
    pub fn a(&self, number: u32) -> u32 {
        self.a[number as usize & 15]
    }

    /// A pair of aux registers.
    #[inline]
    pub fn a64(&self, number: u32) -> u64 {
        u64::from(self.a(number)) | u64::from(self.a(number + 1)) << 32
    }

    /// Notes a result in a main register.
    #[inline]
    pub fn set_m(&mut self, number: u32, value: u32) {
        self.out.m[self.out.m_count as usize % 3] = (number, value);
        self.out.m_count += 1;
    }

    /// Notes a result in an aux register.
    #[inline]
    pub fn set_a(&mut self, number: u32, value: u32) {
        self.out.a[self.out.a_count as usize % 4] = (number, value);
        self.out.a_count += 1;
    }

    /// Notes a result in a pair of aux registers.
    #[inline]
    pub fn set_a64(&mut self, number: u32, value: u64) {
        self.set_a(number, value as u32);
        self.set_a(number + 1, (value >> 32) as u32);
    }

    /// Goes on at `target`.
    pub fn branch(&mut self, target: u32) -> Result<(), Fault> {
        check_code(target)?;
        self.next = target;
        self.taken = true;
        Ok(())
    }

    /// Where the documents only let one assume: stops when strict, logs otherwise.
    pub fn edge(&self, what: &'static str) -> Result<(), Fault> {
        edge(self.settings, what)
    }
}

/// See [`Main::edge`].
pub(crate) fn edge(settings: &Settings, what: &'static str) -> Result<(), Fault> {
    if settings.strict {
        return Err(Fault::Undefined(what));
    }
    tracing::debug!(what, "took an assumed default");
    Ok(())
}

/// Whether an instruction may be fetched from `at`.
#[inline]
pub(crate) fn check_code(at: u32) -> Result<(), Fault> {
    if is_executable(ByteAddr(at)) {
        Ok(())
    } else {
        Err(Fault::CodeAddress { at, align: 4 })
    }
}

/// The main-lane function of `op` that both contexts, or workers alone, execute.
pub(crate) fn main_lane(op: Op) -> Option<MainFn> {
    integer::main_lane(op)
        .or_else(|| memory::main_lane(op))
        .or_else(|| control::main_lane(op))
}

/// The aux-lane function of `op`.
pub(crate) fn aux_lane(op: Op) -> Option<AuxFn> {
    integer::aux_lane(op)
        .or_else(|| system::aux_lane(op))
        .or_else(|| crate::float::lookup(op))
}
