//! Mends a placement where its longest chain of waiting runs.

use super::super::timeline::{Shape, Time};
use super::{Placement, Problem};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

/// Moves messages of the critical chain forward, about √n places at a time, and keeps what is not
/// longer. Ends at `target` or when the problem's effort is spent. [exchange §13.3]
pub(super) fn improve(problem: &mut Problem, placement: Placement, target: Time) -> Placement {
    let count = placement.order.len();
    let reach = 2 + count.isqrt();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut best = placement.clone();
    let mut current = placement;
    while best.horizon > target && problem.effort > 0 {
        let chain = chain(problem, &current);
        // A step of the chain looks at every message, about as long as at a few places.
        problem.effort = problem
            .effort
            .saturating_sub(chain.len() * problem.ends / 16);
        let message = chain[dice.roll(chain.len())];
        let at = current
            .order
            .iter()
            .position(|&it| it == message)
            .unwrap_or(0);
        let by = 1 + dice.roll(reach);
        let mut order = current.order.clone();
        order.remove(at);
        let to = if dice.roll(4) == 0 {
            (at + by).min(count - 1)
        } else {
            at.saturating_sub(by)
        };
        order.insert(to, message);
        let next = problem.serial(&order);
        if next.horizon <= current.horizon {
            current = next;
            if current.horizon < best.horizon {
                best = current.clone();
            }
        }
    }
    best
}

/// Messages that each wait for the one after it, from the last to end to one that waits for none.
fn chain(problem: &Problem, placement: &Placement) -> Vec<usize> {
    let (shapes, starts) = (&problem.shapes, &placement.starts);
    let end = |message: usize| {
        let shape = &shapes[message];
        let ends = shape.links.iter().map(|link| {
            starts[message] + link.to_mux + shape.words + problem.timelines[link.tile].lead()
        });
        ends.max().unwrap_or(0)
    };
    let Some(mut last) = (0..shapes.len()).max_by_key(|&message| end(message)) else {
        return vec![0];
    };
    let mut chain = vec![last];
    while chain.len() < shapes.len() {
        let slack =
            |&other: &usize| gap(&shapes[other], starts[other], &shapes[last], starts[last]);
        let before = (0..shapes.len())
            .filter(|&other| other != last && starts[other] < starts[last])
            .filter(|other| slack(other).is_some_and(|slack| slack <= 8))
            .min_by_key(|other| slack(other));
        match before {
            Some(before) => last = before,
            None => break,
        }
        chain.push(last);
    }
    chain
}

/// Events between one message and the next on the resource both use, if the first ends in time.
fn gap(first: &Shape, first_start: Time, second: &Shape, second_start: Time) -> Option<Time> {
    let sender = (first.sender == second.sender).then(|| second_start - first_start);
    let shared = second.links.iter().filter_map(|link| {
        let other = first.link(link.tile)?;
        Some(second_start + link.to_mux - first_start - other.to_mux)
    });
    let apart = shared.chain(sender).map(|apart| apart - first.words);
    apart.filter(|&apart| apart >= 0).min()
}
