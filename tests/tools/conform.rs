//! `conform FILE...` checks vector files in the golden formats against our code.
//!
//! A file's kind follows from the end of its name. For each file one line says how many of its
//! cases passed, failed and were skipped; every failure has a line before it. The exit code is 1
//! when a case failed or a file could not be read.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command line program"
)]

use std::process::ExitCode;
use std::{env, fs};

/// One file a kind, plus what they share.
mod conform {
    pub mod exchange_rows;
    pub mod host_exchange;
    pub mod routes;
    pub mod tally;
    pub mod text;
    pub mod tile_programs;
}

use conform::tally::{BadFile, Tally};
use conform::{exchange_rows, host_exchange, routes, text, tile_programs};

/// A kind of file: the end of its name, and what checks its text.
type Kind = (&'static str, fn(&str) -> Result<Tally, BadFile>);

#[rustfmt::skip] // One kind a line.
const KINDS: &[Kind] = &[
    ("disassemble.tsv",     text::disassemble),
    ("assemble.tsv",        text::assemble),
    ("systematic.tsv",      text::assemble),
    ("reject.tsv",          text::reject),
    ("route-timing.tsv",    routes::check),
    ("exchange-rows.json",  exchange_rows::check),
    ("host-exchange.json",  host_exchange::check),
    ("tile-programs.jsonl", tile_programs::check),
];

fn main() -> ExitCode {
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("usage: conform FILE...");
        return ExitCode::FAILURE;
    }
    let mut good = true;
    for file in files {
        match check(&file) {
            Ok(tally) => {
                for failure in &tally.failures {
                    println!("{file}: {failure}");
                }
                let Tally {
                    passed,
                    skipped,
                    failures,
                } = &tally;
                println!(
                    "{file}: {passed} passed, {} failed, {skipped} skipped",
                    failures.len()
                );
                good &= failures.is_empty();
            }
            Err(error) => {
                eprintln!("{file}: {error}");
                good = false;
            }
        }
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn check(file: &str) -> Result<Tally, BadFile> {
    let Some((_, check)) = KINDS.iter().find(|(end, _)| file.ends_with(end)) else {
        let ends: Vec<&str> = KINDS.iter().map(|(end, _)| *end).collect();
        return Err(BadFile(format!(
            "the name ends in none of {}",
            ends.join(", ")
        )));
    };
    check(&fs::read_to_string(file).map_err(BadFile::new)?)
}
