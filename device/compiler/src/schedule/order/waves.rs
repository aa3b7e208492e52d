//! Waves: sets of messages that share no sender and no receiver, so that a wave runs at once.

use super::super::timeline::{Shape, Time};
use super::{Problem, Work};

/// The messages wave by wave.
///
/// With one receiver a message a wave is a matching of senders and receivers that leaves out no
/// busiest tile if it can; otherwise it is filled greedily, wide messages first.
pub(super) fn order(problem: &Problem) -> Vec<usize> {
    if problem.shapes.iter().all(|shape| shape.links.len() == 1) {
        matched(problem)
    } else {
        filled(problem)
    }
}

/// Waves of multicasts.
fn filled(problem: &Problem) -> Vec<usize> {
    let shapes = &problem.shapes;
    let tiles = problem.timelines.len();
    let mut left = Work::of(shapes, tiles);
    let mut pending: Vec<usize> = (0..shapes.len()).collect();
    let mut order = Vec::with_capacity(shapes.len());
    while !pending.is_empty() {
        pending.sort_by_key(|&message| {
            let shape = &shapes[message];
            let area = shape.words * shape.links.len() as Time;
            std::cmp::Reverse((shape.links.len(), left.pressure(shape), area))
        });
        let (mut sends, mut receives) = (vec![false; tiles], vec![false; tiles]);
        let mut wave = Vec::new();
        pending.retain(|&message| {
            let shape = &shapes[message];
            let free = !sends[shape.sender] && shape.links.iter().all(|link| !receives[link.tile]);
            if free {
                sends[shape.sender] = true;
                shape
                    .links
                    .iter()
                    .for_each(|link| receives[link.tile] = true);
                wave.push(message);
            }
            !free
        });
        wave.iter().for_each(|&message| left.done(&shapes[message]));
        order.extend(wave);
    }
    order
}

/// All messages from one tile to another.
struct Bundle {
    sender: usize,
    receiver: usize,
    messages: Vec<usize>,
}

/// Waves of messages with one receiver each.
fn matched(problem: &Problem) -> Vec<usize> {
    let shapes = &problem.shapes;
    let mut left = Work::of(shapes, problem.timelines.len());
    let mut bundles = bundles(shapes);
    let mut order = Vec::with_capacity(shapes.len());
    while !bundles.is_empty() {
        let mut wave = Matching::new(&bundles, problem.timelines.len()).solve(&left);
        wave.sort_by_key(|&bundle| {
            let words = bundles[bundle].messages.iter().map(|&it| shapes[it].words);
            (std::cmp::Reverse(words.sum::<Time>()), bundle)
        });
        for &bundle in &wave {
            order.extend(&bundles[bundle].messages);
            bundles[bundle]
                .messages
                .iter()
                .for_each(|&message| left.done(&shapes[message]));
            bundles[bundle].messages.clear();
        }
        bundles.retain(|bundle| !bundle.messages.is_empty());
    }
    order
}

/// The messages by sender and receiver.
fn bundles(shapes: &[Shape]) -> Vec<Bundle> {
    let ends = |message: usize| (shapes[message].sender, shapes[message].links[0].tile);
    let mut all: Vec<usize> = (0..shapes.len()).collect();
    all.sort_by_key(|&message| (ends(message), message));
    all.chunk_by(|&one, &two| ends(one) == ends(two))
        .map(|messages| Bundle {
            sender: ends(messages[0]).0,
            receiver: ends(messages[0]).1,
            messages: messages.to_vec(),
        })
        .collect()
}

/// Senders on one side, receivers on the other, bundles between.
struct Matching<'a> {
    bundles: &'a [Bundle],
    tiles: usize,
    /// The bundles at each end: senders first, then receivers.
    at: Vec<Vec<usize>>,
    /// The bundle chosen at each end.
    chosen: Vec<Option<usize>>,
}

impl<'a> Matching<'a> {
    fn new(bundles: &'a [Bundle], tiles: usize) -> Self {
        let mut at = vec![Vec::new(); 2 * tiles];
        for (index, bundle) in bundles.iter().enumerate() {
            at[bundle.sender].push(index);
            at[tiles + bundle.receiver].push(index);
        }
        Self {
            bundles,
            tiles,
            at,
            chosen: vec![None; 2 * tiles],
        }
    }

    /// A maximal matching; the busiest ends are served first and never let go of again.
    fn solve(mut self, left: &Work) -> Vec<usize> {
        let work: Vec<Time> = left.send.iter().chain(&left.receive).copied().collect();
        for list in &mut self.at {
            list.sort_by_key(|&bundle| {
                let bundle = &self.bundles[bundle];
                std::cmp::Reverse(work[bundle.sender] + work[self.tiles + bundle.receiver])
            });
        }
        let mut ends: Vec<usize> = (0..2 * self.tiles).filter(|&end| work[end] > 0).collect();
        ends.sort_by_key(|&end| (std::cmp::Reverse(work[end]), end));
        for end in ends {
            if self.chosen[end].is_none() {
                self.augment(end);
            }
        }
        self.chosen[..self.tiles]
            .iter()
            .flatten()
            .copied()
            .collect()
    }

    /// The other end of `bundle`.
    fn across(&self, bundle: usize, end: usize) -> usize {
        let Bundle {
            sender, receiver, ..
        } = self.bundles[bundle];
        if end == sender {
            self.tiles + receiver
        } else {
            sender
        }
    }

    /// Looks for a path from a free end to another free end, breadth first, and swaps along it.
    fn augment(&mut self, root: usize) {
        let mut reached_by: Vec<Option<usize>> = vec![None; 2 * self.tiles];
        let mut queue = vec![root];
        let mut next = 0;
        while let Some(&near) = queue.get(next) {
            next += 1;
            for &bundle in &self.at[near] {
                let far = self.across(bundle, near);
                if reached_by[far].is_some() {
                    continue;
                }
                reached_by[far] = Some(bundle);
                match self.chosen[far] {
                    None => return self.swap(root, far, &reached_by),
                    Some(taken) => queue.push(self.across(taken, far)),
                }
            }
        }
    }

    /// Takes every bundle of the path that ends at `far`, and drops those between.
    fn swap(&mut self, root: usize, mut far: usize, reached_by: &[Option<usize>]) {
        while let Some(bundle) = reached_by[far] {
            let near = self.across(bundle, far);
            let dropped = self.chosen[near];
            self.chosen[far] = Some(bundle);
            self.chosen[near] = Some(bundle);
            match dropped {
                Some(dropped) if near != root => far = self.across(dropped, near),
                _ => return,
            }
        }
    }
}
