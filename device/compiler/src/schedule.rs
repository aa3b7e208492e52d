//! Plan → Schedule: what happens at which event.

use tilekiln_chip::{Event, Events, TileId};

/// Every exchange phase with its timed rows, and every host phase with its packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// One for each [`crate::plan::Step::Exchange`], in order.
    pub phases: Vec<Phase>,
    /// One for each host phase, in order.
    pub host: Vec<HostExchange>,
}

/// One internal phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// When each transfer's first item leaves its sender, in plan order.
    pub starts: Vec<Event>,
    /// The rows, by ascending tile; tiles without one are bystanders of the phase.
    pub rows: Vec<Row>,
    /// The end of the longest row.
    pub horizon: Events,
}

/// One tile's timed program for one phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The tile.
    pub tile: TileId,
    /// Machine words, absolute addresses (both exchange bases 0), the return included. They must
    /// lie on an 8-byte boundary.
    pub words: Vec<u32>,
    /// When the row returns.
    pub events: Events,
}

/// One host phase as packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostExchange {
    /// The requests, by ascending owner.
    pub requests: Vec<Request>,
    /// The transfers, by ascending tile.
    pub streams: Vec<Stream>,
}

/// What an owner sends so that its tiles may talk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The owner, by logical number.
    pub owner: TileId,
    /// Its two words.
    pub words: [u32; 2],
}

/// The packets of one tile in one host phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The tile.
    pub tile: TileId,
    /// Headers, two words each, the closing read of a host-bound stream included.
    pub headers: Vec<[u32; 2]>,
    /// Words to expect before `sync 0` may pass.
    pub expected_words: u32,
}
