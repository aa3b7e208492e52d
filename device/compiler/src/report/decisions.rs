//! The plan's part of the report: figures, blocking, tasks, memory, phases, host.

use std::collections::BTreeMap;
use std::ops::Range;

use tilekiln_chip::exchange::HOST_WINDOW_BYTES;
use tilekiln_chip::{TILE_COUNT, memory};

use crate::plan::{Candidate, Class, HostDirection, Kernel, Layout, Plan, Rounding, Step, Task};

use super::{PhaseFacts, digits, figures, line};

/// Candidates shown; the rest is only counted.
const SHOWN: usize = 12;

pub(super) fn write(text: &mut String, plan: &Plan, target: &str, phases: &[PhaseFacts]) {
    let a = &plan.attention;
    let rounding = match a.rounding {
        Rounding::Nearest => "nearest",
        Rounding::Stochastic => "stochastic",
    };
    line!(
        text,
        "graph {}: target {target}, {} of {TILE_COUNT} tiles",
        plan.name,
        plan.tiles
    );
    let operands = a.operands.join(", ");
    line!(
        text,
        "attention {} of {operands}: scale {:.6}, rounding {rounding}",
        a.name,
        a.scale
    );
    for (name, value) in figures(plan) {
        line!(text, "  {name:<22} {:>12}", digits(value));
    }
    blocking(text, plan);
    tasks(text, plan);
    memory_map(text, &plan.layout);
    steps(text, plan);
    exchange(text, plan, phases);
    host(text, plan);
}

fn blocking(text: &mut String, plan: &Plan) {
    line!(text);
    let refused = plan
        .candidates
        .iter()
        .filter(|candidate| candidate.refused.is_some())
        .count();
    let count = plan.candidates.len();
    line!(
        text,
        "blocking: {count} weighed, {refused} refused; cycles of the busiest tile, estimated"
    );
    let Some(taken) = plan.candidates.first() else {
        return;
    };
    let parts = taken
        .parts
        .iter()
        .map(|(name, _)| format!("{name:>18}"))
        .collect::<String>();
    line!(text, "  blocks  rows splits  keys tasks{parts}     total");
    for candidate in plan.candidates.iter().take(SHOWN) {
        row(text, candidate);
    }
    if count > SHOWN {
        line!(text, "  and {} more", count - SHOWN);
    }
    line!(text, "  taken: {}", why(plan, taken));
}

fn row(text: &mut String, c: &Candidate) {
    let parts: String = c
        .parts
        .iter()
        .map(|(_, cycles)| format!("{cycles:>18}"))
        .collect();
    let (blocks, rows, splits, keys) = (
        c.query_blocks,
        c.query_block_rows,
        c.key_splits,
        c.key_block_rows,
    );
    let refused = c
        .refused
        .as_ref()
        .map(|why| format!("  refused: {why}"))
        .unwrap_or_default();
    let total = c.cycles;
    line!(
        text,
        "  {blocks:>6} {rows:>5} {splits:>6} {keys:>5} {:>5}{parts} {total:>9}{refused}",
        c.tasks
    );
}

/// Why the first candidate was taken, in a sentence.
fn why(plan: &Plan, taken: &Candidate) -> String {
    let shape = format!(
        "{} query blocks by {} key splits",
        taken.query_blocks, taken.key_splits
    );
    let dearer = |candidate: &&Candidate| candidate.refused.is_none();
    let cheaper: Vec<&Candidate> = plan
        .candidates
        .iter()
        .filter(|candidate| candidate.refused.is_some() && candidate.cycles < taken.cycles)
        .collect();
    let next = plan.candidates.iter().filter(dearer).nth(1);
    let mut reason = match next {
        Some(next) => format!(
            "{shape}, the cheapest that fits; {} by {} would cost {} cycles more",
            next.query_blocks,
            next.key_splits,
            digits(next.cycles - taken.cycles),
        ),
        None => format!("{shape}, the only one that fits"),
    };
    if let Some(best) = cheaper.first() {
        let (count, refused) = (cheaper.len(), best.refused.as_deref().unwrap_or_default());
        reason.push_str(&format!(
            "; {count} cheaper do not fit, the first because {refused}"
        ));
    }
    reason
}

/// How many things have which size: "15 of 35, 6 of 34".
fn sizes(sizes: impl Iterator<Item = u32>) -> String {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for size in sizes {
        *counts.entry(size).or_default() += 1;
    }
    let listed = counts
        .iter()
        .rev()
        .map(|(size, count)| format!("{count} of {size}"));
    listed.collect::<Vec<_>>().join(", ")
}

fn tasks(text: &mut String, plan: &Plan) {
    line!(text);
    let tasks = plan.tasks.len();
    let idle = usize::from(TILE_COUNT) - tasks;
    line!(
        text,
        "tasks: {tasks}, task n on logical tile n; {idle} tiles stand by"
    );
    let first_head = || plan.tasks.iter().filter(|task| task.head == 0);
    let blocks = first_head()
        .filter(|task| task.key_split == 0)
        .map(|task| task.rows.len() as u32);
    line!(text, "  query blocks of a head    {} rows", sizes(blocks));
    let splits = first_head().filter(|task| task.query_block == 0);
    line!(
        text,
        "  key splits of a head      {} keys",
        sizes(splits.map(|task| task.keys.len() as u32))
    );
    let spread = |of: fn(&Task) -> &Range<u32>| {
        let sizes = plan.tasks.iter().map(|task| of(task).len());
        (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0))
    };
    let (least, most) = spread(|task| &task.owned_rows);
    line!(text, "  rows of a task's own      {least} to {most}");
    let (least, most) = spread(|task| &task.owned_keys);
    line!(text, "  keys of a task's own      {least} to {most}");
}

fn memory_map(text: &mut String, layout: &Layout) {
    line!(text);
    line!(text, "memory: the same on every task tile");
    for code in &layout.executable {
        let bytes = digits(u64::from(code.end - code.start));
        line!(
            text,
            "  {:#07x} {:#07x} {bytes:>9}        code         code and exchange rows",
            code.start,
            code.end
        );
    }
    let mut arrays: Vec<_> = layout.allocations.iter().collect();
    arrays.sort_by_key(|array| (array.class, array.at));
    for array in arrays {
        let (from, to) = (array.at.0, array.at.0 + array.bytes);
        let (bytes, tail) = (digits(u64::from(array.bytes)), array.tail);
        let class = array.class.to_string();
        line!(
            text,
            "  {from:#07x} {to:#07x} {bytes:>9} +{tail:<5} {class:<12} {}",
            array.name
        );
    }
    rooms(text, layout);
    for pair in &layout.distinct {
        let name = |index: usize| {
            layout
                .allocations
                .get(index)
                .map_or("", |array| &array.name)
        };
        line!(
            text,
            "  apart: {} from {}, because {}",
            name(pair.first),
            name(pair.second),
            pair.reason
        );
    }
}

/// How much of each kind of memory is taken.
fn rooms(text: &mut String, layout: &Layout) {
    let code: u32 = layout
        .executable
        .iter()
        .map(|code| code.end - code.start)
        .sum();
    let window = HOST_WINDOW_BYTES;
    let interleaved = memory::END.0 - memory::INTERLEAVED.0;
    let standard = memory::BYTES - code - window;
    for (class, room) in [
        (Class::Window, window),
        (Class::Standard, standard),
        (Class::Interleaved, interleaved),
    ] {
        let of = layout
            .allocations
            .iter()
            .filter(|array| array.class == class);
        let used: u32 = of.map(|array| array.bytes + array.tail).sum();
        line!(
            text,
            "  {class}: {} of {} bytes",
            digits(used.into()),
            digits(room.into())
        );
    }
}

fn steps(text: &mut String, plan: &Plan) {
    line!(text);
    line!(text, "steps of a call");
    for step in &plan.steps {
        match step {
            Step::Host(phase) => line!(text, "  host phase {phase}"),
            Step::Exchange(exchange) => line!(text, "  exchange: {}", exchange.name),
            Step::Compute(compute) => {
                let work = work(compute.kernel, &compute.arguments);
                line!(
                    text,
                    "  {}: {}{work}",
                    compute.kernel.symbol(),
                    compute.name
                );
            }
        }
    }
}

/// The size of a product, where the largest task does it.
fn work(kernel: Kernel, arguments: &[Vec<u32>]) -> String {
    let largest = arguments
        .iter()
        .max_by_key(|words| match (kernel, words.as_slice()) {
            (Kernel::Gemm, [_, _, _, _, _, rows, inner, columns, ..]) => {
                u64::from(*rows) * u64::from(*inner) * u64::from(*columns)
            }
            _ => 0,
        });
    match (kernel, largest.map(Vec::as_slice)) {
        (Kernel::Gemm, Some([_, _, _, _, _, rows, inner, columns, ..])) => {
            format!(", {rows} x {} x {}", 16 * inner, 16 * columns)
        }
        _ => String::new(),
    }
}

fn exchange(text: &mut String, plan: &Plan, phases: &[PhaseFacts]) {
    line!(text);
    let exchanges = plan.steps.iter().filter_map(|step| match step {
        Step::Exchange(exchange) => Some(exchange),
        _ => None,
    });
    line!(
        text,
        "exchange: {} phases of a call",
        exchanges.clone().count()
    );
    for (index, exchange) in exchanges.enumerate() {
        let transfers = exchange.transfers.len();
        line!(
            text,
            "  phase {index}, {}: {} transfers",
            exchange.name,
            digits(transfers as u64)
        );
        let Some(facts) = phases.get(index) else {
            continue;
        };
        // Thousandths, so that no float is rounded into the report.
        let ratio = u64::from(facts.horizon) * 1000 / u64::from(facts.bound.max(1));
        let (horizon, bound) = (digits(facts.horizon.into()), digits(facts.bound.into()));
        line!(
            text,
            "    horizon {horizon} events, bound {bound}, ratio {}.{:03}",
            ratio / 1000,
            ratio % 1000
        );
        let (sent, received) = (digits(facts.sent), digits(facts.received));
        line!(
            text,
            "    {sent} words sent, {received} received, {} controls",
            digits(facts.controls)
        );
        let (rows, longest) = (
            digits(4 * facts.row_words),
            digits(4 * u64::from(facts.longest_row)),
        );
        line!(
            text,
            "    {} tiles with rows of {rows} bytes in all, {longest} at most",
            facts.active_tiles
        );
    }
}

fn host(text: &mut String, plan: &Plan) {
    line!(text);
    let phases = &plan.host.phases;
    line!(
        text,
        "host: {} phases, {} rendezvous of a call",
        phases.len(),
        2 * phases.len()
    );
    for (index, phase) in phases.iter().enumerate() {
        let direction = match phase.direction {
            HostDirection::ToTiles => "in ",
            HostDirection::ToHost => "out",
        };
        let bytes: u64 = phase.pages.iter().map(|page| u64::from(page.bytes)).sum();
        line!(
            text,
            "  phase {index} {direction} {:>5} tiles {:>11} bytes",
            phase.pages.len(),
            digits(bytes)
        );
    }
    let [first, last] = plan.host.cycles;
    line!(
        text,
        "  buffer {} bytes, {} runs of rows, cycle samples at {first:#x} and {last:#x}",
        digits(plan.host.buffer_bytes.into()),
        digits(plan.host.bindings.len() as u64)
    );
}
