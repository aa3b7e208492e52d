//! Every kernel alone on one tile, against the same computation in Rust.

use crate::one_tile::{Ran, halves, run, run_seeded};

const A: u32 = 0x6_0000; // region 0
const B: u32 = 0x8_0000; // region 1, pairs of 32 KiB
const C: u32 = 0xA_0000;
const D: u32 = 0xC_0000;

/// A repeatable value in -1 to 1 with few bits, so that small sums of products are exact.
fn value(index: usize) -> f32 {
    let mixed = (index as u32).wrapping_mul(2_654_435_761) >> 13;
    (mixed % 17) as f32 / 8.0 - 1.0
}

fn values(count: usize, from: usize) -> Vec<f32> {
    (from..from + count).map(value).collect()
}

fn round(value: f32) -> f32 {
    half::f16::from_f32(value).to_f32()
}

#[test]
fn copy_moves_every_word_and_none_beyond() {
    for words in [0, 1, 5, 6, 7, 100] {
        let source: Vec<u8> = (0..8 * words).map(|byte| byte as u8 ^ 0x5a).collect();
        let guard = vec![0xcc; 8];
        let end = C + 8 * words;
        let ran = run(
            "copy",
            &[A, C, words],
            &[(A, source.clone()), (end, guard.clone())],
        );
        assert_eq!(ran.bytes(C, source.len()), source, "{words} words");
        assert_eq!(ran.bytes(end, 8), guard, "{words} words");
    }
}

#[test]
fn pack_left_scales_in_f32_and_pads_with_zeros() {
    for (rows, words, padded) in [(1, 1, 4), (7, 18, 20), (13, 4, 4), (0, 4, 4)] {
        let source = values(rows * words * 4, 3);
        let scale = 0.117_851_13_f32;
        let arguments = [
            A,
            C,
            rows as u32,
            words as u32,
            padded as u32,
            scale.to_bits(),
        ];
        let ran = run("pack_left", &arguments, &[(A, halves(&source))]);
        let packed = ran.halves(C, rows * padded * 4);
        for row in 0..rows {
            for column in 0..padded * 4 {
                let expected = if column < words * 4 {
                    round(source[row * words * 4 + column] * scale)
                } else {
                    0.0
                };
                assert_eq!(
                    packed[row * padded * 4 + column],
                    expected,
                    "row {row} column {column}"
                );
            }
        }
    }
}

/// Panels of `groups` groups of 16 rows of `columns` elements, as a kernel packed them at D.
fn panels(kernel: &str, groups: usize, columns: usize) -> (Vec<f32>, Ran) {
    let source = values(groups * 16 * columns, 11);
    let count = columns.div_ceil(16);
    let stride = count * 512 * 2;
    let arguments = [
        A,
        D,
        groups as u32,
        columns as u32 / 4,
        count as u32,
        stride as u32,
    ];
    (
        source.clone(),
        run(kernel, &arguments, &[(A, halves(&source))]),
    )
}

#[test]
fn pack_right_makes_rows_channels() {
    for (groups, columns) in [(1, 16), (2, 72), (3, 40), (1, 4), (0, 16), (1, 128)] {
        let (source, ran) = panels("pack_right", groups, columns);
        let count = columns.div_ceil(16);
        for group in 0..groups {
            let packed = ran.halves(D + (group * count * 1024) as u32, count * 256);
            for (index, &found) in packed.iter().enumerate() {
                let (panel, channel, inner) = (index / 256, index / 16 % 16, index % 16);
                let column = panel * 16 + inner;
                let row = group * 16 + channel;
                let expected = if column < columns {
                    source[row * columns + column]
                } else {
                    0.0
                };
                assert_eq!(
                    found, expected,
                    "{groups}x{columns}: row {row} column {column}"
                );
            }
        }
    }
}

#[test]
fn pack_right_transposed_makes_columns_channels() {
    for (groups, columns) in [(1, 16), (2, 72), (3, 40), (1, 4), (0, 16), (1, 128)] {
        let (source, ran) = panels("pack_right_transposed", groups, columns);
        let count = columns.div_ceil(16);
        for group in 0..groups {
            let packed = ran.halves(D + (group * count * 1024) as u32, count * 256);
            for (index, &found) in packed.iter().enumerate() {
                let column = index / 16;
                let row = group * 16 + index % 16;
                let expected = if column < columns {
                    source[row * columns + column]
                } else {
                    0.0
                };
                assert_eq!(
                    found, expected,
                    "{groups}x{columns}: row {row} column {column}"
                );
            }
        }
    }
}

/// Runs a product of `rows` x `inner` by `inner` x `columns` and checks every element.
fn product(rows: usize, inner: usize, columns: usize, slack: usize, seed: u64) -> u64 {
    let left_row = inner + slack;
    let out_row = columns + slack;
    let left = values(rows * left_row, 5);
    let right = values(inner * columns, 77);
    let mut panels = vec![0.0; inner * columns];
    for n in 0..columns {
        for k in 0..inner {
            let panel = (n / 16) * (inner / 16) + k / 16;
            panels[panel * 256 + (n % 16) * 16 + k % 16] = right[k * columns + n];
        }
    }
    let arguments = [
        A,
        2 * left_row as u32,
        C,
        B,
        2 * out_row as u32,
        rows as u32,
        inner as u32 / 16,
        columns as u32 / 16,
        512,
        inner as u32 / 16 * 512,
    ];
    let memory = [(A, halves(&left)), (C, halves(&panels))];
    let ran = run_seeded("gemm", &arguments, &memory, seed);
    let out = ran.halves(B, rows * out_row);
    for m in 0..rows {
        for n in 0..columns {
            let mut sum = 0.0;
            for block in 0..inner / 16 {
                let terms = (0..16).map(|k| block * 16 + k);
                let part: f32 = terms
                    .map(|k| left[m * left_row + k] * right[k * columns + n])
                    .sum();
                sum = round(sum + part);
            }
            assert_eq!(
                out[m * out_row + n],
                sum,
                "{rows}x{inner}x{columns}: row {m} column {n}"
            );
        }
    }
    ran.cycles
}

#[test]
fn gemm_multiplies_any_number_of_rows() {
    for rows in [1, 2, 5, 6, 7, 11, 12, 13, 17, 18, 19, 24, 35, 36, 37, 64] {
        product(rows, 32, 16, 0, rows as u64);
    }
}

#[test]
fn gemm_multiplies_any_number_of_panels() {
    for (inner, columns) in [(16, 16), (16, 48), (80, 112), (112, 80), (48, 16)] {
        product(25, inner, columns, 0, 1);
    }
}

#[test]
fn gemm_walks_rows_that_are_wider_than_its_operands() {
    product(20, 32, 32, 16, 2);
    product(3, 32, 32, 16, 3);
}

#[test]
fn gemm_needs_at_most_a_quarter_more_cycles_than_the_planner_thinks() {
    let (rows, inner, columns) = (243, 80, 112);
    let cycles = product(rows, inner, columns, 0, 4);
    let panels = (inner / 16 * columns / 16) as u64;
    let planned = panels * (24 * (rows as u64).div_ceil(6) + 235);
    assert!(
        4 * cycles < 5 * planned,
        "{cycles} cycles; the planner thinks {planned}"
    );
}

#[test]
fn mask_overwrites_what_is_not_valid() {
    for valid in 0..=16 {
        let (rows, row) = (13, 48);
        let scores = values(rows * row, 9);
        let arguments = [B + 64, 2 * row as u32, rows as u32, valid as u32];
        let found = run("mask", &arguments, &[(B, halves(&scores))]).halves(B, rows * row);
        for (index, (&found, &before)) in found.iter().zip(&scores).enumerate() {
            let expected = if index % row >= 32 + valid {
                -65504.0
            } else {
                before
            };
            assert_eq!(
                found,
                expected,
                "{valid} valid: row {} column {}",
                index / row,
                index % row
            );
        }
    }
}

#[test]
fn softmax_leaves_weights_maxima_and_sums() {
    for (rows, columns) in [(1, 16), (6, 32), (13, 112), (7, 48)] {
        let row = columns + 16;
        let scores: Vec<f32> = values(rows * row, 21)
            .iter()
            .map(|v| round(3.0 * v))
            .collect();
        let arguments = [B, 2 * row as u32, rows as u32, columns as u32, A];
        let ran = run("softmax", &arguments, &[(B, halves(&scores))]);
        let found = ran.halves(B, rows * row);
        let statistics = ran.floats(A, 2 * rows);
        for r in 0..rows {
            let line = &scores[r * row..r * row + columns];
            let most = line.iter().copied().fold(f32::MIN, f32::max);
            assert_eq!(statistics[2 * r], most, "row {r}");
            let mut sum = 0.0;
            for (c, score) in line.iter().enumerate() {
                let weight = round(libm::expf(round(score - most)));
                let found = found[r * row + c];
                assert!(
                    (found - weight).abs() <= weight * 1e-3,
                    "row {r} column {c}: {found} {weight}"
                );
                sum += found;
            }
            assert!((statistics[2 * r + 1] - sum).abs() < 1e-4 * sum, "row {r}");
            assert_eq!(
                found[r * row + columns..(r + 1) * row],
                scores[r * row + columns..(r + 1) * row]
            );
        }
    }
}

#[test]
fn merge_weighs_the_partial_results_of_all_splits() {
    for (splits, blocks, rows, columns) in
        [(1, 1, 5, 16), (1, 3, 7, 72), (3, 2, 13, 40), (7, 1, 35, 72)]
    {
        let padded = usize::next_multiple_of(columns, 16);
        let stride = rows * padded;
        let partials = values(splits * blocks * stride, 31);
        let statistics: Vec<f32> = (0..splits * rows)
            .flat_map(|index| [value(index + 5) * 2.0, 3.0 + value(index + 50)])
            .collect();
        let bytes: Vec<u8> = statistics.iter().flat_map(|v| v.to_le_bytes()).collect();
        let words = columns / 4;
        let arguments = [
            B,
            2 * stride as u32,
            splits as u32,
            blocks as u32,
            A,
            8 * rows as u32,
            rows as u32,
            2 * padded as u32,
            D,
            words as u32,
        ];
        let ran = run("merge", &arguments, &[(B, halves(&partials)), (A, bytes)]);
        let found = ran.halves(D, rows * columns);
        for r in 0..rows {
            let of = |split: usize| {
                (
                    statistics[2 * (split * rows + r)],
                    statistics[2 * (split * rows + r) + 1],
                )
            };
            let most = (0..splits).map(|s| of(s).0).fold(f32::MIN, f32::max);
            let scale: f32 = (0..splits)
                .map(|s| libm::expf(of(s).0 - most) * of(s).1)
                .sum();
            for c in 0..columns {
                let sum: f32 = (0..splits * blocks)
                    .map(|p| {
                        libm::expf(of(p / blocks).0 - most) * partials[p * stride + r * padded + c]
                    })
                    .sum();
                let (expected, found) = (sum / scale, found[r * columns + c]);
                assert!(
                    (expected - found).abs() < 1e-3,
                    "{splits}x{blocks} row {r} column {c}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn sample_stores_the_cycle_counter_once() {
    let guard = vec![0xcc; 4];
    let ran = run("sample", &[A], &[(A + 4, guard.clone())]);
    let word = ran.bytes(A, 4);
    let count = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    assert!(u64::from(count) < ran.cycles, "{count}");
    assert_eq!(ran.bytes(A + 4, 4), guard);
}
