//! Bounds on the error, and the faults they must catch; one judgement for both cards.

use std::fmt;

use half::f16;
use tilekiln_bundle::Rounding;

use crate::reference::{self, Answer, Problem, Scores};

mod fault;

pub use fault::{Fault, nearest};

/// Largest root mean square error in units of the reference's root mean square.
/// [pipeline §3.13]
pub const RELATIVE_RMSE_MAX: f64 = 1e-3;

/// Scores beyond this are judged by the second reference: in f16 a score of size s is wrong by
/// about s / 2048, whatever the rest of the path does. [pipeline §3.13]
pub const LARGE_SCORE: f64 = 3.0;

/// Largest error against the second reference in units of the largest value, at least.
///
/// Where one key outweighs the others a result is as large as a value, and each of its roundings
/// to f16 (the weight, the sums of 16 keys, the result) may be off by 2^-11 of it. Emulation with
/// up to 256 keys and scores of 5 to 1000 finds 4.9e-4 to 9.2e-4; this is three roundings, all at
/// their worst. The 3e-4 of [pipeline §3.13 derived] is less than the last of them alone.
pub const ROUNDED_ERROR_MAX: f64 = 1.5e-3;

/// Most that is given for scores rounded at random, in units of the largest value.
const WEIGHT_ERROR_MAX: f64 = 0.05;

/// The errors that pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Largest absolute error.
    pub max_abs_error: f64,
    /// Largest root mean square error.
    pub rmse: f64,
    /// How the card rounds: at random it errs by up to a whole unit instead of half of one.
    pub rounding: Rounding,
}

impl Limits {
    /// Largest root mean square error in units of the reference's root mean square.
    pub fn relative_rmse(&self) -> f64 {
        match self.rounding {
            Rounding::Nearest => RELATIVE_RMSE_MAX,
            Rounding::Stochastic => 2.0 * RELATIVE_RMSE_MAX,
        }
    }

    /// Largest error against the second reference.
    ///
    /// That one rounds scores to the nearest. At random a score of size s differs by up to
    /// s / 1024 from its, in both directions; results were seen to differ by a quarter of that.
    /// This is given, up to where it would pass anything.
    fn rounded(&self, largest_score: f64, largest_value: f64) -> f64 {
        let units = match self.rounding {
            Rounding::Nearest => ROUNDED_ERROR_MAX,
            Rounding::Stochastic => {
                2.0 * ROUNDED_ERROR_MAX + (largest_score / 4096.0).min(WEIGHT_ERROR_MAX)
            }
        };
        (units * largest_value).max(self.max_abs_error)
    }
}

/// How far an output is from a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Largest absolute error; infinite when an output is not finite.
    pub max_abs_error: f64,
    /// Root of the mean square error; infinite when an output is not finite.
    pub rmse: f64,
    /// The same in units of the reference's root mean square.
    pub relative_rmse: f64,
    /// The element with the largest error.
    pub worst: usize,
    /// Elements that are infinite or no number.
    pub non_finite: u64,
}

/// Why nothing could be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Not the same number of elements.
    #[error("an output of {got} elements against a reference of {want}")]
    Length {
        /// Elements of the output.
        got: usize,
        /// Elements of the reference.
        want: usize,
    },
    /// Nothing to compare.
    #[error("an output without elements proves nothing")]
    Empty,
    /// A reference that is no reference.
    #[error("element {index} of the reference is not finite")]
    Reference {
        /// The first such.
        index: usize,
    },
}

/// What is wrong with an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Complaint {
    /// Infinities or NaNs.
    NonFinite {
        /// How many.
        elements: u64,
    },
    /// One element is too far off.
    MaxAbsError {
        /// By how much.
        got: f64,
        /// How much may be.
        limit: f64,
        /// Which.
        element: usize,
        /// Against which reference.
        scores: Scores,
    },
    /// All in all too far off.
    Rmse {
        /// By how much.
        got: f64,
        /// How much may be.
        limit: f64,
    },
    /// All in all too far off for so small a reference.
    RelativeRmse {
        /// By how much.
        got: f64,
        /// How much may be.
        limit: f64,
    },
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NonFinite { elements } => write!(f, "{elements} elements are not finite"),
            Self::MaxAbsError {
                got,
                limit,
                element,
                scores,
            } => {
                let against = match scores {
                    Scores::Exact => "",
                    Scores::Rounded => " against the reference with rounded scores",
                };
                write!(
                    f,
                    "max_abs_error {got:.4e} exceeds {limit:.4e} at element {element}{against}"
                )
            }
            Self::Rmse { got, limit } => write!(f, "rmse {got:.4e} exceeds {limit:.4e}"),
            Self::RelativeRmse { got, limit } => {
                write!(f, "relative rmse {got:.4e} exceeds {limit:.4e}")
            }
        }
    }
}

/// A judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Against the truth.
    pub exact: Errors,
    /// Against the second reference, and its bound, when scores are large.
    pub rounded: Option<(Errors, f64)>,
    /// The largest absolute value of a scaled score.
    pub largest_score: f64,
    /// What is wrong; nothing, if the output passed.
    pub complaints: Vec<Complaint>,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn passed(&self) -> bool {
        self.complaints.is_empty()
    }
}

/// Measures how far `output` is from `reference`.
///
/// # Errors
///
/// [`VerifyError`] when they cannot be compared; a NaN in the reference is one such case.
pub fn errors(output: &[f16], reference: &[f64]) -> Result<Errors, VerifyError> {
    if output.len() != reference.len() {
        return Err(VerifyError::Length {
            got: output.len(),
            want: reference.len(),
        });
    }
    if output.is_empty() {
        return Err(VerifyError::Empty);
    }
    if let Some(index) = reference.iter().position(|value| !value.is_finite()) {
        return Err(VerifyError::Reference { index });
    }
    let (mut worst, mut max_abs_error, mut non_finite) = (0, 0.0, 0);
    let (mut squares, mut reference_squares) = (0.0, 0.0);
    for (index, (got, want)) in output.iter().zip(reference).enumerate() {
        let mut error = (got.to_f64() - want).abs();
        if !got.is_finite() {
            non_finite += 1;
            error = f64::INFINITY;
        }
        if error > max_abs_error {
            (worst, max_abs_error) = (index, error);
        }
        squares += error * error;
        reference_squares += want * want;
    }
    let rmse = (squares / output.len() as f64).sqrt();
    let relative_rmse = match reference_squares {
        // Everything is zero and must be: any error at all is too much.
        0.0 => {
            if squares == 0.0 {
                0.0
            } else {
                f64::INFINITY
            }
        }
        reference_squares => (squares / reference_squares).sqrt(),
    };
    Ok(Errors {
        max_abs_error,
        rmse,
        relative_rmse,
        worst,
        non_finite,
    })
}

/// Judges an output by the truth, or, when scores are large, by the second reference; by no less
/// than `limits` allow.
///
/// # Errors
///
/// [`VerifyError`] when they cannot be compared.
pub fn judge(
    problem: &Problem<'_>,
    output: &[f16],
    limits: &Limits,
    threads: usize,
) -> Result<Verdict, VerifyError> {
    let exact = reference::attention(problem, Scores::Exact, threads);
    judge_by(problem, &exact, output, limits, threads)
}

/// Judges as [`judge`] does, with the truth already known.
///
/// # Errors
///
/// [`VerifyError`] when they cannot be compared.
pub fn judge_by(
    problem: &Problem<'_>,
    truth: &Answer,
    output: &[f16],
    limits: &Limits,
    threads: usize,
) -> Result<Verdict, VerifyError> {
    let exact = errors(output, &truth.output)?;
    let largest_score = truth.largest_score;
    let mut verdict = Verdict {
        exact,
        rounded: None,
        largest_score,
        complaints: Vec::new(),
    };
    if exact.non_finite > 0 {
        verdict.complaints.push(Complaint::NonFinite {
            elements: exact.non_finite,
        });
    }
    if largest_score > LARGE_SCORE {
        let second = reference::attention(problem, Scores::Rounded, threads);
        let rounded = errors(output, &second.output)?;
        let limit = limits.rounded(largest_score, largest(problem.value));
        verdict.rounded = Some((rounded, limit));
        verdict.complain_of_max(rounded, limit, Scores::Rounded);
    } else {
        verdict.complain_of_max(exact, limits.max_abs_error, Scores::Exact);
        if exact.rmse > limits.rmse {
            let (got, limit) = (exact.rmse, limits.rmse);
            verdict.complaints.push(Complaint::Rmse { got, limit });
        }
        if exact.relative_rmse > limits.relative_rmse() {
            let (got, limit) = (exact.relative_rmse, limits.relative_rmse());
            verdict
                .complaints
                .push(Complaint::RelativeRmse { got, limit });
        }
    }
    Ok(verdict)
}

impl Verdict {
    fn complain_of_max(&mut self, errors: Errors, limit: f64, scores: Scores) {
        if errors.max_abs_error > limit {
            let (got, element) = (errors.max_abs_error, errors.worst);
            self.complaints.push(Complaint::MaxAbsError {
                got,
                limit,
                element,
                scores,
            });
        }
    }
}

/// The largest absolute value.
fn largest(values: &[f16]) -> f64 {
    values
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(value.to_f64().abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Shape;
    use crate::stream::Normal;

    const SHAPE: Shape = Shape {
        batch: 2,
        query_length: 9,
        key_length: 200,
        heads: 2,
        head_dimension: 72,
    };
    const LIMITS: Limits = Limits {
        max_abs_error: 2e-4,
        rmse: 2e-5,
        rounding: Rounding::Nearest,
    };

    fn with_problem<T>(std: f64, body: impl FnOnce(&Problem<'_>) -> T) -> T {
        let generate = |seed, elements| {
            Normal {
                seed,
                mean: 0.0,
                std,
            }
            .generate(elements)
        };
        let query = generate(1, SHAPE.query_elements());
        let key = generate(2, SHAPE.key_elements());
        let value = generate(3, SHAPE.key_elements());
        let scale = 1.0 / 72f64.sqrt();
        body(&Problem {
            shape: SHAPE,
            scale,
            query: &query,
            key: &key,
            value: &value,
        })
    }

    #[test]
    fn a_perfect_output_passes() {
        with_problem(0.5, |problem| {
            let good = nearest(&reference::attention(problem, Scores::Exact, 1));
            let verdict = judge(problem, &good, &LIMITS, 1).unwrap();
            assert_eq!(verdict.complaints, []);
            assert!(verdict.rounded.is_none(), "{}", verdict.largest_score);
            assert!(verdict.exact.rmse > 0.0, "rounding to f16 is an error too");
        });
    }

    #[test]
    fn every_fault_is_caught() {
        with_problem(0.5, |problem| {
            let good = nearest(&reference::attention(problem, Scores::Exact, 1));
            for fault in Fault::ALL {
                let output = fault.output(problem, &good, 1);
                let verdict = judge(problem, &output, &LIMITS, 1).unwrap();
                assert!(!verdict.passed(), "{fault} passes");
            }
        });
    }

    #[test]
    fn every_fault_is_caught_by_the_second_reference() {
        with_problem(4.0, |problem| {
            let good = nearest(&reference::attention(problem, Scores::Rounded, 1));
            let verdict = judge(problem, &good, &LIMITS, 1).unwrap();
            assert!(verdict.largest_score > LARGE_SCORE);
            assert_eq!(verdict.complaints, []);
            assert!(verdict.rounded.unwrap().0.max_abs_error < verdict.exact.max_abs_error);
            let stochastic = Limits {
                rounding: Rounding::Stochastic,
                ..LIMITS
            };
            for fault in Fault::ALL {
                let output = fault.output(problem, &good, 1);
                for limits in [LIMITS, stochastic] {
                    let verdict = judge(problem, &output, &limits, 1).unwrap();
                    assert!(!verdict.passed(), "{fault} passes with {limits:?}");
                }
            }
        });
    }

    #[test]
    fn no_score_is_so_large_that_everything_passes() {
        let limits = Limits {
            rounding: Rounding::Stochastic,
            ..LIMITS
        };
        assert!(limits.rounded(10.0, 2.0) > LIMITS.rounded(10.0, 2.0));
        assert!(limits.rounded(1e4, 2.0) < 0.25);
    }

    #[test]
    fn a_graphs_own_limit_holds_for_large_scores_too() {
        let loose = Limits {
            max_abs_error: 0.5,
            ..LIMITS
        };
        assert!(LIMITS.rounded(10.0, 2.0) < 0.01);
        assert_eq!(loose.rounded(10.0, 2.0), 0.5);
    }

    #[test]
    fn a_nan_in_the_reference_is_a_failure() {
        let output = [f16::ONE; 2];
        assert_eq!(
            errors(&output, &[1.0, f64::NAN]),
            Err(VerifyError::Reference { index: 1 })
        );
    }

    #[test]
    fn what_cannot_be_compared_is_a_failure() {
        assert_eq!(errors(&[], &[]), Err(VerifyError::Empty));
        let error = errors(&[f16::ONE], &[1.0, 2.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an output of 1 elements against a reference of 2"
        );
    }

    #[test]
    fn infinities_are_counted_and_never_averaged_away() {
        let found = errors(&[f16::INFINITY, f16::NAN, f16::ONE], &[1.0, 1.0, 1.0]).unwrap();
        assert_eq!(found.non_finite, 2);
        assert!(found.max_abs_error.is_infinite() && found.rmse.is_infinite());
    }

    #[test]
    fn complaints_say_both_numbers() {
        let complaint = Complaint::Rmse {
            got: 3e-5,
            limit: 2e-5,
        };
        assert_eq!(complaint.to_string(), "rmse 3.0000e-5 exceeds 2.0000e-5");
    }
}
