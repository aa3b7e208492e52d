//! Starts the tools that live where compiler and simulator may meet: examples of the root package.

use xshell::{Shell, cmd};

use crate::Outcome;

/// Checks vector files in the golden formats.
pub(crate) fn conform(sh: &Shell, files: &[String]) -> Outcome {
    if files.is_empty() {
        return Err("name at least one vector file".into());
    }
    cmd!(sh, "cargo run --locked --quiet --example conform -- {files...}").run()?;
    Ok(())
}

/// Assembles a source and runs it on one simulated tile.
pub(crate) fn tile(sh: &Shell, arguments: &[String]) -> Outcome {
    cmd!(sh, "cargo run --locked --quiet --example tile -- {arguments...}").run()?;
    Ok(())
}

/// Runs the benches, which live next to the crates they measure.
pub(crate) fn bench(sh: &Shell, arguments: &[String]) -> Outcome {
    cmd!(sh, "cargo bench --locked --workspace --benches -- {arguments...}").run()?;
    Ok(())
}
