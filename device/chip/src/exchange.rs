//! Constants of the exchange clock and of host packets. [exchange §3, §4, §14]

/// What `INCOMING_MUX` holds when nothing is selected. [exchange §5 V]
pub const MUX_NEUTRAL: u32 = 0x640;

/// `INCOMING_MUX` of a host port is this plus the owner's number. [exchange §14.1 V]
pub const MUX_HOST: u32 = 0x600;

/// Events from the multiplexer stamp to the pointer stamp of the same word, on row 0; two more for
/// each row. [exchange §3.3 V]
pub const POINTER_LEAD: u32 = 52;

/// Events a row adds to [`POINTER_LEAD`]. [exchange §3.3 V]
pub const POINTER_LEAD_PER_ROW: u32 = 2;

/// Events by which a 64-bit format control precedes its pointer stamp, and the first item its
/// effect. [exchange §3.3 V]
pub const FORMAT_LEAD: u32 = 2;

/// Events a receiving row keeps after its last arrival. [exchange §3.3 V]
pub const TAIL_GUARD: u32 = 5;

/// The smallest encodable control stamp. [exchange §3.3 V]
pub const FIRST_STAMP: u32 = 1;

/// Most events one `delay` advances. [exchange §3.3 V]
pub const DELAY_MAX: u32 = 1 << 19;

/// Most events one `delayxpic` advances. [exchange §3.3 V]
pub const DELAYXPIC_MAX: u32 = 4096;

/// Most events one `delaypic` advances. [exchange §3.3 V]
pub const DELAYPIC_MAX: u32 = 128;

/// Most items one `send`, `sendpic` or `sendpicp` emits. [exchange §3.3 V]
pub const SEND_MAX: u32 = 64;

/// Most items one `sendoff` emits. [exchange §3.3 V]
pub const SENDOFF_MAX: u32 = 4096;

/// Most words one message of the planner carries. [exchange §3.3 V]
pub const MESSAGE_MAX: u32 = 4148;

/// Fewest 64-bit items of a paired message. [exchange §7 V]
pub const PAIRED_MIN: u32 = 64;

/// Cycles a `put` to an exchange register takes in a row. [exchange §3.3 H]
pub const EXCHANGE_PUT: u32 = 13;

/// Bytes of a host page; no packet crosses one. [exchange §14.2 H]
pub const HOST_PAGE: u32 = 4096;

/// Most bytes one device-bound packet carries. [exchange §14.2 V]
pub const HOST_READ_MAX: u32 = 1024;

/// Most bytes one host-bound packet carries. [exchange §14.2 V]
pub const HOST_WRITE_MAX: u32 = 256;

/// Bytes of host memory that one complex reaches through the page table. [host-driver §9.1]
pub const HOST_REACH: u32 = 0x800_0000;

/// First byte of the window for application reads from the host. [exchange §14.2 H]
pub const HOST_WINDOW: crate::ByteAddr = crate::ByteAddr(0x5_0000);

/// Bytes of that window. [exchange §14.2 H]
pub const HOST_WINDOW_BYTES: u32 = 0x4000;

/// `br $m10`, which ends a row. [exchange §4.1 V]
pub const ROW_RETURN: u32 = 0x43a0_0000;

/// The header of a host packet, two words; fields are a lowest bit and a mask before the shift.
/// [exchange §14.2 V]
pub mod packet {
    /// In word 0, what the packet does; odd formats count in [`LONG_UNIT`], even ones in
    /// [`SHORT_UNIT`].
    pub const FORMAT: (u32, u32) = (29, 7);
    /// Tile to host, short.
    pub const WRITE_SHORT: u32 = 4;
    /// Tile to host, long.
    pub const WRITE_LONG: u32 = 5;
    /// Host to tile, short.
    pub const READ_SHORT: u32 = 6;
    /// Host to tile, long.
    pub const READ_LONG: u32 = 7;
    /// In word 0, all ones in the packet that ends a tile's stream. [exchange §14.2 I]
    pub const END: (u32, u32) = (26, 3);
    /// In word 0, the physical number of the tile.
    pub const TILE: (u32, u32) = (15, 0x7ff);
    /// In word 0, where a read lands: [`ADDRESS_UNIT`]s from the start of tile memory.
    pub const ADDRESS: (u32, u32) = (0, 0x7fff);
    /// In word 1, the PCIe complex: odd tiles take the second. [host-driver §9.1 INF]
    pub const COMPLEX: (u32, u32) = (31, 1);
    /// In word 1, the host offset in units.
    pub const OFFSET: (u32, u32) = (4, 0x7ff_ffff);
    /// In word 1, the length in units; a long packet writes 16 as 0.
    pub const LENGTH: (u32, u32) = (0, 15);
    /// Bytes of a short packet's unit.
    pub const SHORT_UNIT: u32 = 4;
    /// Bytes of a long packet's unit.
    pub const LONG_UNIT: u32 = 64;
    /// Bytes of the unit tile addresses are counted in.
    pub const ADDRESS_UNIT: u32 = 32;
}

/// Zones of `sync`. [exchange §9.1 V]
pub mod zone {
    /// Waits until the expected host words have arrived.
    pub const RECEIVE: u32 = 0;
    /// Waits until the announced barriers have passed.
    pub const NON_PARTICIPATION: u32 = 1;
    /// Waits for this tile's workers.
    pub const LOCAL: u32 = 2;
    /// All tiles of the chip.
    pub const INTERNAL: u32 = 3;
    /// External group 1.
    pub const GS1: u32 = 4;
    /// External group 1 with the host.
    pub const GS1_HOST: u32 = 5;
    /// External group 2.
    pub const GS2: u32 = 6;
    /// External group 2 with the host.
    pub const GS2_HOST: u32 = 7;
    /// What the master of an external zone adds.
    pub const MASTER: u32 = 8;
}
