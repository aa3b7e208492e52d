//! `tile-programs.jsonl`: small programs on one simulated tile. [tile-programs]

#[path = "../../../device/sim/tests/programs/case.rs"]
mod case;
#[path = "../../../device/sim/tests/programs/compare.rs"]
mod compare;

use case::{Case, Outcome};
use tilekiln_chip::assumed;
use tilekiln_compiler::asm::{self, Mode, Source};
use tilekiln_compiler::image::{self, LinkInput};
use tilekiln_sim::settings::Settings;

use super::tally::{BadFile, Tally};

/// Fillings of everything unwritten; no result may depend on them.
const SEEDS: [u64; 2] = [1, 0xdead_beef_0bad_cafe];

/// The section and the symbol a case's text is put under.
const SECTION: &str = ".text.case";
const ENTRY: &str = "case_entry";

/// Runs each case with every filling, lenient and strict.
///
/// Where a case rests on an assumption, a strict simulator may call it undefined.
pub fn check(text: &str) -> Result<Tally, BadFile> {
    let mut tally = Tally::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case = Case::parse(line).map_err(BadFile::new)?;
        let words = case.words().unwrap_or_else(|| assemble(&case));
        match words.and_then(|words| failure(&case, &words).map_or(Ok(()), Err)) {
            Ok(()) => tally.passed += 1,
            Err(complaint) => tally.failures.push(format!("{}: {complaint}", case.id)),
        }
    }
    Ok(tally)
}

/// What some run of the case does differently.
fn failure(case: &Case, words: &[u32]) -> Option<String> {
    let runs = SEEDS
        .into_iter()
        .flat_map(|seed| [(seed, false), (seed, true)]);
    runs.into_iter().find_map(|(fill_seed, strict)| {
        let settings = Settings {
            fill_seed,
            strict,
            ..Settings::default()
        };
        match case.run(words, &settings) {
            Outcome::Passed => None,
            Outcome::Undefined(_) if strict => None,
            Outcome::Undefined(what) => Some(format!("undefined although lenient: {what}")),
            Outcome::Failed(complaint) => Some(complaint),
        }
    })
}

/// The words of a case whose operand codes are ours to choose.
fn assemble(case: &Case) -> Result<Vec<u32>, String> {
    let head = format!(".section {SECTION}, \"ax\"\n.align 8\n.globl {ENTRY}\n{ENTRY}:\n");
    let codes = assumed::CODES.iter();
    let source = Source {
        name: case.id.clone(),
        text: head + case.source() + "\n",
        symbols: codes
            .map(|code| (code.name.to_owned(), i64::from(code.value)))
            .collect(),
        mode: if case.is_supervisor() {
            Mode::Supervisor
        } else {
            Mode::Worker
        },
    };
    let object = asm::assemble(&source).map_err(|errors| errors.to_string())?;
    let org = case.org()?;
    let input = LinkInput {
        objects: &[&object],
        entry: ENTRY,
        required: &[],
        regions: &[],
        fixed: &[(SECTION, org)],
        symbols: &[],
    };
    let linked = image::link(&input).map_err(|error| error.to_string())?;
    let [segment] = &linked.segments[..] else {
        return Err("not one segment".to_owned());
    };
    let words = segment.bytes.chunks_exact(4);
    Ok(words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect())
}
