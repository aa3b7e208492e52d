//! Host phases against published packets and programs, and wrong packets against the checker.

use expect_test::{Expect, expect};
use tilekiln_chip::assumed::HOST_PACKET_EVENTS;
use tilekiln_chip::exchange::{HOST_PAGE, MUX_HOST, MUX_NEUTRAL};

use super::*;
use crate::schedule::check;

/// One published transfer.
struct Case<'a> {
    phase: HostPhase,
    owner: TileId,
    request: [u32; 2],
    packets: Vec<u32>,
    owner_program: Option<Vec<u32>>,
    program: Vec<u32>,
    name: &'a str,
}

fn words(text: &str) -> Vec<u32> {
    let word = |word| u32::from_str_radix(word, 16).expect("a word is hexadecimal");
    text.split(' ').map(word).collect()
}

fn case(line: &str) -> Case<'_> {
    let columns: Vec<&str> = line.split('\t').collect();
    let hex = |text: &str| u32::from_str_radix(&text[2..], 16).expect("hexadecimal");
    let number = |text: &str| text.parse::<u16>().expect("a number");
    let tile = |text: &str| PhysTile::new(number(text)).expect("a tile").logical();
    let direction = if columns[0] == "h2d" {
        HostDirection::ToTiles
    } else {
        HostDirection::ToHost
    };
    let page = HostPage {
        tile: tile(columns[4]),
        tile_address: ByteAddr(hex(columns[2])),
        buffer_offset: hex(columns[3]) - BUFFER_OFFSET,
        bytes: u32::from(number(columns[1])),
    };
    Case {
        phase: HostPhase {
            direction,
            pages: vec![page],
        },
        owner: tile(columns[5]),
        request: words(columns[6]).try_into().expect("two words"),
        packets: words(columns[7]),
        owner_program: (columns[8] != "-").then(|| words(columns[8])),
        program: words(columns[9]),
        name: line,
    }
}

fn cases() -> impl Iterator<Item = Case<'static>> {
    let lines = include_str!("golden.tsv").lines();
    lines.filter(|line| !line.starts_with('#')).map(case)
}

/// A phase whose only page is `page`.
fn schedule(phase: &HostPhase) -> HostExchange {
    let exchange = schedule_host(phase, None).expect("the page has packets");
    check::host(phase, None, &exchange).expect("the packets carry the page");
    exchange
}

#[test]
fn published_transfers_have_their_requests_and_packets() {
    for case in cases() {
        let exchange = schedule(&case.phase);
        let request = Request {
            owner: case.owner,
            words: case.request,
        };
        assert_eq!(exchange.requests, [request], "{}", case.name);
        assert_eq!(
            exchange.streams[0].headers.as_flattened(),
            case.packets,
            "{}",
            case.name
        );
    }
}

/// `setzi $m8, value; put csr, $m8`. [exchange §4.2 V]
fn set(csr: u32, value: u32) -> [u32; 2] {
    [0x1980_0000 | value, 0x4380_8000 | csr]
}

/// `send`, `count` words from `at` in both directions. [exchange §4.1 V]
fn send(at: u32, count: u32) -> u32 {
    0x7800_0003 | (count - 1) << 21 | (at / 4) << 3
}

const MUX: u32 = 0xA0;
const COUNT: u32 = 0xA6;
const SYNC: u32 = 0x4180_0000;
const RETURN: u32 = 0x43A0_0000;
const REQUEST_AT: u32 = 0x5_0000;
const HEADERS_AT: u32 = 0x5_0008;

/// The reference program of an owner or a target. [exchange §14.3]
fn program(tile: TileId, exchange: &HostExchange, page: Option<&HostPage>) -> Vec<u32> {
    let owns = exchange
        .requests
        .iter()
        .any(|request| request.owner == tile);
    let stream = page.map(|_| &exchange.streams[0]);
    let mux = MUX_HOST + u32::from(tile.physical().owner().index());
    let mut program = set(MUX, mux).to_vec();
    program.push(SYNC | if owns { 15 } else { 7 });
    program.extend(stream.iter().flat_map(|it| set(COUNT, it.expected_words)));
    program.extend(owns.then_some(send(REQUEST_AT, 2)));
    if let (Some(stream), Some(page)) = (stream, page) {
        let mut from = page.tile_address.0;
        for (index, &header) in stream.headers.iter().enumerate() {
            let at = HEADERS_AT + 8 * index as u32;
            let payload = payload_words(header);
            // Headers of reads follow each other; others come one by one.
            let reads_on = index > 0 && payload_words(stream.headers[index - 1]) == 0;
            program.push(if reads_on { 0x7020_0003 } else { send(at, 2) });
            if payload > 0 {
                program.push(send(from, payload));
                let pause = HOST_PACKET_EVENTS.saturating_sub(payload);
                program.extend((pause > 0).then(|| 0x40A0_0000 | (pause - 1)));
                from += 4 * payload;
            }
        }
        program.push(SYNC);
    }
    program.push(SYNC | 7);
    program.extend(set(MUX, MUX_NEUTRAL));
    program.push(RETURN);
    program
}

#[test]
fn packets_make_the_published_programs() {
    for case in cases() {
        let exchange = schedule(&case.phase);
        let page = &case.phase.pages[0];
        assert_eq!(
            program(page.tile, &exchange, Some(page)),
            case.program,
            "{}",
            case.name
        );
        if let Some(want) = &case.owner_program {
            assert_eq!(program(case.owner, &exchange, None), *want, "{}", case.name);
        }
    }
}

fn tile(index: u16) -> TileId {
    TileId::new(index).expect("the chip has the tile")
}

/// The first `count` tiles read or write `bytes` bytes each, a page a tile.
fn pages(direction: HostDirection, count: u16, bytes: u32) -> HostPhase {
    let page = |index: u16| HostPage {
        tile: tile(index),
        tile_address: ByteAddr(0x5_0180),
        buffer_offset: u32::from(index) * HOST_PAGE,
        bytes,
    };
    HostPhase {
        direction,
        pages: (0..count).map(page).collect(),
    }
}

#[test]
fn in_the_first_phase_every_tile_reads_the_command_word() {
    let phase = pages(HostDirection::ToTiles, 46, 4096);
    let exchange = schedule_host(&phase, Some(COMMAND_WORD)).expect("all pages have packets");
    let facts = check::host(&phase, Some(COMMAND_WORD), &exchange).expect("all is carried");
    expect![[r#"
        HostFacts {
            targets: 1472,
            owners: 32,
            packets: 1656,
            read_bytes: 188416,
            written_bytes: 0,
        }
    "#]]
    .assert_debug_eq(&facts);
    assert!(
        exchange
            .requests
            .iter()
            .all(|request| request.words == [0xFF_FFFF, 0x3F_FFFF])
    );
    let shown = |index: usize| {
        let stream = &exchange.streams[index];
        let headers: Vec<String> = stream
            .headers
            .iter()
            .map(|[one, two]| format!("{one:08x} {two:08x}"))
            .collect();
        format!("{} words: {}", stream.expected_words, headers.join(", "))
    };
    expect!["1025 words: e000020c 00000400, e000022c 00000500, e000024c 00000600, e000026c 00000700, cc00020a 00000001"].assert_eq(&shown(0));
    expect!["1 words: cec0820a 80000001"].assert_eq(&shown(46));
}

#[test]
fn owners_request_all_their_tiles_at_once() {
    let exchange = schedule(&pages(HostDirection::ToHost, 92, 256));
    let requests: Vec<String> = exchange
        .requests
        .iter()
        .map(|it| format!("{}: {:08x} {:08x}", it.owner, it.words[0], it.words[1]))
        .collect();
    expect![[r#"
        tile 0: 00ffffff 003fffff
        tile 90: 00ffffff 003fffff"#]]
    .assert_eq(&requests.join("\n"));
}

#[test]
fn the_words_behind_a_header_are_those_it_announces() {
    for case in cases().filter(|case| case.phase.direction == HostDirection::ToHost) {
        let exchange = schedule(&case.phase);
        let words = exchange.streams[0]
            .headers
            .iter()
            .map(|&header| payload_words(header));
        assert_eq!(
            4 * words.sum::<u32>(),
            case.phase.pages[0].bytes,
            "{}",
            case.name
        );
    }
}

#[track_caller]
fn refused(change: impl FnOnce(&mut HostPhase), want: Expect) {
    let mut phase = pages(HostDirection::ToTiles, 2, 64);
    change(&mut phase);
    let error = schedule_host(&phase, None).expect_err("the page has no packets");
    want.assert_eq(&error.to_string());
}

#[test]
fn pages_that_packets_cannot_carry_are_refused() {
    refused(
        |phase| phase.pages[1].bytes = 0,
        expect![
            "host page of tile 1: 0 bytes at 0x50180 and host offset 0x2000; a page has whole words, and at least 1"
        ],
    );
    refused(
        |phase| phase.pages[1].bytes = 65,
        expect![
            "host page of tile 1: 65 bytes at 0x50180 and host offset 0x2000; a page has whole words, and at least 1"
        ],
    );
    refused(
        |phase| phase.pages[1].bytes = u32::MAX - 3,
        expect![
            "host page of tile 1: 4294967292 bytes at 0x50180 and host offset 0x2000; a transfer stays inside one page of 4096 bytes"
        ],
    );
    refused(
        |phase| phase.pages[1].buffer_offset = 4092,
        expect![
            "host page of tile 1: 64 bytes at 0x50180 and host offset 0x1ffc; a transfer stays inside one page of 4096 bytes"
        ],
    );
    refused(
        |phase| phase.pages[1].buffer_offset = 2,
        expect![
            "host page of tile 1: 64 bytes at 0x50180 and host offset 0x1002; host offsets are multiples of 4"
        ],
    );
    refused(
        |phase| phase.pages[1].buffer_offset = 1 << 28,
        expect![
            "host page of tile 1: 64 bytes at 0x50180 and host offset 0x10001000; the page table reaches 128 MiB"
        ],
    );
    refused(
        |phase| phase.pages[1].tile_address = ByteAddr(0x5_0184),
        expect![
            "host page of tile 1: 64 bytes at 0x50184 and host offset 0x2000; reads land on multiples of 32"
        ],
    );
    refused(
        |phase| phase.pages[1].tile_address = ByteAddr(0x5_3FE0),
        expect![
            "host page of tile 1: 64 bytes at 0x53fe0 and host offset 0x2000; reads land in the window 0x50000..0x54000"
        ],
    );
    refused(
        |phase| phase.pages[1].tile_address = ByteAddr(0x4_F000),
        expect![
            "host page of tile 1: 64 bytes at 0x4f000 and host offset 0x2000; reads land in the window 0x50000..0x54000"
        ],
    );
    refused(
        |phase| phase.pages[1].tile = tile(0),
        expect!["tile 0 has 2 pages in one host phase; 1 is possible"],
    );
    let writes = |at| {
        move |phase: &mut HostPhase| {
            phase.direction = HostDirection::ToHost;
            phase.pages[1].tile_address = ByteAddr(at);
        }
    };
    refused(
        writes(0x6_0002),
        expect![
            "host page of tile 1: 64 bytes at 0x60002 and host offset 0x2000; words lie on multiples of 4"
        ],
    );
    refused(
        writes(0xE_7FFC),
        expect![
            "host page of tile 1: 64 bytes at 0xe7ffc and host offset 0x2000; memory is 0x4c000..0xe8000"
        ],
    );
}

/// Lets `damage` loose on a phase of two tiles and compares the complaint of the checker.
#[track_caller]
fn broken(direction: HostDirection, damage: impl FnOnce(&mut HostExchange), want: Expect) {
    let phase = pages(direction, 2, 1024 + 256 + 36);
    let mut exchange = schedule(&phase);
    damage(&mut exchange);
    let error = check::host(&phase, None, &exchange);
    want.assert_eq(&error.map_or_else(|error| error.to_string(), |_| "nothing is wrong".into()));
}

#[test]
fn wrong_packets_are_found() {
    use HostDirection::{ToHost, ToTiles};
    broken(
        ToTiles,
        |it| it.streams[1].expected_words += 1,
        expect!["tile 1: waits for 330 words; 329 come"],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers.truncate(2),
        expect![
            "tile 0: packet 1 is [e000022c, 00000504]; the end bits are on the last packet only"
        ],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[2][0] ^= END,
        expect![
            "tile 0: packet 2 is [c0000234, 00005409]; the end bits are on the last packet only"
        ],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] ^= END,
        expect![
            "tile 0: packet 0 is [ec00020c, 00000400]; the end bits are on the last packet only"
        ],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] += 1,
        expect!["tile 0: packet 0 is [e000020d, 00000400]; its tile address is wrong"],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] ^= 1 << 16,
        expect!["tile 0: packet 0 is [e001020c, 00000400]; it names another tile"],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][1] ^= 1 << 31,
        expect!["tile 0: packet 0 is [e000020c, 80000400]; it takes the other PCIe complex"],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[1][1] += 1 << 4,
        expect!["tile 0: packet 1 is [e000022c, 00000514]; its host offset is wrong"],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[1][1] -= 1,
        expect!["tile 0: packet 2 is [cc000234, 00005409]; its host offset is wrong"],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] ^= 1 << 14,
        expect![
            "tile 0: packet 0 is [e000420c, 00000400]; reads land in the window 0x50000..0x54000"
        ],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers.swap(0, 1),
        expect!["tile 0: packet 0 is [e000022c, 00000504]; its host offset is wrong"],
    );
    broken(
        ToTiles,
        |it| it.streams.swap(0, 1),
        expect!["tile 1: out of order"],
    );
    broken(
        ToTiles,
        |it| it.streams.truncate(1),
        expect!["tile 0: 1 streams for 2 transfers"],
    );
    broken(
        ToTiles,
        |it| it.requests[0].words[0] ^= 2,
        expect!["tile 0: requests 000000000001; 000000000003 take part"],
    );
    broken(
        ToTiles,
        |it| it.requests[0].words[0] |= 1 << 30,
        expect!["tile 0: requests 000040000003; 000000000000 take part"],
    );
    broken(
        ToTiles,
        |it| it.requests.clear(),
        expect!["tile 0: requests 000000000000; 000000000003 take part"],
    );
    let extra = |it: &mut HostExchange| {
        it.requests.push(Request {
            owner: tile(1400),
            words: [1, 0],
        });
    };
    broken(
        ToTiles,
        extra,
        expect!["tile 1400: requests 000000000001; 000000000000 take part"],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers[0][0] ^= 1 << 30,
        expect![
            "tile 0: packet 0 is [e0000000, 00000404]; reads land in the window 0x50000..0x54000"
        ],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers[0][0] |= 1,
        expect!["tile 0: packet 0 is [a0000001, 00000404]; writes have no address"],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers[0][1] += 1,
        expect!["tile 0: packet 0 is [a0000000, 00000405]; a write carries at most 256 bytes"],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers.truncate(6),
        expect![
            "tile 0: packet 5 is [80000000, 00005409]; the end bits are on the last packet only"
        ],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers.swap(5, 6),
        expect![
            "tile 0: packet 5 is [cc00020b, 00000000]; the end bits are on the last packet only"
        ],
    );
}

#[test]
fn a_wrong_command_read_is_found() {
    let phase = pages(HostDirection::ToTiles, 2, 64);
    let sound = schedule_host(&phase, Some(COMMAND_WORD)).expect("all pages have packets");
    let complaint = |damage: fn(&mut HostExchange)| {
        let mut exchange = sound.clone();
        damage(&mut exchange);
        check::host(&phase, Some(COMMAND_WORD), &exchange)
            .unwrap_err()
            .to_string()
    };
    expect!["tile 9: packet 0 is [cc81020b, 00000001]; the command word lands elsewhere"]
        .assert_eq(&complaint(|it| it.streams[9].headers[0][0] += 1));
    expect!["tile 9: packet 0 is [cc81020a, 00000002]; the command word is word 0"]
        .assert_eq(&complaint(|it| it.streams[9].headers[0][1] += 1));
    expect!["tile 9: packet 0 is [cc81020a, 00000011]; the command word is word 0"]
        .assert_eq(&complaint(|it| it.streams[9].headers[0][1] += 1 << 4));
    expect!["tile 9: 0 closing and 0 command reads; 0 and 1 belong"]
        .assert_eq(&complaint(|it| it.streams[9].headers.clear()));
    let mut overlapping = phase.clone();
    overlapping.pages[0].tile_address = ByteAddr(0x5_0120);
    let exchange = schedule_host(&overlapping, Some(COMMAND_WORD)).expect("packets do not mind");
    let error = check::host(&overlapping, Some(COMMAND_WORD), &exchange).unwrap_err();
    expect!["tile 0: packet 1 is [cc00020a, 00000001]; the command word lands in the page"]
        .assert_eq(&error.to_string());
}
