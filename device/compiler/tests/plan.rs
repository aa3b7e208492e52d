//! Plans of many shapes pass the checker, and the checker catches every broken rule.

#[path = "plan/checker.rs"]
mod checker;
#[path = "plan/refusals.rs"]
mod refusals;
#[path = "plan/shapes.rs"]
mod shapes;

use tilekiln_compiler::plan::{Plan, PlanError, plan};
use tilekiln_compiler::spec::{Spec, parse};

/// The graph of one attention.
struct Graph {
    tiles: u32,
    batch: u32,
    query_length: u32,
    key_length: u32,
    heads: u32,
    head_dimension: u32,
    /// More keys of the op, one a line.
    pins: &'static str,
}

impl Graph {
    fn new(tiles: u32, shape: [u32; 5]) -> Self {
        let [batch, query_length, key_length, heads, head_dimension] = shape;
        Self {
            tiles,
            batch,
            query_length,
            key_length,
            heads,
            head_dimension,
            pins: "",
        }
    }

    fn text(&self) -> String {
        let Self {
            tiles,
            batch,
            query_length,
            key_length,
            heads,
            head_dimension,
            pins,
        } = self;
        format!(
            r#"name = "test"
[device]
tiles = {tiles}
[input]
q = {{ dtype = "f16", shape = [{batch}, {query_length}, {heads}, {head_dimension}] }}
k = {{ dtype = "f16", shape = [{batch}, {key_length}, {heads}, {head_dimension}] }}
v = {{ dtype = "f16", shape = [{batch}, {key_length}, {heads}, {head_dimension}] }}
[op.attention]
kind = "attention"
query = "q"
key = "k"
value = "v"
{pins}
[output]
attention = "attention"
"#
        )
    }

    fn spec(&self) -> Spec {
        parse(&self.text()).expect("the test's graph has no faults")
    }

    fn plan(&self) -> Result<Plan, PlanError> {
        plan(&self.spec())
    }
}
