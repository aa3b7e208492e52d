//! The section `[verify]`.

use super::Verify;
use super::read::{Entry, Faults, code};

/// The largest finite f16. [isa-float §1.4 doc]
const F16_MAX: f64 = 65504.0;

/// Deviations from the mean that millions of draws reach.
const REACH: f64 = 7.0;

/// Keys of the checked-in graph, for which the limits of [`Verify::default`] are. [pipeline §3.1]
const KEYS: f64 = 729.0;

/// Reads what `verify` feeds and demands of an attention over `keys` keys; what is left out is as
/// in [`Verify::default`], the limits as far as `keys` and the inputs allow.
pub(super) fn verify(
    entry: Option<Entry>,
    keys: Option<u32>,
    faults: &mut Faults,
) -> Option<Verify> {
    let mut verify = Verify::default();
    let Some(entry) = entry else {
        verify.loosen(keys);
        return Some(verify);
    };
    let mut section = entry.table(faults, "[verify]")?;
    section.name = "[verify]".to_owned();
    let mut read = |key: &'static str, example: &str| {
        let entry = section.optional(key);
        entry.map_or(Some(None), |entry| {
            entry.positive(faults, example).map(Some)
        })
    };
    let max_abs_error = read("max_abs_error", "max_abs_error = 2e-4");
    let rmse = read("rmse", "rmse = 2e-5");
    let seed = match section.optional("seed") {
        Some(entry) => entry.whole(faults, (0, u64::MAX), "seed = 0xfa57a77e1616"),
        None => Some(verify.seed),
    };
    let normal = section
        .optional("normal")
        .map_or(Some(()), |entry| normal(&entry, &mut verify, faults));
    section.finish(faults);
    verify.seed = seed?;
    normal?;
    verify.loosen(keys);
    verify.max_abs_error = max_abs_error?.unwrap_or(verify.max_abs_error);
    verify.rmse = rmse?.unwrap_or(verify.rmse);
    Some(verify)
}

impl Verify {
    /// Loosens the limits by as much as results are larger than those of the checked-in graph.
    ///
    /// A result is a mean of `keys` values. Fewer keys leave more of it, and f16 rounds what is
    /// larger more coarsely: not even the nearest f16 of every element would pass.
    fn loosen(&mut self, keys: Option<u32>) {
        let checked_in = Self::default();
        let size = |mean: f64, std: f64, keys: f64| mean.hypot(std / keys.sqrt());
        let usual = size(checked_in.mean, checked_in.std, KEYS);
        let here = size(self.mean, self.std, keys.map_or(KEYS, f64::from));
        let larger = (here / usual).max(1.0);
        self.max_abs_error *= larger;
        self.rmse *= larger;
    }
}

fn normal(entry: &Entry, verify: &mut Verify, faults: &mut Faults) -> Option<()> {
    let mut section = entry.table(faults, "normal = { mean = 0.0, std = 0.5 }")?;
    section.name = "normal".to_owned();
    let mean = match section.optional("mean") {
        Some(entry) => entry.number(faults, "mean = 0.0"),
        None => Some(verify.mean),
    };
    let std = match section.optional("std") {
        Some(entry) => entry.positive(faults, "std = 0.5"),
        None => Some(verify.std),
    };
    section.finish(faults);
    let (mean, std) = (mean?, std?);
    if mean.abs() + REACH * std > F16_MAX {
        let message = format!(
            "normal reaches {:e} and more; an f16 holds at most {F16_MAX}",
            mean.abs() + REACH * std
        );
        faults.add(
            code::TOO_LARGE,
            &entry.span,
            message,
            "write it like `mean = 0.0, std = 0.5`",
        );
        return None;
    }
    (verify.mean, verify.std) = (mean, std);
    Some(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::spec::parse;

    #[track_caller]
    fn check(keys: u32, verify: &str, want: Expect) {
        let text = format!(
            "name = \"g\"\n\
             [input]\n\
             q = {{ dtype = \"f16\", shape = [1, 5, 1, 16] }}\n\
             k = {{ dtype = \"f16\", shape = [1, {keys}, 1, 16] }}\n\
             [op.o]\n\
             kind = \"attention\"\nquery = \"q\"\nkey = \"k\"\nvalue = \"k\"\n\
             [output]\no = \"o\"\n\
             [verify]\n{verify}"
        );
        let spec = parse(&text).expect("a graph");
        let (max_abs_error, rmse) = (spec.verify.max_abs_error, spec.verify.rmse);
        want.assert_eq(&format!("max_abs {max_abs_error:.1e}, rmse {rmse:.1e}"));
    }

    #[test]
    fn limits_left_out_are_as_loose_as_results_are_large() {
        check(729, "", expect!["max_abs 2.0e-4, rmse 2.0e-5"]);
        check(2048, "", expect!["max_abs 2.0e-4, rmse 2.0e-5"]);
        check(9, "", expect!["max_abs 1.8e-3, rmse 1.8e-4"]);
        let wide = "normal = { std = 2.0 }";
        check(729, wide, expect!["max_abs 8.0e-4, rmse 8.0e-5"]);
        let aside = "normal = { mean = -0.5 }";
        check(729, aside, expect!["max_abs 5.4e-3, rmse 5.4e-4"]);
    }

    #[test]
    fn limits_that_are_set_stay() {
        check(9, "rmse = 3e-5", expect!["max_abs 1.8e-3, rmse 3.0e-5"]);
        check(
            9,
            "max_abs_error = 1e-4",
            expect!["max_abs 1.0e-4, rmse 1.8e-4"],
        );
    }
}
