//! Whatever a tile is given to execute, it stops with a reason or goes on; it never panics.

use tilekiln_chip::PhysTile;
use tilekiln_isa::form::{COISSUE, Form, Lane};
use tilekiln_isa::table::forms;
use tilekiln_sim::settings::Settings;
use tilekiln_sim::stop::Context;
use tilekiln_sim::tile::{Tile, Yield};

const CODE: u32 = 0x5_0000;
const WORDS: usize = 24;

/// Most yields a program of this length is followed through.
const YIELDS: usize = 40;

/// Register values that make many accesses succeed.
const PLACES: [u32; 6] = [0, 1, 0x5_0010, 0x8_0000, 0xe_7ff8, 0x1_4001];

fn form(
    u: &mut arbtest::arbitrary::Unstructured<'_>,
    lane: Option<Lane>,
) -> arbtest::arbitrary::Result<&'static Form> {
    let wanted = |form: &&&Form| lane.is_none_or(|lane| form.lane == lane && form.can_coissue());
    let count = forms().filter(|form| wanted(&form)).count();
    let index = u.choose_index(count)?;
    Ok(forms()
        .filter(|form| wanted(&form))
        .nth(index)
        .expect("the index is below the count"))
}

fn word(
    u: &mut arbtest::arbitrary::Unstructured<'_>,
    lane: Option<Lane>,
) -> arbtest::arbitrary::Result<u32> {
    let form = form(u, lane)?;
    Ok(form.bits | u.arbitrary::<u32>()? & !form.mask & !COISSUE)
}

/// Mostly instructions, alone and in execution bundles, and now and then any word at all.
fn program(u: &mut arbtest::arbitrary::Unstructured<'_>) -> arbtest::arbitrary::Result<Vec<u32>> {
    let mut words = Vec::new();
    while words.len() < WORDS {
        match u.choose_index(8)? {
            0 => words.push(u.arbitrary()?),
            1..=4 => words.push(word(u, None)?),
            _ => {
                words.push(word(u, Some(Lane::Main))? | COISSUE);
                words.push(word(u, Some(Lane::Aux))? | COISSUE);
            }
        }
    }
    Ok(words)
}

fn start(u: &mut arbtest::arbitrary::Unstructured<'_>) -> arbtest::arbitrary::Result<Tile> {
    let settings = Settings {
        fill_seed: u.arbitrary()?,
        strict: u.arbitrary()?,
        ..Settings::default()
    };
    let mut tile = Tile::new(PhysTile::new(9).expect("tile 9 exists"), &settings);
    let bytes: Vec<u8> = program(u)?.into_iter().flat_map(u32::to_le_bytes).collect();
    tile.memory.write(CODE, &bytes).expect("the program fits");
    for context in [Context::Supervisor, Context::Worker(0)] {
        for register in 0..12 {
            if u.ratio(2, 3)? {
                tile.set_m(context, register, *u.choose(&PLACES)?);
            }
        }
    }
    if u.arbitrary()? {
        tile.launch_supervisor(CODE);
    } else {
        tile.launch_worker(0, CODE, 0x6_0000);
    }
    Ok(tile)
}

#[test]
fn no_program_makes_a_tile_panic() {
    arbtest::arbtest(|u| {
        let mut tile = start(u)?;
        for _ in 0..YIELDS {
            let until = tile.cycle() + 1_000;
            match tile.run(until) {
                Yield::Stopped => break,
                Yield::RowEnd => drop(tile.take_row()),
                Yield::Quota => {}
                Yield::Sync { .. } | Yield::NonParticipation | Yield::Receive => {
                    tile.release(tile.cycle() + 100);
                }
            }
        }
        if let Some(stop) = tile.stop() {
            assert!(!stop.to_string().is_empty());
        }
        Ok(())
    })
    .budget_ms(2_000);
}
