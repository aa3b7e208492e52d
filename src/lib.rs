//! The runner.
pub mod card;
pub mod driver;
pub mod reference;
pub mod stream;
pub mod verify;
