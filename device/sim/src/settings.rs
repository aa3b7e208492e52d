//! What a simulation may be told: the seed of everything unwritten, and how strict to be.

/// The options of one simulation. Equal settings and equal programs give equal runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Decides what memory and registers hold before anybody writes them. A program whose result
    /// changes with it reads something it never wrote.
    pub fill_seed: u64,
    /// Whether the edge of what the documents say stops the context (`true`), or the assumed
    /// default is taken and logged (`false`).
    pub strict: bool,
    /// Whether the matrix unit drops the bits of an addend more than 31 places below the largest
    /// one, as a header of the first chip hints, instead of adding exactly. Either way there is one
    /// rounding to single an issue. [isa-float §4.6, A-AMPROUND]
    pub truncated_sums: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            fill_seed: 0x7469_6c65,
            strict: true,
            truncated_sums: false,
        }
    }
}

/// A word of garbage for place `index` of stream `stream`: the same for equal arguments, and
/// without pattern otherwise (the finaliser of SplitMix64 over a mix of the three).
pub(crate) const fn garbage(seed: u64, stream: u64, index: u64) -> u64 {
    let mut x = seed
        .wrapping_add(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
