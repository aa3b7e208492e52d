//! What things cost, in tile clock cycles. [isa-core §9]
//!
//! Workers pay by the slot, one every [`tilekiln_chip::SLOT_PERIOD`] cycles, and know no hazards.
//! The supervisor issues at the latest of: the cycle its previous instruction allows, the cycle
//! its sources are ready, and the next slot that no worker owns.

/// Cycles from a supervisor instruction's issue until its result may be used. [isa-core §9 high]
pub const RESULT: u64 = 6;

/// Cycles of an ordinary supervisor instruction. [isa-core §9 high]
pub const ORDINARY: u64 = 1;

/// Cycles of a taken branch. [isa-core §9 high]
pub const TAKEN: u64 = 6;

/// Cycles of a `put`, which drains the pipeline. [isa-core §9 med]
pub const PUT: u64 = 6;

/// Cycles of a `put` to an exchange register. It drains the pipeline as well, so it does not wait
/// for its source on top: a `setzi` and two of them take 27. [exchange §3.3 H]
pub const EXCHANGE_PUT: u64 = tilekiln_chip::exchange::EXCHANGE_PUT as u64;

/// Cycles of `run` and `runall`. [isa-core §9 med]
pub const LAUNCH: u64 = 6;

/// Cycles from the last worker's exit to the instruction behind `sync 2`, and of any `sync` that
/// has nothing to wait for. [isa-core §9 med]
pub const SYNC: u64 = 6;
