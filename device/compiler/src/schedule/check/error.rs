//! Which rule a schedule breaks, and where.

use tilekiln_chip::exchange::MUX_NEUTRAL;
use tilekiln_chip::memory::{BASE, END};
use tilekiln_chip::{ByteAddr, Event, Events, TILE_COUNT, TileId};
use tilekiln_isa::DecodeError;

/// The first broken rule that was found. The letters are those of exchange §11.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// Plan and schedule count phases differently.
    #[error("{scheduled} phases are scheduled; the plan has {planned}")]
    Phases {
        /// Phases of the plan.
        planned: usize,
        /// Phases of the schedule.
        scheduled: usize,
    },
    /// Rows are not by ascending tile.
    #[error("the row of {tile} is out of order")]
    RowOrder {
        /// The tile.
        tile: TileId,
    },
    /// R1: a word is no instruction.
    #[error("word {index} of the row of {tile}: {fault}")]
    Word {
        /// The tile.
        tile: TileId,
        /// Which word.
        index: usize,
        /// What is wrong with it.
        fault: DecodeError,
    },
    /// R1: an instruction that no row may hold, or that is not supported there.
    #[error("word {index} of the row of {tile} is {mnemonic}; {rule}")]
    Instruction {
        /// The tile.
        tile: TileId,
        /// Which word.
        index: usize,
        /// The instruction.
        mnemonic: &'static str,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// R1: the row does not end in its return.
    #[error("the row of {tile} has {words} words and does not end in its return")]
    NoReturn {
        /// The tile.
        tile: TileId,
        /// Its length.
        words: usize,
    },
    /// R1: the row is not placed, or not on 8 bytes.
    #[error("the row of {tile} lies at {at}; rows lie on multiples of 8 in region 0")]
    RowPlace {
        /// The tile.
        tile: TileId,
        /// Its address; 0 if it has none.
        at: ByteAddr,
    },
    /// A row's declared length is not that of its instructions.
    #[error("the row of {tile} takes {is}; the schedule says {says}")]
    RowEvents {
        /// The tile.
        tile: TileId,
        /// The schedule's figure.
        says: Events,
        /// What the words take.
        is: Events,
    },
    /// The declared horizon is not that of the rows.
    #[error("the longest row takes {is}; the schedule says {says}")]
    Horizon {
        /// The schedule's figure.
        says: Events,
        /// The longest row.
        is: Events,
    },
    /// There are more or fewer starts than transfers.
    #[error("{says} transfers have a start; there are {is}")]
    Starts {
        /// Starts of the schedule.
        says: usize,
        /// Transfers of the plan.
        is: usize,
    },
    /// A declared start is not that of the words.
    #[error("transfer {transfer} starts at {is}; the schedule says {says}")]
    Start {
        /// Its place in the phase.
        transfer: usize,
        /// The schedule's figure.
        says: Event,
        /// What the words do.
        is: Event,
    },
    /// A send reads, or a receive writes, outside tile memory.
    #[error("{tile} uses {words} words at {at}; memory is {BASE}..{END}")]
    OutsideMemory {
        /// The tile.
        tile: TileId,
        /// The first byte.
        at: ByteAddr,
        /// How many words.
        words: u32,
    },
    /// The multiplexer is pointed at something that is no tile.
    #[error(
        "{tile} selects {source_id:#x} at {stamp}; a row selects tiles 0 to {} or {MUX_NEUTRAL:#x}",
        TILE_COUNT - 1
    )]
    Source {
        /// The receiver.
        tile: TileId,
        /// When.
        stamp: Event,
        /// The multiplexer value.
        source_id: u32,
    },
    /// R3: a receiver listens to a bus that is driven the other way.
    #[error("{tile} listens to {sender} for transfer {transfer}, which is sent the other way")]
    Direction {
        /// The receiver.
        tile: TileId,
        /// The sender.
        sender: TileId,
        /// Its place in the phase.
        transfer: usize,
    },
    /// R4: a captured word that no transfer delivers to this tile.
    #[error("{tile} captures the word {sender} has at {from} at {stamp}; no transfer brings it")]
    Unexpected {
        /// The receiver.
        tile: TileId,
        /// The sender.
        sender: TileId,
        /// Where the sender had it.
        from: ByteAddr,
        /// When it arrives.
        stamp: Event,
    },
    /// R3: a receiver listens to a bus on which nothing comes.
    #[error("{tile} selects {sender} at {stamp} and nothing is sent")]
    Silent {
        /// The receiver.
        tile: TileId,
        /// The tile it selects.
        sender: TileId,
        /// When.
        stamp: Event,
    },
    /// R5: a word leaves that nobody takes.
    #[error("nobody takes the word that {tile} sends at {stamp}")]
    Unheard {
        /// The sender.
        tile: TileId,
        /// When it leaves.
        stamp: Event,
    },
    /// R6: a pointer that no word follows.
    #[error("{tile} writes a pointer at {stamp} and no word goes there")]
    IdlePointer {
        /// The receiver.
        tile: TileId,
        /// When.
        stamp: Event,
    },
    /// R5: a word of a transfer is not captured.
    #[error("{tile} captures {captured} of the {words} words of transfer {transfer}")]
    Missing {
        /// The receiver.
        tile: TileId,
        /// Its place in the phase.
        transfer: usize,
        /// Words captured.
        captured: u32,
        /// Words of the transfer.
        words: u32,
    },
    /// R6, R13: a word goes elsewhere, because a pointer has a wrong stamp or value.
    #[error(
        "{tile} stores a word of transfer {transfer} at {is} at {stamp}; it belongs at {wants}"
    )]
    Address {
        /// The receiver.
        tile: TileId,
        /// Its place in the phase.
        transfer: usize,
        /// When it arrives.
        stamp: Event,
        /// Where it goes.
        is: ByteAddr,
        /// Where it belongs.
        wants: ByteAddr,
    },
    /// R6: a word arrives before any pointer was written.
    #[error("{tile} receives at {stamp} and has written no pointer")]
    NoPointer {
        /// The receiver.
        tile: TileId,
        /// When it arrives.
        stamp: Event,
    },
    /// R7: the tile stays connected.
    #[error("{tile} stays connected to {selects:#x} from {stamp} on")]
    Connected {
        /// The tile.
        tile: TileId,
        /// The last multiplexer stamp.
        stamp: Event,
        /// What it selects.
        selects: u32,
    },
    /// R8: words are read from and written to one element at once.
    #[error(
        "{tile} sends from the element of {unit} until {sent} and receives into it from {received}"
    )]
    SendClash {
        /// The tile.
        tile: TileId,
        /// The element's first byte.
        unit: ByteAddr,
        /// When the later end of the send is over.
        sent: Event,
        /// When the first word arrives.
        received: Event,
    },
    /// R8: the row is fetched from an element that the phase reads or writes.
    #[error(
        "the row of {tile} at {at} is fetched from the element of {unit}, which the phase uses"
    )]
    FetchClash {
        /// The tile.
        tile: TileId,
        /// The row's address.
        at: ByteAddr,
        /// The element's first byte.
        unit: ByteAddr,
    },
    /// A tile's message to itself would read words that it writes.
    #[error("transfer {transfer} writes words of {tile} that it also reads")]
    ReadsItself {
        /// Its place in the phase.
        transfer: usize,
        /// The tile.
        tile: TileId,
    },
    /// R9: a transfer touches words before an earlier one is done with them.
    #[error(
        "transfer {later} touches words of {tile} at {is}; transfer {earlier} is done at {needs}"
    )]
    Hazard {
        /// The earlier transfer's place in the phase.
        earlier: usize,
        /// The later one's.
        later: usize,
        /// The tile.
        tile: TileId,
        /// When the later one starts there.
        is: Event,
        /// When it may.
        needs: Event,
    },
    /// R11: the row ends before its last word has settled.
    #[error("the row of {tile} ends at {ends}; its last word needs {needs}")]
    EndsEarly {
        /// The tile.
        tile: TileId,
        /// The row's end.
        ends: Event,
        /// The earliest end.
        needs: Event,
    },
    /// A host phase is wrong.
    #[error("{tile}: {fault}")]
    Host {
        /// The target, or the owner for requests.
        tile: TileId,
        /// What is wrong.
        fault: HostError,
    },
}

/// What is wrong with the packets of a host phase. [exchange §14]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The tile has no transfer, or a second one.
    #[error("{streams} streams for {pages} transfers")]
    Streams {
        /// Streams scheduled.
        streams: usize,
        /// Transfers planned, reading the command word included.
        pages: usize,
    },
    /// Streams or requests are not in ascending order.
    #[error("out of order")]
    Order,
    /// A packet that the phase cannot hold.
    #[error("packet {packet} is {header:08x?}; {rule}")]
    Packet {
        /// Which one.
        packet: usize,
        /// Its header.
        header: [u32; 2],
        /// The rule it breaks.
        rule: &'static str,
    },
    /// The packets do not carry the page.
    #[error("the packets carry {carried} bytes; the page has {bytes}")]
    Bytes {
        /// Bytes of the packets.
        carried: u32,
        /// Bytes of the page.
        bytes: u32,
    },
    /// A stream is not closed, or the command word not read.
    #[error("{closing} closing and {commands} command reads; {} and {} belong", wants[0], wants[1])]
    Reads {
        /// Reads of length 0.
        closing: u32,
        /// Reads of the command word.
        commands: u32,
        /// How many of each there must be.
        wants: [u32; 2],
    },
    /// The tile waits for another number of words than it gets.
    #[error("waits for {says} words; {is} come")]
    Expected {
        /// The schedule's figure.
        says: u32,
        /// What the packets bring.
        is: u32,
    },
    /// The owner requests other tiles than take part.
    #[error("requests {says:012x}; {is:012x} take part")]
    Request {
        /// The tiles requested, as bits.
        says: u64,
        /// The tiles that take part.
        is: u64,
    },
}
