//! From the command line to an answer.

use std::ffi::OsString;

use clap::Parser as _;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use super::options::Options;
use super::{report, run, source, words};

/// The program came to its own end.
pub const ENDED: u8 = 0;
/// It stopped before.
pub const STOPPED: u8 = 1;
/// It never ran: options, the source or a file are wrong.
pub const REFUSED: u8 = 2;

/// What the tool has to say.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code.
    pub code: u8,
    /// For standard output.
    pub results: String,
    /// For standard error.
    pub complaints: String,
}

/// Why nothing ran: one complaint a line, as the user reads it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl Refusal {
    /// A complaint about `what`.
    pub fn of(what: impl core::fmt::Display, error: impl core::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

/// Does what `arguments` say, the first of which is the program's name. The trace goes to `trace`
/// while the tile runs.
pub fn execute(arguments: impl IntoIterator<Item = OsString>, trace: BoxMakeWriter) -> Answer {
    let options = match Options::try_parse_from(arguments) {
        Ok(options) => options,
        Err(error) => return told_by_clap(&error),
    };
    match answer(&options, trace) {
        Ok((code, results)) => Answer {
            code,
            results,
            complaints: String::new(),
        },
        Err(Refusal(complaint)) => {
            let complaints = complaint.trim_end().to_owned() + "\n";
            Answer {
                code: REFUSED,
                results: String::new(),
                complaints,
            }
        }
    }
}

/// Help is a result; everything else is a complaint.
fn told_by_clap(error: &clap::Error) -> Answer {
    let text = error.to_string();
    if error.use_stderr() {
        Answer {
            code: REFUSED,
            results: String::new(),
            complaints: text,
        }
    } else {
        Answer {
            code: ENDED,
            results: text,
            complaints: String::new(),
        }
    }
}

fn answer(options: &Options, trace: BoxMakeWriter) -> Result<(u8, String), Refusal> {
    if !options.disassemble.is_empty() {
        return Ok((ENDED, words::disassemble(options)?));
    }
    let program = source::build(options)?;
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(trace)
        .with_ansi(false)
        .with_level(false)
        .with_target(false)
        .without_time()
        .finish();
    let ran = if options.trace {
        tracing::subscriber::with_default(subscriber, || run::run(options, &program))?
    } else {
        run::run(options, &program)?
    };
    let code = if ran.ending.is_own_end() {
        ENDED
    } else {
        STOPPED
    };
    let results = if options.json {
        report::json(options, &program, &ran)
    } else {
        report::text(options, &program, &ran)
    };
    Ok((code, results))
}
