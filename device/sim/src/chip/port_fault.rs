//! What is wrong with what a tile says to the host.

use std::fmt;

use tilekiln_chip::exchange::HOST_PAGE;
use tilekiln_chip::{PhysTile, assumed};

/// What is wrong with what a tile sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PortFault {
    /// The words went to a port that is not the tile's.
    WrongPort {
        /// What its multiplexer selects.
        mux: u32,
        /// The port of its owner.
        wanted: u32,
    },
    /// A format the simulator, or the port, does not know.
    Format {
        /// The header.
        header: [u32; 2],
    },
    /// A request from a tile that owns no others, or for tiles that do not exist.
    Request {
        /// The request.
        words: [u32; 2],
    },
    /// A tile is named again before its stream has ended.
    GrantedTwice {
        /// The tile.
        tile: PhysTile,
    },
    /// A tile was named and sent no whole stream before the barrier.
    GrantUnused {
        /// Words of it that are there.
        words: usize,
    },
    /// Words are left over at the barrier.
    LeftOver {
        /// How many.
        words: usize,
    },
    /// A second stream in one phase.
    SecondStream,
    /// The header names another tile as its return route.
    Route {
        /// Whom it names.
        named: u32,
    },
    /// A length the format does not have.
    Length {
        /// In bytes.
        bytes: u32,
        /// The most this format carries.
        limit: u32,
    },
    /// A packet that crosses a host page.
    Page {
        /// The host offset.
        offset: u64,
        /// The length in bytes.
        bytes: u32,
    },
    /// A destination outside tile memory.
    Destination {
        /// The address.
        address: u32,
        /// The length in bytes.
        bytes: u32,
    },
    /// Two headers too close to each other.
    Spacing {
        /// Events between them.
        found: u64,
    },
    /// Host memory that is not attached.
    Unattached {
        /// The host offset.
        offset: u64,
        /// The length in bytes.
        bytes: u32,
    },
    /// More words arrive than the tile expects.
    Unexpected {
        /// What it expects.
        expected: u32,
        /// What arrives.
        words: u32,
    },
    /// Words from the host while a worker runs.
    Workers,
}

impl fmt::Display for PortFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongPort { mux, wanted } => {
                write!(
                    f,
                    "words for the host leave through port {mux:#x}; its port is {wanted:#x}"
                )
            }
            Self::Format { header: [a, b] } => write!(f, "{a:08x} {b:08x} is no packet header"),
            Self::Request { words: [a, b] } => {
                write!(f, "{a:08x} {b:08x} is no request this tile may make")
            }
            Self::GrantedTwice { tile } => {
                write!(f, "the request names {tile}, whose stream is still open")
            }
            Self::GrantUnused { words } => {
                write!(
                    f,
                    "its owner's request named it, and it sent {words} words, no stream"
                )
            }
            Self::LeftOver { words } => {
                write!(
                    f,
                    "{words} words for the host stand at the barrier; no request named it"
                )
            }
            Self::SecondStream => write!(f, "a second stream in one host phase"),
            Self::Route { named } => write!(f, "a packet names tile {named} as its sender"),
            Self::Length { bytes, limit } => {
                write!(
                    f,
                    "a packet of {bytes} bytes; this format carries 4 to {limit}"
                )
            }
            Self::Page { offset, bytes } => {
                write!(
                    f,
                    "{bytes} bytes at host offset {offset:#x} cross a page of {HOST_PAGE}"
                )
            }
            Self::Destination { address, bytes } => {
                write!(
                    f,
                    "{bytes} bytes for {address:#x} are not all in tile memory"
                )
            }
            Self::Spacing { found } => write!(
                f,
                "{found} events from one header to the next; it takes {}",
                assumed::HOST_PACKET_EVENTS
            ),
            Self::Unattached { offset, bytes } => {
                write!(
                    f,
                    "{bytes} bytes at host offset {offset:#x} are not attached"
                )
            }
            Self::Unexpected { expected, words } => {
                write!(
                    f,
                    "{words} words arrive from the host; {expected} are expected"
                )
            }
            Self::Workers => write!(f, "words arrive from the host while a worker runs"),
        }
    }
}
