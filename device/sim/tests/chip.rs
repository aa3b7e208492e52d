//! The whole chip, and the card around it, with small programs on a few tiles.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{NEUTRAL, Row, physical};
use tilekiln_chip::exchange::POINTER_LEAD;
use tilekiln_chip::registers::{MARK_GS1, MARK_GS2, Tdi, tdi};
use tilekiln_chip::topology::time_to_mux;
use tilekiln_chip::{ByteAddr, PhysTile, memory};
use tilekiln_isa::Mode;
use tilekiln_isa::parse::words;
use tilekiln_sim::card::{Card, HostMemory, Marks, NoHost, Options, Progress, Startup};
use tilekiln_sim::chip::{Chip, Rest};
use tilekiln_sim::exchange::rows::TileRow;
use tilekiln_sim::settings::Settings;

fn code(text: &str) -> Vec<u8> {
    let words = words(text, Mode::Supervisor).unwrap_or_else(|error| panic!("{text}: {error}"));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Machine code by its text: most tiles run the same.
#[derive(Default)]
struct Codes(BTreeMap<String, Vec<u8>>);

impl Codes {
    fn get(&mut self, text: String) -> &[u8] {
        self.0.entry(text).or_insert_with_key(|text| code(text))
    }
}

/// Where the tests put rows: an element of their own.
const ROW: u32 = 0x5_4000;

fn chip_with(program: impl Fn(PhysTile) -> String) -> Chip {
    let mut chip = Chip::new(&Settings::default(), Marks::Arrival);
    let mut codes = Codes::default();
    for tile in &mut chip.tiles {
        let text = program(tile.id);
        tile.memory.write(memory::ENTRY.0, codes.get(text)).unwrap();
    }
    chip
}

fn put_row(chip: &mut Chip, row: &TileRow) {
    let bytes: Vec<u8> = row
        .words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    chip.tiles[usize::from(row.tile.index())]
        .memory
        .write(ROW, &bytes)
        .unwrap();
}

const NEUTRAL_MUX: &str = "setzi $m8, 0x640; put $INCOMING_MUX, $m8";

fn participant() -> String {
    format!("{NEUTRAL_MUX}; sync 3; call $m10, {}; br $m15", ROW / 4)
}

fn bystander() -> String {
    format!("{NEUTRAL_MUX}; sans 0; sync 1; br $m15")
}

/// Physical 0 sends 100 words to everybody else.
fn broadcast() -> Chip {
    let source = physical(0);
    let mut chip = chip_with(|_| participant());
    let (start, items) = (100, 100);
    put_row(
        &mut chip,
        &Row::of(source)
            .send(start, 0x6_0000, items, 3)
            .end(start + items),
    );
    for tile in PhysTile::all().filter(|&tile| tile != source) {
        let x = start.wrapping_add_signed(time_to_mux(source, tile) + 1);
        let lead = POINTER_LEAD + 2 * u32::from(tile.row());
        // The pointer may come any time before the first word.
        let row = Row::of(tile)
            .mux(x, 0)
            .pointer(x + 1, 0x7_0000)
            .mux(x + items, NEUTRAL);
        put_row(&mut chip, &row.end(x + lead + items + 5));
    }
    let data: Vec<u8> = (0..400u32).map(|i| (i * 7) as u8).collect();
    chip.tiles[0].memory.write(0x6_0000, &data).unwrap();
    chip.launch(memory::ENTRY.0);
    chip
}

/// Everything that a run leaves behind, as one number.
fn digest(chip: &Chip) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    let mut eat = |value: u64| sum = (sum ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    for tile in &chip.tiles {
        eat(tile.cycle());
        eat(tile.instructions());
        eat(tile.context_status().into());
        for at in (0x7_0000..0x7_0200).step_by(8) {
            eat(tile.memory.load64(at).unwrap());
        }
    }
    sum
}

#[test]
fn a_broadcast_reaches_every_tile_and_does_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut chip = broadcast();
        let rest = pool.install(|| chip.run(u64::MAX, false, &mut NoHost));
        assert_eq!(rest, Rest::Ended, "{:?}", chip.stops().first());
        chip
    };
    let one = run(1);
    assert_eq!(one.facts().delivered, 1471 * 100);
    assert_eq!(one.facts().internal_barriers, 1);
    for tile in &one.tiles[1..] {
        let mut got = [0; 400];
        tile.memory.read(0x7_0000, &mut got).unwrap();
        assert!(
            got.iter()
                .enumerate()
                .all(|(i, &byte)| byte == (i * 7) as u8),
            "{}",
            tile.id
        );
    }
    let digests = [digest(&one), digest(&run(4)), digest(&run(4))];
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[1], digests[2]);
}

#[test]
fn a_quota_only_decides_where_a_run_pauses() {
    let mut whole = broadcast();
    assert_eq!(whole.run(u64::MAX, false, &mut NoHost), Rest::Ended);
    let mut slices = broadcast();
    let mut limit = 0;
    loop {
        limit += 37;
        match slices.run(limit, true, &mut NoHost) {
            Rest::Limit => {}
            rest => break assert_eq!(rest, Rest::Ended, "{:?}", slices.stops().first()),
        }
    }
    assert_eq!(digest(&whole), digest(&slices));
}

#[test]
fn a_row_that_loses_words_stops_the_chip_and_says_so() {
    let two = [physical(0), physical(32)];
    let mut chip = chip_with(|tile| {
        if two.contains(&tile) {
            participant()
        } else {
            bystander()
        }
    });
    put_row(&mut chip, &Row::of(two[0]).send(4, 0x6_0000, 8, 3).end(12));
    let row = Row::of(two[1])
        .mux(2, 0)
        .mux(9, NEUTRAL)
        .pointer(53, 0x7_0000);
    put_row(&mut chip, &row.end(70));
    chip.launch(memory::ENTRY.0);
    assert_eq!(chip.run(u64::MAX, false, &mut NoHost), Rest::Stopped);
    let text = chip.stops()[0].to_string();
    assert!(
        text.contains("R5: physical tile 0, event 4: nobody takes 1 items"),
        "{text}"
    );
}

#[test]
fn tiles_that_enter_a_phase_at_other_distances_are_refused() {
    let two = [physical(0), physical(32)];
    let mut chip = chip_with(|tile| match tile {
        _ if tile == two[0] => format!(
            "{NEUTRAL_MUX}; sync 3; nop; call $m10, {}; br $m15",
            ROW / 4
        ),
        _ if tile == two[1] => participant(),
        _ => bystander(),
    });
    put_row(&mut chip, &Row::of(two[0]).send(4, 0x6_0000, 8, 3).end(12));
    let row = Row::of(two[1])
        .mux(1, 0)
        .mux(9, NEUTRAL)
        .pointer(53, 0x7_0000);
    put_row(&mut chip, &row.end(70));
    chip.launch(memory::ENTRY.0);
    assert_eq!(chip.run(u64::MAX, false, &mut NoHost), Rest::Stopped);
    let text = chip.stops()[0].to_string();
    assert!(text.contains("R12"), "{text}");
}

#[test]
fn tiles_in_two_zones_are_named() {
    let mut chip = chip_with(|tile| match tile.index() {
        7 => "sync 7; br $m15".to_owned(),
        8 => "sans 4; sync 1; br $m15".to_owned(),
        _ => participant(),
    });
    chip.launch(memory::ENTRY.0);
    assert_eq!(chip.run(u64::MAX, false, &mut NoHost), Rest::Stopped);
    let text = chip.stops()[0].to_string();
    assert!(
        text.contains("1 waiting in sync 7 (physical tile 7 first)"),
        "{text}"
    );
    assert!(
        text.contains("1 waiting in sync 1 (physical tile 8 first, for 5 barriers)"),
        "{text}"
    );
    assert!(text.contains("1470 waiting in sync 3"), "{text}");
}

/// Host memory of two pages.
struct Pages(Vec<u8>);

impl HostMemory for Pages {
    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let from = self.0.get(offset as usize..offset as usize + into.len());
        from.inspect(|from| into.copy_from_slice(from)).is_some()
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        let into = self
            .0
            .get_mut(offset as usize..offset as usize + bytes.len());
        into.map(|into| into.copy_from_slice(bytes)).is_some()
    }
}

/// A phase of 64 bytes to physical 260, one of 64 bytes back, and the end.
/// [exchange §14.4 (1)]
fn round_trip() -> Vec<(PhysTile, ByteAddr, Vec<u8>)> {
    let start = |mux: u32| {
        format!("sync 3; setzi $m8, {mux}; put $INCOMING_MUX, $m8; sync 7; {NEUTRAL_MUX}; ")
    };
    let done = "setzi $m0, 1; setzi $m1, 0x50170; st32 $m0, $m1, $m15, 0; br $m15";
    let mut all = Vec::new();
    let mut codes = Codes::default();
    for tile in PhysTile::all() {
        let mux = 0x600 + u32::from(tile.owner().index());
        let open = format!("setzi $m8, {mux}; put $INCOMING_MUX, $m8; ");
        let close = format!("sync 7; {NEUTRAL_MUX}; ");
        let phases = match tile.index() {
            4 => format!("{open} sync 15; send 1, 0x14000, 3; {close}").repeat(2),
            260 => {
                let take = format!(
                    "{open} sync 7; setzi $m0, 16; put $INCOMING_DCOUNT, $m0; \
                     send 1, 0x14002, 3; sync 0; {close}"
                );
                let give = format!(
                    "{open} sync 7; setzi $m0, 1; put $INCOMING_DCOUNT, $m0; send 1, 0x14004, 3; \
                     send 15, 0x14060, 3; delay 1; send 1, 0x14006, 3; sync 0; {close}"
                );
                take + &give
            }
            _ => "sans 1; sync 1; ".repeat(2),
        };
        all.push((
            tile,
            memory::ENTRY,
            codes.get(start(mux) + &phases + done).to_vec(),
        ));
    }
    let table = [
        0x100u32,
        0, // the request
        0xec82_020c,
        0x401, // 64 bytes from 0x1000 to 0x50180
        0xa082_0000,
        0x441, // 64 bytes to 0x1100
        0xcc82_020b,
        0, // the close
    ];
    let bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
    all.push((physical(4), ByteAddr(0x5_0000), bytes.clone()));
    all.push((physical(260), ByteAddr(0x5_0000), bytes));
    all
}

fn card(options: &Options) -> Card {
    let mut card = Card::new(options);
    for (tile, at, bytes) in round_trip() {
        card.place(tile, at, &bytes).unwrap();
    }
    card
}

/// Waits until a mark is 0; false after a simulated second.
fn zero(card: &mut Card, mark: u32, host: &mut Pages) -> bool {
    let limit = card.now() + Duration::from_secs(1);
    while card.read32(mark, host) != 0 {
        card.pause(Duration::from_micros(100));
        if card.now() > limit {
            return false;
        }
    }
    true
}

fn drive(options: &Options) -> Card {
    let mut card = card(options);
    let mut host = Pages((0..0x2000).map(|i| ((i * 11) >> 3) as u8).collect());
    let sent = host.0[0x1000..0x1040].to_vec();
    assert_eq!(
        card.read32(tdi(physical(0), Tdi::ContextStatus), &mut host),
        0
    );
    card.write32(MARK_GS1, 1, &mut host);
    assert!(zero(&mut card, MARK_GS2, &mut host));
    card.write32(MARK_GS2, 1, &mut host);
    assert!(zero(&mut card, MARK_GS2, &mut host));
    for _ in 0..4 {
        card.write32(MARK_GS2, 1, &mut host);
        // After the last acknowledgement the mark may stay.
        zero(&mut card, MARK_GS2, &mut host);
        assert!(card.stops().is_empty(), "{options:?}: {}", card.stops()[0]);
    }
    for _ in 0..2 {
        let status = card.read32(tdi(physical(0), Tdi::ContextStatus), &mut host);
        if status & 3 == 3 {
            break;
        }
        card.write32(MARK_GS2, 1, &mut host);
        zero(&mut card, MARK_GS2, &mut host);
    }
    assert!(card.has_ended(), "{options:?}");
    assert_eq!(host.0[0x1100..0x1140], sent, "{options:?}");
    assert_eq!(peek(&mut card, physical(0), 0x5_0170, &mut host), 1);
    card
}

/// Reads a word of tile memory through an idle worker. [host-driver §16]
fn peek(card: &mut Card, tile: PhysTile, at: u32, host: &mut Pages) -> u32 {
    let steps = [
        (Tdi::StatusClear, 7),
        (Tdi::Owner, 1),
        (Tdi::Data, at),
        (Tdi::Execute, 0x4101_0070),
        (Tdi::Execute, 0x01f0_1000),
        (Tdi::Execute, 0x4300_8070),
    ];
    for (register, value) in steps {
        card.write32(tdi(tile, register), value, host);
    }
    assert_eq!(card.read32(tdi(tile, Tdi::Status), host), 0);
    card.read32(tdi(tile, Tdi::Data), host)
}

#[test]
fn pages_make_the_round_trip_under_every_reading_of_the_marks() {
    for marks in [Marks::Arrival, Marks::Release] {
        for startup in [Startup::Early, Startup::Late] {
            for progress in [Progress::Immediate, Progress::Delayed] {
                let options = Options {
                    marks,
                    startup,
                    progress,
                    ..Options::default()
                };
                let card = drive(&options);
                assert_eq!(card.faults(), [] as [String; 0], "{options:?}");
                assert_eq!(card.facts().host_read, 64);
                assert_eq!(card.facts().host_written, 64);
                assert_eq!(card.facts().external_barriers, 5);
            }
        }
    }
}

#[test]
fn a_tile_nobody_requests_for_is_named() {
    let mut card = card(&Options::default());
    // The request is empty.
    card.place(physical(4), ByteAddr(0x5_0000), &[0; 8])
        .unwrap();
    let mut host = Pages(vec![0; 0x2000]);
    card.write32(MARK_GS1, 1, &mut host);
    for _ in 0..3 {
        card.write32(MARK_GS2, 1, &mut host);
    }
    let text = card.stops().first().expect("nothing can move").to_string();
    let want = "1 waiting in sync 0 (physical tile 260 first, for 16 words from the host, without";
    assert!(text.contains(want), "{text}");
}

#[test]
fn host_memory_that_is_not_attached_is_named() {
    let mut card = card(&Options::default());
    let mut host = Pages(vec![0; 0x1000]);
    card.write32(MARK_GS1, 1, &mut host);
    for _ in 0..3 {
        card.write32(MARK_GS2, 1, &mut host);
    }
    let text = card
        .stops()
        .first()
        .expect("the access never completes")
        .to_string();
    assert!(
        text.contains("64 bytes at host offset 0x1000 are not attached"),
        "{text}"
    );
}

#[test]
fn wrong_marks_and_places_are_complaints() {
    let mut card = card(&Options::default());
    let mut host = Pages(vec![0; 0x2000]);
    card.write32(MARK_GS2, 1, &mut host);
    card.write32(MARK_GS2, 2, &mut host);
    card.write32(MARK_GS2, 0x1_0000, &mut host);
    card.write32(0x8_0000, 1, &mut host);
    card.write32(0x3044, 0x800, &mut host);
    assert_eq!(card.read32(0x3044, &mut host), 0x800);
    assert_eq!(card.read32(0x3042, &mut host), 0);
    assert_eq!(card.faults().len(), 4, "{:?}", card.faults());
}
