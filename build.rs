//! The shell around the compiler: reads the graph and the kernels, compiles, writes under OUT_DIR.
//!
//! It is silent on success. The report is a file, shown by `cargo xtask artifacts` and `tilekiln
//! inspect`; when the bake fails, the last good outputs stay as they are.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tilekiln_compiler::asm::{self, Mode, Source};
use tilekiln_compiler::object::Object;
use tilekiln_compiler::{Baked, CompileError, KernelObject, compile, program};

const KERNELS: &str = "device/kernels";

fn main() {
    if let Err(error) = run() {
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    println!("cargo::rerun-if-changed=build.rs");
    let expanded = out.join("kernels");
    fs::create_dir_all(&expanded)?;
    println!("cargo::rustc-env=TILEKILN_KERNELS={}", expanded.display());
    let kernels = kernels(&expanded)?;
    let graph = graph_file();
    let text = fs::read_to_string(&graph).map_err(|error| unread(&error, &graph))?;
    let baked = compile(&text, &kernels).map_err(|error| told(&error, &graph, &text))?;
    write(&out, &baked)?;
    #[cfg(feature = "bindgen")]
    bindings(&out.join("bake/uapi.rs"))?;
    Ok(())
}

/// The graph to bake: the checked-in one, or the one the user names.
fn graph_file() -> PathBuf {
    println!("cargo::rerun-if-env-changed=TILEKILN_GRAPH");
    let named = env::var_os("TILEKILN_GRAPH").filter(|name| !name.is_empty());
    let graph = named.map_or_else(|| "graph.toml".into(), PathBuf::from);
    println!("cargo::rerun-if-changed={}", graph.display());
    graph
}

/// Why there is no graph, and where it was looked for.
fn unread(error: &std::io::Error, graph: &Path) -> String {
    let folder = env::current_dir().unwrap_or_default();
    let place = folder.join(graph);
    format!(
        "{}: {error}\nTILEKILN_GRAPH names another graph, relative to {}",
        place.display(),
        folder.display()
    )
}

/// An error as a reader of the graph understands it.
fn told(error: &CompileError, graph: &Path, text: &str) -> String {
    error.render(&graph.display().to_string(), text)
}

/// Preprocesses every kernel and assembles it, or takes it from the cache.
fn kernels(expanded: &Path) -> Result<Vec<KernelObject>, Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=TILEKILN_KERNEL_CACHE");
    let cache = env::var_os("TILEKILN_KERNEL_CACHE").map_or_else(|| expanded.into(), PathBuf::from);
    for header in files(&Path::new(KERNELS).join("include"), "h")? {
        println!("cargo::rerun-if-changed={}", header.display());
    }
    let mut kernels = Vec::new();
    for file in files(Path::new(KERNELS), "S")? {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = preprocess(&file)?;
        replace(&expanded.join(format!("{name}.s")), text.as_bytes())?;
        let source = Source {
            name,
            text,
            symbols: Vec::new(),
            mode: Mode::Supervisor,
        };
        kernels.push(assemble(&cache, source)?);
    }
    Ok(kernels)
}

/// The files of `folder` that end in `extension`, by name.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs the C preprocessor: our include folder and the chip's constants, nothing of the host.
fn preprocess(file: &Path) -> Result<String, Box<dyn Error>> {
    let mut build = cc::Build::new();
    build
        .cargo_metadata(false)
        .cargo_warnings(false)
        .debug(false)
        .no_default_flags(true);
    for flag in program::PREPROCESSOR_FLAGS {
        build.flag(flag);
    }
    for (name, value) in program::defines() {
        build.define(&name, Some(value.as_str()));
    }
    build.include(Path::new(KERNELS).join("include"));
    let compiler = build.try_get_compiler()?;
    let missing = |error| format!("the C compiler {}: {error}", compiler.path().display());
    let mut command = compiler.to_command();
    let ran = command.arg("-E").arg(file).output().map_err(missing)?;
    if !ran.status.success() {
        // The preprocessor says where; how it was called helps nobody.
        return Err(String::from_utf8_lossy(&ran.stderr).into());
    }
    let told = |_| format!("{} is not UTF-8", file.display());
    Ok(String::from_utf8(ran.stdout).map_err(told)?)
}

/// Takes the object of `source` from the cache, or assembles it and puts it there. A cache that
/// cannot be written costs time, nothing else.
fn assemble(cache: &Path, source: Source) -> Result<KernelObject, Box<dyn Error>> {
    let key: String = asm::key(&source)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let file = cache.join(format!("{key}.o"));
    if let Some(object) = fs::read(&file)
        .ok()
        .and_then(|bytes| Object::from_bytes(&bytes).ok())
        .filter(|object| object.name == source.name)
    {
        return Ok(KernelObject {
            name: source.name,
            key,
            hit: true,
            object,
        });
    }
    let object = asm::assemble(&source).map_err(|errors| errors.to_string())?;
    let bytes = object.to_bytes()?;
    let kept = fs::create_dir_all(cache)
        .map_err(Into::into)
        .and_then(|()| replace(&file, &bytes));
    if let Err(error) = kept {
        println!("cargo::warning=kernel cache {}: {error}", cache.display());
    }
    Ok(KernelObject {
        name: source.name,
        key,
        hit: false,
        object,
    })
}

/// Writes all outputs of the bake.
fn write(out: &Path, baked: &Baked) -> Result<(), Box<dyn Error>> {
    let folder = out.join("bake");
    fs::create_dir_all(&folder)?;
    for (name, bytes) in &baked.files {
        replace(&folder.join(name), bytes)?;
    }
    replace(&folder.join("manifest.toml"), baked.manifest.as_bytes())?;
    replace(&folder.join("report.txt"), baked.report.as_bytes())?;
    replace(&folder.join("bundle.bin"), &baked.bundle)
}

/// Writes `bytes` under the final name only when all of them are written.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let part = path.with_extension(format!("part{}", std::process::id()));
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::write(&part, bytes)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| {
            let _ = fs::remove_file(&part);
            told(error).into()
        })
}

/// Generates the kernel module's records from our header.
#[cfg(feature = "bindgen")]
fn bindings(to: &Path) -> Result<(), Box<dyn Error>> {
    let header = "src/card/uapi.h";
    println!("cargo::rerun-if-changed={header}");
    let generated = bindgen::Builder::default()
        .header(header)
        .disable_header_comment()
        .raw_line("//! Codes and records of the kernel module's ioctls: `uapi.h` as Rust.")
        .raw_line("//!")
        .raw_line("//! Generated from `uapi.h` with `cargo xtask bindings` and checked in.")
        .raw_line(
            "#![allow(non_camel_case_types, reason = \"the names are those of the C header\")]",
        )
        .allowlist_type("ipu_.*")
        .prepend_enum_name(false)
        .layout_tests(true)
        .generate()?;
    replace(to, generated.to_string().as_bytes())
}
