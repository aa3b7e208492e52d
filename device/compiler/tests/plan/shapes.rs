use expect_test::expect_file;
use tilekiln_compiler::plan::{PlanError, Step, check, plan, text};
use tilekiln_compiler::report::{
    BundleFacts, Facts, ImageFacts, KernelFacts, PhaseFacts, StageFacts, TileFacts, report,
};
use tilekiln_compiler::spec::parse;

use super::Graph;

/// Plans, checks, and gives blocks, splits and key blocks of the blocking taken.
fn planned(graph: &Graph) -> (u32, u32, u32) {
    let plan = graph.plan().expect("the graph fits");
    assert_eq!(check(&plan), Ok(()), "{}", graph.text());
    let a = &plan.attention;
    (a.query_blocks, a.key_splits, a.key_block_rows)
}

#[test]
fn the_checked_in_graph_takes_three_blocks_by_seven_splits() {
    let spec = parse(include_str!("../../../../graph.toml")).expect("it has no faults");
    let plan = plan(&spec).expect("it fits");
    assert_eq!(check(&plan), Ok(()));
    let a = &plan.attention;
    assert_eq!(
        (a.query_blocks, a.key_splits, a.key_block_rows),
        (3, 7, 112)
    );
    assert_eq!((a.query_block_rows, plan.tasks.len()), (243, 1344));
    assert!(
        plan.candidates[0].cycles < 300_000,
        "{} cycles",
        plan.candidates[0].cycles
    );
    assert!(
        2 * plan.host.phases.len() <= 16,
        "{} host phases",
        plan.host.phases.len()
    );
}

#[test]
fn every_head_dimension_and_length_has_a_plan() {
    for head_dimension in [2, 16, 40, 64, 72, 74, 80, 96, 128] {
        for length in [1, 17, 97, 128, 256, 729] {
            let graph = Graph::new(64, [1, length, length, 1, head_dimension]);
            planned(&graph);
        }
    }
}

#[test]
fn query_and_key_lengths_may_differ() {
    for (query_length, key_length) in [(1, 729), (729, 1), (17, 256), (256, 17), (97, 128)] {
        planned(&Graph::new(24, [1, query_length, key_length, 2, 64]));
        planned(&Graph::new(1472, [3, query_length, key_length, 4, 40]));
    }
}

#[test]
fn few_tiles_are_enough_for_small_graphs() {
    assert_eq!(planned(&Graph::new(1, [1, 17, 33, 1, 16])), (1, 1, 48));
    assert_eq!(planned(&Graph::new(1, [1, 97, 256, 1, 64])), (1, 1, 128));
    for tiles in 1..=12 {
        planned(&Graph::new(tiles, [1, 97, 97, 1, 40]));
    }
}

#[test]
fn batches_are_heads_of_their_own() {
    let graph = Graph::new(30, [3, 17, 97, 2, 16]);
    planned(&graph);
    let plan = graph.plan().expect("the graph fits");
    assert_eq!(plan.tasks.iter().map(|task| task.head).max(), Some(5));
}

#[test]
fn a_lone_task_exchanges_nothing() {
    let plan = Graph::new(1, [1, 17, 33, 1, 16])
        .plan()
        .expect("the graph fits");
    assert!(
        !plan
            .steps
            .iter()
            .any(|step| matches!(step, Step::Exchange(_)))
    );
}

#[test]
fn messages_longer_than_a_row_can_hold_are_cut() {
    let graph = Graph {
        pins: "query_block_rows = 32\nkey_splits = 1",
        ..Graph::new(2, [1, 64, 256, 1, 128])
    };
    planned(&graph);
    let plan = graph.plan().expect("the graph fits");
    let longest = plan.steps.iter().filter_map(|step| match step {
        Step::Exchange(exchange) => exchange
            .transfers
            .iter()
            .map(|transfer| transfer.words)
            .max(),
        _ => None,
    });
    assert_eq!(longest.max(), Some(4096));
}

#[test]
fn pinned_values_are_kept() {
    let pins = "query_block_rows = 40\nkey_splits = 2\nkey_block_rows = 64";
    let graph = Graph {
        pins,
        ..Graph::new(100, [1, 97, 256, 2, 64])
    };
    assert_eq!(planned(&graph), (3, 2, 64));
    let plan = graph.plan().expect("the graph fits");
    let rows: Vec<usize> = plan
        .tasks
        .iter()
        .step_by(2)
        .take(3)
        .map(|task| task.rows.len())
        .collect();
    assert_eq!(rows, [40, 40, 17]);
    for pins in [
        "key_block_rows = 256\nkey_splits = 1",
        "key_block_rows = 16\nkey_splits = 2",
    ] {
        planned(&Graph {
            pins,
            ..Graph::new(16, [1, 17, 256, 1, 64])
        });
    }
}

#[test]
fn kernels_are_asked_for_no_more_than_they_take() {
    // 46 groups of keys, and tiles for a split each; a merge takes 32.
    planned(&Graph::new(1472, [1, 729, 729, 1, 64]));
    planned(&Graph::new(46, [1, 1, 729, 1, 64]));
    // A row of scores is at most 2048 keys long.
    let (_, splits, _) = planned(&Graph::new(3, [1, 1, 4096, 1, 16]));
    assert!(splits >= 2);
}

#[test]
fn one_input_may_be_query_key_and_value() {
    let text = r#"name = "self"
[device]
tiles = 8
[input]
x = { dtype = "f16", shape = [1, 33, 2, 16] }
[op.a]
kind = "attention"
query = "x"
key = "x"
value = "x"
[output]
a = "a"
"#;
    let plan = plan(&parse(text).expect("it has no faults")).expect("it fits");
    assert_eq!(check(&plan), Ok(()));
}

#[test]
fn equal_graphs_have_equal_plans() {
    let graph = Graph::new(48, [1, 97, 97, 4, 64]);
    let (one, two) = (
        graph.plan().expect("it fits"),
        graph.plan().expect("it fits"),
    );
    assert_eq!(one, two);
    assert_eq!(text(&one), text(&two));
    let other = Graph::new(47, [1, 97, 97, 4, 64]).plan().expect("it fits");
    assert_ne!(text(&one), text(&other));
}

#[test]
fn check_accepts_every_plan() {
    arbtest::arbtest(|u| {
        let small = |u: &mut arbtest::arbitrary::Unstructured, most| u.int_in_range(1..=most);
        let shape = [small(u, 3)?, small(u, 300)?, small(u, 300)?, small(u, 4)?, 2 * small(u, 64)?];
        let pins = *u.choose(&["", "key_splits = 2", "query_block_rows = 7", "key_block_rows = 32"])?;
        let graph = Graph { pins, ..Graph::new(small(u, 1472)?, shape) };
        match graph.plan() {
            Ok(plan) => assert_eq!(check(&plan), Ok(()), "{}", graph.text()),
            Err(error) => {
                let diagnostic = error.diagnostic(&graph.spec());
                assert!(!diagnostic.help.is_empty(), "{diagnostic:?}");
                assert!(diagnostic.span.end <= graph.text().len());
                assert!(!matches!(error, PlanError::QueryBlockTooLong { rows, length } if rows <= length));
            }
        }
        Ok(())
    })
    .budget_ms(3_000);
}

macro_rules! graphs {
    ($($name:ident)*) => {
        [$((
            stringify!($name),
            include_str!(concat!("../../../../tests/graphs/", stringify!($name), ".toml")),
        )),*]
    };
}

#[test]
fn every_graph_of_the_tests_has_a_plan() {
    let graphs = graphs!(
        batches fixed_scale grid key_blocks key_splits one_key one_row one_tile padded_head
        self_attention stochastic two_tiles
    );
    for (name, text) in graphs {
        let plan = plan(&parse(text).expect(name)).expect(name);
        assert_eq!(check(&plan), Ok(()), "{name}");
    }
}

#[test]
fn the_report_says_what_was_chosen_and_why() {
    let text = include_str!("../../../../tests/graphs/grid.toml");
    let plan = plan(&parse(text).expect("it has no faults")).expect("it fits");
    let phases = [PhaseFacts {
        horizon: 1100,
        bound: 1000,
        sent: 10_000,
        received: 20_000,
        controls: 300,
        row_words: 1234,
        longest_row: 40,
        active_tiles: 12,
    }];
    let kernel = KernelFacts {
        name: "gemm".to_owned(),
        key: "0123abcd".to_owned(),
        hit: Some(true),
        bytes: 640,
        symbols: 3,
    };
    let image = ImageFacts {
        name: "task".to_owned(),
        tiles: 12,
        base: 0x4_C010,
        entry: 0x4_C010,
        bytes: 4321,
        symbols: 30,
    };
    let largest = TileFacts {
        tile: 3,
        code_bytes: 4321,
        row_bytes: 160,
        slot_bytes: 700,
        packet_bytes: 48,
    };
    let stage = StageFacts {
        name: "plan".to_owned(),
        digest: "ffee".to_owned(),
        bytes: 5000,
    };
    let bundle = BundleFacts {
        bytes: 100_000,
        segments: 4000,
        distinct_segments: 60,
        image_bytes: 2_000_000,
    };
    let facts = Facts {
        plan: &plan,
        target: "ipu21",
        phases: &phases,
        kernels: &[kernel],
        images: &[image],
        largest: Some(&largest),
        bundle: Some(&bundle),
        stages: &[stage],
    };
    expect_file!["../../../../tests/golden/report_grid.txt"].assert_eq(&report(&facts));
}
