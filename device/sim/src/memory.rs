//! The memory of a tile: elements allocated when first written, garbage before, and a note of
//! which code bytes changed. [isa-core §3]

use core::ops::Range;

use tilekiln_chip::memory::{BASE, BYTES, ELEMENT_BYTES, END, INTERLEAVED};
use tilekiln_chip::{ByteAddr, PhysTile, memory};

use crate::settings::{Settings, garbage};
use crate::stop::Fault;

/// Byte addresses have 21 bits. [A-CSR0]
pub(crate) const ADDRESS: u32 = 0x1f_ffff;

/// 64-bit words in a block.
const WORDS: usize = ELEMENT_BYTES as usize / 8;

/// Blocks of [`ELEMENT_BYTES`], by address.
const BLOCKS: usize = (BYTES / ELEMENT_BYTES) as usize;

/// Blocks that may hold code.
pub(crate) const CODE_BLOCKS: usize = ((INTERLEAVED.0 - BASE.0) / ELEMENT_BYTES) as usize;

type Block = [u64; WORDS];

/// What one tile remembers.
#[derive(Clone)]
pub struct Memory {
    blocks: [Option<Box<Block>>; BLOCKS],
    seed: u64,
    stream: u64,
    /// Which blocks hold decoded instructions.
    pub(crate) watched: [bool; CODE_BLOCKS],
    /// Bytes of watched blocks that were written since the last look.
    pub(crate) touched: Vec<Range<u32>>,
}

impl core::fmt::Debug for Memory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let written = self.blocks.iter().filter(|block| block.is_some()).count();
        f.debug_struct("Memory")
            .field("written_blocks", &written)
            .finish_non_exhaustive()
    }
}

/// Block, word within it, and bit within that, of a byte in memory.
const fn place(at: u32) -> (usize, usize, u32) {
    let at = at - BASE.0;
    let (block, word) = (at / ELEMENT_BYTES, at % ELEMENT_BYTES / 8);
    (block as usize, word as usize, at % 8 * 8)
}

impl Memory {
    /// Memory nobody has written yet.
    pub fn new(tile: PhysTile, settings: &Settings) -> Self {
        Self {
            blocks: [const { None }; BLOCKS],
            seed: settings.fill_seed,
            stream: u64::from(tile.index()),
            watched: [false; CODE_BLOCKS],
            touched: Vec::new(),
        }
    }

    /// Copies the bytes from `at` on.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] when one of them does not exist; `into` is then unchanged.
    pub fn read(&self, at: u32, into: &mut [u8]) -> Result<(), Fault> {
        check_range(at, into.len())?;
        let mut at = at;
        let mut rest = into;
        while !rest.is_empty() {
            let (block, word, bit) = place(at);
            let bytes = &self.word(block, word).to_le_bytes()[bit as usize / 8..];
            let count = bytes.len().min(rest.len());
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&bytes[..count]);
            at += count as u32;
            rest = later;
        }
        Ok(())
    }

    /// Stores `bytes` from `at` on.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] when one of them has no place; nothing is then written.
    pub fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), Fault> {
        check_range(at, bytes.len())?;
        let end = at + bytes.len() as u32;
        let (mut at, mut rest) = (at, bytes);
        self.note(at, end);
        while !rest.is_empty() {
            let (block, word, bit) = place(at);
            let first = bit as usize / 8;
            let count = (8 - first).min(rest.len());
            let slot = &mut self.block_mut(block)[word];
            let mut old = slot.to_le_bytes();
            old[first..first + count].copy_from_slice(&rest[..count]);
            *slot = u64::from_le_bytes(old);
            at += count as u32;
            rest = &rest[count..];
        }
        Ok(())
    }

    /// The 32-bit word at `at`.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] and [`Fault::Misaligned`].
    #[inline]
    pub fn load32(&self, at: u32) -> Result<u32, Fault> {
        check(at, 4)?;
        let (block, word, bit) = place(at);
        Ok((self.word(block, word) >> bit) as u32)
    }

    /// The 64-bit word at `at`.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] and [`Fault::Misaligned`].
    #[inline]
    pub fn load64(&self, at: u32) -> Result<u64, Fault> {
        check(at, 8)?;
        let (block, word, _) = place(at);
        Ok(self.word(block, word))
    }

    /// The two 64-bit words at `at`, which must lie in region 1. [isa-core §3.2 doc]
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`], [`Fault::Misaligned`] and [`Fault::NotInterleaved`].
    #[inline]
    pub fn load128(&self, at: u32) -> Result<[u64; 2], Fault> {
        check(at, 16)?;
        if at < INTERLEAVED.0 {
            return Err(Fault::NotInterleaved { at });
        }
        let (block, word, _) = place(at);
        Ok([self.word(block, word), self.word(block, word + 1)])
    }

    /// The 16-bit word at `at`.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] and [`Fault::Misaligned`].
    #[inline]
    pub fn load16(&self, at: u32) -> Result<u16, Fault> {
        check(at, 2)?;
        let (block, word, bit) = place(at);
        Ok((self.word(block, word) >> bit) as u16)
    }

    /// The byte at `at`.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`].
    #[inline]
    pub fn load8(&self, at: u32) -> Result<u8, Fault> {
        check(at, 1)?;
        let (block, word, bit) = place(at);
        Ok((self.word(block, word) >> bit) as u8)
    }

    /// Stores a 32-bit word.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] and [`Fault::Misaligned`]; nothing is then written.
    #[inline]
    pub fn store32(&mut self, at: u32, value: u32) -> Result<(), Fault> {
        check(at, 4)?;
        self.put32(at, value);
        Ok(())
    }

    /// [`Memory::store32`] behind a [`check`].
    #[inline]
    pub(crate) fn put32(&mut self, at: u32, value: u32) {
        self.note(at, at + 4);
        let (block, word, bit) = place(at);
        let slot = &mut self.block_mut(block)[word];
        *slot = *slot & !(0xffff_ffff << bit) | u64::from(value) << bit;
    }

    /// Stores a 64-bit word.
    ///
    /// # Errors
    ///
    /// [`Fault::OutsideMemory`] and [`Fault::Misaligned`]; nothing is then written.
    #[inline]
    pub fn store64(&mut self, at: u32, value: u64) -> Result<(), Fault> {
        check(at, 8)?;
        self.put64(at, value);
        Ok(())
    }

    /// [`Memory::store64`] behind a [`check`].
    #[inline]
    pub(crate) fn put64(&mut self, at: u32, value: u64) {
        self.note(at, at + 8);
        let (block, word, _) = place(at);
        self.block_mut(block)[word] = value;
    }

    #[inline]
    fn word(&self, block: usize, word: usize) -> u64 {
        match &self.blocks[block] {
            Some(words) => words[word % WORDS],
            None => self.garbage(block, word),
        }
    }

    fn garbage(&self, block: usize, word: usize) -> u64 {
        garbage(self.seed, self.stream, (block * WORDS + word) as u64)
    }

    #[inline]
    fn block_mut(&mut self, block: usize) -> &mut Block {
        if self.blocks[block].is_none() {
            self.allocate(block);
        }
        self.blocks[block].as_mut().expect("just allocated")
    }

    #[cold]
    fn allocate(&mut self, block: usize) {
        let words: Vec<u64> = (0..WORDS).map(|word| self.garbage(block, word)).collect();
        let words: Box<[u64]> = words.into_boxed_slice();
        self.blocks[block] = words.try_into().ok();
    }

    /// Remembers that `at..end` changes, if it may hold decoded instructions.
    #[inline]
    fn note(&mut self, at: u32, end: u32) {
        if at < INTERLEAVED.0 {
            let last = end.min(INTERLEAVED.0) - 1;
            let blocks = place(at).0..=place(last).0;
            if self.watched[blocks].contains(&true) {
                self.touched.push(at..last + 1);
            }
        }
    }
}

/// Whether an access exists and is naturally aligned.
///
/// # Errors
///
/// [`Fault::Misaligned`] and [`Fault::OutsideMemory`].
#[inline]
pub const fn check(at: u32, size: u32) -> Result<(), Fault> {
    if !at.is_multiple_of(size) {
        return Err(Fault::Misaligned { at, align: size });
    }
    if at < BASE.0 || at >= END.0 {
        return Err(Fault::OutsideMemory { at, bytes: size });
    }
    Ok(())
}

fn check_range(at: u32, bytes: usize) -> Result<(), Fault> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    if memory::contains(ByteAddr(at), bytes) {
        Ok(())
    } else {
        Err(Fault::OutsideMemory { at, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(seed: u64) -> Memory {
        let settings = Settings {
            fill_seed: seed,
            ..Settings::default()
        };
        Memory::new(PhysTile::new(7).unwrap(), &settings)
    }

    #[test]
    fn unwritten_bytes_are_garbage_that_stays_the_same() {
        let (a, b) = (memory(1), memory(2));
        assert_eq!(a.load64(0x5_0000), a.load64(0x5_0000));
        assert_ne!(a.load64(0x5_0000), b.load64(0x5_0000));
        let mut c = memory(1);
        c.store32(0x5_0008, 5).unwrap();
        assert_eq!(a.load64(0x5_0000), c.load64(0x5_0000));
        assert_eq!(c.load32(0x5_0008), Ok(5));
        assert_eq!(a.load32(0x5_000c), c.load32(0x5_000c));
    }

    #[test]
    fn bytes_are_little_endian_and_cross_blocks() {
        let mut memory = memory(3);
        let bytes: Vec<u8> = (0..40).collect();
        memory.write(0x5_3ff3, &bytes).unwrap();
        let mut back = [0; 40];
        memory.read(0x5_3ff3, &mut back).unwrap();
        assert_eq!(back[..], bytes[..]);
        assert_eq!(memory.load32(0x5_3ff4), Ok(0x0403_0201));
        assert_eq!(memory.load8(0x5_4000), Ok(13));
    }

    #[test]
    fn accesses_are_aligned_and_inside() {
        let mut memory = memory(4);
        assert_eq!(
            memory.load32(0x5_0002),
            Err(Fault::Misaligned {
                at: 0x5_0002,
                align: 4
            })
        );
        assert_eq!(
            memory.load64(0xe_8000),
            Err(Fault::OutsideMemory {
                at: 0xe_8000,
                bytes: 8
            })
        );
        assert_eq!(
            memory.load128(0x7_fff0),
            Err(Fault::NotInterleaved { at: 0x7_fff0 })
        );
        assert!(memory.load128(0x8_0010).is_ok());
        assert!(memory.store32(0x4_bffc, 0).is_err());
        assert!(memory.write(0xe_7ffc, &[0; 5]).is_err());
        assert!(memory.write(0xe_7ffc, &[0; 4]).is_ok());
    }

    #[test]
    fn writes_to_watched_code_are_noted() {
        let mut memory = memory(5);
        memory.store32(0x5_0000, 1).unwrap();
        assert!(memory.touched.is_empty());
        memory.watched[1] = true;
        memory.store32(0x5_0000, 1).unwrap();
        memory.write(0x4_fffe, &[0; 4]).unwrap();
        assert_eq!(memory.touched, [0x5_0000..0x5_0004, 0x4_fffe..0x5_0002]);
    }
}
