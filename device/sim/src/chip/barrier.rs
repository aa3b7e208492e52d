//! Barriers: who has come, who is let go, and why nothing moves any more.

use std::fmt::Write as _;

use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::zone;
use tilekiln_chip::{PhysTile, assumed};

use super::{Chip, Moved, State, fabric_stop};
use crate::stop::Stop;
use crate::sync::{self, Barrier, Standing};
use crate::tile::Tile;

impl Chip {
    /// Completes a barrier if every tile is there or has excused itself.
    pub(super) fn pass_barrier(&mut self) -> Result<Option<Moved>, Box<Stop>> {
        if self.held.iter().any(Option::is_some) {
            return Ok(None);
        }
        let zone = match sync::barrier((0..self.tiles.len()).map(|tile| self.standing(tile))) {
            Barrier::Complete { zone } => zone,
            Barrier::Open | Barrier::Torn { .. } => return Ok(None),
        };
        let arrival = self.cycle_of_arrival();
        if zone == zone::INTERNAL {
            self.facts.internal_barriers += 1;
            self.release(zone, arrival + assumed::SYNC_INTERNAL_CYCLES);
            return Ok(Some(Moved::On));
        }
        self.facts.external_barriers += 1;
        if !sync::has_host(zone) {
            self.release(zone, arrival + assumed::SYNC_EXTERNAL_CYCLES);
            return Ok(Some(Moved::On));
        }
        let ended = self.port.end_phase();
        ended.map_err(|(tile, fault)| self.port_stop(tile, &fault))?;
        let group = usize::from(zone == zone::GS2_HOST);
        if self.marks[group].arrive() {
            self.release(zone, arrival + assumed::SYNC_EXTERNAL_CYCLES);
        } else {
            self.held[group] = Some(arrival);
        }
        Ok(Some(Moved::Mark))
    }

    /// How a tile stands to the next barrier. [exchange §9.2]
    fn standing(&self, tile: usize) -> Standing {
        match self.states[tile] {
            State::Waits { zone } => Standing::Waits { zone },
            State::Ended => Standing::Away,
            _ if self.tiles[tile].csr(number::ANS_DCOUNT) > 0 => Standing::Armed,
            _ => Standing::Away,
        }
    }

    /// When the last tile came to the barrier, or excused itself from it.
    fn cycle_of_arrival(&self) -> u64 {
        let tiles = self.tiles.iter().zip(&self.states);
        let arrival = |(tile, state): (&Tile, &State)| match state {
            State::Waits { .. } => tile.cycle(),
            _ => tile.armed_at(),
        };
        tiles.map(arrival).max().unwrap_or(0)
    }

    /// Lets everybody pass a barrier of `zone` at `cycle`.
    pub(super) fn release(&mut self, zone: u32, cycle: u64) {
        let waits = |state: &State| matches!(state, State::Waits { .. });
        let tiles = self.tiles.iter().zip(&self.states);
        let consensus = tiles
            .filter(|(_, state)| waits(state))
            .all(|(tile, _)| tile.local_consensus());
        let tiles = self
            .tiles
            .iter_mut()
            .zip(&mut self.states)
            .zip(&mut self.muxes);
        for ((tile, state), mux) in tiles {
            match *state {
                State::Waits { zone: other } if sync::shared(other) == zone => {
                    if zone == zone::INTERNAL {
                        *mux = tile.csr(number::INCOMING_MUX);
                    }
                    tile.release(cycle);
                    tile.set_global_consensus(consensus);
                    *state = State::Runs;
                }
                State::Ended | State::Waits { .. } => {}
                _ => {
                    let left = tile.csr(number::ANS_DCOUNT).saturating_sub(1);
                    tile.set_csr(number::ANS_DCOUNT, left);
                    if left == 0 && *state == State::Armed {
                        tile.release(cycle);
                        *state = State::Runs;
                    }
                }
            }
        }
    }

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
            let _ = write!(what, "{mark} {count} {}", self.name_group(state, first));
        }
        let first = groups.first().map_or(0, |group| group.2);
        let tile = &self.tiles[first];
        fabric_stop(tile.id, tile.csr(number::PC), tile.cycle(), what)
    }

    fn name_group(&self, state: State, first: usize) -> String {
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
