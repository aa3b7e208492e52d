//! Builds release, checks the manifest, verifies on a card, and keeps the report.

use xshell::{Shell, cmd};

use crate::{Outcome, artifacts};

pub(crate) fn run(sh: &Shell, arguments: &[String]) -> Outcome {
    artifacts::run(sh, &["--check".into()])?;
    cmd!(sh, "cargo build --release --locked --quiet").run()?;
    let runner = sh
        .current_dir()
        .join("target/x86_64-unknown-linux-gnu/release/tilekiln");
    let report = cmd!(sh, "{runner} verify --json {arguments...}")
        .ignore_status()
        .output()?;
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    sh.create_dir("artifacts/out")?;
    sh.write_file("artifacts/out/verify.json", &text)?;
    println!("{text}");
    if !report.status.success() {
        let told = String::from_utf8_lossy(&report.stderr);
        return Err(format!("verification ended with {}: {told}", report.status).into());
    }
    Ok(())
}
