//! Single precision: one lane of every operation, subnormals flushed both ways.
//! [isa-float §1.3, §1.4, §3.1, A-FTZ]
//!
//! The host's `+ - * / sqrt` are the IEEE operations and give equal bits everywhere; what could
//! differ between hosts, the NaN they produce, is replaced here.

use super::exact::add_odd;
use super::{FpState, flag};

/// The canonical quiet NaN. [isa-float §1.4, A-NAN]
pub(crate) const NAN32: u32 = 0x7fc0_0000;

const EXPONENT: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;

/// Whether the bits are a NaN.
#[inline(always)]
pub(crate) const fn is_nan32(bits: u32) -> bool {
    bits & !SIGN > EXPONENT
}

/// The bits with a subnormal replaced by the zero of its sign.
#[inline(always)]
pub(crate) const fn flush_bits(bits: u32) -> u32 {
    if bits & EXPONENT == 0 {
        bits & SIGN
    } else {
        bits
    }
}

/// An operand as the arithmetic sees it.
#[inline(always)]
pub(crate) const fn flush(bits: u32) -> f32 {
    f32::from_bits(flush_bits(bits))
}

/// Rounding modes of `f32int`. [isa-float §1.5]
pub(crate) fn integral(v: f64, mode: u32) -> Option<f64> {
    match mode {
        0 => Some(libm::rint(v)),
        1 => Some(libm::ceil(v)),
        2 => Some(libm::floor(v)),
        3 => Some(libm::trunc(v)),
        _ => None,
    }
}

impl FpState {
    /// The result of an operation on NaNs, or of an invalid one: the first NaN among `operands`
    /// made quiet, otherwise the canonical one; raises INV.
    #[cold]
    pub(crate) fn nan32(&mut self, operands: &[u32]) -> u32 {
        self.raise(flag::INV);
        let payload = operands.iter().find(|bits| is_nan32(**bits));
        payload.map_or(NAN32, |bits| bits | 0x0040_0000)
    }

    /// Flushes a result and raises what it calls for; `operands` are the bits it came from.
    #[inline(always)]
    pub(crate) fn settle(&mut self, result: f32, operands: &[u32]) -> u32 {
        let bits = result.to_bits();
        match bits & EXPONENT {
            0 => bits & SIGN,
            EXPONENT => self.settle_special(bits, operands),
            _ => bits,
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_special(&mut self, bits: u32, operands: &[u32]) -> u32 {
        if is_nan32(bits) {
            return self.nan32(operands);
        }
        if operands
            .iter()
            .all(|operand| operand & EXPONENT != EXPONENT)
        {
            self.raise(flag::OFLO);
        }
        bits
    }

    /// `a + b`.
    #[inline(always)]
    pub(crate) fn add32(&mut self, a: u32, b: u32) -> u32 {
        self.settle(flush(a) + flush(b), &[a, b])
    }

    /// `a - b`.
    #[inline(always)]
    pub(crate) fn sub32(&mut self, a: u32, b: u32) -> u32 {
        self.settle(flush(a) - flush(b), &[a, b])
    }

    /// `a * b`.
    #[inline(always)]
    pub(crate) fn mul32(&mut self, a: u32, b: u32) -> u32 {
        self.settle(flush(a) * flush(b), &[a, b])
    }

    /// `acc + a * b`, rounded once. [isa-float §3.8, Q13]
    #[inline]
    pub(crate) fn fma32(&mut self, acc: u32, a: u32, b: u32) -> u32 {
        let product = f64::from(flush(a)) * f64::from(flush(b));
        let sum = add_odd(f64::from(flush(acc)), product);
        self.settle(sum as f32, &[acc, a, b])
    }

    /// `a / b`; a finite number by zero raises DIV0.
    pub(crate) fn div32(&mut self, a: u32, b: u32) -> u32 {
        let (x, y) = (flush(a), flush(b));
        if y == 0.0 && x != 0.0 && x.is_finite() {
            self.raise(flag::DIV0);
            return (a ^ b) & SIGN | EXPONENT;
        }
        self.settle(x / y, &[a, b])
    }

    /// The larger of two numbers: a number wins over a NaN, +0 over -0. [isa-float §3.1, Q6]
    #[inline(always)]
    pub(crate) fn max32(&mut self, a: u32, b: u32) -> u32 {
        let (x, y) = (flush(a), flush(b));
        if x > y {
            x.to_bits()
        } else if y > x {
            y.to_bits()
        } else {
            self.extreme_tie(a, b, |x, y| x & y)
        }
    }

    /// The smaller of two numbers, by the same rules.
    #[inline(always)]
    pub(crate) fn min32(&mut self, a: u32, b: u32) -> u32 {
        let (x, y) = (flush(a), flush(b));
        if x < y {
            x.to_bits()
        } else if y < x {
            y.to_bits()
        } else {
            self.extreme_tie(a, b, |x, y| x | y)
        }
    }

    /// Equal operands, which differ at most in the sign of zero, and NaNs.
    #[inline]
    fn extreme_tie(&mut self, a: u32, b: u32, sign: fn(u32, u32) -> u32) -> u32 {
        match (is_nan32(a), is_nan32(b)) {
            (false, false) => sign(flush_bits(a), flush_bits(b)),
            (true, true) => self.nan32(&[a, b]),
            (a_is_nan, _) => {
                self.raise(flag::INV);
                flush_bits(if a_is_nan { b } else { a })
            }
        }
    }

    /// A function of one number whose value in double precision is `value`, rounded to single.
    pub(crate) fn narrow32(&mut self, value: f64, operand: u32) -> u32 {
        self.settle(value as f32, &[operand])
    }

    /// A pole: infinity of sign `sign`, and DIV0.
    pub(crate) fn pole32(&mut self, sign: u32) -> u32 {
        self.raise(flag::DIV0);
        sign & SIGN | EXPONENT
    }

    /// An integer from `low` to `high`, nearest, ties to even; saturates with INV, and a NaN gives
    /// zero. [isa-float §3.3, A-TOI]
    pub(crate) fn integer32(&mut self, bits: u32, low: i64, high: i64) -> u32 {
        if is_nan32(bits) {
            self.raise(flag::INV);
            return 0;
        }
        let rounded = libm::rint(f64::from(flush(bits)));
        if rounded < low as f64 || rounded > high as f64 {
            self.raise(flag::INV);
        }
        (rounded as i64).clamp(low, high) as u32
    }
}

/// The class code of a number from its sign, its fields and its quiet bit. [isa-float §3.5, Q9]
pub(crate) const fn class(negative: bool, exponent: Exponent, mantissa: u32, quiet: u32) -> u32 {
    let positive = !negative as u32;
    match (exponent, mantissa) {
        (Exponent::Top, 0) => 3 + positive,
        (Exponent::Top, _) if mantissa & quiet == 0 => 1,
        (Exponent::Top, _) => 2,
        (Exponent::Zero, 0) => 5 + positive,
        (Exponent::Zero, _) => 7 + positive,
        (Exponent::Other, _) => 9 + positive,
    }
}

/// Which of the three kinds an exponent field is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exponent {
    /// All zeros: zero or subnormal.
    Zero,
    /// All ones: infinity or NaN.
    Top,
    /// A normal number.
    Other,
}

/// The class code of a single.
pub(crate) const fn class32(bits: u32) -> u32 {
    let exponent = match bits & EXPONENT {
        0 => Exponent::Zero,
        EXPONENT => Exponent::Top,
        _ => Exponent::Other,
    };
    class(bits & SIGN != 0, exponent, bits & 0x007f_ffff, 0x0040_0000)
}

/// The class code of a half.
pub(crate) const fn class16(h: u16) -> u32 {
    let exponent = match h & 0x7c00 {
        0 => Exponent::Zero,
        0x7c00 => Exponent::Top,
        _ => Exponent::Other,
    };
    class(h & 0x8000 != 0, exponent, (h & 0x3ff) as u32, 0x200)
}
