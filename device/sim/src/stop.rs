//! Why a context stopped: exception, undefined, unsupported, or the fabric.

use core::fmt;

use tilekiln_chip::PhysTile;
use tilekiln_chip::memory::{BASE, END, INTERLEAVED};

/// One of the seven contexts of a tile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Context {
    /// The supervisor.
    Supervisor,
    /// Worker 0 to 5.
    Worker(u8),
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Supervisor => f.write_str("supervisor"),
            Self::Worker(number) => write!(f, "worker {number}"),
        }
    }
}

/// The chip's exceptions, by their `ETYPE`. [isa-core §7 code]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Exception {
    /// A retirement break, asked for through the debug interface.
    RetirementBreak = 1,
    /// `trap` with an even number.
    PatchedBreak0 = 2,
    /// `trap` with an odd number.
    PatchedBreak1 = 3,
    /// A `sync` while break-on-sync is enabled.
    BreakOnSync = 4,
    /// An enabled floating-point exception.
    FloatingPoint = 5,
    /// Two accesses to one memory element at once.
    Conflict = 6,
    /// An inconsistent exchange set-up.
    ExchangeConfiguration = 7,
    /// A bad, misaligned or wrong-region data address.
    InvalidAddress = 8,
    /// A bad operand.
    InvalidOperand = 9,
    /// A misaligned, non-executable or out-of-range code address.
    InvalidPc = 10,
    /// A data breakpoint.
    DataBreak = 11,
    /// An undefined encoding, or an instruction that may not stand here.
    InvalidInstruction = 12,
    /// A receive error.
    ExchangeError = 13,
    /// A parity error.
    MemoryError = 14,
    /// An instruction breakpoint.
    InstructionBreak = 15,
}

impl Exception {
    /// The number in `$SSR` and `$WSR` bits 7:4.
    pub const fn etype(self) -> u32 {
        self as u32
    }

    /// Whether it is of the debug class, which leaves the context in state 2 instead of 3.
    /// [isa-core §7 code]
    pub const fn is_debug(self) -> bool {
        use Exception::*;
        matches!(
            self,
            RetirementBreak
                | PatchedBreak0
                | PatchedBreak1
                | BreakOnSync
                | DataBreak
                | InstructionBreak
        )
    }

    /// The chip's own name for it.
    pub const fn name(self) -> &'static str {
        use Exception::*;
        match self {
            RetirementBreak => "RBRK",
            PatchedBreak0 => "PBRK0",
            PatchedBreak1 => "PBRK1",
            BreakOnSync => "BOS",
            FloatingPoint => "FP",
            Conflict => "CONFLICT",
            ExchangeConfiguration => "EXCONF",
            InvalidAddress => "INVALID_ADDR",
            InvalidOperand => "INVALID_OP",
            InvalidPc => "INVALID_PC",
            DataBreak => "DBRK",
            InvalidInstruction => "INVALID_INSTR",
            ExchangeError => "EXERR",
            MemoryError => "MEMERR",
            InstructionBreak => "IBRK",
        }
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which kind of edge was reached, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StopKind {
    /// The chip would trap.
    Exception {
        /// Its number.
        exception: Exception,
        /// What caused it, with the operands' values.
        cause: String,
    },
    /// The documents leave it open, and the settings are strict.
    Undefined {
        /// What is open.
        what: String,
    },
    /// The simulator has not been built this far.
    Unsupported {
        /// The mnemonic.
        form: &'static str,
    },
    /// The fabric would lose, misplace or mix up words.
    Fabric {
        /// What would happen.
        what: String,
    },
}

impl fmt::Display for StopKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exception { exception, cause } => write!(f, "exception {exception}: {cause}"),
            Self::Undefined { what } => write!(f, "undefined: {what}"),
            Self::Unsupported { form } => write!(f, "unsupported: {form}"),
            Self::Fabric { what } => write!(f, "fabric: {what}"),
        }
    }
}

/// Where and why a context stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// The tile.
    pub tile: PhysTile,
    /// The context.
    pub context: Context,
    /// The byte address of the instruction or execution bundle at fault.
    pub pc: u32,
    /// The tile clock at its issue.
    pub cycle: u64,
    /// Why.
    pub kind: StopKind,
    /// The instruction as text.
    pub instruction: String,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tile,
            context,
            pc,
            cycle,
            kind,
            instruction,
        } = self;
        write!(
            f,
            "{tile}, {context}, pc {pc:#x}, cycle {cycle}, `{instruction}`: {kind}"
        )
    }
}

impl core::error::Error for Stop {}

/// What an instruction found wrong, before it is known where.
///
/// Faults of one execution bundle are ordered by [`Fault::rank`]; the lowest is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A code address is not a multiple of four, outside region 0, or a repeat body's start is not
    /// on 8 bytes.
    #[error("code address {at:#x} is not a multiple of {align} in {BASE}..{INTERLEAVED}")]
    CodeAddress {
        /// The address.
        at: u32,
        /// What it must be a multiple of.
        align: u32,
    },
    /// The word is no instruction.
    #[error("word {word:#010x} is no instruction of this context")]
    Encoding {
        /// The word.
        word: u32,
    },
    /// Two words do not form an execution bundle.
    #[error("words {first:#010x} {second:#010x} are no execution bundle")]
    Pairing {
        /// The first word.
        first: u32,
        /// The second.
        second: u32,
    },
    /// Something that may not stand in a repeat body stands there.
    #[error("not allowed in the repeat body {first:#x}..{end:#x}")]
    InRepeatBody {
        /// Its first byte.
        first: u32,
        /// The byte behind it.
        end: u32,
    },
    /// The register number is not a multiple of the group's size.
    #[error("register {number} starts no aligned group")]
    OddGroup {
        /// The number.
        number: u32,
    },
    /// Two results of one instruction or execution bundle go to one register.
    #[error("two results go to register {number}")]
    SameDestination {
        /// The register.
        number: u32,
    },
    /// There is no such control and status register in this context.
    #[error("there is no register {csr:#x} here")]
    NoSuchCsr {
        /// Its full number.
        csr: u32,
    },
    /// The register is read-only.
    #[error("register {csr:#x} is read-only")]
    CsrReadOnly {
        /// Its full number.
        csr: u32,
    },
    /// The base of a running worker was written.
    #[error("the base of worker {worker} was written while it runs")]
    BusyWorkerBase {
        /// The worker.
        worker: u32,
    },
    /// A weight number is out of range or, for 128 bits, odd.
    #[error("weight {index} is no multiple of {align} below 64")]
    WeightIndex {
        /// The number.
        index: u32,
        /// What it must be a multiple of.
        align: u32,
    },
    /// A zone that does not exist.
    #[error("zone {zone} does not exist")]
    Zone {
        /// The zone.
        zone: u32,
    },
    /// A launch while a worker it needs is taken.
    #[error("worker {worker} is not inactive")]
    WorkersBusy {
        /// The first such worker.
        worker: u32,
    },
    /// A data address is not a multiple of the access.
    #[error("address {at:#x} is not a multiple of {align}")]
    Misaligned {
        /// The address.
        at: u32,
        /// The size of the access.
        align: u32,
    },
    /// A byte of the access lies outside tile memory.
    #[error("{bytes} bytes at {at:#x} are not all in tile memory, {BASE}..{END}")]
    OutsideMemory {
        /// The address.
        at: u32,
        /// The size of the access.
        bytes: u32,
    },
    /// A 128-bit access outside region 1.
    #[error("address {at:#x} is below region 1, which starts at {INTERLEAVED}")]
    NotInterleaved {
        /// The address.
        at: u32,
    },
    /// Two accesses of one instruction go to one element.
    #[error("addresses {first:#x} and {second:#x} are both in memory element {element}")]
    Element {
        /// One address.
        first: u32,
        /// The other.
        second: u32,
        /// The element.
        element: u32,
    },
    /// A send reads the element its own row is fetched from.
    #[error("the send reads {at:#x}, in the exclusion unit of its own row at {pc:#x}")]
    SendFetch {
        /// The address read.
        at: u32,
        /// The address fetched.
        pc: u32,
    },
    /// An enabled floating-point exception.
    #[error("a floating-point exception enabled in $FP_CTL")]
    FloatingPoint,
    /// A `trap`.
    #[error("trap {number}")]
    Trap {
        /// Its number.
        number: u32,
    },
    /// A `sync` while break-on-sync is enabled.
    #[error("sync {zone} while break-on-sync is enabled")]
    BreakOnSync {
        /// The zone.
        zone: u32,
    },
    /// A timed instruction while a worker is active.
    #[error("a timed instruction while worker {worker} is active")]
    TimedWithWorker {
        /// The first active worker.
        worker: u32,
    },
    /// A participating `sync` while automatic ones are outstanding.
    #[error("sync {zone} while {outstanding} automatic syncs are outstanding")]
    SyncWhileArmed {
        /// The zone.
        zone: u32,
        /// `$ANS_DCOUNT`.
        outstanding: u32,
    },
    /// An external `sync` while the multiplexer selects a tile.
    #[error("external sync {zone} while $INCOMING_MUX is {mux:#x}, a tile")]
    SyncWithInternalMux {
        /// The zone.
        zone: u32,
        /// `$INCOMING_MUX`.
        mux: u32,
    },
    /// `sans` beyond what the counter holds.
    #[error("sans would raise $ANS_DCOUNT from {outstanding} by {more}, beyond 19 bits")]
    ArmedOverflow {
        /// `$ANS_DCOUNT`.
        outstanding: u32,
        /// What would be added.
        more: u32,
    },
    /// A stream is continued that was never started.
    #[error("there is no stream to continue")]
    NoStream,
    /// The documents leave it open.
    #[error("{0}")]
    Undefined(&'static str),
    /// Not built.
    #[error("{0} is not simulated")]
    Unsupported(&'static str),
}

impl Fault {
    /// The exception the chip takes; `None` where it is not known what the chip does.
    pub const fn exception(self) -> Option<Exception> {
        use Fault::*;
        Some(match self {
            CodeAddress { .. } => Exception::InvalidPc,
            Encoding { .. } | Pairing { .. } | InRepeatBody { .. } => Exception::InvalidInstruction,
            OddGroup { .. }
            | SameDestination { .. }
            | NoSuchCsr { .. }
            | CsrReadOnly { .. }
            | BusyWorkerBase { .. }
            | WeightIndex { .. }
            | Zone { .. }
            | WorkersBusy { .. } => Exception::InvalidOperand,
            Misaligned { .. } | OutsideMemory { .. } | NotInterleaved { .. } => {
                Exception::InvalidAddress
            }
            Element { .. } | SendFetch { .. } => Exception::Conflict,
            FloatingPoint => Exception::FloatingPoint,
            Trap { number } if number & 1 == 0 => Exception::PatchedBreak0,
            Trap { .. } => Exception::PatchedBreak1,
            BreakOnSync { .. } => Exception::BreakOnSync,
            TimedWithWorker { .. }
            | SyncWhileArmed { .. }
            | SyncWithInternalMux { .. }
            | ArmedOverflow { .. }
            | NoStream => Exception::ExchangeConfiguration,
            Undefined(_) | Unsupported(_) => return None,
        })
    }

    /// Its place in the order in which an execution bundle's faults are reported, lowest first.
    /// [isa-core §7 inf]
    pub const fn rank(self) -> u8 {
        match self.exception() {
            Some(Exception::InvalidPc) => 0,
            Some(Exception::InvalidInstruction) => 1,
            Some(Exception::InvalidOperand) => 2,
            Some(Exception::InvalidAddress) => 3,
            Some(Exception::Conflict) => 4,
            Some(Exception::FloatingPoint) => 5,
            _ => 6,
        }
    }

    /// As the kind of a [`Stop`].
    pub fn kind(self) -> StopKind {
        match (self, self.exception()) {
            (Self::Unsupported(form), _) => StopKind::Unsupported { form },
            (fault, Some(exception)) => StopKind::Exception {
                exception,
                cause: fault.to_string(),
            },
            (fault, None) => StopKind::Undefined {
                what: fault.to_string(),
            },
        }
    }
}
