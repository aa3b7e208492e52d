//! The matrix unit: products, slim convolutions, transposes and weight loads. [isa-float §4, §5]

use crate::form::Context::*;
use crate::form::Evidence::*;
use crate::form::Lane::*;
use crate::form::{Form, IPU2, IPU21, a, ap, form, z};
use crate::op::Op;

#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) const FORMS: &[Form] = &[
    form(Op::Ld128putcsZ8,            "ld128putcs",      &[z("imm", 0, 8)],                                                      0x4100_d000, 0x7fff_ff00, Main, Supervisor, Table),
    form(Op::Ld64putcsZ8,             "ld64putcs",       &[z("imm", 0, 8)],                                                      0x4100_c000, 0x7fff_ff00, Main, Supervisor, Table),
    form(Op::F16v2clampAAA,           "f16v2clamp",      &[a("dst", 4).out(), a("src0", 20), a("src1", 12)],                     0x5800_040d, 0x7f0f_0f0f, Aux,  Worker,     Table),
    form(Op::F16v4clampApApA,         "f16v4clamp",      &[ap("dst", 4).out(), ap("src0", 20), a("src1", 12)],                   0x5800_040e, 0x7f0f_0f0f, Aux,  Worker,     Table),
    form(Op::F32clampAAAp,            "f32clamp",        &[a("dst", 4).out(), a("src0", 20), ap("src1", 12)],                    0x5800_040c, 0x7f0f_0f0f, Aux,  Worker,     Table),
    form(Op::F32v2clampApApAp,        "f32v2clamp",      &[ap("dst", 4).out(), ap("src0", 20), ap("src1", 12)],                  0x5800_040f, 0x7f0f_0f0f, Aux,  Worker,     Table),
    form(Op::F16v4hihoampAApAZ6,      "f16v4hihoamp",    &[a("dst", 16).out(), ap("src0", 12), a("src1", 20), z("imm", 0, 6)],   0x5b00_0100, 0x7f00_0fc0, Aux,  Worker,     Bytes),
    form(Op::F16v4hihoslicAApAZ6,     "f16v4hihoslic",   &[a("dst", 16).out(), ap("src0", 12), a("src1", 20), z("imm", 0, 6)],   0x5b00_0000, 0x7f00_0fc0, Aux,  Worker,     Table),
    form(Op::F16v4hihov4ampApApApZ6,  "f16v4hihov4amp",  &[ap("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)], 0x5b00_0740, 0x7f00_0fc0, Aux,  Worker,     Table).with(IPU2),
    form(Op::F16v4hihov4slicApApApZ6, "f16v4hihov4slic", &[ap("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)], 0x5b00_0640, 0x7f00_0fc0, Aux,  Worker,     Table).with(IPU2),
    form(Op::F16v4istaccApApApZ6,     "f16v4istacc",     &[ap("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)], 0x5b00_0800, 0x7f00_0fc0, Aux,  Worker,     Table),
    form(Op::F16v4sihoampAApApZ6,     "f16v4sihoamp",    &[a("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)],  0x5b00_0500, 0x7f00_0fc0, Aux,  Worker,     Table),
    form(Op::F16v4sihoslicAApApZ6,    "f16v4sihoslic",   &[a("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)],  0x5b00_0400, 0x7f00_0fc0, Aux,  Worker,     Table),
    form(Op::F16v4sisoampApApApZ6,    "f16v4sisoamp",    &[ap("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)], 0x5b00_0700, 0x7f00_0fc0, Aux,  Worker,     Table),
    form(Op::F16v4sisoslicApApApZ6,   "f16v4sisoslic",   &[ap("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)], 0x5b00_0600, 0x7f00_0fc0, Aux,  Worker,     Table),
    form(Op::F32sisoampApAApZ6,       "f32sisoamp",      &[ap("dst", 16).out(), a("src0", 12), ap("src1", 20), z("imm", 0, 6)],  0x5b00_0f00, 0x7f00_0fc0, Aux,  Worker,     Bytes),
    form(Op::F32sisoslicApAApZ6,      "f32sisoslic",     &[ap("dst", 16).out(), a("src0", 12), ap("src1", 20), z("imm", 0, 6)],  0x5b00_0e00, 0x7f00_0fc0, Aux,  Worker,     Table),
    form(Op::F32sisov2ampApAApZ6,     "f32sisov2amp",    &[ap("dst", 16).out(), a("src0", 12), ap("src1", 20), z("imm", 0, 6)],  0x5b00_0f40, 0x7f00_0fc0, Aux,  Worker,     Table).with(IPU2),
    form(Op::F32sisov2slicApAApZ6,    "f32sisov2slic",   &[ap("dst", 16).out(), a("src0", 12), ap("src1", 20), z("imm", 0, 6)],  0x5b00_0e40, 0x7f00_0fc0, Aux,  Worker,     Table).with(IPU2),
    form(Op::F8v8hihov4ampApApApZ6,   "f8v8hihov4amp",   &[ap("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)], 0x5b00_0940, 0x7f00_0fc0, Aux,  Worker,     Table).with(IPU21),
    form(Op::F8v8hihov4slicApApApZ6,  "f8v8hihov4slic",  &[ap("dst", 16).out(), ap("src0", 12), ap("src1", 20), z("imm", 0, 6)], 0x5b00_0a40, 0x7f00_0fc0, Aux,  Worker,     Bytes).with(IPU21),
    form(Op::F16v4staccApZ8,          "f16v4stacc",      &[ap("dst", 16).out(), z("imm", 0, 8)],                                 0x5100_0900, 0x7ff0_ff00, Aux,  Worker,     Table),
];
