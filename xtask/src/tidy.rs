//! The arrows between crates as data, file sizes, and what must not stand in the code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::Outcome;

/// A crate and everything it may name as an ordinary dependency, with all its features.
#[rustfmt::skip] // One crate a line.
const ARROWS: &[(&str, &[&str])] = &[
    ("tilekiln-chip",     &[]),
    ("tilekiln-isa",      &["tilekiln-chip"]),
    ("tilekiln-bundle",   &["tilekiln-chip", "sha2", "thiserror"]),
    ("tilekiln-compiler", &["tilekiln-chip", "tilekiln-isa", "tilekiln-bundle", "toml", "object", "annotate-snippets", "strsim", "thiserror"]),
    ("tilekiln-sim",      &["tilekiln-chip", "tilekiln-isa", "half", "libm", "rayon", "tracing", "thiserror"]),
    ("tilekiln",          &["tilekiln-chip", "tilekiln-bundle", "tilekiln-sim", "clap", "ctrlc", "half", "indicatif", "libm", "npyz", "thiserror", "tracing", "tracing-subscriber"]),
    ("xtask",             &["xshell"]),
];

/// Lines a file may have; a longer one is two ideas or a table.
const LINES_MAX: usize = 500;

/// Text no source may contain, in pieces so that this file passes.
const FORBIDDEN: &[&[&str]] = &[
    &["to", "do!("],
    &["unimpl", "emented!("],
    &["#[ig", "nore"],
    &["db", "g!("],
    &["FIX", "ME"],
];

pub(crate) fn run(sh: &Shell, _: &[String]) -> Outcome {
    let mut faults = Vec::new();
    for (name, allowed) in ARROWS {
        arrows(sh, name, allowed, &mut faults)?;
    }
    no_compiler_in_the_runner(sh, &mut faults)?;
    for file in sources(&sh.current_dir())? {
        source(&sh.current_dir(), &file, &mut faults)?;
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("{} faults\n  {}", faults.len(), faults.join("\n  ")).into())
}

/// Ordinary dependencies of `name` that its line does not allow.
fn arrows(sh: &Shell, name: &str, allowed: &[&str], faults: &mut Vec<String>) -> Outcome {
    let tree = cmd!(
        sh,
        "cargo tree --locked --quiet -p {name} -e normal --depth 1 --prefix none --all-features"
    );
    let direct: BTreeSet<String> = tree
        .read()?
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    let stray = direct
        .iter()
        .filter(|found| !allowed.contains(&found.as_str()));
    faults
        .extend(stray.map(|found| format!("{name} depends on {found}, an arrow not in the table")));
    Ok(())
}

/// Invariant 1: no TOML, no scheduler, no linker in the program that ships.
fn no_compiler_in_the_runner(sh: &Shell, faults: &mut Vec<String>) -> Outcome {
    let tree = cmd!(
        sh,
        "cargo tree --locked --quiet -p tilekiln -e normal --prefix none"
    )
    .read()?;
    for name in ["tilekiln-compiler ", "toml ", "object "] {
        if tree.lines().any(|line| line.starts_with(name)) {
            faults.push(format!("the runner contains {name}"));
        }
    }
    Ok(())
}

/// All Rust, tile and header sources, sorted.
fn sources(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | ".git" | "out") {
                    folders.push(path);
                }
            } else if [".rs", ".S", ".h"].iter().any(|end| name.ends_with(end)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn source(root: &Path, file: &Path, faults: &mut Vec<String>) -> Outcome {
    let text = std::fs::read_to_string(file)?;
    let shown = file.strip_prefix(root).unwrap_or(file).display();
    let lines = text.lines().count();
    if lines > LINES_MAX {
        faults.push(format!(
            "{shown} has {lines} lines; {LINES_MAX} is the limit"
        ));
    }
    for (number, line) in text.lines().enumerate() {
        let later = ["TO", "DO"].concat();
        if line.contains(&later) && !line.contains(&format!("{later}(#")) {
            faults.push(format!(
                "{shown}:{} has a {later} without an issue",
                number + 1
            ));
        }
        for word in FORBIDDEN {
            if line.contains(&word.concat()) {
                faults.push(format!("{shown}:{} contains {}", number + 1, word.concat()));
            }
        }
        let block = ["uns", "afe {"].concat();
        if line.contains(&block) && !file.ends_with("src/card/real_card.rs") {
            faults.push(format!(
                "{shown}:{} is outside the one file that may be unsafe",
                number + 1
            ));
        }
    }
    Ok(())
}
