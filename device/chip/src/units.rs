//! Quantities as types: tiles, addresses, cycles, events.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use crate::TILE_COUNT;

/// A tile, by its logical number.
///
/// The exchange fabric counts tiles differently; that number is a [`PhysTile`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TileId(u16);

impl TileId {
    /// The only way in: `None` unless `index` is below [`TILE_COUNT`].
    pub const fn new(index: u16) -> Option<Self> {
        if index < TILE_COUNT {
            Some(Self(index))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn index(self) -> u16 {
        self.0
    }

    /// All tiles in order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..TILE_COUNT).map(Self)
    }
}

impl fmt::Display for TileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile {}", self.0)
    }
}

/// A tile, by the number the fabric and the card know it by. [exchange §1.1 V]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PhysTile(u16);

impl PhysTile {
    /// The only way in: `None` unless `index` is below [`TILE_COUNT`].
    pub const fn new(index: u16) -> Option<Self> {
        if index < TILE_COUNT {
            Some(Self(index))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn index(self) -> u16 {
        self.0
    }

    /// All tiles in order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..TILE_COUNT).map(Self)
    }
}

impl fmt::Display for PhysTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "physical tile {}", self.0)
    }
}

/// A byte address in tile memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ByteAddr(pub u32);

impl ByteAddr {
    /// `None` when the address is not a multiple of four.
    pub const fn word(self) -> Option<WordAddr> {
        if self.0.is_multiple_of(4) {
            Some(WordAddr(self.0 / 4))
        } else {
            None
        }
    }

    /// The address `bytes` further up.
    ///
    /// # Panics
    ///
    /// When the sum leaves 32 bits.
    pub const fn offset(self, bytes: u32) -> Self {
        match self.0.checked_add(bytes) {
            Some(sum) => Self(sum),
            None => panic!("an address left 32 bits"),
        }
    }

    /// The lowest multiple of `alignment` that is not below this address.
    pub const fn align_up(self, alignment: u32) -> Self {
        Self(self.0.next_multiple_of(alignment))
    }
}

impl fmt::Display for ByteAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The address of a 4-byte word: what `send` and the incoming pointer count in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WordAddr(pub u32);

impl WordAddr {
    /// The same place as a byte address.
    pub const fn byte(self) -> ByteAddr {
        ByteAddr(self.0 * 4)
    }
}

/// A count of tile clock cycles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cycles(pub u64);

impl Add for Cycles {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Cycles {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cycles", self.0)
    }
}

/// A moment on the exchange timeline, counted from the phase's entry sync on the tile's own clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Event(pub u32);

/// A distance on the exchange timeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Events(pub u32);

impl Add<Events> for Event {
    type Output = Self;
    fn add(self, distance: Events) -> Self {
        Self(self.0 + distance.0)
    }
}

impl Add for Events {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Event {
    type Output = Events;
    fn sub(self, earlier: Self) -> Events {
        Events(self.0 - earlier.0)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}", self.0)
    }
}

impl fmt::Display for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events", self.0)
    }
}
