//! The instruction set of the IPU21 as a table, and the readers of that table.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod form;
pub mod op;
pub mod table;
