//! The tasks of a blocking and the steps of a call: host phases, kernel calls, exchange phases.

use std::ops::Range;

use tilekiln_chip::exchange::{HOST_PAGE, MESSAGE_MAX};
use tilekiln_chip::{ByteAddr, TileId};

use super::blocking::{Blocking, PANEL, PANEL_BYTES};
use super::host::{Strings, strings};
use super::name;
use super::placement::{PAGE, travels};
use super::{Compute, Exchange, Host, HostDirection, Kernel, Layout, Step, Task, Transfer, Width};

/// The tasks in order: head, then query block, then key split; task n runs on tile n.
pub(crate) fn tasks(blocking: &Blocking) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    for head in 0..blocking.heads() {
        for query_block in 0..blocking.query_blocks() {
            for key_split in 0..blocking.key_splits {
                let index = u16::try_from(tasks.len()).ok().and_then(TileId::new);
                let Some(tile) = index else { return tasks };
                tasks.push(Task {
                    tile,
                    head,
                    query_block,
                    key_split,
                    rows: blocking.rows(query_block),
                    keys: blocking.keys(&blocking.split_groups(key_split)),
                    owned_rows: blocking.owned_rows(query_block, key_split),
                    owned_keys: blocking.keys(&blocking.owned_groups(query_block, key_split)),
                });
            }
        }
    }
    tasks
}

/// Whole groups of 16 keys that hold `keys`.
fn groups(keys: &Range<u32>) -> Range<u32> {
    keys.start.div_ceil(PANEL)..keys.end.div_ceil(PANEL)
}

/// Everything the steps are made from.
pub(crate) struct Parts<'a> {
    /// The blocking taken.
    pub blocking: &'a Blocking,
    /// Its tasks.
    pub tasks: &'a [Task],
    /// Where things lie.
    pub layout: &'a Layout,
    /// What the host moves.
    pub host: &'a Host,
    /// Factor on the scores.
    pub scale: f32,
}

impl Parts<'_> {
    /// Where an array lies; arrays a blocking does without are never asked for.
    fn at(&self, name: &str) -> ByteAddr {
        self.layout
            .find(name)
            .map_or(ByteAddr(0), |allocation| allocation.at)
    }

    /// Where queries and keys are packed to: their own array when nobody else reads them.
    fn packed(&self) -> (ByteAddr, ByteAddr) {
        let (queries_travel, keys_travel) = travels(self.blocking);
        let queries = if queries_travel {
            name::QUERIES_OUT
        } else {
            name::QUERIES
        };
        let keys = if keys_travel {
            name::KEYS_VALUES_OUT
        } else {
            name::KEYS_VALUES
        };
        (self.at(queries), self.at(keys))
    }

    /// A kernel call; `arguments` gives a task's words.
    fn compute(
        &self,
        kernel: Kernel,
        name: impl Into<String>,
        arguments: impl Fn(&Task, &Strings) -> Vec<u32>,
    ) -> Step {
        let lists = self.tasks.iter().enumerate().map(|(index, task)| {
            let words = arguments(task, &strings(self.blocking, index, task));
            debug_assert_eq!(words.len(), kernel.argument_words() as usize);
            words
        });
        Step::Compute(Compute {
            kernel,
            name: name.into(),
            arguments: lists.collect(),
        })
    }

    /// The host phases that bring the input strings, each with the copy out of the window.
    fn input(&self, steps: &mut Vec<Step>) {
        let input = self.at(name::INPUT).0;
        for (index, phase) in self.host.phases.iter().enumerate() {
            if phase.direction == HostDirection::ToHost {
                continue;
            }
            steps.push(Step::Host(index));
            let from = index as u32 * HOST_PAGE;
            steps.push(
                self.compute(Kernel::Copy, format!("copy page {index}"), |_, strings| {
                    let bytes = strings.input_bytes.saturating_sub(from).min(HOST_PAGE);
                    vec![PAGE.0, input + from, bytes / 8]
                }),
            );
        }
    }

    /// A cycle sample behind the finished rows.
    fn sample(&self, label: &str, offset: u32) -> Step {
        let output = self.at(name::OUTPUT).0;
        self.compute(Kernel::Sample, label, |_, strings| {
            vec![output + strings.result_bytes + offset]
        })
    }

    /// Rows to operands of the matrix unit.
    fn pack(&self, steps: &mut Vec<Step>) {
        let b = self.blocking;
        let input = self.at(name::INPUT).0;
        let (queries, keys) = self.packed();
        let (from, to, scale) = (
            b.string_columns() / 4,
            b.padded_columns() / 4,
            self.scale.to_bits(),
        );
        steps.push(self.compute(Kernel::PackLeft, "pack queries", |task, _| {
            vec![
                input,
                queries.0,
                task.owned_rows.len() as u32,
                from,
                to,
                scale,
            ]
        }));
        let (panels, stride) = (b.panels(), b.group_bytes());
        steps.push(
            self.compute(Kernel::PackRight, "pack keys", |task, strings| {
                let count = groups(&task.owned_keys).len() as u32;
                vec![input + strings.keys_at, keys.0, count, from, panels, stride]
            }),
        );
        let values = keys.0 + panels * PANEL_BYTES;
        let kernel = Kernel::PackRightTransposed;
        steps.push(self.compute(kernel, "pack values", |task, strings| {
            let count = groups(&task.owned_keys).len() as u32;
            vec![
                input + strings.values_at,
                values,
                count,
                from,
                panels,
                stride,
            ]
        }));
    }

    /// Queries to all splits of their block, keys and values to all blocks of their split.
    fn exchange_in(&self) -> Option<Step> {
        let b = self.blocking;
        let (queries_travel, keys_travel) = travels(b);
        let mut transfers = Vec::new();
        for task in self.tasks {
            if queries_travel {
                let offset = (task.owned_rows.start - task.rows.start) * b.row_bytes();
                let readers =
                    (0..b.key_splits).map(|split| self.peer(task, task.query_block, split));
                let to = self.at(name::QUERIES).offset(offset);
                let bytes = task.owned_rows.len() as u32 * b.row_bytes();
                let to: Vec<_> = readers.map(|tile| (tile, to)).collect();
                send(
                    &mut transfers,
                    task.tile,
                    self.at(name::QUERIES_OUT),
                    bytes,
                    &to,
                );
            }
            if keys_travel {
                let owned = groups(&task.owned_keys);
                let offset = (owned.start - groups(&task.keys).start) * b.group_bytes();
                let readers =
                    (0..b.query_blocks()).map(|block| self.peer(task, block, task.key_split));
                let to = self.at(name::KEYS_VALUES).offset(offset);
                let to: Vec<_> = readers.map(|tile| (tile, to)).collect();
                let bytes = owned.len() as u32 * b.group_bytes();
                send(
                    &mut transfers,
                    task.tile,
                    self.at(name::KEYS_VALUES_OUT),
                    bytes,
                    &to,
                );
            }
        }
        let name = "queries, keys and values".to_owned();
        (!transfers.is_empty()).then_some(Step::Exchange(Exchange { name, transfers }))
    }

    /// The tile of another task of the same head.
    fn peer(&self, task: &Task, block: u32, split: u32) -> TileId {
        let b = self.blocking;
        let index = (task.head * b.query_blocks() + block) * b.key_splits + split;
        self.tasks[index as usize].tile
    }

    /// Scores, then weights.
    fn scores(&self, steps: &mut Vec<Step>) {
        let b = self.blocking;
        let (queries, keys) = (self.at(name::QUERIES).0, self.at(name::KEYS_VALUES).0);
        let (scores, statistics) = (self.at(name::SCORES).0, self.at(name::STATISTICS).0);
        let (row, panels, stride) = (b.row_bytes(), b.panels(), b.group_bytes());
        let wide = |task: &Task| groups(&task.keys).len() as u32;
        let score_row = |task: &Task| 2 * PANEL * wide(task);
        steps.push(self.compute(Kernel::Gemm, "scores", |task, _| {
            let (rows, columns) = (task.rows.len() as u32, wide(task));
            vec![
                queries,
                row,
                keys,
                scores,
                score_row(task),
                rows,
                panels,
                columns,
                PANEL_BYTES,
                stride,
            ]
        }));
        steps.push(self.compute(Kernel::Mask, "mask", |task, _| {
            let last = scores + score_row(task) - 2 * PANEL;
            let valid = PANEL - (PANEL * wide(task) - task.keys.len() as u32);
            vec![last, score_row(task), task.rows.len() as u32, valid]
        }));
        steps.push(self.compute(Kernel::Softmax, "softmax", |task, _| {
            let (rows, columns) = (task.rows.len() as u32, PANEL * wide(task));
            vec![scores, score_row(task), rows, columns, statistics]
        }));
    }

    /// A partial result for every key block.
    fn weighted_values(&self, steps: &mut Vec<Step>) {
        let b = self.blocking;
        let (keys, scores) = (self.at(name::KEYS_VALUES).0, self.at(name::SCORES).0);
        let (row, panels, stride) = (b.row_bytes(), b.panels(), b.group_bytes());
        let score_row = |task: &Task| 2 * PANEL * groups(&task.keys).len() as u32;
        for index in 0..b.partials() {
            let out = self.partial(index);
            steps.push(self.compute(
                Kernel::Gemm,
                format!("weighted values {index}"),
                |task, _| {
                    let part = b.partial_groups(task.key_split, index);
                    let left = scores + 2 * PANEL * part.start;
                    let right = keys + panels * PANEL_BYTES + part.start * stride;
                    let (rows, inner) = (task.rows.len() as u32, part.len() as u32);
                    vec![
                        left,
                        score_row(task),
                        right,
                        out,
                        row,
                        rows,
                        inner,
                        panels,
                        stride,
                        PANEL_BYTES,
                    ]
                },
            ));
        }
    }

    /// Where partial result `index` of the task begins.
    fn partial(&self, index: u32) -> u32 {
        self.at(name::PARTIALS).0 + index * self.blocking.rows_max() * self.blocking.row_bytes()
    }

    /// Bytes from partial result to partial result among the gathered.
    fn gathered_stride(&self) -> u32 {
        self.blocking.owned_rows_max() * self.blocking.row_bytes()
    }

    /// Where partial result `index` of split `split` is gathered.
    fn gathered(&self, split: u32, index: u32) -> u32 {
        let place = split * self.blocking.partials() + index;
        self.at(name::GATHERED).0 + place * self.gathered_stride()
    }

    /// Where the statistics of split `split` are gathered.
    fn gathered_statistics(&self, split: u32) -> u32 {
        self.at(name::GATHERED_STATISTICS).0 + split * self.blocking.owned_rows_max() * 8
    }

    /// Every split's partial results and statistics to the tiles that finish their rows.
    fn exchange_partials(&self) -> Option<Step> {
        let b = self.blocking;
        let mut transfers = Vec::new();
        for task in self.tasks {
            let others = (1..b.key_splits).map(|step| (task.key_split + step) % b.key_splits);
            for split in others {
                let tile = self.peer(task, task.query_block, split);
                let owned = b.owned_rows(task.query_block, split);
                let (first, rows) = (owned.start - task.rows.start, owned.len() as u32);
                for index in 0..b.partials() {
                    let from = ByteAddr(self.partial(index) + first * b.row_bytes());
                    let to = [(tile, ByteAddr(self.gathered(task.key_split, index)))];
                    send(&mut transfers, task.tile, from, rows * b.row_bytes(), &to);
                }
                let from = self.at(name::STATISTICS).offset(8 * first);
                let to = [(tile, ByteAddr(self.gathered_statistics(task.key_split)))];
                send(&mut transfers, task.tile, from, 8 * rows, &to);
            }
        }
        let name = "partial results".to_owned();
        (!transfers.is_empty()).then_some(Step::Exchange(Exchange { name, transfers }))
    }

    /// The rows a tile finishes itself, from where they were computed to where all are gathered.
    fn own_partials(&self, steps: &mut Vec<Step>) {
        let b = self.blocking;
        let first = |task: &Task| task.owned_rows.start - task.rows.start;
        for index in 0..b.partials() {
            steps.push(
                self.compute(Kernel::Copy, format!("own partial {index}"), |task, _| {
                    let from = self.partial(index) + first(task) * b.row_bytes();
                    let to = self.gathered(task.key_split, index);
                    vec![from, to, task.owned_rows.len() as u32 * b.row_bytes() / 8]
                }),
            );
        }
        let statistics = self.at(name::STATISTICS).0;
        steps.push(self.compute(Kernel::Copy, "own statistics", |task, _| {
            let to = self.gathered_statistics(task.key_split);
            vec![
                statistics + 8 * first(task),
                to,
                task.owned_rows.len() as u32,
            ]
        }));
    }

    /// Partial results to finished rows; with a single split they are merged where they are.
    fn merge(&self) -> Step {
        let b = self.blocking;
        let gathered = b.key_splits > 1;
        let (from, stride, statistics, rows) = if gathered {
            let statistics = self.gathered_statistics(0);
            (
                self.gathered(0, 0),
                self.gathered_stride(),
                statistics,
                b.owned_rows_max(),
            )
        } else {
            let stride = b.rows_max() * b.row_bytes();
            (
                self.partial(0),
                stride,
                self.at(name::STATISTICS).0,
                b.rows_max(),
            )
        };
        let output = self.at(name::OUTPUT).0;
        self.compute(Kernel::Merge, "merge", |task, _| {
            let (splits, partials) = (b.key_splits, b.partials());
            let (owned, columns) = (task.owned_rows.len() as u32, b.string_columns() / 4);
            let row = b.row_bytes();
            vec![
                from,
                stride,
                splits,
                partials,
                statistics,
                8 * rows,
                owned,
                row,
                output,
                columns,
            ]
        })
    }

    /// All steps of a call.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        self.input(&mut steps);
        steps.push(self.sample("first sample", 0));
        self.pack(&mut steps);
        steps.extend(self.exchange_in());
        self.scores(&mut steps);
        self.weighted_values(&mut steps);
        if self.blocking.key_splits > 1 {
            steps.extend(self.exchange_partials());
            self.own_partials(&mut steps);
        }
        steps.push(self.merge());
        steps.push(self.sample("last sample", 4));
        let phases = self.host.phases.iter().enumerate();
        let out = phases.filter(|(_, phase)| phase.direction == HostDirection::ToHost);
        steps.extend(out.map(|(index, _)| Step::Host(index)));
        steps
    }
}

/// Adds the transfer of `bytes` bytes, cut into messages no longer than a row can hold.
fn send(
    transfers: &mut Vec<Transfer>,
    source: TileId,
    from: ByteAddr,
    bytes: u32,
    to: &[(TileId, ByteAddr)],
) {
    let words = bytes / 4;
    // Even pieces: the last one would otherwise be a straggler with all the cost of a message.
    let pieces = words.div_ceil(MESSAGE_MAX);
    let mut sent = 0;
    while sent < words {
        let piece = words.div_ceil(pieces).next_multiple_of(2).min(words - sent);
        let destinations = to
            .iter()
            .map(|(tile, at)| (*tile, at.offset(4 * sent)))
            .collect();
        let from = from.offset(4 * sent);
        transfers.push(Transfer {
            source,
            from,
            words: piece,
            width: Width::Single,
            destinations,
        });
        sent += piece;
    }
}
