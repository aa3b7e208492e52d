//! Every argument is one that its kernel takes, by the contracts in `device/kernels`.

use super::super::super::{Compute, Kernel, Step};
use super::super::CheckError;
use super::Meaning;

/// What a kernel demands of an argument: its index, its name, what it is a multiple of, and the
/// most it may be.
type Demand = (usize, &'static str, u64, u64);

/// Anything goes.
const ANY: u64 = u32::MAX as u64;

/// Counts that workers share out among them.
const SHARED: u64 = 98_303;

/// The demands of a kernel.
#[rustfmt::skip] // One argument a line: the columns are the point.
const fn demands(kernel: Kernel) -> &'static [Demand] {
    match kernel {
        Kernel::Copy => &[
            (0, "source",       8, ANY),
            (1, "destination",  8, ANY),
            (2, "count",        1, SHARED),
        ],
        Kernel::PackLeft => &[
            (0, "source",       8, ANY),
            (1, "destination",  8, ANY),
            (2, "rows",         1, SHARED),
        ],
        Kernel::PackRight | Kernel::PackRightTransposed => &[
            (0, "source",       8, ANY),
            (1, "destination", 16, ANY),
            (2, "groups",       1, SHARED / 16),
            (5, "stride",      16, ANY),
        ],
        Kernel::Gemm => &[
            (0, "left",         8, ANY),
            (1, "left row",    32, 4096),
            (2, "right",       16, ANY),
            (3, "result",       8, ANY),
            (4, "result row",  32, 4096),
            (5, "rows",         1, SHARED),
            (8, "inner stride", 16, ANY),
            (9, "column stride", 16, ANY),
        ],
        Kernel::Mask => &[
            (0, "scores",       8, ANY),
            (2, "rows",         1, SHARED),
            (3, "valid",        1, 16),
        ],
        Kernel::Softmax => &[
            (0, "scores",      16, ANY),
            (1, "row",         32, ANY),
            (2, "rows",         1, SHARED),
            (3, "columns",     16, ANY),
            (4, "statistics",   8, ANY),
        ],
        Kernel::Merge => &[
            (0, "partial results", 8, ANY),
            (1, "stride",       8, ANY),
            (2, "key splits",   1, 32),
            (4, "statistics",   8, ANY),
            (5, "stride of statistics", 8, ANY),
            (6, "rows",         1, SHARED),
            (7, "row",          8, ANY),
            (8, "output",       8, ANY),
        ],
        Kernel::Sample => &[
            (0, "address",      4, ANY),
        ],
    }
}

pub(super) fn check(meaning: &Meaning, index: usize) -> Result<(), CheckError> {
    meaning.plan.steps.iter().try_for_each(|step| match step {
        Step::Compute(compute) => one(meaning, compute, index),
        _ => Ok(()),
    })
}

fn one(meaning: &Meaning, step: &Compute, index: usize) -> Result<(), CheckError> {
    for (word, what, multiple, most) in demands(step.kernel) {
        let got = meaning.word(step, index, *word);
        meaning.same(
            step,
            index,
            what,
            got,
            got.next_multiple_of(*multiple).min(*most),
        )?;
    }
    Ok(())
}
