//! Floating point and the matrix unit: state, and the functions of the aux lane.

use tilekiln_isa::op::Op;

use crate::exec::AuxFn;

/// The floating-point state of one worker.
#[derive(Clone, Debug, Default)]
pub struct FpState {
    /// The accumulators.
    pub acc: [u32; 32],
}

impl FpState {
    /// Reads CSR `number`, 0x100 to 0x10a; write-only registers read 0.
    pub fn csr(&self, _number: u16) -> u32 {
        0
    }

    /// Writes CSR `number`, 0x100 to 0x10a.
    pub fn set_csr(&mut self, _number: u16, _value: u32) {}

    /// What a launch sets.
    pub fn launch(&mut self, _ictl: u32, _infmt: u32, _iscl: u32) {}
}

/// The weights of one tile: `CCCS[0..64]`.
#[derive(Clone, Debug)]
pub struct Weights {
    words: [u64; 64],
}

impl Default for Weights {
    fn default() -> Self {
        Self { words: [0; 64] }
    }
}

impl Weights {
    /// Weight word `index`.
    pub fn get(&self, index: usize) -> u64 {
        self.words[index]
    }

    /// Sets weight word `index`.
    pub fn set(&mut self, index: usize, value: u64) {
        self.words[index] = value;
    }
}

/// The function of an aux form of the float families.
pub(crate) fn lookup(_op: Op) -> Option<AuxFn> {
    None
}
