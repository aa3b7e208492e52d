//! A phase of the size the checked-in graph has: words a second through the fabric.

use divan::counter::ItemsCount;
use tilekiln_chip::exchange::{MUX_NEUTRAL, POINTER_LEAD, POINTER_LEAD_PER_ROW, ROW_RETURN};
use tilekiln_chip::topology::time_to_mux;
use tilekiln_chip::{ByteAddr, PhysTile, TileId};
use tilekiln_sim::exchange::rows::{RowProblem, TileRow, run_rows};
use tilekiln_sim::settings::Settings;

fn main() {
    divan::main();
}

/// Words of one message.
const WORDS: u32 = 4000;
/// Tiles that tell each other everything.
const GROUP: u16 = 6;
/// Groups.
const GROUPS: u16 = 224;

/// A timed word and the event behind it.
struct Row {
    now: u32,
    words: Vec<u32>,
}

impl Row {
    fn until(&mut self, event: u32) {
        if event > self.now {
            self.words.push(0x40a0_0000 | (event - self.now - 1));
            self.now = event;
        }
    }

    fn control(&mut self, stamp: u32, word: u32) {
        self.until(stamp - 1);
        self.words.push(word);
        self.now = stamp;
    }

    fn send(&mut self, start: u32, address: u32) {
        self.until(start);
        let rest = WORDS - 64 - 1;
        self.words
            .push(0x7800_0000 | 63 << 21 | (address / 4) << 3 | 3);
        self.words
            .push(0x7000_0000 | (rest & 63) << 21 | (rest >> 6) << 14 | 3);
        self.now += WORDS;
    }
}

/// Every tile of a group sends in turn; the others receive.
fn group(number: u16, rows: &mut Vec<TileRow>) {
    let tile = |member: u16| {
        TileId::new(number * GROUP + member)
            .expect("in range")
            .physical()
    };
    let slot = |turn: u16| 200 + u32::from(turn) * (WORDS + 300);
    for member in 0..GROUP {
        let own = tile(member);
        let lead = POINTER_LEAD + POINTER_LEAD_PER_ROW * u32::from(own.row());
        let mut row = Row {
            now: 0,
            words: Vec::new(),
        };
        for turn in 0..GROUP {
            let source: PhysTile = tile(turn);
            if turn == member {
                row.send(slot(turn), 0x6_0000);
                continue;
            }
            let x = slot(turn).wrapping_add_signed(time_to_mux(source, own) + 1);
            row.control(x, 0x6400_0000 | u32::from(source.index()));
            let to = 0x8_0000 + u32::from(turn) * 0x4000;
            row.control(x + lead, 0x6000_0000 | (to / 4));
            row.control(x + WORDS, 0x6400_0000 | MUX_NEUTRAL);
        }
        row.until(slot(GROUP) + 400);
        row.words.push(ROW_RETURN);
        rows.push(TileRow {
            at: ByteAddr(0x4_C000),
            ..TileRow::new(own, row.words)
        });
    }
}

#[divan::bench(sample_count = 5)]
fn a_large_phase(bencher: divan::Bencher) {
    let mut rows = Vec::new();
    for number in 0..GROUPS {
        group(number, &mut rows);
    }
    let problem = RowProblem {
        rows,
        ..RowProblem::default()
    };
    let words = u64::from(GROUP) * u64::from(GROUP - 1) * u64::from(GROUPS) * u64::from(WORDS);
    bencher.counter(ItemsCount::new(words)).bench(|| {
        let run = run_rows(&problem, &Settings::default());
        run.map(|run| run.facts.delivered)
            .map_err(|faults| faults[0].to_string())
    });
    let run = run_rows(&problem, &Settings::default());
    assert_eq!(
        run.map(|run| run.facts.delivered)
            .map_err(|f| f[0].to_string()),
        Ok(words)
    );
}
