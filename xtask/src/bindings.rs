//! The kernel module's records, generated from our own header.

use xshell::{Shell, cmd};

use crate::{Outcome, artifacts};

const BINDINGS: &str = "src/card/uapi.rs";

pub(crate) fn run(sh: &Shell, arguments: &[String]) -> Outcome {
    let check = arguments
        .first()
        .is_some_and(|argument| argument == "--check");
    if !libclang(sh) {
        let told = "libclang is not installed; the checked-in bindings stay as they are";
        println!("{told}");
        return if check { Ok(()) } else { Err(told.into()) };
    }
    let bake = artifacts::baked_with(sh, &["--features", "bindgen"])?;
    let made = sh.read_file(bake.join("uapi.rs"))?;
    if !check {
        return Ok(sh.write_file(BINDINGS, made)?);
    }
    if sh.read_file(BINDINGS)? == made {
        return Ok(());
    }
    Err(format!("{BINDINGS} is stale; cargo xtask bindings renews it").into())
}

/// Whether bindgen would find its library.
fn libclang(sh: &Shell) -> bool {
    let cached = cmd!(sh, "ldconfig -p")
        .quiet()
        .ignore_stderr()
        .read()
        .unwrap_or_default();
    let found = |line: &str| line.contains("libclang.so") || line.contains("libclang-1");
    cached.lines().any(found) || std::env::var_os("LIBCLANG_PATH").is_some()
}
