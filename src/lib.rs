//! The runner.
pub mod card;
pub mod driver;
