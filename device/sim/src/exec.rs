//! What instructions do: one file for each of the table's files, under the same name.

use crate::float::{FpState, Weights};
use crate::settings::Settings;

/// The function of an aux-lane form: operand values in assembly order, and the state it works on.
///
/// On `Err` it has changed nothing.
pub(crate) type AuxFn = fn(&[u32; 5], &mut AuxState<'_>) -> Result<AuxResult, AuxFault>;

/// What an aux instruction sees.
pub(crate) struct AuxState<'a> {
    /// The aux registers before the bundle; `a8` and up read 0.
    pub a: [u32; 16],
    /// This worker's floating-point state.
    pub fp: &'a mut FpState,
    /// The tile's weights.
    pub weights: &'a Weights,
    /// The options.
    pub settings: &'a Settings,
}

/// What an aux instruction gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AuxResult {
    /// The first register written.
    pub first: u8,
    /// How many registers are written, from `first` on.
    pub count: u8,
    /// Their values.
    pub values: [u32; 4],
    /// Issue slots taken, at least one.
    pub slots: u8,
}

/// Why an aux instruction has no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AuxFault {
    /// An enabled floating-point exception.
    FloatingPoint,
    /// The documents leave it open.
    Undefined(&'static str),
    /// A bad operand.
    InvalidOperand,
}
