//! The IPU21 in software, down to the card's registers.
//!
//! # Where to start
//!
//! [`tile::Tile`] is one tile; [`tile::Tile::run`] runs it until it needs something from outside.
//! [`stop::Stop`] says why a context stopped, [`support()`] how far a form is executed.
//!
//! # What is never here
//!
//! - The compiler and the bundle. They share `chip` and `isa` with this crate and nothing else, or
//!   a bug there would agree with itself here.
//! - Invented behaviour. At the edge of what the documents say a context stops and says so.

pub mod card;
pub mod chip;
mod code;
pub mod cycles;
pub mod exchange;
mod exec;
pub mod float;
pub mod memory;
mod row;
pub mod settings;
pub mod stop;
mod support;
pub mod sync;
pub mod tile;
pub mod trace;

pub use support::{Support, support};
