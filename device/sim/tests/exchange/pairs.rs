//! Messages of 64-bit items, which need both tiles of a pair.

use tilekiln_chip::exchange::{FORMAT_LEAD, PAIRED_MIN};
use tilekiln_chip::topology::time_to_mux;
use tilekiln_sim::exchange::Rule;
use tilekiln_sim::exchange::rows::TileRow;

use super::common::{NEUTRAL, Row, physical};
use super::reference::{check_data, phase, run};
use super::{check, rules};

/// Physical 0 to the pair 64 and 66 in 64-bit items: T is -31 and -30, both of row 1.
fn paired(change: impl Fn(&mut [Row; 4])) -> Vec<TileRow> {
    let items = PAIRED_MIN;
    let start = 40;
    let x = start - 31 + 1;
    let format = x + 51 + FORMAT_LEAD;
    let from = Row::of(physical(0)).send(start, 0x5_0000, items, 5);
    let lender = Row::of(physical(2));
    let early = Row::of(physical(64)).xpic(x, 1, 0).pic(format, 1, 1);
    let early = early
        .pointer(format + FORMAT_LEAD, 0x6_0000)
        .xpic(x + items, 1, NEUTRAL);
    let late = Row::of(physical(66))
        .pic(format, 1, 1)
        .pointer(format + FORMAT_LEAD, 0x6_0000);
    let mut rows = [from, lender, early, late];
    change(&mut rows);
    let [from, lender, early, late] = rows;
    let off = format + items;
    vec![
        from.end(start + items),
        lender.end(start + items),
        early.pic(off, 1, 0).end(off + 8),
        late.pic(off, 1, 0).end(off + 8),
    ]
}

#[test]
fn a_paired_message_is_accepted() {
    assert_eq!(rules(paired(|_| ())), []);
    let phase = phase("paired-near");
    check_data(&phase, &run(&phase).unwrap());
}

#[test]
fn the_partner_of_a_paired_sender_must_idle() {
    check(
        paired(|rows| rows[1] = Row::of(physical(2)).send(60, 0x5_0000, 4, 3)),
        Rule::R2,
    );
}

#[test]
fn a_paired_message_needs_its_format_in_time_and_the_right_one() {
    let late = |stamp: u32, value: u32| {
        move |rows: &mut [Row; 4]| {
            rows[3] = Row::of(physical(66))
                .pic(stamp, 1, value)
                .pointer(65, 0x6_0000);
        }
    };
    assert_eq!(rules(paired(late(63, 1))), []);
    check(paired(late(64, 1)), Rule::R10);
    check(paired(late(63, 2)), Rule::R10);
}

#[test]
fn the_pair_select_belongs_to_the_early_tile() {
    let swapped = paired(|rows| {
        rows[2] = Row::of(physical(64)).pic(63, 1, 1).pointer(65, 0x6_0000);
        rows[3] = Row::of(physical(66))
            .xpic(10, 1, 2)
            .pic(63, 1, 1)
            .pointer(65, 0x6_0000);
        let late = std::mem::replace(&mut rows[3], Row::of(physical(66)));
        rows[3] = late.xpic(74, 1, NEUTRAL);
    });
    check(swapped, Rule::R5);
}

#[test]
fn a_paired_format_may_not_overtake_ordinary_words() {
    // Physical 128 sends 8 words to 64, which arrive just before, or just too late for, the format.
    let time = time_to_mux(physical(128), physical(64));
    let with = |start: u32| {
        let mut rows = paired(|rows| {
            let x = start.wrapping_add_signed(time + 1);
            let row = Row::of(physical(64)).mux(x, 128).xpic(10, 1, 0);
            let row = row
                .pointer(x + 54, 0x6_8000)
                .pic(63, 1, 1)
                .pointer(65, 0x6_0000);
            rows[2] = row.xpic(74, 1, NEUTRAL);
        });
        rows.push(
            Row::of(physical(128))
                .send(start, 0x5_0000, 8, 3)
                .end(start + 8),
        );
        rows
    };
    // X is 1 for this start, so the words arrive at 55 to 62.
    let start = time.unsigned_abs();
    assert_eq!(rules(with(start)), []);
    check(with(start + 1), Rule::R10);
}
