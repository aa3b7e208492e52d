//! `route-timing.tsv`: where a word goes and how long it takes.

use tilekiln_chip::TileId;
use tilekiln_chip::exchange::{POINTER_LEAD, POINTER_LEAD_PER_ROW};
use tilekiln_chip::topology::{direction, time_to_mux};

use super::tally::{BadFile, Tally, rows};

/// Each line: two tiles by both of their numbers, direction, time to multiplexer, first stamps.
pub fn check(text: &str) -> Result<Tally, BadFile> {
    let mut tally = Tally::default();
    // The first line names the columns.
    for row in rows(text, 8)?.iter().skip(1) {
        let want = row.join(" ");
        let [source, destination] = [tile(row[0])?, tile(row[1])?];
        let (from, to) = (source.physical(), destination.physical());
        let time = time_to_mux(from, to);
        // The earliest legal start, and the stamps that go with it. [exchange §3.2]
        let start = 0.max(-time);
        let select = start + time + 1;
        let pointer = select + (POINTER_LEAD + POINTER_LEAD_PER_ROW * u32::from(to.row())) as i32;
        let (from_index, to_index) = (from.index(), to.index());
        let way = direction(from, to) as u8;
        let got = format!(
            "{} {} {from_index} {to_index} {way} {time} {select} {pointer}",
            source.index(),
            destination.index(),
        );
        tally.compare(&format!("{} to {}", row[0], row[1]), &got, &want);
    }
    Ok(tally)
}

fn tile(index: &str) -> Result<TileId, BadFile> {
    let number = index.parse().ok().and_then(TileId::new);
    number.ok_or_else(|| BadFile(format!("`{index}` is no logical tile")))
}
