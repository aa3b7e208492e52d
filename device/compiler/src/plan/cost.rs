//! What a blocking costs, in cycles of the busiest tile: one formula a part, every number named.
//!
//! Integers only: equal graphs must give equal plans on every host. The host's share of a call is
//! not counted; the measured span begins after the last input phase and ends before the first
//! output phase.

use tilekiln_chip::WORKERS;

use super::Candidate;
use super::blocking::{Blocking, PANEL};

/// Cycles of a row of the busiest worker in one panel. [kernels §3.1 derived]
const GEMM_ROW: u64 = 24;

/// Cycles of a panel beside its rows: coefficient load, launch, wait. [kernels §1 src-later]
const GEMM_PANEL: u64 = 235;

/// Cycles of a kernel call beside its work. [kernels §1 src-later]
const CALL: u64 = 294;

/// Tenths of a cycle for a column of the softmax. [kernels/softmax.S]
const SOFTMAX_COLUMN_TENTHS: u64 = 16;

/// Cycles of a softmax row beside its columns. [kernels/softmax.S]
const SOFTMAX_ROW: u64 = 28;

/// Cycles that mask one row at most: the word with the boundary and three behind it.
/// [kernels/mask.S]
const MASK_ROW: u64 = 11;

/// Cycles of a phase beside its words: worker barrier and chip-wide sync. [kernels §1 src-later]
const PHASE: u64 = 600;

/// Events before the first word of a phase arrives and behind its last: route, multiplexer, guard.
/// Messages of a phase abut, so they cost it once. [kernels §7.4 derived, exchange §13.3]
const LATENCY: u64 = 110;

/// Cycles to scale a 64-bit word of the queries. [kernels/pack_left.S]
const PACK_LEFT_WORD: u64 = 7;

/// Cycles of a panel of a row of the keys, and of the row beside it. [kernels/pack_right.S]
const PACK_RIGHT: (u64, u64) = (10, 25);

/// Cycles of two columns of four rows of the values, and of the rows beside them.
/// [kernels/pack_right_transposed.S]
const TRANSPOSE: (u64, u64) = (7, 25);

/// Cycles to merge two columns: of one partial result, and beside them. [kernels/merge.S]
const MERGE_COLUMNS: (u64, u64) = (2, 8);

/// Cycles of a merged row: for each split, and beside them. [kernels/merge.S]
const MERGE_ROW: (u64, u64) = (16, 40);

/// Cycles to copy a 64-bit word, and of the call beside them. [kernels/copy.S]
const COPY: (u64, u64) = (2, 100);

/// The cost of `blocking`, as a candidate that nothing refuses.
pub(crate) fn cost(blocking: &Blocking) -> Candidate {
    let parts = vec![
        ("pack", pack(blocking)),
        ("exchange in", exchange_in(blocking)),
        ("gemm", gemm(blocking)),
        ("softmax", softmax(blocking)),
        ("exchange partials", exchange_partials(blocking)),
        ("merge", merge(blocking)),
    ];
    Candidate {
        query_blocks: blocking.query_blocks(),
        query_block_rows: blocking.rows_max(),
        key_splits: blocking.key_splits,
        key_block_rows: blocking.key_block_rows(),
        tasks: blocking.tasks(),
        cycles: parts.iter().map(|(_, cycles)| cycles).sum(),
        parts,
        refused: None,
    }
}

/// The slots of the busiest worker times the workers: what a row count really costs.
fn row_slots(rows: u32) -> u64 {
    u64::from(rows).next_multiple_of(WORKERS as u64)
}

fn pack(blocking: &Blocking) -> u64 {
    let (panels, columns) = (
        u64::from(blocking.panels()),
        u64::from(blocking.padded_columns()),
    );
    let queries = row_slots(blocking.owned_rows_max()) * PACK_LEFT_WORD * columns / 4;
    let rows = blocking.owned_groups_max() * PANEL;
    let keys = row_slots(rows) * (PACK_RIGHT.0 * panels + PACK_RIGHT.1);
    let values = row_slots(rows / 4) * (TRANSPOSE.0 * columns / 2 + TRANSPOSE.1);
    3 * CALL + queries + keys + values
}

fn exchange_in(blocking: &Blocking) -> u64 {
    let queries = match blocking.key_splits {
        1 => 0,
        _ => u64::from(blocking.rows_max()) * u64::from(blocking.row_bytes() / 4),
    };
    let keys = match blocking.query_blocks() {
        1 => 0,
        _ => u64::from(blocking.groups_max()) * u64::from(blocking.group_bytes() / 4),
    };
    match queries + keys {
        0 => 0,
        words => PHASE + LATENCY + words,
    }
}

fn gemm(blocking: &Blocking) -> u64 {
    let rows = u64::from(blocking.rows_max().div_ceil(WORKERS as u32));
    let panels = 2 * u64::from(blocking.panels()) * u64::from(blocking.groups_max());
    CALL * (1 + u64::from(blocking.partials())) + panels * (GEMM_ROW * rows + GEMM_PANEL)
}

fn softmax(blocking: &Blocking) -> u64 {
    let rows = row_slots(blocking.rows_max());
    let columns = u64::from(PANEL * blocking.groups_max());
    let full = blocking.shape.key_length.is_multiple_of(PANEL);
    let mask = if full { 0 } else { rows * MASK_ROW };
    2 * CALL + mask + rows * SOFTMAX_ROW + rows * columns * SOFTMAX_COLUMN_TENTHS / 10
}

fn exchange_partials(blocking: &Blocking) -> u64 {
    if blocking.key_splits == 1 {
        return 0;
    }
    let others = u64::from(blocking.key_splits - 1);
    let partials = u64::from(blocking.partials());
    let row_words = partials * u64::from(blocking.row_bytes() / 4) + 2;
    let words = others * u64::from(blocking.owned_rows_max()) * row_words;
    PHASE + LATENCY + words
}

fn merge(blocking: &Blocking) -> u64 {
    let (splits, partials) = (
        u64::from(blocking.key_splits),
        u64::from(blocking.partials()),
    );
    let owned = blocking.owned_rows_max();
    let pairs = u64::from(blocking.string_columns()) / 2;
    let columns = pairs * (splits * partials * MERGE_COLUMNS.0 + MERGE_COLUMNS.1);
    let rows = row_slots(owned) * (columns + splits * MERGE_ROW.0 + MERGE_ROW.1);
    let words = partials * u64::from(owned * blocking.row_bytes() / 8) + u64::from(owned);
    let copies = match splits {
        1 => 0,
        _ => (partials + 1) * COPY.1 + words * COPY.0,
    };
    CALL + copies + rows
}
