//! Synchronisation and the timed instructions of exchange rows. [exchange §4, isa-core §8]

use crate::form::Context::*;
use crate::form::Evidence::*;
use crate::form::Lane::*;
use crate::form::{Form, INLINE, IPU21, SOLO, SYSTEM, at, form, z, z_in};
use crate::op::Op;

#[rustfmt::skip] // One form a line: the columns are the point.
pub(super) const FORMS: &[Form] = &[
    form(Op::SyncZ4,            "sync",      &[z("zone", 0, 4)],                                                                        0x4180_0000, 0xffff_fff0, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO)),
    form(Op::SansZ19,           "sans",      &[z("value", 0, 19)],                                                                      0x40c0_0000, 0xfff8_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO)),
    form(Op::DelayZ19,          "delay",     &[z("count_m1", 0, 19)],                                                                   0x40a0_0000, 0xfff8_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO)),
    form(Op::DelaypicZ7Z1Z18,   "delaypic",  &[z("count_m1", 19, 7), z("sel", 18, 1), z("value", 0, 18)],                               0x6000_0000, 0xfc00_0000, Main, Supervisor, Recovered).with(SYSTEM.union(SOLO.union(IPU21))),
    form(Op::DelayxpicZ12Z1Z13, "delayxpic", &[z("count_m1", 14, 12), z("sel", 13, 1), z("value", 0, 13)],                              0x6400_0000, 0xfc00_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO.union(IPU21))),
    form(Op::SendZ6Z18Z3,       "send",      &[z("count_m1", 21, 6), z("addr", 3, 18), z("ctl", 0, 3)],                                 0x7800_0000, 0xf800_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO)),
    form(Op::SendoffZ12Z11Z3,   "sendoff",   &[z_in("count_m1", 12, &[at(21, 6, 0), at(14, 6, 6)]), z("delta", 3, 11), z("ctl", 0, 3)], 0x7000_0000, 0xf810_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO.union(IPU21))),
    form(Op::SendpicZ6Z2Z18,    "sendpic",   &[z("count_m1", 21, 6), z("sel", 18, 2), z("value", 0, 18)],                               0x7010_0000, 0xf810_0000, Main, Supervisor, Recovered).with(SYSTEM.union(SOLO.union(IPU21))),
    form(Op::SendpicpZ6Z18Z3Z1, "sendpicp",  &[z("count_m1", 21, 6), z("addr", 3, 18), z("ctl", 0, 3), z("pic_sel", 27, 1)],            0xf000_0000, 0xf000_0000, Main, Supervisor, Bytes).with(SYSTEM.union(SOLO.union(INLINE.union(IPU21)))),
];
