//! Plan → Schedule: what happens at which event.
//!
//! [`schedule`] turns every exchange of a plan into timed rows and every host phase into packets.
//! [`check`] then looks at the words alone and derives again what they do; the two share no code.

pub mod check;
pub mod host;
mod multicast;
mod order;
mod rows;
mod timeline;

use tilekiln_chip::{ByteAddr, Event, Events, TileId};

use crate::plan::{Exchange, Plan, Step};

pub use host::schedule_host;

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

/// Why a plan has no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// What is wrong with one phase of the plan.
    #[error("phase {phase}: {fault}")]
    Phase {
        /// The phase, as the report calls it.
        phase: String,
        /// What is wrong with it.
        fault: Box<ScheduleError>,
    },
    /// A transfer carries no words.
    #[error("transfer {transfer} carries 0 words")]
    Empty {
        /// Its place in the phase.
        transfer: usize,
    },
    /// A transfer has no receiver.
    #[error("transfer {transfer} of {tile} has 0 receivers")]
    NoReceiver {
        /// Its place in the phase.
        transfer: usize,
        /// The sender.
        tile: TileId,
    },
    /// A tile receives the same transfer twice.
    #[error("transfer {transfer} goes to {tile} twice")]
    ReceivesTwice {
        /// Its place in the phase.
        transfer: usize,
        /// The receiver.
        tile: TileId,
    },
    /// The only receiver of a transfer is its sender. [exchange §6.6]
    #[error("transfer {transfer} goes from {tile} to itself and to nobody else")]
    LoopsBack {
        /// Its place in the phase.
        transfer: usize,
        /// The tile.
        tile: TileId,
    },
    /// An address that no word has.
    #[error("transfer {transfer} has {at} on {tile}; words lie on multiples of 4")]
    Misaligned {
        /// Its place in the phase.
        transfer: usize,
        /// The tile.
        tile: TileId,
        /// The address.
        at: ByteAddr,
    },
    /// Words outside tile memory.
    #[error("transfer {transfer} has {words} words at {at} on {tile}; memory ends at 0xe8000")]
    OutsideMemory {
        /// Its place in the phase.
        transfer: usize,
        /// The tile.
        tile: TileId,
        /// The first byte.
        at: ByteAddr,
        /// How many words.
        words: u32,
    },
    /// A tile sends a transfer to itself, and both copies lie in one element. [exchange §8]
    #[error(
        "transfer {transfer} is sent and received by {tile} in one memory element, \
         {from} and {to}, at the same time"
    )]
    LoopClashes {
        /// Its place in the phase.
        transfer: usize,
        /// The tile.
        tile: TileId,
        /// Where the words are read.
        from: ByteAddr,
        /// Where they are written.
        to: ByteAddr,
    },
    /// The scheduler does not make 64-bit transfers.
    #[error("transfer {transfer} is 64 bits wide; rows are made for 32 bits only")]
    Paired {
        /// Its place in the phase.
        transfer: usize,
    },
    /// The timeline outgrew what an instruction can hold.
    #[error("the row of {tile} needs {instructions} instructions an even number of words apart")]
    Parity {
        /// The tile.
        tile: TileId,
        /// Instructions emitted before the one that cannot be placed.
        instructions: usize,
    },
    /// A host page the packets cannot carry.
    #[error("host page of {tile}: {bytes} bytes at {at} and host offset {offset:#x}; {rule}")]
    HostPage {
        /// The tile.
        tile: TileId,
        /// Bytes to move.
        bytes: u32,
        /// The tile's end.
        at: ByteAddr,
        /// The host's end, as tiles see it.
        offset: u32,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// Two transfers of one tile in one host phase. [exchange §14.1]
    #[error("{tile} has 2 pages in one host phase; 1 is possible")]
    HostTwice {
        /// The tile.
        tile: TileId,
    },
}

/// Schedules every exchange and every host phase of `plan`.
///
/// In the first host phase every tile of the chip also reads the command word, so that the program
/// can end. [host-driver §14.4]
///
/// # Errors
///
/// The first fault found, with the phase it is in.
pub fn schedule(plan: &Plan) -> Result<Schedule, ScheduleError> {
    let within = |phase: String| {
        move |fault| ScheduleError::Phase {
            phase,
            fault: Box::new(fault),
        }
    };
    let exchanges = plan.steps.iter().filter_map(|step| match step {
        Step::Exchange(exchange) => Some(exchange),
        _ => None,
    });
    let phases = exchanges
        .map(|exchange| schedule_phase(exchange).map_err(within(exchange.name.clone())))
        .collect::<Result<_, _>>()?;
    let host = plan.host.phases.iter().enumerate().map(|(index, phase)| {
        let command = (index == 0).then_some(host::COMMAND_WORD);
        schedule_host(phase, command).map_err(within(format!("host {index}")))
    });
    Ok(Schedule {
        phases,
        host: host.collect::<Result<_, _>>()?,
    })
}

/// Schedules one exchange: picks a start for every message, and writes the rows.
///
/// # Errors
///
/// A transfer that no row can carry.
pub fn schedule_phase(exchange: &Exchange) -> Result<Phase, ScheduleError> {
    let messages = multicast::messages(&exchange.transfers)?;
    let starts = order::place(&messages);
    rows::phase(exchange.transfers.len(), &messages, &starts)
}

#[cfg(test)]
mod tests;
