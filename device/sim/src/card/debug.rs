//! The tile debug interface: status, and words executed in a stopped context. [host-driver §16]

use std::collections::BTreeMap;

use tilekiln_chip::csr::number;
use tilekiln_chip::registers::outcome::{INVALID, NOT_QUIESCENT};
use tilekiln_chip::registers::{TDI_BASE, TDI_STRIDE, Tdi, inject};
use tilekiln_chip::{PhysTile, WORKERS};
use tilekiln_isa::NOP;

use super::is_debug;
use crate::stop::Context;
use crate::tile::{State, Tile};

/// `st32 $m0, $m1, $mzero, 0`. [host-driver §16 HW]
const STORE: u32 = 0x4f10_f000;

/// Everything of `get` but its operands.
const GET_MASK: u32 = !inject::get(15, 0xff) | inject::GET;

/// Everything of `put` but its operands.
const PUT_MASK: u32 = !inject::put(0xff, 15) | inject::PUT;

/// The registers of all interfaces that are more than a view of their tile.
#[derive(Clone, Debug, Default)]
pub(super) struct Debug {
    stored: BTreeMap<(PhysTile, u32), u32>,
    status: BTreeMap<PhysTile, u32>,
}

/// The tile and the index of the debug register at `at`.
pub(super) fn place(at: u32) -> Option<(PhysTile, u32)> {
    if !is_debug(at) {
        return None;
    }
    let offset = at - TDI_BASE;
    let tile = PhysTile::new(u16::try_from(offset / TDI_STRIDE).ok()?)?;
    Some((tile, offset % TDI_STRIDE / 4))
}

impl Debug {
    pub fn read(&self, tile: &Tile, index: u32) -> u32 {
        const STATUS: u32 = Tdi::ContextStatus as u32;
        const DATA: u32 = Tdi::Data as u32;
        const OUTCOME: u32 = Tdi::Status as u32;
        const COUNT: u32 = Tdi::IncomingCount as u32;
        const EXCHANGE: u32 = Tdi::ExchangeControl as u32;
        match index {
            STATUS => tile.context_status(),
            DATA => tile.mailbox(),
            OUTCOME => self.status.get(&tile.id).copied().unwrap_or_default(),
            COUNT => tile.csr(number::INCOMING_DCOUNT),
            EXCHANGE => tile.csr(number::EXCHANGE_CTL),
            _ => self
                .stored
                .get(&(tile.id, index))
                .copied()
                .unwrap_or_default(),
        }
    }

    /// `held` says that the tile is not running an application yet.
    pub fn write(&mut self, tile: &mut Tile, index: u32, value: u32, held: bool) {
        const STATUS: u32 = Tdi::ContextStatus as u32;
        const EXECUTE: u32 = Tdi::Execute as u32;
        const CLEAR: u32 = Tdi::ExceptionClear as u32;
        const DATA: u32 = Tdi::Data as u32;
        const OUTCOME: u32 = Tdi::Status as u32;
        const OUTCOME_CLEAR: u32 = Tdi::StatusClear as u32;
        const COUNT: u32 = Tdi::IncomingCount as u32;
        const EXCHANGE: u32 = Tdi::ExchangeControl as u32;
        match index {
            STATUS | OUTCOME | COUNT | EXCHANGE | CLEAR => {}
            EXECUTE => {
                let owner = self.stored.get(&(tile.id, Tdi::Owner as u32)).copied();
                let outcome = if held {
                    NOT_QUIESCENT
                } else {
                    execute(tile, owner.unwrap_or_default(), value)
                };
                *self.status.entry(tile.id).or_default() |= outcome;
            }
            OUTCOME_CLEAR => {
                if let Some(status) = self.status.get_mut(&tile.id) {
                    *status &= !value;
                }
            }
            DATA => tile.set_csr(number::DBG_DATA, value),
            _ => {
                self.stored.insert((tile.id, index), value);
            }
        }
    }
}

/// Executes `word` in context `owner`; returns the bits of `TDI_STS` that it sets.
fn execute(tile: &mut Tile, owner: u32, word: u32) -> u32 {
    let context = match owner {
        0 => Context::Supervisor,
        number if number as usize <= WORKERS => Context::Worker(number as u8 - 1),
        _ => return NOT_QUIESCENT,
    };
    // A supervisor that waits in a sync counts as active here. [host-driver §16]
    if tile.state(context) == State::Active {
        return NOT_QUIESCENT;
    }
    let done = match word {
        NOP => Some(()),
        inject::LOAD => {
            let loaded = tile.memory.load32(tile.m(context, 1)).ok();
            loaded.map(|value| tile.set_m(context, 0, value))
        }
        STORE => {
            let (at, value) = (tile.m(context, 1), tile.m(context, 0));
            tile.memory.store32(at, value).ok()
        }
        _ if word & GET_MASK == inject::GET => {
            let (register, csr) = ((word >> 16 & 15) as usize, (word & 0xff) as u16);
            let value = match context {
                Context::Supervisor => tile.csr(csr),
                Context::Worker(worker) => tile.worker_csr(usize::from(worker), csr),
            };
            tile.set_m(context, register, value);
            Some(())
        }
        _ if word & PUT_MASK == inject::PUT => {
            let (register, csr) = ((word >> 20 & 15) as usize, (word & 0xff) as u16);
            let value = tile.m(context, register);
            let reachable = csr == number::DBG_DATA || context == Context::Supervisor;
            reachable.then(|| tile.set_csr(csr, value))
        }
        _ => None,
    };
    if done.is_some() { 0 } else { INVALID }
}
