//! Small phases as text, scheduled, checked, and as text again.

mod laws;
mod problems;
mod rows;
pub(in crate::schedule) mod text;

use expect_test::expect;

use self::text::{exchange, listing, times};
use super::*;
use crate::plan::Width;

/// Schedules the phase in `text`, has it checked, and compares when everything happens.
#[track_caller]
fn check(text: &str, want: expect_test::Expect) {
    want.assert_eq(&outcome(text, times));
}

/// The same, comparing the rows as the disassembler shows them.
#[track_caller]
fn check_rows(text: &str, want: expect_test::Expect) {
    want.assert_eq(&outcome(text, listing));
}

#[track_caller]
fn outcome(text: &str, show: fn(&Exchange, &Phase) -> String) -> String {
    let exchange = exchange(text);
    match schedule_phase(&exchange) {
        Ok(phase) => {
            let facts = check::phase(&exchange, &phase, None).expect("the schedule is valid");
            assert_eq!(facts.loose_stamps, 0, "all stamps are exact");
            show(&exchange, &phase)
        }
        Err(error) => format!("error: {error}\n"),
    }
}

#[test]
fn a_busy_receiver_delays_only_its_own_sender() {
    check(
        "0>2 x4  1>2 x4  3>4 x4",
        expect![[r#"
        event 31  tile 0 > tile 2  x4
        event 35  tile 1 > tile 2  x4
        event 31  tile 3 > tile 4  x4
        horizon 68
    "#]],
    );
}

#[test]
fn a_message_leaves_as_soon_as_its_route_allows() {
    check(
        "0>1286 x3",
        expect![[r#"
        event 23  tile 0 > tile 1286  x3
        horizon 61
    "#]],
    );
    check(
        "736>100 x52",
        expect![[r#"
        event 0  tile 736 > tile 100  x52
        horizon 167
    "#]],
    );
    check(
        "90>136 x1",
        expect![[r#"
        event 78  tile 90 > tile 136  x1
        horizon 103
    "#]],
    );
}

#[test]
fn a_transfer_does_not_join_one_it_must_come_after() {
    check(
        "0>2@65000=70000 x8  2>4@70000=70000 x8  0>2@65020=70000 x8",
        expect![[r#"
        event 31  tile 0 > tile 2  x8
        event 68  tile 2 > tile 4  x8
        event 52  tile 0 > tile 2  x8
        horizon 107
    "#]],
    );
}

#[test]
fn a_short_message_may_come_back_to_the_element_it_left() {
    check(
        "0>0,2@60000=62000 x24",
        expect![[r#"
        event 31  tile 0 > tile 0, tile 2  x24
        horizon 84
    "#]],
    );
}

#[test]
fn a_relay_waits_until_its_words_have_settled() {
    check(
        "0>736@65000=70000 x64  736>1286@70000=74000 x64",
        expect![[r#"
        event 4  tile 0 > tile 736  x64
        event 122  tile 736 > tile 1286  x64
        horizon 264
    "#]],
    );
}

#[test]
fn an_overwrite_waits_for_the_words_to_have_left() {
    check(
        "2>4@70000=70000 x64  0>2@65000=70000 x64",
        expect![[r#"
        event 31  tile 2 > tile 4  x64
        event 71  tile 0 > tile 2  x64
        horizon 164
    "#]],
    );
}

#[test]
fn a_tile_does_not_receive_into_the_element_it_sends_from() {
    check(
        "0>736@65000=70000 x200  736>0@65000=66000 x200",
        expect![[r#"
        event 4  tile 0 > tile 736  x200
        event 83  tile 736 > tile 0  x200
        horizon 409
    "#]],
    );
    check(
        "0>736@65000=70000 x200  736>0@65000=6c000 x200",
        expect![[r#"
        event 4  tile 0 > tile 736  x200
        event 1  tile 736 > tile 0  x200
        horizon 327
    "#]],
    );
}

#[test]
fn what_no_row_can_carry_is_refused() {
    check(
        "0>2 x0",
        expect![[r#"
        error: transfer 0 carries 0 words
    "#]],
    );
    check(
        "0> x4",
        expect![[r#"
        error: transfer 0 of tile 0 has 0 receivers
    "#]],
    );
    check(
        "0>0 x4",
        expect![[r#"
        error: transfer 0 goes from tile 0 to itself and to nobody else
    "#]],
    );
    check(
        "0>2,2 x4",
        expect![[r#"
        error: transfer 0 goes to tile 2 twice
    "#]],
    );
    check(
        "0>2@65002 x4",
        expect![[r#"
        error: transfer 0 has 0x65002 on tile 0; words lie on multiples of 4
    "#]],
    );
    check(
        "0>2=e7ff8 x4",
        expect![[r#"
        error: transfer 0 has 4 words at 0xe7ff8 on tile 2; memory ends at 0xe8000
    "#]],
    );
    check(
        "0>2@4bffc x4",
        expect![[r#"
        error: transfer 0 has 4 words at 0x4bffc on tile 0; memory ends at 0xe8000
    "#]],
    );
    check(
        "0>0,2@60000=62000 x400",
        expect![[r#"
        error: transfer 0 is sent and received by tile 0 in one memory element, 0x60000 and 0x62000, at the same time
    "#]],
    );
    let mut paired = exchange("0>2,3 x128");
    paired.transfers[0].width = Width::Paired;
    expect![[r#"
        transfer 0 is 64 bits wide; rows are made for 32 bits only
    "#]]
    .assert_eq(&format!("{}\n", schedule_phase(&paired).unwrap_err()));
}

#[test]
fn a_phase_without_transfers_is_empty() {
    check(
        "",
        expect![[r#"
        horizon 0
    "#]],
    );
}
