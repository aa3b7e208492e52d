//! Control and status registers as the supervisor and the card see them. [isa-core §6]

use tilekiln_chip::csr::number;

use super::{State, Tile};
use crate::exec::system::worker_csr;
use crate::float::Weights;
use crate::memory::ADDRESS;

/// Byte addresses and offsets of words.
const WORD_ADDRESS: u32 = ADDRESS & !3;

/// `$CR` bits. [isa-core §6.2]
mod control {
    pub const CONSENSUS_CLEAR: u32 = 1;
    pub const CONSENSUS_SET: u32 = 2;
    pub const WEIGHTS_ZERO: u32 = 4;
}

/// The bits of supervisor register `csr` that are stored. [isa-core §6.2, isa-float §1.2]
const fn mask(csr: u16) -> u32 {
    match csr {
        number::FP_ICTL => 0x1f_0007,
        number::FP_INFMT => 3,
        number::FP_ISCL => 0x3f,
        number::CCCSLOAD => ADDRESS,
        number::INCOMING_MUX | number::INCOMING_MUXPAIR => 0x7ff,
        number::INCOMING_DELTA
        | number::INCOMING_BASE
        | number::INCOMING_SINIT
        | number::OUTGOING_BASE
        | number::OUTGOING_DELTA => WORD_ADDRESS,
        number::INCOMING_FORMAT => 3,
        number::INCOMING_DCOUNT => 0x1_ffff,
        number::ANS_DCOUNT => 0x7_ffff,
        number::EXCHANGE_ADJ => 0x1f,
        _ => u32::MAX,
    }
}

impl Tile {
    /// A supervisor register.
    pub fn csr(&self, csr: u16) -> u32 {
        match csr {
            number::PC => self.supervisor.pc,
            number::SSR => self.status(),
            number::SCOUNT_L => self.now as u32,
            number::SCOUNT_U => (self.now >> 32) as u32,
            number::CTXT_STS => self.context_status(),
            _ => self.csrs.get(usize::from(csr)).copied().unwrap_or_default(),
        }
    }

    /// Sets a supervisor register, without the effects of a `put`. Bits it does not have are lost.
    pub fn set_csr(&mut self, csr: u16, value: u32) {
        if let Some(register) = self.csrs.get_mut(usize::from(csr)) {
            *register = value & mask(csr);
        }
    }

    /// A register as worker `worker` reads it with `get` or, from 0x100 on, `uget`.
    pub fn worker_csr(&self, worker: usize, csr: u16) -> u32 {
        let it = &self.workers[worker];
        if csr >= 0x100 {
            it.fp.csr(csr)
        } else {
            worker_csr(it, csr, self.now, self.mailbox())
        }
    }

    /// `$DBG_DATA`, which all contexts and the debug interface share.
    pub fn mailbox(&self) -> u32 {
        self.csr(number::DBG_DATA)
    }

    /// `$SSR`.
    fn status(&self) -> u32 {
        let etype = self.csrs[usize::from(number::SSR)];
        u32::from(self.local_consensus)
            | u32::from(self.global_consensus) << 1
            | u32::from(self.csr(number::ANS_DCOUNT) > 0) << 2
            | u32::from(self.refused_launch) << 3
            | etype << 4
    }

    /// Notes the supervisor's exception in `$SSR`.
    pub(super) fn note_exception(&mut self, etype: u32) {
        self.csrs[usize::from(number::SSR)] = etype & 0xf;
    }

    /// `$CTXT_STS`: two bits a context, the supervisor lowest, and the receive error.
    pub fn context_status(&self) -> u32 {
        let supervisor = if self.supervisor.may_issue() {
            State::Active
        } else if self.supervisor.state == State::Active {
            // A waiting supervisor shows as inactive. [A-CTXT0]
            State::Inactive
        } else {
            self.supervisor.state
        };
        let workers = self.workers.iter().map(|worker| worker.state);
        let errors = self.csrs[usize::from(number::CTXT_STS)];
        core::iter::once(supervisor)
            .chain(workers)
            .enumerate()
            .fold(errors, |bits, (i, state)| bits | (state as u32) << (2 * i))
    }

    /// Sets `$CTXT_STS.ERERR`, the receive error. [exchange §10 V]
    pub fn set_receive_error(&mut self, code: u32) {
        self.csrs[usize::from(number::CTXT_STS)] = (code & 7) << 27;
    }

    /// A `put` to `$CR`.
    pub(crate) fn control(&mut self, actions: u32) {
        if actions & control::CONSENSUS_CLEAR != 0 {
            self.local_consensus = false;
        }
        if actions & control::CONSENSUS_SET != 0 {
            self.local_consensus = true;
        }
        if actions & control::WEIGHTS_ZERO != 0 {
            self.weights = Weights::default();
        }
    }

    /// `$INCOMING_DELTA` as every `sync` leaves it. [exchange §5 V]
    pub(crate) fn reload_pointer(&mut self) {
        self.set_csr(number::INCOMING_DELTA, self.csr(number::INCOMING_SINIT));
    }

    /// Clears the exceptions of the contexts in `mask`, supervisor lowest; they go on where they
    /// stopped. [isa-core §7 obs]
    pub fn clear_exceptions(&mut self, mask: u32) {
        let excepted = |state| matches!(state, State::Excepted | State::ExceptedDebug);
        if mask & 1 != 0 && excepted(self.supervisor.state) {
            self.supervisor.state = State::Active;
            self.supervisor.stop = None;
        }
        for (i, worker) in self.workers.iter_mut().enumerate() {
            if mask >> (i + 1) & 1 != 0 && excepted(worker.state) {
                worker.state = State::Active;
                worker.stop = None;
                self.active |= 1 << i;
            }
        }
    }
}
