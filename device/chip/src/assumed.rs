//! What no document proves: one constant each, by its id in `assumptions.md`.
//!
//! The simulator's options live in the simulator; here is what compiler and simulator must agree
//! on, and the operand codes, whose digest is part of every bundle's manifest.

/// Barriers one `sans N` answers: N plus this. [A-SANS]
pub const SANS_EXTRA: u32 = 1;

/// Events from a message's last arrival until its words may be sent on or overwritten. [A-FWD5]
pub const FORWARD_GUARD: u32 = 5;

/// Cycles from the last arrival at an internal barrier to event 0. [A-SYNCCOST]
pub const SYNC_INTERNAL_CYCLES: u64 = 200;

/// Cycles from the last arrival at an external barrier to its release. [A-SYNCCOST]
pub const SYNC_EXTERNAL_CYCLES: u64 = 1000;

/// Clock of the card in hertz, for printed times only. [A-CLOCK]
pub const CLOCK_HZ: u64 = 1_500_000_000;

/// Events that must pass between a host-bound header and the next header. [A-XREQ]
pub const HOST_PACKET_EVENTS: u32 = 18;

/// Bytes an image is padded to at least. [A-LDRMIN]
pub const IMAGE_MIN_BYTES: u32 = 0x4134;

/// Which instructions a code belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// `*amp`.
    Amp,
    /// `*slic`.
    Slic,
    /// `f16v4istacc`.
    TransposeIn,
    /// `f16v4stacc`.
    TransposeOut,
}

/// An operand code of the matrix unit: its name is public, its number is not. [A-FLAGS]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The vendor's name.
    pub name: &'static str,
    /// The number this project uses for it.
    pub value: u32,
    /// The instructions that take it.
    pub group: Group,
    /// Its phase, or its weight slot.
    pub phase: u32,
    /// Whether the simulator knows what it does; otherwise it stops as undefined.
    pub simulated: bool,
}

const fn code(name: &'static str, value: u32, group: Group, phase: u32, simulated: bool) -> Code {
    Code {
        name,
        value,
        group,
        phase,
        simulated,
    }
}

use Group::{Amp, Slic, TransposeIn, TransposeOut};

/// All operand codes; nothing else may hold a number of theirs. [A-FLAGS, flags.json]
#[rustfmt::skip] // One code a line: the columns are the point.
pub const CODES: &[Code] = &[
    code("TAMP_F16V4_E4_P0",     0, Amp,          0, true),
    code("TAMP_F16V4_E4_P1",     1, Amp,          1, true),
    code("TAMP_F16V4_E4_P2",     2, Amp,          2, true),
    code("TAMP_F16V4_E4_P3",     3, Amp,          3, true),
    code("TAMP_F16V4_E2_P0",     8, Amp,          0, false),
    code("TAMP_F16V4_E2_P1",     9, Amp,          1, false),
    code("TAMP_F16V4_E2_P2",    10, Amp,          2, false),
    code("TAMP_F16V4_E2_P3",    11, Amp,          3, false),
    code("TAMP_F16V4_E1_P0",    16, Amp,          0, false),
    code("TAMP_F16V4_E1_P1",    17, Amp,          1, false),
    code("TAMP_F16V4_E1_P2",    18, Amp,          2, false),
    code("TAMP_F16V4_E1_P3",    19, Amp,          3, false),
    code("TAMP_F8V8_E4_P0",      0, Amp,          0, true),
    code("TAMP_F8V8_E4_P1",      1, Amp,          1, true),
    code("TAMP_F8V8_E4_P2",      2, Amp,          2, true),
    code("TAMP_F8V8_E4_P3",      3, Amp,          3, true),
    code("TAMP_F32_E4_P0",       0, Amp,          0, true),
    code("TAMP_F32_E4_P1",       1, Amp,          1, true),
    code("TAMP_F32_E4_P2",       2, Amp,          2, true),
    code("TAMP_F32_E4_P3",       3, Amp,          3, true),
    code("TAMP_F32_E4_P4",       4, Amp,          4, true),
    code("TAMP_F32_E4_P5",       5, Amp,          5, true),
    code("TAMP_F32_E4_P6",       6, Amp,          6, true),
    code("TAMP_F32_E4_P7",       7, Amp,          7, true),
    code("TAMP_F32_E2_P0",       8, Amp,          0, false),
    code("TAMP_F32_E2_P1",       9, Amp,          1, false),
    code("TAMP_F32_E2_P2",      10, Amp,          2, false),
    code("TAMP_F32_E2_P3",      11, Amp,          3, false),
    code("TAMP_F32_E2_P4",      12, Amp,          4, false),
    code("TAMP_F32_E2_P5",      13, Amp,          5, false),
    code("TAMP_F32_E2_P6",      14, Amp,          6, false),
    code("TAMP_F32_E2_P7",      15, Amp,          7, false),
    code("TAMP_F32_E1_P0",      16, Amp,          0, false),
    code("TAMP_F32_E1_P1",      17, Amp,          1, false),
    code("TAMP_F32_E1_P2",      18, Amp,          2, false),
    code("TAMP_F32_E1_P3",      19, Amp,          3, false),
    code("TAMP_F32_E1_P4",      20, Amp,          4, false),
    code("TAMP_F32_E1_P5",      21, Amp,          5, false),
    code("TAMP_F32_E1_P6",      22, Amp,          6, false),
    code("TAMP_F32_E1_P7",      23, Amp,          7, false),
    code("TSLIC_F16V4_1x4_W0",   0, Slic,         0, true),
    code("TSLIC_F16V4_1x4_W1",   1, Slic,         1, true),
    code("TISTACC_P0",           0, TransposeIn,  0, true),
    code("TISTACC_P1",           1, TransposeIn,  1, true),
    code("TSTACC_P0",            0, TransposeOut, 0, true),
    code("TSTACC_P1",            1, TransposeOut, 1, true),
];
