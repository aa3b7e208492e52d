//! Arrays lie where their class allows, apart from each other and from code.

use std::ops::Range;

use tilekiln_chip::ByteAddr;
use tilekiln_chip::exchange::{HOST_WINDOW, HOST_WINDOW_BYTES};
use tilekiln_chip::memory::{
    ELEMENT_BYTES, END, ENTRY, INTERLEAVED, LOADER_END, contains, exclusion_unit,
};

use super::super::{Allocation, Class, Layout, name};
use super::CheckError;

/// Where reads from the host land.
pub(super) const WINDOW: Range<u32> = HOST_WINDOW.0..HOST_WINDOW.0 + HOST_WINDOW_BYTES;

pub(super) fn check(layout: &Layout) -> Result<(), CheckError> {
    executable(layout)?;
    for allocation in &layout.allocations {
        place(allocation, layout)?;
    }
    overlaps(layout)?;
    for pair in &layout.distinct {
        let (first, second) = (
            &layout.allocations[pair.first],
            &layout.allocations[pair.second],
        );
        apart(
            (&first.name, extent(first)),
            (&second.name, extent(second)),
            pair.reason,
        )?;
    }
    Ok(())
}

/// Bytes and tail of an array.
fn extent(allocation: &Allocation) -> Range<u64> {
    let at = u64::from(allocation.at.0);
    at..at + u64::from(allocation.bytes) + u64::from(allocation.tail)
}

/// Refuses a common exclusion unit of two ranges of tile memory.
pub(super) fn apart(
    (first, a): (&str, Range<u64>),
    (second, b): (&str, Range<u64>),
    reason: &str,
) -> Result<(), CheckError> {
    if a.is_empty() || b.is_empty() {
        return Ok(());
    }
    let (first_units, second_units) = (units(first, &a)?, units(second, &b)?);
    let (from, to) = (
        first_units.0.max(second_units.0),
        first_units.1.min(second_units.1),
    );
    if from > to {
        return Ok(());
    }
    let (first, second) = (first.to_owned(), second.to_owned());
    Err(CheckError::Shared {
        first,
        second,
        unit: from,
        reason: reason.to_owned(),
    })
}

/// The first and the last exclusion unit of a range that is not empty.
fn units(name: &str, range: &Range<u64>) -> Result<(u32, u32), CheckError> {
    let bounds = (
        u32::try_from(range.start),
        u32::try_from(range.end - range.start),
    );
    match bounds {
        (Ok(at), Ok(bytes)) if contains(ByteAddr(at), bytes) => Ok((
            exclusion_unit(ByteAddr(at)),
            exclusion_unit(ByteAddr(at + bytes - 1)),
        )),
        _ => {
            let at = ByteAddr(range.start.min(u64::from(u32::MAX)) as u32);
            let bytes = (range.end - range.start).min(u64::from(u32::MAX)) as u32;
            Err(CheckError::OutsideMemory {
                array: name.to_owned(),
                at,
                bytes,
            })
        }
    }
}

/// The linker gets whole elements of region 0 that the host does not write, the entry among them.
fn executable(layout: &Layout) -> Result<(), CheckError> {
    let mut last = 0;
    for range in &layout.executable {
        let whole = range.start.is_multiple_of(ELEMENT_BYTES)
            && range.end.is_multiple_of(ELEMENT_BYTES)
            && contains(ByteAddr(range.start), range.end.saturating_sub(range.start));
        let host = range.start < WINDOW.end && range.end > WINDOW.start;
        if !whole || host || range.is_empty() || range.start < last || range.end > INTERLEAVED.0 {
            let (start, end) = (ByteAddr(range.start), ByteAddr(range.end));
            return Err(CheckError::Executable { start, end });
        }
        last = range.end;
    }
    if layout
        .executable
        .iter()
        .any(|range| range.contains(&ENTRY.0))
    {
        return Ok(());
    }
    Err(CheckError::Executable {
        start: ENTRY,
        end: ENTRY,
    })
}

/// One array by itself.
fn place(allocation: &Allocation, layout: &Layout) -> Result<(), CheckError> {
    let Allocation {
        at,
        bytes,
        tail,
        align,
        class,
        ..
    } = *allocation;
    let array = || allocation.name.clone();
    let Some(all) = bytes.checked_add(tail).filter(|all| contains(at, *all)) else {
        return Err(CheckError::OutsideMemory {
            array: array(),
            at,
            bytes,
        });
    };
    if !at.0.is_multiple_of(align.max(4)) {
        return Err(CheckError::Misaligned {
            array: array(),
            at,
            align,
        });
    }
    let end = at.0 + all;
    let touches = |range: &Range<u32>| at.0 < range.end && end > range.start;
    let good = match class {
        Class::Window => at.0 >= WINDOW.start && end <= WINDOW.end,
        Class::Interleaved => at >= INTERLEAVED && end <= END.0,
        Class::Standard => !touches(&WINDOW) && !layout.executable.iter().any(touches),
    };
    if !good {
        return Err(CheckError::WrongClass {
            array: array(),
            at,
            class,
        });
    }
    if allocation.name == name::SLOTS && end > LOADER_END.0 {
        let (end, limit) = (ByteAddr(end), LOADER_END);
        return Err(CheckError::BeyondLoader {
            array: array(),
            end,
            limit,
        });
    }
    Ok(())
}

/// No two arrays have bytes in common. A tail may reach into the next array: it is only read.
fn overlaps(layout: &Layout) -> Result<(), CheckError> {
    let mut sorted: Vec<&Allocation> = layout
        .allocations
        .iter()
        .filter(|allocation| allocation.bytes > 0)
        .collect();
    sorted.sort_by_key(|allocation| allocation.at);
    for pair in sorted.windows(2) {
        if pair[0].at.0 + pair[0].bytes > pair[1].at.0 {
            let (first, second) = (pair[0].name.clone(), pair[1].name.clone());
            return Err(CheckError::Overlap { first, second });
        }
    }
    Ok(())
}
