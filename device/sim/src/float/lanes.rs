//! Operations of two operands as types, so that one function serves every lane layout.
//! [isa-float §3.1, §3.2]

use super::FpState;
use super::round::{Draw, is_nan16, wide16};
use super::single::{flush, is_nan32};

/// An operation of two numbers.
pub(crate) trait Binary {
    /// Whether half results are rounded, and so may draw random bits.
    const ROUNDS: bool;

    /// One lane of halves.
    fn half(fp: &mut FpState, draw: Draw, lane: usize, a: u16, b: u16) -> u16;

    /// One lane of singles.
    fn single(fp: &mut FpState, a: u32, b: u32) -> u32;
}

/// a + b.
pub(crate) struct Add;
/// a - b.
pub(crate) struct Sub;
/// a * b.
pub(crate) struct Mul;
/// |a| + |b|.
pub(crate) struct AbsAdd;
/// The larger.
pub(crate) struct Max;
/// The smaller.
pub(crate) struct Min;
/// The larger magnitude.
pub(crate) struct AbsMax;
/// a == b, as a mask.
pub(crate) struct Eq;
/// a != b.
pub(crate) struct Ne;
/// a < b.
pub(crate) struct Lt;
/// a <= b.
pub(crate) struct Le;
/// a > b.
pub(crate) struct Gt;
/// a >= b.
pub(crate) struct Ge;

/// Both operands widened, worked on as doubles and rounded once: sums and products of two halves
/// are exact there.
#[inline(always)]
fn rounded(
    fp: &mut FpState,
    (draw, lane): (Draw, usize),
    a: u16,
    b: u16,
    operation: impl Fn(f64, f64) -> f64,
) -> u16 {
    let result = operation(wide16(a), wide16(b));
    if result.is_nan() {
        return fp.nan16(&[a, b]);
    }
    fp.round16(result, draw, lane)
}

macro_rules! arithmetic {
    ($name:ident, $wide:expr, |$fp:ident, $a:ident, $b:ident| $single:expr) => {
        impl Binary for $name {
            const ROUNDS: bool = true;

            #[inline(always)]
            fn half(fp: &mut FpState, draw: Draw, lane: usize, a: u16, b: u16) -> u16 {
                rounded(fp, (draw, lane), a, b, $wide)
            }

            #[inline(always)]
            fn single($fp: &mut FpState, $a: u32, $b: u32) -> u32 {
                $single
            }
        }
    };
}

const MAGNITUDE16: u16 = 0x7fff;
const MAGNITUDE32: u32 = 0x7fff_ffff;

arithmetic!(Add, |a, b| a + b, |fp, a, b| fp.add32(a, b));
arithmetic!(Sub, |a, b| a - b, |fp, a, b| fp.sub32(a, b));
arithmetic!(Mul, |a, b| a * b, |fp, a, b| fp.mul32(a, b));
arithmetic!(AbsAdd, |a, b| a.abs() + b.abs(), |fp, a, b| {
    fp.add32(a & MAGNITUDE32, b & MAGNITUDE32)
});

/// A half as an integer of the same order; -0 lies below +0.
#[inline(always)]
pub(crate) const fn order16(h: u16) -> i16 {
    let h = h as i16;
    h ^ ((h >> 15) & 0x7fff)
}

/// The larger of two halves: a number wins over a NaN, +0 over -0. [isa-float §3.1, Q6]
#[inline(always)]
pub(crate) fn max16(fp: &mut FpState, a: u16, b: u16) -> u16 {
    extreme16(fp, a, b, order16(a) >= order16(b))
}

/// The smaller of two halves, by the same rules.
#[inline(always)]
pub(crate) fn min16(fp: &mut FpState, a: u16, b: u16) -> u16 {
    extreme16(fp, a, b, order16(a) <= order16(b))
}

#[inline(always)]
fn extreme16(fp: &mut FpState, a: u16, b: u16, first: bool) -> u16 {
    if is_nan16(a) || is_nan16(b) {
        return extreme_nan16(fp, a, b);
    }
    if first { a } else { b }
}

#[cold]
fn extreme_nan16(fp: &mut FpState, a: u16, b: u16) -> u16 {
    match (is_nan16(a), is_nan16(b)) {
        (true, true) => fp.nan16(&[a, b]),
        (a_is_nan, _) => {
            fp.raise(super::flag::INV);
            if a_is_nan { b } else { a }
        }
    }
}

macro_rules! selection {
    ($name:ident, |$fp:ident, $a:ident, $b:ident| $half:expr, $single:expr) => {
        impl Binary for $name {
            const ROUNDS: bool = false;

            #[inline(always)]
            fn half($fp: &mut FpState, _: Draw, _: usize, $a: u16, $b: u16) -> u16 {
                $half
            }

            #[inline(always)]
            fn single($fp: &mut FpState, $a: u32, $b: u32) -> u32 {
                $single
            }
        }
    };
}

selection!(Max, |fp, a, b| max16(fp, a, b), fp.max32(a, b));
selection!(Min, |fp, a, b| min16(fp, a, b), fp.min32(a, b));
selection!(
    AbsMax,
    |fp, a, b| max16(fp, a & MAGNITUDE16, b & MAGNITUDE16),
    fp.max32(a & MAGNITUDE32, b & MAGNITUDE32)
);

macro_rules! comparison {
    ($name:ident, $operator:tt) => {
        impl Binary for $name {
            const ROUNDS: bool = false;

            #[inline(always)]
            fn half(fp: &mut FpState, _: Draw, _: usize, a: u16, b: u16) -> u16 {
                if is_nan16(a) || is_nan16(b) {
                    fp.raise(super::flag::INV);
                }
                if wide16(a) $operator wide16(b) { u16::MAX } else { 0 }
            }

            #[inline(always)]
            fn single(fp: &mut FpState, a: u32, b: u32) -> u32 {
                if is_nan32(a) || is_nan32(b) {
                    fp.raise(super::flag::INV);
                }
                if flush(a) $operator flush(b) { u32::MAX } else { 0 }
            }
        }
    };
}

comparison!(Eq, ==);
comparison!(Ne, !=);
comparison!(Lt, <);
comparison!(Le, <=);
comparison!(Gt, >);
comparison!(Ge, >=);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_halves_is_the_order_of_their_values() {
        let mut last = i16::MIN;
        let below = (0..=0x7c00u16).rev().map(|h| h | 0x8000);
        for h in below.chain(0..=0x7c00) {
            assert!(order16(h) > last);
            last = order16(h);
        }
    }

    #[test]
    fn zeros_and_nans_have_their_places_in_maxima_and_minima() {
        let mut fp = FpState::default();
        assert_eq!(max16(&mut fp, 0x8000, 0), 0);
        assert_eq!(min16(&mut fp, 0, 0x8000), 0x8000);
        assert_eq!(fp.max32(0x8000_0000, 0), 0);
        assert_eq!(fp.min32(0, 0x8000_0000), 0x8000_0000);
        assert_eq!(fp.sts, 0);
        assert_eq!(max16(&mut fp, 0x7e00, 0xc000), 0xc000);
        assert_eq!(fp.min32(0x3f80_0000, 0x7fc0_0000), 0x3f80_0000);
        assert_eq!(fp.sts, 1);
        assert_eq!(max16(&mut fp, 0x7c01, 0x7e55), 0x7e01);
    }

    #[test]
    fn a_half_sum_is_rounded_once() {
        let mut fp = FpState::default();
        let sum = Add::half(&mut fp, Draw::NEAREST, 0, 0x6801, 0x3c00);
        assert_eq!(sum, 0x6802); // 2050 + 1 is a tie; even is 2052.
        assert_eq!(Sub::half(&mut fp, Draw::NEAREST, 0, 0x7c00, 0x7c00), 0x7e00);
        assert_eq!(fp.sts, 1);
    }
}
