//! Starts the tools that live where compiler and simulator may meet: examples of the root package.

use std::env;
use std::process::Command;

use xshell::{Shell, cmd};

use crate::Outcome;

/// Checks vector files in the golden formats.
pub(crate) fn conform(sh: &Shell, files: &[String]) -> Outcome {
    if files.is_empty() {
        return Err("name at least one vector file".into());
    }
    cmd!(
        sh,
        "cargo run --locked --quiet --example conform -- {files...}"
    )
    .run()?;
    Ok(())
}

/// Assembles a source and runs it on one simulated tile. Files are looked for where the user stands,
/// and the tool's exit code is ours.
pub(crate) fn tile(_sh: &Shell, arguments: &[String]) -> Outcome {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--locked", "--quiet", "--manifest-path", manifest])
        .args(["--example", "tile", "--"])
        .args(arguments)
        .status()?;
    match status.code() {
        Some(0) => Ok(()),
        // The tool has said why.
        Some(code) => std::process::exit(code),
        None => Err(format!("the tile tool ended with {status}").into()),
    }
}

/// Runs the benches, which live next to the crates they measure.
pub(crate) fn bench(sh: &Shell, arguments: &[String]) -> Outcome {
    cmd!(
        sh,
        "cargo bench --locked --workspace --benches -- {arguments...}"
    )
    .run()?;
    Ok(())
}
