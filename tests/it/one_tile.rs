//! One simulated tile with one kernel on it, as the baked program would call it.

use tilekiln_chip::{PhysTile, memory};
use tilekiln_compiler::asm::{self, Mode, Source};
use tilekiln_compiler::image::{self, LinkInput};
use tilekiln_compiler::object::Object;
use tilekiln_sim::settings::Settings;
use tilekiln_sim::stop::{Exception, StopKind};
use tilekiln_sim::tile::{Tile, Yield};

/// Where the argument block lies; behind it the workers' scratch.
const ARGUMENTS: u32 = 0x5_8000;
const SCRATCH: u32 = 0x5_9000;

/// Most cycles a kernel may take in a test.
const CYCLES_MAX: u64 = 20_000_000;

/// A supervisor that calls one kernel and traps.
const CALLER: &str = "
    .section .text.entry, \"ax\"
    .supervisor
    .align 8
    .globl entry
entry:
    setzi $m0, SCRATCH
    put $WORKER0_BASE, $m0
    add $m0, $m0, 256
    put $WORKER1_BASE, $m0
    add $m0, $m0, 256
    put $WORKER2_BASE, $m0
    add $m0, $m0, 256
    put $WORKER3_BASE, $m0
    add $m0, $m0, 256
    put $WORKER4_BASE, $m0
    add $m0, $m0, 256
    put $WORKER5_BASE, $m0
    setzi $m2, ARGUMENTS
    call $m10, KERNEL
    trap 0
";

/// What a kernel left behind.
pub struct Ran {
    tile: Tile,
    /// Cycles from the launch to the trap.
    pub cycles: u64,
}

impl Ran {
    /// `count` bytes from `at`.
    pub fn bytes(&self, at: u32, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.tile
            .memory
            .read(at, &mut bytes)
            .expect("the test reads tile memory");
        bytes
    }

    /// `count` f16 from `at`, widened.
    pub fn halves(&self, at: u32, count: usize) -> Vec<f32> {
        let bytes = self.bytes(at, 2 * count);
        let half = |pair: &[u8]| half::f16::from_le_bytes([pair[0], pair[1]]).to_f32();
        bytes.chunks_exact(2).map(half).collect()
    }

    /// `count` f32 from `at`.
    pub fn floats(&self, at: u32, count: usize) -> Vec<f32> {
        let bytes = self.bytes(at, 4 * count);
        let float = |word: &[u8]| f32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        bytes.chunks_exact(4).map(float).collect()
    }
}

/// The bytes of `values` rounded to f16.
pub fn halves(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| half::f16::from_f32(*value).to_le_bytes())
        .collect()
}

/// Assembles `text` or fails with the complaints.
fn assemble(name: &str, text: String) -> Object {
    let source = Source {
        name: name.to_owned(),
        text,
        symbols: Vec::new(),
        mode: Mode::Supervisor,
    };
    asm::assemble(&source).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Runs `kernel` on a tile whose memory holds `memory` and garbage from `seed` elsewhere.
pub fn run_seeded(kernel: &str, arguments: &[u32], memory: &[(u32, Vec<u8>)], seed: u64) -> Ran {
    let caller = assemble("caller", CALLER.replace("KERNEL", kernel));
    let path = format!("{}/{kernel}.s", env!("TILEKILN_KERNELS"));
    let text = std::fs::read_to_string(path).expect("the build script leaves expanded kernels");
    let kernel = assemble(kernel, text);
    let code = memory::ENTRY.0..0x5_0000;
    let input = LinkInput {
        objects: &[&caller, &kernel],
        entry: "entry",
        required: &[],
        regions: std::slice::from_ref(&code),
        fixed: &[],
        symbols: &[("SCRATCH", SCRATCH), ("ARGUMENTS", ARGUMENTS)],
    };
    let linked = image::link(&input).unwrap_or_else(|error| panic!("{error}"));

    let settings = Settings {
        fill_seed: seed,
        ..Settings::default()
    };
    let id = PhysTile::new(0).expect("there is a tile 0");
    let mut tile = Tile::new(id, &settings);
    for segment in &linked.segments {
        tile.memory
            .write(segment.address, &segment.bytes)
            .expect("code lies in tile memory");
    }
    let words: Vec<u8> = arguments
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    tile.memory
        .write(ARGUMENTS, &words)
        .expect("arguments lie in tile memory");
    for (at, bytes) in memory {
        tile.memory
            .write(*at, bytes)
            .expect("the test writes tile memory");
    }
    tile.launch_supervisor(memory::ENTRY.0);
    assert_eq!(
        tile.run(CYCLES_MAX),
        Yield::Stopped,
        "the kernel did not come to an end"
    );
    let stop = tile.stop().expect("a stopped tile says why");
    let trapped = matches!(&stop.kind, StopKind::Exception { exception, .. } if *exception == Exception::PatchedBreak0);
    assert!(trapped, "{stop}");
    let cycles = tile.cycle();
    Ran { tile, cycles }
}

/// Runs `kernel` once on garbage of its own.
pub fn run(kernel: &str, arguments: &[u32], memory: &[(u32, Vec<u8>)]) -> Ran {
    run_seeded(kernel, arguments, memory, 0x7113)
}
