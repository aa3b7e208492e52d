//! The worker's half of the matrix unit: products, slim convolutions, transposes; and the clamps.
//! [isa-float §3.1, §3.8, §4]

use tilekiln_chip::assumed::{CODES, Group};
use tilekiln_isa::op::Op;

use crate::exec::{AuxFault, AuxFn, AuxResult, AuxState};
use crate::float::FpState;
use crate::float::lanes::{max16, min16};
use crate::float::matrix::{Factors, Input};
use crate::float::operands::{join, split};
use crate::float::round::widen16;

pub(crate) fn lookup(op: Op) -> Option<AuxFn> {
    Some(match op {
        Op::F16v2clampAAA => f16v2clamp,
        Op::F16v4clampApApA => f16v4clamp,
        Op::F32clampAAAp => f32clamp,
        Op::F32v2clampApApAp => f32v2clamp,
        Op::F16v4hihov4ampApApApZ6 => f16v4hihov4amp,
        Op::F16v4hihoampAApAZ6 => |v, x| product(v, x, HALF_IN, HALF_OUT),
        Op::F16v4sihoampAApApZ6 => |v, x| product(v, x, SINGLE_IN, HALF_OUT),
        Op::F16v4sisoampApApApZ6 => |v, x| product(v, x, SINGLE_IN, SINGLE_OUT),
        Op::F8v8hihov4ampApApApZ6 => f8v8hihov4amp,
        Op::F32sisoampApAApZ6 => f32sisoamp,
        Op::F32sisov2ampApAApZ6 => f32sisov2amp,
        Op::F16v4hihov4slicApApApZ6 => f16v4hihov4slic,
        Op::F16v4hihoslicAApAZ6 => |v, x| convolution(v, x, HALF_IN, HALF_OUT),
        Op::F16v4sihoslicAApApZ6 => |v, x| convolution(v, x, SINGLE_IN, HALF_OUT),
        Op::F16v4sisoslicApApApZ6 => |v, x| convolution(v, x, SINGLE_IN, SINGLE_OUT),
        Op::F8v8hihov4slicApApApZ6 => f8v8hihov4slic,
        Op::F32sisoslicApAApZ6 | Op::F32sisov2slicApAApZ6 => |_, _| {
            Err(AuxFault::Undefined(
                "single-precision slim convolution: no known code",
            ))
        },
        Op::F16v4istaccApApApZ6 => f16v4istacc,
        Op::F16v4staccApZ8 => f16v4stacc,
        _ => return None,
    })
}

type Values = [u32; 5];
type Outcome = Result<AuxResult, AuxFault>;

const HALF_IN: bool = true;
const SINGLE_IN: bool = false;
const HALF_OUT: bool = true;
const SINGLE_OUT: bool = false;

/// The phase or slot of every operand code that is simulated, by its number. [A-FLAGS]
type Phases = [Option<u8>; 64];

/// The codes of `group` whose names begin with `prefix`.
const fn phases(group: Group, prefix: &[u8]) -> Phases {
    let mut phases = [None; 64];
    let mut at = 0;
    while at < CODES.len() {
        let code = &CODES[at];
        let same_group = code.group as u8 == group as u8;
        if same_group && code.simulated && begins_with(code.name.as_bytes(), prefix) {
            assert!(
                phases[code.value as usize].is_none(),
                "two codes of one number"
            );
            phases[code.value as usize] = Some(code.phase as u8);
        }
        at += 1;
    }
    phases
}

const fn begins_with(name: &[u8], prefix: &[u8]) -> bool {
    let mut at = 0;
    while at < prefix.len() {
        if at == name.len() || name[at] != prefix[at] {
            return false;
        }
        at += 1;
    }
    true
}

const AMP_F16: Phases = phases(Group::Amp, b"TAMP_F16V4_");
const AMP_F8: Phases = phases(Group::Amp, b"TAMP_F8V8_");
const AMP_F32: Phases = phases(Group::Amp, b"TAMP_F32_");
const SLIC: Phases = phases(Group::Slic, b"TSLIC_");
const TRANSPOSE_IN: Phases = phases(Group::TransposeIn, b"TISTACC_");
const TRANSPOSE_OUT: Phases = phases(Group::TransposeOut, b"TSTACC_");

/// What code `imm` means, or that nobody knows.
#[inline(always)]
fn decode(phases: &Phases, imm: u32) -> Result<usize, AuxFault> {
    match phases.get(imm as usize) {
        Some(Some(phase)) => Ok(usize::from(*phase)),
        _ => Err(AuxFault::Undefined(
            "an operand code of the matrix unit that is not simulated",
        )),
    }
}

/// Sums that leave as halves, rounded with one draw.
#[inline(always)]
fn leave<const N: usize>(fp: &mut FpState, sums: [u32; 4]) -> [u16; N] {
    let draw = fp.draw();
    core::array::from_fn(|i| fp.round16(f64::from(f32::from_bits(sums[i])), draw, i))
}

/// Partial sums that enter as halves.
#[inline(always)]
fn enter4(halves: [u16; 4]) -> [u32; 4] {
    halves.map(|h| widen16(h).to_bits())
}

/// The partial sums of an 8-unit form: two halves in a register, or two singles in a pair.
fn enter2(state: &AuxState<'_>, number: u32, as_halves: bool) -> [u32; 4] {
    let [low, high] = if as_halves {
        state.halves2(number).map(|h| widen16(h).to_bits())
    } else {
        state.reg_pair(number)
    };
    [low, high, 0, 0]
}

/// The results of an 8-unit form.
fn leave2(state: &mut AuxState<'_>, number: u32, out: [u32; 4], as_halves: bool) -> AuxResult {
    if as_halves {
        AuxResult::one(number, join(leave::<2>(state.fp, out)))
    } else {
        AuxResult::pair(number, [out[0], out[1]])
    }
}

/// What a step of `slot` multiplies.
#[inline(always)]
fn factors<'a>(state: &AuxState<'a>, slot: usize, input: Input) -> Factors<'a> {
    let (weights, truncated) = (state.weights, state.settings.truncated_sums);
    Factors {
        weights,
        slot,
        input,
        truncated,
    }
}

/// The 16-unit product of halves.
fn f16v4hihov4amp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let phase = decode(&AMP_F16, values[3])?;
    let input = Input::Halves(state.halves4(values[1]));
    let partials = enter4(state.halves4(values[2]));
    let factors = factors(state, phase, input);
    let out = state.fp.amp::<16>(factors, partials);
    Ok(AuxResult::halves4(values[0], leave(state.fp, out)))
}

/// The 16-unit product of f8 numbers.
fn f8v8hihov4amp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let phase = decode(&AMP_F8, values[3])?;
    let (input, partials) = (bytes(state, values[1]), enter4(state.halves4(values[2])));
    let factors = factors(state, phase, input);
    let out = state.fp.amp::<16>(factors, partials);
    Ok(AuxResult::halves4(values[0], leave(state.fp, out)))
}

/// The 8-unit products of halves.
#[inline(always)]
fn product(values: &Values, state: &mut AuxState<'_>, from: bool, to: bool) -> Outcome {
    let phase = decode(&AMP_F16, values[3])?;
    let input = Input::Halves(state.halves4(values[1]));
    let partials = enter2(state, values[2], from);
    let factors = factors(state, phase, input);
    let out = state.fp.amp::<8>(factors, partials);
    Ok(leave2(state, values[0], out, to))
}

fn f32sisoamp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let phase = decode(&AMP_F32, values[3])?;
    let (x, partials) = (state.reg(values[1]), state.reg_pair(values[2]));
    Ok(AuxResult::pair(
        values[0],
        state.fp.amp_single(state.weights, phase, x, partials),
    ))
}

fn f32sisov2amp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let phase = decode(&AMP_F32, values[3])?;
    let (x, partials) = (state.reg(values[1]), state.reg_pair(values[2]));
    Ok(AuxResult::pair(
        values[0],
        state.fp.amp_single_both(state.weights, phase, x, partials),
    ))
}

/// The 16-unit convolution of halves.
fn f16v4hihov4slic(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let slot = decode(&SLIC, values[3])?;
    let input = Input::Halves(state.halves4(values[1]));
    let partials = enter4(state.halves4(values[2]));
    let factors = factors(state, slot, input);
    let out = state.fp.slic::<16>(factors, partials);
    Ok(AuxResult::halves4(values[0], leave(state.fp, out)))
}

/// The 16-unit convolution of f8 numbers.
fn f8v8hihov4slic(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let slot = decode(&SLIC, values[3])?;
    let (input, partials) = (bytes(state, values[1]), enter4(state.halves4(values[2])));
    let factors = factors(state, slot, input);
    let out = state.fp.slic::<16>(factors, partials);
    Ok(AuxResult::halves4(values[0], leave(state.fp, out)))
}

/// The 8-unit convolutions of halves.
#[inline(always)]
fn convolution(values: &Values, state: &mut AuxState<'_>, from: bool, to: bool) -> Outcome {
    let slot = decode(&SLIC, values[3])?;
    let input = Input::Halves(state.halves4(values[1]));
    let partials = enter2(state, values[2], from);
    let factors = factors(state, slot, input);
    let out = state.fp.slic::<8>(factors, partials);
    Ok(leave2(state, values[0], out, to))
}

fn bytes(state: &AuxState<'_>, number: u32) -> Input {
    let [low, high] = state.reg_pair(number);
    Input::Bytes(u64::from(low) | u64::from(high) << 32)
}

/// Two rows of a block enter, and a column of the block before leaves: in the low word of each
/// column first, in the high word second. [isa-float §3.8]
fn f16v4istacc(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let phase = decode(&TRANSPOSE_IN, values[3])?;
    let (upper, lower) = (state.halves4(values[1]), state.halves4(values[2]));
    let out = state.fp.shift_set(0, [0; 2]);
    for column in 0..4 {
        let cell = 2 * (2 * column + phase);
        state.fp.set_acc(cell, join([upper[column], lower[column]]));
    }
    Ok(AuxResult::pair(values[0], out))
}

/// A column leaves; the first of the two moves the other three to the delay line.
fn f16v4stacc(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let phase = decode(&TRANSPOSE_OUT, values[1])?;
    if phase == 1 {
        return Ok(AuxResult::pair(values[0], state.fp.shift_set(0, [0; 2])));
    }
    let out = [state.fp.acc(0), state.fp.acc(2)];
    for cell in 0..6 {
        let sum = state.fp.acc(2 * cell + 4);
        state.fp.set_acc(2 * cell + 1, sum);
    }
    Ok(AuxResult::pair(values[0], out))
}

fn clamp16(fp: &mut FpState, h: u16, [low, high]: [u16; 2]) -> u16 {
    let above = max16(fp, h, low);
    min16(fp, above, high)
}

fn f16v2clamp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let bounds = split(state.reg(values[2]));
    let lanes = state
        .halves2(values[1])
        .map(|h| clamp16(state.fp, h, bounds));
    Ok(AuxResult::one(values[0], join(lanes)))
}

fn f16v4clamp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let bounds = split(state.reg(values[2]));
    let lanes = state
        .halves4(values[1])
        .map(|h| clamp16(state.fp, h, bounds));
    Ok(AuxResult::halves4(values[0], lanes))
}

fn clamp32(fp: &mut FpState, bits: u32, [low, high]: [u32; 2]) -> u32 {
    let above = fp.max32(bits, low);
    fp.min32(above, high)
}

fn f32clamp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let bounds = state.reg_pair(values[2]);
    let bits = state.reg(values[1]);
    Ok(AuxResult::one(values[0], clamp32(state.fp, bits, bounds)))
}

fn f32v2clamp(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let bounds = state.reg_pair(values[2]);
    let lanes = state
        .reg_pair(values[1])
        .map(|bits| clamp32(state.fp, bits, bounds));
    Ok(AuxResult::pair(values[0], lanes))
}

#[cfg(test)]
mod tests;
