//! Exponentials, logarithms and their kin, from software that gives the same bits on every host.
//! [isa-float §3.4, A-EXP]
//!
//! The value is that of a double-precision library, rounded once. For halves that is the correctly
//! rounded value, and all 65536 of them are kept in a table.

use std::sync::OnceLock;

use super::round::{Draw, INF16, NAN16, is_nan16, nearest16, wide16};
use super::single::{flush, is_nan32};
use super::{FpState, control, flag};

/// One elementary function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// e to the x.
    Exp,
    /// 2 to the x.
    Exp2,
    /// The natural logarithm.
    Ln,
    /// The binary logarithm.
    Log2,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e^-x).
    Sigm,
}

/// Marks the halves whose result raises a flag; no function gives this NaN.
const FLAGGED: u16 = 0xffff;

static TABLES: [OnceLock<Box<[u16]>>; 6] = [const { OnceLock::new() }; 6];

impl Function {
    /// The function in double precision.
    fn of(self, x: f64) -> f64 {
        match self {
            Self::Exp => libm::exp(x),
            Self::Exp2 => libm::exp2(x),
            Self::Ln => libm::log(x),
            Self::Log2 => libm::log2(x),
            Self::Tanh => libm::tanh(x),
            Self::Sigm => 1.0 / (1.0 + libm::exp(-x)),
        }
    }

    const fn is_logarithm(self) -> bool {
        matches!(self, Self::Ln | Self::Log2)
    }

    /// The function of every half, rounded to nearest.
    fn table(self) -> &'static [u16] {
        TABLES[self as usize].get_or_init(|| (0..=u16::MAX).map(|h| self.entry(h)).collect())
    }

    fn entry(self, h: u16) -> u16 {
        let x = wide16(h);
        if x.is_nan() || (self.is_logarithm() && x <= 0.0) {
            return FLAGGED;
        }
        let y = self.of(x);
        match nearest16(y) {
            Some(code) => code,
            None if x.is_infinite() => INF16, // Only exp and the logarithms of +inf grow there.
            None => FLAGGED,
        }
    }
}

impl FpState {
    /// `function` of a half.
    #[inline]
    pub(crate) fn function16(
        &mut self,
        function: Function,
        h: u16,
        draw: Draw,
        lane: usize,
    ) -> u16 {
        if draw.lane(lane, 4).is_none() {
            let result = function.table()[usize::from(h)];
            if result != FLAGGED {
                return result;
            }
        }
        self.function16_rare(function, h, draw, lane)
    }

    #[cold]
    fn function16_rare(&mut self, function: Function, h: u16, draw: Draw, lane: usize) -> u16 {
        let x = wide16(h);
        if is_nan16(h) || (function.is_logarithm() && x < 0.0) {
            return self.nan16(&[h]);
        }
        if function.is_logarithm() && x == 0.0 {
            return self.pole16();
        }
        let y = function.of(x);
        if y.is_infinite() && x.is_finite() {
            return self.overflow16(0);
        }
        self.round16(y, draw, lane)
    }

    /// The logarithm of zero as a half: there is no infinity to give. [isa-float §3.4, Q8]
    fn pole16(&mut self) -> u16 {
        self.raise(flag::DIV0);
        if self.ctl & control::NANOO == 0 {
            return 0xfbff;
        }
        self.raise(flag::INV);
        NAN16
    }

    /// `function` of a single.
    pub(crate) fn function32(&mut self, function: Function, bits: u32) -> u32 {
        let x = f64::from(flush(bits));
        if is_nan32(bits) || (function.is_logarithm() && x < 0.0) {
            return self.nan32(&[bits]);
        }
        if function.is_logarithm() && x == 0.0 {
            return self.pole32(1 << 31);
        }
        self.narrow32(function.of(x), bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_points_are_exact() {
        let mut fp = FpState::default();
        let mut half = |f, h| fp.function16(f, h, Draw::NEAREST, 0);
        assert_eq!(half(Function::Exp, 0), 0x3c00);
        assert_eq!(half(Function::Exp2, 0x8000), 0x3c00);
        assert_eq!(half(Function::Ln, 0x3c00), 0);
        assert_eq!(half(Function::Tanh, 0), 0);
        assert_eq!(half(Function::Sigm, 0), 0x3800);
        for exponent in -126..=127i32 {
            let power = f32::from_bits(((exponent + 127) as u32) << 23);
            let x = (exponent as f32).to_bits();
            assert_eq!(fp.function32(Function::Exp2, x), power.to_bits());
            assert_eq!(fp.function32(Function::Log2, power.to_bits()), x);
        }
        assert_eq!(fp.sts, 0);
    }

    #[test]
    fn half_exponentials_saturate_and_vanish() {
        let mut fp = FpState::default();
        assert_eq!(fp.function16(Function::Exp, 0xfc00, Draw::NEAREST, 0), 0);
        assert_eq!(fp.function16(Function::Exp, 0xfbff, Draw::NEAREST, 0), 0);
        assert_eq!(
            fp.function16(Function::Exp, 0x7c00, Draw::NEAREST, 0),
            INF16
        );
        assert_eq!(fp.sts, 0);
        assert_eq!(
            fp.function16(Function::Exp, 0x7bff, Draw::NEAREST, 0),
            0x7bff
        );
        assert_eq!(fp.sts, flag::OFLO);
    }

    #[test]
    fn the_table_and_the_computed_value_agree_under_stochastic_rounding() {
        let mut fp = FpState {
            ctl: control::ESR,
            ..FpState::default()
        };
        for h in (0..=u16::MAX).step_by(7) {
            let draw = fp.draw();
            let near = Function::Tanh.table()[usize::from(h)];
            let drawn = fp.function16(Function::Tanh, h, draw, 1);
            assert!(near == FLAGGED || near.abs_diff(drawn) <= 1, "{h:#x}");
        }
    }

    #[test]
    fn logarithms_of_zero_and_of_negative_numbers_raise_their_flags() {
        let mut fp = FpState::default();
        assert_eq!(
            fp.function16(Function::Ln, 0x8000, Draw::NEAREST, 0),
            0xfbff
        );
        assert_eq!(fp.sts, flag::DIV0);
        assert_eq!(fp.function32(Function::Log2, 0xbf80_0000), 0x7fc0_0000);
        assert_eq!(fp.sts, flag::DIV0 | flag::INV);
    }
}
