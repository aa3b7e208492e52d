//! The runner: a baked graph and everything needed to stream data through it on a card.
//!
//! ```text
//! embedded() ──► Bundle ──► card::open ──► Device ──► Session ──► call, call, … ──► finish
//! ```
//!
//! # Where to start
//!
//! [`session::Session`] runs a loaded program; [`card::Device`] is the card as the driver sees it;
//! [`verify`] judges what comes out. [`cli`] is all of it behind a command line.
//!
//! # What is never here
//!
//! - The compiler: it ran when this program was built, and left a bundle.
//! - A driver that knows which card it drives.

pub mod card;
pub mod cli;
pub mod driver;
pub mod inspect;
pub mod json;
pub mod reference;
pub mod session;
pub mod stream;
pub mod verify;

#[cfg(test)]
mod sample;

use tilekiln_bundle::{Bundle, ReadError};

/// Bytes on a cache line's boundary, so that the bundle can be read where it lies.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

static EMBEDDED: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(
    env!("OUT_DIR"),
    "/bake/bundle.bin"
)));

/// The bundle this program was built with, as it lies in memory.
pub fn embedded_bytes() -> &'static [u8] {
    &EMBEDDED.0
}

/// The bundle this program was built with.
///
/// # Errors
///
/// [`ReadError`] when the program was damaged.
pub fn embedded() -> Result<Bundle<'static>, ReadError> {
    Bundle::parse(embedded_bytes())
}
