//! The op kind `attention`: softmax(scale · Q · Kᵀ) · V, head by head.

use toml::de::DeValue;

use crate::plan::Rounding;

use super::read::{Entry, Faults, Section, code};
use super::sections::{AXES, Values};
use super::{Input, Spanned, ValueRef};

/// An attention as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// Queries: batch, query length, heads, head dimension.
    pub query: Spanned<ValueRef>,
    /// Keys: batch, key length, heads, head dimension.
    pub key: Spanned<ValueRef>,
    /// Values, of the shape of the keys.
    pub value: Spanned<ValueRef>,
    /// The shape the operands agree on.
    pub shape: AttentionShape,
    /// Factor on the scores.
    pub scale: f64,
    /// How results are rounded to f16.
    pub rounding: Rounding,
    /// Rows of a query block, if pinned.
    pub query_block_rows: Option<Spanned<u32>>,
    /// Keys of one f16 accumulation, if pinned.
    pub key_block_rows: Option<Spanned<u32>>,
    /// Key splits of a head, if pinned.
    pub key_splits: Option<Spanned<u32>>,
}

/// The sizes of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionShape {
    /// Batch size.
    pub batch: u32,
    /// Query rows of a head.
    pub query_length: u32,
    /// Key rows of a head.
    pub key_length: u32,
    /// Heads.
    pub heads: u32,
    /// Columns of a head.
    pub head_dimension: u32,
}

/// The text that stands for one over the root of the head dimension.
const ROOT_SCALE: &str = "1/sqrt(head)";

/// Reads the keys of the op. Also gives the values it uses, and whether some could not be read.
pub(super) fn read(
    section: &mut Section,
    values: &Values,
    faults: &mut Faults,
) -> (Option<Attention>, Vec<ValueRef>, bool) {
    let mut operand = |key: &'static str, example: &str| {
        let entry = section.required(key, faults, example)?;
        values.find(&entry, faults)
    };
    let query = operand("query", "query = \"query\"");
    let key = operand("key", "key = \"key\"");
    let value = operand("value", "value = \"value\"");
    let operands = [&query, &key, &value];
    let uses: Vec<ValueRef> = operands
        .iter()
        .filter_map(|o| Some(o.as_ref()?.value))
        .collect();
    let vague = uses.len() < operands.len();

    let tensors = operands.map(|operand| values.input(operand.as_ref()?.value));
    let shape = shape(tensors, faults);
    let scale = scale(
        section.optional("scale"),
        shape.map(|shape| shape.head_dimension),
        faults,
    );
    let rounding = match section.optional("rounding") {
        Some(entry) => entry.choice(
            faults,
            &[
                ("nearest", Rounding::Nearest),
                ("stochastic", Rounding::Stochastic),
            ],
        ),
        None => Some(Rounding::Nearest),
    };
    let mut pin = |key: &'static str| pin(section.optional(key), faults);
    let pins = (
        pin("query_block_rows"),
        pin("key_block_rows"),
        pin("key_splits"),
    );
    let complete = || {
        Some(Attention {
            query: query?,
            key: key?,
            value: value?,
            shape: shape?,
            scale: scale?,
            rounding: rounding?,
            query_block_rows: pins.0?,
            key_block_rows: pins.1?,
            key_splits: pins.2?,
        })
    };
    (complete(), uses, vague)
}

/// `"auto"`, which pins nothing, or a number.
fn pin(entry: Option<Entry>, faults: &mut Faults) -> Option<Option<Spanned<u32>>> {
    let Some(entry) = entry else {
        return Some(None);
    };
    if matches!(entry.value, DeValue::String(_)) {
        return entry
            .choice_or(faults, &[("auto", ())], " or a number")
            .map(|()| None);
    }
    let example = format!("{} = \"auto\"", entry.key);
    let value = entry.whole(faults, (1, u64::from(u32::MAX)), &example)?;
    Some(Some(Spanned {
        value: value as u32,
        span: entry.span,
    }))
}

fn scale(entry: Option<Entry>, head: Option<u32>, faults: &mut Faults) -> Option<f64> {
    let root = || Some(1.0 / f64::from(head?).sqrt());
    let Some(entry) = entry else { return root() };
    if matches!(entry.value, DeValue::String(_)) {
        return entry
            .choice_or(faults, &[(ROOT_SCALE, ())], " or a number")
            .and_then(|()| root());
    }
    let scale = entry.number(faults, &format!("scale = \"{ROOT_SCALE}\""))?;
    // The tiles scale in f32.
    if (scale as f32).is_normal() {
        return Some(scale);
    }
    let message = format!(
        "scale is {scale:e}; it must be an f32 between {:e} and {:e}",
        f32::MIN_POSITIVE,
        f32::MAX
    );
    let help = format!("write `scale = \"{ROOT_SCALE}\"` or a number");
    faults.add(code::OUT_OF_RANGE, &entry.span, message, help);
    None
}

/// The shape the operands agree on: keys as queries but for their length, values as keys.
fn shape(tensors: [Option<&Input>; 3], faults: &mut Faults) -> Option<AttentionShape> {
    let [query, key, value] = tensors;
    let mut agree = true;
    for (axis, operand, other) in [(0, key, query), (2, key, query), (3, key, query)] {
        agree &= same(axis, ("key", operand), ("query", other), faults);
    }
    for axis in 0..AXES.len() {
        agree &= same(axis, ("value", value), ("key", key), faults);
    }
    let query = query?;
    let [batch, query_length, heads, head_dimension] = query.shape.value;
    if !head_dimension.is_multiple_of(2) {
        let name = &query.name.value;
        let message = format!("the head dimension of {name} is {head_dimension}; it must be even");
        let help = format!(
            "pad it to {} with zeros, or take {}",
            head_dimension + 1,
            (head_dimension - 1).max(2)
        );
        faults.add(code::ODD_HEAD, &query.axes[3], message, help);
        return None;
    }
    let key_length = key?.shape.value[1];
    value?;
    agree.then_some(AttentionShape {
        batch,
        query_length,
        key_length,
        heads,
        head_dimension,
    })
}

/// Whether two operands have an axis of the same size; complains if they have not.
fn same(
    axis: usize,
    (role, operand): (&str, Option<&Input>),
    (other_role, other): (&str, Option<&Input>),
    faults: &mut Faults,
) -> bool {
    let (Some(operand), Some(other)) = (operand, other) else {
        return true;
    };
    let (size, wanted) = (operand.shape.value[axis], other.shape.value[axis]);
    if size == wanted {
        return true;
    }
    let (name, line) = (&operand.name.value, faults.line(&operand.axes[axis]));
    let (other_name, other_line) = (&other.name.value, faults.line(&other.axes[axis]));
    let message = format!(
        "axis {axis} ({}) of the {role} operand {name} is {size} on line {line}; that of the {other_role} operand {other_name} is {wanted} on line {other_line}",
        AXES[axis],
    );
    faults.add(
        code::SHAPE_MISMATCH,
        &operand.axes[axis],
        message,
        format!("make both {wanted} or both {size}"),
    );
    false
}
