//! The whole-program tests: one binary.

mod kernels;
mod one_tile;
mod tile_tool;
