//! Reading operands of the aux lane as lanes, and writing lanes as results. [isa-float §2]

use crate::exec::{AuxResult, AuxState};

/// The two halves of a register.
#[inline(always)]
pub(crate) const fn split(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}

/// A register of two halves.
#[inline(always)]
pub(crate) const fn join(lanes: [u16; 2]) -> u32 {
    lanes[0] as u32 | (lanes[1] as u32) << 16
}

impl AuxState<'_> {
    /// A register.
    #[inline(always)]
    pub(crate) fn reg(&self, number: u32) -> u32 {
        self.a[number as usize & 15]
    }

    /// A pair of registers.
    #[inline(always)]
    pub(crate) fn reg_pair(&self, number: u32) -> [u32; 2] {
        let first = number as usize & 14;
        [self.a[first], self.a[first + 1]]
    }

    /// Four registers.
    #[inline(always)]
    pub(crate) fn reg_quad(&self, number: u32) -> [u32; 4] {
        let first = number as usize & 12;
        [
            self.a[first],
            self.a[first + 1],
            self.a[first + 2],
            self.a[first + 3],
        ]
    }

    /// The halves of a register.
    #[inline(always)]
    pub(crate) fn halves2(&self, number: u32) -> [u16; 2] {
        split(self.reg(number))
    }

    /// The halves of a pair.
    #[inline(always)]
    pub(crate) fn halves4(&self, number: u32) -> [u16; 4] {
        let [low, high] = self.reg_pair(number).map(split);
        [low[0], low[1], high[0], high[1]]
    }
}

impl AuxResult {
    /// No register.
    #[inline(always)]
    pub(crate) const fn nothing() -> Self {
        Self {
            first: 0,
            count: 0,
            values: [0; 4],
            slots: 1,
        }
    }

    /// One register.
    #[inline(always)]
    pub(crate) const fn one(number: u32, value: u32) -> Self {
        Self {
            first: number as u8,
            count: 1,
            values: [value, 0, 0, 0],
            slots: 1,
        }
    }

    /// A pair of registers.
    #[inline(always)]
    pub(crate) const fn pair(number: u32, values: [u32; 2]) -> Self {
        Self {
            first: number as u8,
            count: 2,
            values: [values[0], values[1], 0, 0],
            slots: 1,
        }
    }

    /// A pair of registers from four halves.
    #[inline(always)]
    pub(crate) const fn halves4(number: u32, lanes: [u16; 4]) -> Self {
        Self::pair(
            number,
            [join([lanes[0], lanes[1]]), join([lanes[2], lanes[3]])],
        )
    }

    /// The same result after `slots` issue slots.
    #[inline(always)]
    pub(crate) const fn after(self, slots: u8) -> Self {
        Self { slots, ..self }
    }
}
