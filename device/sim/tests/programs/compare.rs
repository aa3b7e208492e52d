//! How near a result must come to the expected one. [tile-programs §4]

use half::f16;
use serde_json::Value;

/// A lane's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// 16 bits.
    Half,
    /// 32 bits.
    Single,
}

/// The rule of a case.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Compare {
    /// Equal bits.
    Bits,
    /// At most so many units in the last place, lane by lane.
    Ulp(i64, Lane),
    /// At most so far away, lane by lane.
    Abs(f64, Lane),
    /// Equal bits, but any NaN for a NaN.
    Nan(Lane),
}

impl Compare {
    /// Reads the field `compare`.
    pub fn parse(value: &Value) -> Result<Self, String> {
        if value == "bits" {
            return Ok(Self::Bits);
        }
        let lane = |name: &str| match value[name].as_str() {
            Some("f16") => Ok(Lane::Half),
            Some("f32") => Ok(Lane::Single),
            _ => Err(format!("no lane type in {value}")),
        };
        if value.get("nan").is_some() {
            return Ok(Self::Nan(lane("nan")?));
        }
        let number = |name: &str| match &value[name] {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        match (number("ulp"), number("abs")) {
            (Some(ulp), _) => Ok(Self::Ulp(ulp as i64, lane("type")?)),
            (_, Some(abs)) => Ok(Self::Abs(abs, lane("type")?)),
            _ => Err(format!("no comparison: {value}")),
        }
    }

    /// Compares two runs of bytes.
    pub fn words(self, what: &str, got: &[u8], want: &[u8]) -> Result<(), String> {
        let lane = match self {
            Self::Bits => {
                return if got == want {
                    Ok(())
                } else {
                    Err(differ(what, got, want))
                };
            }
            Self::Ulp(_, lane) | Self::Abs(_, lane) | Self::Nan(lane) => lane,
        };
        let size = if lane == Lane::Half { 2 } else { 4 };
        let lanes = got.chunks(size).zip(want.chunks(size));
        for (i, (got, want)) in lanes.enumerate() {
            if got != want && !self.lane(Number::of(lane, got), Number::of(lane, want)) {
                return Err(differ(&format!("{what}, lane {i}"), got, want));
            }
        }
        Ok(())
    }

    fn lane(self, got: Number, want: Number) -> bool {
        match self {
            Self::Bits => got.order == want.order,
            Self::Ulp(most, _) => (got.order - want.order).abs() <= most,
            Self::Abs(most, _) => (got.value - want.value).abs() <= most,
            Self::Nan(_) => got.value.is_nan() && want.value.is_nan(),
        }
    }
}

/// A lane as a number, and as a place among its type's numbers.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    order: i64,
}

impl Number {
    fn of(lane: Lane, bytes: &[u8]) -> Self {
        let bits = bytes
            .iter()
            .rev()
            .fold(0, |bits, &byte| bits << 8 | u32::from(byte));
        let (value, sign) = match lane {
            Lane::Half => (f64::from(f16::from_bits(bits as u16).to_f32()), 0x8000),
            Lane::Single => (f64::from(f32::from_bits(bits)), 0x8000_0000),
        };
        let magnitude = i64::from(bits & (sign - 1));
        Self {
            value,
            order: if bits & sign == 0 {
                magnitude
            } else {
                -magnitude
            },
        }
    }
}

fn differ(what: &str, got: &[u8], want: &[u8]) -> String {
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    format!("{what}: got {}, want {}", hex(got), hex(want))
}
