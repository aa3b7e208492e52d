//! The section `[verify]`.

use super::Verify;
use super::read::{Entry, Faults, code};

/// The largest finite f16. [isa-float §1.4 doc]
const F16_MAX: f64 = 65504.0;

/// Deviations from the mean that millions of draws reach.
const REACH: f64 = 7.0;

/// Reads what `verify` feeds and demands; what is left out is as in [`Verify::default`].
pub(super) fn verify(entry: Option<Entry>, faults: &mut Faults) -> Option<Verify> {
    let mut verify = Verify::default();
    let Some(entry) = entry else {
        return Some(verify);
    };
    let mut section = entry.table(faults, "[verify]")?;
    section.name = "[verify]".to_owned();
    let mut read = |key: &'static str, slot: &mut f64, example: &str| {
        if let Some(entry) = section.optional(key) {
            *slot = entry.positive(faults, example)?;
        }
        Some(())
    };
    let limits = (
        read(
            "max_abs_error",
            &mut verify.max_abs_error,
            "max_abs_error = 2e-4",
        ),
        read("rmse", &mut verify.rmse, "rmse = 2e-5"),
    );
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
    limits.0.and(limits.1)?;
    Some(verify)
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
