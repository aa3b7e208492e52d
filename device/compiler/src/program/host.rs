//! The tile's side of host phases: who plays which part, and where the packets lie.

use tilekiln_chip::exchange::{HOST_PAGE, HOST_WINDOW, HOST_WINDOW_BYTES};
use tilekiln_chip::{ByteAddr, TileId};

use crate::plan::{Plan, name};
use crate::schedule::{HostExchange, Schedule};

use super::ProgramError;

/// What a tile does in a host phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    /// It sends the request for its column lane.
    pub owner: bool,
    /// It has a transfer of its own.
    pub target: bool,
    /// Headers of the transfer, where the code depends on their number: host-bound ones.
    pub headers: u32,
}

impl Role {
    /// Whether the tile only answers the phase's barriers.
    pub(super) fn is_bystander(self) -> bool {
        !self.owner && !self.target
    }
}

/// Where the packets of a phase lie in the window, the same on every tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packets {
    /// The two words of the request.
    pub request: ByteAddr,
    /// The headers, 8 bytes each.
    pub headers: ByteAddr,
    /// The most headers a tile has.
    pub most: u32,
}

/// Places the packets of every phase behind the page that the host's words land in.
pub(super) fn packet_places(
    plan: &Plan,
    schedule: &Schedule,
) -> Result<Vec<Packets>, ProgramError> {
    let start = super::allocation(plan, name::PAGE)?.at.offset(HOST_PAGE);
    let mut next = start;
    let mut places = Vec::new();
    for phase in &schedule.host {
        let most = phase
            .streams
            .iter()
            .map(|stream| stream.headers.len())
            .max()
            .unwrap_or(0) as u32;
        places.push(Packets {
            request: next,
            headers: next.offset(8),
            most,
        });
        next = next.offset(8 + 8 * most);
    }
    let end = HOST_WINDOW.offset(HOST_WINDOW_BYTES);
    if next > end {
        let (wanted, available) = (next.0 - start.0, end.0 - start.0);
        return Err(ProgramError::PacketsTooLarge {
            phases: places.len(),
            wanted,
            available,
        });
    }
    Ok(places)
}

/// The part of `tile` in `phase`; `to_host` tells which way the phase goes.
pub(super) fn role(phase: &HostExchange, to_host: bool, tile: TileId) -> Role {
    let owner = phase
        .requests
        .binary_search_by_key(&tile, |request| request.owner)
        .is_ok();
    let stream = phase
        .streams
        .binary_search_by_key(&tile, |stream| stream.tile);
    let headers = match stream {
        Ok(index) if to_host => phase.streams[index].headers.len() as u32,
        _ => 0,
    };
    Role {
        owner,
        target: stream.is_ok(),
        headers,
    }
}

/// The packet words of `tile`, one run a phase in which it has any.
pub(super) fn packet_words(
    schedule: &Schedule,
    places: &[Packets],
    tile: TileId,
) -> Vec<(ByteAddr, Vec<u32>)> {
    let mut runs = Vec::new();
    for (phase, place) in schedule.host.iter().zip(places) {
        let request = phase
            .requests
            .binary_search_by_key(&tile, |request| request.owner);
        if let Ok(index) = request {
            runs.push((place.request, phase.requests[index].words.to_vec()));
        }
        let stream = phase
            .streams
            .binary_search_by_key(&tile, |stream| stream.tile);
        if let Ok(index) = stream {
            let words = phase.streams[index]
                .headers
                .iter()
                .flatten()
                .copied()
                .collect();
            runs.push((place.headers, words));
        }
    }
    runs
}
