//! Where a context stands and why, with everything a reader needs to see the reason.

use tilekiln_isa::form::{Direction, Kind};
use tilekiln_isa::{Decoded, Instruction, Mode, decode};
use tilekiln_sim::stop::{Context, Stop};
use tilekiln_sim::tile::{State, Tile};
use tilekiln_sim::trace;

use super::source::Program;

/// A context that came to a halt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The tile, as a person says it.
    pub tile: String,
    /// The context, as a person says it.
    pub context: String,
    /// The address of the instruction or execution bundle.
    pub pc: u32,
    /// The tile clock.
    pub cycle: u64,
    /// Source file, line, and the last label before with the bytes from it.
    pub origin: Option<(String, u32, String)>,
    /// The instruction as text.
    pub instruction: String,
    /// The registers it reads, and what they hold.
    pub operands: Vec<(String, u32)>,
    /// Why.
    pub cause: String,
}

/// A stop of the simulator.
pub fn told(tile: &Tile, program: &Program, stop: &Stop) -> Told {
    let mut told = at(tile, program, stop.context, stop.pc);
    told.cycle = stop.cycle;
    told.instruction.clone_from(&stop.instruction);
    told.cause = stop.kind.to_string();
    told
}

/// A context that is about to execute something, or waits in it, for a reason from outside.
pub fn standing(tile: &Tile, program: &Program, context: Context, cause: &str) -> Told {
    // A supervisor that waits is active and shows as inactive; its `sync`, one word, lies behind
    // it. [A-CTXT0]
    let waits = context == Context::Supervisor
        && tile.state(context) == State::Active
        && tile.context_status() & 3 == State::Inactive as u32;
    let pc = tile.pc(context);
    let mut told = at(
        tile,
        program,
        context,
        if waits { pc.saturating_sub(4) } else { pc },
    );
    told.cause = cause.to_owned();
    told
}

fn at(tile: &Tile, program: &Program, context: Context, pc: u32) -> Told {
    let mode = mode(context);
    Told {
        tile: tile.id.to_string(),
        context: context.to_string(),
        pc,
        cycle: tile.cycle(),
        origin: origin(program, pc),
        instruction: trace::text(&tile.memory, pc, mode),
        operands: operands(tile, context, pc),
        cause: String::new(),
    }
}

const fn mode(context: Context) -> Mode {
    match context {
        Context::Supervisor => Mode::Supervisor,
        Context::Worker(_) => Mode::Worker,
    }
}

/// The source line of the code at `pc`.
fn origin(program: &Program, pc: u32) -> Option<(String, u32, String)> {
    let origin = program.linked.origin(pc)?;
    let label = origin.symbol.unwrap_or(origin.section);
    let place = match origin.offset {
        0 => label.to_owned(),
        offset => format!("{label}+{offset:#x}"),
    };
    Some((origin.file.to_owned(), origin.line, place))
}

/// The registers that the code at `pc` reads, each once, in the order it names them.
fn operands(tile: &Tile, context: Context, pc: u32) -> Vec<(String, u32)> {
    let Ok(first) = tile.memory.load32(pc) else {
        return Vec::new();
    };
    let second = pc.checked_add(4).and_then(|at| tile.memory.load32(at).ok());
    let instructions: Vec<Instruction> = match decode::read(first, second, mode(context)) {
        Ok(Decoded::Solo(instruction) | Decoded::Inline(instruction, _)) => vec![instruction],
        Ok(Decoded::Bundle(bundle)) => vec![bundle.main, bundle.aux],
        Err(_) => Vec::new(),
    };
    let mut read = Vec::new();
    for instruction in &instructions {
        for (operand, value) in instruction.operands() {
            if operand.direction == Direction::Out {
                continue;
            }
            for register in registers(tile, context, operand.kind, value as usize) {
                if !read.contains(&register) {
                    read.push(register);
                }
            }
        }
    }
    read
}

/// The registers of one operand, with their values.
fn registers(tile: &Tile, context: Context, kind: Kind, first: usize) -> Vec<(String, u32)> {
    let (file, count) = match kind {
        Kind::M => ('m', 1),
        Kind::MPair => ('m', 2),
        Kind::A | Kind::ALower | Kind::AUpper | Kind::ABroadcast => ('a', 1),
        Kind::APair => ('a', 2),
        Kind::AQuad => ('a', 4),
        _ => return Vec::new(),
    };
    let value = |number: usize| match (file, context) {
        ('m', _) => Some(tile.m(context, number)),
        (_, Context::Worker(worker)) => Some(tile.a(usize::from(worker), number)),
        (_, Context::Supervisor) => None,
    };
    let last = (first + count).min(16);
    (first..last)
        .filter_map(|number| Some((format!("${file}{number}"), value(number)?)))
        .collect()
}
