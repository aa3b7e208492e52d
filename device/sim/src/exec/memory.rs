//! Loads, stores and packed addresses. [isa-core §3.3 to 3.6]

use tilekiln_chip::{ByteAddr, memory::element};
use tilekiln_isa::op::Op;

use super::{Main, MainFn, Store};
use crate::memory::{ADDRESS, check};
use crate::stop::Fault;

type Done = Result<(), Fault>;

// Destination register and address → the load.

fn ld32_m(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = x.memory.load32(at)?;
    x.set_m(dst, value);
    Ok(())
}

fn ldz16(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = x.memory.load16(at)?;
    x.set_m(dst, value.into());
    Ok(())
}

fn lds16(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = x.memory.load16(at)?;
    x.set_m(dst, i32::from(value as i16) as u32);
    Ok(())
}

fn ldz8(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = x.memory.load8(at)?;
    x.set_m(dst, value.into());
    Ok(())
}

fn lds8(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = x.memory.load8(at)?;
    x.set_m(dst, i32::from(value as i8) as u32);
    Ok(())
}

fn ld32_a(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = x.memory.load32(at)?;
    x.set_a(dst, value);
    Ok(())
}

fn ld64(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = x.memory.load64(at)?;
    x.set_a64(dst, value);
    Ok(())
}

fn ld128(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let [low, high] = x.memory.load128(at)?;
    x.set_a64(dst, low);
    x.set_a64(dst + 2, high);
    Ok(())
}

fn ldb16(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = u32::from(x.memory.load16(at)?);
    x.set_a(dst, value * 0x1_0001);
    Ok(())
}

fn ldb8(x: &mut Main<'_>, dst: u32, at: u32) -> Done {
    let value = u32::from(x.memory.load8(at)?);
    x.set_a(dst, value * 0x0101_0101);
    Ok(())
}

// Source register and address → the store, after its checks.

fn st32_m(x: &mut Main<'_>, src: u32, at: u32) -> Done {
    check(at, 4)?;
    x.out.store = Store::Word(at, x.m(src));
    Ok(())
}

fn st32_a(x: &mut Main<'_>, src: u32, at: u32) -> Done {
    check(at, 4)?;
    x.out.store = Store::Word(at, x.a(src));
    Ok(())
}

fn st64(x: &mut Main<'_>, src: u32, at: u32) -> Done {
    check(at, 8)?;
    x.out.store = Store::Double(at, x.a64(src));
    Ok(())
}

/// `base + delta + size * register`.
macro_rules! offset_r {
    ($size:literal, $access:ident) => {
        |v, x| {
            let at = sum(x.m(v[1]), x.m(v[2])).wrapping_add(x.m(v[3]).wrapping_mul($size));
            $access(x, v[0], at)
        }
    };
}

/// `base + delta + size * immediate`.
macro_rules! offset_i {
    ($size:literal, $access:ident) => {
        |v, x| {
            let at = sum(x.m(v[1]), x.m(v[2])).wrapping_add(v[3].wrapping_mul($size));
            $access(x, v[0], at)
        }
    };
}

/// `base + delta`; then the delta grows by `size * register`. Loaded data wins over it.
macro_rules! step_r {
    ($size:literal, $access:ident) => {
        |v, x| {
            let (at, delta) = (sum(x.m(v[1]), x.m(v[2])), x.m(v[2]));
            x.set_m(v[2], delta.wrapping_add(x.m(v[3]).wrapping_mul($size)));
            $access(x, v[0], at)
        }
    };
}

/// `base + delta`; then the delta grows by `size * immediate`. Loaded data wins over it.
macro_rules! step_i {
    ($size:literal, $access:ident) => {
        |v, x| {
            let (at, delta) = (sum(x.m(v[1]), x.m(v[2])), x.m(v[2]));
            x.set_m(v[2], delta.wrapping_add(v[3].wrapping_mul($size)));
            $access(x, v[0], at)
        }
    };
}

fn sum(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

/// Refuses two accesses of one instruction to one element. [isa-core §3.8a code]
fn apart(first: u32, second: u32) -> Done {
    let element_of = |at| element(ByteAddr(at));
    if element_of(first) == element_of(second) {
        return Err(Fault::Element {
            first,
            second,
            element: element_of(first),
        });
    }
    Ok(())
}

// Gathers: the data come through the old delta while the next delta is fetched.

/// `v`: destination, address, base, delta. Checks both accesses, moves the address on and returns
/// the data's address.
fn gather(v: &[u32; 5], x: &mut Main<'_>, delta: u32, step: u32, size: u32) -> Result<u32, Fault> {
    let (next, data) = (x.m(v[1]), sum(x.m(v[2]), delta));
    check(next, step)?;
    check(data, size)?;
    apart(next, data)?;
    x.set_m(v[1], next.wrapping_add(step));
    Ok(data)
}

fn ldd16(
    v: &[u32; 5],
    x: &mut Main<'_>,
    size: u32,
    load: fn(&mut Main<'_>, u32, u32) -> Done,
) -> Done {
    let data = gather(v, x, x.m(v[3]) & 0xffff, 2, size)?;
    let next = x.memory.load16(x.m(v[1]))?;
    x.set_m(v[3], next.into());
    load(x, v[0], data)
}

fn ldd16v2a32(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    let data = gather(v, x, x.m(v[3]) >> 16, 4, 4)?;
    let next = x.memory.load32(x.m(v[1]))?;
    x.set_m(v[3], next);
    ld32_a(x, v[0], data)
}

/// The quad's lowest register stays as it is.
fn ld64a32(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    let stream = x.m(v[1]);
    let data = sum(x.m(v[2]), x.m(v[3]) & 0xffff);
    check(stream, 8)?;
    check(data, 4)?;
    apart(stream, data)?;
    x.set_m(v[1], stream.wrapping_add(8));
    ld32_a(x, v[0] + 1, data)?;
    ld64(x, v[0] + 2, stream)
}

/// `v`: destinations, base, the two deltas in one register, the steps of the upper one.
fn ldb16b16(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    x.edge("the increments of ldb16b16")?;
    let (base, deltas, steps) = (x.m(v[1]), x.m(v[2]), x.m(v[3]));
    let (low, high) = (sum(base, deltas & 0xffff), sum(base, deltas >> 16));
    check(low, 2)?;
    check(high, 2)?;
    apart(low, high)?;
    let lower = (deltas & 0xffff).wrapping_add(2) & 0xffff;
    let upper = (deltas >> 16).wrapping_add(2 * (steps & 0xf)) << 16;
    x.set_m(v[2], lower | upper);
    x.set_m(v[3], steps >> 4);
    ldb16(x, v[0], low)?;
    ldb16(x, v[0] + 1, high)
}

// Packed addresses: three of 21 bits in a register pair.

/// Three addresses in a pair of main registers.
struct Packed {
    low: u32,
    high: u32,
}

impl Packed {
    fn of(x: &Main<'_>, pair: u32) -> Self {
        Self {
            low: x.m(pair),
            high: x.m(pair + 1),
        }
    }

    fn get(&self, which: u32) -> u32 {
        match which {
            0 => self.low & ADDRESS,
            1 => self.high & ADDRESS,
            _ => (self.high >> 21 & 0x3ff) << 11 | self.low >> 21,
        }
    }

    fn set(&mut self, which: u32, address: u32) {
        let address = address & ADDRESS;
        match which {
            0 => self.low = self.low & !ADDRESS | address,
            1 => self.high = self.high & !ADDRESS | address,
            _ => {
                self.low = self.low & ADDRESS | address << 21;
                self.high = self.high & 0x801f_ffff | (address >> 11) << 21;
            }
        }
    }

    /// Moves an address by one access, or by the signed 10-bit field that `selector` names.
    fn advance(&mut self, which: u32, size: u32, strides: u32, selector: u32) {
        let accesses = match selector & 3 {
            0 => 1,
            field => ((strides << (32 - 10 * field)) as i32 >> 22) as u32,
        };
        self.set(
            which,
            self.get(which).wrapping_add(accesses.wrapping_mul(size)),
        );
    }

    fn store(self, x: &mut Main<'_>, pair: u32) {
        x.set_m(pair, self.low);
        x.set_m(pair + 1, self.high);
    }
}

fn tapack(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    let (a, b, c) = (x.m(v[1]), x.m(v[2]), x.m(v[3]));
    x.set_m(v[0], a & ADDRESS | c << 21);
    x.set_m(v[0] + 1, b & ADDRESS | (c >> 11 & 0x3ff) << 21);
    Ok(())
}

/// A second access of `size` bytes beside a 64-bit load; `v` as in [`ld2x64pace`].
fn pace(
    v: &[u32; 5],
    x: &mut Main<'_>,
    size: u32,
    load: fn(&mut Main<'_>, u32, u32) -> Done,
) -> Done {
    let mut packed = Packed::of(x, v[2]);
    let (first, second) = (packed.get(0), packed.get(1));
    check(first, 8)?;
    check(second, size)?;
    apart(first, second)?;
    packed.advance(0, 8, x.m(v[3]), v[4]);
    packed.advance(1, size, x.m(v[3]), v[4] >> 2);
    packed.store(x, v[2]);
    ld64(x, v[0], first)?;
    load(x, v[1], second)
}

fn narrow(
    v: &[u32; 5],
    x: &mut Main<'_>,
    size: u32,
    load: fn(&mut Main<'_>, u32, u32) -> Done,
) -> Done {
    x.edge("the increment of a narrow paced pointer")?;
    pace(v, x, size, load)
}

fn ldst64pace(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    let mut packed = Packed::of(x, v[2]);
    let (load, store) = (packed.get(0), packed.get(2));
    check(load, 8)?;
    st64(x, v[1], store)?;
    apart(load, store)?;
    packed.advance(0, 8, x.m(v[3]), v[4]);
    packed.advance(2, 8, x.m(v[3]), v[4] >> 2);
    packed.store(x, v[2]);
    ld64(x, v[0], load)
}

fn ld2xst64pace(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    let mut packed = Packed::of(x, v[2]);
    let (first, second, store) = (packed.get(0), packed.get(1), packed.get(2));
    check(first, 8)?;
    check(second, 8)?;
    st64(x, v[1], store)?;
    apart(first, second)?;
    apart(first, store)?;
    apart(second, store)?;
    for which in 0..3 {
        packed.advance(which, 8, x.m(v[3]), v[4] >> (2 * which));
    }
    packed.store(x, v[2]);
    ld64(x, v[0], first)?;
    ld64(x, v[0] + 2, second)
}

fn st64pace(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    let mut packed = Packed::of(x, v[1]);
    st64(x, v[0], packed.get(2))?;
    packed.advance(2, 8, x.m(v[2]), v[3]);
    packed.store(x, v[1]);
    Ok(())
}

/// `stm32`: base, and a register offset in words.
fn stm32(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    st32_m(x, v[0], sum(x.m(v[1]), x.m(v[2]).wrapping_mul(4)))
}

/// `stm32step`: the base moves by a register in words.
fn stm32step(v: &[u32; 5], x: &mut Main<'_>) -> Done {
    let at = x.m(v[1]);
    st32_m(x, v[0], at)?;
    x.set_m(v[1], sum(at, x.m(v[2]).wrapping_mul(4)));
    Ok(())
}

/// The function of a form of this family.
#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) fn main_lane(op: Op) -> Option<MainFn> {
    let function: MainFn = match op {
        Op::Ld32MMMM       => offset_r!(4, ld32_m),  Op::Ld32MMMZ12       => offset_i!(4, ld32_m),
        Op::Lds16MMMM      => offset_r!(2, lds16),   Op::Lds16MMMZ12      => offset_i!(2, lds16),
        Op::Lds8MMMM       => offset_r!(1, lds8),    Op::Lds8MMMZ12       => offset_i!(1, lds8),
        Op::Ldz16MMMM      => offset_r!(2, ldz16),   Op::Ldz16MMMZ12      => offset_i!(2, ldz16),
        Op::Ldz8MMMM       => offset_r!(1, ldz8),    Op::Ldz8MMMZ12       => offset_i!(1, ldz8),
        Op::Ld32AMMM       => offset_r!(4, ld32_a),  Op::Ld32AMMZ12       => offset_i!(4, ld32_a),
        Op::Ld64ApMMM      => offset_r!(8, ld64),    Op::Ld64ApMMZ12      => offset_i!(8, ld64),
        Op::Ld128AqMMM     => offset_r!(16, ld128),  Op::Ld128AqMMZ12     => offset_i!(16, ld128),
        Op::Ldb16AMMM      => offset_r!(2, ldb16),   Op::Ldb16AMMZ12      => offset_i!(2, ldb16),
        Op::Ldb8AMMM       => offset_r!(1, ldb8),    Op::Ldb8AMMZ12       => offset_i!(1, ldb8),
        Op::St32AMMM       => offset_r!(4, st32_a),  Op::St32AMMZ12       => offset_i!(4, st32_a),
        Op::St64ApMMM      => offset_r!(8, st64),    Op::St64ApMMZ12      => offset_i!(8, st64),
        Op::St32MMMZ12     => offset_i!(4, st32_m),
        Op::Ld32stepMMMM   => step_r!(4, ld32_m),    Op::Ld32stepMMMS8    => step_i!(4, ld32_m),
        Op::Lds16stepMMMM  => step_r!(2, lds16),     Op::Lds16stepMMMS8   => step_i!(2, lds16),
        Op::Lds8stepMMMM   => step_r!(1, lds8),      Op::Lds8stepMMMS8    => step_i!(1, lds8),
        Op::Ldz16stepMMMM  => step_r!(2, ldz16),     Op::Ldz16stepMMMS8   => step_i!(2, ldz16),
        Op::Ldz8stepMMMM   => step_r!(1, ldz8),      Op::Ldz8stepMMMS8    => step_i!(1, ldz8),
        Op::Ld32stepAMMM   => step_r!(4, ld32_a),    Op::Ld32stepAMMS8    => step_i!(4, ld32_a),
        Op::Ld64stepApMMM  => step_r!(8, ld64),      Op::Ld64stepApMMS8   => step_i!(8, ld64),
        Op::Ld128stepAqMMM => step_r!(16, ld128),    Op::Ld128stepAqMMS8  => step_i!(16, ld128),
        Op::Ldb16stepAMMM  => step_r!(2, ldb16),     Op::Ldb16stepAMMS8   => step_i!(2, ldb16),
        Op::Ldb8stepAMMM   => step_r!(1, ldb8),      Op::Ldb8stepAMMS8    => step_i!(1, ldb8),
        Op::St32stepAMMM   => step_r!(4, st32_a),    Op::St32stepAMMS8    => step_i!(4, st32_a),
        Op::St64stepApMMM  => step_r!(8, st64),      Op::St64stepApMMS8   => step_i!(8, st64),
        Op::St32stepMMMS8  => step_i!(4, st32_m),
        Op::Stm32MMM       => stm32,                 Op::Stm32stepMMM     => stm32step,
        Op::Ldd16a32AMMM   => |v, x| ldd16(v, x, 4, ld32_a),
        Op::Ldd16a64ApMMM  => |v, x| ldd16(v, x, 8, ld64),
        Op::Ldd16b16AMMM   => |v, x| ldd16(v, x, 2, ldb16),
        Op::Ldd16v2a32AMMM => ldd16v2a32,
        Op::Ld64a32AqMMM   => ld64a32,
        Op::Ldb16b16ApMMM  => ldb16b16,
        Op::TapackMpMMM    => tapack,
        Op::Ld2x64paceApApMpMZ4   => |v, x| pace(v, x, 8, ld64),
        Op::Ld64a32paceApAMpMZ4   => |v, x| narrow(v, x, 4, ld32_a),
        Op::Ld64b16paceApAMpMZ4   => |v, x| narrow(v, x, 2, ldb16),
        Op::Ld2xst64paceAqApMpMZ6 => ld2xst64pace,
        Op::Ldst64paceApApMpMZ4   => ldst64pace,
        Op::St64paceApMpMZ8       => st64pace,
        _ => return None,
    };
    Some(function)
}
