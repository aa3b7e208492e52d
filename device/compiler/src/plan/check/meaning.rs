//! Follows every address of a call and looks whether the steps add up to the attention.
//!
//! Steps are recognised by their order, then each task is followed by itself: rows of the tensors
//! from their bindings through pages, copies and packing ([`input`]), operands from their senders
//! ([`product`]), partial results to the tile that finishes them and back to the host
//! ([`result`]).

mod input;
mod limits;
mod product;
mod result;
mod steps;

use std::collections::BTreeMap;
use std::ops::Range;

use tilekiln_chip::{ByteAddr, TileId};

use self::steps::Steps;
use super::super::{Binding, Compute, HostDirection, HostPage, Plan, Task};
use super::CheckError;
use super::exchange::inside;
use super::memory::apart;

pub(super) fn check(plan: &Plan) -> Result<(), CheckError> {
    let steps = Steps::of(plan)?;
    steps.lists(plan)?;
    let meaning = Meaning::new(plan, &steps);
    for index in 0..plan.tasks.len() {
        limits::check(&meaning, index)?;
        let strings = input::check(&meaning, index)?;
        product::check(&meaning, index)?;
        result::check(&meaning, index)?;
        disjoint(&meaning, index, strings)?;
    }
    Ok(())
}

/// Words that arrive on a tile: where, how many bytes, from which task and place.
#[derive(Clone, Copy)]
struct Arrival {
    at: u64,
    bytes: u64,
    task: usize,
    from: u64,
}

/// The plan with everything looked up that a task needs.
struct Meaning<'a> {
    plan: &'a Plan,
    steps: &'a Steps<'a>,
    /// By task: what arrives in the first exchange phase, and in the second.
    arrivals: [Vec<Vec<Arrival>>; 2],
    /// By task: pages in, pages out, each with its phase.
    pages: [Vec<Vec<(usize, &'a HostPage)>>; 2],
    /// By offset in buffer 1.
    bindings: BTreeMap<u64, Vec<&'a Binding>>,
}

impl<'a> Meaning<'a> {
    fn new(plan: &'a Plan, steps: &'a Steps<'a>) -> Self {
        let mut task_of = vec![None; usize::from(tilekiln_chip::TILE_COUNT)];
        for (index, task) in plan.tasks.iter().enumerate() {
            task_of[usize::from(task.tile.index())] = Some(index);
        }
        let task_of = |tile: TileId| task_of[usize::from(tile.index())];
        let arrivals = [steps.exchange_in, steps.exchange_out].map(|exchange| {
            let mut list = vec![Vec::new(); plan.tasks.len()];
            for transfer in exchange.iter().flat_map(|exchange| &exchange.transfers) {
                for (tile, at) in &transfer.destinations {
                    let (Some(to), Some(task)) = (task_of(*tile), task_of(transfer.source)) else {
                        continue;
                    };
                    let (at, from) = (u64::from(at.0), u64::from(transfer.from.0));
                    list[to].push(Arrival {
                        at,
                        bytes: 4 * u64::from(transfer.words),
                        task,
                        from,
                    });
                }
            }
            list
        });
        let pages = [HostDirection::ToTiles, HostDirection::ToHost].map(|direction| {
            let mut list = vec![Vec::new(); plan.tasks.len()];
            let phases = plan.host.phases.iter().enumerate();
            for (index, phase) in phases.filter(|(_, phase)| phase.direction == direction) {
                for page in &phase.pages {
                    if let Some(task) = task_of(page.tile) {
                        list[task].push((index, page));
                    }
                }
            }
            list
        });
        let mut bindings: BTreeMap<u64, Vec<&Binding>> = BTreeMap::new();
        for binding in &plan.host.bindings {
            bindings
                .entry(u64::from(binding.buffer_offset))
                .or_default()
                .push(binding);
        }
        Self {
            plan,
            steps,
            arrivals,
            pages,
            bindings,
        }
    }

    fn task(&self, index: usize) -> &'a Task {
        &self.plan.tasks[index]
    }

    /// Argument `word` of a step for a task.
    fn word(&self, step: &Compute, index: usize, word: usize) -> u64 {
        u64::from(step.arguments[index][word])
    }

    /// Bytes of a padded row.
    fn row(&self) -> u64 {
        u64::from(self.plan.attention.head_dimension).next_multiple_of(16) * 2
    }

    /// Panels across a head.
    fn panels(&self) -> u64 {
        self.row() / 32
    }

    /// Bytes of the K and V panels of 16 keys.
    fn group(&self) -> u64 {
        self.panels() * 1024
    }

    /// Refuses an argument that is not what it should be.
    fn same(
        &self,
        step: &Compute,
        index: usize,
        what: &'static str,
        got: u64,
        want: u64,
    ) -> Result<(), CheckError> {
        if got == want {
            return Ok(());
        }
        let (step, tile) = (step.name.clone(), self.task(index).tile);
        Err(CheckError::Argument {
            step,
            tile,
            what,
            got,
            want,
        })
    }

    /// Refuses a step whose arguments are not `want`.
    fn words(
        &self,
        step: &Compute,
        index: usize,
        want: &[(&'static str, u64)],
    ) -> Result<(), CheckError> {
        for (word, (what, want)) in want.iter().enumerate() {
            self.same(step, index, what, self.word(step, index, word), *want)?;
        }
        Ok(())
    }

    /// The binding of a tensor's rows that starts at `offset` of buffer 1 is the one for `rows` of
    /// the task's head.
    fn bound(
        &self,
        step: &Compute,
        index: usize,
        tensor: impl Fn(&str) -> bool,
        (offset, length, rows): (u64, u32, &Range<u32>),
    ) -> Result<&'a Binding, CheckError> {
        let (task, attention) = (self.task(index), &self.plan.attention);
        let at = self.bindings.get(&offset).into_iter().flatten();
        let Some(binding) = at.copied().find(|binding| tensor(&binding.tensor)) else {
            let (tensor, offset) = (step.name.clone(), offset);
            return Err(CheckError::Unmoved { tensor, offset });
        };
        let (heads, width) = (
            u64::from(attention.heads),
            u64::from(attention.head_dimension),
        );
        let (batch, head) = (u64::from(task.head) / heads, u64::from(task.head) % heads);
        let row = batch * u64::from(length) + u64::from(rows.start);
        let count = rows.len() as u64;
        self.same(step, index, "rows bound", u64::from(binding.rows), count)?;
        let first = (row * heads + head) * width;
        self.same(
            step,
            index,
            "first element bound",
            binding.first_element,
            first,
        )?;
        if binding.rows > 1 {
            let stride = binding.element_stride;
            self.same(step, index, "element stride bound", stride, heads * width)?;
        }
        let stride = u64::from(binding.buffer_stride);
        self.same(
            step,
            index,
            "buffer stride bound",
            stride,
            width.next_multiple_of(4) * 2,
        )?;
        Ok(binding)
    }
}

/// Whole groups of 16 keys.
fn groups(keys: &Range<u32>) -> u64 {
    u64::from((keys.end - keys.start).div_ceil(16))
}

/// The bytes from `base` on are covered by `pieces`, without gap and without overlap.
fn covered(
    operand: &'static str,
    tile: TileId,
    (base, want): (u64, u64),
    mut pieces: Vec<(u64, u64)>,
) -> Result<(), CheckError> {
    pieces.sort_unstable();
    let mut next = base;
    for (at, bytes) in pieces {
        if at == next {
            next += bytes;
        }
    }
    if next - base == want {
        return Ok(());
    }
    Err(CheckError::Arrivals {
        operand,
        tile,
        got: next - base,
        want,
    })
}

/// What a task keeps at some time, by address: what it is, its first byte, its bytes.
fn kept(meaning: &Meaning, index: usize, strings: (u64, u64)) -> Vec<(&'static str, u64, u64)> {
    let (task, steps) = (meaning.task(index), meaning.steps);
    let (rows, owned) = (task.rows.len() as u64, task.owned_rows.len() as u64);
    let word = |step: &Compute, at: usize| meaning.word(step, index, at);
    let columns = 16 * groups(&task.keys);
    let mut kept = vec![
        ("input", strings.0, strings.1),
        ("queries", word(steps.scores, 0), rows * meaning.row()),
        (
            "keys and values",
            word(steps.scores, 2),
            groups(&task.keys) * meaning.group(),
        ),
        ("scores", word(steps.scores, 3), rows * columns * 2),
        ("statistics", word(steps.softmax, 4), rows * 8),
        (
            "output",
            word(steps.merge, 8),
            owned * word(steps.merge, 9) * 8,
        ),
        ("first sample", word(steps.first_sample, 0), 4),
        ("last sample", word(steps.last_sample, 0), 4),
    ];
    for value in &steps.values {
        kept.push(("partial results", word(value, 3), rows * meaning.row()));
    }
    if steps.exchange_in.is_some() {
        let keys = groups(&task.owned_keys) * meaning.group();
        for (at, bytes) in [
            (word(steps.packs[0], 1), owned * meaning.row()),
            (word(steps.packs[1], 1), keys),
        ] {
            let packed_in_place = kept
                .iter()
                .any(|(_, start, size)| at >= *start && at + bytes <= start + size);
            if !packed_in_place {
                kept.push(("what is sent", at, bytes));
            }
        }
    }
    if !steps.own.is_empty() {
        let (splits, partials) = (word(steps.merge, 2), word(steps.merge, 3));
        kept.push((
            "gathered partials",
            word(steps.merge, 0),
            splits * partials * word(steps.merge, 1),
        ));
        kept.push((
            "gathered statistics",
            word(steps.merge, 4),
            splits * word(steps.merge, 5),
        ));
    }
    kept.retain(|(_, _, bytes)| *bytes > 0);
    kept.sort_by_key(|(_, at, _)| *at);
    kept
}

/// Everything a task keeps at some time lies in one array and overlaps nothing else it keeps.
fn disjoint(meaning: &Meaning, index: usize, strings: (u64, u64)) -> Result<(), CheckError> {
    let (task, kept) = (meaning.task(index), kept(meaning, index, strings));
    for (name, at, bytes) in &kept {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let (at, bytes) = (ByteAddr(narrow(*at)), narrow(*bytes));
        if !inside(&meaning.plan.layout, at, bytes) {
            return Err(CheckError::Stray {
                phase: (*name).to_owned(),
                tile: task.tile,
                at,
                bytes,
            });
        }
    }
    match kept
        .windows(2)
        .find(|pair| pair[0].1 + pair[0].2 > pair[1].1)
    {
        Some(pair) => Err(CheckError::Overlap {
            first: format!("{} of {}", pair[0].0, task.tile),
            second: pair[1].0.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Left operand and result of a product lie apart, read-ahead included. [kernels §3.1]
fn operands_apart(meaning: &Meaning, step: &Compute, index: usize) -> Result<(), CheckError> {
    let word = |at: usize| meaning.word(step, index, at);
    let (rows, left, out) = (word(5), word(0), word(3));
    let left = left..left + rows * word(1) + 24;
    let out = out..out + rows * word(4) + 2 * word(4);
    let (name, tile) = (&step.name, meaning.task(index).tile);
    let names = (format!("left of {name} on {tile}"), "its result");
    apart(
        (&names.0, left),
        (names.1, out),
        "one instruction loads both and stores one",
    )
}
