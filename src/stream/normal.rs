//! Frames from a seed: the same on every host, to the last bit.

use std::f64::consts::TAU;

use half::f16;

/// A stream of normally distributed numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    /// Equal seeds give equal numbers.
    pub seed: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub std: f64,
}

impl Normal {
    /// The first `elements` numbers, rounded to f16.
    pub fn generate(&self, elements: usize) -> Vec<f16> {
        let mut random = SplitMix64(self.seed);
        let mut numbers = Vec::with_capacity(elements + 1);
        while numbers.len() < elements {
            let (radius, angle) = (random.unit(), TAU * random.unit());
            // 1 - u lies in (0, 1], so that the logarithm is finite.
            let radius = (-2.0 * libm::log(1.0 - radius)).sqrt();
            let (sine, cosine) = libm::sincos(angle);
            for number in [radius * cosine, radius * sine] {
                // Through f32, because hosts differ in how they round f64 to f16.
                numbers.push(f16::from_f32((self.mean + self.std * number) as f32));
            }
        }
        numbers.truncate(elements);
        numbers
    }

    /// The same distribution, another stream: the `index`-th tensor of frame `frame`.
    pub fn stream(&self, index: u32, frame: u64) -> Self {
        let mut random = SplitMix64(self.seed ^ u64::from(index) << 56 ^ frame.rotate_left(32));
        Self {
            seed: random.next(),
            ..*self
        }
    }
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64(1_234_567);
        let first: Vec<_> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn numbers_have_their_mean_and_deviation() {
        let numbers = Normal {
            seed: 7,
            mean: 1.0,
            std: 0.5,
        }
        .generate(100_001);
        assert_eq!(numbers.len(), 100_001);
        let mean = numbers.iter().map(|n| n.to_f64()).sum::<f64>() / 100_001.0;
        let variance = numbers
            .iter()
            .map(|n| (n.to_f64() - mean).powi(2))
            .sum::<f64>()
            / 100_001.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() - 0.5).abs() < 0.01, "{variance}");
    }

    #[test]
    fn streams_differ_and_repeat() {
        let normal = Normal {
            seed: 7,
            mean: 0.0,
            std: 1.0,
        };
        let of = |index, frame| normal.stream(index, frame).generate(8);
        assert_eq!(of(0, 0), of(0, 0));
        assert_ne!(of(0, 0), of(1, 0));
        assert_ne!(of(0, 0), of(0, 1));
        assert_ne!(of(1, 0), of(0, 1));
    }
}
