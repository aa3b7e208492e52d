//! Half-precision vectors and f8. [isa-float §3.1 to §3.5]

use tilekiln_isa::op::Op;

use super::{AuxFault, AuxFn, AuxResult, AuxState};
use crate::float::lanes::{
    AbsAdd, AbsMax, Add, Binary, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Sub, max16,
};
use crate::float::operands::{join, split};
use crate::float::round::{Draw, nearest16, widen16};
use crate::float::single::class16;
use crate::float::{FpState, Function};

/// Ties an operation to its three forms of two lanes or of four.
macro_rules! forms {
    ($op:ident, $function:ident, $($operation:ident: $plain:ident $lower:ident $upper:ident;)*) => {
        match $op {
            $(
                Op::$plain => return Some($function::<$operation, Whole>),
                Op::$lower => return Some($function::<$operation, Lower>),
                Op::$upper => return Some($function::<$operation, Upper>),
            )*
            _ => {}
        }
    };
}

pub(crate) fn lookup(op: Op) -> Option<AuxFn> {
    forms!(op, two,
        Add: F16v2addAAA F16v2addABlA F16v2addABuA;
        Sub: F16v2subAAA F16v2subABlA F16v2subABuA;
        Mul: F16v2mulAAA F16v2mulABlA F16v2mulABuA;
        Eq: F16v2cmpeqAAA F16v2cmpeqABlA F16v2cmpeqABuA;
        Ge: F16v2cmpgeAAA F16v2cmpgeABlA F16v2cmpgeABuA;
        Gt: F16v2cmpgtAAA F16v2cmpgtABlA F16v2cmpgtABuA;
        Le: F16v2cmpleAAA F16v2cmpleABlA F16v2cmpleABuA;
        Lt: F16v2cmpltAAA F16v2cmpltABlA F16v2cmpltABuA;
        Ne: F16v2cmpneAAA F16v2cmpneABlA F16v2cmpneABuA;
    );
    forms!(op, four,
        Add: F16v4addApApAp F16v4addApBlAp F16v4addApBuAp;
        Sub: F16v4subApApAp F16v4subApBlAp F16v4subApBuAp;
        Mul: F16v4mulApApAp F16v4mulApBlAp F16v4mulApBuAp;
        Eq: F16v4cmpeqApApAp F16v4cmpeqApBlAp F16v4cmpeqApBuAp;
        Ge: F16v4cmpgeApApAp F16v4cmpgeApBlAp F16v4cmpgeApBuAp;
        Gt: F16v4cmpgtApApAp F16v4cmpgtApBlAp F16v4cmpgtApBuAp;
        Le: F16v4cmpleApApAp F16v4cmpleApBlAp F16v4cmpleApBuAp;
        Lt: F16v4cmpltApApAp F16v4cmpltApBlAp F16v4cmpltApBuAp;
        Ne: F16v4cmpneApApAp F16v4cmpneApBlAp F16v4cmpneApBuAp;
    );
    Some(match op {
        Op::F16v2absaddAAA => two::<AbsAdd, Whole>,
        Op::F16v2absmaxAAA => two::<AbsMax, Whole>,
        Op::F16v2maxAAA => two::<Max, Whole>,
        Op::F16v2minAAA => two::<Min, Whole>,
        Op::F16v4absaddApApAp => four::<AbsAdd, Whole>,
        Op::F16v4absmaxApApAp => four::<AbsMax, Whole>,
        Op::F16v4maxApApAp => four::<Max, Whole>,
        Op::F16v4minApApAp => four::<Min, Whole>,
        Op::F16v2exp2AA => |v, x| function(v, x, Function::Exp2, 2),
        Op::F16v2expAA => |v, x| function(v, x, Function::Exp, 2),
        Op::F16v2lnAA => |v, x| function(v, x, Function::Ln, 2),
        Op::F16v2log2AA => |v, x| function(v, x, Function::Log2, 2),
        Op::F16v2sigmAA => |v, x| function(v, x, Function::Sigm, 2),
        Op::F16v2tanhAA => |v, x| function(v, x, Function::Tanh, 1),
        Op::F16v2maxcAA => f16v2maxc,
        Op::F16v4maxcAAp => f16v4maxc,
        Op::F16v2sumAA => f16v2sum,
        Op::F16v4sumApAp => f16v4sum,
        Op::F16tof32AA => f16tof32,
        Op::F16v2tof32ApA => f16v2tof32,
        Op::F16v2classAA => f16v2class,
        Op::F16v4classAAp => f16v4class,
        Op::F16v2sufromuiAA => f16v2sufromui,
        Op::F16v4sufromuiApAp => f16v4sufromui,
        Op::F16v2tof8AA => f16v2tof8,
        Op::F16v8tof8ApAq => f16v8tof8,
        Op::F8v2tof16AA => f8v2tof16,
        Op::F8v4tof16ApA => f8v4tof16,
        Op::F8v4classAA => |_, _| {
            Err(AuxFault::Undefined(
                "f8v4class: no document says what it gives",
            ))
        },
        _ => return None,
    })
}

type Values = [u32; 5];
type Outcome = Result<AuxResult, AuxFault>;

/// How the first operand becomes lanes.
trait First {
    fn two(state: &AuxState<'_>, number: u32) -> [u16; 2];
    fn four(state: &AuxState<'_>, number: u32) -> [u16; 4];
}

/// As it is.
struct Whole;
/// `:BL`, the lower half in every lane.
struct Lower;
/// `:BU`, the upper half in every lane.
struct Upper;

impl First for Whole {
    #[inline(always)]
    fn two(state: &AuxState<'_>, number: u32) -> [u16; 2] {
        state.halves2(number)
    }

    #[inline(always)]
    fn four(state: &AuxState<'_>, number: u32) -> [u16; 4] {
        state.halves4(number)
    }
}

impl First for Lower {
    #[inline(always)]
    fn two(state: &AuxState<'_>, number: u32) -> [u16; 2] {
        [state.reg(number) as u16; 2]
    }

    #[inline(always)]
    fn four(state: &AuxState<'_>, number: u32) -> [u16; 4] {
        [state.reg(number) as u16; 4]
    }
}

impl First for Upper {
    #[inline(always)]
    fn two(state: &AuxState<'_>, number: u32) -> [u16; 2] {
        [(state.reg(number) >> 16) as u16; 2]
    }

    #[inline(always)]
    fn four(state: &AuxState<'_>, number: u32) -> [u16; 4] {
        [(state.reg(number) >> 16) as u16; 4]
    }
}

/// The random bits of an operation, if it is one that rounds.
#[inline(always)]
fn draw_for<B: Binary>(fp: &mut FpState) -> Draw {
    if B::ROUNDS { fp.draw() } else { Draw::NEAREST }
}

fn two<B: Binary, F: First>(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (F::two(state, values[1]), state.halves2(values[2]));
    let draw = draw_for::<B>(state.fp);
    let lane = |i: usize| B::half(state.fp, draw, i, a[i], b[i]);
    Ok(AuxResult::one(values[0], join([0, 1].map(lane))))
}

fn four<B: Binary, F: First>(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (F::four(state, values[1]), state.halves4(values[2]));
    let draw = draw_for::<B>(state.fp);
    let lane = |i: usize| B::half(state.fp, draw, i, a[i], b[i]);
    Ok(AuxResult::halves4(values[0], [0, 1, 2, 3].map(lane)))
}

#[inline(always)]
fn function(values: &Values, state: &mut AuxState<'_>, function: Function, slots: u8) -> Outcome {
    let a = state.halves2(values[1]);
    let draw = state.fp.draw();
    let lane = |i: usize| state.fp.function16(function, a[i], draw, i);
    Ok(AuxResult::one(values[0], join([0, 1].map(lane))).after(slots))
}

/// Both lanes hold the maximum. [isa-float §3.1 inferred]
fn f16v2maxc(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let [a, b] = state.halves2(values[1]);
    Ok(AuxResult::one(values[0], join([max16(state.fp, a, b); 2])))
}

/// The maxima of neighbours. [isa-float §3.1 inferred]
fn f16v4maxc(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let [a, b, c, d] = state.halves4(values[1]);
    let lanes = [max16(state.fp, a, b), max16(state.fp, c, d)];
    Ok(AuxResult::one(values[0], join(lanes)))
}

fn sum(fp: &mut FpState, [a, b]: [u16; 2]) -> u32 {
    fp.add32(widen16(a).to_bits(), widen16(b).to_bits())
}

fn f16v2sum(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let lanes = state.halves2(values[1]);
    Ok(AuxResult::one(values[0], sum(state.fp, lanes)))
}

fn f16v4sum(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let sums = state
        .reg_pair(values[1])
        .map(|word| sum(state.fp, split(word)));
    Ok(AuxResult::pair(values[0], sums))
}

fn f16tof32(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    Ok(AuxResult::one(
        values[0],
        widen16(state.reg(values[1]) as u16).to_bits(),
    ))
}

fn f16v2tof32(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    Ok(AuxResult::pair(
        values[0],
        state.halves2(values[1]).map(|h| widen16(h).to_bits()),
    ))
}

/// Codes as bytes, lane 0 lowest.
fn f16v2class(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let [a, b] = state.halves2(values[1]).map(class16);
    Ok(AuxResult::one(values[0], a | b << 8))
}

fn f16v4class(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let bytes = state.halves4(values[1]).map(|h| class16(h) as u8);
    Ok(AuxResult::one(values[0], u32::from_le_bytes(bytes)))
}

/// A 16-bit integer as a number between -1/2 and 1/2, never zero. [isa-float §3.3]
fn unit16(u: u16) -> u16 {
    let odd = 2 * i32::from(u) + 1 - (1 << 16);
    // At most 1/2 in magnitude: always in range.
    nearest16(f64::from(odd) / f64::from(1 << 17)).unwrap_or(0)
}

fn f16v2sufromui(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    Ok(AuxResult::one(
        values[0],
        join(state.halves2(values[1]).map(unit16)),
    ))
}

fn f16v4sufromui(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    Ok(AuxResult::halves4(
        values[0],
        state.halves4(values[1]).map(unit16),
    ))
}

/// The two bytes twice. [isa-float §3.3 inferred]
fn f16v2tof8(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let a = state.halves2(values[1]);
    let draw = state.fp.draw();
    let [low, high] = [0, 1].map(|i| state.fp.narrow8(a[i], draw.lane(i, 2)));
    Ok(AuxResult::one(
        values[0],
        u32::from_le_bytes([low, high, low, high]),
    ))
}

fn f16v8tof8(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let quad = state.reg_quad(values[1]);
    let draw = state.fp.draw();
    let mut bytes = [0; 8];
    for (lane, byte) in bytes.iter_mut().enumerate() {
        let half = split(quad[lane / 2])[lane % 2];
        *byte = state.fp.narrow8(half, draw.lane(lane, 8));
    }
    let word = u64::from_le_bytes(bytes);
    Ok(AuxResult::pair(
        values[0],
        [word as u32, (word >> 32) as u32],
    ))
}

fn f8v2tof16(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let [low, high, ..] = state.reg(values[1]).to_le_bytes();
    let draw = state.fp.draw();
    let lanes = [
        state.fp.widen8(low, draw, 0),
        state.fp.widen8(high, draw, 1),
    ];
    Ok(AuxResult::one(values[0], join(lanes)))
}

fn f8v4tof16(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let bytes = state.reg(values[1]).to_le_bytes();
    let draw = state.fp.draw();
    let lanes = [0, 1, 2, 3].map(|i| state.fp.widen8(bytes[i], draw, i));
    Ok(AuxResult::halves4(values[0], lanes))
}
