//! Bakes in two folders under different settings and compares the bundles, byte by byte.

use xshell::{Shell, cmd};

use crate::{Outcome, artifacts};

pub(crate) fn run(sh: &Shell, _: &[String]) -> Outcome {
    let here = sh.read_binary_file(artifacts::baked(sh)?.join("bundle.bin"))?;
    let elsewhere = sh.create_temp_dir()?;
    let clone = elsewhere.path().join("another place");
    let root = sh.current_dir();
    // The working tree, not the last commit: what is checked is what stands here.
    cmd!(sh, "git ls-files --cached --others --exclude-standard")
        .read()?
        .lines()
        .try_for_each(|file| {
            let from = root.join(file);
            if from.is_file() {
                sh.copy_file(from, clone.join(file))
            } else {
                Ok(())
            }
        })?;
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
