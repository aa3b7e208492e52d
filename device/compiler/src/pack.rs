//! Images → bundle bytes, manifest and report.

mod listing;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tilekiln_bundle::{
    Binding, Builder, Bundle, Direction, Host, HostPhase, Line, Meta, Roles, Rounding, Tensor,
    TensorKind, Verify, WriteError, digest::Digest,
};
use tilekiln_chip::{ByteAddr, TileId, assumed};

use crate::images::Images;
use crate::plan::{HostDirection, Plan, Rounding as PlanRounding, Step};
use crate::program::Programs;
use crate::report::BundleFacts;
use crate::schedule::Schedule;
use crate::spec::{OpKind, Spec, ValueRef};

/// What a bake leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baked {
    /// The bundle's bytes.
    pub bundle: Vec<u8>,
    /// Digest and size of every stage's output, as TOML.
    pub manifest: String,
    /// What was decided and why, for a reader at the desk.
    pub report: String,
    /// How large the bundle came out.
    pub facts: BundleFacts,
    /// Listings and tables for a reader, by file name.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A stage's output in its canonical form.
pub struct Stage {
    /// The stage.
    pub name: &'static str,
    /// Its output.
    pub output: Vec<u8>,
}

/// Everything a bundle is made from.
pub struct Parts<'a> {
    /// The declared graph.
    pub spec: &'a Spec,
    /// The plan.
    pub plan: &'a Plan,
    /// The schedule.
    pub schedule: &'a Schedule,
    /// The programs.
    pub programs: &'a Programs,
    /// The linked classes.
    pub images: &'a Images,
    /// The outputs of all stages, in order.
    pub stages: &'a [Stage],
    /// What was decided and why, as the bundle holds it.
    pub report: &'a str,
}

/// Why images do not become a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The bundle refuses something.
    #[error(transparent)]
    Bundle(#[from] WriteError),
    /// A binding names a tensor that the graph does not declare: a fault of the planner.
    #[error("the plan binds {tensor}, which the graph does not declare")]
    NoTensor {
        /// The name.
        tensor: String,
    },
}

/// Writes the bundle.
///
/// # Errors
///
/// [`PackError`] when the images break a rule of the bundle.
pub fn pack(parts: &Parts<'_>) -> Result<Baked, PackError> {
    let (meta, host, verify) = (meta(parts), host(parts), verify(parts.spec));
    let mut builder = Builder::new(&meta, &host, &verify);
    tensors(&mut builder, parts)?;
    for stage in parts.stages {
        builder.stage(stage.name, &stage.output);
    }
    let mut manifest = manifest(parts);
    builder.manifest(&manifest);
    builder.report(parts.report);
    tiles(&mut builder, parts)?;
    let bundle = builder.finish()?;
    manifest.push_str(&stage_line("bundle", &bundle));
    let facts = facts(&bundle)?;
    let report = parts.report.to_owned();
    Ok(Baked {
        bundle,
        manifest,
        report,
        facts,
        files: listing::files(parts, parts.schedule),
    })
}

/// How large `bundle` came out.
fn facts(bundle: &[u8]) -> Result<BundleFacts, PackError> {
    let read = Bundle::parse(bundle).map_err(WriteError::from)?;
    let segments = || read.tiles().flat_map(|tile| tile.segments());
    let distinct: BTreeSet<usize> = segments().map(|segment| segment.bundle_offset).collect();
    Ok(BundleFacts {
        bytes: bundle.len() as u64,
        segments: segments().count(),
        distinct_segments: distinct.len(),
        image_bytes: read.tiles().map(|tile| tile.bytes() as u64).sum(),
    })
}

fn meta<'a>(parts: &Parts<'a>) -> Meta<'a> {
    let (spec, plan) = (parts.spec, parts.plan);
    let attention = &plan.attention;
    let OpKind::Attention(op) = &spec.ops[0].kind;
    let input = |value: ValueRef| match value {
        ValueRef::Input(index) => index as u32,
        ValueRef::Op(index) => (spec.inputs.len() + index) as u32,
    };
    let roles = Roles {
        query: input(op.query.value),
        key: input(op.key.value),
        value: input(op.value.value),
        output: spec.inputs.len() as u32,
    };
    Meta {
        name: &plan.name,
        target: spec.device.target.name(),
        op: spec.ops[0].kind.name(),
        tiles: plan.tiles,
        batch: attention.batch,
        query_length: attention.query_length,
        key_length: attention.key_length,
        heads: attention.heads,
        head_dimension: attention.head_dimension,
        padded_head_dimension: attention.padded_head_dimension,
        scale: attention.scale,
        rounding: match attention.rounding {
            PlanRounding::Nearest => Rounding::Nearest,
            PlanRounding::Stochastic => Rounding::Stochastic,
        },
        tasks: plan.tasks.len() as u32,
        query_blocks: attention.query_blocks,
        query_block_rows: attention.query_block_rows,
        key_splits: attention.key_splits,
        key_block_rows: attention.key_block_rows,
        exchange_phases: exchange_phases(plan),
        roles,
    }
}

/// Internal phases of a call.
fn exchange_phases(plan: &Plan) -> u32 {
    plan.steps
        .iter()
        .filter(|step| matches!(step, Step::Exchange(_)))
        .count() as u32
}

fn host(parts: &Parts<'_>) -> Host {
    Host {
        buffer_bytes: parts.plan.host.buffer_bytes,
        cycles: parts.plan.host.cycles,
        command_offset: 0,
        completion_tile: first_tile().physical(),
        completion_address: parts.programs.completion,
    }
}

/// The tile whose end the host looks at: logical and physical number 0.
fn first_tile() -> TileId {
    TileId::all()
        .next()
        .unwrap_or_else(|| unreachable!("a chip has tiles"))
}

fn verify(spec: &Spec) -> Verify {
    let verify = &spec.verify;
    Verify {
        seed: verify.seed,
        mean: verify.mean,
        std: verify.std,
        max_abs_error: verify.max_abs_error,
        rmse: verify.rmse,
    }
}

/// The tensors, the host phases and where rows of the former lie.
fn tensors(builder: &mut Builder, parts: &Parts<'_>) -> Result<(), PackError> {
    let mut names = Vec::new();
    for input in &parts.spec.inputs {
        let (name, shape) = (input.name.value.as_str(), input.shape.value);
        builder.tensor(&Tensor {
            name,
            kind: TensorKind::Input,
            shape,
        });
        names.push(name);
    }
    for output in &parts.spec.outputs {
        let name = output.name.value.as_str();
        builder.tensor(&Tensor {
            name,
            kind: TensorKind::Output,
            shape: output.shape,
        });
        names.push(name);
    }
    for phase in &parts.plan.host.phases {
        builder.phase(&HostPhase {
            direction: match phase.direction {
                HostDirection::ToTiles => Direction::ToTiles,
                HostDirection::ToHost => Direction::ToHost,
            },
            pages: phase.pages.len() as u32,
            bytes: phase.pages.iter().map(|page| u64::from(page.bytes)).sum(),
        });
    }
    for binding in &parts.plan.host.bindings {
        let found = names.iter().position(|name| *name == binding.tensor);
        let missing = || PackError::NoTensor {
            tensor: binding.tensor.clone(),
        };
        builder.binding(&Binding {
            tensor: found.ok_or_else(missing)? as u32,
            buffer_offset: binding.buffer_offset,
            buffer_stride: binding.buffer_stride,
            row_elements: binding.row_elements,
            rows: binding.rows,
            first_element: binding.first_element,
            element_stride: binding.element_stride,
        });
    }
    Ok(())
}

/// Classes with their lines, and the segments of every tile.
fn tiles(builder: &mut Builder, parts: &Parts<'_>) -> Result<(), PackError> {
    let mut classes = Vec::new();
    for (class, linked) in parts.programs.classes.iter().zip(&parts.images.classes) {
        let handle = builder.class(&class.name);
        for line in &linked.lines {
            let symbol = line
                .symbol
                .map_or("", |index| linked.symbols[index].name.as_str());
            builder.line(
                handle,
                &Line {
                    start: ByteAddr(line.range.start),
                    end: ByteAddr(line.range.end),
                    symbol,
                    file: &linked.files[line.file],
                    line: line.line,
                },
            );
        }
        classes.push(handle);
    }
    for (tile, words) in TileId::all().zip(&parts.programs.tiles) {
        let linked = &parts.images.classes[words.class];
        let code = linked
            .segments
            .iter()
            .map(|s| (ByteAddr(s.address), s.bytes.clone()));
        let own = words.runs.iter().map(|(at, words)| (*at, to_bytes(words)));
        let mut segments: Vec<(ByteAddr, Vec<u8>)> = code.chain(own).collect();
        segments.sort_by_key(|segment| segment.0);
        builder.tile(tile.physical(), classes[words.class], &segments)?;
    }
    Ok(())
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The manifest without the bundle's own line, which the bundle cannot hold.
fn manifest(parts: &Parts<'_>) -> String {
    let mut text = String::from(
        "# Digest and size of every stage's output. `cargo xtask artifacts --bless` renews it.\n",
    );
    let _ = writeln!(text, "target = \"{}\"", parts.spec.device.target.name());
    let codes: String = assumed::CODES
        .iter()
        .map(|code| format!("{} {}\n", code.name, code.value))
        .collect();
    text.push_str(&stage_line("operand_codes", codes.as_bytes()));
    for stage in parts.stages {
        text.push_str(&stage_line(stage.name, &stage.output));
    }
    text
}

fn stage_line(name: &str, output: &[u8]) -> String {
    format!(
        "{name} = {{ bytes = {}, sha256 = \"{}\" }}\n",
        output.len(),
        Digest::of(output)
    )
}
