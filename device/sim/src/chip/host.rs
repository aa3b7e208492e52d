//! The host port: packets out of the words tiles send, requests, and the transfers they allow.
//! [exchange §14]

use std::collections::VecDeque;

use tilekiln_chip::exchange::{HOST_PAGE, HOST_READ_MAX, HOST_WRITE_MAX, MUX_HOST, packet};
use tilekiln_chip::{PhysTile, TILE_COUNT, assumed, memory};

use super::PortFault;
use crate::tile::HostSend;

/// The host's memory as the card reaches it: attached pages at flat offsets.
pub trait HostMemory: Send {
    /// Reads from `offset` on; `false` when some of it is not attached.
    fn read(&self, offset: u64, into: &mut [u8]) -> bool;

    /// Writes from `offset` on; `false` when some of it is not attached.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool;
}

/// No host memory at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl HostMemory for NoHost {
    fn read(&self, _offset: u64, _into: &mut [u8]) -> bool {
        false
    }

    fn write(&mut self, _offset: u64, _bytes: &[u8]) -> bool {
        false
    }
}

/// What a tile asks of the port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Packet {
    /// Host to tile.
    Read {
        offset: u64,
        bytes: u32,
        address: u32,
        end: bool,
    },
    /// Tile to host.
    Write { offset: u64, data: Vec<u8> },
}

/// One tile's side of the port.
#[derive(Clone, Debug, Default)]
struct Line {
    /// Words not read yet, with the cycle each left at.
    words: VecDeque<(u64, u32)>,
    packets: VecDeque<Packet>,
    /// End of the header of the last write packet.
    last_header: Option<u64>,
    granted: bool,
    /// The stream of this phase has its end bits.
    closed: bool,
}

/// All tiles' lines.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    lines: Vec<Line>,
}

/// The number of the port of `tile`, as its multiplexer holds it. [exchange §14.1 H]
pub(crate) const fn port_of(tile: PhysTile) -> u32 {
    MUX_HOST + tile.owner().index() as u32
}

impl Port {
    pub fn new() -> Self {
        Self {
            lines: vec![Line::default(); usize::from(TILE_COUNT)],
        }
    }

    /// Takes in what `tile` sent; requests act at once.
    pub fn accept(
        &mut self,
        tile: PhysTile,
        sends: Vec<HostSend>,
    ) -> Result<(), (PhysTile, PortFault)> {
        for send in sends {
            let (mux, wanted) = (send.mux, port_of(tile));
            if mux != wanted {
                return Err((tile, PortFault::WrongPort { mux, wanted }));
            }
            let words = (send.cycle..).zip(send.words);
            self.line(tile).words.extend(words);
        }
        while let Some(next) = self
            .line(tile)
            .next_packet(tile)
            .map_err(|fault| (tile, fault))?
        {
            match next {
                Next::Request(words) => self.request(tile, words)?,
                Next::Packet(packet) => self.line(tile).packets.push_back(packet),
            }
        }
        Ok(())
    }

    fn line(&mut self, tile: PhysTile) -> &mut Line {
        &mut self.lines[usize::from(tile.index())]
    }

    /// Grants every tile the request names. [exchange §14.1 H]
    fn request(&mut self, owner: PhysTile, words: [u32; 2]) -> Result<(), (PhysTile, PortFault)> {
        let map = u64::from(words[0] & 0xff_ffff) | u64::from(words[1]) << 24;
        let bad = (owner, PortFault::Request { words });
        if owner != owner.owner() || words[0] >> 24 != 0 || words[1] >> 22 != 0 {
            return Err(bad);
        }
        for bit in (0..46).filter(|bit| map >> bit & 1 == 1) {
            let number = owner.index() + 64 * (bit / 2) + 2 * (bit & 1);
            let tile = PhysTile::new(number).ok_or_else(|| bad.clone())?;
            if self.line(tile).granted {
                return Err((owner, PortFault::GrantedTwice { tile }));
            }
            self.line(tile).granted = true;
        }
        Ok(())
    }

    /// What may be done for `tile` now: nothing without a grant.
    pub fn serve(&mut self, tile: PhysTile) -> VecDeque<Packet> {
        let line = self.line(tile);
        if !line.granted {
            return VecDeque::new();
        }
        if line.closed {
            line.granted = false;
        }
        std::mem::take(&mut line.packets)
    }

    /// Whether a request has named `tile`.
    pub fn is_granted(&self, tile: PhysTile) -> bool {
        self.lines[usize::from(tile.index())].granted
    }

    /// A host barrier ends the phase: nothing may be half done.
    pub fn end_phase(&mut self) -> Result<(), (PhysTile, PortFault)> {
        for tile in PhysTile::all() {
            let line = self.line(tile);
            let words = line.words.len() + 2 * line.packets.len();
            if line.granted {
                return Err((tile, PortFault::GrantUnused { words }));
            }
            if words > 0 {
                return Err((tile, PortFault::LeftOver { words }));
            }
            line.closed = false;
            line.last_header = None;
        }
        Ok(())
    }
}

/// Whether word 0 of a header ends its tile's stream.
const fn ends(word: u32) -> bool {
    word >> packet::END.0 & packet::END.1 == packet::END.1
}

enum Next {
    Request([u32; 2]),
    Packet(Packet),
}

impl Line {
    /// Takes the next whole packet off the line.
    fn next_packet(&mut self, tile: PhysTile) -> Result<Option<Next>, PortFault> {
        let (Some(&(cycle, first)), Some(&(_, second))) = (self.words.front(), self.words.get(1))
        else {
            return Ok(None);
        };
        let header = [first, second];
        let field = |word: u32, (low, mask): (u32, u32)| word >> low & mask;
        let format = field(first, packet::FORMAT);
        if format == 0 {
            self.words.drain(..2);
            return Ok(Some(Next::Request(header)));
        }
        let long = format & 1 == 1;
        let unit = if long {
            packet::LONG_UNIT
        } else {
            packet::SHORT_UNIT
        };
        let offset = u64::from(field(second, packet::OFFSET)) * u64::from(unit);
        let end = ends(first);
        let bytes = match field(second, packet::LENGTH) {
            0 if long => HOST_READ_MAX,
            length => length * unit,
        };
        let write = match format {
            packet::WRITE_SHORT | packet::WRITE_LONG => true,
            packet::READ_SHORT | packet::READ_LONG => false,
            _ => return Err(PortFault::Format { header }),
        };
        self.check(tile, header, write, bytes, offset)?;
        if write && self.words.len() < 2 + bytes as usize / 4 {
            return Ok(None);
        }
        self.space(cycle, write)?;
        self.words.drain(..2);
        if write {
            let payload = self.words.drain(..bytes as usize / 4);
            let data = payload.flat_map(|(_, word)| word.to_le_bytes()).collect();
            return Ok(Some(Next::Packet(Packet::Write { offset, data })));
        }
        self.closed = end;
        let address = memory::BASE.0 + field(first, packet::ADDRESS) * packet::ADDRESS_UNIT;
        let inside = memory::contains(tilekiln_chip::ByteAddr(address), bytes);
        if !inside {
            return Err(PortFault::Destination { address, bytes });
        }
        Ok(Some(Next::Packet(Packet::Read {
            offset,
            bytes,
            address,
            end,
        })))
    }

    /// What holds for every header. [exchange §14.2]
    fn check(
        &self,
        tile: PhysTile,
        header: [u32; 2],
        write: bool,
        bytes: u32,
        offset: u64,
    ) -> Result<(), PortFault> {
        let named = header[0] >> packet::TILE.0 & packet::TILE.1;
        if named != u32::from(tile.index()) {
            return Err(PortFault::Route { named });
        }
        if self.closed {
            return Err(PortFault::SecondStream);
        }
        let closing = !write && ends(header[0]);
        let limit = if write { HOST_WRITE_MAX } else { HOST_READ_MAX };
        if bytes > limit || bytes == 0 && !closing {
            return Err(PortFault::Length { bytes, limit });
        }
        if offset % u64::from(HOST_PAGE) + u64::from(bytes) > u64::from(HOST_PAGE) {
            return Err(PortFault::Page { offset, bytes });
        }
        Ok(())
    }

    /// The next header keeps its distance from the end of a write's header. [exchange §14.3 H]
    fn space(&mut self, cycle: u64, write: bool) -> Result<(), PortFault> {
        if let Some(last) = self.last_header {
            let found = cycle.saturating_sub(last);
            if found < u64::from(assumed::HOST_PACKET_EVENTS) {
                return Err(PortFault::Spacing { found });
            }
        }
        self.last_header = write.then_some(cycle + 2);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(number: u16) -> PhysTile {
        PhysTile::new(number).unwrap()
    }

    fn send(tile: PhysTile, cycle: u64, words: &[u32]) -> HostSend {
        HostSend {
            cycle,
            words: words.to_vec(),
            mux: port_of(tile),
            pc: 0,
        }
    }

    #[test]
    fn the_worked_read_is_understood() {
        // [exchange §14.4 (1)]
        let (owner, target) = (tile(4), tile(260));
        let mut port = Port::new();
        port.accept(target, vec![send(target, 0, &[0xec82_020c, 0x0000_0401])])
            .unwrap();
        assert!(port.serve(target).is_empty());
        port.accept(owner, vec![send(owner, 0, &[0x100, 0])])
            .unwrap();
        let read = Packet::Read {
            offset: 0x1000,
            bytes: 64,
            address: 0x5_0180,
            end: true,
        };
        assert_eq!(port.serve(target), [read]);
        assert_eq!(port.end_phase(), Ok(()));
    }

    #[test]
    fn long_reads_of_1024_bytes_and_odd_tiles_are_understood() {
        // [exchange §14.4 (2)]
        let (owner, target) = (tile(29), tile(31));
        let words = [0xe00f_820c, 0x8000_0800, 0xec0f_826c, 0x8000_0b00];
        let mut port = Port::new();
        port.accept(owner, vec![send(owner, 0, &[2, 0])]).unwrap();
        port.accept(target, vec![send(target, 0, &words)]).unwrap();
        let reads = [
            Packet::Read {
                offset: 0x2000,
                bytes: 1024,
                address: 0x5_0180,
                end: false,
            },
            Packet::Read {
                offset: 0x2c00,
                bytes: 1024,
                address: 0x5_0d80,
                end: true,
            },
        ];
        assert_eq!(port.serve(target), reads);
    }

    #[test]
    fn a_write_takes_its_payload_and_the_next_header_waits_18_events() {
        let target = tile(260);
        let write = |second: u64| {
            let mut port = Port::new();
            let words = [0x8082_0000, 0x0000_4001, 7];
            let close = [0xcc82_020b, 0];
            port.accept(tile(4), vec![send(tile(4), 0, &[0x100, 0])])
                .unwrap();
            port.accept(
                target,
                vec![send(target, 100, &words), send(target, second, &close)],
            )?;
            Ok(port.serve(target))
        };
        let packets = write(120).unwrap();
        assert_eq!(
            packets[0],
            Packet::Write {
                offset: 0x1000,
                data: vec![7, 0, 0, 0]
            }
        );
        assert_eq!(packets.len(), 2);
        assert_eq!(write(119), Err((target, PortFault::Spacing { found: 17 })));
    }

    #[test]
    fn packets_that_break_a_rule_are_refused() {
        let target = tile(260);
        let first = |words: &[u32]| {
            Port::new()
                .accept(target, vec![send(target, 0, words)])
                .unwrap_err()
                .1
        };
        let crossing = first(&[0xcc82_020c, 0x3ff << 4 | 2]);
        assert_eq!(
            crossing,
            PortFault::Page {
                offset: 0xffc,
                bytes: 8
            }
        );
        let long = first(&[0xa082_0000, 0x0000_0405]);
        assert_eq!(
            long,
            PortFault::Length {
                bytes: 320,
                limit: 256
            }
        );
        assert_eq!(
            first(&[0xec83_020c, 0x401]),
            PortFault::Route { named: 262 }
        );
        assert_eq!(
            first(&[0x4c82_020c, 1]),
            PortFault::Format {
                header: [0x4c82_020c, 1]
            }
        );
        assert_eq!(first(&[0x100, 0]), PortFault::Request { words: [0x100, 0] });
        let far = first(&[0xec82_0000 | 0x7fff, 0x401]);
        assert_eq!(
            far,
            PortFault::Destination {
                address: 0x14_bfe0,
                bytes: 64
            }
        );
        let mut port = Port::new();
        let other = HostSend {
            cycle: 0,
            words: vec![0, 0],
            mux: 0x601,
            pc: 0,
        };
        let wrong = PortFault::WrongPort {
            mux: 0x601,
            wanted: 0x604,
        };
        assert_eq!(port.accept(target, vec![other]), Err((target, wrong)));
    }

    #[test]
    fn a_grant_or_a_packet_left_at_the_barrier_is_refused() {
        let (owner, target) = (tile(4), tile(260));
        let mut port = Port::new();
        port.accept(owner, vec![send(owner, 0, &[0x100, 0])])
            .unwrap();
        assert_eq!(
            port.end_phase(),
            Err((target, PortFault::GrantUnused { words: 0 }))
        );
        let mut port = Port::new();
        port.accept(target, vec![send(target, 0, &[0xec82_020c, 0x401])])
            .unwrap();
        assert_eq!(
            port.end_phase(),
            Err((target, PortFault::LeftOver { words: 2 }))
        );
    }
}
