//! From the rows of the tensors to packed operands, on the tile that owns them.

use super::super::CheckError;
use super::{Meaning, groups};

/// Follows pages, copies and packing of a task; gives address and bytes of its input string.
pub(super) fn check(meaning: &Meaning, index: usize) -> Result<(u64, u64), CheckError> {
    let string = string(meaning, index)?;
    packing(meaning, index, string)?;
    Ok((string.at, string.bytes))
}

/// A task's input string: where it lies on the tile and in the buffer.
#[derive(Clone, Copy)]
struct InputString {
    at: u64,
    offset: u64,
    bytes: u64,
}

/// Every page of the task is copied out of the window to its place in the string.
fn string(meaning: &Meaning, index: usize) -> Result<InputString, CheckError> {
    let pages = &meaning.pages[0][index];
    let mut found = InputString {
        at: 0,
        offset: 0,
        bytes: 0,
    };
    for (phase, copy) in &meaning.steps.inputs {
        let page = pages
            .iter()
            .find(|(of, _)| of == phase)
            .map(|(_, page)| page);
        let word = |at| meaning.word(copy, index, at);
        let Some(page) = page else {
            meaning.same(copy, index, "count", word(2), 0)?;
            continue;
        };
        if found.bytes == 0 {
            found.at = word(1);
            found.offset = u64::from(page.buffer_offset);
        }
        let next = found.offset + found.bytes;
        meaning.same(
            copy,
            index,
            "offset of the page",
            u64::from(page.buffer_offset),
            next,
        )?;
        let bytes = u64::from(page.bytes);
        let want = [
            ("source", u64::from(page.tile_address.0)),
            ("destination", found.at + found.bytes),
            ("count", bytes / 8),
        ];
        meaning.same(copy, index, "bytes of the page", bytes % 8, 0)?;
        meaning.words(copy, index, &want)?;
        found.bytes += bytes;
    }
    Ok(found)
}

/// Queries, keys and values are packed whole, from where the host put them.
fn packing(meaning: &Meaning, index: usize, string: InputString) -> Result<(), CheckError> {
    let (task, attention) = (meaning.task(index), &meaning.plan.attention);
    let columns = u64::from(attention.head_dimension).next_multiple_of(4);
    let (queries, keys, values) = (
        meaning.steps.packs[0],
        meaning.steps.packs[1],
        meaning.steps.packs[2],
    );
    let rows = task.owned_rows.len() as u64;
    let groups = groups(&task.owned_keys);
    let word = |step, at| meaning.word(step, index, at);

    let scale = u64::from((attention.scale as f32).to_bits());
    let free = |step, at| ("address", word(step, at));
    let left = [
        ("rows", rows),
        ("source row", columns / 4),
        ("row", meaning.row() / 8),
        ("scale", scale),
    ];
    meaning.words(
        queries,
        index,
        &[&[free(queries, 0), free(queries, 1)], &left[..]].concat(),
    )?;
    for step in [keys, values] {
        let (panels, stride) = (meaning.panels(), meaning.group());
        let right = [
            ("groups", groups),
            ("source row", columns / 4),
            ("panels", panels),
            ("stride", stride),
        ];
        meaning.words(
            step,
            index,
            &[&[free(step, 0), free(step, 1)], &right[..]].concat(),
        )?;
    }
    let behind = word(keys, 1) + meaning.panels() * 512;
    meaning.same(values, index, "destination", word(values, 1), behind)?;

    // Rows of the string that each pack reads, and the binding that fills them.
    let row = 2 * columns;
    let (query, key) = (attention.query_length, attention.key_length);
    let reads = [
        (queries, rows, query, &task.owned_rows),
        (keys, 16 * groups, key, &task.owned_keys),
        (values, 16 * groups, key, &task.owned_keys),
    ];
    let mut next = 0;
    for (operand, (step, read, length, range)) in attention.operands.iter().zip(reads) {
        if read == 0 {
            continue;
        }
        let into = word(step, 0).wrapping_sub(string.at);
        // In this order, so that nothing of one operand is read as another's padding.
        let end = into.saturating_add(read * row);
        if into < next || end > string.bytes {
            let (step, tile) = (step.name.clone(), task.tile);
            let (what, got, want) = ("end in the string", end, string.bytes);
            return Err(CheckError::Argument {
                step,
                tile,
                what,
                got,
                want,
            });
        }
        next = end;
        let named = |name: &str| name == operand;
        meaning.bound(step, index, named, (string.offset + into, length, range))?;
    }
    Ok(())
}
