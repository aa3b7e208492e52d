//! Arithmetic, logic, shifts, comparisons, selection and permutation. [isa-core §4]

use tilekiln_isa::op::Op;

use super::{AuxFault, AuxFn, AuxResult, AuxState, Main, MainFn, edge};
use crate::stop::Fault;

/// A result from two main registers.
macro_rules! rr {
    ($f:expr) => {
        |v, x| {
            let f: fn(u32, u32) -> u32 = $f;
            x.set_m(v[0], f(x.m(v[1]), x.m(v[2])));
            Ok(())
        }
    };
}

/// A result from a main register and an immediate.
macro_rules! ri {
    ($f:expr) => {
        |v, x| {
            let f: fn(u32, u32) -> u32 = $f;
            x.set_m(v[0], f(x.m(v[1]), v[2]));
            Ok(())
        }
    };
}

/// A result from one main register.
macro_rules! r {
    ($f:expr) => {
        |v, x| {
            let f: fn(u32) -> u32 = $f;
            x.set_m(v[0], f(x.m(v[1])));
            Ok(())
        }
    };
}

/// A shift by a register or an immediate.
macro_rules! shift {
    ($amount:ident, $f:expr) => {
        |v, x| {
            let f: fn(u32, u32) -> u32 = $f;
            let amount = $amount(x, v[2]);
            if amount > 31 {
                x.edge("a shift by more than 31 bits")?;
            }
            x.set_m(v[0], f(x.m(v[1]), amount & 31));
            Ok(())
        }
    };
}

fn register(x: &Main<'_>, number: u32) -> u32 {
    x.m(number)
}

fn immediate(_: &Main<'_>, value: u32) -> u32 {
    value
}

const fn min(a: u32, b: u32) -> u32 {
    if (a as i32) < b as i32 { a } else { b }
}

const fn max(a: u32, b: u32) -> u32 {
    if (a as i32) > b as i32 { a } else { b }
}

/// Bits below bit 31 that equal it, counted from the top.
const fn sign_run(a: u32) -> u32 {
    (a ^ ((a as i32) >> 31) as u32).leading_zeros() - 1
}

/// Mirrors the bits of each byte.
const fn bitrev8(a: u32) -> u32 {
    a.reverse_bits().swap_bytes()
}

/// The `i`th byte, in bits 7:0.
const fn byte(a: u32, i: u32) -> u32 {
    a >> (8 * i) & 0xff
}

const fn bytes(b0: u32, b1: u32, b2: u32, b3: u32) -> u32 {
    b0 | b1 << 8 | b2 << 16 | b3 << 24
}

const fn sort4x16lo(a: u32, b: u32) -> u32 {
    a & 0xffff | b << 16
}

const fn sort4x16hi(a: u32, b: u32) -> u32 {
    a >> 16 | b & 0xffff_0000
}

const fn roll16(a: u32, b: u32) -> u32 {
    a >> 16 | b << 16
}

const fn roll8l(a: u32, b: u32) -> u32 {
    b << 8 | a >> 24
}

const fn roll8r(a: u32, b: u32) -> u32 {
    a >> 8 | b << 24
}

const fn shuf8x8lo(a: u32, b: u32) -> u32 {
    bytes(byte(a, 0), byte(b, 0), byte(a, 1), byte(b, 1))
}

const fn shuf8x8hi(a: u32, b: u32) -> u32 {
    bytes(byte(a, 2), byte(b, 2), byte(a, 3), byte(b, 3))
}

const fn sort8x8lo(a: u32, b: u32) -> u32 {
    bytes(byte(a, 0), byte(a, 2), byte(b, 0), byte(b, 2))
}

const fn sort8x8hi(a: u32, b: u32) -> u32 {
    bytes(byte(a, 1), byte(a, 3), byte(b, 1), byte(b, 3))
}

const fn sort8(a: u32) -> u32 {
    bytes(byte(a, 0), byte(a, 2), byte(a, 1), byte(a, 3))
}

const fn swap8(a: u32) -> u32 {
    bytes(byte(a, 1), byte(a, 0), byte(a, 3), byte(a, 2))
}

/// Permutations whose result is only inferred. [A-PERM]
const INFERRED_PERMUTE: &str = "the byte order of this permutation";

/// `abs`; the most negative number has no documented result. [A-SHIFT]
fn abs(x: &mut Main<'_>, dst: u32, a: u32) -> Result<(), Fault> {
    if a == 0x8000_0000 {
        x.edge("abs of 0x80000000")?;
    }
    x.set_m(dst, (a as i32).saturating_abs() as u32);
    Ok(())
}

fn inferred(x: &mut Main<'_>, dst: u32, value: u32) -> Result<(), Fault> {
    x.edge(INFERRED_PERMUTE)?;
    x.set_m(dst, value);
    Ok(())
}

/// The function of a main-lane form of this family.
#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) fn main_lane(op: Op) -> Option<MainFn> {
    let function: MainFn = match op {
        Op::AbsMM         => |v, x| abs(x, v[0], x.m(v[1])),
        Op::Bitrev8MM     => r!(bitrev8),
        Op::CmsMM         => r!(sign_run),
        Op::ClzMM         => r!(u32::leading_zeros),
        Op::PopcMM        => r!(u32::count_ones),
        Op::Sort8MM       => |v, x| inferred(x, v[0], sort8(x.m(v[1]))),
        Op::Swap8MM       => |v, x| inferred(x, v[0], swap8(x.m(v[1]))),
        Op::AddMMM        => rr!(u32::wrapping_add),
        Op::AndMMM        => rr!(|a, b| a & b),
        Op::AndcMMM       => rr!(|a, b| a & !b),
        Op::CmpeqMMM      => rr!(|a, b| u32::from(a == b)),
        Op::CmpneMMM      => rr!(|a, b| u32::from(a != b)),
        Op::CmpsltMMM     => rr!(|a, b| u32::from((a as i32) < b as i32)),
        Op::CmpultMMM     => rr!(|a, b| u32::from(a < b)),
        Op::MaxMMM        => rr!(max),
        Op::MinMMM        => rr!(min),
        Op::MulMMM        => rr!(u32::wrapping_mul),
        Op::OrMMM         => rr!(|a, b| a | b),
        Op::Roll16MMM     => rr!(roll16),
        Op::Roll8lMMM     => rr!(roll8l),
        Op::Roll8rMMM     => rr!(roll8r),
        Op::ShlMMM        => shift!(register, |a, n| a << n),
        Op::ShrMMM        => shift!(register, |a, n| a >> n),
        Op::ShrsMMM       => shift!(register, |a, n| ((a as i32) >> n) as u32),
        Op::Shuf8x8hiMMM  => rr!(shuf8x8hi),
        Op::Shuf8x8loMMM  => rr!(shuf8x8lo),
        Op::Sort4x16hiMMM => rr!(sort4x16hi),
        Op::Sort4x16loMMM => rr!(sort4x16lo),
        Op::Sort8x8hiMMM  => rr!(sort8x8hi),
        Op::Sort8x8loMMM  => rr!(sort8x8lo),
        Op::SubMMM        => rr!(u32::wrapping_sub),
        Op::XnorMMM       => rr!(|a, b| !(a ^ b)),
        Op::XorMMM        => rr!(|a, b| a ^ b),
        Op::AddMMS16 | Op::AddMMZ16     => ri!(u32::wrapping_add),
        Op::CmpeqMMS16 | Op::CmpeqMMZ16 => ri!(|a, b| u32::from(a == b)),
        Op::CmpsltMMS16   => ri!(|a, b| u32::from((a as i32) < b as i32)),
        Op::CmpultMMZ16   => ri!(|a, b| u32::from(a < b)),
        Op::MaxMMS16 | Op::MaxMMZ16     => ri!(max),
        Op::MinMMS16 | Op::MinMMZ16     => ri!(min),
        Op::MulMMS16      => ri!(u32::wrapping_mul),
        // The immediate stands first: it is the minuend.
        Op::SubMS16M | Op::SubMZ16M => |v, x| { x.set_m(v[0], v[1].wrapping_sub(x.m(v[2]))); Ok(()) },
        Op::AndMMZ12      => ri!(|a, b| a & b),
        Op::OrMMZ12 | Op::OrMMH12       => ri!(|a, b| a | b),
        Op::AndcMMZ12     => ri!(|a, b| a & !b),
        Op::ShlMMZ12      => shift!(immediate, |a, n| a << n),
        Op::ShrMMZ12      => shift!(immediate, |a, n| a >> n),
        Op::ShrsMMZ12     => shift!(immediate, |a, n| ((a as i32) >> n) as u32),
        Op::SetziMZ20     => |v, x| { x.set_m(v[0], v[1]); Ok(()) },
        // Moves where the condition is not zero, whatever the name says. [isa-core §4.3 code]
        Op::MovzMMM       => |v, x| {
            if x.m(v[1]) != 0 {
                x.set_m(v[0], x.m(v[2]));
            }
            Ok(())
        },
        Op::AtomMA        => |v, x| { x.set_m(v[0], x.a(v[1])); Ok(()) },
        _ => return None,
    };
    Some(function)
}

fn one(first: u32, value: u32) -> Result<AuxResult, AuxFault> {
    Ok(AuxResult {
        first: first as u8,
        count: 1,
        values: [value, 0, 0, 0],
        slots: 1,
    })
}

fn two(first: u32, low: u32, high: u32) -> Result<AuxResult, AuxFault> {
    Ok(AuxResult {
        first: first as u8,
        count: 2,
        values: [low, high, 0, 0],
        slots: 1,
    })
}

fn a(x: &AuxState<'_>, number: u32) -> u32 {
    x.a[number as usize & 15]
}

/// A result from two aux registers.
macro_rules! aa {
    ($f:expr) => {
        |v, x| {
            let f: fn(u32, u32) -> u32 = $f;
            one(v[0], f(a(x, v[1]), a(x, v[2])))
        }
    };
}

/// A result from an aux register and an immediate.
macro_rules! ai {
    ($f:expr) => {
        |v, x| {
            let f: fn(u32, u32) -> u32 = $f;
            one(v[0], f(a(x, v[1]), v[2]))
        }
    };
}

/// A pair from two pairs, half by half.
macro_rules! pp {
    ($f:expr) => {
        |v, x| {
            let f: fn(u32, u32) -> u32 = $f;
            let low = f(a(x, v[1]), a(x, v[2]));
            two(v[0], low, f(a(x, v[1] + 1), a(x, v[2] + 1)))
        }
    };
}

fn aux_edge(x: &AuxState<'_>) -> Result<(), AuxFault> {
    edge(x.settings, INFERRED_PERMUTE).map_err(|_| AuxFault::Undefined(INFERRED_PERMUTE))
}

/// The function of an aux-lane form of this family.
#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) fn aux_lane(op: Op) -> Option<AuxFn> {
    let function: AuxFn = match op {
        Op::AndAAA           => aa!(|a, b| a & b),
        Op::AndcAAA          => aa!(|a, b| a & !b),
        Op::OrAAA            => aa!(|a, b| a | b),
        Op::And64ApApAp      => pp!(|a, b| a & b),
        Op::Andc64ApApAp     => pp!(|a, b| a & !b),
        Op::Or64ApApAp       => pp!(|a, b| a | b),
        Op::AndAAH12 | Op::AndAAZ12   => ai!(|a, b| a & b),
        Op::AndcAAH12 | Op::AndcAAZ12 => ai!(|a, b| a & !b),
        Op::OrAAH12 | Op::OrAAZ12     => ai!(|a, b| a | b),
        Op::NotAA            => |v, x| one(v[0], !a(x, v[1])),
        Op::Not64ApAp        => |v, x| two(v[0], !a(x, v[1]), !a(x, v[1] + 1)),
        Op::Sort8AA          => |v, x| { aux_edge(x)?; one(v[0], sort8(a(x, v[1]))) },
        Op::Swap8AA          => |v, x| { aux_edge(x)?; one(v[0], swap8(a(x, v[1]))) },
        Op::Roll16AAA        => aa!(roll16),
        Op::Roll8lAAA        => aa!(roll8l),
        Op::Roll8rAAA        => aa!(roll8r),
        Op::SetziAZ20        => |v, _| one(v[0], v[1]),
        Op::Shuf8x8hiAAA     => aa!(shuf8x8hi),
        Op::Shuf8x8loAAA     => aa!(shuf8x8lo),
        Op::Sort8x8hiAAA     => aa!(sort8x8hi),
        Op::Sort8x8loAAA     => aa!(sort8x8lo),
        Op::Sort4x16hiAAA    => aa!(sort4x16hi),
        Op::Sort4x16loAAA    => aa!(sort4x16lo),
        // The broadcast fills both halves of the first source.
        Op::Sort4x16hiABlA   => |v, x| { aux_edge(x)?; one(v[0], sort4x16hi(a(x, v[1]) << 16, a(x, v[2]))) },
        Op::Sort4x16loABuA   => |v, x| { aux_edge(x)?; one(v[0], sort4x16lo(a(x, v[1]) >> 16, a(x, v[2]))) },
        Op::Roll32ApApAp     => |v, x| two(v[0], a(x, v[1] + 1), a(x, v[2])),
        Op::Sort4x32hiApApAp => |v, x| two(v[0], a(x, v[1] + 1), a(x, v[2] + 1)),
        Op::Sort4x32loApApAp => |v, x| two(v[0], a(x, v[1]), a(x, v[2])),
        _ => return None,
    };
    Some(function)
}
