//! Phases as text: `0>2 x4` is four words from tile 0 to tile 2.
//!
//! `0>2,5@65000=70000,71000 x4` also says where they lie: at 0x65000 on the sender, at 0x70000 and
//! 0x71000 on the receivers; with fewer places than receivers the last one counts for the rest.
//! Without places each tile sends from 0x60000 up and receives from 0xa0000 up, one behind the
//! other.

use tilekiln_chip::{ByteAddr, TILE_COUNT, TileId};
use tilekiln_isa::{Mode, print};

use crate::plan::{Exchange, Transfer, Width};
use crate::schedule::Phase;

fn tile(text: &str) -> TileId {
    TileId::new(text.parse().expect("a tile is a number")).expect("the chip has the tile")
}

fn hex(text: &str) -> ByteAddr {
    ByteAddr(u32::from_str_radix(text, 16).expect("a place is hexadecimal"))
}

/// Reads a phase.
pub(in crate::schedule) fn exchange(text: &str) -> Exchange {
    let mut next = [
        vec![0x6_0000; usize::from(TILE_COUNT)],
        vec![0xA_0000; usize::from(TILE_COUNT)],
    ];
    let mut place = |side: usize, tile: TileId, words: u32| {
        let next = &mut next[side][usize::from(tile.index())];
        let at = ByteAddr(*next);
        *next += 4 * words;
        at
    };
    let mut transfers = Vec::new();
    let mut tokens = text.split_whitespace();
    while let (Some(ends), Some(count)) = (tokens.next(), tokens.next()) {
        let words = count
            .trim_start_matches('x')
            .parse()
            .expect("a count is a number");
        let (ends, to) = ends.split_once('=').unwrap_or((ends, ""));
        let (ends, from) = ends.split_once('@').unwrap_or((ends, ""));
        let (source, receivers) = ends.split_once('>').expect("a transfer has two ends");
        let source = tile(source);
        let to: Vec<&str> = to.split(',').filter(|place| !place.is_empty()).collect();
        let receivers = receivers
            .split(',')
            .filter(|receiver| !receiver.is_empty())
            .map(tile);
        let destinations = receivers.enumerate().map(|(index, receiver)| {
            let given = to.get(index).or(to.last()).map(|place| hex(place));
            (receiver, given.unwrap_or_else(|| place(1, receiver, words)))
        });
        let destinations: Vec<_> = destinations.collect();
        let from = if from.is_empty() {
            place(0, source, words)
        } else {
            hex(from)
        };
        transfers.push(Transfer {
            source,
            from,
            words,
            width: Width::Single,
            destinations,
        });
    }
    Exchange {
        name: "test".into(),
        transfers,
    }
}

/// When every transfer starts.
pub(in crate::schedule) fn times(exchange: &Exchange, phase: &Phase) -> String {
    let mut text = String::new();
    for (transfer, start) in exchange.transfers.iter().zip(&phase.starts) {
        let to: Vec<String> = transfer
            .destinations
            .iter()
            .map(|it| it.0.to_string())
            .collect();
        let (source, words) = (transfer.source, transfer.words);
        text += &format!("{start}  {source} > {}  x{words}\n", to.join(", "));
    }
    text + &format!("horizon {}\n", phase.horizon.0)
}

/// The rows, with the event at which each instruction starts.
pub(in crate::schedule) fn listing(_: &Exchange, phase: &Phase) -> String {
    let mut text = String::new();
    for row in &phase.rows {
        text += &format!("{}, {}\n", row.tile, row.events);
        let mut index = 0;
        while let Some(&word) = row.words.get(index) {
            let second = row.words.get(index + 1).copied();
            let (shown, bytes) = print::words(word, second, Mode::Supervisor);
            text += &format!("{index:4} {word:08x}  {shown}\n");
            index += bytes as usize / 4;
        }
    }
    text
}
