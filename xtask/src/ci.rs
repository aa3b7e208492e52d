//! Everything a change must pass, cheapest first, on two cores.

use std::time::Instant;

use xshell::{Shell, cmd};

use crate::{Outcome, artifacts, bindings, reproduce, tidy, tools};

/// Most bytes of the release runner with the blob of the checked-in graph.
const RUNNER_BYTES_MAX: u64 = 16 << 20;

/// A step: what it is called and what it does.
type Step = (&'static str, fn(&Shell) -> Outcome);

const STEPS: &[Step] = &[
    (
        "format",
        |sh| Ok(cmd!(sh, "cargo fmt --all --check").run()?),
    ),
    ("tidy", |sh| tidy::run(sh, &[])),
    ("lints", lints),
    ("features", features),
    ("tests", |sh| {
        Ok(cmd!(sh, "cargo test --workspace --locked --quiet").run()?)
    }),
    ("docs", docs),
    ("manifest", |sh| artifacts::run(sh, &["--check".into()])),
    ("bindings", |sh| bindings::run(sh, &["--check".into()])),
    ("conform", conform),
    ("release", release),
    ("reproduce", |sh| reproduce::run(sh, &[])),
];

pub(crate) fn run(sh: &Shell, _: &[String]) -> Outcome {
    let begin = Instant::now();
    for (name, step) in STEPS {
        println!("== {name}");
        let start = Instant::now();
        step(sh).map_err(|error| format!("{name}: {error}"))?;
        println!("== {name} took {:.0} s", start.elapsed().as_secs_f64());
    }
    println!(
        "ci: {} steps in {:.0} s",
        STEPS.len(),
        begin.elapsed().as_secs_f64()
    );
    println!("{} passed, 0 failed", STEPS.len());
    Ok(())
}

fn lints(sh: &Shell) -> Outcome {
    cmd!(
        sh,
        "cargo clippy --workspace --all-targets --locked --quiet -- -D warnings"
    )
    .run()?;
    Ok(())
}

/// Features one by one, and the sentence that stops a build without any.
fn features(sh: &Shell) -> Outcome {
    for feature in ["hw", "sim"] {
        cmd!(
            sh,
            "cargo check --locked --quiet --no-default-features --features {feature}"
        )
        .run()?;
    }
    let none = cmd!(sh, "cargo check --locked --quiet --no-default-features").ignore_status();
    let text = String::from_utf8_lossy(&none.output()?.stderr).into_owned();
    if !text.contains("pick feature") {
        return Err("a build without features does not say which to pick".into());
    }
    Ok(())
}

fn docs(sh: &Shell) -> Outcome {
    let _strict = sh.push_env("RUSTDOCFLAGS", "-D warnings");
    cmd!(sh, "cargo doc --workspace --no-deps --locked --quiet").run()?;
    Ok(())
}

/// The golden files of the specification, where it lies beside the project.
fn conform(sh: &Shell) -> Outcome {
    let golden = sh.current_dir().join("../shared/spec/golden");
    if !golden.is_dir() {
        println!("no specification beside the project; its golden files are skipped");
        return Ok(());
    }
    let names = [
        "assemble.tsv",
        "disassemble.tsv",
        "reject.tsv",
        "systematic.tsv",
        "route-timing.tsv",
        "exchange-rows.json",
        "host-exchange.json",
    ];
    let files: Vec<String> = names
        .iter()
        .map(|name| golden.join(name).display().to_string())
        .collect();
    tools::conform(sh, &files)
}

/// The product: what it links, how large it is, what it contains, and whether it works.
fn release(sh: &Shell) -> Outcome {
    cmd!(sh, "cargo build --release --locked --quiet").run()?;
    let runner = sh
        .current_dir()
        .join("target/x86_64-unknown-linux-gnu/release/tilekiln");
    let bytes = std::fs::metadata(&runner)?.len();
    println!("runner: {bytes} bytes");
    if bytes > RUNNER_BYTES_MAX {
        return Err(
            format!("the runner has {bytes} bytes; {RUNNER_BYTES_MAX} is the limit").into(),
        );
    }
    let linked = cmd!(sh, "ldd {runner}").ignore_status().output()?;
    let told = [linked.stdout, linked.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    if !told.contains("statically linked") && !told.contains("not a dynamic executable") {
        return Err(format!("the runner is linked dynamically: {told}").into());
    }
    cmd!(sh, "{runner} verify").run()?;
    Ok(())
}
