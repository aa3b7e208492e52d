//! A whole bundle without a program in it, for tests.

use tilekiln_bundle::{
    Binding, Builder, Direction, HostPhase, Line, Meta, Roles, Rounding, Tensor, TensorKind, Verify,
};
use tilekiln_chip::memory::ENTRY;
use tilekiln_chip::{ByteAddr, PhysTile};

use crate::driver::fake::host;

/// Attention of one batch, four queries and keys, two heads of eight columns. The output's place is
/// the query's, and its strides are not the tensor's.
pub(crate) fn bundle() -> Vec<u8> {
    let mut builder = Builder::new(&meta(), &host(), &verify());
    for (index, name) in ["query", "key", "value", "attention"]
        .into_iter()
        .enumerate()
    {
        let kind = if index == 3 {
            TensorKind::Output
        } else {
            TensorKind::Input
        };
        builder.tensor(&Tensor {
            name,
            kind,
            shape: [1, 4, 2, 8],
        });
        for head in 0..2 {
            builder.binding(&Binding {
                tensor: index as u32,
                buffer_offset: 0x100 * (index as u32 % 3) + 0x80 * head,
                buffer_stride: 20,
                row_elements: 8,
                rows: 4,
                first_element: 8 * u64::from(head),
                element_stride: 16,
            });
        }
    }
    builder.phase(&HostPhase {
        direction: Direction::ToTiles,
        pages: 2,
        bytes: 384,
    });
    builder.phase(&HostPhase {
        direction: Direction::ToHost,
        pages: 2,
        bytes: 128,
    });
    builder
        .stage("plan", b"a plan")
        .manifest("name = \"sample\"\n")
        .report("a report\n");
    let class = builder.class("task");
    let line = Line {
        start: ENTRY,
        end: ByteAddr(ENTRY.0 + 8),
        symbol: "start",
        file: "support.S",
        line: 7,
    };
    builder.line(class, &line);
    for tile in PhysTile::all() {
        builder
            .tile(tile, class, &[(ENTRY, [0; 8])])
            .expect("tiles differ");
    }
    builder.finish().expect("all of it fits together")
}

fn meta() -> Meta<'static> {
    Meta {
        name: "sample",
        target: "ipu21",
        op: "attention",
        tiles: 1472,
        batch: 1,
        query_length: 4,
        key_length: 4,
        heads: 2,
        head_dimension: 8,
        padded_head_dimension: 16,
        scale: 0.353,
        rounding: Rounding::Nearest,
        tasks: 2,
        query_blocks: 1,
        query_block_rows: 4,
        key_splits: 1,
        key_block_rows: 16,
        exchange_phases: 1,
        roles: Roles {
            query: 0,
            key: 1,
            value: 2,
            output: 3,
        },
    }
}

fn verify() -> Verify {
    Verify {
        seed: 1,
        mean: 0.0,
        std: 0.5,
        max_abs_error: 2e-4,
        rmse: 2e-5,
    }
}
