//! The card's config window: offsets of the registers the runner and the virtual card use.
//! [host-driver §4, §5, §16; host-registers.json]

pub mod map;

/// Bytes of the config window. [host-driver §4 HW]
pub const WINDOW_BYTES: u32 = 0x8_0000;

/// Mark of external group 1, bits 15:0. [host-driver §5 HW]
pub const MARK_GS1: u32 = 0x302c;

/// Mark of external group 2, bits 15:0. [host-driver §5 HW]
pub const MARK_GS2: u32 = 0x3030;

/// Window base; written before every attach. [host-driver §9.2 HW]
pub const EXCHANGE_WINDOW: u32 = 0x3044;

/// What is written there: the page table is addressed. [host-driver §9.2 HW]
pub const EXCHANGE_WINDOW_HEXOPT: u32 = 0x800;

/// First byte of the tile debug interface. [host-driver §16 HW]
pub const TDI_BASE: u32 = 0x3_0000;

/// Bytes a tile has there. [host-driver §16 HW]
pub const TDI_STRIDE: u32 = 0x40;

/// Registers of one tile's debug interface, by index. [host-driver §16]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Tdi {
    /// Context states.
    ContextStatus = 0,
    /// Retirement break enables.
    RetireBreak = 1,
    /// Its vertex filter.
    RetireBreakVertex = 2,
    /// Writes execute a word.
    Execute = 3,
    /// Which context executes it.
    Owner = 4,
    /// Exception control.
    ExceptionControl = 5,
    /// Clears exceptions.
    ExceptionClear = 6,
    /// The mailbox shared with `$DBG_DATA`.
    Data = 7,
    /// What became of the last injection.
    Status = 8,
    /// Clears that.
    StatusClear = 9,
    /// Mirror of `$INCOMING_DCOUNT`.
    IncomingCount = 10,
    /// Mirror of `$EXCHANGE_CTL`.
    ExchangeControl = 11,
    /// Interface control.
    Control = 12,
}

/// Words that may be executed through [`Tdi::Execute`]. [host-driver §16 HW]
pub mod inject {
    /// `ld32 $m0, $m1, $mzero, 0`
    pub const LOAD: u32 = 0x01f0_1000;
    /// `get $m0, 0`; the main register is in bits 19:16, the number of the other in 7:0.
    pub const GET: u32 = 0x4100_0000;
    /// `put 0, $m0`; the main register is in bits 23:20, the number of the other in 7:0.
    pub const PUT: u32 = 0x4300_8000;

    /// `get $mN, csr`, where `m` is N.
    pub const fn get(m: u32, csr: u16) -> u32 {
        GET | m << 16 | csr as u32
    }

    /// `put csr, $mN`, where `m` is N.
    pub const fn put(csr: u16, m: u32) -> u32 {
        PUT | m << 20 | csr as u32
    }
}

/// Bits of [`Tdi::Status`]. [isa-core §7 obs]
pub mod outcome {
    /// The context was not at rest.
    pub const NOT_QUIESCENT: u32 = 1;
    /// The word is nothing that can be executed so.
    pub const INVALID: u32 = 2;
    /// All that [`super::Tdi::StatusClear`] clears. [host-driver §16]
    pub const ALL: u32 = 7;
    /// The injection is not over. [host-driver §16]
    pub const BUSY: u32 = 8;
}

/// Offset of `register` of `tile`.
pub const fn tdi(tile: crate::PhysTile, register: Tdi) -> u32 {
    TDI_BASE + TDI_STRIDE * tile.index() as u32 + 4 * register as u32
}

/// The state of a context in `CTXT_STS`, two bits each. [isa-core §1.3]
pub mod state {
    /// Nothing runs, or a supervisor waits.
    pub const INACTIVE: u32 = 0;
    /// Executing.
    pub const ACTIVE: u32 = 1;
    /// Stopped by a debug exception.
    pub const EXCEPTED_DEBUG: u32 = 2;
    /// Stopped by any other exception.
    pub const EXCEPTED: u32 = 3;
}
