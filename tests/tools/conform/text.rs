//! `assemble.tsv`, `systematic.tsv`, `reject.tsv` and `disassemble.tsv`: text and words.
//!
//! Text goes through the assembler that builds the kernels, words through the printer of the
//! listings. A case for both contexts is tried in both.

use tilekiln_compiler::asm::{self, Source};
use tilekiln_compiler::object::SectionKind;
use tilekiln_isa::{Mode, print};

use super::tally::{BadFile, Tally, rows};

/// Text on the left, the words it must become on the right.
pub fn assemble(text: &str) -> Result<Tally, BadFile> {
    each(text, |tally, row, mode| {
        let got = assembled(row[0], mode).unwrap_or_else(|error| error);
        tally.compare(&format!("{} ({mode})", row[0]), &got.as_str(), &row[1]);
    })
}

/// Text that must be refused.
pub fn reject(text: &str) -> Result<Tally, BadFile> {
    each(text, |tally, row, mode| match assembled(row[0], mode) {
        Err(_) => tally.passed += 1,
        Ok(words) => {
            let why = row[1];
            tally.failures.push(format!(
                "{} ({mode}): got {words}, want an error: {why}",
                row[0]
            ));
        }
    })
}

/// Words on the left, the text they must print as on the right.
pub fn disassemble(text: &str) -> Result<Tally, BadFile> {
    each(text, |tally, row, mode| {
        let words: Result<Vec<u32>, _> = row[0]
            .split(' ')
            .map(|word| u32::from_str_radix(word, 16))
            .collect();
        let got = match words.as_deref() {
            Ok(&[first]) => print::words(first, None, mode).0,
            Ok(&[first, second]) => print::words(first, Some(second), mode).0,
            _ => "not one or two words".to_owned(),
        };
        tally.compare(&format!("{} ({mode})", row[0]), &got.as_str(), &row[1]);
    })
}

/// Calls `check` for each case in each of its contexts, which the third column names after a `/`.
fn each(text: &str, check: impl Fn(&mut Tally, &[&str], Mode)) -> Result<Tally, BadFile> {
    let mut tally = Tally::default();
    for row in rows(text, 3)? {
        let (architecture, context) = row[2].split_once('/').unwrap_or(("all", row[2]));
        let modes: &[Mode] = match context {
            "worker" => &[Mode::Worker],
            "supervisor" => &[Mode::Supervisor],
            "both" => &[Mode::Worker, Mode::Supervisor],
            other => return Err(BadFile(format!("`{other}` is no context"))),
        };
        if !["all", "ipu2+", "ipu21"].contains(&architecture) {
            tally.skipped += 1;
            continue;
        }
        for mode in modes {
            check(&mut tally, &row, *mode);
        }
    }
    Ok(tally)
}

/// The words of `text` as the assembler makes them, in hex; or its complaints on one line.
fn assembled(text: &str, mode: Mode) -> Result<String, String> {
    let source = Source {
        name: "vector".to_owned(),
        // A single `rpt` has no body, which only matters to a whole program.
        text: format!(".allow_invalid_repeat\n{text}\n"),
        symbols: Vec::new(),
        mode,
    };
    let object =
        asm::assemble(&source).map_err(|errors| errors.to_string().replace('\n', " / "))?;
    let code = object
        .sections
        .iter()
        .filter(|section| section.kind == SectionKind::Code);
    let bytes: Vec<u8> = code
        .clone()
        .flat_map(|section| section.bytes.clone())
        .collect();
    if let Some(patch) = code.flat_map(|section| &section.relocations).next() {
        return Err(format!("a relocation at byte {}", patch.offset));
    }
    let word = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    Ok(bytes.chunks(4).map(word).collect::<Vec<String>>().join(" "))
}
