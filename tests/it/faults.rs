//! One-bit changes behind the digests: a fixed list in which everything has its catcher, and a
//! sample in which nothing may slip through.

use std::collections::BTreeMap;

use tilekiln_bundle::format::Section;
use tilekiln_bundle::{Bundle, ReadError};
use tilekiln_compiler::plan::Kernel;

use crate::bake::{self, Program};
use crate::damage::Catcher::{
    self, Comparison, Driver, Harmless, Nobody, Reader, Simulator, TimeLimit,
};
use crate::damage::{Bit, PROGRAM, ROWS, SLOTS, Victim, WINDOW, bit_of, tile};

/// What came of a list of changes.
#[derive(Default)]
struct Outcome {
    surprises: Vec<String>,
    counts: BTreeMap<Catcher, usize>,
}

impl Outcome {
    fn note(&mut self, victim: &Victim, what: &str, at: Bit, want: Option<Catcher>) {
        let found = victim.change(at);
        *self.counts.entry(found.catcher).or_default() += 1;
        let expected = want.map_or(found.catcher != Nobody, |want| found.catcher == want);
        if !expected {
            self.surprises
                .push(format!("{what}: expected {want:?}, found {found}"));
        }
    }

    #[track_caller]
    #[expect(
        clippy::print_stdout,
        reason = "the counts are for whoever reads the test's output"
    )]
    fn judge(self, title: &str) {
        println!("{title}: {:?}", self.counts);
        let all = self.surprises.join("\n");
        assert!(
            self.surprises.is_empty(),
            "{title}: {} surprises\n{all}",
            self.surprises.len()
        );
    }
}

/// A bit of an operand of the first instruction of a mnemonic behind a symbol.
type KernelChange = (&'static str, &'static str, &'static str, u32, Catcher);

#[rustfmt::skip] // One change a line: the columns are the point.
const KERNEL_WORDS: &[KernelChange] = &[
    // behind                      mnemonic      operand    bit
    ("program",                     "setzi",      "imm",      0, Simulator),
    ("program",                     "sync",       "zone",     0, Simulator),
    ("program",                     "send",       "count_m1", 2, Simulator),
    ("barrier",                     "sync",       "zone",     2, Simulator),
    ("copy_worker",                 "shl",        "imm",      0, Simulator),
    ("copy_worker",                 "sub",        "src0",     0, TimeLimit),
    ("copy_worker",                 "ld64step",   "dst",      0, Simulator),
    ("copy_worker",                 "ld64step",   "stride",   2, Comparison),
    ("copy_worker",                 "st64step",   "stride",   2, Comparison),
    ("pack_left_worker",            "ld64step",   "stride",   0, Comparison),
    ("pack_left_worker",            "f16v2tof32", "src",      0, Comparison),
    ("pack_left_worker",            "f32v2mul",   "dst",      0, Simulator),
    ("pack_left_worker",            "f32v2tof16", "dst",      0, Comparison),
    ("pack_right_worker",           "ld64step",   "stride",   0, Comparison),
    ("pack_right_worker",           "st64",       "src",      0, Simulator),
    ("pack_right_worker",           "st64",       "off",      2, Comparison),
    ("pack_right_transposed_worker", "ld32step",  "dst",      0, Comparison),
    ("pack_right_transposed_worker", "ld32step",  "stride",   0, Comparison),
    ("gemm",                        "add",        "imm",      0, Comparison),
    ("gemm",                        "put",        "csr",      0, Simulator),
    ("gemm",                        "ld128putcs", "imm",      0, Simulator),
    ("gemm",                        "ld128putcs", "imm",      2, Comparison),
    ("gemm_first",                  "and",        "imm",      0, Comparison),
    ("softmax_worker",              "f16v4max",   "dst",      0, Simulator),
    ("softmax_worker",              "f16v4maxc",  "dst",      0, Comparison),
    ("softmax_worker",              "f16tof32",   "src",      0, Comparison),
    ("softmax_worker",              "f16v2sub",   "dst",      0, Comparison),
    ("merge_worker",                "ld64step",   "dst",      0, Simulator),
    ("merge_worker",                "f32sub",     "src1",     0, Comparison),
    ("merge_worker",                "f32exp",     "src",      0, Comparison),
    ("merge_worker",                "f32mul",     "src0",     0, Comparison),
];

#[test]
fn changes_of_kernel_words_are_caught_by_whom_they_should() {
    let victim = Victim::new();
    let mut outcome = Outcome::default();
    for &(symbol, mnemonic, operand, bit, want) in KERNEL_WORDS {
        let from = victim.symbol(tile(1), symbol);
        let at = victim.operand(tile(1), from, (mnemonic, 0), operand, bit);
        let what = format!("{symbol}, {mnemonic} {operand} bit {bit}");
        outcome.note(&victim, &what, at, Some(want));
    }
    outcome.judge("kernel words");
}

/// A bit of an operand of the n-th instruction of a mnemonic in a row of task 0.
type RowChange = (usize, &'static str, usize, &'static str, u32, Catcher);

#[rustfmt::skip] // One change a line: the columns are the point.
const ROW_WORDS: &[RowChange] = &[
    // phase, mnemonic, n-th, operand, bit
    (0, "delayxpic", 0, "count_m1", 0, Simulator),
    (0, "delayxpic", 0, "value",    1, Simulator),
    (0, "delay",     0, "count_m1", 0, Simulator),
    (0, "send",      0, "count_m1", 1, Simulator),
    (0, "send",      0, "addr",     0, Comparison),
    (0, "send",      0, "addr",     5, Comparison),
    (0, "send",      0, "ctl",      0, Simulator),
    (0, "sendpic",   0, "count_m1", 0, Simulator),
    (0, "sendpic",   0, "sel",      0, Simulator),
    (0, "sendpic",   0, "sel",      1, Simulator),
    (0, "sendpic",   0, "value",    0, Comparison),
    (0, "sendpic",   0, "value",    5, Comparison),
    (0, "sendoff",   0, "count_m1", 1, Simulator),
    (0, "sendoff",   0, "delta",    0, Simulator),
    (0, "sendpic",   1, "value",    0, Simulator),
    (0, "delayxpic", 1, "value",    0, Simulator),
    (0, "send",      1, "addr",     1, Comparison),
    (0, "br",        0, "src",      1, Simulator),
    (1, "delayxpic", 0, "value",    1, Simulator),
    (1, "delay",     0, "count_m1", 0, Simulator),
    (1, "send",      0, "addr",     0, Comparison),
    (1, "send",      0, "count_m1", 1, Simulator),
    (1, "sendpic",   0, "value",    1, Comparison),
];

#[test]
fn changes_of_row_words_are_caught_by_whom_they_should() {
    let victim = Victim::new();
    let rows = victim.segments(0, ROWS);
    let mut outcome = Outcome::default();
    for &(phase, mnemonic, nth, operand, bit, want) in ROW_WORDS {
        let at = victim.operand(tile(0), rows[phase].0, (mnemonic, nth), operand, bit);
        let what = format!("row {phase}, {mnemonic} {nth} {operand} bit {bit}");
        outcome.note(&victim, &what, at, Some(want));
    }
    outcome.judge("row words");
}

#[rustfmt::skip] // One change a line: the columns are the point.
const ARGUMENTS: &[(Kernel, usize, u32, u32, Catcher)] = &[
    // kernel, call, argument, bit
    (Kernel::Copy,                0, 0, 0, Simulator),
    (Kernel::Copy,                0, 1, 4, Comparison),
    (Kernel::PackLeft,            0, 3, 0, Comparison),
    (Kernel::PackLeft,            0, 4, 0, Comparison),
    (Kernel::PackLeft,            0, 5, 23, Comparison),
    (Kernel::PackRight,           0, 2, 0, Comparison),
    (Kernel::PackRight,           0, 3, 0, Comparison),
    (Kernel::PackRightTransposed, 0, 0, 4, Comparison),
    (Kernel::Gemm,                0, 2, 0, Simulator),
    (Kernel::Gemm,                0, 6, 0, Comparison),
    (Kernel::Gemm,                0, 8, 4, Comparison),
    (Kernel::Gemm,                1, 7, 0, Comparison),
    (Kernel::Mask,                0, 3, 0, Comparison),
    (Kernel::Softmax,             0, 3, 4, Comparison),
    (Kernel::Merge,               0, 2, 0, Comparison),
    (Kernel::Merge,               0, 7, 4, Comparison),
    (Kernel::Sample,              0, 0, 0, Simulator),
];

#[rustfmt::skip] // One change a line: the columns are the point.
const PACKETS: &[(usize, usize, u32, Catcher)] = &[
    // run of words in the window of task 0, word, bit
    (0, 0,  2, Simulator),
    (0, 1, 17, Simulator),
    (1, 0, 17, Simulator),
    (1, 1, 29, Simulator),
    (1, 5,  9, Comparison),
    (2, 0,  9, Simulator),
    (3, 1,  2, Simulator),
    (3, 1,  9, Comparison),
    (3, 2, 29, Simulator),
];

#[rustfmt::skip] // One change a line: the columns are the point.
const RECORDS: &[(Section, usize, usize, u32, Catcher)] = &[
    // section, record, word, bit
    (Section::Host,     0, 0, 31, Reader),     // bytes of the buffer
    (Section::Host,     0, 3,  4, TimeLimit),  // the command: the program never hears of its end
    (Section::Host,     0, 5,  4, Driver),     // where the completion word lies
    (Section::Phases,   0, 0,  1, Reader),     // a direction
    (Section::Phases,   1, 1, 31, Reader),     // more pages than tiles
    (Section::Bindings, 0, 0,  1, Reader),     // another tensor
    (Section::Bindings, 0, 1,  4, Comparison), // where rows start in the buffer
    (Section::Bindings, 0, 2,  1, Comparison), // from row to row there
    (Section::Bindings, 0, 3,  4, Reader),     // elements of a row
    (Section::Bindings, 0, 4,  1, Reader),     // rows
    (Section::Bindings, 0, 6,  4, Comparison), // the first element
    (Section::Bindings, 0, 8,  1, Comparison), // from row to row in the tensor
];

#[test]
fn changes_of_arguments_packets_and_host_tables_are_caught_by_whom_they_should() {
    let victim = Victim::new();
    let mut outcome = Outcome::default();
    for &(kernel, call, word, bit, want) in ARGUMENTS {
        let at = bit_of(victim.argument(1, kernel, call, word), bit);
        outcome.note(
            &victim,
            &format!("{kernel:?} {call}, word {word} bit {bit}"),
            at,
            Some(want),
        );
    }
    // The host port, and the words that a host phase brings.
    for (word, bit) in [(0, 0), (5, 0)] {
        let at = bit_of(victim.slot(1, word), bit);
        outcome.note(
            &victim,
            &format!("slot {word} bit {bit}"),
            at,
            Some(Simulator),
        );
    }
    let packets = victim.segments(0, WINDOW);
    for &(run, word, bit, want) in PACKETS {
        let at = bit_of(packets[run].1 + 4 * word, bit);
        outcome.note(
            &victim,
            &format!("packets {run}, word {word} bit {bit}"),
            at,
            Some(want),
        );
    }
    for &(section, record, word, bit, want) in RECORDS {
        let start = victim.bundle().section(section).start + record * section.record_bytes();
        let what = format!("{section} {record}, word {word} bit {bit}");
        outcome.note(&victim, &what, bit_of(start + 4 * word, bit), Some(want));
    }
    outcome.judge("arguments, packets and host tables");
}

/// The generator of Steele, Lea and Flood: equal samples everywhere.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) % count as u64) as usize
    }

    /// A bit of one of `places`, each a start and a length in the bundle.
    fn bit(&mut self, places: &[(usize, usize)]) -> Bit {
        let (start, bytes) = places[self.below(places.len())];
        Bit {
            byte: start + self.below(bytes),
            bit: self.below(8) as u8,
        }
    }
}

/// Slots without the word for `$FP_ICTL`: a bit of it chooses to round at random, which is as good a
/// result by all that a comparison can know.
fn without_rounding((start, bytes): (usize, usize)) -> [(usize, usize); 2] {
    [(start, 4), (start + 8, bytes - 8)]
}

/// Changes of each kind in the sample.
const SAMPLE: usize = 40;

#[test]
fn a_sample_of_changes_is_caught_or_leaves_every_bit() {
    let victim = Victim::new();
    let mut random = SplitMix64(0x7113);
    for (title, addresses) in [
        ("sampled programs and kernels", PROGRAM),
        ("sampled rows", ROWS),
        ("sampled packets", WINDOW),
        ("sampled slots", SLOTS),
    ] {
        let all = (0..4).flat_map(|task| victim.segments(task, addresses.clone()));
        let all = all.map(|(_, start, bytes)| (start, bytes));
        let places: Vec<_> = match addresses == SLOTS {
            true => all.flat_map(without_rounding).collect(),
            false => all.collect(),
        };
        sample(&victim, &mut random, title, &places);
    }
    let tables = [Section::Host, Section::Phases, Section::Bindings];
    let places = tables.map(|section| {
        let range = victim.bundle().section(section);
        (range.start, range.len())
    });
    sample(&victim, &mut random, "sampled host tables", &places);
}

#[track_caller]
fn sample(victim: &Victim, random: &mut SplitMix64, title: &str, places: &[(usize, usize)]) {
    let mut outcome = Outcome::default();
    for _ in 0..SAMPLE {
        let at = random.bit(places);
        outcome.note(victim, &format!("{at:?}"), at, None);
    }
    let noticed: usize = outcome
        .counts
        .iter()
        .filter(|(who, _)| **who != Harmless)
        .map(|(_, n)| n)
        .sum();
    assert!(
        noticed > SAMPLE / 3,
        "{title}: only {noticed} of {SAMPLE} do anything"
    );
    outcome.judge(title);
}

#[test]
fn a_bundle_with_one_flipped_byte_is_refused_by_digest() {
    let program = Program::new(&bake::file("one_tile.toml"));
    let whole = program.bundle.bytes();
    for byte in [64, 500, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.to_vec();
        bytes[byte] ^= 0x10;
        let refused = Bundle::parse(&bytes).map(|_| ());
        assert!(
            matches!(refused, Err(ReadError::Damaged { .. })),
            "byte {byte}: {refused:?}"
        );
    }
    let refused = Bundle::parse(&whole[..whole.len() - 1]).map(|_| ());
    assert!(
        matches!(refused, Err(ReadError::Length { .. })),
        "{refused:?}"
    );
}
