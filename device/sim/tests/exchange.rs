//! The fabric against twelve phases that are known to be valid, and against ways to spoil them.

mod common;

use std::collections::BTreeMap;

use common::{NEUTRAL, Row, physical};

use tilekiln_chip::topology::time_to_mux;
use tilekiln_chip::{ByteAddr, PhysTile, TileId};
use tilekiln_sim::exchange::rows::{RowProblem, RowRun, TileRow, run_rows};
use tilekiln_sim::exchange::{Fault, Rule};
use tilekiln_sim::settings::Settings;

#[derive(Clone, Debug)]
struct Move {
    source: PhysTile,
    address: u32,
    words: u32,
    to: Vec<(PhysTile, u32)>,
}

#[derive(Clone, Debug, Default)]
struct Phase {
    name: String,
    events: u32,
    moves: Vec<Move>,
    rows: Vec<(TileRow, u32)>,
}

fn number(text: &str) -> u32 {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .expect("the golden file holds numbers here")
}

fn tile(text: &str) -> PhysTile {
    TileId::new(number(text) as u16)
        .expect("the golden file names tiles")
        .physical()
}

fn phases() -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    for line in include_str!("golden/phases.txt").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["phase", name, events] => phases.push(Phase {
                name: name.to_owned(),
                events: number(events),
                ..Phase::default()
            }),
            ["move", source, address, count, _, ref to @ ..] => {
                let to = to
                    .chunks(3)
                    .map(|to| (tile(to[1]), number(to[2])))
                    .collect();
                let (source, address) = (tile(source), number(address));
                let phase = phases.last_mut().expect("a phase is open");
                phase.moves.push(Move {
                    source,
                    address,
                    words: number(count),
                    to,
                });
            }
            ["row", owner, base, events, ref words @ ..] => {
                let words = words
                    .iter()
                    .map(|w| u32::from_str_radix(w, 16).unwrap())
                    .collect();
                let row = TileRow {
                    incoming_base: number(base),
                    ..TileRow::new(tile(owner), words)
                };
                phases
                    .last_mut()
                    .expect("a phase is open")
                    .rows
                    .push((row, number(events)));
            }
            _ => {}
        }
    }
    phases
}

fn phase(name: &str) -> Phase {
    phases()
        .into_iter()
        .find(|phase| phase.name == name)
        .expect("the phase is in the file")
}

/// A word that depends on where it lies.
fn content(tile: PhysTile, at: u32) -> u32 {
    (u32::from(tile.index()) << 20) ^ at.wrapping_mul(0x9e37_79b1) | 1
}

type Words = BTreeMap<(PhysTile, u32), u32>;

/// What memory holds before, and after all moves in order.
fn expected(phase: &Phase) -> (Words, Words) {
    let mut before = Words::new();
    for m in &phase.moves {
        for at in (m.address..).step_by(4).take(m.words as usize) {
            before.insert((m.source, at), content(m.source, at));
        }
    }
    let mut after = before.clone();
    for m in &phase.moves {
        let data: Vec<u32> = (0..m.words)
            .map(|k| after[&(m.source, m.address + 4 * k)])
            .collect();
        for &(to, address) in &m.to {
            for (at, &word) in (address..).step_by(4).zip(&data) {
                after.insert((to, at), word);
            }
        }
    }
    (before, after)
}

fn problem(phase: &Phase) -> RowProblem {
    let (before, _) = expected(phase);
    let image = |(&(tile, at), &word): (&(PhysTile, u32), &u32)| {
        (tile, ByteAddr(at), word.to_le_bytes().to_vec())
    };
    RowProblem {
        rows: phase.rows.iter().map(|(row, _)| row.clone()).collect(),
        images: before.iter().map(image).collect(),
        strict: false,
    }
}

fn run(phase: &Phase) -> Result<RowRun, Vec<Fault>> {
    run_rows(&problem(phase), &Settings::default())
}

fn show(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[track_caller]
fn check_data(phase: &Phase, run: &RowRun) {
    for (&(tile, at), &word) in &expected(phase).1 {
        let (_, memory) = run
            .memories
            .iter()
            .find(|(owner, _)| *owner == tile)
            .unwrap();
        assert_eq!(
            memory.load32(at),
            Ok(word),
            "{}: {tile}, {at:#x}",
            phase.name
        );
    }
}

#[test]
fn every_reference_phase_is_accepted_and_leaves_the_right_words() {
    let all = phases();
    assert_eq!(all.len(), 12);
    for phase in &all {
        let run = run(phase).unwrap_or_else(|faults| panic!("{}: {}", phase.name, show(&faults)));
        check_data(phase, &run);
        assert_eq!(run.facts.horizon, phase.events, "{}", phase.name);
    }
}

/// Physical 0 to 32: T is -4 and the row of the receiver 0, so X = S - 3 and Q = S + 49.
const FROM: u16 = 0;
const TO: u16 = 32;

fn sender(start: u32, words: u32) -> TileRow {
    Row::of(physical(FROM))
        .send(start, 0x6_0000, words, 3)
        .end(start + words)
}

fn receiver(x: u32, off: u32, q: u32, end: u32) -> TileRow {
    let row = Row::of(physical(TO))
        .mux(x, u32::from(FROM))
        .mux(off, NEUTRAL);
    row.pointer(q, 0x7_0000).end(end)
}

fn rules(rows: Vec<TileRow>) -> Vec<Rule> {
    let problem = RowProblem {
        rows,
        ..RowProblem::default()
    };
    match run_rows(&problem, &Settings::default()) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(Fault::rule).collect(),
    }
}

#[track_caller]
fn check(rows: Vec<TileRow>, rule: Rule) {
    let problem = RowProblem {
        rows,
        ..RowProblem::default()
    };
    match run_rows(&problem, &Settings::default()) {
        Ok(_) => panic!("accepted"),
        Err(faults) => {
            assert!(
                faults.iter().any(|fault| fault.rule() == rule),
                "{}",
                show(&faults)
            );
        }
    }
}

#[test]
fn an_exact_message_is_accepted() {
    assert_eq!(rules(vec![sender(4, 8), receiver(1, 9, 53, 66)]), []);
}

#[test]
fn a_source_stamp_one_event_late_loses_the_first_word() {
    check(vec![sender(4, 8), receiver(2, 9, 53, 66)], Rule::R5);
}

#[test]
fn a_teardown_one_event_early_loses_the_last_word() {
    check(vec![sender(4, 8), receiver(1, 8, 53, 66)], Rule::R5);
}

#[test]
fn a_send_moved_by_one_event_loses_a_word() {
    check(vec![sender(5, 8), receiver(1, 9, 53, 66)], Rule::R5);
    check(vec![sender(4, 8), receiver(2, 10, 54, 67)], Rule::R5);
}

#[test]
fn a_pointer_one_event_late_is_refused() {
    check(vec![sender(4, 8), receiver(1, 9, 54, 66)], Rule::R6);
}

#[test]
fn early_stamps_on_an_idle_receiver_are_harmless_unless_strict() {
    let rows = vec![sender(8, 8), receiver(1, 15, 50, 70)];
    assert_eq!(rules(rows.clone()), []);
    let problem = RowProblem {
        rows,
        strict: true,
        ..RowProblem::default()
    };
    assert_eq!(
        run_rows(&problem, &Settings::default()).unwrap_err().len(),
        3
    );
}

#[test]
fn a_receiver_without_any_pointer_is_refused() {
    let to = Row::of(physical(TO))
        .mux(1, u32::from(FROM))
        .mux(9, NEUTRAL)
        .end(66);
    check(vec![sender(4, 8), to], Rule::R6);
}

#[test]
fn the_wrong_direction_leaves_the_receiver_on_a_silent_bus() {
    let from = Row::of(physical(FROM)).send(4, 0x6_0000, 8, 2).end(12);
    check(vec![from, receiver(1, 9, 53, 66)], Rule::R3);
}

#[test]
fn a_source_that_sends_nothing_is_a_silent_bus() {
    check(vec![receiver(1, 9, 53, 66)], Rule::R3);
}

#[test]
fn a_message_that_nobody_takes_is_lost() {
    check(vec![sender(4, 8)], Rule::R5);
}

#[test]
fn a_multiplexer_must_be_neutral_at_the_end() {
    let to = Row::of(physical(TO))
        .mux(1, u32::from(FROM))
        .pointer(53, 0x7_0000)
        .end(66);
    check(vec![sender(4, 8), to], Rule::R7);
}

#[test]
fn a_row_must_outlast_its_last_word_by_the_guard() {
    assert_eq!(rules(vec![sender(4, 8), receiver(1, 9, 53, 66)]), []);
    check(vec![sender(4, 8), receiver(1, 9, 53, 65)], Rule::R11);
}

#[test]
fn rows_keep_out_of_the_elements_of_their_data() {
    let mut from = sender(4, 8);
    from.at = ByteAddr(0x6_2000);
    check(vec![from, receiver(1, 9, 53, 66)], Rule::R8);
    let mut to = receiver(1, 9, 53, 66);
    // The row ends in the element before; what is fetched behind it does not.
    to.at = ByteAddr(0x7_0000 - 40);
    check(vec![sender(4, 8), to], Rule::R8);
}

#[test]
fn a_send_and_an_arrival_in_one_element_at_one_time_are_refused() {
    let back = |at: u32| {
        let row = Row::of(physical(TO))
            .mux(1, u32::from(FROM))
            .mux(9, NEUTRAL);
        row.pointer(53, 0x7_0000).send(56, at, 4, 3).end(70)
    };
    // T(32, 0) is 68: X = 56 + 69.
    let other = Row::of(physical(FROM))
        .send(4, 0x6_0000, 8, 3)
        .mux(125, 32)
        .mux(129, NEUTRAL);
    let other = other.pointer(177, 0x5_8000).end(186);
    let rows = |at| vec![other.clone(), back(at)];
    assert_eq!(rules(rows(0x7_4000)), []);
    check(rows(0x7_1000), Rule::R8);
}

#[test]
fn a_relay_forwards_only_what_is_complete() {
    let relay = |start: u32| {
        let to = Row::of(physical(TO))
            .mux(1, u32::from(FROM))
            .mux(9, NEUTRAL);
        let to = to
            .pointer(53, 0x7_0000)
            .send(start, 0x7_0000, 8, 3)
            .end(start + 8);
        let last = Row::of(physical(FROM)).send(4, 0x6_0000, 8, 3);
        let last = last.mux(start + 69, 32).mux(start + 77, NEUTRAL);
        vec![last.pointer(start + 121, 0x5_8000).end(start + 140), to]
    };
    // The last word arrives at 60; the message is safe at 66.
    assert_eq!(rules(relay(66)), []);
    check(relay(65), Rule::R9);
}

#[test]
fn a_relayed_word_is_the_one_that_arrived() {
    let phase = phase("relay");
    check_data(&phase, &run(&phase).unwrap());
}

#[test]
fn entry_distances_must_be_equal() {
    let mut from = sender(4, 8);
    from.entry = 6;
    check(vec![from, receiver(1, 9, 53, 66)], Rule::R12);
}

#[test]
fn a_back_to_back_stream_catches_every_shift_by_one() {
    let base = phase("gather-contig");
    let longest = |phase: &Phase| {
        let rows = phase.rows.iter().enumerate();
        rows.max_by_key(|(_, (row, _))| row.words.len())
            .expect("there are rows")
            .0
    };
    let receiver = longest(&base);
    let mut refused = 0;
    for (index, &word) in base.rows[receiver].0.words.iter().enumerate() {
        // The counts of delayxpic and delaypic decide all later stamps.
        let unit = match word >> 26 {
            0x19 => 1 << 14,
            0x18 => 1 << 19,
            _ => continue,
        };
        for spoilt in [word + unit, word.wrapping_sub(unit)] {
            let mut phase = base.clone();
            phase.rows[receiver].0.words[index] = spoilt;
            match run(&phase) {
                Ok(run) => check_data(&base, &run),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused >= 8, "{refused} shifts were refused");
}

/// Physical 0 to the pair 64 and 66 in 64-bit items: T is -31 and -30, both of row 1.
fn paired(change: impl Fn(&mut [Row; 4])) -> Vec<TileRow> {
    let items = 64;
    let start = 40;
    let x = start - 31 + 1;
    let format = x + 51 + 2;
    let from = Row::of(physical(0)).send(start, 0x5_0000, items, 5);
    let lender = Row::of(physical(2));
    let early = Row::of(physical(64)).xpic(x, 1, 0).pic(format, 1, 1);
    let early = early
        .pointer(format + 2, 0x6_0000)
        .xpic(x + items, 1, NEUTRAL);
    let late = Row::of(physical(66))
        .pic(format, 1, 1)
        .pointer(format + 2, 0x6_0000);
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

#[test]
fn what_is_no_row_is_refused() {
    let row = |words: &[u32], at: u32| {
        let mut row = TileRow::new(physical(0), words.to_vec());
        row.at = ByteAddr(at);
        row
    };
    let end = 0x43a0_0000;
    let picp = [0xf000_0000, NEUTRAL << 18];
    assert_eq!(
        rules(vec![row(
            &[0x40a0_0000, 0x40a0_0000, picp[0], picp[1], end],
            0x4_c000
        )]),
        [Rule::R6]
    );
    check(
        vec![row(&[0x40a0_0000, picp[0], picp[1], end], 0x4_c000)],
        Rule::R1,
    );
    check(vec![row(&[end], 0x4_c004)], Rule::R1);
    check(vec![row(&[0x40a0_0000], 0x4_c000)], Rule::R1);
    check(vec![row(&[0x19e0_0000, end], 0x4_c000)], Rule::R1);
}
