//! The generator of one worker, and what is made of its words. [isa-float §1.6, §3.7]

/// xoroshiro128aox: 128 bits of state, 64 bits a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prng {
    s0: u64,
    s1: u64,
}

impl Prng {
    /// The state with these two halves.
    pub(crate) const fn new(s0: u64, s1: u64) -> Self {
        Self { s0, s1 }
    }

    /// One step.
    pub(crate) const fn step(&mut self) -> u64 {
        let x = self.s0 ^ self.s1;
        let a = self.s0 & self.s1;
        let out = x ^ (a.rotate_left(1) | a.rotate_left(2));
        self.s0 = self.s0.rotate_left(55) ^ x ^ (x << 14);
        self.s1 = x.rotate_left(36);
        out
    }

    /// What a write of `v` to `$PRNG_SEED` does.
    pub(crate) const fn seed(v: u32) -> Self {
        let s0 = ((!v as u64) << 32) | v as u64;
        Self {
            s0,
            s1: s0.rotate_left(13),
        }
    }

    /// Quarter `index` of the state, as `$PRNG_0_0` to `$PRNG_1_1` show it.
    pub(crate) const fn quarter(self, index: u16) -> u32 {
        let half = if index < 2 { self.s0 } else { self.s1 };
        (half >> (32 * (index & 1))) as u32
    }

    /// Replaces quarter `index` of the state.
    pub(crate) const fn set_quarter(&mut self, index: u16, value: u32) {
        let half = if index < 2 {
            &mut self.s0
        } else {
            &mut self.s1
        };
        let shift = 32 * (index & 1);
        *half = *half & !(0xffff_ffff << shift) | (value as u64) << shift;
    }
}

/// An approximately normal number from one word: twelve four-bit fields, their mean taken off, in
/// units of a sixteenth. [isa-float §3.7, A-GRAND]
pub(crate) fn normal(word: u64) -> f32 {
    let sum: u64 = (0..12).map(|k| (word >> (4 * k)) & 15).sum();
    (sum as f32 - 90.0) / 16.0
}

/// Which of `lanes` lanes a random mask keeps, by probability operand `p`. [isa-float §3.7]
pub(crate) fn kept(word: u64, p: u32, lane: usize) -> bool {
    let threshold = p & 0xffff;
    let drawn = (word >> (16 * lane)) as u32 & 0xffff;
    p & (1 << 16) != 0 || drawn < threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_after_a_seed_are_the_published_ones() {
        let mut prng = Prng::seed(0);
        assert_eq!(prng.quarter(2), 0x1fff);
        assert_eq!(prng.step(), 0xffff_dfff_0000_1ffc);
        assert_eq!(prng.step(), 0x0781_1ff0_f879_dfef);
        assert_eq!(prng.step(), 0x17d0_22ee_e81b_deec);
    }

    #[test]
    fn quarters_read_back_what_was_written() {
        let mut prng = Prng::default();
        for index in 0..4 {
            prng.set_quarter(index, 0x1111_1111 * (u32::from(index) + 1));
        }
        assert_eq!([0, 1, 2, 3].map(|i| prng.quarter(i) >> 28), [1, 2, 3, 4]);
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_near_one() {
        let mut prng = Prng::seed(7);
        let draws: Vec<f64> = (0..100_000)
            .map(|_| f64::from(normal(prng.step())))
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|z| z * z).sum::<f64>() / draws.len() as f64;
        assert!(mean.abs() < 0.02 && (variance - 255.0 / 256.0).abs() < 0.02);
        assert!(draws.iter().all(|z| z.abs() <= 5.625));
    }

    #[test]
    fn a_mask_keeps_all_lanes_or_none_at_the_ends_of_its_range() {
        for lane in 0..4 {
            assert!(kept(u64::MAX, 1 << 16, lane));
            assert!(!kept(0, 0, lane));
            assert!(kept(0, 1, lane));
        }
    }
}
