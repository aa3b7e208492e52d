//! The fabric against phases that are known to be valid, and against ways to spoil them.

#[path = "../common/mod.rs"]
mod common;
mod pairs;
mod reference;

use common::{NEUTRAL, Row, physical};
use reference::{Phase, check_data, phase, phases, run, show};
use tilekiln_chip::exchange::ROW_RETURN;
use tilekiln_chip::{ByteAddr, memory};
use tilekiln_sim::exchange::rows::{RowProblem, TileRow, run_rows};
use tilekiln_sim::exchange::{Fault, Rule};
use tilekiln_sim::settings::Settings;

#[test]
fn every_reference_phase_is_accepted_and_leaves_the_right_words() {
    let all = phases();
    assert_eq!(all.len(), 15);
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

#[test]
fn what_is_no_row_is_refused() {
    let row = |words: &[u32], at: u32| {
        let mut row = TileRow::new(physical(0), words.to_vec());
        row.at = ByteAddr(at);
        row
    };
    let (end, start) = (ROW_RETURN, memory::BASE.0);
    let picp = [0xf000_0000, NEUTRAL << 18];
    assert_eq!(
        rules(vec![row(
            &[0x40a0_0000, 0x40a0_0000, picp[0], picp[1], end],
            start
        )]),
        [Rule::R6]
    );
    check(
        vec![row(&[0x40a0_0000, picp[0], picp[1], end], start)],
        Rule::R1,
    );
    check(vec![row(&[end], start + 4)], Rule::R1);
    check(vec![row(&[0x40a0_0000], start)], Rule::R1);
    check(vec![row(&[0x19e0_0000, end], start)], Rule::R1);
}
