//! The whole-program tests: one binary.

mod bake;
mod cli;
mod cli_run;
mod damage;
mod device_contract;
mod end_to_end;
mod faults;
mod golden;
mod isa_support;
mod kernels;
mod one_tile;
mod tap;
mod tile_tool;
