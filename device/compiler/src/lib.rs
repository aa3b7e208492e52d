//! .
pub mod asm;
pub mod diagnostic;
pub mod image;
pub mod object;
pub mod plan;
pub mod report;
pub mod schedule;
pub mod spec;
