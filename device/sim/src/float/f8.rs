//! The two f8 formats. [isa-float §1.1, §3.3]

use super::round::{Draw, NAN16, is_nan16, wide16};
use super::{FpState, control, flag};

/// The only NaN of both formats.
pub(crate) const NAN8: u8 = 0x80;

/// One of the two formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Four exponent bits, bias 8, three mantissa bits.
    F143,
    /// Five exponent bits, bias 16, two mantissa bits.
    F152,
}

/// `$FP_NFMT`: the format of the weights.
pub(crate) const CWEI_FMT: u32 = 1;
/// `$FP_NFMT`: the format of the aux registers.
pub(crate) const ARF_FMT: u32 = 2;

impl Format {
    const fn mantissa_bits(self) -> i32 {
        if matches!(self, Self::F143) { 3 } else { 2 }
    }

    const fn bias(self) -> i32 {
        if matches!(self, Self::F143) { 8 } else { 16 }
    }

    /// The value of `code`.
    pub(crate) fn decode(self, code: u8) -> f64 {
        if code == NAN8 {
            return f64::NAN;
        }
        let bits = self.mantissa_bits();
        let exponent = i32::from(code & 0x7f) >> bits;
        let mantissa = i32::from(code) & ((1 << bits) - 1);
        let hidden = if exponent == 0 { 0 } else { 1 << bits };
        let magnitude = libm::scalbn(
            f64::from(mantissa + hidden),
            exponent.max(1) - self.bias() - bits,
        );
        if code & 0x80 == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    /// The magnitude code of `v`, finite and not negative: nearest, ties to even, or by 16 random
    /// bits. Beyond 0x7f it has overflowed.
    fn encode(self, v: f64, random: Option<u32>) -> u32 {
        let bits = self.mantissa_bits();
        let lowest = 1 - self.bias();
        let exponent = ((v.to_bits() >> 52) as i32 - 1023).clamp(lowest, 64);
        let steps = libm::scalbn(v, bits - exponent);
        let below = steps as u32;
        let fraction = steps - f64::from(below);
        let up = match random {
            Some(random) => (fraction * 65536.0) as u32 + random >= 1 << 16,
            None => fraction > 0.5 || (fraction == 0.5 && below & 1 == 1),
        };
        (((exponent - lowest) as u32) << bits) + below + u32::from(up)
    }
}

impl FpState {
    /// The format a bit of `$FP_NFMT` selects.
    pub(crate) fn format(&self, bit: u32) -> Format {
        if self.nfmt & bit != 0 {
            Format::F143
        } else {
            Format::F152
        }
    }

    /// `$FP_SCL`, sign extended.
    pub(crate) fn scale(&self) -> i32 {
        (self.scl << 26) as i32 >> 26
    }

    /// An f8 number of the aux registers as a half, scaled.
    pub(crate) fn widen8(&mut self, code: u8, draw: Draw, lane: usize) -> u16 {
        if code == NAN8 {
            return NAN16;
        }
        let value = self.format(ARF_FMT).decode(code);
        self.round16(libm::scalbn(value, self.scale()), draw, lane)
    }

    /// A half as an f8 number of the aux registers, scaled.
    pub(crate) fn narrow8(&mut self, h: u16, random: Option<u32>) -> u8 {
        if is_nan16(h) {
            self.raise(flag::INV);
            return NAN8;
        }
        let value = libm::scalbn(wide16(h), self.scale());
        if value.is_infinite() {
            self.raise(flag::INV);
            return NAN8;
        }
        let sign = ((h >> 8) & 0x80) as u8;
        match self.format(ARF_FMT).encode(value.abs(), random) {
            0 => 0,
            code @ 1..=0x7f => sign | code as u8,
            _ => self.overflow8(sign),
        }
    }

    fn overflow8(&mut self, sign: u8) -> u8 {
        self.raise(flag::OFLO);
        if self.ctl & control::NANOO == 0 {
            return sign | 0x7f;
        }
        self.raise(flag::INV);
        NAN8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_have_the_published_ends() {
        assert_eq!(Format::F143.decode(0x7f), 240.0);
        assert_eq!(Format::F143.decode(0x01), f64::powi(2.0, -10));
        assert_eq!(Format::F152.decode(0x7f), 57344.0);
        assert_eq!(Format::F152.decode(0x01), f64::powi(2.0, -17));
        assert!(Format::F143.decode(0x80).is_nan());
    }

    #[test]
    fn every_number_goes_to_half_and_back_unchanged() {
        let mut fp = FpState::default();
        for nfmt in [0, ARF_FMT] {
            fp.nfmt = nfmt;
            for code in (0..=u8::MAX).filter(|code| *code != NAN8) {
                let half = fp.widen8(code, Draw::NEAREST, 0);
                assert_eq!(fp.narrow8(half, None), code);
            }
        }
        assert_eq!(fp.sts, 0);
    }

    #[test]
    fn every_half_goes_to_the_nearest_number_and_ties_to_the_even_one() {
        let mut fp = FpState {
            nfmt: ARF_FMT,
            ..FpState::default()
        };
        let numbers: Vec<f64> = (0..=0x7f).map(|code| Format::F143.decode(code)).collect();
        for h in (0..0x7c00).filter(|h| wide16(*h) <= 240.0) {
            let code = fp.narrow8(h, None);
            let distance = |code: u8| (numbers[usize::from(code)] - wide16(h)).abs();
            for other in [code.saturating_sub(1), (code + 1).min(0x7f)] {
                let tie_to_even = distance(code) == distance(other) && code.is_multiple_of(2);
                assert!(other == code || distance(code) < distance(other) || tie_to_even);
            }
        }
    }

    #[test]
    fn overflow_saturates_or_becomes_a_nan() {
        let mut fp = FpState::default();
        assert_eq!(fp.narrow8(0xfbff, None), 0xff);
        assert_eq!(fp.sts, flag::OFLO);
        fp.ctl = control::NANOO;
        assert_eq!(fp.narrow8(0xfbff, None), NAN8);
        assert_eq!(fp.narrow8(0x7c00, None), NAN8);
    }
}
