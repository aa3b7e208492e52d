//! .
pub mod diagnostic;
pub mod plan;
pub mod report;
pub mod schedule;
pub mod spec;
