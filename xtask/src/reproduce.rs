//! Bakes in two folders under different settings and compares the bundles, byte by byte.

use std::path::Path;

use xshell::{Shell, cmd};

use crate::{Outcome, artifacts};

/// Copies the working tree, not the last commit: what is checked is what stands here.
fn copy_tree(sh: &Shell, root: &Path, clone: &Path) -> Outcome {
    let files = cmd!(sh, "git ls-files --cached --others --exclude-standard").read()?;
    for file in files.lines().filter(|file| root.join(file).is_file()) {
        let to = clone.join(file);
        sh.create_dir(to.parent().unwrap_or(clone))?;
        sh.copy_file(root.join(file), to)?;
    }
    Ok(())
}

pub(crate) fn run(sh: &Shell, _: &[String]) -> Outcome {
    let here = sh.read_binary_file(artifacts::baked(sh)?.join("bundle.bin"))?;
    let elsewhere = sh.create_temp_dir()?;
    let clone = elsewhere.path().join("another place");
    let root = sh.current_dir();
    copy_tree(sh, &root, &clone)?;
    let _folder = sh.push_dir(&clone);
    let _home = sh.push_env("USER", "somebody-else");
    let _zone = sh.push_env("TZ", "Pacific/Auckland");
    let _language = sh.push_env("LANG", "de_DE.UTF-8");
    let _jobs = sh.push_env("CARGO_BUILD_JOBS", "1");
    let _target = sh.push_env("CARGO_TARGET_DIR", elsewhere.path().join("target"));
    let there = sh.read_binary_file(artifacts::baked(sh)?.join("bundle.bin"))?;
    if here != there {
        let at = here.iter().zip(&there).position(|(a, b)| a != b);
        return Err(format!(
            "the bundles differ: {} and {} bytes, first at {at:?}",
            here.len(),
            there.len()
        )
        .into());
    }
    println!("two bakes, {} equal bytes", here.len());
    Ok(())
}
