//! The phases of `golden/phases.txt` and `golden/phases-own.txt`: what each moves, the rows that do it, and what they must leave.

use std::collections::BTreeMap;

use tilekiln_chip::{ByteAddr, PhysTile, TileId};
use tilekiln_sim::exchange::Fault;
use tilekiln_sim::exchange::rows::{RowProblem, RowRun, TileRow, run_rows};
use tilekiln_sim::settings::Settings;

#[derive(Clone, Debug)]
struct Move {
    source: PhysTile,
    address: u32,
    words: u32,
    to: Vec<(PhysTile, u32)>,
}

#[derive(Clone, Debug, Default)]
pub struct Phase {
    pub name: String,
    pub events: u32,
    moves: Vec<Move>,
    pub rows: Vec<(TileRow, u32)>,
}

fn number(text: &str) -> u32 {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .expect("the golden file holds numbers here")
}

fn tile(text: &str) -> PhysTile {
    TileId::new(number(text) as u16)
        .expect("the golden file names tiles")
        .physical()
}

pub fn phases() -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let (reference, own) = (
        include_str!("../golden/phases.txt"),
        include_str!("../golden/phases-own.txt"),
    );
    for line in reference.lines().chain(own.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["phase", name, events] => phases.push(Phase {
                name: name.to_owned(),
                events: number(events),
                ..Phase::default()
            }),
            ["move", source, address, count, _, ref to @ ..] => {
                let to = to
                    .chunks(3)
                    .map(|to| (tile(to[1]), number(to[2])))
                    .collect();
                let (source, address) = (tile(source), number(address));
                let phase = phases.last_mut().expect("a phase is open");
                phase.moves.push(Move {
                    source,
                    address,
                    words: number(count),
                    to,
                });
            }
            ["row", owner, base, events, ref words @ ..] => {
                let words = words
                    .iter()
                    .map(|w| u32::from_str_radix(w, 16).unwrap())
                    .collect();
                let row = TileRow {
                    incoming_base: number(base),
                    ..TileRow::new(tile(owner), words)
                };
                phases
                    .last_mut()
                    .expect("a phase is open")
                    .rows
                    .push((row, number(events)));
            }
            _ => {}
        }
    }
    phases
}

pub fn phase(name: &str) -> Phase {
    phases()
        .into_iter()
        .find(|phase| phase.name == name)
        .expect("the phase is in the file")
}

/// A word that depends on where it lies.
fn content(tile: PhysTile, at: u32) -> u32 {
    (u32::from(tile.index()) << 20) ^ at.wrapping_mul(0x9e37_79b1) | 1
}

type Words = BTreeMap<(PhysTile, u32), u32>;

/// What memory holds before, and after all moves in order.
fn expected(phase: &Phase) -> (Words, Words) {
    let mut before = Words::new();
    for m in &phase.moves {
        for at in (m.address..).step_by(4).take(m.words as usize) {
            before.insert((m.source, at), content(m.source, at));
        }
    }
    let mut after = before.clone();
    for m in &phase.moves {
        let data: Vec<u32> = (0..m.words)
            .map(|k| after[&(m.source, m.address + 4 * k)])
            .collect();
        for &(to, address) in &m.to {
            for (at, &word) in (address..).step_by(4).zip(&data) {
                after.insert((to, at), word);
            }
        }
    }
    (before, after)
}

fn problem(phase: &Phase) -> RowProblem {
    let (before, _) = expected(phase);
    let image = |(&(tile, at), &word): (&(PhysTile, u32), &u32)| {
        (tile, ByteAddr(at), word.to_le_bytes().to_vec())
    };
    RowProblem {
        rows: phase.rows.iter().map(|(row, _)| row.clone()).collect(),
        images: before.iter().map(image).collect(),
        strict: false,
    }
}

pub fn run(phase: &Phase) -> Result<RowRun, Vec<Fault>> {
    run_rows(&problem(phase), &Settings::default())
}

pub fn show(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[track_caller]
pub fn check_data(phase: &Phase, run: &RowRun) {
    for (&(tile, at), &word) in &expected(phase).1 {
        let (_, memory) = run
            .memories
            .iter()
            .find(|(owner, _)| *owner == tile)
            .unwrap();
        assert_eq!(
            memory.load32(at),
            Ok(word),
            "{}: {tile}, {at:#x}",
            phase.name
        );
    }
}
