//! Texts for a reader: programs, maps, disassembly, exchange rows.

use std::fmt::Write as _;

use tilekiln_isa::{Mode, print};

use crate::image::Linked;
use crate::schedule::{Phase, Schedule};

use super::Parts;

/// Program, map and disassembly of every class, and the rows of every phase, by file name.
pub(super) fn files(parts: &Parts<'_>, schedule: &Schedule) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (index, class) in parts.programs.classes.iter().enumerate() {
        let linked = &parts.images.classes[index];
        let head = format!("# class {index}: {}\n", class.name);
        files.push((format!("class-{index}.s"), class.text.clone().into_bytes()));
        files.push((
            format!("class-{index}.map"),
            (head.clone() + &map(linked)).into_bytes(),
        ));
        files.push((
            format!("class-{index}.lst"),
            (head + &disassembly(linked)).into_bytes(),
        ));
        // An image that ELF cannot tell is still listed; the bundle does not need the file.
        files.extend(
            linked
                .to_elf()
                .ok()
                .map(|bytes| (format!("class-{index}.elf"), bytes)),
        );
    }
    for (index, phase) in schedule.phases.iter().enumerate() {
        files.push((format!("rows-{index}.lst"), rows(phase).into_bytes()));
    }
    files
}

/// Symbols by address.
fn map(linked: &Linked) -> String {
    let mut text = String::new();
    for symbol in &linked.symbols {
        let _ = writeln!(
            text,
            "{:#x} {:6} {}",
            symbol.address, symbol.size, symbol.name
        );
    }
    text
}

/// Every word with its symbol and source line.
fn disassembly(linked: &Linked) -> String {
    let mut text = String::new();
    for segment in &linked.segments {
        let mut words = segment.bytes.chunks_exact(4).map(word).peekable();
        let mut at = segment.address;
        while let Some(first) = words.next() {
            for symbol in linked.symbols.iter().filter(|symbol| symbol.address == at) {
                let _ = writeln!(text, "{}:", symbol.name);
            }
            let (line, bytes) = print::words(first, words.peek().copied(), Mode::Worker);
            let source = linked
                .origin(at)
                .map(|origin| format!("{}:{}", origin.file, origin.line));
            let second = if bytes == 8 { words.next() } else { None };
            let second = second.map_or_else(String::new, |word| format!(" {word:08x}"));
            let source = source.unwrap_or_default();
            let _ = writeln!(text, "{at:#x} {first:08x}{second:9} {line:60} {source}");
            at += bytes;
        }
    }
    text
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The rows of a phase, tile by tile.
fn rows(phase: &Phase) -> String {
    let mut text = format!("# horizon {}\n", phase.horizon);
    for row in &phase.rows {
        let _ = writeln!(text, "{}: {}", row.tile, row.events);
        let mut words = row.words.iter().copied().peekable();
        while let Some(first) = words.next() {
            let (line, bytes) = print::words(first, words.peek().copied(), Mode::Supervisor);
            let second = if bytes == 8 { words.next() } else { None };
            let second = second.map_or_else(String::new, |word| format!(" {word:08x}"));
            let _ = writeln!(text, "  {first:08x}{second:9} {line}");
        }
    }
    text
}
