//! Floating point and the matrix unit: state, and the functions of the aux lane.
//!
//! Every bit comes from integer arithmetic, from the IEEE operations the host and the chip share,
//! or from `libm`, which is part of the program: results are equal on every host.
//!
//! # Where to start
//!
//! [`FpState`] is what one worker owns, [`Weights`] what its tile owns. `lookup` gives the function
//! of a form; `issue` calls it and honours the exception enables.

pub(crate) mod exact;
pub(crate) mod f8;
mod functions;
pub(crate) mod lanes;
pub(crate) mod matrix;
pub(crate) mod operands;
pub(crate) mod random;
pub(crate) mod round;
pub(crate) mod single;
mod weights;

use tilekiln_chip::csr::number;
use tilekiln_isa::op::Op;

use crate::exec::{self, AuxFault, AuxFn, AuxResult, AuxState};
use crate::settings::{Settings, garbage};
use random::Prng;

#[cfg(test)]
mod tests;

pub(crate) use functions::Function;
pub use weights::Weights;

/// Bits of `$FP_STS`, and of the enables in `$FP_CTL`. [isa-float §1.2]
pub(crate) mod flag {
    use tilekiln_chip::csr::field;

    /// Invalid operation.
    pub(crate) const INV: u32 = 1 << field::FP_CTL_INV.0;
    /// Division by zero.
    pub(crate) const DIV0: u32 = 1 << field::FP_CTL_DIV0.0;
    /// Overflow.
    pub(crate) const OFLO: u32 = 1 << field::FP_CTL_OFLO.0;
    /// All three.
    pub(crate) const ALL: u32 = INV | DIV0 | OFLO;
}

/// Fields of `$FP_CTL`, and of `$FP_CLR`. [isa-float §1.2]
pub(crate) mod control {
    use tilekiln_chip::csr::field;

    /// Rounding mode; only 0, nearest even, is known. [isa-float Q4]
    pub(crate) const RND: u32 = 7 << 16;
    /// Stochastic rounding of half results.
    pub(crate) const ESR: u32 = 1 << field::FP_CTL_ESR.0;
    /// Half and f8 overflow gives a NaN.
    pub(crate) const NANOO: u32 = 1 << field::FP_CTL_NANOO.0;
    /// In `$FP_CLR`: zero the accumulators.
    pub(crate) const ZAACC: u32 = 1 << field::FP_CLR_ZAACC.0;
}

/// What `$TAS` holds after a form that uses it as scratch: a NaN in every reading.
const POISON: u32 = 0x7fff_7fff;

/// The floating-point state of one worker.
///
/// The accumulators are kept the way the matrix unit sees them. Unit `u` of set `s` owns running
/// sum `A[16s + 2u]` and delay line cell `A[16s + 2u + 1]`. [isa-float §3.8]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FpState {
    running: [u32; 16],
    delay: [u32; 16],
    pub(crate) ctl: u32,
    pub(crate) sts: u32,
    pub(crate) nfmt: u32,
    pub(crate) scl: u32,
    pub(crate) prng: Prng,
    tas: u32,
    /// Whether a program has written `$TAS` since it was last undefined.
    tas_is_known: bool,
}

impl FpState {
    /// A worker nobody has used: accumulators, generator and scratch hold garbage, which `fill`
    /// decides.
    pub fn new(fill: u64) -> Self {
        let word = |index| garbage(fill, 0x4670, index);
        let mut fp = Self {
            prng: Prng::new(word(32), word(33)),
            ..Self::default()
        };
        for index in 0..32 {
            fp.set_acc(index, word(index as u64) as u32);
        }
        fp.tas = word(34) as u32;
        fp
    }

    /// Accumulator `index`, 0 to 31.
    pub fn acc(&self, index: usize) -> u32 {
        let cells = if index.is_multiple_of(2) {
            &self.running
        } else {
            &self.delay
        };
        cells[index / 2]
    }

    /// Sets accumulator `index`, 0 to 31.
    pub fn set_acc(&mut self, index: usize, value: u32) {
        let cells = if index.is_multiple_of(2) {
            &mut self.running
        } else {
            &mut self.delay
        };
        cells[index / 2] = value;
    }

    /// Reads CSR `csr`, 0x100 to 0x10a; write-only registers read 0.
    pub fn csr(&self, csr: u16) -> u32 {
        match csr {
            number::FP_STS => self.sts,
            number::FP_CTL => self.ctl,
            number::PRNG_0_0..=number::PRNG_1_1 => self.prng.quarter(csr - number::PRNG_0_0),
            number::TAS => self.tas,
            number::FP_NFMT => self.nfmt,
            number::FP_SCL => self.scl,
            _ => 0,
        }
    }

    /// Writes CSR `csr`, 0x100 to 0x10a. `$FP_STS` can be set this way too, for tools; a program
    /// may only clear it.
    pub fn set_csr(&mut self, csr: u16, value: u32) {
        match csr {
            number::FP_STS => self.sts = value & flag::ALL,
            number::FP_CLR => self.clear(value),
            number::FP_CTL => self.ctl = value & FP_CTL_FIELDS,
            number::PRNG_0_0..=number::PRNG_1_1 => {
                self.prng.set_quarter(csr - number::PRNG_0_0, value);
            }
            number::PRNG_SEED => self.prng = Prng::seed(value),
            number::TAS => (self.tas, self.tas_is_known) = (value, true),
            number::FP_NFMT => self.nfmt = value & (f8::CWEI_FMT | f8::ARF_FMT),
            number::FP_SCL => self.scl = value & 0x3f,
            _ => {}
        }
    }

    /// A write to `$FP_CLR`.
    fn clear(&mut self, value: u32) {
        self.sts &= !value;
        if value & control::ZAACC != 0 {
            (self.running, self.delay) = ([0; 16], [0; 16]);
        }
    }

    /// What a launch sets, from `$FP_ICTL`, `$FP_INFMT` and `$FP_ISCL`. Accumulators and the
    /// generator are kept, `$TAS` becomes undefined. [isa-float §1.2]
    pub fn launch(&mut self, ictl: u32, infmt: u32, iscl: u32) {
        self.sts = 0;
        self.set_csr(number::FP_CTL, ictl);
        self.set_csr(number::FP_NFMT, infmt);
        self.set_csr(number::FP_SCL, iscl);
        self.tas_is_known = false;
    }

    /// Sets sticky flags.
    #[inline(always)]
    pub(crate) fn raise(&mut self, flags: u32) {
        self.sts |= flags;
    }

    /// `$TAS` as an operand. Reading what nobody wrote is an edge in strict mode.
    pub(crate) fn tas(&self, strict: bool) -> Result<u32, AuxFault> {
        if strict && !self.tas_is_known {
            return Err(AuxFault::Undefined("$TAS is read before it is written"));
        }
        Ok(self.tas)
    }

    /// What a form does to `$TAS` that uses it as scratch. [isa-float §4.3]
    pub(crate) fn poison_tas(&mut self) {
        (self.tas, self.tas_is_known) = (POISON, false);
    }
}

/// The fields `$FP_CTL` has.
const FP_CTL_FIELDS: u32 = flag::ALL | control::RND | control::ESR | control::NANOO;

/// The function of an aux form of the float families; `None` for every other form.
pub(crate) fn lookup(op: Op) -> Option<AuxFn> {
    exec::float::lookup(op)
        .or_else(|| exec::half::lookup(op))
        .or_else(|| exec::vector::lookup(op))
        .or_else(|| exec::matrix::unit::lookup(op))
        .or_else(|| exec::random::lookup(op))
}

/// Calls `function` and honours `$FP_CTL`: when it raises a flag whose exception is enabled, it has
/// no effect at all, on flags, accumulators and generator included. [isa-float §1.4, isa-core §7]
#[inline]
pub(crate) fn issue(
    function: AuxFn,
    values: &[u32; 5],
    state: &mut AuxState<'_>,
) -> Result<AuxResult, AuxFault> {
    if state.fp.ctl & (flag::ALL | control::RND) == 0 {
        return function(values, state);
    }
    issue_watched(function, values, state)
}

#[cold]
#[inline(never)]
fn issue_watched(
    function: AuxFn,
    values: &[u32; 5],
    state: &mut AuxState<'_>,
) -> Result<AuxResult, AuxFault> {
    if state.settings.strict && state.fp.ctl & control::RND != 0 {
        return Err(AuxFault::Undefined(
            "a rounding mode in $FP_CTL other than nearest even",
        ));
    }
    let before = state.fp.clone();
    state.fp.sts = 0;
    let result = function(values, state);
    if state.fp.sts & state.fp.ctl & flag::ALL != 0 {
        *state.fp = before;
        return Err(AuxFault::FloatingPoint);
    }
    state.fp.sts |= before.sts;
    result
}

/// One aux form of the float families, to be executed outside any tile: for tools, and to measure
/// a form alone.
#[derive(Clone, Copy, Debug)]
pub struct AuxForm(AuxFn);

impl AuxForm {
    /// The form `op`, if it belongs to the float families.
    pub fn of(op: Op) -> Option<Self> {
        lookup(op).map(Self)
    }

    /// Executes the form on the aux registers `a`; `values` are its operands in assembly order.
    /// Gives the issue slots it takes, or `None` when it stops and so has no effect.
    pub fn execute(
        self,
        values: &[u32; 5],
        a: &mut [u32; 16],
        fp: &mut FpState,
        weights: &Weights,
        settings: &Settings,
    ) -> Option<u8> {
        let mut state = AuxState {
            a: *a,
            fp,
            weights,
            settings,
        };
        let AuxResult {
            first,
            count,
            values,
            slots,
        } = issue(self.0, values, &mut state).ok()?;
        for (register, value) in (first..8).zip(&values[..usize::from(count)]) {
            a[usize::from(register)] = *value;
        }
        Some(slots)
    }
}
