//! Why nothing moves any more, in one sentence.

use std::fmt::Write as _;

use tilekiln_chip::PhysTile;
use tilekiln_chip::csr::number;

use super::{Chip, State, fabric_stop};
use crate::stop::Stop;

impl Chip {
    /// Names every group of waiting tiles, the first tile of each, and what it waits for.
    pub(super) fn stuck(&self) -> Stop {
        let mut groups: Vec<(State, usize, usize)> = Vec::new();
        for (tile, &state) in self.states.iter().enumerate() {
            match groups.iter_mut().find(|(known, ..)| *known == state) {
                Some((_, count, _)) => *count += 1,
                None => groups.push((state, 1, tile)),
            }
        }
        // The smallest group is the one that went astray.
        groups.sort_by_key(|&(_, count, first)| (count, first));
        let mut what = String::from("nothing can move");
        for &(state, count, first) in &groups {
            let mark = if what.contains(':') { ',' } else { ':' };
            // Writing to a string cannot go wrong.
            let _ = write!(what, "{mark} {count} {}", self.group(state, first));
        }
        let first = groups.first().map_or(0, |group| group.2);
        let tile = &self.tiles[first];
        fabric_stop(tile.id, tile.csr(number::PC), tile.cycle(), what)
    }

    fn group(&self, state: State, first: usize) -> String {
        let tile = &self.tiles[first];
        let id: PhysTile = tile.id;
        match state {
            State::Runs | State::Row => format!("running ({id} first)"),
            State::Waits { zone } => format!("waiting in sync {zone} ({id} first)"),
            State::Armed => format!(
                "waiting in sync 1 ({id} first, for {} barriers)",
                tile.csr(number::ANS_DCOUNT)
            ),
            State::Receives => format!(
                "waiting in sync 0 ({id} first, for {} words from the host, {})",
                tile.csr(number::INCOMING_DCOUNT),
                if self.port.is_granted(id) {
                    "granted"
                } else {
                    "without a grant"
                }
            ),
            State::Ended => format!("ended ({id} first)"),
        }
    }
}
