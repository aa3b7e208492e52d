//! Small graphs from text to result, judged by the code of `verify`. The checked-in graph goes
//! through the command line, in `cli`.

use half::f16;
use tilekiln::card::{Marks, Progress, SimOptions, Startup};
use tilekiln::verify::{self, VerifyError};

use crate::bake::{self, Graph, Program};
use crate::tap::Tap;

/// Bakes, runs and judges one graph with normally distributed inputs.
#[track_caller]
fn check(tiles: u32, query: [u32; 4], keys: u32, lines: &str) {
    let program = Graph {
        tiles,
        query,
        keys,
        lines,
    }
    .program();
    program.passes(&SimOptions::default(), &program.normal(0.5, 0));
}

#[test]
fn every_head_dimension_passes() {
    for columns in [16, 40, 64, 72, 80, 96, 128] {
        check(2, [1, 17, 1, columns], 97, "");
    }
}

#[test]
fn head_dimensions_that_are_no_multiple_of_four_pass() {
    for columns in [6, 10, 74] {
        check(2, [1, 5, 1, columns], 33, "");
    }
}

#[test]
fn every_pair_of_lengths_passes() {
    for (queries, keys) in [
        (1, 1),
        (1, 729),
        (17, 256),
        (97, 128),
        (128, 17),
        (256, 97),
        (729, 1),
    ] {
        check(8, [1, queries, 1, 40], keys, "");
    }
    check(24, [1, 729, 1, 72], 729, "");
}

#[test]
fn batches_and_heads_keep_to_themselves() {
    check(12, [3, 17, 2, 16], 97, "");
    check(3, [3, 33, 1, 40], 64, "");
}

#[test]
fn few_tiles_take_a_head_each_and_many_keys_in_blocks() {
    check(2, [1, 17, 2, 64], 256, "key_block_rows = 64");
    check(1, [1, 24, 1, 16], 300, "key_block_rows = 16");
}

#[test]
fn one_head_spreads_over_the_tiles_of_its_grid() {
    check(
        6,
        [1, 97, 1, 40],
        137,
        "query_block_rows = 49\nkey_splits = 3\nkey_block_rows = 32",
    );
    check(
        4,
        [1, 40, 1, 40],
        128,
        "query_block_rows = 40\nkey_splits = 4",
    );
    check(
        2,
        [1, 24, 1, 16],
        32,
        "query_block_rows = 12\nkey_splits = 1",
    );
}

#[test]
fn a_scale_can_be_a_number() {
    check(4, [1, 32, 2, 16], 64, "scale = -0.5");
    check(4, [1, 32, 2, 16], 64, "scale = 0.0078125");
}

#[test]
fn one_input_can_be_query_key_and_value() {
    let program = Program::new(&bake::file("self_attention.toml"));
    let inputs = program.normal(0.5, 0);
    assert_eq!(inputs.len(), 1);
    program.passes(&SimOptions::default(), &inputs);
}

#[test]
fn stochastic_rounding_errs_little_and_repeatably() {
    let program = Program::new(&bake::file("stochastic.toml"));
    let nearest = Program::new(&bake::file("stochastic.toml").replace("stochastic\"", "nearest\""));
    let inputs = program.normal(0.5, 0);
    let (output, _) = program.run(&SimOptions::default(), &inputs);
    let other = SimOptions {
        fill_seed: Some(99),
        ..SimOptions::default()
    };
    assert_eq!(
        program.run(&other, &inputs).0,
        output,
        "the seed is the program's own"
    );
    assert_ne!(nearest.passes(&SimOptions::default(), &inputs).0, output);
    let verdict = program.judge(&inputs, &output);
    // A rounding at random is off by at most a whole unit instead of half of one.
    assert!(verdict.exact.max_abs_error <= 1e-3, "{verdict:?}");
    assert!(
        verdict.exact.relative_rmse <= 2.0 * verify::RELATIVE_RMSE_MAX,
        "{verdict:?}"
    );
}

/// Two heads of 64 columns, 24 queries and 97 keys in two splits.
fn medium() -> Program {
    let lines = "query_block_rows = 12\nkey_splits = 2";
    Graph {
        tiles: 8,
        query: [1, 24, 2, 64],
        keys: 97,
        lines,
    }
    .program()
}

/// A repeatable whole number of -`most` to `most`.
fn whole(index: usize, most: i32) -> f16 {
    let mixed = (index as u32).wrapping_mul(2_654_435_761) >> 11;
    f16::from_f32((mixed % (2 * most as u32 + 1)) as f32 - most as f32)
}

#[test]
fn scores_of_ten_thousand_pass_by_the_second_reference() {
    let program = medium();
    let mut inputs = program.normal(0.5, 0);
    // Whole numbers, so that every sum is exact and both ways round the same number to f16.
    for (tensor, most) in [(0, 90), (1, 60)] {
        let elements = inputs[tensor].len();
        inputs[tensor] = (0..elements)
            .map(|n| whole(n + 1000 * tensor, most))
            .collect();
    }
    // One query and one key point the same way.
    inputs[0][..64].fill(f16::from_f32(40.0));
    inputs[1][..64].fill(f16::from_f32(31.0));
    let (output, _) = program.run(&SimOptions::default(), &inputs);
    let verdict = program.judge(&inputs, &output);
    assert!(verdict.largest_score > 9e3, "{}", verdict.largest_score);
    assert!(verdict.rounded.is_some() && verdict.passed(), "{verdict:?}");
}

#[test]
fn scores_beyond_three_pass_by_the_second_reference() {
    let program = medium();
    for frame in 0..3 {
        let inputs = program.large_scores(2.0, frame);
        let (output, _) = program.run(&SimOptions::default(), &inputs);
        let verdict = program.judge(&inputs, &output);
        assert!(verdict.largest_score > verify::LARGE_SCORE);
        assert!(verdict.passed(), "{verdict:?}");
    }
}

/// A few keys share a row's weight when scores reach some tens: the result is then as large as a
/// value, and so is the sum that is rounded to f16 after every 16 keys, and the result once more.
/// The roundings are at most half a unit of the last of 11 bits each, and fall at random.
#[test]
fn scores_of_some_tens_err_by_the_roundings_of_the_weighted_sums() {
    let program = medium();
    for (times, frame) in [(3.0, 0), (4.0, 1), (6.0, 2), (12.0, 3)] {
        let inputs = program.large_scores(times, frame);
        let (output, _) = program.run(&SimOptions::default(), &inputs);
        let verdict = program.judge(&inputs, &output);
        let (rounded, _) = verdict.rounded.expect("scores are large");
        let largest = inputs[2]
            .iter()
            .fold(0.0, |most: f64, v| most.max(v.to_f64().abs()));
        let sums = 97f64 / 16.0;
        let bound = largest / 2048.0 * (sums + 2.0).sqrt();
        assert!(
            rounded.max_abs_error < bound,
            "{times}: {bound:e} is less than {rounded:?}"
        );
        assert!(
            rounded.relative_rmse < verify::RELATIVE_RMSE_MAX,
            "{times}: {rounded:?}"
        );
    }
}

#[test]
fn equal_scores_give_the_mean_of_the_values() {
    let program = medium();
    let mut inputs = program.normal(0.5, 0);
    inputs[0].fill(f16::from_f32(0.5));
    inputs[1].fill(f16::from_f32(0.25));
    let (output, _) = program.passes(&SimOptions::default(), &inputs);
    // Nothing tells one query from another.
    let row = 2 * 64;
    assert!(
        output
            .chunks_exact(row)
            .all(|other| other == &output[..row])
    );
    inputs[2].fill(f16::from_f32(-1.25));
    let (output, _) = program.passes(&SimOptions::default(), &inputs);
    assert!(
        output
            .iter()
            .all(|&element| element == f16::from_f32(-1.25))
    );
}

#[test]
fn a_score_far_above_the_others_picks_its_value_bit_by_bit() {
    let program = medium();
    let mut inputs = program.normal(0.5, 0);
    let (heads, columns, keys) = (2, 64, 97);
    inputs[1]
        .iter_mut()
        .for_each(|key| *key = f16::ONE.copysign(*key));
    let chosen = |query: usize| (query * 41 + 7) % keys;
    let row = heads * columns;
    for query in 0..24 {
        for column in 0..row {
            let key = inputs[1][chosen(query) * row + column];
            inputs[0][query * row + column] = f16::from_f32(16.0 * key.to_f32());
        }
    }
    let (output, _) = program.passes(&SimOptions::default(), &inputs);
    for query in 0..24 {
        let want = &inputs[2][chosen(query) * row..][..row];
        assert_eq!(&output[query * row..][..row], want, "query {query}");
    }
}

#[test]
fn what_is_not_finite_stays_in_its_head_and_does_not_stop_the_run() {
    let program = medium();
    let mut inputs = program.normal(0.5, 0);
    let (good, _) = program.run(&SimOptions::default(), &inputs);
    // The second head of query 3, and a value of the first head's last key.
    inputs[0][(3 * 2 + 1) * 64 + 5] = f16::NAN;
    let (bad, _) = program.run(&SimOptions::default(), &inputs);
    for (index, (&good, &bad)) in good.iter().zip(&bad).enumerate() {
        let touched = index / 64 == 3 * 2 + 1;
        assert!(
            if touched { bad.is_nan() } else { bad == good },
            "element {index}: {bad}"
        );
    }
    let judged = bake::judge(program.bundle, &inputs, &good);
    assert!(
        matches!(judged, Err(VerifyError::Reference { .. })),
        "{judged:?}"
    );
    inputs[0][(3 * 2 + 1) * 64 + 5] = f16::ONE;
    inputs[2][(96 * 2) * 64 + 9] = f16::INFINITY;
    let (bad, _) = program.run(&SimOptions::default(), &inputs);
    for (index, bad) in bad.iter().enumerate() {
        let touched = index / 64 % 2 == 0 && index % 64 == 9;
        assert_eq!(bad.is_finite(), !touched, "element {index}: {bad}");
    }
}

#[test]
fn three_frames_go_through_one_session() {
    let program = medium();
    let frames: Vec<_> = (0..3).map(|frame| program.normal(0.5, frame)).collect();
    let views: Vec<&[Vec<f16>]> = frames.iter().map(Vec::as_slice).collect();
    let ran = program.run_frames(&SimOptions::default(), &views);
    for (inputs, output) in frames.iter().zip(&ran.outputs) {
        assert!(program.judge(inputs, output).passed());
    }
    for (frame, inputs) in frames.iter().enumerate() {
        let (alone, facts) = program.run(&SimOptions::default(), inputs);
        assert_eq!(
            alone, ran.outputs[frame],
            "frame {frame} depends on the one before"
        );
        assert_eq!(facts, ran.facts[frame], "frame {frame}");
    }
}

#[test]
fn what_nobody_wrote_decides_nothing() {
    let program = medium();
    let inputs = program.normal(0.5, 0);
    let want = program.passes(&SimOptions::default(), &inputs);
    for seed in [0, 1, 0xffff_ffff_ffff_ffff, 0x1234_5678_9abc_def0] {
        let options = SimOptions {
            fill_seed: Some(seed),
            ..SimOptions::default()
        };
        assert_eq!(program.run(&options, &inputs), want, "seed {seed:#x}");
    }
}

#[test]
fn every_reading_of_the_marks_at_every_pace_gives_the_same_bits() {
    let program = Program::new(&bake::file("two_tiles.toml"));
    let frames: Vec<_> = (0..2).map(|frame| program.normal(0.5, frame)).collect();
    let views: Vec<&[Vec<f16>]> = frames.iter().map(Vec::as_slice).collect();
    let want = program.run_frames(&SimOptions::default(), &views);
    assert!(program.judge(&frames[1], &want.outputs[1]).passed());
    for marks in [Marks::Arrival, Marks::Release] {
        for startup in [Startup::Early, Startup::Late] {
            for progress in [Progress::Immediate, Progress::Delayed] {
                let options = SimOptions {
                    marks,
                    startup,
                    progress,
                    ..SimOptions::default()
                };
                let ran = program.run_frames(&options, &views);
                assert_eq!(ran.outputs, want.outputs, "{options:?}");
                assert_eq!(ran.facts, want.facts, "{options:?}");
            }
        }
    }
}

#[test]
fn one_thread_and_four_give_the_same_bits_and_cycles() {
    let program = Program::new(&bake::file("grid.toml"));
    let inputs = program.normal(0.5, 0);
    let with = |threads| SimOptions {
        threads,
        ..SimOptions::default()
    };
    assert_eq!(
        program.passes(&with(1), &inputs),
        program.run(&with(4), &inputs)
    );
}

/// Cycles between two rests of the tiles that do not count: from the host's mark to the first
/// sample, and from the second to the next barrier.
const BARRIER_CYCLES: u64 = 3000;

#[test]
fn the_sampled_cycles_are_those_the_simulator_counts() {
    let program = Program::new(&bake::file("grid.toml"));
    let inputs = program.normal(0.5, 0);
    let (card, seen) = Tap::load(program.bundle, &SimOptions::default()).expect("it fits");
    let ran = bake::session(program.bundle, Box::new(card), &[&inputs, &inputs]);
    let facts = ran.unwrap_or_else(|error| panic!("{error}")).facts;
    assert_eq!(facts[0], facts[1], "equal calls take equally long");
    let sampled = u64::from(facts[0].cycles);
    let rests: Vec<u64> = seen
        .borrow()
        .cycles
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect();
    let agree = rests
        .iter()
        .filter(|&&cycles| (sampled..sampled + BARRIER_CYCLES).contains(&cycles));
    assert_eq!(
        agree.count(),
        2,
        "{sampled} sampled a call; the simulator counts {rests:?}"
    );
}
