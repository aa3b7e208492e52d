//! Every complaint about graph.toml as a reader sees it: graph in, rendered text out.
//!
//! `UPDATE_EXPECT=1 cargo test` renews the texts.

use expect_test::expect_file;
use tilekiln_compiler::diagnostic::{Diagnostic, render};
use tilekiln_compiler::plan::plan;
use tilekiln_compiler::spec::parse;

/// What is wrong with a graph: its text's faults, or why it has no plan.
fn faults(text: &str) -> Vec<Diagnostic> {
    match parse(text) {
        Err(faults) => faults,
        Ok(spec) => match plan(&spec) {
            Err(error) => vec![error.diagnostic(&spec)],
            Ok(_) => Vec::new(),
        },
    }
}

macro_rules! refused {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let file = concat!("refused_", stringify!($name), ".toml");
                let text = include_str!(concat!(
                    "../../../tests/graphs/refused_", stringify!($name), ".toml"
                ));
                let faults = faults(text);
                assert!(!faults.is_empty(), "{file} is accepted");
                for fault in &faults {
                    assert!(!fault.help.is_empty(), "{fault:?} has no help");
                    assert!(fault.span.start <= fault.span.end && fault.span.end <= text.len());
                }
                let want = concat!("../../../tests/golden/refused/", stringify!($name), ".txt");
                expect_file![want].assert_eq(&(render(&faults, file, text, false) + "\n"));
            }
        )*

        #[test]
        fn every_code_has_a_graph() {
            let mut seen = Vec::new();
            $(
                let text = include_str!(concat!(
                    "../../../tests/graphs/refused_", stringify!($name), ".toml"
                ));
                seen.extend(faults(text).iter().map(|fault| fault.code));
            )*
            // The planner's other codes have graphs in tests/plan/refusals.rs.
            let text = ["K0001", "K0101", "K0102", "K0103", "K0104", "K0105", "K0106", "K0107", "K0108", "K0109"];
            let graph = ["K0201", "K0202", "K0203", "K0204", "K0205", "K0206", "K0301", "K0303", "K0308"];
            for code in text.into_iter().chain(graph) {
                assert!(seen.contains(&code), "{code} is shown nowhere");
            }
        }
    };
}

refused! {
    bad_name
    duplicate_name
    inputs_overflow
    limits
    many_faults
    memory
    missing
    missing_key
    missing_operand
    no_op
    odd_head
    op_count
    output
    pinned
    planned_key
    rank
    shape_mismatch
    size_huge
    size_zero
    syntax
    tiles
    unknown_choice
    unknown_key
    unknown_kind
    unknown_value
    unused
    wrong_type
}

/// A text with colours has the same words.
#[test]
fn colours_change_no_word() {
    let text = include_str!("../../../tests/graphs/refused_many_faults.toml");
    let colored = render(&faults(text), "graph.toml", text, true);
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        let end = rest[start..]
            .find('m')
            .map_or(rest.len(), |end| start + end + 1);
        rest = &rest[end..];
    }
    plain.push_str(rest);
    assert_eq!(plain, render(&faults(text), "graph.toml", text, false));
}

#[test]
fn no_text_makes_the_reader_panic() {
    let good = include_str!("../../../graph.toml");
    arbtest::arbtest(|u| {
        // The good text with some bytes replaced, inserted and cut off: near misses reach deeper.
        let mut bytes = good.as_bytes().to_vec();
        for _ in 0..u.int_in_range(1..=6)? {
            let at = u.choose_index(bytes.len())?;
            match u.int_in_range(0..=3)? {
                0 => bytes[at] = u.int_in_range(b' '..=b'~')?,
                1 => bytes.insert(at, u.int_in_range(b' '..=b'~')?),
                2 => drop(bytes.remove(at)),
                _ => drop(bytes.drain(at..(at + 9).min(bytes.len()))),
            }
            if bytes.is_empty() {
                return Ok(());
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(faults) = parse(&text) {
            assert!(!faults.is_empty(), "refused without a reason:\n{text}");
            render(&faults, "graph.toml", &text, false);
        }
        Ok(())
    })
    .budget_ms(2_000);
}
