//! Branches, calls, repeats and worker exits. [isa-core §1.5, §2.2, §5]

use crate::form::Context::*;
use crate::form::Evidence::*;
use crate::form::Lane::*;
use crate::form::{CONTROL, Fixup, Form, SOLO, code, form, m, z};
use crate::op::Op;

#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) const FORMS: &[Form] = &[
    form(Op::BrM,            "br",      &[m("src", 20)],                                              0x4300_0000, 0x7f0f_ffff, Main, Both,   Bytes).with(CONTROL),
    form(Op::BriTarget,      "bri",     &[code("target", 0, 19)],                                     0x4080_0000, 0x7ff8_0000, Main, Both,   Bytes).with(CONTROL),
    form(Op::BrnegMTarget,   "brneg",   &[m("src", 20), code("target", 0, 19)],                       0x1000_0000, 0x7f08_0000, Main, Both,   Table).with(CONTROL),
    form(Op::BrnzMTarget,    "brnz",    &[m("src", 20), code("target", 0, 19)],                       0x1100_0000, 0x7f08_0000, Main, Both,   Bytes).with(CONTROL),
    form(Op::BrposMTarget,   "brpos",   &[m("src", 20), code("target", 0, 19)],                       0x1200_0000, 0x7f08_0000, Main, Both,   Table).with(CONTROL),
    form(Op::BrzMTarget,     "brz",     &[m("src", 20), code("target", 0, 19)],                       0x1300_0000, 0x7f08_0000, Main, Both,   Bytes).with(CONTROL),
    form(Op::BrnzdecMTarget, "brnzdec", &[m("counter", 20).inout(), code("target", 0, 19)],           0x1308_0000, 0x7f08_0000, Main, Both,   Bytes).with(CONTROL),
    form(Op::CallMTarget,    "call",    &[m("dst", 20).out(), code("target", 0, 20)],                 0x1800_0000, 0x7f00_0000, Main, Both,   Bytes).with(CONTROL),
    form(Op::ExitnegM,       "exitneg", &[m("src", 20)],                                              0x4300_1000, 0xff0f_ffff, Main, Worker, Table).with(CONTROL.union(SOLO)),
    form(Op::ExitnzM,        "exitnz",  &[m("src", 20)],                                              0x4300_2000, 0xff0f_ffff, Main, Worker, Table).with(CONTROL.union(SOLO)),
    form(Op::ExitposM,       "exitpos", &[m("src", 20)],                                              0x4300_3000, 0xff0f_ffff, Main, Worker, Table).with(CONTROL.union(SOLO)),
    form(Op::ExitzM,         "exitz",   &[m("src", 20)],                                              0x4300_4000, 0xff0f_ffff, Main, Worker, Bytes).with(CONTROL.union(SOLO)),
    form(Op::RptMZ8,         "rpt",     &[m("count", 20), z("size_m1", 0, 8).fixup(Fixup::Bits8)],    0x4300_a000, 0x7f0f_ff00, Main, Worker, Bytes).with(CONTROL),
    form(Op::RptZ12Z8,       "rpt",     &[z("count", 8, 12), z("size_m1", 0, 8).fixup(Fixup::Bits8)], 0x4000_0000, 0x7ff0_0000, Main, Worker, Bytes).with(CONTROL),
];
