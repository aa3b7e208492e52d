//! What the packets of a host phase move, read back from their words. [exchange §14]

use tilekiln_chip::exchange::packet::{self, READ_SHORT, WRITE_SHORT};
use tilekiln_chip::exchange::{HOST_PAGE, HOST_WINDOW, HOST_WINDOW_BYTES, HOST_WRITE_MAX};
use tilekiln_chip::{ByteAddr, TileId, memory};

use super::{CheckError, HostError};
use crate::plan::{HostDirection, HostPage, HostPhase};
use crate::schedule::{HostExchange, Request, Stream};

/// What is true of a host phase that passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// Tiles that move data or read the command word.
    pub targets: u32,
    /// Tiles that send a request.
    pub owners: u32,
    /// Packets of all tiles.
    pub packets: u64,
    /// Bytes the tiles read.
    pub read_bytes: u64,
    /// Bytes the tiles write.
    pub written_bytes: u64,
}

/// Checks the packets of one host phase. With `command`, every tile must also read the command
/// word to that address.
///
/// # Errors
///
/// [`CheckError::Host`] with the first rule found broken.
pub fn host(
    phase: &HostPhase,
    command: Option<ByteAddr>,
    exchange: &HostExchange,
) -> Result<HostFacts, CheckError> {
    let mut pages: Vec<&HostPage> = phase.pages.iter().collect();
    pages.sort_by_key(|page| page.tile);
    let targets: Vec<TileId> = match command {
        Some(_) => TileId::all().collect(),
        None => pages.iter().map(|page| page.tile).collect(),
    };
    let fault = |tile, fault| CheckError::Host { tile, fault };
    let (streams, wanted) = (exchange.streams.len(), targets.len());
    if streams != wanted {
        let tile = targets
            .first()
            .copied()
            .unwrap_or(TileId::all().next().expect("0 is a tile"));
        return Err(fault(
            tile,
            HostError::Streams {
                streams,
                pages: wanted,
            },
        ));
    }
    let mut facts = HostFacts {
        targets: wanted as u32,
        ..HostFacts::default()
    };
    for (stream, &tile) in exchange.streams.iter().zip(&targets) {
        if stream.tile != tile {
            return Err(fault(stream.tile, HostError::Order));
        }
        let page = pages
            .binary_search_by_key(&tile, |page| page.tile)
            .ok()
            .map(|at| pages[at]);
        let reading = Reading {
            tile,
            direction: phase.direction,
            page,
            command,
        };
        reading
            .check(stream, &mut facts)
            .map_err(|error| fault(tile, error))?;
    }
    requests(&targets, &exchange.requests)?;
    facts.owners = exchange.requests.len() as u32;
    Ok(facts)
}

/// A header, field by field.
#[derive(Clone, Copy, Debug)]
struct Packet {
    format: u32,
    ends: bool,
    tile: u32,
    at: ByteAddr,
    complex: u32,
    offset: u32,
    bytes: u32,
}

impl Packet {
    fn read(header: [u32; 2]) -> Self {
        let [one, two] = header;
        let field = |word: u32, (low, mask): (u32, u32)| word >> low & mask;
        let format = field(one, packet::FORMAT);
        let long = format & 1 == 1;
        let unit = if long {
            packet::LONG_UNIT
        } else {
            packet::SHORT_UNIT
        };
        let length = match field(two, packet::LENGTH) {
            0 if long => packet::LENGTH.1 + 1,
            length => length,
        };
        Self {
            format,
            ends: field(one, packet::END) == packet::END.1,
            tile: field(one, packet::TILE),
            at: ByteAddr(memory::BASE.0 + packet::ADDRESS_UNIT * field(one, packet::ADDRESS)),
            complex: field(two, packet::COMPLEX),
            offset: field(two, packet::OFFSET).saturating_mul(unit),
            bytes: length * unit,
        }
    }

    fn reads(&self) -> bool {
        self.format >= READ_SHORT
    }
}

/// What one tile's packets must do.
struct Reading<'a> {
    tile: TileId,
    direction: HostDirection,
    page: Option<&'a HostPage>,
    command: Option<ByteAddr>,
}

impl Reading<'_> {
    /// Follows the stream from packet to packet.
    fn check(&self, stream: &Stream, facts: &mut HostFacts) -> Result<(), HostError> {
        let (mut carried, mut words, mut commands, mut closing) = (0, 0, 0, 0);
        for (index, &header) in stream.headers.iter().enumerate() {
            let packet = Packet::read(header);
            let last = index + 1 == stream.headers.len();
            let rule = self.common(&packet, last).or_else(|| {
                if packet.reads() && packet.bytes == 0 {
                    closing += 1;
                    words += 1;
                    self.closes(&packet, carried)
                } else if self.command.is_some() && packet.offset < HOST_PAGE {
                    commands += 1;
                    words += packet.bytes / 4;
                    self.commands(&packet)
                } else {
                    let rule = self.carries(&packet, carried);
                    carried += packet.bytes;
                    words += if packet.reads() { packet.bytes / 4 } else { 0 };
                    rule
                }
            });
            if let Some(rule) = rule {
                return Err(HostError::Packet {
                    packet: index,
                    header,
                    rule,
                });
            }
        }
        facts.packets += stream.headers.len() as u64;
        let bytes = self.page.map_or(0, |page| page.bytes);
        if carried != bytes {
            return Err(HostError::Bytes { carried, bytes });
        }
        let closes = self.page.is_some() && self.direction == HostDirection::ToHost;
        let wants = [u32::from(closes), u32::from(self.command.is_some())];
        if [closing, commands] != wants {
            return Err(HostError::Reads {
                closing,
                commands,
                wants,
            });
        }
        match self.direction {
            HostDirection::ToTiles => facts.read_bytes += u64::from(carried),
            HostDirection::ToHost => facts.written_bytes += u64::from(carried),
        }
        let says = stream.expected_words;
        if says == words {
            Ok(())
        } else {
            Err(HostError::Expected { says, is: words })
        }
    }

    /// What holds for every packet; gives the broken rule.
    fn common(&self, packet: &Packet, last: bool) -> Option<&'static str> {
        let tile = u32::from(self.tile.physical().index());
        let page = packet.offset / HOST_PAGE;
        let crosses = packet.bytes > 0 && (packet.offset + packet.bytes - 1) / HOST_PAGE != page;
        let window = HOST_WINDOW.0..HOST_WINDOW.0 + HOST_WINDOW_BYTES;
        let outside = !window.contains(&packet.at.0) || packet.at.0 + packet.bytes > window.end;
        let rules = [
            (packet.tile != tile, "it names another tile"),
            (
                packet.complex != tile & 1,
                "it takes the other PCIe complex",
            ),
            (packet.format < WRITE_SHORT, "a stream reads and writes"),
            (
                packet.ends != last,
                "the end bits are on the last packet only",
            ),
            (packet.ends && !packet.reads(), "a stream ends in a read"),
            (crosses, "no packet crosses a page of the host"),
            (
                packet.reads() && outside,
                "reads land in the window 0x50000..0x54000",
            ),
            (
                !packet.reads() && packet.at != memory::BASE,
                "writes have no address",
            ),
        ];
        rules
            .into_iter()
            .find_map(|(broken, rule)| broken.then_some(rule))
    }

    /// A packet with data.
    fn carries(&self, packet: &Packet, carried: u32) -> Option<&'static str> {
        let Some(page) = self.page else {
            return Some("the tile has no page");
        };
        let reads = self.direction == HostDirection::ToTiles;
        let rules = [
            (packet.bytes == 0, "a packet carries words"),
            (packet.reads() != reads, "it goes the wrong way"),
            (
                packet.offset != HOST_PAGE + page.buffer_offset + carried,
                "its host offset is wrong",
            ),
            (
                reads && packet.at.0 != page.tile_address.0 + carried,
                "its tile address is wrong",
            ),
            (
                !reads && packet.bytes > HOST_WRITE_MAX,
                "a write carries at most 256 bytes",
            ),
        ];
        rules
            .into_iter()
            .find_map(|(broken, rule)| broken.then_some(rule))
    }

    /// The read of length 0 behind the writes.
    fn closes(&self, packet: &Packet, carried: u32) -> Option<&'static str> {
        let early = self.page.is_none_or(|page| carried != page.bytes);
        let rules = [
            (
                self.direction == HostDirection::ToTiles,
                "only writes are closed by an empty read",
            ),
            (
                packet.format != READ_SHORT || packet.offset != 0,
                "the empty read is short, at offset 0",
            ),
            (early, "the empty read comes behind all writes"),
        ];
        rules
            .into_iter()
            .find_map(|(broken, rule)| broken.then_some(rule))
    }

    /// The read of the command word.
    fn commands(&self, packet: &Packet) -> Option<&'static str> {
        let clash = self
            .page
            .filter(|_| self.direction == HostDirection::ToTiles)
            .is_some_and(|page| {
                let end = page.tile_address.0 + page.bytes;
                packet.at.0 < end && page.tile_address.0 < packet.at.0 + packet.bytes
            });
        let rules = [
            (
                packet.format != READ_SHORT,
                "the command word is read by a short packet",
            ),
            (
                packet.offset != 0 || packet.bytes != 4,
                "the command word is word 0",
            ),
            (
                Some(packet.at) != self.command,
                "the command word lands elsewhere",
            ),
            (clash, "the command word lands in the page"),
        ];
        rules
            .into_iter()
            .find_map(|(broken, rule)| broken.then_some(rule))
    }
}

/// Every owner requests exactly the tiles that take part.
fn requests(targets: &[TileId], requests: &[Request]) -> Result<(), CheckError> {
    let fault = |tile, fault| CheckError::Host { tile, fault };
    if let Some(pair) = requests
        .windows(2)
        .find(|pair| pair[0].owner >= pair[1].owner)
    {
        return Err(fault(pair[1].owner, HostError::Order));
    }
    let mut wanted: Vec<(TileId, u64)> = Vec::new();
    for target in targets {
        let tile = target.physical();
        // The owner is the tile of row 0 in the same column and lane, first of its pair; the
        // target is counted along the column. [exchange §14.1]
        let place = 2 * (tile.index() / 64) + (tile.index() >> 1 & 1);
        let owner = tilekiln_chip::PhysTile::new(tile.index() & 0x3d).map(|it| it.logical());
        let owner = owner.unwrap_or(*target);
        match wanted.binary_search_by_key(&owner, |&(owner, _)| owner) {
            Ok(index) => wanted[index].1 |= 1 << place,
            Err(index) => wanted.insert(index, (owner, 1 << place)),
        }
    }
    let has = |request: &Request| u64::from(request.words[0]) | u64::from(request.words[1]) << 24;
    for request in requests {
        if request.words[0] >> 24 != 0 || request.words[1] >> 22 != 0 {
            let says = u64::from(request.words[1]) << 32 | u64::from(request.words[0]);
            return Err(fault(request.owner, HostError::Request { says, is: 0 }));
        }
    }
    for &(owner, is) in &wanted {
        let index = requests.binary_search_by_key(&owner, |request| request.owner);
        let says = index.map_or(0, |index| has(&requests[index]));
        if says != is {
            return Err(fault(owner, HostError::Request { says, is }));
        }
    }
    let extra = requests.iter().find(|request| {
        wanted
            .binary_search_by_key(&request.owner, |&(owner, _)| owner)
            .is_err()
    });
    match extra {
        Some(request) => Err(fault(
            request.owner,
            HostError::Request {
                says: has(request),
                is: 0,
            },
        )),
        None => Ok(()),
    }
}
