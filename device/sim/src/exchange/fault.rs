//! What the fabric refuses: the rule, the tile, the moment, and both numbers.

use std::fmt;

use tilekiln_chip::PhysTile;

/// The validity rules of the fabric, by their numbers. [exchange §11]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// An instruction that no row may hold, or in a place where none may be.
    R1 = 1,
    /// Two sends on one bus.
    R2,
    /// A receiver listens to a bus that is silent in its direction.
    R3,
    /// Two words at once, or a word nobody scheduled.
    R4,
    /// A word of a message is lost.
    R5,
    /// A pointer comes too early or too late.
    R6,
    /// A multiplexer is left connected, or written twice at once.
    R7,
    /// Two accesses meet in one memory element.
    R8,
    /// Data is read or overwritten before it is complete.
    R9,
    /// A 64-bit transfer without its preconditions.
    R10,
    /// A row ends before its last word is safe.
    R11,
    /// A tile enters the phase at another distance from the sync.
    R12,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{}", *self as u8)
    }
}

/// The receive error a tile would record, `CTXT_STS` bits 29:27. [exchange §10 V]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveError {
    /// Nothing is recorded: the data are wrong and nobody says so.
    Silent = 0,
    /// An incoming write met a send's read in one element.
    InstructionClash = 1,
    /// An incoming write met the fetch of the row in one element.
    FetchClash = 2,
    /// The address is outside memory or misaligned.
    Address = 3,
    /// Format, multiplexer and pair contradict each other.
    Configuration = 6,
    /// The configuration changed while words were on their way.
    Modification = 7,
}

/// One breach of the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The tile at fault, or the one that suffers.
    pub tile: PhysTile,
    /// The event on its own clock.
    pub event: i64,
    /// What happened.
    pub kind: FaultKind,
}

/// What a breach is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// A word that is no instruction of a row.
    NotARow {
        /// Where it stands.
        pc: u32,
        /// What stands there.
        word: u32,
    },
    /// A row, or a two-word instruction in it, that starts off an 8-byte boundary.
    OddPlace {
        /// Where it stands.
        pc: u32,
    },
    /// A row that runs out of words before its return.
    NoReturn {
        /// Where the return should stand.
        pc: u32,
    },
    /// A 64-bit send while the partner drives the bus it borrows.
    BusTaken {
        /// The partner.
        partner: PhysTile,
        /// When the partner's send begins, on its own clock.
        since: i64,
    },
    /// A source that drives no word towards the receiver while it is selected.
    SilentBus {
        /// The source.
        source: u32,
        /// When it is deselected.
        until: i64,
    },
    /// A source that drives words only in the other direction while it is selected.
    WrongDirection {
        /// The source.
        source: u32,
        /// The direction code the receiver needs.
        wanted: u8,
        /// The direction code that was driven.
        driven: u8,
    },
    /// Two words arrive in one event.
    Collision {
        /// The earlier source.
        first: u32,
        /// The later one.
        second: u32,
    },
    /// Nobody takes these words of a message.
    Lost {
        /// The first lost item of the stream.
        item: u32,
        /// How many are lost.
        items: u32,
        /// How many the stream has.
        of: u32,
    },
    /// A receiver joins or leaves in the middle of a message.
    Partial {
        /// The receiver.
        receiver: PhysTile,
        /// The item at which it joins or leaves.
        item: u32,
        /// How many the stream has.
        of: u32,
    },
    /// A word arrives before any pointer was written.
    NoPointer {
        /// The source.
        source: u32,
    },
    /// A pointer that takes effect inside a message.
    PointerInside {
        /// When the message's first word arrives.
        first: i64,
    },
    /// A pointer that no word uses.
    PointerUnused {
        /// Its byte address, base included.
        address: u32,
    },
    /// A multiplexer that selects something when the row begins or ends.
    Connected {
        /// What it selects.
        value: u32,
    },
    /// Two writes to one multiplexer in one event, one of them from the partner.
    MuxRace {
        /// What the tile itself writes.
        own: u32,
        /// What the partner writes.
        partner: u32,
    },
    /// A multiplexer value that no internal phase may select.
    MuxRange {
        /// The value.
        value: u32,
    },
    /// A paired control on a tile whose partner takes no part.
    PartnerAbsent {
        /// The partner.
        partner: PhysTile,
    },
    /// A source in the element of the row.
    SourceInRow {
        /// The source address.
        address: u32,
        /// Where the row begins.
        row: u32,
    },
    /// A destination in the element of the row.
    DestinationInRow {
        /// The destination address.
        address: u32,
        /// Where the row begins.
        row: u32,
    },
    /// A read and a write in one element at one time.
    Clash {
        /// The address read.
        source: u32,
        /// The address written.
        destination: u32,
        /// When the write begins.
        arrival: i64,
    },
    /// A send that reads a message which is still arriving.
    Hazard {
        /// The address in question.
        address: u32,
        /// When the arrival begins.
        arrival: i64,
        /// When it may be touched again.
        safe: i64,
    },
    /// Data that wait for each other in a circle.
    Circle {
        /// The address that never becomes ready.
        address: u32,
    },
    /// The format in force is not the one the word needs.
    Format {
        /// What it needs.
        wanted: u32,
        /// What is in force.
        found: u32,
    },
    /// The format changes while words of the previous message are on their way.
    FormatEarly {
        /// When the last of them arrives.
        arrival: i64,
    },
    /// One tile of a pair takes 64-bit items and the other does not take the same ones.
    HalfPair {
        /// The sender.
        source: u32,
    },
    /// The tiles of a pair have selected each other's buses.
    Swapped {
        /// The sender.
        source: u32,
    },
    /// An address outside memory, or misaligned for its width.
    Address {
        /// The address.
        address: u32,
        /// The bytes of one item.
        width: u32,
    },
    /// A row that ends before its last word is safe.
    Short {
        /// When it ends.
        end: i64,
        /// When it may.
        needed: i64,
    },
    /// Event 0 at another distance from the sync than on the other tiles.
    Entry {
        /// This tile's distance in cycles.
        found: u64,
        /// Everybody else's.
        common: u64,
    },
    /// A stamp that is not the exact one; strict mode only.
    Inexact {
        /// The exact stamp.
        exact: i64,
    },
}

impl Fault {
    /// The rule that is broken.
    pub fn rule(&self) -> Rule {
        use FaultKind as K;
        match self.kind {
            K::NotARow { .. } | K::OddPlace { .. } | K::NoReturn { .. } => Rule::R1,
            K::BusTaken { .. } => Rule::R2,
            K::SilentBus { .. } | K::WrongDirection { .. } => Rule::R3,
            K::Collision { .. } => Rule::R4,
            K::Lost { .. } | K::Partial { .. } => Rule::R5,
            K::NoPointer { .. } | K::PointerInside { .. } | K::PointerUnused { .. } => Rule::R6,
            K::Inexact { .. } => Rule::R6,
            K::Connected { .. } | K::MuxRace { .. } | K::MuxRange { .. } => Rule::R7,
            K::SourceInRow { .. } | K::DestinationInRow { .. } | K::Clash { .. } => Rule::R8,
            K::Hazard { .. } | K::Circle { .. } => Rule::R9,
            K::Format { .. } | K::FormatEarly { .. } | K::HalfPair { .. } => Rule::R10,
            K::Swapped { .. } | K::Address { .. } | K::PartnerAbsent { .. } => Rule::R10,
            K::Short { .. } => Rule::R11,
            K::Entry { .. } => Rule::R12,
        }
    }

    /// What the chip would record; [`ReceiveError::Silent`] when it would go on with wrong data or
    /// stop at an instruction instead.
    pub fn receive_error(&self) -> ReceiveError {
        use FaultKind as K;
        match self.kind {
            K::Clash { .. } => ReceiveError::InstructionClash,
            K::DestinationInRow { .. } => ReceiveError::FetchClash,
            K::Address { .. } => ReceiveError::Address,
            K::Format { .. } | K::HalfPair { .. } | K::Swapped { .. } => {
                ReceiveError::Configuration
            }
            K::FormatEarly { .. } => ReceiveError::Modification,
            _ => ReceiveError::Silent,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}, event {}: {}",
            self.rule(),
            self.tile,
            self.event,
            self.kind
        )
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARow { pc, word } => write!(f, "{word:08x} at {pc:#x} may not stand in a row"),
            Self::OddPlace { pc } => write!(f, "{pc:#x} is no multiple of 8"),
            Self::NoReturn { pc } => write!(f, "the row ends at {pc:#x} without its return"),
            Self::BusTaken { partner, since } => {
                write!(
                    f,
                    "a 64-bit send borrows the bus that {partner} drives since event {since}"
                )
            }
            Self::SilentBus { source, until } => {
                write!(
                    f,
                    "source {source} is selected until event {until} and sends nothing"
                )
            }
            Self::WrongDirection {
                source,
                wanted,
                driven,
            } => {
                write!(
                    f,
                    "source {source} drives direction {driven}; the way here is {wanted}"
                )
            }
            Self::Collision { first, second } => {
                write!(f, "words of {first} and {second} arrive in one event")
            }
            Self::Lost { item, items, of } => {
                write!(
                    f,
                    "nobody takes {items} items from item {item} of a stream of {of}"
                )
            }
            Self::Partial { receiver, item, of } => {
                write!(
                    f,
                    "{receiver} joins or leaves at item {item} of a stream of {of}"
                )
            }
            Self::NoPointer { source } => {
                write!(
                    f,
                    "a word of {source} arrives before any pointer was written"
                )
            }
            Self::PointerInside { first } => {
                write!(
                    f,
                    "a pointer takes effect inside the message that arrives from event {first}"
                )
            }
            Self::PointerUnused { address } => {
                write!(f, "no word arrives for the pointer {address:#x}")
            }
            Self::Connected { value } => write!(f, "the multiplexer is left at {value:#x}"),
            Self::MuxRace { own, partner } => {
                write!(
                    f,
                    "the tile selects {own:#x} while its partner selects {partner:#x} for it"
                )
            }
            Self::MuxRange { value } => write!(f, "{value:#x} is no source of an internal phase"),
            Self::PartnerAbsent { partner } => {
                write!(
                    f,
                    "a paired control, but {partner} takes no part in the phase"
                )
            }
            Self::SourceInRow { address, row } => {
                write!(
                    f,
                    "a send reads {address:#x} in the element of the row at {row:#x}"
                )
            }
            Self::DestinationInRow { address, row } => {
                write!(
                    f,
                    "a word arrives for {address:#x} in the element of the row at {row:#x}"
                )
            }
            Self::Clash {
                source,
                destination,
                arrival,
            } => write!(
                f,
                "a send reads {source:#x} while words arrive for {destination:#x} in one element \
                 from event {arrival}"
            ),
            Self::Hazard {
                address,
                arrival,
                safe,
            } => write!(
                f,
                "a send reads {address:#x}, which arrives from event {arrival} and is safe at {safe}"
            ),
            Self::Circle { address } => write!(f, "{address:#x} waits for itself"),
            Self::Format { wanted, found } => {
                write!(f, "the format in force is {found}; the word needs {wanted}")
            }
            Self::FormatEarly { arrival } => {
                write!(
                    f,
                    "the format changes although a word still arrives at event {arrival}"
                )
            }
            Self::HalfPair { source } => {
                write!(
                    f,
                    "only one tile of the pair takes the 64-bit items of {source}"
                )
            }
            Self::Swapped { source } => {
                write!(
                    f,
                    "the pair has the two buses of {source} the wrong way round"
                )
            }
            Self::Address { address, width } => {
                write!(
                    f,
                    "{address:#x} is outside memory or no multiple of {width}"
                )
            }
            Self::Short { end, needed } => {
                write!(
                    f,
                    "the row ends at event {end}; its last word needs until {needed}"
                )
            }
            Self::Entry { found, common } => {
                write!(
                    f,
                    "event 0 is {found} cycles behind the sync; elsewhere it is {common}"
                )
            }
            Self::Inexact { exact } => write!(f, "the exact stamp is {exact}"),
        }
    }
}
