//! Rows that are wrong in themselves, and figures that do not fit them.

use expect_test::expect;
use tilekiln_chip::exchange::ROW_RETURN;
use tilekiln_chip::{ByteAddr, Event, Events};

use super::{DELAY, STREAM, broken, complaint, replace, row, sound, tile};
use crate::schedule::check::phase;
use crate::schedule::tests::text::exchange;
use crate::schedule::{Phase, Row};

/// A tile that sends while it receives twice, the second time with both controls in one event.
const DUPLEX: &str = "0>2@60000=70000 x400  2>0=70000 x52  4>0=74000 x52";

#[test]
fn a_row_holds_timed_instructions_only() {
    broken(
        STREAM,
        replace(700, 1, 0x4180_0003),
        expect![[r#"
            word 1 of the row of tile 700 is sync; a row holds timed instructions only
        "#]],
    );
    broken(
        STREAM,
        replace(700, 1, 0xFFFF_FFFF),
        expect![[r#"
            word 1 of the row of tile 700 is sendpicp; it lies on a multiple of 8
        "#]],
    );
    broken(
        STREAM,
        replace(700, 1, ROW_RETURN),
        expect![[r#"
            word 1 of the row of tile 700 is br; the only branch of a row is br $m10, in the end
        "#]],
    );
    broken(
        STREAM,
        replace(700, 6, DELAY | 0x40A0_0000),
        expect![[r#"
            the row of tile 700 has 7 words and does not end in its return
        "#]],
    );
    broken(
        STREAM,
        |phase| row(phase, 700).words.truncate(6),
        expect![[r#"
            the row of tile 700 has 6 words and does not end in its return
        "#]],
    );
}

#[test]
fn an_instruction_with_data_lies_on_an_even_word() {
    // Two delays of one event more are one of two.
    let damage = |phase: &mut Phase| {
        let words = &mut row(phase, 0).words;
        words.insert(2, 0x40A0_0000);
        words[1] -= DELAY;
    };
    broken(
        DUPLEX,
        damage,
        expect![[r#"
            word 5 of the row of tile 0 is sendpicp; it lies on a multiple of 8
        "#]],
    );
}

#[test]
fn a_continuation_keeps_place_and_directions() {
    let long = "1286>1471 x65";
    broken(
        long,
        replace(1286, 2, 0x7000_0001),
        expect![[r#"
            word 2 of the row of tile 1286 is sendoff; it drives other directions than its message
        "#]],
    );
    broken(
        long,
        replace(1286, 2, 0x7000_000A),
        expect![[r#"
            word 2 of the row of tile 1286 is sendoff; other distances than 0 are not proven
        "#]],
    );
    broken(
        long,
        replace(1286, 1, 0x40A0_003F),
        expect![[r#"
            word 2 of the row of tile 1286 is sendoff; it continues a stream, and there is none
        "#]],
    );
    broken(
        long,
        replace(1286, 2, 0x7000_0006),
        expect![[r#"
            word 2 of the row of tile 1286 is sendoff; a send drives 32 bits in direction 1, 2 or 3
        "#]],
    );
}

#[test]
fn a_send_stays_in_memory() {
    broken(
        STREAM,
        replace(96, 1, 0x7F00_0001),
        expect![[r#"
            tile 96 uses 57 words at 0x0; memory is 0x4c000..0xe8000
        "#]],
    );
    let beyond = 0x6000_0000 | 25 << 19 | 0x3_9FF0;
    broken(
        STREAM,
        replace(700, 4, beyond),
        expect![[r#"
            tile 700 uses 60 words at 0xe7fc0; memory is 0x4c000..0xe8000
        "#]],
    );
}

#[test]
fn what_the_schedule_says_of_itself_must_be_true() {
    broken(
        STREAM,
        |phase| row(phase, 96).events.0 += 1,
        expect![[r#"
            the row of tile 96 takes 109 events; the schedule says 110 events
        "#]],
    );
    broken(
        STREAM,
        |phase| phase.horizon = Events(1),
        expect![[r#"
            the longest row takes 212 events; the schedule says 1 events
        "#]],
    );
    broken(
        STREAM,
        |phase| phase.starts[1] = Event(1),
        expect![[r#"
            transfer 1 starts at event 107; the schedule says event 1
        "#]],
    );
    broken(
        STREAM,
        |phase| phase.starts.truncate(1),
        expect![[r#"
            1 transfers have a start; there are 2
        "#]],
    );
    broken(
        STREAM,
        |phase| phase.rows.swap(0, 1),
        expect![[r#"
            the row of tile 96 is out of order
        "#]],
    );
}

#[test]
fn rows_keep_away_from_what_they_move() {
    let schedule = sound(STREAM);
    let at = |tile_700: u32| {
        let place = |row: &Row| {
            (
                row.tile,
                ByteAddr(if row.tile == tile(700) {
                    tile_700
                } else {
                    0x5_0000
                }),
            )
        };
        let rows_at: Vec<_> = schedule.rows.iter().map(place).collect();
        complaint(phase(&exchange(STREAM), &schedule, Some(&rows_at)))
    };
    expect![[r#"
        nothing is wrong
    "#]]
    .assert_eq(&at(0x5_0000));
    expect![[r#"
        the row of tile 700 at 0x71000 is fetched from the element of 0x70000, which the phase uses
    "#]]
    .assert_eq(&at(0x7_1000));
    expect![[r#"
        the row of tile 700 at 0x6ffc0 is fetched from the element of 0x70000, which the phase uses
    "#]]
    .assert_eq(&at(0x6_FFC0));
    expect![[r#"
        nothing is wrong
    "#]]
    .assert_eq(&at(0x6_FF98));
    expect![[r#"
        the row of tile 700 lies at 0x50004; rows lie on multiples of 8 in region 0
    "#]]
    .assert_eq(&at(0x5_0004));
    expect![[r#"
        the row of tile 700 lies at 0x90000; rows lie on multiples of 8 in region 0
    "#]]
    .assert_eq(&at(0x9_0000));
    expect![[r#"
        the row of tile 96 lies at 0x0; rows lie on multiples of 8 in region 0
    "#]]
    .assert_eq(&complaint(phase(&exchange(STREAM), &schedule, Some(&[]))));
}
