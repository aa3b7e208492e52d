//! What the bake made: shown in `artifacts/out`, promised in `artifacts/manifest.toml`.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::Outcome;

/// The checked-in promise.
const MANIFEST: &str = "artifacts/manifest.toml";

pub(crate) fn run(sh: &Shell, arguments: &[String]) -> Outcome {
    let bake = baked(sh)?;
    let made = sh.read_file(bake.join("manifest.toml"))?;
    match arguments.first().map(String::as_str) {
        Some("--bless") => Ok(sh.write_file(MANIFEST, made)?),
        Some("--check") => check(sh, &made),
        Some(other) => Err(format!("no option {other}; --bless or --check").into()),
        None => copy(sh, &bake),
    }
}

/// Bakes, and finds the folder the build script left its outputs in.
pub(crate) fn baked(sh: &Shell) -> Result<PathBuf, Box<dyn std::error::Error>> {
    baked_with(sh, &[])
}

/// The same with `options` for Cargo.
pub(crate) fn baked_with(
    sh: &Shell,
    options: &[&str],
) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let check = cmd!(
        sh,
        "cargo check --locked --quiet --message-format=json {options...}"
    );
    let messages = check.read()?;
    let mark = "\"out_dir\":\"";
    let line = messages
        .lines()
        .filter(|line| line.contains("build-script-executed"))
        .find(|line| line.contains("#tilekiln@") || line.contains("/tilekiln#"))
        .ok_or("cargo did not report the build script of tilekiln")?;
    let from = line.find(mark).ok_or("cargo reported no out_dir")? + mark.len();
    let rest = &line[from..];
    let out = &rest[..rest.find('"').ok_or("cargo reported half an out_dir")?];
    Ok(Path::new(out).join("bake"))
}

/// Compares the promise with what was baked, stage by stage.
fn check(sh: &Shell, made: &str) -> Outcome {
    let promised = sh.read_file(MANIFEST)?;
    let first = promised
        .lines()
        .zip(made.lines())
        .find(|(old, new)| old != new);
    match first {
        None if promised == made => Ok(()),
        None => Err(format!("{MANIFEST} has another number of lines; cargo xtask artifacts --bless").into()),
        Some((old, new)) => Err(format!(
            "{MANIFEST} is stale\n  promised  {old}\n  baked     {new}\ncargo xtask artifacts --bless renews it"
        )
        .into()),
    }
}

fn copy(sh: &Shell, bake: &Path) -> Outcome {
    let out = sh.current_dir().join("artifacts/out");
    sh.remove_path(&out)?;
    sh.create_dir(&out)?;
    for file in sh.read_dir(bake)? {
        sh.copy_file(&file, out.join(file.file_name().unwrap_or_default()))?;
    }
    println!("{}", out.display());
    Ok(())
}
