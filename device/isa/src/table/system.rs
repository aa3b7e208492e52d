//! Control and status registers, traps and worker launches. [isa-core §1.4, §6, §8.3]

use crate::form::Context::*;
use crate::form::Evidence::*;
use crate::form::Lane::*;
use crate::form::{Fixup, Form, SOLO, SYSTEM, a, at, csr, form, m, ucsr, z, z_in};
use crate::op::Op;

#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) const FORMS: &[Form] = &[
    form(Op::GetMCsr,     "get",    &[m("dst", 16).out(), csr("csr", 0)],                                                                 0x4100_0000, 0x7ff0_ff00, Main, Both,       Bytes).with(SYSTEM),
    form(Op::PutCsrM,     "put",    &[csr("csr", 0), m("src", 20)],                                                                       0x4300_8000, 0x7f0f_ff00, Main, Both,       Bytes).with(SYSTEM),
    form(Op::TrapZ4,      "trap",   &[z("imm", 0, 4)],                                                                                    0x4180_1000, 0x7fff_fff0, Main, Both,       Bytes).with(SYSTEM),
    form(Op::RunMMZ16,    "run",    &[m("entry", 20), m("vbase", 12), z_in("off", 16, &[at(16, 4, 12), at(0, 12, 0)]).fixup(Fixup::Run)], 0x1400_0000, 0xff00_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO)),
    form(Op::RunallMMZ16, "runall", &[m("entry", 20), m("vbase", 12), z_in("stride", 16, &[at(16, 4, 12), at(0, 12, 0)])],                0x1500_0000, 0xff00_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO)),
    form(Op::UgetACsr,    "uget",   &[a("dst", 16).out(), ucsr("csr", 0)],                                                                0x5100_0800, 0x7ff0_ff00, Aux,  Worker,     Text).with(SYSTEM),
    form(Op::UputCsrA,    "uput",   &[ucsr("csr", 0), a("src", 20)],                                                                      0x5100_8000, 0x7f0f_ff00, Aux,  Worker,     Text).with(SYSTEM),
];
