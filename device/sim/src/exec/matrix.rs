//! The supervisor's half of the matrix unit: loading weights. [isa-core §3.7]

pub(crate) mod unit;

use tilekiln_chip::csr::number;
use tilekiln_isa::op::Op;

use crate::cycles;
use crate::stop::Fault;
use crate::tile::Tile;
use crate::tile::supervisor::{Done, SupervisorFn};

/// Weight words of a tile. [isa-core §3.7 code]
const WEIGHTS: u32 = 64;

/// The function of a form of this family.
pub(crate) fn supervisor(op: Op) -> Option<SupervisorFn> {
    let function: SupervisorFn = match op {
        Op::Ld64putcsZ8 => |v, tile, _| {
            let at = pointer(v[0], 1, tile)?;
            let word = tile.memory.load64(at)?;
            tile.weights.set(v[0] as usize, word);
            Ok(moved(tile, at + 8))
        },
        Op::Ld128putcsZ8 => |v, tile, _| {
            let at = pointer(v[0], 2, tile)?;
            let [low, high] = tile.memory.load128(at)?;
            tile.weights.set(v[0] as usize, low);
            tile.weights.set(v[0] as usize + 1, high);
            Ok(moved(tile, at + 16))
        },
        _ => return None,
    };
    Some(function)
}

/// `$CCCSLOAD`, once the weight's number is known to be good.
fn pointer(index: u32, align: u32, tile: &Tile) -> Result<u32, Fault> {
    if index >= WEIGHTS || !index.is_multiple_of(align) {
        return Err(Fault::WeightIndex { index, align });
    }
    Ok(tile.csr(number::CCCSLOAD))
}

fn moved(tile: &mut Tile, to: u32) -> Done {
    tile.set_csr(number::CCCSLOAD, to);
    Done::new(cycles::ORDINARY)
}
