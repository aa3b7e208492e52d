//! Rows without tiles: decodes row words and runs a phase on memory images alone.

use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::{MUX_NEUTRAL, ROW_RETURN};
use tilekiln_chip::{ByteAddr, PhysTile, memory};
use tilekiln_isa::op::Op;
use tilekiln_isa::{Decoded, Instruction, Mode, decode};

use super::fault::{Fault, FaultKind};
use super::{Participant, PhaseFacts, resolve};
use crate::memory::Memory;
use crate::settings::Settings;
use crate::tile::{Control, RowLog, Sent};

/// Where a row lies when nobody says otherwise: an element of its own.
pub const ROW_AT: ByteAddr = memory::BASE;

/// The row of one tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileRow {
    /// The tile.
    pub tile: PhysTile,
    /// Machine words, the return included.
    pub words: Vec<u32>,
    /// Where they lie; [`ROW_AT`] will do.
    pub at: ByteAddr,
    /// `$INCOMING_BASE` during the row.
    pub incoming_base: u32,
    /// `$OUTGOING_BASE` during the row.
    pub outgoing_base: u32,
    /// Cycles from the sync's release to event 0; equal on all tiles in a sound phase.
    pub entry: u64,
}

impl TileRow {
    /// A row at [`ROW_AT`] that uses absolute addresses.
    pub fn new(tile: PhysTile, words: Vec<u32>) -> Self {
        Self {
            tile,
            words,
            at: ROW_AT,
            incoming_base: 0,
            outgoing_base: 0,
            entry: 0,
        }
    }
}

/// A phase by itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowProblem {
    /// The rows; every other tile is a bystander.
    pub rows: Vec<TileRow>,
    /// Bytes that lie in memory before the phase.
    pub images: Vec<(PhysTile, ByteAddr, Vec<u8>)>,
    /// Whether stamps must be exact.
    pub strict: bool,
}

/// What a phase left behind.
#[derive(Clone, Debug)]
pub struct RowRun {
    /// Its figures.
    pub facts: PhaseFacts,
    /// The memories of the tiles with rows, in the rows' order.
    pub memories: Vec<(PhysTile, Memory)>,
}

/// Runs one phase.
///
/// # Errors
///
/// Every breach of the rules, in the order of [`resolve`]; breaches of R1 alone if there are any.
pub fn run_rows(problem: &RowProblem, settings: &Settings) -> Result<RowRun, Vec<Fault>> {
    let mut logs = Vec::with_capacity(problem.rows.len());
    let mut faults = Vec::new();
    for row in &problem.rows {
        match row_log(row) {
            Ok(log) => logs.push(log),
            Err(fault) => faults.push(fault),
        }
    }
    let new = |row: &TileRow| (row.tile, Memory::new(row.tile, settings));
    let mut memories: Vec<(PhysTile, Memory)> = problem.rows.iter().map(new).collect();
    for (row, (tile, memory)) in problem.rows.iter().zip(&mut memories) {
        let images = problem.images.iter().filter(|(owner, ..)| owner == tile);
        for (_, at, bytes) in images {
            store(*tile, memory, *at, bytes, &mut faults);
        }
        let words: Vec<u8> = row
            .words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        store(*tile, memory, row.at, &words, &mut faults);
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let pairs = logs.iter().zip(&mut memories);
    let mut participants: Vec<Participant<'_>> = pairs
        .map(|(log, (tile, memory))| Participant {
            tile: *tile,
            log,
            mux: MUX_NEUTRAL,
            memory,
        })
        .collect();
    let facts = resolve(&mut participants, problem.strict)?;
    drop(participants);
    Ok(RowRun { facts, memories })
}

fn store(tile: PhysTile, memory: &mut Memory, at: ByteAddr, bytes: &[u8], into: &mut Vec<Fault>) {
    if memory.write(at.0, bytes).is_err() {
        let kind = FaultKind::Address {
            address: at.0,
            width: 1,
        };
        into.push(Fault {
            tile,
            event: 0,
            kind,
        });
    }
}

/// Decodes a row into what its tile would log.
///
/// # Errors
///
/// R1: a word no row may hold, an odd place, a missing return.
pub fn row_log(row: &TileRow) -> Result<RowLog, Fault> {
    let fault = |event: u32, kind| Fault {
        tile: row.tile,
        event: i64::from(event),
        kind,
    };
    if !row.at.0.is_multiple_of(8) {
        return Err(fault(0, FaultKind::OddPlace { pc: row.at.0 }));
    }
    let mut walk = Walk::new(row);
    while let Some(&word) = walk.words().first() {
        if word == ROW_RETURN {
            return Ok(walk.finish());
        }
        let pc = walk.pc;
        let event = walk.event;
        let bad = || fault(event, FaultKind::NotARow { pc, word });
        let second = walk.words().get(1).copied();
        let decoded = decode(word, second, Mode::Supervisor).map_err(|_| bad())?;
        match decoded {
            Decoded::Solo(instruction) => walk.one(&instruction).ok_or_else(bad)?,
            Decoded::Inline(..) if !pc.is_multiple_of(8) => {
                return Err(fault(event, FaultKind::OddPlace { pc }));
            }
            Decoded::Inline(instruction, data) => walk.two(&instruction, data),
            Decoded::Bundle(_) => return Err(bad()),
        }
    }
    Err(fault(walk.event, FaultKind::NoReturn { pc: walk.pc }))
}

/// A row being walked, in time and in memory.
struct Walk<'a> {
    row: &'a TileRow,
    log: RowLog,
    pc: u32,
    event: u32,
    /// Byte address of the next item of the stream.
    cursor: u32,
    control: u8,
}

impl<'a> Walk<'a> {
    fn new(row: &'a TileRow) -> Self {
        let log = RowLog {
            start: row.entry,
            incoming_base: row.incoming_base,
            ..RowLog::default()
        };
        Self {
            row,
            log,
            pc: row.at.0,
            event: 0,
            cursor: 0,
            control: 0,
        }
    }

    /// The words not walked yet.
    fn words(&self) -> &'a [u32] {
        &self.row.words[((self.pc - self.row.at.0) / 4) as usize..]
    }

    fn finish(mut self) -> RowLog {
        self.log.end = self.event;
        self.log.code = self.row.at.0..self.pc + 4;
        self.log
    }

    /// Applies a one-word instruction; `None` when it is not timed. [exchange §4.1 V]
    fn one(&mut self, instruction: &Instruction) -> Option<()> {
        let [count, second, third, ..] = instruction.values;
        let events = count + 1;
        let stamp = self.event + events;
        match instruction.op() {
            Op::DelayZ19 => {}
            Op::DelaypicZ7Z1Z18 => self.pic(stamp, second, third),
            Op::DelayxpicZ12Z1Z13 => self.xpic(stamp, second, third),
            Op::SendZ6Z18Z3 => {
                self.restart(second, third);
                self.emit(events);
            }
            Op::SendoffZ12Z11Z3 => {
                self.control = third as u8;
                self.cursor = self.cursor.wrapping_add(second * self.width());
                self.emit(events);
            }
            Op::SendpicZ6Z2Z18 => {
                let first = self.event + 1;
                match second {
                    0 | 1 => self.xpic(first, second, third & 0x1fff),
                    _ => self.pic(first, second - 2, third),
                }
                self.emit(events);
            }
            _ => return None,
        }
        self.event += events;
        self.pc += 4;
        Some(())
    }

    /// Applies `sendpicp` with its word of data.
    fn two(&mut self, instruction: &Instruction, data: u32) {
        let [count, address, control, pic_select, ..] = instruction.values;
        let stamp = self.event + 1;
        self.xpic(stamp, data >> 31, data >> 18 & 0x1fff);
        self.pic(stamp, pic_select, data & 0x3_ffff);
        if control & 3 != 0 {
            self.restart(address, control);
            self.emit(count + 1);
        }
        self.event += count + 1;
        self.pc += 8;
    }

    fn width(&self) -> u32 {
        if self.control & 4 != 0 { 8 } else { 4 }
    }

    fn restart(&mut self, address: u32, control: u32) {
        self.control = control as u8;
        self.cursor = self.row.outgoing_base.wrapping_add(address * self.width());
    }

    fn emit(&mut self, items: u32) {
        let Self {
            event,
            cursor: address,
            control,
            pc,
            ..
        } = *self;
        if control & 3 != 0 {
            self.log.sends.push(Sent {
                event,
                items,
                address,
                control,
                pc,
            });
            self.cursor = address.wrapping_add(items * self.width());
        }
    }

    fn xpic(&mut self, stamp: u32, select: u32, value: u32) {
        let register = if select == 0 {
            number::INCOMING_MUX
        } else {
            number::INCOMING_MUXPAIR
        };
        self.log.controls.push(Control {
            stamp,
            register,
            value,
            pc: self.pc,
        });
    }

    fn pic(&mut self, stamp: u32, select: u32, value: u32) {
        let (register, value) = match select {
            0 => (number::INCOMING_DELTA, value << 2),
            _ => (number::INCOMING_FORMAT, value),
        };
        self.log.controls.push(Control {
            stamp,
            register,
            value,
            pc: self.pc,
        });
    }
}
