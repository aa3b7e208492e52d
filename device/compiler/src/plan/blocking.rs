//! How an attention may be cut into tasks: sizes of every part, and all cuts worth costing.

use std::ops::Range;

use tilekiln_chip::exchange::HOST_PAGE;

use crate::spec::AttentionShape;

/// Rows of the matrix unit's panels, and the granule of keys. [isa-float §4.2 code]
pub(crate) const PANEL: u32 = 16;

/// Bytes of one 16 × 16 panel of f16. [kernels §2 src]
pub(crate) const PANEL_BYTES: u32 = 512;

/// Keys an f16 accumulation takes when nothing is pinned. [kernels §5 derived]
pub(crate) const KEY_BLOCK_AUTO: u32 = 128;

/// Keys an f16 accumulation may take at most. [kernels §5 derived]
pub(crate) const KEY_BLOCK_MAX: u32 = 256;

/// Part `index` of `total` things cut into `parts` as evenly as possible, the larger parts first.
pub(crate) fn even_part(total: u32, parts: u32, index: u32) -> Range<u32> {
    let (floor, larger) = (total / parts, total % parts);
    let start = index * floor + index.min(larger);
    start..start + floor + u32::from(index < larger)
}

/// How the query rows of a head are cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryCut {
    /// This many blocks, as even as possible.
    Even(u32),
    /// Blocks of this many rows, the last one what is left.
    Rows(u32),
}

/// One way to cut an attention into tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocking {
    /// What is cut.
    pub shape: AttentionShape,
    /// The queries.
    pub query_cut: QueryCut,
    /// Parts the keys of a head are split into.
    pub key_splits: u32,
    /// Most keys of an f16 accumulation.
    pub key_block_limit: u32,
}

impl Blocking {
    /// Columns of a row in a host string: a row is whole 64-bit words.
    pub fn string_columns(&self) -> u32 {
        self.shape.head_dimension.next_multiple_of(4)
    }

    /// Bytes of a row in a host string.
    pub fn string_row_bytes(&self) -> u32 {
        2 * self.string_columns()
    }

    /// Columns of a head on the tiles.
    pub fn padded_columns(&self) -> u32 {
        self.shape.head_dimension.next_multiple_of(PANEL)
    }

    /// Bytes of a row of a left operand or a result of the tiles.
    pub fn row_bytes(&self) -> u32 {
        2 * self.padded_columns()
    }

    /// Panels across a head.
    pub fn panels(&self) -> u32 {
        self.padded_columns() / PANEL
    }

    /// Bytes of the K and V panels of 16 keys.
    pub fn group_bytes(&self) -> u32 {
        2 * self.panels() * PANEL_BYTES
    }

    /// Heads of all batches.
    pub fn heads(&self) -> u32 {
        self.shape.batch * self.shape.heads
    }

    /// Groups of 16 keys of a head.
    pub fn groups(&self) -> u32 {
        self.shape.key_length.div_ceil(PANEL)
    }

    /// Query blocks of a head.
    pub fn query_blocks(&self) -> u32 {
        match self.query_cut {
            QueryCut::Even(blocks) => blocks,
            QueryCut::Rows(rows) => self.shape.query_length.div_ceil(rows),
        }
    }

    /// Tasks, one a tile.
    pub fn tasks(&self) -> u64 {
        u64::from(self.heads()) * u64::from(self.query_blocks()) * u64::from(self.key_splits)
    }

    /// The query rows of a block.
    pub fn rows(&self, block: u32) -> Range<u32> {
        let total = self.shape.query_length;
        match self.query_cut {
            QueryCut::Even(blocks) => even_part(total, blocks, block),
            QueryCut::Rows(rows) => block * rows..((block + 1) * rows).min(total),
        }
    }

    /// The query rows that split `split` of block `block` receives and finishes.
    pub fn owned_rows(&self, block: u32, split: u32) -> Range<u32> {
        let rows = self.rows(block);
        let part = even_part(rows.end - rows.start, self.key_splits, split);
        rows.start + part.start..rows.start + part.end
    }

    /// The groups of a split.
    pub fn split_groups(&self, split: u32) -> Range<u32> {
        even_part(self.groups(), self.key_splits, split)
    }

    /// The groups that block `block` of split `split` receives.
    pub fn owned_groups(&self, block: u32, split: u32) -> Range<u32> {
        let groups = self.split_groups(split);
        let part = even_part(groups.end - groups.start, self.query_blocks(), block);
        groups.start + part.start..groups.start + part.end
    }

    /// The keys of some groups, those that only pad left out.
    pub fn keys(&self, groups: &Range<u32>) -> Range<u32> {
        let end = (groups.end * PANEL).min(self.shape.key_length);
        (groups.start * PANEL).min(end)..end
    }

    /// Rows of the largest block.
    pub fn rows_max(&self) -> u32 {
        self.rows(0).len() as u32
    }

    /// Groups of the largest split.
    pub fn groups_max(&self) -> u32 {
        self.split_groups(0).len() as u32
    }

    /// Most query rows a task owns.
    pub fn owned_rows_max(&self) -> u32 {
        self.owned_rows(0, 0).len() as u32
    }

    /// Most groups a task owns.
    pub fn owned_groups_max(&self) -> u32 {
        self.owned_groups(0, 0).len() as u32
    }

    /// Partial results of every split.
    pub fn partials(&self) -> u32 {
        self.groups_max().div_ceil(self.key_block_limit / PANEL)
    }

    /// The groups of partial result `index`, counted from the split's first.
    pub fn partial_groups(&self, split: u32, index: u32) -> Range<u32> {
        even_part(
            self.split_groups(split).len() as u32,
            self.partials(),
            index,
        )
    }

    /// Keys of the longest f16 accumulation.
    pub fn key_block_rows(&self) -> u32 {
        PANEL * self.partial_groups(0, 0).len() as u32
    }

    /// Whether some split is too short to give its partial results.
    pub fn has_empty_partials(&self) -> bool {
        (self.split_groups(self.key_splits - 1).len() as u32) < self.partials()
    }

    /// Bytes of a task's input string: queries, keys, values.
    pub fn input_bytes(&self, rows: u32, groups: u32) -> u32 {
        (rows + 2 * PANEL * groups) * self.string_row_bytes()
    }

    /// Host phases that bring the longest input string.
    pub fn input_pages(&self) -> u32 {
        self.input_bytes_max().div_ceil(HOST_PAGE)
    }

    /// Bytes of the longest input string: that of the first task, which owns the larger parts.
    pub fn input_bytes_max(&self) -> u32 {
        self.input_bytes(self.owned_rows_max(), self.owned_groups_max())
    }
}

/// The block counts of `total` worth trying: one for each size of the largest part, the fewest.
pub(crate) fn useful_parts(total: u32, most: u32) -> Vec<u32> {
    let mut parts = Vec::new();
    let mut count = 1;
    while count <= total.min(most) {
        parts.push(count);
        let largest = total.div_ceil(count);
        if largest == 1 {
            break;
        }
        count = total.div_ceil(largest - 1);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_parts_follow_each_other_and_differ_by_at_most_one() {
        for (total, parts) in [(729, 3), (46, 7), (3, 5), (0, 2), (1, 1)] {
            let mut next = 0;
            for index in 0..parts {
                let part = even_part(total, parts, index);
                assert_eq!(part.start, next);
                assert!(part.len() as u32 - total / parts <= 1);
                next = part.end;
            }
            assert_eq!(next, total);
        }
    }

    #[test]
    fn useful_parts_skip_counts_that_shrink_nothing() {
        assert_eq!(useful_parts(7, 100), [1, 2, 3, 4, 7]);
        assert_eq!(useful_parts(7, 3), [1, 2, 3]);
        assert_eq!(useful_parts(1, 100), [1]);
    }
}
