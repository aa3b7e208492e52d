//! The memory of a tile: map, elements, what may be executed, what the loader cannot reach.

use crate::units::ByteAddr;

/// First byte of tile memory. [isa-core §3.1 code]
pub const BASE: ByteAddr = ByteAddr(0x4_C000);

/// First byte behind tile memory. [isa-core §3.1 obs]
pub const END: ByteAddr = ByteAddr(0xE_8000);

/// Bytes of tile memory: 624 KiB. [isa-core §3.1 obs]
pub const BYTES: u32 = END.0 - BASE.0;

/// Bytes of a memory element. [isa-core §3.1 obs]
pub const ELEMENT_BYTES: u32 = 0x4000;

/// First byte of region 1: interleaved, not executable. [isa-core §3.1 obs]
pub const INTERLEAVED: ByteAddr = ByteAddr(0x8_0000);

/// Elements of region 0, which are exclusion units as they are. [isa-core §3.1 obs]
const PLAIN_ELEMENTS: u32 = (INTERLEAVED.0 - BASE.0) / ELEMENT_BYTES;

/// Bytes of an interleaved pair of elements, the unit of exclusion in region 1. [exchange §8 V]
pub const PAIR_BYTES: u32 = 2 * ELEMENT_BYTES;

/// Where an application starts; four loader instructions lie below. [host-driver §12.5 HW]
pub const ENTRY: ByteAddr = ByteAddr(0x4_C010);

/// First byte the loader cannot initialise. [pipeline §3.11 src-later]
pub const LOADER_END: ByteAddr = ByteAddr(0xE_7BB0);

/// Bytes a supervisor may fetch beyond the instruction it executes. [exchange §8 H]
pub const FETCH_AHEAD: u32 = 64;

/// The units that conflict with each other in everything but a worker's single instruction:
/// elements 0 to 12 of region 0, then pairs 13 to 25 of region 1. [exchange §8 V]
pub const EXCLUSION_UNITS: u32 = PLAIN_ELEMENTS + (END.0 - INTERLEAVED.0) / PAIR_BYTES;

/// Whether all of `bytes` bytes from `at` lie in tile memory.
#[inline]
pub const fn contains(at: ByteAddr, bytes: u32) -> bool {
    at.0 >= BASE.0 && at.0 <= END.0 && bytes <= END.0 - at.0
}

/// Whether an instruction may be fetched from `at`. [isa-core §1.6 obs]
#[inline]
pub const fn is_executable(at: ByteAddr) -> bool {
    at.0 >= BASE.0 && at.0 < INTERLEAVED.0 && at.0.is_multiple_of(4)
}

/// The exclusion unit of a byte of tile memory, below [`EXCLUSION_UNITS`]. [exchange §8 V]
///
/// # Panics
///
/// When `at` is not in tile memory.
#[inline]
pub const fn exclusion_unit(at: ByteAddr) -> u32 {
    assert!(
        contains(at, 1),
        "an address outside tile memory has no element"
    );
    if at.0 < INTERLEAVED.0 {
        (at.0 - BASE.0) / ELEMENT_BYTES
    } else {
        PLAIN_ELEMENTS + (at.0 - INTERLEAVED.0) / PAIR_BYTES
    }
}

/// The element a worker's access goes to: in region 1 the two elements of a pair alternate on
/// address bit 3. [isa-core §3.1 code]
///
/// # Panics
///
/// When `at` is not in tile memory.
#[inline]
pub const fn element(at: ByteAddr) -> u32 {
    assert!(
        contains(at, 1),
        "an address outside tile memory has no element"
    );
    if at.0 < INTERLEAVED.0 {
        (at.0 - BASE.0) / ELEMENT_BYTES
    } else {
        PLAIN_ELEMENTS + 2 * ((at.0 - INTERLEAVED.0) / PAIR_BYTES) + ((at.0 >> 3) & 1)
    }
}

/// The first byte of exclusion unit `unit`.
pub const fn unit_start(unit: u32) -> ByteAddr {
    if unit < PLAIN_ELEMENTS {
        ByteAddr(BASE.0 + unit * ELEMENT_BYTES)
    } else {
        ByteAddr(INTERLEAVED.0 + (unit - PLAIN_ELEMENTS) * PAIR_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_tile_the_memory() {
        assert_eq!(BYTES, 624 * 1024);
        assert_eq!(EXCLUSION_UNITS, 26);
        assert_eq!(element(BASE), 0);
        assert_eq!(element(ByteAddr(0x7_FFFC)), 12);
        assert_eq!(element(ByteAddr(0x8_0000)), 13);
        assert_eq!(element(ByteAddr(0x8_0008)), 14);
        assert_eq!(element(ByteAddr(0xE_7FF8)), 38);
        assert_eq!(exclusion_unit(ByteAddr(0xE_7FF8)), EXCLUSION_UNITS - 1);
        for unit in 0..EXCLUSION_UNITS {
            assert_eq!(exclusion_unit(unit_start(unit)), unit);
        }
    }
}
