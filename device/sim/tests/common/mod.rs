//! What several tests build rows with.
#![allow(dead_code, reason = "no test file uses all of it")]

use tilekiln_chip::PhysTile;
use tilekiln_chip::exchange::{MUX_NEUTRAL, ROW_RETURN};
use tilekiln_sim::exchange::rows::TileRow;

/// Builds a row event by event.
pub struct Row {
    tile: PhysTile,
    /// The event behind what was said so far.
    pub now: u32,
    words: Vec<u32>,
}

pub const NEUTRAL: u32 = MUX_NEUTRAL;

impl Row {
    pub fn of(tile: PhysTile) -> Self {
        Self {
            tile,
            now: 0,
            words: Vec::new(),
        }
    }

    pub fn until(mut self, event: u32) -> Self {
        if event > self.now {
            self.words.push(0x40a0_0000 | (event - self.now - 1));
            self.now = event;
        }
        assert_eq!(self.now, event, "the row is already later");
        self
    }

    pub fn xpic(self, stamp: u32, select: u32, value: u32) -> Self {
        let mut row = self.until(stamp - 1);
        row.words.push(0x6400_0000 | select << 13 | value);
        row.now = stamp;
        row
    }

    pub fn mux(self, stamp: u32, source: u32) -> Self {
        self.xpic(stamp, 0, source)
    }

    pub fn pic(self, stamp: u32, select: u32, value: u32) -> Self {
        let mut row = self.until(stamp - 1);
        row.words.push(0x6000_0000 | select << 18 | value);
        row.now = stamp;
        row
    }

    pub fn pointer(self, stamp: u32, address: u32) -> Self {
        self.pic(stamp, 0, address / 4)
    }

    /// `send`, then `sendoff` for what it cannot carry.
    pub fn send(self, start: u32, address: u32, items: u32, control: u32) -> Self {
        let unit = if control & 4 == 0 { 4 } else { 8 };
        let mut row = self.until(start);
        let first = items.min(64);
        row.words
            .push(0x7800_0000 | (first - 1) << 21 | ((address / unit) << 3) | control);
        if items > first {
            let rest = items - first - 1;
            row.words
                .push(0x7000_0000 | (rest & 63) << 21 | rest >> 6 << 14 | control);
        }
        row.now += items;
        row
    }

    pub fn end(self, event: u32) -> TileRow {
        let mut row = self.until(event);
        row.words.push(ROW_RETURN);
        TileRow::new(row.tile, row.words)
    }
}

pub fn physical(number: u16) -> PhysTile {
    PhysTile::new(number).unwrap()
}
