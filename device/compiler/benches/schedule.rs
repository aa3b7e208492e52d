//! Schedules: how long they take to make and to check, and how close to their bound they come.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use divan::{Bencher, black_box};
use tilekiln_chip::{ByteAddr, TileId};
use tilekiln_compiler::plan::{Exchange, Plan, Step, Transfer, Width};
use tilekiln_compiler::schedule::{check, schedule_phase};
use tilekiln_compiler::{plan, spec};

fn main() {
    for load in loads() {
        let phase = schedule_phase(&load).expect("the load has a schedule");
        let facts = check::phase(&load, &phase, None).expect("the schedule is valid");
        let (horizon, bound) = (facts.horizon.0, facts.bound.0);
        let times = f64::from(horizon) / f64::from(bound);
        println!(
            "{:20} {:6} transfers, {horizon:6} events, {times:.3} times the bound, rows up to {} words",
            load.name,
            load.transfers.len(),
            facts.longest_row,
        );
    }
    divan::main();
}

/// The phases of the checked-in graph, then loads that are harder to pack.
fn loads() -> Vec<Exchange> {
    let mut loads = exchanges(&graph());
    loads.extend([
        everybody(8, 100),
        everybody(32, 40),
        everybody(96, 20),
        crowds(),
    ]);
    loads
}

fn graph() -> Plan {
    let spec = spec::parse(include_str!("../../../graph.toml")).expect("the graph is sound");
    plan::plan(&spec).expect("the graph fits")
}

fn exchanges(plan: &Plan) -> Vec<Exchange> {
    let exchange = |step: &Step| match step {
        Step::Exchange(exchange) => Some(exchange.clone()),
        _ => None,
    };
    plan.steps.iter().filter_map(exchange).collect()
}

fn tile(index: u32) -> TileId {
    TileId::new(index as u16).expect("the chip has the tile")
}

/// `tiles` tiles far apart, each with `words` words for every other.
fn everybody(tiles: u32, words: u32) -> Exchange {
    let far = 1472 / tiles;
    let transfer = |source: u32, other: u32| Transfer {
        source: tile(source * far),
        from: ByteAddr(0x6_0000 + 4 * words * other),
        words,
        width: Width::Single,
        destinations: vec![(tile(other * far), ByteAddr(0xA_0000 + 4 * words * source))],
    };
    let others = |source| {
        (0..tiles)
            .filter(move |&other| other != source)
            .map(move |other| (source, other))
    };
    let transfers = (0..tiles)
        .flat_map(others)
        .map(|(source, other)| transfer(source, other));
    Exchange {
        name: format!("everybody {tiles}x{words}"),
        transfers: transfers.collect(),
    }
}

/// Multicasts of all lengths from and to anybody.
fn crowds() -> Exchange {
    let mut state = 99_u64;
    let mut roll = |sides: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as u32 % sides
    };
    let mut filled = [0; 1472];
    let mut transfers = Vec::new();
    for _ in 0..5000 {
        let (source, words) = (roll(1472), 1 + roll(400));
        let mut receivers: Vec<u32> = (0..1 + roll(8)).map(|_| roll(1472)).collect();
        receivers.sort_unstable();
        receivers.dedup();
        receivers.retain(|&it| it != source && filled[it as usize] < 0x4_0000);
        let mut place = |receiver: u32| {
            let at = ByteAddr(0xA_0000 + filled[receiver as usize]);
            filled[receiver as usize] += 4 * words;
            (tile(receiver), at)
        };
        let destinations: Vec<_> = receivers.into_iter().map(&mut place).collect();
        let from = ByteAddr(0x6_0000 + 2048 * roll(32));
        if !destinations.is_empty() {
            let (source, width) = (tile(source), Width::Single);
            transfers.push(Transfer {
                source,
                from,
                words,
                width,
                destinations,
            });
        }
    }
    Exchange {
        name: "crowds".to_owned(),
        transfers,
    }
}

#[divan::bench]
fn schedule_the_graph(bencher: Bencher<'_, '_>) {
    let exchanges = exchanges(&graph());
    bencher.bench(|| {
        exchanges
            .iter()
            .map(|it| schedule_phase(black_box(it)))
            .all(|it| it.is_ok())
    });
}

#[divan::bench]
fn check_the_graph(bencher: Bencher<'_, '_>) {
    let exchanges = exchanges(&graph());
    let phases: Vec<_> = exchanges
        .iter()
        .map(|it| schedule_phase(it).expect("valid"))
        .collect();
    bencher.bench(|| {
        let pairs = exchanges.iter().zip(&phases);
        pairs
            .map(|(one, two)| check::phase(one, two, None))
            .all(|it| it.is_ok())
    });
}

#[divan::bench(sample_count = 5)]
fn schedule_everybody(bencher: Bencher<'_, '_>) {
    let exchange = everybody(96, 20);
    bencher.bench(|| schedule_phase(black_box(&exchange)));
}

#[divan::bench(sample_count = 5)]
fn schedule_crowds(bencher: Bencher<'_, '_>) {
    let exchange = crowds();
    bencher.bench(|| schedule_phase(black_box(&exchange)));
}
