//! Wrong outputs, and right ones, to put a judgement to the test with.

use std::fmt;

use half::f16;

use crate::reference::{self, Answer, Problem, Scores};

/// A way for an output to be wrong that every judgement must catch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing was computed.
    Zero,
    /// Two heads were exchanged.
    SwappedHead,
    /// Some keys were left out.
    DroppedKeyBlock,
    /// The scores were not scaled as they should.
    WrongScale,
    /// An element is no number.
    NotANumber,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 5] = [
        Self::Zero,
        Self::SwappedHead,
        Self::DroppedKeyBlock,
        Self::WrongScale,
        Self::NotANumber,
    ];

    /// What a card with this fault would answer.
    pub fn output(self, problem: &Problem<'_>, good: &[f16], threads: usize) -> Vec<f16> {
        let again =
            |problem: &Problem<'_>| nearest(&reference::attention(problem, Scores::Exact, threads));
        match self {
            Self::Zero => vec![f16::ZERO; good.len()],
            Self::SwappedHead => swap_heads(problem, good),
            Self::WrongScale => again(&Problem {
                scale: problem.scale * 1.1,
                ..*problem
            }),
            Self::DroppedKeyBlock => {
                let (mut shape, key, value) = without_keys(problem);
                shape.query_length = problem.shape.query_length;
                again(&Problem {
                    shape,
                    key: &key,
                    value: &value,
                    ..*problem
                })
            }
            Self::NotANumber => {
                let mut output = good.to_vec();
                output[good.len() / 2] = f16::NAN;
                output
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "an all-zero output",
            Self::SwappedHead => "a swapped head",
            Self::DroppedKeyBlock => "a dropped key block",
            Self::WrongScale => "a wrong scale",
            Self::NotANumber => "a NaN",
        })
    }
}

/// An answer rounded to f16: what a perfect card gives.
pub fn nearest(answer: &Answer) -> Vec<f16> {
    answer
        .output
        .iter()
        .map(|&value| f16::from_f32(value as f32))
        .collect()
}

/// Exchanges the first two heads.
fn swap_heads(problem: &Problem<'_>, good: &[f16]) -> Vec<f16> {
    let columns = problem.shape.head_dimension;
    let mut output = good.to_vec();
    for position in output.chunks_exact_mut(problem.shape.heads * columns) {
        if let Some((first, rest)) = position.split_at_mut_checked(columns)
            && let Some(second) = rest.get_mut(..columns)
        {
            first.swap_with_slice(second);
        }
    }
    output
}

/// The problem without its last 32 keys, or without all but one.
fn without_keys(problem: &Problem<'_>) -> (reference::Shape, Vec<f16>, Vec<f16>) {
    let mut shape = problem.shape;
    let keep = shape.key_length.saturating_sub(32).max(1);
    let width = shape.heads * shape.head_dimension;
    let cut = |all: &[f16]| {
        all.chunks_exact(shape.key_length * width)
            .flat_map(|batch| batch[..keep * width].iter().copied())
            .collect()
    };
    let (key, value) = (cut(problem.key), cut(problem.value));
    shape.key_length = keep;
    (shape, key, value)
}
