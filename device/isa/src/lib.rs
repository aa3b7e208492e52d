//! The instruction set of the IPU21 as a table, and the four readers of that table.
//!
//! ```text
//!            table: 368 forms, 29 aliases, 3 pseudo-instructions
//!               │            │             │            │
//! text ──► parse ──► Instruction ──► encode ──► words ──► decode ──► Instruction ──► print ──► text
//! ```
//!
//! # Where to start
//!
//! [`form::Form`] is one line of the table, [`Instruction`] one line with values in its operands.
//! Generated code is built with [`Instruction::new`]; an assembler asks [`parse::select`].
//!
//! # What is never here
//!
//! - Sections, labels, files and expressions over symbols: that is the assembler.
//! - What an instruction does: that is the simulator.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod decode;
pub mod encode;
pub mod form;
mod instruction;
pub mod op;
pub mod parse;
pub mod print;
pub mod register;
pub mod table;

/// The word of `nop`, which fills code up to an alignment. [isa-encoding §7.3]
pub const NOP: u32 = 0x19e0_0000;

pub use decode::{DecodeError, decode, decode_word};
pub use encode::{encode, encode_bundle};
pub use instruction::{Decoded, ExecutionBundle, Instruction, Mode, ValueError, Written};
