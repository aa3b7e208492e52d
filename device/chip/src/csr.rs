//! Control and status registers: name, number, context, access. [csr.json]
//!
//! The 64 weight registers are not named one by one: `$CWEI_u_p` is number `4u + p` of their own space.

/// Which instructions reach a register. [isa-encoding §8]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// `get` and `put`, numbers 0 to 255, of the supervisor.
    Supervisor,
    /// `get` and `put`, numbers 0 to 255, of a worker.
    Worker,
    /// `uget` and `uput`, numbers 256 to 511, of a worker.
    WorkerUpper,
}

/// What a program may do with a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Both.
    ReadWrite,
}

/// One register as one context sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Csr {
    /// Its name with the leading `$`.
    pub name: &'static str,
    /// Its full number; the instruction field holds the low eight bits.
    pub number: u16,
    /// Who reaches it, and how.
    pub space: Space,
    /// What a program may do.
    pub access: Access,
    /// Whether a public document states the access; otherwise it is inferred from the purpose.
    pub stated: bool,
}

const fn csr(name: &'static str, number: u16, space: Space, access: Access, stated: bool) -> Csr {
    Csr {
        name,
        number,
        space,
        access,
        stated,
    }
}

use Access::{Read, ReadWrite, Write};
use Space::{Supervisor, Worker, WorkerUpper};

/// Every register with a name, by space and number.
#[rustfmt::skip] // One register a line: the columns are the point.
pub const CSRS: &[Csr] = &[
    csr("$PC",               0x000, Supervisor,  Read,      false),
    csr("$SSR",              0x001, Supervisor,  Read,      false),
    csr("$CR",               0x002, Supervisor,  Write,     false),
    csr("$TILE_ID",          0x003, Supervisor,  Read,      false),
    csr("$FP_ICTL",          0x020, Supervisor,  ReadWrite, false),
    csr("$WORKER0_BASE",     0x021, Supervisor,  ReadWrite, false),
    csr("$WORKER1_BASE",     0x022, Supervisor,  ReadWrite, false),
    csr("$WORKER2_BASE",     0x023, Supervisor,  ReadWrite, false),
    csr("$WORKER3_BASE",     0x024, Supervisor,  ReadWrite, false),
    csr("$WORKER4_BASE",     0x025, Supervisor,  ReadWrite, false),
    csr("$WORKER5_BASE",     0x026, Supervisor,  ReadWrite, false),
    csr("$FP_INFMT",         0x031, Supervisor,  ReadWrite, false),
    csr("$FP_ISCL",          0x033, Supervisor,  ReadWrite, false),
    csr("$CCCSLOAD",         0x050, Supervisor,  ReadWrite, false),
    csr("$SCOUNT_L",         0x060, Supervisor,  Read,      false),
    csr("$SCOUNT_U",         0x061, Supervisor,  Read,      false),
    csr("$DBG_DATA",         0x070, Supervisor,  ReadWrite, true),
    csr("$DBG_BRK_ID",       0x071, Supervisor,  Read,      false),
    csr("$CTXT_STS",         0x072, Supervisor,  Read,      false),
    csr("$DBG_CTL",          0x073, Supervisor,  ReadWrite, false),
    csr("$DBG_ECSR",         0x074, Supervisor,  ReadWrite, false),
    csr("$DBG_ECLR",         0x075, Supervisor,  ReadWrite, false),
    csr("$DBG_IBRK0_CTL",    0x080, Supervisor,  ReadWrite, false),
    csr("$DBG_IBRK0_PC",     0x081, Supervisor,  ReadWrite, false),
    csr("$DBG_IBRK0_VERT",   0x082, Supervisor,  ReadWrite, false),
    csr("$DBG_DBRK0_CTL",    0x090, Supervisor,  ReadWrite, false),
    csr("$DBG_DBRK0_BASE",   0x091, Supervisor,  ReadWrite, false),
    csr("$DBG_DBRK0_SIDA",   0x092, Supervisor,  ReadWrite, false),
    csr("$INCOMING_MUX",     0x0a0, Supervisor,  ReadWrite, false),
    csr("$INCOMING_MUXPAIR", 0x0a1, Supervisor,  ReadWrite, false),
    csr("$INCOMING_DELTA",   0x0a2, Supervisor,  ReadWrite, false),
    csr("$INCOMING_FORMAT",  0x0a3, Supervisor,  ReadWrite, false),
    csr("$INCOMING_BASE",    0x0a4, Supervisor,  ReadWrite, false),
    csr("$INCOMING_SINIT",   0x0a5, Supervisor,  ReadWrite, false),
    csr("$INCOMING_DCOUNT",  0x0a6, Supervisor,  ReadWrite, false),
    csr("$OUTGOING_BASE",    0x0a7, Supervisor,  ReadWrite, false),
    csr("$OUTGOING_DELTA",   0x0a8, Supervisor,  ReadWrite, false),
    csr("$EXCHANGE_CTL",     0x0a9, Supervisor,  ReadWrite, false),
    csr("$ANS_DCOUNT",       0x0aa, Supervisor,  ReadWrite, false),
    csr("$EXCHANGE_ADJ",     0x0ab, Supervisor,  ReadWrite, false),
    csr("$PC",               0x000, Worker,      Read,      false),
    csr("$WSR",              0x001, Worker,      Read,      false),
    csr("$VERTEX_BASE",      0x002, Worker,      Read,      false),
    csr("$WORKER_BASE",      0x003, Worker,      Read,      true),
    csr("$REPEAT_COUNT",     0x004, Worker,      Read,      false),
    csr("$REPEAT_FIRST",     0x005, Worker,      Read,      false),
    csr("$REPEAT_END",       0x006, Worker,      Read,      false),
    csr("$COUNT_L",          0x060, Worker,      Read,      false),
    csr("$COUNT_U",          0x061, Worker,      Read,      false),
    csr("$DBG_DATA",         0x070, Worker,      ReadWrite, true),
    csr("$DBG_BRK_ID",       0x071, Worker,      Read,      false),
    csr("$FP_STS",           0x100, WorkerUpper, Read,      false),
    csr("$FP_CLR",           0x101, WorkerUpper, Write,     true),
    csr("$FP_CTL",           0x102, WorkerUpper, ReadWrite, false),
    csr("$PRNG_0_0",         0x103, WorkerUpper, ReadWrite, false),
    csr("$PRNG_0_1",         0x104, WorkerUpper, ReadWrite, false),
    csr("$PRNG_1_0",         0x105, WorkerUpper, ReadWrite, false),
    csr("$PRNG_1_1",         0x106, WorkerUpper, ReadWrite, false),
    csr("$PRNG_SEED",        0x107, WorkerUpper, Write,     true),
    csr("$TAS",              0x108, WorkerUpper, ReadWrite, false),
    csr("$FP_NFMT",          0x109, WorkerUpper, ReadWrite, false),
    csr("$FP_SCL",           0x10a, WorkerUpper, ReadWrite, false),
];

/// The full number of each register, by name.
#[expect(missing_docs, reason = "the names are the registers' own")]
pub mod number {
    pub const PC: u16 = 0x000;
    pub const SSR: u16 = 0x001;
    pub const WSR: u16 = 0x001;
    pub const CR: u16 = 0x002;
    pub const VERTEX_BASE: u16 = 0x002;
    pub const TILE_ID: u16 = 0x003;
    pub const WORKER_BASE: u16 = 0x003;
    pub const REPEAT_COUNT: u16 = 0x004;
    pub const REPEAT_FIRST: u16 = 0x005;
    pub const REPEAT_END: u16 = 0x006;
    pub const FP_ICTL: u16 = 0x020;
    pub const WORKER0_BASE: u16 = 0x021;
    pub const WORKER1_BASE: u16 = 0x022;
    pub const WORKER2_BASE: u16 = 0x023;
    pub const WORKER3_BASE: u16 = 0x024;
    pub const WORKER4_BASE: u16 = 0x025;
    pub const WORKER5_BASE: u16 = 0x026;
    pub const FP_INFMT: u16 = 0x031;
    pub const FP_ISCL: u16 = 0x033;
    pub const CCCSLOAD: u16 = 0x050;
    pub const COUNT_L: u16 = 0x060;
    pub const SCOUNT_L: u16 = 0x060;
    pub const COUNT_U: u16 = 0x061;
    pub const SCOUNT_U: u16 = 0x061;
    pub const DBG_DATA: u16 = 0x070;
    pub const DBG_BRK_ID: u16 = 0x071;
    pub const CTXT_STS: u16 = 0x072;
    pub const DBG_CTL: u16 = 0x073;
    pub const DBG_ECSR: u16 = 0x074;
    pub const DBG_ECLR: u16 = 0x075;
    pub const DBG_IBRK0_CTL: u16 = 0x080;
    pub const DBG_IBRK0_PC: u16 = 0x081;
    pub const DBG_IBRK0_VERT: u16 = 0x082;
    pub const DBG_DBRK0_CTL: u16 = 0x090;
    pub const DBG_DBRK0_BASE: u16 = 0x091;
    pub const DBG_DBRK0_SIDA: u16 = 0x092;
    pub const INCOMING_MUX: u16 = 0x0a0;
    pub const INCOMING_MUXPAIR: u16 = 0x0a1;
    pub const INCOMING_DELTA: u16 = 0x0a2;
    pub const INCOMING_FORMAT: u16 = 0x0a3;
    pub const INCOMING_BASE: u16 = 0x0a4;
    pub const INCOMING_SINIT: u16 = 0x0a5;
    pub const INCOMING_DCOUNT: u16 = 0x0a6;
    pub const OUTGOING_BASE: u16 = 0x0a7;
    pub const OUTGOING_DELTA: u16 = 0x0a8;
    pub const EXCHANGE_CTL: u16 = 0x0a9;
    pub const ANS_DCOUNT: u16 = 0x0aa;
    pub const EXCHANGE_ADJ: u16 = 0x0ab;
    pub const FP_STS: u16 = 0x100;
    pub const FP_CLR: u16 = 0x101;
    pub const FP_CTL: u16 = 0x102;
    pub const PRNG_0_0: u16 = 0x103;
    pub const PRNG_0_1: u16 = 0x104;
    pub const PRNG_1_0: u16 = 0x105;
    pub const PRNG_1_1: u16 = 0x106;
    pub const PRNG_SEED: u16 = 0x107;
    pub const TAS: u16 = 0x108;
    pub const FP_NFMT: u16 = 0x109;
    pub const FP_SCL: u16 = 0x10a;
}

/// The register called `name` (with its `$`) as `space` sees it.
pub fn by_name(name: &str, space: Space) -> Option<&'static Csr> {
    CSRS.iter()
        .find(|csr| csr.name == name && csr.space == space)
}

/// The register with the full number `number` as `space` sees it.
pub fn by_number(number: u16, space: Space) -> Option<&'static Csr> {
    CSRS.iter()
        .find(|csr| csr.number == number && csr.space == space)
}

/// Fields that code here names: lowest bit, and mask before the shift. [isa-encoding §7.6]
pub mod field {
    /// A worker's own number in `$WSR`.
    pub const WSR_CTXTID_M1: (u32, u32) = (0, 7);
    /// Clears all accumulators through `$FP_CLR`.
    pub const FP_CLR_ZAACC: (u32, u32) = (3, 1);
    /// Iterations in `$REPEAT_COUNT`.
    pub const REPEAT_COUNT_VALUE: (u32, u32) = (0, 0xffff);
    /// Exception enable of invalid operations in `$FP_CTL` and `$FP_ICTL`.
    pub const FP_CTL_INV: (u32, u32) = (0, 1);
    /// Exception enable of divisions by zero.
    pub const FP_CTL_DIV0: (u32, u32) = (1, 1);
    /// Exception enable of overflows.
    pub const FP_CTL_OFLO: (u32, u32) = (2, 1);
    /// Stochastic rounding.
    pub const FP_CTL_ESR: (u32, u32) = (19, 1);
    /// Overflow to NaN instead of the largest finite value.
    pub const FP_CTL_NANOO: (u32, u32) = (20, 1);
}
