//! The facts of a finished bake, from the results of its passes.

use tilekiln_bundle::digest::Digest;

use super::{
    BundleFacts, Facts, ImageFacts, KernelFacts, PhaseFacts, StageFacts, TileFacts, report,
};
use crate::images::{Images, KernelObject};
use crate::pack::Stage;
use crate::plan::{Plan, name};
use crate::program::{Programs, TileWords};
use crate::schedule::{Schedule, check};

/// The results of all passes that a report tells about.
#[derive(Clone, Copy)]
pub struct Results<'a> {
    /// The chip's name.
    pub target: &'a str,
    /// The plan.
    pub plan: &'a Plan,
    /// The schedule.
    pub schedule: &'a Schedule,
    /// What the checker found out about its phases.
    pub checked: &'a [check::Facts],
    /// The kernels.
    pub kernels: &'a [KernelObject],
    /// The programs.
    pub programs: &'a Programs,
    /// The linked classes.
    pub images: &'a Images,
    /// The outputs of all stages.
    pub stages: &'a [Stage],
}

/// The report of a bake. With `bundle` it is the one for a reader at the desk and says what the
/// kernel cache did; without, it is the one inside the bundle, which depends on the inputs alone.
pub fn gather(results: &Results<'_>, bundle: Option<&BundleFacts>) -> String {
    let phases: Vec<PhaseFacts> = results
        .checked
        .iter()
        .zip(&results.schedule.phases)
        .map(phase)
        .collect();
    let kernel = |kernel| kernel_facts(kernel, bundle.is_some());
    let kernels: Vec<KernelFacts> = results.kernels.iter().map(kernel).collect();
    let images: Vec<ImageFacts> = (0..results.images.classes.len())
        .map(|class| image(results, class))
        .collect();
    let tiles = results.programs.tiles.iter().enumerate();
    let tiles = tiles.map(|(index, words)| tile(results, index, words));
    let largest = tiles.max_by_key(|tile| {
        let bytes = tile.code_bytes + tile.row_bytes + tile.slot_bytes + tile.packet_bytes;
        (bytes, std::cmp::Reverse(tile.tile))
    });
    let stages: Vec<StageFacts> = results.stages.iter().map(stage).collect();
    report(&Facts {
        plan: results.plan,
        target: results.target,
        phases: &phases,
        kernels: &kernels,
        images: &images,
        largest: largest.as_ref(),
        bundle,
        stages: &stages,
    })
}

fn phase((facts, phase): (&check::Facts, &crate::schedule::Phase)) -> PhaseFacts {
    PhaseFacts {
        horizon: facts.horizon.0,
        bound: facts.bound.0,
        sent: facts.sent,
        received: facts.received,
        controls: facts.controls,
        row_words: facts.row_words,
        longest_row: facts.longest_row,
        active_tiles: phase.rows.len() as u32,
    }
}

fn kernel_facts(kernel: &KernelObject, with_cache: bool) -> KernelFacts {
    KernelFacts {
        name: kernel.name.clone(),
        key: kernel.key.clone(),
        hit: with_cache.then_some(kernel.hit),
        bytes: kernel
            .object
            .sections
            .iter()
            .map(|section| u64::from(section.size))
            .sum(),
        symbols: kernel.object.symbols.len(),
    }
}

fn image(results: &Results<'_>, class: usize) -> ImageFacts {
    let linked = &results.images.classes[class];
    ImageFacts {
        name: results.programs.classes[class].name.clone(),
        tiles: results
            .programs
            .tiles
            .iter()
            .filter(|tile| tile.class == class)
            .count(),
        base: linked.segments.first().map_or(0, |segment| segment.address),
        entry: linked.entry,
        bytes: linked
            .segments
            .iter()
            .map(|segment| segment.bytes.len() as u64)
            .sum(),
        symbols: linked.symbols.len(),
    }
}

/// What one tile's memory is initialised with, by use.
fn tile(results: &Results<'_>, index: usize, words: &TileWords) -> TileFacts {
    let at = |name| {
        results
            .plan
            .layout
            .find(name)
            .map_or(0, |allocation| allocation.at.0)
    };
    let (page, slots) = (at(name::PAGE), at(name::SLOTS));
    let packets = page..page + tilekiln_chip::exchange::HOST_WINDOW_BYTES;
    let code = &results.images.classes[words.class].segments;
    let mut facts = TileFacts {
        tile: index as u16,
        code_bytes: code.iter().map(|segment| segment.bytes.len() as u64).sum(),
        ..TileFacts::default()
    };
    for (at, run) in &words.runs {
        let bytes = 4 * run.len() as u64;
        if at.0 == slots {
            facts.slot_bytes += bytes;
        } else if packets.contains(&at.0) {
            facts.packet_bytes += bytes;
        } else {
            facts.row_bytes += bytes;
        }
    }
    facts
}

fn stage(stage: &Stage) -> StageFacts {
    StageFacts {
        name: stage.name.to_owned(),
        digest: Digest::of(&stage.output).to_string(),
        bytes: stage.output.len() as u64,
    }
}
