//! Looks whether a plan is right, and shares no code with the passes that make one.
//!
//! Every rule is derived again from the finished plan: where arrays may lie, what collides in an
//! exchange phase, what the host moves, and whether the steps add up to the attention that was
//! asked for. The last is followed address by address: from the rows of the tensors through pages,
//! copies, packing and messages to the operands of every product, and back.

mod exchange;
mod host;
mod meaning;
mod memory;
mod tasks;

use tilekiln_chip::{ByteAddr, TileId};

use super::{Class, Plan};

/// Looks for anything wrong with `plan`.
///
/// # Errors
///
/// The first rule that is broken.
pub fn check(plan: &Plan) -> Result<(), CheckError> {
    tasks::check(plan)?;
    memory::check(&plan.layout)?;
    exchange::check(plan)?;
    host::check(plan)?;
    meaning::check(plan)
}

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The plan may use fewer tiles.
    #[error("{tasks} tasks; the plan may use {tiles} tiles")]
    TooManyTasks {
        /// Tasks there are.
        tasks: usize,
        /// Tiles allowed.
        tiles: u32,
    },
    /// Tasks run on tiles of their own.
    #[error("{0} has two tasks")]
    TileTwice(TileId),
    /// Rows and keys start where a task's may.
    #[error("the {what} of {tile} are {start} to {end}")]
    Range {
        /// The task's tile.
        tile: TileId,
        /// Which range.
        what: &'static str,
        /// Its start.
        start: u32,
        /// Its end.
        end: u32,
    },
    /// Every row and every key is somebody's, once.
    #[error("{what} {index} of head {head} is covered {times} times; {wanted} is right")]
    Coverage {
        /// The head, of all batches.
        head: u32,
        /// What is covered.
        what: &'static str,
        /// Which one.
        index: u32,
        /// How often it is.
        times: u32,
        /// How often it should be.
        wanted: u32,
    },
    /// An array leaves tile memory, tail included.
    #[error("{array} at {at} takes {bytes} bytes and leaves tile memory")]
    OutsideMemory {
        /// The array.
        array: String,
        /// Where it lies.
        at: ByteAddr,
        /// Its bytes and its tail.
        bytes: u32,
    },
    /// An array lies in memory of another class.
    #[error("{array} at {at} is not in {class} memory")]
    WrongClass {
        /// The array.
        array: String,
        /// Where it lies.
        at: ByteAddr,
        /// The class it needs.
        class: Class,
    },
    /// An address is not a multiple of its alignment.
    #[error("{array} at {at} is not a multiple of {align}")]
    Misaligned {
        /// The array.
        array: String,
        /// Where it lies.
        at: ByteAddr,
        /// What its address should be a multiple of.
        align: u32,
    },
    /// Two things have the same bytes.
    #[error("{first} and {second} overlap")]
    Overlap {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// Two arrays share an exclusion unit that they must not share.
    #[error("{first} and {second} share exclusion unit {unit}: {reason}")]
    Shared {
        /// The first.
        first: String,
        /// The second.
        second: String,
        /// The unit.
        unit: u32,
        /// What goes wrong.
        reason: String,
    },
    /// Initialised words lie where the loader cannot reach.
    #[error("{array} ends at {end}; the loader reaches {limit}")]
    BeyondLoader {
        /// The array.
        array: String,
        /// Its end.
        end: ByteAddr,
        /// The loader's limit.
        limit: ByteAddr,
    },
    /// The linker's memory is not whole executable elements in ascending order.
    #[error("{start} to {end} is not executable memory for the linker")]
    Executable {
        /// First byte.
        start: ByteAddr,
        /// First byte behind.
        end: ByteAddr,
    },
    /// A transfer of a size no message can have.
    #[error("{phase}: {tile} sends {words} words; a message has 1 to {most}")]
    MessageLength {
        /// The phase.
        phase: String,
        /// The sender.
        tile: TileId,
        /// Words of the transfer.
        words: u32,
        /// Most words of a message.
        most: u32,
    },
    /// A transfer without receivers, or with one twice.
    #[error("{phase}: {tile} sends to nobody, or twice to one tile")]
    Receivers {
        /// The phase.
        phase: String,
        /// The sender.
        tile: TileId,
    },
    /// Words outside every array, or on a tile without a task.
    #[error("{phase}: {bytes} bytes from {at} on {tile} are in no array")]
    Stray {
        /// The phase or step.
        phase: String,
        /// The tile.
        tile: TileId,
        /// The first byte.
        at: ByteAddr,
        /// How many.
        bytes: u32,
    },
    /// Two messages of a phase write the same bytes of a tile.
    #[error("{phase}: {tile} receives {at} twice")]
    ReceivedTwice {
        /// The phase.
        phase: String,
        /// The receiver.
        tile: TileId,
        /// The first byte received twice.
        at: ByteAddr,
    },
    /// A host phase moves something in a way the host's packets do not allow.
    #[error("host phase {phase}: {what} of {tile} is {got}; {rule}")]
    Page {
        /// The phase.
        phase: usize,
        /// The tile.
        tile: TileId,
        /// What is wrong.
        what: &'static str,
        /// What it is.
        got: u64,
        /// What it should be.
        rule: &'static str,
    },
    /// The buffer is too small, too large, or not whole pages.
    #[error("buffer 1 has {bytes} bytes; the pages end at {end}")]
    Buffer {
        /// Its bytes.
        bytes: u32,
        /// The end of the last page.
        end: u64,
    },
    /// Rows of a tensor that no host phase moves.
    #[error("rows of {tensor} at offset {offset} of buffer 1 are in no page of a tile")]
    Unmoved {
        /// The tensor.
        tensor: String,
        /// The offset of the first such byte.
        offset: u64,
    },
    /// Rows of a tensor bound too often or not at all.
    #[error("row {row} of {tensor} is bound {times} times; {wanted} is right")]
    Bound {
        /// The tensor.
        tensor: String,
        /// The row, counted from the tensor's start.
        row: u64,
        /// How often it is bound.
        times: u32,
        /// How often it should be.
        wanted: u32,
    },
    /// A step where another is needed.
    #[error("step {index} is not {wanted}")]
    Order {
        /// The step.
        index: usize,
        /// What should be there.
        wanted: &'static str,
    },
    /// An argument list too many, too few, too long or too short.
    #[error("{step} has {got} {what}; {want} is right")]
    ArgumentCount {
        /// The step.
        step: String,
        /// Lists or words.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many there should be.
        want: usize,
    },
    /// An argument that contradicts the task.
    #[error("{step} on {tile}: {what} is {got:#x}; {want:#x} is right")]
    Argument {
        /// The step.
        step: String,
        /// The tile.
        tile: TileId,
        /// Which argument.
        what: &'static str,
        /// What it is.
        got: u64,
        /// What it should be.
        want: u64,
    },
    /// An operand of which some bytes never arrive, or arrive from the wrong place.
    #[error("{operand} of {tile}: {got} bytes arrive from where they should; {want} are needed")]
    Arrivals {
        /// The operand.
        operand: &'static str,
        /// The tile.
        tile: TileId,
        /// Bytes that arrive.
        got: u64,
        /// Bytes needed.
        want: u64,
    },
}
