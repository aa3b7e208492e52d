//! Single-precision vectors and the accumulators. [isa-float §3.1, §3.8]

use crate::form::Context::*;
use crate::form::Evidence::*;
use crate::form::Lane::*;
use crate::form::{Form, a, ap, aq, bb, form, z};
use crate::op::Op;

#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) const FORMS: &[Form] = &[
    form(Op::F32v2cmpeqApApAp,  "f32v2cmpeq",    &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_000f, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpeqApBAp,   "f32v2cmpeq",    &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_000f, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpgeApApAp,  "f32v2cmpge",    &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_0103, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpgeApBAp,   "f32v2cmpge",    &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_0103, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpgtApApAp,  "f32v2cmpgt",    &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_0107, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpgtApBAp,   "f32v2cmpgt",    &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_0107, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpleApApAp,  "f32v2cmple",    &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_010b, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpleApBAp,   "f32v2cmple",    &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_010b, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpltApApAp,  "f32v2cmplt",    &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_010f, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpltApBAp,   "f32v2cmplt",    &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_010f, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpneApApAp,  "f32v2cmpne",    &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_0203, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2cmpneApBAp,   "f32v2cmpne",    &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_0203, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2addApApAp,    "f32v2add",      &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_0003, 0x7f0f_0f0f, Aux, Worker, Bytes),
    form(Op::F32v2addApBAp,     "f32v2add",      &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_0003, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2mulApApAp,    "f32v2mul",      &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_0303, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2mulApBAp,     "f32v2mul",      &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_0303, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2subApApAp,    "f32v2sub",      &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_0307, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2subApBAp,     "f32v2sub",      &[ap("dst", 4).out(), bb("src0", 20), ap("src1", 12)],  0x5808_0307, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2maxApApAp,    "f32v2max",      &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_0207, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2minApApAp,    "f32v2min",      &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_020f, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2classAAp,     "f32v2class",    &[a("dst", 4).out(), ap("src", 20)],                    0x5200_2f00, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32v2sufromuiApAp, "f32v2sufromui", &[ap("dst", 4).out(), ap("src", 20)],                   0x5200_4b00, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32v2tof16AAp,     "f32v2tof16",    &[a("dst", 4).out(), ap("src", 20)],                    0x5200_6700, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F32v4tof16ApAq,    "f32v4tof16",    &[ap("dst", 4).out(), aq("src", 20)],                   0x5200_6500, 0x7f0f_ff0f, Aux, Worker, Table),
    form(Op::F16v2cmacAA,       "f16v2cmac",     &[a("src0", 20), a("src1", 12)],                        0x5a00_0300, 0x7f0f_0fff, Aux, Worker, Table),
    form(Op::F16v4cmacApAp,     "f16v4cmac",     &[ap("src0", 20), ap("src1", 12)],                      0x5a00_0200, 0x7f0f_0fff, Aux, Worker, Table),
    form(Op::F32macAA,          "f32mac",        &[a("src0", 20), a("src1", 12)],                        0x5a00_0180, 0x7f0f_0fff, Aux, Worker, Table),
    form(Op::F32v2macApAp,      "f32v2mac",      &[ap("src0", 20), ap("src1", 12)],                      0x5a00_0080, 0x7f0f_0fff, Aux, Worker, Table),
    form(Op::F16v2ginaAAZ12,    "f16v2gina",     &[a("dst", 16).out(), a("src", 20), z("imm", 0, 12)],   0x5900_5000, 0x7f00_f000, Aux, Worker, Table),
    form(Op::F32v2ginaApApZ12,  "f32v2gina",     &[ap("dst", 16).out(), ap("src", 20), z("imm", 0, 12)], 0x5900_4000, 0x7f00_f000, Aux, Worker, Table),
    form(Op::F16v4gaccAp,       "f16v4gacc",     &[ap("dst", 4).out()],                                  0x5000_0400, 0x7fff_ff0f, Aux, Worker, Table),
    form(Op::F16v4absaccAp,     "f16v4absacc",   &[ap("src", 20)],                                       0x5900_8400, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F16v4accAp,        "f16v4acc",      &[ap("src", 20)],                                       0x5900_8000, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F16v8absaccAq,     "f16v8absacc",   &[aq("src", 20)],                                       0x5900_8500, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F16v8accAq,        "f16v8acc",      &[aq("src", 20)],                                       0x5900_8100, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F16v8sqaccAq,      "f16v8sqacc",    &[aq("src", 20)],                                       0x5900_8900, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F32v4absaccAq,     "f32v4absacc",   &[aq("src", 20)],                                       0x5900_8600, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F32v4accAq,        "f32v4acc",      &[aq("src", 20)],                                       0x5900_8200, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F32v4sqaccAq,      "f32v4sqacc",    &[aq("src", 20)],                                       0x5900_8a00, 0x7f0f_ffff, Aux, Worker, Table),
    form(Op::F16v4mixApApAp,    "f16v4mix",      &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_000a, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2absaddApApAp, "f32v2absadd",   &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],  0x5800_030f, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2absmaxApApAp, "f32v2absmax",   &[ap("dst", 4).out(), ap("src0", 12), ap("src1", 20)],  0x5800_020b, 0x7f0f_0f0f, Aux, Worker, Table),
    form(Op::F32v2axpyApApAp,   "f32v2axpy",     &[ap("dst", 4).out(), ap("src0", 12), ap("src1", 20)],  0x5800_000b, 0x7f0f_0f0f, Aux, Worker, Bytes),
    form(Op::F32v2aopApApZ8,    "f32v2aop",      &[ap("src0", 20), ap("src1", 12), z("imm", 0, 8)],      0x5a00_0c00, 0x7f0f_0f00, Aux, Worker, Bytes),
];
