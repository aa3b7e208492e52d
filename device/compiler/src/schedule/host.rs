//! Host phases → requests and packets. [exchange §14, host-driver §14.2]

use tilekiln_chip::exchange::packet::{
    ADDRESS, ADDRESS_UNIT, COMPLEX, END, FORMAT, LENGTH, LONG_UNIT, OFFSET, READ_LONG, READ_SHORT,
    SHORT_UNIT, TILE, WRITE_LONG, WRITE_SHORT,
};
use tilekiln_chip::exchange::{
    HOST_PAGE, HOST_REACH, HOST_READ_MAX, HOST_WINDOW, HOST_WINDOW_BYTES, HOST_WRITE_MAX,
};
use tilekiln_chip::{ByteAddr, PhysTile, TileId, memory};

use super::{HostExchange, Request, ScheduleError, Stream};
use crate::plan::{HostDirection, HostPage, HostPhase};

/// Where the command word lands in the first host phase of a call: a 32-byte slot of the window
/// that no page uses.
pub const COMMAND_WORD: ByteAddr = ByteAddr(HOST_WINDOW.0 + 0x140);

/// Where the read of length 0 points that closes a host-bound stream. [exchange §14.3 V]
pub const CLOSING_READ: ByteAddr = ByteAddr(HOST_WINDOW.0 + 0x160);

/// Host offset, as tiles see it, of the command word: the command page comes first.
/// [exchange §14.5 H]
pub const COMMAND_OFFSET: u32 = 0;

/// Host offset, as tiles see it, of buffer 1. [exchange §14.5 H]
pub const BUFFER_OFFSET: u32 = HOST_PAGE;

/// Bytes of a short packet that is not the last. [exchange §14.2 V]
const SHORT_STEP: u32 = 32;

/// Which way a packet's words go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// To this tile address.
    Read(ByteAddr),
    /// From the words that follow the header.
    Write,
}

/// The requests and packets of one host phase.
///
/// With `command`, every tile of the chip takes part and also reads the command word to that
/// address. [host-driver §14.4]
///
/// # Errors
///
/// [`ScheduleError::HostPage`] and [`ScheduleError::HostTwice`].
pub fn schedule_host(
    phase: &HostPhase,
    command: Option<ByteAddr>,
) -> Result<HostExchange, ScheduleError> {
    let mut pages: Vec<&HostPage> = phase.pages.iter().collect();
    pages.sort_by_key(|page| page.tile);
    if let Some(pair) = pages.windows(2).find(|pair| pair[0].tile == pair[1].tile) {
        return Err(ScheduleError::HostTwice { tile: pair[0].tile });
    }
    for page in &pages {
        validate(page, phase.direction)?;
    }
    let streams: Vec<Stream> = match command {
        None => pages
            .iter()
            .map(|page| stream(page, phase.direction))
            .collect(),
        Some(at) => TileId::all()
            .map(|tile| with_command(tile, at, &pages, phase))
            .collect(),
    };
    Ok(HostExchange {
        requests: requests(&streams),
        streams,
    })
}

/// The data words that follow a header of a host-bound stream.
pub fn payload_words(header: [u32; 2]) -> u32 {
    let units = header[1] >> LENGTH.0 & LENGTH.1;
    match header[0] >> FORMAT.0 & FORMAT.1 {
        WRITE_SHORT => units * (SHORT_UNIT / 4),
        WRITE_LONG => units * (LONG_UNIT / 4),
        _ => 0,
    }
}

/// Refuses a page that no packets can carry.
fn validate(page: &HostPage, direction: HostDirection) -> Result<(), ScheduleError> {
    let HostPage {
        tile,
        tile_address: at,
        buffer_offset,
        bytes,
    } = *page;
    let window = HOST_WINDOW.0 + HOST_WINDOW_BYTES;
    let reads = direction == HostDirection::ToTiles;
    let in_window = at >= HOST_WINDOW && at.0 <= window && bytes <= window - at.0;
    let broken = [
        (
            bytes == 0 || !bytes.is_multiple_of(4),
            "a page has whole words, and at least 1",
        ),
        (
            !buffer_offset.is_multiple_of(4),
            "host offsets are multiples of 4",
        ),
        (
            buffer_offset >= HOST_REACH,
            "the page table reaches 128 MiB",
        ),
        (
            bytes > HOST_PAGE || buffer_offset % HOST_PAGE + bytes > HOST_PAGE,
            "a transfer stays inside one page of 4096 bytes",
        ),
        (
            reads && !at.0.is_multiple_of(ADDRESS_UNIT),
            "reads land on multiples of 32",
        ),
        (
            reads && !in_window,
            "reads land in the window 0x50000..0x54000",
        ),
        (!at.0.is_multiple_of(4), "words lie on multiples of 4"),
        (!memory::contains(at, bytes), "memory is 0x4c000..0xe8000"),
    ];
    match broken.into_iter().find(|(broken, _)| *broken) {
        None => Ok(()),
        Some((_, rule)) => {
            let offset = buffer_offset.saturating_add(BUFFER_OFFSET);
            Err(ScheduleError::HostPage {
                tile,
                bytes,
                at,
                offset,
                rule,
            })
        }
    }
}

/// The header of one packet.
fn header(tile: PhysTile, way: Way, offset: u32, bytes: u32) -> [u32; 2] {
    let long = bytes >= LONG_UNIT;
    let unit = if long { LONG_UNIT } else { SHORT_UNIT };
    let (format, address) = match (way, long) {
        (Way::Read(at), false) => (READ_SHORT, (at.0 - memory::BASE.0) / ADDRESS_UNIT),
        (Way::Read(at), true) => (READ_LONG, (at.0 - memory::BASE.0) / ADDRESS_UNIT),
        (Way::Write, false) => (WRITE_SHORT, 0),
        (Way::Write, true) => (WRITE_LONG, 0),
    };
    let tile = u32::from(tile.index());
    // Odd tiles talk through the second PCIe complex. [host-driver §9.1 INF]
    let complex = tile & COMPLEX.1;
    // 1024 bytes are 16 units, and 16 is written as 0.
    let length = (bytes / unit) & LENGTH.1;
    [
        format << FORMAT.0 | tile << TILE.0 | address << ADDRESS.0,
        complex << COMPLEX.0 | (offset / unit) << OFFSET.0 | length << LENGTH.0,
    ]
}

/// Offsets and lengths of the packets that carry `bytes` bytes. [exchange §14.2 V]
fn packets(offset: u32, bytes: u32, limit: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let (at, left) = (offset + done, bytes - done);
        let fits = left.min(HOST_PAGE - at % HOST_PAGE).min(limit) / LONG_UNIT * LONG_UNIT;
        let take = if at.is_multiple_of(LONG_UNIT) && fits > 0 {
            fits
        } else if left < LONG_UNIT {
            left
        } else {
            SHORT_STEP
        };
        done += take;
        (take > 0).then_some((at, take))
    })
}

/// One tile's packets, without end bits.
fn headers(page: &HostPage, direction: HostDirection) -> Vec<[u32; 2]> {
    let tile = page.tile.physical();
    let from = page.buffer_offset + BUFFER_OFFSET;
    match direction {
        HostDirection::ToTiles => packets(from, page.bytes, HOST_READ_MAX)
            .map(|(offset, bytes)| {
                let at = page.tile_address.offset(offset - from);
                header(tile, Way::Read(at), offset, bytes)
            })
            .collect(),
        HostDirection::ToHost => packets(from, page.bytes, HOST_WRITE_MAX)
            .map(|(offset, bytes)| header(tile, Way::Write, offset, bytes))
            .chain([header(tile, Way::Read(CLOSING_READ), COMMAND_OFFSET, 0)])
            .collect(),
    }
}

/// The words one tile waits for. A read of length 0 counts as one. [exchange §5 H]
fn expected(page: &HostPage, direction: HostDirection) -> u32 {
    match direction {
        HostDirection::ToTiles => page.bytes / 4,
        HostDirection::ToHost => 1,
    }
}

/// A stream from its headers; the last one ends it.
fn ended(tile: TileId, mut headers: Vec<[u32; 2]>, expected_words: u32) -> Stream {
    if let Some(last) = headers.last_mut() {
        last[0] |= END.1 << END.0;
    }
    Stream {
        tile,
        headers,
        expected_words,
    }
}

/// The packets of `page`.
fn stream(page: &HostPage, direction: HostDirection) -> Stream {
    ended(
        page.tile,
        headers(page, direction),
        expected(page, direction),
    )
}

/// The packets of `tile` in the first phase of a call: its page, if it has one, and the command.
fn with_command(tile: TileId, at: ByteAddr, pages: &[&HostPage], phase: &HostPhase) -> Stream {
    let page = pages
        .binary_search_by_key(&tile, |page| page.tile)
        .map(|index| pages[index]);
    let own = page.map(|page| {
        (
            headers(page, phase.direction),
            expected(page, phase.direction),
        )
    });
    let (mut headers, words) = own.unwrap_or_default();
    headers.push(header(
        tile.physical(),
        Way::Read(at),
        COMMAND_OFFSET,
        SHORT_UNIT,
    ));
    ended(tile, headers, words + 1)
}

/// What the owners of the streams' tiles send. [exchange §14.1 H]
fn requests(streams: &[Stream]) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    for stream in streams {
        let tile = stream.tile.physical();
        let (owner, bit) = (tile.owner().logical(), u32::from(tile.request_bit()));
        let place = requests.binary_search_by_key(&owner, |request| request.owner);
        let place = place.unwrap_or_else(|place| {
            requests.insert(
                place,
                Request {
                    owner,
                    words: [0; 2],
                },
            );
            place
        });
        // Bits 0 to 23 in word 0, the rest from bit 0 of word 1.
        let (word, bit) = if bit < 24 { (0, bit) } else { (1, bit - 24) };
        requests[place].words[word] |= 1 << bit;
    }
    requests
}

#[cfg(test)]
mod tests;
