//! `tile FILE.S ...` assembles a kernel and runs it on one simulated tile; `cargo xtask tile` starts
//! it.
//!
//! Results go to standard output, complaints and the trace to standard error. The exit code is 0
//! when the program came to its own end, 1 when it stopped before, 2 when it never ran.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command line program"
)]

use std::process::ExitCode;

/// The tool, as functions that the tests call too.
mod tile {
    pub mod command;
    pub mod options;
    pub mod report;
    pub mod run;
    pub mod setting;
    pub mod source;
    pub mod stop;
    pub mod words;
}

use tracing_subscriber::fmt::writer::BoxMakeWriter;

fn main() -> ExitCode {
    let trace = BoxMakeWriter::new(std::io::stderr);
    let answer = tile::command::execute(std::env::args_os(), trace);
    print!("{}", answer.results);
    eprint!("{}", answer.complaints);
    ExitCode::from(answer.code)
}
