//! Graphs baked inside a test, run on the virtual card, judged as `verify` judges.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use half::f16;
use tilekiln::card::virtual_card::VirtualCard;
use tilekiln::card::{Device, SimOptions};
use tilekiln::driver::{Limits, Watch};
use tilekiln::reference::{Problem, Shape};
use tilekiln::session::{self, CallFacts, Session, SessionError};
use tilekiln::stream::Normal;
use tilekiln::verify::{self, Verdict, VerifyError};
use tilekiln_bundle::{Bundle, TensorKind};
use tilekiln_compiler::asm::{self, Mode, Source};
use tilekiln_compiler::{Baked, KernelObject, compile};

/// Every kernel, assembled once from the text that the build script expanded.
pub fn kernels() -> &'static [KernelObject] {
    static KERNELS: OnceLock<Vec<KernelObject>> = OnceLock::new();
    KERNELS.get_or_init(|| {
        let folder = Path::new(env!("TILEKILN_KERNELS"));
        let files = std::fs::read_dir(folder).expect("the build script leaves expanded kernels");
        let mut paths: Vec<_> = files
            .map(|file| file.expect("a folder's entry").path())
            .collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "s"));
        paths.sort();
        paths.iter().map(|path| kernel(path)).collect()
    })
}

fn kernel(path: &Path) -> KernelObject {
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text = std::fs::read_to_string(path).expect("an expanded kernel is text");
    let source = Source {
        name,
        text,
        symbols: Vec::new(),
        mode: Mode::Supervisor,
    };
    let key = asm::key(&source)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let object = asm::assemble(&source).unwrap_or_else(|errors| panic!("{errors}"));
    KernelObject {
        name: source.name,
        key,
        hit: true,
        object,
    }
}

/// Bakes a graph that must bake.
#[track_caller]
pub fn bake(graph: &str) -> Baked {
    compile(graph, kernels()).unwrap_or_else(|error| panic!("{}", error.render("graph", graph)))
}

/// A graph of `tests/graphs`.
pub fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/graphs")
        .join(name);
    std::fs::read_to_string(path).expect("tests/graphs holds the graph")
}

/// An attention with keys and values of their own, as a `graph.toml`.
pub struct Graph<'a> {
    /// Tiles the plan may use.
    pub tiles: u32,
    /// Batch, query length, heads, head dimension.
    pub query: [u32; 4],
    /// Keys, and values.
    pub keys: u32,
    /// More lines for the operation.
    pub lines: &'a str,
}

impl Graph<'_> {
    /// Its text.
    pub fn text(&self) -> String {
        let [batch, _, heads, columns] = self.query;
        let key = [batch, self.keys, heads, columns];
        let mut text = format!(
            "name = \"test\"\n[device]\ntiles = {}\n[input]\n",
            self.tiles
        );
        for (name, shape) in [("query", self.query), ("key", key), ("value", key)] {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name} = {{ dtype = \"f16\", shape = {shape:?} }}");
        }
        text.push_str("[op.attention]\nkind = \"attention\"\n");
        text.push_str("query = \"query\"\nkey = \"key\"\nvalue = \"value\"\n");
        text + self.lines + "\n[output]\nattention = \"attention\"\n"
    }

    /// Bakes it and reads the bundle where it lies.
    #[track_caller]
    pub fn program(&self) -> Program {
        Program::new(&self.text())
    }
}

/// A baked graph, kept until the tests end.
pub struct Program {
    /// The bundle.
    pub bundle: &'static Bundle<'static>,
}

/// What a session left.
pub struct Ran {
    /// The outputs of every frame.
    pub outputs: Vec<Vec<f16>>,
    /// What every call was.
    pub facts: Vec<CallFacts>,
}

impl Program {
    /// Bakes `graph`.
    #[track_caller]
    pub fn new(graph: &str) -> Self {
        let bytes: &'static [u8] = Box::leak(bake(graph).bundle.into_boxed_slice());
        let bundle = Bundle::parse(bytes).unwrap_or_else(|error| panic!("{error}"));
        Self {
            bundle: Box::leak(Box::new(bundle)),
        }
    }

    /// Arrays for all inputs, normally distributed around 0, for frame `frame`.
    pub fn normal(&self, std: f64, frame: u64) -> Vec<Vec<f16>> {
        normal(self.bundle, std, frame)
    }

    /// The same with `times` larger queries and keys, and values as they are.
    pub fn large_scores(&self, times: f32, frame: u64) -> Vec<Vec<f16>> {
        let mut inputs = self.normal(0.5, frame);
        for array in &mut inputs[..2] {
            array
                .iter_mut()
                .for_each(|x| *x = f16::from_f32(times * x.to_f32()));
        }
        inputs
    }

    /// One frame through one session.
    #[track_caller]
    pub fn run(&self, options: &SimOptions, inputs: &[Vec<f16>]) -> (Vec<f16>, CallFacts) {
        let mut ran = self.run_frames(options, &[inputs]);
        (ran.outputs.remove(0), ran.facts[0])
    }

    /// Frames through one session, which must end well.
    #[track_caller]
    pub fn run_frames(&self, options: &SimOptions, frames: &[&[Vec<f16>]]) -> Ran {
        let card = VirtualCard::load(self.bundle, options).expect("the bundle fits the card");
        let ran = session(self.bundle, Box::new(card), frames);
        ran.unwrap_or_else(|error| panic!("{error}"))
    }

    /// What `verify` thinks of `output`.
    pub fn judge(&self, inputs: &[Vec<f16>], output: &[f16]) -> Verdict {
        let verdict = judge(self.bundle, inputs, output);
        verdict.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs one frame and demands that `verify` passes it.
    #[track_caller]
    pub fn passes(&self, options: &SimOptions, inputs: &[Vec<f16>]) -> (Vec<f16>, CallFacts) {
        let (output, facts) = self.run(options, inputs);
        let verdict = self.judge(inputs, &output);
        assert!(verdict.passed(), "{:?}\n{:?}", self.bundle.meta(), verdict);
        (output, facts)
    }
}

/// Arrays for all inputs of `bundle`, normally distributed around 0, for frame `frame`.
pub fn normal(bundle: &Bundle<'_>, std: f64, frame: u64) -> Vec<Vec<f16>> {
    let normal = Normal {
        seed: 0x7113,
        mean: 0.0,
        std,
    };
    let inputs = bundle
        .tensors()
        .filter(|tensor| tensor.kind == TensorKind::Input);
    let elements = inputs.map(|tensor| tensor.elements().unwrap_or(0) as usize);
    let streams = elements.enumerate();
    streams
        .map(|(index, count)| normal.stream(index as u32, frame).generate(count))
        .collect()
}

/// Frames through one session on `device`; the first output of each.
pub fn session(
    bundle: &Bundle<'_>,
    device: Box<dyn Device>,
    frames: &[&[Vec<f16>]],
) -> Result<Ran, SessionError> {
    let interrupted = AtomicBool::new(false);
    let mut news = |_| {};
    let limits = Limits::default();
    let mut watch = Watch {
        limits,
        interrupted: &interrupted,
        news: &mut news,
    };
    watched_session(bundle, device, frames, &mut watch)
}

/// As [`session`], with somebody looking on.
pub fn watched_session(
    bundle: &Bundle<'_>,
    device: Box<dyn Device>,
    frames: &[&[Vec<f16>]],
    watch: &mut Watch<'_>,
) -> Result<Ran, SessionError> {
    let mut ran = Ran {
        outputs: Vec::new(),
        facts: Vec::new(),
    };
    let mut session = Session::start(device, bundle, watch)?;
    for frame in frames {
        let mut outputs = session::empty_outputs(bundle);
        ran.facts.push(session.call(frame, &mut outputs, watch)?);
        ran.outputs.push(outputs.remove(0));
    }
    session.finish(watch)?;
    Ok(ran)
}

/// What `verify` thinks of `output`, by the limits of the checked-in graph. Those are for 729 keys;
/// a mean over fewer is larger, and so is the error of rounding it.
///
/// # Errors
///
/// [`VerifyError`] when nothing can be compared.
pub fn judge(
    bundle: &Bundle<'_>,
    inputs: &[Vec<f16>],
    output: &[f16],
) -> Result<Verdict, VerifyError> {
    let more = (729.0 / f64::from(bundle.meta().key_length)).sqrt();
    let limits = verify::Limits {
        max_abs_error: 2e-4 * more,
        rmse: 2e-5 * more,
        rounding: bundle.meta().rounding,
    };
    verify::judge(&problem(bundle, inputs), output, &limits, 1)
}

/// The baked attention with these inputs.
pub fn problem<'a>(bundle: &Bundle<'_>, inputs: &'a [Vec<f16>]) -> Problem<'a> {
    let meta = bundle.meta();
    // Inputs are the first tensors of a bundle, so that a role is the place among them.
    let input = |role: u32| inputs[role as usize].as_slice();
    Problem {
        shape: Shape {
            batch: meta.batch as usize,
            query_length: meta.query_length as usize,
            key_length: meta.key_length as usize,
            heads: meta.heads as usize,
            head_dimension: meta.head_dimension as usize,
        },
        scale: meta.scale,
        query: input(meta.roles.query),
        key: input(meta.roles.key),
        value: input(meta.roles.value),
    }
}
