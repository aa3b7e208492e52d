//! Decoded instructions: each address is decoded once, until one of its bytes is written.

use core::ops::Range;

use tilekiln_chip::csr::{self, Access, Space};
use tilekiln_chip::memory::{BASE, ELEMENT_BYTES, INTERLEAVED};
use tilekiln_isa::form::{CONTROL, Direction, Form, Kind, Lane, SYSTEM};
use tilekiln_isa::op::Op;
use tilekiln_isa::{DecodeError, Decoded, Instruction, Mode, decode};

use crate::exec::{self, AuxFn, Main, MainFn, check_code};
use crate::memory::{CODE_BLOCKS, Memory};
use crate::stop::Fault;
use crate::tile::supervisor::SupervisorFn;

/// Words of a block.
const WORDS: usize = ELEMENT_BYTES as usize / 4;

/// Marks an index entry whose slot no longer holds what memory says, but may be used again.
const STALE: u16 = 0x8000;

/// What a worker executes at an address.
#[derive(Clone, Debug)]
pub(crate) struct WorkerSlot {
    pub main: MainFn,
    pub main_values: [u32; 5],
    pub aux: Option<AuxFn>,
    pub aux_values: [u32; 5],
    /// Whether the aux instruction may raise floating-point exceptions.
    pub watched: bool,
    /// 4 or 8.
    pub bytes: u8,
    /// Whether it may stand in a repeat body.
    pub repeatable: bool,
    /// What is wrong with it whatever the registers hold.
    pub fault: Option<Box<Fault>>,
}

/// What the supervisor executes at an address.
#[derive(Clone, Debug)]
pub(crate) struct SupervisorSlot {
    pub act: Act,
    pub values: [u32; 5],
    /// Main registers read, a bit each.
    pub sources: u16,
    /// Main registers written, a bit each.
    pub results: u16,
    /// 4 or 8.
    pub bytes: u8,
    /// Whether it belongs to the event clock of a row.
    pub timed: bool,
    /// Whether it starts workers.
    pub launch: bool,
    /// Whether it may stand between timed instructions without ending the row.
    pub filler: bool,
    /// What is wrong with it whatever the registers hold.
    pub fault: Option<Box<Fault>>,
}

/// How a supervisor instruction is executed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// As workers do.
    Common(MainFn),
    /// With the whole tile at hand.
    System(SupervisorFn),
}

/// The decoded instructions of one tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    workers: Cache<WorkerSlot>,
    supervisor: Cache<SupervisorSlot>,
}

impl Code {
    /// What a worker executes at `pc`.
    #[inline]
    pub fn worker(&mut self, memory: &mut Memory, pc: u32) -> Result<&WorkerSlot, Fault> {
        if self.workers.find(pc).is_none() {
            check_code(pc)?;
            self.workers.insert(pc, worker_slot(memory, pc));
            watch(memory, pc);
        }
        self.workers
            .find(pc)
            .ok_or(Fault::CodeAddress { at: pc, align: 4 })
    }

    /// What the supervisor executes at `pc`.
    #[inline]
    pub fn supervisor(&mut self, memory: &mut Memory, pc: u32) -> Result<&SupervisorSlot, Fault> {
        if self.supervisor.find(pc).is_none() {
            check_code(pc)?;
            self.supervisor.insert(pc, supervisor_slot(memory, pc));
            watch(memory, pc);
        }
        self.supervisor
            .find(pc)
            .ok_or(Fault::CodeAddress { at: pc, align: 4 })
    }

    /// Forgets what was decoded from bytes written since the last call.
    #[inline]
    pub fn refresh(&mut self, memory: &mut Memory) {
        if !memory.touched.is_empty() {
            for range in memory.touched.drain(..) {
                self.workers.forget(range.clone());
                self.supervisor.forget(range);
            }
        }
    }
}

/// Has `memory` note writes to the bytes of the instruction at `pc`.
fn watch(memory: &mut Memory, pc: u32) {
    for at in [pc, pc + 4] {
        if at < INTERLEAVED.0 {
            memory.watched[((at - BASE.0) / ELEMENT_BYTES) as usize] = true;
        }
    }
}

/// Slots by address.
#[derive(Clone, Debug)]
struct Cache<S> {
    blocks: [Option<Box<Block<S>>>; CODE_BLOCKS],
}

#[derive(Clone, Debug)]
struct Block<S> {
    /// For each word: 0, or its slot's number plus one, with [`STALE`].
    index: [u16; WORDS],
    slots: Vec<S>,
}

impl<S> Default for Cache<S> {
    fn default() -> Self {
        Self {
            blocks: [const { None }; CODE_BLOCKS],
        }
    }
}

impl<S> Cache<S> {
    #[inline]
    fn find(&self, pc: u32) -> Option<&S> {
        let offset = pc.wrapping_sub(BASE.0).rotate_right(2) as usize;
        let block = self.blocks.get(offset / WORDS)?.as_ref()?;
        let entry = block.index[offset % WORDS];
        // An empty entry wraps to a number no slot has; so does a stale one.
        block.slots.get(usize::from(entry.wrapping_sub(1)))
    }

    fn insert(&mut self, pc: u32, slot: S) {
        let offset = (pc - BASE.0) as usize / 4;
        let block = self.blocks[offset / WORDS].get_or_insert_with(|| {
            Box::new(Block {
                index: [0; WORDS],
                slots: Vec::new(),
            })
        });
        let entry = &mut block.index[offset % WORDS];
        match (*entry & !STALE).checked_sub(1) {
            Some(number) => block.slots[usize::from(number)] = slot,
            None => block.slots.push(slot),
        }
        if *entry == 0 {
            *entry = block.slots.len() as u16;
        }
        *entry &= !STALE;
    }

    /// Marks what was decoded from any byte of `range`, two-word instructions included.
    fn forget(&mut self, range: Range<u32>) {
        let first = (range.start - BASE.0) as usize / 4;
        let last = (range.end - 1 - BASE.0) as usize / 4;
        for offset in first.saturating_sub(1)..=last {
            if let Some(block) = &mut self.blocks[offset / WORDS] {
                let entry = &mut block.index[offset % WORDS];
                if *entry != 0 {
                    *entry |= STALE;
                }
            }
        }
    }
}

/// The words at `pc` and behind it, where there is code.
pub(crate) fn words(memory: &Memory, pc: u32) -> (Option<u32>, Option<u32>) {
    let word = |at| check_code(at).and_then(|()| memory.load32(at)).ok();
    (word(pc), word(pc.wrapping_add(4)))
}

/// What a context in `mode` finds at `pc`.
fn fetch(memory: &Memory, pc: u32, mode: Mode) -> Result<Decoded, Fault> {
    let (first, second) = words(memory, pc);
    let first = first.ok_or(Fault::CodeAddress { at: pc, align: 4 })?;
    decode(first, second, mode).map_err(|error| match error {
        DecodeError::BadGroup { first: number, .. } => Fault::OddGroup {
            number: number.into(),
        },
        DecodeError::WritesTwice { register } => Fault::SameDestination {
            number: register.first.into(),
        },
        DecodeError::LoneCoissue { first, second } => Fault::Pairing { first, second },
        DecodeError::WrongLane { .. } => Fault::Pairing {
            first,
            second: second.unwrap_or_default(),
        },
        _ => Fault::Encoding { word: first },
    })
}

fn idle(_: &[u32; 5], _: &mut Main<'_>) -> Result<(), Fault> {
    Ok(())
}

/// Decodes what a worker executes at `pc`.
fn worker_slot(memory: &Memory, pc: u32) -> WorkerSlot {
    let mut slot = WorkerSlot {
        main: idle,
        main_values: [0; 5],
        aux: None,
        aux_values: [0; 5],
        watched: false,
        bytes: 4,
        repeatable: false,
        fault: None,
    };
    match fetch(memory, pc, Mode::Worker) {
        Err(fault) => {
            slot.repeatable = fault.rank() > 1;
            slot.fault = Some(Box::new(fault));
        }
        Ok(Decoded::Bundle(bundle)) => {
            slot.bytes = 8;
            let repeatable = |form: &Form| !form.traits.has(CONTROL) && !form.traits.has(SYSTEM);
            slot.repeatable = repeatable(bundle.main.form) && repeatable(bundle.aux.form);
            slot.load(&bundle.main);
            slot.load(&bundle.aux);
        }
        Ok(Decoded::Solo(instruction) | Decoded::Inline(instruction, _)) => {
            slot.load(&instruction);
        }
    }
    slot
}

impl WorkerSlot {
    /// Takes one instruction into its lane.
    fn load(&mut self, instruction: &Instruction) {
        let form = instruction.form;
        let missing = Fault::Unsupported(form.mnemonic);
        let fault = match form.lane {
            Lane::Main => {
                self.main_values = instruction.values;
                let function = worker_main(form.op);
                self.main = function.unwrap_or(idle);
                function.is_none().then_some(missing)
            }
            Lane::Aux => {
                self.aux_values = instruction.values;
                self.aux = exec::aux_lane(form.op);
                self.watched = crate::float::lookup(form.op).is_some();
                self.aux.is_none().then_some(missing)
            }
        };
        let fault = operand_fault(instruction, Mode::Worker).or(fault);
        if let Some(fault) = fault
            && self
                .fault
                .as_ref()
                .is_none_or(|old| fault.rank() < old.rank())
        {
            self.fault = Some(Box::new(fault));
        }
    }
}

/// The function of a main-lane form in a worker.
pub(crate) fn worker_main(op: Op) -> Option<MainFn> {
    exec::main_lane(op).or_else(|| exec::system::worker(op))
}

/// Decodes what the supervisor executes at `pc`.
fn supervisor_slot(memory: &Memory, pc: u32) -> SupervisorSlot {
    let mut slot = SupervisorSlot {
        act: Act::Common(idle),
        values: [0; 5],
        sources: 0,
        results: 0,
        bytes: 4,
        timed: false,
        launch: false,
        filler: false,
        fault: None,
    };
    let (instruction, data) = match fetch(memory, pc, Mode::Supervisor) {
        Ok(Decoded::Solo(instruction)) => (instruction, None),
        Ok(Decoded::Inline(instruction, data)) => (instruction, Some(data)),
        Ok(Decoded::Bundle(bundle)) => (bundle.main, None),
        Err(fault) => {
            slot.fault = Some(Box::new(fault));
            return slot;
        }
    };
    let op = instruction.form.op;
    slot.values = instruction.values;
    slot.fault = operand_fault(&instruction, Mode::Supervisor).map(Box::new);
    if let Some(data) = data {
        // Inline data come after the operands.
        slot.values[4] = data;
        slot.bytes = 8;
        if !pc.is_multiple_of(8) {
            slot.fault = Some(Box::new(Fault::CodeAddress { at: pc, align: 8 }));
        }
    }
    (slot.sources, slot.results) = registers(&instruction);
    if exec::system::drains(&instruction) {
        // The cost of such a `put` includes waiting for its source.
        slot.sources = 0;
    }
    slot.launch = matches!(op, Op::RunMMZ16 | Op::RunallMMZ16);
    slot.timed = exec::exchange::is_timed(op);
    slot.filler = exec::exchange::is_filler(&instruction);
    match supervisor_act(op) {
        Some(act) => slot.act = act,
        None => slot.fault = Some(Box::new(Fault::Unsupported(instruction.form.mnemonic))),
    }
    slot
}

/// How the supervisor executes a form.
pub(crate) fn supervisor_act(op: Op) -> Option<Act> {
    let system = exec::system::supervisor(op)
        .or_else(|| exec::exchange::supervisor(op))
        .or_else(|| exec::matrix::supervisor(op));
    system
        .map(Act::System)
        .or_else(|| exec::main_lane(op).map(Act::Common))
}

/// The main registers an instruction reads and writes, as masks.
fn registers(instruction: &Instruction) -> (u16, u16) {
    let (mut sources, mut results) = (0, 0);
    for (operand, value) in instruction.operands() {
        if operand.kind == Kind::M && value < 15 {
            let bit = 1 << value;
            sources |= if operand.direction == Direction::Out {
                0
            } else {
                bit
            };
            results |= if operand.direction == Direction::In {
                0
            } else {
                bit
            };
        }
    }
    (sources, results)
}

/// Operand rules that hold whatever the registers do.
fn operand_fault(instruction: &Instruction, mode: Mode) -> Option<Fault> {
    let v = &instruction.values;
    let lower = if mode == Mode::Worker {
        Space::Worker
    } else {
        Space::Supervisor
    };
    match instruction.form.op {
        Op::GetMCsr => csr_fault(v[1], lower, false),
        Op::PutCsrM => csr_fault(v[0], lower, true),
        Op::UgetACsr => csr_fault(0x100 + v[1], Space::WorkerUpper, false),
        Op::UputCsrA => csr_fault(0x100 + v[0], Space::WorkerUpper, true),
        _ => overlap(instruction),
    }
}

/// A register that does not exist, or is written though it is read-only. Write-only ones read 0.
fn csr_fault(number: u32, space: Space, write: bool) -> Option<Fault> {
    match csr::by_number(number as u16, space) {
        None => Some(Fault::NoSuchCsr { csr: number }),
        Some(register) if write && register.access == Access::Read => {
            Some(Fault::CsrReadOnly { csr: number })
        }
        Some(_) => None,
    }
}

/// Two aux results of one instruction that meet. [isa-core §3.6 doc]
fn overlap(instruction: &Instruction) -> Option<Fault> {
    let aux = || instruction.written().filter(|written| written.aux);
    aux().enumerate().find_map(|(i, one)| {
        let meets = aux().skip(i + 1).any(|other| one.overlaps(other));
        meets.then_some(Fault::SameDestination {
            number: one.first.into(),
        })
    })
}
