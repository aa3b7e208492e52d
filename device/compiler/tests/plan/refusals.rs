use expect_test::{Expect, expect};
use tilekiln_compiler::diagnostic::render;
use tilekiln_compiler::plan::plan;

use super::Graph;

/// The complaint about a graph that has no plan.
#[track_caller]
fn check(graph: &Graph, want: Expect) {
    let (text, spec) = (graph.text(), graph.spec());
    let error = plan(&spec).expect_err("the graph has no plan");
    want.assert_eq(&render(
        &[error.diagnostic(&spec)],
        "graph.toml",
        &text,
        false,
    ));
}

fn pinned(pins: &'static str) -> Graph {
    Graph {
        pins,
        ..Graph::new(8, [1, 97, 97, 2, 64])
    }
}

#[test]
fn more_heads_than_tiles_are_refused() {
    check(
        &Graph::new(8, [3, 17, 17, 4, 16]),
        expect![[r#"
            error[K0301]: batch 3 times 4 heads is 12 tasks at least; the plan may use 8 tiles
             --> graph.toml:3:9
              |
            3 | tiles = 8
              |         ^
              |
              = help: allow 12 tiles or more: the chip has 1472"#]],
    );
    check(
        &Graph::new(1472, [400, 1, 1, 4, 2]),
        expect![[r#"
            error[K0301]: batch 400 times 4 heads is 1600 tasks at least; the plan may use 1472 tiles
             --> graph.toml:3:9
              |
            3 | tiles = 1472
              |         ^^^^
              |
              = help: the chip has 1472 tiles: 4 heads leave room for 368 batches"#]],
    );
}

#[test]
fn query_blocks_longer_than_the_queries_are_refused() {
    check(
        &pinned("query_block_rows = 98"),
        expect![[r#"
        error[K0302]: query_block_rows is 98; the queries have 97 rows
          --> graph.toml:13:20
           |
        13 | query_block_rows = 98
           |                    ^^
           |
           = help: the nearest query_block_rows that works is 97; "auto" leaves the choice to the planner"#]],
    );
}

#[test]
fn query_blocks_too_short_for_the_tiles_are_refused() {
    check(
        &pinned("query_block_rows = 16"),
        expect![[r#"
        error[K0303]: query blocks of 16 rows make 14 tasks; the plan may use 8 tiles
          --> graph.toml:13:20
           |
        13 | query_block_rows = 16
           |                    ^^
           |
           = help: the nearest query_block_rows that works is 25; "auto" leaves the choice to the planner"#]],
    );
}

#[test]
fn more_splits_than_groups_of_keys_are_refused() {
    check(
        &pinned("key_splits = 8"),
        expect![[r#"
        error[K0304]: key_splits is 8; 97 keys are 7 groups of 16, and a split holds at least one
          --> graph.toml:13:14
           |
        13 | key_splits = 8
           |              ^
           |
           = help: the nearest key_splits that works is 7; "auto" leaves the choice to the planner"#]],
    );
}

#[test]
fn more_splits_than_tiles_are_refused() {
    check(
        &pinned("key_splits = 5"),
        expect![[r#"
        error[K0305]: key_splits is 5; with 2 heads on 8 tiles there is room for 4
          --> graph.toml:13:14
           |
        13 | key_splits = 5
           |              ^
           |
           = help: the nearest key_splits that works is 4; "auto" leaves the choice to the planner"#]],
    );
}

#[test]
fn key_blocks_that_are_not_panels_or_too_long_are_refused() {
    check(
        &pinned("key_block_rows = 40"),
        expect![[r#"
        error[K0306]: key_block_rows is 40; it must be a multiple of 16 up to 256
          --> graph.toml:13:18
           |
        13 | key_block_rows = 40
           |                  ^^
           |
           = help: the nearest key_block_rows that works is 48; "auto" leaves the choice to the planner"#]],
    );
    check(
        &pinned("key_block_rows = 512"),
        expect![[r#"
        error[K0306]: key_block_rows is 512; it must be a multiple of 16 up to 256
          --> graph.toml:13:18
           |
        13 | key_block_rows = 512
           |                  ^^^
           |
           = help: the nearest key_block_rows that works is 256; "auto" leaves the choice to the planner"#]],
    );
}

#[test]
fn key_blocks_of_one_panel_need_equal_splits() {
    check(
        &pinned("key_block_rows = 16\nkey_splits = 2"),
        expect![[r#"
            error[K0307]: key blocks of 16 keys need splits of equal length
              --> graph.toml:14:14
               |
            14 | key_splits = 2
               |              ^
               |
               = help: the nearest key_splits that works is 1; "auto" leaves the choice to the planner"#]],
    );
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    check(
        &Graph::new(1, [1, 729, 729, 1, 64]),
        expect![[r#"
            error[K0308]: no room on a tile for its scores: 1076096 bytes of interleaved memory wanted, 425984 available
             --> graph.toml:3:9
              |
            3 | tiles = 1
              |         ^
              |
              = help: allow 7 tiles or more, or shorten the queries or the keys"#]],
    );
    check(
        &Graph::new(1472, [1, 1024, 1024, 1472, 64]),
        expect![[r#"
            error[K0308]: no room on a tile for its scores: 2101312 bytes of interleaved memory wanted, 425984 available
             --> graph.toml:8:5
              |
            8 | [op.attention]
              |     ^^^^^^^^^
              |
              = help: shorten the queries or the keys, or take fewer than 1472 heads a call"#]],
    );
    check(
        &Graph::new(4, [1, 16, 40_000, 1, 128]),
        expect![[r#"
            error[K0308]: no room on a tile for its keys and values: 5120000 bytes of interleaved memory wanted, 425984 available
             --> graph.toml:8:5
              |
            8 | [op.attention]
              |     ^^^^^^^^^
              |
              = help: shorten the keys"#]],
    );
}

#[test]
fn a_pinned_value_that_does_not_fit_is_told_the_nearest_that_does() {
    let pins = "key_splits = 1";
    check(
        &Graph {
            pins,
            ..Graph::new(64, [1, 729, 4096, 1, 64])
        },
        expect![[r#"
        error[K0308]: no room on a tile for its keys and values: 1048576 bytes of interleaved memory wanted, 425984 available
          --> graph.toml:13:14
           |
        13 | key_splits = 1
           |              ^
           |
           = help: the nearest key_splits that works is 6; "auto" leaves the choice to the planner"#]],
    );
    let pins = "query_block_rows = 729";
    check(
        &Graph {
            pins,
            ..Graph::new(8, [1, 729, 1024, 1, 64])
        },
        expect![[r#"
            error[K0308]: no room on a tile for its output: 12032 bytes of standard memory wanted, 10016 available
             --> graph.toml:3:9
              |
            3 | tiles = 8
              |         ^
              |
              = help: allow 10 tiles or more, or shorten the queries"#]],
    );
}

#[test]
fn more_than_a_kernel_takes_is_refused() {
    let pins = "key_splits = 40";
    check(
        &Graph {
            pins,
            ..Graph::new(64, [1, 729, 729, 1, 64])
        },
        expect![[r#"
            error[K0309]: key_splits would be 40; the kernels take at most 32
              --> graph.toml:13:14
               |
            13 | key_splits = 40
               |              ^^
               |
               = help: the nearest key_splits that works is 32; "auto" leaves the choice to the planner"#]],
    );
    check(
        &Graph::new(1, [1, 1, 4096, 1, 16]),
        expect![[r#"
        error[K0308]: no room on a tile for its input: 262240 bytes of standard memory wanted, 152448 available
         --> graph.toml:3:9
          |
        3 | tiles = 1
          |         ^
          |
          = help: allow 2 tiles or more, or shorten the queries or the keys"#]],
    );
    check(
        &Graph::new(1, [1, 1, 1, 1, 2050]),
        expect![[r#"
        error[K0309]: the bytes of a row of queries would be 4128; the kernels take at most 4096
         --> graph.toml:8:5
          |
        8 | [op.attention]
          |     ^^^^^^^^^
          |
          = help: shorten the head dimension"#]],
    );
}
