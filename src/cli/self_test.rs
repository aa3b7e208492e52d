//! `tilekiln self-test`: would a fault be caught?

use std::fmt::Write as _;

use super::{CliError, Outcome, Setting, print, verify as command};
use crate::json::Json;
use crate::reference::{self, Problem, Scores, Shape};
use crate::stream::Normal;
use crate::verify::{self, Fault};

/// Query rows of the tested problem; keys and columns are the graph's.
const ROWS: usize = 32;

pub(super) fn self_test(setting: &Setting<'_>) -> Result<Outcome, CliError> {
    let bundle = setting.bundle;
    let shape = Shape {
        batch: 1,
        query_length: ROWS,
        heads: 2,
        ..command::shape(bundle.meta())
    };
    let demand = bundle.verify();
    let normal = Normal {
        seed: demand.seed,
        mean: demand.mean,
        std: demand.std,
    };
    let query = normal.stream(0, 0).generate(shape.query_elements());
    let key = normal.stream(1, 0).generate(shape.key_elements());
    let value = normal.stream(2, 0).generate(shape.key_elements());
    let scale = bundle.meta().scale;
    let problem = Problem {
        shape,
        scale,
        query: &query,
        key: &key,
        value: &value,
    };
    let (limits, threads) = (command::limits(bundle), setting.threads());
    let truth = reference::attention(&problem, Scores::Exact, threads);
    let good = match truth.largest_score > verify::LARGE_SCORE {
        false => verify::nearest(&truth),
        true => verify::nearest(&reference::attention(&problem, Scores::Rounded, threads)),
    };
    let judge = |output: &[_]| verify::judge_by(&problem, &truth, output, &limits, threads);
    let good_passes = judge(&good)?.passed();
    let mut caught = Vec::new();
    for fault in Fault::ALL {
        let output = fault.output(&problem, &good, threads);
        caught.push((fault, !judge(&output)?.passed()));
    }
    let passed = good_passes && caught.iter().all(|(_, caught)| *caught);
    let text = match setting.options.json {
        true => format!("{}\n", json(setting, good_passes, &caught, passed)),
        false => text(setting, good_passes, &caught, passed),
    };
    print(&text)?;
    Ok(if passed {
        Outcome::Passed
    } else {
        Outcome::Failed
    })
}

fn text(setting: &Setting<'_>, good: bool, caught: &[(Fault, bool)], passed: bool) -> String {
    let mut text = format!("bundle={}\n", setting.bundle.digest());
    let mut line = |what: &str, holds: bool, yes: &str, no: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{what:<22} {}", if holds { yes } else { no });
    };
    line("a right output", good, "passes", "does not pass");
    for (fault, caught) in caught {
        line(&fault.to_string(), *caught, "is caught", "is not caught");
    }
    text.push_str(if passed { "passed\n" } else { "failed\n" });
    text
}

fn json(setting: &Setting<'_>, good: bool, caught: &[(Fault, bool)], passed: bool) -> Json {
    let caught = caught
        .iter()
        .map(|(fault, caught)| (fault.to_string(), (*caught).into()));
    Json::object([
        ("bundle_digest", setting.bundle.digest().to_string().into()),
        ("right_output_passes", good.into()),
        ("caught", Json::object(caught)),
        ("passed", passed.into()),
    ])
}
