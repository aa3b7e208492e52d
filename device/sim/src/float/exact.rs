//! Sums that are rounded once: the inner precision of the matrix unit and of the multiply-
//! accumulate forms. [isa-float §4.6 model R]

use super::flag;
use super::single::{NAN32, flush, is_nan32};

/// The sum of `a` and `b`, and what rounding took away from it (Knuth). Exact unless a sum
/// overflows or something is not finite; the second number is then a NaN.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    let from_a = sum - from_b;
    (sum, (a - from_a) + (b - from_b))
}

/// `sum + lost`, a result of [`two_sum`], rounded to odd: toward zero, with the lowest bit set when
/// that was not exact. What is rounded to odd here may be rounded again to single, and the result
/// is the single nearest to the exact sum.
#[inline]
pub(crate) fn to_odd(sum: f64, lost: f64) -> f64 {
    let bits = sum.to_bits();
    // NaN: the sum is not finite, and stays what it is.
    if lost == 0.0 || lost.is_nan() || bits & 1 == 1 {
        return sum;
    }
    // One step toward `lost` has an odd last bit, because this one is even.
    let away = (lost > 0.0) == (sum > 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

/// `a + b` rounded to odd.
#[inline(always)]
pub(crate) fn add_odd(a: f64, b: f64) -> f64 {
    let (sum, lost) = two_sum(a, b);
    to_odd(sum, lost)
}

/// 2 to the power of `exponent`, which must be that of a normal double.
#[inline(always)]
pub(crate) const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `acc + 2^scale * (terms[0] + terms[1] + …)`, rounded once to single, and the flags it raises.
///
/// `acc` is the bits of a single; each term is an exact product of two halves or two f8 numbers,
/// an infinity, or a NaN; `scale` is from -32 to 31.
pub(crate) fn fused_sum(acc: u32, terms: &[f64], scale: i32) -> (u32, u32) {
    let mut sum = -0.0; // The one number that changes no other, not even a zero.
    let mut lost = 0.0;
    for term in terms {
        let (next, rest) = two_sum(sum, *term);
        sum = next;
        lost += rest.abs();
    }
    let wide = f64::from(flush(acc));
    let result = if lost == 0.0 {
        add_odd(wide, sum * power(scale))
    } else if sum.is_finite() && wide.is_finite() {
        exact_sum(flush(acc), terms, scale)
    } else {
        return special_sum(acc, terms);
    } as f32;
    if result.is_finite() {
        return (flush(result.to_bits()).to_bits(), 0);
    }
    if sum.is_finite() && wide.is_finite() {
        return (result.to_bits(), flag::OFLO);
    }
    special_sum(acc, terms)
}

/// The same sum by the other model of the inner precision: all addends are aligned to the largest
/// one, what lies more than 31 places below its leading bit is dropped, and the rest is rounded
/// once. [isa-float §4.6 model T]
#[cold]
pub(crate) fn truncated_sum(acc: u32, terms: &[f64], scale: i32) -> (u32, u32) {
    let wide = f64::from(flush(acc));
    let addends = || terms.iter().map(|term| term * power(scale)).chain([wide]);
    let largest = addends().map(f64::abs).fold(0.0, f64::max);
    if largest == 0.0 || !addends().all(f64::is_finite) {
        return fused_sum(acc, terms, scale);
    }
    let exponent = (largest.to_bits() >> 52) as i32 - 1023;
    // Each quotient is below 2^32, and so are their nine at most: the sum is exact.
    let kept: i64 = addends().map(|v| (v * power(31 - exponent)) as i64).sum();
    let result = (kept as f64 * power(exponent - 31)) as f32;
    let flags = if result.is_infinite() { flag::OFLO } else { 0 };
    (flush(result.to_bits()).to_bits(), flags)
}

/// A sum with an infinity or a NaN in it, by the rules of IEEE. [isa-float §4.6]
#[cold]
fn special_sum(acc: u32, terms: &[f64]) -> (u32, u32) {
    let wide = f64::from(flush(acc));
    let all = || terms.iter().copied().chain([wide]);
    let up = all().any(|v| v == f64::INFINITY);
    let down = all().any(|v| v == f64::NEG_INFINITY);
    if is_nan32(acc) {
        return (acc | 0x0040_0000, flag::INV);
    }
    if all().any(f64::is_nan) || (up && down) {
        return (NAN32, flag::INV);
    }
    (
        if up { f32::INFINITY } else { f32::NEG_INFINITY }.to_bits(),
        0,
    )
}

/// Products of two halves are multiples of this power of two, and so are those of two f8 numbers.
const UNIT: i32 = -48;

/// The finite sum `acc + 2^scale * Σ terms`, rounded to odd.
#[cold]
fn exact_sum(acc: f32, terms: &[f64], scale: i32) -> f64 {
    // Every term is an integer below 2^80 in this unit, so the conversion is exact.
    let total: i128 = terms.iter().map(|term| (term * power(-UNIT)) as i128).sum();
    let (significand, exponent) = split(acc);
    add_aligned(total, UNIT + scale, significand, exponent)
}

/// A finite single as an integer of at most 24 bits and the exponent of its last bit.
fn split(v: f32) -> (i128, i32) {
    let bits = v.to_bits();
    let field = (bits >> 23 & 0xff) as i32;
    let significand = i128::from(bits & 0x007f_ffff | if field == 0 { 0 } else { 1 << 23 });
    (
        if v.is_sign_negative() {
            -significand
        } else {
            significand
        },
        field.max(1) - 150,
    )
}

/// `a * 2^a_exponent + b * 2^b_exponent` rounded to odd, for `a` below 2^90 and `b` below 2^24.
///
/// When the two lie too far apart for 128 bits, the smaller one is one sticky unit, far below
/// everything that decides the rounding.
fn add_aligned(a: i128, a_exponent: i32, b: i128, b_exponent: i32) -> f64 {
    if a == 0 {
        return odd(b, b_exponent);
    }
    if b == 0 {
        return odd(a, a_exponent);
    }
    let distance = b_exponent - a_exponent;
    let a_bits = 128 - a.unsigned_abs().leading_zeros() as i32;
    if (0..=96).contains(&distance) {
        odd(a + (b << distance), a_exponent)
    } else if distance > 96 {
        odd((b << 6) + a.signum(), b_exponent - 6)
    } else if a_bits - distance <= 120 {
        odd((a << -distance) + b, b_exponent)
    } else {
        let shift = (-distance - 24).min(120 - a_bits);
        odd((a << shift) + b.signum(), a_exponent - shift)
    }
}

/// `m * 2^exponent` as a double, rounded to odd.
fn odd(m: i128, exponent: i32) -> f64 {
    let magnitude = m.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros() as i32 - 53).max(0);
    let cut = magnitude >> excess;
    let sticky = u128::from(cut << excess != magnitude);
    let value = (cut | sticky) as u64 as f64 * power(excess + exponent);
    if m < 0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::round::wide16;

    /// The same sum on a grid so fine that nothing is ever dropped.
    fn slow(acc: f32, terms: &[f64], scale: i32) -> f32 {
        let total: i128 = terms.iter().map(|term| (term * power(48)) as i128).sum();
        let (significand, exponent) = split(acc);
        add_aligned(total, UNIT + scale, significand, exponent) as f32
    }

    #[test]
    fn the_fast_sum_and_the_integer_sum_agree_on_random_halves() {
        arbtest::arbtest(|u| {
            let mut terms = [0.0; 4];
            for term in &mut terms {
                let (x, w) = (
                    u.arbitrary::<u16>()? & 0xfbff,
                    u.arbitrary::<u16>()? & 0xfbff,
                );
                *term = wide16(x) * wide16(w);
            }
            let acc = flush(u.arbitrary()?);
            if acc.is_finite() {
                let (bits, flags) = fused_sum(acc.to_bits(), &terms, 0);
                let want = slow(acc, &terms, 0);
                assert_eq!(f32::from_bits(bits), want);
                assert_eq!(flags, if want.is_finite() { 0 } else { flag::OFLO });
            }
            Ok(())
        });
    }

    #[test]
    fn numbers_far_apart_are_rounded_by_the_smaller_one() {
        let large = f32::from_bits(0x7000_0001);
        assert_eq!(slow(large, &[power(-48)], 0), large);
        // Ties, broken by something 2^140 below.
        assert_eq!(
            add_aligned(3 << 23, 0, 1, -140) as f32,
            f32::from_bits(0x4bc0_0000)
        );
        assert_eq!(add_aligned((1 << 25) + 1, 0, 1, -140) as f32, 33_554_432.0);
        assert_eq!(add_aligned((1 << 25) + 2, 0, 1, -140) as f32, 33_554_436.0);
        assert_eq!(add_aligned((1 << 25) + 2, 0, -1, -140) as f32, 33_554_432.0);
        assert_eq!(add_aligned((1 << 25) + 2, 0, 0, -140) as f32, 33_554_432.0);
    }

    #[test]
    fn infinities_and_nans_follow_the_rules_of_ieee() {
        let inf = f64::INFINITY;
        assert_eq!(fused_sum(0, &[inf, 1.0], 0), (f32::INFINITY.to_bits(), 0));
        assert_eq!(fused_sum(0, &[inf, -inf], 0), (NAN32, flag::INV));
        assert_eq!(fused_sum(0xff80_0000, &[inf], 0), (NAN32, flag::INV));
        assert_eq!(fused_sum(0xff80_0000, &[1.0], 0), (0xff80_0000, 0));
        assert_eq!(fused_sum(0x7f80_0001, &[1.0], 0), (0x7fc0_0001, flag::INV));
        assert_eq!(fused_sum(0, &[f64::NAN], 0), (NAN32, flag::INV));
    }

    #[test]
    fn a_sum_of_negative_zeros_is_negative() {
        assert_eq!(fused_sum(0x8000_0000, &[-0.0, -0.0], 0), (0x8000_0000, 0));
        assert_eq!(fused_sum(0x8000_0000, &[-0.0, 0.0], 0), (0, 0));
        assert_eq!(fused_sum(0x3f80_0000, &[-1.0, -0.0], 0), (0, 0));
    }

    #[test]
    fn the_two_models_differ_by_no_more_than_the_bits_that_are_dropped() {
        let term = 1.0 + power(-20);
        let (exact, _) = fused_sum(0xbf80_0000, &[term, power(-40)], 0);
        let (dropped, _) = truncated_sum(0xbf80_0000, &[term, power(-40)], 0);
        assert_eq!(f64::from(f32::from_bits(exact)), power(-20) + power(-40));
        assert_eq!(f64::from(f32::from_bits(dropped)), power(-20));
        arbtest::arbtest(|u| {
            let mut half = || Ok(wide16(u.arbitrary::<u16>()? & 0xbfff));
            let terms = [half()? * half()?, half()? * half()?, half()?, half()?];
            let acc = half()? as f32;
            let (exact, _) = fused_sum(acc.to_bits(), &terms, 0);
            let (other, _) = truncated_sum(acc.to_bits(), &terms, 0);
            let [exact, other] = [exact, other].map(|bits| f64::from(f32::from_bits(bits)));
            let all = terms.iter().copied().chain([f64::from(acc)]);
            let largest = all.map(f64::abs).fold(0.0, f64::max);
            let bound = 5.0 * power(-31) * largest + power(-23) * exact.abs();
            assert!((exact - other).abs() <= bound, "{exact} {other}");
            Ok(())
        });
    }

    #[test]
    fn overflow_gives_infinity_and_its_flag() {
        let big = f32::MAX.to_bits();
        assert_eq!(fused_sum(big, &[4e9, 4e9], 31), (big, 0));
        assert_eq!(fused_sum(0x7f7f_ffff, &[0.0], 0), (0x7f7f_ffff, 0));
    }
}
