//! The card as the kernel shows it: registers, pinned buffers, time. And who to ask for one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tilekiln_bundle::Bundle;
use tilekiln_chip::registers::WINDOW_BYTES;
use tilekiln_chip::{ByteAddr, PhysTile};

#[cfg(feature = "hw")]
pub mod real_card;
#[cfg(feature = "hw")]
pub mod uapi;
#[cfg(feature = "sim")]
pub mod virtual_card;

#[cfg(not(any(feature = "hw", feature = "sim")))]
compile_error!(
    "a runner for nothing: pick feature `hw` (a card), `sim` (the virtual card) or both"
);

/// The offset of a register in the config window: a multiple of four, inside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RegOffset(u32);

impl RegOffset {
    /// The register at `offset`.
    ///
    /// # Panics
    ///
    /// When no register can be there: a bug of the caller, found before the card is touched.
    pub const fn new(offset: u32) -> Self {
        assert!(
            offset.is_multiple_of(4),
            "a register lies on a multiple of four"
        );
        assert!(
            offset < WINDOW_BYTES,
            "a register lies in the config window"
        );
        Self(offset)
    }

    /// Its number.
    pub const fn bytes(self) -> u32 {
        self.0
    }
}

impl fmt::Display for RegOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "register {:#x}", self.0)
    }
}

/// The number of a buffer that tiles can reach.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BufferIndex(pub u32);

impl fmt::Display for BufferIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer {}", self.0)
    }
}

/// The card as the kernel shows it: registers, buffers, time. Nothing cleverer.
///
/// One driver runs on every implementation and cannot tell which. Buffers belong to the device,
/// so that pages shared with tiles need no care from anybody else.
pub trait Device {
    /// What the first line of any result calls it: `sim`, or the path of its node.
    fn name(&self) -> &str;

    /// Reads one register of the config window. Exclusive, because the card moves on meanwhile.
    /// A card that fell off the bus answers all ones.
    fn read32(&mut self, at: RegOffset) -> u32;

    /// Writes one register. Posted: read it back before relying on the effect. [host-driver §4 HW]
    fn write32(&mut self, at: RegOffset, value: u32);

    /// Lets the tiles reach `bytes` zeroed bytes as buffer `index`, until [`Device::detach`].
    ///
    /// # Errors
    ///
    /// [`DeviceError::BufferTaken`] when `index` is attached, [`DeviceError::BufferSize`] when
    /// `bytes` is nothing or more than can be addressed, [`DeviceError::Window`] when the exchange
    /// window was not pointed at the page table since the last attach.
    fn attach(&mut self, index: BufferIndex, bytes: u32) -> Result<(), DeviceError>;

    /// Writes to a buffer.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoBuffer`], [`DeviceError::OutsideBuffer`].
    fn write_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceError>;

    /// Reads from a buffer.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoBuffer`], [`DeviceError::OutsideBuffer`].
    fn read_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        into: &mut [u8],
    ) -> Result<(), DeviceError>;

    /// Fills all of a buffer with one byte.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoBuffer`].
    fn fill_buffer(&mut self, index: BufferIndex, byte: u8) -> Result<(), DeviceError>;

    /// Takes a buffer away from the tiles and frees it.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoBuffer`].
    fn detach(&mut self, index: BufferIndex) -> Result<(), DeviceError>;

    /// Takes all buffers away from the tiles.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    fn detach_all(&mut self) -> Result<(), DeviceError>;

    /// Lets `time` pass on the card's clock. A virtual card does not wait for it.
    fn pause(&mut self, time: Duration);

    /// The card's clock: time since it was opened.
    fn now(&self) -> Duration;

    /// Why tiles stopped, as far as the device knows by itself: a simulator does, a card must be
    /// asked through its debug interface.
    fn stops(&self) -> Vec<StopReport> {
        Vec::new()
    }

    /// What the client did that a card would not have taken, as far as the device can tell.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }

    /// What another thread may watch and say while the device is at work, if a call into it can
    /// take long.
    fn gauge(&self) -> Option<Arc<dyn Gauge>> {
        None
    }

    /// What a simulator can tell of its work.
    fn simulated(&self) -> Option<Simulated> {
        None
    }
}

/// What another thread may watch and say while a device is at work.
pub trait Gauge: Send + Sync {
    /// The cycle its tiles have reached.
    fn cycles(&self) -> u64;

    /// Makes the device come to rest soon, wherever its tiles are.
    fn cancel(&self);
}

/// A context that stopped, as a simulator reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopReport {
    /// The tile.
    pub tile: PhysTile,
    /// The instruction.
    pub pc: ByteAddr,
    /// One line with all there is to say.
    pub text: String,
}

/// What a simulator can tell of its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Simulated {
    /// Cycles since the launch.
    pub cycles: u64,
    /// Instructions of all contexts.
    pub instructions: u64,
}

/// Which card is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A card if there is one, otherwise the virtual one.
    Auto,
    /// The virtual card.
    Virtual,
    /// This node.
    Node(PathBuf),
}

impl std::str::FromStr for Wanted {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        match text {
            "auto" => Ok(Self::Auto),
            "sim" => Ok(Self::Virtual),
            path if path.starts_with('/') => Ok(Self::Node(path.into())),
            _ => Err(DeviceError::Unknown {
                name: text.to_owned(),
            }),
        }
    }
}

/// How the virtual card is to behave where the documents leave a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// Decides what memory and registers hold before anybody writes them.
    pub fill_seed: Option<u64>,
    /// When a barrier takes its mark. [A-MARK]
    pub marks: Marks,
    /// Whether the tiles reach their first barrier before the host looks.
    pub startup: Startup,
    /// When tiles move.
    pub progress: Progress,
    /// Threads the simulation may use; 0 for all cores.
    pub threads: usize,
    /// Cycles the tiles get at every look of the host, if they move then; `None` for the usual.
    pub quota: Option<u64>,
}

impl Default for SimOptions {
    fn default() -> Self {
        Self {
            fill_seed: None,
            marks: Marks::Arrival,
            startup: Startup::Early,
            progress: Progress::Immediate,
            threads: 0,
            quota: None,
        }
    }
}

/// When a barrier takes its mark. [host-driver §10]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// When it is reached; at zero it then waits (model A).
    Arrival,
    /// When it is passed (model B).
    Release,
}

/// Whether the first acknowledgement finds somebody waiting. [host-driver §10]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Startup {
    /// It comes before the tiles do.
    Early,
    /// The tiles wait for it.
    Late,
}

/// When tiles of the virtual card move. [host-driver §20.3]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A write of a mark runs them to the next barrier.
    Immediate,
    /// They move a little whenever the host looks.
    Delayed,
}

/// Why a card cannot be had or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// Neither a keyword nor a path.
    #[error("{name:?} is no device: expected `sim`, `auto` or the path of a node like /dev/ipu0")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// No such node.
    #[error(
        "there is no {}; a card shows as one when it is there and its kernel module loaded",
        path.display()
    )]
    NoNode {
        /// What was asked for.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file, but no node.
    #[error("{} is not a character device", path.display())]
    NotANode {
        /// What was asked for.
        path: PathBuf,
    },
    /// A card that this version cannot bring up.
    #[error(
        "{} cannot be used: this version does not load a card yet; `--device sim` runs the same \
         images on the virtual card",
        path.display()
    )]
    NotInThisVersion {
        /// What was asked for.
        path: PathBuf,
    },
    /// Built without the feature.
    #[error("this program was built without feature `{feature}`, which {wanted} needs")]
    NotBuilt {
        /// The feature.
        feature: &'static str,
        /// What was asked for.
        wanted: String,
    },
    /// The virtual card would not take an image.
    #[error("{tile}: no image can be placed at {address}: {reason}")]
    Place {
        /// The tile.
        tile: PhysTile,
        /// Where to.
        address: ByteAddr,
        /// Why not.
        reason: String,
    },
    /// An index attached twice.
    #[error("{index} is attached already")]
    BufferTaken {
        /// Which.
        index: BufferIndex,
    },
    /// An index not attached.
    #[error("{index} is not attached")]
    NoBuffer {
        /// Which.
        index: BufferIndex,
    },
    /// A size no buffer can have.
    #[error("{index} would have {bytes} bytes; 1 to {limit} are possible")]
    BufferSize {
        /// Which.
        index: BufferIndex,
        /// What was asked for.
        bytes: u32,
        /// What can be addressed.
        limit: u64,
    },
    /// Beyond the end of a buffer.
    #[error("{length} bytes at {at:#x} leave {index}, which has {bytes}")]
    OutsideBuffer {
        /// Which.
        index: BufferIndex,
        /// Where the access starts.
        at: u32,
        /// How long it is.
        length: usize,
        /// How long the buffer is.
        bytes: usize,
    },
    /// Attached while the exchange window points elsewhere.
    #[error("{index} attached while the exchange window base is {found:#x}, not {want:#x}")]
    Window {
        /// Which.
        index: BufferIndex,
        /// What was last written since the last attach; 0 if nothing.
        found: u32,
        /// What must be.
        want: u32,
    },
}

/// A device with the bundle's images loaded and the tiles at their entry, ready for
/// [`crate::driver::host_exchange::start`].
///
/// # Errors
///
/// [`DeviceError`] when there is no such device, or it cannot be loaded.
pub fn open(
    wanted: &Wanted,
    bundle: &Bundle<'_>,
    options: &SimOptions,
) -> Result<Box<dyn Device>, DeviceError> {
    match wanted {
        Wanted::Node(path) => open_node(path),
        Wanted::Virtual => open_virtual(bundle, options),
        Wanted::Auto => match first_node() {
            Some(path) => open_node(&path),
            None => open_virtual(bundle, options),
        },
    }
}

/// The first card of this machine.
fn first_node() -> Option<PathBuf> {
    if !cfg!(feature = "hw") {
        return None;
    }
    // Sixteen cards are more than a chassis holds.
    (0..16)
        .map(|number| PathBuf::from(format!("/dev/ipu{number}")))
        .find(|path| path.exists())
}

#[cfg(feature = "hw")]
fn open_node(path: &Path) -> Result<Box<dyn Device>, DeviceError> {
    real_card::open(path)
}

#[cfg(not(feature = "hw"))]
fn open_node(path: &Path) -> Result<Box<dyn Device>, DeviceError> {
    Err(DeviceError::NotBuilt {
        feature: "hw",
        wanted: path.display().to_string(),
    })
}

#[cfg(feature = "sim")]
fn open_virtual(bundle: &Bundle<'_>, options: &SimOptions) -> Result<Box<dyn Device>, DeviceError> {
    tracing::info!(device = "sim", "opening");
    Ok(Box::new(virtual_card::VirtualCard::load(bundle, options)?))
}

#[cfg(not(feature = "sim"))]
fn open_virtual(_: &Bundle<'_>, _: &SimOptions) -> Result<Box<dyn Device>, DeviceError> {
    Err(DeviceError::NotBuilt {
        feature: "sim",
        wanted: "the virtual card".to_owned(),
    })
}
