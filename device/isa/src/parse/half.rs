//! Half-precision literals. [isa-encoding §4]

/// The 16 bits of a literal such as `1.0h`, `-2.0h`, `6.1e-5h` or `-infh`, rounded to nearest.
///
/// The sign belongs to the literal: `-0.0h` is 0x8000. `None` says that it is no such literal.
pub fn half(text: &str) -> Option<u16> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (0x8000, digits),
        None => (0, text),
    };
    let digits = digits.strip_suffix('h')?;
    if digits == "inf" {
        return Some(sign | INFINITY);
    }
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits
            .bytes()
            .all(|c| c.is_ascii_digit() || b".eE+-".contains(&c));
    let value: f64 = if plain {
        digits.parse().ok()?
    } else {
        return None;
    };
    Some(sign | magnitude(value))
}

const INFINITY: u16 = 0x7c00;

/// The bits of the half nearest to `value`, which is not negative; ties go to even.
///
/// The decimal text was rounded to 53 bits before, which can only matter for a text that lies
/// within 2^-53 of the middle between two halves without being it.
fn magnitude(value: f64) -> u16 {
    if value >= 65520.0 {
        return INFINITY;
    }
    let exponent = ((value.to_bits() >> 52) as i32 - 1023).max(-14);
    // One unit in the last place is 2^(exponent - 10): a power of two, so nothing is lost.
    let unit = f64::from_bits(((exponent - 10 + 1023) as u64) << 52);
    let units = value / unit;
    let whole = units as u32;
    let rest = units - f64::from(whole);
    let up = rest > 0.5 || rest == 0.5 && whole % 2 == 1;
    // A carry out of the fraction is the next exponent, which is what it should be.
    let rounded = whole + u32::from(up);
    if rounded < 1024 {
        rounded as u16
    } else {
        ((exponent + 14) as u32 * 1024 + rounded) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn literals_are_rounded_to_the_nearest_half() {
        for (text, bits) in [
            ("1.0h", 0x3c00),
            ("-2.0h", 0xc000),
            ("1h", 0x3c00),
            ("-0.0h", 0x8000),
            ("infh", 0x7c00),
            ("-infh", 0xfc00),
            ("65504h", 0x7bff),
            ("65519.9h", 0x7bff),
            ("65520h", 0x7c00),
            ("6.10352e-5h", 0x0400),
            ("6.09756e-5h", 0x03ff),
            ("5.960464477539063e-8h", 0x0001),
            ("2.9802322387695312e-8h", 0x0000),
            ("2.99e-8h", 0x0001),
            ("0.333251953125h", 0x3555),
            ("2049h", 0x6800),
            ("2051h", 0x6802),
            ("1e-400h", 0x0000),
        ] {
            assert_eq!(half(text), Some(bits), "{text}");
        }
    }

    #[test]
    fn everything_else_is_no_literal() {
        for text in [
            "1.0",
            "h",
            "0x1h",
            "nanh",
            "--1.0h",
            "1.0hh",
            "infinityh",
            "1.2.3h",
            "+1h",
        ] {
            assert_eq!(half(text), None, "{text}");
        }
    }
}
