//! What is done to any device, whichever it is.
//!
//! [`host_exchange`] starts the loaded program, runs calls of it and ends it; [`debug`] looks into
//! tiles when something went wrong.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tilekiln_chip::registers;

use crate::card::{Device, DeviceError, RegOffset};

pub mod debug;
pub mod host_exchange;

#[cfg(test)]
pub(crate) mod fake;

/// How long to wait for what, on the device's clock. [host-driver §14.6 HW]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a mark to return to 0.
    pub mark: Duration,
    /// For the program to end.
    pub completion: Duration,
    /// For one debug operation.
    pub debug: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            mark: Duration::from_secs(10),
            completion: Duration::from_secs(1),
            debug: Duration::from_millis(100),
        }
    }
}

/// The two host-visible zones, by their mark registers. [host-driver §5 HW]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The loader's.
    Gs1,
    /// The application's.
    Gs2,
}

impl Zone {
    const fn register(self) -> RegOffset {
        match self {
            Self::Gs1 => RegOffset::new(registers::MARK_GS1),
            Self::Gs2 => RegOffset::new(registers::MARK_GS2),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gs1 => "GS1",
            Self::Gs2 => "GS2",
        })
    }
}

/// Why the card did not do what it was told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// Every register reads all ones. [host-driver §17]
    #[error("the card fell off the bus: every register reads all ones")]
    Gone,
    /// A mark did not return to 0.
    #[error("{zone} mark is still {mark} after {waited:?} in {what}")]
    Mark {
        /// Which.
        zone: Zone,
        /// What it is.
        mark: u16,
        /// How long it was waited for, on the device's clock.
        waited: Duration,
        /// What was being done.
        what: What,
    },
    /// The program neither ended nor took further acknowledgements.
    #[error("the program has not ended {waited:?} after acknowledgement {acknowledgements}")]
    NoEnd {
        /// How many it was given.
        acknowledgements: u32,
        /// How long it was waited for, on the device's clock.
        waited: Duration,
    },
    /// The program ended, but not as it should.
    #[error("the completion word is {got:#x}; a program that ended well leaves 1")]
    Completion {
        /// What it is.
        got: u32,
    },
    /// A tile did not answer its debug interface.
    #[error("the end of the program cannot be read: {0}")]
    Debug(#[from] debug::DebugError),
    /// A buffer could not be had or used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted,
}

/// What the driver was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The launch of the application.
    Launch,
    /// The application's first barrier.
    FirstBarrier,
    /// Rendezvous `at` of the `of` of a call.
    Rendezvous {
        /// Its number, from 0.
        at: u32,
        /// How many there are.
        of: u32,
    },
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch => f.write_str("the launch"),
            Self::FirstBarrier => f.write_str("the application's first barrier"),
            Self::Rendezvous { at, of } => {
                let side = if at % 2 == 0 { "entry" } else { "exit" };
                write!(
                    f,
                    "rendezvous {at} of {of} (the {side} of host phase {})",
                    at / 2
                )
            }
        }
    }
}

/// How a caller looks on: limits, a way to stop, and a place for news.
pub struct Watch<'a> {
    /// How long to wait for what.
    pub limits: Limits,
    /// Once true, the driver gives up at the next look at the card.
    pub interrupted: &'a AtomicBool,
    /// Called after every look at a card that is not ready, and after every acknowledgement.
    pub news: &'a mut dyn FnMut(News),
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    /// Acknowledgements of this call so far.
    pub acknowledgements: u32,
    /// The device's clock.
    pub now: Duration,
}

impl Watch<'_> {
    fn check(&self) -> Result<(), DriverError> {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err(DriverError::Interrupted),
            false => Ok(()),
        }
    }
}

/// Looks at a card again at once this many times before pausing: on a card a rendezvous is often
/// over in a few microseconds. [host-driver §10 HW]
const SPINS: u32 = 64;

/// The pause between two looks. [host-driver §10 HW]
const PAUSE: Duration = Duration::from_micros(100);

/// Reads a mark.
fn read_mark(device: &mut dyn Device, zone: Zone) -> Result<u16, DriverError> {
    match device.read32(zone.register()) {
        u32::MAX => Err(DriverError::Gone),
        word => Ok((word & 0xffff) as u16),
    }
}

/// Writes a mark and reads it back, which flushes the write. The value read says nothing: tiles
/// may have taken the mark. [host-driver §10 HW]
fn write_mark(device: &mut dyn Device, zone: Zone, mark: u16) -> Result<(), DriverError> {
    device.write32(zone.register(), mark.into());
    read_mark(device, zone).map(drop)
}

/// Waits until `done` says so, looking every [`PAUSE`]; `None` after `limit`.
fn wait<T>(
    device: &mut dyn Device,
    watch: &mut Watch<'_>,
    limit: Duration,
    acknowledgements: u32,
    mut done: impl FnMut(&mut dyn Device) -> Result<Option<T>, DriverError>,
) -> Result<Option<T>, DriverError> {
    let start = device.now();
    let mut looks = 0;
    loop {
        if let Some(found) = done(device)? {
            return Ok(Some(found));
        }
        watch.check()?;
        (watch.news)(News {
            acknowledgements,
            now: device.now(),
        });
        if device.now().saturating_sub(start) >= limit {
            return Ok(None);
        }
        looks += 1;
        if looks > SPINS {
            device.pause(PAUSE);
        }
    }
}

/// Waits until a mark is 0.
fn wait_mark(
    device: &mut dyn Device,
    watch: &mut Watch<'_>,
    zone: Zone,
    acknowledgements: u32,
    what: What,
) -> Result<(), DriverError> {
    let (limit, start) = (watch.limits.mark, device.now());
    let zero = |device: &mut dyn Device| Ok((read_mark(device, zone)? == 0).then_some(()));
    match wait(device, watch, limit, acknowledgements, zero)? {
        Some(()) => Ok(()),
        None => {
            let waited = device.now().saturating_sub(start);
            Err(DriverError::Mark {
                zone,
                mark: read_mark(device, zone)?,
                waited,
                what,
            })
        }
    }
}
