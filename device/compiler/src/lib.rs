//! The compiler: from the text of `graph.toml` to a bundle, as a chain of pure functions.
//!
//! ```text
//! graph.toml ──► Spec ──► Plan ──► Schedule ──► Programs ──► Images ──► bundle
//!          parse     plan    schedule     generate      images      pack
//! ```
//!
//! Each arrow is one function, in the module named after its result. It borrows what came before
//! and returns something new.
//!
//! # Where to start
//!
//! [`compile`] is the chain, on one screen. [`plan::Plan`] is the type the rest revolves around.
//!
//! # What is never here
//!
//! - Files, environment, clock, threads, logs: `build.rs` has those.
//! - The simulator. It shares `chip` and `isa` with this crate and nothing else, or a bug here
//!   would agree with itself there.
//! - TOML outside [`spec`]; ELF outside [`object`].

pub mod asm;
pub mod diagnostic;
pub mod image;
pub mod images;
pub mod object;
pub mod pack;
pub mod plan;
pub mod program;
pub mod report;
pub mod schedule;
pub mod spec;

use diagnostic::Diagnostic;
pub use images::KernelObject;
pub use pack::Baked;
use pack::{Parts, Stage};

/// Why a graph could not be baked: the pass that gave up, and its reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The text has faults; all of them are here.
    #[error("graph.toml does not describe a graph")]
    Spec(Vec<Diagnostic>),
    /// The graph does not fit the chip.
    #[error("the graph cannot be planned")]
    Plan(Box<Diagnostic>),
    /// The planner broke a rule it must keep.
    #[error("the plan breaks a rule of its own")]
    PlanCheck(#[from] plan::CheckError),
    /// No rows exist for a phase.
    #[error("the exchange cannot be scheduled")]
    Schedule(#[from] schedule::ScheduleError),
    /// The scheduler broke a rule of the fabric.
    #[error("the schedule breaks a rule of the fabric")]
    ScheduleCheck(#[from] schedule::check::CheckError),
    /// Something that differs per tile has no room.
    #[error("the program cannot be written")]
    Program(#[from] program::ProgramError),
    /// A class does not assemble or link.
    #[error("the images cannot be linked")]
    Images(#[from] images::ImageError),
    /// The bundle refuses the images.
    #[error("the bundle cannot be written")]
    Pack(#[from] pack::PackError),
}

impl CompileError {
    /// The complaint as a reader of `graph.toml` wants it: with line and caret where there is one,
    /// with its chain of causes otherwise.
    pub fn render(&self, file_name: &str, source: &str) -> String {
        match self {
            Self::Spec(diagnostics) => diagnostic::render(diagnostics, file_name, source, false),
            Self::Plan(one) => {
                diagnostic::render(std::slice::from_ref(&**one), file_name, source, false)
            }
            other => {
                let mut told = other.to_string();
                let mut cause = std::error::Error::source(other);
                while let Some(error) = cause {
                    told = format!("{told}: {error}");
                    cause = error.source();
                }
                told
            }
        }
    }
}

/// Bakes `graph`, the text of a `graph.toml`, with `kernels`.
///
/// # Errors
///
/// [`CompileError`] names the pass that gave up. The text is judged as a whole; after that, the
/// first error ends the bake.
pub fn compile(graph: &str, kernels: &[KernelObject]) -> Result<Baked, CompileError> {
    let spec = spec::parse(graph).map_err(CompileError::Spec)?;
    let told = |error: plan::PlanError| CompileError::Plan(Box::new(error.diagnostic(&spec)));
    let plan = plan::plan(&spec).map_err(told)?;
    plan::check(&plan)?;
    let schedule = schedule::schedule(&plan)?;
    let programs = program::generate(&plan, &schedule)?;
    let facts = schedule::check::whole(&plan, &schedule, &programs.rows)?;
    let images = images::images(&programs, kernels)?;
    let stages = [
        Stage {
            name: "plan",
            output: plan::text(&plan).into_bytes(),
        },
        Stage {
            name: "schedule",
            output: format!("{schedule:?}").into_bytes(),
        },
        Stage {
            name: "programs",
            output: format!("{programs:?}").into_bytes(),
        },
        Stage {
            name: "images",
            output: format!("{images:?}").into_bytes(),
        },
    ];
    let results = report::Results {
        target: spec.device.target.name(),
        plan: &plan,
        schedule: &schedule,
        checked: &facts,
        kernels,
        programs: &programs,
        images: &images,
        stages: &stages,
    };
    let inside = report::gather(&results, None);
    let parts = Parts {
        spec: &spec,
        plan: &plan,
        schedule: &schedule,
        programs: &programs,
        images: &images,
        stages: &stages,
        report: &inside,
    };
    let mut baked = pack::pack(&parts)?;
    baked.report = report::gather(&results, Some(&baked.facts));
    Ok(baked)
}
