//! The report, for people and as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use tilekiln_chip::csr::{Access, CSRS, Space};
use tilekiln_sim::stop::Context;

use super::options::{Dump, Format, Options, Part};
use super::run::{Ending, Ran, contexts};
use super::source::Program;
use super::stop::Told;

/// Names and values of a group of registers.
type Registers = Vec<(String, u32)>;

/// The report for people.
pub fn text(options: &Options, program: &Program, ran: &Ran) -> String {
    let mut out = String::new();
    // Writing to a string does not fail, here and below.
    let _ = writeln!(
        out,
        "device=sim source={} entry={} at {:#x}",
        source(options),
        program.entry,
        program.linked.entry
    );
    for warning in &program.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    out += &ending(&ran.ending);
    if ran.rows > 0 {
        let _ = writeln!(out, "{} exchange rows ran without a fabric", ran.rows);
    }
    for dump in &options.dump {
        match *dump {
            Dump::Cycles => out += &cycles(options, ran),
            Dump::Memory { at, bytes, format } => out += &memory(ran, at, bytes, format),
            Dump::Weights => out += &weights(ran),
            Dump::Registers | Dump::Control | Dump::Accumulators => {
                out += &groups(options, ran, *dump);
            }
        }
    }
    out
}

fn source(options: &Options) -> String {
    options
        .source
        .as_deref()
        .unwrap_or("".as_ref())
        .display()
        .to_string()
}

fn ending(ending: &Ending) -> String {
    let block = |word: &str, told: &Told| {
        let mut out = format!(
            "{word}: {}, {}, pc {:#x}, cycle {}",
            told.tile, told.context, told.pc, told.cycle
        );
        if let Some((file, line, place)) = &told.origin {
            let _ = write!(out, ", {file}:{line} ({place})");
        }
        let operands: Vec<String> = told
            .operands
            .iter()
            .map(|(name, value)| format!("{name} = {value:#x}"))
            .collect();
        let _ = writeln!(out, "\n  instruction  {}", told.instruction);
        if !operands.is_empty() {
            let _ = writeln!(out, "  operands     {}", operands.join(", "));
        }
        let _ = writeln!(out, "  cause        {}", told.cause);
        out
    };
    let all = |word, told: &[Told]| told.iter().map(|told| block(word, told)).collect();
    match ending {
        Ending::Exited(status) => {
            let worker = |(worker, status): &(usize, bool)| {
                format!("worker {worker} exited with status {}", u8::from(*status))
            };
            let list: Vec<String> = status.iter().map(worker).collect();
            format!("ended: {}\n", list.join(", "))
        }
        Ending::Trapped => "ended: trap 0 of the supervisor\n".to_owned(),
        Ending::Stopped(told) => all("stopped", told),
        Ending::Limit(told) => all("limit", told),
        Ending::Waits(told) => block("stuck", told),
    }
}

fn cycles(options: &Options, ran: &Ran) -> String {
    let mut out = format!(
        "cycles {}  bundles {}",
        ran.tile.cycle(),
        ran.tile.instructions()
    );
    for (worker, slots) in slots(options, ran) {
        let _ = write!(out, "  w{worker} slots {slots}");
    }
    out + "\n"
}

/// The workers that ran, and their issue slots.
fn slots(options: &Options, ran: &Ran) -> Vec<(usize, u64)> {
    let workers = shown(options, ran).filter_map(|context| match context {
        Context::Worker(worker) => Some(usize::from(worker)),
        Context::Supervisor => None,
    });
    workers
        .map(|worker| (worker, ran.tile.slots(worker)))
        .collect()
}

/// The contexts that had a part in the run.
fn shown(options: &Options, ran: &Ran) -> impl Iterator<Item = Context> {
    contexts().filter(move |context| match *context {
        Context::Supervisor => options.context == Part::Supervisor,
        Context::Worker(worker) => {
            ran.tile.slots(usize::from(worker)) > 0 || ran.tile.stop_of(*context).is_some()
        }
    })
}

/// The registers of `context` that `dump` asks for, file by file.
fn registers(ran: &Ran, context: Context, dump: Dump) -> Registers {
    let tile = &ran.tile;
    let worker = match context {
        Context::Supervisor => None,
        Context::Worker(worker) => Some(usize::from(worker)),
    };
    let mut list = Registers::new();
    match dump {
        Dump::Registers => {
            let main = if worker.is_some() { 14 } else { 12 };
            list.extend((0..main).map(|i| (format!("m{i}"), tile.m(context, i))));
            if let Some(worker) = worker {
                list.extend((0..8).map(|i| (format!("a{i}"), tile.a(worker, i))));
            }
        }
        Dump::Accumulators => {
            if let Some(worker) = worker {
                list.extend((0..32).map(|i| (format!("acc{i}"), tile.fp(worker).acc(i))));
            }
        }
        Dump::Control => {
            for csr in CSRS.iter().filter(|csr| csr.access != Access::Write) {
                let value = match (worker, csr.space) {
                    (None, Space::Supervisor) => tile.csr(csr.number),
                    (Some(worker), Space::Worker | Space::WorkerUpper) => {
                        tile.worker_csr(worker, csr.number)
                    }
                    _ => continue,
                };
                list.push((csr.name.trim_start_matches('$').to_owned(), value));
            }
        }
        Dump::Weights | Dump::Cycles | Dump::Memory { .. } => {}
    }
    list
}

/// Four registers a line, a block a context.
fn groups(options: &Options, ran: &Ran, dump: Dump) -> String {
    let mut out = String::new();
    for context in shown(options, ran) {
        let list = registers(ran, context, dump);
        if list.is_empty() {
            continue;
        }
        let width = list.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let _ = writeln!(out, "{context}");
        for line in list.chunks(4) {
            let cell = |(name, value): &(String, u32)| format!("{name:<width$} {value:08x}");
            let cells: Vec<String> = line.iter().map(cell).collect();
            let _ = writeln!(out, "  {}", cells.join("   "));
        }
    }
    out
}

fn weights(ran: &Ran) -> String {
    let mut out = "weights\n".to_owned();
    for unit in 0..16usize {
        let word = |slot| format!("{:016x}", ran.tile.weights().get(4 * unit + slot));
        let words: Vec<String> = (0..4).map(word).collect();
        let _ = writeln!(out, "  CWEI_{unit:<2}  {}", words.join(" "));
    }
    out
}

/// The bytes of a range that the options have checked.
fn bytes(ran: &Ran, at: u32, count: u32) -> Vec<u8> {
    let mut bytes = vec![0; count as usize];
    let read = ran.tile.memory.read(at, &mut bytes);
    debug_assert!(
        read.is_ok(),
        "the options refuse ranges outside tile memory"
    );
    bytes
}

/// Sixteen bytes a line.
fn memory(ran: &Ran, at: u32, count: u32, format: Format) -> String {
    let mut out = String::new();
    for (line, row) in bytes(ran, at, count).chunks(16).enumerate() {
        let _ = write!(out, "{:#07x} ", at as usize + 16 * line);
        match format {
            Format::Bytes => {
                for piece in row.chunks(4) {
                    out.push(' ');
                    for byte in piece {
                        let _ = write!(out, " {byte:02x}");
                    }
                }
            }
            _ => {
                for number in row.chunks(format.size() as usize) {
                    let _ = write!(out, " {:>12}", number_text(number, format));
                }
            }
        }
        out.push('\n');
    }
    out
}

/// A little-endian number as text.
fn number_text(bytes: &[u8], format: Format) -> String {
    let bits = bytes
        .iter()
        .rev()
        .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
    match format {
        Format::Half => half::f16::from_bits(bits as u16).to_f32().to_string(),
        Format::Single => f32::from_bits(bits).to_string(),
        Format::Word | Format::Bytes => bits.to_string(),
    }
}

/// The report as JSON: addresses, registers and memory as hex strings, counts as numbers.
pub fn json(options: &Options, program: &Program, ran: &Ran) -> String {
    let (ending, stops) = match &ran.ending {
        Ending::Exited(_) => ("exited", &[][..]),
        Ending::Trapped => ("trapped", &[][..]),
        Ending::Stopped(told) => ("stopped", &told[..]),
        Ending::Limit(told) => ("limit", &told[..]),
        Ending::Waits(told) => ("stuck", core::slice::from_ref(told)),
    };
    let status: Map<String, Value> = match &ran.ending {
        Ending::Exited(status) => status
            .iter()
            .map(|(worker, status)| (format!("w{worker}"), json!(status)))
            .collect(),
        _ => Map::new(),
    };
    let mut report = json!({
        "device": "sim",
        "source": source(options),
        "entry": { "label": program.entry, "address": hex(program.linked.entry) },
        "warnings": program.warnings,
        "ending": ending,
        "status": status,
        "stops": stops.iter().map(stop).collect::<Vec<_>>(),
        "rows": ran.rows,
    });
    for dump in &options.dump {
        add(&mut report, options, ran, *dump);
    }
    format!("{report:#}\n")
}

fn hex(value: u32) -> String {
    format!("{value:#x}")
}

fn named(registers: Registers) -> Map<String, Value> {
    registers
        .into_iter()
        .map(|(name, value)| (name, json!(hex(value))))
        .collect()
}

fn stop(told: &Told) -> Value {
    let origin = told.origin.as_ref();
    json!({
        "tile": told.tile,
        "context": told.context,
        "pc": hex(told.pc),
        "cycle": told.cycle,
        "file": origin.map(|(file, ..)| file),
        "line": origin.map(|(_, line, _)| line),
        "place": origin.map(|(.., place)| place),
        "instruction": told.instruction,
        "operands": named(told.operands.clone()),
        "cause": told.cause,
    })
}

/// Adds what `dump` asks for.
fn add(report: &mut Value, options: &Options, ran: &Ran, dump: Dump) {
    let by_context = || {
        let contexts = shown(options, ran);
        let entry = |context: Context| (context.to_string(), named(registers(ran, context, dump)));
        json!(
            contexts
                .map(entry)
                .collect::<std::collections::BTreeMap<_, _>>()
        )
    };
    match dump {
        Dump::Registers => report["registers"] = by_context(),
        Dump::Control => report["csr"] = by_context(),
        Dump::Accumulators => report["acc"] = by_context(),
        Dump::Weights => {
            let word = |index| format!("{:#018x}", ran.tile.weights().get(index));
            report["cwei"] = (0..64).map(word).collect();
        }
        Dump::Cycles => {
            report["cycles"] = json!(ran.tile.cycle());
            report["bundles"] = json!(ran.tile.instructions());
            let slots = slots(options, ran).into_iter();
            let slots = slots.map(|(worker, slots)| (format!("w{worker}"), json!(slots)));
            report["slots"] = Value::Object(slots.collect());
        }
        Dump::Memory {
            at,
            bytes: count,
            format,
        } => {
            let bytes = bytes(ran, at, count);
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let mut range = json!({ "address": hex(at), "hex": digits });
            if format != Format::Bytes {
                let numbers = bytes.chunks(format.size() as usize);
                range["values"] = numbers.map(|number| number_text(number, format)).collect();
            }
            if !report["memory"].is_array() {
                report["memory"] = json!([]);
            }
            if let Some(list) = report["memory"].as_array_mut() {
                list.push(range);
            }
        }
    }
}
