//! `exchange-rows.json`: published phases against the simulator, and our own schedules of the same
//! transfers against their length.

use std::collections::BTreeMap;

use serde_json::Value;
use tilekiln_chip::{ByteAddr, TileId};
use tilekiln_compiler::plan::{Exchange, Transfer, Width};
use tilekiln_compiler::schedule::{check as checker, schedule_phase};
use tilekiln_sim::exchange::rows::{ROW_AT, RowProblem, TileRow, run_rows};
use tilekiln_sim::settings::Settings;

use super::tally::{BadFile, Tally};

/// Two cases a problem: the published rows move the right words; ours do too, and not later. The
/// scheduler makes no 64-bit rows, so it skips such problems.
pub fn check(text: &str) -> Result<Tally, BadFile> {
    let file: Value = serde_json::from_str(text).map_err(BadFile::new)?;
    let mut tally = Tally::default();
    for problem in list(&file, "problems")? {
        let name = string(problem, "name")?;
        let exchange = exchange(name, problem)?;
        count(
            &mut tally,
            name,
            "reference",
            run(&exchange, reference(problem)?, false),
        );
        if exchange
            .transfers
            .iter()
            .any(|transfer| transfer.width == Width::Paired)
        {
            tally.skipped += 1;
            continue;
        }
        let length = number(problem, "phase_events")?;
        count(&mut tally, name, "ours", ours(&exchange, length));
    }
    Ok(tally)
}

fn count(tally: &mut Tally, name: &str, which: &str, result: Result<(), String>) {
    match result {
        Ok(()) => tally.passed += 1,
        Err(complaint) => tally.failures.push(format!("{name}, {which}: {complaint}")),
    }
}

/// Schedules the problem, has it checked and simulated, and measures it.
fn ours(exchange: &Exchange, length: u64) -> Result<(), String> {
    let phase = schedule_phase(exchange).map_err(|error| error.to_string())?;
    let rows_at: Vec<(TileId, ByteAddr)> =
        phase.rows.iter().map(|row| (row.tile, ROW_AT)).collect();
    let facts = checker::phase(exchange, &phase, Some(&rows_at)).map_err(|it| it.to_string())?;
    if u64::from(facts.horizon.0) > length {
        return Err(format!("takes {}; {length} are enough", facts.horizon));
    }
    let rows = phase.rows.into_iter();
    let rows = rows
        .map(|row| TileRow::new(row.tile.physical(), row.words))
        .collect();
    run(exchange, rows, true)
}

/// Simulates rows and compares memory with the transfers carried out one by one.
fn run(exchange: &Exchange, rows: Vec<TileRow>, strict: bool) -> Result<(), String> {
    let mut memory = BTreeMap::new();
    for transfer in &exchange.transfers {
        for (tile, at) in ends(transfer) {
            for word in 0..transfer.words {
                let at = at.0 + 4 * word;
                memory.insert(
                    (tile, at),
                    at.wrapping_mul(0x9E37_79B9) ^ u32::from(tile.index()),
                );
            }
        }
    }
    let image = |(&(tile, at), word): (&(TileId, u32), &u32)| {
        (tile.physical(), ByteAddr(at), word.to_le_bytes().to_vec())
    };
    let images = memory.iter().map(image).collect();
    let problem = RowProblem {
        rows,
        images,
        strict,
    };
    let run = run_rows(&problem, &Settings::default()).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        faults.join("; ")
    })?;
    for transfer in &exchange.transfers {
        for word in 0..transfer.words {
            let value = memory[&(transfer.source, transfer.from.0 + 4 * word)];
            for &(tile, at) in &transfer.destinations {
                memory.insert((tile, at.0 + 4 * word), value);
            }
        }
    }
    for (&(tile, at), want) in &memory {
        let own = run
            .memories
            .iter()
            .find(|(owner, _)| *owner == tile.physical());
        let (_, own) = own.ok_or_else(|| format!("{tile} has no row"))?;
        let mut got = [0; 4];
        own.read(at, &mut got).map_err(|fault| fault.to_string())?;
        let got = u32::from_le_bytes(got);
        if got != *want {
            return Err(format!(
                "{tile} holds {got:08x} at {at:#x} in the end, not {want:08x}"
            ));
        }
    }
    Ok(())
}

/// Sender and receivers with their addresses.
fn ends(transfer: &Transfer) -> impl Iterator<Item = (TileId, ByteAddr)> {
    transfer
        .destinations
        .iter()
        .copied()
        .chain([(transfer.source, transfer.from)])
}

fn exchange(name: &str, problem: &Value) -> Result<Exchange, BadFile> {
    let mut transfers = Vec::new();
    for transfer in list(problem, "transfers")? {
        let mut destinations = Vec::new();
        for end in list(transfer, "destinations")? {
            destinations.push((tile(end[0].as_u64())?, ByteAddr(hex(&end[1])?)));
        }
        transfers.push(Transfer {
            source: tile(transfer["source"].as_u64())?,
            from: ByteAddr(hex(&transfer["source_address"])?),
            words: number(transfer, "words")? as u32,
            width: if transfer["width"] == 64 {
                Width::Paired
            } else {
                Width::Single
            },
            destinations,
        });
    }
    Ok(Exchange {
        name: name.to_owned(),
        transfers,
    })
}

/// The published rows.
fn reference(problem: &Value) -> Result<Vec<TileRow>, BadFile> {
    let rows = problem["rows"].as_object().ok_or_else(|| missing("rows"))?;
    let row = |(logical, row): (&String, &Value)| {
        let tile = tile(logical.parse().ok())?;
        let words = list(row, "words")?
            .iter()
            .map(hex)
            .collect::<Result<_, _>>()?;
        let incoming_base = hex(&row["incoming_base"])?;
        Ok(TileRow {
            incoming_base,
            ..TileRow::new(tile.physical(), words)
        })
    };
    rows.iter().map(row).collect()
}

fn missing(name: &str) -> BadFile {
    BadFile(format!("there is no {name}"))
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, BadFile> {
    value[name].as_array().ok_or_else(|| missing(name))
}

fn string<'a>(value: &'a Value, name: &str) -> Result<&'a str, BadFile> {
    value[name].as_str().ok_or_else(|| missing(name))
}

fn number(value: &Value, name: &str) -> Result<u64, BadFile> {
    value[name].as_u64().ok_or_else(|| missing(name))
}

fn hex(value: &Value) -> Result<u32, BadFile> {
    let text = value
        .as_str()
        .ok_or_else(|| BadFile(format!("{value} is no text")))?;
    u32::from_str_radix(text.trim_start_matches("0x"), 16).map_err(BadFile::new)
}

fn tile(index: Option<u64>) -> Result<TileId, BadFile> {
    let index = index.and_then(|index| u16::try_from(index).ok());
    index
        .and_then(TileId::new)
        .ok_or_else(|| missing("such tile"))
}
