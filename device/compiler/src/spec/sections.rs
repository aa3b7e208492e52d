//! The sections of graph.toml, one function each.

use std::ops::Range;

use tilekiln_chip::{TILE_COUNT, memory};

use crate::diagnostic::{Diagnostic, nearest};

use super::attention;
use super::outputs::{outputs, unused};
use super::read::{Entry, Faults, Section, code, document};
use super::verify::verify;
use super::{Device, Dtype, Input, Op, OpKind, Spanned, Spec, Target, ValueRef};

/// What a person calls the axes of a tensor.
pub(super) const AXES: [&str; 4] = ["batch", "length", "heads", "head dimension"];

pub(super) fn parse(text: &str) -> Result<Spec, Vec<Diagnostic>> {
    let mut faults = Faults::new(text);
    let table = document(text, &mut faults);
    let unread: Vec<Range<usize>> = faults.list.iter().map(|fault| fault.span.clone()).collect();
    let root = Section::new("graph.toml".to_owned(), 0..0, &table);
    let spec = graph(root, &mut faults);
    if !unread.is_empty() {
        // What could not be read must not be complained about twice.
        let touches = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        let again = |fault: &Diagnostic| {
            fault.code != code::SYNTAX && unread.iter().any(|span| touches(span, &fault.span))
        };
        let follows = |fault: &Diagnostic| code::CONSEQUENCES.contains(&fault.code);
        faults.list.retain(|fault| !again(fault) && !follows(fault));
    }
    faults.list.sort_by_key(|fault| fault.span.start);
    match spec {
        Some(spec) if faults.list.is_empty() => Ok(spec),
        _ => Err(faults.list),
    }
}

fn graph(mut root: Section, faults: &mut Faults) -> Option<Spec> {
    let name = root
        .required("name", faults, "name = \"my-graph\"")
        .and_then(|entry| {
            let name = entry.text(faults, "name = \"my-graph\"")?;
            graph_name(&name, faults)
        });
    let device = device(root.optional("device"), faults);
    let inputs = root
        .required("input", faults, "[input]")
        .map(|entry| inputs(&entry, faults));
    let ops = root.required("op", faults, "[op.attention]");
    let ops = ops.map(|entry| ops_of(&entry, inputs.as_deref(), faults));
    let output = root.required("output", faults, "[output]");
    let (inputs, ops) = (inputs.unwrap_or_default(), ops.unwrap_or_default());
    let outputs = output
        .map(|entry| outputs(&entry, &inputs, &ops, faults))
        .unwrap_or_default();
    let keys = ops.iter().find_map(Declared::keys);
    let verify = verify(root.optional("verify"), keys, faults);
    root.finish(faults);
    unused(&inputs, &ops, &outputs, faults);

    let ops: Option<Vec<Op>> = ops.into_iter().map(Declared::complete).collect();
    let inputs: Option<Vec<Input>> = inputs.into_iter().map(|input| input.tensor).collect();
    Some(Spec {
        name: name?,
        device: device?,
        inputs: inputs?,
        ops: ops?,
        outputs,
        verify: verify?,
    })
}

/// The graph's name stands in tables and file names of the reports.
fn graph_name(name: &Spanned<String>, faults: &mut Faults) -> Option<String> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.value.is_empty() && name.value.len() <= 64 && name.value.chars().all(good) {
        return Some(name.value.clone());
    }
    let message = format!(
        "the name \"{}\" is not 1 to 64 letters, digits, -, _ and .",
        name.value
    );
    faults.add(
        code::BAD_NAME,
        &name.span,
        message,
        "write it like `name = \"my-graph\"`",
    );
    None
}

/// Whether a name is `[a-z][a-z0-9_]*`; complains if it is not.
pub(super) fn good_name(entry: &Entry, faults: &mut Faults) -> bool {
    let name = entry.key.as_bytes();
    let first = name.first().is_some_and(u8::is_ascii_lowercase);
    let rest = |c: &u8| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == b'_';
    if first && name.iter().all(rest) {
        return true;
    }
    let lower: String = entry.key.to_ascii_lowercase();
    let mended: String = lower
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let mended = match mended.chars().next() {
        Some('a'..='z') => mended,
        _ => format!("x{mended}"),
    };
    let message = format!(
        "the name \"{}\" is not a small letter, then small letters, digits and _",
        entry.key
    );
    faults.add(
        code::BAD_NAME,
        &entry.key_span,
        message,
        format!("call it {mended}"),
    );
    false
}

fn device(entry: Option<Entry>, faults: &mut Faults) -> Option<Device> {
    let whole = Spanned {
        value: u32::from(TILE_COUNT),
        span: 0..0,
    };
    let Some(entry) = entry else {
        return Some(Device {
            target: Target::Ipu21,
            tiles: whole,
        });
    };
    let mut section = entry.table(faults, "[device]")?;
    section.name = "[device]".to_owned();
    let target = match section.optional("target") {
        Some(entry) => entry.choice(faults, &[(Target::Ipu21.name(), Target::Ipu21)]),
        None => Some(Target::Ipu21),
    };
    let tiles = match section.optional("tiles") {
        Some(entry) => entry
            .whole(faults, (1, u64::from(TILE_COUNT)), "tiles = 1472")
            .map(|tiles| Spanned {
                value: tiles as u32,
                span: entry.span,
            }),
        None => Some(whole),
    };
    section.finish(faults);
    Some(Device {
        target: target?,
        tiles: tiles?,
    })
}

/// An input by name, with its declaration if that was readable.
pub(super) struct DeclaredInput {
    pub name: Spanned<String>,
    pub tensor: Option<Input>,
}

fn inputs(entry: &Entry, faults: &mut Faults) -> Vec<DeclaredInput> {
    let Some(section) = entry.table(faults, "[input]") else {
        return Vec::new();
    };
    let named = |entry: &Entry, faults: &mut Faults| {
        good_name(entry, faults);
        let name = Spanned {
            value: entry.key.clone(),
            span: entry.key_span.clone(),
        };
        DeclaredInput {
            tensor: input(&name, entry, faults),
            name,
        }
    };
    section
        .entries
        .iter()
        .map(|entry| named(entry, faults))
        .collect()
}

const INPUT_EXAMPLE: &str = "query = { dtype = \"f16\", shape = [4, 729, 16, 72] }";

fn input(name: &Spanned<String>, entry: &Entry, faults: &mut Faults) -> Option<Input> {
    let mut section = entry.table(faults, INPUT_EXAMPLE)?;
    section.name = format!("input {}", name.value);
    let dtype = section.required("dtype", faults, "dtype = \"f16\"");
    let dtype = dtype.and_then(|entry| entry.choice(faults, &[("f16", Dtype::F16)]));
    let shape = section.required(
        "shape",
        faults,
        "shape = [batch, length, heads, head dimension]",
    );
    let shape = shape.and_then(|entry| shape_of(&name.value, &entry, faults));
    section.finish(faults);
    let (shape, axes) = shape?;
    Some(Input {
        name: name.clone(),
        dtype: dtype?,
        shape,
        axes,
    })
}

/// Bytes of all tile memories: no tensor is larger. [isa-core §3.1 obs]
const CHIP_BYTES: u128 = memory::BYTES as u128 * TILE_COUNT as u128;

type Shape = (Spanned<[u32; 4]>, [Range<usize>; 4]);

fn shape_of(tensor: &str, entry: &Entry, faults: &mut Faults) -> Option<Shape> {
    let example = "shape = [4, 729, 16, 72]";
    let array = entry.array(faults, example)?;
    if array.len() != AXES.len() {
        let message = format!(
            "the shape of {tensor} has {} axes; it must have 4",
            array.len()
        );
        let help = format!("write {}, like `{example}`", AXES.join(", "));
        faults.add(code::WRONG_RANK, &entry.span, message, help);
        return None;
    }
    let mut sizes = [0; 4];
    let mut axes = [0..0, 0..0, 0..0, 0..0];
    let mut whole = true;
    for (index, axis) in AXES.iter().enumerate() {
        let item = Entry::element(format!("{axis} of {tensor}"), array, index)?;
        axes[index] = item.span.clone();
        match item.whole(faults, (1, u64::from(u32::MAX)), example) {
            Some(size) => sizes[index] = size as u32,
            None => whole = false,
        }
    }
    if !whole {
        return None;
    }
    let bytes = sizes.iter().fold(2, |bytes: u128, size| {
        bytes.saturating_mul(u128::from(*size))
    });
    if bytes > CHIP_BYTES {
        let message =
            format!("{tensor} takes {bytes} bytes; the memory of the chip has {CHIP_BYTES}");
        let help = "split it into smaller calls: fewer batches, rows or heads at a time";
        faults.add(code::TOO_LARGE, &entry.span, message, help);
        return None;
    }
    Some((
        Spanned {
            value: sizes,
            span: entry.span.clone(),
        },
        axes,
    ))
}

/// An op by name, with its declaration if that was readable, and what it names as operands.
pub(super) struct Declared {
    pub name: Spanned<String>,
    pub kind: Option<OpKind>,
    pub uses: Vec<ValueRef>,
    /// Whether an operand's name could not be read: then nothing is known to be unused.
    pub vague: bool,
}

impl Declared {
    fn complete(self) -> Option<Op> {
        Some(Op {
            name: self.name,
            kind: self.kind?,
        })
    }

    /// How many keys a result is the weighted mean of.
    fn keys(&self) -> Option<u32> {
        let OpKind::Attention(op) = self.kind.as_ref()?;
        Some(op.shape.key_length)
    }

    /// The shape of the result.
    pub fn shape(&self) -> Option<[u32; 4]> {
        let OpKind::Attention(op) = self.kind.as_ref()?;
        let shape = op.shape;
        Some([
            shape.batch,
            shape.query_length,
            shape.heads,
            shape.head_dimension,
        ])
    }
}

fn ops_of(entry: &Entry, inputs: Option<&[DeclaredInput]>, faults: &mut Faults) -> Vec<Declared> {
    let Some(section) = entry.table(faults, "[op.attention]") else {
        return Vec::new();
    };
    let inputs = inputs.unwrap_or_default();
    if section.entries.is_empty() {
        let help = "add an op, for example `[op.attention]` with `kind = \"attention\"`";
        faults.add(
            code::OP_COUNT,
            &entry.key_span,
            "the graph has 0 ops; it must have 1",
            help,
        );
    }
    if let Some(second) = section.entries.get(1) {
        let count = section.entries.len();
        let message = format!("the graph has {count} ops; one is supported");
        faults.add(
            code::OP_COUNT,
            &second.key_span,
            message,
            "bake one graph an op",
        );
    }
    let mut ops: Vec<Declared> = Vec::new();
    for entry in &section.entries {
        good_name(entry, faults);
        if let Some(input) = inputs.iter().find(|input| input.name.value == entry.key) {
            let line = faults.line(&input.name.span);
            let message = format!("{} is also the name of an input, on line {line}", entry.key);
            let help = "names are unique over inputs and ops: rename one of them";
            faults.add(code::DUPLICATE_NAME, &entry.key_span, message, help);
        }
        ops.push(op(entry, inputs, &ops, faults));
    }
    ops
}

fn op(
    entry: &Entry,
    inputs: &[DeclaredInput],
    earlier: &[Declared],
    faults: &mut Faults,
) -> Declared {
    let name = Spanned {
        value: entry.key.clone(),
        span: entry.key_span.clone(),
    };
    let mut declared = Declared {
        name,
        kind: None,
        uses: Vec::new(),
        vague: true,
    };
    let Some(mut section) = entry.table(faults, "[op.attention]") else {
        return declared;
    };
    section.name = format!("[op.{}]", entry.key);
    let kind = section.required("kind", faults, "kind = \"attention\"");
    if kind
        .and_then(|entry| entry.choice(faults, &[("attention", ())]))
        .is_none()
    {
        // Without its kind nobody can say which keys it has.
        return declared;
    }
    let values = Values {
        inputs,
        ops: earlier,
    };
    let (attention, uses, vague) = attention::read(&mut section, &values, faults);
    section.finish(faults);
    declared.kind = attention.map(OpKind::Attention);
    declared.uses = uses;
    declared.vague = vague;
    declared
}

/// The values that may be named at some place of the file.
pub(super) struct Values<'a> {
    pub inputs: &'a [DeclaredInput],
    pub ops: &'a [Declared],
}

impl Values<'_> {
    /// The value an entry names.
    pub fn find(&self, entry: &Entry, faults: &mut Faults) -> Option<Spanned<ValueRef>> {
        let text = entry.text(faults, &format!("{} = \"name\"", entry.key))?;
        let inputs = self.inputs.iter().map(|input| input.name.value.as_str());
        let ops = self.ops.iter().map(|op| op.name.value.as_str());
        let names: Vec<&str> = inputs.chain(ops).collect();
        if let Some(index) = names.iter().position(|name| *name == text.value) {
            let value = match index.checked_sub(self.inputs.len()) {
                Some(op) => ValueRef::Op(op),
                None => ValueRef::Input(index),
            };
            return Some(Spanned {
                value,
                span: text.span,
            });
        }
        let message = format!(
            "{} names \"{}\"; there is no such input or earlier op",
            entry.key, text.value
        );
        let help = match nearest(&text.value, &names) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None if names.is_empty() => "declare it under [input]".to_owned(),
            None => format!("the names are {}", names.join(", ")),
        };
        faults.add(code::UNKNOWN_VALUE, &text.span, message, help);
        None
    }

    /// The name, the shape and the places of the axes of a value, if they are known.
    pub fn input(&self, value: ValueRef) -> Option<&Input> {
        match value {
            ValueRef::Input(index) => self.inputs[index].tensor.as_ref(),
            ValueRef::Op(_) => None,
        }
    }
}
