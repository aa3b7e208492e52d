//! One tile, from the launch to the end.

use std::fs;

use tilekiln_chip::{ByteAddr, PhysTile, memory};
use tilekiln_sim::settings::Settings;
use tilekiln_sim::stop::{Context, Exception, StopKind};
use tilekiln_sim::tile::{State, Tile, Yield};

use super::command::Refusal;
use super::options::{From, Load, Options, Part};
use super::source::{Program, RETURN};
use super::stop::{self, Told};

/// `$m10` holds a supervisor's return address by the kernels' calling convention.
const RETURN_REGISTER: usize = 10;

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    /// The tile.
    pub tile: Tile,
    /// How it ended.
    pub ending: Ending,
    /// Exchange rows that ran; no fabric took what they sent.
    pub rows: u32,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All workers exited, each with this status bit.
    Exited(Vec<(usize, bool)>),
    /// The supervisor met `trap 0`, and no worker was left.
    Trapped,
    /// Contexts stopped, the first to do so first.
    Stopped(Vec<Told>),
    /// As many bundles were issued as allowed; these contexts were at these addresses.
    Limit(Vec<Told>),
    /// The supervisor waits for something outside the tile.
    Waits(Told),
}

impl Ending {
    /// Whether the program came to its own end.
    pub fn is_own_end(&self) -> bool {
        matches!(self, Self::Exited(_) | Self::Trapped)
    }
}

/// All seven contexts.
pub fn contexts() -> impl Iterator<Item = Context> {
    let workers = 0..tilekiln_chip::WORKERS as u8;
    core::iter::once(Context::Supervisor).chain(workers.map(Context::Worker))
}

/// Loads `program` and the memory of `options` into a tile and runs it.
///
/// # Errors
///
/// A [`Refusal`] when a file cannot be read, overlaps the program or leaves tile memory.
pub fn run(options: &Options, program: &Program) -> Result<Ran, Refusal> {
    let mut settings = Settings {
        strict: options.strict,
        ..Settings::default()
    };
    if let Some(seed) = options.fill_seed {
        settings.fill_seed = seed;
    }
    let id = PhysTile::new(0).ok_or_else(|| Refusal("there is no tile 0".to_owned()))?;
    let mut tile = Tile::new(id, &settings);
    for segment in &program.linked.segments {
        tile.memory
            .write(segment.address, &segment.bytes)
            .map_err(|fault| Refusal(fault.to_string()))?;
    }
    for load in &options.mem {
        fill(&mut tile, program, load)?;
    }
    launch(&mut tile, options, program)?;
    tile.set_tracing(options.trace);
    let (ending, rows) = to_the_end(&mut tile, options, program);
    Ok(Ran { tile, ending, rows })
}

/// Puts the bytes of `load` into memory.
fn fill(tile: &mut Tile, program: &Program, load: &Load) -> Result<(), Refusal> {
    let read;
    let bytes = match &load.from {
        From::Hex(bytes) => bytes,
        From::File(path) => {
            read = fs::read(path).map_err(|error| Refusal::of(path.display(), error))?;
            &read
        }
    };
    let (at, count) = (load.at, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    if !memory::contains(ByteAddr(at), count) {
        let (low, high) = (memory::BASE.0, memory::END.0);
        return Err(Refusal(format!(
            "--mem {at:#x}: {count} bytes leave tile memory, {low:#x} to {high:#x}"
        )));
    }
    let end = at + count;
    let overlaps = |start: u32, size: u32| at < start + size && start < end;
    let sections = &program.linked.sections;
    if let Some(hit) = sections
        .iter()
        .find(|section| overlaps(section.address, section.size))
    {
        let (name, start, stop) = (&hit.name, hit.address, hit.address + hit.size);
        return Err(Refusal(format!(
            "--mem {at:#x}: bytes {at:#x} to {end:#x} overlap {name} of the program, \
             {start:#x} to {stop:#x}"
        )));
    }
    tile.memory
        .write(at, bytes)
        .map_err(|fault| Refusal(fault.to_string()))
}

/// Sets the registers and starts the contexts.
fn launch(tile: &mut Tile, options: &Options, program: &Program) -> Result<(), Refusal> {
    let part = options.context;
    let entry = program.linked.entry;
    for setting in &options.set {
        setting.apply_to_tile(tile);
    }
    match part {
        Part::Worker => {
            let count = options.workers.unwrap_or(1);
            let idle = |worker: &usize| *worker >= count;
            if let Some(worker) = options.set.iter().filter_map(|set| set.worker).find(idle) {
                return Err(Refusal(format!(
                    "--set w{worker}: worker {worker} does not run; use --workers 6"
                )));
            }
            for worker in 0..count {
                tile.launch_worker(worker, entry, options.vertex_base.unwrap_or(0));
            }
        }
        Part::Supervisor => {
            if options.workers.is_some() || options.vertex_base.is_some() {
                return Err(Refusal(
                    "--workers and --vertex-base start workers; a supervisor starts its own"
                        .to_owned(),
                ));
            }
            if let Some(end) = program.linked.address(RETURN) {
                tile.set_m(Context::Supervisor, RETURN_REGISTER, end);
            }
            tile.launch_supervisor(entry);
        }
    }
    // A launch sets some registers, so these come behind it.
    for setting in &options.set {
        setting.apply_to_contexts(tile, part);
    }
    Ok(())
}

/// Runs until the end, or until `max_bundles` are issued.
fn to_the_end(tile: &mut Tile, options: &Options, program: &Program) -> (Ending, u32) {
    let mut rows = 0;
    loop {
        // At most one instruction issues in a cycle, so this many cycles never exceed the limit.
        let left = options.max_bundles.saturating_sub(tile.instructions());
        let needs = match tile.run(tile.cycle().saturating_add(left)) {
            Yield::Quota if left > 0 => continue,
            Yield::Quota => {
                let active = contexts().filter(|context| tile.state(*context) == State::Active);
                let cause = format!("{} bundles were issued", options.max_bundles);
                let told = active.map(|context| stop::standing(tile, program, context, &cause));
                return (Ending::Limit(told.collect()), rows);
            }
            Yield::RowEnd => {
                tile.take_row();
                rows += 1;
                continue;
            }
            Yield::Stopped => return (stopped(tile, options, program), rows),
            Yield::Sync { zone } => format!("a barrier of zone {zone}"),
            Yield::NonParticipation => "barriers announced with sans".to_owned(),
            Yield::Receive => "words from the host".to_owned(),
        };
        let cause = format!("waits for {needs}, which one tile alone never sees");
        return (
            Ending::Waits(stop::standing(tile, program, Context::Supervisor, &cause)),
            rows,
        );
    }
}

/// What a tile that stands still has come to.
fn stopped(tile: &Tile, options: &Options, program: &Program) -> Ending {
    let mut stops: Vec<_> = contexts()
        .filter_map(|context| tile.stop_of(context))
        .collect();
    stops.sort_by_key(|stop| (stop.cycle, stop.context));
    if stops.is_empty() {
        let workers = 0..tilekiln_chip::WORKERS;
        let status = workers.filter_map(|worker| Some((worker, tile.exit_status(worker)?)));
        return Ending::Exited(status.collect());
    }
    if let ([only], Part::Supervisor) = (&stops[..], options.context)
        && only.context == Context::Supervisor
        && only.instruction == "trap 0"
        && matches!(
            only.kind,
            StopKind::Exception {
                exception: Exception::PatchedBreak0,
                ..
            }
        )
    {
        let mut running = contexts().filter(|context| tile.state(*context) == State::Active);
        return match running.next() {
            None => Ending::Trapped,
            Some(context) => {
                let cause = "still runs when the supervisor meets trap 0";
                Ending::Stopped(vec![stop::standing(tile, program, context, cause)])
            }
        };
    }
    Ending::Stopped(
        stops
            .into_iter()
            .map(|stop| stop::told(tile, program, stop))
            .collect(),
    )
}
