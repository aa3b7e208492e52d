//! The section `[output]`, and what nobody uses.

use super::read::{Entry, Faults, code};
use super::sections::{Declared, DeclaredInput, Values, good_name};
use super::{Output, Spanned, ValueRef};

/// Reads what leaves the graph.
pub(super) fn outputs(
    entry: &Entry,
    inputs: &[DeclaredInput],
    ops: &[Declared],
    faults: &mut Faults,
) -> Vec<Output> {
    let Some(section) = entry.table(faults, "[output]") else {
        return Vec::new();
    };
    if section.entries.is_empty() {
        let help = "name what leaves, for example `attention = \"attention\"`";
        faults.add(
            code::OUTPUT,
            &entry.key_span,
            "[output] is empty: the graph gives nothing",
            help,
        );
    }
    let values = Values { inputs, ops };
    let mut list: Vec<Output> = Vec::new();
    for entry in &section.entries {
        good_name(entry, faults);
        named_like_an_input(entry, inputs, faults);
        let Some(value) = values.find(entry, faults) else {
            continue;
        };
        let ValueRef::Op(index) = value.value else {
            let message = format!(
                "output {} is an input; only results of ops leave",
                entry.key
            );
            faults.add(
                code::OUTPUT,
                &value.span,
                message,
                "name an op, or leave it out",
            );
            continue;
        };
        if let Some(first) = list.iter().find(|output| output.value == value.value) {
            let line = faults.line(&first.name.span);
            let message = format!(
                "output {} leaves already as {}, on line {line}",
                entry.key, first.name.value
            );
            faults.add(code::OUTPUT, &value.span, message, "leave one of them out");
            continue;
        }
        let name = Spanned {
            value: entry.key.clone(),
            span: entry.key_span.clone(),
        };
        // Unknown only after complaints, and then the graph is not returned.
        let shape = ops[index].shape().unwrap_or_default();
        list.push(Output {
            name,
            value: value.value,
            shape,
        });
    }
    list
}

/// The host tells inputs and outputs apart by their names.
fn named_like_an_input(entry: &Entry, inputs: &[DeclaredInput], faults: &mut Faults) {
    if let Some(input) = inputs.iter().find(|input| input.name.value == entry.key) {
        let line = faults.line(&input.name.span);
        let message = format!(
            "output {} has the name of an input, on line {line}",
            entry.key
        );
        faults.add(
            code::DUPLICATE_NAME,
            &entry.key_span,
            message,
            "rename the output",
        );
    }
}

/// Complains about every value that nobody uses.
pub(super) fn unused(
    inputs: &[DeclaredInput],
    ops: &[Declared],
    outputs: &[Output],
    faults: &mut Faults,
) {
    if ops.is_empty() || ops.iter().any(|op| op.vague) {
        return;
    }
    let used = |value: ValueRef| ops.iter().any(|op| op.uses.contains(&value));
    for (index, input) in inputs.iter().enumerate() {
        if !used(ValueRef::Input(index)) {
            let message = format!("nobody uses the input {}", input.name.value);
            faults.add(
                code::UNUSED,
                &input.name.span,
                message,
                "name it in an op, or remove it",
            );
        }
    }
    for (index, op) in ops.iter().enumerate() {
        let value = ValueRef::Op(index);
        if !used(value) && !outputs.iter().any(|output| output.value == value) {
            let message = format!("nobody uses the result of {}", op.name.value);
            let help = format!("name it under [output]: `{0} = \"{0}\"`", op.name.value);
            faults.add(code::UNUSED, &op.name.span, message, help);
        }
    }
}
