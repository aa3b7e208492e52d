//! The issue rules. [isa-core §1.2, §9]

use tilekiln_chip::csr::number;
use tilekiln_chip::{SLOT_PERIOD, WORKERS};
use tilekiln_isa::Mode;

use super::supervisor::{Done, Wait};
use super::worker::{Around, Retired};
use super::{State, Tile, Yield};
use crate::code::Act;
use crate::cycles;
use crate::exec::{Effects, Main, Store, Then};
use crate::stop::{Context, Exception, Fault, Stop};
use crate::trace;

/// How many instructions without a cost on the event clock may stand inside a row.
const FILLERS_MAX: usize = 8;

/// All workers, a bit each.
const ALL_WORKERS: u8 = (1 << WORKERS) - 1;

const NO_AUX_REGISTERS: [u32; 16] = [0; 16];

impl Tile {
    /// Runs until something outside the tile is needed, or the clock reaches `until_cycle`.
    pub fn run(&mut self, until_cycle: u64) -> Yield {
        loop {
            self.code.refresh(&mut self.memory);
            if let Some(answer) = self.waiting() {
                return answer;
            }
            if self.now >= until_cycle {
                return Yield::Quota;
            }
            let answer = if self.active == 0 {
                self.run_supervisor(until_cycle)
            } else {
                self.run_slots(until_cycle)
            };
            if let Some(answer) = answer {
                return answer;
            }
        }
    }

    /// What keeps the tile from running, if anything does; ends a wait for workers that is over.
    fn waiting(&mut self) -> Option<Yield> {
        match self.supervisor.state {
            State::Active => {}
            State::Inactive => return (self.active == 0).then_some(Yield::Stopped),
            State::Excepted | State::ExceptedDebug => return Some(Yield::Stopped),
        }
        match self.supervisor.wait? {
            Wait::Barrier { zone } => Some(Yield::Sync { zone }),
            Wait::NonParticipation => Some(Yield::NonParticipation),
            Wait::Receive => Some(Yield::Receive),
            Wait::Local if self.active != 0 => None,
            Wait::Local
                if self
                    .workers
                    .iter()
                    .any(|worker| worker.state != State::Inactive) =>
            {
                Some(Yield::Stopped)
            }
            Wait::Local => {
                self.supervisor.wait = None;
                self.supervisor.next = self.supervisor.next.max(self.last_exit + cycles::SYNC);
                self.reload_pointer();
                None
            }
        }
    }

    /// Runs the supervisor alone until it launches a worker, waits or stops.
    fn run_supervisor(&mut self, until: u64) -> Option<Yield> {
        while self.active == 0 && self.supervisor.may_issue() {
            let due = self.supervisor_due();
            if due >= until {
                self.now = until;
                return None;
            }
            self.now = due;
            let answer = self.issue_supervisor();
            if answer.is_some() || !self.supervisor.may_issue() {
                return answer;
            }
            self.now += 1;
        }
        None
    }

    /// Gives slots to active workers, and to the supervisor where there is none.
    fn run_slots(&mut self, until: u64) -> Option<Yield> {
        let doomed = self.doomed_launch();
        let mut slot = (self.now % SLOT_PERIOD) as usize;
        while self.active != 0 && self.now < until {
            if doomed == Some(self.now) && self.active == ALL_WORKERS {
                return self.issue_supervisor();
            } else if self.active >> slot & 1 != 0 {
                self.issue_worker(slot);
            } else if self.supervisor.may_issue()
                && self.workers[slot].state == State::Inactive
                && self.supervisor_due() <= self.now
            {
                let answer = self.issue_supervisor();
                if answer.is_some() || !self.supervisor.may_issue() {
                    return answer;
                }
                if self.active == ALL_WORKERS {
                    self.now += 1;
                    return None;
                }
            }
            self.now += 1;
            slot = if slot == WORKERS - 1 { 0 } else { slot + 1 };
        }
        None
    }

    /// When the supervisor's next instruction is a launch and all six workers are active, the cycle
    /// at which it fails. It does not wait for a slot that only a worker's exit would give.
    fn doomed_launch(&mut self) -> Option<u64> {
        if self.active != ALL_WORKERS || !self.supervisor.may_issue() {
            return None;
        }
        let slot = self
            .code
            .supervisor(&mut self.memory, self.supervisor.pc)
            .ok()?;
        slot.launch.then(|| self.supervisor_due())
    }

    /// The first cycle, not before now, at which the supervisor's next instruction may issue.
    fn supervisor_due(&mut self) -> u64 {
        let slot = self.code.supervisor(&mut self.memory, self.supervisor.pc);
        self.supervisor
            .due(slot.map_or(0, |slot| slot.sources))
            .max(self.now)
    }

    /// Issues the supervisor's next instruction now. Time stands still when it waits or stops.
    fn issue_supervisor(&mut self) -> Option<Yield> {
        let pc = self.supervisor.pc;
        if self.row.is_running() && self.row_ends() {
            self.row.end(pc);
            return Some(Yield::RowEnd);
        }
        if self.tracing {
            trace::line(self.id, Context::Supervisor, pc, self.now, &self.memory);
        }
        self.issued += 1;
        match self.execute_supervisor(pc) {
            Ok(done) => {
                self.supervisor.next = self.now + done.cost;
                if let Some((register, value)) = done.write {
                    self.supervisor.write(register as usize, value, self.now);
                }
                self.supervisor.wait = done.wait;
                self.code.refresh(&mut self.memory);
                None
            }
            Err(fault) => {
                self.stop_supervisor(pc, fault);
                None
            }
        }
    }

    fn execute_supervisor(&mut self, pc: u32) -> Result<Done, Fault> {
        let slot = self.code.supervisor(&mut self.memory, pc)?;
        if let Some(fault) = &slot.fault {
            return Err(**fault);
        }
        let (bytes, values) = (u32::from(slot.bytes), slot.values);
        match slot.act {
            Act::System(function) => {
                let done = function(&values, self, pc)?;
                self.supervisor.pc = pc + bytes;
                Ok(done)
            }
            Act::Common(function) => {
                let mut out = Effects::default();
                let mut main = Main {
                    m: &self.supervisor.m,
                    a: &NO_AUX_REGISTERS,
                    memory: &self.memory,
                    worker: None,
                    settings: &self.settings,
                    cycle: self.now,
                    mailbox: 0,
                    next: pc + bytes,
                    taken: false,
                    out: &mut out,
                };
                function(&values, &mut main)?;
                let (next, taken) = (main.next, main.taken);
                self.supervisor.pc = next;
                for (register, value) in out.m() {
                    self.supervisor.write(register, value, self.now);
                }
                self.commit_store(out.store);
                Ok(Done::new(if taken {
                    cycles::TAKEN
                } else {
                    cycles::ORDINARY
                }))
            }
        }
    }

    /// Whether the supervisor's next instruction ends the row that runs: it is not timed, and does
    /// not merely move a base register on the way to one that is.
    fn row_ends(&mut self) -> bool {
        let mut pc = self.supervisor.pc;
        for _ in 0..FILLERS_MAX {
            match self.code.supervisor(&mut self.memory, pc) {
                Ok(slot) if slot.timed => return false,
                Ok(slot) if slot.filler => pc += u32::from(slot.bytes),
                _ => return true,
            }
        }
        true
    }

    /// See [`crate::row::Row::advance`].
    pub(crate) fn row_event(&mut self, pc: u32, events: u32) -> Option<u32> {
        let base = self.csr(number::INCOMING_BASE);
        self.row.advance(pc, self.now, events, base)
    }

    /// Uses one slot of worker `number`.
    #[inline]
    fn issue_worker(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        if worker.busy > 0 {
            worker.busy -= 1;
            return;
        }
        let pc = worker.pc;
        if self.tracing {
            trace::line(
                self.id,
                Context::Worker(number as u8),
                pc,
                self.now,
                &self.memory,
            );
        }
        self.issued += 1;
        let mut retired = Retired::default();
        let result = if worker.refused {
            Err(Fault::WorkersBusy {
                worker: number as u32,
            })
        } else {
            match self.code.worker(&mut self.memory, pc) {
                Ok(slot) => {
                    let around = Around {
                        memory: &self.memory,
                        weights: &self.weights,
                        settings: &self.settings,
                        cycle: self.now,
                        mailbox: self.csrs[usize::from(number::DBG_DATA)],
                    };
                    worker.execute(slot, pc, around, &mut retired)
                }
                Err(fault) => Err(fault),
            }
        };
        match result {
            Ok(()) => {
                worker.retire(&retired);
                self.finish(number, &retired);
            }
            Err(fault) => self.stop_worker(number, pc, fault),
        }
    }

    /// What a retired execution bundle changes outside its worker's registers.
    #[inline]
    fn finish(&mut self, worker: usize, retired: &Retired) {
        self.commit_store(retired.out.store);
        match retired.out.then {
            Then::Nothing => {}
            Then::Repeat(repeat) => self.workers[worker].repeat = repeat,
            Then::Mailbox(value) => self.set_csr(number::DBG_DATA, value),
            Then::Exit(status) => {
                self.workers[worker].exit_status = Some(status);
                self.workers[worker].state = State::Inactive;
                self.local_consensus &= status;
                self.active &= !(1 << worker);
                self.last_exit = self.now;
            }
        }
    }

    #[inline]
    fn commit_store(&mut self, store: Store) {
        match store {
            Store::None => return,
            Store::Word(at, value) => self.memory.put32(at, value),
            Store::Double(at, value) => self.memory.put64(at, value),
        }
        self.code.refresh(&mut self.memory);
    }

    /// A refused `runall`: active workers fail at their next execution bundle. [isa-core §1.4]
    pub(crate) fn refuse_launch(&mut self) {
        self.refused_launch = true;
        for worker in &mut self.workers {
            worker.refused = worker.state == State::Active;
        }
    }

    #[cold]
    fn stop_worker(&mut self, number: usize, pc: u32, fault: Fault) {
        let stop = self.stop_at(Context::Worker(number as u8), pc, fault, Mode::Worker);
        let in_body = self.workers[number].repeat.holds(pc);
        let worker = &mut self.workers[number];
        worker.state = stopped_state(fault);
        if let Some(exception) = fault.exception() {
            worker.note_exception(exception.etype(), in_body);
        }
        worker.stop = Some(stop);
        self.active &= !(1 << number);
    }

    #[cold]
    fn stop_supervisor(&mut self, pc: u32, fault: Fault) {
        self.supervisor.stop = Some(self.stop_at(Context::Supervisor, pc, fault, Mode::Supervisor));
        self.supervisor.state = stopped_state(fault);
        if let Some(exception) = fault.exception() {
            self.note_exception(exception.etype());
        }
    }

    fn stop_at(&self, context: Context, pc: u32, fault: Fault, mode: Mode) -> Box<Stop> {
        Box::new(Stop {
            tile: self.id,
            context,
            pc,
            cycle: self.now,
            kind: fault.kind(),
            instruction: trace::text(&self.memory, pc, mode),
        })
    }
}

/// The state a context is left in.
fn stopped_state(fault: Fault) -> State {
    if fault.exception().is_some_and(Exception::is_debug) {
        State::ExceptedDebug
    } else {
        State::Excepted
    }
}
