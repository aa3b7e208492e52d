//! `--disassemble`: words as text.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tilekiln_isa::{Mode, decode, print};

use super::command::Refusal;
use super::options::{Options, hex_bytes};

/// The words of `options` as text, one instruction or execution bundle a line. Addresses count from
/// `--org`.
///
/// # Errors
///
/// A [`Refusal`] when an argument is neither a file of whole words nor words in hex.
pub fn disassemble(options: &Options) -> Result<String, Refusal> {
    let mode = if options.supervisor {
        Mode::Supervisor
    } else {
        Mode::Worker
    };
    let mut words = Vec::new();
    for argument in &options.disassemble {
        words.extend(read(argument).map_err(|error| Refusal::of(argument, error))?);
    }
    let mut out = String::new();
    let mut rest = &words[..];
    while let Some(first) = rest.first() {
        let second = rest.get(1).copied();
        let (text, count) = line(*first, second, mode, options.exact);
        let (now, later) = rest.split_at(count.min(rest.len()));
        let at = u64::from(options.org) + 4 * (words.len() - rest.len()) as u64;
        let raw: Vec<String> = now.iter().map(|word| format!("{word:08x}")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{at:#07x}  {:<17}  {text}", raw.join(" "));
        rest = later;
    }
    Ok(out)
}

/// The text of the code at `first`, and its words.
fn line(first: u32, second: Option<u32>, mode: Mode, exact: bool) -> (String, usize) {
    if !exact {
        let (text, bytes) = print::words(first, second, mode);
        return (text, bytes as usize / 4);
    }
    match decode::read(first, second, mode) {
        Ok(read) => (print::exact(&read, mode), read.bytes() as usize / 4),
        Err(_) => (format!(".word {first:#010x}"), 1),
    }
}

/// The words of one argument: a file, or eight hex digits a word, perhaps after `0x`, separated by
/// blanks or commas or not at all.
fn read(argument: &str) -> Result<Vec<u32>, String> {
    if Path::new(argument).is_file() {
        let bytes = fs::read(argument).map_err(|error| error.to_string())?;
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(format!("{} bytes are no whole words", bytes.len()));
        }
        return Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect());
    }
    let mut words = Vec::new();
    for piece in argument
        .split([' ', ',', '\n', '\t'])
        .filter(|piece| !piece.is_empty())
    {
        let digits = piece.strip_prefix("0x").unwrap_or(piece);
        let bytes = hex_bytes(digits).map_err(|error| format!("no file, and {error}"))?;
        let (chunks, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || chunks.is_empty() {
            return Err(format!(
                "no file, and {} hex digits are no whole words",
                digits.len()
            ));
        }
        words.extend(chunks.iter().map(|word| u32::from_be_bytes(*word)));
    }
    Ok(words)
}
