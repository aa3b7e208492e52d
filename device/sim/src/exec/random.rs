//! Random numbers. [isa-float §3.7]

use tilekiln_isa::op::Op;

use super::{AuxFault, AuxFn, AuxResult, AuxState};
use crate::float::random::{kept, normal};

pub(crate) fn lookup(op: Op) -> Option<AuxFn> {
    Some(match op {
        Op::F16v2grandA => f16v2grand,
        Op::F32v2grandAp => f32v2grand,
        Op::Urand32A => urand32,
        Op::Urand64Ap => urand64,
        Op::F16v4rmaskApApA => f16v4rmask,
        Op::F32v2rmaskApApA => f32v2rmask,
        _ => return None,
    })
}

type Values = [u32; 5];
type Outcome = Result<AuxResult, AuxFault>;

/// Two draws; sixteenths up to 5.625 are halves, so there is nothing to round. [A-GRAND]
fn f16v2grand(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let mut lane = || {
        let z = normal(state.fp.prng.step());
        u32::from(crate::float::round::nearest16(f64::from(z)).unwrap_or(0))
    };
    let (low, high) = (lane(), lane());
    Ok(AuxResult::one(values[0], low | high << 16))
}

fn f32v2grand(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let mut lane = || normal(state.fp.prng.step()).to_bits();
    let pair = [lane(), lane()];
    Ok(AuxResult::pair(values[0], pair))
}

fn urand32(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    Ok(AuxResult::one(values[0], state.fp.prng.step() as u32))
}

fn urand64(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let word = state.fp.prng.step();
    Ok(AuxResult::pair(
        values[0],
        [word as u32, (word >> 32) as u32],
    ))
}

/// Lanes are kept or become +0; the kept ones are copied whatever their bits mean.
fn f16v4rmask(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (word, p) = (state.fp.prng.step(), state.reg(values[2]));
    let mask = |lane| {
        if kept(word, p, lane) {
            0xffff << (16 * (lane % 2))
        } else {
            0
        }
    };
    let [low, high] = state.reg_pair(values[1]);
    Ok(AuxResult::pair(
        values[0],
        [low & (mask(0) | mask(1)), high & (mask(2) | mask(3))],
    ))
}

fn f32v2rmask(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (word, p) = (state.fp.prng.step(), state.reg(values[2]));
    let [low, high] = state.reg_pair(values[1]);
    let keep = |lane, bits| if kept(word, p, lane) { bits } else { 0 };
    Ok(AuxResult::pair(values[0], [keep(0, low), keep(1, high)]))
}
