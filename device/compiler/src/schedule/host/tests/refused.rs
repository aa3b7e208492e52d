//! Pages that packets cannot carry, and packets that do not carry their page.

use expect_test::{Expect, expect};
use tilekiln_chip::ByteAddr;
use tilekiln_chip::exchange::packet::END;

use super::{pages, schedule, tile};
use crate::plan::{HostDirection, HostPhase};
use crate::schedule::host::COMMAND_WORD;
use crate::schedule::{HostExchange, Request, check, schedule_host};

#[track_caller]
fn refused(change: impl FnOnce(&mut HostPhase), want: Expect) {
    let mut phase = pages(HostDirection::ToTiles, 2, 64);
    change(&mut phase);
    let error = schedule_host(&phase, None).expect_err("the page has no packets");
    want.assert_eq(&format!("{error}\n"));
}

#[test]
fn pages_that_packets_cannot_carry_are_refused() {
    refused(
        |phase| phase.pages[1].bytes = 0,
        expect![[r#"
            host page of tile 1: 0 bytes at 0x50180 and host offset 0x2000; a page has whole words, and at least 1
        "#]],
    );
    refused(
        |phase| phase.pages[1].bytes = 65,
        expect![[r#"
            host page of tile 1: 65 bytes at 0x50180 and host offset 0x2000; a page has whole words, and at least 1
        "#]],
    );
    refused(
        |phase| phase.pages[1].bytes = u32::MAX - 3,
        expect![[r#"
            host page of tile 1: 4294967292 bytes at 0x50180 and host offset 0x2000; a transfer stays inside one page of 4096 bytes
        "#]],
    );
    refused(
        |phase| phase.pages[1].buffer_offset = 4092,
        expect![[r#"
            host page of tile 1: 64 bytes at 0x50180 and host offset 0x1ffc; a transfer stays inside one page of 4096 bytes
        "#]],
    );
    refused(
        |phase| phase.pages[1].buffer_offset = 2,
        expect![[r#"
            host page of tile 1: 64 bytes at 0x50180 and host offset 0x1002; host offsets are multiples of 4
        "#]],
    );
    refused(
        |phase| phase.pages[1].buffer_offset = 1 << 28,
        expect![[r#"
            host page of tile 1: 64 bytes at 0x50180 and host offset 0x10001000; the page table reaches 128 MiB
        "#]],
    );
    refused(
        |phase| phase.pages[1].tile_address = ByteAddr(0x5_0184),
        expect![[r#"
            host page of tile 1: 64 bytes at 0x50184 and host offset 0x2000; reads land on multiples of 32
        "#]],
    );
    refused(
        |phase| phase.pages[1].tile_address = ByteAddr(0x5_3FE0),
        expect![[r#"
            host page of tile 1: 64 bytes at 0x53fe0 and host offset 0x2000; reads land in the window 0x50000..0x54000
        "#]],
    );
    refused(
        |phase| phase.pages[1].tile_address = ByteAddr(0x4_F000),
        expect![[r#"
            host page of tile 1: 64 bytes at 0x4f000 and host offset 0x2000; reads land in the window 0x50000..0x54000
        "#]],
    );
    refused(
        |phase| phase.pages[1].tile = tile(0),
        expect![[r#"
            tile 0 has 2 pages in one host phase; 1 is possible
        "#]],
    );
    let writes = |at| {
        move |phase: &mut HostPhase| {
            phase.direction = HostDirection::ToHost;
            phase.pages[1].tile_address = ByteAddr(at);
        }
    };
    refused(
        writes(0x6_0002),
        expect![[r#"
            host page of tile 1: 64 bytes at 0x60002 and host offset 0x2000; words lie on multiples of 4
        "#]],
    );
    refused(
        writes(0xE_7FFC),
        expect![[r#"
            host page of tile 1: 64 bytes at 0xe7ffc and host offset 0x2000; memory is 0x4c000..0xe8000
        "#]],
    );
}

/// Lets `damage` loose on a phase of two tiles and compares the complaint of the checker.
#[track_caller]
fn broken(direction: HostDirection, damage: impl FnOnce(&mut HostExchange), want: Expect) {
    let phase = pages(direction, 2, 1024 + 256 + 36);
    let mut exchange = schedule(&phase);
    damage(&mut exchange);
    let error = check::host(&phase, None, &exchange);
    want.assert_eq(&error.map_or_else(
        |error| format!("{error}\n"),
        |_| "nothing is wrong\n".into(),
    ));
}

#[test]
fn wrong_packets_are_found() {
    use HostDirection::{ToHost, ToTiles};
    broken(
        ToTiles,
        |it| it.streams[1].expected_words += 1,
        expect![[r#"
            tile 1: waits for 330 words; 329 come
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers.truncate(2),
        expect![[r#"
            tile 0: packet 1 is [e000022c, 00000504]; the end bits are on the last packet only
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[2][0] ^= END.1 << END.0,
        expect![[r#"
            tile 0: packet 2 is [c0000234, 00005409]; the end bits are on the last packet only
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] ^= END.1 << END.0,
        expect![[r#"
            tile 0: packet 0 is [ec00020c, 00000400]; the end bits are on the last packet only
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] += 1,
        expect![[r#"
            tile 0: packet 0 is [e000020d, 00000400]; its tile address is wrong
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] ^= 1 << 16,
        expect![[r#"
            tile 0: packet 0 is [e001020c, 00000400]; it names another tile
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][1] ^= 1 << 31,
        expect![[r#"
            tile 0: packet 0 is [e000020c, 80000400]; it takes the other PCIe complex
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[1][1] += 1 << 4,
        expect![[r#"
            tile 0: packet 1 is [e000022c, 00000514]; its host offset is wrong
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[1][1] -= 1,
        expect![[r#"
            tile 0: packet 2 is [cc000234, 00005409]; its host offset is wrong
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers[0][0] ^= 1 << 14,
        expect![[r#"
            tile 0: packet 0 is [e000420c, 00000400]; reads land in the window 0x50000..0x54000
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams[0].headers.swap(0, 1),
        expect![[r#"
            tile 0: packet 0 is [e000022c, 00000504]; its host offset is wrong
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams.swap(0, 1),
        expect![[r#"
            tile 1: out of order
        "#]],
    );
    broken(
        ToTiles,
        |it| it.streams.truncate(1),
        expect![[r#"
            tile 0: 1 streams for 2 transfers
        "#]],
    );
    broken(
        ToTiles,
        |it| it.requests[0].words[0] ^= 2,
        expect![[r#"
            tile 0: requests 000000000001; 000000000003 take part
        "#]],
    );
    broken(
        ToTiles,
        |it| it.requests[0].words[0] |= 1 << 30,
        expect![[r#"
            tile 0: requests 000040000003; 000000000000 take part
        "#]],
    );
    broken(
        ToTiles,
        |it| it.requests.clear(),
        expect![[r#"
            tile 0: requests 000000000000; 000000000003 take part
        "#]],
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
        expect![[r#"
            tile 1400: requests 000000000001; 000000000000 take part
        "#]],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers[0][0] ^= 1 << 30,
        expect![[r#"
            tile 0: packet 0 is [e0000000, 00000404]; reads land in the window 0x50000..0x54000
        "#]],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers[0][0] |= 1,
        expect![[r#"
            tile 0: packet 0 is [a0000001, 00000404]; writes have no address
        "#]],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers[0][1] += 1,
        expect![[r#"
            tile 0: packet 0 is [a0000000, 00000405]; a write carries at most 256 bytes
        "#]],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers.truncate(6),
        expect![[r#"
            tile 0: packet 5 is [80000000, 00005409]; the end bits are on the last packet only
        "#]],
    );
    broken(
        ToHost,
        |it| it.streams[0].headers.swap(5, 6),
        expect![[r#"
            tile 0: packet 5 is [cc00020b, 00000000]; the end bits are on the last packet only
        "#]],
    );
}

#[test]
fn a_wrong_command_read_is_found() {
    let phase = pages(HostDirection::ToTiles, 2, 64);
    let sound = schedule_host(&phase, Some(COMMAND_WORD)).expect("all pages have packets");
    let complaint = |damage: fn(&mut HostExchange)| {
        let mut exchange = sound.clone();
        damage(&mut exchange);
        let error = check::host(&phase, Some(COMMAND_WORD), &exchange).unwrap_err();
        format!(
            "{error}
"
        )
    };
    expect![[r#"
        tile 9: packet 0 is [cc81020b, 00000001]; the command word lands elsewhere
    "#]]
    .assert_eq(&complaint(|it| it.streams[9].headers[0][0] += 1));
    expect![[r#"
        tile 9: packet 0 is [cc81020a, 00000002]; the command word is word 0
    "#]]
    .assert_eq(&complaint(|it| it.streams[9].headers[0][1] += 1));
    expect![[r#"
        tile 9: packet 0 is [cc81020a, 00000011]; the command word is word 0
    "#]]
    .assert_eq(&complaint(|it| it.streams[9].headers[0][1] += 1 << 4));
    expect![[r#"
        tile 9: 0 closing and 0 command reads; 0 and 1 belong
    "#]]
    .assert_eq(&complaint(|it| it.streams[9].headers.clear()));
    let mut overlapping = phase.clone();
    overlapping.pages[0].tile_address = ByteAddr(0x5_0120);
    let exchange = schedule_host(&overlapping, Some(COMMAND_WORD)).expect("packets do not mind");
    let error = check::host(&overlapping, Some(COMMAND_WORD), &exchange).unwrap_err();
    expect![[r#"
        tile 0: packet 1 is [cc00020a, 00000001]; the command word lands in the page
    "#]]
    .assert_eq(&format!("{error}\n"));
}
