//! Tasks cover every query row against every key once, and own each once.

use std::ops::Range;

use super::super::{Plan, Task};
use super::CheckError;

pub(super) fn check(plan: &Plan) -> Result<(), CheckError> {
    let (tasks, tiles) = (plan.tasks.len(), plan.tiles);
    if tasks > tiles as usize || tiles > u32::from(tilekiln_chip::TILE_COUNT) {
        return Err(CheckError::TooManyTasks { tasks, tiles });
    }
    let mut seen = vec![false; usize::from(tilekiln_chip::TILE_COUNT)];
    for task in &plan.tasks {
        if std::mem::replace(&mut seen[usize::from(task.tile.index())], true) {
            return Err(CheckError::TileTwice(task.tile));
        }
        ranges(plan, task)?;
    }
    let heads = plan.attention.batch * plan.attention.heads;
    (0..heads).try_for_each(|head| coverage(plan, head))
}

/// The ranges of a task lie inside the tensors and inside each other.
fn ranges(plan: &Plan, task: &Task) -> Result<(), CheckError> {
    let (queries, keys) = (plan.attention.query_length, plan.attention.key_length);
    let inside = |inner: &Range<u32>, outer: &Range<u32>| {
        inner.is_empty() || (inner.start >= outer.start && inner.end <= outer.end)
    };
    // Only the last keys of all may leave a panel half full.
    let panels = |keys_of: &Range<u32>| {
        keys_of.is_empty()
            || (keys_of.start.is_multiple_of(16)
                && (keys_of.end.is_multiple_of(16) || keys_of.end == keys))
    };
    let rules = [
        (
            "rows",
            &task.rows,
            !task.rows.is_empty() && task.rows.end <= queries,
        ),
        (
            "keys",
            &task.keys,
            !task.keys.is_empty() && task.keys.end <= keys && panels(&task.keys),
        ),
        (
            "owned rows",
            &task.owned_rows,
            inside(&task.owned_rows, &task.rows),
        ),
        (
            "owned keys",
            &task.owned_keys,
            inside(&task.owned_keys, &task.keys) && panels(&task.owned_keys),
        ),
    ];
    for (what, range, good) in rules {
        if !good {
            let (start, end) = (range.start, range.end);
            return Err(CheckError::Range {
                tile: task.tile,
                what,
                start,
                end,
            });
        }
    }
    Ok(())
}

/// Every row meets every key in one task, and is owned by one.
fn coverage(plan: &Plan, head: u32) -> Result<(), CheckError> {
    let attention = &plan.attention;
    let (queries, keys) = (attention.query_length, attention.key_length);
    let tasks = || plan.tasks.iter().filter(move |task| task.head == head);
    once(
        head,
        "query row",
        queries,
        1,
        tasks().map(|task| &task.owned_rows),
    )?;
    once(head, "key", keys, 1, tasks().map(|task| &task.owned_keys))?;
    // Blocks and splits form a grid: every block against every split, and both cover their axis.
    for block in 0..attention.query_blocks {
        let row = tasks()
            .filter(|task| task.query_block == block)
            .map(|task| &task.keys);
        once(head, "key of a query block", keys, 1, row)?;
    }
    for split in 0..attention.key_splits {
        let column = tasks()
            .filter(|task| task.key_split == split)
            .map(|task| &task.rows);
        once(head, "query row of a key split", queries, 1, column)?;
    }
    let grid = attention.query_blocks * attention.key_splits;
    let times = tasks().count() as u32;
    if times == grid {
        return Ok(());
    }
    Err(CheckError::Coverage {
        head,
        what: "task grid",
        index: 0,
        times,
        wanted: grid,
    })
}

/// Every index below `length` is in exactly `wanted` of `ranges`.
fn once<'a>(
    head: u32,
    what: &'static str,
    length: u32,
    wanted: u32,
    ranges: impl Iterator<Item = &'a Range<u32>>,
) -> Result<(), CheckError> {
    let mut times = vec![0; length as usize];
    for range in ranges {
        for index in range.clone() {
            times[index as usize] += 1;
        }
    }
    match times.iter().position(|times| *times != wanted) {
        None => Ok(()),
        Some(index) => {
            let (times, index) = (times[index], index as u32);
            Err(CheckError::Coverage {
                head,
                what,
                index,
                times,
                wanted,
            })
        }
    }
}
