//! Small programs on one tile, and the state each must leave behind.
//!
//! The files beside this one hold cases in the format of the golden file `tile-programs.jsonl`,
//! written for what our kernels use and for forms that the golden file leaves out.

mod case;
mod compare;

use case::{Case, Outcome};
use tilekiln_isa::{Mode, parse};
use tilekiln_sim::settings::Settings;

/// Fillings of everything unwritten; no result may depend on them.
const SEEDS: [u64; 3] = [1, 0xdead_beef, 0x0123_4567_89ab_cdef];

#[track_caller]
fn check(file: &str) {
    let mut failures = Vec::new();
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        let case = Case::parse(line).expect("the line is a case");
        let words = case.words().unwrap_or_else(|| assemble(&case));
        let words = words.unwrap_or_else(|complaint| panic!("{}: {complaint}", case.id));
        for (fill_seed, strict) in SEEDS
            .into_iter()
            .flat_map(|seed| [(seed, false), (seed, true)])
        {
            let outcome = case.run(
                &words,
                &Settings {
                    fill_seed,
                    strict,
                    ..Settings::default()
                },
            );
            let admitted = strict && matches!(outcome, Outcome::Undefined(_));
            if outcome != Outcome::Passed && !admitted {
                failures.push(format!("{}, strict {strict}: {outcome:?}", case.id));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The words of a case, whose text has no labels; what follows `.worker` is for workers.
fn assemble(case: &Case) -> Result<Vec<u32>, String> {
    let mut mode = if case.is_supervisor() {
        Mode::Supervisor
    } else {
        Mode::Worker
    };
    let mut words = Vec::new();
    for part in case.source().split("; .worker; ") {
        words.extend(parse::words(part, mode).map_err(|error| error.to_string())?);
        mode = Mode::Worker;
    }
    Ok(words)
}

#[test]
fn main_registers_compute_compare_shift_and_permute() {
    check(include_str!("integer.jsonl"));
}

#[test]
fn aux_registers_compute_and_permute() {
    check(include_str!("aux.jsonl"));
}

#[test]
fn loads_and_stores_scale_extend_broadcast_and_step() {
    check(include_str!("memory.jsonl"));
}

#[test]
fn packed_addresses_move_by_their_selectors_and_avoid_each_other() {
    check(include_str!("pace.jsonl"));
}

#[test]
fn gathers_load_through_the_old_delta() {
    check(include_str!("gather.jsonl"));
}

#[test]
fn branches_calls_repeats_and_exits_go_where_they_say() {
    check(include_str!("control.jsonl"));
}

#[test]
fn workers_see_their_control_registers() {
    check(include_str!("registers.jsonl"));
}

#[test]
fn a_faulting_bundle_leaves_no_trace_but_its_exception() {
    check(include_str!("exceptions.jsonl"));
}

#[test]
fn supervisors_launch_load_weights_and_wait() {
    check(include_str!("supervisor.jsonl"));
}

#[test]
fn halves_compute_compare_convert_and_round() {
    check(include_str!("half.jsonl"));
}

#[test]
fn singles_compute_compare_convert_and_draw() {
    check(include_str!("single.jsonl"));
}

#[test]
fn accumulators_add_shift_and_transpose() {
    check(include_str!("accumulate.jsonl"));
}

#[test]
fn the_matrix_unit_multiplies_and_convolves() {
    check(include_str!("matrix.jsonl"));
}

#[test]
fn every_load_has_its_addressing_modes() {
    check(include_str!("loads.jsonl"));
}
