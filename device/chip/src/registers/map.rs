//! The whole map of the config window, as far as it is known: blocks, registers, fields.
//! [host-driver §4, §5; host-registers.json]
//!
//! What the runner and the virtual card use has a constant of its own in [`super`]; this table is
//! what a reader of a register trace needs.

use Access::{ClearOnes, Read, ReadWrite, Unknown, Write};
use Basis::{Hardware, Inferred};

/// What supports an entry. [host-registers.json, legend]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// Verified on hardware.
    Hardware,
    /// Inferred from order, spacing and captured values.
    Inferred,
}

/// How a register is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Read and written.
    ReadWrite,
    /// Reads latched bits; writing ones clears them.
    ClearOnes,
    /// Nobody says.
    Unknown,
}

/// A run of the window that belongs together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// First byte.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Its name.
    pub name: &'static str,
    /// What supports it.
    pub basis: Basis,
}

/// A run of bits of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Highest bit.
    pub high: u8,
    /// Lowest bit.
    pub low: u8,
}

/// A register with an address of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// Byte offset in the window, or in the block for the registers of a template.
    pub offset: u32,
    /// Its name.
    pub name: &'static str,
    /// How it is accessed.
    pub access: Access,
    /// What supports it.
    pub basis: Basis,
    /// Its fields, where their bits are known.
    pub fields: &'static [Field],
}

const fn block(base: u32, bytes: u32, name: &'static str, basis: Basis) -> Block {
    Block {
        base,
        bytes,
        name,
        basis,
    }
}

const fn at(
    offset: u32,
    name: &'static str,
    access: Access,
    basis: Basis,
    fields: &'static [Field],
) -> Register {
    Register {
        offset,
        name,
        access,
        basis,
        fields,
    }
}

const fn bits(name: &'static str, high: u8, low: u8) -> Field {
    assert!(
        low <= high && high < 32,
        "a field lies in its word, lowest bit last"
    );
    Field { name, high, low }
}

/// Every block, by address.
#[rustfmt::skip] // One block a line: the columns are the point.
pub const BLOCKS: &[Block] = &[
    block(0x0000,   0x2000,   "PCI_DBI",                         Inferred),
    block(0x2000,   0x1000,   "PCI_COMPLEX (management page)",   Inferred),
    block(0x3000,   0x1000,   "PCI_COMPLEX (host page)",         Inferred),
    block(0x4000,   0x0400,   "SS",                              Inferred),
    block(0x4400,   0x0400,   "SXP_N_ENC_A",                     Inferred),
    block(0x4800,   0x0400,   "SXP_N_ENC_B",                     Inferred),
    block(0x4c00,   0x0400,   "SXP_N_DEC_C",                     Inferred),
    block(0x5000,   0x0400,   "SXP_N_DEC_D",                     Inferred),
    block(0x5400,   0x0400,   "XB_W_0",                          Hardware),
    block(0x5800,   0x0400,   "XB_W_1",                          Hardware),
    block(0x5c00,   0x0400,   "XB_W_2",                          Hardware),
    block(0x6000,   0x0400,   "XB_W_3",                          Hardware),
    block(0x6400,   0x0400,   "XB_W_4",                          Hardware),
    block(0x6800,   0x0400,   "XB_W_5",                          Hardware),
    block(0x6c00,   0x0400,   "XB_W_6",                          Hardware),
    block(0x7000,   0x0400,   "XB_W_7",                          Hardware),
    block(0x7400,   0x0400,   "SXP_S_ENC_A",                     Inferred),
    block(0x7800,   0x0400,   "SXP_S_ENC_B",                     Inferred),
    block(0x7c00,   0x0400,   "SXP_S_DEC_C",                     Inferred),
    block(0x8000,   0x0400,   "SXP_S_DEC_D",                     Inferred),
    block(0x8400,   0x2400,   "NLC_W_1B",                        Inferred),
    block(0xa800,   0x2400,   "NLC_W_1C",                        Inferred),
    block(0xcc00,   0x0400,   "TR_W_1X",                         Inferred),
    block(0xd000,   0x0400,   "TR_W_1C",                         Inferred),
    block(0xd400,   0x0400,   "TR_W_1B",                         Inferred),
    block(0xd800,   0x0400,   "TR_W_PCI_SEC",                    Inferred),
    block(0xdc00,   0x0400,   "TR_W_7",                          Inferred),
    block(0xe000,   0x0400,   "TR_W_6",                          Inferred),
    block(0xe400,   0x0400,   "TR_W_5",                          Inferred),
    block(0xe800,   0x0400,   "TR_W_4",                          Inferred),
    block(0xec00,   0x0400,   "TR_W_3",                          Inferred),
    block(0xf000,   0x0400,   "TR_W_2",                          Inferred),
    block(0xf400,   0x0400,   "TR_W_1",                          Inferred),
    block(0xf800,   0x0400,   "TR_W_0",                          Inferred),
    block(0xfc00,   0x0400,   "TR_W_PCI",                        Inferred),
    block(0x1_0000, 0x2400,   "NLC_W_0B",                        Inferred),
    block(0x1_2400, 0x2400,   "NLC_W_0C",                        Inferred),
    block(0x1_4800, 0x2400,   "NLC_E_2C",                        Inferred),
    block(0x1_6c00, 0x2400,   "NLC_E_2B",                        Inferred),
    block(0x1_9000, 0x2400,   "NLC_E_2A",                        Inferred),
    block(0x1_b400, 0x0400,   "SS_E",                            Inferred),
    block(0x1_b800, 0x0400,   "XB_E_0",                          Hardware),
    block(0x1_bc00, 0x0400,   "XB_E_1",                          Hardware),
    block(0x1_c000, 0x0400,   "XB_E_2",                          Hardware),
    block(0x1_c400, 0x0400,   "XB_E_3",                          Hardware),
    block(0x1_c800, 0x0400,   "XB_E_4",                          Hardware),
    block(0x1_cc00, 0x0400,   "XB_E_5",                          Hardware),
    block(0x1_d000, 0x0400,   "XB_E_6",                          Hardware),
    block(0x1_d400, 0x0400,   "XB_E_7",                          Hardware),
    block(0x1_d800, 0x2400,   "NLC_E_3A",                        Inferred),
    block(0x1_fc00, 0x2400,   "NLC_E_3B",                        Inferred),
    block(0x2_2000, 0x2400,   "NLC_E_3C",                        Inferred),
    block(0x2_4400, 0x0400,   "TR_E_3X",                         Inferred),
    block(0x2_4800, 0x0400,   "TR_E_3C",                         Inferred),
    block(0x2_4c00, 0x0400,   "TR_E_3B",                         Inferred),
    block(0x2_5000, 0x0400,   "TR_E_3A",                         Inferred),
    block(0x2_5400, 0x0400,   "TR_E_7",                          Inferred),
    block(0x2_5800, 0x0400,   "TR_E_6",                          Inferred),
    block(0x2_5c00, 0x0400,   "TR_E_5",                          Inferred),
    block(0x2_6000, 0x0400,   "TR_E_4",                          Inferred),
    block(0x2_6400, 0x0400,   "TR_E_3",                          Inferred),
    block(0x2_6800, 0x0400,   "TR_E_2",                          Inferred),
    block(0x2_6c00, 0x0400,   "TR_E_1",                          Inferred),
    block(0x2_7000, 0x0400,   "TR_E_0",                          Inferred),
    block(0x2_7400, 0x0400,   "TR_E_2A",                         Inferred),
    block(0x2_7800, 0x0400,   "TR_E_2B",                         Inferred),
    block(0x2_7c00, 0x0400,   "TR_E_2C",                         Inferred),
    block(0x2_8000, 0x0400,   "TR_E_2X",                         Inferred),
    block(0x2_8400, 0x0400,   "TR_W_0X",                         Inferred),
    block(0x2_8800, 0x0400,   "TR_W_0C",                         Inferred),
    block(0x2_8c00, 0x0400,   "TR_W_0B",                         Inferred),
    block(0x3_0000, 0x1_7000, "TDI",                             Hardware),
];

/// Registers that stand alone, by address; those of the tile debug interface are [`super::Tdi`].
#[rustfmt::skip] // One register a line: the columns are the point.
pub const REGISTERS: &[Register] = &[
    at(0x2000,   "CCSR",                  ReadWrite, Hardware,        &[bits("CPLMODE", 0, 0), bits("NOSNOOP", 1, 1), bits("DUALPCI", 2, 2), bits("ELINKECRCEN", 10, 10)]),
    at(0x2004,   "CIUERRVR",              ClearOnes, Inferred,        &[bits("SOC0PGMERR", 0, 0), bits("SOC1PGMERR", 1, 1), bits("ELINKPGMERR", 2, 2), bits("HEXOVERFLOWERR", 3, 3), bits("MCUPGMERR", 4, 4), bits("SOC0SOFTERR", 5, 5), bits("SOC1SOFTERR", 6, 6), bits("ELINKSOFTERR", 7, 7), bits("IPUSOFTERR", 8, 8), bits("NMLINKDN0", 9, 9), bits("NMLINKDN1", 10, 10), bits("MCUSOFTERR", 11, 11)]),
    at(0x2010,   "CMGMTEVMSKR",           ReadWrite, Inferred,        &[bits("CPORTERR", 2, 2), bits("PCIERR", 6, 6), bits("PMTURNOFF", 10, 10), bits("SECEXP", 12, 12)]),
    at(0x2068,   "AUTOLDCSR",             ReadWrite, Hardware,        &[bits("LOADPTR", 5, 0), bits("GO", 8, 8), bits("CURNTTILE", 19, 9), bits("DATAPRESENT", 20, 20)]),
    at(0x206c,   "AUTOLDTRGTR",           ReadWrite, Hardware,        &[bits("STARTADDR_19_10", 9, 0), bits("ENDADDR_19_10", 19, 10), bits("ZONE", 25, 20)]),
    at(0x2070,   "AUTOLDDATAR",           Write,     Hardware,        &[bits("DATA", 31, 0)]),
    at(0x302c,   "HSPGS1CR",              ReadWrite, Hardware,        &[bits("MARK", 15, 0)]),
    at(0x3030,   "HSPGS2CR",              ReadWrite, Hardware,        &[bits("MARK", 15, 0)]),
    at(0x3034,   "HEXOPTDBGI",            Unknown,   Inferred,        &[]),
    at(0x3038,   "HEXOPTDBGD",            Unknown,   Inferred,        &[]),
    at(0x303c,   "HSPGS1LR",              Unknown,   Inferred,        &[]),
    at(0x3040,   "HSPGS2LR",              Unknown,   Inferred,        &[]),
    at(0x3044,   "EXCHWINDOWBASER",       ReadWrite, Hardware,        &[bits("INDEX", 10, 0), bits("HEXOPT", 11, 11)]),
    at(0x4000,   "SILSETPCI",             ReadWrite, Inferred,        &[]),
    at(0x4004,   "SILSETSYS",             ReadWrite, Inferred,        &[]),
    at(0x4008,   "SILSETIPU",             ReadWrite, Inferred,        &[]),
    at(0x400c,   "TILEREPAIR_0_5",        ReadWrite, Inferred,        &[]),
    at(0x4010,   "TILEREPAIR_6_11",       ReadWrite, Inferred,        &[]),
    at(0x4014,   "TILEREPAIR_12_15",      ReadWrite, Inferred,        &[]),
    at(0x4018,   "SILSETPVT0CR",          ReadWrite, Inferred,        &[]),
    at(0x401c,   "SILSETPVT1CR",          ReadWrite, Inferred,        &[]),
    at(0x4020,   "SILSETPVT2CR",          ReadWrite, Inferred,        &[]),
    at(0x4024,   "SILSETSYSPLLBWAR",      ReadWrite, Inferred,        &[]),
    at(0x4028,   "SILSETSIPUPLLBWAR",     ReadWrite, Inferred,        &[]),
    at(0x402c,   "SILSETFIPUPLLBWAR",     ReadWrite, Inferred,        &[]),
    at(0x4030,   "SYSPLLCR",              ReadWrite, Inferred,        &[]),
    at(0x4034,   "SIPUPLLCR",             ReadWrite, Inferred,        &[]),
    at(0x4038,   "FIPUPLLCR",             ReadWrite, Inferred,        &[]),
    at(0x403c,   "SYSCR",                 ReadWrite, Inferred,        &[bits("IPURSTN", 0, 0), bits("SYSCLKSRC", 2, 1), bits("IPUCLKSRC", 4, 3)]),
    at(0x4040,   "SYSSR",                 Read,      Inferred,        &[]),
    at(0x4044,   "IPUCLKCOUNTLSBR",       Read,      Inferred,        &[]),
    at(0x4048,   "IPUCLKCOUNTMSBR",       Read,      Inferred,        &[]),
    at(0x404c,   "GSPCR",                 ReadWrite, Inferred,        &[bits("_ERROR", 31, 31)]),
    at(0x4050,   "GSPSR or GSPCR2",       ReadWrite, Inferred,        &[]),
    at(0x1_b400, "PVTECR",                ReadWrite, Inferred,        &[]),
];

/// Registers of every XB block, from its base.
#[rustfmt::skip] // One register a line: the columns are the point.
pub const XB: &[Register] = &[
    at(0x0000,   "CSR",                   ReadWrite, Inferred,        &[bits("EN", 0, 0), bits("ECRCEN", 1, 1), bits("PCIROUTING", 2, 2), bits("_ERROR", 31, 31)]),
    at(0x0004,   "DCXCR",                 ReadWrite, Inferred,        &[bits("DCXHWM", 2, 0), bits("DCX0XREQID", 8, 3), bits("DCX1XREQID", 14, 9), bits("DCX2XREQID", 20, 15), bits("DCX3XREQID", 26, 21)]),
    at(0x0008,   "XERDR",                 ReadWrite, Inferred,        &[bits("NORTH", 15, 0), bits("SOUTH", 31, 16)]),
];

/// Registers of every TR block, from its base.
#[rustfmt::skip] // One register a line: the columns are the point.
pub const TR: &[Register] = &[
    at(0x0000,   "CSR",                   ReadWrite, Inferred,        &[bits("TREN", 0, 0), bits("_ERROR", 31, 31)]),
    at(0x0004,   "XEGRNR",                ReadWrite, Inferred,        &[]),
    at(0x0008,   "XEGRSR",                ReadWrite, Inferred,        &[]),
    at(0x000c,   "XIGLRR",                ReadWrite, Inferred,        &[]),
];

/// Registers of every NLC block, from its base.
#[rustfmt::skip] // One register a line: the columns are the point.
pub const NLC: &[Register] = &[
    at(0x2000,   "CSR",                   ReadWrite, Inferred,        &[bits("EN", 0, 0), bits("CORERROR", 24, 24), bits("_ERROR", 31, 31)]),
    at(0x2008,   "XERDR",                 ReadWrite, Inferred,        &[bits("NORTH", 15, 0), bits("SOUTH", 31, 16)]),
];

/// The block that `offset` lies in.
pub fn block_at(offset: u32) -> Option<&'static Block> {
    BLOCKS
        .iter()
        .find(|block| offset >= block.base && offset - block.base < block.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::{
        EXCHANGE_WINDOW, MARK_GS1, MARK_GS2, TDI_BASE, TDI_STRIDE, WINDOW_BYTES,
    };

    #[test]
    fn blocks_lie_in_the_window_and_apart() {
        for pair in BLOCKS.windows(2) {
            assert!(pair[0].base + pair[0].bytes <= pair[1].base, "{pair:?}");
        }
        let last = BLOCKS[BLOCKS.len() - 1];
        assert!(last.base + last.bytes <= WINDOW_BYTES);
    }

    #[test]
    fn registers_lie_in_blocks_and_their_fields_apart() {
        for pair in REGISTERS.windows(2) {
            assert!(pair[0].offset < pair[1].offset, "{pair:?}");
        }
        for register in REGISTERS {
            assert!(block_at(register.offset).is_some(), "{}", register.name);
            let mut seen = 0u32;
            for field in register.fields {
                let mask = (u32::MAX >> (31 - field.high)) & (u32::MAX << field.low);
                assert_eq!(seen & mask, 0, "{} {}", register.name, field.name);
                seen |= mask;
            }
        }
    }

    #[test]
    fn the_registers_in_use_are_in_the_map() {
        let named = [
            (MARK_GS1, "HSPGS1CR"),
            (MARK_GS2, "HSPGS2CR"),
            (EXCHANGE_WINDOW, "EXCHWINDOWBASER"),
        ];
        for (offset, name) in named {
            assert!(
                REGISTERS
                    .iter()
                    .any(|r| r.offset == offset && r.name == name),
                "{name}"
            );
        }
        let debug = block_at(TDI_BASE).expect("tiles have a debug interface");
        assert_eq!(debug.bytes, u32::from(crate::TILE_COUNT) * TDI_STRIDE);
    }
}
