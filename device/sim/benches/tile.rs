//! Instructions a second of one tile.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tilekiln_chip::{PhysTile, WORKERS};
use tilekiln_isa::Mode;
use tilekiln_isa::parse;
use tilekiln_sim::settings::Settings;
use tilekiln_sim::stop::Context;
use tilekiln_sim::tile::{Tile, Yield};

fn main() {
    divan::main();
}

/// Where the program lies.
const CODE: u32 = 0x5_0000;

/// Iterations a worker makes.
const ITERATIONS: u32 = 20_000;

/// A loop over a paced stream and the matrix unit, as in a product.
const PRODUCT: &str = "setzi $a0, 8; uput $FP_CLR, $a0
    { rpt $m0, 3 ; fnop }
    { ldst64pace $a0:1, $a6:7, $m2:3+=, $mzero, 15 ; f16v4hihov4amp $a2:3, $a0:1, $a4:5, 0 }
    { ldst64pace $a4:5, $a2:3, $m2:3+=, $mzero, 15 ; f16v4hihov4amp $a6:7, $a0:1, $a4:5, 1 }
    { ldst64pace $a0:1, $a6:7, $m2:3+=, $mzero, 15 ; f16v4hihov4amp $a2:3, $a0:1, $a4:5, 2 }
    { ldst64pace $a4:5, $a2:3, $m2:3+=, $mzero, 15 ; f16v4hihov4amp $a6:7, $a0:1, $a4:5, 3 }
    exitz $mzero";

/// A loop of integer arithmetic, a load and a branch.
const INTEGER: &str = "add $m1, $m1, $m2; xor $m2, $m1, $m3; ld32 $m4, $m5, $mzero, 1
    st32 $m2, $m5, $mzero, 2; brnzdec $m0, 0x14000; exitz $mzero";

/// A tile whose six workers are about to run `text`.
fn tile(text: &str) -> Tile {
    let settings = Settings {
        strict: false,
        ..Settings::default()
    };
    let mut tile = Tile::new(PhysTile::new(0).expect("tile 0 exists"), &settings);
    let statements = text.replace('\n', ";");
    let words = parse::words(&statements, Mode::Worker).expect("the program parses");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    tile.memory.write(CODE, &bytes).expect("the program fits");
    tile.memory
        .write(0x8_0000, &[0x3c; 8])
        .expect("the stream fits");
    for index in 0..64 {
        tile.weights_mut().set(index, 0x3800_3800_3800_3800);
    }
    for worker in 0..WORKERS {
        let context = Context::Worker(worker as u8);
        tile.launch_worker(worker, CODE, 0);
        tile.set_m(context, 0, ITERATIONS);
        // Addresses in two pairs of elements; the selectors keep them where they are.
        tile.set_m(context, 2, 0x8_0000 | 0x9_0008 << 21);
        tile.set_m(context, 3, 0x9_0008 >> 11 << 21);
        for register in 0..8 {
            tile.set_a(worker, register, 0x3c00_4000);
        }
        tile.set_m(context, 5, 0x6_0000 + 64 * worker as u32);
    }
    tile
}

fn bench(bencher: Bencher<'_, '_>, text: &str) {
    let mut once = tile(text);
    assert_eq!(once.run(u64::MAX), Yield::Stopped);
    assert!(
        once.stop().is_none(),
        "{}",
        once.stop().map(ToString::to_string).unwrap_or_default()
    );
    bencher
        .counter(ItemsCount::new(once.instructions()))
        .with_inputs(|| tile(text))
        .bench_values(|mut tile| black_box(tile.run(u64::MAX)));
}

/// Six workers in the integer loop.
#[divan::bench]
fn integer_loop(bencher: Bencher<'_, '_>) {
    bench(bencher, INTEGER);
}

/// Six workers in the product loop.
#[divan::bench]
fn product_loop(bencher: Bencher<'_, '_>) {
    bench(bencher, PRODUCT);
}
