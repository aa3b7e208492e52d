//! From a source file to a linked program, by the way of the bake.

use std::path::{Path, PathBuf};
use std::{env, fs};

use tilekiln_chip::memory;
use tilekiln_compiler::asm::{self, Mode, Source};
use tilekiln_compiler::image::{self, LinkInput, Linked};
use tilekiln_compiler::object::{Binding, Object, SectionKind, Symbol, SymbolKind, SymbolPlace};
use tilekiln_compiler::program;

use super::command::Refusal;
use super::options::{Options, Part};

/// What `$m10` of a supervisor points at, so that a kernel returns to its end.
pub const RETURN: &str = "tile_return";

const RETURN_TEXT: &str = "
    .section .text.tile_return, \"ax\"
    .supervisor
    .align 8
    .globl tile_return
tile_return:
    trap 0
";

/// A program with its places.
#[derive(Debug)]
pub struct Program {
    /// Its bytes, and where they came from.
    pub linked: Linked,
    /// The label execution starts at.
    pub entry: String,
    /// The complaints the source asked to be only warned about.
    pub warnings: Vec<String>,
}

/// Preprocesses, assembles and links the source of `options`.
///
/// # Errors
///
/// A [`Refusal`] with every complaint at `file:line:column`.
pub fn build(options: &Options) -> Result<Program, Refusal> {
    let path = options
        .source
        .as_deref()
        .ok_or_else(|| Refusal("name a source".to_owned()))?;
    let preprocessed = path.extension().is_some_and(|extension| extension == "S");
    let text = if preprocessed {
        preprocess(path)?
    } else {
        fs::read_to_string(path).map_err(|error| Refusal::of(path.display(), error))?
    };
    // What the preprocessor knows as -D, other sources know as symbols.
    let symbols = if preprocessed {
        Vec::new()
    } else {
        constants()
    };
    let mode = match options.context {
        Part::Worker => Mode::Worker,
        Part::Supervisor => Mode::Supervisor,
    };
    let source = Source {
        name: path.display().to_string(),
        text,
        symbols,
        mode,
    };
    let assembled =
        asm::assemble_with_warnings(&source).map_err(|errors| Refusal(errors.to_string()))?;
    let mut object = assembled.object;
    let entry = entry(&mut object, options.entry.as_deref())
        .map_err(|complaint| Refusal::of(path.display(), complaint))?;
    let linked = link(&object, &entry, options)?;
    let warnings = assembled.warnings.iter().map(ToString::to_string).collect();
    Ok(Program {
        linked,
        entry,
        warnings,
    })
}

/// Runs the C preprocessor as the bake does.
fn preprocess(path: &Path) -> Result<String, Refusal> {
    let host = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let mut build = cc::Build::new();
    build
        .cargo_metadata(false)
        .cargo_warnings(false)
        .debug(false)
        .no_default_flags(true);
    build.target(&host).host(&host).opt_level(0);
    for flag in program::PREPROCESSOR_FLAGS {
        build.flag(flag);
    }
    for (name, value) in program::defines() {
        build.define(&name, Some(value.as_str()));
    }
    build.include(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("device/kernels/include"));
    let compiler = build
        .try_get_compiler()
        .map_err(|error| Refusal::of("C compiler", error))?;
    let mut command = compiler.to_command();
    let output = command
        .arg("-E")
        .arg(path)
        .output()
        .map_err(|error| Refusal::of(compiler.path().display(), error))?;
    if !output.status.success() {
        // It has told where already.
        return Err(Refusal(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| Refusal::of(path.display(), error))
}

/// The preprocessor's constants as symbols.
fn constants() -> Vec<(String, i64)> {
    let value = |text: &str| tilekiln_isa::parse::constant(text).ok();
    program::defines()
        .into_iter()
        .filter_map(|(name, text)| Some((name, value(&text)?)))
        .collect()
}

/// Makes sure that the entry is a global label, and gives its name: the one asked for, or the first
/// global one, or the only way in of a source without any.
fn entry(object: &mut Object, asked: Option<&str>) -> Result<String, String> {
    let is_code = |symbol: &Symbol| match symbol.place {
        SymbolPlace::Section { section, .. } => object
            .sections
            .get(section)
            .is_some_and(|section| section.kind == SectionKind::Code),
        _ => false,
    };
    let found = match asked {
        Some(name) => {
            let found = object.symbols.iter().position(|symbol| symbol.name == name);
            Some(found.ok_or_else(|| format!("there is no label {name}"))?)
        }
        None => object
            .symbols
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.binding == Binding::Global && is_code(symbol))
            .min_by_key(|(_, symbol)| match symbol.place {
                SymbolPlace::Section { section, offset } => (section, offset),
                _ => (usize::MAX, u32::MAX),
            })
            .map(|(index, _)| index),
    };
    if let Some(index) = found {
        let symbol = &mut object.symbols[index];
        if symbol.place == SymbolPlace::Undefined {
            return Err(format!("{} is used, and not defined", symbol.name));
        }
        symbol.binding = Binding::Global;
        return Ok(symbol.name.clone());
    }
    let first = object
        .sections
        .iter()
        .position(|section| section.kind == SectionKind::Code && section.size > 0)
        .ok_or("there is no code")?;
    let name = "start of the code".to_owned();
    object.symbols.push(Symbol {
        name: name.clone(),
        place: SymbolPlace::Section {
            section: first,
            offset: 0,
        },
        size: 0,
        kind: SymbolKind::Function,
        binding: Binding::Global,
    });
    Ok(name)
}

fn link(object: &Object, entry: &str, options: &Options) -> Result<Linked, Refusal> {
    let end = Source {
        name: RETURN.to_owned(),
        text: RETURN_TEXT.to_owned(),
        symbols: Vec::new(),
        mode: Mode::Supervisor,
    };
    let end = asm::assemble(&end).map_err(|errors| Refusal(errors.to_string()))?;
    let is_supervisor = options.context == Part::Supervisor;
    let region = options.org..memory::INTERLEAVED.0;
    let input = LinkInput {
        objects: &[object, &end],
        entry,
        required: if is_supervisor { &[RETURN] } else { &[] },
        regions: core::slice::from_ref(&region),
        fixed: &[],
        symbols: &[],
    };
    image::link(&input).map_err(|error| Refusal(error.to_string()))
}
