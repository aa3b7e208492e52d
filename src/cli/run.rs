//! `tilekiln run`: arrays in, arrays out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use half::f16;
use tilekiln_bundle::{Bundle, Tensor, TensorKind};

use super::progress::Progress;
use super::{CliError, Outcome, Setting, Stages, print};
use crate::driver::{News, Watch};
use crate::json::Json;
use crate::session::{self, CallFacts, Session};
use crate::stream::{Layout, NpyInput, NpyOutput, StreamError};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file of an input: .npy, f16 or f32, [batch, length, heads, head dimension] or
    /// [batch, length, hidden], with or without a leading axis of frames.
    #[arg(long = "input", value_name = "NAME=FILE", required = true, value_parser = named)]
    inputs: Vec<(String, PathBuf)>,
    /// The file an output goes to, in the same form, f16.
    #[arg(long = "output", value_name = "NAME=FILE", required = true, value_parser = named)]
    outputs: Vec<(String, PathBuf)>,
}

fn named(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        _ => Err("expected NAME=FILE, like query=q.npy".to_owned()),
    }
}

/// What a run was.
struct Report {
    device: String,
    calls: Vec<CallFacts>,
    /// Values that are not finite, by tensor.
    non_finite: Vec<(String, u64)>,
}

pub(super) fn run(
    setting: &Setting<'_>,
    arguments: &Arguments,
    mut stages: Stages,
) -> Result<Outcome, CliError> {
    let bundle = setting.bundle;
    let (mut inputs, mut outputs) = stages.time("files", || open_files(bundle, arguments))?;
    let progress = Progress::new();
    progress.stage("loading");
    let device = stages.time("load", || setting.open_device())?;
    setting.interrupt.watch(device.gauge());
    let mut report = Report {
        device: device.name().to_owned(),
        calls: Vec::new(),
        non_finite: Vec::new(),
    };
    let mut news = |news: News| progress.news(news);
    let mut watch = Watch {
        limits: setting.limits(),
        interrupted: setting.interrupt.flag(),
        news: &mut news,
    };
    progress.stage("starting");
    let mut session = stages.time("start", || Session::start(device, bundle, &mut watch))?;
    let frames = inputs.first().map_or(0, |(_, input)| input.frames());
    let mut results = session::empty_outputs(bundle);
    for frame in 0..frames {
        let arrays = stages.time("read", || read_frame(&mut inputs))?;
        report.count(inputs.iter().map(|(name, _)| name.as_str()).zip(&arrays));
        let what = format!("frame {} of {frames}", frame + 1);
        progress.call(what, bundle.acknowledgements(), session.gauge());
        let facts = stages.time("call", || session.call(&arrays, &mut results, &mut watch))?;
        tracing::info!(frame, cycles = facts.cycles, "frame done");
        report.calls.push(facts);
        report.count(outputs.iter().map(|(name, _)| name.as_str()).zip(&results));
        stages.time("write", || {
            outputs
                .iter_mut()
                .zip(&results)
                .try_for_each(|((_, file), array)| file.frame(array))
        })?;
    }
    progress.stage("ending");
    stages.time("finish", || session.finish(&mut watch))?;
    outputs
        .into_iter()
        .try_for_each(|(_, file)| file.commit())?;
    drop(progress);
    let text = match setting.options.json {
        true => format!("{}\n", report.json(&stages)),
        false => report.text(arguments),
    };
    print(&text)?;
    Ok(Outcome::Passed)
}

type Inputs = Vec<(String, NpyInput)>;
type Outputs = Vec<(String, NpyOutput)>;

/// Opens every file before the card is asked for anything.
fn open_files(bundle: &Bundle<'_>, arguments: &Arguments) -> Result<(Inputs, Outputs), CliError> {
    let mut inputs = Vec::new();
    for (tensor, path) in assign(bundle, TensorKind::Input, &arguments.inputs)? {
        inputs.push((tensor.name.to_owned(), NpyInput::open(path, tensor.shape)?));
    }
    if let Some((_, first)) = inputs.first() {
        let want = first.frames();
        if let Some((_, odd)) = inputs.iter().find(|(_, input)| input.frames() != want) {
            return Err(CliError::Stream(StreamError::Frames {
                path: odd.path().to_owned(),
                got: odd.frames(),
                other: first.path().to_owned(),
                want,
            }));
        }
    }
    let (layout, frames) = query_layout(bundle, &inputs);
    let mut outputs = Vec::new();
    for (tensor, path) in assign(bundle, TensorKind::Output, &arguments.outputs)? {
        if let Some((name, input)) = inputs
            .iter()
            .find(|(_, input)| same_file(input.path(), path))
        {
            let (input, output) = (input.path().display(), tensor.name);
            return Err(CliError::Usage(format!(
                "output {output:?} would overwrite input {name:?}, {input}; name another file"
            )));
        }
        let output = NpyOutput::create(path, tensor.shape, layout, frames)?;
        outputs.push((tensor.name.to_owned(), output));
    }
    Ok((inputs, outputs))
}

/// Whether both paths lead to one existing file.
fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// Outputs have the rank of the queries.
fn query_layout(bundle: &Bundle<'_>, inputs: &Inputs) -> (Layout, u64) {
    let query = bundle
        .tensor(bundle.meta().roles.query)
        .map(|tensor| tensor.name);
    let found = inputs.iter().find(|(name, _)| Some(name.as_str()) == query);
    found.map_or(
        (
            Layout {
                framed: false,
                merged: false,
            },
            1,
        ),
        |(_, input)| (input.layout(), input.frames()),
    )
}

/// Every tensor of a kind with its file, in the bundle's order.
fn assign<'a, 'b>(
    bundle: &Bundle<'b>,
    kind: TensorKind,
    files: &'a [(String, PathBuf)],
) -> Result<Vec<(Tensor<'b>, &'a PathBuf)>, CliError> {
    let what = if kind == TensorKind::Input {
        "input"
    } else {
        "output"
    };
    let tensors: Vec<_> = bundle
        .tensors()
        .filter(|tensor| tensor.kind == kind)
        .collect();
    let names: Vec<_> = tensors.iter().map(|tensor| tensor.name).collect();
    let names = names.join(", ");
    for (index, (name, _)) in files.iter().enumerate() {
        if !tensors.iter().any(|tensor| tensor.name == name) {
            return Err(CliError::Usage(format!(
                "this graph has no {what} {name:?}; it has {names}"
            )));
        }
        if files[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(CliError::Usage(format!("{what} {name:?} was given twice")));
        }
    }
    tensors
        .into_iter()
        .map(|tensor| {
            let file = files.iter().find(|(name, _)| name == tensor.name);
            let file = file.map(|(_, path)| (tensor, path));
            file.ok_or_else(|| {
                let name = tensor.name;
                CliError::Usage(format!(
                    "{what} {name:?} was given no file: add `--{what} {name}=FILE`"
                ))
            })
        })
        .collect()
}

fn read_frame(inputs: &mut Inputs) -> Result<Vec<Vec<f16>>, StreamError> {
    inputs
        .iter_mut()
        .map(|(_, input)| input.next_frame())
        .collect()
}

impl Report {
    fn count<'a>(&mut self, arrays: impl Iterator<Item = (&'a str, &'a Vec<f16>)>) {
        for (name, array) in arrays {
            let found = array.iter().filter(|value| !value.is_finite()).count() as u64;
            match self.non_finite.iter_mut().find(|(known, _)| known == name) {
                Some((_, total)) => *total += found,
                None => self.non_finite.push((name.to_owned(), found)),
            }
        }
    }

    fn cycles(&self) -> u64 {
        self.calls.iter().map(|call| u64::from(call.cycles)).sum()
    }

    fn text(&self, arguments: &Arguments) -> String {
        let mut text = format!("device={}\n", self.device);
        let frames = self.calls.len();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "frames     {frames}");
        let cycles = self.cycles() / frames.max(1) as u64;
        let _ = writeln!(
            text,
            "cycles     {cycles} a frame, {}",
            super::verify::modelled(cycles)
        );
        for (name, count) in &self.non_finite {
            if *count > 0 {
                let _ = writeln!(text, "not finite {count} values of {name}");
            }
        }
        for (name, path) in &arguments.outputs {
            let _ = writeln!(text, "wrote      {name} to {}", path.display());
        }
        text
    }

    fn json(&self, stages: &Stages) -> Json {
        let rendezvous: u32 = self.calls.iter().map(|call| call.acknowledgements).sum();
        let counts = self
            .non_finite
            .iter()
            .map(|(name, count)| (name.as_str(), (*count).into()));
        Json::object([
            ("device", self.device.as_str().into()),
            ("frames", self.calls.len().into()),
            (
                "cycles",
                Json::list(self.calls.iter().map(|call| call.cycles)),
            ),
            ("host_rendezvous", rendezvous.into()),
            ("non_finite", Json::object(counts)),
            ("stage_seconds", stages.json()),
        ])
    }
}
