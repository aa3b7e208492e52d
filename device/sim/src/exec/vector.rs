//! Single-precision vectors and the accumulators. [isa-float §3.1, §3.8]

use tilekiln_isa::op::Op;

use super::float::unit32;
use super::{AuxFault, AuxFn, AuxResult, AuxState};
use crate::float::FpState;
use crate::float::exact::{add_odd, fused_sum};
use crate::float::lanes::{
    AbsAdd, AbsMax, Add, Binary, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Sub,
};
use crate::float::operands::{join, split};
use crate::float::round::{wide16, widen16};
use crate::float::single::{class32, flush};

pub(crate) fn lookup(op: Op) -> Option<AuxFn> {
    lanewise(op).or_else(|| accumulating(op))
}

fn lanewise(op: Op) -> Option<AuxFn> {
    Some(match op {
        Op::F32v2cmpeqApApAp => pairs::<Eq>,
        Op::F32v2cmpeqApBAp => broadcast::<Eq>,
        Op::F32v2cmpgeApApAp => pairs::<Ge>,
        Op::F32v2cmpgeApBAp => broadcast::<Ge>,
        Op::F32v2cmpgtApApAp => pairs::<Gt>,
        Op::F32v2cmpgtApBAp => broadcast::<Gt>,
        Op::F32v2cmpleApApAp => pairs::<Le>,
        Op::F32v2cmpleApBAp => broadcast::<Le>,
        Op::F32v2cmpltApApAp => pairs::<Lt>,
        Op::F32v2cmpltApBAp => broadcast::<Lt>,
        Op::F32v2cmpneApApAp => pairs::<Ne>,
        Op::F32v2cmpneApBAp => broadcast::<Ne>,
        Op::F32v2addApApAp => pairs::<Add>,
        Op::F32v2addApBAp => broadcast::<Add>,
        Op::F32v2mulApApAp => pairs::<Mul>,
        Op::F32v2mulApBAp => broadcast::<Mul>,
        Op::F32v2subApApAp => pairs::<Sub>,
        Op::F32v2subApBAp => broadcast::<Sub>,
        Op::F32v2maxApApAp => pairs::<Max>,
        Op::F32v2minApApAp => pairs::<Min>,
        Op::F32v2absaddApApAp => pairs::<AbsAdd>,
        Op::F32v2absmaxApApAp => pairs::<AbsMax>,
        Op::F32v2classAAp => f32v2class,
        Op::F32v2sufromuiApAp => f32v2sufromui,
        Op::F32v2tof16AAp => f32v2tof16,
        Op::F32v4tof16ApAq => f32v4tof16,
        _ => return None,
    })
}

fn accumulating(op: Op) -> Option<AuxFn> {
    Some(match op {
        Op::F16v2cmacAA => f16v2cmac,
        Op::F16v4cmacApAp => f16v4cmac,
        Op::F32macAA => f32mac,
        Op::F32v2macApAp => f32v2mac,
        Op::F32v2aopApApZ8 => f32v2aop,
        Op::F16v2ginaAAZ12 => f16v2gina,
        Op::F32v2ginaApApZ12 => f32v2gina,
        Op::F16v4gaccAp => f16v4gacc,
        Op::F16v4accAp => |v, x| accumulate4(v, x, widen16),
        Op::F16v4absaccAp => |v, x| accumulate4(v, x, |h| widen16(h).abs()),
        Op::F16v8accAq => |v, x| accumulate8(v, x, widen16),
        Op::F16v8absaccAq => |v, x| accumulate8(v, x, |h| widen16(h).abs()),
        // The square of a half has at most 22 bits.
        Op::F16v8sqaccAq => |v, x| accumulate8(v, x, |h| widen16(h) * widen16(h)),
        Op::F32v4accAq => |v, x| accumulate32(v, x, |fp, acc, s| fp.add32(acc, s)),
        Op::F32v4absaccAq => |v, x| accumulate32(v, x, |fp, acc, s| fp.add32(acc, s & !SIGN)),
        Op::F32v4sqaccAq => |v, x| accumulate32(v, x, |fp, acc, s| fp.fma32(acc, s, s)),
        Op::F16v4mixApApAp => f16v4mix,
        Op::F32v2axpyApApAp => f32v2axpy,
        _ => return None,
    })
}

type Values = [u32; 5];
type Outcome = Result<AuxResult, AuxFault>;

const SIGN: u32 = 1 << 31;

fn pairs<B: Binary>(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg_pair(values[1]), state.reg_pair(values[2]));
    Ok(AuxResult::pair(
        values[0],
        [0, 1].map(|i| B::single(state.fp, a[i], b[i])),
    ))
}

/// The first operand in both lanes.
fn broadcast<B: Binary>(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg(values[1]), state.reg_pair(values[2]));
    Ok(AuxResult::pair(
        values[0],
        [0, 1].map(|i| B::single(state.fp, a, b[i])),
    ))
}

fn f32v2class(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let [a, b] = state.reg_pair(values[1]).map(class32);
    Ok(AuxResult::one(values[0], a | b << 8))
}

fn f32v2sufromui(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    Ok(AuxResult::pair(
        values[0],
        state.reg_pair(values[1]).map(unit32),
    ))
}

/// Rounds up to four singles to halves with one draw.
#[inline(always)]
fn narrow<const N: usize>(fp: &mut FpState, singles: [u32; N]) -> [u16; N] {
    let draw = fp.draw();
    let lane = |i: usize| fp.round16(f64::from(flush(singles[i])), draw, i);
    core::array::from_fn(lane)
}

fn f32v2tof16(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let singles = state.reg_pair(values[1]);
    Ok(AuxResult::one(values[0], join(narrow(state.fp, singles))))
}

fn f32v4tof16(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let singles = state.reg_quad(values[1]);
    Ok(AuxResult::halves4(values[0], narrow(state.fp, singles)))
}

impl FpState {
    /// Accumulators 0, 2, 4 and 6, to which the short forms belong.
    fn first_four(&self) -> [u32; 4] {
        [0, 2, 4, 6].map(|index| self.acc(index))
    }

    /// Adds a single to accumulator `2 * lane`.
    #[inline(always)]
    fn accumulate(&mut self, lane: usize, term: u32) {
        let sum = self.add32(self.acc(2 * lane), term);
        self.set_acc(2 * lane, sum);
    }

    /// Adds a product to accumulator `index`, in one rounding.
    fn multiply_add(&mut self, index: usize, a: u32, b: u32) {
        let sum = self.fma32(self.acc(index), a, b);
        self.set_acc(index, sum);
    }

    /// Adds two products of halves to accumulator `index`, in one rounding.
    fn dot_add(&mut self, index: usize, a: u32, b: u32) {
        let ([a0, a1], [b0, b1]) = (split(a).map(wide16), split(b).map(wide16));
        let (sum, flags) = fused_sum(self.acc(index), &[a0 * b0, a1 * b1], 0);
        self.set_acc(index, sum);
        self.raise(flags);
    }
}

#[inline(always)]
fn accumulate4(values: &Values, state: &mut AuxState<'_>, term: impl Fn(u16) -> f32) -> Outcome {
    for (lane, half) in state.halves4(values[0]).into_iter().enumerate() {
        state.fp.accumulate(lane, term(half).to_bits());
    }
    Ok(AuxResult::nothing())
}

#[inline(always)]
fn accumulate8(values: &Values, state: &mut AuxState<'_>, term: impl Fn(u16) -> f32) -> Outcome {
    for (index, word) in state.reg_quad(values[0]).into_iter().enumerate() {
        let [low, high] = split(word).map(&term);
        state.fp.accumulate(2 * index, low.to_bits());
        state.fp.accumulate(2 * index + 1, high.to_bits());
    }
    Ok(AuxResult::nothing())
}

#[inline(always)]
fn accumulate32(
    values: &Values,
    state: &mut AuxState<'_>,
    sum: impl Fn(&mut FpState, u32, u32) -> u32,
) -> Outcome {
    for (lane, single) in state.reg_quad(values[0]).into_iter().enumerate() {
        let result = sum(state.fp, state.fp.acc(2 * lane), single);
        state.fp.set_acc(2 * lane, result);
    }
    Ok(AuxResult::nothing())
}

fn f16v2cmac(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg(values[0]), state.reg(values[1]));
    state.fp.dot_add(0, a, b);
    Ok(AuxResult::nothing())
}

fn f16v4cmac(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg_pair(values[0]), state.reg_pair(values[1]));
    state.fp.dot_add(0, a[0], b[0]);
    state.fp.dot_add(2, a[1], b[1]);
    Ok(AuxResult::nothing())
}

fn f32mac(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg(values[0]), state.reg(values[1]));
    state.fp.multiply_add(0, a, b);
    Ok(AuxResult::nothing())
}

fn f32v2mac(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg_pair(values[0]), state.reg_pair(values[1]));
    state.fp.multiply_add(0, a[0], b[0]);
    state.fp.multiply_add(2, a[1], b[1]);
    Ok(AuxResult::nothing())
}

/// The outer product of two pairs; the immediate has no known effect.
fn f32v2aop(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg_pair(values[0]), state.reg_pair(values[1]));
    for index in 0..4 {
        state.fp.multiply_add(2 * index, a[index % 2], b[index / 2]);
    }
    Ok(AuxResult::nothing())
}

/// The first two accumulators of chain `imm[1:0]` leave, the others move up, and `entering` are
/// put behind them; nothing is rounded. [isa-float §3.8]
fn chain(fp: &mut FpState, imm: u32, entering: [u32; 2]) -> [u32; 2] {
    let first = (16 * (imm >> 1 & 1) + (imm & 1)) as usize;
    let out = [fp.acc(first), fp.acc(first + 2)];
    for cell in 0..6 {
        fp.set_acc(first + 2 * cell, fp.acc(first + 2 * cell + 4));
    }
    fp.set_acc(first + 12, entering[0]);
    fp.set_acc(first + 14, entering[1]);
    out
}

fn f32v2gina(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let entering = state.reg_pair(values[1]);
    Ok(AuxResult::pair(
        values[0],
        chain(state.fp, values[2], entering),
    ))
}

fn f16v2gina(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let entering = state.halves2(values[1]).map(|h| widen16(h).to_bits());
    let out = chain(state.fp, values[2], entering);
    Ok(AuxResult::one(values[0], join(narrow(state.fp, out))))
}

fn f16v4gacc(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let sums = state.fp.first_four();
    Ok(AuxResult::halves4(values[0], narrow(state.fp, sums)))
}

/// What the accumulators held leaves, rounded; a times X plus b times Y takes its place.
fn f16v4mix(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (x, y) = (state.halves4(values[1]), state.halves4(values[2]));
    let factors = split(state.fp.tas(state.settings.strict)?);
    let out = state.fp.first_four();
    let out = narrow(state.fp, out);
    for lane in 0..4 {
        let [a, b] = factors.map(wide16);
        let sum = add_odd(a * wide16(x[lane]), b * wide16(y[lane]));
        let operands = [factors[0], x[lane], factors[1], y[lane]].map(|h| widen16(h).to_bits());
        let sum = state.fp.settle(sum as f32, &operands);
        state.fp.set_acc(2 * lane, sum);
    }
    Ok(AuxResult::halves4(values[0], out))
}

/// What the accumulators held leaves; `$TAS` times X plus Y takes its place.
fn f32v2axpy(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (x, y) = (state.reg_pair(values[1]), state.reg_pair(values[2]));
    let factor = state.fp.tas(state.settings.strict)?;
    let out = [state.fp.acc(0), state.fp.acc(2)];
    for lane in 0..2 {
        let sum = state.fp.fma32(y[lane], factor, x[lane]);
        state.fp.set_acc(2 * lane, sum);
    }
    Ok(AuxResult::pair(values[0], out))
}
