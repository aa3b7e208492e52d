//! Arguments in, exit code out.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use tilekiln::cli::Cli;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::from_arguments(std::env::args_os());
    let colors = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let filter = match EnvFilter::try_new(cli.log()) {
        Ok(filter) => filter,
        Err(error) => {
            // The one thing that can go wrong before there is a log to say it in.
            #[expect(clippy::print_stderr, reason = "there is no log yet")]
            {
                eprintln!("error: --log {}: {error}", cli.log());
            }
            return ExitCode::from(2);
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colors && std::io::stderr().is_terminal())
        .init();
    cli.run(colors)
}
