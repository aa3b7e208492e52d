//! The bundle: what a bake leaves behind and a run starts from, in one file of our own format.
//!
//! ```text
//! compiler ──► Builder ──► bytes ══► embedded ══► Bundle ──► driver
//!                 finish                    parse
//! ```
//!
//! A bundle is written once and read in place: [`Bundle::parse`] checks every digest, every range
//! and every record, copies nothing and allocates nothing, and from then on reading cannot fail.
//!
//! # Where to start
//!
//! [`mod@format`] has the records, the same types for both sides; [`Builder`] writes them and
//! [`Bundle`] gives them back.
//!
//! # What is never here
//!
//! Text formats, files, and what the numbers mean to a tile.

pub mod digest;
pub mod format;
pub mod read;
pub mod write;

pub use digest::Digest;
pub use format::{
    Binding, Direction, Host, HostPhase, Line, Meta, Roles, Rounding, Stage, Tensor, TensorKind,
    Verify,
};
pub use read::{Bundle, ReadError, Segment, TileImage};
pub use write::{Builder, Class, WriteError};
