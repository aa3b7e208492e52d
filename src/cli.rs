//! The command line: `run`, `verify`, `inspect`, `self-test`.
//!
//! Results go to the standard output in one piece, everything else to the standard error. The
//! first line of a result says which device it is from.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tilekiln_bundle::{Bundle, ReadError};

use crate::card::{self, DeviceError, SimOptions, Wanted};
use crate::inspect;
use crate::json::Json;
use crate::session::SessionError;
use crate::stream::StreamError;
use crate::verify::VerifyError;

mod interrupt;
mod progress;
mod run;
mod self_test;
mod verify;

use interrupt::Interrupt;

/// Most threads; more would only wait for each other. A chip has not many more tiles.
const THREADS_MAX: u16 = 1024;

/// Runs the baked graph on a Graphcore C600, real or simulated.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Args)]
struct Options {
    /// The card: `sim`, the path of a node, or `auto` for a card if there is one.
    #[arg(long, global = true, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Prints one JSON object instead of a table.
    #[arg(long, global = true)]
    json: bool,
    /// What the virtual card's memory and registers hold before they are written.
    #[arg(long, global = true, value_name = "SEED", value_parser = number)]
    fill_seed: Option<u64>,
    /// Threads to use; 0 for all cores.
    #[arg(
        long,
        global = true,
        value_name = "COUNT",
        default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(..=i64::from(THREADS_MAX))
    )]
    threads: u16,
    /// What to log: off, error, warn, info, debug, trace, or a list like `warn,tilekiln=debug`.
    #[arg(long, global = true, value_name = "FILTER", default_value = "warn")]
    log: String,
    /// Seconds of the card's clock to wait for a mark.
    #[arg(long, global = true, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    mark_limit: Duration,
    /// Runs this bundle instead of the built-in one.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    bundle: Option<PathBuf>,
    /// When the virtual card's barriers take their marks.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_short_help = true
    )]
    marks: Marks,
    /// Whether the host's first acknowledgement comes before the virtual card's tiles do.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_short_help = true
    )]
    startup: Startup,
    /// When the virtual card's tiles move.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_short_help = true
    )]
    pace: Pace,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Marks {
    /// When they are reached.
    #[default]
    Arrival,
    /// When they are passed.
    Release,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Startup {
    /// It does.
    #[default]
    Early,
    /// The tiles wait for it.
    Late,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Pace {
    /// With every mark, up to the next barrier.
    #[default]
    Immediate,
    /// A little whenever the host looks.
    Delayed,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Streams arrays through the graph.
    Run(run::Arguments),
    /// Streams generated inputs through the graph and compares with a reference.
    Verify,
    /// Shows what was baked.
    Inspect(InspectArguments),
    /// Checks that the bundle is whole and that its limits catch faults; needs no device.
    SelfTest,
}

#[derive(Debug, Args)]
struct InspectArguments {
    /// What to show.
    #[arg(value_enum, default_value_t)]
    view: inspect::View,
    /// The physical tile whose map to show.
    #[arg(long, value_name = "TILE", default_value_t = 0)]
    tile: u16,
}

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error("the bundle cannot be used")]
    Bundle(#[from] ReadError),
    #[error("{} cannot be read", path.display())]
    BundleFile { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("nothing can be compared")]
    Verify(#[from] VerifyError),
    #[error("the result cannot be written")]
    Print(#[source] io::Error),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
}

impl CliError {
    /// 1 failed, 2 usage, input or damaged bundle, 3 device, 130 interrupted.
    fn code(&self) -> u8 {
        match self {
            Self::Verify(_) => 1,
            Self::Session(error) if error.is_interrupt() => interrupt::EXIT_CODE,
            Self::Device(_) | Self::Session(_) => 3,
            _ => 2,
        }
    }
}

impl Cli {
    /// Reads a command line; on a wrong one, or a question for help, ends the process.
    pub fn from_arguments(arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self::parse_from(arguments)
    }

    /// What the user wants logged.
    pub fn log(&self) -> &str {
        &self.options.log
    }

    /// Does what the user wants. `colors` says whether results may be coloured at all.
    pub fn run(&self, colors: bool) -> ExitCode {
        let interrupt = Interrupt::listen();
        match self.dispatch(&interrupt, colors) {
            Ok(Outcome::Passed) => ExitCode::SUCCESS,
            Ok(Outcome::Failed) => ExitCode::from(1),
            Err(CliError::Print(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                // Whoever read our output has seen enough.
                ExitCode::SUCCESS
            }
            Err(error) => {
                let text = chain(&error);
                let _ = writeln!(io::stderr().lock(), "error: {text}");
                if self.options.json {
                    let code = u64::from(error.code());
                    let fields = [("error", Json::Text(text)), ("exit_code", code.into())];
                    let _ = print(&format!("{}\n", Json::object(fields)));
                }
                ExitCode::from(error.code())
            }
        }
    }

    fn dispatch(&self, interrupt: &Interrupt, colors: bool) -> Result<Outcome, CliError> {
        let mut stages = Stages::default();
        let options = &self.options;
        let file = match &options.bundle {
            Some(path) => Some(whole(path).map_err(|source| CliError::BundleFile {
                path: path.clone(),
                source,
            })?),
            None => None,
        };
        let bytes = file.as_deref().unwrap_or(crate::embedded_bytes());
        let bundle = stages.time("open", || Bundle::parse(bytes))?;
        tracing::info!(bytes = bytes.len(), digest = %bundle.digest(), "bundle checked");
        let setting = Setting {
            options,
            bundle: &bundle,
            interrupt,
            colors,
        };
        match &self.command {
            Command::Run(arguments) => run::run(&setting, arguments, stages),
            Command::Verify => verify::verify(&setting, stages),
            Command::SelfTest => self_test::self_test(&setting),
            Command::Inspect(arguments) => {
                let text = inspect::show(&bundle, arguments.view, arguments.tile, options.json)
                    .map_err(|error| CliError::Usage(error.to_string()))?;
                print(&text)?;
                Ok(Outcome::Passed)
            }
        }
    }
}

/// The bytes of a bundle's file: what has no length may have no end.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(io::Error::other("it is not a file"));
    }
    std::fs::read(path)
}

/// What every command works with.
struct Setting<'a> {
    options: &'a Options,
    bundle: &'a Bundle<'a>,
    interrupt: &'a Interrupt,
    colors: bool,
}

impl Setting<'_> {
    /// Threads for work of the host.
    fn threads(&self) -> usize {
        match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            threads => threads.into(),
        }
    }

    /// A device with the bundle's images on it.
    fn open_device(&self) -> Result<Box<dyn card::Device>, DeviceError> {
        let wanted: Wanted = self.options.device.parse()?;
        card::open(&wanted, self.bundle, &self.sim_options())
    }

    fn sim_options(&self) -> SimOptions {
        let options = self.options;
        SimOptions {
            fill_seed: options.fill_seed,
            marks: match options.marks {
                Marks::Arrival => card::Marks::Arrival,
                Marks::Release => card::Marks::Release,
            },
            startup: match options.startup {
                Startup::Early => card::Startup::Early,
                Startup::Late => card::Startup::Late,
            },
            progress: match options.pace {
                Pace::Immediate => card::Progress::Immediate,
                Pace::Delayed => card::Progress::Delayed,
            },
            threads: options.threads.into(),
            quota: None,
        }
    }

    fn limits(&self) -> crate::driver::Limits {
        crate::driver::Limits {
            mark: self.options.mark_limit,
            ..crate::driver::Limits::default()
        }
    }
}

/// Wall-clock seconds of each stage of this run.
#[derive(Debug, Default)]
struct Stages(Vec<(&'static str, f64)>);

impl Stages {
    /// Times a stage; a name that comes again is added up.
    fn time<T>(&mut self, name: &'static str, body: impl FnOnce() -> T) -> T {
        let start = std::time::Instant::now();
        let result = body();
        let seconds = start.elapsed().as_secs_f64();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, total)) => *total += seconds,
            None => self.0.push((name, seconds)),
        }
        tracing::info!(stage = name, seconds, "stage over");
        result
    }
}

/// Prints a result, whole.
fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(CliError::Print)
}

/// An error with everything that led to it.
fn chain(error: &CliError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// A number, decimal or with `0x`.
fn number(text: &str) -> Result<u64, std::num::ParseIntError> {
    let text = text.replace('_', "");
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    }
}

/// A time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn seeds_are_decimal_or_hexadecimal() {
        assert_eq!(number("17"), Ok(17));
        assert_eq!(number("0xfa57_a77e"), Ok(0xfa57_a77e));
        assert!(number("seven").is_err());
    }

    #[test]
    fn exit_codes_tell_the_kinds_of_trouble_apart() {
        use crate::driver::DriverError;
        use crate::session::Trouble;
        let card = |reason| {
            CliError::Session(SessionError::Card {
                reason,
                trouble: Trouble::default(),
            })
        };
        assert_eq!(CliError::Usage(String::new()).code(), 2);
        assert_eq!(CliError::Bundle(ReadError::Magic { got: [0; 8] }).code(), 2);
        assert_eq!(CliError::Verify(VerifyError::Empty).code(), 1);
        assert_eq!(card(DriverError::Gone).code(), 3);
        assert_eq!(card(DriverError::Interrupted).code(), 130);
    }
}
