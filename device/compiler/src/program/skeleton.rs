//! The text of a class's program: one call as a loop around the plan's steps.

use std::fmt::Write as _;

use tilekiln_chip::TileId;
use tilekiln_chip::exchange::{HOST_WRITE_MAX, MUX_NEUTRAL, ROW_RETURN, zone};

use crate::plan::{HostDirection, Kernel, Plan, Step};
use crate::schedule::Schedule;
use crate::schedule::host::COMMAND_WORD;

use super::host::{self, Role};
use super::{Class, Places};

/// A row for a task tile without transfers in a phase: `delay 0`, `br $m10`. It must take part,
/// because its class does, and event 0 needs one timed instruction to be seen.
pub(super) const EMPTY_ROW: [u32; 2] = [0x40a0_0000, ROW_RETURN];

/// What decides a tile's code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// Whether it runs a task.
    task: bool,
    /// Its role in each host phase.
    roles: Vec<Role>,
}

/// The part `tile` plays.
pub(super) fn part(plan: &Plan, schedule: &Schedule, tile: TileId) -> Part {
    let phases = plan.host.phases.iter().zip(&schedule.host);
    let roles = phases.map(|(declared, phase)| {
        host::role(phase, declared.direction == HostDirection::ToHost, tile)
    });
    Part {
        task: plan.tasks.iter().any(|task| task.tile == tile),
        roles: roles.collect(),
    }
}

/// The class of all tiles that play `part`.
pub(super) fn class(plan: &Plan, places: &Places, part: &Part) -> Class {
    let mut text = Text::new();
    let (mut compute, mut exchange) = (0, 0);
    for step in &plan.steps {
        match step {
            Step::Host(phase) => text.host_phase(plan, places, *phase, part.roles[*phase]),
            Step::Compute(step) => {
                if part.task {
                    let arguments = places.slots.arguments(compute);
                    text.comment(&step.name);
                    text.line(&format!("setzi $m2, {:#x}", arguments.0));
                    text.line(&format!("call $m10, {}", step.kernel.symbol()));
                }
                compute += 1;
            }
            Step::Exchange(step) => {
                text.comment(&step.name);
                text.exchange(part.task.then(|| places.rows[exchange].0));
                exchange += 1;
            }
        }
    }
    text.line("bri program");
    let kernels = if part.task {
        called_kernels(plan)
    } else {
        Vec::new()
    };
    Class {
        name: class_name(part),
        text: text.0,
        kernels,
    }
}

/// What the report calls a class: its part in the work, and how it takes part in host phases.
fn class_name(part: &Part) -> String {
    let letters = part
        .roles
        .iter()
        .map(|role| match (role.owner, role.target) {
            (true, true) => 'b',
            (true, false) => 'o',
            (false, true) => 't',
            (false, false) => '-',
        });
    let work = if part.task { "task" } else { "bystander" };
    let headers = part
        .roles
        .iter()
        .map(|role| role.headers)
        .max()
        .unwrap_or(0);
    let suffix = if headers > 0 {
        format!("/{headers}")
    } else {
        String::new()
    };
    format!("{work} {}{suffix}", letters.collect::<String>())
}

/// The kernels a plan's steps call, in their own order.
fn called_kernels(plan: &Plan) -> Vec<&'static str> {
    let called = |kernel: &Kernel| super::compute_steps(plan).any(|step| step.kernel == *kernel);
    Kernel::ALL
        .iter()
        .filter(|kernel| called(kernel))
        .map(|kernel| kernel.symbol())
        .collect()
}

/// A program as it grows.
struct Text(String);

impl Text {
    fn new() -> Self {
        let mut text = Self(String::new());
        text.line(".section .text.program, \"ax\"");
        text.line(".supervisor");
        text.line(".align 8");
        text.line(".globl program");
        text.label("program");
        text
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.0, "    {line}");
    }

    fn label(&mut self, name: &str) {
        let _ = writeln!(self.0, "{name}:");
    }

    fn comment(&mut self, what: &str) {
        let _ = writeln!(self.0, "    // {what}");
    }

    fn select(&mut self, mux: u32) {
        self.line(&format!("setzi $m0, {mux:#x}"));
        self.line("put $INCOMING_MUX, $m0");
    }

    /// One internal phase in the current shape: `row` is where a participant's row lies.
    /// [exchange §9.3]
    fn exchange(&mut self, row: Option<u32>) {
        let Some(row) = row else {
            self.line("sans 0");
            self.line(&format!("sync {}", zone::NON_PARTICIPATION));
            return;
        };
        self.line("put $INCOMING_BASE, $mzero");
        self.line("put $OUTGOING_BASE, $mzero");
        self.line("call $m7, barrier");
        self.line("setzi $m8, 1");
        self.line("put $INCOMING_DCOUNT, $m8");
        // Event 0 must be equally far from the release on every tile, so all classes put the
        // sync at the same place of a fetch block. [A-SYNCDIST]
        self.line(".align 64");
        self.line(&format!("sync {}", zone::INTERNAL));
        self.line(&format!("call $m10, {:#x} / 4", row));
    }

    /// Host phase `phase` for a tile that plays `role`. [exchange §14.3]
    fn host_phase(&mut self, plan: &Plan, places: &Places, phase: usize, role: Role) {
        let direction = plan.host.phases[phase].direction;
        self.comment(&format!("host phase {phase}"));
        if role.is_bystander() {
            self.line("sans 1");
            self.line(&format!("sync {}", zone::NON_PARTICIPATION));
            return;
        }
        let packets = &places.packets[phase];
        self.line(&format!("setzi $m8, {:#x}", places.slots.start().0));
        self.line("ld32 $m0, $m8, $mzero, 0");
        self.line("put $INCOMING_MUX, $m0");
        let master = if role.owner { zone::MASTER } else { 0 };
        self.line(&format!("sync {}", zone::GS2_HOST + master));
        if role.target {
            let word = places.slots.phase_word(phase);
            self.line(&format!("ld32 $m0, $m8, $mzero, {}", word + 1));
            self.line("put $INCOMING_DCOUNT, $m0");
        }
        if role.owner {
            self.send(packets.request.0, 2);
        }
        if role.target {
            match direction {
                HostDirection::ToTiles => self.read_packets(places, phase),
                HostDirection::ToHost => self.write_packets(plan, places, phase, role.headers),
            }
            self.line(&format!("sync {}", zone::RECEIVE));
        }
        self.line(&format!("sync {}", zone::GS2_HOST));
        self.select(MUX_NEUTRAL);
        if phase == 0 {
            self.line(&format!("setzi $m0, {:#x}", COMMAND_WORD.0));
            self.line("ld32 $m0, $m0, $mzero, 0");
            self.line("brnz $m0, complete");
        }
    }

    /// Sends `words` words from `at`, to the host.
    fn send(&mut self, at: u32, words: u32) {
        self.line(&format!("send {}, {:#x}, 3", words - 1, at / 4));
    }

    /// Sends as many read headers as the tile's slots say.
    fn read_packets(&mut self, places: &Places, phase: usize) {
        let packets = &places.packets[phase];
        self.line(&format!(
            "ld32 $m1, $m8, $mzero, {}",
            places.slots.phase_word(phase)
        ));
        for header in 0..packets.most {
            self.line(&format!("brz $m1, sent_{phase}"));
            self.send(packets.headers.0 + 8 * header, 2);
            self.line("add $m1, $m1, -1");
        }
        self.label(&format!("sent_{phase}"));
    }

    /// Sends `headers` headers, each with its payload but the last, which closes the stream.
    fn write_packets(&mut self, plan: &Plan, places: &Places, phase: usize, headers: u32) {
        let packets = &places.packets[phase];
        let pages = &plan.host.phases[phase].pages;
        let first = pages.first().map_or(0, |page| page.tile_address.0);
        // The code is shared, and so is the address it holds.
        assert!(
            pages.iter().all(|page| page.tile_address.0 == first),
            "the pages of a host-bound phase lie at one address on all tiles"
        );
        for header in 0..headers {
            self.send(packets.headers.0 + 8 * header, 2);
            if header + 1 < headers {
                self.send(first + HOST_WRITE_MAX * header, HOST_WRITE_MAX / 4);
            }
        }
    }
}
