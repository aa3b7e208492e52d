//! Random numbers. [isa-float §3.7]

use crate::form::Context::*;
use crate::form::Evidence::*;
use crate::form::Lane::*;
use crate::form::{Form, a, ap, form};
use crate::op::Op;

#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) const FORMS: &[Form] = &[
    form(Op::F16v2grandA,     "f16v2grand", &[a("dst", 4).out()],                                 0x5000_0200, 0x7fff_ff0f, Aux, Worker, Table),
    form(Op::F32v2grandAp,    "f32v2grand", &[ap("dst", 4).out()],                                0x5000_0300, 0x7fff_ff0f, Aux, Worker, Table),
    form(Op::Urand32A,        "urand32",    &[a("dst", 4).out()],                                 0x5000_0000, 0x7fff_ff0f, Aux, Worker, Table),
    form(Op::Urand64Ap,       "urand64",    &[ap("dst", 4).out()],                                0x5000_0100, 0x7fff_ff0f, Aux, Worker, Table),
    form(Op::F16v4rmaskApApA, "f16v4rmask", &[ap("dst", 4).out(), ap("src0", 20), a("src1", 12)], 0x5800_050a, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2rmaskApApA, "f32v2rmask", &[ap("dst", 4).out(), ap("src0", 20), a("src1", 12)], 0x5800_050b, 0x7f0f_0f0f, Aux, Worker, Table),
];
