//! From partial results to finished rows on the host.

use super::super::super::Compute;
use super::super::CheckError;
use super::{Arrival, Meaning, covered};

pub(super) fn check(meaning: &Meaning, index: usize) -> Result<(), CheckError> {
    let (steps, task) = (meaning.steps, meaning.task(index));
    let attention = &meaning.plan.attention;
    let word = |at| meaning.word(steps.merge, index, at);
    let columns = u64::from(attention.head_dimension).next_multiple_of(4);
    let merge = [
        ("partial results", word(0)),
        ("stride", word(1)),
        ("key splits", u64::from(attention.key_splits)),
        ("partial results a split", steps.values.len() as u64),
        ("statistics", word(4)),
        ("stride of statistics", word(5)),
        ("rows", task.owned_rows.len() as u64),
        ("row", meaning.row()),
        ("output", word(8)),
        ("output row", columns / 4),
    ];
    meaning.words(steps.merge, index, &merge)?;
    for split in 0..attention.key_splits {
        for (block, value) in steps.values.iter().enumerate() {
            let place = u64::from(split) * word(3) + block as u64;
            let base = word(0) + place * word(1);
            let from = |task: usize| meaning.word(value, task, 3);
            gathered(
                meaning,
                index,
                split,
                ("partial results", base, meaning.row()),
                from,
            )?;
        }
        let base = word(4) + u64::from(split) * word(5);
        let from = |task: usize| meaning.word(steps.softmax, task, 4);
        gathered(meaning, index, split, ("statistics", base, 8), from)?;
    }
    output(meaning, index, columns)
}

/// What is gathered at `base` is what split `split` computed for the rows the task finishes;
/// `source` gives where a task's first row of it lies.
fn gathered(
    meaning: &Meaning,
    index: usize,
    split: u32,
    (operand, base, row): (&'static str, u64, u64),
    source: impl Fn(usize) -> u64,
) -> Result<(), CheckError> {
    let task = meaning.task(index);
    let want = task.owned_rows.len() as u64 * row;
    let place = base..base + want;
    let mut list: Vec<Arrival> = meaning.arrivals[1][index].clone();
    for copy in &meaning.steps.own {
        let word = |at| meaning.word(copy, index, at);
        list.push(Arrival {
            at: word(1),
            bytes: 8 * word(2),
            task: index,
            from: word(0),
        });
    }
    if meaning.steps.own.is_empty() && meaning.steps.exchange_out.is_none() {
        // Merged where it was computed.
        list.push(Arrival {
            at: base,
            bytes: want,
            task: index,
            from: base,
        });
    }
    let mut pieces = Vec::new();
    for arrival in list
        .iter()
        .filter(|arrival| arrival.bytes > 0 && place.contains(&arrival.at))
    {
        let from = meaning.task(arrival.task);
        let into = arrival.from.wrapping_sub(source(arrival.task));
        let whole = into.saturating_add(arrival.bytes) <= from.rows.len() as u64 * row;
        let here = u64::from(task.owned_rows.start) * row + (arrival.at - base);
        let there = (u64::from(from.rows.start) * row).wrapping_add(into);
        let related = from.head == task.head && from.key_split == split;
        if whole && related && here == there {
            pieces.push((arrival.at, arrival.bytes));
        }
    }
    covered(operand, task.tile, (base, want), pieces)
}

/// The finished rows leave in pages, bound as the result; the samples leave with the first task's.
fn output(meaning: &Meaning, index: usize, columns: u64) -> Result<(), CheckError> {
    let (task, steps) = (meaning.task(index), meaning.steps);
    let merge = steps.merge;
    let at = meaning.word(merge, index, 8);
    if !task.owned_rows.is_empty() {
        let offset = left(
            meaning,
            merge,
            index,
            at,
            2 * columns * task.owned_rows.len() as u64,
        )?;
        let operands = &meaning.plan.attention.operands;
        let length = meaning.plan.attention.query_length;
        let result = |name: &str| !operands.iter().any(|operand| operand == name);
        meaning.bound(merge, index, result, (offset, length, &task.owned_rows))?;
    }
    // The cycle counter of physical tile 0 is the one reported.
    if task.tile.physical().index() == 0 {
        let cycles = meaning.plan.host.cycles;
        for (sample, offset) in [steps.first_sample, steps.last_sample].iter().zip(cycles) {
            let at = meaning.word(sample, index, 0);
            let offset_left = left(meaning, sample, index, at, 4)?;
            meaning.same(
                sample,
                index,
                "offset of the sample",
                offset_left,
                u64::from(offset),
            )?;
        }
    }
    Ok(())
}

/// Where in buffer 1 `bytes` bytes of a tile end up: in pages that follow each other.
fn left(
    meaning: &Meaning,
    step: &Compute,
    index: usize,
    at: u64,
    bytes: u64,
) -> Result<u64, CheckError> {
    let pages = &meaning.pages[1][index];
    let mut first = None;
    let mut next = at;
    for (_, page) in pages {
        let start = u64::from(page.tile_address.0);
        let end = start + u64::from(page.bytes);
        if !(start..end).contains(&next) {
            continue;
        }
        let offset = u64::from(page.buffer_offset) + (next - start);
        let from = *first.get_or_insert(offset);
        meaning.same(
            step,
            index,
            "offset of the page",
            offset,
            from + (next - at),
        )?;
        next = end;
        if next >= at + bytes {
            return Ok(from);
        }
    }
    let (operand, tile) = ("output", meaning.task(index).tile);
    Err(CheckError::Arrivals {
        operand,
        tile,
        got: next - at,
        want: bytes,
    })
}
