//! Transfers with the host: what tiles ask of the port, done while they wait for it.

use tilekiln_chip::WORKERS;
use tilekiln_chip::csr::number;

use super::host::{HostMemory, Packet, port_of};
use super::{Chip, ChipFacts, PortFault, State};
use crate::stop::{Context, Stop};
use crate::tile::{State as ContextState, Tile};

impl Chip {
    /// Takes in what tiles sent to the host and serves those that wait and may; says whether
    /// somebody can go on.
    pub(super) fn serve_host(&mut self, memory: &mut dyn HostMemory) -> Result<bool, Box<Stop>> {
        for place in 0..self.tiles.len() {
            let (tile, sends) = (self.tiles[place].id, self.tiles[place].take_host_words());
            let accepted = self.port.accept(tile, sends);
            accepted.map_err(|(tile, fault)| self.port_stop(tile, &fault))?;
        }
        let mut moved = false;
        for place in 0..self.tiles.len() {
            if self.states[place] != State::Receives {
                continue;
            }
            let tile = &mut self.tiles[place];
            let id = tile.id;
            let mut packets = self.port.serve(id).into_iter();
            let served = packets.try_for_each(|p| transfer(tile, p, memory, &mut self.facts));
            if tile.csr(number::INCOMING_DCOUNT) == 0 {
                tile.release(tile.cycle());
                self.states[place] = State::Runs;
                moved = true;
            }
            served.map_err(|fault| self.port_stop(id, &fault))?;
        }
        Ok(moved)
    }
}

/// Moves one packet's data and counts it. A read of nothing counts one word. [A-DCOUNT]
fn transfer(
    tile: &mut Tile,
    packet: Packet,
    memory: &mut dyn HostMemory,
    facts: &mut ChipFacts,
) -> Result<(), PortFault> {
    let (mux, wanted) = (tile.csr(number::INCOMING_MUX), port_of(tile.id));
    if mux != wanted {
        return Err(PortFault::WrongPort { mux, wanted });
    }
    if (0..WORKERS as u8).any(|w| tile.state(Context::Worker(w)) == ContextState::Active) {
        return Err(PortFault::Workers);
    }
    match packet {
        Packet::Write { offset, data } => {
            facts.host_written += data.len() as u64;
            let bytes = data.len() as u32;
            memory
                .write(offset, &data)
                .then_some(())
                .ok_or(PortFault::Unattached { offset, bytes })
        }
        Packet::Read {
            offset,
            bytes,
            address,
            ..
        } => {
            let words = (bytes / 4).max(1);
            let expected = tile.csr(number::INCOMING_DCOUNT);
            if words > expected {
                return Err(PortFault::Unexpected { expected, words });
            }
            let mut data = vec![0; bytes as usize];
            if bytes > 0 && !memory.read(offset, &mut data) {
                return Err(PortFault::Unattached { offset, bytes });
            }
            let stored = bytes == 0 || tile.memory.write(address, &data).is_ok();
            stored
                .then_some(())
                .ok_or(PortFault::Destination { address, bytes })?;
            facts.host_read += u64::from(bytes);
            tile.set_csr(number::INCOMING_DCOUNT, expected - words);
            Ok(())
        }
    }
}
