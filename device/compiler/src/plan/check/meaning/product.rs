//! From packed operands to scores, weights and partial results.

use std::ops::Range;

use super::super::CheckError;
use super::{Arrival, Meaning, covered, groups, operands_apart};

pub(super) fn check(meaning: &Meaning, index: usize) -> Result<(), CheckError> {
    queries(meaning, index)?;
    keys(meaning, index)?;
    scores(meaning, index)?;
    values(meaning, index)
}

/// What arrives in `place`, and what the task packs there itself: `packed` is where its packing
/// writes, and how many bytes.
fn arrivals(
    meaning: &Meaning,
    index: usize,
    place: &Range<u64>,
    packed: (u64, u64),
) -> Vec<Arrival> {
    let all = meaning.arrivals[0][index].iter().copied();
    let mut list: Vec<Arrival> = all.filter(|arrival| place.contains(&arrival.at)).collect();
    let (at, bytes) = packed;
    if place.contains(&at) && bytes > 0 {
        list.push(Arrival {
            at,
            bytes,
            task: index,
            from: at,
        });
    }
    list
}

/// The left operand holds the task's rows in order, each from the tile that packed it.
fn queries(meaning: &Meaning, index: usize) -> Result<(), CheckError> {
    let (task, row) = (meaning.task(index), meaning.row());
    let (step, pack) = (meaning.steps.scores, meaning.steps.packs[0]);
    let base = meaning.word(step, index, 0);
    let want = task.rows.len() as u64 * row;
    let packed = (
        meaning.word(pack, index, 1),
        task.owned_rows.len() as u64 * row,
    );
    let mut pieces = Vec::new();
    for arrival in arrivals(meaning, index, &(base..base + want), packed) {
        let owner = meaning.task(arrival.task);
        let into = arrival
            .from
            .wrapping_sub(meaning.word(pack, arrival.task, 1));
        let whole = into.saturating_add(arrival.bytes) <= owner.owned_rows.len() as u64 * row;
        let here = u64::from(task.rows.start) * row + (arrival.at - base);
        let there = (u64::from(owner.owned_rows.start) * row).wrapping_add(into);
        if whole && owner.head == task.head && here == there {
            pieces.push((arrival.at, arrival.bytes));
        }
    }
    covered("queries", task.tile, (base, want), pieces)
}

/// The right operands hold the task's keys and values in order, each from the tile that packed it.
fn keys(meaning: &Meaning, index: usize) -> Result<(), CheckError> {
    let (task, group) = (meaning.task(index), meaning.group());
    let (step, pack) = (meaning.steps.scores, meaning.steps.packs[1]);
    let base = meaning.word(step, index, 2);
    let want = groups(&task.keys) * group;
    let packed = (
        meaning.word(pack, index, 1),
        groups(&task.owned_keys) * group,
    );
    let mut pieces = Vec::new();
    for arrival in arrivals(meaning, index, &(base..base + want), packed) {
        let owner = meaning.task(arrival.task);
        let into = arrival
            .from
            .wrapping_sub(meaning.word(pack, arrival.task, 1));
        let whole = into.saturating_add(arrival.bytes) <= groups(&owner.owned_keys) * group;
        let here = u64::from(task.keys.start / 16) * group + (arrival.at - base);
        let there = (u64::from(owner.owned_keys.start / 16) * group).wrapping_add(into);
        if whole && owner.head == task.head && here == there {
            pieces.push((arrival.at, arrival.bytes));
        }
    }
    covered("keys and values", task.tile, (base, want), pieces)
}

/// Product, mask and softmax work on the same scores, of the task's size.
fn scores(meaning: &Meaning, index: usize) -> Result<(), CheckError> {
    let (task, steps) = (meaning.task(index), meaning.steps);
    let (rows, groups) = (task.rows.len() as u64, groups(&task.keys));
    let bytes = 32 * groups;
    let word = |at| meaning.word(steps.scores, index, at);
    let scores = word(3);
    let product = [
        ("left", word(0)),
        ("left row", meaning.row()),
        ("right", word(2)),
        ("result", scores),
        ("result row", bytes),
        ("rows", rows),
        ("inner panels", meaning.panels()),
        ("column groups", groups),
        ("inner stride", 512),
        ("column stride", meaning.group()),
    ];
    meaning.words(steps.scores, index, &product)?;
    operands_apart(meaning, steps.scores, index)?;
    region(meaning, index, "right", word(2))?;
    region(meaning, index, "result", scores)?;
    let valid = task.keys.len() as u64 - 16 * (groups - 1);
    let mask = [
        ("scores", scores + bytes - 32),
        ("row", bytes),
        ("rows", rows),
        ("valid", valid),
    ];
    meaning.words(steps.mask, index, &mask)?;
    let statistics = meaning.word(steps.softmax, index, 4);
    let softmax = [
        ("scores", scores),
        ("row", bytes),
        ("rows", rows),
        ("columns", 16 * groups),
        ("statistics", statistics),
    ];
    meaning.words(steps.softmax, index, &softmax)
}

/// The matrix unit loads coefficients, and adds to results, in region 1 only. [isa-core §3.1 code]
fn region(meaning: &Meaning, index: usize, what: &'static str, at: u64) -> Result<(), CheckError> {
    let least = u64::from(tilekiln_chip::memory::INTERLEAVED.0);
    meaning.same(meaning.steps.scores, index, what, at, at.max(least))
}

/// The key blocks follow each other and end where the keys end.
fn values(meaning: &Meaning, index: usize) -> Result<(), CheckError> {
    let (task, steps) = (meaning.task(index), meaning.steps);
    let (rows, row, group) = (task.rows.len() as u64, meaning.row(), meaning.group());
    let (keys, scores) = (
        meaning.word(steps.scores, index, 2),
        meaning.word(steps.scores, index, 3),
    );
    let mut first = 0;
    for step in &steps.values {
        let inner = meaning.word(step, index, 6);
        let out = meaning.word(step, index, 3);
        let most = u64::from(meaning.plan.attention.key_block_rows) / 16;
        meaning.same(step, index, "key block", inner, inner.clamp(1, most.max(1)))?;
        let product = [
            ("left", scores + 32 * first),
            ("left row", 32 * groups(&task.keys)),
            ("right", keys + meaning.panels() * 512 + first * group),
            ("result", out),
            ("result row", row),
            ("rows", rows),
            ("inner panels", inner),
            ("column groups", meaning.panels()),
            ("inner stride", group),
            ("column stride", 512),
        ];
        meaning.words(step, index, &product)?;
        operands_apart(meaning, step, index)?;
        region(meaning, index, "partial result", out)?;
        first += inner;
    }
    meaning.same(
        steps.softmax,
        index,
        "groups weighted",
        first,
        groups(&task.keys),
    )
}
