//! How far a form of the instruction set is executed: asked of the engine, not written down.

use tilekiln_isa::Mode;
use tilekiln_isa::form::{Kind, Lane, Operand};
use tilekiln_isa::op::Op;

use crate::code::{supervisor_act, worker_main};
use crate::exec::{self, AuxFault, AuxFn, AuxState};
use crate::float::{FpState, Weights};
use crate::settings::Settings;

/// How far a form is executed under settings that are not strict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Support {
    /// Whatever its operands.
    Executed,
    /// For some values of its immediates; the others stop, because this is not known of them.
    Partly(&'static str),
    /// It always stops, because no document says this.
    Undefined(&'static str),
    /// The simulator has not been built this far.
    Unsupported,
}

/// How far `op` is executed in every context that may execute it.
///
/// Finds the function that the engine puts into a decoded instruction. Aux-lane functions are
/// called with each value of their immediates, for only they stop by operand whatever the state.
pub fn support(op: Op) -> Support {
    let form = op.form();
    if form.lane == Lane::Aux {
        return exec::aux_lane(op).map_or(Support::Unsupported, |function| {
            over_immediates(function, form.operands)
        });
    }
    let in_worker = worker_main(op).is_some() || !Mode::Worker.may_execute(form.context);
    let in_supervisor = supervisor_act(op).is_some() || !Mode::Supervisor.may_execute(form.context);
    if in_worker && in_supervisor {
        Support::Executed
    } else {
        Support::Unsupported
    }
}

/// Calls `function` with each value of its immediate, every register operand being the first.
fn over_immediates(function: AuxFn, operands: &[Operand]) -> Support {
    let immediate = |operand: &Operand| {
        matches!(
            operand.kind,
            Kind::Unsigned | Kind::Signed | Kind::High | Kind::UpperCsr
        )
    };
    let place = operands.iter().position(immediate);
    // No aux form has two, and the value of a wide one decides nothing by its upper bits alone.
    let count = place.map_or(1, |place| 1 << operands[place].width.min(12));
    let (mut runs, mut missing) = (false, None);
    for value in 0..count {
        let mut values = [0; 5];
        if let Some(place) = place {
            values[place] = value;
        }
        match call(function, &values) {
            Err(AuxFault::Undefined(what)) => missing = Some(what),
            _ => runs = true,
        }
    }
    match (runs, missing) {
        (true, None) => Support::Executed,
        (true, Some(what)) => Support::Partly(what),
        (false, Some(what)) => Support::Undefined(what),
        (false, None) => Support::Unsupported,
    }
}

fn call(function: AuxFn, values: &[u32; 5]) -> Result<(), AuxFault> {
    let settings = Settings {
        strict: false,
        ..Settings::default()
    };
    let mut state = AuxState {
        a: [0; 16],
        fp: &mut FpState::default(),
        weights: &Weights::default(),
        settings: &settings,
    };
    function(values, &mut state).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{Support, support};
    use tilekiln_isa::op::Op;
    use tilekiln_isa::table;

    #[test]
    fn every_form_has_a_function() {
        for form in table::forms() {
            assert_ne!(support(form.op), Support::Unsupported, "{}", form.mnemonic);
        }
    }

    #[test]
    fn only_what_no_document_describes_always_stops() {
        let undefined: Vec<Op> = table::forms()
            .map(|form| form.op)
            .filter(|&op| matches!(support(op), Support::Undefined(_)))
            .collect();
        let known = [
            Op::F8v4classAA,
            Op::F32sisoslicApAApZ6,
            Op::F32sisov2slicApAApZ6,
        ];
        assert_eq!(undefined, known);
    }

    #[test]
    fn a_form_stops_for_the_codes_nobody_knows() {
        for op in [Op::F16v4hihov4ampApApApZ6, Op::F32intAAZ4] {
            assert!(matches!(support(op), Support::Partly(_)), "{op:?}");
        }
    }
}
