//! Schedules that are wrong in one place: each rule fails when it must.

mod words;

use expect_test::{Expect, expect};
use tilekiln_chip::TileId;

use super::{CheckError, phase};
use crate::schedule::tests::text::exchange;
use crate::schedule::{Phase, Row, schedule_phase};

/// One event in the count field of `delayxpic`, of `delaypic`, of `delay`.
const XPIC: u32 = 1 << 14;
const PIC: u32 = 1 << 19;
const DELAY: u32 = 1;

/// Two senders whose words abut at one receiver. Its row: multiplexer to 96, to 98, pointer,
/// multiplexer to neutral, pointer, delay, return.
const STREAM: &str = "96>700=70000 x60  98>700=74000 x60";

/// Schedules `text`, lets `damage` loose on the result, and compares the complaint.
#[track_caller]
fn broken(text: &str, damage: impl FnOnce(&mut Phase), want: Expect) {
    broken_as(text, text, damage, want);
}

/// The same, but holds the schedule of `text` against the plan in `plan`.
#[track_caller]
fn broken_as(text: &str, plan: &str, damage: impl FnOnce(&mut Phase), want: Expect) {
    let mut schedule = sound(text);
    damage(&mut schedule);
    want.assert_eq(&complaint(phase(&exchange(plan), &schedule, None)));
}

#[track_caller]
fn sound(text: &str) -> Phase {
    let exchange = exchange(text);
    let schedule = schedule_phase(&exchange).expect("the phase has a schedule");
    phase(&exchange, &schedule, None).expect("the schedule is valid");
    schedule
}

fn complaint<T>(result: Result<T, CheckError>) -> String {
    result.map_or_else(
        |error| format!("{error}\n"),
        |_| "nothing is wrong\n".to_owned(),
    )
}

fn tile(index: u16) -> TileId {
    TileId::new(index).expect("the chip has the tile")
}

fn row(phase: &mut Phase, index: u16) -> &mut Row {
    phase
        .rows
        .iter_mut()
        .find(|row| row.tile == tile(index))
        .expect("the tile has a row")
}

/// Damage: `word` of the row of `tile` takes effect one event later, and the next one as before.
fn later(tile: u16, word: usize, [this, next]: [u32; 2]) -> impl FnOnce(&mut Phase) {
    move |phase| {
        row(phase, tile).words[word] += this;
        row(phase, tile).words[word + 1] -= next;
    }
}

/// Damage: one event earlier, and the next one as before.
fn earlier(tile: u16, word: usize, [this, next]: [u32; 2]) -> impl FnOnce(&mut Phase) {
    move |phase| {
        row(phase, tile).words[word] -= this;
        row(phase, tile).words[word + 1] += next;
    }
}

/// Damage: another word.
fn replace(tile: u16, word: usize, by: u32) -> impl FnOnce(&mut Phase) {
    move |phase| row(phase, tile).words[word] = by
}

#[test]
fn a_send_moved_by_one_is_missed() {
    broken(
        STREAM,
        |phase| row(phase, 96).words[0] += DELAY,
        expect![[r#"
            tile 700 captures 59 of the 60 words of transfer 0
        "#]],
    );
    broken(
        STREAM,
        |phase| row(phase, 98).words[0] -= DELAY,
        expect![[r#"
            tile 700 stores a word of transfer 1 at 0x74000 at event 147; it belongs at 0x74004
        "#]],
    );
    broken(
        "0>2 x4",
        |phase| row(phase, 0).words[0] += DELAY,
        expect![[r#"
            tile 2 captures 3 of the 4 words of transfer 0
        "#]],
    );
}

#[test]
fn a_source_stamp_moved_by_one_loses_or_adds_a_word() {
    broken(
        "0>2 x4",
        later(2, 0, [XPIC, XPIC]),
        expect![[r#"
            tile 2 stores a word of transfer 0 at 0xa0000 at event 56; it belongs at 0xa0004
        "#]],
    );
    broken(
        "0>2 x4",
        earlier(2, 1, [XPIC, PIC]),
        expect![[r#"
            tile 2 captures 3 of the 4 words of transfer 0
        "#]],
    );
    broken(
        STREAM,
        later(700, 1, [XPIC, PIC]),
        expect![[r#"
            tile 700 stores a word of transfer 1 at 0x74000 at event 148; it belongs at 0x74004
        "#]],
    );
    broken(
        STREAM,
        earlier(700, 1, [XPIC, PIC]),
        expect![[r#"
            tile 700 captures 59 of the 60 words of transfer 0
        "#]],
    );
    let next = "0>2@60000 x4  0>4@64000 x4";
    broken(
        next,
        later(2, 1, [XPIC, PIC]),
        expect![[r#"
            tile 2 captures the word tile 0 has at 0x64000 at event 59; no transfer brings it
        "#]],
    );
}

#[test]
fn a_pointer_moved_by_one_misplaces_a_word() {
    broken(
        STREAM,
        later(700, 4, [PIC, DELAY]),
        expect![[r#"
            tile 700 stores a word of transfer 1 at 0x700f0 at event 147; it belongs at 0x74000
        "#]],
    );
    broken(
        STREAM,
        earlier(700, 4, [PIC, DELAY]),
        expect![[r#"
            tile 700 stores a word of transfer 0 at 0x74000 at event 146; it belongs at 0x700ec
        "#]],
    );
    broken(
        STREAM,
        later(700, 2, [PIC, XPIC]),
        expect![[r#"
            tile 700 receives at event 87 and has written no pointer
        "#]],
    );
}

#[test]
fn an_early_pointer_on_an_idle_tile_is_only_loose() {
    let mut schedule = sound("0>2 x4");
    earlier(2, 2, [PIC, DELAY])(&mut schedule);
    let facts = phase(&exchange("0>2 x4"), &schedule, None).expect("it is early and harmless");
    assert_eq!(facts.loose_stamps, 1);
}

#[test]
fn a_pointer_with_another_address_misplaces_all_words() {
    broken(
        STREAM,
        |phase| row(phase, 700).words[4] += 1,
        expect![[r#"
            tile 700 stores a word of transfer 1 at 0x74004 at event 147; it belongs at 0x74000
        "#]],
    );
    broken_as(
        STREAM,
        "96>700=70000 x60  98>700=74004 x60",
        |_| (),
        expect![[r#"
            tile 700 stores a word of transfer 1 at 0x74000 at event 147; it belongs at 0x74004
        "#]],
    );
    broken_as(
        STREAM,
        "96>700=74000 x60  98>700=70000 x60",
        |_| (),
        expect![[r#"
            tile 700 stores a word of transfer 0 at 0x70000 at event 87; it belongs at 0x74000
        "#]],
    );
}

#[test]
fn words_without_a_pointer_go_anywhere() {
    broken(
        "0>2 x4",
        replace(2, 2, 0x40A0_0000 | 48),
        expect![[r#"
            tile 2 receives at event 55 and has written no pointer
        "#]],
    );
}

#[test]
fn a_bus_driven_the_other_way_is_silent() {
    broken(
        STREAM,
        |phase| row(phase, 98).words[1] ^= 3,
        expect![[r#"
            tile 700 listens to tile 98 for transfer 1, which is sent the other way
        "#]],
    );
}

#[test]
fn a_tile_listens_to_tiles() {
    broken(
        STREAM,
        |phase| row(phase, 700).words[1] |= 0x5C0,
        expect![[r#"
            tile 700 selects 0x5c4 at event 61; a row selects tiles 0 to 1471 or 0x640
        "#]],
    );
    broken(
        STREAM,
        |phase| row(phase, 700).words[0] ^= 1,
        expect![[r#"
            tile 700 selects tile 178 at event 1 and nothing is sent
        "#]],
    );
}

#[test]
fn words_nobody_planned_are_found() {
    broken_as(
        STREAM,
        "96>700=70000 x60",
        |_| (),
        expect![[r#"
            tile 700 captures the word tile 98 has at 0x60000 at event 147; no transfer brings it
        "#]],
    );
    broken_as(
        STREAM,
        "96>700=70000 x60  98>700=74000 x59",
        |_| (),
        expect![[r#"
            tile 700 captures the word tile 98 has at 0x600ec at event 206; no transfer brings it
        "#]],
    );
}

#[test]
fn words_nobody_receives_are_found() {
    broken_as(
        STREAM,
        "96>700=70000 x60  98>700,2=74000 x60",
        |_| (),
        expect![[r#"
            tile 2 captures 0 of the 60 words of transfer 1
        "#]],
    );
    broken_as(
        STREAM,
        "96>700=70000 x60  98>700=74000 x61",
        |_| (),
        expect![[r#"
            tile 700 captures 60 of the 61 words of transfer 1
        "#]],
    );
    broken(
        STREAM,
        |phase| phase.rows.retain(|row| row.tile != tile(98)),
        expect![[r#"
            tile 700 selects tile 98 at event 61 and nothing is sent
        "#]],
    );
}

#[test]
fn words_and_controls_for_nobody_are_found() {
    // The last delay of the sender becomes a word more.
    let longer = |phase: &mut Phase| row(phase, 96).words[1] += 1 << 21;
    broken(
        "96>700=70000 x60",
        longer,
        expect![[r#"
            nobody takes the word that tile 96 sends at event 109
        "#]],
    );
    let idle = |phase: &mut Phase| {
        let words = &mut row(phase, 700).words;
        words[3] -= 4 * DELAY;
        words.insert(4, 0x6000_0000 | 0x1_C000);
        words.insert(5, 0x40A0_0002);
    };
    broken(
        "96>700=70000 x60",
        idle,
        expect![[r#"
            tile 700 writes a pointer at event 149 and no word goes there
        "#]],
    );
    let selects = |phase: &mut Phase| {
        let words = &mut row(phase, 700).words;
        words[3] -= 20 * DELAY;
        words.insert(3, 0x6400_0000 | 9 << 14 | 0x640);
        words.insert(3, 0x6400_0000 | 9 << 14 | 132);
    };
    broken(
        "96>700=70000 x60",
        selects,
        expect![[r#"
            tile 700 selects tile 96 at event 97 and nothing is sent
        "#]],
    );
}

#[test]
fn a_tile_left_connected_is_found() {
    broken(
        STREAM,
        replace(700, 3, 0x40A0_0000 | 33),
        expect![[r#"
            tile 700 stays connected to 0xc4 from event 61 on
        "#]],
    );
}

#[test]
fn reading_and_writing_one_element_is_found() {
    let apart = "0>736@65000=70000 x200  736>0@65000=70000 x200";
    let both = "0>736@65000=70000 x200  736>0@65000=65400 x200";
    // The pointer is the second control of tile 0, inside its send.
    let damage = |phase: &mut Phase| {
        let words = &mut row(phase, 0).words;
        let pointer = words
            .iter()
            .position(|word| word & 0x3_FFFF == 0x7_0000 / 4);
        words[pointer.expect("the row has a pointer")] ^= (0x7_0000 ^ 0x6_5400) / 4;
    };
    broken_as(
        apart,
        both,
        damage,
        expect![[r#"
            tile 0 sends from the element of 0x64000 until event 204 and receives into it from event 122
        "#]],
    );
}

#[test]
fn a_relay_that_does_not_wait_is_found() {
    let apart = "0>736@65000=70000 x64  736>1286@74000=78000 x64";
    let relay = "0>736@65000=70000 x64  736>1286@70000=78000 x64";
    let damage = |phase: &mut Phase| {
        let words = &mut row(phase, 736).words;
        let send = words.iter().position(|word| word >> 27 == 0x78 >> 3);
        words[send.expect("the row has a send")] ^= ((0x7_4000 ^ 0x7_0000) / 4) << 3;
    };
    broken_as(
        apart,
        relay,
        damage,
        expect![[r#"
            transfer 1 touches words of tile 736 at event 1; transfer 0 is done at event 122
        "#]],
    );
}

#[test]
fn an_overwrite_in_the_wrong_order_is_found() {
    let one = "96>700=70000 x60  98>700=70000 x60";
    let other = "98>700=70000 x60  96>700=70000 x60";
    broken_as(
        one,
        other,
        |phase| phase.starts.reverse(),
        expect![[r#"
            transfer 1 touches words of tile 700 at event 87; transfer 0 is done at event 217
        "#]],
    );
    let read_first = "2>4@70000=70000 x64  0>2@65000=70000 x64";
    let write_first = "0>2@65000=70000 x64  2>4@70000=70000 x64";
    broken_as(
        read_first,
        write_first,
        |phase| phase.starts.reverse(),
        expect![[r#"
            transfer 1 touches words of tile 2 at event 31; transfer 0 is done at event 164
        "#]],
    );
    broken_as(
        write_first,
        read_first,
        |phase| phase.starts.reverse(),
        expect![[r#"
            transfer 1 touches words of tile 2 at event 55; transfer 0 is done at event 188
        "#]],
    );
}

#[test]
fn a_message_that_overwrites_itself_is_found() {
    let damage = |phase: &mut Phase| {
        let words = &mut row(phase, 0).words;
        let pointer = words
            .iter()
            .position(|word| word & 0x3_FFFF == 0xA_0000 / 4);
        words[pointer.expect("the row has a pointer")] ^= (0xA_0000 ^ 0x6_0010) / 4;
    };
    let (apart, same) = ("0>0,2@60000=a0000 x16", "0>0,2@60000=60010,a0000 x16");
    broken_as(
        apart,
        same,
        damage,
        expect![[r#"
            transfer 0 writes words of tile 0 that it also reads
        "#]],
    );
}

#[test]
fn a_row_outlasts_its_last_word() {
    let damage = |phase: &mut Phase| {
        let row = row(phase, 700);
        let delay = row.words.len() - 2;
        row.words[delay] -= DELAY;
        row.events.0 -= 1;
        phase.horizon.0 -= 1;
    };
    broken(
        STREAM,
        damage,
        expect![[r#"
            the row of tile 700 ends at event 211; its last word needs event 212
        "#]],
    );
}
