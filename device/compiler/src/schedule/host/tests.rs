//! Host phases against published packets and programs, and wrong packets against the checker.

mod refused;

use expect_test::expect;
use tilekiln_chip::assumed::HOST_PACKET_EVENTS;
use tilekiln_chip::exchange::{HOST_PAGE, MUX_HOST, MUX_NEUTRAL, ROW_RETURN};

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
    program.push(ROW_RETURN);
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
        format!("{} words: {}\n", stream.expected_words, headers.join(", "))
    };
    expect![[r#"
        1025 words: e000020c 00000400, e000022c 00000500, e000024c 00000600, e000026c 00000700, cc00020a 00000001
    "#]].assert_eq(&shown(0));
    expect![[r#"
        1 words: cec0820a 80000001
    "#]]
    .assert_eq(&shown(46));
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
        tile 90: 00ffffff 003fffff
    "#]]
    .assert_eq(&(requests.join("\n") + "\n"));
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
