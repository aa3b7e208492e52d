//! What was decided, why, and how large it came out, as text without times.
//!
//! Every stage of a bake has its lines here. Equal bakes give equal reports: the report is a
//! section of the bundle, and `tilekiln inspect` shows it.

mod decisions;
mod gather;
mod sizes;

pub use gather::{Results, gather};

use crate::plan::{Plan, Step};

/// Everything the report is made from. What the plan does not know is told in plain numbers.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The chip's name.
    pub target: &'a str,
    /// One for each exchange step of the plan, in order.
    pub phases: &'a [PhaseFacts],
    /// The kernels, in the order of their names.
    pub kernels: &'a [KernelFacts],
    /// The linked texts that tiles share.
    pub images: &'a [ImageFacts],
    /// The tile with most bytes, if there are tiles.
    pub largest: Option<&'a TileFacts>,
    /// What the bundle holds; `None` inside it, where its size cannot be known.
    pub bundle: Option<&'a BundleFacts>,
    /// Digest and size of every stage's output, in the order of the stages.
    pub stages: &'a [StageFacts],
}

/// What came of one exchange phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseFacts {
    /// Events of the longest row.
    pub horizon: u32,
    /// Events that no schedule of these transfers stays below. [exchange §13.2]
    pub bound: u32,
    /// Words sent, a multicast counted once.
    pub sent: u64,
    /// Words received, by all receivers.
    pub received: u64,
    /// Controls written by all rows.
    pub controls: u64,
    /// Words of all rows.
    pub row_words: u64,
    /// Words of the longest row.
    pub longest_row: u32,
    /// Tiles that have a row.
    pub active_tiles: u32,
}

/// A kernel and where its object came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFacts {
    /// Its name.
    pub name: String,
    /// The key of its artifact, in hexadecimal.
    pub key: String,
    /// Whether the artifact was found; `None` where that must not matter: in the bundle itself.
    pub hit: Option<bool>,
    /// Bytes of its code and data.
    pub bytes: u64,
    /// Its symbols.
    pub symbols: usize,
}

/// A linked text that one or more tiles run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageFacts {
    /// What its tiles are called.
    pub name: String,
    /// Tiles that run it.
    pub tiles: usize,
    /// Where it starts.
    pub base: u32,
    /// Where its tiles start to run.
    pub entry: u32,
    /// Bytes of code and constants.
    pub bytes: u64,
    /// Symbols it defines.
    pub symbols: usize,
}

/// The bytes of one tile by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileFacts {
    /// Logical number.
    pub tile: u16,
    /// Code and constants shared with other tiles.
    pub code_bytes: u64,
    /// Exchange rows.
    pub row_bytes: u64,
    /// Arguments and counts.
    pub slot_bytes: u64,
    /// Host packets.
    pub packet_bytes: u64,
}

/// What the bundle holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BundleFacts {
    /// Bytes of the bundle before the report joined it.
    pub bytes: u64,
    /// Segments of all tiles.
    pub segments: usize,
    /// Distinct segments, each stored once.
    pub distinct_segments: usize,
    /// Bytes of all images as the loader sends them.
    pub image_bytes: u64,
}

/// The output of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageFacts {
    /// The stage.
    pub name: String,
    /// SHA-256 of its canonical form, in hexadecimal.
    pub digest: String,
    /// Bytes of its canonical form.
    pub bytes: u64,
}

/// The report of a bake.
pub fn report(facts: &Facts) -> String {
    let mut text = decisions(facts.plan, facts.target, facts.phases);
    sizes::write(&mut text, facts);
    text
}

/// The part of the report that the plan decides: what the sizes came to is left out.
pub fn decisions(plan: &Plan, target: &str, phases: &[PhaseFacts]) -> String {
    let mut text = String::new();
    decisions::write(&mut text, plan, target, phases);
    text
}

/// The familiar figures of a plan, derived from its shapes, in the order and under the names that
/// logs, JSON and reports use.
pub fn figures(plan: &Plan) -> Vec<(&'static str, u64)> {
    let a = &plan.attention;
    let heads = u64::from(a.batch) * u64::from(a.heads);
    let row = 2 * u64::from(a.head_dimension);
    let (query, key) = (u64::from(a.query_length), u64::from(a.key_length));
    let phases = plan
        .steps
        .iter()
        .filter(|step| matches!(step, Step::Exchange(_)))
        .count();
    vec![
        ("batch_size", u64::from(a.batch)),
        ("query_sequence_length", query),
        ("sequence_length", key),
        (
            "hidden_size",
            u64::from(a.heads) * u64::from(a.head_dimension),
        ),
        ("heads", u64::from(a.heads)),
        ("head_dimension", u64::from(a.head_dimension)),
        ("padded_head_dimension", u64::from(a.padded_head_dimension)),
        ("tasks", plan.tasks.len() as u64),
        ("query_block_rows", u64::from(a.query_block_rows)),
        ("key_block_rows", u64::from(a.key_block_rows)),
        ("key_splits", u64::from(a.key_splits)),
        ("exchange_phases", phases as u64),
        ("input_bytes", heads * row * (query + 2 * key)),
        ("output_bytes", heads * row * query),
    ]
}

/// Writes a line; a String takes whatever is written to it.
macro_rules! line {
    ($text:expr) => {
        $text.push('\n')
    };
    ($text:expr, $($rest:tt)*) => {{
        let written = std::fmt::Write::write_fmt($text, format_args!($($rest)*));
        debug_assert!(written.is_ok());
        $text.push('\n');
    }};
}
use line;

/// A count as a person reads it: digits in groups of three.
fn digits(count: u64) -> String {
    let plain = count.to_string();
    let mut text = String::new();
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!(digits(0), "0");
        assert_eq!(digits(999), "999");
        assert_eq!(digits(20_155_392), "20 155 392");
    }
}
