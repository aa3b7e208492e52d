//! Branches, calls, repeats and worker exits. [isa-core §1.5, §2.2, §5]

use tilekiln_isa::op::Op;

use super::{Main, MainFn, Then};
use crate::stop::Fault;
use crate::tile::worker::Repeat;

/// Bytes of an execution bundle.
pub(crate) const BUNDLE: u32 = 8;

/// The largest count `rpt` takes from a register. [isa-core §2.2 inf]
const COUNT_MAX: u32 = 0xffff;

/// A code operand as a byte address: 19 bits, in words.
fn target(field: u32) -> u32 {
    (field & 0x7_ffff) << 2
}

fn branch_if(x: &mut Main<'_>, condition: bool, field: u32) -> Result<(), Fault> {
    if condition {
        x.branch(target(field))
    } else {
        Ok(())
    }
}

fn exit(x: &mut Main<'_>, status: bool) -> Result<(), Fault> {
    x.out.then = Then::Exit(status);
    Ok(())
}

fn repeat(x: &mut Main<'_>, count: u32, size_m1: u32) -> Result<(), Fault> {
    if count > COUNT_MAX {
        x.edge("a repeat count above 65535")?;
    }
    let (count, first) = (count & COUNT_MAX, x.next);
    if !first.is_multiple_of(BUNDLE) {
        return Err(Fault::CodeAddress {
            at: first,
            align: BUNDLE,
        });
    }
    let end = first + BUNDLE * (size_m1 + 1);
    if count == 0 {
        x.next = end;
    }
    x.out.then = Then::Repeat(Repeat { first, end, count });
    Ok(())
}

/// The function of a form of this family.
#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) fn main_lane(op: Op) -> Option<MainFn> {
    let function: MainFn = match op {
        Op::BrM            => |v, x| x.branch(x.m(v[0])),
        Op::BriTarget      => |v, x| x.branch(target(v[0])),
        Op::BrnegMTarget   => |v, x| branch_if(x, (x.m(v[0]) as i32) < 0, v[1]),
        Op::BrnzMTarget    => |v, x| branch_if(x, x.m(v[0]) != 0, v[1]),
        Op::BrposMTarget   => |v, x| branch_if(x, x.m(v[0]) as i32 >= 0, v[1]),
        Op::BrzMTarget     => |v, x| branch_if(x, x.m(v[0]) == 0, v[1]),
        Op::BrnzdecMTarget => |v, x| {
            let count = x.m(v[0]);
            if count != 0 {
                x.set_m(v[0], count - 1);
            }
            branch_if(x, count != 0, v[1])
        },
        Op::CallMTarget    => |v, x| { x.set_m(v[0], x.next); x.branch(target(v[1])) },
        Op::ExitnegM       => |v, x| exit(x, (x.m(v[0]) as i32) < 0),
        Op::ExitnzM        => |v, x| exit(x, x.m(v[0]) != 0),
        Op::ExitposM       => |v, x| exit(x, x.m(v[0]) as i32 >= 0),
        Op::ExitzM         => |v, x| exit(x, x.m(v[0]) == 0),
        Op::RptMZ8         => |v, x| repeat(x, x.m(v[0]), v[1]),
        Op::RptZ12Z8       => |v, x| repeat(x, v[0], v[1]),
        _ => return None,
    };
    Some(function)
}
