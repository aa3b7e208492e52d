//! The graph's answer on the host: attention in f64 from inputs that are f16 already.
//!
//! There are two answers. [`Scores::Exact`] is the truth. [`Scores::Rounded`] rounds the scores
//! where the tile's data path rounds them and nothing else: a model written down here, not a copy
//! of the simulator. [pipeline §3.13]

use std::sync::atomic::{AtomicUsize, Ordering};

use half::f16;

/// The sizes of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Batch size.
    pub batch: usize,
    /// Query rows of a head.
    pub query_length: usize,
    /// Key rows of a head.
    pub key_length: usize,
    /// Heads.
    pub heads: usize,
    /// Columns of a head.
    pub head_dimension: usize,
}

impl Shape {
    /// Elements of the queries, and of the output.
    pub fn query_elements(&self) -> usize {
        self.batch * self.query_length * self.heads * self.head_dimension
    }

    /// Elements of the keys, and of the values.
    pub fn key_elements(&self) -> usize {
        self.batch * self.key_length * self.heads * self.head_dimension
    }
}

/// An attention with its inputs, each [batch, length, heads, head dimension].
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The sizes.
    pub shape: Shape,
    /// Factor on the scores.
    pub scale: f64,
    /// The queries.
    pub query: &'a [f16],
    /// The keys.
    pub key: &'a [f16],
    /// The values.
    pub value: &'a [f16],
}

/// How scores are computed; everything behind them is in f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// In f64 from start to end.
    Exact,
    /// The scaled query rounded to f16, and the partial score rounded to f16 after every 16
    /// products.
    Rounded,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The result, [batch, query length, heads, head dimension].
    pub output: Vec<f64>,
    /// The largest absolute value of a scaled score.
    pub largest_score: f64,
}

/// Rows and columns of the blocks the loops below keep in registers.
const BLOCK: usize = 4;

/// Products summed before a partial score is rounded. [kernels §5]
const PRODUCTS: usize = 16;

/// Computes an answer on `threads` threads; the same bits with any number.
///
/// # Panics
///
/// When an input does not have the elements of its shape.
pub fn attention(problem: &Problem<'_>, scores: Scores, threads: usize) -> Answer {
    let Shape { batch, heads, .. } = problem.shape;
    assert_eq!(
        problem.query.len(),
        problem.shape.query_elements(),
        "a query of another shape"
    );
    assert_eq!(
        problem.key.len(),
        problem.shape.key_elements(),
        "keys of another shape"
    );
    assert_eq!(
        problem.value.len(),
        problem.shape.key_elements(),
        "values of another shape"
    );
    let mut answer = Answer {
        output: vec![0.0; problem.shape.query_elements()],
        largest_score: 0.0,
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= batch * heads {
                return done;
            }
            done.push((number, Head::gather(problem, scores, number).answer(scores)));
        }
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("no panic there"))
            .collect()
    });
    for (number, head) in done {
        answer.largest_score = answer.largest_score.max(head.largest_score);
        scatter(&problem.shape, number, &head.output, &mut answer.output);
    }
    answer
}

/// One head's rows into their places.
fn scatter(shape: &Shape, number: usize, head: &[f64], output: &mut [f64]) {
    let Shape {
        query_length,
        heads,
        head_dimension,
        ..
    } = *shape;
    for (row, values) in head.chunks_exact(head_dimension).enumerate() {
        let at = row_start(shape, query_length, heads, number, row);
        output[at..at + head_dimension].copy_from_slice(values);
    }
}

/// The first element of row `row` of head `number` (batch index times heads plus head).
fn row_start(shape: &Shape, length: usize, heads: usize, number: usize, row: usize) -> usize {
    ((number / heads * length + row) * heads + number % heads) * shape.head_dimension
}

/// One head's inputs, padded with zeros to whole blocks.
struct Head {
    /// Rows of columns; already scaled when scores are rounded.
    query: Vec<f64>,
    /// Columns of keys: the transpose.
    key: Vec<f64>,
    /// Keys of columns.
    value: Vec<f64>,
    scale: f64,
    shape: Shape,
    /// Query rows, keys and columns with their padding.
    rows: usize,
    keys: usize,
    columns: usize,
}

impl Head {
    fn gather(problem: &Problem<'_>, scores: Scores, number: usize) -> Self {
        let shape = problem.shape;
        let Shape {
            query_length,
            key_length,
            heads,
            head_dimension,
            ..
        } = shape;
        let rows = query_length.next_multiple_of(BLOCK);
        let keys = key_length.next_multiple_of(BLOCK);
        let columns = head_dimension.next_multiple_of(PRODUCTS);
        let mut query = vec![0.0; rows * columns];
        for row in 0..query_length {
            let at = row_start(&shape, query_length, heads, number, row);
            for column in 0..head_dimension {
                query[row * columns + column] = match scores {
                    Scores::Exact => problem.query[at + column].to_f64(),
                    Scores::Rounded => scaled(problem.query[at + column], problem.scale),
                };
            }
        }
        let (mut key, mut value) = (vec![0.0; keys * columns], vec![0.0; keys * columns]);
        for row in 0..key_length {
            let at = row_start(&shape, key_length, heads, number, row);
            for column in 0..head_dimension {
                key[column * keys + row] = problem.key[at + column].to_f64();
                value[row * columns + column] = problem.value[at + column].to_f64();
            }
        }
        let scale = if scores == Scores::Exact {
            problem.scale
        } else {
            1.0
        };
        Self {
            query,
            key,
            value,
            scale,
            shape,
            rows,
            keys,
            columns,
        }
    }

    fn answer(&self, scores: Scores) -> Answer {
        let Shape {
            query_length,
            head_dimension,
            ..
        } = self.shape;
        let mut answer = Answer {
            output: Vec::with_capacity(query_length * head_dimension),
            largest_score: 0.0,
        };
        let mut weights = vec![0.0; BLOCK * self.keys];
        let mut block = vec![0.0; BLOCK * self.columns];
        for first in (0..self.rows).step_by(BLOCK) {
            match scores {
                Scores::Exact => self.scores::<false>(first, &mut weights),
                Scores::Rounded => self.scores::<true>(first, &mut weights),
            }
            let rows = BLOCK.min(query_length - first);
            let mut sums = [1.0; BLOCK];
            for (row, sum) in sums.iter_mut().enumerate().take(rows) {
                let weights = &mut weights[row * self.keys..][..self.keys];
                let (largest, of_row) = softmax(weights, self.shape.key_length);
                answer.largest_score = answer.largest_score.max(largest);
                *sum = of_row;
            }
            self.weigh(&weights, &mut block);
            for (row, sum) in sums.iter().enumerate().take(rows) {
                let values = &block[row * self.columns..][..head_dimension];
                answer.output.extend(values.iter().map(|value| value / sum));
            }
        }
        answer
    }

    /// The scores of `BLOCK` rows from `first`.
    #[expect(
        clippy::needless_range_loop,
        reason = "indices over small arrays become vectors"
    )]
    fn scores<const ROUNDED: bool>(&self, first: usize, scores: &mut [f64]) {
        let query: [&[f64]; BLOCK] =
            std::array::from_fn(|row| &self.query[(first + row) * self.columns..][..self.columns]);
        for at in (0..self.keys).step_by(BLOCK) {
            let mut sums = [[0.0f64; BLOCK]; BLOCK];
            for some in (0..self.columns).step_by(PRODUCTS) {
                let mut partial = [[0.0f64; BLOCK]; BLOCK];
                for column in some..some + PRODUCTS {
                    let keys: &[f64; BLOCK] = self.key[column * self.keys + at..][..BLOCK]
                        .try_into()
                        .expect("a block");
                    for row in 0..BLOCK {
                        let factor = query[row][column];
                        for key in 0..BLOCK {
                            partial[row][key] += factor * keys[key];
                        }
                    }
                }
                for row in 0..BLOCK {
                    for key in 0..BLOCK {
                        let sum = sums[row][key] + partial[row][key];
                        sums[row][key] = if ROUNDED { rounded(sum) } else { sum };
                    }
                }
            }
            for row in 0..BLOCK {
                for key in 0..BLOCK {
                    scores[row * self.keys + at + key] = sums[row][key] * self.scale;
                }
            }
        }
    }

    /// Weighted sums of the values for `BLOCK` rows of weights.
    #[expect(
        clippy::needless_range_loop,
        reason = "indices over small arrays become vectors"
    )]
    fn weigh(&self, weights: &[f64], block: &mut [f64]) {
        let weights: [&[f64]; BLOCK] =
            std::array::from_fn(|row| &weights[row * self.keys..][..self.keys]);
        for at in (0..self.columns).step_by(BLOCK) {
            let mut sums = [[0.0f64; BLOCK]; BLOCK];
            for key in 0..self.shape.key_length {
                let values: &[f64; BLOCK] = self.value[key * self.columns + at..][..BLOCK]
                    .try_into()
                    .expect("a block");
                for row in 0..BLOCK {
                    let weight = weights[row][key];
                    for column in 0..BLOCK {
                        sums[row][column] += weight * values[column];
                    }
                }
            }
            for row in 0..BLOCK {
                block[row * self.columns + at..][..BLOCK].copy_from_slice(&sums[row]);
            }
        }
    }
}

/// Scores to unnormalised weights, in place; gives the largest absolute score and the sum.
fn softmax(scores: &mut [f64], keys: usize) -> (f64, f64) {
    let real = &mut scores[..keys];
    let maximum = real.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let largest = real
        .iter()
        .fold(0.0, |largest: f64, score| largest.max(score.abs()));
    let mut sum = 0.0;
    for score in real {
        *score = libm::exp(*score - maximum);
        sum += *score;
    }
    (largest, sum)
}

/// A query element as it is packed: scaled in f32, rounded to f16. [kernels §5]
fn scaled(query: f16, scale: f64) -> f64 {
    f16::from_f32(query.to_f32() * scale as f32).to_f64()
}

/// Rounds to the nearest f16, ties to even; what f16 cannot hold becomes infinite.
///
/// Adding and subtracting a number whose last bit is worth an f16's last bit makes the addition
/// round there, which costs three operations and no branch.
fn rounded(value: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    // The smallest normal f16 is 2^-14; below it the spacing stays the same.
    const SMALLEST: u64 = (1023 - 14) << 52;
    // f64 has 42 bits behind those of an f16.
    const BEHIND: u64 = 42 << 52;
    let exponent = (value.to_bits() & EXPONENT).max(SMALLEST);
    let magic = 1.5 * f64::from_bits(exponent + BEHIND);
    let near = (value + magic) - magic;
    if near.abs() > 65504.0 {
        f64::INFINITY.copysign(value)
    } else {
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Normal;

    fn problem(shape: Shape, std: f64) -> [Vec<f16>; 3] {
        let generate = |seed, elements| {
            Normal {
                seed,
                mean: 0.0,
                std,
            }
            .generate(elements)
        };
        [
            generate(1, shape.query_elements()),
            generate(2, shape.key_elements()),
            generate(3, shape.key_elements()),
        ]
    }

    const SHAPE: Shape = Shape {
        batch: 2,
        query_length: 5,
        key_length: 37,
        heads: 3,
        head_dimension: 18,
    };

    /// The textbook's loops.
    fn plain(problem: &Problem<'_>) -> Vec<f64> {
        let Shape {
            batch,
            query_length,
            key_length,
            heads,
            head_dimension,
        } = problem.shape;
        let mut output = vec![0.0; problem.shape.query_elements()];
        for b in 0..batch {
            for h in 0..heads {
                for i in 0..query_length {
                    let at = |length, row| ((b * length + row) * heads + h) * head_dimension;
                    let q = &problem.query[at(query_length, i)..][..head_dimension];
                    let scores: Vec<f64> = (0..key_length)
                        .map(|j| {
                            let k = &problem.key[at(key_length, j)..][..head_dimension];
                            let dot: f64 =
                                q.iter().zip(k).map(|(q, k)| q.to_f64() * k.to_f64()).sum();
                            (dot * problem.scale).exp()
                        })
                        .collect();
                    let sum: f64 = scores.iter().sum();
                    for (j, score) in scores.iter().enumerate() {
                        for d in 0..head_dimension {
                            output[at(query_length, i) + d] +=
                                score / sum * problem.value[at(key_length, j) + d].to_f64();
                        }
                    }
                }
            }
        }
        output
    }

    #[test]
    fn blocks_give_the_textbooks_answer() {
        let [query, key, value] = problem(SHAPE, 0.5);
        let problem = Problem {
            shape: SHAPE,
            scale: 0.25,
            query: &query,
            key: &key,
            value: &value,
        };
        let answer = attention(&problem, Scores::Exact, 2);
        for (index, (got, want)) in answer.output.iter().zip(plain(&problem)).enumerate() {
            assert!(
                (got - want).abs() < 1e-14,
                "element {index}: {got} and {want}"
            );
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let [query, key, value] = problem(SHAPE, 2.0);
        let problem = Problem {
            shape: SHAPE,
            scale: 0.25,
            query: &query,
            key: &key,
            value: &value,
        };
        for scores in [Scores::Exact, Scores::Rounded] {
            assert_eq!(
                attention(&problem, scores, 1),
                attention(&problem, scores, 5)
            );
        }
    }

    #[test]
    fn huge_scores_choose_one_key() {
        let shape = Shape {
            batch: 1,
            query_length: 1,
            key_length: 3,
            heads: 1,
            head_dimension: 2,
        };
        let of = |values: &[f32]| values.iter().map(|&v| f16::from_f32(v)).collect::<Vec<_>>();
        let (query, key) = (of(&[100.0, 0.0]), of(&[1.0, 0.0, 100.0, 0.0, -100.0, 0.0]));
        let value = of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let problem = Problem {
            shape,
            scale: 1.0,
            query: &query,
            key: &key,
            value: &value,
        };
        for scores in [Scores::Exact, Scores::Rounded] {
            let answer = attention(&problem, scores, 1);
            assert_eq!(answer.output, [3.0, 4.0]);
            assert_eq!(answer.largest_score, 1e4);
        }
    }

    #[test]
    fn rounding_is_that_of_f16() {
        for bits in 0..0x7c00u16 {
            let here = f16::from_bits(bits).to_f64();
            let next = f16::from_bits(bits + 1).to_f64();
            assert_eq!(rounded(here), here);
            assert_eq!(rounded(-here), -here);
            if next.is_finite() {
                let even = if bits & 1 == 0 { here } else { next };
                assert_eq!(rounded((here + next) / 2.0), even, "{bits:#x}");
                assert_eq!(rounded(here + 0.49 * (next - here)), here, "{bits:#x}");
                assert_eq!(rounded(-here - 0.51 * (next - here)), -next, "{bits:#x}");
            }
        }
        assert_eq!(rounded(65519.9), 65504.0);
        assert_eq!(rounded(-65520.0), f64::NEG_INFINITY);
    }
}
