//! What a blocking costs, in cycles of the busiest tile: one formula a part, every number named.
//!
//! Integers only: equal graphs must give equal plans on every host. The host's share of a call is
//! not counted; the measured span begins after the last input phase and ends before the first
//! output phase.

use tilekiln_chip::WORKERS;

use super::Candidate;
use super::blocking::{Blocking, PANEL};

/// Issue slots of a worker for one row of a matrix panel: four instructions, every worker one
/// slot in six cycles. [kernels §3.1 derived]
const GEMM_ROW: u64 = 24;

/// Cycles of a panel beside its rows: coefficient load, launch, wait. [kernels §1 src-later]
const GEMM_PANEL: u64 = 235;

/// Cycles of a kernel call beside its work. [kernels §1 src-later]
const CALL: u64 = 294;

/// Tenths of a cycle for an element of the softmax. [kernels §3.4 derived]
const SOFTMAX_ELEMENT_TENTHS: u64 = 17;

/// Instructions of a softmax row beside its elements: horizontal steps and statistics. Counted
/// on paper for a four-wide row loop; no source.
const SOFTMAX_ROW: u64 = 36;

/// Instructions that mask one row. Counted on paper; no source.
const MASK_ROW: u64 = 12;

/// Cycles of a phase beside its words: worker barrier and chip-wide sync. [kernels §1 src-later]
const PHASE: u64 = 600;

/// Events of a message beside its words: route, multiplexer, guard. [kernels §7.4 derived]
const MESSAGE: u64 = 110;

/// Quarter cycles to pack an element of a left operand or of K: load, scale or move, store.
/// [kernels §3.10 derived]
const PACK_ELEMENT_QUARTERS: u64 = 2;

/// Quarter cycles to pack an element of V, transposed in registers. [kernels §3.10 derived]
const TRANSPOSE_ELEMENT_QUARTERS: u64 = 3;

/// Cycles to merge one element of one partial result. [kernels §3.11 src-later]
const MERGE_ELEMENT: u64 = 1;

/// Cycles to finish one output element: scale by the sum, round, store. [kernels §3.6 derived]
const MERGE_OUTPUT: u64 = 1;

/// Instructions of a merged row for each split: two exponentials, weights. [kernels §3.5 derived]
const MERGE_SPLIT: u64 = 24;

/// Bytes a local copy moves a cycle. [kernels §1 src-later]
const COPY_BYTES: u64 = 6;

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
    let columns = u64::from(blocking.padded_columns());
    let queries = row_slots(blocking.owned_rows_max()) * columns * PACK_ELEMENT_QUARTERS;
    let keys = u64::from(blocking.owned_groups_max() * PANEL) * columns;
    let panels = keys * (PACK_ELEMENT_QUARTERS + TRANSPOSE_ELEMENT_QUARTERS);
    3 * CALL + (queries + panels) / 4
}

fn exchange_in(blocking: &Blocking) -> u64 {
    let (q, k) = (
        u64::from(blocking.query_blocks()),
        u64::from(blocking.key_splits),
    );
    let mut words = 0;
    let mut messages = 0;
    if k > 1 {
        words += u64::from(blocking.rows_max()) * u64::from(blocking.row_bytes() / 4);
        messages += k;
    }
    if q > 1 {
        words += u64::from(blocking.groups_max()) * u64::from(blocking.group_bytes() / 4);
        messages += q.min(u64::from(blocking.groups_max()));
    }
    if messages == 0 {
        0
    } else {
        PHASE + words + MESSAGE * messages
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
    let mask = if blocking.shape.key_length.is_multiple_of(PANEL) {
        0
    } else {
        rows * MASK_ROW
    };
    2 * CALL + mask + rows * SOFTMAX_ROW + rows * columns * SOFTMAX_ELEMENT_TENTHS / 10
}

fn exchange_partials(blocking: &Blocking) -> u64 {
    if blocking.key_splits == 1 {
        return 0;
    }
    let others = u64::from(blocking.key_splits - 1);
    let partials = u64::from(blocking.partials());
    let row_words = partials * u64::from(blocking.row_bytes() / 4) + 2;
    let words = others * u64::from(blocking.owned_rows_max()) * row_words;
    PHASE + words + MESSAGE * others * (partials + 1)
}

fn merge(blocking: &Blocking) -> u64 {
    let (splits, partials) = (
        u64::from(blocking.key_splits),
        u64::from(blocking.partials()),
    );
    let rows = row_slots(blocking.owned_rows_max());
    let columns = u64::from(blocking.padded_columns());
    let element = splits * partials * MERGE_ELEMENT + MERGE_OUTPUT;
    let own = u64::from(blocking.owned_rows_max()) * u64::from(blocking.row_bytes());
    let copies = if splits == 1 {
        0
    } else {
        (partials + 1) * CALL + partials * own / COPY_BYTES
    };
    CALL + copies + rows * (splits * MERGE_SPLIT + columns * element)
}
