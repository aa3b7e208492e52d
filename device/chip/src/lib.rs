//! The numbers of the IPU21 (Graphcore C600), and the types to say them in.
//!
//! Every constant names the document and section it is from and that document's own confidence
//! mark: `isa-core`, `isa-float`, `exchange`, `host-driver` and `pipeline` are the chapters of the
//! project's hardware specification. What no document proves is in [`assumed`], by its id.
//!
//! # Where to start
//!
//! [`units`] has the types, [`memory`] the map of a tile, [`topology`] the way between two tiles.
//!
//! # What is never here
//!
//! A dependency, an algorithm, or a number that only one side needs.
#![no_std]

pub mod assumed;
pub mod csr;
pub mod exchange;
pub mod memory;
pub mod registers;
pub mod topology;
pub mod units;

pub use units::{ByteAddr, Cycles, Event, Events, PhysTile, TileId, WordAddr};

/// Tiles of the chip. [exchange §1.1 V]
pub const TILE_COUNT: u16 = 1472;

/// Worker contexts of a tile. [isa-core §1.1 code]
pub const WORKERS: usize = 6;

/// Cycles between two issue slots of one worker. [isa-core §1.2 code]
pub const SLOT_PERIOD: u64 = 6;
