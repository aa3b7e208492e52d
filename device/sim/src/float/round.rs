//! Half precision: widening, and the one rounding of every result. [isa-float §1.3 to §1.5]

use super::{FpState, control, flag};

/// The canonical quiet NaN. [isa-float §1.4, A-NAN]
pub(crate) const NAN16: u16 = 0x7e00;
/// Infinity, and the first code that is not finite.
pub(crate) const INF16: u16 = 0x7c00;
/// The largest finite value, 65504.
pub(crate) const MAX16: u16 = 0x7bff;

/// The first magnitude whose nearest half is out of range: 65520, as bits of an f64.
const OVERFLOWS: u64 = 0x40ef_fe00_0000_0000;
/// The smallest normal half, 2^-14, as bits of an f64.
const NORMAL: u64 = 0x3f10_0000_0000_0000;
/// Infinity, as bits of an f64.
const INFINITY: u64 = 0x7ff0_0000_0000_0000;
/// 2^28: a double of this size counts in steps of 2^-24, the grid of the subnormal halves.
const SUBNORMAL_GRID: f64 = 268_435_456.0;

/// Whether `h` is a NaN.
#[inline(always)]
pub(crate) const fn is_nan16(h: u16) -> bool {
    h & 0x7fff > INF16
}

/// The value of `h`, exactly; a NaN keeps its payload in the top bits.
#[inline(always)]
pub(crate) const fn widen16(h: u16) -> f32 {
    // The exponent is moved into place; what has exponent 0 or 31 needs a second step.
    let shifted = ((h & 0x7fff) as u32) << 13;
    let exponent = shifted & 0x0f80_0000;
    let rebased = shifted + (112 << 23);
    let magnitude = if exponent == 0 {
        // 2^-14 too much, because the hidden bit is not there: subtract it as a value.
        (f32::from_bits(rebased + (1 << 23)) - f32::from_bits(113 << 23)).to_bits()
    } else if exponent == 0x0f80_0000 {
        rebased + (112 << 23)
    } else {
        rebased
    };
    f32::from_bits(magnitude | ((h & 0x8000) as u32) << 16)
}

/// The value of `h` as a double.
#[inline(always)]
pub(crate) const fn wide16(h: u16) -> f64 {
    widen16(h) as f64
}

/// The exponent of the lowest set bit of a finite `h`; large for a zero.
#[inline(always)]
pub(crate) const fn grain16(h: u16) -> i32 {
    let exponent = ((h >> 10) & 31) as i32;
    let hidden = if exponent != 0 { 1 << 10 } else { 0 };
    let significand = (h & 0x3ff) as u32 | hidden;
    let exponent = if exponent != 0 { exponent } else { 1 };
    exponent - 25 + significand.trailing_zeros() as i32
}

/// The half nearest to `v`, ties to even; `None` for what overflows, infinities and NaNs.
#[inline(always)]
pub(crate) fn nearest16(v: f64) -> Option<u16> {
    let bits = v.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let magnitude = bits & !(1 << 63);
    if magnitude >= OVERFLOWS {
        return None;
    }
    let code = if magnitude >= NORMAL {
        // A carry out of the significand moves into the exponent, as it should.
        let rounded = magnitude + ((1 << 41) - 1) + ((magnitude >> 42) & 1);
        ((rounded >> 42) - (1008 << 10)) as u16
    } else {
        let counted = (f64::from_bits(magnitude) + SUBNORMAL_GRID).to_bits();
        (counted - SUBNORMAL_GRID.to_bits()) as u16
    };
    Some(sign | code)
}

/// The random bits of one instruction's rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    word: u64,
    stochastic: bool,
}

impl Draw {
    /// Nearest, ties to even, whatever the control register says.
    pub(crate) const NEAREST: Self = Self {
        word: 0,
        stochastic: false,
    };

    /// The 16 random bits of lane `lane`, or `None` when results round to nearest.
    ///
    /// Lanes 0 to 3 take the four quarters of the word. Only one form has eight lanes; its lanes
    /// take overlapping windows, eight bits apart. [isa-float §1.5, A-SR; the overlap is ours]
    #[inline]
    pub(crate) fn lane(self, lane: usize, lanes: usize) -> Option<u32> {
        let step = if lanes > 4 { 8 } else { 16 };
        let window = self.word.rotate_right((lane * step) as u32 % 64);
        self.stochastic.then_some((window & 0xffff) as u32)
    }
}

impl FpState {
    /// The random bits for the instruction that is about to round: a step of the generator in
    /// stochastic mode, nothing otherwise. [isa-float §1.5, §1.6]
    #[inline(always)]
    pub(crate) fn draw(&mut self) -> Draw {
        if self.ctl & control::ESR == 0 {
            return Draw::NEAREST;
        }
        Draw {
            word: self.prng.step(),
            stochastic: true,
        }
    }

    /// The half result of an operation: `v` rounded as the control register says, with the
    /// overflow rule. A NaN keeps the top of its payload and raises INV.
    #[inline(always)]
    pub(crate) fn round16(&mut self, v: f64, draw: Draw, lane: usize) -> u16 {
        let code = match draw.lane(lane, 4) {
            None => nearest16(v),
            Some(random) => stochastic16(v, random),
        };
        match code {
            Some(code) => code,
            None => self.round16_special(v),
        }
    }

    #[cold]
    #[inline(never)]
    fn round16_special(&mut self, v: f64) -> u16 {
        let sign = (v.to_bits() >> 48) as u16 & 0x8000;
        if v.is_nan() {
            self.raise(flag::INV);
            return sign | NAN16 | (v.to_bits() >> 42) as u16 & 0x3ff;
        }
        if v.is_infinite() {
            return sign | INF16; // [isa-float §1.4, Q2]
        }
        self.overflow16(sign)
    }

    /// What a half result beyond the largest finite value becomes. [isa-float §1.4]
    #[cold]
    pub(crate) fn overflow16(&mut self, sign: u16) -> u16 {
        self.raise(flag::OFLO);
        if self.ctl & control::NANOO == 0 {
            return sign | MAX16;
        }
        self.raise(flag::INV);
        NAN16
    }

    /// The result of an operation on NaNs, or of an invalid one: the first NaN among `operands`
    /// made quiet, otherwise the canonical one; raises INV.
    #[cold]
    pub(crate) fn nan16(&mut self, operands: &[u16]) -> u16 {
        self.raise(flag::INV);
        operands
            .iter()
            .find(|h| is_nan16(**h))
            .map_or(NAN16, |h| h | 0x200)
    }
}

/// `v` rounded up in magnitude with the probability of its distance from the half below, by 16
/// random bits; `None` for what overflows, infinities and NaNs. [isa-float §1.5]
#[inline(always)]
fn stochastic16(v: f64, random: u32) -> Option<u16> {
    let bits = v.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let magnitude = bits & !(1 << 63);
    let code = if magnitude >= NORMAL {
        // The random bits meet the upper 16 of the 42 that are dropped; a carry rounds up.
        let rounded = magnitude.min(INFINITY) + (u64::from(random) << 26);
        (rounded >> 42) - (1008 << 10)
    } else {
        // In steps of 2^-40, which are 2^-16 of the subnormal grid.
        let steps = f64::from_bits(magnitude) * 1_099_511_627_776.0;
        (steps as u64 + u64::from(random)) >> 16
    };
    (code < u64::from(INF16)).then_some(sign | code as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn every_half_widens_to_the_value_another_implementation_gives() {
        for h in 0..=u16::MAX {
            let ours = widen16(h);
            let theirs = f16::from_bits(h).to_f32();
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan());
        }
    }

    #[test]
    fn every_finite_half_survives_widening_and_rounding() {
        for h in (0..=u16::MAX).filter(|h| h & 0x7fff < INF16) {
            assert_eq!(nearest16(wide16(h)), Some(h));
            assert_eq!(stochastic16(wide16(h), 0xffff), Some(h));
        }
    }

    #[test]
    fn midpoints_go_to_the_even_neighbour_and_the_next_values_to_the_nearer_one() {
        for h in 0..MAX16 {
            let middle = f64::midpoint(wide16(h), wide16(h + 1));
            let even = h + (h & 1);
            assert_eq!(nearest16(middle), Some(even));
            assert_eq!(nearest16(-middle), Some(even | 0x8000));
            assert_eq!(nearest16(middle.next_down()), Some(h));
            assert_eq!(nearest16(middle.next_up()), Some(h + 1));
        }
    }

    #[test]
    fn rounding_agrees_with_another_implementation_on_random_singles() {
        arbtest::arbtest(|u| {
            let v = f32::from_bits(u.arbitrary()?);
            if let Some(code) = nearest16(f64::from(v)) {
                assert_eq!(code, f16::from_f32(v).to_bits(), "{v}");
            }
            Ok(())
        });
    }

    #[test]
    fn the_largest_half_ends_at_65520() {
        assert_eq!(nearest16(65519.999), Some(MAX16));
        assert_eq!(nearest16(65520.0), None);
        let mut fp = FpState::default();
        assert_eq!(fp.round16(-1e9, Draw::NEAREST, 0), 0xfbff);
        assert_eq!(fp.sts, flag::OFLO);
        fp.ctl = control::NANOO;
        assert_eq!(fp.round16(-1e9, Draw::NEAREST, 0), NAN16);
        assert_eq!(fp.sts, flag::OFLO | flag::INV);
    }

    #[test]
    fn the_grain_is_the_lowest_set_bit() {
        for h in (0..INF16).filter(|h| h & 0x7fff != 0) {
            let grain = f64::powi(2.0, grain16(h));
            assert_eq!((wide16(h) / grain) % 2.0, 1.0);
        }
        assert!(grain16(0) > 0 && grain16(0x8000) > 0);
    }

    #[test]
    fn stochastic_rounding_is_unbiased_to_its_sixteen_bits() {
        for (v, below) in [
            (1.0 + 0.25 / 1024.0, 0x3c00),
            (3.5e-8, 0),
            (-65500.0, 0x7bfe),
        ] {
            let up = (0..1u32 << 16)
                .filter(|r| stochastic16(v, *r).is_some_and(|h| h & 0x7fff != below))
                .count() as f64;
            let gap = wide16(below + 1) - wide16(below);
            assert!((up / 65536.0 - (v.abs() - wide16(below)) / gap).abs() < 1.0 / 65536.0);
        }
    }
}
