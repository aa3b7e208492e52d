//! One line an instruction, when asked.

use tilekiln_chip::PhysTile;
use tilekiln_isa::{Mode, print};

use crate::code::words;
use crate::memory::Memory;
use crate::stop::Context;

/// What `mode` executes at `pc`, as text.
pub fn text(memory: &Memory, pc: u32, mode: Mode) -> String {
    match words(memory, pc) {
        (Some(first), second) => print::words(first, second, mode).0,
        (None, _) => "no code".to_owned(),
    }
}

/// Reports the instruction that `context` is about to execute.
pub(crate) fn line(tile: PhysTile, context: Context, pc: u32, cycle: u64, memory: &Memory) {
    let mode = if context == Context::Supervisor {
        Mode::Supervisor
    } else {
        Mode::Worker
    };
    let text = text(memory, pc, mode);
    tracing::trace!(%tile, %context, pc = format_args!("{pc:#x}"), cycles = cycle, "{text}");
}
