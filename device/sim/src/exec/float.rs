//! Single-precision scalars and their conversions. [isa-float §3.1 to §3.5]

use tilekiln_isa::op::Op;

use super::{AuxFault, AuxFn, AuxResult, AuxState};
use crate::float::lanes::{
    AbsAdd, AbsMax, Add, Binary, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Sub,
};
use crate::float::operands::join;
use crate::float::single::{class32, flush, integral, is_nan32};
use crate::float::{FpState, Function};

pub(crate) fn lookup(op: Op) -> Option<AuxFn> {
    Some(match op {
        Op::F32cmpeqAAA => binary::<Eq>,
        Op::F32cmpgeAAA => binary::<Ge>,
        Op::F32cmpgtAAA => binary::<Gt>,
        Op::F32cmpleAAA => binary::<Le>,
        Op::F32cmpltAAA => binary::<Lt>,
        Op::F32cmpneAAA => binary::<Ne>,
        Op::F32addAAA => binary::<Add>,
        Op::F32mulAAA => binary::<Mul>,
        Op::F32subAAA => binary::<Sub>,
        Op::F32maxAAA => binary::<Max>,
        Op::F32minAAA => binary::<Min>,
        Op::F32absaddAAA => binary::<AbsAdd>,
        Op::F32absmaxAAA => binary::<AbsMax>,
        Op::F32classAA => |v, x| unary(v, x, 1, |_, bits| class32(bits)),
        Op::F32exp2AA => |v, x| unary(v, x, 3, |fp, a| fp.function32(Function::Exp2, a)),
        Op::F32expAA => |v, x| unary(v, x, 3, |fp, a| fp.function32(Function::Exp, a)),
        Op::F32lnAA => |v, x| unary(v, x, 6, |fp, a| fp.function32(Function::Ln, a)),
        Op::F32log2AA => |v, x| unary(v, x, 6, |fp, a| fp.function32(Function::Log2, a)),
        Op::F32sigmAA => |v, x| unary(v, x, 5, |fp, a| fp.function32(Function::Sigm, a)),
        Op::F32tanhAA => |v, x| unary(v, x, 5, |fp, a| fp.function32(Function::Tanh, a)),
        Op::F32oorxAA => |v, x| unary(v, x, 4, reciprocal_root),
        Op::F32ooxAA => |v, x| unary(v, x, 3, reciprocal),
        Op::F32sqrtAA => |v, x| unary(v, x, 5, root),
        Op::F32fromi32AA => |v, x| unary(v, x, 1, |_, a| (a as i32 as f32).to_bits()),
        Op::F32fromui32AA => |v, x| unary(v, x, 1, |_, a| (a as f32).to_bits()),
        Op::F32sufromuiAA => |v, x| unary(v, x, 1, |_, a| unit32(a)),
        Op::F32tof16AA => f32tof16,
        Op::F32toi32AA => |v, x| unary(v, x, 1, to_signed),
        Op::F32toui32AA => |v, x| unary(v, x, 1, |fp, a| fp.integer32(a, 0, u32::MAX.into())),
        Op::F32divAAA => f32div,
        Op::F32intAAZ4 => f32int,
        _ => return None,
    })
}

type Values = [u32; 5];
type Outcome = Result<AuxResult, AuxFault>;

fn binary<B: Binary>(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg(values[1]), state.reg(values[2]));
    Ok(AuxResult::one(values[0], B::single(state.fp, a, b)))
}

#[inline(always)]
fn unary(
    values: &Values,
    state: &mut AuxState<'_>,
    slots: u8,
    operation: impl Fn(&mut FpState, u32) -> u32,
) -> Outcome {
    let operand = state.reg(values[1]);
    Ok(AuxResult::one(values[0], operation(state.fp, operand)).after(slots))
}

/// Always charged in full. [isa-core §9]
fn f32div(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let (a, b) = (state.reg(values[1]), state.reg(values[2]));
    Ok(AuxResult::one(values[0], state.fp.div32(a, b)).after(3))
}

fn reciprocal(fp: &mut FpState, a: u32) -> u32 {
    fp.div32(1f32.to_bits(), a)
}

fn root(fp: &mut FpState, a: u32) -> u32 {
    let x = flush(a);
    if x < 0.0 {
        return fp.nan32(&[]);
    }
    fp.settle(libm::sqrtf(x), &[a])
}

/// 1 / sqrt(x): a double is precise enough to round to the right single.
fn reciprocal_root(fp: &mut FpState, a: u32) -> u32 {
    let x = flush(a);
    if x < 0.0 {
        return fp.nan32(&[]);
    }
    if x == 0.0 {
        return fp.pole32(a);
    }
    fp.narrow32(1.0 / libm::sqrt(f64::from(x)), a)
}

/// A 32-bit integer as a number between -1/2 and 1/2, never zero. [isa-float §3.3]
pub(super) fn unit32(u: u32) -> u32 {
    let odd = 2 * i64::from(u) + 1 - (1 << 32);
    ((odd as f64 / (1u64 << 33) as f64) as f32).to_bits()
}

fn to_signed(fp: &mut FpState, a: u32) -> u32 {
    fp.integer32(a, i32::MIN.into(), i32::MAX.into())
}

/// The half goes to both halves of the register.
fn f32tof16(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let value = f64::from(flush(state.reg(values[1])));
    let draw = state.fp.draw();
    let half = state.fp.round16(value, draw, 0);
    Ok(AuxResult::one(values[0], join([half, half])))
}

fn f32int(values: &Values, state: &mut AuxState<'_>) -> Outcome {
    let bits = state.reg(values[1]);
    let Some(rounded) = integral(f64::from(flush(bits)), values[2]) else {
        return Err(AuxFault::Undefined("f32int with a rounding mode above 3"));
    };
    let result = if is_nan32(bits) {
        state.fp.nan32(&[bits])
    } else {
        (rounded as f32).to_bits()
    };
    Ok(AuxResult::one(values[0], result))
}
