//! The weights of one tile, and what the matrix unit wants to know about them beforehand.
//! [isa-float §4.2, §8.3]

use core::cell::Cell;

use super::exact::power;
use super::round::{grain16, is_nan16, wide16};

/// Units of the matrix unit: two sets of eight.
pub(crate) const UNITS: usize = 16;
/// Weight words of a unit.
pub(crate) const SLOTS: usize = 4;

/// A limit that has to be worked out first. It compares false with everything.
const STALE: f64 = f64::NAN;
/// The limit of weights that are not all finite. Nothing is below it.
const NEVER: f64 = -1.0;

/// The weights of one tile: word `4 * unit + slot` is `$CWEI_unit_slot`.
///
/// Every word is also kept as four widened halves, so that a product needs no conversion.
#[derive(Clone, Debug)]
pub struct Weights {
    words: [u64; UNITS * SLOTS],
    /// By slot, lane and unit, so that a step over all units reads straight on.
    wide: [[[f64; UNITS]; 4]; SLOTS],
    /// By set and slot; see [`Weights::limit`]. Worked out on demand.
    limits: [[Cell<f64>; SLOTS]; 2],
}

impl Default for Weights {
    /// All zero.
    fn default() -> Self {
        Self {
            words: [0; UNITS * SLOTS],
            wide: [[[0.0; UNITS]; 4]; SLOTS],
            limits: core::array::from_fn(|_| core::array::from_fn(|_| Cell::new(STALE))),
        }
    }
}

impl Weights {
    /// Weight word `index`.
    pub fn get(&self, index: usize) -> u64 {
        self.words[index]
    }

    /// Sets weight word `index`.
    pub fn set(&mut self, index: usize, value: u64) {
        let (unit, slot) = (index / SLOTS, index % SLOTS);
        self.words[index] = value;
        for (lane, half) in halves(value).into_iter().enumerate() {
            self.wide[slot][lane][unit] = wide16(half);
        }
        self.limits[unit / 8][slot].set(STALE);
    }

    /// The word of `unit` in `slot`.
    #[inline]
    pub(crate) fn word(&self, unit: usize, slot: usize) -> u64 {
        self.words[unit * SLOTS + slot]
    }

    /// The widened halves of `slot`, by lane and unit.
    #[inline(always)]
    pub(crate) fn wide(&self, slot: usize) -> &[[f64; UNITS]; 4] {
        &self.wide[slot]
    }

    /// How large the magnitudes of four finite halves may be together, so that their products with
    /// the weights of `slot` in the first `UNITS` units can be added exactly, in any order, as
    /// doubles. NaN when [`Weights::work_out`] has to run first.
    ///
    /// With 2^g the lowest set bit and m the largest magnitude among the weights, the products are
    /// multiples of 2^(g-24), and no partial sum exceeds m times the magnitudes: below 2^(g-24+53)
    /// every sum is a double. One bit is left spare for the rounding of the limit itself.
    #[inline(always)]
    pub(crate) fn limit<const N: usize>(&self, slot: usize) -> f64 {
        let first = self.limits[0][slot].get();
        if N == 8 {
            return first;
        }
        let second = self.limits[1][slot].get();
        // Not `min`, which would drop a NaN.
        if first < second {
            first
        } else if second <= first {
            second
        } else {
            STALE
        }
    }

    /// Works out the limits of `slot`.
    #[cold]
    pub(crate) fn work_out(&self, slot: usize) {
        for (set, limits) in self.limits.iter().enumerate() {
            let words = (8 * set..8 * set + 8).map(|unit| self.word(unit, slot));
            limits[slot].set(limit_of(words.flat_map(halves)));
        }
    }
}

/// The four halves of a weight word.
#[inline(always)]
pub(crate) const fn halves(word: u64) -> [u16; 4] {
    [
        word as u16,
        (word >> 16) as u16,
        (word >> 32) as u16,
        (word >> 48) as u16,
    ]
}

fn limit_of(weights: impl Iterator<Item = u16>) -> f64 {
    let (mut grain, mut largest) = (0, 0u16);
    for weight in weights {
        grain = grain.min(grain16(weight));
        largest = largest.max(weight & 0x7fff);
    }
    if is_nan16(largest) || largest == 0x7c00 {
        return NEVER;
    }
    // Without any weight but zeros this is infinity: everything finite is below it.
    power(grain - 24 + 52) / wide16(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_falls_with_the_finest_and_the_largest_weight() {
        let mut weights = Weights::default();
        weights.work_out(1);
        assert_eq!(weights.limit::<16>(1), f64::INFINITY);
        weights.set(4 * 3 + 1, 0x3c00); // 1.0
        assert!(weights.limit::<8>(1).is_nan() && weights.limit::<16>(1).is_nan());
        weights.work_out(1);
        assert_eq!(weights.limit::<8>(1), power(28));
        weights.set(4 * 9 + 1, 0x4000 << 48 | 0x0001); // 2.0 and 2^-24
        weights.work_out(1);
        assert_eq!(weights.limit::<8>(1), power(28));
        assert_eq!(weights.limit::<16>(1), power(28 - 24 - 1));
    }

    #[test]
    fn infinite_weights_have_a_limit_nothing_is_below() {
        let mut weights = Weights::default();
        weights.set(2, 0xfc00);
        weights.work_out(2);
        assert!(weights.limit::<8>(2) < 0.0);
    }
}
