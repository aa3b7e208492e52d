//! The matrix unit: how sums move, and how products are added to them. [isa-float §4.3, §4.4, §4.6]
//!
//! Sixteen units in two sets of eight. A step of the 8-unit forms works on set 0 alone, `N = 8`
//! below; the 16-unit forms step both, `N = 16`.

use super::FpState;
use super::exact::{fused_sum, truncated_sum, two_sum};
use super::f8::{ARF_FMT, CWEI_FMT};
use super::round::{grain16, wide16};
use super::single::flush;
use super::weights::{Weights, halves};

const EXPONENT: u32 = 0x7f80_0000;

/// What a step multiplies with, and how it adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors<'a> {
    /// The weights of the tile.
    pub weights: &'a Weights,
    /// Which of the weights' slots.
    pub slot: usize,
    /// The other factor.
    pub input: Input,
    /// Whether sums drop bits far below their largest addend. [A-AMPROUND]
    pub truncated: bool,
}

impl Factors<'_> {
    /// A running sum with products added to it.
    #[inline]
    fn sum(self, acc: u32, terms: &[f64], scale: i32) -> (u32, u32) {
        let sum = if self.truncated {
            truncated_sum
        } else {
            fused_sum
        };
        sum(acc, terms, scale)
    }
}

/// What a step multiplies the weights with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// Four halves.
    Halves([u16; 4]),
    /// Eight f8 numbers, lowest byte first.
    Bytes(u64),
}

impl FpState {
    /// One step of the product engine on the first `N` units: finished sums trade places with the
    /// waiting ones in phase 0, the delay line takes `partials` and gives what leaves, and the
    /// products of the phase, whose slot has its number, are added. [isa-float §4.3]
    #[inline(always)]
    pub(crate) fn amp<const N: usize>(
        &mut self,
        factors: Factors<'_>,
        partials: [u32; 4],
    ) -> [u32; 4] {
        if factors.slot == 0 {
            self.swap::<N>();
        }
        let out = self.shift::<N>(partials);
        self.multiply::<N>(factors);
        out
    }

    /// One step of the slim convolution engine: the sums hop one stage, partials enter at the top
    /// and results leave at the bottom. [isa-float §4.4]
    pub(crate) fn slic<const N: usize>(
        &mut self,
        factors: Factors<'_>,
        partials: [u32; 4],
    ) -> [u32; 4] {
        let mut out = [0; 4];
        for set in 0..N / 8 {
            let stages = &mut self.running[8 * set..8 * set + 8];
            out[2 * set..2 * set + 2].copy_from_slice(&stages[..2]);
            stages.copy_within(2.., 0);
            stages[6..].copy_from_slice(&partials[2 * set..2 * set + 2]);
        }
        self.multiply::<N>(factors);
        out
    }

    /// One issue of `f32sisoamp`: eight phases, and the ports work on the even ones only.
    pub(crate) fn amp_single(
        &mut self,
        weights: &Weights,
        phase: usize,
        x: u32,
        partials: [u32; 2],
    ) -> [u32; 2] {
        let mut out = [0; 2];
        if phase.is_multiple_of(2) {
            if phase == 0 {
                self.swap::<8>();
            }
            out = self.shift_set(0, partials);
        }
        self.multiply_single::<8>(weights, phase, x);
        self.poison_tas();
        out
    }

    /// One issue of `f32sisov2amp`: both sets multiply in each of the eight phases, and the ports
    /// belong to set 0 on even phases and to set 1 on odd ones.
    pub(crate) fn amp_single_both(
        &mut self,
        weights: &Weights,
        phase: usize,
        x: u32,
        partials: [u32; 2],
    ) -> [u32; 2] {
        if phase == 0 {
            self.swap::<16>();
        }
        let out = self.shift_set(phase % 2, partials);
        self.multiply_single::<16>(weights, phase, x);
        self.poison_tas();
        out
    }

    /// Exchanges running sums and delay line.
    #[inline(always)]
    fn swap<const N: usize>(&mut self) {
        self.running[..N].swap_with_slice(&mut self.delay[..N]);
    }

    #[inline(always)]
    fn shift<const N: usize>(&mut self, partials: [u32; 4]) -> [u32; 4] {
        let low = self.shift_set(0, [partials[0], partials[1]]);
        let high = if N == 16 {
            self.shift_set(1, [partials[2], partials[3]])
        } else {
            [0; 2]
        };
        [low[0], low[1], high[0], high[1]]
    }

    /// Moves the delay line of `set` two cells on; `partials` enter.
    #[inline(always)]
    pub(crate) fn shift_set(&mut self, set: usize, partials: [u32; 2]) -> [u32; 2] {
        let line = &mut self.delay[8 * set..8 * set + 8];
        let out = [line[0], line[1]];
        line.copy_within(2.., 0);
        line[6..].copy_from_slice(&partials);
        out
    }

    /// Adds to every running sum its dot product.
    #[inline(always)]
    fn multiply<const N: usize>(&mut self, factors: Factors<'_>) {
        match factors.input {
            Input::Halves(x) => {
                let flags = multiply_halves::<N>(sums(&mut self.running), factors, x);
                self.raise(flags);
            }
            Input::Bytes(x) => self.multiply_bytes::<N>(factors, x),
        }
    }

    /// The same for eight f8 numbers, whose dot product is scaled before it is added.
    fn multiply_bytes<const N: usize>(&mut self, factors: Factors<'_>, x: u64) {
        let (here, there) = (self.format(ARF_FMT), self.format(CWEI_FMT));
        let (scale, x) = (self.scale(), x.to_le_bytes().map(|byte| here.decode(byte)));
        for unit in 0..N {
            let w = factors.weights.word(unit, factors.slot).to_le_bytes();
            let terms: [f64; 8] = core::array::from_fn(|k| x[k] * there.decode(w[k]));
            let (sum, flags) = factors.sum(self.running[unit], &terms, scale);
            self.running[unit] = sum;
            self.raise(flags);
        }
    }

    /// The same for one single; `phase` selects slot and half of the weight.
    fn multiply_single<const N: usize>(&mut self, weights: &Weights, phase: usize, x: u32) {
        for unit in 0..N {
            let pair = weights.word(unit, phase / 2);
            let weight = (pair >> (32 * (phase % 2))) as u32;
            self.running[unit] = self.fma32(self.running[unit], x, weight);
        }
    }
}

/// The sums of the first `N` units.
#[inline(always)]
fn sums<const N: usize>(running: &mut [u32; 16]) -> &mut [u32; N] {
    running.first_chunk_mut().expect("there are sixteen units")
}

/// Adds to each of `sums` the four products of `x` with its unit's weights, in one rounding, and
/// gives the flags that raises.
///
/// When the limit of the weights allows, the products are added as doubles without any rounding,
/// and what the last addition loses is checked: where all 16 losses are zero, the conversion to
/// single is the one rounding. Everything else is left to [`fused_sum`].
#[inline(always)]
fn multiply_halves<const N: usize>(sums: &mut [u32; N], factors: Factors<'_>, x: [u16; 4]) -> u32 {
    let Factors { weights, slot, .. } = factors;
    let wide = x.map(wide16);
    let size = (wide[0].abs() + wide[1].abs()) + (wide[2].abs() + wide[3].abs());
    let fits = size < weights.limit::<N>(slot) || fits_closely::<N>(weights, slot, x, size);
    if !fits || factors.truncated {
        return multiply_slowly(sums, factors, x);
    }
    let w = weights.wide(slot);
    let mut dots = [0.0; N];
    for unit in 0..N {
        let low = wide[0] * w[0][unit] + wide[1] * w[1][unit];
        let high = wide[2] * w[2][unit] + wide[3] * w[3][unit];
        dots[unit] = low + high;
    }
    let mut results = [0; N];
    let (mut lost, mut special) = (0, 0);
    for unit in 0..N {
        let (sum, rest) = two_sum(f64::from(flush(sums[unit])), dots[unit]);
        // Subnormal results cannot occur: what is not zero is a multiple of 2^-48, or an operand.
        let result = (sum as f32).to_bits();
        lost |= rest.to_bits() << 1;
        special |= (result & EXPONENT) + (1 << 23);
        results[unit] = result;
    }
    if lost == 0 && special >> 31 == 0 {
        *sums = results;
        return 0;
    }
    multiply_slowly(sums, factors, x)
}

/// Whether the products can be added exactly after all, given how coarse `x` is.
#[inline(never)]
fn fits_closely<const N: usize>(weights: &Weights, slot: usize, x: [u16; 4], size: f64) -> bool {
    if weights.limit::<N>(slot).is_nan() {
        weights.work_out(slot);
    }
    let grain = x.map(grain16).into_iter().fold(0, i32::min);
    size < weights.limit::<N>(slot) * super::exact::power(grain + 24)
}

#[cold]
#[inline(never)]
fn multiply_slowly(sums: &mut [u32], factors: Factors<'_>, x: [u16; 4]) -> u32 {
    let mut flags = 0;
    for (unit, sum) in sums.iter_mut().enumerate() {
        let w = halves(factors.weights.word(unit, factors.slot));
        let terms: [f64; 4] = core::array::from_fn(|k| wide16(x[k]) * wide16(w[k]));
        let (result, raised) = factors.sum(*sum, &terms, 0);
        *sum = result;
        flags |= raised;
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_sums_are_the_exact_ones_on_any_bits() {
        arbtest::arbtest(|u| {
            let mut weights = Weights::default();
            let wild = u.ratio(1, 4)?;
            // Wild halves are any halves; the others lie around one, as weights do.
            let half = |u: &mut arbtest::arbitrary::Unstructured<'_>| {
                let bits: u16 = u.arbitrary()?;
                Ok(if wild { bits } else { bits & 0x8fff | 0x3000 })
            };
            for unit in 0..16 {
                let mut word = 0;
                for _ in 0..4 {
                    word = word << 16 | u64::from(half(u)?);
                }
                weights.set(4 * unit + 2, word);
            }
            let x = [half(u)?, half(u)?, half(u)?, half(u)?];
            let mut fast = [0; 16];
            for sum in &mut fast {
                let bits: u32 = u.arbitrary()?;
                *sum = if wild {
                    bits
                } else {
                    bits & 0x8fff_ffff | 0x3000_0000
                };
            }
            let mut slow = fast;
            let (weights, input) = (&weights, Input::Halves(x));
            let factors = Factors {
                weights,
                slot: 2,
                input,
                truncated: false,
            };
            let fast_flags = multiply_halves::<16>(&mut fast, factors, x);
            let slow_flags = multiply_slowly(&mut slow, factors, x);
            assert_eq!((fast, fast_flags), (slow, slow_flags));
            Ok(())
        });
    }

    #[test]
    fn ordinary_data_take_the_fast_path() {
        let mut weights = Weights::default();
        let word = 0x3c01_b7ff_0fff_c000; // 1 + ulp, -0.5 + ulp, a small one and -2
        (0..16).for_each(|unit| weights.set(4 * unit, word));
        let x = [0x3e01, 0x0401, 0x4900, 0xbfff].map(wide16);
        weights.work_out(0);
        let size: f64 = x.iter().map(|v| v.abs()).sum();
        assert!(fits_closely::<16>(
            &weights,
            0,
            [0x3e01, 0x0401, 0x4900, 0xbfff],
            size
        ));
    }
}
