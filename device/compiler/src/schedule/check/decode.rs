//! Row words → what the tile sends and which controls it applies when.

use tilekiln_chip::{ByteAddr, TileId, memory};
use tilekiln_isa::op::Op;
use tilekiln_isa::{Decoded, Instruction, Mode, decode};

use super::{CheckError, Span};
use crate::schedule::Row;

/// One tile's row, understood.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub tile: TileId,
    /// Uninterrupted runs of words, in order.
    pub sends: Vec<Sent>,
    /// Multiplexer stamps and values, in order.
    pub mux: Vec<(i64, u32)>,
    /// Pointer stamps and byte addresses, in order.
    pub pointers: Vec<(i64, u32)>,
    /// When the row returns.
    pub end: i64,
}

/// Words leaving on consecutive events from consecutive addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub at: Span,
    /// Byte address of the first word.
    pub from: u32,
    /// Directions driven, as bits.
    pub ctl: u32,
}

/// Decodes a row. [exchange §4]
pub(super) fn row(row: &Row) -> Result<Program, CheckError> {
    let (tile, words) = (row.tile, &row.words);
    let program = Program {
        tile,
        sends: Vec::new(),
        mux: Vec::new(),
        pointers: Vec::new(),
        end: 0,
    };
    let mut reader = Reader {
        program,
        index: 0,
        stream: None,
    };
    while let Some(&first) = words.get(reader.index) {
        let second = words.get(reader.index + 1).copied();
        let index = reader.index;
        let word = |fault| CheckError::Word { tile, index, fault };
        match decode(first, second, Mode::Supervisor).map_err(word)? {
            Decoded::Solo(instruction) if instruction.op() == Op::BrM => {
                let returns = instruction.values[0] == 10 && index + 1 == words.len();
                let rule = "the only branch of a row is br $m10, in the end";
                return if returns {
                    Ok(reader.program)
                } else {
                    reader.refuse(&instruction, rule)
                };
            }
            Decoded::Solo(instruction) => reader.solo(&instruction)?,
            Decoded::Inline(instruction, data) => reader.inline(&instruction, data)?,
            Decoded::Bundle(bundle) => {
                return reader.refuse(&bundle.main, "supervisors execute no bundles");
            }
        }
        reader.index += 1;
    }
    Err(CheckError::NoReturn {
        tile,
        words: words.len(),
    })
}

/// The state between two instructions of a row.
struct Reader {
    program: Program,
    index: usize,
    /// Where the stream goes on, and the directions it drives, after a send.
    stream: Option<(u32, u32)>,
}

impl Reader {
    fn refuse<T>(&self, instruction: &Instruction, rule: &'static str) -> Result<T, CheckError> {
        let mnemonic = instruction.form.mnemonic;
        Err(CheckError::Instruction {
            tile: self.program.tile,
            index: self.index,
            mnemonic,
            rule,
        })
    }

    /// Runs one instruction of one word.
    fn solo(&mut self, instruction: &Instruction) -> Result<(), CheckError> {
        let [a, b, c, ..] = instruction.values;
        let items = i64::from(a) + 1;
        let now = self.program.end;
        match instruction.op() {
            Op::DelayZ19 => self.program.end += items,
            Op::DelayxpicZ12Z1Z13 => {
                self.control(instruction, now + items, b, c)?;
                self.program.end += items;
            }
            Op::DelaypicZ7Z1Z18 => {
                self.control(instruction, now + items, 2 + b, c)?;
                self.program.end += items;
            }
            Op::SendZ6Z18Z3 => self.send(instruction, items, Some(4 * b), Some(c))?,
            Op::SendoffZ12Z11Z3 if b != 0 => {
                return self.refuse(instruction, "other distances than 0 are not proven");
            }
            Op::SendoffZ12Z11Z3 => self.send(instruction, items, None, Some(c))?,
            Op::SendpicZ6Z2Z18 => {
                self.control(instruction, now + 1, b, c)?;
                self.send(instruction, items, None, None)?;
            }
            _ => return self.refuse(instruction, "a row holds timed instructions only"),
        }
        Ok(())
    }

    /// Runs `sendpicp`.
    fn inline(&mut self, instruction: &Instruction, data: u32) -> Result<(), CheckError> {
        if !self.index.is_multiple_of(2) {
            return self.refuse(instruction, "it lies on a multiple of 8");
        }
        let [a, address, ctl, select, ..] = instruction.values;
        let (items, now) = (i64::from(a) + 1, self.program.end);
        self.control(instruction, now + 1, data >> 31, data >> 18 & 0x1fff)?;
        self.control(instruction, now + 1, 2 + select, data & 0x3_ffff)?;
        if ctl == 0 {
            self.stream = None;
            self.program.end += items;
        } else {
            let continues = self
                .program
                .sends
                .last()
                .is_some_and(|last| last.at.end == now);
            if !continues {
                return self.refuse(instruction, "it is not proven as the first of a message");
            }
            self.send(instruction, items, Some(4 * address), Some(ctl))?;
        }
        self.index += 1;
        Ok(())
    }

    /// Applies a control; `register` counts from the multiplexer.
    fn control(
        &mut self,
        instruction: &Instruction,
        stamp: i64,
        register: u32,
        value: u32,
    ) -> Result<(), CheckError> {
        match register {
            0 => self.program.mux.push((stamp, value)),
            2 => self.program.pointers.push((stamp, 4 * value)),
            _ => return self.refuse(instruction, "controls of pairs are not supported"),
        }
        Ok(())
    }

    /// Emits `items` words from `from`, or from where the stream is.
    fn send(
        &mut self,
        instruction: &Instruction,
        items: i64,
        from: Option<u32>,
        ctl: Option<u32>,
    ) -> Result<(), CheckError> {
        let open = self.stream;
        let (Some(from), Some(ctl)) = (from.or(open.map(|it| it.0)), ctl.or(open.map(|it| it.1)))
        else {
            return self.refuse(instruction, "it continues a stream, and there is none");
        };
        if ctl == 0 || ctl > 3 {
            return self.refuse(instruction, "a send drives 32 bits in direction 1, 2 or 3");
        }
        if instruction.op() == Op::SendoffZ12Z11Z3 && open.map(|it| it.1) != Some(ctl) {
            return self.refuse(instruction, "it drives other directions than its message");
        }
        let words = items as u32;
        let (tile, at) = (self.program.tile, ByteAddr(from));
        if !memory::contains(at, 4 * words) {
            return Err(CheckError::OutsideMemory { tile, at, words });
        }
        let now = self.program.end;
        self.program.end += items;
        self.stream = Some((from + 4 * words, ctl));
        match self.program.sends.last_mut() {
            Some(last) if last.at.end == now && open == Some((from, ctl)) && last.ctl == ctl => {
                last.at.end += items;
            }
            _ => self.program.sends.push(Sent {
                at: now..now + items,
                from,
                ctl,
            }),
        }
        Ok(())
    }
}
