//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use tilekiln_chip::{ByteAddr, memory};
use tilekiln_isa::parse;

use super::setting::Setting;

/// Assembles a kernel and runs it on one simulated tile.
///
/// Exit code 0: the program came to its own end (workers exited, or the supervisor met `trap 0`);
/// 1: it stopped before; 2: it never ran.
#[derive(Parser, Debug)]
#[command(
    name = "cargo xtask tile",
    bin_name = "cargo xtask tile",
    max_term_width = 100
)]
pub struct Options {
    /// The source; .S goes through the C preprocessor as in the bake, anything else is taken as it
    /// is
    #[arg(value_name = "FILE.S", required_unless_present = "disassemble")]
    pub source: Option<PathBuf>,

    /// The label execution starts at, global or not [default: the first global one]
    #[arg(long, value_name = "LABEL")]
    pub entry: Option<String>,

    /// Where the program lies
    #[arg(long, value_name = "ADDR", default_value = "0x4c000", value_parser = org)]
    pub org: u32,

    /// Who executes it; a supervisor ends at `trap 0`, and finds one at $m10
    #[arg(long, value_enum, default_value_t = Part::Worker)]
    pub context: Part,

    /// How many workers run it: 1 or 6 [default: 1]
    #[arg(long, value_name = "N", value_parser = workers)]
    pub workers: Option<usize>,

    /// $m13 of the workers [default: 0]
    #[arg(long, value_name = "ADDR", value_parser = word)]
    pub vertex_base: Option<u32>,

    /// Sets a register: m0 to m11, a0 to a7, acc0 to acc31, cwei0 to cwei63 or CWEI_u_p, or a control
    /// register by name; `w3.` before it: of worker 3 alone. Values: numbers, 1.5h, 1.5f
    #[arg(long, value_name = "REG=VALUE", value_parser = Setting::parse)]
    pub set: Vec<Setting>,

    /// Fills memory from a file, or from hex digits after `hex:`; later ones win
    #[arg(long, value_name = "ADDR=FILE", value_parser = Load::parse)]
    pub mem: Vec<Load>,

    /// What to show, separated by commas: regs, csr, acc, cwei, cycles, mem:ADDR+LEN; memory as
    /// numbers with :f16, :f32 or :u32 behind it
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "regs,cycles",
          value_parser = Dump::parse)]
    pub dump: Vec<Dump>,

    /// Reports every instruction, one line each, on standard error
    #[arg(long)]
    pub trace: bool,

    /// Most instructions and execution bundles, all contexts together
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = number)]
    pub max_bundles: u64,

    /// Decides what memory and registers hold before anybody writes them
    #[arg(long, value_name = "N", value_parser = number)]
    pub fill_seed: Option<u64>,

    /// Stops where the documents leave a result open, instead of taking the assumed one
    #[arg(long)]
    pub strict: bool,

    /// Prints the report as JSON
    #[arg(long)]
    pub json: bool,

    /// Prints words as instructions instead: of files of little-endian words, or given in hex
    #[arg(long, value_name = "FILE|HEX", num_args = 1.., conflicts_with = "source")]
    pub disassemble: Vec<String>,

    /// Reads the words as the supervisor does
    #[arg(long, requires = "disassemble")]
    pub supervisor: bool,

    /// Prints text that assembles back to the same words
    #[arg(long, requires = "disassemble")]
    pub exact: bool,
}

/// Who executes the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// Workers.
    Worker,
    /// The supervisor.
    Supervisor,
}

/// Bytes to put into memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Load {
    /// Where.
    pub at: u32,
    /// What.
    pub from: From,
}

/// Where bytes come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum From {
    /// A file.
    File(PathBuf),
    /// The command line.
    Hex(Vec<u8>),
}

impl Load {
    fn parse(text: &str) -> Result<Self, String> {
        let (at, from) = text
            .split_once('=')
            .ok_or("expected ADDR=FILE or ADDR=hex:DIGITS")?;
        let from = match from.strip_prefix("hex:") {
            Some(digits) => From::Hex(hex_bytes(digits)?),
            None if from.is_empty() => return Err("names no file".to_owned()),
            None => From::File(PathBuf::from(from)),
        };
        Ok(Self {
            at: word(at)?,
            from,
        })
    }
}

/// Something to show after the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dump {
    /// Main and aux registers.
    Registers,
    /// Control and status registers.
    Control,
    /// Accumulators.
    Accumulators,
    /// Weights.
    Weights,
    /// Cycles, instructions and the workers' issue slots.
    Cycles,
    /// Memory.
    Memory {
        /// The first byte.
        at: u32,
        /// How many.
        bytes: u32,
        /// How to read them.
        format: Format,
    },
}

/// How bytes are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// As bytes, in hex.
    Bytes,
    /// As f16.
    Half,
    /// As f32.
    Single,
    /// As unsigned words.
    Word,
}

impl Format {
    /// Bytes of an element.
    pub const fn size(self) -> u32 {
        match self {
            Self::Bytes => 1,
            Self::Half => 2,
            Self::Single | Self::Word => 4,
        }
    }
}

impl Dump {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "regs" => Self::Registers,
            "csr" => Self::Control,
            "acc" => Self::Accumulators,
            "cwei" => Self::Weights,
            "cycles" => Self::Cycles,
            _ => {
                let range = text
                    .strip_prefix("mem:")
                    .ok_or("expected regs, csr, acc, cwei, cycles or mem:ADDR+LEN")?;
                return Self::memory(range);
            }
        })
    }

    /// `ADDR+LEN`, perhaps with a format behind it.
    fn memory(text: &str) -> Result<Self, String> {
        let (range, format) = match text.split_once(':') {
            None => (text, Format::Bytes),
            Some((range, "f16")) => (range, Format::Half),
            Some((range, "f32")) => (range, Format::Single),
            Some((range, "u32")) => (range, Format::Word),
            Some((_, other)) => return Err(format!("{other} is none of f16, f32, u32")),
        };
        let (at, bytes) = range.split_once('+').ok_or("expected mem:ADDR+LEN")?;
        let (at, bytes) = (word(at)?, word(bytes)?);
        if !memory::contains(ByteAddr(at), bytes) {
            return Err(format!(
                "{bytes} bytes at {at:#x} are not all in tile memory"
            ));
        }
        if !bytes.is_multiple_of(format.size()) {
            return Err(format!(
                "{bytes} bytes are no whole number of {}",
                format.size()
            ));
        }
        Ok(Self::Memory { at, bytes, format })
    }
}

/// A number of 64 bits: hex after `0x`, decimal, or an expression as the assembler reads it; `_` may
/// separate digits.
pub fn number(text: &str) -> Result<u64, String> {
    let plain = text.trim().replace('_', "");
    if let Some(digits) = plain.strip_prefix("0x")
        && let Ok(value) = u64::from_str_radix(digits, 16)
    {
        return Ok(value);
    }
    let value = parse::constant(&plain).map_err(|error| error.to_string())?;
    Ok(value.cast_unsigned())
}

/// A number of 32 bits; negative ones are taken modulo 2^32, and `1.5f` is a single.
pub fn word(text: &str) -> Result<u32, String> {
    if let Some(single) = text.strip_suffix('f')
        && !text.starts_with("0x")
        && let Ok(value) = single.parse::<f32>()
    {
        return Ok(value.to_bits());
    }
    let value = number(text)?;
    let low = value as u32;
    let sign_extended = i64::from(low.cast_signed()).cast_unsigned();
    if value == u64::from(low) || value == sign_extended {
        Ok(low)
    } else {
        Err(format!("{value:#x} has more than 32 bits"))
    }
}

/// Bytes from pairs of hex digits; blanks and `_` may stand between.
pub fn hex_bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '_')
        .collect();
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{} hex digits make no whole bytes", digits.len()));
    }
    let byte = |pair: &[char]| {
        let digit = |c: char| c.to_digit(16).ok_or_else(|| format!("{c} is no hex digit"));
        Ok((digit(pair[0])? << 4 | digit(pair[1])?) as u8)
    };
    digits.chunks(2).map(byte).collect()
}

/// An address that code may start at.
fn org(text: &str) -> Result<u32, String> {
    let at = word(text)?;
    // Repeat bodies start on 8 bytes, so code has to. [isa-encoding §6]
    if memory::is_executable(ByteAddr(at)) && at.is_multiple_of(8) {
        Ok(at)
    } else {
        let (low, high) = (memory::BASE.0, memory::INTERLEAVED.0);
        Err(format!(
            "{at:#x} is no multiple of 8 in executable memory, {low:#x} to {high:#x}"
        ))
    }
}

fn workers(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "6" => Ok(tilekiln_chip::WORKERS),
        _ => Err("expected 1 or 6".to_owned()),
    }
}
