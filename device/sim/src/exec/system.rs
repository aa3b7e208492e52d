//! Control and status registers, traps and worker launches. [isa-core §1.4, §6, §8.3]

use tilekiln_chip::csr::number;
use tilekiln_chip::memory::BASE;
use tilekiln_isa::Instruction;
use tilekiln_isa::op::Op;

use super::{AuxFn, AuxResult, AuxState, MainFn, Then, check_code, edge};
use crate::cycles;
use crate::exec::AuxFault;
use crate::float::control;
use crate::stop::Fault;
use crate::tile::supervisor::{Done, SupervisorFn};
use crate::tile::worker::Worker;
use crate::tile::{State, Tile};

/// Bytes of a word, in which launches count.
const WORD: u32 = 4;

/// What a `get` of `worker` gives.
pub(crate) fn worker_csr(worker: &Worker, csr: u16, cycle: u64, mailbox: u32) -> u32 {
    match csr {
        number::PC => worker.pc,
        number::WSR => worker.wsr,
        number::VERTEX_BASE => worker.m[13],
        number::WORKER_BASE => worker.m[12],
        number::REPEAT_COUNT => worker.repeat.count,
        number::REPEAT_FIRST => worker.repeat.first,
        number::REPEAT_END => worker.repeat.end,
        number::COUNT_L => cycle as u32,
        number::COUNT_U => (cycle >> 32) as u32,
        number::DBG_DATA => mailbox,
        number::DBG_BRK_ID => worker.break_id,
        _ => 0,
    }
}

/// The function of a worker's main-lane form of this family.
pub(crate) fn worker(op: Op) -> Option<MainFn> {
    let function: MainFn = match op {
        Op::GetMCsr => |v, x| {
            if let Some(worker) = x.worker {
                x.set_m(v[0], worker_csr(worker, v[1] as u16, x.cycle, x.mailbox));
            }
            Ok(())
        },
        // The mailbox is the one register workers may write.
        Op::PutCsrM => |v, x| {
            x.out.then = Then::Mailbox(x.m(v[1]));
            Ok(())
        },
        Op::TrapZ4 => |v, _| Err(Fault::Trap { number: v[0] }),
        _ => return None,
    };
    Some(function)
}

const NO_RESULT: AuxResult = AuxResult {
    first: 0,
    count: 0,
    values: [0; 4],
    slots: 1,
};

fn uput(v: &[u32; 5], x: &mut AuxState<'_>) -> Result<AuxResult, AuxFault> {
    let (csr, value) = (0x100 + v[0] as u16, x.a[v[1] as usize & 15]);
    if csr == number::FP_CTL && value & control::RND != 0 {
        edge(x.settings, RND_UNKNOWN).map_err(|_| AuxFault::Undefined(RND_UNKNOWN))?;
    }
    x.fp.set_csr(csr, value);
    Ok(NO_RESULT)
}

/// Rounding modes other than to nearest are not documented. [isa-float §1.5]
const RND_UNKNOWN: &str = "a rounding mode other than 0";

/// The function of an aux-lane form of this family.
pub(crate) fn aux_lane(op: Op) -> Option<AuxFn> {
    let function: AuxFn = match op {
        Op::UgetACsr => |v, x| {
            let value = x.fp.csr(0x100 + v[1] as u16);
            Ok(AuxResult {
                first: v[0] as u8,
                count: 1,
                values: [value, 0, 0, 0],
                slots: 1,
            })
        },
        Op::UputCsrA => uput,
        _ => return None,
    };
    Some(function)
}

/// The function of a supervisor's form of this family.
pub(crate) fn supervisor(op: Op) -> Option<SupervisorFn> {
    let function: SupervisorFn = match op {
        Op::GetMCsr => supervisor_get,
        Op::PutCsrM => supervisor_put,
        Op::TrapZ4 => |v, _, _| Err(Fault::Trap { number: v[0] }),
        Op::RunMMZ16 => run,
        Op::RunallMMZ16 => runall,
        _ => return None,
    };
    Some(function)
}

fn supervisor_get(v: &[u32; 5], tile: &mut Tile, _pc: u32) -> Result<Done, Fault> {
    let csr = v[1] as u16;
    if csr == number::SCOUNT_L || csr == number::SCOUNT_U {
        edge(&tile.settings, "the supervisor's cycle counter")?;
    }
    Ok(Done {
        write: Some((v[0], tile.csr(csr))),
        ..Done::new(cycles::ORDINARY)
    })
}

fn supervisor_put(v: &[u32; 5], tile: &mut Tile, _pc: u32) -> Result<Done, Fault> {
    let (csr, value) = (v[0] as u16, tile.supervisor.m[v[1] as usize & 15]);
    match csr {
        number::CR => tile.control(value),
        number::DBG_ECLR => tile.clear_exceptions(value),
        number::WORKER0_BASE..=number::WORKER5_BASE => {
            let worker = usize::from(csr - number::WORKER0_BASE);
            if tile.workers[worker].state == State::Active {
                return Err(Fault::BusyWorkerBase {
                    worker: worker as u32,
                });
            }
            tile.set_csr(csr, value);
        }
        number::FP_ICTL if value & control::RND != 0 => {
            edge(&tile.settings, RND_UNKNOWN)?;
            tile.set_csr(csr, value);
        }
        _ => tile.set_csr(csr, value),
    }
    Ok(Done::new(if is_exchange(csr) {
        cycles::EXCHANGE_PUT
    } else {
        cycles::PUT
    }))
}

/// Whether `csr` is one of the exchange's, a `put` to which costs [`cycles::EXCHANGE_PUT`].
fn is_exchange(csr: u16) -> bool {
    (number::INCOMING_MUX..=number::EXCHANGE_ADJ).contains(&csr)
}

/// Whether `instruction` drains the pipeline before it reads its source.
pub(crate) fn drains(instruction: &Instruction) -> bool {
    instruction.form.op == Op::PutCsrM && is_exchange(instruction.values[0] as u16)
}

/// Entry and vertex base of a launch, checked.
fn launch_operands(v: &[u32; 5], tile: &Tile) -> Result<(u32, u32), Fault> {
    let (entry, base) = (
        tile.supervisor.m[v[0] as usize & 15],
        tile.supervisor.m[v[1] as usize & 15],
    );
    check_code(entry)?;
    if base % WORD != 0 {
        return Err(Fault::Misaligned {
            at: base,
            align: WORD,
        });
    }
    Ok((entry, base))
}

/// Starts the lowest inactive worker. Its base counts from the start of region 0. [A-RUNSEL, A-RUNALL]
fn run(v: &[u32; 5], tile: &mut Tile, _pc: u32) -> Result<Done, Fault> {
    let (entry, base) = launch_operands(v, tile)?;
    let free = tile
        .workers
        .iter()
        .position(|worker| worker.state == State::Inactive);
    let worker = free.ok_or(Fault::WorkersBusy { worker: 0 })?;
    tile.start(
        worker,
        entry,
        base.wrapping_add(WORD * v[2]).wrapping_add(BASE.0),
    );
    Ok(Done::new(cycles::LAUNCH))
}

/// Starts all six. Their bases are absolute, a stride apart. [A-RUNALL]
fn runall(v: &[u32; 5], tile: &mut Tile, _pc: u32) -> Result<Done, Fault> {
    let (entry, base) = launch_operands(v, tile)?;
    let busy = tile
        .workers
        .iter()
        .position(|worker| worker.state != State::Inactive);
    if let Some(worker) = busy {
        tile.refuse_launch();
        return Err(Fault::WorkersBusy {
            worker: worker as u32,
        });
    }
    for worker in 0..tile.workers.len() {
        let offset = (worker as u32).wrapping_mul(WORD * v[2]);
        tile.start(worker, entry, base.wrapping_add(offset));
    }
    Ok(Done::new(cycles::LAUNCH))
}
