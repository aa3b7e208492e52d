//! `tilekiln verify`: generated inputs in, a judgement out.

use std::io::IsTerminal as _;

use half::f16;
use tilekiln_bundle::{Bundle, Meta, TensorKind};
use tilekiln_chip::assumed;

use super::progress::Progress;
use super::{CliError, Outcome, Setting, Stages, print};
use crate::card::Simulated;
use crate::driver::{News, Watch};
use crate::inspect::figures;
use crate::json::Json;
use crate::reference::{self, Problem, Scores, Shape};
use crate::session::{self, CallFacts, Session};
use crate::stream::Normal;
use crate::verify::{self, Limits, Verdict};

pub(super) fn verify(setting: &Setting<'_>, mut stages: Stages) -> Result<Outcome, CliError> {
    let bundle = setting.bundle;
    let progress = Progress::new();
    progress.stage("generating inputs");
    let inputs = stages.time("inputs", || generate(bundle));
    let mut outputs = session::empty_outputs(bundle);
    let ran = execute(setting, &progress, &mut stages, &inputs, &mut outputs)?;
    progress.stage("computing the reference");
    let problem = problem(bundle, &inputs);
    let threads = setting.threads();
    let truth = stages.time("reference", || {
        reference::attention(&problem, Scores::Exact, threads)
    });
    progress.stage("comparing");
    let output = &outputs[ordinal(bundle, TensorKind::Output, bundle.meta().roles.output)];
    let limits = limits(bundle);
    let verdict = stages.time("compare", || {
        verify::judge_by(&problem, &truth, output, &limits, threads)
    })?;
    drop(progress);
    let (max_abs_error, rmse) = (verdict.exact.max_abs_error, verdict.exact.rmse);
    let passed = verdict.passed();
    tracing::info!(max_abs_error, rmse, passed, "verified");
    let report = Report {
        bundle,
        ran,
        verdict,
        limits,
        stages,
    };
    let text = match setting.options.json {
        true => format!("{}\n", report.json()),
        false => report.text(setting.colors && std::io::stdout().is_terminal()),
    };
    print(&text)?;
    Ok(if passed {
        Outcome::Passed
    } else {
        Outcome::Failed
    })
}

/// What a run was.
struct Ran {
    device: String,
    facts: CallFacts,
    simulated: Option<Simulated>,
}

/// One call on the wanted device.
fn execute(
    setting: &Setting<'_>,
    progress: &Progress,
    stages: &mut Stages,
    inputs: &[Vec<f16>],
    outputs: &mut [Vec<f16>],
) -> Result<Ran, CliError> {
    let bundle = setting.bundle;
    progress.stage("loading");
    let device = stages.time("load", || setting.open_device())?;
    setting.interrupt.watch(device.gauge());
    let mut news = |news: News| progress.news(news);
    let mut watch = Watch {
        limits: setting.limits(),
        interrupted: setting.interrupt.flag(),
        news: &mut news,
    };
    progress.stage("starting");
    let mut session = stages.time("start", || Session::start(device, bundle, &mut watch))?;
    progress.call(
        "running".to_owned(),
        bundle.acknowledgements(),
        session.gauge(),
    );
    let facts = stages.time("call", || session.call(inputs, outputs, &mut watch))?;
    let (device, simulated) = (session.device_name().to_owned(), session.simulated());
    progress.stage("ending");
    stages.time("finish", || session.finish(&mut watch))?;
    Ok(Ran {
        device,
        facts,
        simulated,
    })
}

/// The inputs the graph's `[verify]` asks for, in the bundle's order.
pub(super) fn generate(bundle: &Bundle<'_>) -> Vec<Vec<f16>> {
    let verify = bundle.verify();
    let normal = Normal {
        seed: verify.seed,
        mean: verify.mean,
        std: verify.std,
    };
    let tensors = bundle.tensors().enumerate();
    tensors
        .filter(|(_, tensor)| tensor.kind == TensorKind::Input)
        .map(|(index, tensor)| {
            normal
                .stream(index as u32, 0)
                .generate(tensor.elements().unwrap_or(0) as usize)
        })
        .collect()
}

/// The place of tensor `index` among those of its kind.
fn ordinal(bundle: &Bundle<'_>, kind: TensorKind, index: u32) -> usize {
    bundle
        .tensors()
        .take(index as usize)
        .filter(|tensor| tensor.kind == kind)
        .count()
}

/// The baked attention with these inputs.
pub(super) fn problem<'a>(bundle: &Bundle<'_>, inputs: &'a [Vec<f16>]) -> Problem<'a> {
    let meta = bundle.meta();
    let input = |role| inputs[ordinal(bundle, TensorKind::Input, role)].as_slice();
    Problem {
        shape: shape(meta),
        scale: meta.scale,
        query: input(meta.roles.query),
        key: input(meta.roles.key),
        value: input(meta.roles.value),
    }
}

/// The sizes of the baked attention.
pub(super) fn shape(meta: &Meta<'_>) -> Shape {
    Shape {
        batch: meta.batch as usize,
        query_length: meta.query_length as usize,
        key_length: meta.key_length as usize,
        heads: meta.heads as usize,
        head_dimension: meta.head_dimension as usize,
    }
}

/// The limits the graph's `[verify]` sets.
pub(super) fn limits(bundle: &Bundle<'_>) -> Limits {
    let verify = bundle.verify();
    Limits {
        max_abs_error: verify.max_abs_error,
        rmse: verify.rmse,
        rounding: bundle.meta().rounding,
    }
}

/// The time `cycles` take at the modelled clock.
pub(super) fn modelled(cycles: u64) -> String {
    let microseconds = cycles as f64 * 1e6 / assumed::CLOCK_HZ as f64;
    let gigahertz = assumed::CLOCK_HZ as f64 / 1e9;
    format!("{microseconds:.1} us at {gigahertz} GHz")
}

/// Everything there is to say.
struct Report<'a> {
    bundle: &'a Bundle<'a>,
    ran: Ran,
    verdict: Verdict,
    limits: Limits,
    stages: Stages,
}

impl Report<'_> {
    fn bytes(&self, kind: TensorKind) -> u64 {
        let tensors = self.bundle.tensors().filter(|tensor| tensor.kind == kind);
        tensors
            .filter_map(|tensor| tensor.elements())
            .map(|elements| 2 * elements)
            .sum()
    }

    fn text(&self, colors: bool) -> String {
        let mut text = format!("device={}\n", self.ran.device);
        let mut line = |name: &str, value: String| {
            let line = format!("{name:<12} {value}");
            text.push_str(line.trim_end());
            text.push('\n');
        };
        for (name, value) in self.run_lines().into_iter().chain(self.error_lines()) {
            line(name, value);
        }
        for complaint in &self.verdict.complaints {
            line("complaint", complaint.to_string());
        }
        let (word, color) = if self.verdict.passed() {
            ("passed", "\x1b[32m")
        } else {
            ("failed", "\x1b[31m")
        };
        match colors {
            true => line(&format!("{color}{word}\x1b[0m"), String::new()),
            false => line(word, String::new()),
        }
        text
    }

    fn run_lines(&self) -> Vec<(&'static str, String)> {
        let meta = self.bundle.meta();
        let (graph, op, target, tiles) = (meta.name, meta.op, meta.target, meta.tiles);
        let host_phases = self.bundle.phases().len();
        let acknowledgements = self.ran.facts.acknowledgements;
        let input = self.bytes(TensorKind::Input);
        let output = self.bytes(TensorKind::Output);
        let cycles = self.ran.facts.cycles.into();
        let mut lines = vec![
            ("graph", format!("{graph}: {op}, {target}, {tiles} tiles")),
            ("shape", shape_text(meta)),
            ("tasks", tasks_text(meta)),
            (
                "phases",
                format!(
                    "{} exchange, {host_phases} host, {acknowledgements} host rendezvous",
                    meta.exchange_phases
                ),
            ),
            ("bytes", format!("{input} in, {output} out")),
            ("cycles", format!("{cycles}, {}", modelled(cycles))),
        ];
        if let Some(simulated) = self.ran.simulated {
            let Simulated {
                cycles,
                instructions,
            } = simulated;
            lines.push((
                "simulated",
                format!("{instructions} instructions, {cycles} cycles with transfers"),
            ));
        }
        lines.push(("stages", self.stages.text()));
        lines
    }

    fn error_lines(&self) -> Vec<(&'static str, String)> {
        let Verdict {
            exact,
            rounded,
            largest_score,
            ..
        } = &self.verdict;
        let Limits {
            max_abs_error,
            rmse,
            ..
        } = self.limits;
        let mut lines = vec![
            (
                "max_abs",
                format!("{:.4e} (limit {max_abs_error:.4e})", exact.max_abs_error),
            ),
            ("rmse", format!("{:.4e} (limit {rmse:.4e})", exact.rmse)),
            (
                "relative",
                format!(
                    "{:.4e} (limit {:.4e})",
                    exact.relative_rmse,
                    self.limits.relative_rmse()
                ),
            ),
        ];
        if let Some((rounded, limit)) = rounded {
            lines.push((
                "rounded",
                format!(
                    "{:.4e} (limit {limit:.4e}) against the reference with rounded scores, which \
                     judges because scores reach {largest_score:.1}",
                    rounded.max_abs_error
                ),
            ));
        }
        lines
    }

    fn json(&self) -> Json {
        let meta = self.bundle.meta();
        let cycles = self.ran.facts.cycles;
        let mut fields: Vec<(&str, Json)> = vec![
            ("device", self.ran.device.as_str().into()),
            ("graph", meta.name.into()),
            ("bundle_digest", self.bundle.digest().to_string().into()),
        ];
        fields.extend(figures(meta));
        fields.extend([
            ("host_phases", self.bundle.phases().len().into()),
            ("host_rendezvous", self.ran.facts.acknowledgements.into()),
            ("cycles", cycles.into()),
            (
                "modelled_seconds",
                (f64::from(cycles) / assumed::CLOCK_HZ as f64).into(),
            ),
            ("input_bytes", self.bytes(TensorKind::Input).into()),
            ("output_bytes", self.bytes(TensorKind::Output).into()),
            ("stage_seconds", self.stages.json()),
        ]);
        fields.extend(self.json_errors());
        if let Some(simulated) = self.ran.simulated {
            fields.push(("simulated_cycles", simulated.cycles.into()));
            fields.push(("simulated_instructions", simulated.instructions.into()));
        }
        let complaints = self.verdict.complaints.iter().map(ToString::to_string);
        fields.push(("complaints", Json::list(complaints)));
        fields.push(("passed", self.verdict.passed().into()));
        Json::object(fields)
    }

    fn json_errors(&self) -> Vec<(&'static str, Json)> {
        let Verdict {
            exact,
            rounded,
            largest_score,
            ..
        } = &self.verdict;
        let mut fields = vec![
            ("seed", self.bundle.verify().seed.into()),
            ("largest_score", (*largest_score).into()),
            ("non_finite", exact.non_finite.into()),
            ("max_abs_error", exact.max_abs_error.into()),
            ("rmse", exact.rmse.into()),
            ("relative_rmse", exact.relative_rmse.into()),
            ("max_abs_error_limit", self.limits.max_abs_error.into()),
            ("rmse_limit", self.limits.rmse.into()),
            ("relative_rmse_limit", self.limits.relative_rmse().into()),
        ];
        if let Some((rounded, limit)) = rounded {
            fields.push(("rounded_max_abs_error", rounded.max_abs_error.into()));
            fields.push(("rounded_rmse", rounded.rmse.into()));
            fields.push(("rounded_max_abs_error_limit", (*limit).into()));
        }
        fields
    }
}

fn shape_text(meta: &Meta<'_>) -> String {
    format!(
        "batch {}, queries {}, keys {}, hidden {} = {} heads x {} (padded to {})",
        meta.batch,
        meta.query_length,
        meta.key_length,
        u64::from(meta.heads) * u64::from(meta.head_dimension),
        meta.heads,
        meta.head_dimension,
        meta.padded_head_dimension
    )
}

fn tasks_text(meta: &Meta<'_>) -> String {
    format!(
        "{}: {} query blocks of up to {} rows, {} key splits, key blocks of up to {} rows, {}",
        meta.tasks,
        meta.query_blocks,
        meta.query_block_rows,
        meta.key_splits,
        meta.key_block_rows,
        meta.rounding
    )
}

impl Stages {
    fn text(&self) -> String {
        let stages: Vec<_> = self
            .0
            .iter()
            .map(|(name, seconds)| format!("{name} {seconds:.2} s"))
            .collect();
        stages.join(", ")
    }

    pub(super) fn json(&self) -> Json {
        Json::object(self.0.iter().map(|&(name, seconds)| (name, seconds.into())))
    }
}
