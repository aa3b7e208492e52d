//! Small programs on one tile, and the state each must leave behind.

mod case;
mod compare;

use case::{Case, Outcome};
use tilekiln_sim::settings::Settings;

/// Fillings of everything unwritten; no result may depend on them.
const SEEDS: [u64; 3] = [1, 0xdead_beef, 0x0123_4567_89ab_cdef];

#[track_caller]
fn check(file: &str) {
    let mut failures = Vec::new();
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        let case = Case::parse(line).expect("the line is a case");
        let words = case.words().expect("the case has words").expect("they are words");
        for fill_seed in SEEDS {
            for strict in [false, true] {
                let outcome = case.run(&words, &Settings { fill_seed, strict, ..Settings::default() });
                let good = outcome == Outcome::Passed || strict && matches!(outcome, Outcome::Undefined(_));
                if !good {
                    failures.push(format!("{}, strict {strict}: {outcome:?}", case.id));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
