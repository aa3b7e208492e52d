//! graph.toml → Spec: the declared graph, with the places where it was declared.
//!
//! [`parse`] is the only reader of TOML in the project. It reports every fault of the file in one
//! go; a [`Spec`] that exists is valid in itself, and what follows may only find that it does not
//! fit the chip.

mod attention;
mod outputs;
mod read;
mod sections;
mod verify;

use std::ops::Range;

pub use attention::{Attention, AttentionShape};

use crate::diagnostic::Diagnostic;
pub use crate::plan::Rounding;

/// A value and the bytes of graph.toml it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The bytes of graph.toml.
    pub span: Range<usize>,
}

/// A declared graph: what comes in, what is done, what goes out.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The graph's name.
    pub name: String,
    /// What it may run on.
    pub device: Device,
    /// What the host streams in, in file order.
    pub inputs: Vec<Input>,
    /// What is computed, in file order, which is the order of execution.
    pub ops: Vec<Op>,
    /// What the host streams out, in file order.
    pub outputs: Vec<Output>,
    /// What `verify` feeds and demands.
    pub verify: Verify,
}

/// What the graph may run on.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// The chip.
    pub target: Target,
    /// Tiles the plan may use.
    pub tiles: Spanned<u32>,
}

/// A chip this compiler knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The chip of the C600.
    Ipu21,
}

impl Target {
    /// Its name in graph.toml and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ipu21 => "ipu21",
        }
    }
}

/// A tensor the host streams in.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: Spanned<String>,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its axes, outermost first: batch, length, heads, head dimension.
    pub shape: Spanned<[u32; 4]>,
    /// Where each axis was written.
    pub axes: [Range<usize>; 4],
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// IEEE half precision.
    F16,
}

impl Dtype {
    /// Its name in graph.toml and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
        }
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F16 => 2,
        }
    }
}

/// What an op's operand or an output refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueRef {
    /// The input of this index.
    Input(usize),
    /// The result of the op of this index.
    Op(usize),
}

/// One computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// Its name; others refer to its result by it.
    pub name: Spanned<String>,
    /// What it computes.
    pub kind: OpKind,
}

/// The computations a graph may name.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// softmax(scale · Q · Kᵀ) · V, head by head.
    Attention(Attention),
}

impl OpKind {
    /// Its name in graph.toml and in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Attention(_) => "attention",
        }
    }
}

/// A tensor the host streams out.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name on the host's side.
    pub name: Spanned<String>,
    /// The value that leaves under it.
    pub value: ValueRef,
    /// Its axes, outermost first.
    pub shape: [u32; 4],
}

/// What `verify` feeds and demands.
#[derive(Clone, Debug, PartialEq)]
pub struct Verify {
    /// Seed of the generated inputs.
    pub seed: u64,
    /// Mean of the generated inputs.
    pub mean: f64,
    /// Standard deviation of the generated inputs.
    pub std: f64,
    /// Largest absolute error that passes.
    pub max_abs_error: f64,
    /// Largest root mean square error that passes.
    pub rmse: f64,
}

impl Default for Verify {
    /// What the checked-in graph demands. [pipeline §3.13 derived] Where a graph's results are
    /// larger and it sets no limits, [`parse`] loosens these.
    fn default() -> Self {
        Self {
            seed: 0xfa57_a77e_1616,
            mean: 0.0,
            std: 0.5,
            max_abs_error: 2e-4,
            rmse: 2e-5,
        }
    }
}

impl Spec {
    /// The name of a value.
    pub fn value_name(&self, value: ValueRef) -> &str {
        match value {
            ValueRef::Input(index) => &self.inputs[index].name.value,
            ValueRef::Op(index) => &self.ops[index].name.value,
        }
    }
}

/// Reads graph.toml.
///
/// # Errors
///
/// Every fault of the text, in the order of their places.
pub fn parse(text: &str) -> Result<Spec, Vec<Diagnostic>> {
    sections::parse(text)
}
