//! Developer commands: `cargo xtask NAME`. Each is one file and one line of the table below.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command line program"
)]

use std::process::ExitCode;

use xshell::Shell;

mod artifacts;
mod bindings;
mod ci;
mod reproduce;
mod tidy;
mod tools;
mod verify;

/// What a command returns; the message is all a reader gets.
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A command: name, function, one line of help.
type Command = (&'static str, fn(&Shell, &[String]) -> Outcome, &'static str);

#[rustfmt::skip] // One command a line.
const COMMANDS: &[Command] = &[
    ("ci",         ci::run,         "everything a change must pass; what .ci/run calls"),
    ("verify",     verify::run,     "build release, check the manifest, verify on a card or `--device sim`, keep the report"),
    ("artifacts",  artifacts::run,  "copy the bake's outputs to artifacts/out; `--bless` renews artifacts/manifest.toml, `--check` compares it"),
    ("bindings",   bindings::run,   "generate src/card/uapi.rs from uapi.h; `--check` only compares"),
    ("tidy",       tidy::run,       "check the arrows between crates, file sizes and what must not stand in the code"),
    ("reproduce",  reproduce::run,  "bake in two folders under different settings and compare the bundles"),
    ("conform",    tools::conform,  "FILE...: check vector files in the golden formats against our code"),
    ("tile",       tools::tile,     "FILE.S ...: assemble and run on one simulated tile"),
    ("bench",      tools::bench,    "run the benches of all crates"),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let Some((_, run, line)) = COMMANDS.iter().find(|command| command.0 == name) else {
        if !matches!(name.as_str(), "" | "help" | "--help" | "-h") {
            eprintln!("no command {name}\n");
        }
        help();
        return ExitCode::from(if name.is_empty() || name.ends_with("help") {
            0
        } else {
            2
        });
    };
    if asks_for_help(&name, &rest) {
        println!("cargo xtask {name}: {line}");
        return ExitCode::SUCCESS;
    }
    let outcome = Shell::new().map_err(Into::into).and_then(|shell| {
        shell.change_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        run(&shell, &rest)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the line of help is all that is wanted; `tile` has a help of its own.
fn asks_for_help(name: &str, arguments: &[String]) -> bool {
    let asks = |argument: &String| matches!(argument.as_str(), "--help" | "-h");
    name != "tile" && arguments.iter().any(asks)
}

fn help() {
    println!("cargo xtask COMMAND [ARGUMENTS]\n");
    for (name, _, line) in COMMANDS {
        println!("  {name:<10}  {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::asks_for_help;

    #[test]
    fn asking_a_command_for_help_does_not_start_it() {
        let ask = |name, argument: &str| asks_for_help(name, &[argument.into()]);
        assert!(ask("ci", "--help") && ask("reproduce", "-h"));
        assert!(!ask("tile", "--help"), "it has its own");
        assert!(!ask("artifacts", "--check"));
    }
}
