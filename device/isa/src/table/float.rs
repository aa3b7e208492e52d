//! Single-precision scalars and their conversions. [isa-float §3.1 to 3.5]

use crate::form::Context::*;
use crate::form::Evidence::*;
use crate::form::Lane::*;
use crate::form::{Form, a, form, z};
use crate::op::Op;

#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) const FORMS: &[Form] = &[
    form(Op::F32cmpeqAAA,   "f32cmpeq",    &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_000c, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32cmpgeAAA,   "f32cmpge",    &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0100, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32cmpgtAAA,   "f32cmpgt",    &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0104, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32cmpleAAA,   "f32cmple",    &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0108, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32cmpltAAA,   "f32cmplt",    &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_010c, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32cmpneAAA,   "f32cmpne",    &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0200, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32addAAA,     "f32add",      &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0000, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32mulAAA,     "f32mul",      &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0300, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32subAAA,     "f32sub",      &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0304, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32maxAAA,     "f32max",      &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0204, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32minAAA,     "f32min",      &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_020c, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32classAA,    "f32class",    &[a("dst", 4).out(), a("src", 20)],                  0x5200_2900, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32exp2AA,     "f32exp2",     &[a("dst", 4).out(), a("src", 20)],                  0x5200_2100, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32expAA,      "f32exp",      &[a("dst", 4).out(), a("src", 20)],                  0x5200_3100, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32fromi32AA,  "f32fromi32",  &[a("dst", 4).out(), a("src", 20)],                  0x5200_7000, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32fromui32AA, "f32fromui32", &[a("dst", 4).out(), a("src", 20)],                  0x5200_0000, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32lnAA,       "f32ln",       &[a("dst", 4).out(), a("src", 20)],                  0x5200_1100, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32log2AA,     "f32log2",     &[a("dst", 4).out(), a("src", 20)],                  0x5200_0100, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32oorxAA,     "f32oorx",     &[a("dst", 4).out(), a("src", 20)],                  0x5200_0a00, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32ooxAA,      "f32oox",      &[a("dst", 4).out(), a("src", 20)],                  0x5200_0b00, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32sigmAA,     "f32sigm",     &[a("dst", 4).out(), a("src", 20)],                  0x5200_5900, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32sqrtAA,     "f32sqrt",     &[a("dst", 4).out(), a("src", 20)],                  0x5200_6100, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32sufromuiAA, "f32sufromui", &[a("dst", 4).out(), a("src", 20)],                  0x5200_4900, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32tanhAA,     "f32tanh",     &[a("dst", 4).out(), a("src", 20)],                  0x5200_5100, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32tof16AA,    "f32tof16",    &[a("dst", 4).out(), a("src", 20)],                  0x5200_3500, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32toi32AA,    "f32toi32",    &[a("dst", 4).out(), a("src", 20)],                  0x5200_4000, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32toui32AA,   "f32toui32",   &[a("dst", 4).out(), a("src", 20)],                  0x5200_5000, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32absaddAAA,  "f32absadd",   &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0008, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32absmaxAAA,  "f32absmax",   &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0208, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32divAAA,     "f32div",      &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],  0x5800_0500, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32intAAZ4,    "f32int",      &[a("dst", 16).out(), a("src", 20), z("imm", 0, 4)], 0x5100_0000, 0x7f00_fff0, Aux, Worker, Table),
];
