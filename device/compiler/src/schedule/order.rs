//! In which order messages are given their places, and so when each starts.
//!
//! Groups of tiles that have nothing to do with each other are scheduled one by one. Each tries
//! several orders, every one a reading of "who has most left to do", keeps the best, and mends it
//! where the longest chain of waiting runs. Nothing here can make a phase wrong: [`timeline`]
//! finds a valid place for any order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tilekiln_chip::exchange::TAIL_GUARD;
use tilekiln_chip::{TILE_COUNT, TileId};

use super::multicast::Message;
use super::timeline::{self, Shape, Time, Timeline};

mod repair;
mod waves;

/// How often a phase may look for the place of a message, counted by ends of the message, beyond
/// its first schedule. A look costs some tenths of a microsecond an end.
const EFFORT: usize = 600_000;

/// A start for every message.
pub(super) fn place(messages: &[Message]) -> Vec<Time> {
    let mut starts = vec![0; messages.len()];
    let groups = groups(messages);
    let mut problems: Vec<Problem> = groups
        .iter()
        .map(|group| Problem::new(messages, group))
        .collect();
    let target = problems
        .iter()
        .map(|problem| problem.bound)
        .max()
        .unwrap_or(0);
    let ends: usize = problems.iter().map(|problem| problem.ends).sum();
    for (group, problem) in groups.iter().zip(&mut problems) {
        problem.effort = EFFORT * problem.ends / ends + problem.ends;
        let placement = problem.solve(target);
        for (&message, start) in group.iter().zip(placement.starts) {
            starts[message] = start;
        }
    }
    starts
}

/// The messages of every set of tiles that is connected by messages, in order.
fn groups(messages: &[Message]) -> Vec<Vec<usize>> {
    fn root(parents: &mut [u16], mut tile: u16) -> u16 {
        while parents[usize::from(tile)] != tile {
            let above = parents[usize::from(tile)];
            parents[usize::from(tile)] = parents[usize::from(above)];
            tile = above;
        }
        tile
    }
    let mut parents: Vec<u16> = (0..TILE_COUNT).collect();
    for message in messages {
        let mut above = root(&mut parents, message.source.index());
        for &(tile, _) in &message.receivers {
            let other = root(&mut parents, tile.index());
            let (low, high) = (above.min(other), above.max(other));
            parents[usize::from(high)] = low;
            above = low;
        }
    }
    let mut groups = vec![Vec::new(); usize::from(TILE_COUNT)];
    for (index, message) in messages.iter().enumerate() {
        groups[usize::from(root(&mut parents, message.source.index()))].push(index);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// A valid set of starts and how long it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placement {
    /// The messages in the order in which they were given their places.
    order: Vec<usize>,
    /// When each starts.
    starts: Vec<Time>,
    /// When the last tile is done.
    horizon: Time,
}

/// The messages of one group, with tiles and messages numbered from 0.
struct Problem {
    shapes: Vec<Shape>,
    timelines: Vec<Timeline>,
    /// No placement is shorter.
    bound: Time,
    /// Senders and receivers of all messages.
    ends: usize,
    /// What is left to spend on looking for places.
    effort: usize,
}

impl Problem {
    fn new(messages: &[Message], group: &[usize]) -> Self {
        let ends = |&message: &usize| {
            let message = &messages[message];
            message
                .receivers
                .iter()
                .map(|&(tile, _)| tile)
                .chain([message.source])
        };
        let mut tiles: Vec<TileId> = group.iter().flat_map(ends).collect();
        tiles.sort_unstable();
        tiles.dedup();
        let index_of = |tile: TileId| tiles.partition_point(|&other| other < tile);
        let shape = |&message: &usize| {
            let mut shape = Shape::new(&messages[message], index_of);
            for wait in &mut shape.after {
                wait.before = group.partition_point(|&other| other < wait.before);
            }
            shape
        };
        let shapes: Vec<Shape> = group.iter().map(shape).collect();
        let timelines: Vec<Timeline> = tiles.iter().map(|&tile| Timeline::new(tile)).collect();
        let bound = bound(&shapes, &timelines);
        let ends = shapes.iter().map(Shape::ends).sum();
        Self {
            shapes,
            timelines,
            bound,
            ends,
            effort: 0,
        }
    }

    /// The best placement found; one that ends by `target` is good enough.
    fn solve(&mut self, target: Time) -> Placement {
        let target = target.max(self.bound);
        let list: Vec<usize> = (0..self.shapes.len()).collect();
        let mut best = self.serial(&list);
        for attempt in 0.. {
            if best.horizon <= target + target / 128 || self.effort == 0 {
                return best;
            }
            let next = match attempt {
                0 => {
                    let order = waves::order(self);
                    self.serial(&order)
                }
                1 => self.dispatch(None),
                2 => self.dispatch(Some(0)),
                3 => {
                    let mean = self.shapes.iter().map(|shape| shape.words).sum::<Time>();
                    self.dispatch(Some(mean / self.shapes.len() as Time / 4))
                }
                _ => break,
            };
            if next.horizon < best.horizon {
                best = next;
            }
        }
        repair::improve(self, best, target)
    }

    /// Gives places in the order `order`, what a message must wait for always before it.
    fn serial(&mut self, order: &[usize]) -> Placement {
        let mut taken = Vec::with_capacity(order.len());
        let mut starts = vec![None; self.shapes.len()];
        self.timelines.iter_mut().for_each(Timeline::clear);
        let mut stack = Vec::new();
        for &message in order {
            stack.push(message);
            while let Some(&top) = stack.last() {
                let shape = &self.shapes[top];
                let missing = shape
                    .after
                    .iter()
                    .find(|wait| starts[wait.before].is_none());
                if let (None, Some(wait)) = (starts[top], missing) {
                    stack.push(wait.before);
                    continue;
                }
                stack.pop();
                if starts[top].is_none() {
                    starts[top] = Some(self.put(top, &starts));
                    taken.push(top);
                }
            }
        }
        self.placement(taken, &starts)
    }

    /// Places one message as early as it fits.
    fn put(&mut self, message: usize, starts: &[Option<Time>]) -> Time {
        let start = self.earliest(message, starts);
        timeline::commit(&mut self.timelines, &self.shapes[message], start);
        start
    }

    /// The earliest start of a message whose predecessors have theirs.
    fn earliest(&mut self, message: usize, starts: &[Option<Time>]) -> Time {
        let shape = &self.shapes[message];
        self.effort = self.effort.saturating_sub(shape.ends());
        let start_of = |before: usize| starts[before].unwrap_or(0);
        let from = timeline::ready(&self.timelines, &self.shapes, shape, start_of);
        timeline::earliest(&self.timelines, shape, from)
    }

    fn placement(&self, order: Vec<usize>, starts: &[Option<Time>]) -> Placement {
        let horizon = self.timelines.iter().map(Timeline::end).max().unwrap_or(0);
        let starts = starts.iter().map(|start| start.unwrap_or(0)).collect();
        Placement {
            order,
            starts,
            horizon,
        }
    }

    /// Always takes the message that can start first, counted in steps of `step` events; among
    /// those, or among all without `step`, the one whose busiest end has most left to do.
    fn dispatch(&mut self, step: Option<Time>) -> Placement {
        self.timelines.iter_mut().for_each(Timeline::clear);
        let count = self.shapes.len();
        let left = Work::of(&self.shapes, self.timelines.len());
        let mut run = Dispatch {
            step,
            left,
            starts: vec![None; count],
        };
        let (mut waiting, behind) = self.successors();
        let mut order = Vec::with_capacity(count);
        let mut queue = BinaryHeap::new();
        for message in (0..count).filter(|&message| waiting[message] == 0) {
            queue.push(self.rank(&run, message));
        }
        while let Some(top) = queue.pop() {
            let Reverse(message) = top.2;
            // Ranks only fall, so one that still beats the next is the best.
            if self.effort > 0 {
                let fresh = self.rank(&run, message);
                if queue.peek().is_some_and(|next| fresh < *next) {
                    queue.push(fresh);
                    continue;
                }
            }
            run.starts[message] = Some(self.put(message, &run.starts));
            run.left.done(&self.shapes[message]);
            order.push(message);
            for &next in &behind[message] {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    queue.push(self.rank(&run, next));
                }
            }
        }
        self.placement(order, &run.starts)
    }

    /// How many messages each waits for, and which ones wait for it.
    fn successors(&self) -> (Vec<usize>, Vec<Vec<usize>>) {
        let mut behind = vec![Vec::new(); self.shapes.len()];
        for (index, shape) in self.shapes.iter().enumerate() {
            shape
                .after
                .iter()
                .for_each(|wait| behind[wait.before].push(index));
        }
        (
            self.shapes.iter().map(|shape| shape.after.len()).collect(),
            behind,
        )
    }

    fn rank(&mut self, run: &Dispatch, message: usize) -> Rank {
        let start = run
            .step
            .map(|step| self.earliest(message, &run.starts) / step.max(1));
        let pressure = run.left.pressure(&self.shapes[message]);
        (Reverse(start.unwrap_or(0)), pressure, Reverse(message))
    }
}

/// Who goes first: the earliest, the one most needed, the first of the list.
type Rank = (Reverse<Time>, (Time, Time), Reverse<usize>);

/// The state of [`Problem::dispatch`].
struct Dispatch {
    step: Option<Time>,
    left: Work,
    starts: Vec<Option<Time>>,
}

/// Words each tile has left to send and to receive.
struct Work {
    send: Vec<Time>,
    receive: Vec<Time>,
}

impl Work {
    fn of(shapes: &[Shape], tiles: usize) -> Self {
        let mut work = Self {
            send: vec![0; tiles],
            receive: vec![0; tiles],
        };
        for shape in shapes {
            work.send[shape.sender] += shape.words;
            for link in &shape.links {
                work.receive[link.tile] += shape.words;
            }
        }
        work
    }

    /// Work left at the busiest end, then over all ends: what it costs to let the message wait.
    fn pressure(&self, shape: &Shape) -> (Time, Time) {
        let ends = shape.links.iter().map(|link| self.receive[link.tile]);
        let ends = ends.chain([self.send[shape.sender]]);
        (ends.clone().max().unwrap_or(0), ends.sum())
    }

    fn done(&mut self, shape: &Shape) {
        self.send[shape.sender] -= shape.words;
        for link in &shape.links {
            self.receive[link.tile] -= shape.words;
        }
    }
}

/// The length no placement goes below: the busiest sender, or the busiest receiver with the way of
/// its quickest first word. [exchange §13.2]
fn bound(shapes: &[Shape], timelines: &[Timeline]) -> Time {
    let work = Work::of(shapes, timelines.len());
    let mut first = vec![Time::MAX; timelines.len()];
    for shape in shapes {
        for link in &shape.links {
            let arrival = (shape.floor + link.to_mux).max(1) + timelines[link.tile].lead();
            first[link.tile] = first[link.tile].min(arrival);
        }
    }
    let received = work
        .receive
        .iter()
        .zip(first)
        .filter(|(words, _)| **words > 0);
    let received = received.map(|(words, first)| words + first + Time::from(TAIL_GUARD));
    received.chain(work.send.iter().copied()).max().unwrap_or(0)
}
